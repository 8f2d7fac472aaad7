// The whole contract of an engine: something that runs guest code synchronously and speaks text. An engine has never heard
// of tools, workers or the host; isolation/jail.ts is its only caller.
import type { ErrorKind } from '../protocol/errors.ts';
import type { LimitName } from '../protocol/limits.ts';
import type { StartOptions } from '../protocol/messages.ts';

/** A whole waiting guest as bytes; fits every realm of the same build, catalog and memory size. */
export type Image = ArrayBuffer;

/** A prepared program. */
export interface Start {
  /** A function expression. */
  readonly code: string;
  /** Global names that the program may call tools by. */
  readonly aliases: readonly (readonly [name: string, index: number])[];
}

/** How long one entry into the guest may take. */
export interface Budget {
  /** CPU milliseconds left. */
  readonly cpuMs: number;
  /** Most milliseconds of this entry. */
  readonly sliceMs: number;
  /** `Date.now()` at which the program must have ended. */
  readonly deadline: number;
}

/** What came of one entry into the guest. After `fault` and `memory` the realm is unusable. */
export type Outcome =
  | {
      readonly type: 'lines';
      readonly lines: string;
      /** An allocation was refused during the turn. */
      readonly starved: boolean;
      /** Bytes that belong to the lines, in order; copies of their own. */
      readonly beside?: readonly ArrayBuffer[];
    }
  /** The code was no program to this engine; position in the evaluated code. */
  | { readonly type: 'syntax'; readonly message: string; readonly line?: number; readonly column?: number }
  /** The engine ended the program: by a limit, which it names, or because the sandbox broke. `output` is what it still printed, as lines. */
  | {
      readonly type: 'dead';
      readonly kind: ErrorKind;
      readonly limit?: LimitName;
      readonly output: string;
      /** What the program did may yet take the worker down: no other program should come to it. */
      readonly spent?: true;
    };

/** One guest world. Owned by whoever opened it; unusable after dispose() or after a fault. */
export interface Realm {
  /** Set by its owner when bytes may travel beside lines and settlements; an engine that has no way for them leaves it alone. */
  carriesBytes?: boolean;
  /**
   * Set by its owner when the realm's thread can be ended from outside. Without that an engine does nothing for a program that no clock of its own
   * reaches.
   */
  canBeEnded?: boolean;
  /** Told in the middle of an entry that takes long what the program has printed so far, as lines; the outcome has the rest. */
  onOutput: ((lines: string) => void) | undefined;
  /** Evaluates prepared code (a function expression) in a fresh guest with the catalog's tools, and calls it. */
  start(catalog: string, start: Start, options: StartOptions, budget: Budget): Outcome;
  /** Hands the guest settlements (a JSON array, or nothing), with the buffers that belong to them, and lets it run until it can only wait. */
  post(settlements: string, budget: Budget, beside?: readonly ArrayBuffer[]): Outcome;
  /**
   * The whole guest as bytes, after which the realm is free; only between entries. `undefined` when that is more than `mostBytes`: then the
   * guest stays. Absent, as `resume` is, in an engine that has no images: its programs stay where they are while they wait.
   */
  park?(mostBytes: number): Image | undefined;
  /** Continues a parked guest with settlements. */
  resume?(
    catalog: string,
    image: Image,
    settlements: string,
    options: StartOptions,
    budget: Budget,
    beside?: readonly ArrayBuffer[],
  ): Outcome;
  /** Most memory that the program has used so far, the engine's own not counted. */
  peakBytes(): number;
  /** Forgets the program and scrubs what it used. False when the realm can not be used again. */
  reset(): boolean;
  /** Safe to call twice. */
  dispose(): void;
}

export interface Engine {
  /** Whether its realms can take and give bytes beside text. */
  readonly carriesBytes?: boolean;
  /** Names the engine, its version and the guest runtime: images only fit their own build. */
  readonly build: string;
  /** Whether its realms can park a program and resume it. */
  readonly parks: boolean;
  /** Realms that one worker should keep, one per memory size. */
  readonly mostRealms: number;
  /** Makes tools available under an id, from the catalog's manifest. */
  addCatalog(id: string, manifest: string): void;
  removeCatalog(id: string): void;
  open(memoryBytes: number): Promise<Realm>;
}
