// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of programs hold template literals.
// What models get wrong most often, each in a real guest: the kind of error, its place in the model's own text (where `¦` stands), what is said,
// and the way out. Every text is run as it is and in the clothes that models put around programs.
import { afterAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../src/index.ts';
import { underTest } from '../helpers/engines.ts';
import { marked, openWorld } from './world.ts';

const codeMode = openWorld();
afterAll(() => codeMode.close());

/** V8 points at the word that fails where QuickJS points at the dot or the bracket behind it: the line is what has to be the same. */
const placed = (column: number | undefined): unknown => (underTest().engine === 'v8' ? expect.any(Number) : column);

/** Name, program, kind, part of the message, part of the hint (none: the message says what to do). */
type Row = readonly [name: string, program: string, kind: string, message: RegExp, hint?: RegExp];

const FORGOTTEN_AWAIT: readonly Row[] = [
  [
    'a property of a call',
    "return tools.github.list_issues({ owner: 'a' })¦.items;",
    'program',
    /`github\.list_issues` was called without `await`.*no property `items`/,
    /write `\(await tools\.github\.list_issues\(…\)\)\.items`/,
  ],
  [
    'a property of a variable',
    "const found = tools.github.list_issues({ owner: 'a' });\nreturn found¦.items.length;",
    'program',
    /without `await`/,
    /`found` is a promise.*write `await tools\.github\.list_issues/,
  ],
  ['map on a call', 'return tools.names()¦.map((n) => n);', 'program', /no property `map`/, /\(await tools\.names\(…\)\)\.map/],
  [
    'map on a variable',
    'const names = tools.names();\nconst upper = names¦.map((n) => n.toUpperCase());\nreturn upper;',
    'program',
    /without `await`/,
    /`names` is a promise/,
  ],
  ['an index', 'return tools.names()¦[0];', 'program', /write \(await tools\.names\(…\)\)\[0\]/, /Put `await` before the call/],
  [
    'for…of over a call',
    'for (const n of tools.names¦()) console.log(n);',
    'program',
    /not iterable/,
    /for \(const x of await tools\.names\(…\)\)/,
  ],
  [
    'for…of over a variable',
    'const names = tools.names();\nfor (const n of ¦names) console.log(n);',
    'program',
    /not iterable/,
    /`names` is a promise/,
  ],
  [
    'taken apart',
    "¦const { items } = tools.github.list_issues({ owner: 'a' });\nreturn items;",
    'program',
    /no property `items`/,
    /`items` was taken from a promise/,
  ],
  [
    'JSON.stringify',
    'return JSON.stringify¦(tools.names());',
    'program',
    /`names` was called without `await`.*JSON/,
    /await tools\.names\(…\)/,
  ],
  ['a template literal', 'const who = tools.profile({});\nreturn `Hello ${¦who}`;', 'program', /used as a string/, /`who` is a promise/],
  ['text that is put together', "return 'Hello ' ¦+ tools.profile({});", 'program', /used as a value/, /await tools\.profile\(…\)/],
  ['arithmetic', 'const score = tools.profile({});\nreturn score ¦* 2;', 'program', /used as a number/, /`score` is a promise/],
  ['a comparison', 'return tools.profile({}) ¦> 1;', 'program', /used as a number/, /await tools\.profile/],
  [
    'an async function of its own',
    'async function get() {\n  return await tools.profile({});\n}\nconst who = get();\nreturn who.name¦.length;',
    'program',
    /of undefined/,
    /`who` is a promise, since `get\(…\)` was not awaited/,
  ],
  [
    'an async arrow of its own',
    'const get = async () => await tools.profile({});\nreturn get().name¦.length;',
    'program',
    /of undefined/,
    /`get\(…\)` gives a promise/,
  ],
  [
    'map with an async callback',
    'const names = await tools.names();\nconst scores = names.map(async (n) => (await tools.profile({})).score);\nreturn scores.reduce((a, b) => a ¦+ b, 0);',
    'program',
    /A promise is used as a value/,
    /await Promise\.all/,
  ],
];

const CALLS: readonly Row[] = [
  [
    'a tool with a typing error',
    "return await tools.github.creat_issue¦({ title: 'x' });",
    'program',
    /There is no tool `github\.creat_issue`\. Did you mean `tools\.github\.create_issue`/,
  ],
  [
    'a namespace with a typing error',
    "return await tools.gihub.list_issues¦({ owner: 'a' });",
    'program',
    /Did you mean `tools\.github\.list_issues`/,
  ],
  [
    'a tool in camel case',
    "return await tools.github.listIssues¦({ owner: 'a' });",
    'program',
    /Did you mean `tools\.github\.list_issues`/,
  ],
  [
    'tools.call with a wrong name',
    "return await tools.call¦('github.list_isues', {});",
    'program',
    /Did you mean `tools\.github\.list_issues`/,
  ],
  [
    'a namespace without tools.',
    "return await ¦github.list_issues({ owner: 'a' });",
    'program',
    /github.*not defined/,
    /write `tools\.github`/,
  ],
  [
    'a tool without tools.',
    "return await ¦create_issue({ title: 'a' });",
    'program',
    /create_issue.*not defined/,
    /write `tools\.github\.create_issue`/,
  ],
  ['tools called as a function', "return await tools¦('names', {});", 'program', /not a function/, /tools\.call\(name/],
  [
    'a namespace called as a function',
    "return await tools.github¦({ owner: 'a' });",
    'program',
    /not a function/,
    /`tools\.github` holds tools.*`tools\.github\.list_issues`/,
  ],
  ['a dispatcher of another system', "return await ¦callTool('names', {});", 'program', /callTool.*not defined/, /tools\.call\(name/],
  [
    'an argument with a wrong name',
    "return await tools.github.list_issues¦({ ownr: 'a' });",
    'program',
    /lacks the required property `owner`.*did you mean `owner`/,
    /Correct the argument/,
  ],
  [
    'an argument of a wrong type',
    'return await tools.github.list_issues¦({ owner: 5 });',
    'program',
    /`\$\.owner` should be a string \(is 5\)/,
    /Correct the argument/,
  ],
  [
    'an argument that is missing',
    'const limit = 2;\nreturn await tools.github.list_issues¦({ limit });',
    'program',
    /lacks the required property `owner`/,
    /Correct the argument/,
  ],
  [
    'an argument too many',
    "return await tools.github.list_issues¦({ owner: 'a', page: 2 });",
    'program',
    /`\$\.page` is not a property here \(known: `owner`, `state`, `limit`\)/,
    /Correct the argument/,
  ],
  [
    'a wrong choice',
    "return await tools.github.list_issues¦({ owner: 'a', state: 'closd' });",
    'program',
    /did you mean "closed"/,
    /Correct the argument/,
  ],
  [
    'several arguments',
    "return await tools.github.list_issues¦('a', 'open');",
    'program',
    /takes one argument.*was called with 2/,
    /one object/,
  ],
  [
    'a string for an object',
    "return await tools.github.list_issues¦('a');",
    'program',
    /`\$` should be an object \(is the string "a"\)/,
    /one object/,
  ],
  ['no argument at all', 'return await tools.github.list_issues¦();', 'program', /lacks the required property `owner`/, /one object/],
  [
    'a promise as an argument',
    'return await tools.github.create_issue¦({ title: tools.names() });',
    'program',
    /\$\.title is a promise; await it first/,
    /Correct the argument/,
  ],
  ['a failure of the tool', 'const a = 1;\nawait tools.fail¦({});', 'program', /The service said no/],
];

const RESULTS: readonly Row[] = [
  [
    'content[0].text of a result',
    "const r = await tools.github.list_issues({ owner: 'a' });\nreturn r.content¦[0].text;",
    'program',
    /of undefined/,
    /without `\.content\[0\]\.text`/,
  ],
  [
    'JSON.parse of an object',
    'const r = await tools.profile({});\nreturn JSON.parse¦(r);',
    'program',
    /unexpected token|not valid JSON/i,
    /object already: use it without `JSON\.parse`/,
  ],
  ['JSON.parse of nothing', 'const r = await tools.profile({});\nreturn JSON.parse¦(r.note);', 'program', /undefined/, /nothing to parse/],
  [
    'JSON.parse of a page',
    "const r = await tools.web.read_page({ url: 'x' });\nreturn JSON.parse¦(r);",
    'program',
    /unexpected token|not valid JSON/i,
    /The text is not JSON/,
  ],
  [
    '.data around a result',
    "const r = await tools.github.list_issues({ owner: 'a' });\nreturn r.data¦.items;",
    'program',
    /'items' of undefined|of undefined \(reading 'items'\)/,
    /A call gives the result itself/,
  ],
  [
    'a field that is not there',
    "const r = await tools.github.list_issues({ owner: 'a' });\nreturn r.issues¦.map((i) => i.id);",
    'program',
    /'map' of undefined|of undefined \(reading 'map'\)/,
    /`r\.issues`, before `\.map`, is undefined/,
  ],
  [
    'a field that is null',
    'const r = { user: null };\nreturn r.user¦.name;',
    'program',
    /'name' of null|of null \(reading 'name'\)/,
    /`r\.user`, before `\.name`, is null/,
  ],
  [
    'an object for a list',
    "const r = await tools.github.list_issues({ owner: 'a' });\nreturn r.map¦((i) => i.id);",
    'program',
    /not a function/,
    /`r` is not an array/,
  ],
  [
    'an object in for…of',
    "const r = await tools.github.list_issues({ owner: 'a' });\nfor (const i of ¦r) console.log(i);",
    'program',
    /not iterable/,
    /Object\.entries/,
  ],
  [
    '.json() of a result',
    'const r = await tools.profile({});\nreturn await r.json¦();',
    'program',
    /not a function/,
    /`r\.json` is not a function/,
  ],
];

const VALUES: readonly Row[] = [
  ['a function', 'return { a: { b: [1, () => 1] } };', 'unserializable', /\$\.a\.b\[1\] is a function/, /not functions/],
  ['a symbol', "return { a: Symbol('x') };", 'unserializable', /\$\.a is a symbol/, /plain data/],
  ['a cycle', 'const a = {};\na.self = a;\nreturn { a };', 'unserializable', /\$\.a\.self is circular/, /contains itself/],
  ['a WeakMap', 'return [new WeakMap()];', 'unserializable', /\$\[0\] is a WeakMap.*use a Map/, /plain data/],
  [
    'a promise in a Map',
    "return new Map([['a', tools.names()]]);",
    'unserializable',
    /\$\.get\("a"\) is a promise; await it/,
    /put `await`/,
  ],
  [
    'a promise that never settles',
    'return { a: new Promise(() => {}) };',
    'unserializable',
    /\$\.a is a promise.*Nothing is left/,
    /resolve function/,
  ],
  ['a regular expression', 'return [/x/];', 'unserializable', /regular expression.*source text/, /plain data/],
  ['a generator', 'function* all() { yield 1; }\nreturn all();', 'unserializable', /iterator.*Array\.from/, /plain data/],
  ['a date that is none', "return { at: new Date('soon') };", 'unserializable', /\$\.at is an invalid Date/, /plain data/],
  ['the tools', 'return tools;', 'unserializable', /is a function/, /not functions/],
  ['a promise given to exit', 'exit¦({ a: tools.names() });', 'program', /\$\.a is a promise; await it first/, /put `await`/],
];

const WORLD: readonly Row[] = [
  [
    'fetch',
    "const r = await ¦fetch('https://x.y');\nreturn await r.json();",
    'program',
    /`fetch` is not available here.*call the tools/,
    /no network here: use `tools\.web\.read_page`/,
  ],
  ['axios', "const { data } = await ¦axios.get('https://x.y');", 'program', /axios.*not defined/, /tools\.web\.read_page/],
  ['XMLHttpRequest', 'const x = new ¦XMLHttpRequest();', 'program', /XMLHttpRequest/, /tools\.web\.read_page/],
  ['WebSocket', "const x = new ¦WebSocket('wss://x.y');", 'program', /WebSocket/, /no network/],
  [
    'require of a client',
    "const axios = ¦require('axios');",
    'program',
    /`require` is not available here: "axios"/,
    /tools\.web\.read_page/,
  ],
  [
    'require of files',
    "const fs = ¦require('fs');",
    'program',
    /"fs" cannot be loaded\. There is no file system here/,
    /tools\.disk\.read_file/,
  ],
  ['require of a library', "const _ = ¦require('lodash');", 'program', /Use the methods of arrays/],
  ['import() of a library', "const x = await ¦import('left-pad');", 'program', /`import\(\)` is not available here: "left-pad"/],
  [
    'import of files',
    "¦import fs from 'node:fs';\nreturn fs.readFileSync('a');",
    'syntax',
    /cannot import `fs` from "node:fs"/,
    /no file system/,
  ],
  ['fs', "const t = ¦fs.readFileSync('a.txt', 'utf8');", 'program', /fs.*not defined/, /tools\.disk\.read_file/],
  ['Deno', "await ¦Deno.readTextFile('x');", 'program', /Deno.*not defined/, /no file system/],
  ['Bun', "await ¦Bun.file('x').text();", 'program', /Bun.*not defined/, /no file system/],
  ['__dirname', "return ¦__dirname + '/x';", 'program', /__dirname/, /no file system/],
  ['process.exit', 'if (1) ¦process.exit(0);', 'program', /`process\.exit` is not available here\..*`exit\(value\)`/],
  ['process.argv', 'return ¦process.argv[2];', 'program', /`process\.argv`.*has no arguments/],
  ['process.cwd', 'return ¦process.cwd();', 'program', /`process\.cwd`.*no file system/],
  ['process.stdout', "¦process.stdout.write('hi');", 'program', /`process\.stdout`.*console\.log/],
  ['process itself', 'const p = ¦process;\nreturn p.env;', 'program', /process.*not defined/, /no process here/],
  ['window', 'return ¦window.location.href;', 'program', /window/, /no browser/],
  ['document', "return ¦document.querySelector('a').href;", 'program', /document/, /no page/],
  ['localStorage', "¦localStorage.setItem('a', 1);", 'program', /localStorage/, /store\(key, value\)/],
  ['alert', "¦alert('x');", 'program', /alert/, /console\.log/],
  ['jQuery', "¦jQuery('a').text();", 'program', /jQuery/, /no page/],
  ['module.exports of a part', '¦module.exports.run = 1;\nreturn 2;', 'program', /module.*not defined/, /return value/],
  ['lodash', 'return ¦_.groupBy([1], (x) => x);', 'program', /_.*not defined/, /no lodash/],
  ['uuid', 'return ¦uuidv4();', 'program', /uuidv4/, /crypto\.randomUUID/],
  ['delay', 'await ¦delay(5);', 'program', /delay/, /await sleep\(ms\)/],
  ['None', 'return ¦None;', 'program', /None/, /Write `null`/],
  ['len', 'return ¦len([1]);', 'program', /len/, /value\.length/],
  ['Exception', "throw new ¦Exception('x');", 'program', /Exception/, /throw new Error/],
  ['a function of Python', 'def main():\n    return 1', 'syntax', /This is Python/, /Write it in JavaScript/],
  ['a loop of Python', 'for x in range(3):\n    print(x)', 'syntax', /This is Python/, /Write it in JavaScript/],
  ['a shell command', 'curl https://x.y', 'syntax', /shell command/, /no shell/],
  ['a name with a typing error', 'const results = [1];\nreturn ¦reslts.length;', 'program', /reslts/, /Did you mean `results`/],
];

const LANGUAGE: readonly Row[] = [
  [
    'an assignment to a constant',
    'const total = 0;\nfor (const x of [1]) total ¦+= x;\nreturn total;',
    'program',
    /total.*read-only|Assignment to constant/,
    /Declare the variable with `let`/,
  ],
  [
    'a use before the declaration',
    'console.log(¦a);\nconst a = 1;',
    'program',
    /not initialized|before initialization/,
    /move the declaration up/,
  ],
  [
    'a constant made from itself',
    'const data = ¦data.map((x) => x);',
    'program',
    /not initialized|before initialization/,
    /`data` is used above its declaration/,
  ],
  ['a name declared twice', 'const a = 1;\nconst ¦a = 2;', 'syntax', /`a` is declared twice \(first on line/, /another name/],
  ['a bracket that is missing', 'const a = [1, 2¦;\nreturn a;', 'syntax', /Unexpected `;`/, /The `\[` of line \d+ is still open/],
  [
    'a brace that is missing',
    'async function main() ¦{\n  if (true) {\n    return 1;\n}\nmain();',
    'syntax',
    /ends too early/,
    /not cut off/,
  ],
  [
    'await in a callback that is not async',
    'const x = [1].map((i) => { return ¦await tools.names(); });',
    'syntax',
    /not async/,
    /async \(\) => …/,
  ],
  [
    'await in a function that is not async',
    'function f() {\n  const a = ¦await tools.names();\n  return a;\n}\nreturn f();',
    'syntax',
    /not async/,
    /await the calls of it too/,
  ],
  ['a template that is not closed', 'const a = ¦`x ${1};\nreturn a;', 'syntax', /template literal is not closed/, /backtick/],
  ['a string that is not closed', "const a = ¦'x;\nreturn a;", 'syntax', /not closed on its line/, /Close the quote/],
  [
    'recursion without an end',
    'function f(n) {\n  return f¦(n + 1) + 1;\n}\nreturn f(0);',
    'program',
    /stack overflow|stack size exceeded/,
    /calls itself without an end/,
  ],
];

const PLACES: readonly Row[] = [
  [
    'in a callback',
    'const list = [{ a: {} }, {}];\nreturn list.map((x) => x.a\u00a6.b);',
    'program',
    /'b' of undefined|of undefined \(reading 'b'\)/,
    /`x\.a`/,
  ],
  ['after an await', "const a = await tools.names();\nawait sleep(1);\nthrow new Error¦('late');", 'program', /^late$/],
  ['in a timer', 'setTimeout(() => {\n  null¦.x;\n}, 1);\nawait sleep(50);\nreturn 1;', 'program', /'x' of null|of null \(reading 'x'\)/],
  [
    'in a method',
    "class A {\n  async run() {\n    await tools.names();\n    throw new TypeError¦('inside');\n  }\n}\nreturn await new A().run();",
    'program',
    /^inside$/,
  ],
  ['in a getter', "const o = {\n  get x() {\n    throw new Error¦('got');\n  },\n};\nreturn o.x;", 'program', /^got$/],
  ['in a getter of the value', "return {\n  get x() {\n    throw new Error¦('got');\n  },\n};", 'program', /^got$/],
  ['in Promise.all', 'await Promise.all([\n  tools.names(),\n  tools.fail¦({}),\n]);', 'program', /The service said no/],
  ['in a promise of the value', 'return {\n  a: tools.names(),\n  b: tools.fail¦({}),\n};', 'program', /The service said no/],
  [
    'in TypeScript',
    'interface Row<T> { value: T }\nconst rows: Row<number>[] = [{ value: 1 }];\nconst first = rows[5] as Row<number>;\nreturn first!¦.value.toFixed(2);',
    'program',
    /'value' of undefined|of undefined \(reading 'value'\)/,
    /undefined/,
  ],
  [
    'behind an enum',
    "enum Color { Red, Green = 'g' }\nfunction paint(c: Color): never {\n  throw new RangeError¦(`no ${c}`);\n}\npaint(Color.Green);",
    'program',
    /^no g$/,
  ],
  ['behind a promise that nobody awaits', "async function log() {}\nlog(); log(); throw new Error¦('here');", 'program', /^here$/],
  ['behind process.env', "const key = process.env.KEY ?? 'none'; throw new Error¦(key);", 'program', /^none$/],
];

/** How models wrap a program; each keeps the marked place. */
const CLOTHES: readonly (readonly [name: string, wrap: (program: string) => string])[] = [
  ['as it is', (program) => program],
  ['in a fence with prose', (program) => `Here is the program:\n\n\`\`\`ts\n${program}\n\`\`\`\n\nIt does what you asked for.`],
  ['with CRLF and a BOM', (program) => `\ufeff// A program.\r\n${program.replaceAll('\n', '\r\n')}`],
];

describe.each([
  ['a forgotten await', FORGOTTEN_AWAIT],
  ['calls', CALLS],
  ['results', RESULTS],
  ['values', VALUES],
  ['the world', WORLD],
  ['the language', LANGUAGE],
  ['places', PLACES],
] as const)('%s', (_, rows) => {
  describe.each(CLOTHES)('%s', (__, wrap) => {
    test.for(rows)('%s', async ([, program, kind, message, hint]) => {
      const { source, line, column } = marked(wrap(program));
      const { status, error } = await codeMode.run(source);
      expect(status, JSON.stringify(error)).toBe('error');
      expect(error?.kind).toBe(kind);
      expect(error?.message).toMatch(message);
      if (hint !== undefined) expect(error?.hint).toMatch(hint);
      if (line === undefined) return;
      expect({ line: error?.line, column: error?.column }).toEqual({ line, column: placed(column) });
      expect(error?.frame).toMatch(new RegExp(`^> *${line} \\|`, 'm'));
    });
  });
});

describe('limits', () => {
  test.each([
    ['a loop without an end', 'while (true) {}', 'timeout', /`cpuMs`.*loop without an end/],
    ['an async loop without an end', 'while (true) await null;', 'timeout', /`cpuMs`/],
    ['too many calls', 'for (let i = 0; i < 100; i++) await tools.names();', 'limit', /More than 30 tool calls.*`calls`/],
    ['too much memory', "const a = [];\nfor (;;) a.push(new Array(10_000).fill('x'));", 'memory', /`memoryBytes`.*in parts/],
    ['a promise that nobody settles', 'await new Promise(() => {});', 'deadlock', /resolve function is never called/],
  ])('%s says which limit it met and what to do', async (_, program, kind, message) => {
    const { error } = await codeMode.run(program);
    expect(error?.kind).toBe(kind);
    expect(error?.message).toMatch(message);
  });

  test('a program that takes too long says so', async () => {
    const { error } = await codeMode.run('await sleep(60_000);', { limits: { wallMs: 200 } });
    expect(error).toMatchObject({ kind: 'timeout', message: expect.stringMatching(/200 ms, the limit `wallMs`.*Promise\.all/) });
  });
});

/** What is told beside a value, where `¦` stands. */
describe('warnings', () => {
  test.each<readonly [name: string, program: string, value: unknown, message: RegExp]>([
    ['a failed call that nobody awaits', 'tools.fail¦({});\nreturn 1;', 1, /`fail` that was never awaited failed: The service said no/],
    [
      'an async function that nobody awaits',
      "async function save() {\n  await tools.names();\n  throw new Error¦('later');\n}\nsave();\nreturn 1;",
      1,
      /never awaited was rejected: Error: later/,
    ],
    [
      'an async arrow that nobody awaits',
      "const save = async () => {\n  throw new Error¦('later');\n};\nsave();\nreturn 1;",
      1,
      /Error: later/,
    ],
    [
      'an async method that nobody awaits',
      "class A {\n  async #save() {\n    throw new Error¦('p');\n  }\n  run() {\n    this.#save();\n    return 2;\n  }\n}\nreturn new A().run();",
      2,
      /Error: p/,
    ],
    ['an async block that nobody awaits', "(async () => {\n  throw new TypeError¦('x');\n})();\nreturn 1;", 1, /TypeError: x/],
    ['an async callback of forEach', '[1].forEach(async (n) => {\n  await tools.fail¦({ n });\n});\nreturn 1;', 1, /The service said no/],
    [
      'an async callback of a timer',
      'setTimeout(async () => {\n  await null;\n  null¦.x;\n}, 1);\nreturn 1;',
      1,
      /'x' of null|of null \(reading 'x'\)/,
    ],
    ['a chain that nobody ends', 'tools.names().then((n) => n.nope¦.x);\nreturn 1;', 1, /'x' of undefined|of undefined \(reading 'x'\)/],
    ['a rejection that nobody handles', "Promise.reject(new Error¦('lost'));\nreturn 1;", 1, /Error: lost/],
    ['what is thrown is no error', "async function f() {\n  throw 'text';\n}\n¦f();\nreturn 1;", 1, /rejected: text/],
    [
      'a promise as a condition',
      "if (¦tools.names()) return 'yes';\nreturn 'no';",
      'yes',
      /a promise is always true: write `await tools\.names\(…\)`/,
    ],
    ['a variable as a condition', "const ok = tools.names();\nreturn !¦ok ? 'no' : 'yes';", 'yes', /`ok` is a promise.*always true/],
    ['a promise before ||', 'const all = ¦tools.names() || [];\nreturn (await all).length;', 2, /always true/],
    ['an equality', "const n = tools.names();\nreturn ¦n === 'a';", false, /equals nothing but itself/],
    ['the keys of a promise', 'return Object.keys(¦tools.profile({}));', [], /no fields of its own/],
    ['a promise that is spread', 'return { ...¦tools.profile({}) };', {}, /no fields of its own/],
    [
      'an async function as a condition',
      "async function isFit() {\n  return false;\n}\nif (¦isFit()) return 'wrong';\nreturn 'right';",
      'wrong',
      /`isFit\(…\)` gives a promise.*await isFit/,
    ],
    ['an async function as JSON', 'const get = async () => 1;\nreturn JSON.stringify(¦get());', '{}', /`\{\}` as JSON/],
    ['filter with an async callback', 'return [1, 2].filter(¦async (n) => n > 1);', [1, 2], /`filter` does not wait/],
    ['a list of promises used as values', 'const all = ¦[1].map(async (n) => n);\nreturn all[0].name;', undefined, /`all` holds promises/],
    ['a promise in the value', 'return { a: tools.names¦() };', { a: ['a', 'b'] }, /`\$\.a` of the program's value was a promise/],
  ])('%s', async (_, program, value, message) => {
    for (const [, wrap] of CLOTHES) {
      const { source, line, column } = marked(wrap(program));
      const result = await codeMode.run(source);
      expect(result).toMatchObject({ status: 'completed' });
      expect(result.value).toEqual(value);
      expect(result.warnings).toEqual([{ message: expect.stringMatching(message), line, column: placed(column) }]);
    }
  });

  test.each([
    'async function save() {}\nsave().catch(() => {});\nawait save();\nreturn 1;',
    'const p = tools.names();\nif (p !== undefined) await p;\nreturn 1;',
    'const ok = await tools.names();\nif (ok) return 1;',
    'const all = [1].map(async (n) => n);\nreturn (await Promise.all(all)).length;',
    'let p;\np = tools.names();\nif (p) await p;\nreturn 1;',
    'const check = async () => true;\nif (await check()) return 1;',
    'const items = [1];\nconst find = async () => items;\nitems.find((x) => x === 1);\nawait find();\nreturn 1;',
    'console.log(tools.names());\nreturn 1;',
  ])('%j deserves none that is wrong', async (program) => {
    const result: RunResult = await codeMode.run(program);
    expect(result).toMatchObject({ status: 'completed', value: 1 });
    // A comparison with `undefined` is the one that is rightly told.
    expect(result.warnings.filter(({ message }) => !/equals nothing/.test(message))).toEqual([]);
  });
});

describe('promises in the value', () => {
  test.each<readonly [name: string, program: string, value: unknown]>([
    ['of calls', 'return { a: tools.profile({}), b: [tools.names({})] };', { a: { name: 'Ann', score: 5 }, b: [['a', 'b']] }],
    ['of async callbacks', 'return (await tools.names()).map(async (n) => n + (await tools.profile({})).score);', ['a5', 'b5']],
    [
      'that call once more, later',
      'return [1, 2].map(async (i) => { await sleep(5); return (await tools.names())[0] + i; });',
      ['a1', 'a2'],
    ],
    ['that give promises in turn', 'return [Promise.resolve({ c: [Promise.resolve(2)] })];', [{ c: [2] }]],
    [
      'in frozen and shared objects',
      'const p = Promise.resolve(4); const o = Object.freeze({ p });\nreturn [o, o, p];',
      [{ p: 4 }, { p: 4 }, 4],
    ],
    [
      'beside a key that is no ordinary one',
      'return JSON.parse(\'{"__proto__": 1}\', (k, v) => (v === 1 ? Promise.resolve({ x: 1 }) : v));',
      JSON.parse('{"__proto__":{"x":1}}'),
    ],
  ])('%s are settled first', async (_, program, value) => {
    const result = await codeMode.run(program);
    expect(result.error).toBeUndefined();
    expect(result.value).toEqual(value);
    expect(result.warnings.length).toBeGreaterThan(0);
    for (const { message } of result.warnings)
      expect(message).toMatch(/^`\$.*` of the program's value was a promise; it was awaited for you/);
  });

  test('many of a kind are told once', async () => {
    const result = await codeMode.run('return Array.from({ length: 500 }, async (_, i) => i);');
    expect(result.value).toHaveLength(500);
    expect(result.warnings).toHaveLength(1);
  });

  test('more than a thousand are not waited for', async () => {
    const result = await codeMode.run('return Array.from({ length: 1001 }, async (_, i) => i);');
    expect(result.error).toMatchObject({ kind: 'unserializable', message: expect.stringContaining('is a promise') });
  });

  test('promises without an end come to one', async () => {
    const result = await codeMode.run('const next = async () => ({ next: next() });\nreturn { next: next() };');
    expect(result.status).toBe('error');
  });

  test('a program that redefines `then` settles nothing of ours', async () => {
    const result = await codeMode.run(
      "Promise.prototype.then = () => { throw new Error('mine'); };\nreturn [tools.names(), (async () => 2)()];",
    );
    expect(result.value).toEqual([['a', 'b'], 2]);
  });
});
