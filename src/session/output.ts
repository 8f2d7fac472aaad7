// A program's output on the host: bounded here once more, whatever the guest has already cut.
import type { OutputLevel } from '../protocol/messages.ts';

export class Output {
  readonly #limit: number;
  #text = '';
  #bytes = 0;
  #dropped = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  add(_level: OutputLevel, piece: string): void {
    const bytes = Buffer.byteLength(piece) + 1;
    if (this.#bytes + bytes > this.#limit + 1) {
      const room = this.#limit - this.#bytes;
      if (room > 0) this.#append(cutToBytes(piece, room));
      this.#bytes = this.#limit + 1;
      this.#dropped++;
      return;
    }
    this.#bytes += bytes;
    this.#append(piece);
  }

  /** Counts pieces that the guest has already left out. */
  drop(count: number): void {
    this.#dropped += count;
  }

  get text(): string {
    return this.#text;
  }

  /** A sentence when something was left out. */
  get notice(): string | undefined {
    if (this.#dropped === 0) return undefined;
    return `The program wrote more than \`outputBytes\` (${this.#limit} bytes) of output; ${this.#dropped} piece${this.#dropped === 1 ? ' was' : 's were'} cut or left out. Write less, or return a summary.`;
  }

  #append(piece: string): void {
    this.#text = this.#text === '' ? piece : `${this.#text}\n${piece}`;
  }
}

/** The longest beginning of a text that fits into so many bytes of UTF-8, cut between characters. */
function cutToBytes(text: string, bytes: number): string {
  const buffer = Buffer.from(text.slice(0, bytes));
  if (buffer.length <= bytes) return text.slice(0, bytes).replace(/[\ud800-\udbff]$/, '');
  let end = bytes;
  while (end > 0 && ((buffer[end] as number) & 0xc0) === 0x80) end--;
  return buffer.toString('utf8', 0, end);
}
