import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makesPlainObjects, readPlain } from '../../src/engine/quickjs-values.ts';
import { type CodeMode, createCodeMode, defineTool, type RunResult } from '../../src/index.ts';

/** What stands before a value without property names. */
const HEAD = [5, 0];
const read = (...bytes: number[]): string | undefined => readPlain(new Uint8Array(bytes), 1_000);

describe("the engine's bytes as JSON", () => {
  test.each<[string, number[], string]>([
    ['null', [...HEAD, 1], 'null'],
    ['booleans', [...HEAD, 9, 2, 3, 4], '[false,true]'],
    ['small numbers', [...HEAD, 9, 3, 5, 0, 5, 2, 5, 1], '[0,1,-1]'],
    [
      'the largest and the smallest int',
      [...HEAD, 9, 2, 5, 0xfe, 0xff, 0xff, 0xff, 0xf, 5, 0xff, 0xff, 0xff, 0xff, 0xf],
      '[2147483647,-2147483648]',
    ],
    ['a fraction', [...HEAD, 6, 0, 0, 0, 0, 0, 0, 0xf4, 0x3f], '1.25'],
    ['a string of bytes', [...HEAD, 7, 6, 0x61, 0x22, 0xe9], '"a\\"é"'],
    ['a wide string with half a character', [...HEAD, 7, 7, 0x22, 0x6f, 0x00, 0xd8, 0x0a, 0], '"漢\\ud800\\n"'],
    ['a character of two units', [...HEAD, 7, 5, 0x3d, 0xd8, 0x00, 0xde], '"😀"'],
    ['an object whose member is undefined', [5, 2, 2, 0x61, 2, 0x62, 8, 2, 2, 2, 4, 5, 4], '{"b":2}'],
    ['the same object twice', [5, 1, 2, 0x61, 9, 2, 8, 1, 2, 5, 2, 19, 1], '[{"a":1},{"a":1}]'],
  ])('%s', (_, bytes, json) => {
    expect(read(...bytes)).toBe(json);
  });

  test.each<[string, number[]]>([
    ['undefined in an array', [...HEAD, 9, 1, 2]],
    ['not a number', [...HEAD, 6, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f]],
    ['minus zero', [...HEAD, 6, 0, 0, 0, 0, 0, 0, 0, 0x80]],
    ['an index among the names', [...HEAD, 8, 1, 3, 5, 2]],
    ['an object in itself', [5, 1, 2, 0x61, 8, 1, 2, 19, 0]],
    ['a date', [...HEAD, 17, 5, 10]],
    ['a big integer', [...HEAD, 10, 1, 10]],
    ['more levels than may cross', [...HEAD, ...Array(257).fill([9, 1]).flat(), 1]],
    ['another version', [4, 0, 1]],
    ['nothing', []],
    ['a string that is longer than all', [...HEAD, 7, 0xfe, 0xff, 0xff, 0xff, 0xf]],
    ['a name that is not there', [...HEAD, 8, 1, 4, 1]],
    ['an object that is not there', [...HEAD, 9, 1, 19, 5]],
    ['an array that ends too soon', [...HEAD, 9, 3, 1]],
    ['more names than bytes', [5, 0xff, 0xff, 0xff, 0xff, 0xf]],
  ])('%s is left to others', (_, bytes) => {
    expect(read(...bytes)).toBeUndefined();
  });

  test('as many levels as may cross are written', () => {
    expect(read(...HEAD, ...Array(255).fill([9, 1]).flat(), 9, 0)).toBe('['.repeat(256) + ']'.repeat(256));
  });

  test('an object that is repeated within others does not get deeper than may cross', () => {
    const deep = [...Array(200).fill([9, 1]).flat(), 9, 0];
    const again = (levels: number): number[] => [...Array(levels).fill([9, 1]).flat(), 19, 1];
    expect(read(...HEAD, 9, 2, ...deep, ...again(54))).toBeDefined();
    expect(read(...HEAD, 9, 2, ...deep, ...again(55))).toBeUndefined();
  });

  test('objects that are repeated over and over stop at the most that there is room for', () => {
    // Each level holds the one below twice.
    const bomb = [...HEAD, 9, 31, 9, 2, 1, 1, ...Array.from({ length: 30 }, (_, i) => [9, 2, 19, i + 1, 19, i + 1]).flat()];
    expect(readPlain(new Uint8Array(bomb), 1_000_000)).toBeUndefined();
  });

  test('whatever the bytes are, they are read to an end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const text = readPlain(Uint8Array.from([...HEAD, ...bytes]), 10_000);
        if (text !== undefined) JSON.parse(text);
      }),
      { numRuns: 2_000 },
    );
  });
});

