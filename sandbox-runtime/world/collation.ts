// Comparing plain ASCII texts as ICU does in languages that leave the Latin letters alone, without asking the host: sorting names is
// what programs compare texts for. Everything else goes to the host's collator.
import { StringPrototypeCharCodeAt } from '../primordials.ts';

/** Printable ASCII in ICU's root order; a capital follows its small letter. */
const ORDER = ' _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ';
const FIRST = 0x20;
const LAST = 0x7e;
/** Beyond this the host's collator is as fast; ICU also splits very long numbers. */
const MAX_LENGTH = 200;

/** Primary weights by character code; a letter and its capital share one. */
const weights = buildWeights();

function buildWeights(): number[] {
  const table: number[] = [];
  for (let code = 0; code <= LAST; code++) table[code] = 0;
  let weight = 0;
  for (let i = 0; i < ORDER.length; i++) {
    const code = ORDER.charCodeAt(i);
    if (!isUpper(code)) weight++;
    table[code] = weight;
  }
  return table;
}

function isUpper(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** How to compare: `numeric` reads runs of digits as numbers, `ignoreCase` leaves case out. */
export interface AsciiCollation {
  numeric: boolean;
  ignoreCase: boolean;
}

/** -1, 0 or 1; `undefined` when a text is not short printable ASCII. */
export function compareAscii(left: string, right: string, how: AsciiCollation): number | undefined {
  const leftLength = left.length;
  const rightLength = right.length;
  if (leftLength > MAX_LENGTH || rightLength > MAX_LENGTH) return undefined;
  let i = 0;
  let j = 0;
  let caseOrder = 0;
  while (i < leftLength && j < rightLength) {
    const a = StringPrototypeCharCodeAt(left, i);
    const b = StringPrototypeCharCodeAt(right, j);
    if (a < FIRST || a > LAST || b < FIRST || b > LAST) return undefined;
    if (how.numeric && isDigit(a) && isDigit(b)) {
      let endA = i;
      while (endA < leftLength && isDigit(StringPrototypeCharCodeAt(left, endA))) endA++;
      let endB = j;
      while (endB < rightLength && isDigit(StringPrototypeCharCodeAt(right, endB))) endB++;
      while (i < endA - 1 && StringPrototypeCharCodeAt(left, i) === 0x30) i++;
      while (j < endB - 1 && StringPrototypeCharCodeAt(right, j) === 0x30) j++;
      let order = endA - i - (endB - j);
      for (; order === 0 && i < endA; i++, j++) order = StringPrototypeCharCodeAt(left, i) - StringPrototypeCharCodeAt(right, j);
      if (order !== 0) return isPlain(left, endA) && isPlain(right, endB) ? (order < 0 ? -1 : 1) : undefined;
      i = endA;
      j = endB;
      continue;
    }
    if (a !== b) {
      const order = (weights[a] as number) - (weights[b] as number);
      // What follows could still combine with this character (an accent), so the rest must be plain too.
      if (order !== 0) return isPlain(left, i + 1) && isPlain(right, j + 1) ? (order < 0 ? -1 : 1) : undefined;
      if (caseOrder === 0) caseOrder = isUpper(a) ? 1 : -1;
    }
    i++;
    j++;
  }
  if (!isPlain(left, i) || !isPlain(right, j)) return undefined;
  if (i < leftLength) return 1;
  if (j < rightLength) return -1;
  return how.ignoreCase ? 0 : caseOrder;
}

function isPlain(text: string, from: number): boolean {
  for (let i = from; i < text.length; i++) {
    const code = StringPrototypeCharCodeAt(text, i);
    if (code < FIRST || code > LAST) return false;
  }
  return true;
}
