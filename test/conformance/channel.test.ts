// The contracts of channels and of workers, kept by ours.
import { existsSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { channelCases, linkedChannels, registerCases, scriptedWorkers, workerCases } from '../../src/adapters/testing.ts';
import { compileQuickJs } from '../../src/engine/quickjs-module.ts';
import { createAlone } from '../../src/isolation/awake.ts';
import type { Channel } from '../../src/isolation/channel.ts';
import { confine, findMeans, obstacleTo } from '../../src/isolation/confine.ts';
import { FrameReader, writeMessage } from '../../src/isolation/frames.ts';
import { startInline } from '../../src/isolation/inline.ts';
import { startProcess } from '../../src/isolation/process.ts';
import { readsOf } from '../../src/isolation/reads.ts';
import { startThread } from '../../src/isolation/thread.ts';
import { NODE_24 } from '../helpers/engines.ts';

describe('linked channels', () => {
  registerCases(
    channelCases({
      open() {
        const [near, far] = linkedChannels();
        far.onMessage = (text, image, beside) => far.send(text, image, beside);
        return { near, lose: () => near.onLost(new Error('gone')) };
      },
      skip: { 'a far side that goes away: is told once': 'both ends are in one thread: nothing goes away by accident' },
    }),
    { describe, test },
  );
});

describe('the frames of a child process', () => {
  registerCases(
    channelCases({
      open() {
        const [left, right] = duplexPair();
        const near = framed(left);
        const far = framed(right);
        far.onMessage = (text, image, beside) => far.send(text, image, beside);
        return { near, lose: () => right.destroy() };
      },
    }),
    { describe, test },
  );
});

test.each([
  ['turns messages round', (text: string) => [...text].reverse().join(''), 'arrives as it was sent, whatever is in it'],
  ['cuts long ones', (text: string) => text.slice(0, 1_000_000), 'may be megabytes long'],
  ['loses one in a hundred', (text: string) => (text.startsWith('100 ') ? undefined : text), 'arrives once, in the order of sending'],
])('a channel that %s is found out', { timeout: 60_000 }, async (_what, change, found) => {
  const cases = channelCases({
    open() {
      const { port1, port2 } = new MessageChannel();
      port2.on('message', ([text, image]: [string, ArrayBuffer | undefined]) => {
        const changed = change(text);
        if (changed !== undefined) port2.postMessage([changed, image]);
      });
      const near: Channel = {
        send: (text, image) => port1.postMessage([text, image]),
        onMessage: () => undefined,
        onLost: () => undefined,
        async close() {
          port1.close();
        },
      };
      port1.on('message', ([text, image]: [string, ArrayBuffer | undefined]) => near.onMessage(text, image));
      return { near };
    },
  });
  const one = cases.find(({ name }) => name === found);
  await expect(one?.run()).rejects.toThrow();
});

const wasm = await compileQuickJs();
const means = await findMeans();
const obstacle = await obstacleTo(process.execPath, means);
const child = (engine: 'quickjs' | 'v8', sandbox: 'none' | 'os') => (): Channel =>
  startProcess({
    start: { engine, allowNode22: false },
    node: engine === 'v8' ? NODE_24 : process.execPath,
    reads: readsOf(engine),
    limits: {},
    confine: (command) => confine(command, sandbox, means),
    alone: createAlone(),
  });

describe('workers in a thread', () => {
  registerCases(workerCases({ spawn: () => startThread(wasm, createAlone()) }), { describe, test });
});

describe('workers inline', () => {
  const skip = { 'a worker: can be closed in the middle of a loop': 'an inline guest blocks the host, which cannot close anything then' };
  registerCases(workerCases({ spawn: () => startInline(wasm), skip }), { describe, test });
});

describe('workers in a child process', () => {
  registerCases(workerCases({ spawn: child('quickjs', 'none') }), { describe, test });
});

describe.skipIf(obstacle !== undefined)(
  `workers in a child process under the operating system's sandbox (${obstacle ?? 'it runs here'})`,
  () => {
    registerCases(workerCases({ spawn: child('quickjs', 'os') }), { describe, test });
  },
);

describe.skipIf(!existsSync(NODE_24))('workers with v8 (needs the development dependency node)', () => {
  registerCases(workerCases({ spawn: child('v8', 'none') }), { describe, test });
});

describe.skipIf(!existsSync(NODE_24) || obstacle !== undefined)("workers with v8 under the operating system's sandbox", () => {
  registerCases(workerCases({ spawn: child('v8', 'os') }), { describe, test });
});

test('workers that run nothing keep none of the claims about programs', { timeout: 60_000 }, async () => {
  const cases = workerCases({ spawn: () => scriptedWorkers(['out log "x"']).spawn() });
  const answers = cases.find(({ name }) => name === 'answers each entry with one turn, signed by itself');
  await expect(answers?.run()).rejects.toThrow();
});

/** A channel of frames over any stream. */
function framed(stream: Duplex): Channel {
  let closed = false;
  const channel: Channel = {
    carriesBytes: true,
    send(text, image, beside) {
      if (!closed) for (const part of writeMessage(text, image, beside)) stream.write(part);
    },
    onMessage: () => undefined,
    onLost: () => undefined,
    async close() {
      closed = true;
      stream.destroy();
    },
  };
  const reader = new FrameReader((text, image, beside) => {
    if (!closed) channel.onMessage(text, image, beside);
  });
  stream.on('data', (chunk: Buffer) => reader.push(chunk));
  stream.on('error', () => undefined);
  stream.on('close', () => {
    if (closed) return;
    closed = true;
    channel.onLost(new Error('The stream has ended.'));
  });
  return channel;
}

/** Two streams that are each other's far end. */
function duplexPair(): [Duplex, Duplex] {
  const create = (other: () => Duplex): Duplex =>
    new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        const peer = other();
        setImmediate(() => {
          if (!peer.destroyed) peer.push(chunk);
          done();
        });
      },
      destroy(error, done) {
        const peer = other();
        if (!peer.destroyed) setImmediate(() => peer.destroy());
        done(error);
      },
    });
  const left: Duplex = create(() => right);
  const right: Duplex = create(() => left);
  return [left, right];
}
