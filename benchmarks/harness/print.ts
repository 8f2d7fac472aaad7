// What a run shows on the terminal while it goes on: the same figures that the report has, as plain text.
import { type Comparison, type Curve, type Part, type Row, ratios, rowOf, spread, type Table } from './result.ts';

export function print(part: Part): void {
  console.log(`\n${part.title}`);
  const [head = [], ...rows] = part.kind === 'comparison' ? comparison(part) : part.kind === 'curve' ? curve(part) : table(part);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
  for (const row of [head, ...rows])
    console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '));
}

/** About three digits. */
export function short(figure: number): string {
  if (!Number.isFinite(figure)) return '–';
  if (Math.abs(figure) >= 100) return Math.round(figure).toLocaleString('en-US');
  return figure === 0 ? '0' : Number(figure.toPrecision(3)).toString();
}

function comparison({ unit, rows, ours, floor, ...part }: Comparison): string[][] {
  const whole = { unit, rows, ours, ...part };
  const base = [ours, ...(floor === undefined ? [] : [floor])].flatMap((name) => rowOf(whole, name) ?? []);
  // How many times as dear, also where more of the unit is better.
  const dearness = (row: Row, to: Row): number[] => (part.better === 'more' ? ratios(to, row) : ratios(row, to));
  return [
    ['', unit, 'p10', 'p90', ...base.map(({ subject }) => `× ${subject}`)],
    ...rows.map((row) => {
      const { median, p10, p90 } = spread(row.rounds);
      return [row.subject, ...[median, p10, p90].map(short), ...base.map((to) => short(spread(dearness(row, to)).median))];
    }),
  ];
}

function curve({ unit, sizeOf, lines }: Curve): string[][] {
  const sizes = [...new Set(lines.flatMap(({ points }) => points.map(({ size }) => size)))].sort((a, b) => a - b);
  return [
    [`${unit}, by ${sizeOf}`, ...sizes.map((size) => size.toLocaleString('en-US'))],
    ...lines.map(({ subject, points }) => [
      subject,
      ...sizes.map((size) => {
        const point = points.find((each) => each.size === size);
        return point === undefined ? '–' : short(spread(point.rounds).median);
      }),
    ]),
  ];
}

function table({ head, rows }: Table): string[][] {
  return [[...head], ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? short(cell) : cell)))];
}
