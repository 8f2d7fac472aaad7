// Errors as every side knows them: the host's own mistakes (CodeModeError) and what a program's end looks like
// (ErrorKind). Not here: how a guest error becomes what the model reads (program/diagnose.ts).

/**
 * Why a program ended in status `error`:
 * - `syntax`: the text is not a program (nothing ran); - `type`: the type check before running found a mistake (nothing ran); - `program`: it threw; - `timeout`: out of wall or CPU time;
 * - `memory`: out of memory; - `limit`: another limit of the limits table, named in the message;
 * - `unserializable`: it returned a value that cannot cross, the message names the path;
 * - `deadlock`: it awaits something that nothing can settle any more; - `aborted`: the caller's signal or `close()` ended it;
 * - `fault`: the sandbox itself broke; only this program is affected.
 */
export type ErrorKind =
  | 'syntax'
  | 'type'
  | 'program'
  | 'timeout'
  | 'memory'
  | 'limit'
  | 'unserializable'
  | 'deadlock'
  | 'aborted'
  | 'fault';

/** The codes of `CodeModeError`, and of the errors that a failed call shows to the program. */
export type ErrorCode =
  // mistakes of the host's own code, thrown
  | 'option_invalid'
  | 'limit_invalid'
  | 'tool_invalid'
  | 'schema_invalid'
  | 'name_invalid'
  | 'name_collision'
  | 'catalog_failed'
  | 'cleanup_failed'
  | 'closed'
  | 'store_failed'
  | 'sandbox_unavailable'
  | 'engine_unavailable'
  // answers to a call, seen by the program
  | 'tool_unknown'
  | 'input_invalid'
  | 'call_refused'
  | 'call_deadlock'
  | 'tool_timeout'
  | 'tool_failed'
  | 'output_invalid'
  | 'limit_exceeded'
  | 'aborted'
  // the sandbox
  | 'fault';

const MARK = Symbol.for('callgate.CodeModeError');

/**
 * The one error class of this library. Branch on `code`; `message` is a sentence for people and models.
 * `CodeModeError.is(value)` also recognises errors of another copy of this package.
 */
export class CodeModeError extends Error {
  override readonly name: string = 'CodeModeError';
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, { details = {}, cause }: { details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    Object.defineProperty(this, MARK, { value: true });
  }

  static is(value: unknown): value is CodeModeError {
    return typeof value === 'object' && value !== null && MARK in value;
  }
}

/** What the program sees of a failed call: an `Error` of this name, code and message. Never a host stack or path. */
export interface CallFailure {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

/** Longest message that crosses to a guest or into a result, in UTF-16 units; longer ones are cut in the middle. */
export const MESSAGE_LENGTH = 4096;

/** Cuts a text in its middle, at a character boundary, and says how much is missing. */
export function shorten(text: string, length: number = MESSAGE_LENGTH): string {
  if (text.length <= length) return text;
  const half = Math.floor((length - 40) / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, '');
  return `${head} … ${text.length - head.length - tail.length} characters left out … ${tail}`;
}
