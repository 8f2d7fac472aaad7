// What a question answers: figures by round, tables, curves, and what was not there. Kept as JSON in results/; the report is made of it alone.
// Statistics are derived here and never stored, so that nothing can disagree with the rounds.

export type Unit = 'µs' | 'ms' | 's' | 'KB' | 'MB' | 'per second' | 'times' | '%' | 'tokens';

/** One question's answer, as results/NAME.json holds it. */
export interface Result {
  readonly question: string;
  readonly asks: string;
  /** ISO 8601. */
  readonly ranAt: string;
  readonly seconds: number;
  /** `--smoke`: one round of little, which shows that everything runs and nothing else. */
  readonly isSmoke: boolean;
  readonly machine: Machine;
  readonly load: Load;
  /** Of the packages that took part: name to version. */
  readonly versions: Readonly<Record<string, string>>;
  readonly parts: readonly Part[];
  readonly absent: readonly Absent[];
  readonly aims: readonly Aim[];
  readonly notes: readonly string[];
}

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGB: number;
}

/** Shares of 0 to 1. */
export interface Load {
  /** Of the processor's time, what was used in the second before. */
  readonly before: number;
  /** Of the processor's time, what others used while this ran; where the system does not tell, `null`. */
  readonly others: number | null;
  /** Of a core, what a loop that wanted all of it got, by the median of looks between the rounds. */
  readonly core: number;
  readonly isBusy: boolean;
}

export type Part = Comparison | Curve | Table;

/** The same work by several subjects, in turns. */
export interface Comparison {
  readonly kind: 'comparison';
  readonly title: string;
  readonly unit: Unit;
  /** Whether less or more of the unit is better. */
  readonly better: 'less' | 'more';
  /** The subject that others are compared with. */
  readonly ours: string;
  /** The subject that does no more than what cannot be avoided. */
  readonly floor?: string;
  readonly rows: readonly Row[];
}

export interface Row {
  readonly subject: string;
  /** A figure per round; the same index is the same round in every row. */
  readonly rounds: readonly number[];
}

/** What something costs as its size grows. */
export interface Curve {
  readonly kind: 'curve';
  readonly title: string;
  readonly unit: Unit;
  /** What the size counts: "programs", "tools", "bytes". */
  readonly sizeOf: string;
  readonly lines: readonly Line[];
}

export interface Line {
  readonly subject: string;
  readonly points: readonly Point[];
}

export interface Point {
  readonly size: number;
  readonly rounds: readonly number[];
}

/** What is neither: texts and numbers under a head; numbers are aligned to the right. */
export interface Table {
  readonly kind: 'table';
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** So many rows that a report folds them. */
  readonly isLong?: true;
}

/** Who could not take part in what, and why. */
export interface Absent {
  readonly subject: string;
  /** A part's title; absent: in all of it. */
  readonly part?: string;
  readonly reason: string;
}

export interface Aim {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Spread {
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
  readonly least: number;
}

/** Of figures, or of the ratios of figures. Shares between two figures are interpolated. */
export function spread(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const [below = Number.NaN, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return below + (above - below) * (place - Math.floor(place));
  };
  return { median: at(0.5), p10: at(0.1), p90: at(0.9), least: at(0) };
}

/** How many times as much the one took as the other, round by round. */
export function ratios(of: Row, to: Row): number[] {
  return of.rounds.map((figure, round) => figure / (to.rounds[round] ?? Number.NaN));
}

export function rowOf({ rows }: Comparison, subject: string): Row | undefined {
  return rows.find((row) => row.subject === subject);
}

export function medianOf(part: Comparison, subject: string): number {
  return spread(rowOf(part, subject)?.rounds ?? []).median;
}

/** The median of the ratios of every round. */
export function medianRatio(part: Comparison, of: string, to: string): number {
  const [above, below] = [rowOf(part, of), rowOf(part, to)];
  return above === undefined || below === undefined ? Number.NaN : spread(ratios(above, below)).median;
}

/** How many times as much a size costs as the smallest. */
export function growth({ lines }: Curve, subject: string, size: number): number {
  const points = lines.find((line) => line.subject === subject)?.points ?? [];
  const at = points.find((point) => point.size === size);
  return spread(at?.rounds ?? []).median / spread(points[0]?.rounds ?? []).median;
}

export function isMet({ value, atMost, atLeast }: Aim): boolean {
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast);
}
