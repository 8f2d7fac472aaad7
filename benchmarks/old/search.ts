// Does a search find the tool that is meant? For every tool of every catalog of ../shared/catalogs three queries, the same each time: half of the
// words of its description, five words of it, and its name as somebody else would say it (other verbs, other number); the first two with typing
// mistakes. Recall: how often the tool is among the first five. Questions that nobody could answer are counted apart: of whose words, before they were
// mistyped, none is missing from the descriptions of more than five tools. Beside it: other rankings, MiniSearch as it comes, and what a search
// costs.
//
//   npm run bench -- search              recall of all catalogs, rankings, times
//   npm run bench -- search --misses N   the queries of catalog N that fail, with what was found instead
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import MiniSearch from 'minisearch';
import { createCodeMode, defineTool } from '../src/index.ts';
import { type Catalog, createCatalog } from '../src/tools/catalog.ts';
import { createToolIndex, RANKING, type Ranking } from '../src/tools/search.ts';
import { aim, machine, measure, print } from './measure.ts';

const CATALOGS = resolve('../shared/catalogs');
const FIRST = 5;
const SEED = 20_261_130;
const KINDS = ['half', 'five', 'name'] as const;
type Kind = (typeof KINDS)[number];

interface ServerTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
}

interface Question {
  readonly tool: number;
  readonly query: string;
}

interface Subject {
  readonly server: string;
  readonly catalog: Catalog;
  readonly questions: Readonly<Record<Kind, readonly Question[]>>;
  /** Questions that fit more than five tools word for word. */
  readonly vague: readonly Question[];
  /** Tools that say of themselves word for word what another says, or go by the same name: which one is meant cannot be told. */
  readonly twins: readonly number[];
}

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

type Find = (query: string) => readonly number[];

const { values: flags } = parseArgs({ options: { misses: { type: 'string' } } });
const subjects = read();
if (flags.misses !== undefined) tellMisses(flags.misses);
else {
  console.log(machine());
  tellRecall();
  compareRankings();
  await tellTimes();
}

function tellRecall(): void {
  const width = Math.max(...subjects.map(({ server }) => server.length));
  console.log(
    `\nrecall at ${FIRST}, % of tools\n${''.padEnd(width)} ${['tools', ...KINDS, 'twins', 'vague'].map((head) => head.padStart(7)).join('')}`,
  );
  const below: string[] = [];
  for (const subject of subjects) {
    const index = createToolIndex(subject.catalog);
    const shares = KINDS.map((kind) => recall(subject, kind, index.find));
    const cells = [subject.catalog.entries.length, ...shares.map(percent), subject.twins.length || '', subject.vague.length || ''];
    console.log(`${subject.server.padEnd(width)} ${cells.map((cell) => String(cell).padStart(7)).join('')}`);
    if ((shares[0] ?? 1) < 0.95) below.push(`${subject.server} ${percent(shares[0] ?? 0)}`);
  }
  const means = meansOf((subject) => createToolIndex(subject.catalog).find);
  console.log(`${'all tools'.padEnd(width)} ${''.padStart(7)}${means.map((mean) => percent(mean).padStart(7)).join('')}`);
  const [found, vague] = vagueFound();
  console.log(
    `vague: questions apart, since every word of them is said of more than five tools; of ${vague} ${found} found their tool all the same.`,
  );
  console.log('twins: tools with the description or the name of another; finding either counts.');
  aim('tools not found by half of their words, %', 100 * (1 - (means[0] ?? 0)), 5);
  console.log(`catalogs below 95 %: ${below.length === 0 ? 'none' : below.join(', ')}`);
}

