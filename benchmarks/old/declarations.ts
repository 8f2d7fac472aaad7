// How many tokens do the declarations of real catalogs take, what of the schemas is in them, and how long do they take to make? Beside the schemas
// as an API sends them, and three other generators. Needs ../shared/catalogs; tokens are those of o200k_base. Arguments name the catalogs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { encode } from 'gpt-tokenizer';
import { createCatalog } from '../src/tools/catalog.ts';
import { type DeclaredCatalog, declarations } from '../src/tools/declarations.ts';
import { defineTool } from '../src/tools/tool.ts';
import { aim, machine } from './measure.ts';
import { type ListedTool, loadGenerators } from './peers/generators.ts';

const FOLDER = resolve('../shared/catalogs');
/** With discovery on, the tools may take this share of what the API would send. */
const DISCOVERY_SHARE = 0.1;
/** Types of the benchmark lists, and those of JSON Schema. */
const TYPES: Readonly<Record<string, string>> = { dict: 'object', float: 'number', tuple: 'array' };
const KNOWN = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const BOUNDS = new Set(
  'default example examples format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minProperties maxProperties uniqueItems readOnly writeOnly propertyNames'.split(
    ' ',
  ),
);

if (!existsSync(FOLDER)) {
  console.log('There is nothing to measure: ../shared/catalogs is absent.');
} else {
  console.log(machine());
  const generators = await loadGenerators();
  if (generators === undefined) console.log('The other generators could not be installed: this library alone.');
  const wanted = process.argv.slice(2);
  const files = readdirSync(FOLDER).filter(
    (file) => file.endsWith('.json') && (wanted.length === 0 || wanted.some((name) => file.includes(name))),
  );
  const others = generators ?? [];
  console.log(
    `\n| catalog | tools | as the API sends it | callgate | ${others.map(({ name }) => `${name} |`).join(' ')} callgate on what the first has | callgate on what the last has | with discovery |`,
  );
  console.log(`|---|---|---|---|${'---|'.repeat(others.length + 3)}`);
  const sums: number[] = [];
  const misses: string[] = [];
  const kept = new Map<string, Share>();
  let [largest, ours] = [0, 0];
  for (const file of files) {
    const tools = readTools(file);
    const catalog = catalogOf(tools);
    const raw = tokens(
      JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }))),
    );
    const full = declarations(catalog);
    const texts = [{ name: 'callgate', text: full }];
    for (const { name, generate } of others) texts.push({ name, text: await generate(tools) });
    const told = texts.map(({ name, text }) => note(kept, { name, text, tools }));
    const counts = texts.map(({ text }) => tokens(text));
    // What two of the others say, said by us: beside what they leave out there is no telling which is shorter.
    const unbound = tokens(declarations(catalogOf(tools.map((tool) => changed(tool, withoutBounds)))));
    const bare = tokens(declarations(catalogOf(tools.map((tool) => changed(tool, bareSchema)))));
    // The budget reckons four characters a token; signatures have fewer.
    const budgetTokens = Math.ceil(raw * DISCOVERY_SHARE * 0.9);
    const brief = tokens(declarations(catalog, { budgetTokens }));
    const row = [raw, ...counts, unbound, bare, brief];
    for (const [index, count] of row.entries()) sums[index] = (sums[index] ?? 0) + count;
    console.log(`| ${file.replace('.json', '')} | ${tools.length} | ${row.map((count) => `${count} |`).join(' ')}`);
    const [own = 0, bounded = Number.POSITIVE_INFINITY, whole = Number.POSITIVE_INFINITY, briefest = Number.POSITIVE_INFINITY] = counts;
    // Shorter by leaving out descriptions is not shorter.
    const isWhole = (index: number): boolean => (told[index] ?? 0) >= (told[0] ?? 0);
    if (whole < own && isWhole(2)) misses.push(`${file} (${others[1]?.name})`);
    if (bounded < unbound && isWhole(1)) misses.push(`${file} (${others[0]?.name})`);
    if (briefest < bare) misses.push(`${file} (${others[2]?.name})`);
    if (tools.length >= 5) largest = Math.max(largest, brief / raw);
    ours += own;
  }
  console.log(`| all | | ${sums.map((count) => `${count} |`).join(' ')}`);
  console.log(`\nwhat of the schemas is in the text\n`);
  for (const [name, { words, values, defaults, of }] of kept) {
    console.log(
      `${name.padEnd(26)} descriptions ${percent(words, of.words)}, values of enums ${percent(values, of.values)}, ` +
        `texts as defaults and patterns ${percent(defaults, of.defaults)}`,
    );
  }
  console.log(misses.length === 0 ? '\nIn every catalog the fewest tokens.' : `\nNot the fewest tokens: ${misses.join(', ')}`);
  console.log(`Of what the API sends, ${percent(ours, sums[0] ?? 1)} in full.`);
  aim('share with discovery, the largest of catalogs with five tools or more', largest, DISCOVERY_SHARE);
  await time(files.flatMap(readTools), others);
}

