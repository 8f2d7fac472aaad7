// What running a program gives: the record that callers, adapters and the command line read.
import type { KeptArtifact } from '../artifacts/kept.ts';
import type { CallRecord } from '../broker/broker.ts';
import type { ErrorKind } from '../protocol/errors.ts';
import type { Warning } from '../protocol/messages.ts';
import type { Isolation } from './engines.ts';

/** Why a program did not complete. Everything in it may be shown to the model. */
export interface ProgramError {
  readonly kind: ErrorKind;
  /** The error's name in the program, for example `TypeError` or `ToolError`. */
  readonly name: string;
  readonly message: string;
  /** Code of a failed call that the program let through, for example `input_invalid`. */
  readonly code?: string;
  /** Position in the text that the model wrote; both from 1. */
  readonly line?: number;
  readonly column?: number;
  /** Three lines of the program around the position, with a caret below it. */
  readonly frame?: string;
  /** What to do about it, where that is known. */
  readonly hint?: string;
  /** The program's own frames, in the model's positions. */
  readonly stack?: string;
}

/** What a program cost. */
export interface Usage {
  /** From `run()` to its result. */
  readonly wallMs: number;
  /** Time in the guest, preparing the text included; waiting for tools is not in it. */
  readonly cpuMs: number;
  readonly calls: number;
  /** Most memory that the program has used, the engine's own share not counted. */
  readonly peakMemoryBytes: number;
}

interface ResultBase {
  /** What the program wrote with `text()` and `console`, pieces joined by line breaks. */
  readonly output: string;
  /** What tools delivered beside their values and what the program saved, in the order of the calls. */
  readonly artifacts: readonly KeptArtifact[];
  /** A short record of every call; never inputs or results. */
  readonly calls: readonly CallRecord[];
  /** Things worth telling that did not stop the program. */
  readonly warnings: readonly Warning[];
  readonly usage: Usage;
  /** What held the program; absent when it never came to run. */
  readonly isolation?: Isolation;
}

/**
 * What became of a program. `value` is a faithful copy of what it returned: plain data, and also Map, Set, bytes, BigInt or
 * errors where it returned such; `toJson(value)` makes JSON of it.
 */
export type RunResult = ResultBase &
  (
    | { readonly status: 'completed'; readonly value: unknown; readonly error?: undefined }
    | { readonly status: 'error'; readonly value?: undefined; readonly error: ProgramError }
    /** Ended by its caller: by the signal, or by `close()`. */
    | { readonly status: 'terminated'; readonly value?: undefined; readonly error: ProgramError }
  );
