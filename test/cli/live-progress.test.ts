// What somebody sees on a terminal while a program runs, on a screen that obeys what is written.
import pc from 'picocolors';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LiveProgress } from '../../src/cli/live-progress.ts';
import type { Output } from '../../src/cli/terminal.ts';
import type { RunResult } from '../../src/index.ts';
import type { CallStatus, CodeModeEvent } from '../../src/observe.ts';
import { Screen } from '../helpers/screen.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

type Fact = CodeModeEvent extends infer Event
  ? Event extends CodeModeEvent
    ? Omit<Event, 'runId' | 'seq' | 'at' | 'time'>
    : never
  : never;

function watch({ screen = new Screen(), beside = [], colors = false }: { screen?: Screen; beside?: Output[]; colors?: boolean } = {}) {
  screen.onWrite = () => {
    expect(screen.isCursorShown, 'the cursor is back after every write').toBe(true);
    expect(screen.wraps, 'lines wrap again after every write').toBe(true);
  };
  const progress = new LiveProgress(screen, pc.createColors(colors), beside);
  const tell = (fact: Fact): void => progress.on({ runId: 'run', seq: 1, at: performance.now(), time: 0, ...fact } as CodeModeEvent);
  const call = (callId: string, tool: string) => {
    const base = { executionId: 'execution', callId, tool } as const;
    return {
      queued: () => tell({ ...base, type: 'call-queued', caller: 'program' }),
      waits: (reason: 'slot' | 'lock') => tell({ ...base, type: 'call-waiting', for: reason }),
      starts: () => tell({ ...base, type: 'call-start' }),
      logs: (message: string) => tell({ ...base, type: 'log', message }),
      refused: (error: unknown) => tell({ ...base, type: 'call-refused', error }),
      ends: (status: CallStatus, durationMs = 12.34, error?: unknown) => tell({ ...base, type: 'call-end', status, durationMs, error }),
    };
  };
  const begins = (): void => tell({ executionId: 'execution', type: 'execution-start', sourceBytes: 1 });
  const ends = (): void =>
    tell({
      executionId: 'execution',
      type: 'execution-end',
      status: 'completed',
      durationMs: 1234,
      cpuMs: 45.6,
      peakMemoryBytes: 2.5 * 1024 * 1024,
      calls: 1,
    });
  const started = (tool: string, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const one = call(`${tool}:${index}`, tool);
      one.queued();
      one.starts();
      return one;
    });
  return { progress, screen, tell, call, started, begins, ends, pass: (ms: number) => void vi.advanceTimersByTime(ms) };
}

test('many calls of one tool are one line, with how long the oldest that runs has been at it', () => {
  const { screen, begins, started, pass } = watch();
  begins();
  const calls = started('list_orders', 20);
  pass(1_000);
  for (const each of calls.slice(0, 14)) each.ends('ok');
  pass(300);
  expect(screen.lines).toEqual(['program 1.3 s · 20 calls: 14 done, 6 running', '└ list_orders ×20  14 done, 6 running · 1.3 s']);
  expect(screen.cursor).toEqual({ row: 2, column: 0 });
});

test('a call that waits says for what, one that is checked is queued', () => {
  const { screen, begins, started, call, pass } = watch();
  begins();
  started('write', 1);
  const second = call('2', 'write');
  second.queued();
  second.waits('lock');
  const third = call('3', 'find');
  third.queued();
  third.waits('slot');
  call('4', 'approve').queued();
  pass(100);
  expect(screen.lines).toEqual(
    [
      'program 0.1 s · 4 calls: 1 running, 1 waiting for a slot, 1 waiting for the lock, 1 queued',
      '├ write ×2  1 running, 1 waiting for the lock · 0.1 s',
      '├ find      waiting for a slot 0.1 s',
      '└ approve   queued 0.1 s',
    ].map((line) => (line.length < 80 ? line : `${line.slice(0, 78)}…`)),
  );
});

