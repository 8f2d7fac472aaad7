// What every benchmark here shares: interleaved rounds, medians and 99th percentiles, and a table beside the floor.
// Ratios within one run are what counts; absolute times are those of a noisy machine.
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import process from 'node:process';

export interface Subject {
  readonly name: string;
  /** One unit of work, timed as a whole. */
  run(): unknown;
  /** Units that one run does; times are given per unit. */
  readonly units?: number;
}

export interface Figure {
  readonly name: string;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly minMs: number;
}

/** Times the subjects in turns, so that what disturbs one disturbs all. `clock` gives milliseconds; the usual one is that on the wall. */
export async function measure<const Subjects extends readonly Subject[]>(
  subjects: Subjects,
  { rounds = 15, perRound = 40, clock = (): number => performance.now() } = {},
): Promise<{ readonly [Index in keyof Subjects]: Figure }> {
  const times = subjects.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (const [index, subject] of subjects.entries()) {
      const list = times[index] as number[];
      for (let i = 0; i < perRound; i++) {
        const began = clock();
        await subject.run();
        list.push((clock() - began) / (subject.units ?? 1));
      }
    }
  }
  const figures = subjects.map(({ name }, index): Figure => {
    const sorted = (times[index] as number[]).sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;
    return { name, medianMs: at(0.5), p99Ms: at(0.99), minMs: at(0) };
  });
  // One figure per subject, which `map` does not say in its type.
  return figures as { readonly [Index in keyof Subjects]: Figure };
}

/**
 * Milliseconds that the main thread has computed: what waits costs nothing, and neither do other processes and threads. Where Node and the system
 * do not tell, the time that its event loop was not idle.
 */
export function computingClock(): () => number {
  if ('threadCpuUsage' in process && typeof process.threadCpuUsage === 'function') {
    const usage = process.threadCpuUsage as () => { user: number; system: number };
    return () => (usage().user + usage().system) / 1000;
  }
  if (process.platform !== 'linux') return () => performance.eventLoopUtilization().active;
  return () => {
    // Makes the kernel bring the number up to date that it shows in the file.
    process.cpuUsage();
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6;
  };
}

/** Prints figures in microseconds, each also as a multiple of the floor's median. */
export function print(title: string, figures: readonly Figure[], floor: string): void {
  const base = figures.find(({ name }) => name === floor)?.medianMs ?? 1;
  const width = Math.max(...figures.map(({ name }) => name.length));
  console.log(`\n${title}`);
  console.log(`${''.padEnd(width)} ${['median µs', 'p99 µs', 'min µs', '× floor'].map((head) => head.padStart(10)).join('')}`);
  for (const { name, medianMs, p99Ms, minMs } of figures) {
    const cells = [medianMs, p99Ms, minMs].map((ms) => (ms * 1000).toFixed(1).padStart(10)).join('');
    console.log(`${name.padEnd(width)} ${cells}${(medianMs / base).toFixed(2).padStart(10)}`);
  }
}

export function machine(): string {
  return `Node ${process.version}, ${availableParallelism()} cores of ${cpus()[0]?.model ?? 'unknown'}`;
}

/** Prints whether an aim is met; benchmarks inform, they do not fail. */
export function aim(what: string, value: number, most: number): void {
  console.log(`${value <= most ? 'met ' : 'MISSED'} ${what}: ${value.toFixed(2)} (aim: at most ${most})`);
}
