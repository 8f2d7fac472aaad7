// The calls of a program as a person wants to see them at a glance: the program, and below it a line for each tool, however many calls of it there
// are. Plain data for `now`; not here: how lines get onto a terminal (live-area.ts), why calls failed (live-progress.ts).
import type { CallStatus, CodeModeEvent, RunResult } from '../index.ts';
import { columnsOf, cutTo } from './columns.ts';
import type { AreaLine } from './live-area.ts';
import { printableLine } from './printable.ts';
import type { Colors } from './terminal.ts';

type Outcomes = Record<CallStatus, number>;

/** What a call does that has no outcome yet: it is checked, waits for its turn, or its tool runs. */
type Doing = 'queued' | 'slot' | 'lock' | 'running';

/** How a program ended, and what that took. */
export interface ProgramEnd {
  readonly status: string;
  readonly kind?: string | undefined;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMemoryBytes: number;
}

/** Remembers what events told of one program. */
export class CallTree {
  readonly #branches = new Map<string, Branch>();
  readonly #active = new Map<string, { readonly branch: Branch; readonly doing: Doing }>();
  readonly #outcomes: Outcomes = noOutcomes();
  #program: number | undefined;
  #began: number | undefined;
  #isParked = false;
  #end: ProgramEnd | undefined;

  /** Whether there is anything to be shown. */
  get hasBegun(): boolean {
    return this.#began !== undefined;
  }

  hear(event: CodeModeEvent): void {
    switch (event.type) {
      case 'execution-start':
        this.#program = event.program;
        this.#began = event.at;
        break;
      case 'execution-parked':
      case 'execution-resumed':
        this.#isParked = event.type === 'execution-parked';
        break;
      case 'execution-end': {
        const { status, kind, durationMs, cpuMs, peakMemoryBytes } = event;
        this.#end = { status, kind, wallMs: durationMs, cpuMs, peakMemoryBytes };
        break;
      }
      case 'call-queued':
        this.#does(event, 'queued');
        break;
      case 'call-waiting':
        this.#does(event, event.for);
        break;
      case 'call-start':
        this.#does(event, 'running');
        break;
      case 'call-refused':
        // Its end follows; only what was over the limit has none, and was never queued either.
        if (!this.#active.has(event.callId)) this.#ended(event.tool, event.callId, 'refused', 0);
        break;
      case 'call-end':
        this.#ended(event.tool, event.callId, event.status, event.durationMs);
        break;
      default:
        break;
    }
  }

  /** The program has ended, whether or not an event has told of it yet. */
  ended({ status, error, usage }: Pick<RunResult, 'status' | 'error' | 'usage'>): void {
    this.#end = { status, kind: error?.kind, ...usage };
  }

  /** As many lines as there is room for, each one column short of the width; the sum at the end is never cut. */
  lines({ columns, rows, now, colors }: { columns: number; rows: number; now: number; colors: Colors }): AreaLine[] {
    const { shown, hidden } = this.#chosen(Math.max(0, rows - 1));
    const labels = shown.map((branch) => branch.label);
    const width = Math.min(Math.max(0, ...labels.map(columnsOf)), Math.max(8, Math.floor(columns * 0.4)));
    const below = shown.map((branch, index): Piece[] => {
      const label = cutTo(labels[index] ?? '', width);
      return [{ text: label.padEnd(label.length + width - columnsOf(label)) }, { text: '  ' }, ...branch.pieces(now)];
    });
    if (hidden.length > 0) below.push(hiddenPieces(hidden));
    const lines = below.map((pieces, index): Piece[] => [{ text: index === below.length - 1 ? '└ ' : '├ ', tone: 'dim' }, ...pieces]);
    const root = paint(this.#root(now), this.#end === undefined ? columns - 1 : Number.POSITIVE_INFINITY, colors);
    return [root, ...lines.map((pieces) => paint(pieces, columns - 1, colors))];
  }

  #does({ callId, tool, at }: { callId: string; tool: string; at: number }, doing: Doing): void {
    this.#began ??= at;
    const branch = this.#active.get(callId)?.branch ?? this.#branch(tool);
    this.#leave(callId);
    this.#active.set(callId, { branch, doing });
    branch.active[doing].set(callId, at);
  }

  #ended(tool: string, callId: string, status: CallStatus, durationMs: number): void {
    const branch = this.#active.get(callId)?.branch ?? this.#branch(tool);
    this.#leave(callId);
    this.#outcomes[status]++;
    branch.ended(status, durationMs);
  }

