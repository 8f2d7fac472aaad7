// A Messages API on loopback that plays whole conversations in the API's own shapes, for the real SDK to talk to. It streams in odd pieces,
// keeps what it was sent, and refuses what the API refuses: calls without answers, answers without calls, empty texts, a lost container.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import Anthropic from '@anthropic-ai/sdk';

type Json = Record<string, unknown>;

export interface Block extends Json {
  readonly type: string;
}

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string | Block[];
}

export interface SentRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Json & { readonly messages: Message[]; readonly tools?: Block[]; readonly system?: string; readonly container?: string };
  /** The whole conversation, also of a request on a thread, which holds only what is new. */
  readonly conversation: readonly Message[];
  /** The bytes as they came. */
  readonly text: string;
  /** From 1, in the order in which requests came. */
  readonly number: number;
  /** Keeps the reply for requests that continue its thread. */
  remember(id: string, content: readonly Block[]): void;
  /** When it came, in `performance.now()` milliseconds. */
  readonly at: number;
}

/** Answers one request. */
export type Step = (response: ServerResponse, request: SentRequest) => void | Promise<void>;

export interface MessagesApi {
  readonly url: string;
  readonly requests: readonly SentRequest[];
  /** Connections whose answer has not ended. */
  readonly open: () => number;
  /** A client of the real SDK that talks to it. */
  client(options?: { readonly maxRetries?: number }): Anthropic;
  close(): Promise<void>;
}

