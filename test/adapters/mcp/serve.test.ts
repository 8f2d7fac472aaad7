// Code mode as an MCP server, driven by the official client over both transports. Not here: the command around it (test/cli/serve.test.ts).
import { request as httpRequest } from 'node:http';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { expect, onTestFinished, test } from 'vitest';
import {
  ProgressFeed,
  type ServeHttpOptions,
  type ServeOptions,
  serveMcp,
  serveMcpHttp,
  serveMcpStdio,
} from '../../../src/adapters/mcp/mcp.ts';
import { artifact, type CodeModeOptions, defineTool, withArtifacts } from '../../../src/index.ts';
import { open } from './servers.ts';

let ended: string[] = [];
let started = 0;
const empty = { type: 'object', properties: {} } as const;
const tools = [
  defineTool({ name: 'who', description: 'Who asks.', execute: (_, { run }) => run.invocation.actorId ?? 'nobody' }),
  defineTool({
    name: 'slow',
    description: 'Waits for two seconds.',
    inputSchema: empty,
    execute: (_, { signal, log }) =>
      new Promise((resolve) => {
        log('getting on');
        started += 1;
        const timer = setTimeout(resolve, 2_000, 'late');
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          ended.push('aborted');
          resolve('never');
        });
      }),
  }),
  defineTool({
    name: 'media',
    description: 'A picture, a text, a big file and a link.',
    inputSchema: empty,
    execute: () =>
      withArtifacts('four', [
        artifact({ data: Uint8Array.of(1, 2, 3), mediaType: 'image/png', name: 'dot.png' }),
        artifact({ data: 'hello', mediaType: 'text/plain', name: 'hello.txt' }),
        artifact({ data: new Uint8Array(2 * 1024 * 1024), mediaType: 'application/pdf', name: 'big.pdf' }),
        artifact({ reference: { uri: 'https://example.org/a' }, mediaType: 'text/html', name: 'a' }),
      ]),
  }),
];

async function connect(options: ServeOptions = {}, more: Partial<CodeModeOptions> = {}) {
  ended = [];
  started = 0;
  const [near, far] = InMemoryTransport.createLinkedPair();
  const codeMode = open({ tools, ...more });
  const serving = await serveMcp(codeMode, far, options);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(near);
  onTestFinished(() => client.close());
  return { client, serving, codeMode };
}

const exec = (source: string, more: object = {}) => ({ name: 'exec', arguments: { source, ...more } });
type Content = { type: string; text?: string }[];
const textOf = (result: object) => (result as { content: Content }).content.map(({ text = '' }) => text).join('\n');

test('a client finds the controls as tools, and what is behind them in the instructions', async () => {
  const { client } = await connect();
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['exec', 'wait', 'stop']));
  expect(client.getInstructions()).toContain('who');
  expect(client.getServerVersion()).toMatchObject({ name: 'callgate' });
});

test('programs of one connection share a session, and identity comes from the application', async () => {
  const { client } = await connect({ session: { invocation: { actorId: 'ada' } } });
  expect(textOf(await client.callTool(exec("store('me', await tools.who()); return 'stored'")))).toBe('stored');
  expect(textOf(await client.callTool(exec("return load('me')")))).toBe('ada');
});

test('a program that fails is an error with its place, and the connection goes on', async () => {
  const { client } = await connect();
  const failed = await client.callTool(exec('\nnull.x'));
  expect(failed.isError).toBe(true);
  expect(textOf(failed)).toContain('(line 2');
  expect(textOf(await client.callTool({ name: 'exec', arguments: {} }))).toBe(
    'exec takes the text of the program as `source`, a string, but there is none.',
  );
  expect(textOf(await client.callTool(exec('return 1')))).toBe('1');
});

test('a tool that is not there is refused, and the model told where the others are', async () => {
  const { client } = await connect();
  await expect(client.callTool({ name: 'who', arguments: {} })).rejects.toThrow('Programs call the tools behind this server: use exec.');
});

test('a program that works longer than it is watched goes on, and wait tells the rest', async () => {
  const { client } = await connect({ observeMs: 100 });
  expect(textOf(await client.callTool(exec('return await tools.slow()')))).toContain('still_working');
  expect(textOf(await client.callTool({ name: 'wait', arguments: { observe_ms: 10_000 } }))).toBe('late');
});

