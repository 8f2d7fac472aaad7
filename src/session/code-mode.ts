// The door for applications: createCodeMode() builds what can be built once, and runs programs.
// Not here: that the options are right (options.ts), what happens to one program (execution.ts).
import { createHash, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Reporter } from '../broker/report.ts';
import type { Scheduler } from '../isolation/scheduler.ts';
import type { Observer } from '../observe.ts';
import { CodeModeError } from '../protocol/errors.ts';
import { type LimitOverrides, type Limits, resolveLimits } from '../protocol/limits.ts';
import { nearest } from '../protocol/nearest.ts';
import { createRun, type RunHandle } from '../tools/binding.ts';
import { type Catalog, createCatalog } from '../tools/catalog.ts';
import { Discovery } from '../tools/discovery.ts';
import { describe } from '../tools/json.ts';
import { type Collection, collect, collectStatic, isStatic, type PlacedTool } from '../tools/provider.ts';
import { ToolIndexes } from '../tools/search.ts';
import { SeenResultsOfTools } from '../tools/seen-results.ts';
import { Workspaces } from '../workspace/open.ts';
import { Artifacts } from './artifacts.ts';
import { type Description, describeCodeMode } from './describe.ts';
import { type Choice, Engines, type Isolation } from './engines.ts';
import { type ExecutionOptions, execute, type GuestCatalog } from './execution.ts';
import { functionNames, hostFunctions, SearchTurns } from './functions.ts';
import { type ModelCatalog, modelCatalog } from './model-catalog.ts';
import {
  CATALOG_OPTIONS,
  type CatalogOptions,
  type CodeModeOptions,
  checkEngine,
  checkGlobals,
  checkKeys,
  checkLocale,
  checkMode,
  checkOptions,
  checkSignal,
  checkTimeZone,
  observersOf,
  RUN_OPTIONS,
  type RunOptions,
  SESSION_OPTIONS,
  type SessionOptions,
  type TypeCheckMode,
} from './options.ts';
import type { RunResult } from './result.ts';
import { OpenSession, type Session } from './session.ts';
import { TypeChecks } from './type-check.ts';
import { verdictError } from './verdict.ts';

/** Code mode over a set of tools. Close it when the application ends; it also works with `await using`. */
export interface CodeMode {
  /**
   * Runs one program. Resolves for whatever the program did; rejects with a `CodeModeError` only for mistakes of the
   * host's own code: wrong options, a catalog that cannot be built, a failed `close()` of a tool, a closed code mode.
   */
  run(source: string, options?: RunOptions): Promise<RunResult>;
  /**
   * Opens a session for one agent run: exec, wait and stop over many programs that share `store`, limits on calls, and the
   * run's tools. Rejects as `run()` does.
   */
  openSession(options?: SessionOptions): Promise<Session>;
  /**
   * Tells one more observer every event from now on, until what this gives is called. Its `around` is not used, and events hold the payloads that
   * the option `capture` asked for.
   */
  observe(observer: Pick<Observer, 'on'>): () => void;
  /**
   * The tools that a run would have, to be listed, declared, searched and described. Builds them as a run would and closes what that
   * opened. Rejects as `run()` does.
   */
  catalog(options?: CatalogOptions): Promise<ModelCatalog>;
  /** What holds programs of this code mode's own engine. `undefined` before the first child process has started, when that is still to be seen. */
  readonly isolation: Isolation | undefined;
  /** What there is to run programs with on this machine, what holds them, and what is missing. Runs no program. */
  describe(): Promise<Description>;
  /** Ends running programs, open sessions and all workers. Safe to call twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Enables code mode over tools. Throws a `CodeModeError` for wrong options and for tools that cannot be one catalog. */
export function createCodeMode(options: CodeModeOptions): CodeMode {
  return new OpenCodeMode(checkOptions(options));
}

/** What a guest's image has room for, in characters of the manifest: some twelve thousand tools, or constants of twice the length. */
const MAX_MANIFEST = 2.25 * 1024 * 1024;
/** Time at closing for observers that have not heard everything. */
const OBSERVERS_MS = 1_000;

class OpenCodeMode implements CodeMode {
  readonly #options: CodeModeOptions;
  readonly #limits: Limits;
  readonly #timeZone: string;
  readonly #locale: string;
  /** Built once when no tool depends on the run. */
  readonly #fixed: Built | undefined;
  /** What the last run's providers gave: most give the same again, and a catalog of hundreds of tools takes its time. */
  #latest: Built | undefined;
  /** The application's constants as JSON of wire values. */
  readonly #globals: string;
  readonly #reporter: Reporter;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #sessions = new Set<Session>();
  readonly #types: TypeChecks;
  readonly #indexes = new ToolIndexes();
  readonly #searchTurns = new SearchTurns();
  /** What is known of results, where all runs learn together. */
  readonly #seen: SeenResultsOfTools | undefined;
  readonly #functions: readonly string[];
  readonly #engines: Engines;
  readonly #workspaces: Workspaces | undefined;
  readonly #artifacts: Artifacts;
  #closed: Promise<void> | undefined;

