import { afterAll, describe, expect, test } from 'vitest';
import { CodeModeError, createCodeMode, defineTool, type Observation, type Session } from '../../src/index.ts';
import { optionsUnderTest } from '../helpers/engines.ts';

const calls: string[] = [];
let session: Session | undefined;

const echo = defineTool({ name: 'echo', description: 'Gives its input back.', inputSchema: {}, execute: (input) => input });
const slow = defineTool({
  name: 'slow',
  description: 'Waits so many milliseconds, or until its signal aborts.',
  inputSchema: { type: 'object', properties: { ms: { type: 'number' } }, required: ['ms'] },
  execute: ({ ms }, { signal }) =>
    new Promise<string>((resolve, reject) => {
      const timer = setTimeout(resolve, ms, 'waited');
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        calls.push('aborted');
        reject(new Error('aborted'));
      });
    }),
});
const stubborn = defineTool({ name: 'stubborn', description: 'Never ends.', execute: () => new Promise(() => undefined) });
const nested = defineTool({
  name: 'nested',
  description: 'Calls back into its session.',
  execute: async () => {
    try {
      await session?.wait();
      return 'no';
    } catch (error) {
      return CodeModeError.is(error) ? error.code : 'other';
    }
  },
});
const codeMode = createCodeMode({ ...optionsUnderTest(), tools: [echo, slow, stubborn, nested], limits: { cleanupMs: 100 } });
afterAll(() => codeMode.close());

const open = async (options?: Parameters<typeof codeMode.openSession>[0]): Promise<Session> => codeMode.openSession(options);
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    if (CodeModeError.is(error)) return error.code;
    throw error;
  }
  throw new Error('It did not fail.');
};

