// Runs all tests with the Node that runs this script, and closes with one line that counts them: `N passed, N failed`.
// Arguments go to vitest: `npm test -- test/tools`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const folder = mkdtempSync(join(tmpdir(), 'callgate-test-'));
const report = join(folder, 'report.json');
const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
const counted = count();
rmSync(folder, { recursive: true });

// A file that cannot be loaded, or an error outside of any test, fails the run without failing a test.
const failed = status === 0 ? counted.failed : Math.max(counted.failed, 1);
console.log(`${counted.passed} passed, ${failed} failed${counted.skipped > 0 ? `, ${counted.skipped} skipped` : ''}`);
process.exitCode = failed > 0 || counted.passed === 0 ? 1 : 0;

function count() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
