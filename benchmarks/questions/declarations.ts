// How many tokens do the declarations of real catalogs take, what of the schemas is in them, and how long do they take to make? Beside the schemas
// as an API sends them, and the generators of other systems. Tokens are those of o200k_base. Arguments name catalogs:
//
//   npm run bench -- declarations -- notion git     the tokens of these alone
import { encode } from 'gpt-tokenizer';
import { createCatalog } from '../../src/tools/catalog.ts';
import { type DeclarationsOptions, type DeclaredCatalog, declarations } from '../../src/tools/declarations.ts';
import { defineTool } from '../../src/tools/tool.ts';
import { processorClock } from '../harness/clock.ts';
import { type Bench, type Question, type Stand, type Subject, timed } from '../harness/question.ts';
import { medianOf } from '../harness/result.ts';
import { GENERATORS, type Generate, type Generator, type ListedTool } from '../peers/generators.ts';
import { type CatalogTool, makeTools, readCatalogs, type ServerCatalog, WITHOUT_CATALOGS } from './catalogs.ts';
import { asSaid, type Contents, contentsOf } from './schema-contents.ts';

const OURS = 'callgate';
const BRIEF = 'callgate, 2 000 tokens';
const AS_SENT = 'as an API sends them';
const SIZES = [10, 50, 100, 500, 1_000, 5_000];
/** With discovery on, the tools may take this share of what the API would send. */
const DISCOVERY_SHARE = 0.1;
/** Types of the benchmark lists, and those of JSON Schema. */
const TYPES: Readonly<Record<string, string>> = { dict: 'object', float: 'number', tuple: 'array' };
const KNOWN = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

/** The tools of a server, as all generators get them. */
interface Listed {
  readonly server: string;
  readonly tools: readonly ListedTool[];
}

/** A generator that could be loaded, and what its texts of all catalogs have. */
interface Column {
  readonly name: string;
  readonly says: Generator['says'];
  readonly generate: Generate;
  readonly contents: Contents[];
}

async function tellTokens(bench: Bench, catalogs: readonly Listed[]): Promise<void> {
  const columns = await openAll(bench);
  const others = columns.slice(1);
  const rows: (string | number)[][] = [];
  const sums: number[] = [];
  const all: Contents[] = [];
  const misses: string[] = [];
  let largestShare = 0;
  for (const { server, tools } of catalogs) {
    const counts: number[] = [];
    for (const { generate, contents } of columns) {
      const text = await generate(tools);
      counts.push(tokens(text));
      contents.push(contentsOf(tools, text));
    }
    all.push(contentsOf(tools));
    const sent = tokens(asSent(tools));
    // What others say, said by us: beside what they leave out there is no telling which is shorter.
    const ours = {
      everything: counts[0] as number,
      'no bounds': tokens(declarations(catalogOf(tools.map((tool) => asSaid(tool, 'no bounds'))))),
      types: tokens(declarations(catalogOf(tools.map((tool) => asSaid(tool, 'types'))))),
    };
    // The budget reckons four characters a token; signatures have fewer.
    const brief = tokens(declarations(catalogOf(tools), { budgetTokens: Math.ceil(sent * DISCOVERY_SHARE * 0.9) }));
    const row = [sent, ...counts, ours['no bounds'], ours.types, brief];
    for (const [index, count] of row.entries()) sums[index] = (sums[index] ?? 0) + count;
    rows.push([server, tools.length, ...row]);
    if (tools.length >= 5) largestShare = Math.max(largestShare, brief / sent);
    for (const [index, { name, says, contents }] of others.entries()) {
      // Shorter by leaving out descriptions or values is not shorter, but for who never has them.
      const isWhole = says === 'types' || hasAsMuch(contents.at(-1), columns[0]?.contents.at(-1));
      if (isWhole && (counts[index + 1] as number) < ours[says]) misses.push(`${server} (${name})`);
    }
  }
  bench.table({
    title: 'Tokens of all tools of a catalog, results included',
    head: [
      'catalog',
      'tools',
      AS_SENT,
      ...columns.map(({ name }) => name),
      'callgate, no bounds',
      'callgate, types alone',
      'callgate with discovery',
    ],
    rows: [...rows, ['all', rows.reduce((sum, row) => sum + Number(row[1]), 0), ...sums]],
    isLong: true,
  });
  tellContents(bench, columns, all);
  bench.note(
    "An API is sent no schemas of results; all other columns have their types. `json-schema-to-typescript` and `@utcp/code-mode` leave out defaults, bounds, formats and patterns, and `@utcp/code-mode` also unions, the descriptions of what is nested and a signature of the function; `@tanstack/ai-code-mode` has the tools' descriptions, names and types alone. The columns `no bounds` and `types alone` are ours of schemas without these things.",
  );
  if (misses.length > 0) bench.note(`Not the fewest tokens for what is said: ${misses.join(', ')}.`);
  bench.aim({ what: 'catalogs in which another says as much in fewer tokens', value: misses.length, atMost: 0 });
  bench.aim({ what: 'tokens in full, against what the API sends, all catalogs', value: (sums[1] ?? 0) / (sums[0] ?? 1), atMost: 1 });
  bench.aim({
    what: 'tokens with discovery, against what the API sends, the largest of catalogs with five tools or more',
    value: largestShare,
    atMost: DISCOVERY_SHARE,
  });
}

