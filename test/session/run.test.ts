import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type CodeMode,
  CodeModeError,
  type CodeModeEvent,
  type CodeModeOptions,
  createCodeMode,
  defineTool,
  type RunOptions,
  ToolError,
  type ToolProvider,
} from '../../src/index.ts';
import { optionsUnderTest } from '../helpers/engines.ts';

const echo = defineTool({ name: 'echo', description: 'Gives back its input.', inputSchema: {}, execute: (input) => input });
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  execute: ({ a, b }) => a + b,
});
const wait = defineTool({
  name: 'wait',
  description: 'Waits, unless it is told to stop.',
  inputSchema: { type: 'object', properties: { ms: { type: 'number' } }, required: ['ms'] },
  execute: ({ ms }, { signal }) =>
    new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => resolve('waited'), ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
});
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  inputSchema: { type: 'object', properties: { shown: { type: 'boolean' } } },
  execute: ({ shown }) => {
    if (shown === true) throw new ToolError('Not today.', { code: 'not_today', details: { until: 'tomorrow' } });
    throw new TypeError('/etc/passwd could not be read');
  },
});

/** One code mode for all that does not need its own. */
let shared: CodeMode;
const opened: CodeMode[] = [];
const unhandled: unknown[] = [];
const warnings: string[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
const onWarning = (warning: Error): void => void warnings.push(warning.message);

beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled);
  process.on('warning', onWarning);
  shared = createCodeMode({ ...optionsUnderTest(), tools: [echo, add, wait, fail] });
  await shared.run('return 1');
});
afterEach(async () => {
  for (const codeMode of opened.splice(0)) await codeMode.close().catch(() => undefined);
});
afterAll(async () => {
  await shared.close();
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off('unhandledRejection', onUnhandled);
  process.off('warning', onWarning);
  expect(unhandled).toEqual([]);
  // Listeners that pile up on a signal, timers beyond what Node takes, and the like.
  expect(
    warnings.filter((message) => !/ExperimentalWarning|experimental|An observer of code mode failed \(Error: observer\)/.test(message)),
  ).toEqual([]);
});

function open(options: CodeModeOptions): CodeMode {
  const codeMode = createCodeMode({ ...optionsUnderTest(), ...options });
  opened.push(codeMode);
  return codeMode;
}

