// Many clients over streamable HTTP. Meant for this machine: loopback by default, a bearer token always, and no page of a browser gets in by way
// of another name or origin. Not here: what a client is served (serve.ts).
import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CodeMode, CodeModeError, type SessionOptions } from '../../index.ts';
import { loadServerSdk, type ServerSdk } from './sdk.ts';
import { type McpServing, type ServeOptions, serveMcp } from './serve.ts';

export interface ServeHttpOptions extends Omit<ServeOptions, 'session'> {
  /** Default 0: one that is free. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`: this machine only. */
  readonly host?: string | undefined;
  /** What clients have to show as `Authorization: Bearer …`; at least 16 characters. Default: a new one, see `token` of what is returned. */
  readonly token?: string | undefined;
  /** Values of the header `Host` that are answered, beside the address itself and `localhost`. */
  readonly hosts?: readonly string[] | undefined;
  /** Values of the header `Origin` that are answered. Default: none, so no page of a browser. */
  readonly origins?: readonly string[] | undefined;
  /** Clients at a time. Default 32. */
  readonly maxSessions?: number | undefined;
  /** After this time without a request the session of a client is closed. Default 30 minutes. */
  readonly idleMs?: number | undefined;
  /** Longest body of a request. Default 4 MiB. */
  readonly bodyBytes?: number | undefined;
  /** For the session of each client. */
  readonly session?: SessionOptions | (() => SessionOptions) | undefined;
}

export interface McpHttpServing {
  /** `http://127.0.0.1:4711/mcp` */
  readonly url: string;
  readonly token: string;
  /** Sessions that are open. */
  readonly sessions: number;
  /** Stops listening, ends every session with its program, then the connections. Safe to call twice. */
  close(): Promise<void>;
}

const PATH = '/mcp';
const MIN_TOKEN = 16;

/** Listens for clients. Rejects for wrong options, when the port is taken, and without the SDK. */
export async function serveMcpHttp(codeMode: CodeMode, options: ServeHttpOptions = {}): Promise<McpHttpServing> {
  const { token } = options;
  if (token !== undefined && (typeof token !== 'string' || token.length < MIN_TOKEN)) {
    throw new CodeModeError('option_invalid', `The \`token\` should be a text of at least ${MIN_TOKEN} characters that nobody can guess.`);
  }
  const serving = new HttpServing(codeMode, await loadServerSdk(), options);
  await serving.listen();
  return serving;
}

type SdkTransport = InstanceType<ServerSdk['StreamableHTTPServerTransport']>;

interface Client {
  readonly transport: SdkTransport;
  readonly serving: McpServing;
  /** Requests that are being answered, streams too. */
  open: number;
  idle: NodeJS.Timeout | undefined;
}

class HttpServing implements McpHttpServing {
  readonly token: string;
  url = '';
  #port = 0;
  readonly #codeMode: CodeMode;
  readonly #sdk: ServerSdk;
  readonly #options: ServeHttpOptions;
  readonly #server: HttpServer;
  readonly #tokenDigest: Buffer;
  readonly #clients = new Map<string, Client>();
  /** Sessions that are being opened count too. */
  #opening = 0;
  #closed: Promise<void> | undefined;

