// Finds tools by words: an index over names, descriptions and names of parameters. A query is a program's text and may be hostile: the
// time that one takes is bounded whatever it says. Not here: what is told of a tool that was found (discovery.ts).
import { createHash } from 'node:crypto';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import SearchableMap from 'minisearch/SearchableMap';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { JsonSchema } from './schema.ts';
import { stemOf, wordsOf } from './search-words.ts';

/** How much each sign counts. The values are those that `benchmarks/search.ts` found best. */
export interface Ranking {
  /** Of a word in the name and in the names of parameters, beside one in the description. */
  readonly name: number;
  readonly parameters: number;
  /** Of a word that only shares its stem with the query's, beside the word itself. */
  readonly stem: number;
  /** Of a verb that means the same: `fetch` for `get`. */
  readonly synonym: number;
  /** Of a word that begins with the query's, and of one that a typing mistake away. Only for words that no tool has. */
  readonly prefix: number;
  readonly typo: number;
}

export const RANKING: Ranking = { name: 1.25, parameters: 0.3, stem: 0.5, synonym: 0.2, prefix: 0.5, typo: 0.7 };

/** An index of one catalog. Entries are told by their number in it. */
export interface ToolIndex {
  /** The numbers of the tools that fit, best first. `within` says which may be answered; an empty query fits all, in the catalog's order. */
  readonly find: (query: string, within?: (index: number) => boolean) => readonly number[];
}

/** Builds the index at once, in some 20 ms for a thousand tools. */
export function createToolIndex(catalog: Catalog, ranking: Ranking = RANKING): ToolIndex {
  return new WordIndex(catalog.entries.map(documentOf), ranking);
}

/**
 * Indexes that are made when they are first asked, and shared by catalogs that say the same of their tools, as those of many runs do. Holds
 * the most recent few.
 */
export class ToolIndexes {
  readonly #byCatalog = new WeakMap<Catalog, ToolIndex>();
  readonly #byContent = new Map<string, ToolIndex>();
  readonly #preparing = new WeakMap<Catalog, Promise<void>>();

  /** The index of a catalog; makes it at once when it was not prepared. */
  of(catalog: Catalog): ToolIndex {
    const known = this.#byCatalog.get(catalog);
    if (known !== undefined) return known;
    const documents = catalog.entries.map(documentOf);
    const content = contentOf(documents);
    return this.#keep(catalog, content, this.#byContent.get(content) ?? new WordIndex(documents, RANKING));
  }

  /** Makes the index of a catalog in many short steps, so that the event loop has its turns. */
  prepare(catalog: Catalog): Promise<void> {
    if (this.#byCatalog.has(catalog)) return Promise.resolve();
    const preparing = this.#preparing.get(catalog) ?? this.#prepare(catalog);
    this.#preparing.set(catalog, preparing);
    return preparing;
  }

  async #prepare(catalog: Catalog): Promise<void> {
    const documents: Document[] = [];
    for (const part of partsOf(catalog.entries)) {
      documents.push(...part.map(documentOf));
      await eventLoopTurn();
    }
    const content = contentOf(documents);
    const known = this.#byContent.get(content);
    if (known !== undefined) {
      this.#keep(catalog, content, known);
      return;
    }
    const index = new WordIndex([], RANKING);
    for (const part of partsOf(documents)) {
      index.add(part);
      await eventLoopTurn();
    }
    this.#keep(catalog, content, index);
  }

  #keep(catalog: Catalog, content: string, index: ToolIndex): ToolIndex {
    // Last in the map is the latest used.
    this.#byContent.delete(content);
    this.#byContent.set(content, index);
    const [oldest] = this.#byContent.keys();
    if (this.#byContent.size > MOST_INDEXES && oldest !== undefined) this.#byContent.delete(oldest);
    this.#byCatalog.set(catalog, index);
    return index;
  }
}

function contentOf(documents: readonly Document[]): string {
  const hash = createHash('sha256');
  for (const { path, name, description, parameters } of documents) hash.update(JSON.stringify([path, name, description, parameters]));
  return hash.digest('base64');
}

/** Pieces that take a few milliseconds each. */
function* partsOf<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += TOOLS_AT_ONCE) yield list.slice(start, start + TOOLS_AT_ONCE);
}

const TOOLS_AT_ONCE = 50;
const MOST_INDEXES = 8;

/** What is read of a query, in UTF-16 units. */
const QUERY_LENGTH = 2_000;
/** Different words of a query that count, the rarest ones; and of those that no tool has, which cost most. */
const MOST_WORDS = 32;
const MOST_UNKNOWN = 12;
/** Places in the index that a query may visit. Common words say least, and are left out when there are others. */
const MOST_PLACES = 30_000;
/** Words that a misspelt or shortened one may stand for. */
const MOST_MEANT = 6;
/** What is read of a description, in UTF-16 units, and of the names of parameters. */
const DESCRIPTION_LENGTH = 4_000;
const MOST_PARAMETERS = 200;