  constructor(options: CodeModeOptions) {
    this.#options = options;
    this.#limits = resolveLimits(options.artifacts?.limits, options.limits);
    this.#reporter = new Reporter({ ...options, observers: observersOf(options.observer) });
    this.#artifacts = new Artifacts(options.artifacts ?? {}, (fact) => this.#reporter.tell(fact));
    this.#engines = new Engines(options, this.#limits);
    // As many listeners as programs run.
    setMaxListeners(0, this.#closing.signal);
    this.#timeZone = checkTimeZone(options.timeZone ?? 'UTC');
    this.#locale = checkLocale(options.locale ?? 'en-US');
    this.#globals = checkGlobals(options.globals ?? {});
    this.#functions = functionNames(options.discovery ?? 'guest');
    this.#types = new TypeChecks(Object.keys(options.globals ?? {}), this.#functions);
    this.#seen = options.learnOutputs === 'shared' ? new SeenResultsOfTools() : undefined;
    this.#workspaces = options.workspace === undefined ? undefined : new Workspaces(options.workspace);
    if (isStatic(options.tools)) {
      const collection = collectStatic(options.tools);
      const catalog = createCatalog(collection.tools);
      this.#fixed = { collection, catalog, guest: toGuest(catalog, this.#globals, this.#functions) };
    }
  }

  run(source: string, options: RunOptions = {}): Promise<RunResult> {
    const running = this.#run(source, options);
    this.#running.add(running);
    const forget = (): void => void this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }

  async #run(source: string, options: RunOptions): Promise<RunResult> {
    if (this.#closed !== undefined) throw new CodeModeError('closed', 'This code mode has been closed; create another one.');
    checkKeys(options, RUN_OPTIONS, 'run()');
    if (typeof source !== 'string')
      throw new CodeModeError('option_invalid', `The program should be a string, but is ${describe(source)}.`);
    const signal = checkSignal(options.signal);
    const choice = this.#engines.choose(checkEngine(options.engine));
    const limits = this.#limitsFor(choice, options.limits);
    const run = createRun({ id: options.runId, invocation: options.invocation });
    const oversized = Buffer.byteLength(source) > limits.sourceBytes;
    if (oversized)
      return refused(
        `The program is ${Buffer.byteLength(source)} bytes long; the limit \`sourceBytes\` is ${limits.sourceBytes}. Write a shorter one: pass data through tools, not in the text.`,
        limits,
      );
    const mode = this.#modeFor(options.typecheck);
    if (mode !== 'off') await this.#types.require();
    const scheduler = await this.#engines.open(choice, limits);
    await this.#openWorkspace(run);
    const { collection, catalog, guest } = this.#fixed ?? (await this.#build(run));
    const shelf = this.#artifacts.shelfFor(run.run);
    const close = collection.closing();
    const ended = this.#tellRun(run, 'run', catalog);
    let result: RunResult;
    try {
      const program: ExecutionOptions = {
        id: randomUUID(),
        source,
        catalog,
        guest,
        run,
        limits,
        ...this.#shared(scheduler, choice),
        ...this.#discovery(catalog).execution,
        shelf,
        typecheck: this.#types.for(catalog, mode),
        lifetime: 'wallMs',
        signal: signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]),
      };
      result = await this.#reporter.around({ name: 'run', runId: run.run.id }, () => execute(program).result);
    } finally {
      await shelf.close();
      await closeBoth(() => run.close(), close).finally(ended);
    }
    return result;
  }

