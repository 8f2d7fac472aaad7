// Workers in processes of their own: a boundary of the operating system between the guest and the host. What the child inherits is three
// pipes: its errors, the conversation, and one that tells it by its end that the host is gone. Not here: what is said (protocol/messages.ts),
// how the system holds the child (confine.ts), what runs in it (process-entry.ts).
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Alone, type Awake, stayAwake } from './awake.ts';
import type { Channel } from './channel.ts';
import type { Command, Confined, InForce } from './confine.ts';
import { FrameError, FrameReader, MOST_FRAME_BYTES, writeMessage } from './frames.ts';
import type { ChildStart } from './process-entry.ts';
import type { ResourceLimits } from './resource-limits.ts';

// Run from the sources, the child is the built one, as a thread is.
const ENTRY = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/isolation/process-entry.js' : './process-entry.js', import.meta.url),
);

/** What a child is. */
export interface ChildOptions {
  /** What it is to run; whether it has to watch over its host is known here. */
  readonly start: Omit<ChildStart, 'watch' | 'mostBytes'>;
  /** Longest part of a message in bytes. Default 64 MiB. */
  readonly mostBytes?: number;
  /** The Node binary that it runs on. */
  readonly node: string;
  /** Files and folders that it reads. */
  readonly reads: readonly string[];
  readonly limits: ResourceLimits;
  /** Makes the command that starts it. */
  readonly confine: (command: Command) => Promise<Confined>;
  readonly alone: Alone;
  /** Told what holds the child, once it has been started. */
  readonly onStart?: (inForce: InForce) => void;
}

/** Options of the child's Node. */
const FLAGS: Readonly<Record<ChildStart['engine'], readonly string[]>> = {
  // The engine's own stack limit is 512 KiB, but its frames are far bigger on the process's stack, which is 8 MiB nearly everywhere.
  // A program's syntax tree is short-lived: see thread.ts.
  quickjs: ['--stack-size=7000', '--max-semi-space-size=64', '--no-addons'],
  // Without the first one isolated-vm crashes. A program is short-lived and so are its values: an isolate that starts with a small young
  // generation spends twice as long on text as Node does.
  v8: ['--no-node-snapshot', '--min-semi-space-size=8', '--max-semi-space-size=8'],
};
/** Most that is kept of what a child wrote to its standard error: the last words say why it died. */
const MOST_STDERR = 4096;
/** What V8 and the allocator of Node say before they abort. */
const OUT_OF_MEMORY = /out of memory|heap limit|allocation failed|invalid size error|is_heap_oom|bad_alloc/i;
/** What every child is held to: it writes no file; descriptors are its pipes and what Node opens for itself. */
export const CHILD_LIMITS: ResourceLimits = { descriptors: 64, fileBytes: 0 };
/** After a child has exited, its pipes may still hold its last words. */
const LAST_WORDS_MS = 200;

/** Starts a child process and gives its channel; the child says `ready` on it. Keeps the process alive only between `ref` and `unref`. */
export function startProcess(options: ChildOptions): Channel & { ref(): void; unref(): void } {
  return new ChildWorker(options);
}

