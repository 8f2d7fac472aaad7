// Every message between host, worker and guest, and the rules of their conversation. Pure; compiled for every side.
// Not here: how values are written (values.ts), how text from a guest is checked (decode.ts).
//
// Three parties speak. The *guest* (the program and our runtime around it) is hostile. The *worker* is its jailer: it holds
// the guest's memory, enters it, and signs what it says about it. The *host* has the tools and decides everything.
//
// Host and worker exchange *envelopes*: one line of JSON that the sender alone wrote, a newline, and a body. The worker
// never puts guest text into the line and never interprets the body; the host never believes the body to be the worker.
//   1. The worker says `ready` once. The host then sends `catalog` before the first program that uses it.
//   2. `start`, `post` and `resume` enter the guest. Each is answered by exactly one `turn`, or by the worker's death; the host
//      sends nothing more for that program before the answer, except that it may kill the worker.
//   3. A `turn` whose fate is `live` leaves the program waiting: the host may `post` more, `park` it (answered by `parked` with the
//XX Any other fate is the end of that program, and the worker is free for the next.
//      A turn that takes long may send `output` before its answer: lines of output alone. So does the body of a turn whose fate is `dead`.
//   4. `diagnose` may be sent to a worker that is free; it is answered by `diagnosis`.
//
// Guest and host exchange *lines* inside the body of `turn`: one message a line, `\n` between them, at most one `done` or `fail`,
// nothing after it. A line's first word is its kind; JSON never holds a raw newline, so a line cannot be forged from data. Where a channel
// carries bytes, a MODE may be followed by a number, `T2`: so many buffers of those beside the turn, taken in order, belong to this value.
//   call ID INDEX MODE JSON   the program called the tool at INDEX of the catalog; answered by one settlement with the same ID
//   at ID JSON                the stack of the call with this ID, which follows; only when `GuestLimits.places` asks for it
//   ask ID NAME MODE JSON     the program called a function of the host (`Manifest.functions`) with an array of arguments; answered like a call
//   out LEVEL JSON            a piece of output (JSON string)
//   store KEY MODE JSON       the program stored a value under KEY (JSON string) for later programs of its session
//   dropped N                 N pieces of output were cut or dropped
//   warn JSON                 something worth telling beside the result: { message, stack }
//   wake MS                   the guest's earliest timer is due in MS milliseconds
//   done MODE JSON            the program completed with this value
//   fail JSON                 the program ended with an error: GuestError
// The body of `post` and `resume` is one JSON array of settlements:
//   [ID, 0, json]  a value, plain   [ID, 1, tagged json]  a value, tagged   [ID, 2, failure]  CallFailure
// and may be empty, which only lets due timers fire. A fourth member, where there is one, is News: what has changed beside the answer.

import type { ErrorKind } from './errors.ts';
import type { LimitName } from './limits.ts';
import type { WireMode, WireValue } from './values.ts';

/** One tool as the host's catalog describes it to the guest. */
export interface ManifestEntry {
  /** Identifiers from the root: `['github', 'list_issues']`. */
  readonly path: readonly string[];
  /** The same in the tool's and its namespaces' own spelling, where that differs: `['github', 'list-issues']`. */
  readonly spellings?: readonly string[];
  /** The own spelling with dots between. */
  readonly name: string;
  /** Absent where the texts come apart from the manifest, as with very many tools. */
  readonly description?: string;
  /** TypeScript signature, where the host has made one. */
  readonly signature?: string;
  /** Several arguments are one array to this tool. */
  readonly takesList?: true;
}

/** What a guest is given once, before its image is taken. */
export interface Manifest {
  readonly tools: readonly ManifestEntry[];
  /** Constants of the application, by global name. */
  readonly globals: { readonly [name: string]: WireValue };
  /** Global functions that the host carries out itself, beside the tools: `searchTools`. Each returns a promise. */
  readonly functions: readonly string[];
}

/** What `ALL_TOOLS` says of a tool beside its names, where that comes apart from the manifest. */
export type ToolText = readonly [description: string, signature?: string];

/**
 * A manifest as it travels: JSON on one line, and, when the texts of the tools would make every guest large, a second line with JSON of the
 * `ToolText` of each. An engine may leave that line outside of the guest, and answer the guest's question for it (`toolTexts`).
 */
