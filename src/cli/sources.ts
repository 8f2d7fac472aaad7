// Where a command's tools come from: a module (`--tools`), MCP servers (`--mcp`), or both. Not here: what a module may export
// (tools-module.ts), what a server may do (adapters/mcp).
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type McpEvent, mcpServers } from '../adapters/mcp/mcp.ts';
import type { ToolSource } from '../index.ts';
import { printableLine } from './printable.ts';
import type { Terminal } from './terminal.ts';
import { loadTools } from './tools-module.ts';
import { UsageError } from './usage.ts';

export interface SourceOptions {
  /** A path or package whose default export is the tools. */
  readonly tools?: string;
  /** A path to `{ "mcpServers": { … } }`. */
  readonly mcp?: string;
}

export interface Sources {
  readonly tools: ToolSource;
  /** Ends the servers that were started. */
  close(): Promise<void>;
}

/**
 * Loads the tools of a command. Throws a `UsageError` when there is no source, or when one is none. Servers start with the first run; what
 * happens to them is told to `report` in lines for people. `optional`: a server that does not start is left out unless its entry says otherwise.
 */
export async function loadSources(
  { tools, mcp }: SourceOptions,
  { cwd, env, report, optional = false }: Pick<Terminal, 'cwd' | 'env'> & { report(line: string): void; optional?: boolean },
): Promise<Sources> {
  if (tools === undefined && mcp === undefined) {
    throw new UsageError('There are no tools: say --tools MODULE, --mcp CONFIG.json, or both.');
  }
  const servers =
    mcp === undefined
      ? undefined
      : mcpServers(readConfiguration(mcp, cwd), {
          environment: env,
          optional,
          onEvent: (event) => {
            const line = describeEvent(event);
            if (line !== undefined) report(printableLine(line));
          },
        });
  const module = tools === undefined ? undefined : await loadTools(tools, cwd);
  return { tools: [module, servers], close: async () => servers?.disconnect() };
}

/** What a person should know of; `undefined` for what goes as it should. */
function describeEvent(event: McpEvent): string | undefined {
  switch (event.type) {
    case 'server-left-out':
      return `${event.server}: left out, since it ${event.reason}`;
    case 'tool-left-out':
      return `${event.server}: the tool ${event.tool} is left out: ${event.reason}`;
    case 'server-misbehaved':
      return `${event.server}: ${event.problem}`;
    case 'server-end':
      return event.expected
        ? undefined
        : `${event.server}: ${event.reason}${event.stderr === undefined ? '' : `; it said last: ${event.stderr.slice(-300)}`}`;
    case 'server-start':
    case 'server-log':
    case 'tools-changed':
      return undefined;
    default:
      return event satisfies never;
  }
}

function readConfiguration(file: string, cwd: string): unknown {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a directory' : String(code);
    throw new UsageError(`The MCP configuration ${file} cannot be read: ${why}.`);
  }
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new UsageError(`The MCP configuration ${file} is not JSON: ${(error as SyntaxError).message}.`);
  }
}
