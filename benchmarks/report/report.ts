// Placeholder until the report is written.
export async function writeReport(): Promise<void> {}