describe('a result', () => {
  test('of a program that completes has its value, its output and what it cost', async () => {
    const result = await shared.run(`
      text('first'); console.log('second', { a: 1 });
      const sums = await Promise.all([tools.add({ a: 1, b: 2 }), tools.add({ a: 3, b: 4 })]);
      return { sums };`);
    expect(result).toMatchObject({
      status: 'completed',
      value: { sums: [3, 7] },
      output: 'first\nsecond { a: 1 }',
      artifacts: [],
      warnings: [],
    });
    expect(result.error).toBeUndefined();
    expect(result.calls).toEqual(
      [
        { tool: 'add', status: 'ok', durationMs: expect.any(Number) },
        { tool: 'add', status: 'ok', durationMs: expect.any(Number) },
      ].map((call) => expect.objectContaining({ status: call.status, durationMs: call.durationMs })),
    );
    expect(JSON.stringify(result.calls)).toContain('add');
    expect(result.usage).toEqual({ wallMs: expect.any(Number), cpuMs: expect.any(Number), calls: 2, peakMemoryBytes: expect.any(Number) });
    expect(result.usage.cpuMs).toBeGreaterThan(0);
    expect(result.usage.wallMs).toBeGreaterThanOrEqual(result.usage.cpuMs * 0.5);
  });

  test.each([
    ['an expression at the end', '1 + 1', 2],
    ['nothing', '', undefined],
    ['only comments', '// nothing\n/* here */', undefined],
    ['a declaration', 'const a = 1;', undefined],
    ['top-level await', 'await tools.add({ a: 1, b: 1 })', 2],
    ['an early end by exit', 'exit({ early: true }); for (;;);', { early: true }],
  ])('of %s has its value', async (_what, source, value) => {
    const result = await shared.run(source);
    expect(result.error).toBeUndefined();
    expect(result.value).toEqual(value);
  });

  test('of a program that throws says where, in the text that the model wrote, with three lines around it', async () => {
    const result = await shared.run(
      'type Order = { id: number };\nconst order = { id: 1 } as Order;\nconst total = order.lines.length;\nreturn total;',
    );
    expect(result.status).toBe('error');
    expect(result.error).toMatchObject({ kind: 'program', name: 'TypeError', line: 3 });
    expect(result.error?.frame).toContain('3 | const total = order.lines.length;');
    expect(result.error?.frame?.split('\n').filter((line) => /^\s*>?\s*\d+ \|/.test(line))).toHaveLength(3);
    expect(result.value).toBeUndefined();
  });

  test.each([
    ['in a callback', '\n[1].map(() => {\n  null.x;\n});', 3],
    ['after an await', '\nawait tools.echo(1);\n\nundefined.y;', 4],
    ['in a call', '\n\nawait tools.add({ a: "1", b: 2 });', 3],
    ['of a tool', '\nconst x = 1;\nawait tools.fail({});', 3],
    ['in a timer', '\nawait new Promise(() => setTimeout(() => {\n  null.z;\n}, 0));', 3],
  ])('of an error %s has its line', async (_where, source, line) => {
    expect((await shared.run(source)).error).toMatchObject({ kind: 'program', line });
  });

  test.each([
    ['a string', "throw 'just text'", 'just text'],
    ['undefined', 'throw undefined', 'undefined'],
    ['an object', 'throw { reason: 1 }', '{"reason":1}'],
    ['a frozen error', 'throw Object.freeze(new Error("cold"))', 'cold'],
    ['an error whose message is none', 'throw Object.assign(new Error(), { message: { a: 1 } })', '[object Object]'],
    ['a proxy', 'throw new Proxy({}, {})', '{}'],
    ['a revoked proxy', 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy', 'an object that cannot be shown'],
  ])('says what was thrown when it is %s', async (_what, source, message) => {
    const result = await shared.run(source);
    expect(result.error?.kind).toBe('program');
    expect(result.error?.message).toContain(message);
  });

  test('keeps the output that there was before the error', async () => {
    const result = await shared.run('text("before"); null.x;');
    expect([result.status, result.output]).toEqual(['error', 'before']);
  });
});

describe('calls', () => {
  test('start when they are made, not when they are awaited', async () => {
    const began: string[] = [];
    const note = defineTool({ name: 'note', description: 'Notes.', inputSchema: {}, execute: (input) => void began.push(String(input)) });
    const result = await open({ tools: [note, wait] }).run(
      'const late = tools.note("a"); tools.note("b"); await tools.wait({ ms: 20 }); await late; return 1',
    );
    expect(result.value).toBe(1);
    expect(began).toEqual(['a', 'b']);
  });

  test('that nobody awaited are finished before the program completes', async () => {
    let finished = false;
    const slow = defineTool({
      name: 'slow',
      description: 'Slow.',
      inputSchema: {},
      execute: () => new Promise<void>((resolve) => setTimeout(() => resolve(void (finished = true)), 50)),
    });
    const result = await open({ tools: slow }).run('tools.slow(); return "done"');
    expect([result.value, finished, result.calls.map(({ status }) => status)]).toEqual(['done', true, ['ok']]);
  });

  test('that nobody awaited and that fail are warnings at their place', async () => {
    const result = await shared.run(
      'tools.fail({ shown: true });\n\n  tools.add({ a: 1 });\ntools.fail({ shown: true }).catch(() => {});\nreturn 5',
    );
    expect(result.value).toBe(5);
    expect([...result.warnings].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))).toEqual([
      { message: expect.stringMatching(/`fail` that was never awaited failed: Not today\./), line: 1, column: expect.any(Number) },
      {
        message: expect.stringMatching(/`add` that was never awaited failed: .*lacks the required property `b`/),
        line: 3,
        column: expect.any(Number),
      },
    ]);
  });

  test('that fail reject with name, code and message, and a stack of the program alone', async () => {
    const result = await shared.run(`
      const seen = [];
      for (const input of [{ shown: true }, {}]) {
        try { await tools.fail(input); } catch (error) { seen.push([error instanceof Error, error.name, error.code, error.message, error.details, /^ +at .*program[.]js:[0-9]+:[0-9]+[)]?$/.test(error.stack), error.stack.split('\\n').length]); }
      }
      return seen;`);
    expect(result.value).toEqual(
      [
        [true, 'ToolError', 'not_today', 'Not today.', { until: 'tomorrow' }, true, 1],
        [true, 'ToolError', 'tool_failed', 'Tool "fail" failed (TypeError)', undefined, true, 1],
      ].map((row) =>
        row.map((cell) =>
          typeof cell === 'string' && cell.startsWith('Tool "fail"') ? expect.stringMatching(/`?"?fail`?"? failed \(TypeError\)/) : cell,
        ),
      ),
    );
    expect(JSON.stringify(result)).not.toContain('passwd');
  });

  test('run at the same time up to the limit, and queue beyond it', async () => {
    let running = 0;
    let most = 0;
    const count = defineTool({
      name: 'count',
      description: 'Counts how many run.',
      inputSchema: {},
      execute: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 10));
        running--;
      },
    });
    const result = await open({ tools: count, limits: { concurrentCalls: 4 } }).run(
      'await Promise.all(Array.from({ length: 20 }, () => tools.count())); return "all"',
    );
    expect([result.value, most, result.calls.length]).toEqual(['all', 4, 20]);
  });

  test('of exclusive tools never overlap one another, and do not hold up the others', async () => {
    const order: string[] = [];
    const make = (name: string, exclusive: boolean, ms: number) =>
      defineTool({
        name,
        description: 'Notes its beginning and end.',
        inputSchema: {},
        exclusive,
        execute: async () => {
          order.push(`+${name}`);
          await new Promise((resolve) => setTimeout(resolve, ms));
          order.push(`-${name}`);
        },
      });
    await open({ tools: [make('x', true, 40), make('y', true, 10), make('free', false, 5)] }).run(
      'await Promise.all([tools.x(), tools.y(), tools.free()])',
    );
    expect(order.indexOf('-x')).toBeLessThan(order.indexOf('+y'));
    expect(order.indexOf('-free')).toBeLessThan(order.indexOf('-x'));
  });

  test('over the limit end the program, refused ones counted', async () => {
    let made = 0;
    const tick = defineTool({ name: 'tick', description: 'Ticks.', inputSchema: {}, execute: () => void made++ });
    const codeMode = open({ tools: [tick, add], limits: { calls: 5 } });
    const looped = await codeMode.run('for (;;) await tools.tick();');
    expect(looped.error).toMatchObject({ kind: 'limit', message: expect.stringContaining('`calls`') });
    expect(made).toBe(5);
    const burst = await codeMode.run('await Promise.all(Array.from({ length: 100 }, () => tools.tick()))');
    expect(burst.error?.kind).toBe('limit');
    expect(made).toBeLessThanOrEqual(10);
    const refused = await codeMode.run('for (;;) { try { await tools.add({}); } catch {} }');
    expect(refused.error?.kind).toBe('limit');
    expect(refused.calls.length).toBeLessThanOrEqual(6);
    const caught = await codeMode.run('for (let i = 0; i < 50; i++) { try { await tools.tick(); } catch {} } return "got away"');
    expect(caught.error?.kind).toBe('limit');
  });

  test('cost no processor time while they are waited for', async () => {
    const result = await shared.run('await tools.wait({ ms: 300 }); return 1', { limits: { cpuMs: 200, sliceMs: 200 } });
    expect(result.value).toBe(1);
    expect(result.usage.wallMs).toBeGreaterThan(290);
    expect(result.usage.cpuMs).toBeLessThan(150);
  });

  test('are told apart by a key that is the same when the same program is run again', async () => {
    const keys: string[] = [];
    const write = defineTool({
      name: 'write',
      description: 'Writes.',
      inputSchema: {},
      execute: (_input, { call }) => void keys.push(call.idempotencyKey),
    });
    const codeMode = open({ tools: write });
    const source = 'await tools.write(1); await tools.write(1)';
    for (const runId of ['r1', 'r1', 'r2']) await codeMode.run(source, { runId });
    expect(keys[0]).not.toBe(keys[1]);
    expect(keys.slice(2, 4)).toEqual(keys.slice(0, 2));
    expect(new Set(keys).size).toBe(4);
  });
});