describe('exec', () => {
  test('returns as soon as the program ends, with its value, output and calls', async () => {
    await using session = await open();
    const seen = await session.exec('console.log("one"); return await tools.echo({ a: 1 });');
    expect(seen).toMatchObject({
      status: 'completed',
      program: 1,
      value: { a: 1 },
      output: 'one',
      calls: [{ name: 'echo', status: 'ok' }],
    });
    expect(seen.usage?.calls).toBe(1);
  });

  test('returns at the latest after observeMs, and the program runs on by itself', async () => {
    await using session = await open();
    await session.exec('return 1');
    const first = await session.exec('console.log("one"); await tools.slow({ ms: 300 }); console.log("two"); return 2;', {
      observeMs: 100,
    });
    expect(first).toMatchObject({ status: 'still_working', output: 'one', calls: [] });
    expect(first.usage).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const second = await session.wait({ observeMs: 0 });
    expect(second).toMatchObject({ status: 'completed', output: '\ntwo', value: 2, calls: [{ name: 'slow' }] });
  });

  test('a second one says which program runs and leaves it alone', async () => {
    await using session = await open();
    await session.exec('await tools.slow({ ms: 200 }); return "first"', { observeMs: 0 });
    await expect(session.exec('return 2')).rejects.toThrow(/Program 1 is still running.*wait.*stop/s);
    expect(await session.wait()).toMatchObject({ status: 'completed', value: 'first', program: 1 });
  });

  test('a program that failed is a status, and the next one runs', async () => {
    await using session = await open();
    expect(await session.exec('null.x')).toMatchObject({ status: 'error', error: { kind: 'program', line: 1 } });
    expect(await session.exec('return 2')).toMatchObject({ status: 'completed', value: 2 });
  });

  test('every program starts fresh', async () => {
    await using session = await open();
    await session.exec('globalThis.left = 1; Array.prototype.map = null; return 1');
    expect(await session.exec('return [typeof left, [1].map((x) => x + 1)]')).toMatchObject({ value: ['undefined', [2]] });
  });

  test('the end of a program that nobody watched is told with the next', async () => {
    await using session = await open();
    await session.exec('await sleep(20); console.log("late"); return 1', { observeMs: 0 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const seen = await session.exec('return 2');
    expect(seen).toMatchObject({
      status: 'completed',
      value: 2,
      program: 2,
      previous: { status: 'completed', value: 1, program: 1, output: 'late' },
    });
  });
});

describe('increments', () => {
  test('put together are what a single look would give, and calls are told once', async () => {
    await using session = await open();
    const source = 'for (let i = 0; i < 6; i++) { text(`line ${i}`); await tools.slow({ ms: 40 }); } return "done"';
    const whole = await session.exec(source);
    const parts: Observation[] = [await session.exec(source, { observeMs: 30 })];
    while (parts.at(-1)?.status === 'still_working') parts.push(await session.wait({ observeMs: 60 }));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map(({ output }) => output).join('')).toBe(whole.output);
    const ids = parts.flatMap(({ calls }) => calls.map(({ id }) => id));
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });
});

describe('stop', () => {
  test('ends the program, aborts its calls and tells what it had done', async () => {
    await using session = await open();
    await session.exec('return 0');
    await session.exec('console.log("before"); await tools.slow({ ms: 60_000 })', { observeMs: 100 });
    calls.length = 0;
    expect(await session.stop()).toMatchObject({ status: 'terminated', error: { kind: 'aborted' } });
    expect(calls).toEqual(['aborted']);
    expect(await codeOf(session.wait())).toBe('call_refused');
  });

  test('reaches a program at once, also while another call is watching it', async () => {
    await using session = await open();
    const watching = session.exec('for (;;) await tools.slow({ ms: 10 })');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const began = performance.now();
    const stopped = session.stop();
    expect((await watching).status).toBe('terminated');
    expect((await stopped).status).toBe('terminated');
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('ends a program that only computes', async () => {
    await using session = await open();
    await session.exec('for (;;) {}', { observeMs: 50, limits: { cpuMs: 60_000, sliceMs: 60_000 } });
    expect((await session.stop()).status).toBe('terminated');
    expect(await session.exec('return 1')).toMatchObject({ value: 1 });
  });

  test('shows what a program printed that has not waited for anything since', async () => {
    await using session = await open();
    const limits = { cpuMs: 60_000, sliceMs: 60_000 };
    const watched = await session.exec("console.log('begun'); await sleep(1); console.log('counting'); for (;;) {}", {
      observeMs: 1_000,
      limits,
    });
    expect(watched).toMatchObject({ status: 'still_working', output: 'begun\ncounting' });
    expect(await session.stop()).toMatchObject({ status: 'terminated', output: '' });
    const expired = await session.exec("console.log('begun'); for (;;) {}", { limits: { lifetimeMs: 300 } });
    expect(expired).toMatchObject({ status: 'error', error: { kind: 'timeout' }, output: 'begun' });
  });

  test('reports a tool that did not end', async () => {
    await using session = await open();
    await session.exec('await tools.stubborn()', { observeMs: 1_000 });
    const stopped = await session.stop();
    expect(stopped.warnings.map(({ message }) => message).join()).toMatch(/stubborn.*still running/);
  });

  test('and wait without a program say what to do', async () => {
    await using session = await open();
    await expect(session.stop()).rejects.toThrow(/no program to stop.*exec/);
    await expect(session.wait()).rejects.toThrow(/no program to wait for.*exec/);
  });
});

describe('lifetime', () => {
  test('expiry is a status that keeps the output, told at the next look, and the session goes on', async () => {
    await using session = await open({ limits: { lifetimeMs: 1_500 } });
    const first = await session.exec('console.log("kept"); await tools.slow({ ms: 60_000 })', { observeMs: 0 });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const last = await session.wait();
    expect(last).toMatchObject({ status: 'error', error: { kind: 'timeout', message: expect.stringContaining('lifetimeMs') } });
    // Told once: with the first look, if the program had come so far by then.
    expect(first.output + last.output).toBe('kept');
    expect(await session.exec('return 1')).toMatchObject({ value: 1 });
  });

  test('one stretch of computing is bounded by itself', async () => {
    await using session = await open({ limits: { sliceMs: 50 } });
    expect(await session.exec('for (;;) {}')).toMatchObject({
      status: 'error',
      error: { kind: 'timeout', message: expect.stringContaining('sliceMs') },
    });
  });
});

describe('store and load', () => {
  test('keep copies of values from one program to the next', async () => {
    await using session = await open();
    await session.exec(
      'const v = { list: [1], when: new Map([["a b", 2n]]) }; store("key with spaces", v); v.list.push(2); store("__proto__", 1)',
    );
    expect(
      await session.exec(
        'const v = load("key with spaces"); return [v.list, v.when.get("a b") === 2n, load("__proto__"), load("nothing") === undefined]',
      ),
    ).toMatchObject({
      value: [[1], true, 1, true],
    });
  });

  test('are committed when a program completes or fails, not when it is ended', async () => {
    await using session = await open();
    await session.exec('store("failed", 1); throw new Error("x")');
    await session.exec('store("ended", 1); await tools.slow({ ms: 60_000 })', { observeMs: 100 });
    await session.stop();
    expect(await session.exec('return [load("failed"), load("ended") ?? null]')).toMatchObject({ value: [1, null] });
  });

  test('are bounded for the whole session, and no other session has them', async () => {
    await using session = await open({ limits: { storeBytes: 100 } });
    await session.exec('store("a", "x".repeat(60))');
    expect(await session.exec('store("b", "x".repeat(60))')).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('storeBytes') },
    });
    await using other = await open();
    expect(await other.exec('return load("a") === undefined')).toMatchObject({ value: true });
  });
});

