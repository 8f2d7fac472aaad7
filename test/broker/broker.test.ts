import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { createBroker } from '../../src/broker/broker.ts';
import type { Delivery } from '../../src/broker/deliver.ts';
import { Reporter } from '../../src/broker/report.ts';
import type { CodeModeEvent } from '../../src/observe.ts';
import { CodeModeError } from '../../src/protocol/errors.ts';
import { resolveLimits } from '../../src/protocol/limits.ts';
import { createRun } from '../../src/tools/binding.ts';
import { createCatalog } from '../../src/tools/catalog.ts';
import type { Tool, ToolContext } from '../../src/tools/tool.ts';
import { failureOf, gate, resultOf, setup, turn } from '../helpers/broker.ts';
import { shelfOf } from '../helpers/shelf.ts';
import { schemaOf, toolOf } from '../helpers/tools.ts';

const pickyTool = (parts: Partial<Tool> = {}): Tool =>
  toolOf('picky', {
    input: schemaOf((value) =>
      typeof value === 'number' ? { ok: true, value: value + 1 } : { ok: false, message: '`$` should be a number' },
    ),
    ...parts,
  });

describe('the way of a call', () => {
  test('a call gives its value, start and end are told, and a record is kept', async () => {
    const { broker, events, call } = setup([toolOf('echo', { execute: async (input) => ({ input }) })]);
    expect(await call('echo', { a: 1 })).toEqual({ ok: true, value: { input: { a: 1 } }, artifacts: [] });
    const common = {
      seq: expect.any(Number),
      time: expect.any(Number),
      runId: 'run-1',
      executionId: 'execution-1',
      callId: 'execution-1:1',
      tool: 'echo',
      at: expect.any(Number),
    };
    expect(events).toEqual([
      { type: 'call-start', ...common },
      { type: 'call-end', status: 'ok', durationMs: expect.any(Number), ...common },
    ]);
    expect(broker.records()).toEqual([{ id: 'execution-1:1', name: 'echo', status: 'ok', durationMs: expect.any(Number) }]);
  });

  test('a call without an argument means {}', async () => {
    const { broker } = setup([toolOf('echo')]);
    expect(await broker.call({ id: 1, index: 0, input: undefined })).toMatchObject({ ok: true, value: {} });
  });

  test.each([null, 0, '', false, [1]])('any JSON value may be an input: %j', async (input) => {
    const { call } = setup([toolOf('echo')]);
    expect(resultOf(await call('echo', input))).toEqual(input);
  });

  test('the tool gets what the schema made of the input, also when the schema takes its time', async () => {
    const slow = schemaOf(async (value) => ({ ok: true, value: [value] }));
    const { call } = setup([pickyTool(), toolOf('slow', { input: slow })]);
    expect(resultOf(await call('picky', 1))).toBe(2);
    expect(resultOf(await call('slow', 1))).toEqual([1]);
  });

  test('invalid input is refused in one sentence and the tool does not run', async () => {
    let ran = false;
    const { call, events, broker } = setup([pickyTool({ execute: () => (ran = true) })]);
    const message = 'Tool `picky` was called with invalid input: `$` should be a number.';
    expect(failureOf(await call('picky', 'x'))).toEqual({ name: 'ToolError', code: 'input_invalid', message });
    expect(ran).toBe(false);
    expect(events.map(({ type }) => type)).toEqual(['call-refused', 'call-end']);
    expect(broker.records()).toMatchObject([{ status: 'refused' }]);
  });

  test.each([new TypeError('secret'), Object.assign(new CodeModeError('closed', 'secret'), { name: 'TypeError' })])(
    'a schema that throws refuses the call and hides why: %#',
    async (error) => {
      const broken = schemaOf(() => {
        throw error;
      });
      const { call, events } = setup([toolOf('broken', { input: broken })]);
      expect(failureOf(await call('broken')).message).toBe('The input of tool `broken` could not be checked (TypeError).');
      expect(events[0]).toMatchObject({ type: 'call-refused', error });
    },
  );

  test.each([7, -1, 0.5])('an unknown index is refused, and recorded: %d', async (index) => {
    const { broker } = setup([toolOf('echo')]);
    expect(failureOf(await broker.call({ id: 1, index, input: {} })).code).toBe('tool_unknown');
    expect(broker.records()).toMatchObject([{ name: 'unknown_tool', status: 'refused' }]);
  });

  test('input is decoded only after the call was counted, and what decoding says is shown', async () => {
    const { broker } = setup([toolOf('echo')], { limits: { calls: 1 } });
    const input = () => {
      throw new CodeModeError('limit_exceeded', 'The arguments are over 10 bytes.');
    };
    expect(failureOf(await broker.call({ id: 1, index: 0, input }))).toMatchObject({
      code: 'limit_exceeded',
      message: 'Tool `echo` was not called: The arguments are over 10 bytes.',
    });
    const never = () => expect.fail('decoded a call over the limit');
    expect((await broker.call({ id: 2, index: 0, input: never })).ok).toBe(false);
  });
});

