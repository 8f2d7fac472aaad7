// Learns what tools return that do not say it: the shape of real results, as a TypeScript type. Never a value: no text, no number, and no key that
// looks like data. Bounded in time and memory whatever the results are. Not here: whose results are learned from (session), where the
// type is shown (declarations.ts).
import type { CatalogEntry } from './catalog.ts';
import { memberName } from './typescript/comment.ts';

/** Deepest level that is told apart, keys of an object, and items of a list that are looked at. */
const DEPTH = 6;
const MOST_KEYS = 40;
const MOST_ITEMS = 20;
/** Parts of one result that are looked at, and of all that is kept of one tool. */
const MOST_VISITS = 2_000;
const MOST_KEPT = 300;
/** Results of one tool that are looked at: after these there is little to learn. */
const MOST_RESULTS = 100;
/** Tools that are learned from. */
const MOST_TOOLS = 5_000;
/** Longest type, in UTF-16 units; a longer one leaves deeper levels out. */
const TYPE_LENGTH = 1_500;

type Word =
  | 'string'
  | 'number'
  | 'boolean'
  | 'bigint'
  | 'null'
  | 'undefined'
  | 'unknown'
  | 'Date'
  | 'Uint8Array'
  | 'Map<unknown, unknown>'
  | 'Set<unknown>';

/** What was seen in one place: a union of words, one object, one list. */
interface Shape {
  readonly words: Set<Word>;
  object?: { seen: number; readonly keys: Map<string, { seen: number; readonly shape: Shape }> };
  /** An object whose keys are data, such as ids. */
  record?: Shape;
  items?: Shape;
}

interface Learned {
  results: number;
  kept: number;
  readonly shape: Shape;
  type: string | undefined;
}

/** What was seen of the results of one run's tools, or of several runs'. */
export class SeenResultsOfTools {
  readonly #tools = new Map<string, Learned>();

  /** Looks at a result. Never throws, and keeps nothing of it but its shape. */
  see({ path, tool }: CatalogEntry, value: unknown): void {
    if (tool.outputSchema !== undefined) return;
    let learned = this.#tools.get(path);
    if (learned === undefined) {
      if (this.#tools.size >= MOST_TOOLS) return;
      learned = { results: 0, kept: 0, shape: { words: new Set() }, type: undefined };
      this.#tools.set(path, learned);
    }
    if (learned.results >= MOST_RESULTS) return;
    learned.results++;
    learned.type = undefined;
    try {
      new Look(learned).at(value, learned.shape, 0);
    } catch {
      // A getter or proxy of the application: nothing is learned from it.
    }
  }

  /** The type of what a tool has returned so far; `undefined` when nothing was seen, or nothing that says more than `unknown`. */
  typeOf({ segments }: Pick<CatalogEntry, 'segments'>): string | undefined {
    const learned = this.#tools.get(segments.join('.'));
    if (learned === undefined) return undefined;
    learned.type ??= typeText(learned.shape);
    return learned.type === 'unknown' ? undefined : learned.type;
  }
}

/** One look at one result. */
class Look {
  readonly #learned: Learned;
  #visits = 0;

  constructor(learned: Learned) {
    this.#learned = learned;
  }

  at(value: unknown, shape: Shape, depth: number): void {
    if (++this.#visits > MOST_VISITS) return;
    const word = wordOf(value);
    if (word !== undefined) shape.words.add(word);
    else if (depth >= DEPTH) shape.words.add('unknown');
    else if (Array.isArray(value)) {
      shape.items ??= { words: new Set() };
      for (let index = 0; index < value.length && index < MOST_ITEMS; index++) this.at(value[index], shape.items, depth + 1);
    } else this.#object(value as Readonly<Record<string, unknown>>, shape, depth);
  }

  #object(value: Readonly<Record<string, unknown>>, shape: Shape, depth: number): void {
    const keys: string[] = [];
    let isData = shape.record !== undefined;
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      // Ids, addresses and whole sentences as keys are values too: then none of the keys is told.
      isData ||= !isMemberName(key) || keys.length === MOST_KEYS;
      if (keys.push(key) > MOST_KEYS) break;
    }
    isData ||= keys.some((key) => shape.object?.keys.has(key) !== true) && (shape.object?.keys.size ?? 0) + keys.length > 2 * MOST_KEYS;
    if (isData) {
      shape.record ??= { words: new Set() };
      const { record } = shape;
      // What was taken for members before was data as well.
      for (const { shape: member } of shape.object?.keys.values() ?? []) join(member, record);
      delete shape.object;
      for (const key of keys) this.at(value[key], record, depth + 1);
      return;
    }
    shape.object ??= { seen: 0, keys: new Map() };
    const { object } = shape;
    object.seen++;
    for (const key of keys) {
      let member = object.keys.get(key);
      if (member === undefined) {
        if (++this.#learned.kept > MOST_KEPT) continue;
        member = { seen: 0, shape: { words: new Set() } };
        object.keys.set(key, member);
      }
      member.seen++;
      this.at(value[key], member.shape, depth + 1);
    }
  }
}

/** The word for what is no list and no object of members; as the program gets it. */
function wordOf(value: unknown): Word | undefined {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
    case 'undefined':
      return typeof value as Word;
    case 'object':
      break;
    default:
      return 'unknown';
  }
  if (value instanceof Map) return 'Map<unknown, unknown>';
  if (value instanceof Set) return 'Set<unknown>';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return 'Uint8Array';
  // A date crosses as its text.
  if (value instanceof Date) return 'string';
  return value instanceof Error || typeof (value as { toJSON?: unknown }).toJSON === 'function' ? 'unknown' : undefined;
}

