// A piece of a program's text with a caret under a place. Not here: which place (diagnose.ts, explain.ts).
import type { Position } from './program.ts';

/** Widest line of a frame, without its number. */
const WIDTH = 100;

/**
 * Three lines of the text around a position, with line numbers and a caret. Long lines are cut around the column, the same for all
 * three; tabs become spaces and control characters are escaped, so that the text can be printed anywhere.
 */
export function codeFrame(source: string, { line, column }: Position): string {
  const lines = linesAround(source, line);
  const widest = String(line + 1).length;
  const start = Math.max(0, column - 1 > WIDTH - 20 ? column - 1 - Math.floor(WIDTH / 2) : 0);
  const shown: string[] = [];
  for (const { number, text } of lines) {
    const cut = crop(text, start);
    shown.push(`${number === line ? '>' : ' '} ${String(number).padStart(widest)} | ${cut}`.trimEnd());
    if (number !== line) continue;
    // The caret stands under the printed form of what comes before the column.
    const before = crop(text.slice(0, column - 1), start, text.length > column - 1 ? text.length : undefined);
    shown.push(`  ${' '.repeat(widest)} | ${' '.repeat(before.length)}^`);
  }
  return shown.join('\n');
}

function linesAround(source: string, line: number): { number: number; text: string }[] {
  const found: { number: number; text: string }[] = [];
  const end = /\r\n|\r|\n|$/g;
  let [at, number] = [0, 1];
  for (let match = end.exec(source); match; match = end.exec(source)) {
    if (number >= line - 1) found.push({ number, text: source.slice(at, match.index) });
    if (match[0] === '' || number > line) break;
    at = match.index + match[0].length;
    number += 1;
  }
  return found;
}

function crop(text: string, start: number, wholeLength = text.length): string {
  let from = start;
  if (from > 0 && /[\udc00-\udfff]/.test(text.charAt(from))) from -= 1;
  let to = start + WIDTH;
  if (/[\udc00-\udfff]/.test(text.charAt(to))) to += 1;
  const piece = printable(text.slice(from, to));
  const head = start > 0 && wholeLength > start ? '…' : '';
  return `${head}${piece}${text.length > to ? '…' : ''}`;
}

/** Tabs as two spaces; what a terminal would obey, or nobody would see, as an escape. */
function printable(text: string): string {
  return text
    .replace(/\t/g, '  ')
    .replace(
      /[\p{Cc}\p{Cs}\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu,
      (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
