// How long one check of one value may take. Schemas may come from a remote server and values from a hostile program;
// together they can ask for work without end (recursive unions, slow patterns), and checks run on the host's own thread.

/** Longest time for checking one value against one schema, all its patterns included. */
export const CHECK_MS = 250;

/** Thrown out of a check that used up its time. The value then counts as invalid: never as valid because nobody looked. */
export class CheckOverrun extends Error {
  override readonly name = 'CheckOverrun';
}

/** The time that is left to the check under way. One for each compiled schema, restarted by each check. */
export class Allowance {
  #end = Number.POSITIVE_INFINITY;
  #steps = 0;

  start(): void {
    this.#end = performance.now() + CHECK_MS;
    this.#steps = 0;
  }

  get remainingMs(): number {
    return this.#end - performance.now();
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
