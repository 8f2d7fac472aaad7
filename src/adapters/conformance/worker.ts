// What is claimed of every source of workers: a channel with a jail and an engine behind it keeps the conversation that src/protocol/messages.ts
// describes. Not here: the channel by itself (channel.ts), the engine by itself (engine.ts).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Channel } from '../../isolation/channel.ts';
import { unsealWorker } from '../../protocol/envelope.ts';
import { type HostEnvelope, seal, type WorkerEnvelope } from '../../protocol/messages.ts';
import { type ConformanceCase, casesOf, type Skips } from './case.ts';
import { CATALOG, Guest, type GuestOptions, MANIFEST, said, valueIn } from './guest.ts';

/** Workers to be tested. */
export interface WorkerSubject extends Partial<GuestOptions> {
  /** Starts one, as a scheduler does. */
  readonly spawn: () => Channel & { ref?(): void; unref?(): void };
  /** Cases that they do not keep, with the reasons. */
  readonly skip?: Skips;
}

const PATIENCE_MS = 30_000;

/** The conformance suite of workers. */
export function workerCases({
  spawn,
  skip,
  memoryBytes = 64 * 1024 * 1024,
  stackBytes = 192 * 1024,
}: WorkerSubject): readonly ConformanceCase[] {
  const withWorkers = (count: number, claim: (...hosts: Host[]) => Promise<void>) => async (): Promise<void> => {
    const hosts = Array.from({ length: count }, () => new Host(spawn(), { memoryBytes, stackBytes }));
    try {
      await claim(...hosts);
    } finally {
      await Promise.all(hosts.map((host) => host.channel.close()));
    }
  };
  const withWorker = (claim: (host: Host) => Promise<void>): (() => Promise<void>) => withWorkers(1, (host) => claim(host as Host));
  return casesOf(
    {
      'a worker': {
        'says once that it is ready, and what it is': withWorker(async (host) => {
          const { build, parks } = await host.ready();
          ok(build.length > 0 && typeof parks === 'boolean');
        }),
        'answers each entry with one turn, signed by itself': withWorker(async (host) => {
          await host.ready();
          host.teach();
          host.start(1, 'const a = await tools.one({ n: 1 }); console.log(a); return a + (await tools.deep.two({}));');
          const first = await host.turn(1);
          deepEqual([first.turn.fate, first.lines], ['live', 'call 1 0 P {"n":1}']);
          host.say({ type: 'post', id: 1 }, '[[1,0,40]]');
          const second = await host.turn(1);
          // On a busy machine the turn may take long enough for its output to go ahead.
          deepEqual([second.turn.fate, [...host.printed.splice(0), second.lines].join('\n')], ['live', 'out log "40"\ncall 2 1 P {}']);
          host.say({ type: 'post', id: 1 }, '[[2,0,2]]');
          const last = await host.turn(1);
          deepEqual([last.turn.fate, last.value], ['done', 42]);
          ok(last.turn.cpuMs >= 0 && last.turn.peakBytes >= 0);
        }),
        'runs one program after another, each in a world of its own': withWorker(async (host) => {
          await host.ready();
          host.teach();
          host.start(1, 'globalThis.left = 1; await new Promise(() => setTimeout(() => {}, 1e6));');
          equal((await host.turn(1)).turn.fate, 'live');
          host.say({ type: 'drop', id: 1 });
          host.start(2, 'return typeof left;');
          equal((await host.turn(2)).value, 'undefined');
        }),
        'erases types and keeps the positions of the text': withWorker(async (host) => {
          await host.ready();
          host.teach();
          const source = "const n: number = 1;\nthrow new Error('at ' + (n as number));";
          host.start(1, source);
          const { lines } = await host.turn(1);
          match(lines, /^fail /);
          const { stack } = JSON.parse(lines.slice('fail '.length)) as { stack: string };
          host.say({ type: 'diagnose', id: 0, stacks: [stack], tools: [] }, source);
          const answer = await host.hear('diagnosis');
          equal(answer.envelope.type === 'diagnosis' ? answer.envelope.places[0]?.line : undefined, 2);
        }),
        'says with its place what is no program': withWorker(async (host) => {
          await host.ready();
          host.teach();
          host.start(1, 'const a = 1;\nconst b = ;');
          const { turn } = await host.turn(1);
          ok(turn.fate === 'dead' && turn.kind === 'syntax' && turn.diagnosis?.line === 2, JSON.stringify(turn));
          host.start(2, 'return 1;');
          equal((await host.turn(2)).value, 1);
        }),
        'ends a program that is out of time, and takes the next': withWorker(async (host) => {
          await host.ready();
          host.teach();
          host.start(1, 'console.log("before"); for (;;);', { cpuMs: 100 });
          const { turn, lines } = await host.turn(1);
          ok(turn.fate === 'dead' && turn.kind === 'timeout' && turn.limit === 'cpuMs', JSON.stringify(turn));
          equal([...host.printed, lines].join(''), 'out log "before"');
          if (turn.spent === true) return;
          host.start(2, 'return 2;');
          equal((await host.turn(2)).value, 2);
        }),
        'forgets a catalog when it is told to': withWorker(async (host) => {
          await host.ready();
          host.teach();
          host.say({ type: 'forget', catalog: CATALOG });
          host.teach();
          host.start(1, 'return LIMIT;');
          equal((await host.turn(1)).value, 7);
        }),
        'can be closed in the middle of a loop': withWorker(async (host) => {
          await host.ready();
          host.teach();
          host.start(1, 'console.log(1); for (const until = Date.now() + 200; Date.now() < until; ); console.log(2); for (;;);', {
            cpuMs: 60_000,
            sliceMs: 60_000,
            deadline: Date.now() + 60_000,
          });
          await host.hear('output');
          const began = performance.now();
          await host.channel.close();
          ok(performance.now() - began < 10_000, 'closing waited for the guest');
          equal(host.losses, 0);
        }),
      },
      'a parked program': {
        'goes on in another worker of the same build': withWorkers(2, async (first, second) => {
          const [one, other] = [first as Host, second as Host];
          const [{ parks, build }, { build: otherBuild }] = [await one.ready(), await other.ready()];
          equal(build, otherBuild);
          if (!parks) return;
          one.teach();
          other.teach();
          one.start(1, 'const closure = { n: 40 }; closure.n += await tools.one({}); return closure.n;');
          equal((await one.turn(1)).turn.fate, 'live');
          one.say({ type: 'park', id: 1 });
          const { image } = await one.hear('parked');
          ok(image !== undefined, 'it sent no image');
          other.say({ type: 'resume', id: 9, catalog: CATALOG, usedMs: 1, ...other.options() }, '[[1,0,2]]', image);
          equal((await other.turn(9)).value, 42);
          one.start(2, 'return typeof closure;');
          equal((await one.turn(2)).value, 'undefined');
        }),
      },
    },
    skip,
  );
}