describe('calls of one turn', () => {
  const steps = (events: readonly CodeModeEvent[]): string[] =>
    events.map((event) => ('callId' in event ? `${event.type} ${event.callId?.split(':')[1]}` : event.type));

  test('are checked when they are taken, and no tool runs before the turn has been heard', async () => {
    const ran: unknown[] = [];
    const { broker } = setup([pickyTool({ execute: (input) => ran.push(input) })]);
    const answers: Delivery[] = [];
    for (const [id, input] of [
      [1, 1],
      [2, 'wrong'],
      [3, 3],
    ] as const)
      broker.take({ id, index: 0, input }, (delivery) => answers.push(delivery));
    await turn();
    expect(ran).toEqual([]);
    expect(answers).toEqual([]);
    broker.proceed();
    // Nothing that they do takes time: they are answered at once.
    expect(ran).toEqual([2, 4]);
    expect(answers.map(({ ok }) => ok)).toEqual([false, true, true]);
    expect(await broker.settled(0)).toEqual([]);
  });

  test('nobody is asked about a call whose program has ended in the meantime', async () => {
    const asked: unknown[] = [];
    const { broker, end } = setup([pickyTool()], {
      policy: ({ tool }) => {
        asked.push(tool);
        return 'allow';
      },
    });
    broker.take({ id: 1, index: 0, input: 1 }, () => undefined);
    end();
    broker.proceed();
    await turn();
    expect(asked).toEqual([]);
  });

  test('each runs in the context of the program, whatever the tool of another has entered', async () => {
    const storage = new AsyncLocalStorage<unknown>();
    const seen: unknown[] = [];
    const execute = (input: unknown): void => {
      seen.push(storage.getStore());
      storage.enterWith(input);
    };
    await storage.run('program', async () => {
      const { broker } = setup([pickyTool({ execute })]);
      for (const id of [1, 2, 3]) broker.take({ id, index: 0, input: id }, () => undefined);
      broker.proceed();
      await turn();
    });
    expect(seen).toEqual(['program', 'program', 'program']);
  });

  test('go on side by side, whether or not they take time', async () => {
    for (const execute of [() => 1, async () => 1]) {
      const { broker, events } = setup([toolOf('each', { execute })]);
      const answered = new Set<number>();
      for (const id of [1, 2]) broker.take({ id, index: 0, input: {} }, () => answered.add(id));
      broker.proceed();
      while (answered.size < 2) await turn();
      expect(steps(events)).toEqual(['call-start 1', 'call-start 2', 'call-end 1', 'call-end 2']);
    }
  });

  test('are not made when one of them ends the execution', async () => {
    const ran: unknown[] = [];
    const { broker, end } = setup([toolOf('write', { execute: () => ran.push('write') })], { limits: { calls: 2 } });
    const answers: Delivery[] = [];
    for (const id of [1, 2, 3])
      broker.take({ id, index: 0, input: {} }, (delivery) => {
        answers.push(delivery);
        if (!delivery.ok && delivery.fatal !== undefined) end(new Error('over'));
      });
    broker.proceed();
    expect(ran).toEqual([]);
    expect(answers.map((delivery) => failureOf(delivery).code)).toEqual(['limit_exceeded', 'aborted', 'aborted']);
  });

  test('run in the context in which their broker was opened', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const { broker } = storage.run('opened', () => setup([toolOf('look', { execute: () => seen.push(storage.getStore()) })]));
    storage.run('taken', () => broker.take({ id: 1, index: 0, input: {} }, () => undefined));
    storage.run('heard', () => broker.proceed());
    expect(seen).toEqual(['opened']);
  });
});

