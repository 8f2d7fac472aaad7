// Every program gets a world of its own: what does that cost, warm, after a pause, with thousands of tools, and from nothing?
import { echoSubject, pipeEcho, threadEcho } from '../harness/floors.ts';
import { type Question, type Subject, timed } from '../harness/question.ts';
import { growth, medianOf, medianRatio } from '../harness/result.ts';
import { child, sandboxed } from '../peers/callgate.ts';
import { type Opened, type Peer, type Tools, valueIn } from '../peers/peer.ts';
import { fresh, OURS, PEERS } from '../peers/peers.ts';
import { quickJsWasiSnapshot } from '../peers/quickjs-wasi.ts';

const MESSAGE = 'an empty message to a thread and back';
const PIPE = 'an empty frame to a process and back';
const RESTORE = 'putting back the image alone';
/** Several thousand programs of ours, until what runs them is compiled in full. */
const WARM_MS = 900;
const TOOLS = [0, 10, 100, 500, 1_000, 5_000];

/** Those that go another's way, at more cost: their curves would lie beside it. */
const ALIKE: readonly string[] = [child.name, sandboxed.name, quickJsWasiSnapshot.name];
const SIZED = [...PEERS.map(({ name }) => name).filter((name) => !ALIKE.includes(name)), RESTORE];

const echo = async (input: unknown): Promise<unknown> => input;
const source = (): string => fresh('return 1');

/** Opened by its first task: opening is measured too. */
function subjectOf(peer: Peer): Subject {
  return async () => {
    const began = performance.now();
    const opened = await peer.open({ tools: { echo } });
    const run = async (): Promise<void> => {
      if (valueIn(await opened.run(source())) !== 1) throw new Error('`return 1` gave something else');
    };
    await run();
    const first = performance.now() - began;
    let sized: { readonly size: number; readonly opened: Opened } | undefined;
    return {
      tasks: {
        row: timed(run, { times: 30 }),
        rested: timed(run, { times: 1 }),
        first: async () => first,
        async tools(size) {
          if (sized?.size !== size) {
            await sized?.opened.close?.();
            sized = { size, opened: await peer.open({ tools: many(size) }) };
          }
          const { opened: other } = sized;
          return timed(async () => valueIn(await other.run(source())), { times: 15 })(1);
        },
      },
      ...(opened.close !== undefined && { close: opened.close }),
    };
  };
}

/** What is below all that ours does: the engine's realm, written back to its image. */
const restore: Subject = async () => {
  // Not at the head of the file: loading is part of what others are asked.
  const { createQuickJs } = await import('../../src/engine/quickjs.ts');
  const { compileQuickJs } = await import('../../src/engine/quickjs-module.ts');
  const engine = await createQuickJs(await compileQuickJs());
  const catalogs = new Set<number>();
  const memoryBytes = 64 << 20;
  const realm = await engine.open(memoryBytes);
  const start = {
    cpuMs: 1_000,
    sliceMs: 1_000,
    deadline: Number.MAX_SAFE_INTEGER,
    memoryBytes,
    stackBytes: 192 << 10,
    guest: { calls: 10, argumentBytes: 1_000, outputBytes: 1_000, valueBytes: 1_000, storeBytes: 1_000, places: false },
    store: '{}',
    timeZone: 'UTC',
    locale: 'en-US',
  };
  const enter = (tools: number): void => {
    if (!catalogs.has(tools)) {
      const listed = Object.keys(many(tools)).map((name) => ({ path: [name], name, description: `The tool ${name}.` }));
      engine.addCatalog(String(tools), JSON.stringify({ tools: listed, globals: {}, functions: [] }));
      catalogs.add(tools);
    }
    realm.start(String(tools), { code: '(async () => { return 1; })', aliases: [] }, start, start);
  };
  const back = async (tools: number, times = 15): Promise<number> => {
    enter(tools);
    return timed(() => realm.reset(), { times })(1);
  };
  return { tasks: { row: () => back(1), rested: () => back(1, 1), tools: (tools) => back(tools) } };
};

function many(count: number): Tools {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`tool_${index}`, echo]));
}

export const question: Question = {
  name: 'start',
  asks: 'What does it cost to give every program a world of its own: in a row, after a pause, with thousands of tools, and from nothing?',
  subjects: {
    ...Object.fromEntries(PEERS.map((peer) => [peer.name, subjectOf(peer)])),
    [RESTORE]: restore,
    [MESSAGE]: echoSubject(threadEcho, { row: 100, rested: 1 }),
    [PIPE]: echoSubject(pipeEcho, { row: 100, rested: 1 }),
  },
  async run(bench) {
    const row = await bench.compare({
      title: '`return 1`, one after another',
      task: 'row',
      unit: 'µs',
      ours: OURS,
      floor: MESSAGE,
      warmMs: WARM_MS,
    });
    await bench.compare({
      title: '`return 1`, after a pause',
      task: 'rested',
      unit: 'µs',
      ours: OURS,
      floor: MESSAGE,
      rounds: 21,
    });
    const tools = await bench.draw({
      title: '`return 1` beside a number of tools',
      task: 'tools',
      unit: 'µs',
      sizeOf: 'tools',
      sizes: TOOLS,
      rounds: 3,
      boundMs: 4_000,
      subjects: SIZED,
    });
    // Last: those that stay open have nothing to do meanwhile, and some systems take the memory of the idle.
    await bench.compare({
      title: 'Loading, opening and the first `return 1`',
      task: 'first',
      unit: 'ms',
      ours: OURS,
      rounds: 3,
      isFresh: true,
    });
    bench.note(
      `Beside a number of tools ${ALIKE.join('; ')} are left out: they go the way of their kin, at more cost. Every system is warmed up for the same time before rounds are counted.`,
    );
    bench.aim({
      what: 'starting in a thread, above the empty message, in empty messages',
      value: medianRatio(row, OURS, MESSAGE) - 1,
      atMost: 3,
    });
    bench.aim({ what: 'starting in a thread, ms', value: medianOf(row, OURS) / 1_000, atMost: 0.15 });
    bench.aim({ what: 'putting back the image, µs', value: medianOf(row, RESTORE), atMost: 30 });
    bench.aim({ what: 'starting beside 500 tools, against none', value: growth(tools, OURS, 500), atMost: 1.5 });
  },
};