test('what failed or was refused stands above the tree with its reason; the same again is counted', () => {
  const { progress, screen, begins, started, call, pass, ends } = watch();
  begins();
  const calls = started('pay', 10);
  for (const each of calls) each.ends('error', 12.34, new Error('No money.'));
  const refused = call('r', 'remove');
  refused.queued();
  refused.refused(new Error('Not allowed.'));
  refused.ends('refused');
  call('over', 'pay').refused(new Error('Too many.'));
  pass(100);
  const standing = [
    'error     12.3 ms pay: No money.',
    'error     12.3 ms pay: No money.',
    'error     12.3 ms pay: No money.',
    'refused           remove: Not allowed.',
    'refused           pay: Too many.',
  ];
  const tree = ['├ pay ×11  10 failed, 1 refused · 12.3 ms', '└ remove   refused'];
  expect(screen.lines).toEqual([...standing, 'program 0.1 s · 12 calls: 10 failed, 2 refused', ...tree]);
  ends();
  progress.close();
  expect(screen.lines).toEqual(
    [
      ...standing,
      'error     ×7 more pay: No money.',
      'program completed in 1.23 s · CPU 45.6 ms · 12 calls: 10 failed, 2 refused · peak memory 2.5 MiB',
      ...tree,
    ].flatMap((line) => (line.length <= 80 ? [line] : [line.slice(0, 80), line.slice(80)])),
  );
});

test('logs stand too, and a log that is repeated is counted', () => {
  const { progress, screen, begins, started, pass } = watch();
  begins();
  const [one] = started('sync', 1);
  for (let i = 0; i < 5; i++) one?.logs('again');
  pass(100);
  progress.close();
  expect(screen.lines.filter((line) => line.startsWith('log'))).toEqual([
    'log               sync: again',
    'log               sync: again',
    'log               sync: again',
    'log       ×2 more sync: again',
  ]);
});

test('the tree fits the terminal: what does something is shown, the rest is summed', () => {
  const screen = new Screen({ columns: 30, rows: 7 });
  const { begins, started, pass, progress } = watch({ screen });
  begins();
  const busy = started('first_tool_with_quite_a_long_name', 1);
  for (let tool = 0; tool < 12; tool++) for (const each of started(`tool_${tool}`, 3)) each.ends('ok');
  started('last', 1);
  pass(200);
  expect(screen.lines).toEqual(
    [
      'program 0.2 s · 38 calls: 36…',
      '├ first_tool_…  running 0.2 s',
      '├ tool_11 ×3    3 done · 12.3…',
      '├ last          running 0.2 s',
      '└ 11 more tools: 33 done',
    ].map((line) => (line.length < 30 ? line : `${line.slice(0, 28)}…`)),
  );
  busy[0]?.ends('ok');
  progress.close();
});

