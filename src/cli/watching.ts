// The page of `--watch`, and `callgate watch` for traces: served while a command works, and until somebody has seen enough.
// Not here: the page and its server (adapters/watch.ts).
import { resolve } from 'node:path';
import { readTrace, type Trace } from '../adapters/trace.ts';
import { serveWatch, type Watched, type Watching } from '../adapters/watch.ts';
import { printableLine } from './printable.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage.ts';

/** What `--watch [port]` gives: a port, or that any will do. */
export type WatchPort = number | true | undefined;

/** What a code mode needs for the page to show more than names and times. */
export function captureFor(watch: WatchPort): { readonly capture?: true; readonly captureBytes?: number } {
  return watch === undefined ? {} : { capture: true, captureBytes: SHOWN_BYTES };
}

const SHOWN_BYTES = 256 * 1024;

/** Serves the page if it was asked for, and says where. */
export async function startWatching(
  watched: Watched,
  watch: WatchPort,
  { stderr }: Pick<Terminal, 'stderr'>,
): Promise<Watching | undefined> {
  if (watch === undefined) return undefined;
  const watching = await serveWatch(watched, watch === true ? {} : { port: watch });
  stderr.write(`watch at ${watching.url}\n`);
  return watching;
}

/** Keeps the page open when the work is over, until the command is interrupted. */
export async function keepWatching(watching: Watching | undefined, { stderr, signal }: Pick<Terminal, 'stderr' | 'signal'>): Promise<void> {
  if (watching === undefined) return;
  if (signal === undefined || signal.aborted) return watching.close();
  stderr.write('The page stays open; Ctrl-C ends.\n');
  await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
  await watching.close();
}

/** `callgate watch FILE…`: traces in the page. */
export async function watchTraces(files: readonly string[], { port }: { readonly port?: number }, terminal: Terminal): Promise<void> {
  const traces: Trace[] = [];
  for (const file of files) traces.push(await readTrace(resolve(terminal.cwd, file)));
  const [first, ...others] = traces;
  if (first === undefined) throw new UsageError('Name a trace file.');
  if (traces.some(({ torn }) => torn)) terminal.stderr.write('The last line of a trace is cut short: whoever wrote it died.\n');
  const whole: Trace = { ...first, events: [...first.events, ...others.flatMap(({ events }) => events)] };
  terminal.stderr.write(`${files.map(printableLine).join(', ')}\n`);
  await keepWatching(await startWatching(whole, port ?? true, terminal), terminal);
}
