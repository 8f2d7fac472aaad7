#!/usr/bin/env node
// The process around the command line: real streams, signals and the exit status. Not here: what the commands do (cli.ts).
import { constants } from 'node:os';
import { cli } from './cli.ts';
import { protocolOutput, runApart, speaksProtocol } from './protocol-output.ts';

const protocol = protocolOutput();
if (protocol === undefined && speaksProtocol(process.argv.slice(2))) process.exit(await runApart());

const { stdin, stdout, stderr } = process;
const interruption = new AbortController();
let signalled: 'SIGINT' | 'SIGTERM' | undefined;
/** What a Ctrl-C ends instead of the command: one turn of a conversation. */
let interrupt: (() => void) | undefined;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (signal === 'SIGINT' && signalled === undefined && interrupt !== undefined) {
      interrupt();
      return;
    }
    // The second time somebody does not want to wait for an orderly end.
    if (signalled !== undefined) process.exit(statusOf(signal));
    signalled = signal;
    if (stderr.isTTY) stderr.write('\nStopping; once more to exit at once.\n');
    interruption.abort(new Error(`Interrupted by ${signal}.`));
  });
}

// Whoever started us for the sake of standard output is gone.
if (protocol !== undefined) process.once('disconnect', () => interruption.abort(new Error('The process around this one has ended.')));

// `callgate run … | head` closes our output early, which is no error of ours.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const status = await cli(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  cwd: process.cwd(),
  env: process.env,
  signal: interruption.signal,
  onInterrupt: (handler) => {
    interrupt = handler;
    return () => {
      if (interrupt === handler) interrupt = undefined;
    };
  },
  ...(protocol === undefined ? {} : { protocol }),
});
await Promise.all([flushed(stdout), flushed(stderr)]);
// A tools module may have left sockets and timers behind; the program is over all the same.
process.exit(signalled === undefined ? status : statusOf(signalled));

/** 130 for Ctrl-C, 143 for a polite kill: what a shell expects of a process that a signal ended. */
function statusOf(signal: 'SIGINT' | 'SIGTERM'): number {
  return 128 + constants.signals[signal];
}

/** Resolves when everything written so far has left, or never can. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.errored !== null) resolve();
    else stream.write('', () => resolve());
  });
}
