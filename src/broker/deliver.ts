// What a call gives back: a tool's result as a checked value with artifacts, or a failure that tells the program what it may
// know. The original error never crosses. Not here: the wire form of a value, which `encode` makes.
import { types } from 'node:util';
import { type Artifact, isArtifact, splitResult } from '../artifacts/artifact.ts';
import type { KeptArtifact } from '../artifacts/kept.ts';
import { type CallFailure, CodeModeError, type ErrorCode, shorten } from '../protocol/errors.ts';
import type { CatalogEntry } from '../tools/catalog.ts';
import { copyJson } from '../tools/json.ts';
import type { ParseResult } from '../tools/schema.ts';
import { type Tool, ToolError } from '../tools/tool.ts';
import { isPromiseLike } from './ending.ts';

/** The answer to one call. */
export type Delivery =
  /** With a `warning`, the artifacts beside the value could not be kept: the call went well all the same. */
  { readonly ok: true; readonly value: unknown; readonly artifacts: readonly KeptArtifact[]; readonly warning?: string } | Failed;

/** A call that went wrong. With `fatal`, the whole execution must end, as error kind `limit`. */
export interface Failed {
  readonly ok: false;
  readonly failure: CallFailure;
  readonly fatal?: { readonly kind: 'limit'; readonly limit: 'calls'; readonly message: string };
}

/**
 * A result on its way: a value with the artifacts beside it, not kept yet, or what went wrong. `error` and `value`, as it was before it was
 * encoded, are for the observer.
 */
export type Delivered = {
  readonly delivery: Failed | { readonly ok: true; readonly value: unknown; readonly artifacts: readonly Artifact[] };
  readonly error?: unknown;
  readonly value?: unknown;
};

/** Turns a value into what crosses to the program. Throws `CodeModeError` for what cannot; its message is shown. */
export type Encode = (value: unknown) => unknown;

/**
 * What the program sees of an exception that is no ToolError: a message, or a message with a name, a code and JSON details;
 * an error stands for its own name, message and code, so `(error) => error` shows everything but stacks and causes.
 * `undefined` keeps it hidden.
 */
export type ShowError = (
  error: unknown,
  tool: Tool,
) => string | { readonly message: string; readonly name?: string; readonly code?: unknown; readonly details?: unknown } | undefined;

/** How to deliver. */
export interface DeliverOptions {
  readonly entry: CatalogEntry;
  readonly encode: Encode | undefined;
  /** Taken off before; then `result` is a value alone. */
  readonly artifacts?: readonly Artifact[];
  /** The value has been through its schema. */
  readonly isChecked?: boolean;
}

/** Checks a tool's result against its output schema, takes the artifacts off, and encodes the value. Only a schema may make a promise of it. */
export function deliver(
  result: unknown,
  { entry, encode, artifacts: taken, isChecked = false }: DeliverOptions,
): Delivered | Promise<Delivered> {
  const { tool, path } = entry;
  const { value, artifacts } = (taken === undefined ? splitResult(result) : undefined) ?? {
    value: result,
    artifacts: taken ?? NO_ARTIFACTS,
  };
  if (isArtifact(value)) {
    const error = new CodeModeError(
      'output_invalid',
      `Tool \`${path}\` returned an artifact as its value; return toolResult({ value, artifacts: [artifact] }) instead.`,
    );
    return { delivery: refuse('output_invalid', `Tool \`${path}\` returned something that cannot be passed on.`), error };
  }
  if (tool.output === undefined || isChecked) return encoded(value, artifacts, { path, encode });
  const mismatch = `Tool \`${path}\` returned something that does not match its output schema.`;
  const unchecked = (error: unknown): Delivered => ({ delivery: refuse('output_invalid', mismatch), error });
  const read = (checked: ParseResult): Delivered => {
    if (checked.ok) return encoded(checked.value, artifacts, { path, encode });
    return unchecked(new CodeModeError('output_invalid', `${mismatch} ${sentence(checked.message)}`, { details: { value } }));
  };
  try {
    const checking = tool.output.parse(value);
    return isPromiseLike(checking) ? Promise.resolve(checking).then(read, unchecked) : read(checking);
  } catch (error) {
    return unchecked(error);
  }
}

