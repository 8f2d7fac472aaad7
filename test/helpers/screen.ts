// A terminal that remembers what stands on it, for what is rewritten in place. It obeys what the command line may use and throws at anything else,
// so that an escape of a hostile name that gets through fails the test. Every character is one column wide.
import type { Output } from '../../src/cli/terminal.ts';

export class Screen implements Output {
  readonly isTTY = true;
  columns: number;
  rows: number;
  isCursorShown = true;
  wraps = true;
  /** Everything that was written, write by write. */
  readonly written: string[] = [];
  /** Called after each write. */
  onWrite: () => void = () => undefined;
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor({ columns = 80, rows = 24 } = {}) {
    this.columns = columns;
    this.rows = rows;
  }

  /** What a person sees, and what has scrolled away above. */
  get lines(): readonly string[] {
    const last = this.#lines.findLastIndex((line) => line !== '');
    return this.#lines.slice(0, last + 1);
  }

  get cursor(): { readonly row: number; readonly column: number } {
    return { row: this.#row, column: this.#column };
  }

  write(text: string): boolean {
    this.written.push(text);
    let rest = text;
    while (rest !== '') {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what this is about
      const escape = /^\x1b\[(\??)(\d*(?:;\d+)*)([A-Za-z])/.exec(rest);
      if (escape !== null) this.#obey(escape[1] === '?', escape[2] ?? '', escape[3] ?? '');
      else this.#put(rest[0] ?? '');
      rest = rest.slice(escape?.[0].length ?? 1);
    }
    this.onWrite();
    return true;
  }

  /** Makes it narrower: lines that are too long are broken, as most terminals do. */
  narrow(columns: number): void {
    this.columns = columns;
    const broken: string[] = [];
    this.#lines.forEach((line, index) => {
      if (index === this.#row) this.#row = broken.length;
      for (let at = 0; at === 0 || at < line.length; at += columns) broken.push(line.slice(at, at + columns));
    });
    this.#lines = broken;
  }

  #put(character: string): void {
    if (character === '\n') {
      this.#row++;
      this.#column = 0;
      this.#lines[this.#row] ??= '';
    } else if (character === '\r') this.#column = 0;
    else if (character < ' ' || (character >= '\x7f' && character < '\xa0'))
      throw new Error(`The control character ${JSON.stringify(character)} reached the terminal.`);
    else {
      if (this.#column >= this.columns) {
        if (!this.wraps) this.#column = this.columns - 1;
        else this.#put('\n');
      }
      const line = this.#lines[this.#row] ?? '';
      this.#lines[this.#row] = line.slice(0, this.#column).padEnd(this.#column) + character + line.slice(this.#column + 1);
      this.#column++;
    }
  }

  #obey(isPrivate: boolean, parameter: string, command: string): void {
    const known = `${isPrivate ? '?' : ''}${command === 'A' || command === 'm' ? '' : parameter}${command}`;
    switch (known) {
      case 'm':
        return;
      case 'A':
        // The top of the screen stops it.
        this.#row = Math.max(0, this.#lines.length - this.rows, this.#row - Number(parameter));
        return;
      case 'K':
        this.#lines[this.#row] = (this.#lines[this.#row] ?? '').slice(0, this.#column);
        return;
      case 'J':
        this.#lines[this.#row] = (this.#lines[this.#row] ?? '').slice(0, this.#column);
        this.#lines.length = this.#row + 1;
        return;
      case '?7l':
      case '?7h':
        this.wraps = known === '?7h';
        return;
      case '?25l':
      case '?25h':
        this.isCursorShown = known === '?25h';
        return;
      default:
        throw new Error(`The escape ${JSON.stringify(known)} reached the terminal.`);
    }
  }
}