describe('a token budget', () => {
  test('cuts JSON as JSON and text in its middle, and says so', async () => {
    await using session = await open();
    const seen = await session.exec(
      'console.log("é".repeat(20_000)); return { rows: Array.from({ length: 5_000 }, (_, id) => ({ id, name: `row ${id}` })), total: 5000 }',
      {
        maxOutputTokens: 500,
      },
    );
    expect(Buffer.byteLength(JSON.stringify(seen.value)) + Buffer.byteLength(seen.output)).toBeLessThan(2_000 + 200);
    const { rows, total } = seen.value as { rows: unknown[]; total: number };
    expect(total).toBe(5_000);
    expect(rows[0]).toEqual({ id: 0, name: 'row 0' });
    expect(rows.at(-1)).toMatch(/… 4\d+ more items/);
    expect(seen.output).toMatch(/^é+\n… \d+ of 40000 bytes left out …\né+$/);
    expect(seen.shortened).toMatch(/value: .*output: /);
  });

  test('leaves alone what fits', async () => {
    await using session = await open();
    const seen = await session.exec('console.log("short"); return [1, 2, 3]');
    expect(seen).toMatchObject({ value: [1, 2, 3], output: 'short' });
    expect(seen.shortened).toBeUndefined();
  });
});

describe('calls of the conversation', () => {
  test('have the same checks as those of programs', async () => {
    await using session = await open();
    expect(await session.callTool('echo', { a: 1 })).toEqual({ a: 1 });
    expect(await codeOf(session.callTool('slow', { ms: 'x' }))).toBe('input_invalid');
    await expect(session.callTool('eco')).rejects.toThrow(/Did you mean `echo`/);
  });

  test('count against the same limit', async () => {
    await using session = await open({ limits: { calls: 3 } });
    await session.callTool('echo', 1);
    await session.callTool('echo', 2);
    expect(await session.exec('await tools.echo(3); return 1')).toMatchObject({ value: 1 });
    expect(await codeOf(session.callTool('echo', 4))).toBe('limit_exceeded');
    expect(await session.exec('await tools.echo(5); return 1')).toMatchObject({ status: 'error', error: { kind: 'limit' } });
  });

  test('reach tools that `except` keeps out of programs; an unknown name in it is an error', async () => {
    await using session = await open({ except: ['echo'] });
    expect(await session.exec('return [typeof tools.slow, "echo" in tools]')).toMatchObject({ value: ['function', false] });
    expect(await session.callTool('echo', 1)).toBe(1);
    await expect(open({ except: ['ecko'] })).rejects.toThrow(/`ecko`.*`echo`/);
  });
});

