// `callgate view` and `callgate replay`: what a trace file holds, for a person. Not here: the format (adapters/trace.ts), how a program is
// run again (adapters/replay.ts).
import { resolve } from 'node:path';
import { programsOf, replay } from '../adapters/replay.ts';
import { readTrace, type Trace, type TraceEvent } from '../adapters/trace.ts';
import { printable, printableLine } from './printable.ts';
import { type Colors, colorsFor, type Terminal } from './terminal.ts';
import { UsageError } from './usage.ts';

export interface ViewOptions {
  /** Program texts, inputs and outputs too. */
  readonly payloads?: boolean;
}

/** Prints the programs of traces with their calls. */
export async function view(files: readonly string[], { payloads = false }: ViewOptions, terminal: Terminal): Promise<void> {
  const colors = colorsFor({ ...terminal, stderr: terminal.stdout });
  for (const file of files) {
    const trace = await readTrace(resolve(terminal.cwd, file));
    const programs = programsOf(trace);
    terminal.stdout.write(
      `${colors.bold(printableLine(file))}: ${programs.length} ${programs.length === 1 ? 'program' : 'programs'}, from ${trace.header.started}\n`,
    );
    for (const [index, id] of programs.entries()) terminal.stdout.write(programText(trace, { id, number: index + 1, payloads, colors }));
    if (trace.torn) terminal.stdout.write(`${colors.yellow('The last line is cut short: whoever wrote this trace died.')}\n`);
  }
}

export interface ReplayOptions {
  /** Number of the program in the trace, from 1. Default: all. */
  readonly program?: number;
}

/** Runs the programs of a trace again. Resolves to whether all went as recorded. */
export async function replayFile(file: string, { program }: ReplayOptions, { stdout, cwd }: Terminal): Promise<boolean> {
  const trace = await readTrace(resolve(cwd, file));
  const ids = programsOf(trace);
  if (ids.length === 0) throw new UsageError(`The trace \`${file}\` holds no program.`);
  if (program !== undefined && ids[program - 1] === undefined)
    throw new UsageError(
      `The trace \`${file}\` has ${ids.length} ${ids.length === 1 ? 'program' : 'programs'}; there is no number ${program}.`,
    );
  let isSame = true;
  for (const [index, id] of ids.entries()) {
    if (program !== undefined && index !== program - 1) continue;
    const outcome = await replay(trace, id);
    const said =
      outcome.type === 'same'
        ? `went the same way, with ${outcome.calls} ${outcome.calls === 1 ? 'call' : 'calls'}.`
        : outcome.type === 'different'
          ? `differs. ${outcome.difference}`
          : `cannot be replayed: ${outcome.reason}.`;
    stdout.write(`program ${index + 1} ${printable(said)}\n`);
    isSame &&= outcome.type === 'same';
  }
  return isSame;
}

interface Shown {
  readonly id: string;
  readonly number: number;
  readonly payloads: boolean;
  readonly colors: Colors;
}

function programText(trace: Trace, { id, number, payloads, colors }: Shown): string {
  const events = trace.events.filter((event) => 'executionId' in event && event.executionId === id);
  const start = events.find((event) => event.type === 'execution-start');
  const end = events.find((event) => event.type === 'execution-end');
  const began = start?.at ?? 0;
  const paint = end?.status === 'completed' ? colors.green : end === undefined ? colors.yellow : colors.red;
  const facts =
    end === undefined
      ? ''
      : ` in ${end.durationMs.toFixed(1)} ms, ${end.cpuMs.toFixed(1)} ms of it computing, ${end.calls} ${end.calls === 1 ? 'call' : 'calls'}`;
  const lines = [`\nprogram ${number} ${paint(end === undefined ? 'has no end here' : printableLine(end.status))}${facts}`];
  if (payloads && start?.source !== undefined) lines.push(numbered(start.source.text, colors));
  for (const event of events) {
    const line = eventLine(event, payloads, colors);
    if (line !== undefined) lines.push(`  ${`+${(event.at - began).toFixed(1)}`.padStart(9)} ms  ${line}`);
  }
  return `${lines.join('\n')}\n`;
}

function eventLine(event: TraceEvent, payloads: boolean, colors: Colors): string | undefined {
  const at = 'place' in event && event.place !== undefined ? colors.dim(` (line ${event.place.line})`) : '';
  const payload = (name: string, captured: { readonly text: string } | undefined): string =>
    payloads && captured !== undefined ? `\n               ${colors.dim(name)} ${printableLine(captured.text)}` : '';
  switch (event.type) {
    case 'call-queued':
      return `${colors.cyan('call')} ${printableLine(event.tool)}${at}`;
    case 'call-waiting':
      return `${colors.dim('waits')} ${printableLine(event.tool)} for the ${event.for}`;
    case 'call-start':
      return payloads && event.input !== undefined
        ? `${colors.dim('starts')} ${printableLine(event.tool)}${payload('input', event.input)}`
        : undefined;
    case 'call-hook':
      return `${colors.yellow(event.hook)} ${event.did} ${printableLine(event.tool)}`;
    case 'call-end': {
      const paint = event.status === 'ok' ? colors.green : event.status === 'error' ? colors.red : colors.yellow;
      return `${paint(event.status)} ${printableLine(event.tool)} in ${event.durationMs.toFixed(1)} ms${payload('output', event.output)}${payload('error', event.detail)}`;
    }
    case 'output':
      return event.text === undefined ? undefined : `${colors.dim(event.level)} ${printableLine(event.text.text)}`;
    case 'artifact':
      return `${colors.cyan('artifact')} ${printableLine(event.name ?? event.artifactId)} ${printableLine(event.mediaType)}`;
    case 'warning':
      return `${colors.yellow('warning')} ${printableLine(event.message)}${at}`;
    case 'limit':
      return `${colors.red('limit')} ${event.limit} of ${event.allowed}`;
    case 'execution-parked':
      return `${colors.dim('parked')} ${event.imageBytes} bytes`;
    case 'execution-resumed':
      return colors.dim('resumed');
    case 'execution-end':
      return `${colors.dim('end')}${at}${payload('value', event.value)}${payload('error', event.detail)}`;
    default:
      return undefined;
  }
}

function numbered(text: string, colors: Colors): string {
  return text
    .split('\n')
    .map((line, index) => `  ${colors.dim(`${String(index + 1).padStart(4)} |`)} ${printable(line)}`)
    .join('\n');
}
