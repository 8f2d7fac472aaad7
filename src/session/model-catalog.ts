// The tools of a run, for whoever writes a prompt: listed, declared within a budget, searched and described, without running anything. Not here:
// how the tools are collected (code-mode.ts).
import { CodeModeError } from '../protocol/errors.ts';
import type { Catalog } from '../tools/catalog.ts';
import type { DeclarationsOptions } from '../tools/declarations.ts';
import type { Discovery, FoundTool, SearchOptions } from '../tools/discovery.ts';
import { readSearch } from '../tools/discovery-arguments.ts';
import { describe } from '../tools/json.ts';
import { checkKeys } from './options.ts';

/** A tool as a list of tools tells it. */
export interface ListedTool {
  /** As it was declared, namespaces before it: `github.list-issues`. */
  readonly name: string;
  /** The same as identifiers: `github.list_issues`. */
  readonly path: string;
  /** What a program calls it by: `tools.github.list_issues`. */
  readonly identifier: string;
  readonly description: string;
}

/** What a model can be told of the tools of one run. Stays usable after everything is closed. */
export interface ModelCatalog {
  readonly tools: readonly ListedTool[];
  /** All tools as TypeScript, said more and more briefly until it fits `budgetTokens`; `pinned` tools last. The same for the same tools. */
  declarations(options?: DeclarationsOptions): string;
  /** The tools that fit words, best first; mistyped ones too. An empty query lists them. Throws `option_invalid` for an unknown namespace. */
  search(query: string, options?: SearchOptions): readonly FoundTool[];
  /** The same as compact text. */
  searchText(query: string, options?: SearchOptions): string;
  /** The full declaration of one tool; a name that is nearly right gets the nearest tool's. Throws `tool_unknown` when there is none. */
  describe(name: string): string;
}

export function modelCatalog(catalog: Catalog, discovery: Discovery): ModelCatalog {
  const tools = Object.freeze(
    catalog.entries.map(({ name, path, tool }) =>
      Object.freeze({ name, path, identifier: `tools.${path}`, description: tool.description }),
    ),
  );
  const read = (query: unknown, options: unknown): ReturnType<typeof readSearch> => {
    checkKeys(options, ['limit', 'namespace', 'detail'], 'search()');
    return readSearch([query, options]);
  };
  return {
    tools,
    declarations: (options = {}) => discovery.declarations(checkDeclarations(options, catalog)),
    search: (query, options = {}) => {
      const { query: words, ...rest } = read(query, options);
      return discovery.search(words, rest);
    },
    searchText: (query, options = {}) => {
      const { query: words, ...rest } = read(query, options);
      return discovery.searchText(words, rest);
    },
    describe: (name) => {
      if (typeof name !== 'string')
        throw new CodeModeError('option_invalid', `describe() takes the name of a tool, not ${describe(name)}.`);
      return discovery.describe(name);
    },
  };
}

function checkDeclarations(options: DeclarationsOptions, catalog: Catalog): DeclarationsOptions {
  checkKeys(options, ['budgetTokens', 'pinned'], 'declarations()');
  const { budgetTokens, pinned } = options;
  if (budgetTokens !== undefined && !(typeof budgetTokens === 'number' && budgetTokens >= 0))
    throw new CodeModeError('option_invalid', `\`budgetTokens\` should be a number of tokens from 0, but is ${String(budgetTokens)}.`);
  if (pinned !== undefined && !(Array.isArray(pinned) && pinned.every((name) => typeof name === 'string')))
    throw new CodeModeError('option_invalid', `\`pinned\` should be a list of names of tools, but is ${describe(pinned)}.`);
  const namespaces = new Set(catalog.entries.flatMap(({ segments, spellings }) => [...prefixesOf(segments), ...prefixesOf(spellings)]));
  for (const name of pinned ?? []) {
    if (catalog.find(name) === undefined && !namespaces.has(name.replace(/^tools\./, '')))
      throw new CodeModeError('option_invalid', `\`pinned\` names \`${name}\`, which is neither a tool nor a namespace.`);
  }
  return options;
}

function prefixesOf(segments: readonly string[]): string[] {
  return segments.slice(0, -1).map((_, depth) => segments.slice(0, depth + 1).join('.'));
}
