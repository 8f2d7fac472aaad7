// One run of a program: dispatches each message of the guest once and finishes once. The one place where what a program may
// do (broker) meets where it runs (scheduler). Not here: what the checks are, how workers are shared.
import { describeKept, type KeptArtifact } from '../artifacts/kept.ts';
import type { RunShelf } from '../artifacts/run-shelf.ts';
import type { Policy } from '../broker/authorize.ts';
import { type Broker, type CallRecord, createBroker } from '../broker/broker.ts';
import { className, type Delivery, type ShowError, sentence } from '../broker/deliver.ts';
import { Ending as CallsEnding } from '../broker/ending.ts';
import type { Hooks } from '../broker/hooks.ts';
import type { Reporter } from '../broker/report.ts';
import type { Scheduler, Settlement, Ticket, Turn, Verdict } from '../isolation/scheduler.ts';
import type { EventFact, Place } from '../observe.ts';
import { framePosition, type PlacedProgram } from '../program/diagnose.ts';
import { locator } from '../program/positions.ts';
import { decodeArguments, decodeLines, decodeUntrusted, GuestProtocolError } from '../protocol/decode.ts';
import { type CallFailure, CodeModeError, shorten } from '../protocol/errors.ts';
import type { Limits } from '../protocol/limits.ts';
import type { GuestError, GuestMessage, News, Warning } from '../protocol/messages.ts';
import { encodeValue, UnserializableError, type WireValue } from '../protocol/values.ts';
import type { RunHandle } from '../tools/binding.ts';
import type { Catalog, CatalogEntry } from '../tools/catalog.ts';
import { ToolError } from '../tools/tool.ts';
import { Turns } from '../tools/turns.ts';
import type { Isolation } from './engines.ts';
import { Output } from './output.ts';
import type { ProgramError, RunResult } from './result.ts';
import { readTypeCheck, type TypeCheck } from './type-check.ts';
import { verdictError } from './verdict.ts';

/** The catalog as a guest is given it. */
export interface GuestCatalog {
  readonly id: string;
  readonly manifest: string;
}

/**
 * A global function of programs that the host carries out itself, beside the tools: it is checked and counted, but no policy is asked and no
 * tool's limit applies. What it throws as `CodeModeError` or `ToolError` reaches the program by its message; anything else by its class.
 */
export type HostFunction = ((args: readonly unknown[], context: HostContext) => unknown) & {
  /** Most bytes of its arguments, where that is not the limit `argumentBytes`. */
  readonly argumentBytes?: number;
  /** Its name to programs, where that is not the one under which it is asked for. */
  readonly title?: string;
  /** What it gives may be big: it is carried out while there is room for that, a few at a time. Its arguments are small. */
  readonly givesMuch?: true;
};

/** What a function of the host may know of its caller. */
export interface HostContext {
  readonly runId: string;
  readonly executionId: string;
  /** Of the request among the program's calls and requests. */
  readonly order: number;
  readonly limits: Limits;
  /** The artifacts of the run. */
  readonly shelf: RunShelf;
  /** Aborted when the program has ended. */
  readonly signal: AbortSignal;
}

export interface ExecutionOptions {
  readonly id: string;
  readonly source: string;
  readonly catalog: Catalog;
  readonly guest: GuestCatalog;
  readonly run: RunHandle;
  readonly limits: Limits;
  /** The artifacts of the run. A run's only program hands them over with its result; a session's with each look. */
  readonly shelf: RunShelf;
  readonly scheduler: Scheduler;
  /** What holds the scheduler's programs, where that is known by now. */
  readonly isolation?: (() => Isolation | undefined) | undefined;
  readonly policy?: Policy | undefined;
  readonly reporter: Reporter;
  readonly hooks?: Hooks | undefined;
  /** Its number in its session. */
  readonly number?: number | undefined;
  readonly showError?: ShowError | undefined;
  /** By name, the same as in the guest's manifest. */
  readonly functions: ReadonlyMap<string, HostFunction>;
  /** Shown every value that a program gets from a tool. */
  readonly learn?: ((entry: CatalogEntry, value: unknown) => void) | undefined;
  readonly timeZone: string;
  readonly locale: string;
  /** When the program must have ended, and which limit says so: `wallMs` of a run, `lifetimeMs` in a session. */
  readonly lifetime: 'wallMs' | 'lifetimeMs';
  /** What earlier programs of the session stored. */
  readonly store?: SessionStore | undefined;
  readonly typecheck?: TypeCheck | undefined;
  /** Ends the program from outside: the caller's own signal, or closing. */
  readonly signal?: AbortSignal | undefined;
}

