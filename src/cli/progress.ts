// Shows tool calls on standard error while a program runs: a live tree on a terminal (live-progress.ts), elsewhere a line for every call.
// Not here: what the program itself prints (render.ts).
import type { CallStatus, CodeModeEvent, Observer, RunResult } from '../index.ts';
import { callLine, describe, duration, logLine, noteLine } from './call-line.ts';
import { LiveProgress } from './live-progress.ts';
import { type Colors, canRewrite, colorsFor, type Output, type Terminal } from './terminal.ts';

/** Watches one run. Writes nothing before the first call and nothing any more once closed. */
export interface Progress extends Observer {
  on(event: CodeModeEvent): void;
  /** Something that belongs to no call. */
  note(text: string): void;
  /** Writes the sum of it. `result` says how the program ended where no event has yet. */
  close(result?: RunResult): void;
}

export function openProgress(terminal: Terminal): Progress {
  const { stdout, stderr } = terminal;
  const colors = colorsFor(terminal);
  return canRewrite(terminal) ? new LiveProgress(stderr, colors, [stdout]) : new PlainProgress(stderr, colors);
}

/** A line for every call, when it has ended. */
export class PlainProgress implements Progress {
  readonly #output: Output;
  readonly #colors: Colors;
  readonly #refused = new Set<string>();
  readonly #ended: Record<CallStatus, number> = { ok: 0, error: 0, refused: 0, aborted: 0 };
  #opened = performance.now();
  #isClosed = false;

  constructor(output: Output, colors: Colors) {
    this.#output = output;
    this.#colors = colors;
  }

  on(event: CodeModeEvent): void {
    if (this.#isClosed) return;
    switch (event.type) {
      case 'call-refused':
        this.#refused.add(event.callId);
        this.#end(event.tool, 'refused', undefined, event.error);
        break;
      case 'call-end':
        // A refusal has been shown already, with its reason.
        if (!this.#refused.delete(event.callId)) this.#end(event.tool, event.status, event.durationMs, event.error);
        break;
      case 'log':
        this.#output.write(`${logLine(event, this.#colors)}\n`);
        break;
      case 'execution-start':
        this.#opened = event.at;
        break;
      default:
        break;
    }
  }

  note(text: string): void {
    if (!this.#isClosed) this.#output.write(`${noteLine(text, this.#colors)}\n`);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const kinds = Object.entries(this.#ended).filter(([, count]) => count > 0);
    const total = kinds.reduce((sum, [, count]) => sum + count, 0);
    if (total === 0) return;
    const parts =
      kinds.length === 1 && this.#ended.ok === total ? 'all ok' : kinds.map(([status, count]) => `${count} ${status}`).join(', ');
    const sum = `${total} ${total === 1 ? 'call' : 'calls'} (${parts}) in ${duration(performance.now() - this.#opened).trim()}`;
    this.#output.write(`${this.#colors.dim(sum)}\n`);
  }

  #end(tool: string, status: CallStatus, time: number | undefined, error: unknown): void {
    this.#ended[status]++;
    const reason = status === 'ok' ? '' : describe(error);
    this.#output.write(`${callLine({ status, tool, time, reason }, this.#colors)}\n`);
  }
}
