// A page on this machine where a person watches what programs do: the server of it. Everything that it shows is hostile text, so the page gets
// data only, under a policy that lets it load nothing else. Not here: the page (watch-page/), what the events are (observe.ts).
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CodeMode, CodeModeError, type CodeModeEvent, type WatchedArtifact } from '../index.ts';
import { type Trace, type TraceEvent, writtenEvent } from './trace.ts';

export interface WatchOptions {
  /** Default: any that is free. */
  readonly port?: number | undefined;
}

export interface Watching {
  /** With a random token: whoever has it may watch. */
  readonly url: string;
  /** Ends all connections. Safe to call twice. */
  close(): Promise<void>;
}

/** What can be watched: a code mode, from now on, or a trace that was read. */
export type Watched = Pick<CodeMode, 'observe'> | Trace;

/** Events that are kept for a page that is opened later. */
const MOST_EVENTS = 100_000;
const MOST_CHARACTERS = 128 * 1024 * 1024;
/** Artifacts that can be previewed: the newest. */
const MOST_ARTIFACTS = 500;
/** Bytes of an artifact that a page is shown. */
const MOST_SHOWN = 8 * 1024 * 1024;
/** How often pages are told, and how much a slow one may have waiting before it is left to connect again. */
const TELL_MS = 50;
const MOST_BEHIND = 64 * 1024 * 1024;
/** Characters of one message. */
const MESSAGE = 512 * 1024;
const MOST_PAGES = 20;

/**
 * Serves the page on 127.0.0.1: `const { url } = await serveWatch(codeMode)`. Give `createCodeMode` the option `capture`, or the page shows names and
 * times only. Rejects with `option_invalid` when the port is taken.
 */
export async function serveWatch(watched: Watched, { port = 0 }: WatchOptions = {}): Promise<Watching> {
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new CodeModeError('option_invalid', `\`port\` should be a whole number from 0 to 65535, but is ${String(port)}.`);
  if (!('observe' in watched) && !Array.isArray(watched.events))
    throw new CodeModeError('option_invalid', 'serveWatch() takes a code mode, or a trace that readTrace() gave.');
  const assets = await loadAssets();
  const log = new Log();
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => void answer(request, response));
  // Nothing that is sent to it is long.
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  await listen(server, port);
  const { port: bound } = server.address() as AddressInfo;
  const hosts = [`127.0.0.1:${bound}`, `localhost:${bound}`];
  const unsubscribe = 'observe' in watched ? watched.observe({ on: (event) => log.add(event) }) : log.fill(watched.events);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { method, headers } = request;
    // A name that somebody else's page resolves to this machine is not one of these.
    if (!hosts.includes(headers.host ?? '')) return refuse(response, 421, 'This address is not served here.');
    if (headers.origin !== undefined && !hosts.some((host) => headers.origin === `http://${host}`))
      return refuse(response, 403, 'Other pages may not look in here.');
    if (method !== 'GET' && method !== 'HEAD') return refuse(response, 405, 'There is nothing to be changed here.');
    // Browsers ask for it without being told to.
    if (request.url === '/favicon.ico') {
      response.writeHead(204).end();
      return;
    }
    const [, given = '', name = '', runId = '', id = ''] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
    if (!same(given, token)) return refuse(response, 404, 'Open the address that callgate printed, with its token.');
    switch (name) {
      case '':
      case 'page.js':
      case 'page.css': {
        // Without the slash at its end the page would look for its parts elsewhere.
        if (name === '' && !/^\/[^/?]+\//.test(request.url ?? '')) {
          response.writeHead(308, { location: `/${token}/` }).end();
          return;
        }
        const { type, body } = assets[name === '' ? 'index.html' : name];
        response.writeHead(200, { 'content-type': type }).end(method === 'HEAD' ? undefined : body);
        return;
      }
      case 'events':
        if (method === 'HEAD') return refuse(response, 405, 'Events are read with GET.');
        return log.stream(request, response);
      case 'artifacts':
        return log.artifact(decode(runId), decode(id), response);
      default:
        return refuse(response, 404, 'There is no such page.');
    }
  }

  let closed: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${bound}/${token}/`,
    close() {
      closed ??= new Promise((resolve) => {
        unsubscribe();
        log.close();
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${why}\n`);
}

function same(given: string, token: string): boolean {
  return given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token));
}

type AssetName = 'index.html' | 'page.js' | 'page.css';
type Assets = Readonly<Record<AssetName, { readonly type: string; readonly body: Buffer }>>;

// From the sources as from the built package: the page is always the built one.
const FOLDER = new URL(import.meta.url.endsWith('.ts') ? '../../dist/watch-page/' : '../watch-page/', import.meta.url);

