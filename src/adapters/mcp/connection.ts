// JSON-RPC with one server that may be broken or hostile: requests and their answers, what the server says by itself, and bounds on all of
// it. An answer settles exactly the request that it names, once; whatever else comes is counted and dropped. Not here: what is asked
// (client.ts).
import { McpFailure } from './failure.ts';
import type { OwnTransport } from './transport.ts';

export interface ConnectionOptions {
  readonly transport: OwnTransport;
  /** Told of notifications, progress and cancellations aside. */
  onNotification(method: string, params: Readonly<Record<string, unknown>>): void;
  /** Told of each kind of misbehaviour, once. */
  onMisbehaviour(problem: string): void;
  /** Told once when the connection is gone, however that came. */
  onEnd(): void;
}

export interface RequestOptions {
  /** Longest time without a sign of life; progress begins it again. */
  readonly timeoutMs: number;
  /** Gives up: the server is told. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
}

interface Pending {
  readonly method: string;
  readonly onProgress: RequestOptions['onProgress'];
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Begins the time again. */
  alive(): void;
}

/** Messages that are no answers, in one second, before the rest of them is dropped. */
const MESSAGES_PER_SECOND = 2_000;
/** How many are dropped without an answer in between before the connection is ended. */
const MAX_DROPPED = 500_000;
/** Messages that are not JSON-RPC at all before the connection is ended. */
const MAX_INVALID = 10_000;
/** Longest text of a server's error that is kept. */
const ERROR_LENGTH = 4_000;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #told = new Set<string>();
  #nextId = 1;
  #ended: McpFailure | undefined;
  #second = 0;
  #messages = 0;
  #dropped = 0;
  #invalid = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Starts the transport. Rejects with a `McpFailure` of kind `start`. */
  async open(): Promise<void> {
    const { transport } = this.#options;
    transport.onmessage = (message: unknown) => this.#receive(message);
    transport.onerror = (error) => this.#misbehaved(`had an error on its connection: ${error.message.slice(0, 300)}`);
    transport.onclose = () => this.#end(new McpFailure('ended', transport.obituary?.().reason ?? 'has closed the connection'));
    transport.onoversized = (id, bytes) => this.#oversized(id, bytes);
    transport.onlost = (id, failure = new McpFailure('ended', 'broke off its answer')) => this.#pending.get(id)?.reject(failure);
    try {
      await transport.start();
    } catch (cause) {
      throw new McpFailure('start', transport.obituary?.().reason ?? 'cannot be reached', { cause });
    }
  }

  /** Why nothing can be asked any more. */
  get ended(): McpFailure | undefined {
    return this.#ended;
  }

  /** Asks, and resolves with what the server answered, unchecked. Rejects with a `McpFailure`. */
  request(method: string, params: Readonly<Record<string, unknown>>, { timeoutMs, signal, onProgress }: RequestOptions): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (signal?.aborted === true) return Promise.reject(new McpFailure('cancelled', 'was not asked any more'));
    const id = this.#nextId++;
    const { transport } = this.#options;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settled = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        this.#pending.delete(id);
        if (this.#pending.size === 0) transport.hold?.(false);
      };
      const pending: Pending = {
        method,
        onProgress,
        resolve(result) {
          settled();
          resolve(result);
        },
        reject(error) {
          settled();
          reject(error);
        },
        alive() {
          timer?.refresh();
        },
      };
      const giveUp = (failure: McpFailure): void => {
        pending.reject(failure);
        // The protocol does not allow to cancel the handshake.
        if (method !== 'initialize') this.notify('notifications/cancelled', { requestId: id, reason: failure.message });
      };
      const cancel = (): void => giveUp(new McpFailure('cancelled', 'was asked to stop'));
      timer = setTimeout(() => giveUp(new McpFailure('timeout', `did not answer within ${timeoutMs} ms`)), timeoutMs);
      signal?.addEventListener('abort', cancel, { once: true });
      if (this.#pending.size === 0) transport.hold?.(true);
      this.#pending.set(id, pending);
      const asked = onProgress === undefined ? params : { ...params, _meta: { progressToken: id } };
      transport.send({ jsonrpc: '2.0', id, method, params: asked }).catch((error: unknown) => pending.reject(toFailure(error)));
    });
  }

  /** Says something that has no answer. What goes wrong is nobody's business: the connection's end is told elsewhere. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void {
    if (this.#ended !== undefined) return;
    this.#send({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) });
  }

  /** Ends the connection; what is asked still is rejected. Never rejects. */
  async close(reason = new McpFailure('ended', 'was closed')): Promise<void> {
    this.#end(reason);
    await this.#options.transport.close().catch(() => undefined);
  }

  #send(message: object): void {
    this.#options.transport.send(message).catch(() => undefined);
  }

  #receive(message: unknown): void {
    if (this.#ended !== undefined) return;
    if (Array.isArray(message)) {
      for (const member of message) this.#receiveOne(member);
    } else {
      this.#receiveOne(message);
    }
  }

  #receiveOne(message: unknown): void {
    if (!isRecord(message)) {
      this.#refuseMessage('sent a message that is no JSON-RPC');
      return;
    }
    const { id, method } = message;
    if (typeof method === 'string') {
      if (!this.#admit()) return;
      if (id === undefined || id === null) this.#notified(method, isRecord(message['params']) ? message['params'] : {});
      else if (typeof id === 'string' || typeof id === 'number') this.#asked(id, method);
      else this.#refuseMessage('sent a request with an id that is none');
      return;
    }
    this.#answered(id, message);
  }

  #answered(id: unknown, message: Readonly<Record<string, unknown>>): void {
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined) {
      // One that was given up may still be answered; that is nobody's fault.
      const wasAsked = typeof id === 'number' && Number.isInteger(id) && id >= 1 && id < this.#nextId;
      if (wasAsked) this.#admit();
      else this.#refuseMessage('sent an answer to nothing that was asked');
      return;
    }
    this.#dropped = 0;
    const { error } = message;
    if (error !== undefined && error !== null) {
      const { code, message: text, data } = isRecord(error) ? error : {};
      const said = typeof text === 'string' && text !== '' ? text.slice(0, ERROR_LENGTH) : 'no reason';
      pending.reject(new McpFailure('refused', said, { ...(typeof code === 'number' && { code }), data }));
    } else if ('result' in message) {
      pending.resolve(message['result']);
    } else {
      pending.reject(new McpFailure('protocol', `answered \`${pending.method}\` with neither a result nor an error`));
    }
  }

  #notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method !== 'notifications/progress') {
      this.#options.onNotification(method, params);
      return;
    }
    const token = params['progressToken'];
    const pending = typeof token === 'number' ? this.#pending.get(token) : undefined;
    pending?.alive();
    pending?.onProgress?.(params);
  }

  /** The host offers a server nothing: no model, no files, nobody to ask. */
  #asked(id: string | number, method: string): void {
    if (method === 'ping') {
      this.#send({ jsonrpc: '2.0', id, result: {} });
      return;
    }
    this.#misbehaved(`asked for \`${method.slice(0, 100)}\`, which is not offered here`);
    const message = `This client does not offer ${method.slice(0, 100)}; go on without it.`;
    this.#send({ jsonrpc: '2.0', id, error: { code: -32601, message } });
  }

  /** Counts a message that nobody asked for. */
  #admit(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#messages = 0;
    }
    this.#messages += 1;
    if (this.#messages <= MESSAGES_PER_SECOND) return true;
    this.#misbehaved(`sends more than ${MESSAGES_PER_SECOND} messages in a second that nobody asked for; the rest is dropped`);
    this.#dropped += 1;
    if (this.#dropped > MAX_DROPPED) void this.close(new McpFailure('ended', 'was ended because it floods the connection'));
    return false;
  }

  #refuseMessage(problem: string): void {
    this.#misbehaved(problem);
    this.#invalid += 1;
    if (this.#invalid > MAX_INVALID) void this.close(new McpFailure('ended', 'was ended because it does not follow the protocol'));
  }

  #oversized(id: number | undefined, bytes: number): void {
    this.#misbehaved('sent a message that is over `messageBytes`');
    const failure = new McpFailure('oversized', `answered with ${bytes} bytes, which is over the limit \`messageBytes\``);
    if (id !== undefined) this.#pending.get(id)?.reject(failure);
    // Nobody knows whose it was: with one request there is no doubt, otherwise each waits for its own time to be up.
    else if (this.#pending.size === 1) for (const pending of this.#pending.values()) pending.reject(failure);
  }

  /** Told once for each kind, and for few kinds. */
  #misbehaved(problem: string): void {
    if (this.#told.has(problem) || this.#told.size >= 50) return;
    this.#told.add(problem);
    this.#options.onMisbehaviour(problem);
  }

  #end(failure: McpFailure): void {
    if (this.#ended !== undefined) return;
    this.#ended = failure;
    for (const pending of [...this.#pending.values()]) pending.reject(failure);
    this.#options.onEnd();
  }
}

function toFailure(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  return new McpFailure('ended', error instanceof Error ? error.message : String(error), { cause: error });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
