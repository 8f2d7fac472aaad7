// What is said in one row: the figures of all questions that stand at the top of the report, in its overview and in README.md. They are
// made of the results; which ones they are is the list below.
import { type Comparison, type Part, type Result, type Row, ratios, rowOf, type Spread, spread } from '../harness/result.ts';
import { sizeText } from './figures.ts';

/**
 * By question, the titles of its parts that are headlines. A title may be a beginning, since it may hold counts. Of a curve it is the largest size
 * that ours and half of all have; of a table, in which systems are columns, the percentages of its row `all`. A question that is not here is told by its first comparison.
 */
const TITLES: Readonly<Record<string, readonly string[]>> = {
  start: ['`return 1`, one after another', 'Loading, opening'],
  calls: ['A call, ', '256 calls at once', 'Sixteen calls at once'],
  payload: ['1 MB of JSON, a result', '1 MB of JSON, an argument', '1 MB of bytes, a result'],
  cpu: ['fib(', 'JSON of 1 MB'],
  throughput: ['Two calls each, 8 at once'],
  density: ['Resident memory of a waiting program'],
  prepare: ['Preparing 66 lines', 'From nothing'],
  declarations: ['Declarations of a number of tools, tokens'],
  'first-try': ['Programs that run right'],
  turns: ['All twelve conversations, tools that take 200 ms', 'Tokens of all twelve'],
};
/** The name of ours in curves and tables. */
const OURS = 'callgate';

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
      const part = parts.find((each) => each.title.startsWith(title));
      const comparison = part && asComparison(part);
      const headline = comparison === undefined ? undefined : headlineOf(question, comparison);
      if (headline === undefined) missing.push(`${question}: ${title}`);
      return headline === undefined ? [] : [headline];
    });
  });
  return { headlines, missing };
}

/** What a part says in one row, or nothing where ours is not in it. */
function asComparison(part: Part): Comparison | undefined {
  switch (part.kind) {
    case 'comparison':
      return part;
    case 'curve': {
      const { title, unit, sizeOf, lines } = part;
      const have = (size: number): number => lines.filter(({ points }) => points.some((point) => point.size === size)).length;
      const own = lines.find(({ subject }) => subject === OURS)?.points ?? [];
      const size = own.findLast((point) => have(point.size) * 2 >= lines.length)?.size;
      if (size === undefined) return undefined;
      const rows = lines.flatMap(({ subject, points }): Row[] => {
        const point = points.find((each) => each.size === size);
        return point === undefined ? [] : [{ subject, rounds: point.rounds }];
      });
      const named = `${title}: ${sizeText(size, sizeOf)}${/^bytes/.test(sizeOf) ? '' : ` ${sizeOf}`}`;
      return { kind: 'comparison', title: named, unit, better: 'less', ours: OURS, rows };
    }
    case 'table': {
      const all = part.rows.find(([first]) => first === 'all');
      const rows = part.head.flatMap((subject, column): Row[] => {
        const share = /([\d.]+)\s%/.exec(String(all?.[column]))?.[1];
        return share === undefined ? [] : [{ subject, rounds: [Number(share)] }];
      });
      return { kind: 'comparison', title: part.title.replace(/, by [^,]*$/, ''), unit: '%', better: 'more', ours: OURS, rows };
    }
  }
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
