// A server that misbehaves: each way is contained, reported, and the other servers go on.
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kinds, open, scripted } from './servers.ts';

const other = () => scripted('good', { name: 'other' });
/** One call of the bad server, then one of the good one. */
const BOTH = `
  const bad = await tools.bad.act({ n: 1 }).catch((error) => ({ code: error.code, message: error.message }));
  return { bad, other: await tools.other.double({ n: 21 }) };
`;

test.each([
  ['hang-start', { startMs: 300 }, 'did not start and list its tools within 300 ms'],
  ['hang-list', { startMs: 300 }, 'did not start and list its tools within 300 ms'],
  ['dead-on-arrival', {}, 'has ended (exit code 3)'],
  ['strange-version', {}, 'speaks a protocol version that is not understood: "1999-01-01"'],
  ['error-start', {}, 'refused `initialize` and says: not today'],
  ['no-list', {}, 'answered `tools/list` with no list of tools'],
  ['loop', {}, 'lists its tools in a circle: a cursor came again'],
  ['long-list', {}, 'lists its tools on more than 200 pages; the limit `pages` of its provider can be raised'],
  ['long-list', { pages: 500 }, 'lists more than 2000 tools; the limit `tools` of its provider can be raised'],
  ['endless-list', { pages: 1_000 }, 'lists its tools on more than 1000 pages; the limit `pages` of its provider can be raised'],
  [
    'big-list',
    { listBytes: 1024 * 1024 },
    'describes its tools in more than 1048576 bytes; the limit `listBytes` of its provider can be raised',
  ],
])('an optional server that starts badly (%s) is left out and reported, with its reason', async (behaviour, limits, reason) => {
  const bad = scripted(behaviour, { optional: true, limits });
  const codeMode = open({ tools: [bad, other()] });
  const { value } = await codeMode.run('return [ALL_TOOLS.map(({ name }) => name), await tools.other.double({ n: 21 })];');
  expect(value).toEqual([['other.double', 'other.act'], '42']);
  expect(bad.events.filter(({ type }) => type === 'server-left-out')).toEqual([expect.objectContaining({ server: 'bad', reason })]);
});

test('a server that is needed and does not start fails the run, with what it said on standard error', async () => {
  const codeMode = open({ tools: [scripted('dead-on-arrival')] });
  await expect(codeMode.run('return 1')).rejects.toMatchObject({
    code: 'catalog_failed',
    message: 'The MCP server `bad` has ended (exit code 3). Its standard error ends with:\nno configuration found',
  });
});

test('a command that is not there fails the run without a trace of the host in what programs could see', async () => {
  const codeMode = open({ tools: [scripted('', { command: '/nowhere/no-such-server', args: [] })] });
  await expect(codeMode.run('return 1')).rejects.toThrow('The MCP server `bad` cannot be started (ENOENT).');
});

test('all 5 000 tools of 500 pages are there for whoever raises the limits', async () => {
  const codeMode = open({ tools: [scripted('long-list', { limits: { pages: 500, tools: 5_000 } })] });
  const { value } = await codeMode.run('return [ALL_TOOLS.length, typeof tools.bad.tool_4999];');
  expect(value).toEqual([5_000, 'function']);
});

test('a server that dies in the middle of a call fails that call, is reported, and lives again for the next run', async () => {
  const bad = scripted('die');
  const codeMode = open({ tools: [bad, other()] });
  const { value } = await codeMode.run(`
    const outcomes = await Promise.allSettled([tools.bad.act({}), tools.bad.act({}), tools.other.double({ n: 21 })]);
    const after = await tools.bad.double({ n: 1 }).catch((error) => error.message);
    return { outcomes: outcomes.map(({ value, reason }) => value ?? reason.code), after };
  `);
  expect(value).toEqual({
    outcomes: ['mcp_ended', 'mcp_ended', '42'],
    after: 'The MCP server `bad` has ended; it is started again for the next program, so `double` has no answer.',
  });
  expect(bad.events.find(({ type }) => type === 'server-end')).toEqual({
    type: 'server-end',
    server: 'bad',
    reason: 'has ended (exit code 7)',
    expected: false,
    stderr: 'out of cheese',
  });
  expect((await codeMode.run('return await tools.bad.double({ n: 4 })')).value).toBe('8');
});