describe('the limit of calls', () => {
  test('refused calls count, and a call over the limit ends the execution', async () => {
    const { broker, call, events } = setup([pickyTool()], { limits: { calls: 2 } });
    await call('picky', 'refused');
    await call('nothing');
    const delivery = await call('picky', 1);
    expect(delivery).toMatchObject({ ok: false, failure: { code: 'limit_exceeded' }, fatal: { kind: 'limit', limit: 'calls' } });
    expect(failureOf(delivery).message).toContain('ore than 2 tool calls');
    expect(broker.records()).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'call-end')).toHaveLength(2);
  });

  test('a flood over the limit is told once', async () => {
    const { call, events } = setup([toolOf('echo')], { limits: { calls: 0 } });
    await Promise.all(Array.from({ length: 100 }, () => call('echo')));
    expect(events.map(({ type }) => type)).toEqual(['call-refused', 'limit']);
  });
});

describe('policy', () => {
  test('decides about validated input, and its reason is shown', async () => {
    const asked: unknown[] = [];
    const { call, events } = setup([pickyTool({ annotations: { destructiveHint: true } })], {
      policy: (asking) => {
        asked.push(asking);
        return { deny: 'not on a Sunday' };
      },
    });
    await call('picky', 'invalid');
    expect(asked).toEqual([]);
    expect(failureOf(await call('picky', 1))).toEqual({
      name: 'ToolError',
      code: 'call_refused',
      message: 'Tool `picky` was refused: not on a Sunday',
    });
    const tool = { name: 'picky', path: 'picky', description: 'The tool picky.', annotations: { destructiveHint: true } };
    expect(asked).toEqual([{ tool, input: 2, run: { id: 'run-1', invocation: { actorId: 'user-1' } }, callId: 'execution-1:2' }]);
    expect(events.map(({ type }) => type)).not.toContain('call-start');
  });

  test('waiting for a policy holds no slot', async () => {
    const decision = gate<true>();
    const { call } = setup([toolOf('guarded'), toolOf('free')], {
      limits: { concurrentCalls: 1 },
      policy: ({ tool }) => (tool.name === 'free' ? true : decision.promise),
    });
    const guarded = call('guarded');
    expect((await call('free')).ok).toBe(true);
    decision.open(true);
    expect((await guarded).ok).toBe(true);
  });

  test('a refused call does not hold a slot', async () => {
    const { call } = setup([toolOf('a'), toolOf('b')], { limits: { concurrentCalls: 1 }, policy: ({ tool }) => tool.name === 'b' });
    expect((await call('a')).ok).toBe(false);
    expect((await call('b')).ok).toBe(true);
  });
});

describe('turns', () => {
  test('calls over the limit of concurrency wait, first come, first served', async () => {
    const gates = [gate(), gate(), gate()];
    const started: number[] = [];
    const execute = (n: unknown): unknown => {
      started.push(n as number);
      return gates[n as number]?.promise;
    };
    const { call } = setup([toolOf('work', { execute })], {
      limits: { concurrentCalls: 2 },
    });
    const calls = [call('work', 0), call('work', 1), call('work', 2)];
    await turn();
    expect(started).toEqual([0, 1]);
    gates[1]?.open('b');
    expect(resultOf(await (calls[1] as Promise<Delivery>))).toBe('b');
    await turn();
    expect(started).toEqual([0, 1, 2]);
    gates[0]?.open('a');
    gates[2]?.open('c');
    expect((await Promise.all(calls)).map(resultOf)).toEqual(['a', 'b', 'c']);
  });

  test('exclusive calls never overlap, keep their order, and do not hold up others', async () => {
    let inside = 0;
    const order: unknown[] = [];
    const write = async (input: unknown): Promise<void> => {
      expect(++inside).toBe(1);
      order.push(input);
      await turn();
      inside -= 1;
    };
    const hold = gate();
    const { call } = setup([
      toolOf('write', { exclusive: true, execute: write }),
      toolOf('other', { exclusive: true, execute: write }),
      toolOf('block', { exclusive: true, execute: () => hold.promise }),
      toolOf('read'),
    ]);
    const writes = [call('block'), call('write', 1), call('other', 2), call('write', 3)];
    expect((await call('read')).ok).toBe(true);
    expect(order).toEqual([]);
    hold.open('');
    await Promise.all(writes);
    expect(order).toEqual([1, 2, 3]);
  });

  test('an exclusive call that waits for the lock holds no slot', async () => {
    const hold = gate();
    const tools = [toolOf('write', { exclusive: true, execute: () => hold.promise }), toolOf('read')];
    const { call } = setup(tools, { limits: { concurrentCalls: 2 } });
    const writes = [call('write'), call('write'), call('write')];
    await turn();
    expect((await call('read')).ok).toBe(true);
    hold.open('');
    await Promise.all(writes);
  });

  test('the lock is shared by the executions of a run, and only by them', async () => {
    const run = createRun();
    const hold = gate();
    const write = toolOf('write', { exclusive: true, execute: () => hold.promise });
    const started: string[] = [];
    const observer = {
      on: (event: CodeModeEvent) => event.type === 'call-start' && started.push(event.executionId),
    };
    const first = setup([write], { run, executionId: 'first', observer });
    const second = setup([write], { run, executionId: 'second', observer });
    const other = setup([write], { executionId: 'other', observer });
    const calls = [first.call('write'), second.call('write'), other.call('write')];
    await turn();
    expect(started).toEqual(['first', 'other']);
    hold.open('');
    await Promise.all(calls);
    expect(started).toEqual(['first', 'other', 'second']);
  });
});