/** Whether a key names a member, as a programmer writes one, and is no id, address, date or text. */
function isMemberName(key: string): boolean {
  return (
    /^[A-Za-z_$@][\w$ .-]{0,39}$/.test(key) &&
    !/\d{3}|[0-9a-f]{8}|\d.*\D.*\d.*\D.*\d|\s.*\s.*\s/i.test(key.replace(/^(?:[a-z]+_)?(?:iso|utf|sha|md|base)_?-?\d+/i, ''))
  );
}

/** Adds what one shape says to another. */
function join(from: Shape, into: Shape): void {
  for (const word of from.words) into.words.add(word);
  for (const place of ['items', 'record'] as const) {
    const inner = from[place];
    if (inner === undefined) continue;
    into[place] ??= { words: new Set() };
    join(inner, into[place]);
  }
  if (from.object === undefined) return;
  into.object ??= { seen: 0, keys: new Map() };
  const { object } = into;
  object.seen += from.object.seen;
  for (const [key, { seen, shape }] of from.object.keys) {
    const known = object.keys.get(key);
    const member = known ?? { seen: 0, shape: { words: new Set() } };
    if (known === undefined) object.keys.set(key, member);
    member.seen += seen;
    join(shape, member.shape);
  }
}

function typeText(shape: Shape): string {
  for (let depth = DEPTH; depth > 1; depth--) {
    const text = print(shape, depth);
    if (text.length <= TYPE_LENGTH) return text;
  }
  return print(shape, 1).length <= TYPE_LENGTH ? print(shape, 1) : 'unknown';
}

function print(shape: Shape, depth: number): string {
  const parts: string[] = [...shape.words].filter((word) => word !== 'null' && word !== 'undefined').sort();
  if (parts.includes('unknown')) return 'unknown';
  if (shape.object !== undefined) parts.push(depth === 0 ? 'object' : printObject(shape.object, depth));
  if (shape.record !== undefined) parts.push(depth === 0 ? 'object' : `Record<string, ${print(shape.record, depth - 1)}>`);
  if (shape.items !== undefined) {
    const items = isEmpty(shape.items) ? 'unknown' : depth === 0 ? 'unknown' : print(shape.items, depth - 1);
    parts.push(/ \| /.test(outside(items)) ? `(${items})[]` : `${items}[]`);
  }
  for (const nothing of ['null', 'undefined'] as const) if (shape.words.has(nothing)) parts.push(nothing);
  return parts.length === 0 ? 'unknown' : parts.join(' | ');
}

function printObject({ seen, keys }: NonNullable<Shape['object']>, depth: number): string {
  if (keys.size === 0) return '{}';
  // Many keys, most of them rare: what stands there is data, one word after another.
  const rare = [...keys.values()].filter((member) => member.seen * 2 < seen).length;
  if (keys.size > 8 && rare * 2 > keys.size) {
    const record: Shape = { words: new Set() };
    for (const { shape } of keys.values()) join(shape, record);
    return `Record<string, ${print(record, depth - 1)}>`;
  }
  const members = [...keys].map(([key, member]) => `${memberName(key)}${member.seen < seen ? '?' : ''}: ${print(member.shape, depth - 1)}`);
  return `{ ${members.join('; ')} }`;
}

function isEmpty({ words, object, record, items }: Shape): boolean {
  return words.size === 0 && object === undefined && record === undefined && items === undefined;
}

/** A type without what stands in brackets. */
function outside(type: string): string {
  let depth = 0;
  let text = '';
  for (const character of type) {
    if ('{(<'.includes(character)) depth++;
    if (depth === 0) text += character;
    if ('})>'.includes(character)) depth--;
  }
  return text;
}
