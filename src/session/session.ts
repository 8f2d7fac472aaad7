// A session: many programs for one agent run. The model starts a program, watches it, ends it; the conversation may call
// tools itself, under the same checks. Not here: what happens inside one program (execution.ts), how an SDK names this.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { KeptArtifact } from '../artifacts/kept.ts';
import { type Broker, createBroker } from '../broker/broker.ts';
import type { Delivery } from '../broker/deliver.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { LimitOverrides, Limits } from '../protocol/limits.ts';
import { nearest } from '../protocol/nearest.ts';
import type { RunHandle } from '../tools/binding.ts';
import type { Catalog, CatalogEntry } from '../tools/catalog.ts';
import type { Discovery } from '../tools/discovery.ts';
import { describe } from '../tools/json.ts';
import { type ControlTool, controlTools } from './control-tools.ts';
import { discoveryTools } from './discovery-tools.ts';
import type { EngineOption } from './engines.ts';
import { type Execution, type ExecutionOptions, execute, type SessionStore } from './execution.ts';
import { instructionsFor } from './instructions.ts';
import type { Observation, ObserveOptions } from './observation.ts';
import { checkSignal, type DiscoveryPlace } from './options.ts';
import { keepValue, PREVIEW_BYTES, THRESHOLD_BYTES, type WholeValue } from './oversized.ts';
import type { RunResult } from './result.ts';
import { type SessionTool, sessionTools } from './session-tools.ts';
import { bytesOf, shortenJson, shortenText, toShownJson } from './shorten.ts';

export interface ExecOptions extends ObserveOptions {
  /** Overrides of limits for this program, key by key. */
  readonly limits?: LimitOverrides | undefined;
  /** What runs this program, instead of the session's engine. */
  readonly engine?: EngineOption | undefined;
  /** Ends the program when it aborts, watched or not; one that is aborted already keeps it from starting. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions {
  /** Ends the call when it aborts: the tool's own signal is aborted, and a reply after that is ignored. */
  readonly signal?: AbortSignal | undefined;
}

