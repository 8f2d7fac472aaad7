// The first file of a worker thread: a channel over the thread's port, an engine, and the jail that uses both.
import { parentPort, workerData } from 'node:worker_threads';
import { createQuickJs } from '../engine/quickjs.ts';
import { type Alone, stayAwake } from './awake.ts';
import type { Channel } from './channel.ts';
import { serveJail } from './jail.ts';

/** What the host starts a worker thread with. */
export interface WorkerStart {
  readonly wasm: WebAssembly.Module;
  readonly alone: Alone;
}

if (parentPort === null) throw new Error('This file is a worker thread; it is started by thread.ts.');
const port = parentPort;

// The channel has a reader before the first message: what comes while the engine boots waits in the port.
const { wasm, alone } = workerData as WorkerStart;
const engine = await createQuickJs(wasm);
const channel: Channel = {
  carriesBytes: true,
  canBeEnded: true,
  send(text, image, beside = []) {
    if (image === undefined && beside.length === 0) port.postMessage(text);
    else port.postMessage([text, image, beside], image === undefined ? beside : [image, ...beside]);
  },
  onMessage: () => undefined,
  onLost: () => undefined,
  async close() {
    port.close();
  },
};
serveJail(channel, engine, (error) => {
  // An error of ours, not of a program: the thread ends, and the host sees why.
  setImmediate(() => {
    throw error;
  });
});
const awake = stayAwake(alone);
port.on('message', (data: string | [string, ArrayBuffer | undefined, readonly ArrayBuffer[]]) => {
  awake.heard();
  if (typeof data === 'string') channel.onMessage(data);
  else channel.onMessage(...data);
  awake.said();
});
