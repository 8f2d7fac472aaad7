// serveMcp(): code mode for any MCP client. One connection is one session: its control tools are the tools of the server, what is known of the
// tools behind it stands in the server's instructions. Not here: how connections come about (serve-stdio.ts, serve-http.ts).
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { type CodeMode, CodeModeError, type CodeModeEvent, type Observation, type Session, type SessionOptions } from '../../index.ts';
import { isRecord } from './connection.ts';
import { LinkedArtifacts, toContent } from './content.ts';
import type { ProgressFeed } from './feed.ts';
import { IMPLEMENTATION } from './implementation.ts';
import { loadServerSdk, type ServerSdk } from './sdk.ts';
import type { McpTransport } from './transport.ts';

export interface ServeOptions {
  /** For the session of the connection: who the client is, limits, tools that are kept out. */
  readonly session?: SessionOptions | undefined;
  /** Tells a client of calls while its program works; without it the client hears only that it still does. */
  readonly progress?: ProgressFeed | undefined;
  /** How long `exec` and `wait` watch a program unless they are told: below the time after which clients give up. Default 30 000. */
  readonly observeMs?: number | undefined;
}

/** One served connection. */
export interface McpServing {
  /** The session behind it. */
  readonly session: Session;
  /** Resolves when the connection has ended and its session is closed. */
  readonly closed: Promise<void>;
  /** Ends the connection, and with it the program that runs. Safe to call twice. */
  close(): Promise<void>;
}

/** Longest time between two signs of life. */
const HEARTBEAT_MS = 1_000;
/** Shortest time between two. */
const PROGRESS_MS = 100;
/** Requests of one client that may wait at once. */
const MAX_REQUESTS = 100;

/**
 * Serves one client over a transport of `@modelcontextprotocol/sdk`, which must not have been started. Resolves once the session is open and
 * the transport listens; rejects when the session cannot be opened (`catalog_failed`) or the SDK is not installed.
 */
export async function serveMcp(codeMode: CodeMode, transport: McpTransport, options: ServeOptions = {}): Promise<McpServing> {
  const sdk = await loadServerSdk();
  const session = await codeMode.openSession(options.session);
  const served = new Served(session, { sdk, ...options });
  try {
    await served.connect(transport);
  } catch (error) {
    await served.close();
    throw error;
  }
  return served;
}

class Served implements McpServing {
  readonly session: Session;
  readonly closed: Promise<void>;
  readonly #options: ServeOptions & { readonly sdk: ServerSdk };
  readonly #server: Server;
  readonly #linked = new LinkedArtifacts();
  #requests = 0;
  #end: () => void = () => undefined;

  constructor(session: Session, options: ServeOptions & { readonly sdk: ServerSdk }) {
    this.session = session;
    this.#options = options;
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    // What closing a tool says is the application's business, not the client's.
    this.closed = ended.then(() => session.close()).catch(() => undefined);
    const { Server } = options.sdk;
    this.#server = new Server(IMPLEMENTATION, { capabilities: { tools: {}, resources: {} }, instructions: session.instructions });
    this.#server.onclose = () => this.#end();
    this.#listen();
  }

  async connect(transport: McpTransport): Promise<void> {
    // Any Transport of the SDK is one of ours; the way back holds for what the SDK is given, which it calls by these names only.
    await this.#server.connect(transport as Parameters<Server['connect']>[0]);
  }

  async close(): Promise<void> {
    this.#end();
    // First the program, so that its end can still be told.
    await this.closed;
    await this.#server.close().catch(() => undefined);
  }