function tellContents(bench: Bench, columns: readonly Column[], all: readonly Contents[]): void {
  const share = (contents: readonly Contents[], of: keyof Contents): string => {
    const whole = all.reduce((sum, counts) => sum + counts[of], 0);
    return whole === 0 ? '–' : `${((contents.reduce((sum, counts) => sum + counts[of], 0) / whole) * 100).toFixed(1)} %`;
  };
  const row = (what: string, of: keyof Contents): string[] => [what, ...columns.map(({ contents }) => share(contents, of))];
  bench.table({
    title: 'What of the schemas is in the text',
    head: ['', ...columns.map(({ name }) => name)],
    rows: [row('descriptions', 'descriptions'), row('values of enums', 'values'), row('texts as defaults, and patterns', 'defaults')],
  });
}

async function tellTimes(bench: Bench): Promise<void> {
  const subjects = [OURS, BRIEF, ...GENERATORS.map(({ name }) => name)];
  const clocked = 'time of the processor';
  const thousand = await bench.compare({
    title: `Declarations of 1 000 tools, ${clocked}`,
    task: 'time',
    unit: 'ms',
    ours: OURS,
    size: 1_000,
    rounds: 7,
  });
  const drawing = { sizeOf: 'tools', sizes: SIZES, warmMs: 0 };
  await bench.draw({
    ...drawing,
    title: `Declarations of a number of tools, ${clocked}`,
    task: 'time',
    unit: 'ms',
    subjects,
    rounds: 3,
  });
  await bench.draw({
    ...drawing,
    title: 'Declarations of a number of tools, tokens',
    task: 'tokens',
    unit: 'tokens',
    subjects: [...subjects, AS_SENT],
    rounds: 1,
  });
  bench.aim({ what: 'declarations of 1 000 tools, ms of the processor', value: medianOf(thousand, OURS), atMost: 100 });
}

/** Ours and all others that can be loaded; who cannot is listed. */
async function openAll(bench: Bench): Promise<readonly Column[]> {
  const columns: Column[] = [{ name: OURS, says: 'everything', generate: (tools) => declarations(catalogOf(tools)), contents: [] }];
  for (const { name, says, open } of GENERATORS) {
    try {
      columns.push({ name, says, generate: await open(), contents: [] });
    } catch (error) {
      bench.absent(name, error instanceof Error ? error.message : String(error));
    }
  }
  return columns;
}

/** Texts of catalogs that are made once for each size: what is timed is the text. */
function ours(options: DeclarationsOptions): Subject {
  return async () => textsOf(catalogOf, (catalog) => declarations(catalog, options));
}

function theirs({ open }: Generator): Subject {
  return async () => {
    const generate = await open();
    return textsOf((tools) => tools, generate);
  };
}

