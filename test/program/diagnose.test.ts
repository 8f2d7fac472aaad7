// Errors of programs that ran: their place in the model's text, a frame, the program's own stack, and hints for the usual mistakes.
import { describe, expect, test } from 'vitest';
import { codeFrame, diagnose, framePosition } from '../../src/program/diagnose.ts';
import type { GuestError } from '../../src/protocol/messages.ts';
import { prepared } from './evaluate.ts';

const tools = [
  { path: 'github.create_issue', description: 'Creates an issue.' },
  { path: 'github.list_issues', description: 'Lists issues.' },
  { path: 'web.get_page', description: 'Downloads a page by its URL.' },
  { path: 'drive.read', description: 'Reads a file from the drive.' },
  { path: 'slack.post', description: 'Posts a message.' },
];

/** An error at the first `¦` of a program (which is taken out). */
function failure(marked: string, error: Partial<GuestError> & { message: string }): ReturnType<typeof diagnose> {
  const at = marked.indexOf('¦');
  const source = marked.replace('¦', '');
  const before = source.slice(0, Math.max(0, at)).split('\n');
  const stack = at < 0 ? '' : `    at <anonymous> (program.js:${before.length + 1}:${(before.at(-1)?.length ?? 0) + 1})\n`;
  return diagnose({ kind: 'program', name: 'TypeError', stack, isError: true, ...error }, { source, program: prepared(source), tools });
}

test('the first frame in the program gives the place; the stack keeps only its frames, in the text of the model', () => {
  const source = '```js\nconst a: number = 1;\nfunction f() {\n  throw new Error("x");\n}\nf();\n```';
  const stack =
    '    at bridge (boot.js:9:9)\n    at f (program.js:5:9)\n    at <anonymous> (program.js:7:9)\n    at async main (program.js:7:1)\n    at made (up.js:1:1)\nnot a frame';
  const {
    line,
    column,
    stack: shown,
    frame,
  } = diagnose({ kind: 'program', name: 'Error', message: 'x', stack, isError: true }, { source, program: prepared(source) });
  expect({ line, column }).toEqual({ line: 4, column: 9 });
  expect(shown).toBe('    at f (program.js:4:9)\n    at program.js:6:2\n    at main (program.js:6:1)');
  expect(frame).toBe('  3 | function f() {\n> 4 |   throw new Error("x");\n    |         ^\n  5 | }');
});

test('a stack that names no place of the program gives none', () => {
  for (const stack of [
    '',
    'program.js',
    '    at f (program.js:999:1)',
    '    at f (program.js:0:0)',
    '    at f (other.js:2:1)',
    `at ${'('.repeat(10_000)}`,
    `    at f (program.js:${'9'.repeat(400)}:1)`,
  ]) {
    const diagnosis = diagnose(
      { kind: 'program', name: 'Error', message: 'x', stack, isError: true },
      { source: 'return 1', program: prepared('return 1') },
    );
    expect(diagnosis).toEqual({ name: 'Error', message: 'x', stack: '' });
    expect(framePosition(stack, prepared('return 1'))).toBeUndefined();
  }
});

test('a place in the wrapper is the start of the program: QuickJS has none before the first call', () => {
  const source = '```js\n\n  const { a } = undefined;\n```';
  const diagnosis = diagnose(
    {
      kind: 'program',
      name: 'TypeError',
      message: 'cannot convert to object',
      stack: '    at <anonymous> (program.js:1:2)',
      isError: true,
    },
    { source, program: prepared(source) },
  );
  expect(diagnosis).toMatchObject({ line: 3, column: 3, hint: expect.stringContaining('taken apart') });
});

test('without the prepared program there is a message and no place', () => {
  const stack = '    at f (program.js:2:1)';
  expect(diagnose({ kind: 'program', name: 'E', message: 'm', stack, isError: false }, { source: 'x' })).toEqual({
    name: 'E',
    message: 'm',
    stack: '',
  });
  expect(framePosition(stack, undefined)).toBeUndefined();
});

describe('a code frame', () => {
  test('has three lines, numbers of one width and a caret', () => {
    const source = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\r\n');
    expect(codeFrame(source, { line: 9, column: 3 })).toBe('   8 | line 8\n>  9 | line 9\n     |   ^\n  10 | line 10');
    expect(codeFrame(source, { line: 1, column: 1 })).toBe('> 1 | line 1\n    | ^\n  2 | line 2');
    expect(codeFrame('', { line: 1, column: 1 })).toBe('> 1 |\n    | ^');
  });

  test('cuts long lines around the column, with the caret still under it', () => {
    const source = `${'a'.repeat(500)}X${'b'.repeat(500)}`;
    const lines = codeFrame(source, { line: 1, column: 501 }).split('\n');
    expect(lines.every((line) => line.length < 120)).toBe(true);
    expect(lines[0]?.[lines[1]?.indexOf('^') ?? 0]).toBe('X');
  });

  test('prints no control characters, and the caret counts what is printed', () => {
    const frame = codeFrame('\tconst a = "\u001b[31m\u202e"; X', { line: 1, column: 22 });
    for (const mark of ['\u001b', '\t', '\u202e']) expect(frame).not.toContain(mark);
    const [text, caret] = frame.split('\n');
    expect(text?.[caret?.indexOf('^') ?? 0]).toBe('X');
  });
});

