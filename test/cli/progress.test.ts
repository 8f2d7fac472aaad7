// What somebody sees of calls while a program runs.
import { Readable } from 'node:stream';
import pc from 'picocolors';
import { expect, test } from 'vitest';
import { LiveProgress } from '../../src/cli/live-progress.ts';
import { openProgress, PlainProgress } from '../../src/cli/progress.ts';
import type { CallStatus, CodeModeEvent } from '../../src/observe.ts';

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

function watch() {
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text) };
  return { progress: new PlainProgress(output, pc.createColors(false)), written, text: () => written.join('') };
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

test.each([
  ['a terminal', { isTTY: true }, {}, LiveProgress],
  ['a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, PlainProgress],
  ['no terminal', {}, {}, PlainProgress],
])('%s gets what it can show', (_name, stream, env, kind) => {
  const output = { ...stream, write: () => undefined };
  const terminal = { stdin: Readable.from([]), stdout: output, stderr: output, cwd: '.', env };
  expect(openProgress(terminal)).toBeInstanceOf(kind);
});
