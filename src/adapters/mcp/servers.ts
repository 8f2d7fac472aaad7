// Several servers as one source of tools, from the configuration that editors and assistants use: `{ "mcpServers": { … } }`. All of them start
// together. Not here: reading the file (the command line does), what one server is (provider.ts).
import { type Binding, CodeModeError, type ToolSource } from '../../index.ts';
import { isRecord } from './connection.ts';
import type { McpListener } from './events.ts';
import type { McpProvider, McpProviderOptions } from './options.ts';
import { mcpProvider } from './provider.ts';

export interface McpServersOptions {
  /** What `${NAME}` and `${NAME:-otherwise}` in the configuration stand for. Default: nothing, so that each such reference is an error. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether a server that does not start is left out, where its entry does not say (`"optional": true`). Default false. */
  readonly optional?: boolean | undefined;
  readonly onEvent?: McpListener | undefined;
}

/**
 * The tools of all servers of a configuration, each under its name. An entry has `command`, `args`, `env`, `cwd`, or `url`, `headers`; also
 * `disabled`, and of `mcpProvider()` the options `optional`, `raw` and `limits`. What others add for themselves is ignored.
 * Throws `option_invalid` for a configuration that is none, naming the server.
 */
export function mcpServers(configuration: unknown, options: McpServersOptions = {}): McpProvider {
  const entries =
    isRecord(configuration) && isRecord(configuration['mcpServers']) ? Object.entries(configuration['mcpServers']) : undefined;
  if (entries === undefined) throw invalid('The configuration should be { "mcpServers": { "name": { "command": … } or { "url": … } } }.');
  const named = new Map<string, string>();
  const providers = entries.flatMap(([key, entry]) => {
    if (!isRecord(entry)) throw invalid(`The MCP server \`${key}\` should be an object with \`command\` or \`url\`.`);
    if (entry['disabled'] === true) return [];
    const name = key.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 64);
    const earlier = named.get(name);
    if (earlier !== undefined)
      throw invalid(`The MCP servers \`${earlier}\` and \`${key}\` would both be \`tools.${name}\`; rename one of them.`);
    named.set(name, key);
    return [mcpProvider(toOptions(entry, { key, name, options }))];
  });
  return new Servers(providers);
}

class Servers implements McpProvider {
  readonly #providers: readonly McpProvider[];

  constructor(providers: readonly McpProvider[]) {
    this.#providers = providers;
  }

  async tools(binding: Binding): Promise<ToolSource> {
    const started = await Promise.allSettled(this.#providers.map(async (provider) => provider.tools(binding)));
    return started.map((outcome, index): ToolSource => {
      if (outcome.status === 'rejected') throw outcome.reason;
      const { namespace } = this.#providers[index] ?? {};
      return { ...(namespace !== undefined && { namespace }), tools: () => outcome.value };
    });
  }

  async disconnect(): Promise<void> {
    await Promise.all(this.#providers.map((provider) => provider.disconnect()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect();
  }
}

function toOptions(
  entry: Readonly<Record<string, unknown>>,
  { key, name, options }: { readonly key: string; readonly name: string; readonly options: McpServersOptions },
): McpProviderOptions {
  const { command, args, env, cwd, url, headers, type, optional, raw, limits } = entry;
  if (type === 'sse') {
    throw invalid(`The MCP server \`${key}\` uses the transport "sse", which the protocol has given up; use "http", the streamable one.`);
  }
  const expand = (value: unknown): unknown => {
    if (typeof value === 'string') return expandText(value, key, options.environment ?? {});
    if (Array.isArray(value)) return value.map(expand);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, expand(inner)])) : value;
  };
  const given = Object.entries({ command, args, env, cwd, url, headers }).flatMap(([option, value]) =>
    value === undefined || value === null ? [] : [[option, expand(value)]],
  );
  // mcpProvider() checks each of them, whatever they are.
  return {
    name,
    ...Object.fromEntries(given),
    optional: optional ?? options.optional,
    raw,
    limits,
    onEvent: options.onEvent,
  } as McpProviderOptions;
}

/** `${NAME}` and `${NAME:-otherwise}`. */
function expandText(text: string, server: string, environment: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, variable: string, otherwise: string | undefined) => {
    const value = environment[variable] || otherwise;
    if (value !== undefined) return value;
    throw invalid(`The MCP server \`${server}\` needs the environment variable ${variable}, which is not set.`);
  });
}

function invalid(message: string): CodeModeError {
  return new CodeModeError('option_invalid', message);
}
