// What a server's tools are in a program, with a scripted server. Not here: bad servers (contained.test.ts), real ones (real.test.ts).
import { createHash } from 'node:crypto';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { mcpProvider } from '../../../src/adapters/mcp/mcp.ts';
import type { CodeModeEvent } from '../../../src/index.ts';
import { open, scripted } from './servers.ts';

/** What one call of a tool that answers `result` gives a program. */
async function answer(result: object, options: Parameters<typeof scripted>[1] = {}) {
  const codeMode = open({ tools: [scripted('answer', { argument: JSON.stringify(result), ...options })] });
  return codeMode.run('return await tools.bad.act({})');
}

const texts = (...all: string[]) => ({ content: all.map((text) => ({ type: 'text', text })) });
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test.each([
  ['one text', texts('plain words'), 'plain words'],
  ['several texts, joined by line breaks', texts('one', 'two'), 'one\ntwo'],
  ['a text that is a JSON object', texts(' {"a": [1]} '), { a: [1] }],
  ['a text that is a JSON array', texts('[1, 2]'), [1, 2]],
  ['a text that only begins like JSON', texts('[note] no JSON'), '[note] no JSON'],
  ['a text that is a JSON number stays one', texts('42'), '42'],
  ['a text that is a JSON literal stays one', texts('null'), 'null'],
  ['structured content, whatever the texts say', { ...texts('{"b":2}'), structuredContent: { a: 1 } }, { a: 1 }],
  ['nothing', { content: [] }, null],
  ['no content at all', {}, null],
])('the value of %s', async (_, result, value) => {
  expect(await answer(result)).toMatchObject({ status: 'completed', value, artifacts: [] });
});

test('media become artifacts beside the text, with their bytes, and links become references', async () => {
  const { value, artifacts } = await answer({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///notes/today.md?x=1', mimeType: 'text/markdown', text: '# Today' } },
      { type: 'resource', resource: { uri: 'file:///a/data.bin', blob: 'AQID' } },
      {
        type: 'resource_link',
        uri: 'https://example.org/report.pdf',
        name: 'report',
        mimeType: 'application/pdf',
        size: 12,
        description: 'Long.',
      },
    ],
  });
  expect(value).toBe('see');
  expect(artifacts.map(({ kind, mediaType, name, size }) => [kind, mediaType, name, size])).toEqual([
    ['inline', 'image/png', undefined, 70],
    ['inline', 'audio/wav', undefined, 3],
    ['inline', 'text/markdown', 'today.md', 7],
    ['inline', 'application/octet-stream', 'data.bin', 3],
    ['deferred', 'application/pdf', 'report', 12],
  ]);
  expect(artifacts[2]?.kind === 'inline' && (await artifacts[2].data.text())).toBe('# Today');
  expect(artifacts[4]).toMatchObject({
    reference: { server: 'bad', uri: 'https://example.org/report.pdf' },
    metadata: { server: 'bad', tool: 'act', uri: 'https://example.org/report.pdf', description: 'Long.' },
  });
});

test('media without a text are described in the value, without their bytes but with their text', async () => {
  const { value } = await answer({
    content: [
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'hello' } },
    ],
  });
  expect(value).toEqual([
    { type: 'image', mimeType: 'image/png', bytes: 70 },
    { type: 'resource', resource: { uri: 'file:///a.txt', text: 'hello' }, bytes: 5 },
  ]);
});

test('media that are not base64 fail the call', async () => {
  const { error } = await answer({ content: [{ type: 'image', data: '<svg>', mimeType: 'image/png' }] });
  expect(error).toMatchObject({ code: 'mcp_protocol', message: 'The MCP server `bad` answered `act` with media whose data is no base64.' });
});

test('with `raw` the value is the envelope, without the bytes of media, for all tools or for those that `map` says', async () => {
  const result = { ...texts('42'), structuredContent: { a: 1 }, _meta: { cost: 3 } };
  expect((await answer(result, { raw: true })).value).toEqual(result);
  const image = { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] };
  expect((await answer(image, { map: (tool) => ({ ...tool, raw: true }) })).value).toEqual({
    content: [{ type: 'image', mimeType: 'image/png', bytes: 70 }],
  });
});

test('an error of a tool is told as the words of its server, with what it says in detail', async () => {
  const { value } = await open({
    tools: [
      scripted('answer', {
        argument: JSON.stringify({ ...texts('No such file.', 'Try another.'), isError: true, structuredContent: { path: '/x' } }),
      }),
    ],
  }).run('try { await tools.bad.act({}) } catch ({ name, code, message, details }) { return { name, code, message, details } }');
  expect(value).toEqual({
    name: 'ToolError',
    code: 'mcp_tool_error',
    message: 'The MCP server `bad` says that `act` failed: No such file.\nTry another.',
    details: { path: '/x' },
  });
});