function textsOf<Made>(make: (tools: readonly ListedTool[]) => Made, generate: (made: Made) => string | Promise<string>): Stand {
  const sizes = new Map<number, Made>();
  const madeOf = (size: number): Made => {
    const made = sizes.get(size) ?? make(someTools(size));
    sizes.set(size, made);
    return made;
  };
  return {
    tasks: {
      async time(size) {
        const made = madeOf(size);
        return timed(() => generate(made), { clock: processorClock })(size);
      },
      tokens: async (size) => tokens(await generate(madeOf(size))),
    },
  };
}

function asSent(tools: readonly ListedTool[]): string {
  return JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })));
}

function tokens(text: string): number {
  return encode(text, { disallowedSpecial: new Set() }).length;
}

function hasAsMuch(one: Contents | undefined, other: Contents | undefined): boolean {
  return one !== undefined && other !== undefined && one.descriptions >= other.descriptions && one.values >= other.values;
}

function chosen(catalogs: readonly ServerCatalog[], names: readonly string[]): readonly Listed[] {
  const wanted = names.length === 0 ? catalogs : catalogs.filter(({ server }) => names.some((name) => server.includes(name)));
  return wanted.map(({ server, tools }) => ({ server, tools: uniqueNames(tools.map((tool) => listedOf(tool, server))) }));
}

/** That many of the tools of all catalogs, from each about its share. Names that several have get a number. */
function someTools(count: number): readonly ListedTool[] {
  const catalogs = readCatalogs();
  const all = catalogs.flatMap(({ server, tools }) => tools.map((tool) => listedOf(tool, server)));
  if (all.length === 0) all.push(...makeTools(count).map((tool) => listedOf(tool, '')));
  const taken = new Set<string>();
  return Array.from({ length: count }, (_, index) => {
    const tool = all[Math.floor((index * all.length) / count) % all.length] as ListedTool;
    const plain = tool.name.replace(/\W/g, '_');
    let name = plain;
    for (let number = 2; taken.has(name); number++) name = `${plain}_${number}`;
    taken.add(name);
    return { ...tool, name };
  });
}

function listedOf({ name, description, inputSchema = {}, outputSchema }: CatalogTool, server: string): ListedTool {
  // The type names of the benchmark lists mean those of JSON Schema. Mapping keeps objects what they are.
  const read = (schema: unknown): ListedTool['inputSchema'] =>
    (server.startsWith('bfcl-') ? mapTypes(schema) : schema) as ListedTool['inputSchema'];
  return {
    name: name.slice(0, 58),
    description: description || name,
    inputSchema: read(inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: read(outputSchema) }),
  };
}

function uniqueNames(tools: readonly ListedTool[]): ListedTool[] {
  const byName = new Map(tools.map((tool) => [tool.name.replace(/\W/g, '_'), tool]));
  return [...byName.values()];
}

function mapTypes(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(mapTypes);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).flatMap(([key, value]): [string, unknown][] => {
    if (key !== 'type' || typeof value !== 'string') return [[key, mapTypes(value)]];
    const type = TYPES[value] ?? value;
    return KNOWN.has(type) ? [[key, type]] : [];
  });
  return Object.fromEntries(entries);
}

function catalogOf(tools: readonly ListedTool[]): DeclaredCatalog {
  return createCatalog(
    tools.map(({ name, description, inputSchema, outputSchema }) => ({
      namespace: [],
      tool: defineTool({
        name,
        description,
        inputSchema,
        ...(outputSchema === undefined ? {} : { outputSchema }),
        execute: () => null as never,
      }),
    })),
  );
}

export const question: Question = {
  name: 'declarations',
  asks: 'How many tokens do the declarations of tools take, what of their schemas is in them, and how long do they take to make?',
  subjects: {
    [OURS]: ours({}),
    [BRIEF]: ours({ budgetTokens: 2_000 }),
    ...Object.fromEntries(GENERATORS.map((generator) => [generator.name, theirs(generator)])),
    [AS_SENT]: async () => ({ tasks: { tokens: async (size) => tokens(asSent(someTools(size))) } }),
  },
  async run(bench) {
    const catalogs = readCatalogs();
    if (catalogs.length === 0) bench.note(WITHOUT_CATALOGS);
    else await tellTokens(bench, chosen(catalogs, bench.args));
    await tellTimes(bench);
  },
};
