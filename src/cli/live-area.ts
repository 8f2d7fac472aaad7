// The last lines of a terminal, rewritten in place. What others write meanwhile (a tool's console.log, the notice of an interruption) goes above
// it and is not lost. Not here: what the lines say (call-tree.ts), when they are written (live-progress.ts).
import process from 'node:process';
import { columnsOf } from './columns.ts';
import type { Output } from './terminal.ts';

/** One line: `text` as it is written, `plain` without colours, to measure it. */
export interface AreaLine {
  readonly text: string;
  readonly plain: string;
}

// Each frame is one write that ends as it began, so that a process that is killed or stopped between two leaves a terminal as it should be:
// the cursor is away only while it moves, and nothing wraps however wide a terminal thinks that a character is.
const BEGIN = '\x1b[?25l\x1b[?7l';
const END = '\x1b[?7h\x1b[?25h';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

/** Takes the terminal at its first frame, and gives it back with `close`. */
export class LiveArea {
  readonly #output: Output;
  readonly #beside: readonly Output[];
  readonly #release: (() => void)[] = [];
  #write: (text: string) => void;
  #shown: readonly AreaLine[] = [];
  /** Somebody else has written a line that does not end yet. */
  #isMidLine = false;

  /** `beside` are other streams that may lead to the same terminal. */
  constructor(output: Output, beside: readonly Output[] = []) {
    this.#output = output;
    this.#beside = beside;
    this.#write = (text) => void output.write(text);
  }

  /** Lines that stay, and the area below them from now on. The cursor waits on the line below. */
  draw(area: readonly AreaLine[], standing: readonly string[] = []): void {
    if (standing.length === 0 && this.#isShown(area)) return;
    this.#take();
    // Lines that stay may wrap: they are written before wrapping is off.
    const above = standing.length === 0 ? this.#toTop() : `${this.#toTop()}${CLEAR_BELOW}${standing.map((line) => `${line}\n`).join('')}`;
    const lines = area.map(({ text }) => `${text}${CLEAR_LINE}\n`).join('');
    this.#write(`${this.#freshLine()}${above}${BEGIN}${lines}${CLEAR_BELOW}${END}`);
    this.#shown = area;
  }

  /** Leaves `last` where the area was, and the terminal to others. */
  close(last: readonly AreaLine[], standing: readonly string[] = []): void {
    if (last.length > 0 || standing.length > 0 || this.#shown.length > 0) {
      const lines = [...standing, ...last.map(({ text }) => text)].map((line) => `${line}\n`).join('');
      const clear = this.#shown.length === 0 ? '' : `${this.#toTop()}${CLEAR_BELOW}`;
      this.#write(`${this.#freshLine()}${clear}${lines}`);
    }
    this.#shown = [];
    for (const release of this.#release.splice(0)) release();
  }

  #isShown(area: readonly AreaLine[]): boolean {
    return this.#shown.length === area.length && area.every(({ text }, index) => text === this.#shown[index]?.text);
  }

  #freshLine(): string {
    const fresh = this.#isMidLine ? '\n' : '';
    this.#isMidLine = false;
    return fresh;
  }

  /** Moves to the beginning of the area. A terminal that has become narrower has broken its lines. */
  #toTop(): string {
    if (this.#shown.length === 0) return '';
    const columns = Math.max(1, this.#output.columns || Number.POSITIVE_INFINITY);
    const rows = this.#shown.reduce((sum, { plain }) => sum + Math.max(1, Math.ceil(columnsOf(plain) / columns)), 0);
    return `\r\x1b[${rows}A`;
  }

  #take(): void {
    if (this.#release.length > 0) return;
    const write = this.#output.write;
    this.#write = (text) => void write.call(this.#output, text);
    for (const output of new Set([this.#output, ...this.#beside])) if (output.isTTY === true) this.#release.push(this.#watch(output));
    // Node writes warnings past every stream, before it tells of them: they stand below the area, which begins anew below them.
    const warned = (): void => {
      this.#shown = [];
    };
    process.on('warning', warned);
    this.#release.push(() => process.off('warning', warned));
  }

  /** Until the returned function is called, what is written to this stream goes above the area. */
  #watch(output: Output): () => void {
    // A stream takes an encoding and a callback too: all that there is is passed on.
    const write = output.write as (this: Output, ...args: readonly unknown[]) => unknown;
    const isOwn = Object.hasOwn(output, 'write');
    const above = (...args: unknown[]): unknown => {
      if (this.#shown.length > 0) this.#write(`${this.#toTop()}${CLEAR_BELOW}`);
      this.#shown = [];
      const [chunk] = args;
      const last = typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk.at(-1) : undefined;
      if (last !== undefined) this.#isMidLine = last !== '\n' && last !== 10;
      return write.apply(output, args);
    };
    output.write = above;
    return () => {
      // Somebody else may have taken it after us.
      if (output.write !== above) return;
      if (isOwn) output.write = write;
      else delete (output as { write?: unknown }).write;
    };
  }
}
