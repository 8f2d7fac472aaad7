// What a model is told when it looks for tools: those that fit a query, in three levels of detail, and one tool in full. Names and namespaces that
// are a little wrong are answered with the right ones. Not here: which tools fit (search.ts), the many shapes of a program's arguments
// (discovery-arguments.ts).
import { CodeModeError } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { type DeclarationsOptions, declarationOf, declarations, signatureOf } from './declarations.ts';
import type { ToolIndex, ToolIndexes } from './search.ts';
import { commentLine } from './typescript/comment.ts';

/** How much is told of a tool that was found: how to name it, how to call it, or everything. */
export type SearchDetail = 'names' | 'signatures' | 'full';

export interface SearchOptions {
  /** Tools at most. Default 10; at most 1 000 with `names`, 200 with `signatures`, 50 with `full`. */
  readonly limit?: number | undefined;
  /** Only tools of this namespace: `github`, or `github.issues`. Where tools have no namespaces, the beginning of their names. */
  readonly namespace?: string | undefined;
  /** Default `signatures`. */
  readonly detail?: SearchDetail | undefined;
}

/** A tool that was found. */
export interface FoundTool {
  /** As it was declared, namespaces before it: `github.list-issues`. */
  readonly name: string;
  /** What a program calls it by: `tools.github.list_issues`. */
  readonly identifier: string;
  /** With `signatures` its first sentence, with `full` all of it. */
  readonly description?: string;
  /** With `signatures`: its TypeScript signature on one line. */
  readonly signature?: string;
  /** With `full`: its TypeScript declaration, comments included. */
  readonly declaration?: string;
}

/** What is known of a tool's results that no schema describes, as a TypeScript type. */
export interface SeenResults {
  typeOf(entry: Pick<CatalogEntry, 'segments'>): string | undefined;
}

const MOST_FOUND: Readonly<Record<SearchDetail, number>> = { names: 1_000, signatures: 200, full: 50 };
const FOUND = 10;
const SIGNATURE_LENGTH = 400;
const SENTENCE_LENGTH = 200;
/** Names in a sentence that says which there are. */
const MOST_NAMED = 20;
/** What is read of a name that there is not. */
const NAME_LENGTH = 200;

/** Looks for tools of one catalog. */
export class Discovery {
  readonly catalog: Catalog;
  readonly #indexes: ToolIndexes;
  readonly #seen: SeenResults | undefined;
  #namespaces: readonly string[] | undefined;

  constructor(catalog: Catalog, indexes: ToolIndexes, seen?: SeenResults) {
    this.catalog = catalog;
    this.#indexes = indexes;
    this.#seen = seen;
  }

  /** Makes ready for a search in many short steps; without it the first search does it at once. */
  prepare(): Promise<void> {
    return this.#indexes.prepare(this.catalog);
  }

  /** The tools that fit, best first. An empty query lists them in the catalog's order. Throws `option_invalid` for a namespace that is not there. */
  search(query: string, options: SearchOptions = {}): FoundTool[] {
    const { detail = 'signatures' } = options;
    return this.#find(query, options).entries.map((entry) => this.#tell(entry, detail));
  }

  /** The same as compact text: a line for each tool, or its declaration with `full`; and how many more there are. */
  searchText(query: string, options: SearchOptions = {}): string {
    const { detail = 'signatures' } = options;
    const { entries, total } = this.#find(query, options);
    if (total === 0) {
      const among = options.namespace === undefined ? '' : ` in \`${options.namespace}\``;
      return `No tool${among} fits ${JSON.stringify(query.slice(0, NAME_LENGTH))}. ${this.#overview()}`;
    }
    const texts = entries.map((entry) => {
      if (detail === 'names') return `tools.${entry.path}`;
      if (detail === 'full') return this.#declare(entry);
      return `${signatureOf(entry, SIGNATURE_LENGTH)} — ${sentenceOf(entry)}`;
    });
    const more = total - entries.length;
    if (more > 0) texts.push(`${more} more; search with other words, a namespace or a larger limit.`);
    return texts.join('\n');
  }

  /**
   * The full declaration of a tool, by any spelling of its name. A name that is nearly right gets the nearest tool's, which says so. Throws
   * `tool_unknown` when there is none.
   */
  describe(name: string): string {
    const asked = name.slice(0, NAME_LENGTH);
    const entry = this.#lookUp(asked);
    if (entry !== undefined) return this.#declare(entry);
    const near = this.near(asked);
    const [first] = near;
    const meant = first === undefined ? undefined : this.catalog.find(first);
    if (meant === undefined) throw new CodeModeError('tool_unknown', `There is no tool \`${asked}\`. ${this.#overview()}`);
    const others = near.slice(1).map((path) => `tools.${path}`);
    const also = others.length === 0 ? '' : `; near it too: ${others.join(', ')}`;
    return `// There is no tool ${JSON.stringify(asked)}. The nearest is tools.${meant.path}${also}.\n${this.#declare(meant)}`;
  }

  /** All tools, within a budget; with what was seen of their results. */
  declarations(options: DeclarationsOptions): string {
    return declarations(this.catalog, options, ({ segments, tool }) =>
      tool.outputSchema === undefined ? this.#seen?.typeOf({ segments }) : undefined,
    );
  }

