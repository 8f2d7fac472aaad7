// Which worker runs which program. A worker runs one guest at a time; a program that waits while others want its worker is
// parked as an image and continued on any free one. The watchdog ends a worker that does not answer, with exactly the
// program that is on it. Not here: what a program says (session/execution.ts), how a guest is entered (jail.ts).
import { unsealWorker } from '../protocol/envelope.ts';
import type { ErrorKind } from '../protocol/errors.ts';
import type { LimitName } from '../protocol/limits.ts';
import {
  type DiagnoseRequest,
  type Diagnosis,
  type HostEnvelope,
  type StartOptions,
  seal,
  type WorkerEnvelope,
} from '../protocol/messages.ts';
import type { Channel } from './channel.ts';

/** How a turn left a program, as whoever started it hears it. */
export type Turn = Extract<WorkerEnvelope, { type: 'turn' }>;

/** Why a program ended without saying so itself. */
export interface Verdict {
  readonly kind: ErrorKind;
  readonly limit?: LimitName;
  readonly diagnosis?: Diagnosis;
  /** For the host's own trace only. */
  readonly cause?: unknown;
}

/** A program to run, and who hears of it. */
export interface Job {
  readonly catalog: { readonly id: string; readonly manifest: string };
  readonly source: string;
  readonly options: StartOptions;
  /** The guest has run until it could only wait, or to its end (`fate: 'done'`); `lines` is what it said. */
  onTurn(turn: Turn & { readonly fate: 'live' | 'done' }, lines: string, beside?: readonly ArrayBuffer[]): void;
  /** The program has left its worker as an image of so many bytes, or is back in one. */
  onMove?(where: 'parked' | 'resumed', imageBytes: number): void;
  /** What the guest has printed while it computes: `lines` of output alone. */
  onOutput(lines: string): void;
  /** The program was ended from outside itself; `lines` is what it still printed. Nothing is heard of it afterwards. */
  onEnd(verdict: Verdict, turn?: Turn, lines?: string): void;
}

/** A settlement with bytes beside it: how many buffers belong to it is said in its text. */
export interface Settlement {
  readonly text: string;
  readonly beside: readonly ArrayBuffer[];
}

/** A running program, in the hands of whoever started it. */
export interface Ticket {
  /** Hands the guest settlements: JSON texts of one each, with the buffers that belong to them. */
  post(settlements: readonly (string | Settlement)[]): void;
  /** Lets the guest fire its due timers. */
  wake(): void;
  /** Ends the program wherever it is. Nothing is heard of it afterwards. */
  end(): void;
  /** Characters of settlements that the guest has not been given yet. */
  readonly backlog: number;
  /** Whether it has been let in. */
  readonly admitted: boolean;
  /** Whether something is on its way to the guest: a settlement or a wake that it has not seen yet. */
  readonly ready: boolean;
}

export interface SchedulerOptions {
  /** Starts a worker. */
  readonly spawn: () => Channel & { ref?(): void; unref?(): void };
  /** Workers kept. More are started while every one of them has computed for one program longer than a slice and others wait. */
  readonly workers: number;
  /** Workers at most. */
  readonly maxWorkers: number;
  /** Bytes of parked programs at most; beyond it a program that waits keeps its worker. */
  readonly maxParkedBytes: number;
  /** Programs at a time, waiting ones too; more wait to be let in, first come first served. */
  readonly maxPrograms: number;
  /** Told how many programs there are, whenever that changes. */
  readonly onPrograms?: (programs: number) => void;
  /** Inline workers cannot be ended. */
  readonly killable: boolean;
  /** A worker whose programs have computed for so long altogether is replaced by a new one. Default: never. */
  readonly retireAfterMs?: number;
}