  constructor(codeMode: CodeMode, sdk: ServerSdk, options: ServeHttpOptions) {
    this.#codeMode = codeMode;
    this.#sdk = sdk;
    this.#options = options;
    this.token = options.token ?? randomBytes(24).toString('base64url');
    this.#tokenDigest = digest(this.token);
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => {
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'This failed inside the server.');
      });
    });
    this.#server.requestTimeout = 30_000;
  }

  get sessions(): number {
    return this.#clients.size;
  }

  listen(): Promise<void> {
    const { port = 0, host = '127.0.0.1' } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', (cause: NodeJS.ErrnoException) => {
        reject(new CodeModeError('option_invalid', `Port ${port} of ${host} cannot be listened on (${cause.code}).`, { cause }));
      });
      this.#server.listen(port, host, () => {
        // It listens, and on no pipe.
        const { address, family, port: own } = this.#server.address() as AddressInfo;
        this.#port = own;
        this.url = `http://${family === 'IPv6' ? `[${address}]` : address}:${own}${PATH}`;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
      await Promise.all([...this.#clients.values()].map(({ serving }) => serving.close()));
      this.#server.closeAllConnections();
      await stopped;
    })();
    return this.#closed;
  }

  /** In this order: who asks, from where, then what. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, method } = request;
    if (!this.#isOurHost(headers.host)) return refuse(response, 403, 'This host name is not served.');
    if (headers.origin !== undefined && !(this.#options.origins ?? []).includes(headers.origin)) {
      return refuse(response, 403, 'Pages of this origin are not served.');
    }
    if (request.url?.split('?', 1)[0] !== PATH) return refuse(response, 404, `MCP is at ${PATH}.`);
    if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
      return refuse(response, 405, 'Use POST, GET or DELETE.', { allow: 'POST, GET, DELETE' });
    if (!this.#isAuthorized(headers.authorization)) {
      return refuse(response, 401, 'A bearer token is needed.', { 'www-authenticate': 'Bearer realm="callgate"' });
    }
    if (this.#closed !== undefined) return refuse(response, 503, 'The server is ending.');
    let body: unknown;
    if (method === 'POST') {
      const { bodyBytes = 4 * 1024 * 1024 } = this.#options;
      const text = await readBody(request, bodyBytes);
      if (text === undefined) return refuse(response, 413, `The body is over ${bodyBytes} bytes.`, { connection: 'close' });
      try {
        body = JSON.parse(text);
      } catch {
        return refuse(response, 400, 'The body is no JSON.');
      }
    }
    const id = headers['mcp-session-id'];
    const client = typeof id === 'string' ? this.#clients.get(id) : undefined;
    if (client !== undefined) return this.#hand(client, { request, response, body });
    if (id !== undefined) return refuse(response, 404, 'There is no such session any more; begin a new one.');
    if (method !== 'POST' || !this.#sdk.types.isInitializeRequest(body))
      return refuse(response, 400, 'A session begins with `initialize`.');
    return this.#begin({ request, response, body });
  }

  async #begin(exchange: Exchange): Promise<void> {
    const { maxSessions = 32, session, progress, observeMs } = this.#options;
    if (this.#clients.size + this.#opening >= maxSessions) {
      return refuse(exchange.response, 503, `There are ${maxSessions} clients already; end one of them first.`, { 'retry-after': '30' });
    }
    this.#opening += 1;
    try {
      const { StreamableHTTPServerTransport } = this.#sdk;
      const id = randomUUID();
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => id });
      const serving = await serveMcp(this.#codeMode, transport, {
        session: typeof session === 'function' ? session() : session,
        progress,
        observeMs,
      });
      const client: Client = { transport, serving, open: 0, idle: undefined };
      this.#clients.set(id, client);
      void serving.closed.then(() => {
        clearTimeout(client.idle);
        this.#clients.delete(id);
      });
      await this.#hand(client, exchange);
    } catch (error) {
      if (!CodeModeError.is(error)) throw error;
      refuse(exchange.response, 503, error.message);
    } finally {
      this.#opening -= 1;
    }
  }

  async #hand(client: Client, { request, response, body }: Exchange): Promise<void> {
    client.open += 1;
    clearTimeout(client.idle);
    response.once('close', () => {
      client.open -= 1;
      if (client.open > 0) return;
      client.idle = setTimeout(() => void client.serving.close(), this.#options.idleMs ?? 30 * 60_000);
      client.idle.unref();
    });
    await client.transport.handleRequest(request, response, body);
  }

  /** A page of a browser that was led here by a name of its own (DNS rebinding) says that name. */
  #isOurHost(host: string | undefined): boolean {
    if (host === undefined) return false;
    const port = this.#port;
    const { host: address = '127.0.0.1', hosts = [] } = this.#options;
    const own = ['127.0.0.1', 'localhost', '[::1]', address.includes(':') ? `[${address}]` : address];
    return hosts.includes(host) || own.some((name) => host === `${name}:${port}` || (port === 80 && host === name));
  }

  #isAuthorized(authorization: string | undefined): boolean {
    const given = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), this.#tokenDigest);
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: unknown;
}

/** `undefined` for one that is too long; what is left of it is not read. */
async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed: the refusal goes out on the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function refuse(response: ServerResponse, status: number, message: string, headers: Readonly<Record<string, string>> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
