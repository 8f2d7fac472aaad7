// `store` and `load`: values that programs of one session keep for one another, as text, so that no object is shared.
// Not here: whether what a program stored is kept (the host commits it at the program's end).
import type { WireMode } from '../src/protocol/values.ts';
import { decodeValue, encodeValue } from '../src/protocol/values.ts';
import type { Outbox } from './outbox.ts';
import {
  JSONParse,
  JSONStringify,
  MapConstructor,
  MapPrototypeGet,
  MapPrototypeSet,
  ObjectKeys,
  RangeErrorConstructor,
  StringPrototypeCharCodeAt,
  TypeErrorConstructor,
} from './primordials.ts';

type Entry = readonly [mode: WireMode, text: string];

/** The program's two functions, and the driver's door. */
export interface Store {
  /** Keeps a copy of a value that can cross, under a text. Throws what cannot be kept. */
  store(key: unknown, value?: unknown): void;
  /** A fresh copy of what is kept under a key; `undefined` when there is nothing. */
  load(key: unknown): unknown;
  begin(entries: string, bytes: number): void;
}

export function createStore(outbox: Outbox): Store {
  const table = new MapConstructor<string, Entry>();
  let left = 0;

  function checkKey(key: unknown): string {
    if (typeof key === 'string') return key;
    throw new TypeErrorConstructor(`store(key, value) and load(key) take a string as the key, not ${key === null ? 'null' : typeof key}.`);
  }

  return {
    store(key, value) {
      const name = checkKey(key);
      const wire = encodeValue(value);
      const before = MapPrototypeGet(table, name);
      const size = wire.text.length + name.length;
      const freed = before === undefined ? 0 : before[1].length + name.length;
      if (size - freed > left) {
        throw new RangeErrorConstructor(
          `store("${name}", …) needs ${size} bytes, and ${left + freed} are left of the limit \`storeBytes\`. Store less, or overwrite what is no longer needed.`,
        );
      }
      left -= size - freed;
      MapPrototypeSet(table, name, [wire.mode, wire.text]);
      // Spaces separate the words of a line, so the key's are escaped.
      outbox.add(`store ${withoutSpaces(JSONStringify(name) as string)} ${wire.mode} ${wire.text}`);
    },
    load(key) {
      const entry = MapPrototypeGet(table, checkKey(key));
      return entry === undefined ? undefined : decodeValue({ mode: entry[0], text: entry[1] });
    },
    begin(entries, bytes) {
      left = bytes;
      if (entries === '{}') return;
      const kept = JSONParse(entries) as Record<string, Entry>;
      const names = ObjectKeys(kept);
      for (let i = 0; i < names.length; i++) {
        const name = names[i] as string;
        const entry = kept[name] as Entry;
        left -= entry[1].length + name.length;
        MapPrototypeSet(table, name, entry);
      }
    },
  };
}

function withoutSpaces(json: string): string {
  let text = '';
  for (let i = 0; i < json.length; i++) text += StringPrototypeCharCodeAt(json, i) === 32 ? '\\u0020' : (json[i] as string);
  return text;
}
