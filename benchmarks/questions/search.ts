// Does a search find the tool that is meant, and what does it cost? Recall: how often the tool is among the first five, for the queries of queries.ts.
// Beside it: other rankings, and MiniSearch as it comes.
//
//   npm run bench -- search -- --misses N   the queries of catalog N that fail, with what was found instead
//   npm run bench -- search -- --all        every question of every catalog, which takes minutes
import { parseArgs } from 'node:util';
import MiniSearch from 'minisearch';
import { type CodeMode, createCodeMode, defineTool, type Tool } from '../../src/index.ts';
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import { createToolIndex, RANKING, type Ranking } from '../../src/tools/search.ts';
import { type Bench, type Question, type Subject, type Task, timed } from '../harness/question.ts';
import { makeTools, readCatalogs, WITHOUT_CATALOGS } from './catalogs.ts';
import { type Asked, FIRST, type Find, isFound, KINDS, type Kind, type Query, queriesOf } from './queries.ts';

const OURS = 'callgate';
const MINI = 'MiniSearch as it comes';
const MINI_FUZZY = 'MiniSearch, fuzzy 0.2 and prefixes';
const MOST_TOOLS = 5_000;
const SIZES = [10, 50, 100, 500, 1_000, MOST_TOOLS];

/** In a catalog of more tools than that every so many questions are asked, and count so many times. */
const BIG = { tools: 500, every: 2 };
/** Rankings are compared by every so many questions. */
const RANKED_EVERY = 20;
/** The same where all questions are asked. */
const RANKED_EVERY_OF_ALL = 3;
const RANKINGS: Readonly<Record<string, (asked: Asked) => Find>> = {
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
  [MINI]: ({ catalog }) => miniSearch(catalog, {}),
  [MINI_FUZZY]: ({ catalog }) => miniSearch(catalog, { fuzzy: 0.2, prefix: true }),
};

const COMMON = 'the of a to for and in with list get this that it is by from all user name id '.repeat(100);
const UNKNOWN = Array.from({ length: 300 }, (_, number) => `qz${number.toString(36)}xjwvkq`).join(' ');
const LONG = 'a'.repeat(200_000);

function ranked(ranking: Ranking): (asked: Asked) => Find {
  return ({ catalog }) => createToolIndex(catalog, ranking).find;
}

function miniSearch({ entries }: Catalog, options: { readonly fuzzy?: number; readonly prefix?: boolean }): Find {
  const search = new MiniSearch({ fields: ['name', 'description'] });
  search.addAll(entries.map(({ index, name, tool }) => ({ id: index, name, description: tool.description })));
  // Ids are the indexes above.
  return (query) => search.search(query, options).map(({ id }) => id as number);
}

/** Tasks by the number of tools, of what makes an index and answers from it. */
function searching(open: (catalog: Catalog) => Find): Subject {
  return async () => {
    const made = new Map<number, { catalog: Catalog; find: Find }>();
    const indexOf = (size: number): { catalog: Catalog; find: Find } => {
      const known = made.get(size);
      if (known !== undefined) return known;
      const catalog = createCatalog(someTools(size).map((tool) => ({ namespace: [], tool })));
      const index = { catalog, find: open(catalog) };
      made.set(size, index);
      return index;
    };
    const finding =
      (query: string, times = 1): Task =>
      (size) => {
        const { find } = indexOf(size);
        return timed(() => find(query), { times })(size);
      };
    return {
      tasks: {
        short: finding('create an isue in a repository', 10),
        name: (size) => {
          const { catalog, find } = indexOf(size);
          return timed(() => find(catalog.entries[size >> 2]?.path ?? ''), { times: 10 })(size);
        },
        none: finding('', 10),
        common: finding(COMMON),
        unknown: finding(UNKNOWN),
        long: finding(LONG),
        index: (size) => {
          const { catalog } = indexOf(size);
          return timed(() => open(catalog))(size);
        },
      },
    };
  };
}