  #listen(): void {
    const { CallToolRequestSchema, ListResourcesRequestSchema, ListToolsRequestSchema, ReadResourceRequestSchema, ErrorCode, McpError } =
      this.#options.sdk.types;
    this.#server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: this.#tools() }));
    this.#server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: this.#linked.list() }));
    this.#server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
      const contents = await this.#linked.read(params.uri);
      if (contents === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no resource ${params.uri} any more.`);
      return { contents: [contents] };
    });
    this.#server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
      if (this.#requests >= MAX_REQUESTS) throw new McpError(ErrorCode.InvalidRequest, `More than ${MAX_REQUESTS} requests wait already.`);
      this.#requests += 1;
      const token = params._meta?.progressToken;
      const say = (progress: number, message: string): void => {
        if (token === undefined || signal.aborted) return;
        sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress, message } }).catch(() => undefined);
      };
      const untold = token === undefined ? undefined : this.#tellProgress(say);
      try {
        return await this.#call(params.name, params.arguments ?? {}, signal);
      } finally {
        untold?.();
        this.#requests -= 1;
      }
    });
  }

  #tools(): { name: string; description: string; inputSchema: { type: 'object' } & Record<string, unknown> }[] {
    const observeMs = String(this.#observeMs);
    return this.session.controlTools().map(({ name, description, inputSchema }) => {
      const { observe_ms } = inputSchema.properties;
      if (!isRecord(observe_ms)) return { name, description, inputSchema: { ...inputSchema } };
      const told = { ...observe_ms, description: String(observe_ms['description']).replace(/Default \d+/, `Default ${observeMs}`) };
      return { name, description, inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, observe_ms: told } } };
    });
  }

  async #call(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal) {
    const tool = this.session.controlTools().find((control) => control.name === name);
    if (tool === undefined) {
      const { McpError, ErrorCode } = this.#options.sdk.types;
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${name}. Programs call the tools behind this server: use exec.`);
    }
    // Whoever does not wait for the answer any more does not want the program to go on either.
    const cancel = (): void => void this.session.stop().catch(() => undefined);
    const watches = 'observe_ms' in tool.inputSchema.properties;
    if (watches) signal.addEventListener('abort', cancel, { once: true });
    try {
      // What lacks something is left as it is, so that its refusal tells the model what it sent.
      const isComplete = tool.inputSchema.required?.every((name) => name in input) ?? true;
      const answer: unknown = await tool.execute(watches && isComplete ? { observe_ms: this.#observeMs, ...input } : input);
      if (isObservation(answer)) return await toContent(answer, this.#linked);
      return { content: [{ type: 'text' as const, text: typeof answer === 'string' ? answer : JSON.stringify(answer) }] };
    } catch (error) {
      const text = CodeModeError.is(error) ? error.message : 'This failed inside the server.';
      return { content: [{ type: 'text' as const, text }], isError: true };
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  get #observeMs(): number {
    return this.#options.observeMs ?? 30_000;
  }

  /** Says what goes on, now and then, until the function that is returned is called. */
  #tellProgress(say: (progress: number, message: string) => void): () => void {
    let step = 0;
    let calls = 0;
    let ended = 0;
    let latest = 'working';
    let next: NodeJS.Timeout | undefined;
    const tell = (): void => {
      clearTimeout(next);
      step += 1;
      say(step, `${latest} (${calls} ${calls === 1 ? 'call' : 'calls'} made, ${calls - ended} running)`);
      plan(HEARTBEAT_MS);
    };
    const plan = (ms: number): void => {
      next = setTimeout(tell, ms);
      next.unref();
    };
    const hear = (event: CodeModeEvent): void => {
      if (event.type === 'call-start') calls += 1;
      if (event.type === 'call-end') ended += 1;
      if (event.type === 'call-start') latest = event.tool;
      else if (event.type === 'log') latest = `${event.tool}: ${event.message.slice(0, 500)}`;
      else return;
      // Soon, so that a burst is told once.
      clearTimeout(next);
      plan(PROGRESS_MS);
    };
    const forget = this.#options.progress?.watch(this.session.id, hear);
    plan(HEARTBEAT_MS);
    return () => {
      clearTimeout(next);
      forget?.();
    };
  }
}

function isObservation(value: unknown): value is Observation {
  return isRecord(value) && typeof value['status'] === 'string' && typeof value['program'] === 'number';
}