describe('a program that can not go on', () => {
  test.each([
    ['awaits a promise that nothing settles', 'await new Promise(() => {})'],
    ['awaits it after calls', 'await tools.echo(1); await Promise.all([tools.echo(2), new Promise(() => {})])'],
    ['awaits it after a timer', 'await new Promise((resolve) => setTimeout(resolve, 5)); await new Promise(() => {})'],
    ['awaits itself', 'const p = (async () => { await Promise.resolve(); await p; })(); await p'],
    ['has cleared its timer', 'await new Promise((resolve) => clearTimeout(setTimeout(resolve, 50)))'],
  ])('is a deadlock at once when it %s', async (_how, source) => {
    const result = await shared.run(source, { limits: { wallMs: 20_000 } });
    expect(result.error).toMatchObject({ kind: 'deadlock', message: expect.stringContaining('nothing can settle') });
    expect(result.usage.wallMs).toBeLessThan(5_000);
  });
});

describe('limits', () => {
  const bounded: [string, string, RunOptions['limits'], string, RegExp][] = [
    ['wall time', 'await tools.wait({ ms: 60000 })', { wallMs: 100 }, 'timeout', /100 ms, the limit `wallMs`/],
    ['wall time, with timers', 'await new Promise((resolve) => setTimeout(resolve, 60000))', { wallMs: 100 }, 'timeout', /`wallMs`/],
    ['processor time', 'for (;;);', { cpuMs: 100 }, 'timeout', /100 ms, the limit `cpuMs`/],
    ['one stretch of computing', 'for (;;);', { sliceMs: 100 }, 'timeout', /100 ms.*`sliceMs`/],
    [
      'processor time over many turns',
      'for (;;) { await tools.echo(1); for (let i = 0; i < 1e5; i++); }',
      { cpuMs: 150, calls: 100_000 },
      'timeout',
      /`cpuMs`/,
    ],
    [
      'processor time over many timers',
      'for (;;) { await new Promise((r) => setTimeout(r, 0)); for (let i = 0; i < 1e5; i++); }',
      { cpuMs: 150 },
      'timeout',
      /`cpuMs`/,
    ],
    ['memory', 'const a = []; for (;;) a.push(new Array(1000).fill(a.length));', { memoryBytes: 32 << 20 }, 'memory', /`memoryBytes`/],
    ['the text', `"${'x'.repeat(2000)}"`, { sourceBytes: 1000 }, 'limit', /2002 bytes long; the limit `sourceBytes` is 1000/],
    ['the value', "return 'x'.repeat(2000)", { valueBytes: 1000 }, 'limit', /`valueBytes` is 1000/],
    ['the value of exit', "exit('x'.repeat(2000))", { valueBytes: 1000 }, 'limit', /`valueBytes` is 1000/],
    ['arguments', "await tools.echo('x'.repeat(2000))", { argumentBytes: 1000 }, 'program', /`argumentBytes` is 1000/],
    ['a result', "await tools.echo('x'.repeat(2000))", { resultBytes: 1000 }, 'program', /`resultBytes` is 1000/],
  ];
  test.each(bounded)('of %s end the program with a sentence that names it', async (_what, source, limits, kind, message) => {
    const result = await shared.run(source, { limits });
    expect(result.status).toBe('error');
    expect(result.error?.message).toMatch(message);
    expect(result.error?.kind).toBe(kind);
  });

  test('of output drop what is over, and say how much', async () => {
    const result = await shared.run("for (let i = 0; i < 100; i++) text('x'.repeat(100)); return 1", { limits: { outputBytes: 1000 } });
    expect(result.value).toBe(1);
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(1000);
    expect(result.warnings).toEqual([{ message: expect.stringMatching(/`outputBytes` \(1000 bytes\).*9\d pieces were cut or left out/) }]);
  });

  test('of output never cut a character in two', async () => {
    const result = await shared.run("text('\\u{1f600}'.repeat(100))", { limits: { outputBytes: 101 } });
    expect(result.output).toMatch(/^(\u{1f600})+$/u);
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(101);
  });

  test('are overridden key by key: by the application, then by the run', async () => {
    const codeMode = open({ tools: echo, limits: { valueBytes: 50, calls: 1 } });
    expect((await codeMode.run("return 'x'.repeat(100)")).error?.message).toContain('`valueBytes` is 50');
    expect((await codeMode.run("return 'x'.repeat(100)", { limits: { valueBytes: 500 } })).status).toBe('completed');
    expect((await codeMode.run('await tools.echo(1); await tools.echo(2)', { limits: { valueBytes: 500 } })).error?.kind).toBe('limit');
  });
});