interface Document {
  readonly id: number;
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: string;
}

function documentOf({ index, segments, path, tool }: CatalogEntry): Document {
  return {
    id: index,
    path,
    name: wordsOf(segments.join(' ')).join(' '),
    description: wordsOf(tool.description.slice(0, DESCRIPTION_LENGTH)).join(' '),
    parameters: wordsOf(parametersOf(tool.inputSchema).join(' ')).join(' '),
  };
}

/** Names of properties, those at the top first, from as deep as a person would look. */
function parametersOf(schema: JsonSchema): readonly string[] {
  const names = new Set<string>();
  let level: unknown[] = [schema];
  for (let depth = 0; depth < 4 && level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const part of level) {
      if (typeof part !== 'object' || part === null) continue;
      const { properties, items, anyOf, oneOf, allOf } = part as Readonly<Record<string, unknown>>;
      for (const [name, value] of typeof properties === 'object' && properties !== null ? Object.entries(properties) : []) {
        if (names.size === MOST_PARAMETERS) return [...names];
        names.add(name);
        below.push(value);
      }
      below.push(items);
      for (const choice of [anyOf, oneOf, allOf]) if (Array.isArray(choice)) below.push(...choice.slice(0, 50));
    }
    level = below;
  }
  return [...names];
}

class WordIndex implements ToolIndex {
  readonly #ranking: Ranking;
  readonly #search: MiniSearch<Document>;
  /** In how many places each word stands. */
  readonly #places = new SearchableMap<number>();
  readonly #stems = new SearchableMap<string[]>();
  /** Tools by their whole names, in words. */
  readonly #names = new Map<string, number[]>();
  readonly #nameWords: ReadonlySet<string>[] = [];

