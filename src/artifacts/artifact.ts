// Files and media beside a tool's value: inline ones hold their bytes, deferred ones a reference that the application can
// resolve later. What is printed or logged of one is its kind, type and size, never its contents. Not here: storing them.
import { inspect } from 'node:util';
import { CodeModeError } from '../protocol/errors.ts';
import { copyJson, describe } from '../tools/json.ts';

interface ArtifactFacts {
  /** For example `image/png`. */
  readonly mediaType: string;
  /** A file name for people; not a path that anybody follows. */
  readonly name?: string;
  /** JSON of the application, frozen. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** In bytes; absent when a deferred artifact does not know it. */
  readonly size?: number;
}

/** An artifact that holds its bytes. A Blob cannot be changed, so neither can the artifact. */
export interface InlineArtifact extends ArtifactFacts {
  readonly kind: 'inline';
  readonly data: Blob;
  readonly size: number;
}

/** An artifact that is somewhere else. `reference` is data for the application, no authority to read anything. */
export interface DeferredArtifact extends ArtifactFacts {
  readonly kind: 'deferred';
  /** A text that is not empty, or a JSON object or array; frozen. */
  readonly reference: unknown;
}

export type Artifact = InlineArtifact | DeferredArtifact;

/** What `artifact()` takes: `data` for an inline artifact, `reference` for a deferred one. */
export type ArtifactOptions = {
  readonly mediaType: string;
  readonly name?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
} & ({ readonly data: Uint8Array | string | Blob } | { readonly reference: unknown; readonly size?: number | undefined });

/**
 * Makes an artifact: `artifact({ data, mediaType, name })` with bytes, a text (stored as UTF-8) or a Blob, or
 * `artifact({ reference, mediaType })` for what is fetched later. Copies and freezes; throws `option_invalid` for a wrong field.
 */
export function artifact(options: ArtifactOptions & { readonly data: Uint8Array | string | Blob }): InlineArtifact;
export function artifact(options: ArtifactOptions & { readonly reference: unknown }): DeferredArtifact;
export function artifact(options: ArtifactOptions): Artifact {
  if (typeof options !== 'object' || options === null)
    throw invalid(`artifact() takes an object such as { data, mediaType }, not ${describe(options)}.`);
  const facts = checkFacts(options);
  if ('data' in options && options.data !== undefined) {
    if ('reference' in options && options.reference !== undefined) throw invalid('An artifact has `data` or a `reference`, not both.');
    const data = toBlob(options.data);
    return redacted<InlineArtifact>({ kind: 'inline', ...facts, data, size: data.size });
  }
  if (!('reference' in options) || options.reference === undefined) {
    throw invalid('An artifact needs `data` (a Uint8Array, a string or a Blob) or, to be fetched later, a `reference`.');
  }
  const { size } = options;
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0))
    throw invalid(`The \`size\` of an artifact should be a whole number of bytes, not ${String(size)}.`);
  return redacted<DeferredArtifact>({
    kind: 'deferred',
    ...facts,
    reference: checkReference(options.reference),
    ...(size !== undefined && { size }),
  });
}

/** Whether a value is an artifact, of another copy of this package too. */
export function isArtifact(value: unknown): value is Artifact {
  return typeof value === 'object' && value !== null && ARTIFACT in value;
}

/** A tool's result that is a value and artifacts beside it. The program gets the value, the caller of the program both. */
export interface WithArtifacts<Value = unknown> {
  // Behind a symbol alone: with plain members, a tool's own result that has a `value` would be taken for this.
  readonly [WITH_ARTIFACTS]: { readonly value: Value; readonly artifacts: readonly Artifact[] };
}