describe('bombs end with a kind and a sentence, within their limit and a second, and hurt nobody else', () => {
  test.each([
    ['an endless loop', 'for (;;);', ['timeout']],
    [
      'endless microtasks',
      'const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})',
      ['timeout', 'memory'],
    ],
    ['a memory bomb', 'const a = []; for (;;) a.push({ a: "x".repeat(100) + a.length });', ['memory']],
    ['deep recursion', 'const f = (n) => f(n + 1) + 1; return f(0);', ['program', 'limit']],
    ['a join of a huge array', 'return new Array(1e9).join().length', ['memory', 'timeout', 'program']],
    ['text that doubles', "let s = 'x'; for (;;) s += s;", ['memory', 'timeout', 'program', 'limit']],
    ['a pattern that backtracks', "/^(a+)+$/.test('a'.repeat(50) + 'b')", ['timeout']],
    ['sorting that no clock reaches', 'const a = new Array(2e5).fill(1); for (;;) a.sort(() => 1);', ['timeout', 'memory']],
  ])('%s', async (_name, source, kinds) => {
    // Where time may end it, soon; else so late that a busy machine does not decide.
    const [wallMs, cpuMs] = kinds.includes('timeout') ? [1_500, 500] : [20_000, 20_000];
    const limits = { wallMs, cpuMs, memoryBytes: 64 << 20 };
    const began = performance.now();
    const neighbour = shared.run(
      'let n = 0; for (let i = 0; i < 10; i++) { n += await tools.add({ a: i, b: 1 }); await tools.wait({ ms: 20 }); } return n',
    );
    const bomb = await shared.run(source, { limits });
    const took = performance.now() - began;
    expect(bomb.status).toBe('error');
    expect(kinds).toContain(bomb.error?.kind);
    // The engine's own words, such as "stack overflow", or a sentence of ours.
    expect(bomb.error?.message.length).toBeGreaterThan(bomb.error?.kind === 'program' ? 10 : 60);
    expect(took).toBeLessThan(limits.wallMs + 1_000);
    expect((await neighbour).value).toBe(55);
    expect((await shared.run('return 40 + 2')).value).toBe(42);
  });
});

