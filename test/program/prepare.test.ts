// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of programs hold template literals.
// Programs in the shapes in which models write them: which value each has, what is dropped or refused, and that none leaves its wrapper.
import { describe, expect, test } from 'vitest';
import { prepare } from '../../src/program/prepare.ts';
import { outcomeOf, prepared, refused, start } from './evaluate.ts';

const tools = {
  github: { get_issue: async () => ({ n: 1 }) },
  slack: { ping: async () => 'pong' },
  echo: async (value: unknown) => value,
};
const world = {
  tools,
  codemode: tools,
  console: { log() {}, error() {} },
  crypto: globalThis.crypto,
  sleep: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
};

const VALUES: [string, unknown][] = [
  ['(async () => 5)', 5],
  ['(async () => 5);;', 5],
  ['((async () => 5))', 5],
  ['const h = (n) => n*2;\nasync () => { return h(4) }', 8],
  ['const h = (n) => n*2;\n(async () => h(4))()', 8],
  ['async function () { return 3 }', 3],
  ['function () { return 3 };\n', 3],
  ['const k = 2;\nasync function () { return k }', 2],
  ['// c\nasync function() {\n return 1; // x\n}\n', 1],
  ['{ a: 1, b: 2 }', { a: 1, b: 2 }],
  ['const x = 1;\n{ x }', { x: 1 }],
  ['const x = 1, y = 2;\n{ x, y }', { x: 1, y: 2 }],
  ['const x=1;\n{ total: x }', { total: 1 }],
  ['const x=1;\n{ total: { x } }', { total: { x: 1 } }],
  ['const x=1;\n{ ...{x}, y: 2 };', { x: 1, y: 2 }],
  ['{ "a": 1 }', { a: 1 }],
  ['const x=1;\n{\n  "a": x,\n  b: [x],\n}\n// end', { a: 1, b: [1] }],
  ['{ const z = 1; z }', undefined],
  ['let a=1; { a = 2; }', undefined],
  ['{ echo(1) }; function echo(x){return x}', undefined],
  ['if (1) { "many" } else { "few" }', undefined],
  ['try { 1 } catch {}', undefined],
  ['for (const x of [1]) x;', undefined],
  ['`a${1}`', 'a1'],
  ['"hello"', 'hello'],
  ["'use strict'", undefined],
  ["'use strict'; 'x'", 'x'],
  ['"use strict"; 3', 3],
  ['1 // c', 1],
  ['1 /* c */ ;', 1],
  ['let r; r = 5;', 5],
  ['let r = 1; r += 5', 6],
  ['let i = 0; i++; i', 1],
  ['1, 2', 2],
  ['const f = async () => 7;\nf', 7],
  ['async function f() { return 7 }\nf;', 7],
  ['async function main() { return 4 }', 4],
  ['const main = async () => 4;', 4],
  ['const main = async () => 4;\nmain();', 4],
  ['main();\nasync function main() { return 4 }', 4],
  ['let n = 0; async function main() { n++; return n }\nawait main(); return n', 1],
  ['function help() { return 2 }\nasync function run() { return help() }', 2],
  ['async function fetchAll() { return 1 }', 1],
  ['const go = async () => 1', 1],
  ['function add(a,b) { return a+b }', undefined],
  ['let n=1;\nn++;\nasync function helper() { return 1 }', 1],
  ['async function main() { return 4 }\nmain().then(r => r * 2)', 8],
  ['async function main() { return 4 }\nvoid main()', 4],
  ['async function main() { return 4 }\nvoid main();', 4],
  ['async function main() { return 4 }\nmain().catch(console.error);', 4],
  ['async function main() { return 4 }\nmain().then(console.log).catch(console.error)', undefined],
  ['(async function main() { return 4 })()', 4],
  ['(function main() { return 4 })', 4],
  ['!async function(){ return 4 }()', false],
  ['async ({ tools }) => tools.echo(3)', 3],
  ['async (tools) => tools.echo(3)', 3],
  ['async (codemode) => codemode.echo(3)', 3],
  ['async ({ github }) => github.get_issue()', { n: 1 }],
  ['async ({ tools: t, console }) => t.echo(3)', 3],
  ['const s = `\n\\`\\`\\`js\nx\n\\`\\`\\`\n`; return s.length', 13],
  ['#!/usr/bin/env node\nreturn 1', 1],
  ['\ufeff#!/usr/bin/env node\nreturn 1', 1],
  ['\ufeffreturn 1', 1],
  ['const a = 1\r\nreturn a', 1],
  ['const a = 1\rreturn a', 1],
  ['"use strict";\r\nreturn (function(){ return this === undefined })()', true],
  ['return (function(){ return this === undefined })()', false],
  ['return 1 // }); x', 1],
  ['1 <!-- 2\n', 1],
  ['let x = 1;\n--> foo });\nx', 1],
  ['"use strict"; <!-- x\nreturn 1', 1],
  ['var Promise = 5; function JSON() {} var undefined_ = 1; return 3', 3],
  ['const tools = 1; const console = 2; return tools + console', 3],
  ['await Promise.resolve(2)', 2],
  ['for await (const x of [1]) {}\n3', 3],
  ['label: for (;;) { break label }\n4', 4],
  ['return eval("arguments.length")', 0],
  ['', undefined],
  ['// x', undefined],
  [';;', undefined],
  ['await 0;\n(async () => 1)()', 1],
  ['const a = [1,2]\n;[a[0]]', [1]],
  ['function f() {}\nlet x = 3\nx\n', 3],
  ['const x = 1\nx\nfunction f() {}', 1],
  ['class A {}\n1', 1],
  ['{"a": 1}', { a: 1 }],
  ['[1,2]', [1, 2]],
];

