// All questions, in the order of the report: from the smallest piece of work to a whole conversation. Each has a file here.
export const QUESTIONS: readonly string[] = [
  'start',
  'calls',
  'payload',
  'cpu',
  'throughput',
  'density',
  'prepare',
  'typecheck',
  'declarations',
  'search',
  'first-try',
  'turns',
  'mcp',
  'observe',
];
