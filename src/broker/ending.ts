// The end of an execution, seen from its calls: whatever waits is told at once. One listener on a signal, however many wait, and no signal
// before a tool is given it: many programs make no calls. Not here: what ends an execution.
import { setMaxListeners } from 'node:events';

/** What a wait gives when the execution ended first. */
export const ENDED = Symbol('ended');

export class Ending {
  /** Tools without a time limit of their own share its signal. */
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;
  readonly #stops = new Set<() => void>();

  /** Ends by itself when `signal` aborts, if one is given. */
  constructor(signal?: AbortSignal) {
    if (signal === undefined) return;
    if (signal.aborted) this.end(signal.reason);
    else {
      setMaxListeners(0, signal);
      signal.addEventListener('abort', () => this.end(signal.reason), { once: true });
    }
  }

  /** Aborted when the execution has ended. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
      // As many listen as calls run.
      setMaxListeners(0, this.#controller.signal);
    }
    return this.#controller.signal;
  }

  get reached(): boolean {
    return this.#ended !== undefined;
  }

  get reason(): unknown {
    return this.#ended?.reason;
  }

  /** Ends the execution for its calls: those that wait are told, then the tools. The first reason counts. */
  end(reason: unknown): void {
    if (this.reached) return;
    this.#ended = { reason };
    for (const stop of this.#stops) {
      this.#stops.delete(stop);
      stop();
    }
    this.#controller?.abort(reason);
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
}

/** Whether a value is to be awaited. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
}