test('the client hears of progress while a program works, with what the tools say', async () => {
  const progress = new ProgressFeed();
  const { client } = await connect({ progress }, { observer: progress });
  const heard: { progress: number; message?: string | undefined }[] = [];
  await client.callTool(exec('return await tools.slow()'), undefined, { onprogress: (step) => heard.push(step) });
  expect(heard.map((step) => step.progress)).toEqual(heard.map((_, index) => index + 1));
  expect(heard[0]?.message).toBe('slow: getting on (1 call made, 1 running)');
});

test('a client that cancels ends the program, and its tools are aborted', async () => {
  const { client } = await connect();
  const cancel = new AbortController();
  const calling = client.callTool(exec('return await tools.slow()'), undefined, { signal: cancel.signal });
  await expect.poll(() => started).toBe(1);
  cancel.abort('enough');
  await expect(calling).rejects.toThrow('enough');
  await expect.poll(() => ended).toEqual(['aborted']);
  expect(textOf(await client.callTool(exec('return "next"')))).toBe('next');
});

test('stop ends a program that another request is watching', async () => {
  const { client } = await connect();
  const [watched, stopped] = await Promise.all([
    client.callTool(exec('return await tools.slow()')),
    expect
      .poll(() => started)
      .toBe(1)
      .then(() => client.callTool({ name: 'stop', arguments: {} })),
  ]);
  expect(textOf(watched)).toContain('Status: terminated');
  expect(textOf(stopped)).toContain('terminated');
});

test('artifacts come as content, and what is big as a link that can be read', async () => {
  const { client } = await connect();
  const { content } = await client.callTool(exec('return await tools.media()'));
  const blocks = (content as { type: string; uri?: string }[]).filter(({ type }) => type !== 'text');
  expect(blocks.map(({ type }) => type).sort()).toEqual(['image', 'resource', 'resource_link', 'resource_link']);
  expect(blocks).toContainEqual({ type: 'image', data: 'AQID', mimeType: 'image/png' });
  expect(blocks).toContainEqual(expect.objectContaining({ type: 'resource_link', uri: 'https://example.org/a' }));
  const link = blocks.find(({ uri }) => uri?.includes('big.pdf'));
  const { contents } = await client.readResource({ uri: link?.uri ?? '' });
  expect(Buffer.from((contents[0] as { blob: string }).blob, 'base64')).toHaveLength(2 * 1024 * 1024);
  expect((await client.listResources()).resources.map(({ name }) => name)).toContain('big.pdf');
  await expect(client.readResource({ uri: 'callgate://artifacts/99' })).rejects.toThrow('There is no resource');
});

test('the end of the connection ends the program and the session', async () => {
  const { client, serving } = await connect();
  void client.callTool(exec('return await tools.slow()')).catch(() => undefined);
  await expect.poll(() => started).toBe(1);
  await client.close();
  await serving.closed;
  expect(ended).toEqual(['aborted']);
  await expect(serving.session.exec('return 1')).rejects.toThrow('closed');
});