describe('the value of a program', () => {
  test.each(VALUES)('%j gives %j', async (source, value) => {
    expect(await outcomeOf(source, world)).toEqual(value);
  });
});

const FENCES: [string, unknown][] = [
  ['```js\nreturn 1\n```', 1],
  ['```\nreturn 1\n```', 1],
  ['~~~ts\nconst x: number = 1;\nx\n~~~', 1],
  ['Sure:\n\n```typescript\nreturn 1\n```\nDone!', 1],
  ['Sure:\n\n```typescript\nreturn 1\n', 1],
  ['```js\nconst a = 1;\n```\nthen\n```js\nreturn a + 1;\n```', 2],
  ['```js\nconst a = 1; return a;\n```\nor\n```js\nconst a = 2;\nreturn a + 1;\n```', 3],
  ['Install:\n```bash\nnpm i\n```\n```js\nreturn 1\n```', 1],
  ['```js title="x"\nreturn 1\n```', 1],
  ['  ```js\n  return 1\n  ```', 1],
  ['```js\n#!/usr/bin/env node\nreturn 1\n```', 1],
  ['``` \r\nreturn 1\r\n```\r\n', 1],
  ['````js\nreturn 1\n````', 1],
  ['```js\n```', undefined],
  ['```ts\nreturn 1;```', 1],
  ['Here:\n```js\nreturn `${1}`;```  \n', '1'],
];

describe('fences and what surrounds them', () => {
  test.each(FENCES)('%j gives %j', async (source, value) => {
    expect(await outcomeOf(source, world)).toEqual(value);
  });

  test('several blocks are told of', () => {
    expect(prepared('```js\nconst a = 1;\n```\nand\n```js\na\n```').warnings).toEqual([
      { message: 'The text has 2 code blocks; they were run as one program, in order.', line: 2, column: 1 },
    ]);
  });

  test('a block of another language is refused by its name', () => {
    expect(refused('```python\nprint(1)\n```')).toMatchObject({ message: expect.stringContaining('python'), line: 2 });
  });
});

