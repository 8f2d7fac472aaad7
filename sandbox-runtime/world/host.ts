// What the guest's world asks of the driver that embeds it. It does not say how a driver carries the texts: sandbox-runtime/main.ts
// and the engines do.

/** The level of one line of output. */
export type OutputLevel = 'log' | 'info' | 'warn' | 'error' | 'debug';

/** The embedder's side. Every function may be called at any time while guest code runs. */
export interface WorldHost {
  /** Takes one finished, bounded piece of console output; it may hold line breaks. */
  output(level: OutputLevel, text: string): void;
  /** A pure, synchronous service over JSON text; answers `{"value":…}` or `{"error":{"name","message"}}`. See src/engine/services.ts. */
  ask(service: string, argument: string): string;
  /** Monotonic milliseconds since any fixed point. */
  now(): number;
  /** Receives what a timer callback or an event listener threw. */
  uncaught(error: unknown): void;
  /** The stack lines to print below an error, each as `    at …`, joined by line breaks; an empty text prints none. */
  frames(error: object, stack: string): string;
}

/** Facts about one program's run, known when it starts. */
export interface ProgramSettings {
  /** An IANA name, for example `Europe/Berlin`. */
  timeZone: string;
  /** A BCP 47 tag, for example `en-US`. */
  locale: string;
  /** Four random 32-bit numbers for `Math.random`; not for secrets. */
  seed: readonly [number, number, number, number];
}