describe('a tool that would wait for itself', () => {
  /** `outer` opens an execution of the same run and calls `inner` there, from a context that is not its own. */
  function nested(outer: Partial<Tool>, inner: Partial<Tool>, limits = {}): ReturnType<typeof setup> {
    const run = createRun();
    const innerTool = toolOf('inner', inner);
    const outerTool = toolOf('outer', {
      execute: async () => {
        const execution = setup([innerTool], { run, executionId: 'inner' });
        return gateless.run(() => execution.call('inner'));
      },
      ...outer,
    });
    return setup([outerTool, innerTool], { run, limits });
  }
  // A worker's messages arrive in a context of their own, not in that of the tool that started the worker.
  const gateless = { run: AsyncLocalStorage.snapshot() as <T>(work: () => T) => T };

  test('is told so at once', async () => {
    const { call } = nested({ exclusive: true }, { exclusive: true });
    const delivery = resultOf(await call('outer')) as Delivery;
    expect(failureOf(delivery)).toMatchObject({ code: 'call_deadlock', message: expect.stringContaining('`inner` is exclusive') });
    expect((await call('outer')).ok).toBe(true);
  });

  test('is told so through a tool in between', async () => {
    const run = createRun();
    const write = toolOf('write', { exclusive: true });
    const between = toolOf('between', { execute: () => setup([write], { run }).call('write') });
    const { call } = setup([toolOf('outer', { exclusive: true, execute: () => setup([between], { run }).call('between') })], { run });
    const delivery = resultOf(await call('outer')) as Delivery;
    expect(failureOf(resultOf(delivery) as Delivery).code).toBe('call_deadlock');
  });

  test('is one that holds the lock: plain tools may call exclusive ones and the other way round', async () => {
    for (const [outer, inner] of [
      [true, false],
      [false, true],
    ] as const) {
      const { call } = nested({ exclusive: outer }, { exclusive: inner });
      expect(resultOf(await call('outer'))).toMatchObject({ ok: true });
    }
  });

  test('an exclusive tool may call into another run', async () => {
    const inner = toolOf('inner', { exclusive: true });
    const { call } = setup([toolOf('outer', { exclusive: true, execute: () => setup([inner]).call('inner') })]);
    expect(resultOf(await call('outer'))).toMatchObject({ ok: true });
  });

  test('an exclusive call that was started and not awaited is no deadlock once its caller has ended', async () => {
    const run = createRun();
    const later = gate<Delivery>();
    const inner = toolOf('inner', { exclusive: true });
    const execute = (): void => {
      const execution = setup([inner], { run });
      setTimeout(() => later.open(execution.call('inner') as never), 5);
    };
    const { call } = setup([toolOf('outer', { exclusive: true, execute })], { run });
    await call('outer');
    expect((await later.promise).ok).toBe(true);
  });

  test('a caller does not keep the slot that the holder of the lock waits for', async () => {
    const started = gate();
    const { call } = nested({}, { exclusive: true, execute: () => started.promise }, { concurrentCalls: 1 });
    // The outer call takes the only slot; the exclusive one takes the lock and waits for that slot; the nested one wants the lock.
    const outer = call('outer');
    const exclusive = call('inner');
    started.open('done');
    expect((await Promise.all([outer, exclusive])).map(({ ok }) => ok)).toEqual([true, true]);
  });
});