export function splitManifest(sent: string): { readonly manifest: string; readonly texts: string } {
  const end = sent.indexOf('\n');
  return end < 0 ? { manifest: sent, texts: '' } : { manifest: sent.slice(0, end), texts: sent.slice(end + 1) };
}

/** What the guest says of an error that ended its program. All strings are bounded by the guest and again by the host. */
export interface GuestError {
  readonly kind: 'program' | 'unserializable' | 'limit';
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** Present when the error is one that a failed call gave to the program. */
  readonly code?: string;
  /** False when something that is no Error was thrown. */
  readonly isError: boolean;
}

/** A line from the guest, decoded but for its values, which stay text until they have been counted. */
export type GuestMessage =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly index: number;
      readonly mode: WireMode;
      readonly text: string;
      readonly beside?: readonly ArrayBuffer[];
    }
  | { readonly type: 'at'; readonly id: number; readonly stack: string }
  | {
      readonly type: 'ask';
      readonly id: number;
      readonly name: string;
      readonly mode: WireMode;
      readonly text: string;
      readonly beside?: readonly ArrayBuffer[];
    }
  | { readonly type: 'out'; readonly level: OutputLevel; readonly text: string }
  | { readonly type: 'store'; readonly key: string; readonly mode: WireMode; readonly text: string }
  | { readonly type: 'dropped'; readonly count: number }
  | { readonly type: 'warn'; readonly message: string; readonly stack: string }
  | { readonly type: 'wake'; readonly ms: number }
  | { readonly type: 'done'; readonly mode: WireMode; readonly text: string; readonly beside?: readonly ArrayBuffer[] }
  | { readonly type: 'fail'; readonly error: GuestError };

export const OUTPUT_LEVELS = ['text', 'log', 'info', 'warn', 'error', 'debug'] as const;
/** Where output came from: `text()` or a method of `console`. */
export type OutputLevel = (typeof OUTPUT_LEVELS)[number];

/** What a program is started with. */
export interface StartOptions {
  /** Most CPU time in the guest. */
  readonly cpuMs: number;
  /** Most CPU time of one entry. */
  readonly sliceMs: number;
  /** When the program must have ended, as `Date.now()` of this machine. */
  readonly deadline: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  /** Limits that the guest itself observes so that a program gets a clean error (the host enforces the same again), and what the run has so far. */
  readonly guest: GuestLimits;
  /** What earlier programs of the session stored: JSON of wire values by key. */
  readonly store: string;
  readonly timeZone: string;
  readonly locale: string;
}

/** What is told beside a settlement. */
export interface News {
  /** Artifacts that appeared since the last that were told, in order; the shape is the program's to see: src/artifacts/kept.ts. */
  readonly artifacts?: readonly unknown[];
  /** Why artifacts beside this answer could not be kept. */
  readonly warnings?: readonly string[];
  /** So many buffers of those beside the settlements, taken in order, belong to this answer. */
  readonly beside?: number;
}

/** What the guest's runtime asks of the host about artifacts, as names of `ask`; none of them is a global of the program. */
export const ARTIFACT_ASKS = {
  read: 'artifacts.read',
  save: 'artifacts.save',
  append: 'artifacts.append',
  finish: 'artifacts.finish',
} as const;
/** Most characters of a piece of a file in one request; longer files go in several. Escaped, a character takes six. */
export const PIECE_LENGTH = 512 * 1024;
/** Most bytes of a request that brings a piece of a file, whatever `argumentBytes` says. */
export const MOST_PIECE_BYTES = 8 * 1024 * 1024;

interface GuestLimits {
  readonly calls: number;
  readonly argumentBytes: number;
  readonly outputBytes: number;
  readonly valueBytes: number;
  readonly storeBytes: number;
  /** Whether calls say where in the program they were made. */
  readonly places: boolean;
  /** The artifacts of the run so far: JSON of an array; absent when there are none. */
  readonly artifacts?: string;
}