test('a server that dies lives again for the next program of a session', async () => {
  const bad = scripted('die-silently');
  const session = await open({ tools: [bad] }).openSession();
  const first = await session.exec('return await tools.bad.act({})');
  expect(first.error?.message).toContain('has ended (exit code 0)');
  const second = await session.exec('return await tools.bad.double({ n: 4 })');
  expect(second).toMatchObject({ status: 'completed', value: '8' });
  await session.close();
});

test('a server that dies of every call is started once for each program, however often the program tries', async () => {
  const log = join(tmpdir(), `callgate-starts-${process.pid}`);
  await rm(log, { force: true });
  const session = await open({ tools: [scripted('die-counted', { argument: log })] }).openSession();
  for (let program = 0; program < 3; program++) {
    const { value } = await session.exec(`
      const codes = [];
      for (let attempt = 0; attempt < 5; attempt++) await tools.bad.act({}).catch(({ code }) => codes.push(code));
      return codes.length;
    `);
    expect(value).toBe(5);
  }
  expect((await readFile(log, 'utf8')).trim().split('\n')).toHaveLength(3);
  await session.close();
  await rm(log, { force: true });
});

test('a call that is never answered fails in time, the server is told, and it goes on', async () => {
  const bad = scripted('hang', { limits: { callMs: 300 } });
  const codeMode = open({ tools: [bad, other()] });
  const { value } = await codeMode.run(BOTH);
  expect(value).toEqual({
    bad: { code: 'mcp_timeout', message: 'The MCP server `bad` did not answer within 300 ms (`act`).' },
    other: '42',
  });
  expect((await codeMode.run('return await tools.bad.double({ n: 4 })')).value).toBe('8');
});

test('a flood of notifications is dropped over a bound and told once, and the answer behind it arrives', async () => {
  const bad = scripted('flood');
  const { value } = await open({ tools: [bad, other()] }).run(BOTH);
  expect(value).toEqual({ bad: 'after the flood', other: '42' });
  expect(bad.events.filter(({ type }) => type === 'server-log').length).toBeLessThan(50_000);
  expect(bad.events.filter(({ type }) => type === 'server-misbehaved')).toEqual([
    expect.objectContaining({ problem: 'sends more than 2000 messages in a second that nobody asked for; the rest is dropped' }),
  ]);
});

test('a flood without an end ends the connection', async () => {
  const bad = scripted('endless-flood');
  const { value } = await open({ tools: [bad, other()] }).run(BOTH);
  expect(value).toMatchObject({ bad: { code: 'mcp_ended' }, other: '42' });
  expect(bad.events.at(-1)).toMatchObject({ type: 'server-end', reason: 'was ended because it floods the connection', expected: false });
});

test.each([
  ['twice', 'first'],
  ['invent', 'mine'],
  ['not-json', 'well after all'],
  ['noisy-start', 'acted 1'],
  ['stderr', 'complained'],
])('what is no answer (%s) is dropped, and the answer counts', async (behaviour, answer) => {
  const bad = scripted(behaviour);
  const { value } = await open({ tools: [bad, other()] }).run(BOTH);
  expect(value).toEqual({ bad: answer, other: '42' });
});

test.each([
  ['big', { messageBytes: 4 * 1024 * 1024 }],
  ['big-id-last', { messageBytes: 1024 * 1024 }],
])('an answer that is too big (%s) is dropped before it is read, and fails its call alone', async (behaviour, limits) => {
  const bad = scripted(behaviour, { limits });
  const { value } = await open({ tools: [bad, other()] }).run(`
    const outcomes = await Promise.allSettled([tools.bad.act({}), tools.bad.double({ n: 1 }), tools.other.double({ n: 21 })]);
    return [...outcomes.map(({ value, reason }) => value ?? reason.code), await tools.bad.double({ n: 2 })];
  `);
  expect(value).toEqual(['mcp_oversized', '2', '42', '4']);
});

