// Timers that live wholly inside the guest: a heap ordered by due time, fired by the driver one callback at a time so that the
// microtasks of each run before the next. It does not wait: the driver asks when the earliest is due and sleeps itself.
import {
  list,
  MapConstructor,
  MapPrototypeDelete,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeSet,
  MathMax,
  NumberConstructor,
  PromiseConstructor,
  RangeErrorConstructor,
  ReflectApply,
  SymbolToPrimitive,
  TypeErrorConstructor,
} from '../primordials.ts';
import { defineGlobal, defineHidden, defineName, defineTag } from './define.ts';
import type { WorldHost } from './host.ts';

/** The driver's door to the timers. */
export interface Timers {
  /** Milliseconds until the earliest armed timer is due, 0 when one is due already, `undefined` when none is armed. */
  nextDelay(now: number): number | undefined;
  /**
   * Runs the one timer that is due first, if any, and tells whether another is due at `now`. The driver drains the
   * microtasks between two calls, as browsers and Node do. What a callback throws goes to `WorldHost.uncaught`.
   */
  fire(now: number): boolean;
  /** How many armed `setTimeout` and `setImmediate` timers would keep Node alive: intervals and unref'd ones do not count. */
  pendingOneShots(): number;
  /** Arms an internal timer, which the limit does not count; gives a function that disarms it. */
  after(delay: number, run: () => void): () => void;
  /** Disarms everything. */
  clear(): void;
}

/** Timers that one program may have armed at a time. */
const MAX_TIMERS = 10_000;
const MAX_DELAY = 2_147_483_647;

type Callback = (...args: unknown[]) => unknown;

interface Entry {
  readonly id: number;
  readonly handle: unknown;
  readonly callback: Callback;
  readonly args: unknown[];
  /** The delay between two runs, or -1 for a timer that runs once. */
  readonly every: number;
  readonly delay: number;
  due: number;
  /** Arming order; decides between equal due times. */
  order: number;
  /** Whether it sits in the heap, and where. */
  armed: boolean;
  at: number;
  referenced: boolean;
}