describe('text that is no program', () => {
  test.each([
    ['a syntax error', 'const a = ;', /./, 1],
    ['a syntax error further down', 'const a = 1;\nif (a {\n}', /./, 2],
    ['an unclosed string', "return 'abc", /./, 1],
    ['a text that closes its wrapper', 'return 1; })(); (async () => {', /./, 1],
    ['binary junk', '\u0000\u0001\u0002\ufffd\ud800\u{10ffff}\u001b[2J', /./, 1],
    ['NUL within a statement', 'return 1\u0000+1', /./, 1],
  ])('%s is a syntax error with its place, and nothing runs', async (_what, source, message, line) => {
    const result = await shared.run(source);
    expect(result.error).toMatchObject({ kind: 'syntax', name: 'SyntaxError', line });
    expect(result.error?.message).toMatch(message);
    expect(result.calls).toEqual([]);
  });

  test('two megabytes are too long, and in their limit they run', async () => {
    const source = `const text = "${'x'.repeat(2 << 20)}"; return text.length`;
    expect((await shared.run(source)).error).toMatchObject({
      kind: 'limit',
      message: expect.stringMatching(/\d+ bytes long; the limit `sourceBytes`.*Write a shorter one/),
    });
    expect((await shared.run(source, { limits: { sourceBytes: 4 << 20 } })).value).toBe(2 << 20);
  });
});

describe('results that a program does not take', () => {
  test('hold its further calls back, so that they do not fill the host', async () => {
    let made = 0;
    const big = defineTool({
      name: 'big',
      description: 'Gives 7 MB.',
      inputSchema: {},
      execute: async () => {
        made++;
        return 'x'.repeat(7_000_000);
      },
    });
    const codeMode = open({ tools: big, limits: { concurrentCalls: 2, memoryBytes: 1 << 30 } });
    await codeMode.run('return 1');
    const running = codeMode.run(
      'for (let i = 0; i < 60; i++) tools.big({}).catch(() => {}); await sleep(1); const end = Date.now() + 2_000; while (Date.now() < end); return 1',
      { limits: { cpuMs: 20_000, sliceMs: 20_000 } },
    );
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const during = made;
    expect((await running).status).toBe('completed');
    expect(during).toBeLessThan(30);
    expect(made).toBe(60);
  });
});

describe('ending from outside', () => {
  test('a signal ends the program as terminated, and aborts its calls', async () => {
    let reason: unknown;
    const hang = defineTool({
      name: 'hang',
      description: 'Hangs.',
      inputSchema: {},
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          setTimeout(() => caller.abort(), 10);
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(signal.reason);
          });
        }),
    });
    const caller = new AbortController();
    const result = await open({ tools: hang }).run('text("here"); await tools.hang()', { signal: caller.signal });
    expect(result).toMatchObject({ status: 'terminated', error: { kind: 'aborted' }, output: 'here' });
    expect(result.calls.map(({ status }) => status)).toEqual(['aborted']);
    expect(CodeModeError.is(reason) && reason.code).toBe('aborted');
  });

  test('a signal ends a program that only computes', async () => {
    const caller = new AbortController();
    setTimeout(() => caller.abort(), 50);
    const result = await shared.run('for (;;);', { signal: caller.signal });
    expect(result.status).toBe('terminated');
    expect(result.usage.wallMs).toBeLessThan(3_000);
    expect((await shared.run('return 1')).value).toBe(1);
  });

  test('a signal that is aborted already starts nothing', async () => {
    let made = 0;
    const tick = defineTool({ name: 'tick', description: 'Ticks.', inputSchema: {}, execute: () => void made++ });
    const result = await open({ tools: tick }).run('await tools.tick()', { signal: AbortSignal.abort() });
    expect([result.status, made]).toEqual(['terminated', 0]);
  });

  test('a signal leaves no listener behind', async () => {
    const caller = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = caller.signal;
    caller.signal.addEventListener = ((...args: Parameters<AbortSignal['addEventListener']>) => {
      listeners++;
      addEventListener.apply(caller.signal, args);
    }) as AbortSignal['addEventListener'];
    caller.signal.removeEventListener = ((...args: Parameters<AbortSignal['removeEventListener']>) => {
      listeners--;
      removeEventListener.apply(caller.signal, args);
    }) as AbortSignal['removeEventListener'];
    await Promise.all(Array.from({ length: 20 }, () => shared.run('await tools.wait({ ms: 5 })', { signal: caller.signal })));
    expect(listeners).toBe(0);
  });

  test('close() ends what runs, and then nothing runs any more', async () => {
    const codeMode = open({ tools: wait });
    const running = Array.from({ length: 3 }, (_, i) => codeMode.run(i === 0 ? 'for (;;);' : 'await tools.wait({ ms: 60000 })'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await Promise.all([codeMode.close(), codeMode.close()]);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(['terminated', 'terminated', 'terminated']);
    await expect(codeMode.run('return 1')).rejects.toMatchObject({ code: 'closed' });
    await codeMode[Symbol.asyncDispose]();
  });

  test('close() before anything has run is fine', async () => {
    await open({ tools: [] }).close();
  });

  test('a tool that ignores its signal does not hold up the result for long, and is reported', async () => {
    const deaf = defineTool({
      name: 'deaf',
      description: 'Deaf.',
      inputSchema: {},
      execute: () => new Promise((resolve) => setTimeout(resolve, 3_000).unref()),
    });
    const codeMode = open({ tools: deaf });
    await codeMode.run('return 1');
    const result = await codeMode.run('await tools.deaf()', { limits: { wallMs: 500 } });
    expect(result.error?.kind).toBe('timeout');
    expect(result.usage.wallMs).toBeLessThan(2_500);
    expect(result.warnings.map(({ message }) => message)).toEqual([expect.stringContaining('Tool `deaf` was still running')]);
  });

  test('a call after the end of the program reaches no tool', async () => {
    let made = 0;
    const tick = defineTool({ name: 'tick', description: 'Ticks.', inputSchema: {}, execute: () => void made++ });
    const codeMode = open({ tools: [tick, wait] });
    for (const source of [
      'setTimeout(() => tools.tick(), 6000); return 1',
      'const t = tools.wait({ ms: 50 }).then(() => tools.tick()); throw new Error("x")',
      'tools.wait({ ms: 50 }).then(() => tools.tick()); exit(1)',
    ])
      await codeMode.run(source);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(made).toBe(0);
  });
});

