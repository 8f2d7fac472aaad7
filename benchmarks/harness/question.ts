// What a question is: who is asked, and what is asked of them. A subject lives in a process of its own (stand.ts), is opened once, and does one
// task at a time when the harness says so: nobody else is at work then. How rounds are taken is in bench.ts.
import type { Aim, Comparison, Curve, Row, Table, Unit } from './result.ts';

export interface Question {
  /** The file's name, without `.ts`. */
  readonly name: string;
  /** The question itself, one sentence. */
  readonly asks: string;
  /** By the name under which they are printed. */
  readonly subjects: Readonly<Record<string, Subject>>;
  run(bench: Bench): Promise<void>;
}

/** Opens what does the tasks, once per process; it is told the question's own arguments. An error says why the subject cannot take part. */
export type Subject = (args: readonly string[]) => Promise<Stand>;

export interface Stand {
  readonly tasks: Readonly<Record<string, Task>>;
  close?(): Promise<unknown>;
}

/**
 * Does the work of one round and gives its figure, in the unit of the comparison (milliseconds where that is a time: µs are made of them by the
 * harness). The size is that of a curve, or 1.
 */
export type Task = (size: number) => Promise<number>;

/** A further figure of the same round: a task that tells what the other one has seen. */
export interface Also {
  readonly title: string;
  readonly task: string;
  readonly unit: Unit;
  /** Default `less`. */
  readonly better?: 'less' | 'more';
}

export interface Comparing {
  readonly title: string;
  readonly task: string;
  readonly unit: Unit;
  readonly ours: string;
  readonly floor?: string;
  /** Default: all of the question's that have the task. */
  readonly subjects?: readonly string[];
  readonly better?: 'less' | 'more';
  readonly size?: number;
  /** Default 11. */
  readonly rounds?: number;
  /** Of one round of one subject, after which it is given up. Default 30 000. */
  readonly boundMs?: number;
  /** A new process for every round: where memory is counted, or what happens first. */
  readonly isFresh?: boolean;
  /** Milliseconds of rounds that are not counted, before. Default 400. */
  readonly warmMs?: number;
}

export interface Drawing {
  readonly title: string;
  readonly task: string;
  readonly unit: Unit;
  readonly sizeOf: string;
  readonly sizes: readonly number[];
  readonly subjects: readonly string[];
  /** Default 5. */
  readonly rounds?: number;
  /** Of one round of one subject, after which it gets no bigger sizes; by size, or for all. Default 30 000. */
  readonly boundMs?: number | ((size: number) => number);
  /** A new process for every round. */
  readonly isFresh?: boolean;
  /** Milliseconds of rounds that are not counted, before each size. Default 400. */
  readonly warmMs?: number;
  /** Up to this size all subjects go through a round at the same time: for work that does little but wait. */
  readonly togetherUpTo?: number;
  /** The biggest size that a subject is asked for, by name. Default: all. */
  readonly upTo?: Readonly<Record<string, number>>;
}

/** What a question uses to ask, and to say what it found. */
export interface Bench {
  /** One round of little is wanted: loops of a question's own should be short. */
  readonly isSmoke: boolean;
  readonly args: readonly string[];
  /** Takes rounds of all subjects in turns; who fails is listed as absent, with the reason. */
  compare(comparing: Comparing): Promise<Comparison>;
  /** The same with further figures of each round: a comparison for each. */
  compareAll(comparing: Comparing, also: readonly Also[]): Promise<readonly Comparison[]>;
  /** Takes rounds as `compare` does and gives the rows alone: for what a question makes a part of itself. */
  rows(comparing: Omit<Comparing, 'ours' | 'floor' | 'better'>): Promise<readonly Row[]>;
  /** A comparison that a question has made of rows. */
  comparison(comparison: Omit<Comparison, 'kind'>): Comparison;
  /** The same as `compare` for a row of sizes. */
  draw(drawing: Drawing): Promise<Curve>;
  drawAll(drawing: Drawing, also: readonly Also[]): Promise<readonly Curve[]>;
  table(table: Omit<Table, 'kind'>): void;
  aim(aim: Aim): void;
  /** A sentence that the reader of the figures needs. */
  note(text: string): void;
  absent(subject: string, reason: string, part?: string): void;
}

/** A task is not repeated any more when it has been at work for this long: a slow subject gets fewer times, not a longer round. */
const ENOUGH_MS = 200;

/** A task that does something often and gives the median of its times, in milliseconds per unit. */
export function timed(
  work: () => unknown,
  { times = 1, units = 1, clock = (): number => performance.now() }: { times?: number; units?: number; clock?: () => number } = {},
): Task {
  return async () => {
    const list: number[] = [];
    const enough = performance.now() + ENOUGH_MS;
    do {
      const began = clock();
      await work();
      list.push((clock() - began) / units);
    } while (list.length < times && performance.now() < enough);
    return list.sort((a, b) => a - b)[list.length >> 1] as number;
  };
}
