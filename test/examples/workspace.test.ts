// The example of a workspace, as a user would start it.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const example = fileURLToPath(new URL('../../examples/workspace.mjs', import.meta.url));

test('searches, writes, changes and reads files, and does not get out', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example]);
  expect(stdout).toMatch(/found: \d+,\n {2}text: '- examples\/[\w/-]+\.mjs:\d+\\n- examples\/.*\\n',\n {2}escape: 'path_invalid'/);
  expect((await readFile(example, 'utf8')).split('\n').length).toBeLessThanOrEqual(30);
});