async function loadAssets(): Promise<Assets> {
  const load = async (name: AssetName, type: string) => ({ type: `${type}; charset=utf-8`, body: await readFile(new URL(name, FOLDER)) });
  return {
    'index.html': await load('index.html', 'text/html'),
    'page.js': await load('page.js', 'text/javascript'),
    'page.css': await load('page.css', 'text/css'),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new CodeModeError('option_invalid', `The page cannot be served on port ${port} (${cause.code}); give another \`port\`, or none.`, {
          cause,
        }),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Everything that pages are told: kept for those that come later, and passed on to those that are open. */
class Log {
  /** JSON of events; the first has the number `#first`. */
  #events: string[] = [];
  #first = 0;
  #characters = 0;
  readonly #artifacts = new Map<string, WatchedArtifact>();
  readonly #pages = new Set<Page>();
  /** What has not been written as JSON yet: not while the work waits. */
  #fresh: CodeModeEvent[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(event: CodeModeEvent): void {
    if (event.type === 'artifact' && event.artifact !== undefined) this.#keep(keyOf(event.runId, event.artifactId), event.artifact);
    this.#fresh.push(event);
    this.#timer ??= setTimeout(() => this.#tell(), TELL_MS).unref();
  }

  fill(events: readonly TraceEvent[]): () => void {
    for (const event of events) this.#push(JSON.stringify(event));
    return () => undefined;
  }

  stream(request: IncomingMessage, response: ServerResponse): void {
    if (this.#pages.size >= MOST_PAGES) {
      refuse(response, 503, 'Too many pages are open.');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const seen = /^\d{1,15}$/.exec(String(request.headers['last-event-id'] ?? ''))?.[0];
    const page: Page = { response, next: seen === undefined ? this.#first : Number(seen) + 1 };
    // A page that was connected to an earlier server of this address has numbers of its own.
    if (page.next > this.#first + this.#events.length) page.next = this.#first;
    this.#pages.add(page);
    response.on('close', () => this.#pages.delete(page));
    this.#flush();
    response.write('retry: 1000\n\n');
    this.#send(page);
  }

  async artifact(runId: string, id: string, response: ServerResponse): Promise<void> {
    const kept = this.#artifacts.get(keyOf(runId, id));
    if (kept?.read === undefined) return refuse(response, 404, 'This artifact cannot be shown here: its bytes are not at hand any more.');
    try {
      const bytes = await kept.read({ end: MOST_SHOWN });
      // An image is shown as one only if it is one; everything else is text to look at, in a page that may do nothing.
      const type = imageType(bytes) ?? 'text/plain; charset=utf-8';
      response.writeHead(200, {
        'content-type': type,
        'content-disposition': 'attachment',
        'content-security-policy': "default-src 'none'; sandbox",
      });
      response.end(bytes);
    } catch {
      refuse(response, 404, 'This artifact cannot be read any more.');
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { response } of this.#pages) response.end();
    this.#pages.clear();
    this.#artifacts.clear();
  }

  #keep(key: string, artifact: WatchedArtifact): void {
    this.#artifacts.set(key, artifact);
    for (const oldest of this.#artifacts.keys()) {
      if (this.#artifacts.size <= MOST_ARTIFACTS) return;
      this.#artifacts.delete(oldest);
    }
  }

  #tell(): void {
    this.#timer = undefined;
    this.#flush();
    for (const page of this.#pages) this.#send(page);
  }

  #flush(): void {
    for (const event of this.#fresh.splice(0)) this.#push(JSON.stringify(writtenEvent(event)));
  }

  #push(json: string): void {
    this.#events.push(json);
    this.#characters += json.length;
    let drop = 0;
    let left = this.#characters;
    while (drop < this.#events.length - 1 && (this.#events.length - drop > MOST_EVENTS || left > MOST_CHARACTERS))
      left -= this.#events[drop++]?.length ?? 0;
    // In bulk: taking one off the front of a long list costs as much as taking many.
    if (drop === 0 || (drop < 1_000 && left < 2 * MOST_CHARACTERS && this.#events.length < MOST_EVENTS + 2_000)) return;
    this.#events.splice(0, drop);
    this.#first += drop;
    this.#characters = left;
  }

  #send(page: Page): void {
    const { response } = page;
    // It connects again by itself, and goes on where it was.
    if (response.writableLength > MOST_BEHIND) {
      response.destroy();
      return;
    }
    if (page.next < this.#first) page.next = this.#first;
    while (page.next < this.#first + this.#events.length) {
      const batch: string[] = [];
      let characters = 0;
      while (characters < MESSAGE && page.next < this.#first + this.#events.length) {
        const json = this.#events[page.next++ - this.#first] ?? '';
        batch.push(json);
        characters += json.length;
      }
      // JSON holds no raw line break, so that no text can end the message.
      response.write(`id: ${page.next - 1}\ndata: [${batch.join(',')}]\n\n`);
      if (response.writableLength > MOST_BEHIND) return;
    }
  }
}

interface Page {
  readonly response: ServerResponse;
  /** Number of the next event that it is sent. */
  next: number;
}

/** An id of an artifact means something in its run alone. */
function keyOf(runId: string, id: string): string {
  return JSON.stringify([runId, id]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** By its first bytes: what a tool says of a file proves nothing. */
function imageType(bytes: Uint8Array): string | undefined {
  const starts = (...magic: number[]): boolean => magic.every((byte, index) => bytes[index] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (starts(0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (starts(0x47, 0x49, 0x46, 0x38)) return 'image/gif';
  if (starts(0x52, 0x49, 0x46, 0x46) && bytes[8] === 0x57 && bytes[9] === 0x45 && bytes[10] === 0x42 && bytes[11] === 0x50)
    return 'image/webp';
  return undefined;
}