describe('time', () => {
  test('a tool that ignores its signal is answered for when its time is up, and its late reply is ignored', async () => {
    const hold = gate();
    let signal: AbortSignal | undefined;
    const { call, events, broker } = setup([
      toolOf('slow', {
        timeoutMs: 5,
        execute: (_, context) => {
          signal = context.signal;
          return hold.promise;
        },
      }),
    ]);
    expect(failureOf(await call('slow'))).toEqual({
      name: 'ToolError',
      code: 'tool_timeout',
      message: 'Tool `slow` did not answer within its 5 ms.',
    });
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: 'tool_timeout' });
    hold.fail(new Error('too late, and nobody hears it'));
    await turn();
    expect(events.map(({ type }) => type)).toEqual(['call-start', 'call-end']);
    expect(broker.records()).toMatchObject([{ status: 'error' }]);
  });

  test('a tool that rejects because of its signal is still a timeout', async () => {
    const execute = (_: unknown, { signal }: ToolContext) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const { call } = setup([toolOf('slow', { timeoutMs: 5, execute })]);
    expect(failureOf(await call('slow')).code).toBe('tool_timeout');
  });

  test('a tool that answers in time leaves no timer', async () => {
    let signal: AbortSignal | undefined;
    const { call } = setup([
      toolOf('quick', {
        timeoutMs: 20,
        execute: async (_, context) => {
          signal = context.signal;
          return 1;
        },
      }),
    ]);
    expect(resultOf(await call('quick'))).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(signal?.aborted).toBe(false);
  });

  test('after a timeout the slot is free, and the lock only when the work has really ended', async () => {
    const hold = gate();
    let writing = false;
    const { call } = setup(
      [
        toolOf('stuck', { exclusive: true, timeoutMs: 5, execute: () => hold.promise }),
        toolOf('write', { exclusive: true, execute: () => (writing = true) }),
        toolOf('read'),
      ],
      { limits: { concurrentCalls: 1 } },
    );
    expect(failureOf(await call('stuck')).code).toBe('tool_timeout');
    const write = call('write');
    expect((await call('read')).ok).toBe(true);
    expect(writing).toBe(false);
    hold.open('');
    expect((await write).ok).toBe(true);
  });

  test('a time longer than timers can be does not end at once', async () => {
    const { call } = setup([
      toolOf('patient', { timeoutMs: 2 ** 40, execute: () => new Promise((resolve) => setTimeout(resolve, 5, 'done')) }),
    ]);
    expect(resultOf(await call('patient'))).toBe('done');
  });
});