interface Heard {
  readonly envelope: WorkerEnvelope;
  readonly body: string;
  readonly image: ArrayBuffer | undefined;
}

/** The host's side of the conversation, spoken by hand. */
class Host {
  readonly channel: Channel & { ref?(): void; unref?(): void };
  readonly printed: string[] = [];
  losses = 0;
  readonly #guest: Pick<Guest, 'options'>;
  readonly #heard: Heard[] = [];
  #wake: () => void = () => undefined;

  constructor(channel: Channel & { ref?(): void; unref?(): void }, options: GuestOptions) {
    this.channel = channel;
    this.#guest = { options: Guest.prototype.options.bind(new Guest(undefined as never, options)) };
    channel.ref?.();
    channel.onMessage = (text, image) => {
      this.#heard.push({ ...unsealWorker(text), image });
      this.#wake();
    };
    channel.onLost = () => {
      this.losses++;
      this.#wake();
    };
  }

  options(overrides: Parameters<Guest['options']>[0] = {}): ReturnType<Guest['options']> {
    return this.#guest.options(overrides);
  }

  say(envelope: HostEnvelope, body?: string, image?: ArrayBuffer): void {
    this.channel.send(seal(envelope, body), image);
  }

  teach(): void {
    this.say({ type: 'catalog', catalog: CATALOG }, MANIFEST);
  }

  start(id: number, source: string, overrides: Parameters<Guest['options']>[0] = {}): void {
    this.say({ type: 'start', id, catalog: CATALOG, ...this.options(overrides) }, source);
  }

  async ready(): Promise<Extract<WorkerEnvelope, { type: 'ready' }>> {
    const { envelope } = await this.hear('ready');
    if (envelope.type !== 'ready') throw new Error('It said something else first.');
    return envelope;
  }

  /** The answer to an entry, with the value that the program completed with. */
  async turn(
    id: number,
  ): Promise<{ readonly turn: Extract<WorkerEnvelope, { type: 'turn' }>; readonly lines: string; readonly value: unknown }> {
    const { envelope, body } = await this.hear('turn');
    if (envelope.type !== 'turn') throw new Error('It said something else.');
    equal(envelope.id, id);
    const outcome = { type: 'lines', lines: body, starved: false } as const;
    const isDone = envelope.fate === 'done' && said(outcome).at(-1)?.type === 'done';
    return { turn: envelope, lines: body, value: isDone ? valueIn(outcome) : undefined };
  }

  /** The next message of a kind. Output and readiness that come before it are noted. */
  async hear(type: WorkerEnvelope['type']): Promise<Heard> {
    const late = Date.now() + PATIENCE_MS;
    for (;;) {
      const next = this.#heard.shift();
      if (next?.envelope.type === type) return next;
      if (next?.envelope.type === 'output') this.printed.push(next.body);
      else if (next !== undefined && next.envelope.type !== 'ready')
        throw new Error(`It said ${JSON.stringify(next.envelope)} instead of ${type}.`);
      if (next !== undefined) continue;
      if (this.losses > 0) throw new Error(`The worker was lost before it said ${type}.`);
      if (Date.now() > late) throw new Error(`Waited ${PATIENCE_MS} ms for ${type}.`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
