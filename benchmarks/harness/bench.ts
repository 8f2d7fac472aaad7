// Takes rounds: one process per subject, one at work at a time, in an order that shifts with every round, so that what disturbs one disturbs
// all and nobody always comes after the same neighbour. What a round does is the subject's; what is asked is the question's.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { machine, watchLoad } from './load.ts';
import { print } from './print.ts';
import type { Also, Bench, Comparing, Drawing, Question } from './question.ts';
import type { Absent, Aim, Comparison, Curve, Line, Part, Point, Result, Row, Unit } from './result.ts';
import type { Order, Report } from './stand.ts';

/** Beside the bundle that this is part of. */
const STAND = fileURLToPath(new URL('harness/stand.js', import.meta.url));
/** A subject may compile, install and warm up for that long. */
const OPENING_MS = 60_000;
/** After a round that is not counted, until it has been at work for this long. */
const WARM_MS = 400;

/** Asks the question, and gives what came of it. */
export async function ask(
  question: Question,
  { isSmoke, args, mostRounds = Number.POSITIVE_INFINITY }: { isSmoke: boolean; args: readonly string[]; mostRounds?: number },
): Promise<Result> {
  const parts: Part[] = [];
  const absent: Absent[] = [];
  const aims: Aim[] = [];
  const notes: string[] = [];
  const ranAt = new Date().toISOString();
  const began = performance.now();
  const load = await watchLoad();
  const stands = new Map<string, Promise<Standing>>();
  const standing = (subject: string): Promise<Standing> => {
    const open = stands.get(subject) ?? Standing.open(question.name, subject, args);
    stands.set(subject, open);
    return open;
  };
  const add = <P extends Part>(part: P): P => {
    parts.push(part);
    print(part);
    return part;
  };
  const cannot = (subject: string, error: unknown, part?: string): void => {
    const reason = error instanceof Error ? error.message : String(error);
    if (absent.some((other) => other.subject === subject && (other.part === undefined || other.part === part))) return;
    absent.push({ subject, reason, ...(part !== undefined && { part }) });
    console.log(`${subject} is absent${part === undefined ? '' : ` from "${part}"`}: ${reason}`);
  };
  const isOut = (subject: string): boolean => absent.some((other) => other.subject === subject && other.part === undefined);

  /** Rounds of those that can, by subject: for each figure of a round a list. Who fails in one loses them all. */
  const rounds = async (
    subjects: readonly string[],
    { title, figures: wanted, size = 1, count, boundMs = 30_000, isFresh = false, warmMs = WARM_MS, isTogether = false }: Rounds,
  ): Promise<Map<string, number[][]>> => {
    /** One round of what stays open, or of what is opened for it alone. */
    const take = async (subject: string): Promise<readonly number[]> => {
      const stand = isFresh ? await Standing.open(question.name, subject, args) : await standing(subject);
      try {
        const taken: number[] = [];
        for (const { task, unit } of wanted) {
          const figure = await stand.round(task, size, boundMs);
          taken.push(significant(unit === 'µs' ? figure * 1000 : figure));
        }
        return taken;
      } finally {
        if (isFresh) await stand.close();
      }
    };
    const able = new Set<string>();
    const figures = new Map<string, number[][]>();
    const drop = async (subject: string, error: unknown): Promise<void> => {
      cannot(subject, error, title);
      figures.delete(subject);
      able.delete(subject);
      // A process that has ended makes room for another one.
      if ((await stands.get(subject))?.isOver) stands.delete(subject);
    };
    const takeCounted = async (subject: string): Promise<void> => {
      try {
        for (const [index, figure] of (await take(subject)).entries()) figures.get(subject)?.[index]?.push(figure);
      } catch (error) {
        await drop(subject, error);
      }
    };
    for (const subject of subjects) {
      if (isOut(subject)) continue;
      const stand = await standing(subject).catch((error: unknown) => cannot(subject, error));
      if (stand === undefined || !wanted.every(({ task }) => stand.tasks.includes(task))) continue;
      able.add(subject);
      figures.set(
        subject,
        wanted.map(() => []),
      );
      // Figures of what is fresh are those of the first time.
      const until = performance.now() + (isFresh || isSmoke ? 0 : warmMs);
      try {
        while (performance.now() < until) await take(subject);
      } catch (error) {
        await drop(subject, error);
      }
    }
    for (let round = 0; round < (isSmoke ? 1 : Math.min(count, mostRounds)); round++) {
      load.look();
      const order = [...able].map((_, place, all) => all[(place + round) % all.length] as string);
      if (isTogether) await Promise.all(order.map(takeCounted));
      else for (const subject of order) await takeCounted(subject);
    }
    return figures;
  };

  const compareAll = async (
    { title, task, unit, ours, floor, subjects, better = 'less', size, rounds: count = 11, boundMs, isFresh, warmMs }: Comparing,
    also: readonly Also[],
  ): Promise<readonly Comparison[]> => {
    const asked = subjects ?? Object.keys(question.subjects);
    const wanted = [{ title, task, unit, better }, ...also];
    const figures = await rounds(asked, { title, figures: wanted, count, size, boundMs, isFresh, warmMs });
    return wanted.map(({ title, unit, better = 'less' }, index) => {
      const rows = rowsOf(asked, figures, index);
      return add<Comparison>({ kind: 'comparison', title, unit, better, ours, ...(floor !== undefined && { floor }), rows });
    });
  };

  const drawAll = async (
    { title, task, unit, sizeOf, sizes, subjects, rounds: count = 5, boundMs, isFresh, warmMs, togetherUpTo = -1, upTo = {} }: Drawing,
    also: readonly Also[],
  ): Promise<readonly Curve[]> => {
    const wanted = [{ title, task, unit }, ...also];
    const points = wanted.map(() => new Map<string, Point[]>(subjects.map((subject) => [subject, []])));
    let left = subjects;
    for (const size of isSmoke ? sizes.slice(0, 2) : sizes) {
      left = left.filter((subject) => size <= (upTo[subject] ?? size));
      const isTogether = size <= togetherUpTo;
      const bound = typeof boundMs === 'function' ? boundMs(size) : boundMs;
      const asked = { title: `${title}: ${size} ${sizeOf}`, figures: wanted, count, size, boundMs: bound, isFresh, warmMs, isTogether };
      const figures = await rounds(left, asked);
      for (const [subject, taken] of figures)
        for (const [index, rounds] of taken.entries()) points[index]?.get(subject)?.push({ size, rounds });
      // Who cannot do a size is not asked for a bigger one.
      left = left.filter((subject) => figures.has(subject));
    }
    return wanted.map(({ title, unit }, index) => {
      const lines = subjects.flatMap((subject): Line[] => {
        const drawn = points[index]?.get(subject) ?? [];
        return drawn.length === 0 ? [] : [{ subject, points: drawn }];
      });
      return add<Curve>({ kind: 'curve', title, unit, sizeOf, lines });
    });
  };

  const bench: Bench = {
    isSmoke,
    args,
    compareAll,
    drawAll,
    // There is one for each figure, and one figure is asked for.
    compare: async (comparing) => (await compareAll(comparing, []))[0] as Comparison,
    draw: async (drawing) => (await drawAll(drawing, []))[0] as Curve,
    async rows({ title, task, unit, subjects, size, rounds: count = 11, boundMs, isFresh, warmMs }) {
      const asked = subjects ?? Object.keys(question.subjects);
      return rowsOf(asked, await rounds(asked, { title, figures: [{ task, unit }], count, size, boundMs, isFresh, warmMs }), 0);
    },
    comparison: (comparison) => add<Comparison>({ kind: 'comparison', ...comparison }),
    table: (table) => void add({ kind: 'table', ...table }),
    aim(aim) {
      aims.push({ ...aim, value: significant(aim.value) });
    },
    note: (text) => void notes.push(text),
    absent: (subject, reason, part) => cannot(subject, reason, part),
  };

  try {
    await question.run(bench);
  } finally {
    for (const stand of stands.values())
      await stand.then(
        (open) => open.close(),
        () => undefined,
      );
  }
  return {
    question: question.name,
    asks: question.asks,
    ranAt,
    seconds: Math.round((performance.now() - began) / 1000),
    isSmoke,
    machine: machine(),
    load: load.end(),
    versions: versions(),
    parts,
    absent,
    aims,
    notes,
  };
}

