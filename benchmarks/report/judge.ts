// Judges bounds against results: what a ratio is, whether it holds, and what is to be said of one that cannot be had. Asking is check.ts's.
import { type Curve, type Line, type Result, type Row, ratios, rowOf, spread } from '../harness/result.ts';

/** One ratio that must hold, in one of four forms. At least one of `atMost` and `atLeast` is given. */
export type Bound = {
  readonly question: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Why it must hold, in a sentence. */
  readonly reason: string;
} & (
  | {
      /** A comparison's title: the ratio is taken in every round, and its median counts. */
      readonly part: string;
      readonly of: string;
      readonly to: string;
    }
  | {
      /** A curve's title: the same at one of its sizes. */
      readonly part: string;
      readonly of: string;
      readonly to: string;
      readonly size: number;
    }
  | {
      /** A curve's title: how many times as much `size` costs as `from`. */
      readonly part: string;
      readonly of: string;
      readonly from: number;
      readonly size: number;
    }
  | {
      /** The words of an aim: its value is what is bounded. */
      readonly aim: string;
    }
);

export interface Verdict {
  readonly bound: Bound;
  /** What is bounded, in words. */
  readonly what: string;
  readonly value: number | undefined;
  readonly holds: boolean;
  /** Why there is no value. */
  readonly missing?: string;
}

export function judge(bound: Bound, result: Result | undefined): Verdict {
  const what = describe(bound);
  const found = result === undefined ? `The question ${bound.question} has no results.` : find(bound, result);
  if (typeof found === 'string') return { bound, what, value: undefined, holds: false, missing: found };
  const { atMost, atLeast } = bound;
  // NaN holds nothing.
  const isWithin = (atMost === undefined || found <= atMost) && (atLeast === undefined || found >= atLeast);
  return { bound, what, value: found, holds: isWithin && Number.isFinite(found) && (atMost ?? atLeast) !== undefined };
}

function describe(bound: Bound): string {
  if ('aim' in bound) return `${bound.question}: ${bound.aim}`;
  if ('from' in bound) return `${bound.question}: ${bound.part}: ${bound.of}, ${bound.size} to ${bound.from}`;
  return `${bound.question}: ${bound.part}${'size' in bound ? `, ${bound.size}` : ''}: ${bound.of} to ${bound.to}`;
}

/** The value, or a sentence on what is not there. */
function find(bound: Bound, result: Result): number | string {
  if ('aim' in bound) {
    const aim = result.aims.find(({ what }) => what === bound.aim);
    // A figure that could not be had is `null` in a file.
    return aim === undefined ? `The question ${bound.question} has no aim "${bound.aim}".` : (aim.value ?? Number.NaN);
  }
  const part = result.parts.find(({ title }) => title === bound.part);
  const reasonOf = (subject: string): string => {
    const absent = result.absent.find((each) => each.subject === subject && (each.part === undefined || each.part.startsWith(bound.part)));
    return absent === undefined ? '' : ` It is absent: ${absent.reason}`;
  };
  const isCurve = 'size' in bound;
  if (part === undefined) return `The question ${bound.question} has no part "${bound.part}".`;
  if (part.kind !== (isCurve ? 'curve' : 'comparison')) return `The part "${bound.part}" is no ${isCurve ? 'curve' : 'comparison'}.`;
  const rowFor = (subject: string, size?: number): Row | string => {
    const row =
      part.kind === 'comparison' ? rowOf(part, subject) : part.kind === 'curve' ? rowAt(part, subject, size ?? Number.NaN) : undefined;
    const where = size === undefined ? '' : ` for ${size}`;
    return row === undefined ? `The part "${bound.part}" has no figures of "${subject}"${where}.${reasonOf(subject)}` : row;
  };
  const of = rowFor(bound.of, isCurve ? bound.size : undefined);
  const to = 'from' in bound ? rowFor(bound.of, bound.from) : rowFor(bound.to, isCurve ? bound.size : undefined);
  if (typeof of === 'string') return of;
  if (typeof to === 'string') return to;
  // Rounds of different sizes are not those of one moment.
  return 'from' in bound ? spread(of.rounds).median / spread(to.rounds).median : spread(ratios(of, to).filter(Number.isFinite)).median;
}

function rowAt({ lines }: Curve, subject: string, size: number): Row | undefined {
  const line: Line | undefined = lines.find((each) => each.subject === subject);
  const point = line?.points.find((each) => each.size === size);
  return point === undefined ? undefined : { subject, rounds: point.rounds };
}