const undefinedProperty = (name: string): { message: string } => ({ message: `cannot read property '${name}' of undefined` });

describe('hints', () => {
  test.each<[string, string, Partial<GuestError> & { message: string }, RegExp]>([
    [
      'a property of a promise',
      'const n = tools.github.list_issues({}).items¦.map(x => x);',
      undefinedProperty('map'),
      /await tools\.github\.list_issues/,
    ],
    [
      'a value that was not awaited',
      'const all = tools.github.list_issues({});\nreturn all.items¦.length;',
      undefinedProperty('length'),
      /`all` is a promise.*await tools\.github\.list_issues/,
    ],
    [
      'a method of a promise',
      'const all = tools.github.list_issues();\nreturn all¦.map(x => x);',
      { message: 'not a function' },
      /`all` is a promise/,
    ],
    [
      'a destructured promise',
      'const { items } = tools.github.list_issues({});\nreturn items¦.map(x => x);',
      undefinedProperty('map'),
      /`items` was taken from a promise/,
    ],
    [
      'a loop over a promise',
      'for (const x of ¦tools.github.list_issues({})) x;',
      { message: 'value is not iterable' },
      /of await tools\.github\.list_issues/,
    ],
    [
      'a spread promise',
      'return [...¦tools.github.list_issues({})];',
      { message: 'value is not iterable' },
      /\.\.\.\(await tools\.github\.list_issues/,
    ],
    ['an empty list', 'return [].reduce¦((a, b) => a + b);', { message: 'empty array' }, /value to begin with/],
    ['a key of a text', "return 'a' ¦in 'abc';", { message: "invalid 'in' operand" }, /includes/],
    [
      'a tool that is constructed',
      'new tools.github.list_issues¦({});',
      { message: 'github.list_issues is not a constructor' },
      /without `new`/,
    ],
    ['a text that is no pattern', "new RegExp¦('(');", { name: 'SyntaxError', message: "expecting ')'" }, /before a mark/],
    ['what is no error', "throw 'no';", { name: 'thrown', message: 'no', isError: false }, /throw new Error/],
    ['an async map', 'const xs = [1].map(async (x) => x);\nreturn xs[0]¦.id.x;', undefinedProperty('x'), /Promise\.all/],
    [
      'a namespace without tools',
      '¦github.create_issue({});',
      { name: 'ReferenceError', message: 'github is not defined' },
      /`tools\.github`/,
    ],
    [
      'a tool without its namespace',
      '¦create_issue({});',
      { name: 'ReferenceError', message: "'create_issue' is not defined" },
      /`tools\.github\.create_issue`/,
    ],
    [
      'a misspelt name of the program',
      'const results = [];\nreturn ¦reslts;',
      { name: 'ReferenceError', message: 'reslts is not defined' },
      /`results`/,
    ],
    ['a misspelt global', '¦consle.log(1);', { name: 'ReferenceError', message: "'consle' is not defined" }, /`console`/],
    ['a misspelt tool', 'await tools.github.creat_issue¦({});', { message: 'not a function' }, /no tool.*`tools\.github\.create_issue`/],
    ['fetch', 'await ¦fetch("x");', { name: 'ReferenceError', message: 'fetch is not defined' }, /no network.*`tools\.web\.get_page`/],
    ['axios', 'await ¦axios.get("x");', { name: 'ReferenceError', message: "'axios' is not defined" }, /`tools\.web\.get_page`/],
    ['fs', '¦fs.readFileSync("x");', { name: 'ReferenceError', message: 'fs is not defined' }, /no file system.*`tools\.drive\.read`/],
    ['Deno', '¦Deno.readTextFile("x");', { name: 'ReferenceError', message: "'Deno' is not defined" }, /no file system/],
    ['process', '¦process.exit(1);', { name: 'ReferenceError', message: 'process is not defined' }, /exit\(value\)/],
    ['require', 'const x = ¦require("x");', { name: 'ReferenceError', message: 'require is not defined' }, /no modules/],
    ['localStorage', '¦localStorage.x;', { name: 'ReferenceError', message: 'localStorage is not defined' }, /store\(key, value\)/],
    ['window', '¦window.x;', { name: 'ReferenceError', message: 'window is not defined' }, /no browser/],
    ['alert', '¦alert(1);', { name: 'ReferenceError', message: 'alert is not defined' }, /console\.log/],
    ['None', 'return ¦None;', { name: 'ReferenceError', message: 'None is not defined' }, /null/],
    [
      'content of an unwrapped result',
      'const r = await tools.slack.post({});\nreturn r.content¦[0].text;',
      undefinedProperty('0'),
      /already unwrapped/,
    ],
    [
      'parsing an object',
      'JSON.parse¦({});',
      { name: 'SyntaxError', message: '"[object Object]" is not valid JSON' },
      /object already.*without `JSON\.parse`/,
    ],
    [
      'parsing an object, as QuickJS says it',
      'JSON.parse¦({});',
      { name: 'SyntaxError', message: 'Unexpected token \'o\', "[object Obj"... is not valid JSON' },
      /object already/,
    ],
    ['parsing text that is no JSON', 'JSON.parse¦("hello");', { name: 'SyntaxError', message: 'unexpected character' }, /parsed already/],
    [
      'an array method of an object',
      'const r = await tools.slack.post({});\nr.items.map¦(x => x);',
      { message: 'not a function' },
      /`r\.items` is not an array/,
    ],
    ['calling what is no function', 'const f = 1;\nf¦();', { message: 'f is not a function' }, /`f` is not a function/],
    ['spreading what is no list', 'const o = { a: 1 };\n[...o¦];', { message: 'value is not iterable' }, /not a list.*Object\.entries/],
    [
      'undefined, as V8 says it',
      'const o = {};\no.a¦.b;',
      { message: "Cannot read properties of undefined (reading 'b')" },
      /before `\.b` is undefined/,
    ],
    [
      'null, as QuickJS says it',
      'const o = { a: null };\no.a¦.b;',
      { message: "cannot read property 'b' of null" },
      /before `\.b` is null/,
    ],
    ['a constant', 'const a = 1;\na¦ = 2;', { message: "'a' is read-only" }, /`let`/],
    ['a constant, as V8 says it', 'const a = 1;\na¦ = 2;', { message: 'Assignment to constant variable.' }, /`let`/],
    [
      'use before declaration',
      '¦a;\nconst a = 1;',
      { name: 'ReferenceError', message: 'a is not initialized' },
      /`a` is used above its declaration/,
    ],
    ['a date', 'new Date("x").toISOString¦();', { name: 'RangeError', message: 'Date value is NaN' }, /not a date/],
    ['mixed numbers', '1n ¦+ 1;', { message: 'Cannot mix BigInt and other types, use explicit conversions' }, /Number\(value\)/],
    ['BigInt in JSON', 'JSON.stringify¦(1n);', { message: 'Do not know how to serialize a BigInt' }, /String\(value\)/],
    ['a cycle in JSON', 'JSON.stringify¦({});', { message: 'circular reference' }, /contains itself/],
    ['endless recursion', 'function f() { ¦f(); }\nf();', { name: 'InternalError', message: 'stack overflow' }, /calls itself/],
    [
      'a wrong argument',
      'await ¦tools.slack.post(1);',
      { name: 'Error', code: 'input_invalid', message: 'Tool `slack.post` was called with invalid input: …' },
      /one object/,
    ],
    [
      'a promise in the value',
      'return [tools.slack.post({})];',
      { kind: 'unserializable', message: 'The value at $[0] is a promise.' },
      /await/,
    ],
    ['a function in the value', 'return { f() {} };', { kind: 'unserializable', message: '$.f is a function.' }, /not functions/],
  ])('%s', (_, source, error, hint) => {
    expect(failure(source, error).hint).toMatch(hint);
  });

  test('an error of the program itself gets none', () => {
    expect(failure('throw ¦new Error("boom");', { name: 'Error', message: 'boom' }).hint).toBeUndefined();
  });

  test('awaited calls are not called unawaited', () => {
    expect(
      failure('const all = await tools.github.list_issues({});\nreturn all.items¦.length;', undefinedProperty('length')).hint,
    ).not.toContain('promise');
  });

  test('hostile messages and texts take no time', () => {
    const began = performance.now();
    for (const text of ['('.repeat(4_000), 'a.'.repeat(2_000), "'".repeat(4_000), 'const x = '.repeat(400), ' '.repeat(4_000)]) {
      const source = `/*${text.replaceAll('*/', '')}*/ 1`;
      failure(`${source}¦`, { message: `${text} is not a function` });
      failure(`${source}¦`, { message: `${text} is not iterable undefined` });
      failure(`${`x = ${JSON.stringify(text)};\n`.repeat(40)}x¦;`, { message: 'x is undefined, not a function' });
    }
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
