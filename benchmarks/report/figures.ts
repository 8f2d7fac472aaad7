// Figures as people read them, the same in tables and plots: about three digits, the largest unit that fits, a thin gap between thousands.
import type { Unit } from '../harness/result.ts';

/** Does not break a number in two lines. */
const GAP = '\u00a0';

/** 0.0234, 1.5, 173, 12 400. */
export function digits(figure: number): string {
  if (!Number.isFinite(figure)) return '–';
  if (figure === 0) return '0';
  const size = Math.abs(figure);
  if (size >= 1000) return grouped(size >= 10_000 ? Number(figure.toPrecision(3)) : Math.round(figure));
  if (size < 1e-4) return figure.toExponential(1).replace('e-', ' · 10^-');
  return Number(figure.toPrecision(3)).toString();
}

/** A whole number with all its digits: 10 000. */
function grouped(whole: number): string {
  return String(whole).replace(/\B(?=(?:\d{3})+$)/g, GAP);
}

/** Each unit's larger relatives. */
const UNITS: readonly (readonly (readonly [name: string, size: number])[])[] = [
  [
    ['ns', 0.001],
    ['µs', 1],
    ['ms', 1e3],
    ['s', 1e6],
  ],
  [
    ['KB', 1],
    ['MB', 1e3],
    ['GB', 1e6],
  ],
];

/** 173 µs, 3.26 ms, 26.1 MB, 58 per second, 98 %. */
export function amount(figure: number, unit: Unit): string {
  if (!Number.isFinite(figure)) return '–';
  if (figure === 0) return '0';
  const scale = UNITS.find((each) => each.some(([name]) => name === unit));
  const own = scale?.find(([name]) => name === unit)?.[1];
  if (scale === undefined || own === undefined) {
    if (unit === 'times') return `${digits(figure)}×`;
    return `${digits(figure)}${GAP}${unit === 'per second' ? '/s' : unit}`;
  }
  const value = figure * own;
  const [name, size] = scale.findLast(([, least]) => Math.abs(value) >= least * 0.9995) ?? (scale[0] as readonly [string, number]);
  return `${digits(value / size)}${GAP}${name}`;
}

/** A size on a curve's axis: 16 MB where bytes are counted, else 10 000. */
export function sizeText(size: number, sizeOf: string): string {
  if (!/^bytes/.test(sizeOf)) return grouped(size);
  const base = size % 1000 === 0 ? 1000 : 1024;
  for (const [name, power] of [
    ['GB', 3],
    ['MB', 2],
    ['KB', 1],
  ] as const)
    if (size >= base ** power) return `${digits(size / base ** power)}${GAP}${name}`;
  return `${size}${GAP}B`;
}

/** 23.3× */
export function times(ratio: number): string {
  return Number.isFinite(ratio) ? `${digits(ratio)}×` : '–';
}

export function percent(share: number): string {
  return `${Math.round(share * 100)}${GAP}%`;
}
