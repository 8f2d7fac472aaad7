// Vitest's global setup. Tests import src/ directly, but the guest bundle is generated and a worker thread of Node 20 cannot
// load TypeScript: both are built before the first test, without type checking.
import { build } from './build.mjs';

export default async function setup() {
  await build({ fast: true });
}