describe('the end of the execution', () => {
  test('ends running and waiting calls at once as aborted, and tells the tools', async () => {
    const hold = gate();
    const signals: AbortSignal[] = [];
    const execute = (_: unknown, { signal }: ToolContext): Promise<unknown> => {
      signals.push(signal);
      return hold.promise;
    };
    const never = schemaOf(() => hold.promise as never);
    const { broker, events, call, end } = setup(
      [
        toolOf('run', { execute }),
        toolOf('timed', { timeoutMs: 10_000, execute }),
        toolOf('lock', { exclusive: true, execute }),
        toolOf('parse', { input: never }),
        toolOf('output', { output: never }),
        toolOf('asked'),
      ],
      { limits: { concurrentCalls: 4 }, policy: ({ tool }) => (tool.name === 'asked' ? (hold.promise as Promise<true>) : true) },
    );
    const calls = ['run', 'timed', 'lock', 'lock', 'parse', 'output', 'asked', 'run'].map((name) => call(name));
    await turn();
    expect(signals).toHaveLength(3);
    const reason = new Error('enough');
    end(reason);
    expect(signals.every(({ aborted, reason: why }) => aborted && why === reason)).toBe(true);
    const codes = (await Promise.all(calls)).map((delivery) => failureOf(delivery).code);
    expect(new Set(codes)).toEqual(new Set(['aborted']));
    const ends = events.filter(({ type }) => type === 'call-end');
    expect(ends).toHaveLength(8);
    expect(ends.every((event) => event.type === 'call-end' && event.status === 'aborted' && event.error === reason)).toBe(true);
    expect(broker.records().every(({ status }) => status === 'aborted')).toBe(true);
    expect(events.some(({ type }) => type === 'call-refused')).toBe(false);
    hold.open(true);
  });

  test('after it nothing is dispatched, counted or told', async () => {
    const { broker, events, call, end } = setup([toolOf('echo', { execute: () => expect.fail('was dispatched') })]);
    end();
    expect(failureOf(await call('echo')).code).toBe('aborted');
    expect(broker.records()).toEqual([]);
    expect(events).toEqual([]);
  });

  test.each([
    ['a value', 'too late'],
    ['a promise', Promise.resolve('too late')],
    ['a promise that never settles', new Promise(() => {})],
  ])('a tool that ends its own execution and returns %s is aborted', async (_, result) => {
    const execute = (): unknown => {
      end();
      return result;
    };
    const { call, end, broker } = setup([toolOf('end', { execute })]);
    expect(failureOf(await call('end')).code).toBe('aborted');
    expect(broker.records()).toMatchObject([{ status: 'aborted' }]);
  });

  test('a waiting exclusive call of an ended execution does not block the next of the run', async () => {
    const run = createRun();
    const hold = gate();
    const write = toolOf('write', { exclusive: true, execute: () => hold.promise });
    const first = setup([write], { run });
    const second = setup([write], { run });
    const calls = [first.call('write'), second.call('write'), first.call('write')];
    await turn();
    second.end();
    expect(failureOf(await (calls[1] as Promise<Delivery>)).code).toBe('aborted');
    hold.open('');
    expect((await Promise.all([calls[0], calls[2]])).map((delivery) => delivery?.ok)).toEqual([true, true]);
  });

  test('settled resolves when every tool has really ended, and names those that have not', async () => {
    const [slow, stuck] = [gate(), gate()];
    const { broker, call, end } = setup([
      toolOf('slow', { execute: () => slow.promise }),
      toolOf('stuck', { execute: () => stuck.promise }),
    ]);
    expect(await broker.settled(1000)).toEqual([]);
    const calls = [call('slow'), call('stuck')];
    await turn();
    end();
    await Promise.all(calls);
    const settled = broker.settled(10_000);
    slow.open('');
    expect(await broker.settled(5)).toEqual(['stuck']);
    stuck.fail(new Error('late'));
    expect(await settled).toEqual([]);
  });
});

