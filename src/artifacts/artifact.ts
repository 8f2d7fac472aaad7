// Files and media beside a tool's value: inline ones hold their bytes, deferred ones a reference that the application can
// resolve later. What is printed or logged of one is its kind, type and size, never its contents. Not here: storing them (run-shelf.ts).
import { inspect } from 'node:util';
import { CodeModeError } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import { copyJson, describe } from '../tools/json.ts';

interface ArtifactFacts {
  /** For example `image/png`. */
  readonly mediaType: string;
  /** A file name for people; not a path that anybody follows. */
  readonly name?: string | undefined;
  /** JSON of the application, frozen. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** In bytes; absent when a deferred artifact does not know it. */
  readonly size?: number | undefined;
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

/** What an artifact's bytes may be given as; a text becomes its UTF-8. */
export type ArtifactData = Uint8Array | ArrayBuffer | Blob | string;

interface FactOptions {
  /** For example `image/png`. */
  readonly mediaType: string;
  /** A file name for people. */
  readonly name?: string | undefined;
  /** A JSON object of the application; the model never sees it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface ArtifactOptions extends FactOptions {
  readonly data: ArtifactData;
}

export interface DeferredArtifactOptions extends FactOptions {
  /** Where it is: a text that is not empty, or a JSON object or array. Only `artifacts.resolve` and the caller see it. */
  readonly reference: unknown;
  /** In bytes, where that is known. */
  readonly size?: number | undefined;
}

/**
 * Makes an artifact of bytes: `artifact({ data, mediaType, name })`. Copies and freezes; throws `option_invalid` for a wrong field.
 */
export function artifact(options: ArtifactOptions): InlineArtifact {
  checkFields(options, 'artifact', ['data', 'mediaType', 'name', 'metadata']);
  if (options.data === undefined || options.data === null)
    throw invalid('An artifact needs `data`: a Uint8Array, an ArrayBuffer, a Blob or a string.');
  return Object.freeze(new Inline(toBlob(options.data), checkFacts(options)));
}

/**
 * Makes an artifact that another service holds: `deferredArtifact({ reference, mediaType, name })`. The option `artifacts.resolve` of
 * `createCodeMode()` may fetch it; else the caller gets it as it is. Copies and freezes; throws `option_invalid` for a wrong field.
 */
export function deferredArtifact(options: DeferredArtifactOptions): DeferredArtifact {
  checkFields(options, 'deferredArtifact', ['reference', 'mediaType', 'name', 'metadata', 'size']);
  const { size } = options;
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0))
    throw invalid(`The \`size\` of an artifact should be a whole number of bytes, not ${String(size)}.`);
  return Object.freeze(new Deferred(checkReference(options.reference), { ...checkFacts(options), ...(size !== undefined && { size }) }));
}

/** Whether a value is an artifact, of another copy of this package too. */
export function isArtifact(value: unknown): value is Artifact {
  return typeof value === 'object' && value !== null && ARTIFACT in value;
}

/** A tool's result that is a value and artifacts beside it. The program gets the value, the caller of the program both. */
export interface ToolResult<Value = unknown> {
  // Behind a symbol alone: with plain members, a tool's own result that has a `value` would be taken for this.
  readonly [TOOL_RESULT]: { readonly value: Value; readonly artifacts: readonly Artifact[] };
}

export interface ToolResultOptions<Value> {
  readonly value: Value;
  /** Made with `artifact()` or `deferredArtifact()`. */
  readonly artifacts: readonly Artifact[];
}

/** Return this from a tool to hand over artifacts beside its value: `return toolResult({ value: { rows: 3 }, artifacts: [artifact({ … })] })`. */
export function toolResult<Value>(options: ToolResultOptions<Value>): ToolResult<Value> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw invalid(`toolResult() takes an object { value, artifacts }, not ${describe(options)}.`);
  checkFields(options, 'toolResult', ['value', 'artifacts']);
  const { value, artifacts } = options;
  if (!Array.isArray(artifacts)) throw invalid(`toolResult({ value, artifacts }) takes an array of artifacts, not ${describe(artifacts)}.`);
  for (const [index, member] of artifacts.entries()) {
    if (!isArtifact(member))
      throw invalid(`\`artifacts[${index}]\` should be made with artifact({ … }) or deferredArtifact({ … }), but is ${describe(member)}.`);
  }
  return Object.freeze({ [TOOL_RESULT]: Object.freeze({ value, artifacts: Object.freeze([...artifacts]) }) });
}

/** What is in a result made with `toolResult(…)`, of another copy of this package too; `undefined` for any other result. */
export function splitResult(result: unknown): { readonly value: unknown; readonly artifacts: readonly Artifact[] } | undefined {
  return typeof result === 'object' && result !== null && TOOL_RESULT in result ? (result as ToolResult)[TOOL_RESULT] : undefined;
}