const MODULES: [string, unknown][] = [
  ['export default async function () { return 1 }', 1],
  ['export default 5', 5],
  ['export default 5;\nconst x = 1;', 5],
  ['export default () => x;\nconst x = 1;', 1],
  ['export default async function go() { return x }\nconst x = 1;', 1],
  ['async function main(){ return 2 }\nexport default main;', 2],
  ['async function main(){ return 2 }\nexport { main as default };', 2],
  ['export { main };\nasync function main(){ return 2 }', 2],
  ['export const x = 1;\nx', 1],
  ['export async function handler() { return 3 }', 3],
  ['export default { a: 1 };', { a: 1 }],
  ['export default class X {}', undefined],
  ['const x = 1; export = x', 1],
  ['export default (async () => 5)', 5],
  ['export default (async () => 5)();', 5],
  ['export default async function () { return 1 }\nexport const y = 2;', 1],
  ['export default await tools.echo(4)', 4],
  ['export const a = 1, b = 2; export { a as c }', undefined],
  ['export type { X } from "y"; 3', 3],
  ['export interface A {}\nexport type B = 1;\nexport enum C { X }\nC.X', 0],
  ['export abstract class A { abstract x(): void }\nexport default abstract class B extends A {}', undefined],
  ['module.exports = async () => 5;', 5],
  ['module.exports = { a: 1 }', { a: 1 }],
  ['exports.main = async function() { return 5 }', 5],
  ['export default async function run(ctx) { return typeof ctx }', 'undefined'],
  ["import { tools } from 'x'; return typeof tools", 'object'],
  ["import tools from 'codemode';\ntools.echo(1)", 1],
  ["import { github } from '/mcp';\n(await github.get_issue()).n", 1],
  ["import * as slack from './servers/slack';\nslack.ping()", 'pong'],
  ["import { get_issue } from './servers/github/index.ts';\nget_issue()", { n: 1 }],
  ["import { Foo } from './types';\nconst x: Foo = 1; x", 1],
  ["import { URL } from 'node:url'; typeof URL", 'undefined'],
  ["import { setTimeout as wait } from 'timers/promises'; await wait(1); 1", 1],
  ["import { randomUUID } from 'crypto'; randomUUID().length", 36],
  ["import { z } from 'zod';\n1", 1],
  ["import x, { tools as t } from 'codemode'; t.echo(x === t)", true],
  ["import type X from 'y'; import { type A, type B } from 'z'; 1", 1],
  ["const t = await import('/mcp'); t.echo(1)", 1],
];

describe('imports and exports', () => {
  test.each(MODULES)('%j gives %j', async (source, value) => {
    expect(await outcomeOf(source, world)).toEqual(value);
  });

  test('an import of types says nothing, any other dropped import does', () => {
    expect(prepared("import type { A } from './a';\nimport { type B } from 'b';\nreturn 1").warnings).toEqual([]);
    expect(prepared("import { tools } from 'x';\nreturn typeof tools").warnings).toEqual([
      { message: 'The import of "x" was dropped: `tools` is global here.', line: 1, column: 1 },
    ]);
  });

  test.each([
    ["import fs from 'node:fs';\nreturn fs.x", 'node:fs', 'file system'],
    ["import axios from 'axios';\nreturn axios.get('x')", 'axios', 'network'],
    ["import _ from 'lodash';\nreturn _.x", 'lodash', 'methods of arrays'],
    ["import { x } from './local';\nreturn x", './local', 'Remove the import'],
    ["import 'dotenv/config';", 'dotenv/config', 'Remove the import'],
    ["import fs = require('fs');\nfs.x", 'fs', 'file system'],
    ["export * from './x'", './x', 'Remove the import'],
  ])('%j is refused with the way out', (source, module, hint) => {
    expect(refused(source)).toMatchObject({
      message: expect.stringContaining(module),
      line: 1,
      column: 1,
      hint: expect.stringContaining(hint),
    });
  });

  test('`import()` rejects with a sentence, after its argument was evaluated', async () => {
    const source = "let seen = 0;\ntry { await import((seen = 1, 'node:fs')) } catch (error) { return [seen, error.message] }";
    expect(await outcomeOf(source, world)).toEqual([1, expect.stringContaining('`import()` is not available')]);
    await expect(start(prepared("await import('node:fs')").code, world)).rejects.toThrow(/"node:fs" cannot be loaded.*file system/);
  });

  test('an alias of the tools is one of the names that nobody has to import', async () => {
    const { code } = prepared("import { mytools } from 'somewhere';\nmytools.echo(2)", { aliases: ['mytools'] });
    expect(await start(code, { mytools: tools })).toBe(2);
  });
});