test('a refusal by protocol is told with its code and data', async () => {
  const { value } = await open({ tools: [scripted('refuse')] }).run(
    'try { await tools.bad.act({ n: 3 }) } catch ({ code, message, details }) { return { code, message, details } }',
  );
  expect(value).toEqual({
    code: 'mcp_refused',
    message: 'The MCP server `bad` refused `act` and says: n is odd',
    details: { code: -32602, data: { n: 3 } },
  });
});

test('input is checked before the server is asked, and results against the output schema after', async () => {
  const tool = {
    name: 'typed',
    description: 'Typed.',
    inputSchema: { type: 'object', required: ['a'] },
    outputSchema: { type: 'object', required: ['b'] },
  };
  const { value } = await open({ tools: [scripted('odd-tools', { argument: JSON.stringify([tool]) })] }).run(
    'return [await tools.bad.typed({}).catch((error) => error.code), await tools.bad.typed({ a: 1 }).catch((error) => error.code)]',
  );
  expect(value).toEqual(['input_invalid', 'output_invalid']);
});

test('annotations reach the policy, which can refuse what destroys', async () => {
  const codeMode = open({
    tools: [scripted('good')],
    policy: ({ tool }) => (tool.annotations?.destructiveHint === true ? { deny: 'Nothing is destroyed here.' } : 'allow'),
  });
  const { value } = await codeMode.run(
    'return [await tools.bad.double({ n: 1 }), await tools.bad.act({}).catch((error) => error.message)]',
  );
  expect(value).toEqual(['2', 'Tool `bad.act` was refused: Nothing is destroyed here.']);
});

test('names that are too long are cut with a digest, strange ones cleaned, and those that look alike told apart', async () => {
  const long = `a_name_of_${'many_'.repeat(20)}words`;
  const named = (name: string) => ({ name, description: `It is ${name}.`, inputSchema: { type: 'object' } });
  const bad = scripted('odd-tools', { argument: JSON.stringify([long, 'weather.get', 'weather-get', 'add item!', 'then'].map(named)) });
  const { value } = await open({ tools: [bad] }).run('return ALL_TOOLS.map(({ name }) => name.slice(4))');
  const digest = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 12);
  expect(value).toEqual([
    'double',
    'act',
    `${long.slice(0, 51)}_${digest(long)}`,
    `weather.get_${digest('weather.get')}`,
    `weather-get_${digest('weather-get')}`,
    'add_item_',
    'then',
  ]);
  expect(long.slice(0, 51).length + 13).toBe(64);
});

test('`map` renames, changes and leaves out tools, and calls go to the name that the server knows', async () => {
  const bad = scripted('good', {
    map: (tool, { name }) => name === 'double' && { ...tool, name: 'twice', description: 'Two of it.', exclusive: true, timeoutMs: 5_000 },
  });
  const { value } = await open({ tools: [bad] }).run('return [ALL_TOOLS.map(({ name }) => name), await tools.bad.twice({ n: 4 })]');
  expect(value).toEqual([['bad.twice'], '8']);
});

test('a mistake in `map` fails the run, also for an optional server', async () => {
  const bad = scripted('good', {
    optional: true,
    map() {
      throw new Error('a typo');
    },
  });
  await expect(open({ tools: [bad] }).run('return 1')).rejects.toThrow('a typo');
});

test('progress is told to the observer as lines of the call, and keeps a slow call alive', async () => {
  const events: CodeModeEvent[] = [];
  const codeMode = open({ tools: [scripted('steady', { limits: { callMs: 500 } })], observer: { on: (event) => void events.push(event) } });
  expect((await codeMode.run('return await tools.bad.act({})')).value).toBe('done');
  expect(events.flatMap((event) => (event.type === 'log' ? [`${event.tool} ${event.message}`] : []))).toEqual(
    [1, 2, 3, 4].map((step) => `bad.act progress ${step} of 4: on it`),
  );
});

test('what the server logs is an event of the server and a line of the call that runs', async () => {
  const events: CodeModeEvent[] = [];
  const bad = scripted('log');
  await open({ tools: [bad], observer: { on: (event) => void events.push(event) } }).run('return await tools.bad.act({})');
  const logged = { level: 'warning', logger: 'scripted', data: { disk: 'nearly full' } };
  expect(bad.events).toContainEqual({ type: 'server-log', server: 'bad', ...logged });
  expect(events.find(({ type }) => type === 'log')).toMatchObject({
    tool: 'bad.act',
    message: 'warning: {"disk":"nearly full"}',
    fields: logged,
  });
});

test('a call that its program does not wait for any more is cancelled at the server', async () => {
  const bad = scripted('hang-or-count');
  const codeMode = open({ tools: [bad] });
  const { error } = await codeMode.run('await tools.bad.act({ n: 1 })', { signal: AbortSignal.timeout(300) });
  expect(error?.kind).toBe('aborted');
  expect((await codeMode.run('return await tools.bad.act({ n: 0 })')).value).toBe('1 cancelled');
});

