// The V8 driver: every program has an isolate of its own, made ahead and thrown away. Loaded in a child process only: a guest that uses up
// its memory may take the process with it, and some built-ins can be ended in no other way. Not here: when a realm is entered and for how
// long it may run (isolation/jail.ts), whether this machine has what it takes (v8-install.ts).
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import type IsolatedVm from 'isolated-vm';
import type { StartOptions } from '../protocol/messages.ts';
import type { Budget, Engine, Outcome, Realm, Start } from './engine.ts';
import { tightest } from './entry-time.ts';
import { Seeds } from './seeds.ts';
import { type Answer, createAnswer } from './services.ts';
import { V8_GUEST_BUNDLE } from './v8-guest-bundle.ts';
import { refusal } from './v8-install.ts';

type Ivm = typeof IsolatedVm;
/** What the guest's runtime can be asked to do; see sandbox-runtime/v8.ts. */
type Operation = 'install' | 'begin' | 'run' | 'take' | 'receive' | 'drain';

/** The file name under which a program's text is compiled; stacks name it. */
const PROGRAM_FILE = 'program.js';
const RUNTIME_FILE = 'callgate.js';
/** Answered by the guest's `drain` when it has started something that must run first. */
const MORE = '\u0001';
/** What a program prints is told before its turn ends, when that takes longer. */
const TELL_MS = 50;
/** Pieces of output in a turn that are told at once: nothing can look after the rest while the guest computes. */
const TOLD_AT_ONCE = 8;
/** V8 gives its own errors no code: what it says when there was no room for an array buffer. */
const NO_ROOM = 'Array buffer allocation failed';

/** Loads isolated-vm into this process and opens the engine. Throws when its version or this Node is one that must not be used. */
export async function createV8({ allowNode22 }: { readonly allowNode22: boolean }): Promise<Engine> {
  const { version } = createRequire(import.meta.url)('isolated-vm/package.json') as { version: string };
  const problem = refusal({ isolatedVm: version, node: process.versions.node }, allowNode22);
  if (problem !== undefined) throw new Error(problem);
  const { default: ivm } = (await import('isolated-vm')) as { default: Ivm };
  const shared: Shared = { ivm, answer: createAnswer(), manifests: new Map(), seeds: new Seeds(), code: compileGuest(ivm) };
  return {
    build: createHash('sha256').update(`v8 ${process.versions.v8}\n${version}\n${V8_GUEST_BUNDLE}`).digest('hex').slice(0, 32),
    carriesBytes: true,
    parks: false,
    // An isolate waits in each, and for every one V8 sets half a gigabyte of address space aside.
    mostRealms: 1,
    addCatalog: (id, manifest) => void shared.manifests.set(id, manifest),
    removeCatalog: (id) => void shared.manifests.delete(id),
    open: async (memoryBytes) => new V8Realm(shared, memoryBytes),
  };
}

/** What the realms of one process have in common. */
interface Shared {
  readonly ivm: Ivm;
  readonly answer: Answer;
  readonly manifests: Map<string, string>;
  readonly seeds: Seeds;
  /** The guest's runtime, compiled; a snapshot of it booted would be better still, but V8 cannot make a context from one. */
  readonly code: IsolatedVm.ExternalCopy<ArrayBuffer> | undefined;
}

function compileGuest(ivm: Ivm): Shared['code'] {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  const { cachedData } = compileEagerly(isolate, { produceCachedData: true }) as {
    // So the package's documentation; its types do not know.
    cachedData?: IsolatedVm.ExternalCopy<ArrayBuffer>;
  };
  isolate.dispose();
  return cachedData;
}

/**
 * Compiles the guest's runtime with all its functions, which all run when it boots: that takes a millisecond less than compiling each when it
 * is first called. Code that was compiled under other flags is not taken, so that they are the same when it is used.
 */
function compileEagerly(isolate: IsolatedVm.Isolate, options: IsolatedVm.CachedDataOptions): IsolatedVm.Script {
  setFlagsFromString('--no-lazy');
  try {
    return isolate.compileScriptSync(V8_GUEST_BUNDLE, { filename: RUNTIME_FILE, ...options });
  } finally {
    setFlagsFromString('--lazy');
  }
}

/** An isolate in which the guest's runtime waits for a program. */
interface Guest {
  readonly isolate: IsolatedVm.Isolate;
  readonly context: IsolatedVm.Context;
  readonly enter: IsolatedVm.Reference<(operation: Operation, argument: string) => void>;
  /** The catalog whose tools it has. */
  catalog: string | undefined;
  /** Bytes in use before a program came. */
  baseBytes: number;
}

/** Why an entry cannot go on. */
class Stopped extends Error {
  readonly kind: 'timeout' | 'memory';

