// Standard output for a protocol alone. What a tools module prints, what its native code writes and what its child processes inherit must not
// get between the messages, so the work is done in a process of its own, whose standard output is our standard error and which has the real
// one under another number. Not here: the protocol.
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import process from 'node:process';
import type { Writable } from 'node:stream';

const VARIABLE = 'CALLGATE_PROTOCOL_FILE';
const FILE = 3;

/** Whether the command with these arguments speaks a protocol on standard output. */
export function speaksProtocol(args: readonly string[]): boolean {
  return args[0] === 'serve' && !args.some((arg) => /^(--http(=.*)?|--help|-h)$/.test(arg));
}

/** The real standard output, in the process that `runApart` has started; `undefined` in any other. */
export function protocolOutput(): Writable | undefined {
  if (process.env[VARIABLE] === undefined) return undefined;
  delete process.env[VARIABLE];
  try {
    return new Socket({ fd: FILE, readable: false });
  } catch {
    // Not a pipe, not a socket: a file or a terminal.
    return createWriteStream('', { fd: FILE });
  }
}

/** Runs this command in the process that it belongs in, and resolves with its exit status. */
export function runApart(): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    // Its 0 and 2 are ours, its 1 is our 2, its 3 is our 1; it notices by the channel if we are gone.
    stdio: [0, 2, 2, 1, 'ipc'],
    env: { ...process.env, [VARIABLE]: '1' },
  });
  // From a terminal the child has got it too.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