test('a message without an end ends the connection', async () => {
  const bad = scripted('endless-line', { limits: { messageBytes: 64 * 1024 } });
  const { value } = await open({ tools: [bad, other()] }).run(BOTH);
  expect(value).toMatchObject({
    bad: { code: 'mcp_ended', message: expect.stringContaining('sent a message without an end') },
    other: '42',
  });
});

test.each([
  ['not-a-result', '"text"', 'The MCP server `bad` gave an answer for `act` that is no result: it is no object.'],
  ['not-a-result', '{"content":{}}', 'The MCP server `bad` gave an answer for `act` that is no result: its `content` is no array.'],
  [
    'not-a-result',
    '{"content":[null]}',
    'The MCP server `bad` gave an answer for `act` that is no result: its `content` has a member without a `type`.',
  ],
  ['neither', '', 'The MCP server `bad` answered `tools/call` with neither a result nor an error (`act`).'],
])('an answer that is none (%s %s) fails the call with the reason', async (behaviour, argument, message) => {
  const { value } = await open({ tools: [scripted(behaviour, { argument }), other()] }).run(BOTH);
  expect(value).toEqual({ bad: { code: 'mcp_protocol', message }, other: '42' });
});

test('a tool with a schema that cannot be used is left out and named, and the others are there', async () => {
  const odd = [
    { name: 'broken', description: 'Broken.', inputSchema: { type: 'object', properties: { a: { type: 'strnig' } } } },
    { name: 'strange_output', description: 'Strange.', inputSchema: { type: 'object' }, outputSchema: { type: 12 } },
    { name: 'rootless', inputSchema: { properties: { a: { type: 'string' } } } },
    {
      name: 'tuple',
      description: 'A draft-07 tuple.',
      inputSchema: { type: 'object', properties: { at: { type: 'array', items: [{ type: 'number' }] } } },
    },
    { description: 'Nameless.' },
    'nothing',
    { name: 'act', description: 'Another one.', inputSchema: { type: 'object' } },
    { name: 'needs_task', description: 'A task.', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } },
  ];
  const bad = scripted('odd-tools', { argument: JSON.stringify(odd) });
  const { value } = await open({ tools: [bad] }).run('return ALL_TOOLS.map(({ name }) => name.slice(4));');
  expect(value).toEqual(['double', 'act', 'strange_output', 'rootless', 'tuple']);
  const leftOut = bad.events.flatMap((event) => (event.type === 'tool-left-out' ? [[event.tool, event.reason]] : []));
  expect(leftOut.map(([tool]) => tool).sort()).toEqual(['', '', 'act', 'broken', 'needs_task', 'strange_output (its output schema)']);
  expect(leftOut.find(([tool]) => tool === 'broken')?.[1]).toContain('is not valid JSON Schema');
});

test('a server that asks for a model, files or a person is refused politely, and is answered a ping', async () => {
  const bad = scripted('ask');
  const { value } = await open({ tools: [bad] }).run('return await tools.bad.act({});');
  expect(value).toEqual({
    answers: [
      { jsonrpc: '2.0', id: 'a', error: { code: -32601, message: 'This client does not offer sampling/createMessage; go on without it.' } },
      { jsonrpc: '2.0', id: 'b', error: { code: -32601, message: 'This client does not offer roots/list; go on without it.' } },
      { jsonrpc: '2.0', id: 'c', error: { code: -32601, message: 'This client does not offer elicitation/create; go on without it.' } },
      { jsonrpc: '2.0', id: 'd', result: {} },
    ],
  });
  expect(kinds(bad.events)).toEqual(['server-start', 'server-misbehaved']);
});

test('a process that ignores the end of its input and a polite signal is killed', async () => {
  const bad = scripted('stubborn', { limits: { closeMs: 100 } });
  await open({ tools: [bad] }).run('return 1');
  const pid = bad.events.flatMap((event) => (event.type === 'server-start' ? [event.pid] : []))[0];
  expect(pid).toBeTypeOf('number');
  await bad.disconnect();
  expect(() => process.kill(pid as number, 0)).toThrow('ESRCH');
});