/** A program that waits this long gives its worker to one that is ready; sooner when many are, since every worker is kept idle so long for each. */
const PARK_AFTER_MS = 2;
/** A program that computes longer than this, while others wait for a worker, is no reason for them to wait: another worker starts. */
const SLICE_MS = 20;
/** An extra worker with nothing to do for so long ends. */
const IDLE_MS = 1_000;
/** Beyond its own limits, a guest may be inside a built-in that looks at no clock; after this long its worker is ended. */
const GRACE_MS = 250;
/** Longest time that a worker may take to start, or to answer what takes no guest time. */
const ANSWER_MS = 30_000;
/** Characters of settlements that one entry takes: more would fill the guest at once, and a text has a longest length. One alone may be longer. */
const MOST_POSTED = 4 * 1024 * 1024;
/** Catalogs that one worker holds images of. */
const CATALOGS = 16;

interface WorkerRecord {
  readonly channel: Channel & { ref?(): void; unref?(): void };
  ready: boolean;
  /** Whether its programs can be parked. */
  parks: boolean;
  /** How long its programs have computed. */
  usedMs: number;
  /** The program whose guest is in this worker. */
  resident: Program | undefined;
  /** What the worker owes an answer for. */
  owes: 'ready' | 'turn' | 'parked' | 'diagnosis' | undefined;
  catalogs: Set<string>;
  watchdog: NodeJS.Timeout | undefined;
  diagnosed: ((answer: DiagnosisAnswer | undefined) => void) | undefined;
  waitingSince: number;
  /** When the guest was entered that it now owes an answer for. */
  enteredAt: number;
  idle: NodeJS.Timeout | undefined;
}

type DiagnosisAnswer = Extract<WorkerEnvelope, { type: 'diagnosis' }>;

