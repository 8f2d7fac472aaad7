import { afterAll, describe, expect, test } from 'vitest';
import { type CodeMode, createCodeMode, defineTool, v8 } from '../../src/index.ts';
import { COMBINATIONS, NODE_24, optionsFor } from '../helpers/engines.ts';

const isolate = v8({ node: NODE_24 });
const slow = defineTool({
  name: 'slow',
  description: 'Gives its input back after a while.',
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  execute: async ({ n }) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return n;
  },
});
const codeMode = createCodeMode({ tools: [slow] });
afterAll(() => codeMode.close());

/** QuickJS alone has this name. */
const WHICH = "return typeof InternalError === 'function' ? 'quickjs' : 'v8';";

describe('the engine', () => {
  test('of one run is the one that was asked for', async () => {
    expect((await codeMode.run(WHICH)).value).toBe('quickjs');
    expect((await codeMode.run(WHICH, { engine: isolate })).value).toBe('v8');
    expect((await codeMode.run(WHICH)).value).toBe('quickjs');
    await expect(codeMode.run(WHICH, { engine: 'v9' as 'v8' })).rejects.toThrow(/`engine` should be "quickjs", "v8" or v8/);
  });

  test('of a session is changed for one program, and what was stored goes over', async () => {
    await using session = await codeMode.openSession();
    expect(await session.exec(`store('seen', new Map([['a', 1n]])); ${WHICH}`)).toMatchObject({ value: 'quickjs' });
    expect(await session.exec(`store('more', load('seen').get('a') + 1n); ${WHICH}`, { engine: isolate })).toMatchObject({ value: 'v8' });
    expect(await session.exec("return String(load('more'))")).toMatchObject({ value: '2' });
    await using other = await codeMode.openSession({ engine: isolate });
    expect(await other.exec(WHICH)).toMatchObject({ value: 'v8' });
    expect(await other.exec(WHICH, { limits: { cpuMs: 2_000 } })).toMatchObject({ value: 'v8' });
    expect(await other.exec(WHICH, { engine: 'quickjs' })).toMatchObject({ value: 'quickjs' });
  });
});

describe.each(COMBINATIONS)('$engine, $isolation', (combination) => {
  let own: CodeMode | undefined;
  afterAll(() => own?.close());

  test('programs that wait at once are more than there are workers', async () => {
    own = createCodeMode({ tools: [slow], ...optionsFor(combination), workers: 1, maxWorkers: 3 });
    const results = await Promise.all(Array.from({ length: 8 }, (_, n) => own?.run(`return await tools.slow({ n: ${n} }) * 2`)));
    expect(results.map((result) => result?.value)).toEqual([0, 2, 4, 6, 8, 10, 12, 14]);
  });

  test('a program with more memory than the application gives has it', async () => {
    const source = 'const a = new Uint8Array(160 << 20).fill(1); return a.length;';
    expect((await own?.run(source))?.status).toBe('error');
    expect(await own?.run(source, { limits: { memoryBytes: 512 << 20 } })).toMatchObject({ value: 160 << 20 });
  });
});

describe('a program that takes its process with it', () => {
  const GREEDY = 'const all = []; for (;;) all.push(new Array(1_000).fill(all.length));';

  test('ends as out of memory, the programs beside it and after it do not notice', async () => {
    await using alone = createCodeMode({ tools: [slow], engine: isolate });
    await alone.run('return 1');
    const beside = alone.run('let n = 0; for (let i = 0; i < 5; i++) n += await tools.slow({ n: 1 }); return n;');
    const { status, error } = await alone.run(GREEDY, { limits: { cpuMs: 20_000, sliceMs: 20_000 } });
    expect(status).toBe('error');
    expect(error?.kind).toBe('memory');
    expect((await beside).value).toBe(5);
    expect((await alone.run('return 2')).value).toBe(2);
  });

  test('is ended when no clock of the engine reaches it', async () => {
    await using alone = createCodeMode({ tools: [], engine: isolate, limits: { cpuMs: 300 } });
    await alone.run('return 1');
    const { error, output } = await alone.run(
      "console.log('before'); Array.prototype.indexOf.call({ length: 2 ** 53 - 1, get 0() { return 1; } }, 2);",
    );
    expect(error?.kind).toBe('timeout');
    expect(output).toBe('before');
    expect((await alone.run('return 2')).value).toBe(2);
  });
});

test('a rejection that nobody handles takes no line with it', async () => {
  const { value, warnings } = await codeMode.run(
    "Promise.reject(new Error('lost')); const n = await tools.slow({ n: 3 }); Promise.reject(Object.create(null)); return n;",
    { engine: isolate },
  );
  expect(value).toBe(3);
  expect(warnings.length).toBeGreaterThan(0);
});

test('`exit` ends code that catches everything, and its value is kept', async () => {
  const result = await codeMode.run("console.log('a'); try { exit({ n: [1] }); } catch { for (;;) {} } finally { for (;;) {} }", {
    engine: isolate,
    limits: { cpuMs: 2_000 },
  });
  expect(result).toMatchObject({ status: 'completed', value: { n: [1] }, output: 'a' });
});