/** Opens a server that answers with the steps in turn; a function decides for each request anew. */
export async function openMessagesApi(script: readonly Step[] | ((request: SentRequest, index: number) => Step)): Promise<MessagesApi> {
  const requests: SentRequest[] = [];
  const threads = new Map<string, readonly Message[]>();
  let open = 0;
  const server = createServer((incoming, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = (incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
      const body = JSON.parse(text) as SentRequest['body'];
      const before = (body['thread'] as { previous_message_id?: string } | undefined)?.previous_message_id;
      const conversation = [...(before === undefined ? [] : (threads.get(before) ?? [])), ...body.messages];
      const request: SentRequest = {
        headers: incoming.headers,
        body,
        conversation,
        text,
        at: performance.now(),
        number: requests.length + 1,
        remember: (id, content) => threads.set(id, [...conversation, { role: 'assistant', content: [...content] }]),
      };
      const index = requests.push(request) - 1;
      const problem = problemOf(request);
      const step =
        problem !== undefined
          ? fail(400, 'invalid_request_error', problem)
          : typeof script === 'function'
            ? script(request, index)
            : (script[index] ?? fail(400, 'invalid_request_error', 'The script of the test has ended.'));
      void step(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    open: () => open,
    client: ({ maxRetries = 2 } = {}) => new Anthropic({ apiKey: 'test-key', baseURL: url, maxRetries, logLevel: 'off' }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const text = (value: string): Block => ({ type: 'text', text: value });
export const use = (id: string, name: string, input: unknown, more: Json = {}): Block => ({ type: 'tool_use', id, name, input, ...more });
/** A call of `exec` with a program. */
export const exec = (id: string, source: string, more: Json = {}): Block => use(id, 'exec', { source, ...more });

export interface Reply {
  readonly content: readonly Block[];
  /** Default: `tool_use` when something is called, or else `end_turn`. */
  readonly stop?: string;
  readonly usage?: Json;
  readonly container?: Json;
  readonly details?: Json;
  /** So many characters of the last call's input arrive, and no more. */
  readonly cutInput?: number;
  /** A pause before each piece. */
  readonly delayMs?: number;
}

/** Gives a reply, streamed when that is asked for. */
export const reply =
  (...content: readonly Block[]): Step =>
  (response, request) =>
    play(response, request, { content });

/** Streams a reply with all its facts. */
export const replyWith =
  (facts: Reply): Step =>
  (response, request) =>
    play(response, request, facts);

/** Holds a step back until something is so. */
export const once =
  (condition: () => boolean, step: Step): Step =>
  async (response, request) => {
    while (!condition() && !response.destroyed) await new Promise((resolve) => setTimeout(resolve, 5));
    await step(response, request);
  };

/** Refuses a request. */
export const fail =
  (status: number, type: string, message: string, headers: Record<string, string> = {}): Step =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test', ...headers });
    response.end(JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_test' }));
  };

/** Streams the first so many events of a reply, and then the connection is gone. */
export const drop =
  (facts: Reply, events: number): Step =>
  async (response, request) => {
    await play(response, request, facts, events);
    response.destroy();
  };

/** Streams the first so many events of a reply, and then an error. */
export const breakOff =
  (facts: Reply, events: number, type: string): Step =>
  async (response, request) => {
    await play(response, request, facts, events);
    response.end(sse({ type: 'error', error: { type, message: 'Overloaded' } }));
  };

/** Streams the first so many events of a reply, and then nothing more comes. */
export const hang =
  (facts: Reply = { content: [] }, events = 1): Step =>
  (response, request) =>
    play(response, request, facts, events);

async function play(response: ServerResponse, request: SentRequest, facts: Reply, most = Number.POSITIVE_INFINITY): Promise<void> {
  const { content, usage = {}, container, details, cutInput, delayMs } = facts;
  const calls = content.some(({ type }) => type === 'tool_use');
  const stop = facts.stop ?? (calls ? 'tool_use' : 'end_turn');
  const { number } = request;
  const id = `msg_${number}`;
  request.remember(id, content);
  const piece = pieces(number);
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [] as readonly Block[],
    stop_reason: null as string | null,
    stop_sequence: null,
    stop_details: null as unknown,
    container: null as unknown,
    usage: { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...usage },
  };
  if (request.body['stream'] !== true) {
    response.writeHead(200, { 'content-type': 'application/json', 'request-id': `req_${number}` });
    response.end(JSON.stringify({ ...message, content, stop_reason: stop, stop_details: details ?? null, container: container ?? null }));
    return;
  }
  const events: Json[] = [{ type: 'message_start', message }, { type: 'ping' }];
  for (const [index, block] of content.entries()) {
    const isCut = cutInput !== undefined && index === content.length - 1;
    if (block.type === 'text') {
      events.push({ type: 'content_block_start', index, content_block: { ...block, text: '' } });
      for (const part of piece(String(block['text'])))
        events.push({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: part } });
    } else if (block.type === 'tool_use' || block.type === 'server_tool_use') {
      events.push({ type: 'content_block_start', index, content_block: { ...block, input: {} } });
      const json = JSON.stringify(block['input']);
      for (const part of ['', ...piece(isCut ? json.slice(0, cutInput) : json)])
        events.push({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: part } });
    } else events.push({ type: 'content_block_start', index, content_block: block });
    events.push({ type: 'content_block_stop', index });
  }
  events.push({
    type: 'message_delta',
    delta: { stop_reason: stop, stop_sequence: null, stop_details: details ?? null, container: container ?? null },
    usage: { output_tokens: 20, ...usage },
  });
  events.push({ type: 'message_stop' });

  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${number}` });
  const bytes = Buffer.from(events.slice(0, most).map(sse).join(''));
  // Chunks that end in the middle of lines and of characters.
  for (let at = 0, size = 1; at < bytes.length; at += size, size = ((size * 7 + number) % 1_009) + 1) {
    if (response.destroyed) return;
    if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs));
    response.write(bytes.subarray(at, at + size));
  }
  if (events.length <= most) response.end();
  // What was written before must have left when the connection is cut.
  else await new Promise((resolve) => setTimeout(resolve, 30));
}

const sse = (event: Json): string => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;

/** Cuts a text into pieces of odd lengths, never inside a character; the same for the same seed. */
function pieces(seed: number): (value: string) => string[] {
  let state = seed * 7919;
  return (value) => {
    const characters = [...value];
    const parts: string[] = [];
    while (characters.length > 0) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      parts.push(characters.splice(0, 1 + (state % 9)).join(''));
    }
    return parts;
  };
}

/** What the API would refuse in a request. */
function problemOf({ headers, body, conversation: messages }: SentRequest): string | undefined {
  if (headers.authorization !== 'Bearer test-key' && headers['x-api-key'] !== 'test-key') return 'invalid API key';
  const { tools = [] } = body;
  const names = tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  const strange = names.find((name) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name));
  if (strange !== undefined) return `tools: ${strange} is no name`;
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  for (const { name, type, input_schema: schema } of tools) {
    if (type !== undefined && type !== 'custom') continue;
    if ((schema as Json | undefined)?.['type'] !== 'object') return `tools.${String(name)}.input_schema.type: Input should be 'object'`;
    const combined = ['oneOf', 'anyOf', 'allOf'].find((keyword) => keyword in (schema as Json));
    if (combined !== undefined) return `tools.${String(name)}.input_schema: does not support ${combined} at the top level`;
  }
  if (messages.length === 0 || messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  let open: string[] = [];
  const ids = new Set<string>();
  for (const [index, { role, content }] of messages.entries()) {
    const blocks: Block[] = typeof content === 'string' ? [text(content)] : content;
    if (blocks.length === 0) return `messages.${index}: all messages must have non-empty content`;
    if (blocks.some((block) => block.type === 'text' && String(block['text']).trim() === ''))
      return `messages.${index}: text content blocks must contain non-whitespace text`;
    const answered = blocks.filter(({ type }) => type === 'tool_result').map((block) => String(block['tool_use_id']));
    if (open.length > 0) {
      if (role !== 'user' || open.some((id) => !answered.includes(id)))
        return `messages.${index}: tool_use ids were found without tool_result blocks immediately after: ${open.join(', ')}`;
      if (blocks.slice(0, answered.length).some(({ type }) => type !== 'tool_result'))
        return `messages.${index}: tool_result blocks must come first`;
    }
    const unexpected = answered.find((id) => !open.includes(id));
    if (unexpected !== undefined || new Set(answered).size < answered.length)
      return `messages.${index}: unexpected tool_use_id found in tool_result blocks: ${unexpected ?? 'twice'}`;
    for (const block of blocks) {
      if (block.type !== 'tool_result' || typeof block['content'] === 'string') continue;
      for (const inner of (block['content'] ?? []) as Block[])
        if (inner.type === 'text' && String(inner['text']).trim() === '') return `messages.${index}: empty text in a tool result`;
    }
    const hosted = blocks.some(
      (block) => block.type === 'tool_use' && String((block['caller'] as Json | undefined)?.['type'] ?? 'direct') !== 'direct',
    );
    open = role === 'assistant' ? blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id)) : [];
    for (const id of open) {
      if (ids.has(id)) return 'messages: `tool_use` ids must be unique';
      ids.add(id);
    }
    if (hosted && index === messages.length - 2) {
      if (body.container === undefined)
        return 'container_id is required when there are pending tool uses generated by code execution with tools.';
      const next = messages[index + 1];
      if (typeof next?.content !== 'string' && next?.content.some(({ type }) => type !== 'tool_result'))
        return 'Only tool_result blocks may answer a pending code execution.';
    }
  }
  if (open.length > 0) return `messages: tool_use ids were found without tool_result blocks immediately after: ${open.join(', ')}`;
  return undefined;
}
