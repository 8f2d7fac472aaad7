// Where the bytes of artifacts are kept while their run lasts. Not here: which artifacts a run may keep, and how many.

/** What a store is given to keep. */
export interface StoreInput {
  readonly data: Uint8Array;
  /** For example `image/png`. */
  readonly mediaType: string;
  /** A file name for people; a store that makes files cleans it and never follows it. */
  readonly name?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** One kept artifact. */
export interface StoredArtifact {
  /** Names it in its store; no authority to anybody who learns of it. */
  readonly key: string;
  readonly bytes: number;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly digest: string;
  /** Absolute path of the file, for a store on disk. */
  readonly path?: string;
}

/**
 * Keeps bytes. The same bytes with the same name, media type and metadata are kept once: `put` gives the entry that is there and counts one
 * more holder of it; `release` takes a holder away, and the last one's takes the bytes. Several runs use one store at a time.
 */
export interface ArtifactStore {
  /** Keeps bytes, wholly or not at all. Rejects with a `CodeModeError` (`store_failed`) that names no path of the host in its message. */
  put(input: StoreInput): Promise<StoredArtifact>;
  /** The bytes of an entry, or a part of them: from `start` (default 0) up to, without, `end` (default: all). */
  read(key: string, range?: { readonly start?: number; readonly end?: number }): Promise<Uint8Array>;
  release(key: string): Promise<void>;
  /** Lets go of everything. Safe to call twice. */
  close(): Promise<void>;
}
