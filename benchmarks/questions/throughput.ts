// How many programs a second, eight at once: nothing but a value, two calls each, and a mixed load in which one in ten computes; how long each of
// them takes; and what is left to others while one computes without end.
import type { Question, Stand, Subject } from '../harness/question.ts';
import { medianOf } from '../harness/result.ts';
import { child, thread, v8 } from '../peers/callgate.ts';
import { FLOOR, fresh, OURS, PEERS, type Program, subjectsOf } from '../peers/peers.ts';

const AT_ONCE = 8;
/** How long programs are started for a round; those at work then are waited for. */
const ROUND_MS = 250;
const COMPUTING_MS = 20;
const HOG_MS = 1_000;

const tools = { add: async ({ a, b }: { a: number; b: number }): Promise<number> => a + b };
const twoCalls = 'const one = await tools.add({ a: 0, b: 1 }); return await tools.add({ a: one, b: 2 });';

interface Load {
  source(index: number): string;
  readonly right: number;
}

const LOADS = {
  empty: { source: () => 'return 3;', right: 3 },
  two: { source: () => twoCalls, right: 3 },
  // It looks at the clock: the same share of the processor's time, whatever the engine.
  mixed: {
    source: (index) =>
      index % 10 === 0 ? `const end = Date.now() + ${COMPUTING_MS}; let n = 0; while (Date.now() < end) n++; return 3;` : twoCalls,
    right: 3,
  },
} as const satisfies Record<string, Load>;

/** Programs a second; `times` gets how long each took, in order of size. */
async function through(program: Program, { source, right }: Load, times: number[]): Promise<number> {
  times.length = 0;
  let index = 0;
  const began = performance.now();
  const lane = async (): Promise<void> => {
    while (performance.now() - began < ROUND_MS) {
      const start = performance.now();
      const value = await program(fresh(source(index++)));
      if (value !== right) throw new Error(`A program gave ${JSON.stringify(value)}.`);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const elapsed = performance.now() - began;
  times.sort((a, b) => a - b);
  return (times.length / elapsed) * 1_000;
}

function tasksOf(program: Program): Stand['tasks'] {
  const times: number[] = [];
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return {
    empty: () => through(program, LOADS.empty, times),
    two: () => through(program, LOADS.two, times),
    mixed: () => through(program, LOADS.mixed, times),
    median: async () => at(0.5),
    late: async () => at(0.99),
  };
}

/** Beside it one of its workers is taken by a loop that only its limit ends. */
function besides(peer: typeof thread): Subject {
  return async () => {
    const opened = await peer.open({ tools, timeoutMs: HOG_MS });
    const program: Program = async (source) => {
      const outcome = await opened.run(source);
      if (outcome.status !== 'completed') throw new Error(`${outcome.name}: ${outcome.message}`);
      return outcome.value;
    };
    const times: number[] = [];
    return {
      tasks: {
        async beside() {
          const alone = await through(program, LOADS.two, times);
          const hog = opened.run(fresh('for (;;) {}'));
          const beside = await through(program, LOADS.two, times);
          const { status } = await hog;
          if (status === 'completed') throw new Error('The loop ended by itself.');
          return (100 * beside) / alone;
        },
      },
      ...(opened.close !== undefined && { close: opened.close }),
    };
  };
}

const BESIDE = [thread, child, v8].map((peer) => [`${peer.name}, beside a loop`, besides(peer)] as const);

export const question: Question = {
  name: 'throughput',
  asks: 'How many programs a second, eight at once, how long does each take, and what does one that never ends leave to the others?',
  subjects: { ...subjectsOf({ tools }, tasksOf), ...Object.fromEntries(BESIDE) },
  async run(bench) {
    const systems = PEERS.map(({ name }) => name);
    const both = {
      unit: 'per second',
      better: 'more',
      ours: OURS,
      floor: FLOOR,
      subjects: systems,
      rounds: 5,
      warmMs: 200,
      boundMs: 10_000,
    } as const;
    await bench.compare({ ...both, title: `\`return\` alone, ${AT_ONCE} at once`, task: 'empty', rounds: 3 });
    const two = await bench.compareAll({ ...both, title: `Two calls each, ${AT_ONCE} at once`, task: 'two' }, [
      { title: 'Two calls each: the time of a program, median', task: 'median', unit: 'ms' },
      { title: 'Two calls each: the time of a program, 99 of 100', task: 'late', unit: 'ms' },
    ]);
    await bench.compareAll({ ...both, title: `Mixed, one in ten computes ${COMPUTING_MS} ms`, task: 'mixed', rounds: 3 }, [
      { title: 'Mixed: the time of a program, median', task: 'median', unit: 'ms' },
      { title: 'Mixed: the time of a program, 99 of 100', task: 'late', unit: 'ms' },
    ]);
    const [first = ''] = BESIDE.map(([name]) => name);
    const beside = await bench.compare({
      title: 'Two calls each, beside a loop without end: what is left',
      task: 'beside',
      unit: '%',
      better: 'more',
      ours: first,
      subjects: BESIDE.map(([name]) => name),
      rounds: 3,
      warmMs: 1,
    });
    const [rate] = two;
    bench.aim({
      what: `programs a second, ${AT_ONCE} at once, two calls each`,
      value: rate === undefined ? Number.NaN : medianOf(rate, OURS),
      atLeast: 3_000,
    });
    bench.note(
      'Beside a loop without end ours alone is asked, whose programs share workers: who makes a thread or an isolate for each has nothing to share but the processor, and who runs guests in the host’s own thread stands still.',
    );
    bench.aim({ what: 'what is left beside a loop without end, %', value: medianOf(beside, first), atLeast: 40 });
  },
};
