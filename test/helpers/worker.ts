// A worker that a test plays by hand: the far end of a real channel, which notes what the host says and answers when told to.
import { type Channel, linkedChannels } from '../../src/isolation/channel.ts';
import { type Job, Scheduler, type SchedulerOptions, type Turn, type Verdict } from '../../src/isolation/scheduler.ts';
import { type HostEnvelope, seal, unseal, type WorkerEnvelope } from '../../src/protocol/messages.ts';
import { startOptions } from './realm.ts';

export interface Heard {
  readonly envelope: HostEnvelope;
  readonly body: string;
  readonly image: ArrayBuffer | undefined;
}

export class ScriptedWorker {
  /** The host's end. */
  readonly near: Channel;
  readonly heard: Heard[] = [];
  closed = false;
  /** 1 after `ref`, -1 after `unref`. */
  held = -1;
  readonly #far: Channel;

  constructor() {
    const [near, far] = linkedChannels();
    this.#far = far;
    const { close } = near;
    this.near = Object.assign(near, {
      close: async () => {
        this.closed = true;
        await close();
      },
      ref: () => {
        this.held = 1;
      },
      unref: () => {
        this.held = -1;
      },
    });
    far.onMessage = (text, image) => {
      const { envelope, body } = unseal<HostEnvelope>(text);
      this.heard.push({ envelope, body, image });
    };
  }

  /** What the host said, shortly: `start 1`, `post 1 [[1,0,2]]`. */
  get story(): string[] {
    return this.heard.map(
      ({ envelope, body }) =>
        `${envelope.type}${'id' in envelope ? ` ${envelope.id}` : ''}${body === '' || envelope.type === 'catalog' ? '' : ` ${body}`}`,
    );
  }

  say(envelope: WorkerEnvelope, body = '', image?: ArrayBuffer): void {
    this.#far.send(seal(envelope, body), image);
  }

  /** Whatever it says, also what no worker of ours would. */
  sayText(text: string): void {
    this.#far.send(text);
  }

  ready(parks = true): void {
    this.say({ type: 'ready', build: 'scripted', parks });
  }

  /** Answers the last entry: the program waits. */
  waits(id: number, lines = 'wake 1000'): void {
    this.say({ type: 'turn', id, cpuMs: 1, peakBytes: 1, fate: 'live' }, lines);
  }

  /** Answers the last entry: the program has completed. */
  ends(id: number, lines = 'done P 1'): void {
    this.say({ type: 'turn', id, cpuMs: 1, peakBytes: 1, fate: 'done' }, lines);
  }

  parks(id: number, mark: number): void {
    this.say({ type: 'parked', id }, '', new Uint8Array([mark]).buffer);
  }

  /** Dies as a thread does. */
  dies(reason: unknown = new Error('The worker thread exited with code 1.')): void {
    this.near.onLost(reason);
  }
}

/** A scheduler over scripted workers. */
export function scripted(options: Partial<SchedulerOptions> = {}): { scheduler: Scheduler; workers: ScriptedWorker[] } {
  const workers: ScriptedWorker[] = [];
  const scheduler = new Scheduler({
    workers: 1,
    maxWorkers: options.workers ?? 1,
    maxPrograms: 1_000,
    maxParkedBytes: 1 << 30,
    killable: true,
    ...options,
    spawn: () => {
      const worker = new ScriptedWorker();
      workers.push(worker);
      return worker.near;
    },
  });
  return { scheduler, workers };
}

/** A job that notes what becomes of it. */
export interface NotedJob extends Job {
  readonly turns: { readonly turn: Turn; readonly lines: string }[];
  readonly ends: Verdict[];
}

export function job(source: string, overrides: Parameters<typeof startOptions>[0] = {}, catalog = 'catalog-1'): NotedJob {
  const turns: NotedJob['turns'] = [];
  const ends: Verdict[] = [];
  return {
    catalog: { id: catalog, manifest: `manifest of ${catalog}` },
    source,
    options: startOptions(overrides),
    turns,
    ends,
    onTurn: (turn, lines) => turns.push({ turn, lines }),
    onOutput: () => undefined,
    onEnd: (verdict) => ends.push(verdict),
  };
}

/** Lets messages arrive and short timers fire. */
export function rest(ms = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