test('a hundred calls at once share one client and no warning is printed', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  const bad = scripted('good');
  const codeMode = open({ tools: [bad], limits: { concurrentCalls: 200 } });
  const { value } = await codeMode.run(
    'return (await Promise.all(Array.from({ length: 100 }, (_, n) => tools.bad.double({ n })))).every((twice, n) => twice === String(n * 2))',
  );
  expect(value).toBe(true);
  expect(bad.events.filter(({ type }) => type === 'server-start')).toHaveLength(1);
  await new Promise(setImmediate);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('a list that changes is read again by the next run, not by the one that runs', async () => {
  const bad = scripted('change');
  const codeMode = open({ tools: [bad] });
  const { value } = await codeMode.run('await tools.bad.act({}); return ALL_TOOLS.length');
  expect(value).toBe(2);
  expect((await codeMode.run('return [ALL_TOOLS.length, await tools.bad.new_2({}).catch(() => "called")]')).value).toEqual([3, 'changed']);
  expect(bad.events).toContainEqual({ type: 'tools-changed', server: 'bad', added: ['new_2'], removed: [] });
});

test('a server process gets what it is given and what any program needs, and no secret of the host', async () => {
  process.env['CALLGATE_TEST_SECRET'] = 'hush';
  const { value } = await open({ tools: [scripted('environment', { env: { TOKEN: 'given' } })] }).run('return await tools.bad.act({})');
  delete process.env['CALLGATE_TEST_SECRET'];
  const names = Object.keys(value as object);
  expect(value).toMatchObject({ TOKEN: 'given', PATH: process.env['PATH'] });
  expect(names.filter((name) => !['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER', 'TOKEN'].includes(name))).toEqual(
    [],
  );
});

test('with credentials that depend on the run each run has a client of its own, which ends with it', async () => {
  const bad = scripted('environment', { env: ({ run }) => ({ ACTOR: run.invocation.actorId ?? 'nobody' }) });
  const codeMode = open({ tools: [bad] });
  const actors = await Promise.all(
    ['ada', 'bob'].map((actorId) => codeMode.run('return (await tools.bad.act({})).ACTOR', { invocation: { actorId } })),
  );
  expect(actors.map(({ value }) => value)).toEqual(['ada', 'bob']);
  expect(bad.events.filter(({ type }) => type === 'server-start')).toHaveLength(2);
  expect(bad.events.filter((event) => event.type === 'server-end' && event.expected)).toHaveLength(2);
});

test('a shared client serves runs until it is disconnected, and comes back after that', async () => {
  const bad = scripted('good');
  const codeMode = open({ tools: [bad] });
  for (let run = 0; run < 3; run++) await codeMode.run('return await tools.bad.double({ n: 1 })');
  await bad.disconnect();
  expect((await codeMode.run('return await tools.bad.double({ n: 1 })')).value).toBe('2');
  expect(bad.events.map(({ type }) => type)).toEqual(['server-start', 'server-end', 'server-start']);
});

test('a transport of the SDK may be given, or a function that makes one for each run', async () => {
  const make = async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const server = new Server({ name: 'linked', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'hi', description: 'Greets.', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: 'text', text: 'hello' }] }));
    await server.connect(far);
    return near;
  };
  const once = mcpProvider({ name: 'once', transport: await make() });
  const often = mcpProvider({ name: 'often', transport: make });
  const codeMode = open({ tools: [once, often] });
  for (let run = 0; run < 2; run++) {
    expect((await codeMode.run('return [await tools.once.hi({}), await tools.often.hi({})]')).value).toEqual(['hello', 'hello']);
  }
  await once.disconnect();
});

test.each([
  [{}, 'The `name` of an MCP server should be 1 to 64 letters, digits, "_" or "-", but is not there.'],
  [{ name: 'a b', command: 'x' }, 'but is "a b"'],
  [{ name: 'x' }, 'exactly one of `command`, `url` and `transport` says how to reach it, but there is none'],
  [{ name: 'x', command: 'y', url: 'http://z' }, 'but there are `command` and `url`'],
  [{ name: 'x', command: 'y', headers: {} }, '`headers` are for `url`'],
  [{ name: 'x', url: 'ftp://z' }, '`url` should be an http or https address'],
  [{ name: 'x', command: 'y', arguments: [] }, 'there is no option `arguments`'],
  [{ name: 'x', command: 'y', env: { A: 1 } }, '`env` should be an object of strings'],
  [{ name: 'x', command: 'y', env: () => ({}), shared: true }, '`shared` cannot be true'],
  [{ name: 'x', command: 'y', limits: { tool: 1 } }, 'MCP has no limit `tool`'],
])('wrong options are refused with a sentence: %j', (options, message) => {
  // @ts-expect-error: mistakes of JavaScript callers
  expect(() => mcpProvider(options)).toThrow(message);
});
