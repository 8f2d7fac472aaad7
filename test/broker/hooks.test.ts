// The application's hand in every call: what it may do before and after it, that it fails closed, and that it is told.
import { describe, expect, test, vi } from 'vitest';
import { artifact, toolResult } from '../../src/artifacts/artifact.ts';
import type { Hooks } from '../../src/broker/hooks.ts';
import { createCodeMode, defineTool } from '../../src/index.ts';
import { failureOf, resultOf, setup } from '../helpers/broker.ts';

const double = defineTool({
  name: 'double',
  description: 'Twice a number.',
  inputSchema: { type: 'object', properties: { n: { type: 'number', maximum: 100 } }, required: ['n'] },
  outputSchema: { type: 'number' },
  execute: ({ n }) => 2 * n,
});
const slow = defineTool({
  name: 'slow',
  description: 'Never answers.',
  inputSchema: {},
  timeoutMs: 50,
  execute: () => new Promise(() => undefined),
});

const hooked = (hooks: Hooks) => setup([double, slow], { hooks });

describe('beforeCall', () => {
  test('sees the valid input and who calls, and may let it pass', async () => {
    const seen: unknown[] = [];
    const { call } = hooked({ beforeCall: (facts) => void seen.push(facts) });
    expect(resultOf(await call('double', { n: 2 }))).toBe(4);
    await call('double', { n: 'two' });
    expect(seen).toMatchObject([
      {
        tool: { name: 'double', path: 'double' },
        input: { n: 2 },
        run: { id: 'run-1', invocation: { actorId: 'user-1' } },
        callId: 'execution-1:1',
      },
    ]);
  });

  test('refuses with a reason that the program reads, and the trace has it', async () => {
    const { call, events } = hooked({ beforeCall: async ({ input }) => ((input as { n: number }).n > 5 ? { deny: 'Too much' } : 'allow') });
    expect(resultOf(await call('double', { n: 5 }))).toBe(10);
    expect(failureOf(await call('double', { n: 6 }))).toMatchObject({
      code: 'call_refused',
      message: 'Tool `double` was refused: Too much.',
    });
    // On a busy machine events come through the queue.
    await vi.waitFor(() =>
      expect(events.filter(({ type }) => type === 'call-hook')).toMatchObject([
        { hook: 'beforeCall', did: 'denied', callId: 'execution-1:2' },
      ]),
    );
  });

  test('gives another input, which is validated again', async () => {
    const { call, events } = hooked({ beforeCall: ({ input }) => ({ input: { n: (input as { n: number }).n * 10 } }) });
    expect(resultOf(await call('double', { n: 2 }))).toBe(40);
    expect(failureOf(await call('double', { n: 20 }))).toMatchObject({
      code: 'input_invalid',
      message: expect.stringContaining('at most 100'),
    });
    await vi.waitFor(() =>
      expect(events.filter(({ type }) => type === 'call-hook')).toMatchObject([{ did: 'replaced' }, { did: 'replaced' }]),
    );
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('secret'))],
    ['answers unclearly', () => 'no' as never],
    ['says two things at once that are not both clear', () => ({ deny: 7, input: {} }) as never],
  ])('one that %s refuses the call, and the program does not learn why', async (_, beforeCall) => {
    const { call, events } = hooked({ beforeCall });
    const failure = failureOf(await call('double', { n: 2 }));
    expect(failure).toMatchObject({ code: 'call_refused', message: expect.stringContaining('`beforeCall` failed') });
    expect(JSON.stringify(failure)).not.toContain('secret');
    await vi.waitFor(() => expect(events.filter(({ type }) => type === 'call-hook')).toMatchObject([{ did: 'failed' }]));
  });

  test('has the time of the call, and its signal says when that is over', async () => {
    let signal: AbortSignal | undefined;
    const { call } = hooked({
      beforeCall: (facts) => {
        signal = facts.signal;
        return new Promise(() => undefined);
      },
    });
    expect(failureOf(await call('slow'))).toMatchObject({ code: 'call_refused' });
    expect(signal?.aborted).toBe(true);
  });

  test('is asked before the policy, which decides about the input that it gave', async () => {
    const inputs: unknown[] = [];
    const { call } = setup([double], {
      hooks: { beforeCall: () => ({ input: { n: 3 } }) },
      policy: ({ input }) => {
        inputs.push(input);
        return true;
      },
    });
    expect(resultOf(await call('double', { n: 1 }))).toBe(6);
    expect(inputs).toEqual([{ n: 3 }]);
  });
});

