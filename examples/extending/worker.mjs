// A worker of one's own, as a process: the channel over the pipe that it was given, the engine, and what serves a host with both.
import { Socket } from 'node:net';
import { serveWorker } from 'callgate/worker';
import { streamChannel } from './stream-channel.mjs';
import { createVmEngine } from './vm-engine.mjs';

const pipe = new Socket({ fd: 3 });
pipe.on('close', () => process.exit());
serveWorker(streamChannel(pipe), createVmEngine(), (error) => {
  console.error(error);
  process.exit(1);
});
