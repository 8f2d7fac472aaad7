// What the host may watch: facts as events, and a hook around work so that a tool's own spans nest. Silent by default.
// Not here: how events reach an observer without holding up the work (broker/report.ts).
import type { ErrorKind } from './protocol/errors.ts';
import type { LimitName } from './protocol/limits.ts';
import type { OutputLevel } from './protocol/messages.ts';

/** Common to every event. Ids lead upward: a call names its execution, an execution its run; a session's id is its run's. */
interface EventBase {
  /** Counts the events of one code mode, without gaps but where an observer was too slow. */
  readonly seq: number;
  /** Monotonic: `performance.now()` milliseconds. */
  readonly at: number;
  /** Wall clock: `Date.now()` milliseconds. */
  readonly time: number;
  readonly runId: string;
}

interface ExecutionBase extends EventBase {
  readonly executionId: string;
}

/** Every event of one call carries its id; they come in the order queued, waiting, start, log and hook, then refused or end. */
interface CallBase extends ExecutionBase {
  readonly callId: string;
  /** The tool's path in the catalog. */
  readonly tool: string;
}

/** Status of one call in events and in `result.calls`. `refused`: by limits, checks or policy, before the tool ran. */
export type CallStatus = 'ok' | 'error' | 'refused' | 'aborted';

/** Who called a tool: a program, or the conversation beside the programs. */
export type Caller = 'program' | 'conversation';

/** What is captured of a payload, only with `capture`: bounded, and redacted first. */
export interface Captured {
  /** JSON, or plain text for a program and for output; cut at `captureBytes`. */
  readonly text: string;
  /** UTF-8 bytes of the whole. */
  readonly bytes: number;
  /** Present when `text` is not the whole. */
  readonly cut?: true;
}

/** A place in the model's text, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export type CodeModeEvent =
  /** `run()` was called or a session opened. */
  | (EventBase & {
      readonly type: 'run-start';
      readonly mode: 'run' | 'session';
      readonly actorId?: string;
      readonly interface?: string;
      /** Paths of the tools, as JSON; captured with `source`. */
      readonly tools?: Captured;
    })
  | (EventBase & { readonly type: 'run-end'; readonly mode: 'run' | 'session'; readonly durationMs: number })
  /** The conversation looked at a program, or acted on one. */
  | (EventBase & {
      readonly type: 'session-control';
      readonly control: 'exec' | 'wait' | 'stop';
      readonly program: number;
      readonly status: string;
      readonly durationMs: number;
    })
  | (ExecutionBase & {
      readonly type: 'execution-start';
      /** Its number in the session, from 1. */
      readonly program?: number;
      readonly sourceBytes: number;
      readonly source?: Captured;
    })
  /** A program that waits has left its worker, with so many bytes kept; or it is back in one. */
  | (ExecutionBase & { readonly type: 'execution-parked'; readonly imageBytes: number })
  | (ExecutionBase & { readonly type: 'execution-resumed' })
  | (ExecutionBase & {
      readonly type: 'execution-end';
      readonly status: string;
      readonly kind?: ErrorKind;
      readonly durationMs: number;
      readonly cpuMs: number;
      readonly peakMemoryBytes: number;
      readonly calls: number;
      readonly place?: Place;
      readonly value?: Captured;
      /** Message, frame and hint, as the model reads them. */
      readonly detail?: Captured;
      /** The original error of a fault. In this process only; never written anywhere. */
      readonly error?: unknown;
    })
  /** A call was made and counted. */
  | (CallBase & { readonly type: 'call-queued'; readonly caller: Caller; readonly place?: Place })
  /** It cannot start yet: too many run, or the exclusive lock is taken. */
  | (CallBase & { readonly type: 'call-waiting'; readonly for: 'slot' | 'lock' })
  /** Its tool starts. `input` is what the tool gets; `sent` what it was called with, where a schema or a hook made another input of that. */
  | (CallBase & { readonly type: 'call-start'; readonly input?: Captured; readonly sent?: Captured })
  | (CallBase & { readonly type: 'call-refused'; readonly error: unknown; readonly detail?: Captured; readonly sent?: Captured })
  | (CallBase & {
      readonly type: 'call-end';
      readonly status: CallStatus;
      readonly durationMs: number;
      readonly output?: Captured;
      readonly detail?: Captured;
      /** The original error with its cause, whatever the program was shown. In this process only; never written anywhere. */
      readonly error?: unknown;
    })
  /** What a hook did to a call. */
  | (CallBase & { readonly type: 'call-hook'; readonly hook: 'beforeCall' | 'afterCall'; readonly did: HookDeed })
  | (CallBase & { readonly type: 'log'; readonly message: string; readonly fields?: unknown })
  | (ExecutionBase & { readonly type: 'output'; readonly level: OutputLevel; readonly bytes: number; readonly text?: Captured })
  /** An artifact was kept; `callId` when a call delivered it. */
  | (ExecutionBase & {
      readonly type: 'artifact';
      readonly artifactId: string;
      readonly mediaType: string;
      readonly name?: string;
      readonly bytes?: number;
      readonly callId?: string;
      /** The artifact itself. In this process only; never written anywhere. */
      readonly artifact?: WatchedArtifact;
    })
  | (ExecutionBase & { readonly type: 'warning'; readonly message: string; readonly place?: Place })
  /** A limit ended a program or refused a call. */
  | (ExecutionBase & { readonly type: 'limit'; readonly limit: LimitName; readonly allowed: number; readonly callId?: string })
  /** The sandbox broke, or had to be broken: the worker of this program is gone. */
  | (ExecutionBase & { readonly type: 'fault'; readonly error: unknown })
  /** This observer was too slow: so many events were not kept for it. */
  | (EventBase & { readonly type: 'dropped'; readonly count: number });

