// The documents make no claim that the code does not: limits, error kinds, the first program, commands, the names of files.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createCodeMode } from '../src/index.ts';
import { LIMITS, type LimitRow } from '../src/protocol/limits.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const README = read('README.md');

test('the table of limits holds the numbers of the code', () => {
  const table = /<!-- limits:.*-->\n([\s\S]+?)\n<!-- \/limits -->/.exec(README)?.[1];
  const rows = Object.entries<LimitRow>(LIMITS).map(
    ([name, row]) => `| \`${name}\` | ${amount(row.default, row)} | ${amount(row.min, row)} | ${amount(row.max, row)} | ${row.stops} |`,
  );
  expect(table?.split('\n').slice(2)).toEqual(rows);
});

test('the table of error kinds names every kind and no other', () => {
  const union = /export type ErrorKind =([\s\S]+?);/.exec(read('src/protocol/errors.ts'))?.[1] ?? '';
  const kinds = [...union.matchAll(/'(\w+)'/g)].map(([, kind]) => kind);
  const table = /\| `error\.kind` \|.*\n.*\n([\s\S]+?)\n\n/.exec(README)?.[1] ?? '';
  expect([...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind)).toEqual(kinds);
  expect(kinds).toContain('program');
});

test('the commands it names exist', () => {
  const { scripts, bin } = JSON.parse(read('package.json')) as { scripts: Record<string, string>; bin: Record<string, string> };
  for (const [, name] of README.matchAll(/npm (?:run )?(demo|test|check)\b/g)) expect(scripts).toHaveProperty(name ?? '');
  expect(bin).toHaveProperty('callgate');
});

test.each(['README.md', 'ARCHITECTURE.md'])('%s names files that exist', (document) => {
  const paths = [...read(document).matchAll(/\b(?:src|sandbox-runtime|test|scripts|examples)\/[\w./-]*\w/g)].map(([path]) => path);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
});

test('its program runs on the tools of the support desk', async () => {
  const program = /## A program\n[\s\S]+?```ts\n([\s\S]+?)```/.exec(README)?.[1];
  // A variable, so that the compiler does not follow the import into plain JavaScript.
  const module = '../examples/support-desk/tools.mjs';
  const { default: tools } = await import(module);
  await using codeMode = createCodeMode({ tools, isolation: 'inline' });
  const result = await codeMode.run(program ?? '');
  expect(result.error).toBeUndefined();
  expect(result.output).toContain('20 customers read');
  expect(result.value).toMatchObject({ late: expect.any(Number), ids: expect.any(Array) });
});

/** 1 MiB, 60 s, 1,000: the largest unit that leaves a whole number. */
function amount(value: number, { unit }: LimitRow): string {
  const units = {
    bytes: [
      ['GiB', 2 ** 30],
      ['MiB', 2 ** 20],
      ['KiB', 2 ** 10],
      ['B', 1],
    ],
    ms: [
      ['d', 86_400_000],
      ['h', 3_600_000],
      ['s', 1000],
      ['ms', 1],
    ],
    calls: [],
    files: [],
    blocks: [],
  } as const satisfies Record<LimitRow['unit'], readonly (readonly [string, number])[]>;
  for (const [name, size] of units[unit]) if (value % size === 0 && (value > 0 || size === 1)) return `${value / size} ${name}`;
  return value.toLocaleString('en-US');
}