/** Defines the timer functions and `sleep`. */
export function installTimers(host: WorldHost): Timers {
  const heap = list<Entry>();
  const byId = new MapConstructor<number, Entry>();
  let lastId = 0;
  let lastOrder = 0;
  let oneShots = 0;

  const before = (left: Entry, right: Entry): boolean => left.due < right.due || (left.due === right.due && left.order < right.order);

  function place(entry: Entry, at: number): void {
    heap[at] = entry;
    entry.at = at;
  }

  function rise(entry: Entry, from: number): number {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!before(entry, above)) break;
      place(above, at);
      at = parent;
    }
    place(entry, at);
    return at;
  }

  function sink(entry: Entry, from: number): void {
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      const below = heap[child] as Entry;
      if (!before(below, entry)) break;
      place(below, at);
      at = child;
    }
    place(entry, at);
  }

  function removeAt(at: number): void {
    const last = heap[heap.length - 1] as Entry;
    heap.length -= 1;
    if (at < heap.length) sink(last, rise(last, at));
  }

  function arm(entry: Entry): void {
    entry.due = host.now() + entry.delay;
    entry.order = ++lastOrder;
    entry.armed = true;
    if (entry.every < 0 && entry.referenced) oneShots++;
    MapPrototypeSet(byId, entry.id, entry);
    rise(entry, heap.length);
  }

  function disarm(entry: Entry): void {
    if (!entry.armed) return;
    entry.armed = false;
    if (entry.every < 0 && entry.referenced) oneShots--;
    MapPrototypeDelete(byId, entry.id);
    removeAt(entry.at);
  }

  class Timeout {
    readonly #entry: Entry;

    constructor(callback: Callback, delay: number, every: number, args: unknown[]) {
      this.#entry = { id: ++lastId, handle: this, callback, args, every, delay, due: 0, order: 0, armed: false, at: 0, referenced: true };
      arm(this.#entry);
    }

    static entryOf(value: unknown): Entry | undefined {
      return typeof value === 'object' && value !== null && #entry in value ? value.#entry : undefined;
    }

    ref(): this {
      if (!this.#entry.referenced) {
        this.#entry.referenced = true;
        if (this.#entry.armed && this.#entry.every < 0) oneShots++;
      }
      return this;
    }

    unref(): this {
      if (this.#entry.referenced) {
        this.#entry.referenced = false;
        if (this.#entry.armed && this.#entry.every < 0) oneShots--;
      }
      return this;
    }

    hasRef(): boolean {
      return this.#entry.armed && this.#entry.referenced;
    }

    refresh(): this {
      const entry = this.#entry;
      if (entry.armed) {
        disarm(entry);
        arm(entry);
      }
      return this;
    }

    close(): this {
      disarm(this.#entry);
      return this;
    }

    [SymbolToPrimitive](): number {
      return this.#entry.id;
    }
  }
  // Kept from programs: it would hand out the queue's own records.
  const entryOf = Timeout.entryOf;
  delete (Timeout as { entryOf?: unknown }).entryOf;
  // A program cannot make timers behind the functions' checks.
  defineHidden(Timeout.prototype, 'constructor', Object);
  defineName(Timeout, 'Timeout');
  defineTag(Timeout.prototype, 'Timeout');

  function create(name: string, callback: unknown, delay: number, every: number, args: unknown[]): Timeout {
    if (typeof callback !== 'function') {
      throw new TypeErrorConstructor(
        `${name} expects a function as its first argument and got ${callback === null ? 'null' : `a value of type ${typeof callback}`}. Pass a function, for example \`() => { … }\`; text is not evaluated.`,
      );
    }
    if (heap.length >= MAX_TIMERS) {
      throw new RangeErrorConstructor(
        `${MAX_TIMERS} timers are armed already, which is the most a program may have at a time. Wait for some to run, or clear those that are no longer needed.`,
      );
    }
    return new Timeout(callback as Callback, delay, every, args);
  }

  /** Node's rule: what is not between 1 and 2^31 - 1 becomes 1. */
  function clamp(delay: unknown): number {
    const milliseconds = NumberConstructor(delay);
    return milliseconds >= 1 && milliseconds <= MAX_DELAY ? milliseconds - (milliseconds % 1) : 1;
  }

  function find(handle: unknown): Entry | undefined {
    if (typeof handle === 'number') return MapPrototypeGet(byId, handle);
    if (typeof handle === 'string') return MapPrototypeGet(byId, NumberConstructor(handle));
    return entryOf(handle);
  }

  function cancel(handle: unknown): void {
    const entry = find(handle);
    if (entry !== undefined) disarm(entry);
  }

  const functions = {
    setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
      return create('setTimeout', callback, clamp(delay), -1, args);
    },
    setInterval(callback: unknown, delay?: unknown, ...args: unknown[]): Timeout {
      const every = clamp(delay);
      return create('setInterval', callback, every, every, args);
    },
    setImmediate(callback: unknown, ...args: unknown[]): Timeout {
      return create('setImmediate', callback, 0, -1, args);
    },
    clearTimeout(handle?: unknown): void {
      cancel(handle);
    },
    clearInterval(handle?: unknown): void {
      cancel(handle);
    },
    clearImmediate(handle?: unknown): void {
      cancel(handle);
    },
    /** Resolves after so many milliseconds. */
    sleep(delay?: unknown): Promise<void> {
      const milliseconds = clamp(delay);
      return new PromiseConstructor((resolve) => {
        create('sleep', () => resolve(undefined), milliseconds, -1, list());
      });
    },
  };
  defineGlobal('setTimeout', functions.setTimeout);
  defineGlobal('setInterval', functions.setInterval);
  defineGlobal('setImmediate', functions.setImmediate);
  defineGlobal('clearTimeout', functions.clearTimeout);
  defineGlobal('clearInterval', functions.clearInterval);
  defineGlobal('clearImmediate', functions.clearImmediate);
  defineGlobal('sleep', functions.sleep);

  return {
    nextDelay(now) {
      const first = heap[0];
      if (first === undefined) return undefined;
      return first.due <= now ? 0 : first.due - now;
    },
    fire(now) {
      const first = heap[0];
      if (first === undefined || first.due > now) return false;
      removeAt(0);
      if (first.every < 0) {
        first.armed = false;
        if (first.referenced) oneShots--;
        MapPrototypeDelete(byId, first.id);
      } else {
        first.due = now + first.every;
        first.order = ++lastOrder;
        rise(first, heap.length);
      }
      try {
        ReflectApply(first.callback, first.handle, first.args);
      } catch (error) {
        host.uncaught(error);
      }
      const next = heap[0];
      return next !== undefined && next.due <= now;
    },
    pendingOneShots: () => oneShots,
    after(delay, run) {
      const entry: Entry = {
        id: ++lastId,
        handle: undefined,
        callback: run,
        args: list(),
        every: -1,
        delay: MathMax(delay, 1),
        due: 0,
        order: 0,
        armed: false,
        at: 0,
        // Node's own internal timers (`AbortSignal.timeout`) do not keep a program alive either.
        referenced: false,
      };
      if (MapPrototypeGetSize(byId) >= MAX_TIMERS)
        throw new RangeErrorConstructor(`${MAX_TIMERS} timers are armed already; clear some first.`);
      arm(entry);
      return () => disarm(entry);
    },
    clear() {
      while (heap.length > 0) disarm(heap[heap.length - 1] as Entry);
    },
  };
}
