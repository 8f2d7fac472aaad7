// How events reach observers: at once while they are quick, through a bounded queue when they are not, so that no observer holds up or
// breaks the work it watches. Payloads are redacted and bounded here, and nowhere else. Not here: what the events are (observe.ts).
import { Buffer } from 'node:buffer';
import process from 'node:process';
import type { Capture, Captured, CodeModeEvent, EventFact, Observer, PayloadKind, Redact, Span } from '../observe.ts';
import { toJson } from '../protocol/values.ts';

export interface ReporterOptions {
  readonly observers: readonly Observer[];
  readonly capture?: Capture | undefined;
  /** Most bytes of one payload. Default 16 KiB. */
  readonly captureBytes?: number | undefined;
  readonly redact?: Redact | undefined;
}

/** Events that wait for one observer at most. */
const MOST_WAITING = 10_000;
/** Time that one observer may take of a turn of the event loop. */
const TURN_MS = 5;
const CAPTURE_BYTES = 16 * 1024;

/** Tells observers of one code mode. With none of them it costs a comparison. */
export class Reporter {
  #listeners: readonly Listener[];
  readonly #spanning: readonly Observer[];
  readonly #capture: Exclude<Capture, boolean>;
  readonly #captureBytes: number;
  readonly #redact: Redact | undefined;
  #seq = 0;

  constructor({ observers, capture = false, captureBytes = CAPTURE_BYTES, redact }: ReporterOptions) {
    this.#listeners = observers.filter(({ on }) => typeof on === 'function').map((observer) => new Listener(observer));
    this.#spanning = observers.filter(({ around }) => typeof around === 'function');
    this.#capture =
      capture === true
        ? { source: true, input: true, output: true, value: true, text: true, error: true }
        : capture === false
          ? {}
          : capture;
    this.#captureBytes = captureBytes;
    this.#redact = redact;
  }

  /** Whether anybody listens: what costs something to find out is only found out then. */
  get listens(): boolean {
    return this.#listeners.length > 0;
  }

  /** One more observer, from now on until what this gives is called; of its `around` nothing is asked. */
  subscribe(observer: Observer): () => void {
    const listener = new Listener(observer);
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  get spans(): boolean {
    return this.#spanning.length > 0;
  }

  /** Whether payloads of a kind are wanted. */
  captures(kind: PayloadKind): boolean {
    return this.#listeners.length > 0 && this.#capture[kind] === true;
  }

  tell(fact: EventFact): void {
    if (this.#listeners.length === 0) return;
    // The spread comes last: in front it makes V8 build the object property by property, sixty times slower.
    const event = { seq: ++this.#seq, at: performance.now(), time: Date.now(), ...fact } as CodeModeEvent;
    for (const listener of this.#listeners) listener.hear(event);
  }

  /** A payload as an event may carry it; nothing unless it was asked for. */
  capture(kind: PayloadKind, value: unknown): Captured | undefined {
    if (!this.captures(kind)) return undefined;
    try {
      const kept = this.#redact === undefined ? value : this.#redact(kind, value);
      if (kept === undefined) return undefined;
      const text = typeof kept === 'string' && (kind === 'source' || kind === 'text') ? kept : JSON.stringify(toJson(kept));
      if (text === undefined) return undefined;
      return bounded(text, this.#captureBytes);
    } catch {
      // What cannot be looked at is not kept: better than what was not to be seen.
      return undefined;
    }
  }

  /** Work inside every observer's `around`, the first one outermost. It is done exactly once, whatever they do. */
  around<T>(span: Span, work: () => Promise<T>): Promise<T> {
    if (this.#spanning.length === 0) return work();
    return new Promise((resolve, reject) => {
      const innermost = once(() => {
        const done = work();
        done.then(resolve, reject);
        return done;
      });
      const outermost = this.#spanning.reduceRight<() => Promise<T>>(
        (inner, observer) =>
          once(() => {
            try {
              // Whatever it gives or throws: only the work's own outcome counts.
              return Promise.resolve(observer.around?.(span, inner)).then(inner, inner);
            } catch {
              return inner();
            }
          }),
        innermost,
      );
      outermost().catch(() => undefined);
    });
  }

  /** Resolves when every observer has heard everything, or after `withinMs`. */
  async settle(withinMs: number): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.settle(withinMs)));
  }
}

/** One observer and the events that it has not been told. */
class Listener {
  readonly #observer: Observer;
  #waiting: CodeModeEvent[] = [];
  #dropped = 0;
  /** A promise of the observer's is pending, or its queue is being emptied. */
  #busy = false;
  /** Time that it has taken of this turn of the event loop. */
  #spentMs = 0;
  #counting = false;
  #reported = false;
  readonly #whenIdle = new Set<() => void>();

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  hear(event: CodeModeEvent): void {
    if (!this.#busy && this.#waiting.length === 0 && this.#spentMs < TURN_MS) {
      this.#tell(event);
      return;
    }
    if (this.#waiting.length >= MOST_WAITING) this.#dropped++;
    else this.#waiting.push(event);
    this.#schedule();
  }

  settle(withinMs: number): Promise<void> {
    if (this.#idle) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#whenIdle.delete(finish);
        resolve();
      };
      const timer = setTimeout(finish, withinMs);
      this.#whenIdle.add(finish);
    });
  }

  get #idle(): boolean {
    return !this.#busy && this.#waiting.length === 0;
  }