/** A program beside a number of tools. */
function program(source: string): Subject {
  return async () => {
    const opened = new Map<number, CodeMode>();
    return {
      tasks: {
        program(size) {
          const codeMode = opened.get(size) ?? createCodeMode({ tools: someTools(size), limits: { requests: 1_000_000 } });
          opened.set(size, codeMode);
          const run = async (): Promise<void> => {
            const { status, error } = await codeMode.run(source);
            if (status !== 'completed') throw new Error(error?.message ?? status);
          };
          return timed(run, { times: 5 })(size);
        },
      },
      close: () => Promise.all([...opened.values()].map((codeMode) => codeMode.close())),
    };
  };
}

const PROGRAMS: Readonly<Record<string, string>> = {
  'a program: `return 1`': 'return 1',
  'a program: `searchTools`': "return await searchTools('create issue')",
  'a program: `ALL_TOOLS.filter`': 'return ALL_TOOLS.filter(({ description }) => /number 77/i.test(description)).length;',
};

/** Real names and descriptions where the shared catalogs are at hand, made ones elsewhere; a number makes each unlike the others. */
function someTools(count: number): readonly Tool[] {
  const real = readCatalogs().flatMap(({ tools }) => tools);
  const said = real.length === 0 ? makeTools(count) : real;
  return Array.from({ length: count }, (_, index) => {
    const { name, description = '' } = said[Math.floor((index * said.length) / count)] ?? { name: 'none' };
    return defineTool({
      name: `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 50)}_${index}`,
      description: `${description.slice(0, 1_000)} Number ${index}.`,
      execute: () => index,
    });
  });
}

function tellRecall(bench: Bench, asked: readonly Asked[], isWhole: boolean): void {
  const below: string[] = [];
  const sums = new Map<Kind, Share>(KINDS.map((kind) => [kind, { right: 0, asked: 0 }]));
  const rows = asked.map((each) => {
    const { find } = createToolIndex(each.catalog);
    const every = isWhole || each.catalog.entries.length <= BIG.tools ? 1 : BIG.every;
    const shares = KINDS.map((kind) => recall(each, nth(each.queries[kind], every), find));
    for (const [index, kind] of KINDS.entries()) add(sums.get(kind), shares[index], every);
    const [half] = shares;
    if (half !== undefined && half.right < 0.95 * half.asked) below.push(`${each.server} (${percentOf(half)} %)`);
    return [each.server, each.catalog.entries.length, ...shares.map(percentOf), each.twins.length, each.vague.length];
  });
  const count = (of: (each: Asked) => number): number => asked.reduce((sum, each) => sum + of(each), 0);
  const twins = count((each) => each.twins.length);
  const vague = count((each) => each.vague.length);
  const means = [...sums.values()].map(percentOf);
  bench.table({
    title: `Recall: tools among the first ${FIRST}, %`,
    head: ['catalog', 'tools', 'half of the words', 'five words', 'the name otherwise', 'twins', 'vague questions'],
    rows: [...rows, ['all tools', count(({ catalog }) => catalog.entries.length), ...means, twins, vague]],
    isLong: true,
  });
  const found = count((each) => recall(each, each.vague, createToolIndex(each.catalog).find).right);
  bench.note(
    `Vague questions are apart, since every word of them is said of more than five tools; of ${vague} ${found} found their tool all the same. Twins are tools with the description or the name of another; finding either counts.`,
  );
  if (!isWhole) {
    bench.note(`In catalogs of more than ${BIG.tools} tools one question in ${BIG.every} is asked; \`search -- --all\` asks all of them.`);
  }
  bench.note(`Catalogs below 95 % by half of the words: ${below.length === 0 ? 'none' : below.join(', ')}.`);
  bench.aim({ what: 'tools not found by half of their words, %', value: 100 - (means[0] ?? 0), atMost: 5 });
}

function compareRankings(bench: Bench, asked: readonly Asked[], isWhole: boolean): void {
  const every = isWhole ? RANKED_EVERY_OF_ALL : RANKED_EVERY;
  const rows = Object.entries(RANKINGS).map(([name, open]) => {
    const finds = asked.map(open);
    const means = KINDS.map((kind) => {
      const sum = { right: 0, asked: 0 };
      for (const [index, each] of asked.entries()) {
        add(sum, recall(each, nth(each.queries[kind], every), finds[index] as Find));
      }
      return percentOf(sum);
    });
    return [name, ...means];
  });
  bench.table({
    title: `Rankings: recall of one question in ${every}, %`,
    head: ['ranking', 'half of the words', 'five words', 'the name otherwise'],
    rows,
  });
}

