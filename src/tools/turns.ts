// So many at a time, first come first served: concurrency slots are turns of some size, the exclusive lock of a run is
// turns of size one. Not here: who takes turns and when they wait in vain (broker/meter.ts).

/** A holder is any object that stands for the work; giving a turn back twice, or without having it, changes nothing. */
export class Turns<Holder extends object = object> {
  readonly #size: number;
  readonly #holders = new Set<Holder>();
  readonly #queue = new Map<Holder, () => void>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Who has a turn now. */
  get holders(): ReadonlySet<Holder> {
    return this.#holders;
  }

  isWaiting(holder: Holder): boolean {
    return this.#queue.has(holder);
  }

  /** Takes a turn if one is free and nobody waits for it. */
  tryTake(holder: Holder): boolean {
    if (this.#holders.size >= this.#size || this.#queue.size > 0) return false;
    this.#holders.add(holder);
    return true;
  }

  /** Queues; `granted` is called, once, when the turn is `holder`'s. */
  wait(holder: Holder, granted: () => void): void {
    this.#queue.set(holder, granted);
  }

  /** Leaves the queue, or gives the turn to the next in it. */
  leave(holder: Holder): void {
    this.#queue.delete(holder);
    if (!this.#holders.delete(holder)) return;
    for (const [next, granted] of this.#queue) {
      this.#queue.delete(next);
      this.#holders.add(next);
      granted();
      return;
    }
  }
}
