// Finding the module that exports the tools, and saying what is wrong with it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadTools } from '../../src/cli/tools-module.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'callgate-cli-'));
  const files = {
    'good.mjs': 'export default [{ name: "find" }];',
    'named.mjs': 'export const find = 1; export const other = 2;',
    'silent.mjs': '',
    'null.mjs': 'export default null;',
    'hollow.mjs': 'export default [null, [], [[false]], undefined];',
    'object.mjs': 'export default {};',
    'function.mjs': 'export default () => [];',
    'text.mjs': 'export default "find";',
    'throws.mjs': 'throw new RangeError("no database");',
    'broken.mjs': 'export default [',
    'needy.mjs': 'import "not-installed-anywhere"; export default [];',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  mkdirSync(join(cwd, 'folder'));
  mkdirSync(join(cwd, 'node_modules', 'desk-tools'), { recursive: true });
  writeFileSync(
    join(cwd, 'node_modules', 'desk-tools', 'package.json'),
    '{ "name": "desk-tools", "type": "module", "exports": "./index.js" }',
  );
  writeFileSync(join(cwd, 'node_modules', 'desk-tools', 'index.js'), 'export default [{ name: "from-package" }];');
});
afterAll(() => rmSync(cwd, { recursive: true }));

test('a path works with and without ./ and as a file URL', async () => {
  const tools = [{ name: 'find' }];
  expect(await loadTools('good.mjs', cwd)).toEqual(tools);
  expect(await loadTools('./good.mjs', cwd)).toEqual(tools);
  expect(await loadTools(pathToFileURL(join(cwd, 'good.mjs')).href, '/')).toEqual(tools);
});

test('a package is looked up from the working directory', async () => {
  expect(await loadTools('desk-tools', cwd)).toEqual([{ name: 'from-package' }]);
});

test.each([
  ['missing.mjs', /There is no tools module missing\.mjs: neither a file .+missing\.mjs nor a package of that name\./],
  ['./missing.mjs', /There is no tools module \.\/missing\.mjs: no file .+missing\.mjs\./],
  ['folder', /The tools module folder is a directory; name the file in it\./],
  ['named.mjs', /has no default export; .+ It exports find, other\./],
  ['silent.mjs', /has no default export; .+ It exports nothing\./],
  ['null.mjs', /should be tools made by defineTool, but is null\./],
  ['hollow.mjs', /but is an array without a tool\./],
  ['object.mjs', /but is an empty object\./],
  ['function.mjs', /but is a function\./],
  ['text.mjs', /but is a string\./],
  ['throws.mjs', /The tools module throws\.mjs failed to load: RangeError: no database/],
  ['broken.mjs', /The tools module broken\.mjs failed to load: /],
  ['needy.mjs', /The tools module needy\.mjs failed to load: .*not-installed-anywhere/s],
])('%s is refused in a sentence that names it', async (specifier, message) => {
  await expect(loadTools(specifier, cwd)).rejects.toMatchObject({ name: 'UsageError', message: expect.stringMatching(message) });
});