/** Host to worker. `catalog`'s body is a manifest, `start`'s the program's text, `post`'s and `resume`'s settlements. */
export type HostEnvelope =
  | { readonly type: 'catalog'; readonly catalog: string }
  | { readonly type: 'forget'; readonly catalog: string }
  | ({ readonly type: 'start'; readonly id: number; readonly catalog: string } & StartOptions)
  | { readonly type: 'post'; readonly id: number }
  | { readonly type: 'park'; readonly id: number }
  | ({
      readonly type: 'resume';
      readonly id: number;
      readonly catalog: string /** CPU time that the program has used. */;
      readonly usedMs: number;
    } & StartOptions)
  | { readonly type: 'drop'; readonly id: number }
  | ({ readonly type: 'diagnose'; readonly id: number } & DiagnoseRequest);

/** Asks for the model's own positions and a hint; the body is the program's text. */
export interface DiagnoseRequest {
  readonly error?: GuestError;
  /** Stacks of warnings, answered by the position of each. */
  readonly stacks: readonly string[];
  readonly tools: readonly { readonly path: string; readonly description: string }[];
}

/** What a model reads of an error, beside its kind. */
export interface Diagnosis {
  readonly name: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** Three lines of the program around the position, with a caret. */
  readonly frame?: string;
  readonly hint?: string;
  readonly stack: string;
}

/** How a turn left the program. `done`: it said so itself. `dead`: the worker ended it, and says why. */
type Fate =
  | { readonly fate: 'live' }
  | { readonly fate: 'done' }
  | { readonly fate: 'dead'; readonly kind: ErrorKind; readonly limit?: LimitName; readonly diagnosis?: Diagnosis };

/** Worker to host. */
export type WorkerEnvelope =
  /** `parks`: it answers `park`. `bytes`: buffers may travel beside settlements. */
  | { readonly type: 'ready'; readonly build: string; readonly parks: boolean; readonly bytes?: boolean }
  | ({
      readonly type: 'turn';
      readonly id: number;
      /** CPU time of this turn. */
      readonly cpuMs: number;
      /** Most memory the program has used so far. */
      readonly peakBytes: number;
      /** An allocation was refused. */
      readonly starved?: boolean;
      /** How the prepared code lies on the model's text: of the first turn, when places are asked for. */
      readonly prepared?: { readonly code: string; readonly map: readonly number[] };
      /** What preparing the text had to say. */
      readonly warnings?: readonly Warning[];
      /** The worker is not to be given another program: what this one did may yet take it down. */
      readonly spent?: true;
    } & Fate)
  | { readonly type: 'output'; readonly id: number }
  /** The image travels beside the text; without one the program was too big for that, and is where it was. */
  | { readonly type: 'parked'; readonly id: number }
  | {
      readonly type: 'diagnosis';
      readonly id: number;
      readonly diagnosis?: Diagnosis;
      readonly places: readonly ({ line: number; column: number } | null)[];
    };

/** Something worth telling beside a result, with its place in the model's text. */
export interface Warning {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** An envelope and its body as one text. */
export function seal(envelope: HostEnvelope | WorkerEnvelope, body = ''): string {
  // Said at every turn: by hand in a tenth of the time.
  if (envelope.type === 'post') return `{"type":"post","id":${envelope.id}}\n${body}`;
  return `${JSON.stringify(envelope)}\n${body}`;
}

/** As `seal` of a turn of which nothing else is to be said; its time is a thousandth of a millisecond exact. */
export function sealTurn(
  {
    id,
    cpuMs,
    peakBytes,
    fate,
  }: { readonly id: number; readonly cpuMs: number; readonly peakBytes: number; readonly fate: 'live' | 'done' },
  body: string,
): string {
  return `{"type":"turn","id":${id},"cpuMs":${Math.round(cpuMs * 1000) / 1000},"peakBytes":${peakBytes},"fate":"${fate}"}\n${body}`;
}

/** The two halves of a sealed text. What a host says is not in doubt; what a worker says is read by envelope.ts. */
export function unseal<Envelope extends HostEnvelope | WorkerEnvelope>(text: string): { envelope: Envelope; body: string } {
  const end = text.indexOf('\n');
  return { envelope: JSON.parse(text.slice(0, end)) as Envelope, body: text.slice(end + 1) };
}
