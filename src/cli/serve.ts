// `callgate serve`: code mode over the tools of a command, for MCP clients. Not here: what a client is served (adapters/mcp/serve.ts), who may
// write to standard output meanwhile (protocol-output.ts).
import { ProgressFeed, serveMcpHttp, serveMcpStdio } from '../adapters/mcp/mcp.ts';
import { createCodeMode, type Invocation, type LimitOverrides, type TypeCheckMode } from '../index.ts';
import { loadSources, type SourceOptions } from './sources.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage.ts';

export interface ServeOptions extends SourceOptions {
  /** A port, 0 for one that is free; absent: standard input and output. */
  readonly http?: number;
  readonly limit?: LimitOverrides;
  readonly typecheck: TypeCheckMode;
  readonly timeZone: string;
  readonly locale: string;
  readonly actor?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly interface: string;
}

/** Serves until the client has gone, or, over HTTP, until somebody ends it. */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<boolean> {
  const { stderr, env, signal, cwd } = terminal;
  const say = (line: string): void => void stderr.write(`callgate serve: ${line}\n`);
  const { limit = {}, typecheck, timeZone, locale } = options;
  const sources = await loadSources(options, { cwd, env, report: say, optional: true });
  const progress = new ProgressFeed();
  const codeMode = createCodeMode({ tools: sources.tools, limits: limit, typecheck, timeZone, locale, observer: progress });
  try {
    const session = { invocation: invocationOf(options) };
    if (options.http !== undefined) {
      const token = env['CALLGATE_TOKEN'];
      const serving = await serveMcpHttp(codeMode, { port: options.http, session, progress, ...(token && { token }) });
      say(`listening at ${serving.url}`);
      say(token ? 'clients show the token in CALLGATE_TOKEN' : `clients send the header  Authorization: Bearer ${serving.token}`);
      await aborted(signal);
      say('ending');
      await serving.close();
    } else {
      if (terminal.protocol === undefined) throw new UsageError('Standard output is not free for the protocol here; use --http.');
      const serving = await serveMcpStdio(codeMode, { input: terminal.stdin, output: terminal.protocol, session, progress });
      await Promise.race([serving.closed, aborted(signal)]);
      await serving.close();
    }
    return true;
  } finally {
    await codeMode.close();
    await sources.close();
  }
}

function invocationOf({ actor, context, interface: from }: ServeOptions): Invocation {
  return { interface: from, ...(actor === undefined ? {} : { actorId: actor }), ...(context === undefined ? {} : { context }) };
}

/** Without a signal, never: then the client ends it. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}