  constructor(kind: 'timeout' | 'memory') {
    super(kind);
    this.kind = kind;
  }
}

class V8Realm implements Realm {
  onOutput: ((lines: string) => void) | undefined;
  carriesBytes = false;
  readonly #shared: Shared;
  readonly #memoryBytes: number;
  #guest: Guest | undefined;
  #entryEnd = 0;
  /** Output of the entry so far. */
  readonly #said: string[] = [];
  #tellAt = 0;
  #heard = 0;
  /** What `drain` gave. */
  #told: string | undefined;
  /** The program has called `exit`: its isolate is gone, and `#told` has its last lines. */
  #halted = false;
  #peakBytes = 0;
  /** Bytes of the turn so far that travel beside its lines, and how many more there may be. */
  #attached: ArrayBuffer[] = [];
  #roomToAttach = 0;

  constructor(shared: Shared, memoryBytes: number) {
    this.#shared = shared;
    this.#memoryBytes = memoryBytes;
    this.#guest = this.#boot();
  }

  start(catalog: string, { code, aliases }: Start, options: StartOptions, budget: Budget): Outcome {
    const guest = this.#prepare(catalog);
    this.#peakBytes = 0;
    return this.#run(budget, guest, () => {
      const begin = {
        guest: options.guest,
        timeZone: options.timeZone,
        locale: options.locale,
        aliases,
        store: options.store,
        seed: this.#shared.seeds.next(),
        // As much again as the guest itself may hold.
        ...(this.carriesBytes && { roomForBytes: options.memoryBytes }),
      };
      this.#enter(guest, 'begin', JSON.stringify(begin));
      let program: IsolatedVm.Reference;
      try {
        const script = guest.isolate.compileScriptSync(code, { filename: PROGRAM_FILE });
        program = script.runSync(guest.context, { reference: true }) as IsolatedVm.Reference;
      } catch (error) {
        return readSyntaxError(error);
      }
      this.#enter(guest, 'run', program.derefInto({ release: true }));
      return undefined;
    });
  }

  post(settlements: string, budget: Budget, beside: readonly ArrayBuffer[] = []): Outcome {
    const guest = this.#guest;
    if (guest === undefined) throw new Error('There is no program in this realm.');
    return this.#run(budget, guest, () => {
      for (const buffer of beside) this.#take(guest, buffer);
      this.#enter(guest, 'receive', settlements);
      return undefined;
    });
  }

  peakBytes(): number {
    return this.#peakBytes;
  }

  reset(): boolean {
    const catalog = this.#guest?.catalog;
    this.dispose();
    // The next program finds a guest that has its tools already, if it has the same ones.
    this.#guest = this.#boot();
    if (catalog !== undefined && this.#shared.manifests.has(catalog)) this.#install(this.#guest, catalog);
    return true;
  }

  dispose(): void {
    const isolate = this.#guest?.isolate;
    this.#guest = undefined;
    if (isolate?.isDisposed === false) isolate.dispose();
  }

  #boot(): Guest {
    const { ivm, answer, code } = this.#shared;
    const isolate = new ivm.Isolate({ memoryLimit: Math.max(8, Math.floor(this.#memoryBytes / 2 ** 20)) });
    const context = isolate.createContextSync();
    const script = compileEagerly(isolate, code === undefined ? {} : { cachedData: code });
    const boot = script.runSync(context, { reference: true }) as IsolatedVm.Reference;
    // A variable of the global scope, not a property of the global object: code that goes through all of those and calls them, as models
    // and attackers do, must not end the program by accident.
    const bindExit = context.evalSync('let exit; (value) => { exit = value; };', { reference: true }) as IsolatedVm.Reference;
    const enter = boot.applySync(
      undefined,
      [
        new ivm.Callback(answer),
        new ivm.Callback((line: string) => this.#hear(line)),
        new ivm.Callback((lines: string) => {
          this.#told = lines;
        }),
        new ivm.Callback((lines: string) => {
          this.#told = lines;
          this.#halted = true;
          // The one way to end code that catches everything.
          isolate.dispose();
        }),
        bindExit.derefInto(),
        new ivm.Callback((bytes: string) => this.#attach(bytes)),
      ],
      { result: { reference: true } },
    ) as Guest['enter'];
    return { isolate, context, enter, catalog: undefined, baseBytes: 0 };
  }

  #install(guest: Guest, catalog: string): void {
    const manifest = this.#shared.manifests.get(catalog);
    if (manifest === undefined) throw new Error(`There is no catalog ${catalog}.`);
    guest.enter.applySync(undefined, ['install', manifest], { timeout: 30_000 });
    guest.catalog = catalog;
    guest.baseBytes = bytesIn(guest);
  }

  /** A guest with the tools of the catalog that nobody has been in. */
  #prepare(catalog: string): Guest {
    if (this.#guest === undefined || (this.#guest.catalog !== undefined && this.#guest.catalog !== catalog)) {
      this.dispose();
      this.#guest = this.#boot();
    }
    if (this.#guest.catalog === undefined) this.#install(this.#guest, catalog);
    return this.#guest;
  }

  /** One turn: the work, then every job and due timer until the guest can only wait. */
  #run(budget: Budget, guest: Guest, work: () => Outcome | undefined): Outcome {
    const { ms, limit } = tightest(budget);
    const now = performance.now();
    this.#entryEnd = now + ms;
    this.#tellAt = now + TELL_MS;
    this.#said.length = 0;
    this.#heard = 0;
    this.#attached = [];
    this.#roomToAttach = this.#memoryBytes;
    this.#halted = false;
    try {
      const early = work();
      if (early !== undefined) return early;
      do {
        if (!this.#halted) {
          this.#told = undefined;
          this.#enter(guest, 'drain', '');
        }
      } while (this.#told === MORE);
      if (!this.#halted) this.#peakBytes = Math.max(this.#peakBytes, bytesIn(guest) - guest.baseBytes);
      if (this.#told === undefined) return { type: 'dead', kind: 'fault', output: this.#takeSaid() };
      const output = this.#takeSaid();
      const lines = output === '' || this.#told === '' ? output + this.#told : `${output}\n${this.#told}`;
      return {
        type: 'lines',
        lines,
        starved: lines.lastIndexOf(NO_ROOM) > lines.lastIndexOf('\n'),
        ...(this.#attached.length > 0 && { beside: this.#attached }),
      };
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      if (error.kind === 'timeout') return { type: 'dead', kind: 'timeout', limit, output: this.#takeSaid() };
      this.#peakBytes = this.#memoryBytes;
      return { type: 'dead', kind: 'memory', limit: 'memoryBytes', output: this.#takeSaid(), spent: true };
    }
  }

  /** One entry with its microtasks, within the time that the turn has left. */
  #enter(
    { isolate, enter }: Guest,
    operation: Operation,
    argument: string | IsolatedVm.Dereference<unknown> | IsolatedVm.Copy<ArrayBuffer>,
  ): void {
    if (this.#halted) return;
    const left = this.#entryEnd - performance.now();
    if (left <= 0) throw new Stopped('timeout');
    try {
      enter.applySync(undefined, [operation, argument as string], { timeout: Math.ceil(left) });
    } catch {
      // What it says is the guest's word: what has happened shows in the isolate and on the clock.
      if (this.#halted) return;
      if (isolate.isDisposed) throw new Stopped('memory');
      if (performance.now() >= this.#entryEnd - 1) throw new Stopped('timeout');
      // A promise was rejected, and nobody handled it. The guest's runtime tells of that where it should be told.
    }
  }

  /** Gives the guest a buffer: its memory, not a copy. */
  #take(guest: Guest, buffer: ArrayBuffer): void {
    const { ivm } = this.#shared;
    // Nobody else has it: it came with a message.
    const copy = new ivm.ExternalCopy(buffer, { transferOut: true });
    this.#enter(guest, 'take', copy.copyInto({ release: true, transferIn: true }));
  }

  /** Keeps bytes of the guest's, a character each. The place of every buffer counts, also of one that there is no room for. */
  #attach(bytes: string): void {
    const fits = this.carriesBytes && bytes.length <= this.#roomToAttach;
    if (fits) this.#roomToAttach -= bytes.length;
    const buffer = new ArrayBuffer(fits ? bytes.length : 0);
    Buffer.from(buffer).write(fits ? bytes : '', 'latin1');
    this.#attached.push(buffer);
  }

  #hear(line: string): void {
    this.#said.push(line);
    const now = performance.now();
    this.#heard++;
    if (now < this.#tellAt && this.#heard > TOLD_AT_ONCE) return;
    this.#tellAt = now + TELL_MS;
    this.onOutput?.(this.#takeSaid());
  }

  /** The lines of output that nobody has been told yet. */
  #takeSaid(): string {
    return this.#said.splice(0).join('\n');
  }
}

/** Heap and array buffers in use. */
function bytesIn({ isolate }: Guest): number {
  const { used_heap_size, externally_allocated_size } = isolate.getHeapStatisticsSync();
  return used_heap_size + externally_allocated_size;
}

/** isolated-vm puts the place behind the message: `Unexpected token ')' [program.js:1:9]`. */
function readSyntaxError(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : String(error);
  const [, message = text, line, column] = /^(.*?)(?: \[program\.js:(\d+):(\d+)\])?$/s.exec(text) ?? [];
  return { type: 'syntax', message, ...(line === undefined ? {} : { line: Number(line), column: Number(column) }) };
}
