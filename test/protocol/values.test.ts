import { deepStrictEqual } from 'node:assert';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodeMode, createCodeMode, defineTool } from '../../src/index.ts';
import { decodeArguments, decodeUntrusted, GuestProtocolError, textDepth } from '../../src/protocol/decode.ts';
import {
  DEPTH,
  decodeValue,
  encodeValue,
  findProtoKey,
  fromBase64,
  joinPath,
  toBase64,
  toJson,
  UnserializableError,
} from '../../src/protocol/values.ts';
import { COMBINATIONS, optionsFor } from '../helpers/engines.ts';
import { CROSSING, REFUSED, valueOf } from '../helpers/values.ts';

describe('what lies on the wire', () => {
  test.each(CROSSING)('$name is written as its rule says, and read back', ({ source, mode, wire, arrives }) => {
    const written = encodeValue(valueOf(source));
    expect(written).toEqual({ mode, text: wire });
    deepStrictEqual(decodeValue(written), valueOf(arrives ?? source));
  });

  test.each(REFUSED)('$name is refused with its path', ({ source, path, message }) => {
    const refused = thrownBy(() => encodeValue(valueOf(source)));
    expect(refused).toBeInstanceOf(UnserializableError);
    expect((refused as UnserializableError).path).toBe(path);
    expect((refused as Error).message).toMatch(message);
    expect((refused as Error).message.startsWith(path)).toBe(true);
  });

  test('the deepest value that crosses has DEPTH levels', () => {
    let value: unknown = 1;
    for (let i = 0; i < DEPTH; i++) value = { v: value };
    const wire = encodeValue(value);
    expect(wire.mode).toBe('P');
    deepStrictEqual(decodeUntrusted(wire), value);
    expect(() => encodeValue([value])).toThrow(UnserializableError);
  });

  test('what a getter, a proxy or toJSON throws is the same error', () => {
    const mine = new Error('mine');
    const thrower = (): never => {
      throw mine;
    };
    const hostile = [
      Object.defineProperty({}, 'a', { enumerable: true, get: thrower }),
      new Proxy({}, { ownKeys: thrower }),
      new Proxy([1], { get: thrower }),
      { n: Number.NaN, toJSON: thrower },
    ];
    for (const value of hostile) expect(thrownBy(() => encodeValue(value))).toBe(mine);
  });

  test('a view whose bytes are gone is refused with its path', () => {
    const view = new Uint8Array(8);
    structuredClone(view.buffer, { transfer: [view.buffer] });
    expect(() => encodeValue({ view })).toThrow(/^\$\.view is a view of bytes that are gone/);
  });

  test('a path names keys as one would write them, and stays short', () => {
    expect(joinPath('$', 'a_b$1')).toBe('$.a_b$1');
    expect(joinPath('$', 'a b"')).toBe('$["a b\\""]');
    expect(joinPath('$', 'x-'.repeat(500)).length).toBeLessThan(80);
    expect(joinPath('$'.repeat(500), 'more')).toBe('$'.repeat(500));
  });

  test('base64 is what everyone else writes', () => {
    for (let length = 0; length < 50; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 97 + length) & 255);
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
      expect([...fromBase64(toBase64(bytes))]).toEqual([...bytes]);
    }
    for (const malformed of ['A', 'AA', 'AAA', 'A===', '=AAA', 'AA=A', 'AA-_', 'AAA\n', 'AAAA=AAA', '====']) {
      expect(() => fromBase64(malformed), malformed).toThrow(SyntaxError);
    }
  });
});

