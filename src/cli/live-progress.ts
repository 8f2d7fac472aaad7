// Calls on a terminal while a program runs: what failed stands with its reason, below it a tree that is rewritten in place a few times a second,
// and at the end its last state with the sum of the run. Not here: what the tree says (call-tree.ts), how lines are rewritten (live-area.ts).
import type { CodeModeEvent, Observer, RunResult } from '../index.ts';
import { callLine, describe, logLine, noteLine } from './call-line.ts';
import { CallTree } from './call-tree.ts';
import { LiveArea } from './live-area.ts';
import type { Colors, Output } from './terminal.ts';

const FRAME_MS = 100;
/** How often the same is said; then it is counted. */
const SAME = 3;
/** Different things that are told apart. */
const DIFFERENT = 1_000;

/** Watches one program. Writes nothing before its first event but notes, and nothing any more once closed. */
export class LiveProgress implements Observer {
  readonly #output: Output;
  readonly #colors: Colors;
  readonly #tree = new CallTree();
  readonly #area: LiveArea;
  readonly #said = new Map<string, { times: number; readonly line: (times: number) => string }>();
  readonly #refused = new Set<string>();
  #standing: string[] = [];
  #clock: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `beside` are other streams that may lead to the same terminal. */
  constructor(output: Output, colors: Colors, beside: readonly Output[] = []) {
    this.#output = output;
    this.#colors = colors;
    this.#area = new LiveArea(output, beside);
  }

  on(event: CodeModeEvent): void {
    if (this.#isClosed) return;
    this.#tree.hear(event);
    if (event.type === 'log') this.#tell(logLine(event, this.#colors), (times) => logLine(event, this.#colors, more(times)));
    else if (event.type === 'call-refused') {
      this.#refused.add(event.callId);
      this.#failed('refused', event.tool, undefined, describe(event.error));
    } else if (event.type === 'call-end' && !this.#refused.delete(event.callId) && event.status === 'error')
      // That calls were cut short by the end of the program needs no line for each of them.
      this.#failed(event.status, event.tool, event.durationMs, describe(event.error));
    if (this.#tree.hasBegun) this.#clock ??= setInterval(() => this.#frame(), FRAME_MS).unref();
  }

  note(text: string): void {
    if (this.#isClosed) return;
    this.#standing.push(noteLine(text, this.#colors));
    // Before there is a tree, nobody else would write it.
    if (this.#clock === undefined) this.#output.write(`${this.#standing.splice(0).join('\n')}\n`);
  }

  close(result?: RunResult): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#clock);
    if (result !== undefined && this.#tree.hasBegun) this.#tree.ended(result);
    for (const { times, line } of this.#said.values()) if (times > SAME) this.#standing.push(line(times - SAME));
    this.#area.close(this.#tree.hasBegun ? this.#lines() : [], this.#standing.splice(0));
  }

  #failed(status: 'error' | 'refused', tool: string, durationMs: number | undefined, reason: string): void {
    const line = (time: string | number | undefined): string => callLine({ status, tool, time, reason }, this.#colors);
    this.#tell(line(durationMs), (times) => line(more(times)), `${status} ${tool} ${reason}`);
  }

  /** Says it, or counts it when it was said before. */
  #tell(line: string, again: (times: number) => string, key = line): void {
    const said = this.#said.get(key);
    if (said !== undefined) said.times++;
    else if (this.#said.size < DIFFERENT) this.#said.set(key, { times: 1, line: again });
    if (said === undefined || said.times <= SAME) this.#standing.push(line);
  }

  #frame(): void {
    this.#area.draw(this.#lines(), this.#standing.splice(0));
  }

  #lines() {
    const { columns, rows } = this.#output;
    // The cursor has a line of its own, and so has what was there before.
    return this.#tree.lines({ columns: columns || 80, rows: Math.max(1, (rows || 24) - 2), now: performance.now(), colors: this.#colors });
  }
}

function more(times: number): string {
  return `×${times} more`;
}