test('on standard streams the end of the input is the end of the connection', async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const serving = await serveMcpStdio(open({ tools }), { input, output });
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize })}\n`);
  const [answer] = (await output.iterator().next()).value.toString().split('\n');
  expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { serverInfo: { name: 'callgate' } } });
  input.end();
  await serving.closed;
});

async function listen(options: ServeHttpOptions = {}) {
  const serving = await serveMcpHttp(open({ tools }), { token: 'a-token-for-the-test', ...options });
  onTestFinished(() => serving.close());
  return serving;
}

async function connectHttp({ url, token }: { url: string; token: string }) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  // The SDK's own types do not agree under exactOptionalPropertyTypes.
  await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
  onTestFinished(() => client.close());
  return { client, transport };
}

test('over HTTP each client has a session of its own, which ends when the client says so', async () => {
  const serving = await listen();
  const [ada, bob] = await Promise.all([connectHttp(serving), connectHttp(serving)]);
  await ada.client.callTool(exec("store('x', 1)"));
  expect(textOf(await bob.client.callTool(exec("return typeof load('x')")))).toBe('undefined');
  expect(serving.sessions).toBe(2);
  await ada.transport.terminateSession();
  await expect.poll(() => serving.sessions).toBe(1);
});

test('over HTTP progress arrives and cancelling ends the program', async () => {
  ended = [];
  started = 0;
  const { client } = await connectHttp(await listen());
  const cancel = new AbortController();
  let steps = 0;
  const calling = client.callTool(exec('return await tools.slow()'), undefined, {
    signal: cancel.signal,
    onprogress: () => {
      steps += 1;
      cancel.abort('enough');
    },
  });
  await expect(calling).rejects.toThrow('enough');
  await expect.poll(() => ended).toEqual(['aborted']);
  expect(steps).toBe(1);
});

/** One request with the headers as they are, `Host` too. */
function send(
  url: string,
  { method = 'POST', headers = {}, body = '' }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  return new Promise<{ status: number | undefined; text: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const request = httpRequest(
      url,
      { method, headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode, text, headers: response.headers }));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});
const authorization = 'Bearer a-token-for-the-test';

test.each([
  ['no token', {}, {}, 401],
  ['a wrong token', { authorization: 'Bearer a-token-for-the-tesT' }, {}, 401],
  ['a token in another scheme', { authorization: `Basic ${btoa('a-token-for-the-test')}` }, {}, 401],
  ['a foreign host name', { authorization, host: 'evil.example' }, {}, 403],
  ['our address with a foreign port', { authorization, host: '127.0.0.1:1' }, {}, 403],
  ['a page of a browser', { authorization, origin: 'https://evil.example' }, {}, 403],
  ['a page of no origin', { authorization, origin: 'null' }, {}, 403],
  ['another path', { authorization }, { path: '/' }, 404],
  ['another method', { authorization }, { method: 'PUT' }, 405],
  ['a body that is no JSON', { authorization }, { body: '{' }, 400],
  ['a request without a session', { authorization }, { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }, 400],
  ['a session that is not there', { authorization, 'mcp-session-id': 'x' }, { body: initialize }, 404],
  ['a body that is too long', { authorization }, { body: ' '.repeat(2_000) }, 413],
  ['a body that is too long and does not say so', { authorization, 'transfer-encoding': 'chunked' }, { body: ' '.repeat(2_000) }, 413],
  ['what is right', { authorization }, { body: initialize }, 200],
  ['what is right, by the name localhost', { authorization, host: 'localhost' }, { body: initialize }, 200],
])(
  'over HTTP %s is answered as it should be',
  async (_, headers, { path = '/mcp', ...request }: { path?: string; method?: string; body?: string }, status) => {
    const { url } = await listen({ bodyBytes: 1_000 });
    const { port } = new URL(url);
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === 'localhost' ? `localhost:${port}` : value]),
    );
    const answer = await send(new URL(path, url).href, { body: initialize, ...request, headers: named });
    expect(answer.status).toBe(status);
  },
);

test('over HTTP an origin that is allowed gets in, and the number of sessions is bounded', async () => {
  const { url } = await listen({ origins: ['https://mine.example'], maxSessions: 1 });
  const headers = { authorization, origin: 'https://mine.example' };
  expect((await send(url, { headers, body: initialize })).status).toBe(200);
  const second = await send(url, { headers, body: initialize });
  expect(second.status).toBe(503);
  expect(second.text).toContain('There are 1 clients already');
});

test('over HTTP a session that nobody uses is closed', async () => {
  const serving = await listen({ idleMs: 200 });
  await send(serving.url, { headers: { authorization }, body: initialize });
  expect(serving.sessions).toBe(1);
  await expect.poll(() => serving.sessions).toBe(0);
});

test('closing the HTTP server ends running programs and then the connections', async () => {
  ended = [];
  started = 0;
  const serving = await listen();
  const { client } = await connectHttp(serving);
  const calling = client.callTool(exec('return await tools.slow()')).then(textOf, (error: Error) => error.message);
  await expect.poll(() => started).toBe(1);
  await serving.close();
  expect(ended).toEqual(['aborted']);
  expect(await calling).toContain('terminated');
  await expect(fetch(serving.url)).rejects.toThrow();
});

test.each([
  [{ token: 'short' }, 'The `token` should be a text of at least 16 characters that nobody can guess.'],
  [{ host: '203.0.113.1' }, 'Port 0 of 203.0.113.1 cannot be listened on (EADDRNOTAVAIL).'],
])('wrong options of the HTTP server are refused: %j', async (options, message) => {
  await expect(serveMcpHttp(open({ tools }), options)).rejects.toThrow(message);
});