function compareRankings(): void {
  const rankings: Readonly<Record<string, (subject: Subject) => Find>> = {
    'as it is': ranked(RANKING),
    'name twice': ranked({ ...RANKING, name: 2 }),
    'name as much as description': ranked({ ...RANKING, name: 1 }),
    'name three times': ranked({ ...RANKING, name: 3 }),
    'parameters as much': ranked({ ...RANKING, parameters: 1 }),
    'no parameters': ranked({ ...RANKING, parameters: 0.01 }),
    'no stems': ranked({ ...RANKING, stem: 0 }),
    'stems in full': ranked({ ...RANKING, stem: 1 }),
    'no synonyms': ranked({ ...RANKING, synonym: 0 }),
    'synonyms in full': ranked({ ...RANKING, synonym: 1 }),
    'no typos': ranked({ ...RANKING, typo: 0 }),
    'typos in full': ranked({ ...RANKING, typo: 1 }),
    'no prefixes': ranked({ ...RANKING, prefix: 0 }),
    'MiniSearch as it comes': (subject) => miniSearch(subject, {}),
    'MiniSearch, fuzzy 0.2, prefix': (subject) => miniSearch(subject, { fuzzy: 0.2, prefix: true }),
  };
  const width = Math.max(...Object.keys(rankings).map((name) => name.length));
  console.log(`\nrankings, recall of every third question, %\n${''.padEnd(width)} ${KINDS.map((kind) => kind.padStart(7)).join('')}`);
  for (const [name, make] of Object.entries(rankings)) {
    console.log(
      `${name.padEnd(width)} ${meansOf(make)
        .map((mean) => percent(mean).padStart(7))
        .join('')}`,
    );
  }
}

function ranked(ranking: Ranking): (subject: Subject) => Find {
  return ({ catalog }) => createToolIndex(catalog, ranking).find;
}

function miniSearch({ catalog }: Subject, options: { readonly fuzzy?: number; readonly prefix?: boolean }): Find {
  const search = new MiniSearch({ fields: ['name', 'description'] });
  search.addAll(catalog.entries.map(({ index, name, tool }) => ({ id: index, name, description: tool.description })));
  return (query) => search.search(query, options).map(({ id }) => id as number);
}

async function tellTimes(): Promise<void> {
  const said = subjects.flatMap(({ catalog }) => catalog.entries.map(({ tool }) => tool));
  const tools = Array.from({ length: 5_000 }, (_, index) => {
    const { name, description } = said[index % said.length] ?? { name: 'none', description: '' };
    return defineTool({
      name: `${name.slice(0, 50)}_${index}`,
      description: `${description.slice(0, 1_000)} Number ${index}.`,
      execute: () => index,
    });
  });
  const catalog = createCatalog(tools.map((tool) => ({ namespace: [], tool })));
  let index = createToolIndex(catalog);
  const common = 'the of a to for and in with list get this that it is by from all user name id '.repeat(100);
  const mistakes = Array.from({ length: 300 }, (_, number) => `qz${number.toString(36)}xjwvkq`).join(' ');
  const figures = await measure(
    [
      { name: 'a short query', run: () => index.find('create an isue in a repository') },
      { name: 'a name', run: () => index.find(catalog.entries[777]?.path ?? '') },
      { name: 'hostile: common words', run: () => index.find(common) },
      { name: 'hostile: words nobody has', run: () => index.find(mistakes) },
      { name: 'hostile: one long word', run: () => index.find('a'.repeat(200_000)) },
      { name: 'no words', run: () => index.find('') },
    ],
    { rounds: 5, perRound: 10 },
  );
  print('one search among 5 000 tools', figures, 'a short query');
  const [building] = await measure([{ name: 'index', run: () => (index = createToolIndex(catalog)) }], { rounds: 3, perRound: 1 });
  console.log(`index of 5 000 tools: ${building.medianMs.toFixed(0)} ms, once per catalog`);

  await using many = createCodeMode({ tools });
  await using few = createCodeMode({ tools: tools.slice(0, 5) });
  const program = 'return ALL_TOOLS.filter(({ description }) => /number 77/i.test(description)).length;';
  for (const codeMode of [many, few]) await codeMode.run(program);
  print(
    'programs with 5 000 tools',
    await measure([
      { name: 'return 1, 5 tools', run: () => few.run('return 1') },
      { name: 'return 1', run: () => many.run('return 1') },
      { name: 'ALL_TOOLS.filter', run: () => many.run(program) },
      { name: 'searchTools', run: () => many.run("return await searchTools('create issue')") },
    ]),
    'return 1, 5 tools',
  );
}

