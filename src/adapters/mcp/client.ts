// One live connection to one server, from its start to its end: handshake, list of tools, calls. A client that has ended stays ended;
// whoever holds it starts another one. Not here: when that is (seat.ts), what tools are made of the list (tool.ts).
import type { ToolContext } from '../../index.ts';
import { Connection, isRecord } from './connection.ts';
import { type McpListener, tell } from './events.ts';
import { McpFailure } from './failure.ts';
import { IMPLEMENTATION } from './implementation.ts';
import type { McpLimits } from './limits.ts';
import { type ListedTool, type Listing, listTools } from './listing.ts';
import type { OwnTransport } from './transport.ts';

export interface ClientOptions {
  /** The provider's name, for events. */
  readonly name: string;
  readonly transport: OwnTransport;
  readonly limits: McpLimits;
  readonly onEvent: McpListener | undefined;
}

/** The first is offered, and each is understood. */
const PROTOCOL_VERSIONS: readonly unknown[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
/** Lines for the observer that one call may cause. */
const MAX_LOGS = 1_000;

/** A call that waits for its answer. */
interface Waiting {
  readonly context: ToolContext;
  logs: number;
}

export class McpClient {
  readonly #options: ClientOptions;
  readonly #connection: Connection;
  /** Oldest first: what the server logs meanwhile is told to the newest. */
  readonly #calls = new Set<Waiting>();
  #listing: Listing = { tools: [], strange: [] };
  #isReady = false;
  #isStale = false;
  #isClosing = false;

  /** Connects, shakes hands and lists the tools, all within `startMs`. Rejects with a `McpFailure`, and leaves nothing behind then. */
  static async start(options: ClientOptions): Promise<McpClient> {
    const client = new McpClient(options);
    const { startMs } = options.limits;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new McpFailure('timeout', `did not start and list its tools within ${startMs} ms`)), startMs);
    });
    try {
      await Promise.race([client.#start(), late]);
      return client;
    } catch (error) {
      // Killing takes its time, and nobody needs to wait for that.
      void client.close();
      if (!(error instanceof McpFailure)) throw error;
      const { kind, message, code, data } = error;
      const { stderr } = options.transport.obituary?.() ?? {};
      throw new McpFailure(kind === 'ended' ? 'start' : kind, message, { ...(code !== undefined && { code }), data, stderr, cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor(options: ClientOptions) {
    this.#options = options;
    const { name, transport, onEvent } = options;
    this.#connection = new Connection({
      transport,
      onNotification: (method, params) => this.#notified(method, params),
      onMisbehaviour: (problem) => tell(onEvent, { type: 'server-misbehaved', server: name, problem }),
      onEnd: () => this.#over(),
    });
  }

  /** The same object until the list has changed. */
  get listing(): Listing {
    return this.#listing;
  }

  get ended(): McpFailure | undefined {
    return this.#connection.ended;
  }

  /** Lists the tools again if the server has said that they have changed. */
  async refresh(): Promise<void> {
    if (!this.#isStale) return;
    // Before asking: they may change again meanwhile.
    this.#isStale = false;
    try {
      const listing = await this.#list();
      const before = this.#listing;
      if (JSON.stringify(listing) === JSON.stringify(before)) return;
      this.#listing = listing;
      const had = new Set(namesOf(before.tools));
      const has = new Set(namesOf(listing.tools));
      tell(this.#options.onEvent, {
        type: 'tools-changed',
        server: this.#options.name,
        added: [...has].filter((name) => !had.has(name)),
        removed: [...had].filter((name) => !has.has(name)),
      });
    } catch (error) {
      this.#isStale = true;
      // With the list that is known the run is no worse off than before; without a server it is.
      if (this.ended !== undefined) throw error;
      const problem = `${error instanceof Error ? error.message : String(error)}; the list from before is used`;
      tell(this.#options.onEvent, { type: 'server-misbehaved', server: this.#options.name, problem });
    }
  }

  /** Calls a tool by the server's own name for it, and resolves with the answer, unchecked. Rejects with a `McpFailure`. */
  async call(name: string, input: unknown, context: ToolContext): Promise<unknown> {
    const waiting: Waiting = { context, logs: 0 };
    this.#calls.add(waiting);
    try {
      return await this.#connection.request(
        'tools/call',
        { name, arguments: input },
        {
          timeoutMs: this.#options.limits.callMs,
          signal: context.signal,
          onProgress: (progress) => log(waiting, progressText(progress), progress),
        },
      );
    } finally {
      this.#calls.delete(waiting);
    }
  }

  /** Ends the connection and, of a process, waits for its end. Never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#connection.close();
  }

  async #start(): Promise<void> {
    const began = performance.now();
    const { name, transport, onEvent } = this.#options;
    await this.#connection.open();
    const answer = await this.#request('initialize', {
      protocolVersion: PROTOCOL_VERSIONS[0],
      // Nothing: no sampling, no roots, no elicitation.
      capabilities: {},
      clientInfo: IMPLEMENTATION,
    });
    const { protocolVersion, capabilities } = isRecord(answer) ? answer : {};
    if (!PROTOCOL_VERSIONS.includes(protocolVersion)) {
      throw new McpFailure(
        'protocol',
        `speaks a protocol version that is not understood: ${JSON.stringify(protocolVersion)?.slice(0, 50)}`,
      );
    }
    transport.setProtocolVersion?.(String(protocolVersion));
    this.#connection.notify('notifications/initialized');
    // A server that only has prompts or resources offers nothing here, and that is all right.
    if (isRecord(capabilities) && capabilities['tools'] !== undefined) this.#listing = await this.#list();
    this.#isReady = true;
    tell(onEvent, {
      type: 'server-start',
      server: name,
      tools: this.#listing.tools.length,
      durationMs: performance.now() - began,
      ...(transport.pid !== undefined && { pid: transport.pid }),
    });
  }

  #list(): Promise<Listing> {
    return listTools((params) => this.#request('tools/list', params), this.#options.limits);
  }

  async #request(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    try {
      return await this.#connection.request(method, params, { timeoutMs: this.#options.limits.startMs });
    } catch (error) {
      if (!(error instanceof McpFailure) || error.kind !== 'refused') throw error;
      throw new McpFailure('refused', `refused \`${method}\` and says: ${error.message}`, { data: error.data, cause: error });
    }
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/tools/list_changed') this.#isStale = true;
    if (method !== 'notifications/message') return;
    const { level, logger, data } = params;
    const event = {
      level: typeof level === 'string' ? level.slice(0, 50) : 'info',
      ...(typeof logger === 'string' && { logger: logger.slice(0, 200) }),
      data,
    };
    tell(this.#options.onEvent, { type: 'server-log', server: this.#options.name, ...event });
    const newest = [...this.#calls].at(-1);
    if (newest !== undefined) log(newest, `${event.level}: ${logText(data)}`, event);
  }

  #over(): void {
    const { name, transport, onEvent } = this.#options;
    const obituary = transport.obituary?.();
    if (!this.#isReady) return;
    tell(onEvent, {
      type: 'server-end',
      server: name,
      reason: this.#isClosing ? 'was closed' : (this.ended?.message ?? 'has ended'),
      expected: this.#isClosing,
      ...(obituary?.stderr !== undefined && !this.#isClosing && { stderr: obituary.stderr }),
    });
  }
}

function namesOf(tools: readonly ListedTool[]): string[] {
  return tools.map(({ name }) => name);
}

function log(waiting: Waiting, message: string, fields: unknown): void {
  waiting.logs += 1;
  if (waiting.logs > MAX_LOGS) return;
  waiting.context.log(waiting.logs === MAX_LOGS ? 'further messages of this call are left out' : message, fields);
}

function progressText({ progress, total, message }: Readonly<Record<string, unknown>>): string {
  const count = `progress ${shortJson(progress)}${total === undefined ? '' : ` of ${shortJson(total)}`}`;
  return typeof message === 'string' && message !== '' ? `${count}: ${message.slice(0, 1_000)}` : count;
}

function logText(data: unknown): string {
  return typeof data === 'string' ? data.slice(0, 1_000) : (shortJson(data) ?? '');
}

function shortJson(value: unknown): string | undefined {
  return JSON.stringify(value)?.slice(0, 1_000);
}
