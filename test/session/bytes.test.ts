// Bytes that travel beside the text: tools' results, arguments, values and files, with every engine wherever it runs, parked and not.
import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { type CodeModeOptions, createCodeMode, defineTool } from '../../src/index.ts';
import { COMBINATIONS, NODE_24, optionsFor } from '../helpers/engines.ts';

const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const each of opened) await each.close();
});

/** Takes and gives whatever can cross. */
const anything = {
  inputSchema: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
  inputJsonSchema: { type: 'object' },
} as const;
const echo = defineTool({ ...anything, name: 'echo', description: 'Gives back.', execute: (value) => value });
const taken: unknown[] = [];
const take = defineTool({ ...anything, name: 'take', description: 'Takes.', execute: (value) => void taken.push(value) });
const fill = defineTool({
  name: 'fill',
  description: 'Gives bytes.',
  inputSchema: { type: 'object', properties: { bytes: { type: 'number' }, value: { type: 'number' }, ms: { type: 'number' } } },
  execute: async ({ bytes = 0, value = 0, ms = 0 }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return new Uint8Array(bytes).fill(value);
  },
});

function open(options: Partial<CodeModeOptions> = {}): ReturnType<typeof createCodeMode> {
  const limits = { argumentBytes: 20_000_000, valueBytes: 20_000_000, memoryBytes: 256 << 20, ...options.limits };
  const codeMode = createCodeMode({ tools: [echo, take, fill], ...options, limits });
  opened.push(codeMode);
  return codeMode;
}

const MADE = `
  const big = new Uint8Array(20_000).map((_, i) => i * 7);
  const made = {
    u8: big.subarray(3), i16: new Int16Array(1000).fill(-2), f64: new Float64Array(100).fill(0.1), big: new BigInt64Array(100).fill(-5n),
    clamped: new Uint8ClampedArray(600).fill(300), view: new DataView(big.buffer, 7, 1000), buffer: big.buffer.slice(0, 700),
    map: new Map([['k', new Uint8Array(513).fill(9)]]), small: new Uint8Array([1, 2]), empty: new Uint8Array(0), text: 'é😀', list: [new Set([new Uint8Array(512)])],
  };`;

