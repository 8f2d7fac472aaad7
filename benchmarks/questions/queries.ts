// What is asked of a search of tools: for every tool of a catalog three queries, the same in every run. Half of the words of its description, five
// words of it, and its name as somebody else would say it (other verbs, other number); the first two with typing mistakes. Questions that nobody could
// answer are apart: of whose words, before they were mistyped, none is missing from the descriptions of more than five tools.
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import type { CatalogTool, ServerCatalog } from './catalogs.ts';

/** A tool is found where it is among so many. */
export const FIRST = 5;
const SEED = 20_261_130;

export const KINDS = ['half', 'five', 'name'] as const;
export type Kind = (typeof KINDS)[number];

export interface Query {
  /** The index of the tool that is meant. */
  readonly tool: number;
  readonly query: string;
}

/** A server's catalog, and what is asked of it. */
export interface Asked {
  readonly server: string;
  readonly catalog: Catalog;
  readonly queries: Readonly<Record<Kind, readonly Query[]>>;
  /** Questions that fit more than five tools word for word. */
  readonly vague: readonly Query[];
  /** Tools that say of themselves word for word what another says, or go by the same name: which one is meant cannot be told. */
  readonly twins: readonly number[];
}

/** Tools by their indexes, the best first. */
export type Find = (query: string) => readonly number[];

const OTHER_VERBS: Readonly<Record<string, string>> = {
  get: 'fetch',
  fetch: 'get',
  list: 'find',
  search: 'list',
  find: 'search',
  create: 'add',
  add: 'create',
  delete: 'remove',
  remove: 'delete',
  update: 'edit',
  edit: 'update',
};

export function queriesOf({ server, tools }: ServerCatalog): Asked {
  const catalog = catalogOf(tools);
  const queries = { half: [] as Query[], five: [] as Query[], name: [] as Query[] };
  const random = generator(SEED + hash(server));
  const said = catalog.entries.map(({ tool }) => new Set(wordsIn(tool.description)));
  const vague: Query[] = [];
  const ask = (kind: 'half' | 'five', tool: number, words: readonly string[]): void => {
    const asked = wordsIn(words.join(' '));
    const isVague = said.filter((all) => asked.every((word) => all.has(word))).length > FIRST;
    (isVague ? vague : queries[kind]).push({ tool, query: mistype(words, random) });
  };
  for (const { index, tool } of catalog.entries) {
    const words = tool.description.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    if (words.length >= 2) {
      ask('half', index, someOf(words.slice(0, 60), 0.5, random));
      ask('five', index, fiveOf(words.slice(0, 40), random));
    }
    queries.name.push({ tool: index, query: otherwise(bare(tool.name)) });
  }
  const twins = catalog.entries.filter((one) => catalog.entries.some((other) => other !== one && areTwins(one.tool, other.tool)));
  return { server, catalog, queries, vague, twins: twins.map(({ index }) => index) };
}

/** Whether the tool that is meant is among the first, or one that cannot be told from it. */
export function isFound({ catalog }: Asked, { tool, query }: Query, find: Find): boolean {
  const meant = catalog.entries[tool];
  const found = find(query).slice(0, FIRST);
  return found.some((index) => index === tool || (meant !== undefined && areTwins(catalog.entries[index]?.tool, meant.tool)));
}

function catalogOf(tools: readonly CatalogTool[]): Catalog {
  const taken = new Set<string>();
  const listed = new Set<string>();
  const placed = tools
    .filter(({ name, description = '' }) => listed.size < listed.add(`${name}\n${description}`).size)
    .map(({ name, description = '', inputSchema = {} }) => {
      let own = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
      for (let number = 2; taken.has(own); number++) own = `${own.replace(/__\d+$/, '')}__${number}`;
      taken.add(own);
      // Nothing is called: what counts is what the tool says of itself, whatever its schema is worth.
      const tool = { name: own, description, inputSchema, input: { jsonSchema: {}, parse: never }, exclusive: false, execute: never };
      return { namespace: [], tool };
    });
  return createCatalog(placed);
}

/** Benchmarks' lists hold one function several times, told apart by a number that was put behind its name here. */
function areTwins(left: { name: string; description: string } | undefined, right: { name: string; description: string }): boolean {
  return left !== undefined && (left.description === right.description || bare(left.name) === bare(right.name));
}

function bare(name: string): string {
  return name.replace(/__\d+$/, '');
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function never(): never {
  throw new Error('Nothing is called here.');
}

function someOf(words: readonly string[], share: number, random: () => number): readonly string[] {
  const kept = words.filter(() => random() < share);
  return kept.length < 2 ? words.slice(0, 3) : kept;
}

function fiveOf(words: readonly string[], random: () => number): readonly string[] {
  const left = [...words];
  while (left.length > 5) left.splice(Math.floor(random() * left.length), 1);
  return left;
}

/** One word in five is mistyped, and at least one. */
function mistype(words: readonly string[], random: () => number): string {
  const long = words.flatMap((word, index) => (/^[A-Za-z]{4,}/.test(word) ? [index] : []));
  const certain = long[Math.floor(random() * long.length)];
  return words
    .map((word, index) => (index === certain || (long.includes(index) && random() < 0.2) ? mistake(word, random) : word))
    .join(' ');
}

function mistake(word: string, random: () => number): string {
  const at = Math.floor(random() * (word.length - 1));
  const letter = String.fromCharCode(97 + Math.floor(random() * 26));
  switch (Math.floor(random() * 4)) {
    case 0:
      return word.slice(0, at) + word.slice(at + 1);
    case 1:
      return word.slice(0, at) + letter + word.slice(at);
    case 2:
      return word.slice(0, at) + letter + word.slice(at + 1);
    default:
      return `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
  }
}

/** A name in other words: `list_issues` is `find issue`. */
function otherwise(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/);
  return words
    .map((word) => {
      const other = OTHER_VERBS[word.toLowerCase()];
      if (other !== undefined) return other;
      if (word.length < 4 || !/^[a-z]+$/i.test(word)) return word;
      return /[^s]s$/.test(word) ? word.slice(0, -1) : `${word}s`;
    })
    .join(' ');
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function hash(text: string): number {
  let sum = 0;
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
