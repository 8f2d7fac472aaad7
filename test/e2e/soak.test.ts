import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// The short form of benchmarks/soak.ts; the benchmark's own exit status says whether anything grew.
test('after thousands of programs, a tenth of them hostile, nothing has grown and nothing is left behind', { timeout: 240_000 }, () => {
  const script = fileURLToPath(new URL('../../scripts/bench.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'soak', '3000'], { encoding: 'utf8' });
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  expect(stdout).toContain('\nflat\n');
});