describe('what a tool is given', () => {
  async function contextOf(overrides: Parameters<typeof setup>[1] = {}): Promise<ToolContext> {
    const contexts: ToolContext[] = [];
    const { call } = setup([toolOf('look', { execute: (_, context) => contexts.push(context) })], overrides);
    await call('look');
    const [given] = contexts;
    if (given === undefined) throw new Error('The tool did not run.');
    return given;
  }

  test('its run, state and call', async () => {
    const run = createRun({ id: 'r', invocation: { actorId: 'user-1' } });
    run.state['step'] = 1;
    const context = await contextOf({ run });
    expect(context.run).toBe(run.run);
    expect(context.state).toBe(run.state);
    expect(context.call).toMatchObject({ id: 'execution-1:1', path: 'look' });
    expect(context.signal.aborted).toBe(false);
  });

  test('the idempotency key is the same for the same call of the same program, and for no other', async () => {
    const key = async (overrides = {}): Promise<string> => (await contextOf(overrides)).call.idempotencyKey;
    expect(await key()).toMatch(/^[0-9a-f]{32}$/);
    expect(await key({ executionId: 'again' })).toBe(await key());
    expect(await key({ programKey: 'program-2' })).not.toBe(await key());
    const keys = new Set<string>();
    const execute = (_: unknown, { call }: ToolContext): void => void keys.add(call.idempotencyKey);
    const { broker } = setup([toolOf('a', { execute }), toolOf('b', { execute })]);
    for (const [id, index] of [
      [1, 0],
      [2, 0],
      [1, 1],
    ] as const)
      await broker.call({ id, index, input: {} });
    expect(keys.size).toBe(3);
  });

  test('a signal on which many calls may listen without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const execute = (_: unknown, { signal }: ToolContext): void => signal.addEventListener('abort', () => {});
    const { call } = setup([toolOf('listen', { execute })]);
    await Promise.all(Array.from({ length: 32 }, () => call('listen')));
    await turn();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('its lines go to the observer', async () => {
    const { call, events } = setup([toolOf('talk', { execute: (_, { log }) => log('half way', { rows: 3 }) })]);
    await call('talk');
    expect(events[1]).toMatchObject({ type: 'log', tool: 'talk', callId: 'execution-1:1', message: 'half way', fields: { rows: 3 } });
  });

  test('the async context in which the broker was opened', async () => {
    const storage = new AsyncLocalStorage<string>();
    const { call } = storage.run('request 7', () => setup([toolOf('look', { execute: async () => storage.getStore() })]));
    expect(resultOf(await storage.run('another', () => call('look')))).toBe('request 7');
  });
});

describe('observers', () => {
  const around = (spy: (span: unknown) => void) => ({
    around: <T>(span: unknown, run: () => Promise<T>): Promise<T> => {
      spy(span);
      return run();
    },
  });

  test('around wraps every call, refused ones too', async () => {
    const spans: unknown[] = [];
    const { call } = setup([pickyTool()], { observer: around((span) => spans.push(span)) });
    await call('picky', 1);
    await call('picky', 'refused');
    await call('unknown');
    const span = { name: 'call', runId: 'run-1', executionId: 'execution-1' };
    expect(spans).toEqual([
      { ...span, callId: 'execution-1:1', tool: 'picky' },
      { ...span, callId: 'execution-1:2', tool: 'picky' },
      { ...span, callId: 'execution-1:3', tool: 'unknown_tool' },
    ]);
  });

  test('what around opens is open in the tool', async () => {
    const span = new AsyncLocalStorage<string>();
    const { call } = setup([toolOf('look', { execute: async () => span.getStore() })], {
      observer: { around: (_, run) => span.run('span', run) },
    });
    expect(resultOf(await call('look'))).toBe('span');
  });

  const broken: [string, NonNullable<Parameters<typeof setup>[1]>['observer']][] = [
    [
      'throws before',
      {
        around: () => {
          throw new Error('broken');
        },
      },
    ],
    ['rejects before', { around: async () => Promise.reject(new Error('broken')) }],
    ['never runs it', { around: async () => undefined as never }],
    ['runs it twice', { around: async (_, run) => run().then(run) }],
    [
      'throws after',
      {
        around: async (_, run) => {
          await run();
          throw new Error('broken');
        },
      },
    ],
    [
      'throws after starting',
      {
        around: (_, run) => {
          void run();
          throw new Error('broken');
        },
      },
    ],
    [
      'gives something else',
      {
        around: async (_, run) => {
          await run();
          return { ok: false } as never;
        },
      },
    ],
    [
      'never comes back',
      {
        around: (_, run) => {
          void run();
          return new Promise(() => {});
        },
      },
    ],
    [
      'on throws',
      {
        on: () => {
          throw new Error('broken');
        },
      },
    ],
  ];
  test.each(broken)('an observer that %s breaks nothing: the tool runs once', async (_, observer) => {
    let ran = 0;
    const { call } = setup([toolOf('work', { execute: () => ++ran })], { observer });
    expect(resultOf(await call('work'))).toBe(1);
    await turn();
    expect(ran).toBe(1);
  });
});

test('a call never rejects, even when the broker itself meets the impossible', async () => {
  const tool = toolOf('odd');
  Object.defineProperty(tool, 'timeoutMs', {
    get: () => {
      throw new Error('impossible');
    },
  });
  const ending = new AbortController();
  const events: unknown[] = [];
  const broker = createBroker({
    catalog: createCatalog([{ namespace: [], tool }]),
    run: createRun(),
    limits: { ...resolveLimits(), calls: 2, concurrentCalls: 1, resultBytes: 10 },
    shelf: shelfOf(),
    executionId: 'e',
    programKey: 'p',
    signal: ending.signal,
    reporter: new Reporter({ observers: [{ on: (event) => events.push(event) }] }),
  });
  for (const id of [1, 2]) {
    const failure = failureOf(await broker.call({ id, index: 0, input: {} }));
    expect(failure).toMatchObject({ code: 'fault' });
    expect(failure.message).not.toContain('impossible');
  }
  expect(events.at(-1)).toMatchObject({ type: 'call-end', status: 'error', error: { message: 'impossible' } });
});