  async openSession(options: SessionOptions = {}): Promise<Session> {
    if (this.#closed !== undefined) throw new CodeModeError('closed', 'This code mode has been closed; create another one.');
    checkKeys(options, SESSION_OPTIONS, 'openSession()');
    const signal = checkSignal(options.signal);
    const choice = this.#engines.choose(checkEngine(options.engine));
    const limits = this.#limitsFor(choice, options.limits);
    const { except = [] } = options;
    const run = createRun({ id: options.runId, invocation: options.invocation });
    const mode = this.#modeFor(options.typecheck);
    if (mode !== 'off') await this.#types.require();
    const scheduler = await this.#engines.open(choice, limits);
    await this.#openWorkspace(run);
    const { collection, catalog: everything, guest: whole } = this.#fixed ?? (await this.#build(run));
    const shelf = this.#artifacts.shelfFor(run.run);
    const close = collection.closing();
    const ended = this.#tellRun(run, 'session', everything);
    let session: Session | undefined;
    try {
      const catalog = except.length === 0 ? everything : createCatalog(without(collection.tools, everything, except));
      const guest = catalog === everything ? whole : toGuest(catalog, this.#globals, this.#functions);
      const { discovery, execution } = this.#discovery(catalog);
      session = new OpenSession({
        run,
        catalog,
        discovery,
        discoveryPlace: this.#options.discovery ?? 'guest',
        everything,
        limits,
        signal,
        execution: { ...this.#shared(scheduler, choice), ...execution, shelf, guest, typecheck: this.#types.for(catalog, mode) },
        schedulerFor: async (engine, overrides) => {
          const other = engine === undefined ? choice : this.#engines.choose(checkEngine(engine));
          const fitted = this.#engines.fit(other, overrides === undefined ? limits : resolveLimits(limits, overrides));
          return { limits: fitted, scheduler: await this.#engines.open(other, fitted), isolation: () => this.#engines.isolationOf(other) };
        },
        release: async () => {
          if (session !== undefined) this.#sessions.delete(session);
          await shelf.close();
          await closeBoth(() => run.close(), close).finally(ended);
        },
      });
    } catch (error) {
      await closeBoth(() => run.close(), close)
        .catch(() => undefined)
        .finally(ended);
      throw error;
    }
    this.#sessions.add(session);
    return session;
  }

  async catalog(options: CatalogOptions = {}): Promise<ModelCatalog> {
    if (this.#closed !== undefined) throw new CodeModeError('closed', 'This code mode has been closed; create another one.');
    checkKeys(options, CATALOG_OPTIONS, 'catalog()');
    const run = createRun({ id: options.runId, invocation: options.invocation });
    if (this.#fixed !== undefined) return modelCatalog(this.#fixed.catalog, this.#discovery(this.#fixed.catalog).discovery);
    await this.#openWorkspace(run);
    const { collection, catalog } = await this.#build(run);
    await closeBoth(() => run.close(), collection.closing());
    return modelCatalog(catalog, this.#discovery(catalog).discovery);
  }

  /** Looking for tools of one run, and what its programs have of that. */
  #discovery(catalog: Catalog): { readonly discovery: Discovery; readonly execution: Pick<ExecutionOptions, 'functions' | 'learn'> } {
    const { learnOutputs = false } = this.#options;
    const seen = learnOutputs === true ? new SeenResultsOfTools() : this.#seen;
    const discovery = new Discovery(catalog, this.#indexes, seen);
    const functions = hostFunctions({ discovery, turns: this.#searchTurns });
    return { discovery, execution: { functions, learn: seen && ((entry, value) => seen.see(entry, value)) } };
  }

  /** Tells of a run; what it gives tells of its end. */
  #tellRun({ run }: RunHandle, mode: 'run' | 'session', catalog: Catalog): () => void {
    if (!this.#reporter.listens) return () => undefined;
    const began = performance.now();
    const { id: runId, invocation } = run;
    const { actorId, interface: from } = invocation;
    const tools = this.#reporter.captures('source')
      ? this.#reporter.capture(
          'source',
          catalog.entries.map(({ path }) => path),
        )
      : undefined;
    this.#reporter.tell({
      type: 'run-start',
      runId,
      mode,
      ...(actorId === undefined ? {} : { actorId }),
      ...(from === undefined ? {} : { interface: from }),
      ...(tools === undefined ? {} : { tools }),
    });
    return () => this.#reporter.tell({ type: 'run-end', runId, mode, durationMs: performance.now() - began });
  }

  /** What every execution of this code mode has in common. */
  #shared(
    scheduler: Scheduler,
    choice: Choice,
  ): Pick<ExecutionOptions, 'scheduler' | 'isolation' | 'policy' | 'reporter' | 'hooks' | 'showError' | 'timeZone' | 'locale'> {
    const { policy, hooks, showError } = this.#options;
    return {
      scheduler,
      isolation: () => this.#engines.isolationOf(choice),
      policy,
      reporter: this.#reporter,
      hooks,
      showError,
      timeZone: this.#timeZone,
      locale: this.#locale,
    };
  }

  /** Registered first, so that it is closed after everything that the run's tools registered. */
  async #openWorkspace(run: RunHandle): Promise<void> {
    const workspace = await this.#workspaces?.open();
    if (workspace === undefined) return;
    run.workspace = workspace;
    run.run.register(() => workspace.close());
  }

  /** The catalog of a run whose tools depend on it. */
  async #build(run: RunHandle): Promise<Built> {
    let collection: Collection | undefined;
    try {
      collection = await collect(this.#options.tools, run);
      const before = this.#latest;
      if (before !== undefined && areSame(collection.tools, before.collection.tools)) return { ...before, collection };
      const catalog = createCatalog(collection.tools);
      const built = { collection, catalog, guest: toGuest(catalog, this.#globals, this.#functions) };
      this.#latest = built;
      return built;
    } catch (error) {
      // What went wrong first is what matters; closing is attempted all the same.
      await closeBoth(() => run.close(), collection?.closing() ?? (async () => undefined)).catch(() => undefined);
      if (CodeModeError.is(error)) throw error;
      throw new CodeModeError(
        'catalog_failed',
        `The tools of this run could not be collected: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
  }

  #modeFor(mode: unknown): TypeCheckMode {
    return mode === undefined ? (this.#options.typecheck ?? 'off') : checkMode(mode);
  }

  #limitsFor(choice: Choice, overrides: LimitOverrides | undefined): Limits {
    return this.#engines.fit(choice, overrides === undefined ? this.#limits : resolveLimits(this.#limits, overrides));
  }

  observe(observer: Pick<Observer, 'on'>): () => void {
    if (typeof observer !== 'object' || observer === null || typeof observer.on !== 'function')
      throw new CodeModeError('option_invalid', 'observe() takes an object with on(event).');
    return this.#reporter.subscribe(observer);
  }

  get isolation(): Isolation | undefined {
    return this.#engines.isolationOf(this.#engines.choose(undefined));
  }

  describe(): Promise<Description> {
    return describeCodeMode(this.#engines, this.#limits);
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#closing.abort();
      await Promise.allSettled([...this.#running, ...[...this.#sessions].map((session) => session.close())]);
      await Promise.all([this.#types.close(), this.#engines.close(), this.#workspaces?.close()]);
      await this.#artifacts.close();
      await this.#reporter.settle(OBSERVERS_MS);
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A catalog, what the tools came from, and what the guest is told of it. */
interface Built {
  readonly collection: Collection;
  readonly catalog: Catalog;
  readonly guest: GuestCatalog;
}

/** The tools of a run but those that stay in the conversation. */
function without(tools: readonly PlacedTool[], catalog: Catalog, except: readonly string[]): readonly PlacedTool[] {
  const left = new Set<number>();
  for (const name of except) {
    const entry = catalog.find(name);
    if (entry === undefined) {
      const [near] = nearest(
        String(name),
        catalog.entries.map(({ path }) => path),
      );
      throw new CodeModeError(
        'option_invalid',
        `\`except\` names \`${name}\`, which is no tool of this run.${near === undefined ? '' : ` Did you mean \`${near}\`?`}`,
      );
    }
    left.add(entry.index);
  }
  return tools.filter((_, index) => !left.has(index));
}

/** Whether two runs have the same tools, by identity, in the same places. */
function areSame(tools: readonly PlacedTool[], others: readonly PlacedTool[]): boolean {
  return (
    tools.length === others.length &&
    tools.every(({ tool, namespace }, index) => {
      const other = others[index];
      return (
        tool === other?.tool &&
        namespace.length === other.namespace.length &&
        namespace.every((name, depth) => name === other.namespace[depth])
      );
    })
  );
}

/** Closes the tools, then the run; both are attempted, the first failure is reported. */
async function closeBoth(closeRun: () => Promise<void>, closeTools: () => Promise<void>): Promise<void> {
  const outcomes = [await settle(closeTools), await settle(closeRun)];
  for (const outcome of outcomes) if (outcome !== undefined) throw outcome.error;
}

async function settle(work: () => Promise<void>): Promise<{ error: unknown } | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** The manifest of the tools and the constants together: images are made and kept per such text. */
function toGuest(catalog: Catalog, globals: string, functions: readonly string[]): GuestCatalog {
  const { entries, texts } = catalog.manifest;
  // A tool becomes a function, which is larger than the text that it comes from.
  const size = 2 * entries.length + globals.length;
  if (size > MAX_MANIFEST) {
    throw new CodeModeError(
      'catalog_failed',
      `The ${catalog.entries.length} tools and the \`globals\` are more than fits into a guest (${size} of ${MAX_MANIFEST} characters); give fewer tools or smaller globals.`,
    );
  }
  const id = globals === '{}' ? catalog.id : createHash('sha256').update(catalog.id).update(globals).digest('hex');
  const manifest = `{"tools":${entries},"globals":${globals},"functions":${JSON.stringify(functions)}}`;
  return { id, manifest: texts === '' ? manifest : `${manifest}\n${texts}` };
}

function refused(message: string, limits: Limits): RunResult {
  return {
    status: 'error',
    error: { ...verdictError('limit', limits, 'sourceBytes'), message },
    output: '',
    artifacts: [],
    calls: [],
    warnings: [],
    usage: { wallMs: 0, cpuMs: 0, calls: 0, peakMemoryBytes: 0 },
  };
}