describe('control tools', () => {
  test('are exec, wait and stop, ready for any SDK', async () => {
    await using session = await open();
    const [exec, wait, stop] = session.controlTools();
    expect([exec?.name, wait?.name, stop?.name]).toEqual(['exec', 'wait', 'stop']);
    expect(await exec?.execute({ source: 'return 6 * 7', observe_ms: 5_000, max_output_tokens: 100 })).toMatchObject({ value: 42 });
    await expect(exec?.execute({})).rejects.toThrow('exec takes the text of the program as `source`, a string, but there is none.');
    await expect(exec?.execute({ code: 'return 1' })).rejects.toThrow(/there is only `code`/);
    await expect(exec?.execute({ source: ['return 1'] })).rejects.toThrow(/`source` is an array/);
    await expect(wait?.execute({ observe_ms: -1 })).rejects.toThrow(/`observe_ms` should be .* but is -1/);
    await expect(exec?.execute({ source: '1', max_output_tokens: '5' })).rejects.toThrow(/`max_output_tokens` should be .* but is "5"/);
    expect(session.instructions).toContain('declare const tools');
    expect(session.instructions).toContain('  echo(');
  });

  test('take turns, and never interleave', async () => {
    await using session = await open();
    const seen = await Promise.all([session.exec('await sleep(50); return 1'), session.exec('return 2'), session.exec('return 3')]);
    expect(seen.map(({ value }) => value)).toEqual([1, 2, 3]);
  });

  test('a tool that uses the controls of its own session is told at once', async () => {
    session = await open();
    expect(await session.exec('return await tools.nested()')).toMatchObject({ value: 'call_deadlock' });
    await session.close();
    session = undefined;
  });
});

describe('closing', () => {
  test('ends what runs, works twice, and refuses what comes after', async () => {
    const session = await open();
    const watching = session.exec('await tools.slow({ ms: 60_000 })');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await Promise.all([session.close(), session.close()]);
    expect((await watching).status).toBe('terminated');
    expect(await codeOf(session.exec('return 1'))).toBe('closed');
    expect(await codeOf(session.callTool('echo', 1))).toBe('closed');
  });

  test('happens by the signal too', async () => {
    const controller = new AbortController();
    const session = await open({ signal: controller.signal });
    const watching = session.exec('await tools.slow({ ms: 60_000 })');
    await new Promise((resolve) => setTimeout(resolve, 100));
    controller.abort();
    expect((await watching).status).toBe('terminated');
    expect(await codeOf(session.exec('return 1'))).toBe('closed');
  });

  test('closes tools once per session, and a failure there is the only exception', async () => {
    let closed = 0;
    const failing = defineTool({
      name: 'failing',
      description: 'Fails to close.',
      execute: () => 1,
      close: () => {
        closed++;
        throw new Error('stuck');
      },
    });
    await using codeMode = createCodeMode({ tools: failing });
    const session = await codeMode.openSession();
    await session.exec('return await tools.failing()');
    await session.exec('return await tools.failing()');
    expect(await codeOf(session.close())).toBe('cleanup_failed');
    expect(closed).toBe(1);
  });
});

