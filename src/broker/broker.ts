// The gate: every call of a program goes through `#pass`, from top to bottom, and comes back as one delivery. The order of the
// checks is a security decision; read it there. What takes no time is not awaited: calls of one turn go on side by side, step by step, without
// a promise for each. Not here: what a policy may answer (authorize.ts), how many calls run at a
// time (meter.ts), what the program sees of results and errors (deliver.ts).
import { AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { KeptArtifact } from '../artifacts/kept.ts';
import type { ArtifactLimits, RunShelf } from '../artifacts/run-shelf.ts';
import type { Caller, CallStatus, Captured, EventFact, PayloadKind, Place } from '../observe.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { Limits } from '../protocol/limits.ts';
import type { RunHandle } from '../tools/binding.ts';
import type { Catalog, CatalogEntry } from '../tools/catalog.ts';
import type { ParseResult } from '../tools/schema.ts';
import { type RunArtifacts, type ToolContext, ToolError } from '../tools/tool.ts';
import { authorize, type Policy } from './authorize.ts';
import {
  className,
  type Delivered,
  type Delivery,
  deliver,
  type Encode,
  type Failed,
  refuse,
  type ShowError,
  sentence,
  showThrown,
} from './deliver.ts';
import { ENDED, Ending, isPromiseLike } from './ending.ts';
import { ask, HOOK_MS, type HookCall, type Hooks, hookFacts, readAfter, readBefore } from './hooks.ts';
import { type Claim, Meter } from './meter.ts';
import type { Reporter } from './report.ts';

export interface BrokerOptions {
  readonly catalog: Catalog;
  readonly run: RunHandle;
  /** Absent: every tool of the catalog may be called. */
  readonly policy?: Policy | undefined;
  readonly limits: Pick<Limits, 'calls' | 'concurrentCalls' | 'resultBytes'> & ArtifactLimits;
  /** Where the artifacts of the run are kept. */
  readonly shelf: RunShelf;
  /** The application's own hand in every call. */
  readonly hooks?: Hooks | undefined;
  readonly reporter?: Reporter | undefined;
  /** Who makes the calls. Default: a program. */
  readonly caller?: Caller | undefined;
  /** What programs see of exceptions that are no ToolError; absent: their class. */
  readonly showError?: ShowError | undefined;
  /** Makes of a value what crosses to the program. Runs inside the call, so that a value that cannot cross fails the call. */
  readonly encode?: Encode | undefined;
  /** A promise to wait for before a tool starts, while there is no room for its result; `undefined` when there is. */
  readonly room?: (() => Promise<void> | undefined) | undefined;
  /** Shown every value that a program gets, as it is before it is encoded. */
  readonly learn?: ((entry: CatalogEntry, value: unknown) => void) | undefined;
  readonly executionId: string;
  /** Says which program this is, for `idempotencyKey`: the same again only when the same program is repeated for the same run. */
  readonly programKey: string;
  /** Aborted when the execution ends, whatever ended it; or that end itself. */
  readonly signal: AbortSignal | Ending;
}

interface CallRequest {
  /** Unique within the execution; the caller has checked that. */
  readonly id: number;
  /** Of the tool, in the catalog. */
  readonly index: number;
  /** The input, or a function that decodes it: it is called after the call was counted, and may throw `CodeModeError`. */
  readonly input: unknown;
  /** Where in the model's text it was made, where that is known. */
  readonly place?: Place | undefined;
}

/** What is kept of a call: never its input or its result. */
export interface CallRecord {
  readonly id: string;
  /** The tool's path in the catalog. */
  readonly name: string;
  readonly status: CallStatus | 'running';
  /** From the moment the call was made until it was answered, waiting included. */
  readonly durationMs: number;
}

/** Checks and carries out the calls of one execution. */
export interface Broker {
  /** Makes a call. Never rejects. */
  call(request: CallRequest): Promise<Delivery>;
  /**
   * Makes a call of a program's turn: it is counted and its input is read and checked, but nothing asks for it and no tool runs before
   * `proceed()`, when the whole turn has been heard. `answered` hears of it once, at any time, and must not throw.
   */
  take(request: CallRequest, answered: (delivery: Delivery) => void): void;
  /** Lets the calls go on that were taken, as far as they can at once. */
  proceed(): void;
  /** The calls so far in the order they were made; one that has no answer yet is `running`. */
  records(): readonly CallRecord[];
  /** Resolves when every call is answered and no tool runs any more, or after `withinMs`, or when `signal` aborts, with the paths of those that still do. */
  settled(withinMs: number, signal?: AbortSignal): Promise<readonly string[]>;
}

/**
 * Opens the broker of one execution. It remembers the async context that it is opened in: tools run in that context (a span, a
 * request's storage), and a tool that opened it is known as the caller of its calls.
 */
export function createBroker(options: BrokerOptions): Broker {
  return new ExecutionBroker(options);
}

class ExecutionBroker implements Broker {
  readonly #options: BrokerOptions;
  readonly #ending: Ending;
  readonly #meter: Meter;
  /** The context in which it was opened. */
  readonly #context = newContext();
  readonly #calls: Call[] = [];
  /** Calls whose tool has not ended, answered or not. */
  readonly #working = new Set<Call>();
  /** Calls that have no answer yet. */
  #unanswered = 0;
  readonly #whenIdle = new Set<() => void>();
  readonly #artifacts: RunArtifacts;
  /** Steps of calls that need not wait for anything, in the order in which they came so far. */
  #ready: (Journey | (() => void))[] = [];
  #goesOn = false;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#ending = options.signal instanceof Ending ? options.signal : new Ending(options.signal);
    this.#meter = new Meter({ limits: options.limits, run: options.run, ending: this.#ending });
    this.#artifacts = artifactsOf(options.shelf);
  }

  call(request: CallRequest): Promise<Delivery> {
    return this.#context.runInAsyncScope(() => this.#observed(request));
  }

  take(request: CallRequest, answered: (delivery: Delivery) => void): void {
    // With spans each goes its way in a context of its own.
    if (this.#options.reporter?.spans === true) void this.call(request).then(answered);
    else this.#context.runInAsyncScope(() => this.#begin(request, answered, newContext()));
  }

  proceed(): void {
    if (this.#ready.length > 0) this.#context.runInAsyncScope(() => this.#goOn());
  }

  records(): readonly CallRecord[] {
    const now = performance.now();
    return this.#calls.map(({ id, path, startedAt, status = 'running' as const, durationMs = now - startedAt }) => ({
      id,
      name: path,
      status,
      durationMs,
    }));
  }

  settled(withinMs: number, signal?: AbortSignal): Promise<readonly string[]> {
    if (this.#isIdle || signal?.aborted === true) return Promise.resolve(Array.from(this.#working, ({ path }) => path));
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        this.#whenIdle.delete(finish);
        resolve(Array.from(this.#working, ({ path }) => path));
      };
      const timer = setTimeout(finish, Math.min(withinMs, MAX_TIMER_MS));
      this.#whenIdle.add(finish);
      signal?.addEventListener('abort', finish, { once: true });
    });
  }

  get #isIdle(): boolean {
    return this.#unanswered === 0 && this.#working.size === 0;
  }

  #tellIdle(): void {
    if (this.#isIdle) for (const finish of this.#whenIdle) finish();
  }

  /** Puts the observers around the whole call, refusals included. The call is made exactly once, whatever they do. */
  #observed(request: CallRequest): Promise<Delivery> {
    const { reporter, run, executionId, catalog } = this.#options;
    // A flood after the limit was hit tells the observer nothing new.
    if (reporter?.spans !== true || this.#meter.over > 0 || this.#ending.reached) return this.#settle(request);
    const span = {
      name: 'call',
      runId: run.run.id,
      executionId,
      callId: this.#callId(request),
      tool: catalog.at(request.index)?.path ?? UNKNOWN_TOOL,
    } as const;
    return reporter.around(span, () => this.#settle(request));
  }

  /** Makes the call in the context that this is called in. */
  #settle(request: CallRequest): Promise<Delivery> {
    return new Promise((resolve) => {
      this.#begin(request, resolve, newContext());
      this.#goOnSoon();
    });
  }

  /** Counts the call, and sends it on its way. */
  #begin(request: CallRequest, answered: (delivery: Delivery) => void, context: AsyncResource): void {
    if (this.#ending.reached) return void this.#ready.push(() => answered(PROGRAM_ENDED));
    if (!this.#meter.admit()) {
      const delivery = this.#overLimit(request);
      return void this.#ready.push(() => answered(delivery));
    }
    const entry = this.#options.catalog.at(request.index);
    const call = new Call({ id: this.#callId(request), path: entry?.path ?? UNKNOWN_TOOL, meter: this.#meter });
    this.#calls.push(call);
    this.#unanswered++;
    const { caller = 'program' } = this.#options;
    this.#tell(call, { type: 'call-queued', caller, ...(request.place !== undefined && { place: request.place }) });
    this.#step({ call, way: this.#pass(call, request, entry), answered, context }, undefined);
  }

  /** Takes a call to where it waits, or to its end. */
  #step(journey: Journey, given: unknown, isThrown = false): void {
    const { call, way, answered } = journey;
    let at: IteratorResult<Wait, Delivery>;
    try {
      at = isThrown ? way.throw(given) : way.next(given);
    } catch (error) {
      // No tool's mistake comes here: those are handled where they are made. Still, a call must be answered.
      at = { done: true, value: this.#end(call, 'error', refuse('fault', `The call of \`${call.path}\` failed inside the host.`), error) };
    }
    if (at.done === true) {
      this.#meter.leaveSlot(call);
      if (!this.#working.has(call)) this.#meter.leaveLock(call);
      this.#unanswered--;
      this.#tellIdle();
      answered(at.value);
      return;
    }
    if (at.value === OTHERS) {
      this.#ready.push(journey);
      return;
    }
    const resume = (value: unknown, wasThrown: boolean): void => {
      this.#step(journey, value, wasThrown);
      this.#goOnSoon();
    };
    // Promises keep the context by themselves.
    at.value.then(
      (value) => resume(value, false),
      (error: unknown) => resume(error, true),
    );
  }

  /** First come, first served, as if each step were a promise's callback. */
  #goOn(): void {
    if (this.#goesOn) return;
    this.#goesOn = true;
    try {
      // It grows while it is gone through.
      for (const next of this.#ready) {
        if (typeof next === 'function') next();
        else next.context.runInAsyncScope(() => this.#step(next, undefined));
      }
    } finally {
      this.#ready = [];
      this.#goesOn = false;
    }
  }

  #goOnSoon(): void {
    if (this.#ready.length > 0 && !this.#goesOn) void NOW.then(() => this.#goOn());
  }

  /**
   * The way of one call that was counted: look up, validate, authorize, wait its turn, run, deliver. It gives way to the other calls of its turn
   * (`yield OTHERS`) where each of them shall have come as far before one goes on: no tool runs before all have been counted and checked.
   */
  *#pass(call: Call, request: CallRequest, entry: CatalogEntry | undefined): Way {
    const { policy, run, hooks } = this.#options;
    if (entry === undefined) {
      return this.#refuse(call, refuse('tool_unknown', `There is no tool number ${request.index}; the tools are those of ALL_TOOLS.`));
    }
    const { tool, path } = entry;

    const sent = this.#decode(entry, request.input);
    if (!sent.ok) return this.#refuse(call, sent.delivery, sent.error);
    if (this.#options.reporter?.captures('input') === true) call.sent = this.#options.reporter.capture('input', sent.value);

    const checking = this.#validate(entry, sent.value);
    const checked = checking instanceof Promise ? yield* outcomeOf(checking) : checking;
    if (checking === checked) yield OTHERS;
    // Nobody is asked about a call of a program that has ended.
    if (checked === ENDED || this.#ending.reached) return this.#aborted(call);
    if (!checked.ok) return this.#refuse(call, checked.delivery, checked.error);
    let input = checked.value;

    if (hooks?.beforeCall !== undefined) {
      const before = yield* outcomeOf(this.#before(call, entry, input));
      if (before === ENDED) return this.#aborted(call);
      if (!before.ok) return this.#refuse(call, before.delivery, before.error);
      input = before.value;
    }

    if (policy !== undefined) {
      const facts = { input, run: { id: run.run.id, invocation: run.run.invocation }, callId: call.id };
      const verdict = yield* outcomeOf(this.#ending.within(authorize(policy, { entry, ...facts })));
      if (verdict === ENDED) return this.#aborted(call);
      if (!verdict.allowed) return this.#refuse(call, refuse('call_refused', verdict.message), verdict.error);
    }

    const entering = this.#meter.enter(call, tool, (reason) => this.#tell(call, { type: 'call-waiting', for: reason }));
    const entered = entering instanceof Promise ? yield* outcomeOf(entering) : entering;
    if (entering === entered) yield OTHERS;
    if (entered === 'ended' || this.#ending.reached) return this.#aborted(call);
    if (entered === 'deadlock') {
      return this.#refuse(
        call,
        refuse(
          'call_deadlock',
          `Tool \`${path}\` is exclusive and was called from inside an exclusive tool, so each would wait for the other.`,
        ),
      );
    }

    // With the slot in hand, so that what comes behind waits too.
    const room = this.#options.room?.();
    if (room !== undefined) {
      yield* outcomeOf(room);
      if (this.#ending.reached) return this.#aborted(call);
    }

    const captured = this.#captured('input', 'input', input);
    const { sent: wasSent } = call;
    this.#tell(call, {
      type: 'call-start',
      ...captured,
      ...(wasSent === undefined || wasSent.text === captured.input?.text ? {} : { sent: wasSent }),
    });
    const executing = this.#execute(call, entry, input);
    const outcome = executing instanceof Promise ? yield* outcomeOf(executing) : executing;
    if (executing === outcome) yield OTHERS;
    if (outcome.kind === 'ended') return this.#aborted(call);
    const delivering = this.#deliver(call, entry, outcome);
    const delivered = delivering instanceof Promise ? yield* outcomeOf(delivering) : delivering;
    if (delivered === ENDED || this.#ending.reached) return this.#aborted(call);
    const { delivery, error, value } =
      hooks?.afterCall === undefined ? delivered : yield* outcomeOf(this.#after(call, entry, input, delivered));
    if (this.#ending.reached) return this.#aborted(call);
    if (!delivery.ok) return this.#end(call, 'error', delivery, error, value);
    this.#options.learn?.(entry, value);
    const { artifacts } = delivery;
    const kept =
      artifacts.length === 0
        ? { ok: true as const, value: delivery.value, artifacts: NO_ARTIFACTS }
        : yield* outcomeOf(this.#keep(call, request, delivery));
    return this.#end(call, 'ok', kept, undefined, value);
  }

  /**
   * Keeps what is beside a value, after everything that may still fail the call. Not cut short by the program's end: the tool has done its
   * work, and its files shall not be lost because of when that was.
   */
  async #keep(call: Call, { id }: CallRequest, delivery: Delivered['delivery'] & { ok: true }): Promise<Delivery> {
    const { value, artifacts } = delivery;
    const { executionId, limits, shelf } = this.#options;
    const { signal } = this.#ending;
    const batch = await shelf.keep(artifacts, { callId: call.id, tool: call.path, order: id, executionId, limits, signal });
    const { warning, error, artifacts: kept } = batch;
    if (warning === undefined) return { ok: true, value, artifacts: kept };
    this.#tell(call, { type: 'log', message: warning, fields: { error } });
    return { ok: true, value, artifacts: kept, warning };
  }

  /** What came of the tool, as the program would get it. */
  #deliver(call: Call, entry: CatalogEntry, outcome: Exclude<Outcome, { kind: 'ended' }>): Delivered | Promise<Delivered | typeof ENDED> {
    switch (outcome.kind) {
      case 'timeout':
        return { delivery: refuse('tool_timeout', outcome.error.message), error: outcome.error };
      case 'thrown':
        return { delivery: this.#show(call, entry, outcome.error), error: outcome.error };
      case 'returned': {
        const delivering = deliver(outcome.value, {
          entry,
          encode: this.#options.hooks?.afterCall === undefined ? this.#options.encode : undefined,
        });
        // Only a schema may take its time.
        return delivering instanceof Promise ? this.#ending.within(delivering) : delivering;
      }
      default:
        return outcome satisfies never;
    }
  }

  /** What `beforeCall` makes of a valid input: the same, another that is valid too, or a refusal. */
  async #before(call: Call, entry: CatalogEntry, input: unknown): Promise<Valid | Invalid | typeof ENDED> {
    const { path } = entry;
    const began = performance.now();
    const asked = await this.#ending.within(
      ask(
        (signal) => this.#options.hooks?.beforeCall?.({ ...this.#hookCall(call, entry, input), signal }),
        this.#ending.signal,
        this.#timeLeft(call, entry),
      ),
    );
    call.workedMs += performance.now() - began;
    if (asked === ENDED) return ENDED;
    try {
      if ('failed' in asked) throw asked.failed;
      const decided = readBefore(asked.answer);
      if (decided === undefined) return { ok: true, value: input };
      if ('deny' in decided) {
        this.#tell(call, { type: 'call-hook', hook: 'beforeCall', did: 'denied' });
        const message = `Tool \`${path}\` was refused${decided.deny.trim() === '' ? ' by the application.' : `: ${sentence(decided.deny.trim())}`}`;
        return { ok: false, delivery: refuse('call_refused', message), error: new CodeModeError('call_refused', message) };
      }
      this.#tell(call, { type: 'call-hook', hook: 'beforeCall', did: 'replaced' });
      return await this.#validate(entry, decided.input);
    } catch (error) {
      this.#tell(call, { type: 'call-hook', hook: 'beforeCall', did: 'failed' });
      return {
        ok: false,
        delivery: refuse('call_refused', `Tool \`${path}\` was refused, because the application's \`beforeCall\` failed.`),
        error,
      };
    }
  }

  /** What `afterCall` makes of an outcome. Its own failure fails the call: what it would have redacted must not pass. */
  async #after(call: Call, entry: CatalogEntry, input: unknown, delivered: Delivered): Promise<Delivered> {
    const { encode, hooks } = this.#options;
    const { delivery } = delivered;
    const outcome = delivery.ok ? ({ ok: true, value: delivery.value } as const) : ({ ok: false, error: delivery.failure } as const);
    const artifacts = delivery.ok ? delivery.artifacts : [];
    const asked = await this.#ending.within(
      ask(
        (signal) => hooks?.afterCall?.({ ...this.#hookCall(call, entry, input), signal }, outcome),
        this.#ending.signal,
        this.#timeLeft(call, entry),
      ),
    );
    if (asked === ENDED) return delivered;
    try {
      if ('failed' in asked) throw asked.failed;
      const decided = readAfter(asked.answer);
      if (decided === undefined) return delivery.ok ? deliver(delivery.value, { entry, encode, artifacts, isChecked: true }) : delivered;
      this.#tell(call, { type: 'call-hook', hook: 'afterCall', did: 'replaced' });
      if ('error' in decided) return { delivery: refuse('tool_failed', sentence(decided.error.trim())), error: delivered.error };
      return await deliver(decided.value, { entry, encode, artifacts });
    } catch (error) {
      this.#tell(call, { type: 'call-hook', hook: 'afterCall', did: 'failed' });
      return {
        delivery: refuse('tool_failed', `The outcome of \`${entry.path}\` is held back, because the application's \`afterCall\` failed.`),
        error,
      };
    }
  }

  #hookCall(call: Call, entry: CatalogEntry, input: unknown): Omit<HookCall, 'signal'> {
    const { run } = this.#options;
    return { tool: hookFacts(entry), input, run: { id: run.run.id, invocation: run.run.invocation }, callId: call.id };
  }

  /** Of the tool's own time, the hooks included; waiting for a slot is not part of it. */
  #timeLeft(call: Call, { tool }: CatalogEntry): number {
    return (tool.timeoutMs ?? HOOK_MS) - call.workedMs;
  }

  /** The input as it was sent. */
  #decode({ path }: CatalogEntry, input: unknown): Valid | Invalid {
    try {
      const value: unknown = typeof input === 'function' ? input() : input;
      return { ok: true, value: value === undefined ? {} : value };
    } catch (error) {
      if (!CodeModeError.is(error)) throw error;
      return { ok: false, delivery: refuse(error.code, `Tool \`${path}\` was not called: ${error.message}`), error };
    }
  }

  /** The valid input, as its schema gives it. */
  #validate({ tool, path }: CatalogEntry, input: unknown): Valid | Invalid | Promise<Valid | Invalid | typeof ENDED> {
    const read = (parsed: ParseResult): Valid | Invalid => {
      if (parsed.ok) return parsed;
      const message = `Tool \`${path}\` was called with invalid input: ${sentence(parsed.message)}`;
      return { ok: false, delivery: refuse('input_invalid', message), error: new CodeModeError('input_invalid', message) };
    };
    const unchecked = (error: unknown): Invalid => {
      const message = `The input of tool \`${path}\` could not be checked (${className(error)}).`;
      return { ok: false, delivery: refuse('input_invalid', message), error };
    };
    try {
      const parsing = tool.input.parse(input);
      if (!isPromiseLike(parsing)) return read(parsing);
      return this.#ending
        .within(parsing)
        .then((parsed) => (parsed === ENDED ? ENDED : read(parsed)))
        .catch(unchecked);
    } catch (error) {
      return unchecked(error);
    }
  }

  /**
   * Runs the tool until it ends, its time is up or the execution ends, whichever is first. After that its reply is ignored, but
   * it keeps the exclusive lock until it has really ended: a write that ignores its signal must not overlap the next one.
   */
  #execute(call: Call, { tool, path }: CatalogEntry, input: unknown): Outcome | Promise<Outcome> {
    const timeoutMs = tool.timeoutMs === undefined ? undefined : Math.max(0, tool.timeoutMs - call.workedMs);
    const began = this.#options.hooks === undefined ? 0 : performance.now();
    const controller = timeoutMs === undefined ? undefined : new AbortController();
    const context = this.#contextOf(call, controller?.signal ?? this.#ending.signal);
    let work: unknown;
    try {
      work = this.#meter.run(call, () => tool.execute(input, context));
    } catch (error) {
      return { kind: 'thrown', error };
    }
    if (!isPromiseLike(work)) return { kind: 'returned', value: work };
    this.#working.add(call);
    const reply = Promise.resolve(work);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (outcome: Outcome): void => {
        clearTimeout(timer);
        this.#ending.delete(stop);
        if (began > 0) call.workedMs += performance.now() - began;
        resolve(outcome);
      };
      const stop = (): void => {
        settle({ kind: 'ended' });
        controller?.abort(this.#ending.reason);
      };
      const worked = (outcome: Outcome): void => {
        this.#workEnded(call);
        settle(outcome);
      };
      this.#ending.add(stop);
      if (timeoutMs !== undefined) {
        timer = setTimeout(
          () => {
            const error = new CodeModeError('tool_timeout', `Tool \`${path}\` did not answer within its ${tool.timeoutMs} ms.`);
            settle({ kind: 'timeout', error });
            controller?.abort(error);
          },
          Math.min(timeoutMs, MAX_TIMER_MS),
        );
        timer.unref();
      }
      reply.then(
        (value) => worked({ kind: 'returned', value }),
        (error: unknown) => worked({ kind: 'thrown', error }),
      );
      // A tool may end its own execution before it returns: then nobody calls `stop` any more.
      if (this.#ending.reached) stop();
    });
  }

  #contextOf(call: Call, signal: AbortSignal): ToolContext {
    const { run, programKey } = this.#options;
    return {
      run: run.run,
      state: run.state,
      artifacts: this.#artifacts,
      call: new CallFacts(call.id, call.path, programKey),
      workspace: run.workspace,
      signal,
      log: (message, fields) => this.#tell(call, { type: 'log', message, ...(fields !== undefined && { fields }) }),
    };
  }

  #workEnded(call: Call): void {
    this.#working.delete(call);
    this.#meter.leaveLock(call);
    this.#tellIdle();
  }

  #show(call: Call, entry: CatalogEntry, error: unknown): Failed {
    const note = (message: string, fields: unknown): void => this.#tell(call, { type: 'log', message, fields });
    return showThrown(error, { entry, showError: this.#options.showError, maxDetailBytes: this.#options.limits.resultBytes, note });
  }

  #refuse(call: Call, delivery: Delivery, error: unknown = toError(delivery)): Delivery {
    const { sent } = call;
    this.#tell(call, {
      type: 'call-refused',
      error,
      ...this.#captured('detail', 'error', failureOf(delivery)),
      ...(sent === undefined ? {} : { sent }),
    });
    return this.#end(call, 'refused', delivery, error);
  }

  #aborted(call: Call): Delivery {
    return this.#end(call, 'aborted', PROGRAM_ENDED, this.#ending.reason);
  }

  #overLimit(request: CallRequest): Delivery {
    const { calls } = this.#options.limits;
    const message = `More than ${calls} tool calls were made, the limit \`calls\`; do more with each call.`;
    if (this.#meter.over === 1) {
      const error = new CodeModeError('limit_exceeded', message, { details: { limit: 'calls', allowed: calls } });
      const path = this.#options.catalog.at(request.index)?.path ?? UNKNOWN_TOOL;
      this.#tell({ id: this.#callId(request), path }, { type: 'call-refused', error });
      const { run, executionId, reporter } = this.#options;
      reporter?.tell({ type: 'limit', runId: run.run.id, executionId, limit: 'calls', allowed: calls });
    }
    return {
      ok: false,
      failure: { name: 'ToolError', code: 'limit_exceeded', message },
      fatal: { kind: 'limit', limit: 'calls', message },
    };
  }

  /** The one place where a call that was counted ends. */
  #end(call: Call, status: CallStatus, delivery: Delivery, error?: unknown, value?: unknown): Delivery {
    if (call.status !== undefined) return delivery;
    call.status = status;
    call.durationMs = performance.now() - call.startedAt;
    const payload = delivery.ok ? this.#captured('output', 'output', value) : this.#captured('detail', 'error', failureOf(delivery));
    this.#tell(call, { type: 'call-end', status, durationMs: call.durationMs, ...payload, ...(error !== undefined && { error }) });
    return delivery;
  }

  #tell({ id, path }: { readonly id: string; readonly path: string }, fact: CallFact): void {
    const { reporter, run, executionId } = this.#options;
    if (reporter === undefined || !reporter.listens) return;
    reporter.tell({ runId: run.run.id, executionId, callId: id, tool: path, ...fact });
  }

  /** A payload under its name in an event, if it is to be captured. */
  #captured<Name extends string>(name: Name, kind: PayloadKind, value: unknown): { readonly [Key in Name]?: Captured } {
    const captured = this.#options.reporter?.capture(kind, value);
    // A computed key widens the type.
    return (captured === undefined ? {} : { [name]: captured }) as { readonly [Key in Name]?: Captured };
  }

  #callId({ id }: CallRequest): string {
    return `${this.#options.executionId}:${id}`;
  }
}