describe('afterCall', () => {
  test('sees the outcome, good or bad, and may leave it', async () => {
    const outcomes: unknown[] = [];
    const { call } = hooked({ afterCall: (_, outcome) => void outcomes.push(outcome) });
    expect(resultOf(await call('double', { n: 2 }))).toBe(4);
    expect(failureOf(await call('slow')).code).toBe('tool_timeout');
    expect(outcomes).toMatchObject([
      { ok: true, value: 4 },
      { ok: false, error: { code: 'tool_timeout' } },
    ]);
  });

  test('replaces a value, which must be one that the tool could give', async () => {
    expect(resultOf(await hooked({ afterCall: () => ({ value: 0 }) }).call('double', { n: 2 }))).toBe(0);
    const wrong = hooked({ afterCall: () => ({ value: 'none' }) });
    expect(failureOf(await wrong.call('double', { n: 2 }))).toMatchObject({ code: 'output_invalid' });
    expect(wrong.events.filter(({ type }) => type === 'call-hook')).toMatchObject([{ hook: 'afterCall', did: 'replaced' }]);
  });

  test('makes an outcome an error, or a good one of a bad one', async () => {
    expect(failureOf(await hooked({ afterCall: () => ({ error: 'Held back' }) }).call('double', { n: 2 }))).toMatchObject({
      code: 'tool_failed',
      message: 'Held back.',
    });
    expect(resultOf(await hooked({ afterCall: (_, { ok }) => (ok ? undefined : { value: 'instead' }) }).call('slow'))).toBe('instead');
  });

  test('one that throws holds the outcome back', async () => {
    const { call } = hooked({
      afterCall: () => {
        throw new Error('secret');
      },
    });
    const failure = failureOf(await call('double', { n: 2 }));
    expect(failure.message).toContain('held back');
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  test('artifacts stay with a value that it replaced', async () => {
    const draw = defineTool({
      name: 'draw',
      description: 'Draws.',
      inputSchema: {},
      execute: () => toolResult({ value: 'drawn', artifacts: [artifact({ data: 'x', mediaType: 'text/plain' })] }),
    });
    const delivery = await setup([draw], { hooks: { afterCall: () => ({ value: 'redacted' }) } }).call('draw');
    expect(delivery).toMatchObject({ ok: true, value: 'redacted', artifacts: [{ mediaType: 'text/plain' }] });
  });
});

test('calls of programs and of the conversation pass the same hooks', async () => {
  const seen: string[] = [];
  await using codeMode = createCodeMode({
    tools: double,
    isolation: 'inline',
    hooks: {
      beforeCall: ({ tool }) => void seen.push(`before ${tool.path}`),
      afterCall: ({ tool }) => void seen.push(`after ${tool.path}`),
    },
  });
  await using session = await codeMode.openSession();
  expect(await session.callTool('double', { n: 1 })).toBe(2);
  expect((await session.exec('return await tools.double({ n: 2 })')).value).toBe(4);
  expect(seen).toEqual(['before double', 'after double', 'before double', 'after double']);
});

test('without payloads asked for, events hold none; with them, redacted ones', async () => {
  const events: Record<string, unknown>[] = [];
  const secret = 'p4ssw0rd';
  const open = (options: object) =>
    createCodeMode({ tools: double, isolation: 'inline', observer: { on: (event) => events.push({ ...event }) }, ...options });
  const program = `// ${secret}\nconsole.log('${secret}'); await tools.double({ n: 1, note: '${secret}' }); return '${secret}'`;
  await using quiet = open({});
  await quiet.run(program);
  expect(JSON.stringify(events)).not.toContain(secret);
  events.length = 0;
  await using loud = open({
    capture: true,
    redact: (_: string, value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(secret, '…')),
  });
  await loud.run(program);
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(events).toMatchObject([
    { type: 'run-start' },
    { type: 'execution-start', source: { text: expect.stringContaining('tools.double') } },
    { type: 'output', level: 'log', text: { text: '…' } },
    { type: 'call-queued', caller: 'program', place: { line: 2, column: 44 } },
    { type: 'call-start', input: { text: '{"n":1,"note":"…"}' } },
    { type: 'call-end', output: { text: '2' } },
    { type: 'execution-end', value: { text: '"…"' } },
    { type: 'run-end' },
  ]);
});