  #tell(event: CodeModeEvent): void {
    const began = performance.now();
    try {
      const answer: unknown = this.#observer.on?.(event);
      if (typeof answer === 'object' && answer !== null && typeof (answer as PromiseLike<unknown>).then === 'function') {
        this.#busy = true;
        const free = (): void => {
          this.#busy = false;
          this.#schedule();
        };
        Promise.resolve(answer as PromiseLike<unknown>).then(free, (error: unknown) => {
          this.#report(error);
          free();
        });
      }
    } catch (error) {
      this.#report(error);
    }
    this.#spentMs += performance.now() - began;
    if (!this.#counting) {
      this.#counting = true;
      setImmediate(() => {
        this.#counting = false;
        this.#spentMs = 0;
        if (this.#waiting.length > 0) this.#drain();
      });
    }
  }

  #schedule(): void {
    if (this.#idle) {
      for (const finish of this.#whenIdle) finish();
      return;
    }
    if (this.#busy || this.#counting) return;
    this.#counting = true;
    setImmediate(() => {
      this.#counting = false;
      this.#spentMs = 0;
      this.#drain();
    });
  }

  #drain(): void {
    let heard = 0;
    while (heard < this.#waiting.length && !this.#busy && this.#spentMs < TURN_MS) this.#tell(this.#waiting[heard++] as CodeModeEvent);
    this.#waiting = heard === this.#waiting.length ? [] : this.#waiting.slice(heard);
    if (this.#dropped > 0 && !this.#busy && this.#waiting.length < MOST_WAITING / 2) {
      const last = this.#waiting.at(-1);
      const { runId } = last ?? { runId: '' };
      const count = this.#dropped;
      this.#dropped = 0;
      this.#waiting.push({ type: 'dropped', seq: last?.seq ?? 0, at: performance.now(), time: Date.now(), runId, count });
    }
    this.#schedule();
  }

  /** Once: an observer that fails would fail at every event. */
  #report(error: unknown): void {
    if (this.#reported) return;
    this.#reported = true;
    const what = error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
    process.emitWarning(
      `An observer of code mode failed (${what}); its work goes on, and this is not said again.`,
      'CallgateObserverWarning',
    );
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= work());
}

function bounded(text: string, most: number): Captured {
  const bytes = Buffer.byteLength(text);
  if (bytes <= most) return { text, bytes };
  // A character cut in two is left out.
  const cut = Buffer.from(text)
    .subarray(0, most)
    .toString('utf8')
    .replace(/\ufffd$/, '');
  return { text: cut, bytes, cut: true };
}
