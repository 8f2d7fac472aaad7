// The store that keeps artifacts in the memory of the process. Not here: counting holders (shelf.ts).
import { randomUUID } from 'node:crypto';
import { checkMaxBytes } from './max-bytes.ts';
import { createStore, type Shelf } from './shelf.ts';
import type { ArtifactStore, StoredArtifact } from './store.ts';

export interface MemoryStoreOptions {
  /** Most bytes that the store holds at a time, for all runs together. Default 1 GiB. */
  readonly maxBytes?: number | undefined;
}

/** Keeps artifacts in memory. Close it with the application; throws `option_invalid` for a wrong option. */
export function memoryStore(options: MemoryStoreOptions = {}): ArtifactStore {
  return createStore(MEMORY, { maxBytes: checkMaxBytes(options.maxBytes) ?? DEFAULT_BYTES });
}

const DEFAULT_BYTES = 1024 ** 3;

interface InMemory extends StoredArtifact {
  readonly data: Uint8Array;
}

/** It has no state of its own: the bytes are in the items. */
const MEMORY: Shelf<InMemory> = {
  save: async ({ data }, digest) => ({ key: randomUUID(), bytes: data.length, digest, data }),
  load: async ({ data }, start, end) => data.slice(start, end),
  drop: async () => {},
  close: async () => {},
};
