// What a model is shown of a result or an observation, in a neutral form that adapters translate: text, and images and documents beside it.
// Bytes never land in text. Not here: what a person reads on a terminal (cli/render.ts), how output is shortened (shorten.ts).
import type { Warning } from '../protocol/messages.ts';
import { toJson } from '../protocol/values.ts';
import type { Observation } from './observation.ts';
import type { RunResult } from './result.ts';

/** One piece of what a model is shown. */
export type RenderedBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: Uint8Array; readonly name?: string }
  | { readonly type: 'document'; readonly mediaType: string; readonly data: Uint8Array; readonly name?: string };

/** A result for a model: at least one block, the first one text. */
export interface Rendering {
  readonly blocks: readonly RenderedBlock[];
  /** The program did not complete by itself: an error, or it was ended. */
  readonly isError: boolean;
}

/** Renders what `run()`, `exec`, `wait` or `stop` gave for a model. */
export async function renderResult(result: RunResult | Observation): Promise<Rendering> {
  return { blocks: [{ type: 'text', text: renderText(result) }], isError: result.status === 'error' || result.status === 'terminated' };
}

/** The text alone: status, output, value, error with its place and what to do, warnings. */
export function renderText(result: RunResult | Observation): string {
  const parts: string[] = [];
  if ('previous' in result && result.previous !== undefined)
    parts.push(`Program ${result.previous.program} had ended before:\n${renderText(result.previous)}\n---`);
  if (result.status !== 'completed') parts.push(`Status: ${result.status}`);
  if (result.output !== '') parts.push(result.output);
  if (result.value !== undefined) parts.push(typeof result.value === 'string' ? result.value : JSON.stringify(toJson(result.value)));
  const { error } = result;
  if (error !== undefined) {
    parts.push(`${error.kind === 'program' ? error.name : error.kind}: ${error.message}${place(error)}`);
    if (error.frame !== undefined) parts.push(error.frame);
    if (error.hint !== undefined) parts.push(`Hint: ${error.hint}`);
  }
  for (const warning of result.warnings) parts.push(`Warning: ${warning.message}${place(warning)}`);
  if ('shortened' in result && result.shortened !== undefined) parts.push(result.shortened);
  return parts.length === 0 ? 'The program completed without a value or output.' : parts.join('\n');
}

function place({ line, column }: Pick<Warning, 'line' | 'column'>): string {
  return line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
}
