// The model's text on standard output as it arrives, and nothing else there, so that an answer can be piped. Not here: programs and calls
// (conversation.ts).
import { printable } from './printable.ts';
import type { Colors, Output } from './terminal.ts';

/** Longest text that may be a remark before a call, in UTF-16 units. */
const REMARK = 400;

/**
 * Writes the text of one turn after the other. What a model says before a call is a remark, no answer: on a terminal it stands where it is
 * said; in a pipe it goes to standard error. So a pipe gets the first sentences of a turn once they are too long for a remark.
 */
export class Answer {
  readonly #stdout: Output;
  readonly #stderr: Output;
  readonly #colors: Colors;
  #held = '';
  #isLive: boolean;
  #endsLine = true;
  /** The first half of a character whose second half has not arrived. */
  #half = '';

  constructor(stdout: Output, stderr: Output, colors: Colors) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#colors = colors;
    this.#isLive = stdout.isTTY === true;
  }

  piece(text: string): void {
    const all = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.test(all) ? all.slice(-1) : '';
    this.#held += this.#half === '' ? all : all.slice(0, -1);
    if (!this.#isLive && this.#held.length <= REMARK) return;
    this.#isLive = true;
    this.#flush();
  }

  /** The turn ended in a call: what it said was a remark. */
  remark(): void {
    this.#take();
    if (this.#isLive) {
      this.#flush();
      this.#endLine();
    } else if (this.#held.trim() !== '') this.#stderr.write(`${this.#colors.dim(printable(this.#held.trim()))}\n`);
    this.#reset();
  }

  /** The turn was the answer. */
  end(): void {
    this.#take();
    this.#flush();
    this.#endLine();
    this.#reset();
  }

  #take(): void {
    this.#held += this.#half;
    this.#half = '';
  }

  #flush(): void {
    if (this.#held === '') return;
    this.#stdout.write(printable(this.#held));
    this.#endsLine = this.#held.endsWith('\n');
    this.#held = '';
  }

  #endLine(): void {
    if (!this.#endsLine) this.#stdout.write('\n');
    this.#endsLine = true;
  }

  #reset(): void {
    this.#held = '';
    this.#isLive = this.#stdout.isTTY === true;
  }
}
