// Servers over streamable HTTP: the official server's transport, and one written by hand that misbehaves.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { type McpEvent, type McpProviderOptions, mcpProvider } from '../../../src/adapters/mcp/mcp.ts';
import { open } from './servers.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>;

async function listen(handler: Handler): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    await handler(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** A server of the official SDK with sessions; what it saw is in `seen`. */
async function official() {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const seen = { tokens: new Set<unknown>(), sessions: 0, ended: 0, cancelled: 0 };
  const url = await listen(async (request, response, body) => {
    seen.tokens.add(request.headers.authorization);
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return known.handleRequest(request, response, body === '' ? undefined : JSON.parse(body));
    if (request.headers['mcp-session-id'] !== undefined) return void response.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        seen.sessions++;
        sessions.set(id, transport);
      },
      onsessionclosed: () => void seen.ended++,
    });
    const server = new Server({ name: 'official', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: ['echo', 'wait'].map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification, _meta }) => {
      if (params.name === 'wait') {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        seen.cancelled++;
      }
      await sendNotification({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken ?? 0, progress: 1 } });
      return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }] };
    });
    // The SDK's own types do not agree under exactOptionalPropertyTypes.
    await server.connect(transport as unknown as Parameters<Server['connect']>[0]);
    return transport.handleRequest(request, response, JSON.parse(body));
  });
  return { url, seen, forget: () => sessions.clear() };
}

function provider(options: Omit<McpProviderOptions, 'name'>) {
  const events: McpEvent[] = [];
  const made = mcpProvider({ name: 'web', onEvent: (event) => events.push(event), ...options });
  onTestFinished(() => made.disconnect());
  return Object.assign(made, { events });
}

test('tools of an HTTP server are called with the headers of the caller, one session for each run', async () => {
  const { url, seen } = await official();
  const web = provider({ url, headers: ({ run }) => ({ Authorization: `Bearer ${run.invocation.actorId}` }) });
  const codeMode = open({ tools: [web] });
  for (const actorId of ['ada', 'bob']) {
    const { value } = await codeMode.run('return await tools.web.echo({ a: 1 })', { invocation: { actorId } });
    expect(value).toEqual({ a: 1 });
  }
  expect(seen).toEqual({ tokens: new Set(['Bearer ada', 'Bearer bob']), sessions: 2, ended: 2, cancelled: 0 });
});

test('calls of many programs share one session, and a call that is given up is cancelled', async () => {
  const { url, seen } = await official();
  const codeMode = open({ tools: [provider({ url })] });
  const many = 'return (await Promise.all([1, 2, 3].map((n) => tools.web.echo({ n })))).map(({ n }) => n)';
  expect((await Promise.all([codeMode.run(many), codeMode.run(many)])).map(({ value }) => value)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  await codeMode.run('await tools.web.wait({})', { signal: AbortSignal.timeout(300) });
  await expect.poll(() => seen.cancelled).toBe(1);
  expect(seen.sessions).toBe(1);
});

test('a server that has forgotten the session fails the call, and the next program has a new session', async () => {
  const { url, forget } = await official();
  const web = provider({ url });
  const codeMode = open({ tools: [web] });
  await codeMode.run('return await tools.web.echo({})');
  forget();
  expect((await codeMode.run('return await tools.web.echo({})')).error).toMatchObject({
    code: 'mcp_ended',
    message: 'The MCP server `web` has forgotten this session (HTTP 404), so `echo` has no answer.',
  });
  expect((await codeMode.run('return await tools.web.echo({ again: true })')).value).toEqual({ again: true });
});

/** A hand-written server: `act` answers calls. */
function rude(act: (response: ServerResponse, id: number) => void): Promise<string> {
  return listen((request, response, body) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    const json = (result: object) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize')
      return json({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'rude', version: '1' } });
    if (method === 'tools/list') return json({ tools: [{ name: 'act', description: 'Acts.', inputSchema: { type: 'object' } }] });
    if (method === 'tools/call') return act(response, id);
    response.writeHead(202).end();
  });
}

const events = { 'content-type': 'text/event-stream' };
const big = 'x'.repeat(300_000);

test.each([
  [
    'a JSON body that is too big',
    (response: ServerResponse) => void response.writeHead(200, { 'content-type': 'application/json' }).end(`"${big}"`),
    'mcp_oversized',
  ],
  ['an event that is too big', (response: ServerResponse) => void response.writeHead(200, events).end(`data: ${big}\n\n`), 'mcp_oversized'],
  [
    'an event of many lines that is too big',
    (response: ServerResponse) => void response.writeHead(200, events).end('data: 0123456789\r\n'.repeat(30_000)),
    'mcp_oversized',
  ],
  [
    'a stream that ends without an answer',
    (response: ServerResponse) => void response.writeHead(200, events).end(': nothing\n\n'),
    'mcp_ended',
  ],
  [
    'a connection that breaks',
    (response: ServerResponse) => void response.writeHead(200, events).write(': wait\n\n', () => response.destroy()),
    'mcp_ended',
  ],
  ['an HTTP error', (response: ServerResponse) => void response.writeHead(500).end('out of order'), 'mcp_refused'],
  ['HTML', (response: ServerResponse) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), 'mcp_ended'],
  [
    'a redirect to elsewhere',
    (response: ServerResponse) => void response.writeHead(307, { location: 'http://elsewhere.invalid/' }).end(),
    'mcp_refused',
  ],
])('%s fails its call in time, and the next run goes on', async (_, act, code) => {
  let isRude = true;
  const url = await rude((response, id) => {
    if (isRude) return act(response);
    response.writeHead(200, events).end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`);
  });
  const codeMode = open({ tools: [provider({ url, limits: { messageBytes: 100_000, callMs: 20_000 } })] });
  expect((await codeMode.run('return await tools.web.act({})')).error?.code).toBe(code);
  isRude = false;
  expect((await codeMode.run('return await tools.web.act({})')).status).toBe('completed');
});

test('an optional server that nobody is behind is left out', async () => {
  const web = provider({ url: 'http://127.0.0.1:9/', optional: true });
  expect((await open({ tools: [web] }).run('return ALL_TOOLS.length')).value).toBe(0);
  expect(web.events).toContainEqual(expect.objectContaining({ type: 'server-left-out', reason: 'cannot be reached' }));
});
