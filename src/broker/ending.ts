// The end of an execution, seen from its calls: whatever waits is told at once. One listener on a signal, however many wait, and no signal
// before somebody asks for it: on Node 20 one costs as much as a small program's parsing. Not here: what ends an execution.
import { setMaxListeners } from 'node:events';

/** What a wait gives when the execution ended first. */
export const ENDED = Symbol('ended');

export class Ending {
  /** Tools without a time limit of their own share it. */
  readonly #late = new LateSignal();
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
    return this.#late.signal;
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
    this.#late.abort(reason);
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

/** As an AbortController, whose signal is made when it is asked for. */
export class LateSignal {
  #signal: AbortSignal | undefined;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    if (this.#aborted === undefined) {
      this.#controller = new AbortController();
      this.#signal = this.#controller.signal;
    } else this.#signal = AbortSignal.abort(this.#aborted.reason);
    // As many listen as calls run that share it.
    setMaxListeners(0, this.#signal);
    return this.#signal;
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}

/** Whether a value is to be awaited. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
}
