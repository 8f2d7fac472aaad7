// `callgate run`: one program, from its text to its printed result. Not here: options (cli.ts), reading and printing, each
// in a file of its own.
import { resolve } from 'node:path';
import { traceFile } from '../adapters/trace.ts';
import type { Watching } from '../adapters/watch.ts';
import { createCodeMode, type Invocation, type LimitOverrides, type TypeCheckMode } from '../index.ts';
import { engineOf, type PlaceOptions } from './engine.ts';
import { readProgram } from './program-text.ts';
import { openProgress } from './progress.ts';
import { renderJson, renderOutput, renderTroubles } from './render.ts';
import { loadSources, type SourceOptions } from './sources.ts';
import { colorsFor, type Terminal } from './terminal.ts';
import { captureFor, keepWatching, startWatching, type WatchPort } from './watching.ts';

/** Most of one payload in a trace: whole results, so that a program can be replayed. */
const TRACED_BYTES = 8 * 1024 * 1024;

export interface RunOptions extends SourceOptions, PlaceOptions {
  readonly limit?: LimitOverrides;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly trace?: string;
  readonly payloads?: boolean;
  readonly watch?: WatchPort;
  readonly typecheck: TypeCheckMode;
  readonly timeZone: string;
  readonly locale: string;
  readonly actor?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly interface: string;
}

/** Runs the program in `file` and prints what came of it. Resolves to whether it completed. */
export async function run(file: string, options: RunOptions, terminal: Terminal): Promise<boolean> {
  const { stdout, stderr, cwd, env, signal } = terminal;
  const colors = colorsFor(terminal);
  const progress = openProgress(terminal);
  const isSilent = options.quiet === true || options.json === true;
  const { tools, close } = await loadSources(options, { cwd, env, report: (line) => (isSilent ? undefined : progress.note(line)) });
  // Before the program is read: a wrong limit or tool should not wait for somebody who types the program.
  const { limit = {}, isolation, sandbox, typecheck, timeZone, locale } = options;
  const trace = options.trace === undefined ? undefined : traceFile(resolve(cwd, options.trace));
  const codeMode = createCodeMode({
    tools,
    limits: limit,
    engine: engineOf(options),
    isolation,
    sandbox,
    typecheck,
    timeZone,
    locale,
    observer: [...(isSilent ? [] : [progress]), ...(trace === undefined ? [] : [trace])],
    ...captureFor(options.watch),
    ...(trace === undefined ? {} : { capture: options.payloads !== false, captureBytes: TRACED_BYTES }),
  });
  let watching: Watching | undefined;
  try {
    watching = await startWatching(codeMode, options.watch, terminal);
    const source = await readProgram(file, terminal);
    const result = await codeMode.run(source, { invocation: invocationOf(options), ...(signal === undefined ? {} : { signal }) });
    if (!isSilent) progress.close(result);
    stdout.write(options.json ? renderJson(result) : renderOutput(result));
    stderr.write(renderTroubles(result, colors));
    await keepWatching(watching, terminal);
    return result.status === 'completed';
  } finally {
    progress.close();
    await watching?.close();
    await codeMode.close();
    await close();
    trace?.close();
  }
}

function invocationOf({ actor, context, interface: from }: RunOptions): Invocation {
  return { interface: from, ...(actor === undefined ? {} : { actorId: actor }), ...(context === undefined ? {} : { context }) };
}