/** Values that programs of one session keep for one another. */
export type SessionStore = Map<string, WireValue>;

/** What happened since the last look at an execution. Each piece is in exactly one increment. */
export interface Increment {
  /** Increments put together are the whole output: later ones begin with the line break that parts them. */
  readonly output: string;
  readonly calls: readonly CallRecord[];
  readonly warnings: readonly Warning[];
  readonly artifacts: readonly KeptArtifact[];
}

/** How a program came to its end. The first reason counts; later ones are ignored. */
type Ending =
  | { readonly type: 'value'; readonly wire: WireValue }
  | { readonly type: 'guest'; readonly error: GuestError }
  | { readonly type: 'verdict'; readonly verdict: Verdict; readonly error: ProgramError };

/** Characters of results that may wait for the guest before further calls are held back. */
const MOST_UNSEEN = 64 * 1024 * 1024;
/** Requests with big answers that are carried out at a time, and how long the arguments of those that wait may be together. */
const MOST_REQUESTS = 8;
const MOST_ASKED = 16 * 1024 * 1024;
/** Most warnings in a result. */
const MOST_WARNINGS = 50;
/** Time for what a guest says before the event loop has its turn: a guest may say very much at once. */
const LISTEN_MS = 10;
/** What is heard in any case, whatever the clock says, in characters: an ordinary turn is heard at once. A line costs so many by itself. */
const LISTEN_COST = 128 * 1024;
const LINE_COST = 256;
/** For a program whose time was up before it could start. */
const NOT_LET_IN = 'The program was not started in its time: as many programs as `maxPrograms` allows were running. Try again later.';
/** Longest time that Node's timers keep. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The reason that every tool's signal gives; one for all, since an error of its own costs each execution its stack. */
const PROGRAM_ENDED = new CodeModeError('aborted', 'The program has ended.');

/** Starts a program. It runs by itself; `result` never rejects for what the program did. */
export function execute(options: ExecutionOptions): Execution {
  const { reporter, run, id } = options;
  let execution: Execution | undefined;
  const work = (): Promise<RunResult> => {
    execution ??= new Execution(options);
    return execution.result;
  };
  // Inside the observers' own context, unless one of them puts it off: they may not keep the work from being done.
  if (reporter.spans) reporter.around({ name: 'execution', runId: run.run.id, executionId: id }, work).catch(() => undefined);
  execution ??= new Execution(options);
  return execution;
}

export class Execution {
  readonly id: string;
  readonly result: Promise<RunResult>;
  readonly #options: ExecutionOptions;
  readonly #broker: Broker;
  /** Of the calls and requests, when nothing more is to come of them. */
  readonly #calling = new CallsEnding();
  readonly #began = performance.now();
  readonly #output: Output;
  readonly #warnings: Warning[] = [];
  readonly #stacks: { readonly message: string; readonly stack: string }[] = [];
  readonly #seen = new Set<number>();
  readonly #settlements: (string | Settlement)[] = [];
  #ticket: Ticket | undefined;
  #outstanding = 0;
  #requests = 0;
  readonly #requestTurns = new Turns(MOST_REQUESTS);
  /** Characters of arguments of requests that wait for their turn. */
  #asked = 0;
  #flushing: NodeJS.Immediate | undefined;
  /** Calls of a turn go on together: what is answered at once goes back together. */
  #proceeding = false;
  #unflushed = 0;
  readonly #held: (() => void)[] = [];
  /** The guest's last turn has not been heard to its end. */
  #listening = false;
  #wallTimer: NodeJS.Timeout | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  #cpuMs = 0;
  #peakBytes = 0;
  /** An allocation was refused during the last turn. */
  #starved = false;
  /** What leads places back, when they are asked for; and the stack of the call that comes next. */
  #program: PlacedProgram | undefined;
  #stack: { readonly id: number; readonly stack: string } | undefined;
  #ending: Ending | undefined;
  #resolve!: (result: RunResult) => void;
  readonly #stored = new Map<string, WireValue>();
  /** What the session's store holds once `#stored` is in it, counted as the guest does. */
  #storeSize = 0;
  #outputTaken = 0;
  readonly #callsTaken = new Set<string>();
  #warningsTaken = 0;
  /** How many artifacts of the run the guest has been told of. */
  #artifactsTold = 0;
  readonly #onSignal = (): void => this.stop();

