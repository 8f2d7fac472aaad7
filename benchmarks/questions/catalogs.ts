// The tools of real servers, as the catalogs beside the repository in ../shared/catalogs list them; and made-up tools for where these are absent.
// What a question makes of a tool is the question's own.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A tool as it is in the file. */
export interface CatalogTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly execution?: { readonly taskSupport?: string };
}

export interface ServerCatalog {
  readonly server: string;
  readonly tools: readonly CatalogTool[];
}

// Benchmarks run in the repository's root, wherever their bundle lies.
const folder = resolve('../shared/catalogs');

/** For the notes of a question that cannot ask everything. */
export const WITHOUT_CATALOGS =
  'The catalogs of ../shared/catalogs are absent: tools were made up, and what needs real ones was not asked.';

/** All of them in the order of their names; none where they are absent. */
export function readCatalogs(): readonly ServerCatalog[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => {
    const { tools } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { tools: readonly CatalogTool[] };
    return { server: file.replace('.json', ''), tools };
  });
}

/** Tools with schemas of a common kind. */
export function makeTools(count: number): readonly CatalogTool[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Does the ${index}th thing: looks for what its query says, in the place that its id names.`,
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'integer', description: 'Of the place.' },
        query: { type: 'string', maxLength: 100, description: `What to look for, in the words of the ${index}th thing.` },
        order: { enum: ['newest', 'oldest', 'relevance'], default: 'newest' },
      },
      required: ['id'],
    },
  }));
}