describe('the wrapper', () => {
  test.each([
    "return 'inside'; }); globalThis.x = 1; (async () => { return 1",
    '}); (async () => {',
    '*/ }); /*',
    'return 1 }',
    '} finally { (',
  ])('%j cannot close it', (source) => {
    expect(refused(source).line).toBe(1);
  });

  test.each(['1 <!-- }); x', 'let x = 1;\n--> }); x\nx', 'return 1 // }); x', '1 /* }); */'])(
    '%j hides nothing from the engine',
    async (source) => {
      expect(await outcomeOf(source)).toBe(1);
      expect(prepared(source).code).not.toMatch(/<!--|-->/);
    },
  );

  test('a program sees no name that it did not write', async () => {
    const source =
      'const names = Object.getOwnPropertyNames(globalThis);\nreturn [eval("arguments.length"), typeof $resources, names.filter((name) => name.startsWith("$"))]';
    expect(await outcomeOf(source)).toEqual([0, 'undefined', []]);
  });

  test('names that `using` needs are none of the program', async () => {
    expect(await outcomeOf('using a = null;\nconst $stack = 1, $resources = 2, $error = 3;\n$stack + $resources + $error')).toBe(6);
  });

  test('the code starts on a line of its own and keeps the columns', () => {
    expect(prepared('  foo();\nreturn 1').code.split('\n').slice(1, 3)).toEqual(['  foo();', 'return 1']);
  });

  test('a program may shadow every global', async () => {
    expect(await outcomeOf('var Promise = 5; function JSON() {} const tools = 1, console = 2; return tools + console', world)).toBe(3);
  });

  test('a strict program is strict, any other is not', async () => {
    const self = '(function () { return this === undefined })()';
    expect(await outcomeOf(`// c\n"use strict";\n${self}`)).toBe(true);
    expect(await outcomeOf(self)).toBe(false);
  });
});

describe('warnings', () => {
  test('an empty program runs and says so', async () => {
    for (const source of ['', ' \n\t']) {
      expect(prepared(source).warnings[0]?.message).toContain('empty');
      expect(await outcomeOf(source)).toBeUndefined();
    }
  });

  test('a function that nobody calls is told of when it cannot be called for the program', () => {
    expect(prepared('let n = 1;\nif (n) { n += 1 }\nasync function helper() { return n }').warnings[0]?.message).toContain('`helper`');
  });
});

test('preparing is a pure function of the text', () => {
  const source = "import { github } from '/mcp';\nusing x = null;\ngithub.get_issue()";
  const [first, second] = [prepared(source), prepared(source)];
  expect(first.code).toBe(second.code);
  expect(JSON.parse(JSON.stringify(first.map))).toEqual(second.map);
});

test('hostile nesting is a syntax error, not an exception', () => {
  for (const source of [
    '['.repeat(50_000),
    `1${'+1'.repeat(300_000)}`,
    'a=>'.repeat(100_000),
    '(function(){'.repeat(50_000),
    '`${'.repeat(50_000),
    '{'.repeat(100_000),
  ]) {
    expect(prepare(source).ok).toBe(false);
    expect(refused(source).message).toMatch(/nested too deeply|ends too early/);
  }
  expect(refused(`x = ${'<any>f('.repeat(40)}1${')'.repeat(40)}`).message).toContain('nested too deeply');
});
