// What the guest's `readArtifact`, `saveArtifact` and `createArtifact` ask of the host, each step a request of its own: see
// sandbox-runtime/artifacts.ts for the other half. Not here: what a run may keep (artifacts/run-shelf.ts).
import { checkMediaType, checkName } from '../artifacts/artifact.ts';
import { describeKept, type KeptFile } from '../artifacts/kept.ts';
import { isTextual, mediaTypeOf, textOf } from '../artifacts/text.ts';
import { CodeModeError } from '../protocol/errors.ts';
import { ARTIFACT_ASKS, MOST_PIECE_BYTES } from '../protocol/messages.ts';
import { describe } from '../tools/json.ts';
import type { HostContext, HostFunction } from './execution.ts';

/** By the names under which the guest's runtime asks. */
export function artifactFunctions(): readonly (readonly [string, HostFunction])[] {
  return [
    [ARTIFACT_ASKS.read, Object.assign(read, { title: 'readArtifact', givesMuch: true as const })],
    [ARTIFACT_ASKS.save, Object.assign(save, { title: 'saveArtifact', argumentBytes: MOST_PIECE_BYTES })],
    [ARTIFACT_ASKS.append, Object.assign(append, { title: 'createArtifact', argumentBytes: MOST_PIECE_BYTES })],
    [ARTIFACT_ASKS.finish, Object.assign(finish, { title: 'createArtifact' })],
  ];
}

/** How `readArtifact` reads: `json` parses the whole text. */
type ReadAs = 'text' | 'bytes' | 'json';

async function read([id, options]: readonly unknown[], { shelf, limits }: HostContext): Promise<unknown> {
  const file = shelf.file(idOf(id));
  const { as, start, end } = checkRead(options, file);
  const from = Math.min(start ?? 0, file.bytes);
  const to = Math.min(end ?? file.bytes, file.bytes);
  if (to - from > limits.resultBytes) {
    throw new CodeModeError(
      'limit_exceeded',
      `${to - from} bytes of ${file.id} are more than one read may give, the limit \`resultBytes\`, ${limits.resultBytes}. Read it in parts: readArtifact(id, { start: 0, end: ${Math.min(1_000_000, limits.resultBytes)} }), and so on.`,
    );
  }
  if (as === 'bytes') return file.read({ start: from, end: to });
  const text = await textOf(file, { start: from, end: to });
  if (as === 'text') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new CodeModeError(
      'input_invalid',
      `${file.id} (${file.mediaType}) is not JSON${to - from < file.bytes ? ', in this part' : ''}; read it as text.`,
    );
  }
}

async function save([options]: readonly unknown[], context: HostContext): Promise<unknown> {
  const { data, ...facts } = checkSave(options);
  const file = await context.shelf.save({ data: bytesOf(data), ...facts }, { ...scopeOf(context), origin: { type: 'program' } });
  return describeKept(file);
}

/** `[file, data, facts]`: the program numbers its files; the first piece opens one. */
function append([file, data, facts]: readonly unknown[], context: HostContext): unknown {
  context.shelf.append(draftOf(file, context), bytesOf(data), () => draftFacts(facts, context));
  return null;
}

async function finish([file, facts]: readonly unknown[], context: HostContext): Promise<unknown> {
  return describeKept(await context.shelf.finish(draftOf(file, context), () => draftFacts(facts, context)));
}

function draftFacts(facts: unknown, context: HostContext): Pick<HostContext, 'limits' | 'executionId' | 'order'> & FileFacts {
  const { name, mediaType } = checkSave(facts);
  return { name, mediaType, ...scopeOf(context) };
}

interface FileFacts {
  readonly name: string | undefined;
  readonly mediaType: string;
}

function scopeOf({ limits, executionId, order }: HostContext): Pick<HostContext, 'limits' | 'executionId' | 'order'> {
  return { limits, executionId, order };
}

/** A descriptor stands for its id: models pass either. */
function idOf(given: unknown): string {
  if (typeof given === 'string') return given;
  const id = typeof given === 'object' && given !== null ? (given as { id?: unknown }).id : undefined;
  if (typeof id === 'string') return id;
  throw new CodeModeError('input_invalid', `The first argument should be the \`id\` of an artifact, a string, but is ${describe(given)}.`);
}

/** Names a file that is being written: its number, in its execution. */
function draftOf(file: unknown, { executionId }: HostContext): string {
  if (typeof file === 'number') return `${executionId}:${file}`;
  throw new CodeModeError('input_invalid', 'There is no such open file.');
}

function checkRead(options: unknown, file: KeptFile): { as: ReadAs; start: number | undefined; end: number | undefined } {
  const given = (options ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof given !== 'object')
    throw new CodeModeError('input_invalid', `The options should be an object such as { as: 'text' }, not ${describe(options)}.`);
  for (const key of Object.keys(given)) {
    if (!['as', 'start', 'end'].includes(key))
      throw new CodeModeError('input_invalid', `There is no option \`${key}\`; there are as, start and end (bytes).`);
  }
  const { as = isTextual(file.mediaType) ? 'text' : 'bytes', start, end } = given;
  if (as !== 'text' && as !== 'bytes' && as !== 'json')
    throw new CodeModeError('input_invalid', `\`as\` should be 'text', 'bytes' or 'json', but is ${JSON.stringify(as) ?? describe(as)}.`);
  for (const [name, value] of [
    ['start', start],
    ['end', end],
  ] as const) {
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= 0))
      throw new CodeModeError(
        'input_invalid',
        `\`${name}\` should be a whole number of bytes, but is ${JSON.stringify(value) ?? describe(value)}.`,
      );
  }
  if (typeof start === 'number' && typeof end === 'number' && end < start)
    throw new CodeModeError('input_invalid', `\`end\` (${end}) is before \`start\` (${start}).`);
  return { as, start: start as number | undefined, end: end as number | undefined };
}

function checkSave(options: unknown): { name: string | undefined; mediaType: string; data: unknown } {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new CodeModeError(
      'input_invalid',
      `It takes an object such as { name: 'rows.csv', mediaType: 'text/csv', data }, not ${describe(options)}.`,
    );
  const { name, mediaType, data, ...others } = options as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(others))
    throw new CodeModeError('input_invalid', `There is no field \`${key}\`; there are name, mediaType and data.`);
  try {
    const checked = checkName(name ?? undefined);
    const type = mediaType ?? mediaTypeOf(checked, typeof data === 'string' || data === undefined);
    return { name: checked, mediaType: checkMediaType(type), data };
  } catch (error) {
    // The same sentences, as a mistake of the program.
    throw CodeModeError.is(error) ? new CodeModeError('input_invalid', error.message) : error;
  }
}

/** The bytes of a piece; they are this program's own copy already. */
function bytesOf(data: unknown): Uint8Array {
  if (typeof data === 'string') return new TextEncoder().encode(data);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength) as Uint8Array;
  throw new CodeModeError(
    'input_invalid',
    `\`data\` should be a string or bytes (Uint8Array, ArrayBuffer), but is ${describe(data)}; write JSON.stringify(data) for JSON.`,
  );
}