/** What may stand for an artifact's bytes, as a Blob, which copies them: changing the array later changes nothing. */
export function toBlob(data: unknown): Blob {
  if (data instanceof Blob) return data;
  if (typeof data === 'string') return new Blob([data]);
  if (data instanceof ArrayBuffer) return new Blob([data]);
  // Shared memory could change while it is copied twice.
  if (data instanceof Uint8Array) return new Blob([data.buffer instanceof ArrayBuffer ? (data as Uint8Array<ArrayBuffer>) : data.slice()]);
  throw invalid(`The \`data\` of an artifact should be a Uint8Array, an ArrayBuffer, a Blob or a string, not ${describe(data)}.`);
}

/** A media type that is one, or `option_invalid`. */
export function checkMediaType(mediaType: unknown): string {
  if (typeof mediaType === 'string' && mediaType.length <= 255 && /^[\w.+-]+\/[\w.+-]+(\s*;[\x20-\x7e]*)?$/.test(mediaType))
    return mediaType;
  throw invalid(
    `The \`mediaType\` of an artifact should be a text such as "image/png", but is ${typeof mediaType === 'string' ? JSON.stringify(mediaType.slice(0, 100)) : describe(mediaType)}.`,
  );
}

/** A name for people of at most 255 characters, or `option_invalid`. */
export function checkName(name: unknown): string | undefined {
  if (name === undefined) return undefined;
  if (typeof name !== 'string' || name === '')
    throw invalid(`The \`name\` of an artifact should be a text that is not empty, but is ${describe(name)}.`);
  if (name.length > 255) throw invalid(`The \`name\` of an artifact has ${name.length} characters; the most is 255.`);
  return name;
}

/** A JSON object, copied and frozen, or `option_invalid`. */
export function checkMetadata(metadata: unknown): Readonly<Record<string, unknown>> | undefined {
  if (metadata === undefined) return undefined;
  const copied = copyJson(metadata);
  if (!copied.ok) throw invalid(`The \`metadata\` of an artifact should be a JSON object, but ${copied.problem}.`);
  const { value } = copied;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`The \`metadata\` of an artifact should be a JSON object, not ${describe(metadata)}.`);
  return value as Readonly<Record<string, unknown>>; // a frozen plain object: the line above and copyJson
}

const ARTIFACT = Symbol.for('callgate.Artifact');
const TOOL_RESULT: unique symbol = Symbol.for('callgate.toolResult');

/** What prints of an artifact: nothing that says anything about its contents. Whatever else there is, is in private fields. */
abstract class Redacted {
  abstract readonly kind: string;
  readonly #facts: ArtifactFacts;

  constructor(facts: ArtifactFacts) {
    this.#facts = facts;
  }

  get [ARTIFACT](): true {
    return true;
  }

  get mediaType(): string {
    return this.#facts.mediaType;
  }

  get name(): string | undefined {
    return this.#facts.name;
  }

  get metadata(): Readonly<Record<string, unknown>> | undefined {
    return this.#facts.metadata;
  }

  get size(): number | undefined {
    return this.#facts.size;
  }

  toJSON(): { kind: string; mediaType: string; size?: number } {
    const { kind, mediaType, size } = this;
    return { kind, mediaType, ...(size !== undefined && { size }) };
  }

  toString(): string {
    const size = this.size === undefined ? '' : `, ${this.size} bytes`;
    return `Artifact { ${this.kind}, ${this.mediaType}${size} }`;
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

class Inline extends Redacted {
  readonly #data: Blob;

  constructor(data: Blob, facts: ArtifactFacts) {
    super({ ...facts, size: data.size });
    this.#data = data;
  }

  get kind(): 'inline' {
    return 'inline';
  }

  get data(): Blob {
    return this.#data;
  }

  override get size(): number {
    return this.#data.size;
  }
}

class Deferred extends Redacted {
  readonly #reference: unknown;

  constructor(reference: unknown, facts: ArtifactFacts) {
    super(facts);
    this.#reference = reference;
  }

  get kind(): 'deferred' {
    return 'deferred';
  }

  get reference(): unknown {
    return this.#reference;
  }
}

function checkFields(options: unknown, maker: string, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw invalid(`${maker}() takes an object such as { ${known.slice(0, 2).join(', ')} }, not ${describe(options)}.`);
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const [near] = nearest(key, known);
    const other =
      key === 'reference' && maker === 'artifact'
        ? ' What another service holds is made with deferredArtifact({ reference, mediaType }).'
        : key === 'data' && maker === 'deferredArtifact'
          ? ' What has its bytes is made with artifact({ data, mediaType }).'
          : near === undefined
            ? ''
            : ` Did you mean \`${near}\`?`;
    throw invalid(`${maker}() has no field \`${key}\`; it has ${known.join(', ')}.${other}`);
  }
}

function checkFacts({ mediaType, name, metadata }: FactOptions): Omit<ArtifactFacts, 'size'> {
  const facts = { mediaType: checkMediaType(mediaType), name: checkName(name), metadata: checkMetadata(metadata) };
  return {
    mediaType: facts.mediaType,
    ...(facts.name !== undefined && { name: facts.name }),
    ...(facts.metadata !== undefined && { metadata: facts.metadata }),
  };
}

function checkReference(reference: unknown): unknown {
  if (reference === undefined) throw invalid('A deferred artifact needs a `reference`: a text or a JSON object that says where it is.');
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

function invalid(message: string): CodeModeError {
  return new CodeModeError('option_invalid', message);
}