  constructor(options: ExecutionOptions) {
    this.#options = options;
    this.id = options.id;
    const { id, catalog, run, limits, shelf, policy, reporter, hooks, showError, source, signal } = options;
    this.#output = new Output(limits.outputBytes);
    this.#broker = createBroker({
      catalog,
      run,
      policy,
      limits,
      shelf,
      hooks,
      reporter,
      showError,
      encode: (value) => this.#encode(value),
      room: () => this.#room(),
      learn: options.learn,
      executionId: id,
      programKey: `${run.run.id}\n${source}`,
      signal: this.#calling,
    });
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (reporter.listens) {
      const captured = reporter.capture('source', source);
      this.#tell({
        type: 'execution-start',
        ...(options.number === undefined ? {} : { program: options.number }),
        sourceBytes: Buffer.byteLength(source),
        ...(captured === undefined ? {} : { source: captured }),
      });
    }
    if (signal?.aborted === true) {
      this.#judge({ kind: 'aborted' });
      return;
    }
    signal?.addEventListener('abort', this.#onSignal, { once: true });
    if (options.typecheck === undefined) this.#start();
    else void this.#checkTypes(options.typecheck);
  }

  /** Its time does not count: the program's clocks begin when it does. */
  async #checkTypes({ mode, check }: TypeCheck): Promise<void> {
    const { source } = this.#options;
    const outcome = await check(source, this.#calling.signal);
    if (this.#ending !== undefined) return;
    const { error, warnings } = readTypeCheck(outcome, { mode, source });
    for (const warning of warnings) this.#warn(warning);
    if (error === undefined) this.#start();
    else this.#end({ type: 'verdict', verdict: { kind: 'type' }, error });
  }

  #start(): void {
    const options = this.#options;
    const { limits, run, source, reporter } = options;
    const { timeZone, locale, lifetime, shelf } = options;
    const artifacts = shelf.list();
    this.#artifactsTold = shelf.count;
    for (const [key, { text }] of options.store ?? []) this.#storeSize += key.length + text.length;
    const lifeMs = limits[lifetime];
    const deadline = Date.now() + lifeMs;
    this.#endAt(deadline);
    this.#ticket = options.scheduler.start({
      catalog: options.guest,
      source,
      options: {
        cpuMs: limits.cpuMs,
        sliceMs: limits.sliceMs,
        deadline,
        memoryBytes: limits.memoryBytes,
        stackBytes: limits.stackBytes,
        guest: {
          calls: Math.max(0, limits.calls - run.count.calls),
          argumentBytes: limits.argumentBytes,
          outputBytes: limits.outputBytes,
          valueBytes: limits.valueBytes,
          storeBytes: limits.storeBytes,
          places: reporter.captures('source'),
          ...(artifacts.length > 0 && { artifacts: JSON.stringify(artifacts.map(describeKept)) }),
        },
        store: storeText(options.store),
        timeZone,
        locale,
      },
      onTurn: (turn, lines, beside) => this.#hear(turn, lines, beside),
      onOutput: (lines) => this.#overhear(lines),
      ...(reporter.listens ? { onMove: (where: 'parked' | 'resumed', bytes: number) => this.#tellMove(where, bytes) } : {}),
      onEnd: (verdict, turn, lines) => {
        if (turn !== undefined) this.#account(turn);
        if (lines !== undefined) this.#overhear(lines);
        // A worker knows one end of time; which limit set it is known here.
        this.#judge(verdict.limit === 'wallMs' ? { ...verdict, limit: lifetime } : verdict);
      },
    });
  }

  #tellMove(where: 'parked' | 'resumed', imageBytes: number): void {
    if (this.#ending !== undefined) return;
    this.#tell(where === 'parked' ? { type: 'execution-parked', imageBytes } : { type: 'execution-resumed' });
  }

  #tell(fact: ExecutionFact): void {
    const { reporter, run, id } = this.#options;
    if (reporter.listens) reporter.tell({ runId: run.run.id, executionId: id, ...fact });
  }

  /** What is new since the last call of this. */
  take(): Increment {
    const output = this.#output.text.slice(this.#outputTaken);
    this.#outputTaken += output.length;
    const ended = this.#ending !== undefined;
    const calls = this.#broker.records().filter(({ id, status }) => !this.#callsTaken.has(id) && (ended || status !== 'running'));
    for (const { id } of calls) this.#callsTaken.add(id);
    const warnings = this.#warnings.slice(this.#warningsTaken);
    this.#warningsTaken += warnings.length;
    return { output, calls, warnings, artifacts: this.#options.shelf.take() };
  }

  /** Ends the program, with status `terminated`. */
  stop(): void {
    this.#judge({ kind: 'aborted' });
    // One that has completed may still wait for calls that it left behind.
    this.#calling.end(PROGRAM_ENDED);
  }

  /** Timers reach some 24 days; a longer life is reached in steps. */
  #endAt(deadline: number): void {
    const left = deadline - Date.now();
    this.#wallTimer = setTimeout(
      () => {
        if (Date.now() < deadline) this.#endAt(deadline);
        else this.#judge({ kind: 'timeout', limit: this.#options.lifetime }, this.#ticket?.admitted === false ? NOT_LET_IN : undefined);
      },
      Math.min(Math.max(left, 0) + 1, LONGEST_TIMER_MS),
    );
  }

  #account(turn: Turn): void {
    this.#cpuMs += turn.cpuMs;
    this.#peakBytes = Math.max(this.#peakBytes, turn.peakBytes);
    this.#starved = turn.starved === true;
    const { prepared } = turn;
    if (prepared !== undefined) this.#program = { ...prepared, locate: locator(prepared.code, this.#options.source, prepared.map) };
    for (const warning of turn.warnings ?? []) this.#warn(warning);
  }

  #hear(turn: Turn, lines: string, beside: readonly ArrayBuffer[] | undefined): void {
    if (this.#ending !== undefined) return;
    this.#account(turn);
    clearTimeout(this.#wakeTimer);
    this.#listening = true;
    this.#letGo();
    this.#listen(decodeLines(lines, beside), undefined);
  }

  /** Hears what a guest prints before its turn is over. */
  #overhear(lines: string): void {
    if (this.#ending !== undefined || lines === '') return;
    try {
      for (const message of decodeLines(lines)) {
        if (message.type !== 'out') throw new GuestProtocolError('Only output comes before the end of a turn.');
        this.#dispatch(message);
      }
    } catch (error) {
      if (!(error instanceof GuestProtocolError)) throw error;
      this.#judge({ kind: 'fault', cause: error });
    }
  }

  /** Hears the rest of a turn, in as many pieces as it takes. Nothing is posted to the guest before it has been heard. */
  #listen(messages: Iterator<GuestMessage>, wake: number | undefined): void {
    if (this.#ending !== undefined) return;
    this.#proceeding = true;
    try {
      this.#hearOut(messages, wake);
    } finally {
      try {
        // Only now, whatever became of the program: a call that its end follows in the same piece of a turn is not made.
        this.#broker.proceed();
      } finally {
        this.#proceeding = false;
      }
    }
    if (this.#settlements.length > 0) this.#flushSoon();
  }

  #hearOut(messages: Iterator<GuestMessage>, wake: number | undefined): void {
    const until = performance.now() + LISTEN_MS;
    let wakeMs = wake;
    let heard = 0;
    try {
      for (let next = messages.next(); next.done !== true; next = messages.next()) {
        if (next.value.type === 'wake') wakeMs = next.value.ms;
        else this.#dispatch(next.value);
        if (this.#ending !== undefined) return;
        heard += 'text' in next.value ? LINE_COST + next.value.text.length : LINE_COST;
        if (heard < LISTEN_COST || performance.now() < until) continue;
        setImmediate(() => this.#listen(messages, wakeMs));
        return;
      }
    } catch (error) {
      if (!(error instanceof GuestProtocolError)) throw error;
      this.#judge({ kind: 'fault', cause: error });
      return;
    }
    this.#listening = false;
    if (this.#settlements.length > 0 && this.#flushing === undefined) this.#flush();
    else if (wakeMs !== undefined) this.#wakeTimer = setTimeout(() => this.#ticket?.wake(), Math.min(wakeMs, LONGEST_TIMER_MS));
    // What was answered while the guest was computing is with the scheduler: the guest has not seen it yet.
    else if (this.#outstanding === 0 && this.#settlements.length === 0 && this.#ticket?.ready !== true) {
      // It waits, and for nothing that anyone still owes it.
      // Out of memory inside a promise callback, with nothing else to wait for: callbacks that never came to an end.
      if (this.#starved)
        this.#judge(
          { kind: 'timeout', limit: 'cpuMs' },
          'The program kept starting promise callbacks without an end, until its memory was used up. Look for a promise chain or an async loop that never stops.',
        );
      else this.#judge({ kind: 'deadlock' });
    }
  }

  #dispatch(message: Exclude<GuestMessage, { type: 'wake' }>): void {
    switch (message.type) {
      case 'call':
        // Refused here, where the caller catches it: nothing that comes of a call itself may be thrown.
        if (this.#seen.has(message.id)) throw new GuestProtocolError('The guest used the id of a call twice.');
        this.#seen.add(message.id);
        this.#outstanding++;
        this.#call(message);
        return;
      case 'at':
        this.#stack = message;
        return;
      case 'ask':
        if (this.#seen.has(message.id)) throw new GuestProtocolError('The guest used the id of a call twice.');
        this.#seen.add(message.id);
        this.#outstanding++;
        this.#answer(message).catch((cause: unknown) => this.#judge({ kind: 'fault', cause }));
        return;
      case 'out':
        this.#output.add(message.level, message.text);
        this.#tellOutput(message);
        return;
      case 'store':
        this.#keep(message);
        return;
      case 'dropped':
        this.#output.drop(message.count);
        return;
      case 'warn':
        if (this.#stacks.length < MOST_WARNINGS) this.#stacks.push(message);
        return;
      case 'done':
        this.#end({ type: 'value', wire: message });
        return;
      case 'fail':
        this.#end({ type: 'guest', error: message.error });
        return;
      default:
        message satisfies never;
    }
  }

  #tellOutput({ level, text }: Extract<GuestMessage, { type: 'out' }>): void {
    const { reporter } = this.#options;
    if (!reporter.listens) return;
    const captured = reporter.capture('text', text);
    this.#tell({ type: 'output', level, bytes: Buffer.byteLength(text), ...(captured === undefined ? {} : { text: captured }) });
  }

  /** Only the last value of a key is kept: a program may overwrite one for ever. */
  #keep({ key, mode, text }: Extract<GuestMessage, { type: 'store' }>): void {
    const { store, limits } = this.#options;
    const before = this.#stored.get(key) ?? store?.get(key);
    const change = text.length - (before === undefined ? -key.length : before.text.length);
    this.#storeSize += change;
    if (change > 0 && this.#storeSize > limits.storeBytes) throw new GuestProtocolError('The guest stored more than it may.');
    // A copy: a piece of the turn's text would keep all of that alive with it.
    this.#stored.set(key, { mode, text: Buffer.from(text).toString() });
  }

  #call({ id, index, mode, text, beside = NOTHING }: Extract<GuestMessage, { type: 'call' }>): void {
    const { limits } = this.#options;
    const place = this.#stack?.id === id && this.#program !== undefined ? framePosition(this.#stack.stack, this.#program) : undefined;
    this.#stack = undefined;
    const input = (): unknown => {
      const carried = bytesIn(beside);
      const size = sizeUpTo(limits.argumentBytes - carried, text) + carried;
      if (size > limits.argumentBytes) {
        throw new CodeModeError(
          'limit_exceeded',
          `the arguments are ${size} bytes; the limit \`argumentBytes\` is ${limits.argumentBytes}.`,
        );
      }
      try {
        return decodeArguments({ mode, text, beside });
      } catch (error) {
        if (error instanceof UnserializableError) throw new CodeModeError('input_invalid', error.message);
        throw error;
      }
    };
    this.#broker.take({ id, index, place, input }, (delivery) => {
      this.#outstanding--;
      if (this.#ending !== undefined) return;
      try {
        this.#settleWith(id, delivery);
      } catch (cause) {
        // Nothing but a text that is too long to be one.
        this.#judge({ kind: 'fault', cause });
      }
    });
  }

  #settleWith(id: number, delivery: Delivery): void {
    if (!delivery.ok) {
      if (delivery.fatal !== undefined) this.#judge({ kind: 'limit', limit: 'calls' }, delivery.fatal.message);
      else this.#settle(`[${id},2,${JSON.stringify(delivery.failure satisfies CallFailure)}]`);
      return;
    }
    const { warning } = delivery;
    if (warning !== undefined) this.#warn({ message: warning });
    // What #encode made of it, inside the call.
    this.#settle(this.#answerWith(id, delivery.value as WireValue, warning === undefined ? undefined : [warning]));
  }

  /** A value for the program, and what it does not know yet of the run's artifacts. */
  #answerWith(id: number, { mode, text, beside = NOTHING }: WireValue, warnings: readonly string[] = NO_WARNINGS): string | Settlement {
    const { shelf } = this.#options;
    const answer = `[${id},${mode === 'P' ? 0 : 1},${text}`;
    if (this.#artifactsTold === shelf.count && warnings.length === 0 && beside.length === 0) return `${answer}]`;
    const artifacts = shelf.since(this.#artifactsTold).map(describeKept);
    this.#artifactsTold = shelf.count;
    const news: News = { artifacts, warnings, ...(beside.length > 0 && { beside: beside.length }) };
    return { text: `${answer},${JSON.stringify(news)}]`, beside };
  }

  /** Carries out a function of the host. What it gives is the program's, under the limits of a tool's result. */
  async #answer({ id, name, mode, text, beside = NOTHING }: Extract<GuestMessage, { type: 'ask' }>): Promise<void> {
    const { limits, functions, run, shelf, id: executionId } = this.#options;
    const work = functions.get(name);
    // The guest has these names from us: another one is no mistake of a program.
    if (work === undefined) throw new GuestProtocolError('The guest called a function that it was not given.');
    const holder = {};
    let settlement: string | Settlement;
    try {
      this.#requests++;
      if (this.#requests > limits.requests)
        throw new CodeModeError('limit_exceeded', `more than ${limits.requests} of its kind were asked, the limit \`requests\`.`);
      const { argumentBytes = limits.argumentBytes } = work;
      if (Buffer.byteLength(text) + bytesIn(beside) > argumentBytes)
        throw new CodeModeError('limit_exceeded', `the arguments are over the limit \`argumentBytes\`, ${argumentBytes}.`);
      const args = decodeArguments({ mode, text, beside });
      if (!Array.isArray(args)) throw new GuestProtocolError('The guest sent arguments that are no list.');
      if (work.givesMuch === true) await this.#requestTurn(holder, text.length + bytesIn(beside));
      // What is given to a program that has ended is given to nobody.
      if (this.#ending !== undefined) return this.#requestTurns.leave(holder);
      const context = { runId: run.run.id, executionId, order: id, limits, shelf, signal: this.#calling.signal };
      settlement = this.#answerWith(id, this.#encode(await work(args, context)));
    } catch (error) {
      if (error instanceof GuestProtocolError) throw error;
      settlement = `[${id},2,${JSON.stringify(functionFailure(work.title ?? name, error))}]`;
    }
    this.#outstanding--;
    if (this.#ending === undefined) this.#settle(settlement);
    // Only now: its answer counts among those that the guest has not seen.
    this.#requestTurns.leave(holder);
  }

  /** A program that asks in a loop, and awaits nothing, has its answers one after another. */
  async #requestTurn(holder: object, size: number): Promise<void> {
    if (!this.#requestTurns.tryTake(holder)) {
      if (this.#asked + size > MOST_ASKED)
        throw new CodeModeError('limit_exceeded', 'too much was asked at once; await what was asked before.');
      this.#asked += size;
      await new Promise<void>((resolve) => this.#requestTurns.wait(holder, resolve));
      this.#asked -= size;
    }
    await this.#room();
  }

  #encode(value: unknown): WireValue {
    const { limits, scheduler } = this.#options;
    const { resultBytes } = limits;
    const bytes: Uint8Array[] | undefined = scheduler.carriesBytes ? [] : undefined;
    let wire: WireValue;
    try {
      wire = encodeValue(value, bytes);
    } catch (error) {
      if (error instanceof UnserializableError) throw new CodeModeError('output_invalid', error.message, { cause: error });
      throw error;
    }
    let size = Buffer.byteLength(wire.text);
    for (const { byteLength } of bytes ?? []) size += byteLength;
    if (size > resultBytes) {
      throw new CodeModeError(
        'limit_exceeded',
        `it is ${size} bytes, and the limit \`resultBytes\` is ${resultBytes}; ask for less, for example with a filter or a page.`,
      );
    }
    // Copies, since what is sent away is lost to the sender, and the tool may keep its bytes or change them.
    return bytes === undefined || bytes.length === 0 ? wire : { ...wire, beside: bytes.map((each) => each.slice().buffer as ArrayBuffer) };
  }

  /** Results that are ready together go back together; one that nothing else is running beside goes at once. */
  /** Characters of results that the guest has not been given. */
  #unseen(): number {
    return this.#unflushed + (this.#ticket?.backlog ?? 0);
  }

  /** A program that starts calls but takes no results, because it computes, does not fill the host with them. */
  #room(): Promise<void> | undefined {
    return this.#unseen() > MOST_UNSEEN ? this.#whenRoom() : undefined;
  }

  async #whenRoom(): Promise<void> {
    while (this.#ending === undefined && this.#unseen() > MOST_UNSEEN) await new Promise<void>((resolve) => this.#held.push(resolve));
  }

  /** Lets calls go on that were held back for want of room. */
  #letGo(): void {
    if (this.#held.length === 0) return;
    for (const resolve of this.#held.splice(0)) resolve();
  }

  #settle(settlement: string | Settlement): void {
    this.#settlements.push(settlement);
    this.#unflushed += typeof settlement === 'string' ? settlement.length : settlement.text.length + bytesIn(settlement.beside);
    if (!this.#proceeding) this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#outstanding === 0) this.#flush();
    else this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#flushing !== undefined) clearImmediate(this.#flushing);
    this.#flushing = undefined;
    if (this.#settlements.length === 0 || this.#listening || this.#ending !== undefined) return;
    clearTimeout(this.#wakeTimer);
    this.#unflushed = 0;
    this.#ticket?.post(this.#settlements.splice(0));
  }

  #warn(warning: Warning): void {
    if (this.#warnings.length >= MOST_WARNINGS) return;
    this.#warnings.push(warning);
    this.#tell({ type: 'warning', message: warning.message, ...placeOf(warning) });
  }

  #judge(verdict: Verdict, message?: string): void {
    const { limits } = this.#options;
    const base = verdictError(verdict.kind, limits, verdict.limit);
    const error: ProgramError =
      verdict.diagnosis !== undefined ? { kind: verdict.kind, ...verdict.diagnosis } : message === undefined ? base : { ...base, message };
    this.#end({ type: 'verdict', verdict, error });
  }

  #end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    clearTimeout(this.#wallTimer);
    clearTimeout(this.#wakeTimer);
    this.#ticket?.end();
    this.#letGo();
    void this.#finish(ending);
  }

  async #finish(ending: Ending): Promise<void> {
    // A program that has completed (or left by `exit`) started its calls on purpose: they end by themselves. Else they are aborted.
    if (ending.type === 'value' && this.#outstanding > 0)
      await this.#broker.settled(
        Math.max(0, this.#options.limits[this.#options.lifetime] - (performance.now() - this.#began)),
        this.#calling.signal,
      );
    this.#options.signal?.removeEventListener('abort', this.#onSignal);
    this.#calling.end(PROGRAM_ENDED);
    const { cleanupMs } = this.#options.limits;
    const still = await this.#broker.settled(cleanupMs);
    for (const path of still)
      this.#warn({
        message: `Tool \`${path}\` was still running ${cleanupMs} ms after the program had ended and its signal was aborted; its result is ignored.`,
      });
    const { shelf, lifetime } = this.#options;
    for (const name of shelf.abandon(this.#options.id))
      this.#warn({
        message: `The file ${JSON.stringify(name)} was opened with createArtifact() and never closed, so it was not kept; call its close().`,
      });
    const notice = this.#output.notice;
    if (notice !== undefined) this.#warn({ message: notice });
    const outcome = await this.#outcome(ending);
    // What a program stored counts when it came to an end of its own, also a bad one; not when it was ended.
    if (outcome.status !== 'terminated') for (const [key, wire] of this.#stored) this.#options.store?.set(key, wire);
    const calls = this.#broker.records();
    const wallMs = performance.now() - this.#began;
    const isolation = this.#options.isolation?.();
    const result = {
      ...outcome,
      output: this.#output.text,
      artifacts: lifetime === 'wallMs' ? shelf.take() : [],
      calls,
      warnings: this.#warnings,
      usage: { wallMs, cpuMs: this.#cpuMs, calls: calls.length, peakMemoryBytes: this.#peakBytes },
      ...(isolation === undefined ? {} : { isolation }),
    } as RunResult;
    this.#tellEnd(ending, result);
    this.#resolve(result);
  }

  #tellEnd(ending: Ending, { status, error, value, usage }: RunResult): void {
    const { reporter, limits } = this.#options;
    if (!reporter.listens) return;
    const cause = ending.type === 'verdict' ? ending.verdict.cause : undefined;
    const limit = ending.type === 'verdict' ? ending.verdict.limit : undefined;
    if (limit !== undefined) this.#tell({ type: 'limit', limit, allowed: limits[limit] });
    if (error?.kind === 'fault') this.#tell({ type: 'fault', error: cause });
    const captured = status === 'completed' ? reporter.capture('value', value) : undefined;
    const detail = error === undefined ? undefined : reporter.capture('error', error);
    this.#tell({
      type: 'execution-end',
      status,
      ...(error === undefined ? {} : { kind: error.kind }),
      durationMs: usage.wallMs,
      cpuMs: usage.cpuMs,
      peakMemoryBytes: usage.peakMemoryBytes,
      calls: usage.calls,
      ...placeOf(error ?? {}),
      ...(captured === undefined ? {} : { value: captured }),
      ...(detail === undefined ? {} : { detail }),
      ...(cause === undefined ? {} : { error: cause }),
    });
  }

  async #outcome(ending: Ending): Promise<Pick<RunResult, 'status' | 'value' | 'error'>> {
    if (ending.type === 'value') {
      const { limits } = this.#options;
      const { text } = ending.wire;
      await this.#explain(undefined);
      if (Buffer.byteLength(text) + bytesIn(ending.wire.beside ?? NOTHING) > limits.valueBytes)
        return { status: 'error', error: { ...verdictError('limit', limits, 'valueBytes') } };
      try {
        return { status: 'completed', value: decodeUntrusted(ending.wire) };
      } catch (error) {
        if (error instanceof UnserializableError)
          return {
            status: 'error',
            error: { kind: 'unserializable', name: 'TypeError', message: `The program's value cannot cross: ${error.message}` },
          };
        return { status: 'error', error: verdictError('fault', limits) };
      }
    }
    if (ending.type === 'verdict') {
      await this.#explain(undefined);
      return { status: ending.verdict.kind === 'aborted' ? 'terminated' : 'error', error: ending.error };
    }
    return { status: 'error', error: await this.#explain(ending.error) };
  }

  /** The model's own positions for an error and for warnings, from a worker: no text of a model is parsed here. */
  async #explain(error: GuestError): Promise<ProgramError>;
  async #explain(error: undefined): Promise<undefined>;
  async #explain(error: GuestError | undefined): Promise<ProgramError | undefined> {
    if (error === undefined && this.#stacks.length === 0) return undefined;
    const { scheduler, source, catalog, limits } = this.#options;
    const tools =
      error === undefined
        ? []
        : catalog.entries.slice(0, 500).map(({ path, tool }) => ({ path, description: tool.description.slice(0, 200) }));
    const answer = await scheduler.diagnose(source, {
      ...(error === undefined ? {} : { error }),
      stacks: this.#stacks.map(({ stack }) => stack),
      tools,
    });
    this.#stacks.forEach(({ message }, index) => {
      const place = answer?.places[index];
      this.#warn({ message, ...(place ?? {}) });
    });
    if (error === undefined) return undefined;
    if (this.#starved && isOutOfMemory(error)) return verdictError('memory', limits, 'memoryBytes');
    const { kind, name, message, code } = error;
    const diagnosis = answer?.diagnosis ?? { name, message };
    return { kind, ...diagnosis, ...(code === undefined ? {} : { code }) };
  }
}

const NOTHING: readonly ArrayBuffer[] = [];
const NO_WARNINGS: readonly string[] = [];

/** The bytes of a text as UTF-8; where they are certainly not more than `limit`, something between that and their number. */
function sizeUpTo(limit: number, text: string): number {
  return text.length * 3 <= limit ? text.length : Buffer.byteLength(text);
}

function bytesIn(buffers: readonly ArrayBuffer[]): number {
  let size = 0;
  for (const { byteLength } of buffers) size += byteLength;
  return size;
}

function functionFailure(name: string, error: unknown): CallFailure {
  if (error instanceof UnserializableError) return { name: 'TypeError', code: 'input_invalid', message: `\`${name}\`: ${error.message}` };
  if (CodeModeError.is(error) || ToolError.is(error))
    return { name: 'Error', code: error.code ?? 'tool_failed', message: shorten(`\`${name}\`: ${sentence(error.message)}`) };
  return { name: 'Error', code: 'tool_failed', message: `\`${name}\` failed (${className(error)}).` };
}

type ExecutionEvent = Exclude<Extract<EventFact, { readonly executionId: string }>, { readonly callId: string; readonly tool: string }>;
/** The part of an event that differs from program to program. */
type ExecutionFact = {
  [Type in ExecutionEvent['type']]: Omit<Extract<ExecutionEvent, { type: Type }>, 'runId' | 'executionId'>;
}[ExecutionEvent['type']];

function placeOf({ line, column }: { readonly line?: number; readonly column?: number }): { readonly place?: Place } {
  return line === undefined || column === undefined ? {} : { place: { line, column } };
}

function storeText(store: SessionStore | undefined): string {
  if (store === undefined || store.size === 0) return '{}';
  // A Map, since `__proto__` is a key like any other; written by hand, since fromEntries would be one too.
  return `{${[...store].map(([key, { mode, text }]) => `${JSON.stringify(key)}:${JSON.stringify([mode, text])}`).join(',')}}`;
}

/** What the engine throws when an allocation was refused; with no room for an error, it throws `null`. */
function isOutOfMemory({ isError, message }: GuestError): boolean {
  return isError ? /out of memory|array buffer allocation failed/i.test(message) : message === 'null';
}