function tellMisses(asked: readonly Asked[], server: string): void {
  const one = asked.find((each) => each.server === server);
  if (one === undefined) throw new Error(`There is no catalog ${server}; there are ${asked.map((each) => each.server).join(', ')}.`);
  const { entries } = one.catalog;
  const { find } = createToolIndex(one.catalog);
  for (const kind of KINDS) {
    for (const query of one.queries[kind]) {
      if (isFound(one, query, find)) continue;
      const instead = find(query.query).slice(0, FIRST);
      console.log(`${kind}: ${entries[query.tool]?.path}\n  asked: ${query.query}`);
      for (const index of instead) console.log(`    ${entries[index]?.path}`);
    }
  }
}

interface Share {
  right: number;
  asked: number;
}

function recall(each: Asked, queries: readonly Query[], find: Find): Share {
  return { right: queries.filter((query) => isFound(each, query, find)).length, asked: queries.length };
}

function nth<Each>(list: readonly Each[], every: number): readonly Each[] {
  return list.filter((_, place) => place % every === 0);
}

function add(sum: Share | undefined, share: Share | undefined, times = 1): void {
  if (sum === undefined || share === undefined) return;
  sum.right += share.right * times;
  sum.asked += share.asked * times;
}

/** With one digit behind the point; all where nothing was asked. */
function percentOf({ right, asked }: Share): number {
  return asked === 0 ? 100 : Math.round((1_000 * right) / asked) / 10;
}

async function tellTimes(bench: Bench): Promise<void> {
  const subjects = [OURS, MINI, MINI_FUZZY];
  const among = { size: MOST_TOOLS, ours: OURS, unit: 'ms', rounds: 7, boundMs: 10_000 } as const;
  const title = (what: string): string => `${what}, among ${MOST_TOOLS.toLocaleString('en-US')} tools`;
  await bench.compare({ ...among, title: title('A short query'), task: 'short' });
  await bench.compare({ ...among, title: title('The name of a tool'), task: 'name' });
  await bench.compare({ ...among, title: title('A query without words'), task: 'none' });
  await bench.compare({ ...among, title: title('Hostile: 1 900 common words'), task: 'common', rounds: 2, warmMs: 0 });
  await bench.compare({ ...among, title: title('Hostile: 300 words that nobody has'), task: 'unknown', rounds: 5 });
  await bench.compare({ ...among, title: title('Hostile: one word of 200 KB'), task: 'long', rounds: 5 });
  const drawing = { unit: 'ms', sizeOf: 'tools', rounds: 3 } as const;
  await bench.draw({ ...drawing, title: 'A short query among a number of tools', task: 'short', sizes: SIZES, subjects });
  await bench.draw({
    ...drawing,
    title: 'Making the index, once per catalog',
    task: 'index',
    sizes: [100, 1_000, MOST_TOOLS],
    subjects,
  });
  await bench.draw({
    ...drawing,
    title: 'A program beside a number of tools',
    task: 'program',
    sizes: [5, 500, MOST_TOOLS],
    subjects: Object.keys(PROGRAMS),
  });
}

export const question: Question = {
  name: 'search',
  asks: 'Does a search find the tool that is meant, and what does it cost?',
  subjects: {
    [OURS]: searching((catalog) => createToolIndex(catalog).find),
    [MINI]: searching((catalog) => miniSearch(catalog, {})),
    [MINI_FUZZY]: searching((catalog) => miniSearch(catalog, { fuzzy: 0.2, prefix: true })),
    ...Object.fromEntries(Object.entries(PROGRAMS).map(([name, source]) => [name, program(source)])),
  },
  async run(bench) {
    const { values } = parseArgs({ args: [...bench.args], options: { misses: { type: 'string' }, all: { type: 'boolean' } } });
    const asked = readCatalogs().map(queriesOf);
    if (values.misses !== undefined) return tellMisses(asked, values.misses);
    if (asked.length === 0) bench.note(WITHOUT_CATALOGS);
    else {
      const isWhole = values.all === true;
      tellRecall(bench, asked, isWhole);
      compareRankings(bench, bench.isSmoke ? asked.slice(0, 3) : asked, isWhole);
    }
    await tellTimes(bench);
  },
};