/** One agent run's programs. Close it when the run ends; it also works with `await using`. */
export interface Session {
  readonly id: string;
  /** Starts a program and watches it. Throws `call_refused` while another one runs, which is left alone. */
  exec(source: string, options?: ExecOptions): Promise<Observation>;
  /** Watches the program that runs. Never resumes or prolongs it. Throws `call_refused` when there is none. */
  wait(options?: ObserveOptions): Promise<Observation>;
  /** Ends the program that runs. Throws `call_refused` when there is none. */
  stop(options?: ObserveOptions): Promise<Observation>;
  /**
   * The same call, made by the conversation: same checks, limits, locks and events. Gives the value; files beside it come with the next
   * observation. Rejects with a `CodeModeError` of the failure's code.
   */
  callTool(name: string, input?: unknown, options?: CallOptions): Promise<unknown>;
  /** What no observation has told yet: files of the conversation's own calls, for a conversation that runs no program after them. */
  takeArtifacts(): readonly KeptArtifact[];
  /** The same, told as a program is: value and artifacts, or the error, bounded by `maxOutputTokens`. A failed call does not reject. */
  observeTool(name: string, input?: unknown, options?: CallOptions & Pick<ObserveOptions, 'maxOutputTokens'>): Promise<Observation>;
  /** Every tool of the run, in order, and who has it: programs, or the conversation (`except`). */
  readonly tools: readonly SessionTool[];
  /** `exec`, `wait` and `stop` as neutral tool specifications for any SDK; with `discovery` in the conversation `search_tools` and `describe_tool` too. */
  controlTools(): readonly ControlTool[];
  /** For the system prompt: what code mode is and which tools there are. */
  readonly instructions: string;
  /** Ends what runs and releases everything of the run. Safe to call twice. Rejects with `cleanup_failed` when closing a tool fails. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a session is made of; see createCodeMode().openSession(). */
/** Where a program runs. */
type Placing = Pick<ExecutionOptions, 'limits' | 'scheduler' | 'isolation'>;

export interface SessionParts {
  readonly run: RunHandle;
  /** What programs may call. */
  readonly catalog: Catalog;
  /** Looks for tools of `catalog`. */
  readonly discovery: Discovery;
  readonly discoveryPlace: DiscoveryPlace;
  /** All tools of the run, those kept out of programs too. */
  readonly everything: Catalog;
  readonly limits: Limits;
  readonly execution: Omit<ExecutionOptions, 'id' | 'source' | 'limits' | 'lifetime' | 'store' | 'signal' | 'run' | 'catalog'>;
  /** Where a program with an engine or limits of its own runs. Rejects with a `CodeModeError` for wrong ones. */
  schedulerFor(engine: EngineOption | undefined, limits: LimitOverrides | undefined): Promise<Placing>;
  readonly signal: AbortSignal | undefined;
  release(): Promise<void>;
}

const OBSERVE_MS = 60_000;
const OUTPUT_TOKENS = 10_000;

/** The session whose tool is running here: a tool that used the controls of its own session would wait for itself. */
const inside = new AsyncLocalStorage<readonly OpenSession[]>();

interface Program {
  readonly number: number;
  readonly execution: Execution;
  readonly id: string;
  readonly limits: Limits;
  result: RunResult | undefined;
}

export class OpenSession implements Session {
  readonly #parts: SessionParts;
  readonly #store: SessionStore = new Map();
  readonly #ended = new AbortController();
  readonly #conversation: Broker;
  /** Brokers of calls that have a signal of their own, while those calls go on. */
  readonly #signalled = new Set<Broker>();
  #active: Program | undefined;
  #programs = 0;
  #instructions: string | undefined;
  #tools: readonly SessionTool[] | undefined;
  #conversationCalls = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;
  readonly #onSignal = (): void => void this.close().catch(() => undefined);

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { signal } = parts;
    this.#conversation = this.#openBroker(this.#ended.signal);
    if (signal?.aborted === true) this.#onSignal();
    else signal?.addEventListener('abort', this.#onSignal, { once: true });
  }

  get id(): string {
    return this.#parts.run.run.id;
  }

  get instructions(): string {
    if (this.#instructions === undefined) {
      this.#instructions = instructionsFor(this.#parts);
    }
    return this.#instructions;
  }

