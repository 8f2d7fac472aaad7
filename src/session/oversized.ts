// A value that is too big for a model: kept whole as an artifact, so that a later program can go on with it, while the model gets a preview
// and the way to the rest. Not here: how JSON is shortened (shorten.ts), when a model is told (session.ts).
import type { KeptFile } from '../artifacts/kept.ts';
import type { RunShelf } from '../artifacts/run-shelf.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { Limits } from '../protocol/limits.ts';
import { toJson } from '../protocol/values.ts';
import { bytesOf } from './shorten.ts';

/** Values up to so many bytes of JSON go to a model as they are, where its budget allows that. */
export const THRESHOLD_BYTES: number = bytesOf(10_000);
/** What a model is shown of a bigger one. */
export const PREVIEW_BYTES: number = bytesOf(2_000);

/** What became of keeping a value whole, as a sentence for the model. */
export interface WholeValue {
  readonly file?: KeptFile;
  readonly note: string;
}

/** Keeps a program's value whole: JSON, or the text or bytes that it is. Never rejects: a preview that says why is better than nothing. */
export async function keepValue(
  value: unknown,
  { shelf, limits, executionId, program }: { shelf: RunShelf; limits: Limits; executionId: string; program: number },
): Promise<WholeValue> {
  const { data, mediaType, ending, as } = fileOf(value);
  const size = `The value is ${data.length} bytes${as === 'json' ? ' of JSON' : ''}`;
  try {
    const name = `program-${program}-value.${ending}`;
    // After everything that the program itself delivered.
    const scope = { limits, executionId, order: Number.MAX_SAFE_INTEGER, origin: { type: 'value' } } as const;
    const file = await shelf.save({ data, mediaType, name }, scope);
    return {
      file,
      note: `${size}; this is a preview. It is kept whole as ${file.id} (${name}): a later program gets it with await readArtifact('${file.id}', { as: '${as}' }).`,
    };
  } catch (error) {
    const why = CodeModeError.is(error) ? error.message.replace(/\.$/, '') : 'the store failed';
    return {
      note: `${size}; this is a preview, and the whole could not be kept: ${why}. Return less, or save parts of it with saveArtifact().`,
    };
  }
}

function fileOf(value: unknown): { data: Uint8Array; mediaType: string; ending: string; as: 'text' | 'json' | 'bytes' } {
  if (typeof value === 'string') return { data: new TextEncoder().encode(value), mediaType: 'text/plain', ending: 'txt', as: 'text' };
  if (value instanceof Uint8Array) return { data: value, mediaType: 'application/octet-stream', ending: 'bin', as: 'bytes' };
  if (value instanceof ArrayBuffer)
    return { data: new Uint8Array(value), mediaType: 'application/octet-stream', ending: 'bin', as: 'bytes' };
  return { data: new TextEncoder().encode(JSON.stringify(toJson(value))), mediaType: 'application/json', ending: 'json', as: 'json' };
}
