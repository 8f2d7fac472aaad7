// What a model is shown of a result or an observation, in a neutral form that adapters translate: text, and images and documents beside it.
// Bytes never land in text. Not here: what a person reads on a terminal (cli/render.ts), how output is shortened (shorten.ts).
import { type KeptArtifact, type KeptFile, mediaOf } from '../artifacts/kept.ts';
import { essenceOf, isTextual } from '../artifacts/text.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { Warning } from '../protocol/messages.ts';
import type { Observation } from './observation.ts';
import { PREVIEW_BYTES, THRESHOLD_BYTES } from './oversized.ts';
import type { RunResult } from './result.ts';
import { shortenJson, toShownJson } from './shorten.ts';

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

export interface RenderOptions {
  /** Images and documents at most. Default: the run's limit `mediaBlocks`, 4. */
  readonly mediaBlocks?: number | undefined;
  /** Bytes of images and documents together at most. Default: the run's limit `mediaBytes`, 8 MiB. */
  readonly mediaBytes?: number | undefined;
}

/**
 * Renders what `run()`, `exec`, `wait` or `stop` gave for a model: images (PNG, JPEG, GIF, WebP), PDF documents and short texts as blocks, in the
 * order of the calls, as long as they fit; every artifact is named in the text with its id. Reads bytes from the store; what cannot be read is
 * named only.
 */
export async function renderResult(result: RunResult | Observation, options: RenderOptions = {}): Promise<Rendering> {
  const artifacts = allArtifacts(result);
  const ofRun = mediaOf(artifacts[0]);
  const shown = await showMedia(artifacts, {
    blocks: options.mediaBlocks ?? ofRun?.blocks ?? LIMITS.mediaBlocks.default,
    bytes: options.mediaBytes ?? ofRun?.bytes ?? LIMITS.mediaBytes.default,
  });
  const text = textOf(result, (artifact) => (shown.has(artifact.id) ? 'shown below' : undefined));
  return {
    blocks: [{ type: 'text', text }, ...shown.values()],
    isError: result.status === 'error' || result.status === 'terminated',
  };
}

/** The text alone: status, output, value, error with its place and what to do, warnings, and the artifacts by name. */
export function renderText(result: RunResult | Observation): string {
  return textOf(result, () => undefined);
}

function textOf(result: RunResult | Observation, noteOf: (artifact: KeptArtifact) => string | undefined): string {
  const parts: string[] = [];
  if ('previous' in result && result.previous !== undefined)
    parts.push(`Program ${result.previous.program} had ended before:\n${textOf(result.previous, noteOf)}\n---`);
  if (result.status !== 'completed') parts.push(`Status: ${result.status}`);
  if (result.output !== '') parts.push(result.output);
  if (result.value !== undefined) parts.push(valueText(result));
  const { error } = result;
  if (error !== undefined) {
    parts.push(`${error.kind === 'program' ? error.name : error.kind}: ${error.message}${place(error)}`);
    if (error.frame !== undefined) parts.push(error.frame);
    if (error.hint !== undefined) parts.push(`Hint: ${error.hint}`);
  }
  for (const warning of result.warnings) parts.push(`Warning: ${warning.message}${place(warning)}`);
  if (result.artifacts.length > 0)
    parts.push(`Artifacts:\n${result.artifacts.map((artifact) => artifactLine(artifact, noteOf(artifact))).join('\n')}`);
  if ('shortened' in result && result.shortened !== undefined) parts.push(result.shortened);
  return parts.length === 0 ? 'The program completed without a value or output.' : parts.join('\n');
}

/** An observation's value has been fitted already; a run's has not, and its program is over, so that nothing keeps the rest. */
function valueText(result: RunResult | Observation): string {
  const json = toShownJson(result.value);
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  if ('program' in result || Buffer.byteLength(text) <= THRESHOLD_BYTES) return text;
  const { kept } = shortenJson(json, PREVIEW_BYTES);
  return `${typeof kept === 'string' ? kept : JSON.stringify(kept)}\nThe value is ${Buffer.byteLength(text)} bytes of JSON; this is a preview of it, and the whole was not kept.`;
}

function artifactLine({ id, name, mediaType, bytes, origin }: KeptArtifact, note: string | undefined): string {
  const size = bytes === undefined ? 'size unknown' : `${bytes} bytes`;
  const from = origin.type === 'call' ? `, from ${origin.tool}` : '';
  return `- ${id}${name === undefined ? '' : `: ${JSON.stringify(name)}`} (${mediaType}, ${size}${from})${note === undefined ? '' : `, ${note}`}`;
}

/** Those of the observation before come first, as they do in the text. */
function allArtifacts(result: RunResult | Observation): readonly KeptArtifact[] {
  return 'previous' in result && result.previous !== undefined ? [...allArtifacts(result.previous), ...result.artifacts] : result.artifacts;
}

/** The blocks of what is shown, by id: first come, first shown, and what is too big leaves room for smaller ones behind it. */
async function showMedia(
  artifacts: readonly KeptArtifact[],
  budget: { readonly blocks: number; readonly bytes: number },
): Promise<ReadonlyMap<string, RenderedBlock>> {
  const shown = new Map<string, RenderedBlock>();
  let { bytes } = budget;
  for (const artifact of artifacts) {
    const type = blockType(artifact);
    if (type === undefined || artifact.kind !== 'stored' || artifact.bytes > bytes) continue;
    if (shown.size >= budget.blocks) break;
    const data = await artifact.read().catch(() => undefined);
    if (data === undefined) continue;
    bytes -= artifact.bytes;
    const { name } = artifact;
    shown.set(artifact.id, { type, mediaType: essenceOf(artifact.mediaType), data, ...(name !== undefined && { name }) });
  }
  return shown;
}

function blockType(artifact: KeptArtifact): 'image' | 'document' | undefined {
  if (artifact.kind !== 'stored' || artifact.origin.type === 'value') return undefined;
  const type = essenceOf(artifact.mediaType);
  if (IMAGES.has(type)) return 'image';
  if (type === 'application/pdf') return 'document';
  return isShortText(artifact) ? 'document' : undefined;
}

/** The kinds that models take. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Text that is no longer than a preview would be; longer ones are for programs to read. */
function isShortText({ mediaType, bytes }: KeptFile): boolean {
  return isTextual(mediaType) && bytes <= PREVIEW_BYTES;
}

function place({ line, column }: Pick<Warning, 'line' | 'column'>): string {
  return line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
}