  constructor(documents: readonly Document[], ranking: Ranking) {
    this.#ranking = ranking;
    this.#search = new MiniSearch<Document>({
      fields: ['name', 'description', 'parameters'],
      tokenize: (text) => (text === '' ? [] : text.split(' ')),
      processTerm: (word) => word,
    });
    this.add(documents);
  }

  /** Adds tools, which follow those before in the catalog. */
  add(documents: readonly Document[]): void {
    this.#search.addAll(documents);
    for (const { id, path, name, description, parameters } of documents) {
      const words = name.split(' ');
      this.#nameWords[id] = new Set([...words, ...words.map(stemOf)]);
      const last = wordsOf(path.slice(path.lastIndexOf('.') + 1)).join(' ');
      for (const whole of new Set([name, last])) listIn(this.#names, whole).push(id);
      for (const field of [name, description, parameters]) {
        for (const word of new Set(field.split(' '))) {
          const places = this.#places.get(word);
          if (places === undefined) listIn(this.#stems, stemOf(word)).push(word);
          this.#places.set(word, (places ?? 0) + 1);
        }
      }
    }
  }

  readonly find = (query: string, within: (index: number) => boolean = () => true): readonly number[] => {
    const text = query.slice(0, QUERY_LENGTH);
    const words = wordsOf(text.replace(/^\s*tools\./, ''));
    if (words.length === 0) return query.trim() === '' ? this.#nameWords.map((_, index) => index).filter(within) : [];
    const exact = (this.#names.get(words.join(' ')) ?? []).filter(within);
    const meant = this.#meaningOf(words);
    if (meant.size === 0) return exact;
    const terms = [...meant.keys()];
    const { name, parameters } = this.#ranking;
    const found = this.#search.search(terms.join(' '), {
      boost: { name, description: 1, parameters },
      boostTerm: (term) => meant.get(term) ?? 0,
      filter: ({ id }) => within(id as number),
    });
    const first = new Set(exact);
    // Words that stand in any sentence help to tell tools apart, but find none.
    const isAboutNothing = words.every((word) => FILLERS.has(word));
    const fits = (matched: readonly string[]): boolean => isAboutNothing || matched.some((word) => !FILLERS.has(word));
    // A short query whose words are all in a tool's name speaks of that tool, or of its like.
    const stems = words.length <= 5 ? words.map(stemOf) : [];
    const isNamed = (id: number): boolean => stems.length > 0 && stems.every((stem) => this.#nameWords[id]?.has(stem));
    const ranked = found
      .filter(({ terms: matched }) => fits(matched))
      .map(({ id, score }) => ({ id: id as number, score: isNamed(id as number) ? score * 2 : score }));
    ranked.sort((a, b) => b.score - a.score || a.id - b.id);
    return [...exact, ...ranked.filter(({ id }) => !first.has(id)).map(({ id }) => id)];
  };

  /** The words of the index that the query's words may mean, each with its weight. */
  #meaningOf(words: readonly string[]): ReadonlyMap<string, number> {
    const { stem: stemWeight, synonym, prefix, typo } = this.#ranking;
    const asked = [...new Set(words)].map((word) => ({ word, places: this.#places.get(word) ?? 0, kin: this.#kinOf(word) }));
    asked.sort((a, b) => a.places - b.places);
    const meant = new Map<string, number>();
    let places = 0;
    let unknown = 0;
    const add = (word: string, weight: number): void => {
      if (weight <= (meant.get(word) ?? 0)) return;
      if (!meant.has(word)) places += this.#places.get(word) ?? 0;
      meant.set(word, weight);
    };
    for (const { word, places: known, kin } of asked.slice(0, MOST_WORDS)) {
      if (known > 0) {
        if (meant.size > 0 && places + known > MOST_PLACES) break;
        add(word, 1);
      }
      for (const other of kin) add(other, stemWeight);
      for (const other of SYNONYMS.get(stemOf(word)) ?? []) for (const form of this.#stems.get(other) ?? []) add(form, synonym);
      if (known > 0 || kin.length > 0 || unknown++ >= MOST_UNKNOWN) continue;
      for (const [other, mistakes] of this.#misspellingsOf(word)) add(other, (typo * word.length) / (word.length + mistakes));
      if (word.length >= 3) for (const other of this.#completionsOf(word)) add(other, (prefix * word.length) / other.length);
    }
    return meant;
  }

  /** Other forms of a word. */
  #kinOf(word: string): readonly string[] {
    return (this.#stems.get(stemOf(word)) ?? []).filter((other) => other !== word).slice(0, MOST_MEANT);
  }

  /** The nearest words to one that no tool has. */
  #misspellingsOf(word: string): readonly (readonly [word: string, mistakes: number])[] {
    if (word.length < 3) return [];
    const near = new Map<string, number>();
    const add = (other: string, mistakes: number): void => {
      if ((mistakes === 1 || word.length >= 6) && mistakes < (near.get(other) ?? 3)) near.set(other, mistakes);
    };
    for (const [other, [, edits]] of this.#places.fuzzyGet(word, 2)) add(other, mistakesOf(word, other, edits));
    const stem = stemOf(word);
    for (const [other, [forms, edits]] of this.#stems.fuzzyGet(stem, 2))
      for (const form of forms) add(form, mistakesOf(stem, other, edits));
    return [...near].sort((a, b) => a[1] - b[1] || (this.#places.get(b[0]) ?? 0) - (this.#places.get(a[0]) ?? 0)).slice(0, MOST_MEANT);
  }

  #completionsOf(word: string): readonly string[] {
    const words: string[] = [];
    for (const other of this.#places.atPrefix(word).keys()) if (words.push(other) === 50) break;
    return words.sort((a, b) => a.length - b.length).slice(0, MOST_MEANT);
  }
}

/** The list under a key, a new one if there is none. */
function listIn<T>(lists: { get(key: string): T[] | undefined; set(key: string, list: T[]): unknown }, key: string): T[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list: T[] = [];
  lists.set(key, list);
  return list;
}

/** Two swapped letters are two edits, but one mistake of a person. */
function mistakesOf(word: string, other: string, edits: number): number {
  return edits === 2 && isSwap(word, other) ? 1 : Math.max(1, edits);
}

function isSwap(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let at = 0;
  while (left[at] === right[at]) at++;
  return left[at] === right[at + 1] && left[at + 1] === right[at] && left.slice(at + 2) === right.slice(at + 2);
}

const FILLERS: ReadonlySet<string> = new Set(
  'a an and any are as at be by can for from has have i if in into is it its me my of on or our that the their them this to use using was which will with you your'.split(
    ' ',
  ),
);

/** Verbs that servers use for the same deed, by their stems. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ['get', 'fetch', 'read', 'retriev', 'load', 'show', 'view'],
    ['list', 'search', 'find', 'query', 'enumerat'],
    ['creat', 'add', 'new', 'insert', 'mak'],
    ['delet', 'remov', 'destroy', 'drop'],
    ['updat', 'edit', 'modify', 'chang', 'set'],
    ['send', 'post', 'publish'],
    ['run', 'execut', 'invok'],
    ['stop', 'cancel', 'abort'],
  ].flatMap((group) => group.map((verb) => [verb, group.filter((other) => other !== verb)] as const)),
);
