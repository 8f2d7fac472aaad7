// What somebody sees of calls while a program runs.
import pc from 'picocolors';
import { afterEach, expect, test, vi } from 'vitest';
import { Progress } from '../../src/cli/progress.ts';
import type { CallStatus, CodeModeEvent } from '../../src/observe.ts';

afterEach(() => {
  vi.useRealTimers();
});

const common = { runId: 'run', executionId: 'execution', seq: 1, at: 0, time: 0 };
const start = (callId: string, tool: string): CodeModeEvent => ({ ...common, type: 'call-start', callId, tool });
const end = (callId: string, tool: string, status: CallStatus, error?: unknown): CodeModeEvent => ({
  ...common,
  type: 'call-end',
  callId,
  tool,
  status,
  durationMs: 12.34,
  ...(error === undefined ? {} : { error }),
});

function watch(terminal: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  const output = { ...terminal, write: (text: string) => written.push(text) };
  return { progress: new Progress(output, pc.createColors(false)), written, text: () => written.join('') };
}

test('away from a terminal every call is one plain line with name, time and outcome', () => {
  const { progress, written } = watch();
  progress.on(start('1', 'find'));
  progress.on(end('1', 'find', 'ok'));
  progress.on(start('2', 'pay'));
  progress.on(end('2', 'pay', 'error', new Error('No money.')));
  expect(written).toEqual(['ok        12.3 ms find\n', 'error     12.3 ms pay: No money.\n']);
});

test('a refused call is one line with its reason, also when its end is told as well', () => {
  const { progress, written } = watch();
  progress.on({ ...common, type: 'call-refused', callId: '1', tool: 'remove', error: new Error('Not allowed.') });
  progress.on(end('1', 'remove', 'refused', new Error('Not allowed.')));
  expect(written).toEqual(['refused           remove: Not allowed.\n']);
});

test('closing writes one sum, and nothing comes after it', () => {
  const { progress, written } = watch();
  progress.on(end('1', 'find', 'ok'));
  progress.on(end('2', 'pay', 'error', new Error('No.')));
  progress.close();
  progress.close();
  progress.on(end('3', 'find', 'ok'));
  expect(written).toHaveLength(3);
  expect(written[2]).toMatch(/^2 calls \(1 ok, 1 error\) in [\d.]+ ms\n$/);
});

test('a program without calls leaves standard error empty', () => {
  const { progress, written } = watch();
  progress.close();
  expect(written).toEqual([]);
});

test('what tools say cannot break out of its line', () => {
  const { progress, text } = watch();
  progress.on(end('1', 'a\u001b[2J', 'error', new Error('b\nerror fake\r\u009b')));
  progress.on({ ...common, type: 'log', callId: '1', tool: 'a', message: 'c\nok fake' });
  expect(text()).toBe('error     12.3 ms a\\x1b[2J: b\\nerror fake\\r\\x9b\nlog               a: c\\nok fake\n');
});

test('on a terminal one line is rewritten in place within the width, failures stand, and closing clears it', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { progress, written } = watch({ isTTY: true, columns: 30 });
  progress.on(start('1', 'a_tool_with_quite_a_long_name'));
  progress.on(start('2', 'find'));
  vi.advanceTimersByTime(160);
  expect(written[0]).toMatch(/^0 done, 2 running \(a_tool_wi/);
  expect(written[0]).toHaveLength(29);
  expect(written.slice(1).filter((text) => text === '\r\x1b[K')).toHaveLength(1);

  written.length = 0;
  progress.on(end('1', 'a_tool_with_quite_a_long_name', 'ok'));
  progress.on(end('2', 'find', 'error', new Error('Gone.')));
  expect(written).toEqual(['\r\x1b[K', 'error     12.3 ms find: Gone.\n']);
  vi.advanceTimersByTime(80);
  written.length = 0;
  progress.close();
  expect(written[0]).toBe('\r\x1b[K');
  vi.advanceTimersByTime(1000);
  expect(written).toHaveLength(2);
});
