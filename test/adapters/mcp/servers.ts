// Providers of the scripted server and of real ones, for tests: each is disconnected when its test ends.
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { McpEvent, McpProvider, McpProviderOptions } from '../../../src/adapters/mcp/mcp.ts';
import { mcpProvider } from '../../../src/adapters/mcp/mcp.ts';
import { type CodeMode, type CodeModeOptions, createCodeMode } from '../../../src/index.ts';

const here = import.meta.dirname;

/** A provider of the scripted server, its events in `events`. */
export function scripted(
  behaviour: string,
  { argument = '', ...options }: Partial<McpProviderOptions> & { argument?: string } = {},
): McpProvider & { readonly events: McpEvent[] } {
  const events: McpEvent[] = [];
  const provider = mcpProvider({
    name: 'bad',
    command: process.execPath,
    args: [join(here, 'scripted-server.mjs'), behaviour, argument],
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => provider.disconnect());
  return Object.assign(provider, { events });
}

const modules = resolve(here, '../../../node_modules');

/** How each real server is started; `filesystem` and `git` want more arguments. */
export const REAL = {
  everything: { command: process.execPath, args: [join(modules, '@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'] },
  filesystem: { command: process.execPath, args: [join(modules, '@modelcontextprotocol/server-filesystem/dist/index.js')] },
  memory: { command: process.execPath, args: [join(modules, '@modelcontextprotocol/server-memory/dist/index.js')] },
  git: {
    command: process.execPath,
    args: [join(modules, '@cyanheads/git-mcp-server/dist/index.js')],
    env: { MCP_TRANSPORT_TYPE: 'stdio', MCP_LOG_LEVEL: 'error' },
  },
} as const;

/** A code mode that is closed when its test ends. */
export function open(options: CodeModeOptions): CodeMode {
  const codeMode = createCodeMode({ workers: 1, ...options });
  onTestFinished(() => codeMode.close());
  return codeMode;
}

/** The kinds of events, in order, each once. */
export function kinds(events: readonly McpEvent[]): string[] {
  return [...new Set(events.map(({ type }) => type))];
}
