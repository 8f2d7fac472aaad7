// Subjects that do no more than what cannot be avoided: a message to a thread and back, a frame to a child process and back. Others are said to be near to
// them or far.
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { FrameReader, writeMessage } from '../../src/isolation/frames.ts';
import { type Subject, type Task, timed } from './question.ts';

/** Sends a text and gets it back. */
export interface Echo {
  roundTrip(text: string): Promise<void>;
  close(): Promise<unknown>;
}

export function threadEcho(): Echo {
  const worker = new Worker(
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (message) => parentPort.postMessage(message));",
    { eval: true },
  );
  let answered: () => void = () => undefined;
  worker.on('message', () => answered());
  return {
    roundTrip: (text) =>
      new Promise((resolve) => {
        answered = resolve;
        worker.postMessage(text);
      }),
    close: () => worker.terminate(),
  };
}

export function pipeEcho(): Echo {
  const script =
    "const { Socket } = require('node:net'); const s = new Socket({ fd: 3, readable: true, writable: true }); s.on('data', (d) => s.write(d));";
  const mirror = spawn(process.execPath, ['--eval', script], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  // The fourth of its streams is a pipe, as asked for.
  const pipe = mirror.stdio[3] as Socket;
  let answered: () => void = () => undefined;
  const reader = new FrameReader(() => answered());
  pipe.on('data', (chunk: Buffer) => reader.push(chunk));
  return {
    roundTrip: (text) =>
      new Promise((resolve) => {
        answered = resolve;
        for (const part of writeMessage(text)) pipe.write(part);
      }),
    close: async () => mirror.kill('SIGKILL'),
  };
}

/** An echo as a subject: each task sends so many small messages, one after another, ten times over where they are many. */
export function echoSubject(open: () => Echo, tasks: Readonly<Record<string, number>>): Subject {
  return async () => {
    const { roundTrip, close } = open();
    const task = (messages: number): Task => {
      const work = async (): Promise<void> => {
        for (let i = 0; i < messages; i++) await roundTrip('[1,0,{"value":1}]');
      };
      return timed(work, { units: messages, times: messages > 1 ? 10 : 1 });
    };
    return { tasks: Object.fromEntries(Object.entries(tasks).map(([name, messages]) => [name, task(messages)])), close };
  };
}
