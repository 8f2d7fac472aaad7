// What the page makes of events: the same from a live code mode as from a trace, also in the middle, and from events that are none.
import { expect, test } from 'vitest';
import { writtenEvent } from '../../src/adapters/trace.ts';
import { createCodeMode, defineTool } from '../../src/index.ts';
import { bytes, csvRows, milliseconds, pretty, visible } from '../../watch-page/format.ts';
import { apply, emptyModel, type Model, type PageEvent } from '../../watch-page/model.ts';

const echo = defineTool({ name: 'echo', description: 'Gives it back.', inputSchema: {}, execute: (input) => input });
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  inputSchema: {},
  execute: () => {
    throw new Error('hidden');
  },
});

async function watched(...programs: string[]): Promise<{ model: Model; events: PageEvent[] }> {
  const events: PageEvent[] = [];
  await using codeMode = createCodeMode({
    tools: [echo, fail],
    isolation: 'inline',
    capture: true,
    observer: { on: (event) => events.push(JSON.parse(JSON.stringify(writtenEvent(event)))) },
  });
  for (const program of programs) await codeMode.run(program, { invocation: { actorId: 'somebody' } });
  const model = emptyModel();
  for (const event of events) apply(model, event);
  return { model, events };
}

test('programs, their calls with lines and payloads, output and ends', async () => {
  const { model } = await watched("await tools.echo({ a: 1 });\nconsole.log('said');\nreturn 7", 'await tools.fail()');
  const [first, second] = model.ordered;
  expect(first).toMatchObject({
    number: 1,
    status: 'completed',
    source: { text: expect.stringContaining('tools.echo') },
    calls: [{ number: 1, tool: 'echo', status: 'ok', line: 1, input: { text: '{"a":1}' }, output: { text: '{"a":1}' }, caller: 'program' }],
    output: [{ level: 'log', text: 'said' }],
    value: { text: '7', cut: false },
  });
  expect(second).toMatchObject({ number: 2, status: 'error', kind: 'program', errorLine: 1, calls: [{ status: 'error' }] });
  expect(model.runs.get(first?.runId ?? '')).toMatchObject({ actor: 'somebody', ended: true, programs: [{ number: 1 }] });
});

test('calls of the conversation are shown beside the programs', async () => {
  const events: PageEvent[] = [];
  await using codeMode = createCodeMode({
    tools: echo,
    isolation: 'inline',
    observer: { on: (event) => events.push(JSON.parse(JSON.stringify(event))) },
  });
  await using session = await codeMode.openSession();
  await session.callTool('echo', { a: 1 });
  const model = emptyModel();
  for (const event of events) apply(model, event);
  expect(model.ordered).toMatchObject([{ status: 'conversation', calls: [{ tool: 'echo', caller: 'conversation', status: 'ok' }] }]);
});

test('a page that is opened in the middle leaves out what it knows nothing of', async () => {
  const { events } = await watched('await tools.echo()', 'return 1');
  for (let from = 0; from < events.length; from++) {
    const model = emptyModel();
    for (const event of events.slice(from)) apply(model, event);
    expect(model.ordered.length).toBeLessThanOrEqual(2);
  }
});

test('events of other shapes do no harm', () => {
  const model = emptyModel();
  const odd: unknown[] = [null, 7, [], {}, 'x', { text: 7 }, { line: 'x' }, '__proto__'];
  for (const type of [
    'run-start',
    'run-end',
    'execution-start',
    'execution-end',
    'call-queued',
    'call-start',
    'call-end',
    'output',
    'artifact',
    'warning',
    'limit',
    'dropped',
    'other',
    '__proto__',
  ])
    for (const value of odd)
      apply(model, {
        type,
        runId: value,
        executionId: '__proto__',
        callId: value,
        tool: value,
        place: value,
        text: value,
        source: value,
        at: value,
        status: value,
        count: value,
      });
  expect(model.ordered.every(({ calls }) => calls.every(({ tool }) => typeof tool === 'string'))).toBe(true);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test('ten thousand calls are taken in at once', () => {
  const model = emptyModel();
  apply(model, { type: 'execution-start', runId: 'r', executionId: 'e', at: 0 });
  for (let n = 0; n < 10_000; n++) {
    const call = { runId: 'r', executionId: 'e', callId: `e:${n}`, tool: 'echo' };
    apply(model, { ...call, type: 'call-queued', at: n });
    apply(model, { ...call, type: 'call-start', at: n });
    apply(model, { ...call, type: 'call-end', at: n + 1, status: 'ok' });
  }
  expect(model.ordered[0]?.calls).toHaveLength(10_000);
  expect(model.now).toBe(10_000);
});

test('texts are made visible, numbers short', () => {
  expect(visible('a\u202eb\u0007\u200b\n\t')).toBe('a\\u202eb\\u0007\\u200b\n\t');
  expect([0.123, 12.34, 1234, 65_000].map(milliseconds)).toEqual(['0.12 ms', '12.3 ms', '1234 ms', '65.0 s']);
  expect([10, 2048, 3 * 1024 ** 2].map(bytes)).toEqual(['10 B', '2.0 KB', '3.0 MB']);
  expect(pretty('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(pretty('{"a":')).toBe('{"a":');
});

test('tables are read with quotes, and no further than they are shown', () => {
  expect(csvRows('a,b\r\n"x, ""y""",2\n\n3', 10)).toEqual([['a', 'b'], ['x, "y"', '2'], [''], ['3']]);
  expect(csvRows('1\n2\n3\n', 2)).toEqual([['1'], ['2']]);
  expect(csvRows('"open', 2)).toEqual([['open']]);
});