/** The rows of one of the figures that rounds gave, of those that gave any. */
function rowsOf(subjects: readonly string[], figures: ReadonlyMap<string, readonly number[][]>, index: number): Row[] {
  return subjects.flatMap((subject): Row[] => {
    const taken = figures.get(subject)?.[index];
    return taken === undefined ? [] : [{ subject, rounds: taken }];
  });
}

interface Rounds {
  readonly title: string;
  /** Of one round, from tasks one after another. */
  readonly figures: readonly { readonly task: string; readonly unit: Unit }[];
  readonly count: number;
  readonly size: number | undefined;
  readonly boundMs: number | undefined;
  readonly isFresh: boolean | undefined;
  readonly warmMs: number | undefined;
  readonly isTogether?: boolean;
}

/** A subject's process, seen from here. */
class Standing {
  readonly tasks: readonly string[];
  readonly #child: ChildProcess;
  readonly #answer: (boundMs: number) => Promise<Report>;

  private constructor(child: ChildProcess, answer: (boundMs: number) => Promise<Report>, tasks: readonly string[]) {
    this.#child = child;
    this.#answer = answer;
    this.tasks = tasks;
  }

  static async open(question: string, subject: string, args: readonly string[]): Promise<Standing> {
    const child = fork(STAND, [question, subject, ...args], {
      // As users run it: maps of sources are for the harness's own errors.
      execArgv: process.execArgv.filter((flag) => flag !== '--enable-source-maps'),
      // What a subject prints is not a figure; where it dies, the last of it says why.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2_000);
    });
    const answer = async (boundMs: number): Promise<Report> => {
      const bound = new AbortController();
      const timer = setTimeout(() => bound.abort(), boundMs);
      try {
        const ended = once(child, 'exit', bound).then(([code, signal]) => {
          throw new Error(`its process ended with ${signal ?? `code ${code}`}${lastLine(said)}`);
        });
        // Of a channel to our own process; stand.ts has the type.
        return await Promise.race([once(child, 'message', bound).then(([report]) => report as Report), ended]);
      } catch (error) {
        if (!bound.signal.aborted) throw error;
        child.kill('SIGKILL');
        throw new Error(`not done within ${boundMs / 1000} s`);
      } finally {
        clearTimeout(timer);
        bound.abort();
      }
    };
    const report = await answer(OPENING_MS);
    if ('tasks' in report) return new Standing(child, answer, report.tasks);
    child.kill('SIGKILL');
    throw new Error('error' in report ? report.error : 'It did not open.');
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.killed;
  }

  async round(task: string, size: number, boundMs: number): Promise<number> {
    if (this.isOver) throw new Error('its process has ended');
    this.#send({ task, size });
    const report = await this.#answer(boundMs);
    if ('figure' in report) return report.figure;
    throw new Error('error' in report ? report.error : 'It answered something else.');
  }

  async close(): Promise<void> {
    if (this.isOver) return;
    const ended = once(this.#child, 'exit');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 4_000);
    this.#send('close');
    await ended;
    clearTimeout(timer);
  }

  #send(order: Order): void {
    this.#child.send(order);
  }
}

function lastLine(text: string): string {
  const line = text
    .trim()
    .split('\n')
    .findLast((each) => /error|fatal|abort|assert/i.test(each));
  return line === undefined ? '' : `: ${line.trim().slice(0, 200)}`;
}

/** Five digits, so that a file of results is short. */
function significant(figure: number): number {
  return Number(figure.toPrecision(5));
}

/** This package and its peers, as installed. */
function versions(): Record<string, string> {
  const read = (path: string): { version: string; dependencies: Record<string, string> } => JSON.parse(readFileSync(path, 'utf8'));
  const { dependencies } = read('benchmarks/package.json');
  return { callgate: read('package.json').version, ...dependencies };
}