  exec(source: string, options: ExecOptions = {}): Promise<Observation> {
    return this.#control('exec', async () => {
      const watching = checkObserve(options, ['limits', 'engine', 'signal']);
      const signal = checkSignal(options.signal);
      if (typeof source !== 'string')
        throw new CodeModeError('option_invalid', `exec() takes the program as a string, not ${describe(source)}.`);
      const { execution, run, catalog } = this.#parts;
      const { limits, scheduler, isolation } = await this.#place(options);
      if (Buffer.byteLength(source) > limits.sourceBytes) {
        throw new CodeModeError(
          'limit_exceeded',
          `The program is ${Buffer.byteLength(source)} bytes long; the limit \`sourceBytes\` is ${limits.sourceBytes}. Write a shorter one.`,
        );
      }
      const before = this.#active;
      if (before !== undefined && before.result === undefined) {
        throw new CodeModeError(
          'call_refused',
          `Program ${before.number} is still running. Use wait to watch it or stop to end it, then start the next.`,
        );
      }
      if (signal?.aborted === true) throw new CodeModeError('aborted', 'The program was not started: its signal was aborted before.');
      // It ended while nobody watched: its end is told beside the next program's.
      const previous = before === undefined ? undefined : await this.#look(before, watching.bytes);
      const id = randomUUID();
      const program: Program = {
        id,
        limits,
        number: ++this.#programs,
        execution: inside.run([...(inside.getStore() ?? []), this], () =>
          execute({
            ...execution,
            scheduler,
            isolation,
            id,
            number: this.#programs,
            source,
            run,
            catalog,
            limits,
            lifetime: 'lifetimeMs',
            store: this.#store,
            signal: this.#ended.signal,
          }),
        ),
        result: undefined,
      };
      this.#active = program;
      const onAbort = (): void => program.execution.stop();
      signal?.addEventListener('abort', onAbort, { once: true });
      void program.execution.result.then((result) => {
        signal?.removeEventListener('abort', onAbort);
        program.result = result;
      });
      const observation = await this.#observe(program, watching);
      return previous === undefined ? observation : { ...observation, previous };
    });
  }

  wait(options: ObserveOptions = {}): Promise<Observation> {
    return this.#control('wait', async () => {
      const watching = checkObserve(options);
      return this.#observe(this.#running('wait'), watching);
    });
  }

  stop(options: ObserveOptions = {}): Promise<Observation> {
    // Told to the program at once, also when another call is watching it: that one then returns with its end.
    const meant = this.#closed === undefined ? this.#active : undefined;
    meant?.execution.stop();
    return this.#control('stop', async () => {
      const watching = checkObserve(options);
      if (meant?.result !== undefined && this.#active !== meant) return alreadyTold(meant.number, meant.result);
      const program = this.#running('stop');
      await program.execution.result;
      return this.#look(program, watching.bytes);
    });
  }

  async callTool(name: string, input?: unknown, options?: CallOptions): Promise<unknown> {
    const delivery = await this.#call(name, input, options);
    if (delivery.ok) return delivery.value;
    const { code, message, details } = delivery.failure;
    throw new CodeModeError(code as CodeModeError['code'], message, details === undefined ? {} : { details: { details } });
  }

  takeArtifacts(): readonly KeptArtifact[] {
    return this.#parts.execution.shelf.take();
  }

  async observeTool(
    name: string,
    input?: unknown,
    { maxOutputTokens, ...options }: CallOptions & Pick<ObserveOptions, 'maxOutputTokens'> = {},
  ): Promise<Observation> {
    const { bytes } = checkObserve({ maxOutputTokens });
    const delivery = await this.#call(name, input, options);
    // Told here, and not again with the next observation.
    return observationOf(delivery, delivery.ok ? this.#parts.execution.shelf.takeOnly(delivery.artifacts) : [], bytes);
  }

  get tools(): readonly SessionTool[] {
    this.#tools ??= sessionTools(this.#parts.everything, this.#parts.catalog);
    return this.#tools;
  }

  async #call(name: string, input: unknown, options: CallOptions = {}): Promise<Delivery> {
    this.#checkOpen();
    const signal = checkSignal(options.signal);
    const entry = this.#find(name);
    const request = { id: ++this.#conversationCalls, index: entry.index, input: input === undefined ? {} : () => input };
    if (signal === undefined) return this.#conversation.call(request);
    // A broker's calls end together, so a call with a signal of its own has a broker of its own; count and lock are the run's all the same.
    const ended = new AbortController();
    const sources = [this.#ended.signal, signal];
    const onAbort = (): void => ended.abort(sources.find(({ aborted }) => aborted)?.reason);
    if (signal.aborted) onAbort();
    for (const source of sources) source.addEventListener('abort', onAbort, { once: true });
    const broker = this.#openBroker(ended.signal);
    this.#signalled.add(broker);
    try {
      return await broker.call(request);
    } finally {
      for (const source of sources) source.removeEventListener('abort', onAbort);
      // A tool that ignores its signal is waited for when the session closes.
      if ((await broker.settled(0)).length === 0) this.#signalled.delete(broker);
    }
  }

  #find(name: string): CatalogEntry {
    const { everything } = this.#parts;
    const entry = everything.find(name);
    if (entry !== undefined) return entry;
    const near = nearest(
      String(name),
      everything.entries.map(({ path }) => path),
    );
    throw new CodeModeError(
      'tool_unknown',
      `There is no tool \`${name}\`.${near.length === 0 ? '' : ` Did you mean ${near.map((path) => `\`${path}\``).join(' or ')}?`}`,
    );
  }

  /** A broker of calls that the conversation makes itself, until `signal` aborts. */
  #openBroker(signal: AbortSignal): Broker {
    const { run, everything, limits, execution } = this.#parts;
    return createBroker({
      catalog: everything,
      run,
      limits,
      shelf: execution.shelf,
      policy: execution.policy,
      hooks: execution.hooks,
      reporter: execution.reporter,
      caller: 'conversation',
      showError: execution.showError,
      learn: execution.learn,
      executionId: `${run.run.id}:conversation`,
      programKey: `${run.run.id}\nconversation`,
      signal,
    });
  }

  controlTools(): readonly ControlTool[] {
    const { discovery, discoveryPlace } = this.#parts;
    return discoveryPlace === 'guest' ? controlTools(this) : [...controlTools(this), ...discoveryTools(discovery, () => this.#checkOpen())];
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#parts.signal?.removeEventListener('abort', this.#onSignal);
      this.#ended.abort(new CodeModeError('closed', 'The session has been closed.'));
      await this.#active?.execution.result;
      const { cleanupMs } = this.#parts.limits;
      await Promise.all([this.#conversation, ...this.#signalled].map((broker) => broker.settled(cleanupMs)));
      await this.#parts.release();
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Control calls take turns: none begins before the one before has returned. */
  #control(name: 'exec' | 'wait' | 'stop', work: () => Promise<Observation>): Promise<Observation> {
    if (inside.getStore()?.includes(this) === true) {
      return Promise.reject(
        new CodeModeError(
          'call_deadlock',
          `A tool called ${name}() of the session whose program it serves; each would wait for the other. Return first.`,
        ),
      );
    }
    const turn = this.#queue.then(async () => {
      this.#checkOpen();
      const { reporter } = this.#parts.execution;
      if (!reporter.listens && !reporter.spans) return work();
      const began = performance.now();
      const observation = await reporter.around(
        {
          name: 'control',
          control: name,
          runId: this.id,
          ...(name === 'exec' || this.#active === undefined ? {} : { executionId: this.#active.execution.id }),
        },
        work,
      );
      const { status, program } = observation;
      reporter.tell({ type: 'session-control', runId: this.id, control: name, program, status, durationMs: performance.now() - began });
      return observation;
    });
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new CodeModeError('closed', 'This session has been closed; open another one.');
  }

  /** Where a program runs and within which limits: the session's own, unless it is to be otherwise. */
  async #place({ limits, engine }: ExecOptions): Promise<Placing> {
    const { schedulerFor, execution, limits: own } = this.#parts;
    if (limits === undefined && engine === undefined)
      return { limits: own, scheduler: execution.scheduler, isolation: execution.isolation };
    return schedulerFor(engine, limits);
  }

  #running(name: string): Program {
    if (this.#active !== undefined) return this.#active;
    throw new CodeModeError('call_refused', `There is no program to ${name}${name === 'wait' ? ' for' : ''}; start one with exec.`);
  }

  async #observe(program: Program, { observeMs, bytes }: Watching): Promise<Observation> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, observeMs);
    });
    await Promise.race([program.execution.result, enough]);
    clearTimeout(timer);
    return this.#look(program, bytes);
  }

  async #look(program: Program, bytes: number): Promise<Observation> {
    const { number, execution, result } = program;
    if (result === undefined) {
      const { output, ...increment } = execution.take();
      const text = shortenText(output, bytes);
      return { status: 'still_working', program: number, output: text.kept, ...increment, ...note([text.left && `output: ${text.left}`]) };
    }
    this.#active = undefined;
    const shown = result.status === 'completed' && result.value !== undefined ? toShownJson(result.value) : undefined;
    const size = shown === undefined ? 0 : Buffer.byteLength(JSON.stringify(shown));
    // Too big to be told, and big enough to be worth keeping: before anything is taken, so that the file goes with this observation.
    const isOversized = size > THRESHOLD_BYTES && size > bytes;
    const whole = isOversized ? await this.#keepValue(program, result) : undefined;
    const { output, ...increment } = execution.take();
    const base = { program: number, ...increment, ...howItRan(result) };
    if (result.status !== 'completed') {
      const text = shortenText(output, bytes);
      return { status: result.status, ...base, output: text.kept, error: result.error, ...note([text.left && `output: ${text.left}`]) };
    }
    // The value is what the program was for: it gets what it needs, up to three quarters, and the output the rest.
    const room = Math.max(Math.floor(bytes * 0.75), bytes - Buffer.byteLength(output));
    const value = shown === undefined ? undefined : shortenJson(shown, whole === undefined ? room : Math.min(room, PREVIEW_BYTES));
    const used = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value.kept));
    const text = shortenText(output, Math.max(0, bytes - used));
    const left = note([value?.left && `value: ${value.left}`, text.left && `output: ${text.left}`]);
    return {
      status: 'completed',
      ...base,
      output: text.kept,
      ...(value === undefined ? {} : { value: value.kept }),
      ...(whole === undefined ? left : { shortened: `${whole.note}${left.shortened === undefined ? '' : ` ${left.shortened}`}` }),
    };
  }

  #keepValue({ id, number, limits }: Program, { value }: RunResult): Promise<WholeValue> {
    return keepValue(value, { shelf: this.#parts.execution.shelf, limits, executionId: id, program: number });
  }
}

