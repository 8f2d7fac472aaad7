// A file that is being written in pieces: what it holds so far, charged piece by piece. Not here: who may write to it (run-shelf.ts).
import { CodeModeError } from '../protocol/errors.ts';
import type { Budget } from './budget.ts';

export class Draft {
  readonly facts: { readonly mediaType: string; readonly name?: string | undefined };
  readonly reservation: ReturnType<Budget['open']>;
  readonly executionId: string;
  readonly #mostBytes: number;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** Why a piece was refused: the file is not whole any more, so it is refused too. */
  #failure: unknown;

  constructor(
    facts: Draft['facts'],
    { reservation, mostBytes, executionId }: { reservation: Draft['reservation']; mostBytes: number; executionId: string },
  ) {
    this.facts = facts;
    this.reservation = reservation;
    this.executionId = executionId;
    this.#mostBytes = mostBytes;
  }

  append(data: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    const bytes = this.#bytes + data.length;
    try {
      if (bytes > this.#mostBytes)
        throw new CodeModeError(
          'limit_exceeded',
          `the file would be ${bytes} bytes, and the limit \`artifactBytes\` is ${this.#mostBytes}`,
        );
      this.reservation.take({ files: 0, bytes: data.length });
    } catch (error) {
      // What it has is of no use to anybody.
      this.#failure = error;
      this.#pieces.length = 0;
      this.reservation.giveBack();
      throw error;
    }
    this.#bytes = bytes;
    if (data.length > 0) this.#pieces.push(data);
  }

  /** The whole file. Throws what a piece was refused for. */
  content(): Uint8Array {
    if (this.#failure !== undefined) throw this.#failure;
    const [only] = this.#pieces;
    if (only !== undefined && this.#pieces.length === 1) return only;
    const content = new Uint8Array(this.#bytes);
    let at = 0;
    for (const piece of this.#pieces) {
      content.set(piece, at);
      at += piece.length;
    }
    return content;
  }
}