// One without V8's Node has the others.
const combinations = COMBINATIONS.filter(({ engine }) => engine === 'quickjs' || existsSync(NODE_24));
describe.each(combinations)('$engine $isolation', (combination) => {
  const own = optionsFor(combination);

  test('bytes of every kind come back as they were, from tools and as a value', async () => {
    const { value, error } = await open(own).run(`${MADE}
      const back = await tools.echo(made);
      back.u8[0] = 255; // Its own copy.
      return [back, made];`);
    expect(error).toBeUndefined();
    const [back, made] = value as [Record<string, Uint8Array>, Record<string, Uint8Array>];
    (back['u8'] as Uint8Array)[0] = (made['u8'] as Uint8Array)[0] as number;
    expect(back).toEqual(made);
    expect(back['view']?.byteLength).toBe(1000);
  });

  test('a tool may keep and change its bytes', async () => {
    const kept = new Uint8Array(1000).fill(1);
    const keep = defineTool({ name: 'keep', description: 'Keeps.', execute: () => kept });
    const { value } = await open({ ...own, tools: [keep] }).run(
      'const a = await tools.keep(); a[0] = 9; return [a[0], (await tools.keep())[0]];',
    );
    expect([value, kept.length, kept[0]]).toEqual([[9, 1], 1000, 1]);
  });

  test('many answers at once keep their bytes apart', async () => {
    const { value } = await open(own).run(`
      const all = await Promise.all(Array.from({ length: 40 }, (_, i) => tools.fill({ bytes: 500 + i * 50, value: i, ms: (i * 7) % 11 })));
      return all.every((bytes, i) => bytes.length === 500 + i * 50 && bytes.every((byte) => byte === i));`);
    expect(value).toBe(true);
  });

  test('the size counts, whichever way it goes', async () => {
    const limits = { argumentBytes: 5_000, resultBytes: 6_000, valueBytes: 7_000 };
    const codeMode = open({ ...own, limits });
    const { value } = await codeMode.run(`
      const message = (call) => call.then(() => 'fine', ({ code, message }) => code + ' ' + message);
      return [await message(tools.echo({ a: new Uint8Array(4_900) })), await message(tools.echo({ a: new Uint8Array(5_001) })), await message(tools.fill({ bytes: 6_001 }))];`);
    expect(value).toEqual([
      'fine',
      expect.stringMatching(/^limit_exceeded .*`argumentBytes` is 5000/),
      expect.stringMatching(/^limit_exceeded .*`resultBytes` is 6000/),
    ]);
    expect((await codeMode.run('return new Uint8Array(7_001);')).error).toMatchObject({
      kind: 'limit',
      message: expect.stringContaining('`valueBytes`'),
    });
  });

  test('bytes that a program takes away while they are read arrive empty, and nothing breaks', async () => {
    const { value, error } = await open(own).run(`
      const buffer = new ArrayBuffer(1000);
      const shrunk = ${combination.engine === 'v8' ? 'new ArrayBuffer(1000)' : 'new ArrayBuffer(1000, { maxByteLength: 2000 })'};
      await tools.take({ a: new Uint8Array(buffer), s: new Uint8Array(shrunk, 100, 600), get b() { buffer.transfer?.(); try { shrunk.resize?.(10); } catch {} return 1; }, c: new Uint8Array(600).fill(4) });
      return (await tools.fill({ bytes: 600, value: 3 }))[599];`);
    expect([value, error]).toEqual([3, undefined]);
    const { a, c } = taken.pop() as { a: Uint8Array; c: Uint8Array };
    expect([a.length === 0 || a.length === 1000, c[599]]).toEqual([true, 4]);
  });

  test('more bytes at once than a guest may hold are refused, not gathered outside of it', async () => {
    const { value } = await open({ ...own, limits: { memoryBytes: 64 << 20 } }).run(`
      const bytes = new Uint8Array(8_000_000);
      const outcomes = await Promise.all(Array.from({ length: 12 }, () => tools.take({ bytes }).then(() => 'fine', ({ message }) => message)));
      return [outcomes.filter((outcome) => outcome === 'fine').length, outcomes.at(-1)];`);
    expect(value).toEqual([8, expect.stringMatching(/await the calls before it/)]);
    taken.length = 0;
  });

  test('megabytes of bytes and of rows come and go, where the limits allow it', { timeout: 60_000 }, async () => {
    const limits = {
      argumentBytes: 40_000_000,
      resultBytes: 40_000_000,
      valueBytes: 40_000_000,
      memoryBytes: 512 << 20,
      cpuMs: 60_000,
      sliceMs: 60_000,
    };
    const { value, error } = await open({ ...own, limits }).run(`
      const rows = Array.from({ length: 250_000 }, (_, id) => ({ id, name: 'Customer ' + id, active: id % 3 === 0, balance: id * 1.25 }));
      const bytes = new Uint8Array(18_000_000).fill(3);
      const back = await tools.echo({ rows });
      const [last] = (await tools.echo({ bytes })).bytes.slice(-1);
      return { same: back.rows.length === rows.length && back.rows[249_999].name === rows[249_999].name, last, rows, bytes };`);
    expect(error).toBeUndefined();
    const { same, last, rows, bytes } = value as { same: boolean; last: number; rows: unknown[]; bytes: Uint8Array };
    expect([same, last, rows.length, bytes.length, bytes.at(-1)]).toEqual([true, 3, 250_000, 18_000_000, 3]);
    expect(rows[249_999]).toEqual({ id: 249_999, name: 'Customer 249999', active: true, balance: 312_498.75 });
  });

  test('bytes of a call are there when the program leaves by exit', async () => {
    taken.length = 0;
    const { value } = await open(own).run('tools.take({ bytes: new Uint8Array(5_000).fill(6) }); exit({ small: new Uint8Array(2) });');
    expect(value).toEqual({ small: new Uint8Array(2) });
    expect(taken).toEqual([{ bytes: new Uint8Array(5_000).fill(6) }]);
  });

  test('files are read and saved as bytes', async () => {
    const { value } = await open(own).run(`${MADE}
      const { id } = await saveArtifact({ name: 'a.bin', data: made.u8 });
      const back = await readArtifact(id);
      return back.length === made.u8.length && back.every((byte, i) => byte === made.u8[i]);`);
    expect(value).toBe(true);
  });
});

test('programs that wait for bytes are parked and get their own', async () => {
  const codeMode = open({ workers: 1, maxWorkers: 1, limits: { memoryBytes: 64 << 20 } });
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      codeMode.run(
        `const bytes = await tools.fill({ bytes: 100_000 + ${i}, value: ${i}, ms: 30 }); return [bytes.length, bytes[0], bytes.at(-1)];`,
      ),
    ),
  );
  expect(results.map(({ value }) => value)).toEqual(results.map((_, i) => [100_000 + i, i, i]));
});
