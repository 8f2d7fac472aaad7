// How long one check of one value may take. Schemas may come from a remote server and values from a hostile program;
// together they can ask for work without end (recursive unions, slow patterns), and checks run on the host's own thread.
import process from 'node:process';

/** Longest time for checking one value against one schema, all its patterns included. */
export const CHECK_MS = 250;
/** The same where the machine is busy with something else: as long as the check has not had that much of the processor. */
const MOST_MS = 4 * CHECK_MS;
/** From here on it is watched how much of the processor a check gets; most are over long before. */
const WATCH_MS = 25;

/** Thrown out of a check that used up its time. The value then counts as invalid: never as valid because nobody looked. */
export class CheckOverrun extends Error {
  override readonly name = 'CheckOverrun';
}

/** The time that is left to the check under way. One for each compiled schema, restarted by each check. */
export class Allowance {
  #began = Number.POSITIVE_INFINITY;
  #steps = 0;
  /** What the process had computed when the check began to be watched, and when that was. */
  #watched: { readonly cpuMs: number; readonly at: number } | undefined;

  start(): void {
    this.#began = performance.now();
    this.#steps = 0;
    this.#watched = undefined;
  }

  get remainingMs(): number {
    const now = performance.now();
    const elapsed = now - this.#began;
    if (elapsed < WATCH_MS) return CHECK_MS - elapsed;
    this.#watched ??= { cpuMs: computedMs(), at: now };
    if (elapsed < CHECK_MS) return CHECK_MS - elapsed;
    // Other threads of the process compute too, so that this may be too much: then the time is up as if the machine were idle.
    const had = this.#watched.at - this.#began + computedMs() - this.#watched.cpuMs;
    return Math.min(CHECK_MS - had, MOST_MS - elapsed);
  }

  /** Counts one unit of work. Looks at the clock only every 1024 units, because the clock costs more than the work. */
  step(): void {
    if ((++this.#steps & 1023) === 0) this.check();
  }

  /** Throws `CheckOverrun` when the time is up. */
  check(): void {
    if (this.remainingMs < 0)
      throw new CheckOverrun(`checking it took longer than ${CHECK_MS} ms; pass a smaller or less deeply nested value`);
  }
}

/** Time of the processor that this process has had. */
function computedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
