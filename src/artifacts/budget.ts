// How much a run keeps. What is to be kept is reserved first and given back when it was not; reservations of calls that run side by side
// add up, so that together they cannot pass a limit. Not here: what one file or one call may be (run-shelf.ts).
import { CodeModeError } from '../protocol/errors.ts';
import type { Limits } from '../protocol/limits.ts';

interface Amount {
  readonly files: number;
  readonly bytes: number;
}

/** Somebody's part of the budget. */
interface Reservation {
  /** Takes more, or throws `limit_exceeded` and takes nothing. */
  take(amount: Amount): void;
  /** Gives back so much, or all that is left of it. Never more than was taken. */
  giveBack(amount?: Amount): void;
}

export class Budget {
  #files = 0;
  #bytes = 0;

  get files(): number {
    return this.#files;
  }

  get bytes(): number {
    return this.#bytes;
  }

  open({ artifactRunFiles, artifactRunBytes }: Pick<Limits, 'artifactRunFiles' | 'artifactRunBytes'>): Reservation {
    let files = 0;
    let bytes = 0;
    return {
      take: (amount) => {
        if (amount.files > 0 && this.#files + amount.files > artifactRunFiles)
          throw over(`the run keeps ${this.#files} files, and the limit \`artifactRunFiles\` is ${artifactRunFiles}`);
        if (amount.bytes > 0 && this.#bytes + amount.bytes > artifactRunBytes)
          throw over(
            `${amount.bytes} bytes more would be ${this.#bytes + amount.bytes} in this run, and the limit \`artifactRunBytes\` is ${artifactRunBytes}`,
          );
        this.#files += amount.files;
        this.#bytes += amount.bytes;
        files += amount.files;
        bytes += amount.bytes;
      },
      giveBack: (amount = { files, bytes }) => {
        const given = { files: Math.min(amount.files, files), bytes: Math.min(amount.bytes, bytes) };
        files -= given.files;
        bytes -= given.bytes;
        this.#files -= given.files;
        this.#bytes -= given.bytes;
      },
    };
  }
}

function over(what: string): CodeModeError {
  return new CodeModeError('limit_exceeded', what);
}