describe('a signal', () => {
  test('of exec ends its program, also after the call has returned', async () => {
    await using session = await open();
    const controller = new AbortController();
    const seen = await session.exec('console.log("here"); await tools.slow({ ms: 60_000 });', { observeMs: 0, signal: controller.signal });
    expect(seen.status).toBe('still_working');
    controller.abort();
    expect(await session.wait()).toMatchObject({ status: 'terminated' });
  });

  test('of exec that was aborted before keeps the program from starting', async () => {
    await using session = await open();
    expect(await codeOf(session.exec('return 1', { signal: AbortSignal.abort() }))).toBe('aborted');
    expect(await session.exec('return 2', { signal: new AbortController().signal })).toMatchObject({ program: 1, value: 2 });
  });

  test('of exec that aborts while it waits for its turn keeps the program from starting', async () => {
    await using session = await open();
    const controller = new AbortController();
    const first = session.exec('await sleep(30); return 1');
    const second = session.exec('return 2', { signal: controller.signal });
    controller.abort();
    expect(await first).toMatchObject({ value: 1 });
    expect(await codeOf(second)).toBe('aborted');
  });

  test('that is none is refused', async () => {
    await using session = await open();
    expect(await codeOf(session.exec('return 1', { signal: {} as AbortSignal }))).toBe('option_invalid');
    expect(await codeOf(session.callTool('echo', {}, { signal: {} as AbortSignal }))).toBe('option_invalid');
  });

  test('of a call of the conversation ends the call, aborts the tool, and leaves other calls alone', async () => {
    await using session = await open();
    const controller = new AbortController();
    calls.length = 0;
    const other = session.callTool('slow', { ms: 300 }, { signal: new AbortController().signal });
    const call = session.callTool('slow', { ms: 60_000 }, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 20);
    expect(await codeOf(call)).toBe('aborted');
    expect(calls).toEqual(['aborted']);
    expect(await other).toBe('waited');
  });

  test('of a call is not the only thing that ends it: closing the session does, too', async () => {
    let hasBegun = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve;
    });
    const held = defineTool({
      name: 'held',
      description: 'Ends with its signal.',
      execute: (_, { signal }) =>
        new Promise<string>((_resolve, reject) => {
          hasBegun();
          signal.addEventListener('abort', () => {
            calls.push('aborted');
            reject(signal.reason);
          });
        }),
    });
    await using own = createCodeMode({ tools: held, isolation: 'inline' });
    const session = await own.openSession();
    calls.length = 0;
    const call = codeOf(session.callTool('held', {}, { signal: new AbortController().signal }));
    await begun;
    await session.close();
    expect(await call).toBe('aborted');
    expect(calls).toEqual(['aborted']);
  });

  test('of a wait by its control ends the program', async () => {
    await using session = await open();
    const controller = new AbortController();
    await session.exec('await tools.slow({ ms: 60_000 });', { observeMs: 0 });
    const wait = session.controlTools().find(({ name }) => name === 'wait');
    const watching = wait?.execute({}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    expect(await watching).toMatchObject({ status: 'terminated' });
  });
});

describe('calls of the conversation, for a model', () => {
  test('are told as programs are: value, or error', async () => {
    await using session = await open();
    expect(await session.observeTool('echo', { a: [1] })).toMatchObject({
      status: 'completed',
      program: 0,
      value: { a: [1] },
    });
    expect(await session.observeTool('slow', {})).toMatchObject({
      status: 'error',
      error: { code: 'input_invalid', message: expect.stringContaining('`ms`') },
    });
    expect(await codeOf(session.observeTool('ekko'))).toBe('tool_unknown');
  });

  test('are bounded', async () => {
    await using session = await open();
    const seen = await session.observeTool('echo', { text: 'x'.repeat(10_000) }, { maxOutputTokens: 100 });
    expect(JSON.stringify(seen.value).length).toBeLessThan(1_000);
    expect(seen.shortened).toContain('Left out');
  });

  test('the tools are listed with who has them', async () => {
    await using session = await open({ except: ['echo'] });
    expect(session.tools.map(({ path, caller }) => `${path} ${caller}`)).toEqual([
      'echo conversation',
      'slow program',
      'stubborn program',
      'nested program',
    ]);
    expect(session.tools[1]).toMatchObject({ signature: 'tools.slow(input: { ms: number }): Promise<unknown>', resultType: 'unknown' });
  });
});
