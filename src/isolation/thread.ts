// Workers in threads of this process: the default isolation. A thread can be ended whatever its guest is doing.
import { Worker } from 'node:worker_threads';
import { type Alone, stayAwake } from './awake.ts';
import type { Channel } from './channel.ts';
import type { WorkerStart } from './entry.ts';

// Node cannot load TypeScript in a thread: run from the sources, the thread is the built one.
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? '../../dist/isolation/entry.js' : './entry.js', import.meta.url);

/** Starts a worker thread and gives its channel; the thread says `ready` on it. Never keeps the process alive by itself. */
export function startThread(wasm: WebAssembly.Module, alone: Alone): Channel & { ref(): void; unref(): void } {
  const worker = new Worker(ENTRY, {
    workerData: { wasm, alone } satisfies WorkerStart,
    // The engine's own stack limit is 512 KiB, but its frames are far bigger on the thread's stack.
    // A program's syntax tree is short-lived; with a small young generation, collecting it costs more than making it.
    resourceLimits: { stackSizeMb: 16, maxYoungGenerationSizeMb: 64 },
    // Nothing of the host's environment, arguments or loaders is of use there.
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
  });
  let closing = false;
  const awake = stayAwake(alone);
  const channel = {
    carriesBytes: true,
    send(text: string, image?: ArrayBuffer, beside: readonly ArrayBuffer[] = []): void {
      awake.said();
      if (image === undefined && beside.length === 0) worker.postMessage(text);
      else worker.postMessage([text, image, beside], image === undefined ? beside : [image, ...beside]);
    },
    onMessage: (() => undefined) as Channel['onMessage'],
    onLost: (() => undefined) as Channel['onLost'],
    async close(): Promise<void> {
      closing = true;
      await worker.terminate();
    },
    ref: () => worker.ref(),
    unref: () => worker.unref(),
  };
  const lost = (reason: unknown): void => {
    if (closing) return;
    closing = true;
    channel.onLost(reason);
  };
  worker.on('message', (data: string | [string, ArrayBuffer | undefined, readonly ArrayBuffer[]]) => {
    awake.heard();
    if (typeof data === 'string') channel.onMessage(data);
    else channel.onMessage(...data);
  });
  worker.on('error', lost);
  worker.on('exit', (code) => lost(new Error(`The worker thread exited with code ${code}.`)));
  worker.unref();
  return channel;
}
