// Shows tool calls on standard error while a program runs: on a terminal one live line that is rewritten in place, with
// failed calls left standing above it; elsewhere a line for every call. Not here: what the program itself prints (render.ts).
import type { CallStatus, CodeModeEvent, Observer } from '../index.ts';
import { printableLine } from './printable.ts';
import type { Colors, Output } from './terminal.ts';

/** Watches one run. Writes nothing before the first call and nothing any more once closed. */
export class Progress implements Observer {
  readonly #output: Output;
  readonly #colors: Colors;
  readonly #running = new Map<string, { readonly tool: string; readonly since: number }>();
  readonly #refused = new Set<string>();
  readonly #ended: Record<CallStatus, number> = { ok: 0, error: 0, refused: 0, aborted: 0 };
  #opened = performance.now();
  #latest = '';
  #isLineShown = false;
  #clock: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(output: Output, colors: Colors) {
    this.#output = output;
    this.#colors = colors;
    if (output.isTTY) this.#clock = setInterval(() => this.#rewrite(), 80).unref();
  }

  on(event: CodeModeEvent): void {
    if (this.#isClosed) return;
    switch (event.type) {
      case 'call-start':
        this.#running.set(event.callId, { tool: event.tool, since: event.at });
        break;
      case 'call-refused':
        this.#refused.add(event.callId);
        this.#end(event.callId, event.tool, 'refused', undefined, event.error);
        break;
      case 'call-end':
        // A refusal has been shown already, with its reason.
        if (!this.#refused.has(event.callId)) this.#end(event.callId, event.tool, event.status, event.durationMs, event.error);
        break;
      case 'log':
        this.#stand(`${this.#colors.dim('log'.padEnd(7))}           ${printableLine(event.tool)}: ${printableLine(event.message)}`);
        break;
      case 'execution-start':
        this.#opened = event.at;
        break;
      default:
        break;
    }
  }

  /** Something that belongs to no call. */
  note(text: string): void {
    if (!this.#isClosed) this.#stand(`${this.#colors.yellow('note'.padEnd(7))}           ${text}`);
  }

  /** Clears the live line and writes the sum of it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#clock);
    this.#clear();
    const kinds = Object.entries(this.#ended).filter(([, count]) => count > 0);
    const total = kinds.reduce((sum, [, count]) => sum + count, 0);
    if (total === 0) return;
    const parts =
      kinds.length === 1 && this.#ended.ok === total ? 'all ok' : kinds.map(([status, count]) => `${count} ${status}`).join(', ');
    const sum = `${total} ${total === 1 ? 'call' : 'calls'} (${parts}) in ${duration(performance.now() - this.#opened).trim()}`;
    this.#output.write(`${this.#colors.dim(sum)}\n`);
  }

  #end(callId: string, tool: string, status: CallStatus, durationMs: number | undefined, error: unknown): void {
    this.#running.delete(callId);
    this.#ended[status]++;
    const time = durationMs === undefined ? ' '.repeat(9) : duration(durationMs);
    const reason = status === 'ok' ? '' : describe(error);
    const line = `${this.#paint(status)(status.padEnd(7))} ${time} ${printableLine(tool)}${reason === '' ? '' : `: ${reason}`}`;
    if (status === 'ok' && this.#output.isTTY) this.#latest = `${printableLine(tool)} ok ${time.trim()}`;
    else this.#stand(line);
  }

  /** Writes a line that stays. */
  #stand(line: string): void {
    this.#clear();
    this.#output.write(`${line}\n`);
  }

  #rewrite(): void {
    if (this.#running.size === 0 && this.#latest === '') return;
    const [longest] = this.#running.values();
    const now = performance.now();
    const running =
      longest === undefined
        ? ''
        : `, ${this.#running.size} running (${printableLine(longest.tool)} for ${duration(now - longest.since).trim()})`;
    const done = Object.values(this.#ended).reduce((sum, count) => sum + count, 0);
    const text = `${done} done${running}${this.#latest === '' ? '' : ` · ${this.#latest}`}`;
    this.#clear();
    // One column short of the width, so that the line never wraps and can be cleared.
    this.#output.write(this.#colors.dim(text.slice(0, Math.max(10, (this.#output.columns || 80) - 1))));
    this.#isLineShown = true;
  }

  #clear(): void {
    if (this.#isLineShown) this.#output.write('\r\x1b[K');
    this.#isLineShown = false;
  }

  #paint(status: CallStatus): (text: string) => string {
    switch (status) {
      case 'ok':
        return this.#colors.green;
      case 'error':
        return this.#colors.red;
      case 'refused':
      case 'aborted':
        return this.#colors.yellow;
      default:
        return status satisfies never;
    }
  }
}

/** Nine columns: milliseconds, or seconds from ten on. */
function duration(ms: number): string {
  return (ms < 10_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(1)} s`).padStart(9);
}

function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : error === undefined ? '' : String(error);
  const line = printableLine(text);
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