describe('providers', () => {
  function provider(name: string, log: string[], more: Partial<ToolProvider> = {}): ToolProvider {
    return {
      namespace: name,
      tools: () => {
        log.push(`open ${name}`);
        return [defineTool({ name: 'who', description: 'Who.', inputSchema: {}, execute: () => name })];
      },
      close: () => void log.push(`close ${name}`),
      ...more,
    };
  }

  test('are closed once per run, in reverse order', async () => {
    const log: string[] = [];
    const codeMode = open({ tools: [provider('a', log), [provider('b', log)], null] });
    const result = await codeMode.run('return [await tools.a.who(), await tools.b.who()]');
    expect(result.value).toEqual(['a', 'b']);
    expect(log).toEqual(['open a', 'open b', 'close b', 'close a']);
    await codeMode.run('null.x');
    expect(log.slice(4)).toEqual(['open a', 'open b', 'close b', 'close a']);
  });

  test('that are open when the catalog fails are closed all the same', async () => {
    const log: string[] = [];
    const broken = provider('c', log, {
      tools: () => {
        throw new Error('no connection');
      },
    });
    const codeMode = open({ tools: [provider('a', log), provider('b', log), broken] });
    await expect(codeMode.run('return 1')).rejects.toMatchObject({ code: 'catalog_failed' });
    // The one that failed may have opened something too.
    expect(log).toEqual(['open a', 'open b', 'close c', 'close b', 'close a']);
    const collides = open({ tools: [provider('a', log.splice(0) && log), provider('a', log)] });
    await expect(collides.run('return 1')).rejects.toMatchObject({ code: 'name_collision' });
    expect(log.filter((line) => line.startsWith('close'))).toHaveLength(2);
  });

  test('whose close fails make the run fail, once all were tried', async () => {
    const log: string[] = [];
    const failing = provider('b', log, {
      close: () => {
        log.push('close b');
        throw new Error('stuck');
      },
    });
    const codeMode = open({ tools: [provider('a', log), failing] });
    await expect(codeMode.run('return 1')).rejects.toMatchObject({ code: 'cleanup_failed', message: expect.stringContaining('stuck') });
    expect(log.slice(2)).toEqual(['close b', 'close a']);
  });
});

