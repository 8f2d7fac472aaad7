// The first file of a child process: a channel over the pipe that it was given, an engine, and the jail that uses both. Whatever goes wrong
// here, and however the host goes, the process is ended by SIGKILL: leaving in good order crashes with an isolate, and waits for a guest.
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import type { Engine } from '../engine/engine.ts';
import type { Channel } from './channel.ts';
import { FrameReader, LARGEST_FRAME_BYTES, MOST_FRAME_BYTES, writeMessage } from './frames.ts';
import { serveJail } from './jail.ts';

/** The first thing that the host says to a child, as JSON. */
export interface ChildStart {
  readonly engine: 'quickjs' | 'v8';
  readonly allowNode22: boolean;
  /** Whether the system does not end the child when the host dies, so that it has to see to it itself. */
  readonly watch: boolean;
  /** Longest part of a message. */
  readonly mostBytes: number;
}

/** The descriptors that the host gives a child. */
const CONVERSATION = 3;
const LIFELINE = 4;

/** A thread that sleeps until the host's end of the lifeline is gone: the only one that notices while a guest is in native code. */
const WATCHER = `
  const { readSync } = require('node:fs');
  require('node:worker_threads').parentPort.postMessage('watching');
  for (;;) {
    try {
      if (readSync(${LIFELINE}, Buffer.alloc(1)) === 0) break;
    } catch (error) {
      if (error.code !== 'EAGAIN' && error.code !== 'EINTR') break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
  process.kill(process.pid, 'SIGKILL');
`;

const pipe = new Socket({ fd: CONVERSATION, readable: true, writable: true });
let mostBytes = MOST_FRAME_BYTES;
// The host keeps to its own bounds.
const reader = new FrameReader((text, image, beside) => channel.onMessage(text, image, beside), LARGEST_FRAME_BYTES);
const channel: Channel = {
  get mostBytes() {
    return mostBytes;
  },
  carriesBytes: true,
  canBeEnded: true,
  send(text, image, beside) {
    for (const part of writeMessage(text, image, beside, mostBytes)) pipe.write(part);
  },
  departure() {
    return pipe.writableNeedDrain ? new Promise((resolve) => pipe.once('drain', () => resolve())) : undefined;
  },
  onMessage(text) {
    begin(JSON.parse(text) as ChildStart).catch(end);
  },
  onLost: () => undefined,
  async close() {
    end();
  },
};
pipe.on('data', (chunk: Buffer) => {
  try {
    reader.push(chunk);
  } catch (error) {
    end(error);
  }
});
pipe.on('end', () => end());
pipe.on('error', () => end());
process.on('uncaughtException', end);
process.on('unhandledRejection', end);

async function begin({ watch, mostBytes: most, ...start }: ChildStart): Promise<void> {
  mostBytes = most;
  // What the host says meanwhile waits for the jail.
  const early: Parameters<Channel['onMessage']>[] = [];
  channel.onMessage = (...message) => void early.push(message);
  const [engine] = await Promise.all([open(start), watch ? watchHost() : undefined]);
  serveJail(channel, engine, end);
  for (const message of early) channel.onMessage(...message);
}

/** Resolves when the watcher is at its post: one that starts when a guest is stuck already would never get there. */
function watchHost(): Promise<void> {
  const watcher = new Worker(WATCHER, { eval: true, env: {}, execArgv: [] });
  watcher.on('error', end);
  return new Promise((resolve) => watcher.once('message', () => resolve()));
}

async function open({ engine, allowNode22 }: Omit<ChildStart, 'watch' | 'mostBytes'>): Promise<Engine> {
  if (engine === 'v8') return (await import('../engine/v8.ts')).createV8({ allowNode22 });
  const [{ compileQuickJs }, { createQuickJs }] = await Promise.all([
    import('../engine/quickjs-module.ts'),
    import('../engine/quickjs.ts'),
  ]);
  return createQuickJs(await compileQuickJs());
}

function end(reason?: unknown): void {
  try {
    if (reason !== undefined) writeSync(2, `${reason instanceof Error ? reason.stack : String(reason)}\n`);
  } catch {
    // Nobody is there to read it.
  }
  process.kill(process.pid, 'SIGKILL');
}