test.each([
  ['return rows.map((row) => ({ ...row }))', true],
  ['class Row { toJSON() { return 1; } }', false],
  ['return new URL("https://a.b")', false],
  ['Failure.prototype = Object.create(Error.prototype)', false],
  ['Object.setPrototypeOf(a, b)', false],
])('%s makes plain objects: %s', (code, plain) => {
  expect(makesPlainObjects(code)).toBe(plain);
});

describe('a big value arrives as a small one does', () => {
  let codeMode: CodeMode;
  let taken: unknown;
  beforeAll(() => {
    const take = defineTool({
      name: 'take',
      description: 'Takes anything.',
      inputSchema: { type: 'object' },
      execute: (input: unknown) => {
        taken = input;
      },
    });
    codeMode = createCodeMode({ tools: [take], isolation: 'inline', limits: { valueBytes: 4_000_000, argumentBytes: 4_000_000 } });
  });
  afterAll(() => codeMode.close());

  const VALUES = [
    '{ a: undefined, b: [null, true, false, 1.5, -3, 1e300, 2 ** 40, 5e-324] }',
    '"\\u0000\\u001f\\u007f\\"\\\\\\n é 漢 😀 \\ud800 \\udc00\\ud800"',
    '["a".repeat(3) + "é".repeat(5_000), "漢".repeat(9)]',
    '{ "": 1, " ": 2, "\\n": 3, é: 4, 漢: 5, "\\ud800": 6, $: { $: 1 }, "a.b": 7, ["__proto__"]: { x: 1 }, then: 1 }',
    '{ b: 1, 10: 2, a: 3, 2: 4 }',
    'Object.assign([1, 2], { more: 3 })',
    'Object.freeze([1, Object.freeze({ a: 1 })])',
    'Object.defineProperty({ a: 1 }, "hidden", { value: 2 })',
    '{ a: 1, [Symbol("s")]: 2 }',
    'Object.assign(Object.create(null), { a: 1 })',
    '(() => { const shared = { a: [1] }; return [shared, shared, { shared }]; })()',
    '[1, , 3]',
    '[undefined]',
    '[NaN, Infinity, -Infinity, -0]',
    '10n',
    'new Date(5)',
    'new Date(NaN)',
    'new Map([[1, { a: 2 }]])',
    'new Set([1])',
    'new Error("it")',
    'new Uint8Array([1, 2, 3])',
    'new Number(5)',
    '{ get a() { return 1; } }',
    'Object.defineProperty([1, 2], 1, { get: () => 5, enumerable: true })',
    'new Proxy({ a: 1 }, {})',
    'new Proxy([1, 2], {})',
    'new (class Point { x = 1; #y = 2; get y() { return 3; } })()',
    'new (class Price { toJSON() { return "5 EUR"; } })()',
    'new (class Rows extends Array { toJSON() { return "rows"; } })(1, 2)',
    'Object.assign([1], { toJSON: () => 7 })',
    '{ toJSON: () => 8 }',
    '{ toJSON: 5 }',
    'Object.create({ toJSON: () => 9 })',
    'new URL("https://a.b/c")',
    '(() => { function Failure() { this.message = "no"; } Failure.prototype = Object.create(Error.prototype); return new Failure(); })()',
    'Promise.resolve(5)',
    '() => 1',
    'Symbol("s")',
    '/x/',
    '(() => { const self = {}; self.self = self; return self; })()',
    '(() => { let deep = []; for (let i = 0; i < 300; i++) deep = [deep]; return deep; })()',
    '(() => { let deep = 1; for (let i = 0; i < 255; i++) deep = [deep]; return deep; })()',
    '(() => { let deep = 1; for (let i = 0; i < 254; i++) deep = [deep]; return deep; })()',
    '(() => { Object.prototype.toJSON = () => "all"; return { a: 1 }; })()',
    '(() => { Array.prototype[1] = "inherited"; return [1, , 3]; })()',
    '(() => { JSON.stringify = () => "mine"; Object.keys = () => ["mine"]; Map.prototype.set = null; return { a: 1 }; })()',
    '(() => { Object.defineProperty(Object.prototype, "left", { set() { throw 1; }, get: () => -1 }); return { a: 1 }; })()',
  ];
  const outcome = ({ status, value, error }: RunResult): unknown => ({
    status,
    value,
    error: error && { kind: error.kind, message: error.message },
  });

  test.each(VALUES)('%s', async (value) => {
    const small = await codeMode.run(`return { value: ${value} };`);
    const big = await codeMode.run(`const rows = Array.from({ length: 300 }, (_, i) => ({ i })); return { value: ${value}, rows };`);
    if (big.status === 'completed') {
      const { rows } = big.value as { rows?: unknown[] };
      // A `toJSON` of all objects speaks for all of them.
      if (!value.includes('Object.prototype.toJSON')) expect(rows).toHaveLength(300);
      if (typeof big.value === 'object') delete (big.value as { rows?: unknown }).rows;
    }
    expect(outcome(big)).toEqual(outcome(small));
  });

  test.each(VALUES.slice(0, 11))('%s as an argument', async (value) => {
    const call = (more: string): string => `await tools.take({ value: ${value}${more} }).catch((error) => text(error.message));`;
    const { output: said } = await codeMode.run(call(''));
    const { value: small } = taken as { value: unknown };
    const { output } = await codeMode.run(call(', rows: Array.from({ length: 300 }, (_, i) => ({ i }))'));
    expect(output).toBe(said);
    expect((taken as { value: unknown }).value).toEqual(small);
  });

  test('calls that are made at once have their own arguments, and what is too long says so', async () => {
    const { value, error } = await codeMode.run(`
      const rows = (n, of) => ({ rows: Array.from({ length: n }, () => of) });
      const calls = [rows(300, 'a'), rows(2_000_000, 'b'), rows(3, 'c'), rows(400, 'd')].map((input) => tools.take(input));
      return (await Promise.allSettled(calls)).map(({ reason }) => reason?.message ?? 'taken');`);
    expect(error).toBeUndefined();
    expect(value).toEqual(['taken', expect.stringContaining('8000010 bytes of arguments'), 'taken', 'taken']);
    expect((taken as { rows: string[] }).rows).toEqual(Array(400).fill('d'));
  });

  test('a value that is too long says how long it is', async () => {
    const { error } = await codeMode.run('return Array.from({ length: 2_000_000 }, () => "b");');
    expect(error).toMatchObject({ kind: 'limit', message: expect.stringContaining('8000001 bytes as JSON') });
  });

  test('what a program makes of characters that stand for texts is only text', async () => {
    const { value, output } = await codeMode.run(`
      const rows = Array.from({ length: 300 }, () => '\\u00020\\u0002');
      text('\\u00020\\u0002');
      await tools.take({ '\\u00020\\u0002': 1 });
      return { rows, small: '\\u00020\\u0002' };`);
    expect(output).toBe('\u00020\u0002');
    expect(taken).toEqual({ '\u00020\u0002': 1 });
    expect(value).toEqual({ rows: Array(300).fill('\u00020\u0002'), small: '\u00020\u0002' });
  });

  test('a value that references make far too long ends the program by its limit, and breaks nothing', async () => {
    const { status, error } = await codeMode.run(`
      let value = Array.from({ length: 300 }, (_, i) => 'x'.repeat(100) + i);
      for (let i = 0; i < 14; i++) value = [value, value];
      return value;`);
    expect(status).toBe('error');
    expect(['limit', 'memory', 'timeout']).toContain(error?.kind);
  });
});
