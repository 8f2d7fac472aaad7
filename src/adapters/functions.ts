// Code mode for a host without an SDK of ours: definitions as JSON Schema, in the form of whichever API, and one function that carries out a
// call. Not here: what the tools do (model-tools.ts).
import type { RenderedBlock, Session } from '../index.ts';
import { adviseDirectCall, type ModelCallOptions, modelTools, type ObjectSchema } from './model-tools.ts';

/** One tool as every API takes it, under some names or others. */
export interface FunctionDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
}

/** What a model is shown of a call. */
export interface FunctionOutput {
  /** All text of it; enough where an API takes nothing else. */
  readonly text: string;
  /** The same in pieces, images and documents among them. */
  readonly blocks: readonly RenderedBlock[];
  readonly isError: boolean;
}

export interface FunctionTools {
  /** `exec`, `wait` and `stop`, and the tools that `except` keeps. */
  readonly definitions: readonly FunctionDefinition[];
  /** The same for OpenAI's chat completions and what copies them: `{ type: 'function', function: { name, description, parameters } }`. */
  chatTools(): { type: 'function'; function: { name: string; description: string; parameters: ObjectSchema } }[];
  /** The same for OpenAI's Responses API: `{ type: 'function', name, description, parameters, strict: false }`. */
  responsesTools(): { type: 'function'; name: string; description: string; parameters: ObjectSchema; strict: false }[];
  /**
   * Carries out a call of the model. `args` is an object, or its JSON as OpenAI sends it. Never rejects: what the model got wrong, a name that
   * there is not among it, is a text for the model with `isError`.
   */
  execute(name: string, args: unknown, options?: ModelCallOptions): Promise<FunctionOutput>;
}

/** A session for any host: `const { definitions, execute } = functionTools(session)`. Give the model `session.instructions` too. */
export function functionTools(session: Session): FunctionTools {
  const tools = modelTools(session);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    definitions: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    chatTools: () =>
      tools.map(({ name, description, inputSchema }) => ({ type: 'function', function: { name, description, parameters: inputSchema } })),
    responsesTools: () =>
      tools.map(({ name, description, inputSchema }) => ({ type: 'function', name, description, parameters: inputSchema, strict: false })),
    async execute(name, args, options) {
      const tool = byName.get(name);
      if (tool === undefined) return failed(adviseDirectCall(session, String(name)));
      const input = typeof args === 'string' ? parse(args) : { value: args };
      if (input === undefined)
        return failed(`The arguments of \`${name}\` are no whole JSON, so it was not run; send them again, as one JSON object.`);
      const { blocks, isError } = await tool.execute(input.value, options);
      return { text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'), blocks, isError };
    },
  };
}

/** Nothing at all is how some models call a tool that needs nothing. */
function parse(text: string): { readonly value: unknown } | undefined {
  if (text.trim() === '') return { value: {} };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function failed(text: string): FunctionOutput {
  return { text, blocks: [{ type: 'text', text }], isError: true };
}
