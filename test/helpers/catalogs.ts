// The catalogs of the shared test data as tools: the schemas of real servers, verbatim but for the benchmark lists, whose type names are mapped.
import { readdirSync } from 'node:fs';
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import type { JsonSchema } from '../../src/tools/schema.ts';
import { defineTool, type Tool } from '../../src/tools/tool.ts';
import { corpusUrl, hasCorpus, readCorpus } from './corpora.ts';

export const CATALOG_FILES: readonly string[] = hasCorpus('catalogs')
  ? readdirSync(corpusUrl('catalogs')).filter((file) => file.endsWith('.json'))
  : [];

interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

function readListedTools(file: string): ListedTool[] {
  const { tools } = JSON.parse(readCorpus(`catalogs/${file}`)) as { tools: (Partial<ListedTool> & { readonly name: string })[] };
  // The BFCL lists have type names of their own, which an adapter has to map first.
  const read = file.startsWith('bfcl-') ? mapBfclTypes : (schema: unknown) => schema;
  return tools.map(({ name, description, inputSchema = {}, outputSchema }) => ({
    name,
    description: description || name,
    // Mapping keeps objects what they are.
    inputSchema: read(inputSchema) as JsonSchema,
    ...(outputSchema === undefined ? {} : { outputSchema: read(outputSchema) as JsonSchema }),
  }));
}

/** Every tool defined; names that are too long, or there twice, get another end. */
function readTools(file: string): Tool[] {
  const taken = new Set<string>();
  return readListedTools(file).map((listed, index) => {
    let name = listed.name.slice(0, 64);
    if (taken.has(name.replace(/[^\w$]/g, '_'))) name = `${name.slice(0, 58)}_${index}`;
    taken.add(name.replace(/[^\w$]/g, '_'));
    const { description, inputSchema, outputSchema } = listed;
    return defineTool({
      name,
      description,
      inputSchema: inputSchema as Record<string, unknown>,
      ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as Record<string, unknown> }),
      execute: () => null as never,
    });
  });
}

export function readCatalog(file: string): Catalog {
  return createCatalog(readTools(file).map((tool) => ({ namespace: ['server'], tool })));
}

const BFCL_TYPES: Readonly<Record<string, string>> = { dict: 'object', float: 'number', tuple: 'array' };
const JSON_TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

function mapBfclTypes(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(mapBfclTypes);
  if (typeof node !== 'object' || node === null) return node;
  const mapped: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    const type = key === 'type' && typeof value === 'string' ? (BFCL_TYPES[value] ?? value) : undefined;
    if (type === undefined) mapped[key] = mapBfclTypes(value);
    else if (JSON_TYPES.has(type)) mapped[key] = type;
  }
  return mapped;
}
