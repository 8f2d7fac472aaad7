// Which engine runs a program, and where: what an application asks for, and the scheduler that has it. Each combination has workers of its
// own, started with its first program. Not here: what is run (execution.ts), which worker gets it (isolation/scheduler.ts).
import { availableParallelism, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { compileQuickJs } from '../engine/quickjs-module.ts';
import { findV8, type V8Engine, v8 } from '../engine/v8-install.ts';
import { createAlone, tellAlone } from '../isolation/awake.ts';
import type { Channel } from '../isolation/channel.ts';
import { confine, findMeans, type InForce, type Means, requireSandbox, type Sandbox } from '../isolation/confine.ts';
import { LARGEST_FRAME_BYTES } from '../isolation/frames.ts';
import { startInline } from '../isolation/inline.ts';
import { CHILD_LIMITS, startProcess } from '../isolation/process.ts';
import { readsOf } from '../isolation/reads.ts';
import type { ResourceLimits } from '../isolation/resource-limits.ts';
import { Scheduler, type SchedulerOptions } from '../isolation/scheduler.ts';
import { startThread } from '../isolation/thread.ts';
import { LIMITS, type Limits } from '../protocol/limits.ts';

/** What runs the guest. */
export type EngineOption = 'quickjs' | 'v8' | V8Engine;
/** Where the guest runs. */
export type IsolationOption = 'thread' | 'process' | 'inline' | WorkerSource;

/** Workers of the application's own: an engine behind a channel, wherever that leads (`callgate/worker` has what they are made with). */
export interface WorkerSource {
  /** For people: descriptions and results name it. */
  readonly name: string;
  /** Starts a worker and gives its channel at once; the worker says `ready` on it. `close()` must end it whatever it is doing. */
  readonly spawn: () => Channel & { ref?(): void; unref?(): void };
}

/** What the operating system does about a child process. */
export type SandboxOption = Sandbox;

/** Where programs run and what holds them there: not what was asked for, but what is in force. */
export interface Isolation {
  /** `own`: whatever is behind the application's own workers. */
  readonly engine: 'quickjs' | 'v8' | 'own';
  readonly kind: 'thread' | 'process' | 'inline' | 'own';
  /** What the operating system keeps the process from; a thread has no such sandbox. */
  readonly sandbox: InForce['sandbox'];
  /** Limits that the operating system holds the process to, beside the engine's own: `dataBytes`, `cpuSeconds`, `fileBytes`, `descriptors`, `coreBytes`. */
  readonly systemLimits: readonly string[];
  /** Sentences: what is not in force, why, and how to get it. */
  readonly notes: readonly string[];
}

/** What an application says of all its programs; see `CodeModeOptions`. */
interface EnginesOptions {
  readonly sandbox?: SandboxOption | undefined;
  readonly engine?: EngineOption | undefined;
  readonly isolation?: IsolationOption | undefined;
  readonly workers?: number | undefined;
  readonly maxWorkers?: number | undefined;
  readonly maxPrograms?: number | undefined;
}

/** An engine that is chosen, with the place that goes with it. */
export interface Choice {
  readonly engine: 'quickjs' | V8Engine;
  readonly isolation: IsolationOption;
}

/** Memory for programs that wait without a worker, some hundred thousand of the ordinary kind. */
const MAX_PARKED_BYTES = 2 * 1024 ** 3;
/** Deepest guest stack that fits the host's own thread. */
const INLINE_STACK_BYTES = 192 * 1024;
/** Deepest guest stack that fits a child's main thread; a worker thread can have a bigger one. */
const CHILD_STACK_BYTES = 256 * 1024;
/** Values that every child process is made for, and the largest that one can be. */
const MESSAGE_BYTES = { least: 16 * 1024 * 1024, most: 128 * 1024 * 1024 } as const;
/** A text takes so many times its length at most in a message, however it has to be escaped. */
const ESCAPED = 4;
/** Limits of what goes into one message. */
const MESSAGE_LIMITS = ['valueBytes', 'argumentBytes', 'resultBytes', 'storeBytes'] as const;
/**
 * What a child has for itself, beside what its programs need. Address space that may be written to counts, and for each isolate (Node's own
 * too) V8 takes half a gigabyte of that for code, though it hardly uses it: where the system tells how much that is here, the limit is
 * tight, since isolated-vm's own lets a program have a gigabyte more before it acts.
 */
const CHILD_BYTES = { quickjs: 1024 ** 3, v8: 2.5 * 1024 ** 3 } as const;
/** What a child has beside one bare isolate: the parser, the engine, the threads of the event loop. */
const JAILER_BYTES = 160 * 1024 ** 2;
/** A child is replaced after its programs have computed for so long, since the system counts the time of its whole life. */
const RETIRE_AFTER_MS = 120_000;
/** Threads of the engine's own, and what the child does beside computing. */
const CPU_FACTOR = 4;
/** Workers at most by default, for each one that is kept. A V8 program keeps its child while it waits, so that there are more of them. */
const MOST_WORKERS = { quickjs: 4, v8: 8 } as const;

/** The engines of one code mode. */
export class Engines {
  readonly #options: EnginesOptions;
  readonly #limits: Limits;
  readonly #schedulers = new Map<string, Promise<Scheduler>>();
  /** What holds the children that were started last, by engine. */
  readonly #inForce = new Map<'quickjs' | 'v8', InForce>();
  #means: Promise<Means> | undefined;

  /** `limits` are the application's: children are made to fit them. */
  constructor(options: EnginesOptions, limits: Limits) {
    this.#options = options;
    this.#limits = limits;
  }

  /** What holds the programs of an engine; `undefined` before the first child process, when that is still to be seen. */
  isolationOf({ engine, isolation: kind }: Choice): Isolation | undefined {
    if (kind !== 'process') return isolationOutside(engine, kind);
    const name = engine === 'quickjs' ? engine : 'v8';
    const inForce = this.#inForce.get(name);
    return inForce === undefined ? undefined : isolationIn(name, inForce);
  }

  /** What would hold a child process that were started now. Rejects with a `CodeModeError` when the sandbox that was asked for cannot be had. */
  async foresee({ engine, isolation: kind }: Choice): Promise<Isolation> {
    if (kind !== 'process') return isolationOutside(engine, kind);
    const name = engine === 'quickjs' ? engine : 'v8';
    const confined = await confine(
      {
        file: nodeOf(engine),
        args: [],
        reads: [],
        scratch: tmpdir(),
        limits: { ...systemLimits(CHILD_BYTES[name], this.#limits), ...CHILD_LIMITS },
      },
      this.#sandbox,
      await this.means(),
    );
    confined.release();
    return isolationIn(name, confined.inForce);
  }

  /** What this machine confines children with. */
  means(): Promise<Means> {
    this.#means ??= findMeans();
    return this.#means;
  }

  get #sandbox(): SandboxOption {
    return this.#options.sandbox ?? 'none';
  }

  /** The engine for a program, from what was asked for it and what was asked for all. */
  choose(asked: EngineOption | undefined): Choice {
    const option = asked ?? this.#options.engine ?? 'quickjs';
    // Whoever asks for a sandbox asks for a process: a thread has none.
    if (option === 'quickjs')
      return { engine: option, isolation: this.#options.isolation ?? (this.#sandbox === 'none' ? 'thread' : 'process') };
    // An isolate may take its whole process with it: it lives nowhere else.
    return { engine: option === 'v8' ? v8() : option, isolation: 'process' };
  }

  /** The limits that a program can have there. */
  fit({ isolation }: Choice, limits: Limits): Limits {
    if (isolation === 'inline') return { ...limits, stackBytes: Math.min(limits.stackBytes, INLINE_STACK_BYTES) };
    if (isolation !== 'process') return limits;
    const fitted: Record<keyof Limits, number> = { ...limits, stackBytes: Math.min(limits.stackBytes, CHILD_STACK_BYTES) };
    for (const name of MESSAGE_LIMITS) fitted[name] = Math.min(limits[name], this.#messageBytes);
    return fitted;
  }

  /** The largest value that a child process is made for: what the application's own limits allow. */
  get #messageBytes(): number {
    const { least, most } = MESSAGE_BYTES;
    return Math.min(Math.max(least, ...MESSAGE_LIMITS.map((name) => this.#limits[name])), most);
  }

  /** The scheduler of an engine, made when it is first asked for. Rejects with a `CodeModeError` when the engine cannot be had here. */
  open(choice: Choice, limits: Limits): Promise<Scheduler> {
    const bounds = this.#childLimits(limits);
    const { engine, isolation } = choice;
    const name = engine === 'quickjs' ? 'quickjs' : `v8 ${engine.allowNode22} ${engine.node}`;
    const key = typeof isolation === 'object' ? 'own' : `${name} ${isolation} ${isolation === 'process' ? JSON.stringify(bounds) : ''}`;
    let scheduler = this.#schedulers.get(key);
    if (scheduler === undefined) {
      scheduler = this.#create(choice, bounds);
      this.#schedulers.set(key, scheduler);
      // What could not be had may be there the next time: somebody installs it.
      scheduler.catch(() => this.#schedulers.delete(key));
    }
    return scheduler;
  }

  async close(): Promise<void> {
    const schedulers = await Promise.allSettled(this.#schedulers.values());
    await Promise.all(schedulers.map((opened) => (opened.status === 'fulfilled' ? opened.value.close() : undefined)));
  }

  async #create({ engine, isolation }: Choice, bounds: Pick<Limits, 'memoryBytes' | 'cpuMs'>): Promise<Scheduler> {
    if (isolation === 'process') return this.#openProcesses(engine, bounds);
    if (typeof isolation === 'string') return this.#openThreads(isolation);
    return new Scheduler({ ...this.#bounds(MOST_WORKERS.quickjs), spawn: () => isolation.spawn(), killable: true });
  }

  async #openThreads(isolation: 'thread' | 'inline'): Promise<Scheduler> {
    const wasm = await compileQuickJs();
    const alone = createAlone();
    const inline = isolation === 'inline';
    return new Scheduler({
      ...this.#bounds(MOST_WORKERS.quickjs),
      ...(inline ? { workers: 1, maxWorkers: 1 } : {}),
      spawn: () => (inline ? startInline(wasm) : startThread(wasm, alone)),
      onPrograms: (programs) => tellAlone(alone, programs),
      killable: !inline,
    });
  }

  async #openProcesses(engine: Choice['engine'], { memoryBytes, cpuMs }: Pick<Limits, 'memoryBytes' | 'cpuMs'>): Promise<Scheduler> {
    const isV8 = engine !== 'quickjs';
    const found = isV8 ? await findV8(engine) : undefined;
    const means = await this.means();
    const node = nodeOf(engine);
    // Before any program is let in: a sandbox that was asked for is there, or nothing runs.
    if (this.#sandbox === 'os') await requireSandbox(node, means);
    const alone = createAlone();
    const name = isV8 ? 'v8' : 'quickjs';
    const reads = readsOf(name);
    const ownBytes = found?.dataBytes === undefined ? CHILD_BYTES[name] : found.dataBytes + JAILER_BYTES;
    return new Scheduler({
      ...this.#bounds(MOST_WORKERS[name]),
      spawn: () =>
        startProcess({
          start: { engine: name, allowNode22: isV8 && engine.allowNode22 },
          mostBytes: Math.min(ESCAPED * this.#messageBytes, LARGEST_FRAME_BYTES),
          node,
          reads,
          limits: systemLimits(ownBytes, { memoryBytes, cpuMs }),
          confine: (command) => confine(command, this.#sandbox, means),
          alone,
          onStart: (inForce) => void this.#inForce.set(name, inForce),
        }),
      onPrograms: (programs) => tellAlone(alone, programs),
      killable: true,
      retireAfterMs: RETIRE_AFTER_MS,
    });
  }

  #bounds(times: number): Pick<SchedulerOptions, 'workers' | 'maxWorkers' | 'maxPrograms' | 'maxParkedBytes'> {
    const { workers = Math.max(2, availableParallelism()), maxWorkers = times * workers, maxPrograms = 20_000 } = this.#options;
    return { workers, maxWorkers: Math.max(maxWorkers, workers), maxPrograms, maxParkedBytes: MAX_PARKED_BYTES };
  }

  /** What children are made for: the application's own limits; for a program that may use more, the next power of two, the longest time. */
  #childLimits({ memoryBytes, cpuMs }: Limits): Pick<Limits, 'memoryBytes' | 'cpuMs'> {
    const own = this.#limits;
    return {
      memoryBytes: memoryBytes <= own.memoryBytes ? own.memoryBytes : 2 ** Math.ceil(Math.log2(memoryBytes)),
      cpuMs: cpuMs <= own.cpuMs ? own.cpuMs : LIMITS.cpuMs.max,
    };
  }
}

/** What a child is held to, which takes so many bytes for itself. */
function systemLimits(ownBytes: number, { memoryBytes, cpuMs }: Pick<Limits, 'memoryBytes' | 'cpuMs'>): ResourceLimits {
  return { dataBytes: ownBytes + 2 * memoryBytes, cpuSeconds: Math.ceil(((cpuMs + RETIRE_AFTER_MS) * CPU_FACTOR) / 1000) };
}

/** Where the system has no hand in it. */
function isolationOutside(engine: Choice['engine'], kind: Exclude<IsolationOption, 'process'>): Isolation {
  const nothing = { sandbox: 'none', systemLimits: [] } as const;
  if (typeof kind === 'object') return { engine: 'own', kind: 'own', ...nothing, notes: [`The application's own workers: ${kind.name}.`] };
  return { engine: engine === 'quickjs' ? engine : 'v8', kind, ...nothing, notes: [] };
}

/** The Node binary of an engine's children, absolute: they start in a folder of their own. */
export function nodeOf(engine: Choice['engine']): string {
  return engine === 'quickjs' ? process.execPath : resolve(engine.node);
}

function isolationIn(engine: 'quickjs' | 'v8', { sandbox, limits, diesWithParent, notes }: InForce): Isolation {
  return {
    engine,
    kind: 'process',
    sandbox,
    systemLimits: limits,
    notes: diesWithParent ? notes : [...notes, 'The system does not end a child with its parent here; the child watches for that itself.'],
  };
}
