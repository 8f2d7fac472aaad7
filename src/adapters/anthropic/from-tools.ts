// Runnable tools of the Anthropic SDK as tools of the catalog, so that programs can call them. Not here: the rule by which their results
// become values (content.ts).
import { randomUUID } from 'node:crypto';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { BetaToolUseBlock } from '@anthropic-ai/sdk/resources/beta';
import {
  type Binding,
  CodeModeError,
  defineTool,
  type JsonSchema,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolProvider,
  toolResult,
} from '../../index.ts';
import { errorText, readContent, readJsonText } from './content.ts';

// biome-ignore lint/suspicious/noExplicitAny: the SDK's own default; a tool of any input is taken, whatever its type says
type AnyRunnableTool = BetaRunnableTool<any>;

export interface FromAnthropicToolsOptions {
  /** The tools become `tools.<namespace>.<name>`. Default: none. */
  readonly namespace?: string | undefined;
  /** By tool name: the JSON Schema of its value, which the SDK's tools cannot say. Values are checked, and models see the type. */
  readonly outputSchemas?: Readonly<Record<string, JsonSchema>> | undefined;
  /** What a text of a result is for programs. Default: the JSON object or array that it holds, or else the text. */
  readonly readText?: ((text: string, toolName: string) => unknown) | undefined;
}

/**
 * A provider of existing runnable tools: of `betaTool`, `betaZodTool`, `betaStandardSchemaTool`, `mcpTools`, or written by hand. Their input
 * is checked against their JSON Schema, and then by their own `parse`. A function in the place of the array makes the tools for each run.
 * Their `close` is called when the run ends.
 */
export function fromAnthropicTools(
  tools: readonly AnyRunnableTool[] | ((binding: Binding) => readonly AnyRunnableTool[] | Promise<readonly AnyRunnableTool[]>),
  options: FromAnthropicToolsOptions = {},
): ToolProvider {
  const { namespace, outputSchemas = {} } = options;
  // An array is known now, so its mistakes are told now.
  const ready = typeof tools === 'function' ? undefined : tools.map((tool, index) => toTool(tool, index, options));
  const known = ready?.map(({ name }) => name);
  for (const name of known === undefined ? [] : Object.keys(outputSchemas)) {
    if (known?.includes(name) === false)
      throw new CodeModeError('option_invalid', `\`outputSchemas\` names \`${name}\`, but the tools are ${known.join(', ')}.`);
  }
  return {
    ...(namespace !== undefined && { namespace }),
    tools: async (binding) =>
      ready ?? (typeof tools === 'function' ? (await tools(binding)).map((tool, i) => toTool(tool, i, options)) : []),
  };
}

function toTool(tool: AnyRunnableTool, index: number, { outputSchemas = {}, readText }: FromAnthropicToolsOptions): Tool {
  if (typeof tool !== 'object' || tool === null || typeof tool.run !== 'function') {
    throw new CodeModeError(
      'tool_invalid',
      `\`tools[${index}]\` of fromAnthropicTools() should be a runnable tool of the Anthropic SDK, with \`name\`, \`input_schema\` and \`run\`.`,
    );
  }
  const { name } = tool;
  const description = 'description' in tool && typeof tool.description === 'string' ? tool.description.trim() : '';
  const outputSchema = Object.hasOwn(outputSchemas, name) ? outputSchemas[name] : undefined;
  const { close } = tool;
  return defineTool({
    name,
    description: description === '' ? `The tool ${name}.` : description,
    inputSchema: schemaOf(tool),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(close !== undefined && { close: async () => close.call(tool) }),
    execute: async (input, context) => {
      const received = readContent(await run(tool, input, context), readText === undefined ? readJsonText : (text) => readText(text, name));
      return toolResult(received);
    },
  });
}

/** The schema of a tool's input; those that only the API knows (`bash_20250124`) take any object. */
function schemaOf(tool: AnyRunnableTool): JsonSchema {
  const schema: unknown = 'input_schema' in tool ? tool.input_schema : undefined;
  if (typeof schema !== 'object' || schema === null) return { type: 'object' };
  // mcpTool() writes null where there is nothing, which is no JSON Schema.
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== null)) as JsonSchema;
}

async function run(tool: AnyRunnableTool, input: unknown, { call, signal }: ToolContext): Promise<unknown> {
  let parsed: unknown;
  try {
    parsed = tool.parse === undefined ? input : tool.parse(input);
  } catch (cause) {
    throw new ToolError(cause instanceof Error ? cause.message : String(cause), { code: 'input_invalid', cause });
  }
  // The id is the same if the same call is ever repeated, so a tool may use it to do something once.
  const toolUse: BetaToolUseBlock = { type: 'tool_use', id: `toolu_${call.idempotencyKey || randomUUID()}`, name: tool.name, input };
  try {
    return await tool.run(parsed, { toolUse, toolUseBlock: toolUse, signal });
  } catch (error) {
    throw isSdkToolError(error) ? new ToolError(errorText(error.content), { cause: error }) : error;
  }
}

/** An error of the SDK that a model is meant to read. Known by its form: the SDK may be there twice, as ESM and as CommonJS. */
function isSdkToolError(error: unknown): error is Error & { readonly content: unknown } {
  return error instanceof Error && error.name === 'ToolError' && 'content' in error;
}