function encoded(
  value: unknown,
  artifacts: readonly Artifact[],
  { path, encode }: { readonly path: string; readonly encode: Encode | undefined },
): Delivered {
  if (encode === undefined) return { delivery: { ok: true, value, artifacts }, value };
  try {
    return { delivery: { ok: true, value: encode(value), artifacts }, value };
  } catch (error) {
    const reason = CodeModeError.is(error) ? error.message : `it cannot be passed on (${className(error)}).`;
    const code = CodeModeError.is(error) ? error.code : 'output_invalid';
    return { delivery: refuse(code, `Tool \`${path}\` returned a value that the program cannot get: ${reason}`), error };
  }
}

/** What the program sees of what a tool threw. `note` tells the host about parts that could not be shown. */
export function showThrown(
  error: unknown,
  { entry, showError, maxDetailBytes, note }: { entry: CatalogEntry; showError: ShowError | undefined; maxDetailBytes: number; note: Note },
): Failed {
  const { tool, path } = entry;
  if (isToolError(error)) return shown({ message: error.message, code: error.code, details: error.details });
  if (showError !== undefined) {
    try {
      const answer: unknown = showError(error, tool);
      if (typeof answer === 'string') return shown({ message: answer });
      if (typeof answer === 'object' && answer !== null && typeof (answer as { message?: unknown }).message === 'string') {
        return shown(answer as ShownError);
      }
      if (answer !== undefined)
        note('showError() should return a string, { message, name?, code?, details? } or undefined; the error stays hidden.', { answer });
    } catch (thrown) {
      note('showError() threw; the error stays hidden.', { error: thrown });
    }
  }
  return refuse('tool_failed', `Tool \`${path}\` failed (${className(error)}).`);

  function shown({ message, name, code, details }: ShownError): Failed {
    const failure = {
      name: typeof name === 'string' && name !== '' ? shorten(name, 100) : 'ToolError',
      code: typeof code === 'string' && code !== '' ? shorten(code, 200) : 'tool_failed',
      message: shorten(message),
    };
    if (details === undefined) return { ok: false, failure };
    const copied = copyJson(details);
    const problem = copied.ok
      ? byteLength(copied.value) > maxDetailBytes
        ? `they are over ${maxDetailBytes} bytes`
        : undefined
      : copied.problem;
    if (copied.ok && problem === undefined) return { ok: false, failure: { ...failure, details: copied.value } };
    note(`The details of the error of \`${path}\` were left out: ${problem}.`, { error });
    return { ok: false, failure };
  }
}

/** Tells the observer something beside an event of its own. */
export type Note = (message: string, fields: unknown) => void;

/** A failure with one of our own codes. */
export function refuse(code: ErrorCode, message: string): Failed {
  return { ok: false, failure: { name: 'ToolError', code, message: shorten(message) } };
}

/** The class of what was thrown and nothing else of it; a name that looks like no class name is not shown. */
export function className(error: unknown): string {
  try {
    if (!(error instanceof Error) && !types.isNativeError(error)) return error === null ? 'null' : typeof error;
    const { name } = error;
    return typeof name === 'string' && /^[A-Za-z_$][\w$]{0,63}$/.test(name) ? name : 'Error';
  } catch {
    return 'Error'; // a getter that throws
  }
}

/** A fragment as a sentence. */
export function sentence(fragment: string): string {
  return /[.!?…]$/.test(fragment) ? fragment : `${fragment}.`;
}

interface ShownError {
  readonly message: string;
  readonly name?: unknown;
  readonly code?: unknown;
  readonly details?: unknown;
}

const NO_ARTIFACTS: readonly Artifact[] = Object.freeze([]);

function isToolError(error: unknown): error is ToolError {
  try {
    return ToolError.is(error);
  } catch {
    return false; // a proxy that throws
  }
}

function byteLength(json: unknown): number {
  return Buffer.byteLength(JSON.stringify(json));
}
