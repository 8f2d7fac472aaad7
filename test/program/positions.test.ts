// The way back: positions that an engine names lead to the text that the model wrote.
import { expect, test } from 'vitest';
import { prepared, start } from './evaluate.ts';

/** Where the program's own frame of a thrown error lies, led back. */
async function placeOfError(source: string): Promise<{ line: number; column: number } | undefined> {
  const program = prepared(source);
  const error: unknown = await start(program.code).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const match = /program\.js:(\d+):(\d+)/.exec(String((error as { stack?: unknown } | undefined)?.stack));
  return match ? program.locate(Number(match[1]), Number(match[2])) : undefined;
}

/** The place of a mark in a text. */
function place(source: string, mark: string): { line: number; column: number } {
  const lines = source.slice(0, source.indexOf(mark)).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

test.each([
  'const a: number = 1;\n  missing();',
  'missing()',
  '(async () => { await 0;\n  missing(); })',
  'async function main() {\n  missing();\n}',
  '```ts\nconst x: string = "a";\nmissing(x);\n```',
  'Some prose.\r\n\r\n```js\r\nconst x = 1;\r\n  missing(x);\r\n```\r\nMore.',
  'const a = 1\rconst b = 2\r  missing()',
  '\ufeff#!/usr/bin/env node\nmissing();',
  'enum E { A, B = 1 << 3 } missing(E.A);',
  'enum E {\n  A,\n  B\n}\nnamespace N { export const x = 1; missing(); }',
  'class A { constructor(private x: number) { missing(); } }\nnew A(1);',
  '{ using x = null; missing(); }',
  'using x = null;\nmissing();',
  'import { github } from "/mcp"; missing();',
  'export default async () => { missing(); };\nconst x = 1;',
  'const f = () => <any>{ a: 1 }; missing();',
])('an error in %j is found where it was written', async (source) => {
  expect(await placeOfError(source)).toEqual(place(source, 'missing'));
});

test('places outside of the program lead nowhere', () => {
  const { code, locate } = prepared('return 1');
  expect(locate(1, 1)).toBeUndefined();
  expect(locate(code.split('\n').length, 1)).toBeUndefined();
  expect(locate(99, 1)).toBeUndefined();
  expect(locate(2, 99)).toBeUndefined();
  expect(locate(0, 0)).toBeUndefined();
  expect(locate(Number.NaN, Number.NaN)).toBeUndefined();
});

test('what was inserted leads to the place where it was', () => {
  const { locate } = prepared('  value');
  expect(locate(2, 3)).toEqual({ line: 1, column: 3 }); // `return`
  expect(locate(2, 10)).toEqual({ line: 1, column: 3 }); // `value`
});