/** One call from its counting to its answer; holds slot and lock in its own name. */
class Call implements Claim {
  readonly id: string;
  readonly path: string;
  readonly meter: Meter;
  readonly startedAt = performance.now();
  /** Time that its tool and the hooks have taken. */
  workedMs = 0;
  /** What it was sent, when that is captured. */
  sent: Captured | undefined = undefined;
  status: CallStatus | undefined = undefined;
  durationMs: number | undefined = undefined;

  constructor({ id, path, meter }: { id: string; path: string; meter: Meter }) {
    this.id = id;
    this.path = path;
    this.meter = meter;
  }
}

/** `context.call`; the key costs a hash, so it is made when it is asked for. */
class CallFacts {
  readonly id: string;
  readonly path: string;
  readonly #programKey: string;

  constructor(id: string, path: string, programKey: string) {
    this.id = id;
    this.path = path;
    this.#programKey = programKey;
  }

  /** The tool is part of it: a repeated program that took another way must not pass for having done this. */
  get idempotencyKey(): string {
    const ordinal = this.id.slice(this.id.lastIndexOf(':') + 1);
    return createHash('sha256')
      .update(JSON.stringify([this.#programKey, this.path, ordinal]))
      .digest('hex')
      .slice(0, 32);
  }
}

function artifactsOf(shelf: RunShelf): RunArtifacts {
  return {
    get(id) {
      const found = shelf.get(id);
      if (found !== undefined) return found;
      const there = shelf.list().map((kept) => kept.id);
      throw new ToolError(
        `There is no artifact ${JSON.stringify(String(id).slice(0, 100))} in this run; ${there.length === 0 ? 'there are none yet' : `there are ${there.slice(0, 10).join(', ')}`}.`,
        { code: 'input_invalid' },
      );
    },
    list: () => shelf.list(),
  };
}

/** A call on its way. */
interface Journey {
  readonly call: Call;
  readonly way: Way;
  readonly answered: (delivery: Delivery) => void;
  /** A context of its own, made of that of the program: what one tool enters (`enterWith`) is not where another finds itself. */
  readonly context: AsyncResource;
}

/** The async context of whoever calls this. Not `AsyncLocalStorage.snapshot()`, which is a hundred times as dear on Node 20. */
function newContext(): AsyncResource {
  return new AsyncResource('callgate', { requireManualDestroy: true });
}

/** For the other calls of the turn to come as far. */
const OTHERS = Symbol('others');
/** What a call waits for on its way. */
type Wait = typeof OTHERS | Promise<unknown>;
type Way = Generator<Wait, Delivery, unknown>;

/** What a promise gives, on the way of a call: `await`, for those that have a promise to wait for. */
function* outcomeOf<T>(promise: Promise<T>): Generator<Wait, T, unknown> {
  // Whoever goes the way gives back what the promise gave: #step.
  return (yield promise) as T;
}

const NOW = Promise.resolve();

type Valid = { readonly ok: true; readonly value: unknown };
type Invalid = { readonly ok: false; readonly delivery: Delivery; readonly error: unknown };

type Outcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'thrown'; readonly error: unknown }
  | { readonly kind: 'timeout'; readonly error: CodeModeError }
  | { readonly kind: 'ended' };

type CallEvent = Extract<EventFact, { readonly callId: string; readonly tool: string }>;

/** The part of an event that differs from call to call. */
type CallFact = {
  [Type in CallEvent['type']]: Omit<Extract<CallEvent, { type: Type }>, 'runId' | 'executionId' | 'callId' | 'tool'>;
}[CallEvent['type']];

const UNKNOWN_TOOL = 'unknown_tool';

const NO_ARTIFACTS: readonly KeptArtifact[] = Object.freeze([]);

/** Longer timers fire at once in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const PROGRAM_ENDED = refuse('aborted', 'The program has ended, so the call was not finished.');

function failureOf(delivery: Delivery): unknown {
  return delivery.ok ? undefined : delivery.failure;
}

function toError(delivery: Delivery): unknown {
  if (delivery.ok) return undefined;
  // Only refuse() makes these, so the code is one of ours.
  return new CodeModeError(delivery.failure.code as CodeModeError['code'], delivery.failure.message);
}
