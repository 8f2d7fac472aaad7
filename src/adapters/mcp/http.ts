// A server that is spoken to over streamable HTTP: the official SDK's transport behind a fetch that bounds what it reads and notices an
// answer that breaks off. Not here: what the messages mean (connection.ts).
import { CodeModeError } from '../../index.ts';
import { McpFailure } from './failure.ts';
import type { McpLimits } from './limits.ts';
import type { McpTransport, OwnTransport } from './transport.ts';

export interface HttpOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: Pick<McpLimits, 'messageBytes' | 'closeMs'>;
}

/** What is used of the SDK's transport. */
interface SdkTransport extends McpTransport {
  terminateSession(): Promise<void>;
}

/** How long an answer may still be on its way when the reply that should hold it has ended. */
const GRACE_MS = 50;
const NEWLINE = 10;
const RETURN = 13;

/** Throws a `CodeModeError` with a hint when the SDK is not installed. */
export async function openHttp(options: HttpOptions): Promise<OwnTransport> {
  const { StreamableHTTPClientTransport } = await loadSdk();
  return new HttpTransport(
    options,
    (fetch) => new StreamableHTTPClientTransport(options.url, { fetch, requestInit: { headers: options.headers } }),
  );
}

async function loadSdk(): Promise<typeof import('@modelcontextprotocol/sdk/client/streamableHttp.js')> {
  try {
    return await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  } catch (cause) {
    throw new CodeModeError(
      'option_invalid',
      'MCP over HTTP needs the package `@modelcontextprotocol/sdk`: npm install @modelcontextprotocol/sdk',
      {
        cause,
      },
    );
  }
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

class HttpTransport implements OwnTransport {
  onclose: OwnTransport['onclose'];
  onerror: OwnTransport['onerror'];
  onmessage: OwnTransport['onmessage'];
  onlost: OwnTransport['onlost'];
  readonly #limits: HttpOptions['limits'];
  readonly #inner: SdkTransport;
  #reason = 'has closed the connection';
  #isClosed = false;

  constructor({ limits }: HttpOptions, make: (fetch: Fetch) => SdkTransport) {
    this.#limits = limits;
    this.#inner = make((url, init) => this.#fetch(url, init));
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message: never) => this.onmessage?.(message);
    this.#inner.onerror = (error: Error) => this.onerror?.(error);
    this.#inner.onclose = () => this.#over();
    return this.#inner.start();
  }

  async send(message: object): Promise<void> {
    try {
      await this.#inner.send(message);
    } catch (error) {
      const failure = toFailure(error);
      // Its memory of us is gone, or nobody is there: the next to ask begins anew.
      if (failure.kind === 'ended' && !this.#isClosed) {
        this.#reason = failure.message;
        await this.#inner.close();
      }
      throw failure;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#reason = 'was closed';
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#limits.closeMs);
    });
    await Promise.race([this.#inner.terminateSession().catch(() => undefined), late]);
    clearTimeout(timer);
    await this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  obituary(): { reason: string } {
    return { reason: this.#reason };
  }

  #over(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  async #fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    // The SDK looks at redirects itself and follows none to another origin. Its older versions leave them to `fetch`, which would take headers
    // and input to wherever the server says, machines that only the host reaches among them.
    const response = await fetch(url, { redirect: 'error', ...init });
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const id = requestId(init);
    const body = boundBody(response.body, {
      limit: this.#limits.messageBytes,
      isStream,
      onEnd: (canResume, failure) => {
        // A reply that can be taken up again is the SDK's business.
        if (id === undefined || !isStream || canResume) return;
        setTimeout(() => this.onlost?.(id, failure), GRACE_MS).unref();
      },
    });
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  }
}

/** The same bytes until there are too many of them: in the whole, or of a stream in one event. */
function boundBody(
  body: ReadableStream<Uint8Array>,
  { limit, isStream, onEnd }: { limit: number; isStream: boolean; onEnd(canResume: boolean, failure?: McpFailure): void },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  let lineBytes = 0;
  let before = 0;
  let canResume = false;
  const tooMuch = (chunk: Uint8Array): boolean => {
    if (!isStream) {
      bytes += chunk.length;
      return bytes > limit;
    }
    for (const [index, byte] of chunk.entries()) {
      if (byte === NEWLINE || byte === RETURN) {
        // An empty line ends an event, and CR LF is one end of a line, not two.
        if (lineBytes === 0 && !(byte === NEWLINE && before === RETURN)) bytes = 0;
        lineBytes = 0;
      } else {
        // `id:` makes a stream one that can be resumed.
        if (lineBytes === 0 && byte === 0x69 && chunk[index + 1] === 0x64) canResume = true;
        lineBytes += 1;
        bytes += 1;
      }
      before = byte;
    }
    return bytes > limit;
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          onEnd(canResume);
        } else if (tooMuch(value)) {
          throw new McpFailure('oversized', `answered with more than ${limit} bytes, which is over the limit \`messageBytes\``);
        } else {
          controller.enqueue(value);
        }
      } catch (error) {
        controller.error(error);
        void reader.cancel().catch(() => undefined);
        onEnd(canResume && !(error instanceof McpFailure), error instanceof McpFailure ? error : undefined);
      }
    },
    cancel(reason) {
      return reader.cancel(reason);
    },
  });
}

/** Of the JSON-RPC request in the body of a POST. */
function requestId(init: RequestInit | undefined): number | undefined {
  if (typeof init?.body !== 'string') return undefined;
  const { id, method } = JSON.parse(init.body) as { id?: unknown; method?: unknown };
  return typeof id === 'number' && typeof method === 'string' ? id : undefined;
}

/** What went wrong with a POST, as a failure: its status, or that nobody was reached. */
function toFailure(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  const status = (error as { code?: unknown }).code;
  if (typeof status !== 'number' || status < 0) return new McpFailure('ended', 'cannot be reached', { cause: error });
  // 404 says that it does not know our session; others concern this one request.
  if (status === 404) return new McpFailure('ended', 'has forgotten this session (HTTP 404)', { cause: error });
  const said = error instanceof Error ? `: ${error.message.slice(0, 1_000)}` : '';
  return new McpFailure('refused', `answered HTTP ${status}${said}`, { code: status, cause: error });
}
