import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transcribe } from '../../src/engine/quickjs-json.ts';
import { readPlain } from '../../src/engine/quickjs-values.ts';
import { type CodeMode, createCodeMode, defineTool } from '../../src/index.ts';

const hex = (text: string): string | undefined => {
  const bytes = transcribe(text);
  return bytes && Buffer.from(bytes).toString('hex');
};

describe("JSON as the engine's bytes", () => {
  test.each([
    ['null', '050001'],
    ['[true,false]', '0500' + '098280808000' + '0403'],
    ['1', '05000502'],
    ['-1', '05000501'],
    ['2147483648', '050006000000000000e041'],
    ['-0', '0500060000000000000080'],
    ['1.25', '050006000000000000f43f'],
    ['"aé"', '05000704' + '61e9'],
    ['"漢"', '05000703' + '226f'],
    ['"\\n"', '05000702' + '0a'],
    ['{"a":1}', '05010261' + '088180808000' + '02' + '0502'],
  ])('%s', (text, bytes) => {
    expect(hex(text)).toBe(bytes);
  });

  test.each([
    '',
    '[',
    '[1',
    '[1,',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{a:1}',
    '"a',
    '"a\\',
    '[1}',
    '1 2',
    'nul',
    'x',
    '-',
    '1.2.3',
    '"\\q"',
    '['.repeat(3_000),
  ])('%j is no JSON, and left to the parser', (text) => {
    expect(transcribe(text)).toBeUndefined();
  });

  test('reads back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const back = readPlain(transcribe(text) as Uint8Array, 1 << 20);
        // Left to others: an index among names.
        if (back !== undefined) expect(back).toBe(text);
      }),
    );
  });
});

describe('a big result arrives as a small one does', () => {
  let codeMode: CodeMode;
  let given: unknown;
  beforeAll(() => {
    const give = defineTool({ name: 'give', description: 'Gives.', inputSchema: { type: 'object' }, execute: () => given });
    codeMode = createCodeMode({ tools: [give], isolation: 'inline', limits: { resultBytes: 16_000_000, valueBytes: 16_000_000 } });
  });
  afterAll(() => codeMode.close());

  const PADDING = Array.from({ length: 2_000 }, (_, i) => ({ i, text: 'row' }));
  const arrive = async (value: unknown): Promise<unknown> => {
    given = { value, PADDING };
    const { value: got, error } = await codeMode.run(
      'const { value, PADDING } = await tools.give({}); if (PADDING.length !== 2_000) throw 1; return { value };',
    );
    expect(error).toBeUndefined();
    return (got as { value: unknown }).value;
  };

  test.each<[string, unknown]>([
    ['indexes and odd names', { b: 1, 10: 2, 2: 3, '': 4, '\n"\\': 5, é: 6, 漢: 7, toString: 8, $: { $: 'Map' }, 4294967295: 9 }],
    ['a name of the prototype', JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
    ['numbers', [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53, 1e21, 5e-324, 0.1, -1.5e-7]],
    ['text', ['', 'é', '漢', '😀', '\ud800', '\u0000\u2028"\\', 'a'.repeat(70_000), 'é'.repeat(70_000), '漢'.repeat(70_000)]],
    ['tagged values', [undefined, Number.NaN, -0, 10n, new Map([[1, new Set([2])]]), new Uint8Array([1, 2])]],
    ['levels', JSON.parse('['.repeat(250) + ']'.repeat(250))],
  ])('%s', async (_, value) => {
    expect(await arrive(value)).toStrictEqual(value);
  });

  test('a program that replaces everything gets its own members all the same', async () => {
    given = { value: { a: [1], $: 2 }, PADDING };
    const { value, error } = await codeMode.run(`
      const call = tools.give({});
      JSON.parse = () => 'mine';
      Object.defineProperty(Object.prototype, 'a', { set() { throw new Error('met a setter'); }, get: () => 'inherited', configurable: true });
      Object.defineProperty(Array.prototype, '0', { set() { throw new Error('met a setter'); }, get: () => 'inherited', configurable: true });
      const { value } = await call;
      return [Object.hasOwn(value, 'a'), Object.hasOwn(value.a, 0), value.a[0], Object.getPrototypeOf(value.a) === Array.prototype].join();`);
    expect(error).toBeUndefined();
    expect(value).toBe('true,true,1,true');
  });
});
