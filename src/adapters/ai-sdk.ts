// Code mode in an agent on the AI SDK (`ai` 6 or 7, an optional peer): a session's controls as its tools, and its tools for programs.
// Not here: what the controls do (model-tools.ts).
import { type Tool as AiTool, asSchema, jsonSchema, type ToolSet } from 'ai';
import {
  CodeModeError,
  defineTool,
  type JsonSchema,
  type Rendering,
  type Session,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolProvider,
} from '../index.ts';
import { modelTools } from './model-tools.ts';

/** What `execute` of these tools gives, and the SDK keeps in its messages: plain JSON. */
export interface AiToolOutput {
  readonly text: string;
  /** The program failed or was ended, or the call itself was wrong. */
  readonly isError: boolean;
  /** Images and documents, in base 64. */
  readonly files: readonly {
    readonly type: 'image' | 'document';
    readonly mediaType: string;
    readonly data: string;
    readonly name?: string;
  }[];
}

/**
 * `exec`, `wait` and `stop`, and the tools that `except` keeps, for `generateText`, `streamText` and agents: `tools: aiTools(session)`. Give the model
 * `session.instructions` as part of the system prompt. Aborting the request ends the program.
 */
export function aiTools(session: Session): Record<string, AiTool<unknown, AiToolOutput>> {
  return Object.fromEntries(
    modelTools(session).map(({ name, description, inputSchema, execute }): [string, AiTool<unknown, AiToolOutput>] => [
      name,
      {
        description,
        // The session checks what the model sent, and says what is wrong with it.
        inputSchema: jsonSchema<unknown>(inputSchema as Parameters<typeof jsonSchema>[0]),
        // Not by the call's id: some providers count their calls anew in every turn.
        execute: async (input: unknown, { abortSignal }: { abortSignal?: AbortSignal | undefined }) =>
          toOutput(await execute(input, { signal: abortSignal })),
        toModelOutput: ({ output }: { output: AiToolOutput }) => toModelOutput(output),
      },
    ]),
  );
}

function toOutput({ blocks, isError }: Rendering): AiToolOutput {
  return {
    text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    isError,
    files: blocks.flatMap((block) => {
      if (block.type === 'text') return [];
      const { type, mediaType, data, name } = block;
      return [{ type, mediaType, data: Buffer.from(data).toString('base64'), ...(name === undefined ? {} : { name }) }];
    }),
  };
}

type ModelOutput = Awaited<ReturnType<NonNullable<AiTool['toModelOutput']>>>;

function toModelOutput({ text, isError, files }: AiToolOutput): ModelOutput {
  // An error has no place for files in the SDK's messages: then the text is what counts.
  if (isError && files.length === 0) return { type: 'error-text', value: text };
  if (files.length === 0) return { type: 'text', value: text };
  return {
    type: 'content',
    value: [
      { type: 'text', text },
      ...files.map(({ type, mediaType, data, name }) =>
        type === 'image'
          ? ({ type: 'image-data', data, mediaType } as const)
          : ({ type: 'file-data', data, mediaType, ...(name === undefined ? {} : { filename: name }) } as const),
      ),
    ],
  };
}

export interface FromAiToolsOptions {
  /** The tools become `tools.<namespace>.<name>`. Default: none. */
  readonly namespace?: string | undefined;
}

/**
 * A provider of existing tools of the AI SDK. Inputs and outputs are checked against their schemas. A tool that gives its output in steps gives a
 * program the last. One that needs approval for a call refuses that call: nobody can be asked in the middle of a program. Throws
 * `option_invalid` for a tool without `execute`, which only the client or the provider could carry out.
 */
export function fromAiTools(tools: ToolSet, { namespace }: FromAiToolsOptions = {}): ToolProvider {
  const entries = Object.entries(tools);
  for (const [name, tool] of entries) {
    if (typeof tool?.execute === 'function') continue;
    throw new CodeModeError(
      'option_invalid',
      `The tool \`${name}\` given to fromAiTools() has no \`execute\`, so no program can call it; leave it out and give it to the model directly.`,
    );
  }
  return {
    ...(namespace === undefined ? {} : { namespace }),
    tools: () => Promise.all(entries.map(([name, tool]) => toTool(name, tool))),
  };
}

async function toTool(name: string, tool: ToolSet[string]): Promise<Tool> {
  const input = await schemaOf(tool.inputSchema);
  const output = 'outputSchema' in tool && tool.outputSchema !== undefined ? await schemaOf(tool.outputSchema) : undefined;
  const description = typeof tool.description === 'string' && tool.description.trim() !== '' ? tool.description : `The tool ${name}.`;
  return defineTool({
    name,
    description,
    inputSchema: input.schema,
    ...(input.shown === undefined ? {} : { inputJsonSchema: input.shown }),
    ...(output === undefined
      ? {}
      : { outputSchema: output.schema, ...(output.shown === undefined ? {} : { outputJsonSchema: output.shown }) }),
    execute: (value: unknown, context) => run(name, tool, value, context),
  });
}

type Checked = Parameters<typeof defineTool>[0]['inputSchema'] & {};

/** A schema of the SDK as one of ours: by its own check where it has one, else by its JSON Schema. */
async function schemaOf(flexible: unknown): Promise<{ readonly schema: Checked; readonly shown?: JsonSchema }> {
  const schema = asSchema(flexible as Parameters<typeof asSchema>[0]);
  const shown = (await schema.jsonSchema) as JsonSchema;
  const { validate } = schema;
  if (validate === undefined) return { schema: shown };
  const checking: Checked = {
    '~standard': {
      version: 1,
      vendor: 'ai',
      validate: async (value: unknown) => {
        const checked = await validate(value);
        return checked.success ? { value: checked.value } : { issues: issuesOf(checked.error) };
      },
    },
  };
  return { schema: checking, shown };
}

interface Issue {
  readonly message: string;
  readonly path?: readonly PropertyKey[];
}

/** What the schema's library says, which the SDK hides in causes; else the sentence of the SDK. */
function issuesOf(error: Error): readonly Issue[] {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { issues } = at as { issues?: unknown };
    if (Array.isArray(issues) && issues.length > 0) {
      return issues.map((issue: { message?: unknown; path?: unknown }) => ({
        message: String(issue.message),
        ...(Array.isArray(issue.path) ? { path: issue.path as PropertyKey[] } : {}),
      }));
    }
  }
  return [{ message: error.message }];
}

async function run(name: string, tool: ToolSet[string], input: unknown, { call, signal }: ToolContext): Promise<unknown> {
  const options = { toolCallId: call.id, messages: [], abortSignal: signal, context: undefined, experimental_context: undefined };
  const { needsApproval, execute } = tool as {
    needsApproval?: boolean | ((input: unknown, options: object) => boolean | PromiseLike<boolean>);
    execute?: (input: unknown, options: object) => unknown;
  };
  const needs = typeof needsApproval === 'function' ? await needsApproval.call(tool, input, options) : needsApproval;
  if (needs === true)
    throw new ToolError(`\`${name}\` needs a person's approval for this call, and nobody can be asked inside a program.`, {
      code: 'approval_needed',
    });
  const given = await execute?.call(tool, input, options);
  if (!isStream(given)) return given;
  let last: unknown;
  for await (const step of given) {
    signal.throwIfAborted();
    last = step;
  }
  return last;
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
