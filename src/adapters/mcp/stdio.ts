// A server as a child process that is spoken to over its standard streams: a bare environment, bounded lines, a bounded standard error, and
// an end in steps. Not here: what the messages mean (connection.ts).
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { basename } from 'node:path';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import type { McpLimits } from './limits.ts';
import { LineReader } from './lines.ts';
import type { OwnTransport } from './transport.ts';

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Besides the few variables that any program needs; nothing else of the host's environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly limits: Pick<McpLimits, 'messageBytes' | 'closeMs'>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** What programs need to run at all, and what says who and where they are; never a token. */
const INHERITED =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROGRAMFILES',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERPROFILE',
      ]
    : ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];
/**
 * What only starts the server, which has to end with it: these get a process group of their own. Others do not, since Linux shares out
 * processor time by session: on a busy machine each message to a process of another session takes twice as long.
 */
const LAUNCHERS = new Set([
  'npx',
  'npm',
  'pnpm',
  'pnpx',
  'yarn',
  'bunx',
  'uvx',
  'uv',
  'pipx',
  'poetry',
  'sh',
  'bash',
  'zsh',
  'env',
  'docker',
  'podman',
]);
/** How much of the end of standard error is kept. */
const STDERR_BYTES = 8 * 1024;
/** Lines on standard output that are no messages before the process is ended. */
const MAX_NOISE = 1_000;
/** How long a process of another group may hold the pipes of one that has ended. */
const LEFT_MS = 500;

/** Starts with `start()`; `close()` resolves when the process has ended. */
export class StdioTransport implements OwnTransport {
  onclose: OwnTransport['onclose'];
  onerror: OwnTransport['onerror'];
  // Messages are whatever the line held; connection.ts decides what they are.
  onmessage: ((message: unknown) => void) | undefined;
  onoversized: OwnTransport['onoversized'];
  readonly #options: StdioOptions;
  readonly #hasGroup: boolean;
  #child: Child | undefined;
  #ended: Promise<void> = Promise.resolve();
  #reason = 'was not started';
  #stderr = Buffer.alloc(0);
  #noise = 0;
  #isClosing = false;
  readonly #killAtExit = (): void => this.#kill('SIGKILL');

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#hasGroup = process.platform !== 'win32' && LAUNCHERS.has(basename(options.command));
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    return new Promise((resolve, reject) => {
      const child: Child = spawn(command, args, {
        env: { ...inherited(), ...env },
        cwd,
        stdio: ['pipe', 'pipe', 'pipe'],
        windowsHide: true,
        detached: this.#hasGroup,
      });
      this.#child = child;
      this.#ended = new Promise((ended) => {
        child.once('close', (code, signal) => {
          if (!this.#isClosing) this.#reason = signal === null ? `has ended (exit code ${code})` : `has ended (${signal})`;
          this.#over();
          ended();
        });
        child.once('error', (error: NodeJS.ErrnoException) => {
          // A child that never was does not close.
          if (child.pid !== undefined) return;
          this.#reason = `cannot be started (${error.code ?? error.name})`;
          this.#over();
          ended();
          reject(error);
        });
      });
      child.once('exit', () => {
        // What it started and left behind would hold its pipes open.
        this.#kill('SIGKILL');
        setTimeout(() => destroy(child), LEFT_MS).unref();
      });
      child.once('spawn', () => {
        process.once('exit', this.#killAtExit);
        this.#reason = 'has ended';
        resolve();
      });
      this.#listen(child);
    });
  }

  send(message: object): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || !stdin.writable) return Promise.reject(new Error(this.#reason));
    if (stdin.writableLength > this.#options.limits.messageBytes) {
      return Promise.reject(new Error(`does not read its input; ${stdin.writableLength} bytes wait there`));
    }
    stdin.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    if (!this.#isClosing) {
      this.#isClosing = true;
      if (this.#reason === 'has ended') this.#reason = 'was closed';
      void this.#end(child);
    }
    await this.#ended;
  }

  obituary(): { reason: string; stderr?: string } {
    const stderr = this.#stderr.toString().trim();
    return { reason: this.#reason, ...(stderr !== '' && { stderr }) };
  }

  hold(isHeld: boolean): void {
    const child = this.#child;
    if (child === undefined) return;
    for (const part of [child, child.stdin, child.stdout, child.stderr]) {
      // Pipes are sockets, which can be let go of; their type does not say so.
      const handle = part as { ref?(): void; unref?(): void };
      if (isHeld) handle.ref?.();
      else handle.unref?.();
    }
  }

  #listen({ stdin, stdout, stderr }: Child): void {
    const reader = new LineReader(this.#options.limits.messageBytes, {
      line: (text) => this.#line(text),
      oversized: ({ head, tail, bytes }) => {
        this.#noise = 0;
        this.onoversized?.(idOf(head, tail), bytes);
      },
    });
    const endless = 64 * this.#options.limits.messageBytes;
    stdout.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      if (reader.pending > endless) this.#abandon('sent a message without an end');
    });
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk.subarray(-STDERR_BYTES)]).subarray(-STDERR_BYTES);
    });
    for (const stream of [stdin, stdout, stderr]) stream.on('error', (error) => this.onerror?.(error));
  }

  #line(text: string): void {
    if (text === '' || text === '\r' || this.#isClosing) return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#noise += 1;
      this.onerror?.(new Error('wrote something to its standard output that is no JSON'));
      if (this.#noise > MAX_NOISE) this.#abandon('writes to its standard output what is no JSON, again and again');
      return;
    }
    this.onmessage?.(message);
  }

  /** Ends a process that cannot be talked with. */
  #abandon(reason: string): void {
    if (this.#isClosing) return;
    this.#reason = reason;
    this.#isClosing = true;
    this.#kill('SIGKILL');
  }

  /** Asks, then insists. A server ends by itself when its input does. */
  async #end(child: Child): Promise<void> {
    const { closeMs } = this.#options.limits;
    // The host stays alive until it is sure of the end.
    this.hold(true);
    child.stdin.end();
    if (await this.#endedWithin(closeMs)) return;
    this.#kill('SIGTERM');
    if (await this.#endedWithin(closeMs)) return;
    this.#kill('SIGKILL');
  }

  #endedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    return Promise.race([this.#ended.then(() => true), late]).finally(() => clearTimeout(timer));
  }

  #kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      if (this.#hasGroup) process.kill(-pid, signal);
      else this.#child?.kill(signal);
    } catch {
      // It has ended already.
    }
  }

  #over(): void {
    process.removeListener('exit', this.#killAtExit);
    this.onclose?.();
  }
}

function destroy({ stdin, stdout, stderr }: Child): void {
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
}

function inherited(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Whose answer a message was that is too long to be read: servers write the id first or last. */
function idOf(head: string, tail: string): number | undefined {
  const found =
    /^\{(?:"jsonrpc":"2\.0",)?"id":(\d{1,15})[,}]/.exec(head.replace(/\s+/g, '')) ??
    /[,{]"id":(\d{1,15})(?:,"jsonrpc":"2\.0")?\}$/.exec(tail.replace(/\s+/g, ''));
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