/** A thousand tools, in turns. */
async function time(all: readonly ListedTool[], others: NonNullable<Awaited<ReturnType<typeof loadGenerators>>>): Promise<void> {
  const step = Math.max(1, all.length / 1_000);
  const tools = uniqueNames(
    Array.from({ length: Math.min(1_000, all.length) }, (_, index) => all[Math.floor(index * step)]).filter((tool) => tool !== undefined),
  );
  const catalog = catalogOf(tools);
  const subjects = [
    { name: 'callgate', run: () => declarations(catalog) },
    { name: 'callgate, 2 000 tokens', run: () => declarations(catalog, { budgetTokens: 2_000 }) },
    ...others.map(({ name, generate }) => ({ name, run: () => generate(tools) })),
  ];
  const times = subjects.map(() => [] as number[]);
  for (let round = 0; round < 9; round++) {
    for (const [index, { name, run }] of subjects.entries()) {
      // Seconds each time: twice is enough.
      if (name === 'json-schema-to-typescript' && round > 1) continue;
      // Of the processor, not of the clock: the machine may have others to serve.
      const began = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(began);
      times[index]?.push((user + system) / 1_000);
    }
  }
  console.log(`\n${tools.length} tools of all catalogs, ${(JSON.stringify(tools).length / 1e6).toFixed(1)} MB`);
  for (const [index, { name }] of subjects.entries()) {
    const sorted = (times[index] ?? []).sort((a, b) => a - b);
    console.log(`${name.padEnd(26)} median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms, least ${sorted[0]?.toFixed(0)} ms`);
  }
  const own = (times[0] ?? []).sort((a, b) => a - b);
  aim('declarations of 1 000 tools, median ms of the processor', own[Math.floor(own.length / 2)] ?? 0, 100);
}

function tokens(text: string): number {
  return encode(text, { disallowedSpecial: new Set() }).length;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`;
}

function readTools(file: string): ListedTool[] {
  const { tools } = JSON.parse(readFileSync(resolve(FOLDER, file), 'utf8')) as {
    tools: (Partial<ListedTool> & { readonly name: string })[];
  };
  // The type names of the benchmark lists mean those of JSON Schema.
  const read = file.startsWith('bfcl-') ? mapTypes : (schema: unknown) => schema;
  return uniqueNames(
    tools.map(({ name, description, inputSchema = {}, outputSchema }) => ({
      name: name.slice(0, 58),
      description: description || name,
      // Mapping keeps objects what they are.
      inputSchema: read(inputSchema) as ListedTool['inputSchema'],
      ...(outputSchema === undefined ? {} : { outputSchema: read(outputSchema) as ListedTool['inputSchema'] }),
    })),
  );
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

function changed({ name, description, inputSchema, outputSchema }: ListedTool, change: (schema: unknown) => unknown): ListedTool {
  // Both changes keep an object an object.
  const schemaOf = (schema: unknown): ListedTool['inputSchema'] => change(schema) as ListedTool['inputSchema'];
  return {
    name,
    description,
    inputSchema: schemaOf(inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: schemaOf(outputSchema) }),
  };
}

/** What is left of a schema in the text of `json-schema-to-typescript`: all but what binds a value beyond its type. */
function withoutBounds(schema: unknown, isNamed = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutBounds(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (isNamed) return [[key, withoutBounds(value)]];
    if (BOUNDS.has(key)) return [];
    return [[key, withoutBounds(value, key === 'properties' || key === '$defs' || key === 'definitions')]];
  });
  return Object.fromEntries(entries);
}

/** What is left of a schema in the text of `@tanstack/ai-code-mode`: types, names, what is required, and enums without a type beside them. */
function bareSchema(schema: unknown): Record<string, unknown> {
  if (typeof schema !== 'object' || schema === null) return {};
  const { type, properties, required, items, enum: values, anyOf, oneOf } = schema as Record<string, unknown>;
  if (type === 'array') return items === undefined ? { type } : { type, items: bareSchema(items) };
  if (type === 'object' && typeof properties === 'object' && properties !== null) {
    const kept = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, bareSchema(property)]));
    return { type, properties: kept, ...(Array.isArray(required) ? { required } : {}) };
  }
  if (typeof type === 'string') return type === 'object' ? {} : { type };
  if (values !== undefined) return { enum: values };
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return { anyOf: alternatives.map(bareSchema) };
  return type === undefined ? {} : { type };
}

/** How many of the descriptions, values and other keywords of all schemas a text has. */
interface Share {
  words: number;
  values: number;
  defaults: number;
  of: { words: number; values: number; defaults: number };
}

/** Counts which descriptions, values and defaults of the schemas a text has; gives the number of descriptions. */
function note(
  kept: Map<string, Share>,
  { name, text, tools }: { readonly name: string; readonly text: string; readonly tools: readonly ListedTool[] },
): number {
  const plain = (words: string): string => words.replace(/[\s*\\/]+/g, '');
  const said = plain(text);
  const count = kept.get(name) ?? { words: 0, values: 0, defaults: 0, of: { words: 0, values: 0, defaults: 0 } };
  kept.set(name, count);
  const before = count.words;
  const visit = (node: unknown, isNamed: boolean): void => {
    if (Array.isArray(node)) for (const item of node) visit(item, false);
    else if (typeof node === 'object' && node !== null) {
      for (const [key, value] of Object.entries(node)) {
        if (!isNamed && key === 'description' && typeof value === 'string' && value.trim() !== '') {
          count.of.words++;
          if (said.includes(plain(value))) count.words++;
        } else if (!isNamed && key === 'enum' && Array.isArray(value)) {
          for (const each of value) {
            count.of.values++;
            if (said.includes(plain(JSON.stringify(each)))) count.values++;
          }
        } else if (!isNamed && (key === 'default' || key === 'pattern') && typeof value === 'string' && value.length > 3) {
          count.of.defaults++;
          if (said.includes(plain(value)) || said.includes(plain(JSON.stringify(value)))) count.defaults++;
        } else if (isNamed || !['default', 'example', 'examples', 'const'].includes(key)) {
          visit(value, !isNamed && ['properties', 'patternProperties', '$defs', 'definitions'].includes(key));
        }
      }
    }
  };
  for (const { inputSchema, outputSchema } of tools) {
    visit(inputSchema, false);
    visit(outputSchema, false);
  }
  return count.words - before;
}