  #leave(callId: string): void {
    const active = this.#active.get(callId);
    active?.branch.active[active.doing].delete(callId);
    this.#active.delete(callId);
  }

  #branch(tool: string): Branch {
    let branch = this.#branches.get(tool);
    if (branch === undefined) {
      branch = new Branch(tool);
      this.#branches.set(tool, branch);
    }
    return branch;
  }

  /** Where there is not room for all: those that do something before those that are done, in the order of their first calls. */
  #chosen(room: number): { shown: readonly Branch[]; hidden: readonly Branch[] } {
    const all = [...this.#branches.values()];
    if (all.length <= room) return { shown: all, hidden: [] };
    const byNeed = [...all.filter((branch) => branch.isActive), ...all.filter((branch) => !branch.isActive).reverse()];
    const kept = new Set(byNeed.slice(0, Math.max(0, room - 1)));
    return { shown: all.filter((branch) => kept.has(branch)), hidden: room === 0 ? [] : all.filter((branch) => !kept.has(branch)) };
  }

  #root(now: number): Piece[] {
    const number = this.#program === undefined ? '' : ` ${this.#program}`;
    const calls = total(this.#outcomes) + this.#active.size;
    if (this.#end !== undefined) {
      const { status, kind, wallMs, cpuMs, peakMemoryBytes } = this.#end;
      return [
        { text: `program${number} ` },
        { text: kind === undefined ? status : `${status} (${kind})`, tone: status === 'completed' ? 'green' : 'red' },
        { text: ` in ${duration(wallMs)} · CPU ${duration(cpuMs)} · ` },
        ...(calls === 0 ? [{ text: 'no calls' }] : [{ text: `${counted(calls, 'call')}: ` }, ...outcomePieces(this.#outcomes)]),
        { text: ` · peak memory ${size(peakMemoryBytes)}` },
      ];
    }
    const pieces: Piece[] = [{ text: `program${number}`, tone: 'bold' }, { text: ` ${seconds(now - (this.#began ?? now))}` }];
    if (this.#isParked) pieces.push({ text: ' · parked', tone: 'dim' });
    if (calls === 0) return pieces;
    pieces.push({ text: ` · ${counted(calls, 'call')}: ` });
    const doing = count(this.#branches.values());
    pieces.push(...joined([...outcomeParts(this.#outcomes), ...doingParts(doing)]));
    return pieces;
  }
}

/** All calls of one tool. */
class Branch {
  readonly #name: string;
  /** Since when, by call; the oldest is first. */
  readonly active: Readonly<Record<Doing, Map<string, number>>> = {
    queued: new Map(),
    slot: new Map(),
    lock: new Map(),
    running: new Map(),
  };
  readonly outcomes: Outcomes = noOutcomes();
  #fastestMs = Number.POSITIVE_INFINITY;
  #slowestMs = 0;

  constructor(tool: string) {
    this.#name = printableLine(tool);
  }

  get isActive(): boolean {
    return DOING.some((doing) => this.active[doing].size > 0);
  }

  get label(): string {
    return this.#calls === 1 ? this.#name : `${this.#name} ×${this.#calls}`;
  }

  get #calls(): number {
    return total(this.outcomes) + DOING.reduce((sum, doing) => sum + this.active[doing].size, 0);
  }

  ended(status: CallStatus, durationMs: number): void {
    this.outcomes[status]++;
    // What was refused has not run.
    if (status === 'refused') return;
    this.#fastestMs = Math.min(this.#fastestMs, durationMs);
    this.#slowestMs = Math.max(this.#slowestMs, durationMs);
  }

  pieces(now: number): Piece[] {
    const parts = [...outcomeParts(this.outcomes), ...doingParts(count([this]))];
    // Of one call it is plain how many there are.
    const pieces = this.#calls === 1 ? parts.map(({ text, ...rest }) => ({ text: text.replace(/^1 /, ''), ...rest })) : joined(parts);
    const gap = this.#calls === 1 ? ' ' : ' · ';
    const since = DOING.map((doing) => this.active[doing].values().next().value ?? now);
    if (this.isActive) pieces.push({ text: `${gap}${seconds(now - Math.min(...since))}`, tone: 'dim' });
    else if (this.#slowestMs > 0) {
      const [fastest, slowest] = [duration(this.#fastestMs), duration(this.#slowestMs)];
      pieces.push({ text: `${gap}${fastest === slowest ? slowest : `${fastest} to ${slowest}`}`, tone: 'dim' });
    }
    return pieces;
  }
}

const DOING = ['running', 'slot', 'lock', 'queued'] as const satisfies readonly Doing[];

type Tone = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

interface Piece {
  readonly text: string;
  readonly tone?: Tone;
}

function noOutcomes(): Outcomes {
  return { ok: 0, error: 0, refused: 0, aborted: 0 };
}

function total({ ok, error, refused, aborted }: Outcomes): number {
  return ok + error + refused + aborted;
}

function count(branches: Iterable<Branch>): Record<Doing, number> {
  const sum = { queued: 0, slot: 0, lock: 0, running: 0 };
  for (const { active } of branches) for (const doing of DOING) sum[doing] += active[doing].size;
  return sum;
}

function outcomeParts({ ok, error, refused, aborted }: Outcomes): Piece[] {
  return [
    ...part(ok, 'done', 'green'),
    ...part(error, 'failed', 'red'),
    ...part(refused, 'refused', 'yellow'),
    ...part(aborted, 'aborted', 'yellow'),
  ];
}

function outcomePieces(outcomes: Outcomes): Piece[] {
  return joined(outcomeParts(outcomes));
}

function doingParts({ running, slot, lock, queued }: Record<Doing, number>): Piece[] {
  return [
    ...part(running, 'running', 'cyan'),
    ...part(slot, 'waiting for a slot', 'yellow'),
    ...part(lock, 'waiting for the lock', 'yellow'),
    ...part(queued, 'queued', 'dim'),
  ];
}

function part(number: number, what: string, tone: Tone): Piece[] {
  return number === 0 ? [] : [{ text: `${number} ${what}`, tone }];
}

function joined(parts: readonly Piece[]): Piece[] {
  return parts.flatMap((piece, index) => (index === 0 ? [piece] : [{ text: ', ' }, piece]));
}

function hiddenPieces(hidden: readonly Branch[]): Piece[] {
  const outcomes = noOutcomes();
  for (const branch of hidden)
    for (const status of ['ok', 'error', 'refused', 'aborted'] as const) outcomes[status] += branch.outcomes[status];
  return [{ text: `${counted(hidden.length, 'more tool')}: ` }, ...joined([...outcomeParts(outcomes), ...doingParts(count(hidden))])];
}

/** A line of pieces, cut to the width before it is coloured: colours take no columns. */
function paint(pieces: readonly Piece[], columns: number, colors: Colors): AreaLine {
  let left = columns;
  let plain = '';
  let text = '';
  for (const piece of pieces) {
    if (left <= 0) break;
    const cut = cutTo(piece.text, left);
    left = cut === piece.text ? left - columnsOf(cut) : 0;
    plain += cut;
    text += piece.tone === undefined ? cut : colors[piece.tone](cut);
  }
  return { plain, text };
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** Of something that goes on: tenths, which change ten times a second at most. */
function seconds(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  const whole = Math.floor(s);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function duration(ms: number): string {
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(2)} s` : seconds(ms);
}

function size(bytes: number): string {
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(0)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
