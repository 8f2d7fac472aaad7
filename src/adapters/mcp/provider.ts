// mcpProvider(): a server's tools as tools of a run. Here a call leaves for the server, and what went wrong with it becomes what the program
// is told. Not here: the connection (client.ts), when it is made (seat.ts), what tools look like (tool.ts) and results (result.ts).
import { type Binding, CodeModeError, type Run, type Tool, ToolError, type ToolSource } from '../../index.ts';
import { McpClient } from './client.ts';
import { tell } from './events.ts';
import { McpFailure } from './failure.ts';
import { openHttp } from './http.ts';
import type { Listing } from './listing.ts';
import {
  type CheckedOptions,
  checkOptions,
  isTexts,
  isTransport,
  type McpProvider,
  type McpProviderOptions,
  type PerRun,
} from './options.ts';
import { readResult } from './result.ts';
import { Seat } from './seat.ts';
import { StdioTransport } from './stdio.ts';
import { type Carry, ToolMaker } from './tool.ts';
import type { OwnTransport } from './transport.ts';

/**
 * Brings the tools of an MCP server in, as `tools.<name>.<tool>`. The server is started or connected to by the first run that needs it. Runs
 * share one client, unless credentials depend on the run (`env` or `headers` as functions): then each has its own, closed with the run.
 * Throws a `CodeModeError` for wrong options; a server that does not start fails the run (`catalog_failed`) unless it is `optional`.
 */
export function mcpProvider(options: McpProviderOptions): McpProvider {
  return new ServerProvider(checkOptions(options));
}

/** How long runs go on without an optional server that did not start before it is tried again. */
const RETRY_MS = 10_000;

class ServerProvider implements McpProvider {
  readonly namespace: string;
  readonly #options: CheckedOptions;
  readonly #shared: Seat | undefined;
  readonly #ofRun = new WeakMap<Run, Seat>();
  readonly #maker: ToolMaker;
  /** The tools of the listing that was last asked for: one object as long as nothing changes. */
  #latest: { readonly listing: Listing; readonly tools: readonly Tool[] } | undefined;
  #failedUntil = 0;

  constructor(options: CheckedOptions) {
    const { name, map, raw, onEvent } = options;
    this.namespace = name;
    this.#options = options;
    this.#shared = options.shared ? new Seat(() => this.#start(undefined)) : undefined;
    this.#maker = new ToolMaker({
      server: name,
      map,
      raw,
      execute: (...call) => this.#call(...call),
      onLeftOut: (tool, reason) => tell(onEvent, { type: 'tool-left-out', server: name, tool, reason }),
    });
  }

  async tools(binding: Binding): Promise<ToolSource> {
    if (this.#options.optional && performance.now() < this.#failedUntil) return [];
    let client: McpClient;
    try {
      client = await this.#seatFor(binding).forRun();
    } catch (error) {
      return this.#notStarted(error);
    }
    this.#failedUntil = 0;
    const { listing } = client;
    if (this.#latest?.listing !== listing) this.#latest = { listing, tools: this.#maker.make(listing) };
    return this.#latest.tools;
  }

  async disconnect(): Promise<void> {
    await this.#shared?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect();
  }

  #seatFor(binding: Binding): Seat {
    if (this.#shared !== undefined) return this.#shared;
    const seat = new Seat(() => this.#start(binding));
    this.#ofRun.set(binding.run, seat);
    binding.run.register(() => seat.close());
    return seat;
  }

  async #start(binding: Binding | undefined): Promise<McpClient> {
    const { name, limits, onEvent } = this.#options;
    return McpClient.start({ name, limits, onEvent, transport: await this.#transport(binding) });
  }

  async #transport(binding: Binding | undefined): Promise<OwnTransport> {
    const { command, args = [], env, cwd, url, headers, transport, limits } = this.#options;
    if (command !== undefined) return new StdioTransport({ command, args, env: await this.#texts('env', env, binding), cwd, limits });
    if (url !== undefined) return openHttp({ url, headers: await this.#texts('headers', headers, binding), limits });
    const made: unknown = typeof transport === 'function' ? await transport(binding) : transport;
    if (isTransport(made)) return made;
    throw new CodeModeError('option_invalid', `MCP server \`${this.namespace}\`: \`transport\` gave no Transport.`);
  }

  async #texts(
    option: string,
    given: PerRun<Readonly<Record<string, string>>> | undefined,
    binding: Binding | undefined,
  ): Promise<Readonly<Record<string, string>>> {
    // Functions of the run never come here without one: they are refused for shared clients.
    const texts: unknown = typeof given === 'function' ? binding && (await given(binding)) : given;
    if (texts === undefined) return {};
    if (isTexts(texts)) return texts;
    throw new CodeModeError('option_invalid', `MCP server \`${this.namespace}\`: \`${option}\` should give an object of strings.`);
  }

  /** What becomes of a run whose server does not start. Mistakes of the application are never left out. */
  #notStarted(error: unknown): readonly Tool[] {
    if (!(error instanceof McpFailure)) throw error;
    const { optional, onEvent } = this.#options;
    const server = this.namespace;
    if (!optional) {
      throw new CodeModeError('catalog_failed', `The MCP server \`${server}\` ${error.message}.${stderrOf(error)}`, {
        cause: error,
        details: { server },
      });
    }
    this.#failedUntil = performance.now() + RETRY_MS;
    if (onEvent === undefined)
      process.emitWarning(`The MCP server \`${server}\` ${error.message}; runs go on without it.`, 'CallgateWarning');
    tell(onEvent, { type: 'server-left-out', server, reason: error.message, error });
    return [];
  }

  readonly #call: Carry = async (input, context, { name, raw }) => {
    const seat = this.#ofRun.get(context.run) ?? this.#shared;
    if (seat === undefined) throw new CodeModeError('closed', `The tools of the MCP server \`${this.namespace}\` belong to another run.`);
    // Of `execution:number`, the execution: one program.
    const programId = context.call.id.slice(0, context.call.id.lastIndexOf(':'));
    try {
      const seated = seat.forCall(programId);
      const client = seated instanceof McpClient ? seated : await seated;
      return readResult(await client.call(name, input, context), { server: this.namespace, tool: name, raw });
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error;
      if (error.kind === 'ended' || error.kind === 'start') seat.witness(programId);
      throw toToolError(error, { server: this.namespace, tool: name });
    }
  };
}

/** What a program is told. What the server said stands after "says"; the rest are our words. */
function toToolError(failure: McpFailure, { server, tool }: { readonly server: string; readonly tool: string }): ToolError {
  const { kind, message, code, data } = failure;
  switch (kind) {
    case 'refused':
      return new ToolError(`The MCP server \`${server}\` refused \`${tool}\` and says: ${message}`, {
        code: 'mcp_refused',
        details: { ...(code !== undefined && { code }), ...(data !== undefined && { data }) },
        cause: failure,
      });
    case 'start':
    case 'ended':
      return new ToolError(`The MCP server \`${server}\` ${message}, so \`${tool}\` has no answer.`, { code: 'mcp_ended', cause: failure });
    case 'timeout':
    case 'protocol':
    case 'oversized':
    case 'cancelled':
      return new ToolError(`The MCP server \`${server}\` ${message} (\`${tool}\`).`, { code: `mcp_${kind}`, cause: failure });
    default:
      return kind satisfies never;
  }
}

function stderrOf({ stderr }: McpFailure): string {
  return stderr === undefined ? '' : ` Its standard error ends with:\n${stderr}`;
}
