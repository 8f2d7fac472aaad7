// What every store does the same way: equal artifacts are kept once, holders are counted, a failure leaves nothing behind, a closed
// store takes nothing. Not here: where the bytes are (memory.ts, directory.ts).
import { createHash } from 'node:crypto';
import { CodeModeError } from '../protocol/errors.ts';
import type { ArtifactStore, StoredArtifact, StoreInput } from './store.ts';

/** Where the bytes are. Each item is saved once, loaded as often as asked, and dropped once; or closed with the others. */
export interface Shelf<Item extends StoredArtifact> {
  /** Saves wholly or not at all. `input.data` is nobody else's. */
  save(input: StoreInput, digest: string): Promise<Item>;
  /** The bytes from `start` up to `end`, which are within the item. */
  load(item: Item, start: number, end: number): Promise<Uint8Array>;
  drop(item: Item): Promise<void>;
  /** The end, with the items that are still held. Called once. */
  close(items: readonly Item[]): Promise<void>;
}

export interface ShelfOptions {
  /** Most bytes at a time, of all that is held. */
  readonly maxBytes: number;
}

/** A store over a shelf. */
export function createStore<Item extends StoredArtifact>(shelf: Shelf<Item>, options: ShelfOptions): ArtifactStore {
  return new CountingStore(shelf, options);
}

/** The failure of a store; `cause` stays on the host. */
export function storeFailed(message: string, cause?: unknown): CodeModeError {
  return new CodeModeError('store_failed', message, cause === undefined ? {} : { cause });
}

/** SHA-256 in pieces, so that many megabytes do not keep the event loop from others. */
export async function digestOf(data: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < data.length; start += PIECE_BYTES) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve));
    hash.update(data.subarray(start, start + PIECE_BYTES));
  }
  return hash.digest('hex');
}

const PIECE_BYTES = 4 * 1024 * 1024;

interface Entry<Item> {
  holders: number;
  readonly bytes: number;
  readonly saved: Promise<Item>;
}

class CountingStore<Item extends StoredArtifact> implements ArtifactStore {
  readonly #shelf: Shelf<Item>;
  readonly #maxBytes: number;
  /** By what makes artifacts equal. */
  readonly #entries = new Map<string, Entry<Item>>();
  /** By key: the item, and its place in `#entries`. */
  readonly #items = new Map<string, { readonly item: Item; readonly entry: Entry<Item>; readonly equality: string }>();
  /** Saves and drops that have not ended. */
  readonly #working = new Set<Promise<unknown>>();
  /** Items that could not be dropped: they still count, and closing tries again. */
  readonly #leftovers: Item[] = [];
  #bytes = 0;
  #closed: Promise<void> | undefined;

  constructor(shelf: Shelf<Item>, { maxBytes }: ShelfOptions) {
    this.#shelf = shelf;
    this.#maxBytes = maxBytes;
  }

  async put({ data, mediaType, name, metadata }: StoreInput): Promise<StoredArtifact> {
    this.#checkOpen();
    // A copy: whoever holds the array may write to it while it is hashed and saved.
    const input: StoreInput = { data: data.slice(), mediaType, name, metadata };
    const digest = await digestOf(input.data);
    this.#checkOpen();
    const equality = JSON.stringify([digest, mediaType, name ?? null, metadata === undefined ? null : canonical(metadata)]);
    const entry = this.#entries.get(equality) ?? this.#save(input, digest, equality);
    entry.holders++;
    const item = await entry.saved;
    this.#checkOpen();
    return Object.freeze(describeItem(item));
  }

  async read(key: string, { start = 0, end }: { readonly start?: number; readonly end?: number } = {}): Promise<Uint8Array> {
    const { item } = this.#find(key);
    for (const [side, value] of Object.entries({ start, end: end ?? start })) {
      if (!Number.isSafeInteger(value) || value < 0)
        throw new CodeModeError(
          'option_invalid',
          `The \`${side}\` of a range should be a whole number of bytes from 0, not ${String(value)}.`,
        );
    }
    const last = Math.min(end ?? item.bytes, item.bytes);
    return start >= last ? new Uint8Array() : this.#shelf.load(item, start, last);
  }

  async release(key: string): Promise<void> {
    // Whatever there was has been let go.
    if (this.#closed !== undefined) return;
    const { item, entry, equality } = this.#find(key);
    if (--entry.holders > 0) return;
    // Forgotten first: an equal artifact that comes meanwhile is saved anew.
    this.#items.delete(key);
    this.#entries.delete(equality);
    try {
      await this.#track(this.#shelf.drop(item));
      this.#bytes -= entry.bytes;
    } catch (error) {
      this.#leftovers.push(item);
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // In the next turn, when `#closed` is set for whoever is waited for here.
    await Promise.resolve();
    await Promise.allSettled(this.#working);
    const items = [...Array.from(this.#items.values(), ({ item }) => item), ...this.#leftovers.splice(0)];
    this.#items.clear();
    this.#entries.clear();
    this.#bytes = 0;
    await this.#shelf.close(items);
  }

  #save(input: StoreInput, digest: string, equality: string): Entry<Item> {
    const bytes = input.data.length;
    if (this.#bytes + bytes > this.#maxBytes) {
      throw storeFailed(
        `The store is full: it holds ${this.#bytes} of at most ${this.#maxBytes} bytes, and ${bytes} more were not kept. Keep less at a time, or raise its \`maxBytes\`.`,
      );
    }
    this.#bytes += bytes;
    const entry: Entry<Item> = {
      holders: 0,
      bytes,
      saved: this.#track(
        this.#shelf.save(input, digest).then(
          (item) => {
            this.#items.set(item.key, { item, entry, equality });
            return item;
          },
          (error: unknown) => {
            // Those who wait for the same bytes fail with it; whoever comes later tries again.
            this.#entries.delete(equality);
            this.#bytes -= bytes;
            throw error;
          },
        ),
      ),
    };
    this.#entries.set(equality, entry);
    return entry;
  }

  #find(key: string): { readonly item: Item; readonly entry: Entry<Item>; readonly equality: string } {
    this.#checkOpen();
    const found = this.#items.get(key);
    if (found === undefined) throw storeFailed('The store holds no artifact of this key; it may have been released.');
    return found;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw storeFailed('The store has been closed.');
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#working.add(work);
    const forget = (): void => void this.#working.delete(work);
    work.then(forget, forget);
    return work;
  }
}

function describeItem({ key, bytes, digest, path }: StoredArtifact): StoredArtifact {
  return { key, bytes, digest, ...(path !== undefined && { path }) };
}

/** JSON whose text does not depend on the order of keys. */
function canonical(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  const pairs = Object.entries(value).filter(([, member]) => member !== undefined);
  // Pairs, not an object: integer-like keys would sort themselves, and `__proto__` would be none.
  return { pairs: pairs.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, member]) => [key, canonical(member)]) };
}
