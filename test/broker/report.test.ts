// Observers never hold up or break the work they watch, and payloads pass one place where they are redacted and bounded.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Reporter } from '../../src/broker/report.ts';
import type { CodeModeEvent, Observer } from '../../src/observe.ts';
import { gate, turn } from '../helpers/broker.ts';

afterEach(() => void vi.restoreAllMocks());

const warn = (n: number) => ({ type: 'warning', runId: 'r', executionId: 'e', message: String(n) }) as const;
const numbers = (events: readonly CodeModeEvent[]) =>
  events.map((event) => (event.type === 'warning' ? Number(event.message) : event.type));

describe('telling', () => {
  test('a quick observer hears at once, in order, with both clocks and a count', () => {
    const events: CodeModeEvent[] = [];
    const reporter = new Reporter({ observers: [{ on: (event) => events.push(event) }] });
    reporter.tell(warn(1));
    reporter.tell(warn(2));
    expect(events).toMatchObject([
      { type: 'warning', seq: 1, runId: 'r', executionId: 'e', at: expect.any(Number), time: expect.any(Number) },
      { seq: 2 },
    ]);
    expect(Math.abs(Date.now() - (events[0]?.time ?? 0))).toBeLessThan(60_000);
  });

  test('every observer hears everything, also when one of them throws, which is said once', async () => {
    const said = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const events: CodeModeEvent[] = [];
    const broken: Observer = {
      on: () => {
        throw new TypeError('broken');
      },
    };
    const rejecting: Observer = { on: async () => Promise.reject(new Error('rejected')) };
    const reporter = new Reporter({ observers: [broken, rejecting, { on: (event) => events.push(event) }] });
    for (let n = 0; n < 5; n++) reporter.tell(warn(n));
    await reporter.settle(1000);
    expect(numbers(events)).toEqual([0, 1, 2, 3, 4]);
    expect(said.mock.calls.map(([text]) => String(text))).toEqual([
      expect.stringContaining('TypeError: broken'),
      expect.stringContaining('Error: rejected'),
    ]);
  });

  test('a slow observer does not hold up who tells: it hears the rest later, in order', async () => {
    const heard: CodeModeEvent[] = [];
    const slow: Observer = {
      on: (event) => {
        heard.push(event);
        const until = performance.now() + 2;
        while (performance.now() < until);
      },
    };
    const reporter = new Reporter({ observers: [slow] });
    for (let n = 0; n < 50; n++) reporter.tell(warn(n));
    expect(heard.length).toBeLessThan(10);
    await reporter.settle(10_000);
    expect(numbers(heard)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });

  test('an observer whose promise is pending hears nothing before it settles', async () => {
    const heard: CodeModeEvent[] = [];
    const hold = gate<void>();
    const reporter = new Reporter({ observers: [{ on: (event) => (heard.push(event) === 1 ? hold.promise : undefined) }] });
    for (let n = 0; n < 3; n++) reporter.tell(warn(n));
    await turn();
    expect(numbers(heard)).toEqual([0]);
    hold.open();
    await reporter.settle(1000);
    expect(numbers(heard)).toEqual([0, 1, 2]);
  });

  test('what waits is bounded, and what was dropped is counted', async () => {
    const heard: CodeModeEvent[] = [];
    const hold = gate<void>();
    const reporter = new Reporter({ observers: [{ on: (event) => (heard.push(event) === 1 ? hold.promise : undefined) }] });
    for (let n = 0; n < 15_001; n++) reporter.tell(warn(n));
    hold.open();
    await reporter.settle(10_000);
    const dropped = heard.filter((event) => event.type === 'dropped');
    expect(dropped).toMatchObject([{ count: 5_000 }]);
    expect(heard).toHaveLength(1 + 10_000 + 1);
  });

  test('with nobody listening nothing is made', () => {
    const reporter = new Reporter({ observers: [{}], capture: true });
    expect(reporter.listens).toBe(false);
    expect(reporter.capture('input', { toJSON: () => expect.unreachable() })).toBeUndefined();
  });
});

describe('capturing', () => {
  const listening = [{ on: () => undefined }];

  test('nothing is captured unless it was asked for', () => {
    expect(new Reporter({ observers: listening }).capture('input', 1)).toBeUndefined();
    expect(new Reporter({ observers: listening, capture: { output: true } }).capture('input', 1)).toBeUndefined();
    expect(new Reporter({ observers: listening, capture: true }).capture('input', { a: 1 })).toEqual({ text: '{"a":1}', bytes: 7 });
    expect(new Reporter({ observers: listening, capture: true }).capture('source', 'return 1')).toEqual({ text: 'return 1', bytes: 8 });
  });

  test('it is cut at the bound, never inside a character, and says how long it was', () => {
    const reporter = new Reporter({ observers: listening, capture: true, captureBytes: 6 });
    expect(reporter.capture('text', 'aä€aä€')).toEqual({ text: 'aä€', bytes: 12, cut: true });
    expect(reporter.capture('text', 'aaaaa€')).toEqual({ text: 'aaaaa', bytes: 8, cut: true });
  });

  test('redaction sees the value first, and what it throws or leaves out is not kept', () => {
    const redact = (kind: string, value: unknown): unknown => {
      if (kind === 'error') throw new Error('no');
      return kind === 'input' ? { ...(value as object), key: '***' } : undefined;
    };
    const reporter = new Reporter({ observers: listening, capture: true, redact });
    expect(reporter.capture('input', { key: 'secret', a: 1 })?.text).toBe('{"key":"***","a":1}');
    expect(reporter.capture('output', 'secret')).toBeUndefined();
    expect(reporter.capture('error', 'secret')).toBeUndefined();
  });
});

describe('around', () => {
  const span = { name: 'call', runId: 'r', executionId: 'e' } as const;

  test('several observers wrap the work in their order, and it is done once', async () => {
    const steps: string[] = [];
    const wrap = (name: string): Observer => ({
      around: async (_, run) => {
        steps.push(`${name} in`);
        try {
          return await run();
        } finally {
          steps.push(`${name} out`);
        }
      },
    });
    const reporter = new Reporter({ observers: [wrap('a'), wrap('b')] });
    const work = vi.fn(async () => steps.push('work'));
    await reporter.around(span, work);
    await turn();
    expect(steps).toEqual(['a in', 'b in', 'work', 'b out', 'a out']);
    expect(work).toHaveBeenCalledTimes(1);
  });

  test('an outer observer that calls twice or never changes nothing', async () => {
    const twice: Observer = { around: async (_, run) => run().then(run) };
    const never: Observer = { around: async () => undefined as never };
    const work = vi.fn(async () => 7);
    await expect(new Reporter({ observers: [twice, never, twice] }).around(span, work)).resolves.toBe(7);
    expect(work).toHaveBeenCalledTimes(1);
    await expect(new Reporter({ observers: [never] }).around(span, () => Promise.reject(new Error('its own')))).rejects.toThrow('its own');
  });
});
