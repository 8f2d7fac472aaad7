// What is said in one row: the figures of all questions that stand at the top of the report, in its overview and in README.md. They are
// made of the results; which ones they are is the list below.
import { type Comparison, type Part, type Result, ratios, rowOf, type Spread, spread } from '../harness/result.ts';

/**
 * By question, the titles of its comparisons that are headlines. A title may be a beginning, since it may hold counts. A question that is not
 * here is told by its first comparison.
 */
const TITLES: Readonly<Record<string, readonly string[]>> = {
  start: ['`return 1`, one after another', 'Loading, opening'],
  calls: ['A call, ', '256 calls at once', 'Sixteen calls at once'],
  cpu: ['fib(', 'JSON of 1 MB'],
  throughput: ['Two calls each, 8 at once'],
  prepare: ['Preparing 66 lines', 'From nothing'],
  turns: ['All twelve conversations, tools that take 200 ms', 'Tokens of all twelve'],
};

export interface Headline {
  readonly question: string;
  readonly part: Comparison;
  /** Of ours, in the part's unit. */
  readonly ours: Spread;
  /** How many times its floor ours costs. */
  readonly nearness: { readonly floor: string; readonly ratio: Spread } | undefined;
  /** How many times as dear as ours each other subject is, round by round; below 1 it is cheaper. In the order of the rows. */
  readonly others: readonly Against[];
}

export interface Against {
  readonly subject: string;
  readonly ratio: Spread;
}

/** Of all questions that have results, and what is listed above but not among them. */
export function headlinesOf(results: readonly Result[]): { headlines: readonly Headline[]; missing: readonly string[] } {
  const missing: string[] = [];
  const headlines = results.flatMap(({ question, parts }) => {
    const comparisons = parts.filter(isComparison);
    const titles = TITLES[question] ?? comparisons.slice(0, 1).map(({ title }) => title);
    return titles.flatMap((title): Headline[] => {
      const part = comparisons.find((each) => each.title.startsWith(title));
      const headline = part === undefined ? undefined : headlineOf(question, part);
      if (headline === undefined) missing.push(`${question}: ${title}`);
      return headline === undefined ? [] : [headline];
    });
  });
  return { headlines, missing };
}

function headlineOf(question: string, part: Comparison): Headline | undefined {
  const ours = rowOf(part, part.ours);
  if (ours === undefined) return undefined;
  const others = part.rows
    .filter((row) => row !== ours)
    .map((row) => ({ subject: row.subject, ratio: dearness(part, row.subject, part.ours) }));
  const { floor } = part;
  const nearness = floor === undefined || rowOf(part, floor) === undefined ? undefined : { floor, ratio: dearness(part, part.ours, floor) };
  return { question, part, ours: spread(ours.rounds), nearness, others };
}

/** How many times as dear the one is as the other, by rounds: where more is better, how many times as much the other does. */
export function dearness(part: Comparison, of: string, to: string): Spread {
  const [above, below] = part.better === 'less' ? [of, to] : [to, of];
  const [one, other] = [rowOf(part, above), rowOf(part, below)];
  return spread(one === undefined || other === undefined ? [] : ratios(one, other).filter(Number.isFinite));
}

function isComparison(part: Part): part is Comparison {
  return part.kind === 'comparison';
}