describe('untrusted wire text', () => {
  test.each([
    ['no JSON', 'P', '{'],
    ['an unknown tag', 'T', '{"$":"Nope"}'],
    ['a tag that is no string', 'T', '{"$":1}'],
    ['a tag named __proto__', 'T', '{"$":"__proto__","v":"AAAA"}'],
    ['a tag named like a method of objects', 'T', '{"$":"constructor","v":"AAAA"}'],
    ['a BigInt that is none', 'T', '{"$":"BigInt","v":"1.5"}'],
    ['a BigInt of hexadecimal digits', 'T', '{"$":"BigInt","v":"0x10"}'],
    ['a Map of no pairs', 'T', '{"$":"Map","v":[[1]]}'],
    ['a Map of an object', 'T', '{"$":"Map","v":{}}'],
    ['a Set of a string', 'T', '{"$":"Set","v":"abc"}'],
    ['an error that is an array', 'T', '{"$":"Error","v":[]}'],
    ['an escaped object that is null', 'T', '{"$":"Object","v":null}'],
    ['bytes that are no base64', 'T', '{"$":"Uint8Array","v":"?"}'],
    ['bytes that do not fit their view', 'T', '{"$":"Float64Array","v":"AAAA"}'],
  ] as const)('%s is no value', (_name, mode, text) => {
    expect(() => decodeUntrusted({ mode, text })).toThrow(GuestProtocolError);
  });

  test('text that is too deep is refused before it is parsed', () => {
    const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => decodeUntrusted({ mode: 'P', text: deep(DEPTH * 3 + 1) })).toThrow(UnserializableError);
    expect(() => decodeUntrusted({ mode: 'P', text: '['.repeat(10_000_000) })).toThrow(UnserializableError);
    expect(decodeUntrusted({ mode: 'P', text: deep(DEPTH * 3) })).toBeInstanceOf(Array);
  });

  test('arguments never hold a key named __proto__, however it is written or wherever it hides', () => {
    const texts: [string, 'P' | 'T'][] = [
      ['{"a":[{"__proto__":1}]}', 'P'],
      ['{"\\u005f_proto__":1}', 'P'],
      ['{"$":"Map","v":[["k",{"__proto__":1}]]}', 'T'],
      ['{"$":"Map","v":[[{"__proto__":1},1]]}', 'T'],
      ['{"$":"Set","v":[{"__proto__":1}]}', 'T'],
      ['{"$":"Error","v":{"message":"x","cause":{"__proto__":1}}}', 'T'],
      ['{"$":"Object","v":{"$":1,"__proto__":2}}', 'T'],
    ];
    for (const [text, mode] of texts)
      expect(() => decodeArguments({ mode, text }), text).toThrow(/__proto__.* is a key that tools never accept/);
    expect(decodeArguments({ mode: 'P', text: '["__proto__","\\u0041"]' })).toEqual(['__proto__', 'A']);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test('looking for that key does not walk through bytes', () => {
    const value = { '\\u': 1, bytes: new Uint8Array(4_000_000) };
    const began = performance.now();
    expect(findProtoKey(value)).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(50);
  });

  test('a hole among arguments is null, as JSON has it; an undefined member stays away', () => {
    expect(decodeArguments(encodeValue({ list: [1, undefined, [undefined]], gone: undefined }))).toEqual({ list: [1, null, [null]] });
  });
});

describe('textDepth', () => {
  test.each([
    ['1', 0],
    ['"[[["', 0],
    ['{"a":[1,{"b":[]}]}', 4],
    ['"\\"[" [[]]', 2],
    ['[[]][[[]]]', 3],
    ['"\\\\"[', 1],
  ])('%s is %i deep', (text, depth) => {
    expect(textDepth(text.padEnd(30), 20)).toBe(depth);
    // A long text is read as bytes.
    expect(textDepth(text.padEnd(5_000), 20)).toBe(depth);
    expect(textDepth(text.replaceAll('a', 'ť\u{1f600}').padStart(5_000), 20)).toBe(depth);
  });

  test('it stops looking one level past the most', () => {
    expect(textDepth('['.repeat(1000), 7)).toBe(8);
    expect(textDepth('['.repeat(10_000), 7)).toBe(8);
    expect(textDepth(`"${'['.repeat(10_000)}`, 7)).toBe(0);
  });
});

describe('toJson', () => {
  test.each([
    ['plain data', '({ a: [1, "x", null, true] })', '{"a":[1,"x",null,true]}'],
    ['a Map with string keys', 'new Map([["a", 1], ["__proto__", 2]])', '{"a":1,"__proto__":2}'],
    ['a Map with other keys', 'new Map([[1, new Set([2])]])', '[[1,[2]]]'],
    ['bytes', '[new Uint8Array([1, 2]), new Uint8Array([3]).buffer]', '["AQI=","Aw=="]'],
    ['small and big BigInts', '[12n, 2n ** 70n]', '[12,"1180591620717411303424"]'],
    ['numbers that JSON lacks', '[NaN, Infinity, -Infinity]', '["NaN","Infinity","-Infinity"]'],
    ['undefined in an array', '[undefined, 1]', '[null,1]'],
    ['an undefined member', '({ a: undefined })', '{}'],
    ['an error', 'Object.assign(new RangeError("r"), { code: "E" })', '{"name":"RangeError","message":"r","code":"E"}'],
    ['a Date, and one that is invalid', '[new Date(0), new Date(NaN)]', '["1970-01-01T00:00:00.000Z","Invalid Date"]'],
    ['a key named __proto__', 'JSON.parse(\'{"__proto__":{"a":1}}\')', '{"__proto__":{"a":1}}'],
  ])('%s is JSON that a person can read', (_name, source, json) => {
    expect(JSON.stringify(toJson(valueOf(source)))).toBe(json);
  });

  test('nothing stays nothing', () => {
    expect(toJson(undefined)).toBeUndefined();
  });
});

describe.each(COMBINATIONS)('through a real guest ($engine, $isolation)', (combination) => {
  let codeMode: CodeMode;
  /** What the next call of `give` returns, and what the last call of `take` was given. */
  let given: unknown;
  let taken: unknown;
  const anything = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => ({}), output: () => ({}) },
    },
  } as const;

  beforeAll(() => {
    codeMode = createCodeMode({
      ...optionsFor(combination),
      tools: [
        defineTool({ name: 'give', description: 'Gives a value.', inputSchema: {}, execute: () => given }),
        defineTool({
          name: 'take',
          description: 'Takes any value at all.',
          inputSchema: anything,
          execute: (value: unknown) => {
            taken = value;
            return 'taken';
          },
        }),
        defineTool({ name: 'json', description: 'Gives back JSON.', inputSchema: {}, execute: (value) => value }),
      ],
    });
  });
  afterAll(() => codeMode.close());

  test.each(CROSSING)('a program returns $name', async ({ source, arrives }) => {
    const result = await codeMode.run(`return ${source};`);
    expect(result.error).toBeUndefined();
    deepStrictEqual(result.value, valueOf(arrives ?? source));
  });

  test.each(CROSSING)('a tool returns $name, and the program returns it as it came', async ({ source, arrives }) => {
    given = valueOf(source);
    const result = await codeMode.run('return await tools.give();');
    expect(result.error).toBeUndefined();
    deepStrictEqual(result.value, valueOf(arrives ?? source));
  });

  test.each(CROSSING.filter(({ source }) => !source.includes('__proto__')))(
    'a tool with a schema of its own is given $name',
    async ({ source, arrives }) => {
      taken = 'nothing came';
      const result = await codeMode.run(`return await tools.take(${source});`);
      expect(result.error).toBeUndefined();
      const expected = valueOf(arrives ?? source);
      // No argument means {}; a hole or undefined among arguments is null.
      if (expected === undefined) expect(taken).toEqual({});
      else if (Array.isArray(expected) && expected.includes(undefined))
        deepStrictEqual(
          taken,
          expected.map((item) => item ?? null),
        );
      else deepStrictEqual(taken, expected);
    },
  );

  // Promises in a program's value are awaited for it.
  test.each(REFUSED.filter(({ name }) => name !== 'a promise'))(
    'a program cannot return $name, and is told where it is',
    async ({ source, path }) => {
      const result = await codeMode.run(`return ${source};`);
      expect(result.error?.kind).toBe('unserializable');
      expect(result.error?.message).toContain(`The program's value cannot cross: ${path} `);
    },
  );

  test.each(REFUSED)('a tool cannot be called with $name', async ({ source, path }) => {
    const result = await codeMode.run(`try { await tools.json(${source}); } catch (error) { return [error.code, error.message]; }`);
    expect(result.value).toEqual([
      'input_invalid',
      expect.stringContaining(`Tool \`json\` was called with a value that cannot cross: ${path} `),
    ]);
    expect(result.calls).toEqual([]);
  });

  test.each(REFUSED)('a tool cannot return $name: a failure of the tool, not of the program', async ({ source }) => {
    given = valueOf(source);
    const result = await codeMode.run('try { await tools.give(); } catch (error) { return error.code; }');
    expect(result.value).toBe('output_invalid');
  });

  test('a tool whose schema is JSON refuses what JSON cannot hold, with the path', async () => {
    const result = await codeMode.run(`
      const codes = [];
      for (const value of [NaN, 1n, new Map(), new Uint8Array(1), new Error('x')]) {
        try { await tools.json({ deep: [value] }); codes.push('accepted'); } catch (error) { codes.push(error.code, error.message.includes('$.deep[0]')); }
      }
      return codes;`);
    expect(result.value).toEqual(Array.from({ length: 5 }, () => ['input_invalid', true]).flat());
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}
