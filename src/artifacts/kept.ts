// An artifact of a run, as its caller and the run's other tools hold it: what it is, and how to get its bytes. Printing one says nothing of its
// contents. Not here: which artifacts a run may keep (run-shelf.ts), where their bytes are (store.ts).
import { inspect } from 'node:util';

/** Who made it: a tool, and in which call; a program with `saveArtifact`; or code mode itself, for a value too big for the model. */
export type ArtifactOrigin =
  | { readonly type: 'call'; readonly callId: string; readonly tool: string }
  | { readonly type: 'program' }
  | { readonly type: 'value' };

interface KeptFacts {
  /** Names it within its run: programs and models say it to mean this artifact. No authority outside of the run. */
  readonly id: string;
  /** For example `image/png`. */
  readonly mediaType: string;
  /** A file name for people; not a path that anybody follows. */
  readonly name?: string | undefined;
  /** JSON of the application, frozen. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly origin: ArtifactOrigin;
  /** The execution that it appeared in. */
  readonly executionId: string;
}

/** Which part of an artifact: from `start` (default 0) up to, without, `end` (default: all), in bytes. */
export interface ByteRange {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/**
 * An artifact whose bytes are in the store. They stay there until `release()` or until code mode is closed; those that have no `path` also go
 * when nobody holds this object any more.
 */
export interface KeptFile extends KeptFacts {
  readonly kind: 'stored';
  /** How many bytes it has. */
  readonly bytes: number;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly digest: string;
  /** Absolute path of the file, for a store on disk. */
  readonly path?: string | undefined;
  /** The bytes, or a part of them. Rejects with `store_failed` when they are gone. */
  read(range?: ByteRange): Promise<Uint8Array>;
  /** The bytes as text (UTF-8). */
  text(): Promise<string>;
  /** Gives the bytes up before the end; safe to call twice. */
  release(): Promise<void>;
}

/** An artifact that is somewhere else and that nobody has fetched. */
export interface KeptReference extends KeptFacts {
  readonly kind: 'deferred';
  /** In bytes, where that is known. */
  readonly bytes?: number | undefined;
  /** What `deferredArtifact()` was given. Never shown to programs and models; no authority to read anything. */
  readonly reference: unknown;
}

/** An artifact of a run, as callers and tools get it. */
export type KeptArtifact = KeptFile | KeptReference;

/** What a program knows of an artifact: no metadata, no reference, no path. */
export interface ArtifactDescriptor {
  readonly id: string;
  readonly name: string | null;
  readonly mediaType: string;
  readonly bytes: number | null;
  /** The call that it came beside; `null` for what programs saved. */
  readonly from: { readonly tool: string; readonly callId: string } | null;
}

/** An artifact as programs are told of it. */
export function describeKept({ id, name, mediaType, bytes, origin }: KeptArtifact): ArtifactDescriptor {
  return {
    id,
    name: name ?? null,
    mediaType,
    bytes: bytes ?? null,
    from: origin.type === 'call' ? { tool: origin.tool, callId: origin.callId } : null,
  };
}

/** How the bytes of a stored artifact are had. */
export interface Bytes {
  readonly bytes: number;
  readonly digest: string;
  readonly path?: string | undefined;
  read(range?: ByteRange): Promise<Uint8Array>;
  release(): Promise<void>;
}

/** What is shown to a model at once, for `renderResult`. */
export interface MediaBudget {
  readonly blocks: number;
  readonly bytes: number;
}

/** What an artifact's run shows to a model at once; `undefined` for what is no artifact of a run. */
export function mediaOf(artifact: KeptArtifact | undefined): MediaBudget | undefined {
  // Under this symbol there is nothing else, in other copies of this package too.
  return artifact === undefined ? undefined : (artifact as { readonly [MEDIA]?: MediaBudget })[MEDIA];
}

const MEDIA: unique symbol = Symbol.for('callgate.media');

export function makeFile(facts: KeptFacts, bytes: Bytes, media: MediaBudget): KeptFile {
  return Object.freeze(new File(facts, bytes, media));
}

export function makeReference(
  facts: KeptFacts,
  deferred: { readonly bytes?: number | undefined; readonly reference: unknown },
  media: MediaBudget,
): KeptReference {
  return Object.freeze(new Reference(facts, deferred, media));
}

/** Everything in private fields: spreading, printing and serialising one gives nothing but what `toJSON` gives. */
abstract class Kept {
  abstract readonly kind: string;
  abstract readonly bytes: number | undefined;
  readonly #facts: KeptFacts;
  readonly #media: MediaBudget;

  constructor(facts: KeptFacts, media: MediaBudget) {
    this.#facts = facts;
    this.#media = media;
  }

  get [MEDIA](): MediaBudget {
    return this.#media;
  }

  get id(): string {
    return this.#facts.id;
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

  get origin(): ArtifactOrigin {
    return this.#facts.origin;
  }

  get executionId(): string {
    return this.#facts.executionId;
  }

  toJSON(): { kind: string; id: string; mediaType: string; bytes?: number } {
    const { kind, id, mediaType, bytes } = this;
    return { kind, id, mediaType, ...(bytes !== undefined && { bytes }) };
  }

  toString(): string {
    return `Artifact { ${this.id}, ${this.kind}, ${this.mediaType}${this.bytes === undefined ? '' : `, ${this.bytes} bytes`} }`;
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

class File extends Kept {
  readonly #bytes: Bytes;

  constructor(facts: KeptFacts, bytes: Bytes, media: MediaBudget) {
    super(facts, media);
    this.#bytes = bytes;
  }

  get kind(): 'stored' {
    return 'stored';
  }

  get bytes(): number {
    return this.#bytes.bytes;
  }

  get digest(): string {
    return this.#bytes.digest;
  }

  get path(): string | undefined {
    return this.#bytes.path;
  }

  read(range?: ByteRange): Promise<Uint8Array> {
    return this.#bytes.read(range);
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#bytes.read());
  }

  release(): Promise<void> {
    return this.#bytes.release();
  }
}

class Reference extends Kept {
  readonly #deferred: { readonly bytes?: number | undefined; readonly reference: unknown };

  constructor(facts: KeptFacts, deferred: { readonly bytes?: number | undefined; readonly reference: unknown }, media: MediaBudget) {
    super(facts, media);
    this.#deferred = deferred;
  }

  get kind(): 'deferred' {
    return 'deferred';
  }

  get bytes(): number | undefined {
    return this.#deferred.bytes;
  }

  get reference(): unknown {
    return this.#deferred.reference;
  }
}
