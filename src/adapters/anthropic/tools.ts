// A session as runnable tools of the Anthropic SDK, for `client.beta.messages.toolRunner` and its kin. Not here: what the tools do
// (model-tools.ts), the loop around them (ask.ts).
import type { BetaRunnableTool, BetaToolRunContext } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { Session } from '../../index.ts';
import { type ModelTool, modelTools } from '../model-tools.ts';
import { errorText, type ResultContent, toContent } from './content.ts';

/**
 * `exec`, `wait` and `stop`, and the tools that `except` keeps, for a tool runner. Give the model `session.instructions` as part of the
 * system prompt. Aborting the runner's signal ends the program. Safe with `runToolsEagerly`: a call runs once, and never from an input
 * that was cut off.
 */
export function anthropicTools(session: Session): BetaRunnableTool<unknown>[] {
  return modelTools(session).map(toRunnable);
}

function toRunnable({ name, description, inputSchema, execute }: ModelTool): BetaRunnableTool<unknown> {
  return {
    type: 'custom',
    name,
    description,
    input_schema: inputSchema,
    // The session checks what the model sent, and says what is wrong with it.
    parse: (input) => input,
    run: async (input, context) => {
      if (isCutOff(context)) return failing(`The input of this call was cut off, so \`${name}\` was not run. Send it again, shorter.`);
      const rendering = await execute(input, { signal: context?.signal ?? undefined, callId: context?.toolUse.id });
      const content = toContent(rendering);
      return rendering.isError ? failing(content) : content;
    },
  };
}

/** Throws what a tool runner shows with `is_error`. Its class is loaded when it is needed: the SDK is an optional peer. */
export async function failing(content: ResultContent): Promise<never> {
  const sdk = await import('@anthropic-ai/sdk/lib/tools/ToolError').catch(() => undefined);
  // An SDK that this package cannot see makes a text of any other error: the blocks are lost, the sentence is not.
  throw sdk === undefined ? new Error(errorText(content)) : new sdk.ToolError(content);
}

/**
 * Whether the input of a streamed call is not whole JSON: a reply that ended at `max_tokens` closes its last block all the same, and the
 * SDK reads as much of the input as there is. It keeps the text that arrived in a property of its own.
 */
function isCutOff(context: Pick<BetaToolRunContext, 'toolUse'> | undefined): boolean {
  const text: unknown = context === undefined ? undefined : Object.getOwnPropertyDescriptor(context.toolUse, '__json_buf')?.value;
  if (typeof text !== 'string' || text === '') return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
