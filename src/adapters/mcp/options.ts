// The options of a server's provider, and that they are right. Not here: what is done with them (provider.ts), the configuration file of the
// command line (config.ts).
import { type Binding, CodeModeError, type ToolProvider } from '../../index.ts';
import { isRecord } from './connection.ts';
import type { McpListener } from './events.ts';
import { type McpLimitName, type McpLimits, resolveMcpLimits } from './limits.ts';
import type { McpToolMap } from './tool.ts';
import type { McpTransport } from './transport.ts';

/** Fixed, or made for each run from its binding: then each run has a client of its own. */
export type PerRun<Value> = Value | ((binding: Binding) => Value | Promise<Value>);

export interface McpProviderOptions {
  /** The namespace of its tools in programs, `tools.<name>.<tool>`, and its name in messages and events. */
  readonly name: string;
  /** A program to start and to speak with over its standard streams. One of `command`, `url` and `transport` is needed. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Environment for `command`, beside the few variables that any program needs. Nothing else of the host's own is passed on. */
  readonly env?: PerRun<Readonly<Record<string, string>>> | undefined;
  /** Working directory for `command`. Default: the host's own. */
  readonly cwd?: string | undefined;
  /** Address of a server that speaks streamable HTTP. Needs the package `@modelcontextprotocol/sdk`. */
  readonly url?: string | URL | undefined;
  /** Headers of every request to `url`. */
  readonly headers?: PerRun<Readonly<Record<string, string>>> | undefined;
  /** Any `Transport` of the SDK, not started yet, which serves once; or a function that makes one, for each client that is started. */
  readonly transport?: McpTransport | ((binding: Binding | undefined) => McpTransport | Promise<McpTransport>) | undefined;
  /** Renames, changes or leaves out tools, one by one. Default: all of them as they are listed. */
  readonly map?: McpToolMap | undefined;
  /** Whether programs get the whole envelope of a result instead of its value. Default false. */
  readonly raw?: boolean | undefined;
  /** Whether runs go on without its tools when it does not start. It is told to `onEvent`, or as a process warning. Default false. */
  readonly optional?: boolean | undefined;
  /** Whether all runs use one client. Default: unless `env`, `headers` or `transport` is a function. */
  readonly shared?: boolean | undefined;
  /** Bounds on what the server may take, key by key. */
  readonly limits?: { readonly [Name in McpLimitName]?: number | undefined } | undefined;
  /** Hears what happens to the server. */
  readonly onEvent?: McpListener | undefined;
}

/** A server's tools for every run. */
export interface McpProvider extends ToolProvider {
  /** Ends the client that runs share, and its process; the next run starts another. Without one that is left open the host can end by itself. */
  disconnect(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options as they may be relied on. */
export type CheckedOptions = Omit<McpProviderOptions, 'limits' | 'url' | 'shared' | 'optional' | 'raw'> & {
  readonly url: URL | undefined;
  readonly limits: McpLimits;
  readonly shared: boolean;
  readonly optional: boolean;
  readonly raw: boolean;
};

const KNOWN = [
  'name',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'transport',
  'map',
  'raw',
  'optional',
  'shared',
  'limits',
  'onEvent',
];

export function checkOptions(options: McpProviderOptions): CheckedOptions {
  if (!isRecord(options)) throw invalid('mcpProvider() takes an object such as { name, command, args } or { name, url }.');
  const { name, command, args, env, cwd, url, headers, transport, map, raw, optional, shared, onEvent } = options;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw invalid(
      `The \`name\` of an MCP server should be 1 to 64 letters, digits, "_" or "-", but is ${JSON.stringify(name) ?? 'not there'}.`,
    );
  }
  const must = (holds: boolean, what: string): void => {
    if (!holds) throw invalid(`MCP server \`${name}\`: ${what}.`);
  };
  for (const key of Object.keys(options)) must(KNOWN.includes(key), `there is no option \`${key}\`; there are ${KNOWN.join(', ')}`);
  const ways = { command, url, transport };
  const given = Object.entries(ways).filter(([, way]) => way !== undefined);
  must(
    given.length === 1,
    `exactly one of \`command\`, \`url\` and \`transport\` says how to reach it, but there ${given.length === 0 ? 'is none' : `are ${given.map(([way]) => `\`${way}\``).join(' and ')}`}`,
  );
  must(command === undefined || (typeof command === 'string' && command !== ''), '`command` should be the name or path of a program');
  must(args === undefined || (Array.isArray(args) && args.every((arg) => typeof arg === 'string')), '`args` should be an array of strings');
  must(cwd === undefined || typeof cwd === 'string', '`cwd` should be a path');
  for (const [key, value] of Object.entries({ args, env, cwd }))
    must(value === undefined || command !== undefined, `\`${key}\` is for \`command\``);
  must(headers === undefined || url !== undefined, '`headers` are for `url`');
  must(
    env === undefined || typeof env === 'function' || isTexts(env),
    '`env` should be an object of strings, or a function that makes one',
  );
  must(
    headers === undefined || typeof headers === 'function' || isTexts(headers),
    '`headers` should be an object of strings, or a function that makes one',
  );
  must(
    transport === undefined || typeof transport === 'function' || isTransport(transport),
    '`transport` should be a Transport of the SDK, or a function that makes one',
  );
  for (const [key, value] of Object.entries({ map, onEvent }))
    must(value === undefined || typeof value === 'function', `\`${key}\` should be a function`);
  for (const [key, value] of Object.entries({ raw, optional, shared }))
    must(value === undefined || typeof value === 'boolean', `\`${key}\` should be true or false`);
  const dependsOnRun = typeof env === 'function' || typeof headers === 'function';
  must(!(shared === true && dependsOnRun), '`shared` cannot be true while `env` or `headers` is a function of the run');
  must(!(shared === false && isTransport(transport)), 'a `transport` serves once; give a function that makes one for each run');
  return {
    ...options,
    url: url === undefined ? undefined : toUrl(url, name),
    limits: resolveMcpLimits(options.limits),
    shared: shared ?? !(dependsOnRun || typeof transport === 'function'),
    optional: optional ?? false,
    raw: raw ?? false,
  };
}

export function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((member) => typeof member === 'string');
}

export function isTransport(value: unknown): value is McpTransport {
  return (
    isRecord(value) && typeof value['start'] === 'function' && typeof value['send'] === 'function' && typeof value['close'] === 'function'
  );
}

function toUrl(url: unknown, name: string): URL {
  const parsed = url instanceof URL ? url : typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && (parsed.protocol === 'http:' || parsed.protocol === 'https:')) return parsed;
  throw invalid(`MCP server \`${name}\`: \`url\` should be an http or https address.`);
}

function invalid(message: string): CodeModeError {
  return new CodeModeError('option_invalid', message);
}
