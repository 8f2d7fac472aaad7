// The end of an execution, seen from its calls: whatever waits is told at once. One listener on the signal, however many wait.
// Not here: what ends an execution.
import { setMaxListeners } from 'node:events';

/** What a wait gives when the execution ended first. */
export const ENDED = Symbol('ended');

export class Ending {
  readonly signal: AbortSignal;
  readonly #stops = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.signal = signal;
    // Tools without a time limit of their own share it, and as many listen as calls run.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', () => this.#stopAll(), { once: true });
  }

  get reached(): boolean {
    return this.signal.aborted;
  }

  /** Calls `stop` when the execution ends, unless it was deleted before. */
  add(stop: () => void): void {
    this.#stops.add(stop);
  }

  delete(stop: () => void): void {
    this.#stops.delete(stop);
  }

  /** What `work` gives, or ENDED as soon as the execution ends; what it gives after that, an error too, is ignored. */
  within<T>(work: PromiseLike<T>): Promise<T | typeof ENDED> {
    return new Promise((resolve, reject) => {
      const stop = (): void => resolve(ENDED);
      if (this.reached) stop();
      else this.#stops.add(stop);
      work.then(
        (value) => {
          this.#stops.delete(stop);
          resolve(value);
        },
        (error: unknown) => {
          this.#stops.delete(stop);
          reject(error);
        },
      );
    });
  }

  #stopAll(): void {
    for (const stop of this.#stops) {
      this.#stops.delete(stop);
      stop();
    }
  }
}

/** Whether a value is to be awaited. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
}
