// The page on workspaces names what there is: tools with their inputs, error codes, numbers.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createCodeMode, type JsonSchema, workspaceTools } from '../../src/index.ts';
import { SEARCHED_FILES } from '../../src/workspace/search.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const PAGE = read('docs/workspace.md');
const rows = (first: string): string[][] => {
  const table = new RegExp(`\\| ${first} \\|.*\\n.*\\n((?:\\|.*\\n)+)`).exec(PAGE)?.[1] ?? '';
  return table
    .trim()
    .split('\n')
    .map((row) => row.slice(2, -2).split(' | '));
};
const names = (cell = ''): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

test('the table of tools has every tool with every input', async () => {
  const tools: { name: string; inputSchema: JsonSchema }[] = [];
  const spy = {
    tools: async (binding: Parameters<ReturnType<typeof workspaceTools>['tools']>[0]) => {
      const made = await workspaceTools({ write: true }).tools(binding);
      tools.push(...([made].flat() as typeof tools));
      return [];
    },
  };
  await using codeMode = createCodeMode({ tools: spy, workspace: {}, isolation: 'inline' });
  await codeMode.run('return 1');
  expect(rows('tool').map(([name, takes]) => [names(name)[0], names(takes)])).toEqual(
    tools.map(({ name, inputSchema }) => [name, Object.keys((inputSchema as { properties: object }).properties)]),
  );
});

test('the table of codes has every code', () => {
  const sources = readdirSync(new URL('../../src/workspace', import.meta.url)).map((name) => read(`src/workspace/${name}`));
  const used = new Set(sources.flatMap((source) => [...source.matchAll(/code: '(\w+)'/g)].map(([, code = '']) => code)));
  const listed = rows('code').map(([code]) => names(code)[0]);
  expect(listed.toSorted()).toEqual([...used].filter((code) => code !== code.toUpperCase()).toSorted());
  expect(PAGE).toContain(`${SEARCHED_FILES.toLocaleString('en-US')} files`);
});
