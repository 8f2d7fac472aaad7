// One line for one call, log or note, as it stands on standard error on a terminal and elsewhere. Not here: when it is written (progress.ts,
// live-progress.ts).
import type { CallStatus } from '../index.ts';
import { printableLine } from './printable.ts';
import type { Colors } from './terminal.ts';

/** One call that has ended; `time` in milliseconds, or words of nine columns. */
export function callLine(
  { status, tool, time, reason }: { status: CallStatus; tool: string; time: number | string | undefined; reason: string },
  colors: Colors,
): string {
  const column = typeof time === 'number' ? duration(time) : (time ?? '').padStart(9);
  return `${painter(status, colors)(status.padEnd(7))} ${column} ${printableLine(tool)}${reason === '' ? '' : `: ${reason}`}`;
}

/** What a tool said; `note` in the column of times. */
export function logLine({ tool, message }: { readonly tool: string; readonly message: string }, colors: Colors, note = ''): string {
  return `${colors.dim('log'.padEnd(7))} ${note.padStart(9)} ${printableLine(tool)}: ${printableLine(message)}`;
}

export function noteLine(text: string, colors: Colors): string {
  return `${colors.yellow('note'.padEnd(7))}           ${text}`;
}

/** An error on one line, not too long. */
export function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : error === undefined ? '' : String(error);
  const line = printableLine(text);
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

function painter(status: CallStatus, colors: Colors): (text: string) => string {
  switch (status) {
    case 'ok':
      return colors.green;
    case 'error':
      return colors.red;
    case 'refused':
    case 'aborted':
      return colors.yellow;
    default:
      return status satisfies never;
  }
}

/** Nine columns: milliseconds, or seconds from ten on. */
export function duration(ms: number): string {
  return (ms < 10_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(1)} s`).padStart(9);
}
