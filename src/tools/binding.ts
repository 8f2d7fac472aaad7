// The application's side of one agent run, given to tools and providers: identity, once-per-run work, closers.
// Not here: which tools a run has (provider.ts) and how their calls are checked (broker).
import { randomUUID } from 'node:crypto';
import { CodeModeError } from '../protocol/errors.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { copyJson, describe } from './json.ts';
import { Turns } from './turns.ts';

/** Who and what a run is for, said by the application. Never inferred from model output. */
export interface Invocation {
  readonly actorId?: string;
  /** Request facts of the application: any JSON object. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Where the request came from, for example `slack` or `cli`. */
  readonly interface?: string;
}

export interface Run {
  readonly id: string;
  readonly invocation: Invocation;
  /** Runs `work` at most once successfully per key and run; later callers get the same value, a failure leaves the key free. */
  once<T>(key: string, work: () => T | Promise<T>): Promise<T>;
  /** Calls `closer` when the run ends: in reverse order, all attempted. Throws after the run has ended. */
  register(closer: () => void | Promise<void>): void;
}

/** What a provider and `availableIf` are asked with. */
export interface Binding {
  readonly run: Run;
  readonly state: Record<string, unknown>;
  /** The files of the run; absent unless `createCodeMode` has the option `workspace`. */
  readonly workspace?: Workspace | undefined;
}

/** The run as its owner holds it: a binding for tools, the lock that its exclusive tools share, and the way to end it. */
export interface RunHandle extends Binding {
  /** Shared by all executions of the run. */
  readonly exclusive: Turns;
  /** How many calls the run has made, in all its executions: what the limit `calls` counts. */
  readonly count: { calls: number };
  /** Given before the tools are collected. */
  workspace: Workspace | undefined;
  /** Runs the registered closers, last first, all attempted, once. Rejects with `cleanup_failed` for the first that failed. */
  close(): Promise<void>;
}

/** Starts a run. `id` is generated when absent; `invocation` is checked (`option_invalid`), copied and frozen. */
export function createRun({
  id,
  invocation,
}: {
  readonly id?: string | undefined;
  readonly invocation?: Invocation | undefined;
} = {}): RunHandle {
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    throw new CodeModeError('option_invalid', `The \`id\` of a run should be a text that is not empty, but is ${describe(id)}.`);
  }
  const run = new ActiveRun(id ?? randomUUID(), checkInvocation(invocation));
  return { run, state: {}, exclusive: new Turns(1), count: { calls: 0 }, workspace: undefined, close: () => run.close() };
}

/** Something to do at the end, in reverse order of registration. */
export type Closer = () => void | Promise<void>;

/** Calls every closer, last first and one after another, whatever the others do; rejects with `cleanup_failed` for the first failure. */
export async function closeAll(closers: readonly Closer[], owner: string): Promise<void> {
  const failures: unknown[] = [];
  for (const closer of closers.toReversed()) {
    try {
      await closer();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 0) return;
  const first = failures[0];
  const message = first instanceof Error ? first.message : String(first);
  throw new CodeModeError(
    'cleanup_failed',
    `Closing ${owner} failed for ${failures.length} of ${closers.length}; the first said: ${message}`,
    {
      cause: first,
      details: { failures },
    },
  );
}

class ActiveRun implements Run {
  readonly id: string;
  readonly invocation: Invocation;
  readonly #once = new Map<string, Promise<unknown>>();
  readonly #closers: Closer[] = [];
  #closed: Promise<void> | undefined;

  constructor(id: string, invocation: Invocation) {
    this.id = id;
    this.invocation = invocation;
  }

  async once<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    this.#checkOpen('once');
    const earlier = this.#once.get(key);
    // One key stands for one piece of work, so whoever asks for it again asks for the same type.
    if (earlier !== undefined) return earlier as Promise<T>;
    const attempt = (async () => work())();
    this.#once.set(key, attempt);
    try {
      return await attempt;
    } catch (error) {
      this.#once.delete(key);
      throw error;
    }
  }

  register(closer: Closer): void {
    this.#checkOpen('register');
    if (typeof closer !== 'function')
      throw new CodeModeError('option_invalid', `run.register() takes a function, not ${describe(closer)}.`);
    this.#closers.push(closer);
  }

  close(): Promise<void> {
    this.#closed ??= closeAll(this.#closers, `run ${this.id}`);
    return this.#closed;
  }

  #checkOpen(method: string): void {
    if (this.#closed !== undefined)
      throw new CodeModeError('closed', `The run ${this.id} has ended; run.${method}() works only while it is open.`);
  }
}

function checkInvocation(invocation: unknown): Invocation {
  if (invocation === undefined) return Object.freeze({});
  const copied = copyJson(invocation);
  if (!copied.ok) throw new CodeModeError('option_invalid', `\`invocation\` should be a JSON object, but ${copied.problem}.`);
  if (!isObject(copied.value)) {
    throw new CodeModeError(
      'option_invalid',
      `\`invocation\` should be an object such as { actorId: 'user-1' }, not ${describe(invocation)}.`,
    );
  }
  for (const [key, value] of Object.entries(copied.value)) {
    if (key === 'context') {
      if (!isObject(value))
        throw new CodeModeError('option_invalid', `\`invocation.context\` should be a JSON object, not ${describe(value)}.`);
    } else if (key === 'actorId' || key === 'interface') {
      if (typeof value !== 'string')
        throw new CodeModeError('option_invalid', `\`invocation.${key}\` should be a string, not ${describe(value)}.`);
    } else {
      throw new CodeModeError(
        'option_invalid',
        `\`invocation\` has no \`${key}\`; it has actorId, interface and context. Put facts of your own into context.`,
      );
    }
  }
  return copied.value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