test.each([1, 2, 3])('a terminal of %i rows is enough', (rows) => {
  const screen = new Screen({ columns: 8, rows });
  const { begins, started, pass, progress } = watch({ screen });
  begins();
  for (let tool = 0; tool < 5; tool++) started(`tool_${tool}`, 1);
  for (let i = 0; i < 20; i++) pass(100);
  expect(screen.lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
  progress.close();
});

test('there are ten redraws a second at most, each in one write, and none when nothing changes', () => {
  const { screen, begins, call, pass, ends } = watch();
  begins();
  for (let i = 0; i < 1_000; i++) {
    const one = call(String(i), `tool_${i % 7}`);
    one.queued();
    one.starts();
    one.ends(i % 10 === 0 ? 'error' : 'ok', 1, new Error(`Reason ${i}.`));
    pass(1);
  }
  expect(screen.written.length).toBeGreaterThan(5);
  expect(screen.written.length).toBeLessThanOrEqual(10);
  expect(screen.lines.filter((line) => line.startsWith('error'))).toHaveLength(100);
  ends();
  pass(200);
  const before = screen.written.length;
  pass(2_000);
  expect(screen.written).toHaveLength(before);
});

test('what others write to the terminal meanwhile is not overwritten', () => {
  const screen = new Screen();
  const stdout: Output = { isTTY: true, write: (text) => screen.write(text) };
  const { write } = stdout;
  const { progress, begins, started, pass } = watch({ screen, beside: [stdout] });
  begins();
  started('find', 1);
  pass(100);
  stdout.write('a tool says this\n');
  screen.write('half');
  stdout.write(' a line');
  expect(screen.lines).toEqual(['a tool says this', 'half a line']);
  pass(100);
  expect(screen.lines).toEqual(['a tool says this', 'half a line', 'program 0.2 s · 1 call: 1 running', '└ find  running 0.2 s']);
  progress.close();
  expect(stdout.write).toBe(write);
  expect(Object.hasOwn(screen, 'write')).toBe(false);
});

test('a warning of Node, which goes past every stream, is left where it is', () => {
  const { screen, begins, started, pass } = watch();
  begins();
  started('find', 1);
  pass(100);
  // As its lines are already there when the event comes.
  Screen.prototype.write.call(screen, '(node:1) Warning: mind\n');
  process.listeners('warning').at(-1)?.(new Error('mind'));
  pass(100);
  expect(screen.lines).toEqual([
    'program 0.1 s · 1 call: 1 running',
    '└ find  running 0.1 s',
    '(node:1) Warning: mind',
    'program 0.2 s · 1 call: 1 running',
    '└ find  running 0.2 s',
  ]);
});

test('a terminal that becomes narrower keeps one tree', () => {
  const { screen, begins, started, pass } = watch();
  begins();
  started('a_tool_with_a_name_of_some_length', 3);
  started('find', 1);
  pass(100);
  screen.narrow(25);
  pass(100);
  expect(screen.lines).toHaveLength(3);
  expect(screen.lines[0]).toMatch(/^program 0\.2 s/);
});

test('names and reasons move no cursor and break out of no line', () => {
  const { progress, screen, begins, started, pass } = watch({ screen: new Screen({ columns: 200 }) });
  begins();
  const [one] = started('a\u001b[2J\u009b1A\r\n\u202eb', 1);
  one?.logs('\u001b]0;title\u0007\nok fake');
  one?.ends('error', 1, new Error('x\u001b[1A\nerror fake'));
  started('\u001b[?1049h', 1);
  pass(100);
  progress.close();
  expect(screen.lines).toEqual([
    'log               a\\x1b[2J\\x9b1A\\r\\n\\u202eb: \\x1b]0;title\\x07\\nok fake',
    'error      1.0 ms a\\x1b[2J\\x9b1A\\r\\n\\u202eb: x\\x1b[1A\\nerror fake',
    'program 0.1 s · 2 calls: 1 failed, 1 running',
    '├ a\\x1b[2J\\x9b1A\\r\\n\\u202eb  failed 1.0 ms',
    '└ \\x1b[?1049h                running 0.1 s',
  ]);
});

test('at the end the sum says how the program ended, also where no event has told of it', () => {
  const { progress, screen, begins, pass } = watch({ screen: new Screen({ columns: 120 }) });
  begins();
  pass(50);
  const usage = { wallMs: 61_000, cpuMs: 5, calls: 0, peakMemoryBytes: 300 * 1024, outputBytes: 0 };
  progress.close({ status: 'error', error: { kind: 'limit', name: 'Error', message: 'Too long.' }, usage } as unknown as RunResult);
  progress.close();
  pass(1_000);
  expect(screen.lines).toEqual(['program error (limit) in 1 min 1 s · CPU 5.0 ms · no calls · peak memory 300 KiB']);
});

test('a program that waits without a worker is parked', () => {
  const { screen, begins, tell, pass } = watch();
  begins();
  tell({ executionId: 'execution', type: 'execution-parked', imageBytes: 1 });
  pass(100);
  expect(screen.lines).toEqual(['program 0.1 s · parked']);
  tell({ executionId: 'execution', type: 'execution-resumed' });
  pass(100);
  expect(screen.lines).toEqual(['program 0.2 s']);
});

test('without a program nothing is written but notes, at once', () => {
  const { progress, screen, pass } = watch();
  progress.note('a server is missing');
  expect(screen.lines).toEqual(['note              a server is missing']);
  pass(1_000);
  progress.close();
  progress.note('too late');
  expect(screen.written).toHaveLength(1);
});

test.each([true, false])('colours: %s', (colors) => {
  const { progress, screen, begins, started, pass } = watch({ colors });
  begins();
  started('find', 2)[0]?.ends('error', 1, new Error('No.'));
  pass(100);
  progress.close();
  expect(screen.written.join('').includes('\x1b[3')).toBe(colors);
  expect(screen.lines.slice(-1)).toEqual(['└ find ×2  1 failed, 1 running · 0.1 s']);
});
