// Makes tools of a list: names that programs can use and nobody can confuse, schemas that can be checked, and what `map` wishes. One tool
// that is unusable is left out and named; it does not cost the others. Not here: how a call is made (provider.ts).
import { createHash } from 'node:crypto';
import { CodeModeError, defineTool, type JsonSchema, type Tool, type ToolAnnotations } from '../../index.ts';
import { toIdentifier } from '../../tools/catalog.ts';
import { isRecord } from './connection.ts';
import type { ListedTool, Listing } from './listing.ts';

/** A server's tool, as `map` sees it and may change it. */
export interface McpTool {
  /** The name in programs. Calls go to the server's own name, whatever this says. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Absent: the result is not checked. */
  readonly outputSchema?: JsonSchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** Whether its calls never overlap with those of other exclusive tools of the run. Default false. */
  readonly exclusive?: boolean | undefined;
  /** Longest time of a call in the whole. Default: none, but `limits.callMs` without a sign of life. */
  readonly timeoutMs?: number | undefined;
  /** Whether programs get the whole envelope, `{ content, structuredContent, … }`. Default: the provider's option. */
  readonly raw?: boolean | undefined;
}

/** Called once for each tool of a list. Return the tool, changed or not, or nothing (`null`, `undefined`, `false`) to leave it out. */
export type McpToolMap = (tool: McpTool, listed: ListedTool) => McpTool | null | undefined | false;

/** How a call of one tool is carried out. */
export type Carry = (
  input: unknown,
  context: Parameters<Tool['execute']>[1],
  tool: { readonly name: string; readonly raw: boolean },
) => unknown;

export interface ToolsOptions {
  readonly server: string;
  readonly map: McpToolMap | undefined;
  readonly raw: boolean;
  readonly execute: Carry;
  readonly onLeftOut: (tool: string, reason: string) => void;
}

const NAME_LENGTH = 64;
const DIGEST_LENGTH = 12;
/** Definitions that are remembered; per-run clients of many callers list the same tools over and over. */
const MAX_REMEMBERED = 20_000;

/** Makes tools, and remembers them by the text of their definition. */
export class ToolMaker {
  readonly #options: ToolsOptions;
  readonly #made = new Map<string, Tool | undefined>();

  constructor(options: ToolsOptions) {
    this.#options = options;
  }

  make({ tools, strange }: Listing): readonly Tool[] {
    for (const problem of strange) this.#options.onLeftOut('', problem);
    const names = uniqueNames(tools.map(({ name }) => name));
    const taken = new Map<string, string>();
    return tools.flatMap((listed) => {
      const name = names.get(listed.name) ?? listed.name;
      const identifier = toIdentifier(name, { atRoot: false });
      const holder = taken.get(identifier);
      if (holder !== undefined) {
        const reason =
          holder === listed.name ? 'it is in the list twice; the first one counts' : `its name looks like that of \`${holder}\``;
        this.#options.onLeftOut(listed.name, reason);
        return [];
      }
      taken.set(identifier, listed.name);
      const key = `${name}\n${JSON.stringify(listed)}`;
      if (!this.#made.has(key)) {
        if (this.#made.size >= MAX_REMEMBERED) this.#made.clear();
        this.#made.set(key, this.#makeOne(listed, name));
      }
      return this.#made.get(key) ?? [];
    });
  }

  #makeOne(listed: ListedTool, name: string): Tool | undefined {
    const { server, map, raw, onLeftOut } = this.#options;
    if (isRecord(listed['execution']) && listed['execution']['taskSupport'] === 'required') {
      onLeftOut(listed.name, 'it can only be called as a task, which is not supported');
      return undefined;
    }
    const described = describe(listed, { name, server });
    // What `map` throws is the application's mistake, and passes on.
    const wanted = map === undefined ? described : map(described, listed);
    if (wanted === null || wanted === undefined || wanted === false) return undefined;
    const isRaw = wanted.raw ?? raw;
    // The schema describes the structured value, not the envelope.
    const { outputSchema, ...withoutOutput } = wanted;
    const checked = isRaw ? withoutOutput : wanted;
    try {
      return this.#define(checked, listed, isRaw);
    } catch (error) {
      if (!CodeModeError.is(error)) throw error;
      if (outputSchema !== undefined && !isRaw) {
        try {
          const tool = this.#define(withoutOutput, listed, isRaw);
          onLeftOut(`${listed.name} (its output schema)`, `results are not checked: ${error.message}`);
          return tool;
        } catch {
          // Then it is not the output schema, and the first error says what.
        }
      }
      onLeftOut(listed.name, error.message);
      return undefined;
    }
  }

  #define(
    { name, description, inputSchema, outputSchema, annotations, exclusive, timeoutMs }: McpTool,
    listed: ListedTool,
    raw: boolean,
  ): Tool {
    const { execute } = this.#options;
    const origin = { name: listed.name, raw };
    return defineTool<JsonSchema, JsonSchema, unknown>({
      name,
      description,
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
      ...(exclusive !== undefined && { exclusive }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      execute: (input, context) => execute(input, context, origin),
    });
  }
}

function describe(
  { title, description, inputSchema, outputSchema, annotations, name: own }: ListedTool,
  { name, server }: { name: string; server: string },
): McpTool {
  const texts = [description, title].filter((text) => typeof text === 'string' && text.trim() !== '');
  const hints = {
    ...(typeof title === 'string' && { title }),
    ...(isRecord(annotations) && annotations),
  };
  return {
    name,
    description: texts[0] ?? `The tool ${own} of the server ${server}.`,
    // Some servers leave it out for a tool that takes nothing.
    inputSchema: inputSchema === undefined || inputSchema === null ? { type: 'object' } : (inputSchema as JsonSchema), // defineTool checks it
    ...(outputSchema !== undefined && outputSchema !== null && { outputSchema: outputSchema as JsonSchema }), // and this
    ...(Object.keys(hints).length > 0 && { annotations: hints }),
  };
}

/**
 * A name for each of a server's own: other characters become `_`; one that is too long is cut and ends in a digest of the whole. So do names
 * that would be the same in a program, all of them: which tool is meant never depends on their order.
 */
function uniqueNames(own: readonly string[]): ReadonlyMap<string, string> {
  const byIdentifier = new Map<string, Set<string>>();
  for (const name of own) {
    const identifier = toIdentifier(cut(name), { atRoot: false });
    byIdentifier.set(identifier, (byIdentifier.get(identifier) ?? new Set()).add(name));
  }
  const names = new Map<string, string>();
  for (const alike of byIdentifier.values()) {
    for (const name of alike) names.set(name, alike.size === 1 ? cut(name) : withDigest(name));
  }
  return names;
}

function cut(name: string): string {
  return name.length <= NAME_LENGTH ? clean(name) : withDigest(name);
}

function withDigest(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${clean(name).slice(0, NAME_LENGTH - DIGEST_LENGTH - 1)}_${digest}`;
}

function clean(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]/gu, '_');
}