/** Return this from a tool to hand over artifacts beside its value: `return withArtifacts({ rows: 3 }, [artifact({ … })])`. */
export function withArtifacts<Value>(value: Value, artifacts: readonly Artifact[]): WithArtifacts<Value> {
  if (!Array.isArray(artifacts)) throw invalid(`withArtifacts(value, artifacts) takes an array of artifacts, not ${describe(artifacts)}.`);
  for (const [index, member] of artifacts.entries()) {
    if (!isArtifact(member)) throw invalid(`\`artifacts[${index}]\` should be made with artifact({ … }), but is ${describe(member)}.`);
  }
  return Object.freeze({ [WITH_ARTIFACTS]: Object.freeze({ value, artifacts: Object.freeze([...artifacts]) }) });
}

/** What is in a tool's result made with `withArtifacts(…)`, of another copy of this package too; `undefined` for any other result. */
export function splitArtifacts(result: unknown): { readonly value: unknown; readonly artifacts: readonly Artifact[] } | undefined {
  return typeof result === 'object' && result !== null && WITH_ARTIFACTS in result ? (result as WithArtifacts)[WITH_ARTIFACTS] : undefined;
}

const ARTIFACT = Symbol.for('callgate.Artifact');
const WITH_ARTIFACTS: unique symbol = Symbol.for('callgate.withArtifacts');

/** What prints of an artifact: nothing that says anything about its contents. */
class Redacted {
  get [ARTIFACT](): true {
    return true;
  }

  toJSON(this: Artifact): { kind: string; mediaType: string; size?: number } {
    const { kind, mediaType, size } = this;
    return { kind, mediaType, ...(size !== undefined && { size }) };
  }

  [inspect.custom](this: Artifact): string {
    const size = this.size === undefined ? '' : `, ${this.size} bytes`;
    return `Artifact { ${this.kind}, ${this.mediaType}${size} }`;
  }
}

function redacted<Kind extends Artifact>(fields: Kind): Kind {
  return Object.freeze(Object.assign(new Redacted(), fields));
}

function checkFacts({ mediaType, name, metadata }: ArtifactOptions): Omit<ArtifactFacts, 'size'> {
  if (typeof mediaType !== 'string' || !/^[\w.+-]+\/[\w.+-]+(\s*;.*)?$/.test(mediaType)) {
    throw invalid(
      `The \`mediaType\` of an artifact should be a text such as "image/png", but is ${typeof mediaType === 'string' ? JSON.stringify(mediaType) : describe(mediaType)}.`,
    );
  }
  if (name !== undefined && (typeof name !== 'string' || name === ''))
    throw invalid(`The \`name\` of an artifact should be a text that is not empty, but is ${describe(name)}.`);
  return { mediaType, ...(name !== undefined && { name }), ...(metadata !== undefined && { metadata: checkMetadata(metadata) }) };
}

function checkMetadata(metadata: unknown): Readonly<Record<string, unknown>> {
  const copied = copyJson(metadata);
  if (!copied.ok) throw invalid(`The \`metadata\` of an artifact should be a JSON object, but ${copied.problem}.`);
  const { value } = copied;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`The \`metadata\` of an artifact should be a JSON object, not ${describe(metadata)}.`);
  return value as Readonly<Record<string, unknown>>; // a frozen plain object: the line above and copyJson
}

function checkReference(reference: unknown): unknown {
  const copied = copyJson(reference);
  if (!copied.ok) throw invalid(`The \`reference\` of an artifact should be a text or JSON, but ${copied.problem}.`);
  const { value } = copied;
  if (value === '' || (typeof value !== 'string' && (typeof value !== 'object' || value === null))) {
    throw invalid(
      `The \`reference\` of an artifact should be a text that is not empty or a JSON object, not ${value === '' ? 'an empty text' : describe(value)}.`,
    );
  }
  return value;
}

function toBlob(data: unknown): Blob {
  if (data instanceof Blob) return data;
  // The Blob copies the bytes, so that changing the array later changes nothing here.
  if (typeof data === 'string') return new Blob([data]);
  if (data instanceof Uint8Array) return new Blob([Uint8Array.from(data)]);
  throw invalid(`The \`data\` of an artifact should be a Uint8Array, a string or a Blob, not ${describe(data)}.`);
}

function invalid(message: string): CodeModeError {
  return new CodeModeError('option_invalid', message);
}