describe('identity', () => {
  test('comes from the invocation alone, whatever the program passes', async () => {
    const seen: unknown[] = [];
    const who = defineTool({
      name: 'who',
      description: 'Who.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: true },
      execute: (_input, { run }) => void seen.push(run.invocation),
    });
    const codeMode = open({ tools: who });
    const invocation = { actorId: 'user-1', context: { tenant: 't' }, interface: 'chat' };
    await codeMode.run('await tools.who({ actorId: "root", run: { invocation: { actorId: "root" } }, invocation: { actorId: "root" } })', {
      invocation,
    });
    await codeMode.run('await tools.who({ actorId: "root" })');
    expect(seen).toEqual([invocation, {}]);
    expect(Object.isFrozen(seen[0])).toBe(true);
  });

  test('of two runs at the same time is never mixed', async () => {
    const who = defineTool({
      name: 'who',
      description: 'Who.',
      inputSchema: {},
      execute: async (_input, { run }) => (await new Promise((resolve) => setTimeout(resolve, 10)), run.invocation.actorId),
    });
    const codeMode = open({ tools: who });
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        codeMode.run('return [await tools.who(), await tools.who()]', { invocation: { actorId: `u${i}` } }),
      ),
    );
    expect(results.map(({ value }) => value)).toEqual(Array.from({ length: 10 }, (_, i) => [`u${i}`, `u${i}`]));
  });
});

describe('mistakes of the application', () => {
  const loose = (options: unknown): CodeModeOptions => options as CodeModeOptions;
  test.each([
    ['no options', undefined, 'option_invalid', /takes an object/],
    ['no tools', {}, 'option_invalid', /needs `tools`/],
    ['a misspelt option', { tools: [], limit: {} }, 'option_invalid', /no option `limit`; did you mean `limits`\?/],
    ['a policy that is none', { tools: [], policy: 'allow' }, 'option_invalid', /`policy` should be a function/],
    ['another engine', { tools: [], engine: 'v9' }, 'option_invalid', /`engine` should be "quickjs".*"v9"/],
    [
      'another isolation',
      { tools: [], isolation: 'moon' },
      'option_invalid',
      /`isolation` should be "thread", "process" or "inline".*"moon"/,
    ],
    ['an observer that is none', { tools: [], observer: console.log }, 'option_invalid', /`observer` should be an object/],
    ['showError that is none', { tools: [], showError: true }, 'option_invalid', /`showError` should be a function/],
    ['a limit that is misspelt', { tools: [], limits: { wallMS: 1 } }, 'limit_invalid', /no limit `wallMS`/],
    ['a limit that is negative', { tools: [], limits: { calls: -1 } }, 'limit_invalid', /`calls` should be a whole number.*-1/],
    ['a time zone that is none', { tools: [], timeZone: 'Mars/Olympus' }, 'option_invalid', /`timeZone` should be an IANA name.*Mars/],
    ['a locale that is none', { tools: [], locale: 'not a locale' }, 'option_invalid', /`locale` should be a language tag/],
    ['globals that are none', { tools: [], globals: [] }, 'option_invalid', /`globals` should be an object/],
    ['a global that is no name', { tools: [], globals: { 'a b': 1 } }, 'option_invalid', /"a b".*no identifier/],
    ['a global that hides what is there', { tools: [], globals: { tools: 1 } }, 'option_invalid', /`globals.tools` would hide/],
    ['a global that cannot cross', { tools: [], globals: { f: () => 1 } }, 'option_invalid', /`globals.f` cannot cross.*is a function/],
    ['tools that are none', { tools: [{ name: 'x' }] }, 'tool_invalid', /./],
    ['two tools of one name', { tools: [echo, echo] }, 'name_collision', /echo/],
  ])('%s is a clear error', (_what, options, code, message) => {
    const thrown = (() => {
      try {
        opened.push(createCodeMode(loose(options)));
      } catch (error) {
        return error;
      }
      return undefined;
    })();
    expect(CodeModeError.is(thrown)).toBe(true);
    expect(thrown).toMatchObject({ code });
    expect((thrown as Error).message).toMatch(message);
  });

  test.each([
    ['a program that is no text', 5, {}, /should be a string, but is a number/],
    ['a misspelt option', 'return 1', { signals: 1 }, /run\(\) has no option `signals`; did you mean `signal`\?/],
    ['a signal that is none', 'return 1', { signal: {} }, /`signal` should be an AbortSignal/],
    ['a limit out of its range', 'return 1', { limits: { memoryBytes: 1 } }, /`memoryBytes` should be a whole number/],
    ['an invocation that is no JSON', 'return 1', { invocation: { context: { at: () => 1 } } }, /`invocation` should be a JSON object/],
    ['an invocation with more in it', 'return 1', { invocation: { user: 'x' } }, /`invocation` has no `user`/],
    ['options that are none', 'return 1', 'fast', /takes an object of options/],
  ])('%s makes the run reject, and the next one is fine', async (_what, source, options, message) => {
    await expect(shared.run(source as string, options as RunOptions)).rejects.toThrow(message);
    expect((await shared.run('return 1')).value).toBe(1);
  });
});