class ChildWorker implements Channel {
  onMessage: Channel['onMessage'] = () => undefined;
  onLost: Channel['onLost'] = () => undefined;
  readonly carriesBytes = true;
  readonly #mostBytes: number;
  readonly #options: ChildOptions;
  readonly #awake: Awake;
  readonly #gone: Promise<void>;
  /** What was said before the child was there. */
  readonly #early: Uint8Array[] = [];
  #child: ChildProcess | undefined;
  #pipes: readonly Socket[] = [];
  #lastWords = '';
  /** It said that it had no memory left. */
  #ranOut = false;
  #held = false;
  /** It has been told to go, or has been reported as lost. */
  #over = false;

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#mostBytes = options.mostBytes ?? MOST_FRAME_BYTES;
    this.#awake = stayAwake(options.alone);
    this.#gone = this.#live();
  }

  send(text: string, image?: ArrayBuffer, beside?: readonly ArrayBuffer[]): void {
    let parts: readonly Uint8Array[];
    try {
      parts = writeMessage(text, image, beside, this.#mostBytes);
    } catch (error) {
      // What it was to be told cannot be said: it is of no more use. Not lost in the middle of the caller's own sentence.
      queueMicrotask(() => {
        this.#lose(error);
        this.#child?.kill('SIGKILL');
      });
      return;
    }
    if (this.#child === undefined) {
      this.#early.push(...parts);
      return;
    }
    this.#awake.said();
    this.#write(parts);
  }

  ref(): void {
    this.#held = true;
    this.#child?.ref();
    for (const pipe of this.#pipes) pipe.ref();
  }

  unref(): void {
    this.#held = false;
    this.#child?.unref();
    for (const pipe of this.#pipes) pipe.unref();
  }

  async close(): Promise<void> {
    this.#over = true;
    // Whoever waits for this would be left waiting if the process ended for want of anything else to do.
    this.ref();
    // Never asked politely: its guest may be in native code, and disposing of an isolate at exit crashes.
    this.#child?.kill('SIGKILL');
    await this.#gone;
  }

  /** From its folder's making to its removal. Never rejects. */
  async #live(): Promise<void> {
    let scratch: string | undefined;
    try {
      scratch = await mkdtemp(join(tmpdir(), 'callgate-'));
      const confined = await this.#confine(scratch);
      try {
        if (this.#over) return;
        await this.#run(confined, scratch);
      } finally {
        confined.release();
      }
    } catch (error) {
      this.#lose(error);
    } finally {
      if (scratch !== undefined) await remove(scratch);
    }
  }

  #confine(scratch: string): Promise<Confined> {
    const { node, start, reads, limits, confine } = this.#options;
    return confine({
      file: node,
      args: [...FLAGS[start.engine], ENTRY],
      reads,
      scratch,
      limits: { ...CHILD_LIMITS, ...limits },
    });
  }

  /** Resolves when the child has gone. */
  async #run({ file, args, stdio, release, inForce }: Confined, scratch: string): Promise<void> {
    const child = spawn(file, args, { cwd: scratch, env: {}, stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'ignore', ...stdio] });
    release();
    this.#child = child;
    const [, , errors, conversation, lifeline] = child.stdio as unknown as readonly (Socket | undefined)[];
    const gone = new Promise<void>((resolve) => {
      child.on('error', (error) => {
        // It could not be started; `exit` does not come then.
        if (child.pid === undefined) resolve();
        this.#lose(error);
      });
      child.on('exit', () => setTimeout(resolve, LAST_WORDS_MS));
      child.on('close', resolve);
    });
    if (errors !== undefined && conversation !== undefined && lifeline !== undefined) {
      this.#pipes = [errors, conversation, lifeline];
      for (const pipe of this.#pipes) pipe.on('error', () => child.kill('SIGKILL'));
      errors.setEncoding('latin1').on('data', (text: string) => {
        const words = this.#lastWords + text;
        this.#ranOut ||= OUT_OF_MEMORY.test(words);
        this.#lastWords = words.slice(-MOST_STDERR);
      });
      // Once it has started it needs no folder: so none is left behind, however this process ends.
      this.#listen(child, conversation, () => void remove(scratch));
    }
    if (this.#held) this.ref();
    else this.unref();
    const start: ChildStart = { ...this.#options.start, watch: !inForce.diesWithParent, mostBytes: this.#mostBytes };
    this.#write([...writeMessage(JSON.stringify(start)), ...this.#early.splice(0)]);
    this.#options.onStart?.(inForce);
    await gone;
    this.#lose(this.#reasonOf(child));
  }

  #listen(child: ChildProcess, conversation: Socket, onStarted: () => void): void {
    let started = false;
    const reader = new FrameReader((text, image, beside) => {
      this.#awake.heard();
      if (!started) onStarted();
      started = true;
      this.onMessage(text, image, beside);
    }, this.#mostBytes);
    conversation.on('data', (chunk: Buffer) => {
      // Whoever could not be understood once is not heard again.
      if (this.#over) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#lose(error);
        child.kill('SIGKILL');
      }
    });
    conversation.on('close', () => {
      if (!reader.whole) this.#lose(new FrameError('The conversation with a child process ended in the middle of a message.'));
      child.kill('SIGKILL');
    });
  }

  #write(parts: readonly Uint8Array[]): void {
    const [, conversation] = this.#pipes;
    if (conversation?.writable !== true) return;
    for (const part of parts) conversation.write(part);
  }

  #lose(reason: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.onLost(reason);
  }

  #reasonOf({ exitCode, signalCode }: ChildProcess): Error {
    const how = signalCode === null ? `with code ${exitCode}` : `by ${signalCode}`;
    const error = new Error(`The child process ended ${how}.${this.#lastWords === '' ? '' : ` It wrote: ${this.#lastWords}`}`);
    return this.#ranOut ? Object.assign(error, { code: 'ERR_WORKER_OUT_OF_MEMORY' }) : error;
  }
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
