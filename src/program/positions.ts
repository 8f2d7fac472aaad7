// Edits of a text, applied once, and the way back from a position in the result to the text before. Not here: which edits (transform.ts).
import type { Position } from './program.ts';

/** One change: the text from `start` to `end` (the same for an insertion) becomes `text`. Edits never overlap. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  text: string;
  /** Among edits that start at one place: lower first. */
  readonly rank: number;
}

/**
 * How the pieces of a rewritten text lie on the text before: triples of where a piece starts in the new text, where it starts in the
 * old one, and 1 when it keeps its length (a copy, or types turned into spaces), 0 when it is new. Plain data, so that it can be stored.
 */
export type PieceMap = readonly number[];

/** The text with its edits, between a prefix and a suffix that lead to nothing in the old text. */
export function applyEdits(
  text: string,
  edits: Edit[],
  { prefix, suffix }: { prefix: string; suffix: string },
): { readonly code: string; readonly map: PieceMap } {
  edits.sort((a, b) => a.start - b.start || a.rank - b.rank);
  const map: number[] = [];
  let code = prefix;
  let from = 0;
  for (const edit of edits) {
    if (edit.start > from) {
      map.push(code.length, from, 1);
      code += text.slice(from, edit.start);
    }
    if (edit.text.length > 0) {
      map.push(code.length, edit.start, edit.text.length === edit.end - edit.start ? 1 : 0);
      code += edit.text;
    }
    from = Math.max(from, edit.end);
  }
  map.push(code.length, from, 1);
  code += text.slice(from);
  map.push(code.length, -1, 0);
  return { code: code + suffix, map };
}

/** Leads from a line and column of `code`, as an engine names them, to the text before. Its tables are made at the first question. */
export function locator(code: string, text: string, map: PieceMap): (line: number, column: number) => Position | undefined {
  let codeLines: readonly number[] | undefined;
  let positionAt: ((offset: number) => Position) | undefined;
  return (line, column) => {
    codeLines ??= lineStarts(code, false);
    const lineStart = codeLines[line - 1];
    if (lineStart === undefined || !(column >= 1)) return undefined;
    const offset = lineStart + column - 1;
    if (offset >= (codeLines[line] ?? code.length + 1)) return undefined;
    let low = 0;
    let high = map.length / 3 - 1;
    if (offset < (map[0] ?? 0)) return undefined;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((map[middle * 3] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const source = map[low * 3 + 1] ?? -1;
    if (source < 0) return undefined;
    positionAt ??= positions(text);
    return positionAt(map[low * 3 + 2] === 1 ? source + offset - (map[low * 3] ?? 0) : source);
  };
}

/** From an offset to a line and column of the text; a line ends at LF, CRLF or CR. */
export function positions(text: string): (offset: number) => Position {
  const starts = lineStarts(text, true);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    const bounded = Math.max(0, Math.min(offset, text.length));
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= bounded) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: bounded - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string, carriageReturns: boolean): number[] {
  const starts = [0];
  if (carriageReturns && text.includes('\r')) {
    for (const match of text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
    return starts;
  }
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
