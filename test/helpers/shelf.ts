// The artifacts of a run in a test, and stores that do what the test says.
import { memoryStore } from '../../src/artifacts/memory.ts';
import { RunShelf, type RunShelfOptions } from '../../src/artifacts/run-shelf.ts';
import type { ArtifactStore } from '../../src/artifacts/store.ts';
import { createRun } from '../../src/tools/binding.ts';

export function shelfOf(options: Partial<RunShelfOptions> = {}): RunShelf {
  return new RunShelf({ store: memoryStore(), run: createRun({ id: 'run-1' }).run, ...options });
}

/** A store that counts what is in it, and fails when it is told to. */
export interface CountedStore extends ArtifactStore {
  /** Holders by key. */
  readonly holders: ReadonlyMap<string, number>;
  puts: number;
  /** Asked before each put; what it throws is what the put fails with. */
  before: (put: number) => void | Promise<void>;
}

export function countedStore(): CountedStore {
  const inner = memoryStore();
  const holders = new Map<string, number>();
  const store: CountedStore = {
    holders,
    puts: 0,
    before: () => undefined,
    async put(input) {
      await store.before(++store.puts);
      const stored = await inner.put(input);
      holders.set(stored.key, (holders.get(stored.key) ?? 0) + 1);
      return stored;
    },
    read: (key, range) => inner.read(key, range),
    async release(key) {
      const left = (holders.get(key) ?? 0) - 1;
      if (left < 0) throw new Error('released more often than put');
      if (left === 0) holders.delete(key);
      else holders.set(key, left);
      await inner.release(key);
    },
    close: () => inner.close(),
  };
  return store;
}
