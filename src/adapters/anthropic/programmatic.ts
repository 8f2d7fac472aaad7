// The same catalog for Anthropic's hosted programmatic tool calling: the model writes Python that runs in Anthropic's container, and each
// tool call comes back here, to the same checks. Not here: the loop (ask.ts), our own programs (tools.ts).
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { BetaToolUnion } from '@anthropic-ai/sdk/resources/beta';
import { CodeModeError, type JsonSchema, type Session, type SessionTool, toJson } from '../../index.ts';
import { type ModelTool, modelName, modelTools, objectSchema } from '../model-tools.ts';
import { textOf, toContent } from './content.ts';
import { failing } from './tools.ts';

/** Versions of the hosted interpreter that may call tools. */
export type CodeExecutionVersion = 'code_execution_20250825' | 'code_execution_20260120' | 'code_execution_20260521';

export interface ProgrammaticOptions {
  /** Default `code_execution_20260120`. */
  readonly version?: CodeExecutionVersion | undefined;
}

/**
 * The session's tools for Anthropic's own code execution instead of ours: the interpreter, every tool that programs have with
 * `allowed_callers`, and the tools that `except` keeps, which the model calls directly. A tool gives its value as a text: JSON, unless it is a text already.
 * The container is carried on by the tool runner; for the next conversation turn, pass it as `container`.
 */
export function programmaticTools(
  session: Session,
  { version = 'code_execution_20260120' }: ProgrammaticOptions = {},
): (BetaToolUnion | BetaRunnableTool<unknown>)[] {
  const names = new Set<string>([INTERPRETER]);
  const own = modelTools(session);
  const tools = session.tools.map((tool): BetaRunnableTool<unknown> => {
    const name = modelName(tool.path);
    if (names.has(name)) throw new CodeModeError('option_invalid', `Two tools would be \`${name}\` to the model; rename one of them.`);
    names.add(name);
    return tool.caller === 'program' ? hosted(session, tool, version) : direct(own, name);
  });
  return [{ type: version, name: INTERPRETER }, ...tools];
}

const INTERPRETER = 'code_execution';

function hosted(session: Session, tool: SessionTool, version: CodeExecutionVersion): BetaRunnableTool<unknown> {
  const { schema, unwrap } = objectSchema(withoutRecursion(tool.inputSchema));
  return {
    type: 'custom',
    name: modelName(tool.path),
    description: `${tool.description}\n${resultSentence(tool.resultType)}`,
    input_schema: schema,
    allowed_callers: [version],
    parse: (input) => input,
    run: async (input, context) => {
      try {
        const value = await session.callTool(tool.path, unwrap(input), { signal: context?.signal ?? undefined });
        return textOf([typeof value === 'string' ? value : (JSON.stringify(toJson(value)) ?? 'null')]);
      } catch (error) {
        return failing(CodeModeError.is(error) ? error.message : `The call of \`${tool.path}\` failed.`);
      }
    },
  };
}

function direct(own: readonly ModelTool[], name: string): BetaRunnableTool<unknown> {
  const tool = own.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new CodeModeError('fault', `The tool \`${name}\` stays in the conversation but is not among its tools.`);
  return {
    type: 'custom',
    name,
    description: tool.description,
    input_schema: tool.inputSchema,
    allowed_callers: ['direct'],
    parse: (input) => input,
    run: async (input, context) => {
      const rendering = await tool.execute(input, { signal: context?.signal ?? undefined, callId: context?.toolUse.id });
      return rendering.isError ? failing(toContent(rendering)) : toContent(rendering);
    },
  };
}

/** Python gets a text, so the model must know what is in it. */
function resultSentence(type: string): string {
  if (type === 'string') return 'Returns the text.';
  if (type === 'unknown') return 'Returns a text: JSON, unless the result is a text itself.';
  return `Returns JSON text; parsed with json.loads it is, as a TypeScript type: ${type}`;
}

/** Most nodes of a schema that is written out. */
const NODES = 5_000;

/**
 * A schema without recursive references, which hosted calling refuses: they are written out until they would come round again, and take
 * anything there. The whole schema checks the input when the tool is called.
 */
function withoutRecursion(schema: JsonSchema): JsonSchema {
  if (!JSON.stringify(schema).includes('"$ref"')) return schema;
  let nodes = 0;
  const inline = (node: unknown, inside: readonly string[]): unknown => {
    if (Array.isArray(node)) return node.map((item) => inline(item, inside));
    if (typeof node !== 'object' || node === null) return node;
    nodes += 1;
    const { $ref, ...rest } = node as Readonly<Record<string, unknown>>;
    if (typeof $ref === 'string') {
      const target = inside.includes($ref) || nodes > NODES ? undefined : resolve(schema, $ref);
      return target === undefined ? {} : inline(typeof target === 'object' ? { ...target, ...rest } : target, [...inside, $ref]);
    }
    // Only at the root: deeper, `definitions` may be the name of a property.
    const kept = Object.entries(rest).filter(([key]) => node !== schema || (key !== '$defs' && key !== 'definitions'));
    return Object.fromEntries(kept.map(([key, value]) => [key, inline(value, inside)]));
  };
  return inline(schema, []) as JsonSchema;
}

/** What a reference within the schema points to. */
function resolve(schema: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = schema;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
