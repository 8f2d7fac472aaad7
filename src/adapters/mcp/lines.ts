// Cuts a stream of bytes into lines, each at most so long: what is longer is dropped as it arrives, and only its beginning and end are
// kept. Not here: what the lines mean.

const NEWLINE = 10;
/** How much of both ends of a line that is too long is kept. */
const KEPT = 512;

export interface LineListener {
  line(text: string): void;
  /** Instead of a line that was too long. `ends` is its beginning and its end. */
  oversized(ends: { readonly head: string; readonly tail: string; readonly bytes: number }): void;
}

export class LineReader {
  readonly #limit: number;
  readonly #listener: LineListener;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The ends of the line that is being dropped. */
  #dropped: { readonly head: Buffer; tail: Buffer } | undefined;

  constructor(limit: number, listener: LineListener) {
    this.#limit = limit;
    this.#listener = listener;
  }

  /** Bytes of the line that has not ended yet. */
  get pending(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#dropped !== undefined) {
      this.#dropped.tail = Buffer.concat([this.#dropped.tail, part.subarray(-KEPT)]).subarray(-KEPT);
      return;
    }
    this.#parts.push(part);
    if (this.#bytes <= this.#limit) return;
    const line = Buffer.concat(this.#parts);
    // Copies, so that the ends do not keep the whole.
    this.#dropped = { head: Buffer.from(line.subarray(0, KEPT)), tail: Buffer.from(line.subarray(-KEPT)) };
    this.#parts = [];
  }

  #finish(): void {
    const { [0]: only, length } = this.#parts;
    const parts = this.#parts;
    const bytes = this.#bytes;
    const dropped = this.#dropped;
    this.#parts = [];
    this.#bytes = 0;
    this.#dropped = undefined;
    if (dropped !== undefined) {
      this.#listener.oversized({ head: dropped.head.toString(), tail: dropped.tail.toString(), bytes });
      return;
    }
    this.#listener.line((length === 1 && only !== undefined ? only : Buffer.concat(parts)).toString());
  }
}