function tellMisses(server: string): void {
  const subject = subjects.find((one) => one.server === server);
  if (subject === undefined) throw new Error(`There is no catalog ${server}; there are ${subjects.map((one) => one.server).join(', ')}.`);
  const { entries } = subject.catalog;
  const { find } = createToolIndex(subject.catalog);
  for (const kind of KINDS) {
    for (const { tool, query } of subject.questions[kind]) {
      const found = find(query).slice(0, FIRST);
      if (isFound(subject, tool, found)) continue;
      const instead = found.map((index) => `\n    ${entries[index]?.path}`).join('');
      console.log(`${kind}: ${entries[tool]?.path}\n  asked: ${query}${instead}`);
    }
  }
}

/** How many of the vague questions find their tool, and how many there are. */
function vagueFound(): [found: number, asked: number] {
  const found = subjects.map((subject) => {
    const { find } = createToolIndex(subject.catalog);
    return subject.vague.filter(({ tool, query }) => isFound(subject, tool, find(query).slice(0, FIRST))).length;
  });
  return [found.reduce((sum, count) => sum + count, 0), subjects.reduce((sum, { vague }) => sum + vague.length, 0)];
}

/** Of every `step`th question. */
function meansOf(make: (subject: Subject) => Find, step = 1): number[] {
  const total = new Map<Kind, { right: number; asked: number }>(KINDS.map((kind) => [kind, { right: 0, asked: 0 }]));
  for (const subject of subjects) {
    const find = make(subject);
    for (const [kind, sum] of total) {
      const asked = subject.questions[kind].filter((_, index) => index % step === 0);
      sum.asked += asked.length;
      sum.right += asked.filter(({ tool, query }) => isFound(subject, tool, find(query).slice(0, FIRST))).length;
    }
  }
  return [...total.values()].map(({ right, asked }) => right / asked);
}

function recall(subject: Subject, kind: Kind, find: Find): number {
  const questions = subject.questions[kind];
  if (questions.length === 0) return 1;
  return questions.filter(({ tool, query }) => isFound(subject, tool, find(query).slice(0, FIRST))).length / questions.length;
}

function isFound({ catalog }: Subject, tool: number, found: readonly number[]): boolean {
  const meant = catalog.entries[tool];
  return found.some((index) => index === tool || (meant !== undefined && areTwins(catalog.entries[index]?.tool, meant.tool)));
}

/** Benchmarks' lists hold one function several times, told apart by a number that was put behind its name here. */
function areTwins(left: { name: string; description: string } | undefined, right: { name: string; description: string }): boolean {
  return left !== undefined && (left.description === right.description || bare(left.name) === bare(right.name));
}

function bare(name: string): string {
  return name.replace(/__\d+$/, '');
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function read(): readonly Subject[] {
  const files = readdirSync(CATALOGS).filter((name) => name.endsWith('.json'));
  return files.map((file) => {
    const { tools } = JSON.parse(readFileSync(join(CATALOGS, file), 'utf8')) as { tools: readonly ServerTool[] };
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
    const catalog = createCatalog(placed);
    const server = file.replace('.json', '');
    const questions = { half: [] as Question[], five: [] as Question[], name: [] as Question[] };
    const random = generator(SEED + hash(server));
    const said = catalog.entries.map(({ tool }) => new Set(wordsIn(tool.description)));
    const vague: Question[] = [];
    const ask = (kind: 'half' | 'five', tool: number, words: readonly string[]): void => {
      const asked = wordsIn(words.join(' '));
      const isVague = said.filter((all) => asked.every((word) => all.has(word))).length > FIRST;
      (isVague ? vague : questions[kind]).push({ tool, query: mistype(words, random) });
    };
    for (const { index, tool } of catalog.entries) {
      const words = tool.description.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
      if (words.length >= 2) {
        ask('half', index, someOf(words.slice(0, 60), 0.5, random));
        ask('five', index, fiveOf(words.slice(0, 40), random));
      }
      questions.name.push({ tool: index, query: otherwise(bare(tool.name)) });
    }
    const twins = catalog.entries.filter((one) => catalog.entries.some((other) => other !== one && areTwins(one.tool, other.tool)));
    return { server, catalog, questions, vague, twins: twins.map(({ index }) => index) };
  });
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
