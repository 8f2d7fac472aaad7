// What the host may watch: facts as events, and a hook around work so that a tool's own spans nest. Silent by default.
import type { ErrorKind } from './protocol/errors.ts';

/** Common to every event: which run and execution it belongs to, and when (`performance.now()` milliseconds). */
interface EventBase {
  readonly runId: string;
  readonly executionId: string;
  readonly at: number;
}

/** Status of one call in events and in `result.calls`. `refused`: by limits, checks or policy, before the tool ran. */
export type CallStatus = 'ok' | 'error' | 'refused' | 'aborted';

export type CodeModeEvent =
  | (EventBase & { readonly type: 'execution-start'; readonly sourceBytes: number })
  | (EventBase & { readonly type: 'call-start'; readonly callId: string; readonly tool: string })
  | (EventBase & { readonly type: 'call-refused'; readonly callId: string; readonly tool: string; readonly error: unknown })
  | (EventBase & {
      readonly type: 'call-end';
      readonly callId: string;
      readonly tool: string;
      readonly status: CallStatus;
      readonly durationMs: number;
      /** The original error with its cause, whatever the program was shown. */
      readonly error?: unknown;
    })
  | (EventBase & {
      readonly type: 'log';
      readonly callId: string;
      readonly tool: string;
      readonly message: string;
      readonly fields?: unknown;
    })
  | (EventBase & {
      readonly type: 'execution-end';
      readonly status: string;
      readonly kind?: ErrorKind;
      readonly durationMs: number;
      readonly error?: unknown;
    });

/** Work that `Observer.around` may wrap, for example in an active tracing span. */
export interface Span {
  readonly name: 'call' | 'execution';
  readonly runId: string;
  readonly executionId: string;
  readonly callId?: string;
  readonly tool?: string;
}

export interface Observer {
  /** Told every fact. Must not throw; if it does, the error is ignored: an observer never breaks work. */
  on?(event: CodeModeEvent): void;
  /** Called around each call (all checks included, so that refusals are traced); must call `run` once and return what it returns. */
  around?<T>(span: Span, run: () => Promise<T>): Promise<T>;
}

/** Tells an observer without letting its mistakes reach the work. */
export function emit(observer: Observer | undefined, event: CodeModeEvent): void {
  if (observer?.on === undefined) return;
  try {
    observer.on(event);
  } catch {
    // An observer never breaks work.
  }
}
