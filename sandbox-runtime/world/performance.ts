// `performance`: a coarse clock that starts with the program. Tenths of a millisecond are enough to measure tools, and too little
// to measure caches.
import { list, MathFloor, StringConstructor, TypeErrorConstructor } from '../primordials.ts';
import type { WorldContext } from './context.ts';
import { defineGlobal, defineMembers, defineTag } from './define.ts';

const MAX_ENTRIES = 1000;

interface Entry {
  name: string;
  entryType: 'mark' | 'measure';
  startTime: number;
  duration: number;
  detail: unknown;
}

/** Defines `performance`. */
export function installPerformance(context: WorldContext): void {
  const { host, settings } = context;
  let entries = list<Entry>();
  const now = (): number => MathFloor((host.now() - settings.origin) * 10) / 10;

  function add(entry: Entry): Entry {
    if (entries.length < MAX_ENTRIES) entries[entries.length] = entry;
    return entry;
  }

  function timeOf(mark: unknown, fallback: number): number {
    if (mark === undefined) return fallback;
    if (typeof mark === 'number') return mark;
    const name = StringConstructor(mark);
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i] as Entry;
      if (entry.name === name && entry.entryType === 'mark') return entry.startTime;
    }
    throw new TypeErrorConstructor(`There is no performance mark named "${name}"; set it with performance.mark("${name}") first.`);
  }

  const select = (test: (entry: Entry) => boolean): Entry[] => {
    const found: Entry[] = [];
    for (let i = 0; i < entries.length; i++) if (test(entries[i] as Entry)) found[found.length] = entries[i] as Entry;
    return found;
  };
  const drop = (type: Entry['entryType'], name: unknown): void => {
    const kept = list<Entry>();
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as Entry;
      if (entry.entryType !== type || (name !== undefined && entry.name !== StringConstructor(name))) kept[kept.length] = entry;
    }
    entries = kept;
  };

  const performance = {};
  defineMembers(performance, {
    get timeOrigin(): number {
      return settings.epoch;
    },
    now,
    mark(name: unknown, options?: { startTime?: number; detail?: unknown }): Entry {
      const startTime = options?.startTime ?? now();
      return add({ name: StringConstructor(name), entryType: 'mark', startTime, duration: 0, detail: options?.detail ?? null });
    },
    measure(name: unknown, start?: unknown, end?: unknown): Entry {
      const given =
        typeof start === 'object' && start !== null ? (start as { start?: unknown; end?: unknown; detail?: unknown }) : undefined;
      const from = timeOf(given === undefined ? start : given.start, 0);
      const to = timeOf(given === undefined ? end : given.end, now());
      return add({
        name: StringConstructor(name),
        entryType: 'measure',
        startTime: from,
        duration: to - from,
        detail: given?.detail ?? null,
      });
    },
    getEntries: () => select(() => true),
    getEntriesByName: (name: unknown) => select((entry) => entry.name === StringConstructor(name)),
    getEntriesByType: (type: unknown) => select((entry) => entry.entryType === type),
    clearMarks: (name?: unknown) => drop('mark', name),
    clearMeasures: (name?: unknown) => drop('measure', name),
    toJSON: () => ({ timeOrigin: settings.epoch }),
  });
  defineTag(performance, 'Performance');
  defineGlobal('performance', performance);
}