interface Program extends Ticket {
  readonly id: number;
  readonly job: Job;
  state: 'new' | 'resident' | 'parked' | 'ended';
  admitted: boolean;
  /** Whether it wants to be entered as soon as a worker has it. */
  ready: boolean;
  worker: WorkerRecord | undefined;
  image: ArrayBuffer | undefined;
  inbox: Settlement[];
  backlog: number;
  usedMs: number;
  /** Its image was too big to be carried: it keeps its worker. */
  stays: boolean;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #retireAfterMs: number;
  readonly #workers = new Set<WorkerRecord>();
  /** Programs that want a worker, first come first served. */
  readonly #queue: Program[] = [];
  readonly #diagnoses: { source: string; request: DiagnoseRequest; answer: (answer: DiagnosisAnswer | undefined) => void }[] = [];
  #lastId = 0;
  #active = 0;
  #parkTimer: NodeJS.Timeout | undefined;
  #lookingAgain = false;
  /** A worker could not be started: the next attempt is made after this, or when there is none at all. */
  #startAgainAt = 0;
  #relief: NodeJS.Timeout | undefined;
  /** Programs not let in yet. */
  readonly #outside: Program[] = [];
  #inside = 0;
  #parkedBytes = 0;
  #build: string | undefined;
  #carriesBytes = false;
  #closed = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#retireAfterMs = options.retireAfterMs ?? Number.POSITIVE_INFINITY;
  }

  /** Whether bytes may travel beside settlements; known once a worker is ready, as it is when a program has said something. */
  get carriesBytes(): boolean {
    return this.#carriesBytes;
  }

  /** Starts workers before the first program needs them; resolves when one is ready. */
  async warm(): Promise<void> {
    if (this.#workers.size === 0) this.#spawn();
    const [worker] = this.#workers;
    while (worker !== undefined && this.#workers.has(worker) && !worker.ready) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  start(job: Job): Ticket {
    if (this.#closed) throw new Error('The scheduler is closed.');
    const program: Program = {
      id: ++this.#lastId,
      job,
      state: 'new',
      admitted: false,
      ready: false,
      worker: undefined,
      image: undefined,
      inbox: [],
      backlog: 0,
      usedMs: 0,
      stays: false,
      post: (settlements) => {
        if (program.state === 'ended') return;
        for (const settlement of settlements) {
          const each = typeof settlement === 'string' ? { text: settlement, beside: NOTHING } : settlement;
          program.inbox.push(each);
          program.backlog += sizeOf(each);
        }
        this.#want(program);
      },
      wake: () => this.#want(program),
      end: () => this.#end(program),
    };
    this.#hold(1);
    if (this.#inside < this.#options.maxPrograms) this.#admit(program);
    else this.#outside.push(program);
    return program;
  }

  #admit(program: Program): void {
    program.admitted = true;
    this.#inside++;
    this.#options.onPrograms?.(this.#inside);
    this.#want(program);
  }

  /** A program has ended: whoever came first of those outside may come in. */
  #leave(program: Program): void {
    this.#hold(-1);
    if (!program.admitted) {
      this.#outside.splice(this.#outside.indexOf(program), 1);
      return;
    }
    this.#inside--;
    this.#options.onPrograms?.(this.#inside);
    const next = this.#outside.shift();
    if (next !== undefined) this.#admit(next);
  }

  /** The model's own positions and a hint for an error; `undefined` when no worker could say. */
  diagnose(source: string, request: DiagnoseRequest): Promise<DiagnosisAnswer | undefined> {
    return new Promise((answer) => {
      this.#hold(1);
      this.#diagnoses.push({
        source,
        request,
        answer: (given) => {
          this.#hold(-1);
          answer(given);
        },
      });
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#parkTimer);
    clearTimeout(this.#relief);
    for (const { answer } of this.#diagnoses.splice(0)) answer(undefined);
    const workers = [...this.#workers];
    this.#workers.clear();
    await Promise.all(
      workers.map((worker) => {
        clearTimeout(worker.watchdog);
        clearTimeout(worker.idle);
        worker.diagnosed?.(undefined);
        return worker.channel.close();
      }),
    );
  }

  /** Counts who waits for workers: only then do they keep the process alive. */
  #hold(change: 1 | -1): void {
    this.#active += change;
    if (this.#active === 0) for (const worker of this.#workers) worker.channel.unref?.();
    else if (this.#active === 1 && change === 1) for (const worker of this.#workers) worker.channel.ref?.();
  }

  /** The program has something to do: enter it where it is, or queue it for a worker. */
  #want(program: Program): void {
    if (program.state === 'ended' || program.ready) return;
    program.ready = true;
    const { worker } = program;
    if (worker === undefined) {
      this.#queue.push(program);
      this.#dispatch();
    } else if (worker.owes === undefined) this.#enter(worker, program);
    // Otherwise it is entered as soon as the worker has answered.
  }

  #dispatch(): void {
    if (this.#closed) return;
    while (this.#queue.length > 0 || this.#diagnoses.length > 0) {
      const worker = this.#freeWorker();
      if (worker === undefined) {
        this.#makeRoom();
        return;
      }
      const question = this.#diagnoses.shift();
      if (question !== undefined) {
        this.#ask(worker, question);
        continue;
      }
      const program = this.#queue.shift() as Program;
      worker.resident = program;
      program.worker = worker;
      this.#enter(worker, program);
      if (!worker.parks) this.#keepSpare();
    }
  }

  /** Where programs keep their workers, a warm one waits for the next program, since starting one takes long. */
  #keepSpare(): void {
    if (this.#workers.size >= Math.max(this.#options.workers, this.#options.maxWorkers)) return;
    for (const worker of this.#workers) if (worker.resident === undefined) return;
    this.#spawn();
  }

  /** Workers whose program waits and keeps them all the same. */
  #occupied(): number {
    let count = 0;
    for (const worker of this.#workers) if (isOccupied(worker)) count++;
    return count;
  }

  #freeWorker(): WorkerRecord | undefined {
    const wanted = this.#diagnoses.length > 0 ? undefined : this.#queue[0]?.job.catalog.id;
    let free: WorkerRecord | undefined;
    for (const worker of this.#workers) {
      if (!worker.ready || worker.owes !== undefined || worker.resident !== undefined) continue;
      if (wanted === undefined || worker.catalogs.has(wanted)) return worker;
      free ??= worker;
    }
    return free;
  }

  /** No worker is free: park programs that only wait, and start workers while there may be more. */
  #makeRoom(): void {
    let starting = 0;
    for (const worker of this.#workers) if (!worker.ready) starting++;
    const wanted = this.#queue.length + this.#diagnoses.length;
    const now = performance.now();
    const mayStart = now >= this.#startAgainAt || this.#workers.size === 0;
    // A program that cannot leave its worker while it waits takes it from the others: another one in its place.
    // One more for the places of errors, which nobody should wait for until some program has ended.
    const most = this.#options.maxWorkers + (this.#diagnoses.length > 0 ? 1 : 0);
    const kept = Math.min(this.#options.workers + this.#occupied(), most);
    if (mayStart && starting < wanted && this.#workers.size < kept) this.#spawn();
    else if (mayStart && starting === 0 && this.#workers.size < this.#options.maxWorkers) this.#relieve(now);
    let parked = 0;
    let soonest = Number.POSITIVE_INFINITY;
    const patienceMs = PARK_AFTER_MS * Math.min(1, this.#workers.size / wanted);
    for (const worker of this.#workers) {
      if (worker.owes === 'parked') parked++;
      if (!worker.ready || worker.owes !== undefined || worker.resident === undefined || parked >= wanted) continue;
      if (isOccupied(worker) || this.#parkedBytes > this.#options.maxParkedBytes) continue;
      const waited = now - worker.waitingSince;
      if (waited >= patienceMs) {
        this.#send(worker, { type: 'park', id: worker.resident.id }, 'parked', ANSWER_MS);
        parked++;
      } else soonest = Math.min(soonest, patienceMs - waited);
    }
    if (soonest < Number.POSITIVE_INFINITY && !this.#lookingAgain) {
      this.#lookingAgain = true;
      const look = (): void => {
        this.#lookingAgain = false;
        this.#dispatch();
      };
      // Timers are no finer than a millisecond.
      if (soonest < 1) setImmediate(look);
      else this.#parkTimer = setTimeout(look, soonest);
    }
  }

  /** Starts one more worker when each has computed for a slice already; else looks again when that may be so. */
  #relieve(now: number): void {
    let soonest = Number.POSITIVE_INFINITY;
    for (const worker of this.#workers) {
      if (isOccupied(worker)) continue;
      if (worker.owes !== 'turn') return;
      soonest = Math.min(soonest, now - worker.enteredAt);
    }
    if (soonest >= SLICE_MS) this.#spawn();
    else
      this.#relief ??= setTimeout(
        () => {
          this.#relief = undefined;
          this.#dispatch();
        },
        SLICE_MS - soonest + 1,
      );
  }

  #enter(worker: WorkerRecord, program: Program): void {
    const { id, job } = program;
    const { catalog, options } = job;
    program.ready = false;
    const budgetMs = Math.max(0, Math.min(options.cpuMs - program.usedMs, options.sliceMs, options.deadline - Date.now())) + GRACE_MS;
    if (!worker.catalogs.has(catalog.id)) this.#teach(worker, catalog);
    const { text: settlements, beside } = program.state === 'new' ? NO_SETTLEMENTS : takeSettlements(program);
    if (program.state === 'new') {
      this.#send(worker, { type: 'start', id, catalog: catalog.id, ...options }, 'turn', budgetMs, job.source);
    } else if (program.state === 'parked') {
      const image = program.image as ArrayBuffer;
      this.#forget(program);
      job.onMove?.('resumed', image.byteLength);
      this.#send(
        worker,
        { type: 'resume', id, catalog: catalog.id, usedMs: program.usedMs, ...options },
        'turn',
        budgetMs,
        settlements,
        image,
        beside,
      );
    } else {
      this.#send(worker, { type: 'post', id }, 'turn', budgetMs, settlements, undefined, beside);
    }
    // What did not fit follows as soon as the guest has taken this.
    program.ready = program.inbox.length > 0;
    program.state = 'resident';
  }

  #teach(worker: WorkerRecord, catalog: Job['catalog']): void {
    worker.catalogs.add(catalog.id);
    worker.channel.send(seal({ type: 'catalog', catalog: catalog.id }, catalog.manifest));
    if (worker.catalogs.size <= CATALOGS) return;
    const [oldest] = worker.catalogs;
    if (oldest === undefined) return;
    worker.catalogs.delete(oldest);
    worker.channel.send(seal({ type: 'forget', catalog: oldest }));
  }

  #send(
    worker: WorkerRecord,
    envelope: HostEnvelope,
    owes: NonNullable<WorkerRecord['owes']>,
    withinMs: number,
    body = '',
    image?: ArrayBuffer,
    beside?: readonly ArrayBuffer[],
  ): void {
    worker.owes = owes;
    worker.enteredAt = performance.now();
    clearTimeout(worker.idle);
    if (this.#options.killable) worker.watchdog = setTimeout(() => this.#overdue(worker), withinMs);
    worker.channel.send(seal(envelope, body), image, beside);
  }

  #ask(
    worker: WorkerRecord,
    { source, request, answer }: { source: string; request: DiagnoseRequest; answer: (answer: DiagnosisAnswer | undefined) => void },
  ): void {
    worker.diagnosed = answer;
    this.#send(worker, { type: 'diagnose', id: 0, ...request }, 'diagnosis', 2_000, source);
  }

  #spawn(): void {
    const worker: WorkerRecord = {
      channel: this.#options.spawn(),
      ready: false,
      parks: true,
      usedMs: 0,
      resident: undefined,
      owes: 'ready',
      catalogs: new Set(),
      watchdog: undefined,
      diagnosed: undefined,
      waitingSince: 0,
      enteredAt: 0,
      idle: undefined,
    };
    this.#workers.add(worker);
    // Not what keeps the process alive: that is the worker itself, while someone waits for it.
    if (this.#options.killable) worker.watchdog = setTimeout(() => this.#overdue(worker), ANSWER_MS).unref();
    if (this.#active > 0) worker.channel.ref?.();
    worker.channel.onMessage = (text, image, beside) => this.#hear(worker, text, image, beside);
    worker.channel.onLost = (reason) => this.#lose(worker, reason);
  }

  #hear(worker: WorkerRecord, text: string, image: ArrayBuffer | undefined, beside: readonly ArrayBuffer[] | undefined): void {
    if (!this.#workers.has(worker)) return;
    let heard: ReturnType<typeof unsealWorker>;
    try {
      heard = unsealWorker(text);
    } catch (error) {
      this.#lose(worker, error);
      void worker.channel.close();
      return;
    }
    const { envelope, body } = heard;
    if (envelope.type === 'output') {
      const program = worker.resident;
      if (program?.id === envelope.id && program.state !== 'ended') program.job.onOutput(body);
      return;
    }
    clearTimeout(worker.watchdog);
    worker.watchdog = undefined;
    worker.owes = undefined;
    switch (envelope.type) {
      case 'ready':
        // An image fits only workers of its own build.
        this.#build ??= envelope.build;
        if (envelope.build !== this.#build) {
          this.#lose(worker, new Error(`A worker runs build ${envelope.build}, the others ${this.#build}.`));
          void worker.channel.close();
          return;
        }
        this.#carriesBytes = envelope.bytes === true && worker.channel.carriesBytes === true;
        worker.ready = true;
        worker.parks = envelope.parks;
        break;
      case 'turn':
        this.#turn(worker, envelope, body, beside);
        break;
      case 'parked': {
        const program = worker.resident;
        if (image === undefined) {
          this.#stay(worker, program);
          break;
        }
        worker.resident = undefined;
        if (program !== undefined && program.state !== 'ended') {
          program.worker = undefined;
          program.state = 'parked';
          program.image = image;
          this.#parkedBytes += image.byteLength;
          program.job.onMove?.('parked', image.byteLength);
          if (program.ready) this.#queue.push(program);
        }
        break;
      }
      case 'diagnosis': {
        const { diagnosed } = worker;
        worker.diagnosed = undefined;
        diagnosed?.(envelope);
        break;
      }
      default:
        envelope satisfies never;
    }
    if (envelope.type === 'turn' && worker.resident === undefined && (envelope.spent === true || worker.usedMs > this.#retireAfterMs)) {
      this.#remove(worker, { kind: 'fault' });
      void worker.channel.close();
      return;
    }
    this.#dispatch();
    if (this.#workers.size > this.#options.workers && worker.owes === undefined && worker.resident === undefined) this.#retireLater(worker);
  }

  /** It was asked to leave its worker, and could not. */
  #stay(worker: WorkerRecord, program: Program | undefined): void {
    if (program === undefined) return;
    program.stays = true;
    if (program.state === 'ended') {
      worker.resident = undefined;
      worker.channel.send(seal({ type: 'drop', id: program.id }));
    } else if (program.ready) this.#enter(worker, program);
  }

  #retireLater(worker: WorkerRecord): void {
    clearTimeout(worker.idle);
    worker.idle = setTimeout(() => {
      if (worker.owes !== undefined || worker.resident !== undefined || this.#workers.size <= this.#options.workers) return;
      if (!worker.parks && this.#isLastSpare(worker)) return;
      this.#workers.delete(worker);
      void worker.channel.close();
    }, IDLE_MS);
    worker.idle.unref();
  }

  #isLastSpare(worker: WorkerRecord): boolean {
    for (const other of this.#workers) if (other !== worker && other.resident === undefined) return false;
    return true;
  }

  #turn(worker: WorkerRecord, turn: Turn, lines: string, beside: readonly ArrayBuffer[] | undefined): void {
    const program = worker.resident;
    worker.usedMs += turn.cpuMs;
    if (program === undefined) return;
    program.usedMs += turn.cpuMs;
    worker.waitingSince = performance.now();
    if (program.state === 'ended') {
      // Ended by the host while it ran: what it did last concerns nobody.
      worker.resident = undefined;
      if (turn.fate === 'live') worker.channel.send(seal({ type: 'drop', id: program.id }));
      return;
    }
    if (turn.fate === 'live') {
      program.job.onTurn(turn as Turn & { fate: 'live' }, lines, beside);
      // Whoever heard the turn may have ended the program, or have answered it at once.
      if (worker.resident === program && (program.state as string) !== 'ended' && worker.owes === undefined && program.ready)
        this.#enter(worker, program);
      return;
    }
    worker.resident = undefined;
    program.worker = undefined;
    program.state = 'ended';
    this.#leave(program);
    if (turn.fate === 'done') program.job.onTurn(turn as Turn & { fate: 'done' }, lines, beside);
    else
      program.job.onEnd(
        {
          kind: turn.kind,
          ...(turn.limit === undefined ? {} : { limit: turn.limit }),
          ...(turn.diagnosis === undefined ? {} : { diagnosis: turn.diagnosis }),
        },
        turn,
        lines,
      );
  }

  #end(program: Program): void {
    if (program.state === 'ended') return;
    const { worker } = program;
    program.state = 'ended';
    this.#forget(program);
    program.inbox = [];
    this.#leave(program);
    const queued = this.#queue.indexOf(program);
    if (queued >= 0) this.#queue.splice(queued, 1);
    if (worker === undefined) return;
    if (worker.owes === undefined) {
      worker.resident = undefined;
      worker.channel.send(seal({ type: 'drop', id: program.id }));
      this.#dispatch();
    } else if (worker.owes === 'turn' && this.#options.killable) {
      // It is computing. A short time to come to its own end, then its worker goes.
      clearTimeout(worker.watchdog);
      worker.watchdog = setTimeout(() => this.#overdue(worker), 50);
      worker.watchdog.unref();
    }
  }

  /** The worker has not answered in time: its guest is somewhere that no clock reaches. */
  #overdue(worker: WorkerRecord): void {
    const program = worker.resident;
    const verdict: Verdict =
      worker.owes === 'turn' && program !== undefined
        ? { kind: 'timeout', limit: spentLimit(program) }
        : { kind: 'fault', cause: new Error(`A worker owed \`${worker.owes}\` and did not answer in time.`) };
    this.#remove(worker, verdict);
    void worker.channel.close();
  }

  #lose(worker: WorkerRecord, reason: unknown): void {
    const memory = (reason as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.#remove(worker, memory ? { kind: 'memory', limit: 'memoryBytes', cause: reason } : { kind: 'fault', cause: reason });
  }

  #remove(worker: WorkerRecord, verdict: Verdict): void {
    if (!this.#workers.delete(worker)) return;
    clearTimeout(worker.watchdog);
    clearTimeout(worker.idle);
    worker.diagnosed?.(undefined);
    const program = worker.resident;
    worker.resident = undefined;
    const stillborn = !worker.ready;
    if (stillborn) this.#startAgainAt = performance.now() + IDLE_MS;
    if (stillborn && !this.#anyReady()) {
      // When none could even start, none will start the next time either.
      for (const waiting of this.#queue.splice(0)) {
        waiting.state = 'ended';
        this.#leave(waiting);
        waiting.job.onEnd({ kind: 'fault', cause: verdict.cause });
      }
      for (const { answer } of this.#diagnoses.splice(0)) answer(undefined);
    }
    if (program !== undefined && program.state !== 'ended') {
      program.state = 'ended';
      program.worker = undefined;
      this.#leave(program);
      program.job.onEnd(verdict);
    }
    // A warm spare in its place, so that the next program does not wait for a worker to start.
    if (!stillborn && !this.#closed && this.#workers.size < this.#options.workers) this.#spawn();
    this.#dispatch();
  }

  /** The program's image is gone, or about to be. */
  #forget(program: Program): void {
    this.#parkedBytes -= program.image?.byteLength ?? 0;
    program.image = undefined;
  }

  #anyReady(): boolean {
    for (const worker of this.#workers) if (worker.ready) return true;
    return false;
  }
}

const NOTHING: readonly ArrayBuffer[] = [];
const NO_SETTLEMENTS: Settlement = { text: '', beside: NOTHING };

function sizeOf({ text, beside }: Settlement): number {
  let size = text.length;
  for (const { byteLength } of beside) size += byteLength;
  return size;
}

/** Whether its program waits, and cannot do so elsewhere. */
function isOccupied({ ready, owes, resident, parks }: WorkerRecord): boolean {
  return ready && owes === undefined && resident !== undefined && (!parks || resident.stays);
}

/** As many settlements as one entry takes, as a JSON array, and their buffers: all of them, unless they are big. */
function takeSettlements(program: Program): Settlement {
  const { inbox } = program;
  const [only] = inbox;
  if (only !== undefined && inbox.length === 1) {
    inbox.length = 0;
    program.backlog = 0;
    return { text: `[${only.text}]`, beside: only.beside };
  }
  let size = 0;
  let count = 0;
  for (const settlement of inbox) {
    const more = sizeOf(settlement);
    if (count > 0 && size + more > MOST_POSTED) break;
    size += more;
    count++;
  }
  program.backlog -= size;
  if (count === 0) return NO_SETTLEMENTS;
  const taken = inbox.splice(0, count);
  return { text: `[${taken.map(({ text }) => text).join(',')}]`, beside: taken.flatMap(({ beside }) => beside) };
}

/** Which of its limits a program that does not answer has used up. */
function spentLimit({ job: { options }, usedMs }: Program): LimitName {
  if (Date.now() >= options.deadline) return 'wallMs';
  return options.sliceMs < options.cpuMs - usedMs ? 'sliceMs' : 'cpuMs';
}
