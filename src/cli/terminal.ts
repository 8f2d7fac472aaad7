// The process as the command line sees it, so that it can run inside a test as well. Not here: the real one (main.ts).
import type { Readable, Writable } from 'node:stream';
import pc from 'picocolors';

/** Streams, place and wishes of whoever called. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when somebody wants the command to stop. */
  readonly signal?: AbortSignal;
  /** Until the returned function is called, a Ctrl-C calls `handler` instead of aborting `signal`. */
  onInterrupt?(handler: () => void): () => void;
  /** The real standard output when `stdout` leads elsewhere, so that a protocol has it to itself. */
  readonly protocol?: Writable;
}

/** Where text goes: a stream, which may be a terminal. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Whether lines of standard error can be rewritten in place. */
export function canRewrite({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>): boolean {
  return stderr.isTTY === true && env['TERM'] !== 'dumb';
}

export type Colors = ReturnType<typeof pc.createColors>;

/** Colours for standard error, the only stream that gets any: on a terminal, unless NO_COLOR or a dumb terminal forbids; FORCE_COLOR asks for them anywhere. */
export function colorsFor({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>): Colors {
  const isForced = env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '' && env['FORCE_COLOR'] !== '0';
  const isTerminal = stderr.isTTY === true && env['TERM'] !== 'dumb' && env['FORCE_COLOR'] !== '0';
  return pc.createColors(!env['NO_COLOR'] && (isForced || isTerminal));
}
