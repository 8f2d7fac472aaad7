// The type check's own thread: started by the first check, kept warm, one check at a time, each with a time bound. A checker that is stuck or
// broken costs a warning, never a program. Not here: what is checked (program/typecheck.ts) and by which compiler (typecheck-entry.ts).
import { Worker } from 'node:worker_threads';
import type { TypeWorld } from '../program/compiler.ts';
import type { TypeProblem } from '../program/typecheck.ts';

/** What came of a check. */
export type TypeCheckOutcome =
  | { readonly type: 'checked'; readonly problems: readonly TypeProblem[] }
  /** The program was not checked, for a reason that may not come again. */
  | { readonly type: 'skipped'; readonly reason: string }
  /** No program can be checked: there is no compiler. `message` says what to install. */
  | { readonly type: 'unavailable'; readonly message: string };

/** Host to thread, as JSON. Each is answered by one outcome. `world` is sent once for each world that the thread knows. */
export interface TypeCheckRequest {
  readonly source: string;
  readonly worldId: string;
  readonly world?: TypeWorld;
  /** Worlds that will not be asked for again. */
  readonly forget: readonly string[];
}

/** What the thread is started with. */
export interface TypeCheckStart {
  /** The package that the compiler is in. */
  readonly compiler: string;
}

/** Time for the compiler to be loaded and to read its library; a machine may be busy. */
const FIRST_MS = 20_000;
const CHECK_MS = 3_000;
/** Worlds that the thread keeps. */
const WORLDS = 4;

// Node cannot load TypeScript in a thread: run from the sources, the thread is the built one.
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/isolation/typecheck-entry.js' : './typecheck-entry.js',
  import.meta.url,
);

export interface TypeCheckOptions {
  /** The package that the compiler is in. Default `typescript`. */
  readonly compiler?: string;
  /** Most time for one check once the compiler is warm. Default 3 000. */
  readonly checkMs?: number;
}

/** Checks programs in a thread. Nothing runs before the first check; it never keeps the process alive between checks. */
export class TypeCheckThread {
  readonly #compiler: string;
  readonly #checkMs: number;
  #worker: Worker | undefined;
  #worlds = new Set<string>();
  #warm = false;
  #closed = false;
  /** The checks before this one: a thread does one at a time. */
  #queue: Promise<unknown> = Promise.resolve();
  #settle: ((outcome: TypeCheckOutcome) => void) | undefined;

  constructor({ compiler = 'typescript', checkMs = CHECK_MS }: TypeCheckOptions = {}) {
    this.#compiler = compiler;
    this.#checkMs = checkMs;
  }

  /** Checks a program against a world. Never rejects. A signal that aborts makes it end at once, as skipped. */
  check(source: string, world: TypeWorld, signal?: AbortSignal): Promise<TypeCheckOutcome> {
    const mine = this.#queue.then(() => (this.#closed || signal?.aborted === true ? ENDED : this.#answer(source, world)));
    this.#queue = mine;
    if (signal === undefined) return mine;
    return new Promise((resolve) => {
      const leave = (): void => resolve(ENDED);
      signal.addEventListener('abort', leave, { once: true });
      void mine.then((outcome) => {
        signal.removeEventListener('abort', leave);
        resolve(outcome);
      });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop(ENDED);
  }

  /** A cold thread reads its library with a program of ours first: no program of a model may have the time for that to itself. */
  async #answer(source: string, world: TypeWorld): Promise<TypeCheckOutcome> {
    if (!this.#warm) {
      const outcome = await this.#ask(source === '' ? source : WARM_UP, world, FIRST_MS);
      if (source === '' || outcome.type !== 'checked') return outcome;
      if (this.#closed) return ENDED;
    }
    return this.#ask(source, world, this.#checkMs);
  }

  #ask(source: string, world: TypeWorld, withinMs: number): Promise<TypeCheckOutcome> {
    return new Promise((resolve) => {
      this.#worker ??= this.#start();
      const worker = this.#worker;
      const timer = setTimeout(() => void this.#stop({ type: 'skipped', reason: `it had not ended after ${withinMs} ms` }), withinMs);
      this.#settle = (outcome) => {
        clearTimeout(timer);
        this.#settle = undefined;
        worker.unref();
        // A text that is no program does not show whether the library has been read.
        if (outcome.type === 'checked' && source !== '') this.#warm = true;
        resolve(outcome);
      };
      worker.ref();
      worker.postMessage(JSON.stringify(this.#request(source, world)));
    });
  }

  #request(source: string, world: TypeWorld): TypeCheckRequest {
    const isNew = !this.#worlds.delete(world.id);
    this.#worlds.add(world.id);
    const forget = [...this.#worlds].slice(0, Math.max(0, this.#worlds.size - WORLDS));
    for (const id of forget) this.#worlds.delete(id);
    return { source, worldId: world.id, forget, ...(isNew ? { world } : {}) };
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, {
      workerData: { compiler: this.#compiler } satisfies TypeCheckStart,
      // A type can be written that takes all memory there is to compute, and one that recurses without an end.
      resourceLimits: { maxOldGenerationSizeMb: 1024, stackSizeMb: 8 },
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
    });
    worker.on('message', (text: string) => {
      // Written by our own thread, so its shape is not in doubt.
      if (worker === this.#worker) this.#settle?.(JSON.parse(text) as TypeCheckOutcome);
    });
    const lost = (reason: unknown): void => {
      if (worker !== this.#worker) return;
      this.#forgetWorker();
      // A model reads it: what the thread said may name files of the host.
      const memory = (reason as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#settle?.({ type: 'skipped', reason: memory ? 'it took too much memory' : 'the checker broke' });
    };
    worker.on('error', lost);
    worker.on('exit', (code) => lost(`exit code ${code}`));
    worker.unref();
    return worker;
  }

  #forgetWorker(): void {
    this.#worker = undefined;
    this.#worlds = new Set();
    this.#warm = false;
  }

  /** Ends the thread; the next check starts another. */
  async #stop(outcome: TypeCheckOutcome): Promise<void> {
    const worker = this.#worker;
    this.#forgetWorker();
    this.#settle?.(outcome);
    await worker?.terminate();
  }
}

/** Makes the checker read its library. */
const WARM_UP = 'return 0';

const ENDED: TypeCheckOutcome = { type: 'skipped', reason: 'the program was ended first' };
