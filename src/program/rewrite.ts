// The pen for one text: blanks, inserts and replaces, and finds the token beside a place. Not here: what to write (transform.ts and its parts).
import type { Edit } from './positions.ts';
import type { Node } from './tree.ts';

/** A mistake in the program that the parser accepts and this library does not; becomes a syntax error. */
export class ProgramMistake extends Error {
  override readonly name: string = 'ProgramMistake';
  readonly offset: number;
  readonly hint: string | undefined;

  constructor(message: string, offset: number, hint?: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

/** Collects the edits of one text. */
export class Rewrite {
  readonly text: string;
  readonly edits: Edit[] = [];
  readonly #comments: readonly Node[];
  readonly #given = new Map<string, string>();

  constructor(text: string, comments: readonly Node[]) {
    this.text = text;
    this.#comments = comments;
  }

  /** Turns a range into spaces; line breaks stay. `head` and `tail` take the place of the first and last characters. */
  blank(start: number, end: number, { head = '', tail = '' }: { head?: string; tail?: string } = {}): void {
    if (end <= start) return;
    let text = this.spaces(start, end);
    if (head) text = head + text.slice(head.length);
    if (tail) text = text.slice(0, -tail.length) + tail;
    this.edits.push({ start, end, text, rank: 0 });
  }

  /** Puts text before what stands at `at`. */
  insert(at: number, text: string, rank = 0): void {
    this.edits.push({ start: at, end: at, text, rank });
  }

  /** Puts text in the place of a range; as many line breaks as the range had follow it. */
  replace(start: number, end: number, text: string): void {
    const padded = text.length < end - start ? text + this.spaces(start + text.length, end) : text;
    const missing = breaks(this.text.slice(start, end)) - breaks(padded);
    this.edits.push({ start, end, text: padded + '\n'.repeat(Math.max(0, missing)), rank: 0 });
  }

  spaces(start: number, end: number): string {
    return this.hasBreak(start, end) ? this.text.slice(start, end).replace(/[^\r\n]/g, ' ') : ' '.repeat(end - start);
  }

  hasBreak(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code === 10 || code === 13 || code === 0x2028 || code === 0x2029) return true;
    }
    return false;
  }

  /** Where the next token starts, at or after `at`. */
  next(at: number): number {
    let place = at;
    for (;;) {
      while (isSpace(this.text.charCodeAt(place))) place += 1;
      const comment = this.#commentAt(place);
      if (!comment || comment.start !== place) return place;
      place = comment.end;
    }
  }

  /** Just behind the token before `at`. */
  previous(at: number): number {
    let place = at;
    for (;;) {
      while (place > 0 && isSpace(this.text.charCodeAt(place - 1))) place -= 1;
      const comment = place > 0 ? this.#commentAt(place - 1) : undefined;
      if (!comment) return place;
      place = comment.start;
    }
  }

  /** A name that the text does not hold, the same one for the same word. */
  fresh(word: string): string {
    let name = this.#given.get(word);
    if (name === undefined) {
      name = `$${word}`;
      while (this.text.includes(name)) name += '_';
      this.#given.set(word, name);
    }
    return name;
  }

  /** The comment that covers an offset. */
  #commentAt(offset: number): Node | undefined {
    let low = 0;
    let high = this.#comments.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const comment = this.#comments[middle];
      if (!comment) return undefined;
      if (comment.end <= offset) low = middle + 1;
      else if (comment.start > offset) high = middle - 1;
      else return comment;
    }
    return undefined;
  }
}

function isSpace(code: number): boolean {
  return (
    code === 32 ||
    (code >= 9 && code <= 13) ||
    code === 0xa0 ||
    code === 0xfeff ||
    code === 0x2028 ||
    code === 0x2029 ||
    (code > 0x1000 && /\s/.test(String.fromCharCode(code)))
  );
}

function breaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
