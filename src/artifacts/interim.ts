// Stands in until the stores land.
import { createHash, randomUUID } from 'node:crypto';
import { CodeModeError } from '../protocol/errors.ts';
import type { ArtifactStore, StoredArtifact } from './store.ts';

export function memoryStore(): ArtifactStore {
  const items = new Map<string, { item: StoredArtifact; data: Uint8Array; holders: number; same: string }>();
  return {
    async put({ data, name, mediaType, metadata }) {
      const digest = createHash('sha256').update(data).digest('hex');
      const same = JSON.stringify([digest, name, mediaType, metadata]);
      for (const entry of items.values()) {
        if (entry.same !== same) continue;
        entry.holders++;
        return entry.item;
      }
      const item = { key: randomUUID(), bytes: data.length, digest };
      items.set(item.key, { item, data: data.slice(), holders: 1, same });
      return item;
    },
    async read(key, { start = 0, end } = {}) {
      const entry = items.get(key);
      if (entry === undefined) throw new CodeModeError('store_failed', 'The artifact is gone.');
      return entry.data.slice(start, end);
    },
    async release(key) {
      const entry = items.get(key);
      if (entry !== undefined && --entry.holders === 0) items.delete(key);
    },
    async close() {
      items.clear();
    },
  };
}