  /** Paths of the tools that a wrong name may stand for, the likeliest first. */
  near(name: string): readonly string[] {
    const paths = this.catalog.entries.map(({ path }) => path);
    const spelled = nearest(name.replace(/^tools\./, '').slice(0, NAME_LENGTH), paths);
    if (spelled.length > 0) return spelled;
    return this.#index()
      .find(name.slice(0, NAME_LENGTH))
      .slice(0, 3)
      .flatMap((index) => paths[index] ?? []);
  }

  /** All namespaces, with their parents, in the catalog's order. */
  get namespaces(): readonly string[] {
    this.#namespaces ??= [
      ...new Set(
        this.catalog.entries.flatMap(({ segments }) => segments.slice(0, -1).map((_, depth) => segments.slice(0, depth + 1).join('.'))),
      ),
    ];
    return this.#namespaces;
  }

  #index(): ToolIndex {
    return this.#indexes.of(this.catalog);
  }

  #find(query: string, options: SearchOptions): { readonly entries: readonly CatalogEntry[]; readonly total: number } {
    const { detail = 'signatures', namespace, limit = FOUND } = options;
    const found = this.#index().find(query, namespace === undefined ? undefined : this.#within(namespace));
    const entries = found.slice(0, Math.min(limit, MOST_FOUND[detail])).flatMap((index) => this.catalog.at(index) ?? []);
    return { entries, total: found.length };
  }

  #tell(entry: CatalogEntry, detail: SearchDetail): FoundTool {
    const named = { name: entry.name, identifier: `tools.${entry.path}` };
    if (detail === 'names') return named;
    if (detail === 'full') return { ...named, description: entry.tool.description, declaration: this.#declare(entry) };
    return { ...named, description: sentenceOf(entry), signature: signatureOf(entry, SIGNATURE_LENGTH) };
  }

  #declare(entry: CatalogEntry): string {
    const outputHint = entry.tool.outputSchema === undefined ? this.#seen?.typeOf(entry) : undefined;
    return declarationOf(entry, outputHint === undefined ? {} : { outputHint }).trimEnd();
  }

  /** Any spelling that means one tool alone: other separators, as systems without namespaces have them, other letters' case, no namespace. */
  #lookUp(name: string): CatalogEntry | undefined {
    const known = this.catalog.find(name.trim());
    if (known !== undefined) return known;
    const wanted = simplified(name);
    const { entries } = this.catalog;
    for (const spelling of [({ path }: CatalogEntry) => path, ({ segments }: CatalogEntry) => segments.at(-1) ?? '']) {
      const same = entries.filter((entry) => simplified(spelling(entry)) === wanted);
      if (same.length === 1) return same[0];
    }
    return undefined;
  }

  /** Which tools are in a namespace. Throws when none is. */
  #within(namespace: string): (index: number) => boolean {
    const wanted = namespace
      .trim()
      .replace(/^tools\b\.?|\.$/g, '')
      .toLowerCase();
    if (wanted === '') return () => true;
    const inside = new Set<number>();
    const { entries } = this.catalog;
    for (const { index, segments, spellings } of entries) {
      for (let depth = 1; depth < segments.length; depth++) {
        const [path, spelled] = [segments.slice(0, depth).join('.').toLowerCase(), spellings.slice(0, depth).join('.').toLowerCase()];
        if (path === wanted || spelled === wanted) inside.add(index);
      }
    }
    // Where names carry the namespace themselves: `github_list_issues`.
    if (inside.size === 0)
      for (const { index, path } of entries)
        if (path.toLowerCase().startsWith(`${wanted.replace(/[^a-z0-9_$]/g, '_')}_`)) inside.add(index);
    if (inside.size > 0) return (index) => inside.has(index);
    const near = nearest(wanted, this.namespaces)[0];
    const known = near === undefined ? '' : ` Did you mean \`${near}\`?`;
    throw new CodeModeError(
      'option_invalid',
      `There is no namespace \`${namespace.slice(0, NAME_LENGTH)}\`.${known} ${this.#namespacesInWords()}`,
    );
  }

  #overview(): string {
    const count = this.catalog.entries.length;
    if (count === 0) return 'There are no tools.';
    return `There ${count === 1 ? 'is one tool' : `are ${count} tools`}. ${this.#namespacesInWords()}`;
  }

  #namespacesInWords(): string {
    const { namespaces } = this;
    if (namespaces.length === 0) return 'The tools have no namespaces: search without one.';
    const more = namespaces.length - MOST_NAMED;
    if (namespaces.length === 1) return `The only namespace is ${namespaces[0]}.`;
    return `The namespaces are ${namespaces.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  }
}

function sentenceOf({ tool }: CatalogEntry): string {
  const line = commentLine(tool.description.trimStart().split(/\n\s*\n/, 1)[0] ?? '', SENTENCE_LENGTH);
  return /^.{10,}?[.!?](?=\s+[^a-z]|$)/.exec(line)?.[0] ?? line;
}

function simplified(name: string): string {
  return name
    .replace(/^(?:tools\.|mcp__)/, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}