describe('the application', () => {
  test('sees facts in order, with the original of what the program was not shown', async () => {
    const events: CodeModeEvent[] = [];
    await open({ tools: [fail], observer: { on: (event) => events.push(event) } }).run('try { await tools.fail({}); } catch {}');
    expect(events.map(({ type }) => type)).toEqual([
      'run-start',
      'execution-start',
      'call-queued',
      'call-start',
      'call-end',
      'execution-end',
      'run-end',
    ]);
    expect((events[4] as { error?: Error }).error?.message).toContain('/etc/passwd');
  });

  test('may observe badly without harm', async () => {
    const observer = {
      on: () => {
        throw new Error('observer');
      },
    };
    expect((await open({ tools: echo, observer }).run('return await tools.echo(3)')).value).toBe(3);
  });

  test('may give constants, which no program can change for the next', async () => {
    const codeMode = open({ tools: [], globals: { spec: { a: [1] }, when: new Map([[1, 2n]]) } });
    expect((await codeMode.run('spec.a.push(2); const seen = [spec, when]; spec = null; return seen')).value).toEqual([
      { a: [1, 2] },
      new Map([[1, 2n]]),
    ]);
    expect((await codeMode.run('return spec')).value).toEqual({ a: [1] });
  });

  test('may refuse calls by policy, with a reason that the program sees', async () => {
    let made = 0;
    const write = defineTool({ name: 'write', description: 'Writes.', inputSchema: {}, execute: () => void made++ });
    const codeMode = open({
      tools: write,
      policy: ({ input }) => ((input as { ok?: boolean }).ok === true ? 'allow' : { deny: 'Not without ok.' }),
    });
    const result = await codeMode.run(
      'try { await tools.write({}); } catch (error) { await tools.write({ ok: true }); return [error.code, error.message]; }',
    );
    expect(result.value).toEqual(['call_refused', expect.stringContaining('Not without ok.')]);
    expect([made, result.calls.map(({ status }) => status)]).toEqual([1, ['refused', 'ok']]);
  });

  test('may run many programs at once', async () => {
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => shared.run(`const a = await tools.add({ a: ${i}, b: 1 }); return a * 2`)),
    );
    expect(results.map(({ value }) => value)).toEqual(Array.from({ length: 60 }, (_, i) => (i + 1) * 2));
  });

  test.each([
    ['returns', 'return await tools.echo(42)'],
    ['throws', 'throw new Error("x")'],
    ['runs out of time', 'for (;;);'],
    ['leaves an interval', 'setInterval(() => {}, 10); return 42'],
  ])('can end by itself after a program that %s, without closing', async (_how, source) => {
    const module = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
    const code = `
      import { createCodeMode, defineTool } from ${JSON.stringify(module)};
      const echo = defineTool({ name: 'echo', description: 'Echo.', inputSchema: {}, execute: (x) => x });
      const result = await createCodeMode({ tools: echo, limits: { cpuMs: 300 } }).run(${JSON.stringify(source)});
      console.log(result.status);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
    const code_ = await new Promise((resolve) => child.on('close', resolve));
    clearTimeout(timer);
    expect([code_, said.trim()]).toEqual([0, source.startsWith('return') || source.startsWith('set') ? 'completed' : 'error']);
  });
});

test('inline isolation gives the same answers', async () => {
  const codeMode = open({ tools: [echo, add, fail], engine: 'quickjs', isolation: 'inline' });
  expect((await codeMode.run('return await tools.add({ a: 1, b: 2 })')).value).toBe(3);
  expect((await codeMode.run('for (;;);', { limits: { cpuMs: 50 } })).error?.kind).toBe('timeout');
  expect((await codeMode.run('const f = () => f() + 1; f()')).error?.kind).toMatch(/program|limit/);
  expect((await codeMode.run('await tools.fail({ shown: true })')).error).toMatchObject({
    kind: 'program',
    name: 'ToolError',
    code: 'not_today',
    line: 1,
  });
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, i) => codeMode.run(`const x = await tools.echo(${i}); return [x, await tools.echo(x)]`)),
  );
  expect(results.map(({ value }) => value)).toEqual(Array.from({ length: 10 }, (_, i) => [i, i]));
});

test('calls made right before `exit` are carried out, and a signal still ends the wait for them', async () => {
  await using codeMode = open({ tools: [echo, wait], limits: { cleanupMs: 50 } });
  const left = await codeMode.run('tools.echo({ value: 1 }); exit(1);');
  expect(left).toMatchObject({ status: 'completed', value: 1, calls: [{ name: 'echo', status: 'ok' }] });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  const ended = await codeMode.run('tools.wait({ ms: 30_000 }); await sleep(1); exit(2);', { signal: controller.signal });
  expect(ended).toMatchObject({ status: 'completed', value: 2, calls: [{ name: 'wait', status: 'aborted' }] });
  expect(ended.usage.wallMs).toBeLessThan(20_000);
});