/** `denied`: refused by it; `replaced`: it gave another input or outcome; `failed`: it threw or took too long, which refuses the call. */
export type HookDeed = 'denied' | 'replaced' | 'failed';

/** What an observer may do with an artifact: read it, where its bytes are at hand. */
export interface WatchedArtifact {
  readonly kind: string;
  read?(range?: { readonly start?: number; readonly end?: number }): Promise<Uint8Array>;
}

/** An event without what every one has. */
export type EventFact = {
  [Type in CodeModeEvent['type']]: Omit<Extract<CodeModeEvent, { type: Type }>, 'seq' | 'at' | 'time'>;
}[CodeModeEvent['type']];

/** Kinds of payload that `capture` may ask for and `redact` sees. */
export type PayloadKind = 'source' | 'input' | 'output' | 'value' | 'text' | 'error';

/** Which payloads events carry: all, or some. Default none. */
export type Capture = boolean | { readonly [Kind in PayloadKind]?: boolean | undefined };

/** Sees each payload before it is kept, and gives what may be kept of it; `undefined` keeps nothing. What it throws keeps nothing. */
export type Redact = (kind: PayloadKind, value: unknown) => unknown;

/** Work that `Observer.around` may wrap, for example in an active tracing span. */
export interface Span {
  /** `run`: all of a `run()`; `control`: one exec, wait or stop of a session, while a program goes on by itself; `execution`: one program; `call`: one call. */
  readonly name: 'run' | 'control' | 'execution' | 'call';
  readonly runId: string;
  /** Of a control: the program that it looks at, but for `exec`, whose program starts inside it. */
  readonly executionId?: string;
  readonly control?: 'exec' | 'wait' | 'stop';
  readonly callId?: string;
  readonly tool?: string;
}

export interface Observer {
  /**
   * Told every fact, at once while it is quick, else later: up to 10 000 events wait for one that is slow, or that gave a promise until it
   * settles, and what is over that is dropped and counted. What it throws is ignored, and reported once as a process warning.
   */
  on?(event: CodeModeEvent): unknown;
  /** Called around runs, controls, programs and calls (all checks included, so that refusals are traced); must call `run` once and return what it returns. */
  around?<T>(span: Span, run: () => Promise<T>): Promise<T>;
}
