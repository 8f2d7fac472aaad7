// How many programs can wait at once, and what does one cost? Each awaits three tools of 0.2 to 2 s: time against the longest chain of waits, memory
// of the whole tree of processes, and how late the host's own event loop comes.
import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Question, Stand } from '../harness/question.ts';
import { type Curve, spread } from '../harness/result.ts';
import { v8 } from '../peers/callgate.ts';
import { FLOOR, fresh, OURS, PEERS, type Program, subjectsOf } from '../peers/peers.ts';

const SIZES = [1, 10, 1_000, 10_000];
const MOST = 10_000;
/** About twice the longest chain of waits; of the most, as long as a slow machine may need. */
const BOUND_MS = 12_000;
const BOUND_OF_MOST_MS = 60_000;
/** As many as are asked of everybody: to keep the time. */
const MOST_OF_PEERS = 1_000;
const RESOLUTION_MS = 5;
const FAR = [OURS, FLOOR];

const tools = {
  async wait({ ms, value }: { ms: number; value: number }): Promise<number> {
    await delay(ms);
    return value;
  },
};

/** 0.2 to 2 s, the same in every run. */
const waitOf = (program: number, call: number): number => 200 + ((program * 7_919 + call * 104_729) % 1_801);

const sourceOf = (program: number, [a, b, c]: readonly number[]): string => `
let sum = 0;
sum += await tools.wait({ ms: ${a}, value: ${program} });
sum += await tools.wait({ ms: ${b}, value: 1 });
sum += await tools.wait({ ms: ${c}, value: 2 });
return sum;`;

function tasksOf(program: Program): Stand['tasks'] {
  let [memory, late] = [Number.NaN, Number.NaN];
  return {
    async times(size) {
      // What is made once is made.
      await program(fresh('return 1;'));
      globalThis.gc?.();
      await delay(100);
      const before = residentBytes();
      const lag = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      lag.enable();
      let peak = before;
      const look = (): void => {
        peak = Math.max(peak, residentBytes());
      };
      const sampler = setInterval(look, 250);
      const began = performance.now();
      let longest = 0;
      const one = async (_: unknown, index: number): Promise<void> => {
        const waits = [0, 1, 2].map((call) => waitOf(index, call));
        longest = Math.max(
          longest,
          waits.reduce((a, b) => a + b),
        );
        const value = await program(sourceOf(index, waits));
        if (value !== index + 3) throw new Error(`Program ${index} gave ${JSON.stringify(value)} and not ${index + 3}.`);
      };
      try {
        await Promise.all(Array.from({ length: size }, one));
      } finally {
        clearInterval(sampler);
        lag.disable();
      }
      const elapsed = performance.now() - began;
      memory = (peak - before) / 1024 / size;
      late = lag.percentile(99) / 1e6 - RESOLUTION_MS;
      return elapsed / longest;
    },
    memory: async () => memory,
    late: async () => late,
  };
}

/** Of this process and all below it; where the system does not tell, of this one. */
function residentBytes(): number {
  if (process.platform !== 'linux') return process.memoryUsage.rss();
  let sum = 0;
  const open = [process.pid];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    try {
      sum += Number(readFileSync(`/proc/${id}/statm`, 'latin1').split(' ')[1]) * 4_096;
      for (const thread of readdirSync(`/proc/${id}/task`)) {
        const children = readFileSync(`/proc/${id}/task/${thread}/children`, 'latin1').trim();
        if (children !== '') open.push(...children.split(' ').map(Number));
      }
    } catch {
      // It has ended.
    }
  }
  return sum;
}

function at({ lines }: Curve, subject: string, size: number): number {
  const point = lines.find((line) => line.subject === subject)?.points.find((each) => each.size === size);
  return spread(point?.rounds ?? []).median;
}

export const question: Question = {
  name: 'density',
  asks: 'How many programs can wait at once for three tools of 0.2 to 2 s each, how long do they take, and what memory?',
  subjects: subjectsOf({ tools, timeoutMs: 120_000 }, tasksOf),
  async run(bench) {
    // Those that differ only in where the same engine runs are left out: a round takes seconds.
    const subjects = PEERS.map(({ name }) => name).filter((name) => !name.startsWith('callgate,') || name === v8.name);
    const [times, memory, late] = await bench.drawAll(
      {
        title: 'The time, against the longest chain of waits',
        task: 'times',
        unit: 'times',
        sizeOf: 'programs at once',
        sizes: SIZES,
        subjects,
        upTo: Object.fromEntries(subjects.filter((name) => !FAR.includes(name)).map((name) => [name, MOST_OF_PEERS])),
        rounds: 1,
        boundMs: (size) => (size < MOST ? BOUND_MS : BOUND_OF_MOST_MS),
        isFresh: true,
        togetherUpTo: 10,
      },
      [
        { title: 'Resident memory of a waiting program, in all processes', task: 'memory', unit: 'KB' },
        { title: "The host's event loop: delay, 99 of 100", task: 'late', unit: 'ms' },
      ],
    );
    if (times === undefined || memory === undefined || late === undefined) return;
    bench.note(
      `Every answer of a figure is right: one that is wrong is an error. Who takes more than ${BOUND_MS / 1_000} s, about twice the longest chain of waits, is given up. Peers are asked for up to ${MOST_OF_PEERS.toLocaleString('en-US')}. Up to 10, all subjects wait at the same time. Each figure is of one round. Those of ours and of others that differ only in where the same engine runs are left out, since a round takes seconds.`,
    );
    bench.aim({ what: `${MOST} programs in a thread, against the ideal time`, value: at(times, OURS, MOST), atMost: 2 });
    bench.aim({ what: `KB of resident memory for each of ${MOST}`, value: at(memory, OURS, MOST), atMost: 100 });
    bench.aim({ what: `delay of the host's event loop beside ${MOST}, 99 of 100, ms`, value: at(late, OURS, MOST), atMost: 20 });
  },
};