/** For a stop whose program's end was told to the call that was watching it. */
function alreadyTold(program: number, result: RunResult): Observation {
  return { status: result.status, program, output: '', calls: [], warnings: [], artifacts: [], ...howItRan(result) };
}

function howItRan({ usage, isolation }: RunResult): Pick<Observation, 'usage' | 'isolation'> {
  return { usage, ...(isolation === undefined ? {} : { isolation }) };
}

/** A call of the conversation, told as a program is. */
function observationOf(delivery: Delivery, artifacts: readonly KeptArtifact[], bytes: number): Observation {
  const warnings = delivery.ok && delivery.warning !== undefined ? [{ message: delivery.warning }] : [];
  const base = { program: 0, output: '', calls: [], warnings, artifacts };
  if (!delivery.ok) {
    const { name, code, message } = delivery.failure;
    return { status: 'error', ...base, error: { kind: 'program', name, code, message } };
  }
  if (delivery.value === undefined) return { status: 'completed', ...base };
  const value = shortenJson(toShownJson(delivery.value), bytes);
  return { status: 'completed', ...base, value: value.kept, ...note([value.left && `value: ${value.left}`]) };
}

function note(parts: readonly (string | undefined)[]): { shortened?: string } {
  const said = parts.filter((part) => part !== undefined && part !== '');
  return said.length === 0 ? {} : { shortened: `Left out of the ${said.join('; of the ')}. Return less, or raise max_output_tokens.` };
}

interface Watching {
  readonly observeMs: number;
  readonly bytes: number;
}

function checkObserve(options: ObserveOptions, more: readonly string[] = []): Watching {
  if (typeof options !== 'object' || options === null)
    throw new CodeModeError('option_invalid', 'The options should be an object such as { observeMs: 10000 }.');
  const known = ['observeMs', 'maxOutputTokens', ...more];
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw new CodeModeError('option_invalid', `There is no option \`${key}\`; there are ${known.join(', ')}.`);
  }
  const { observeMs = OBSERVE_MS, maxOutputTokens = OUTPUT_TOKENS } = options;
  checkWhole('observeMs', observeMs, 0, 2 ** 31 - 1);
  checkWhole('maxOutputTokens', maxOutputTokens, 1, 1_048_576);
  return { observeMs, bytes: bytesOf(maxOutputTokens) };
}

function checkWhole(name: string, value: unknown, min: number, max: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return;
  throw new CodeModeError('option_invalid', `\`${name}\` should be a whole number from ${min} to ${max}, but is ${shown(value)}.`);
}

/** A text in quotes, so that "5" is not taken for 5. */
function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
