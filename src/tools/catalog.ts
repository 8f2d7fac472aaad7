// The tools of a run as one immutable table: an index for calls, names for people and models, a manifest for the guest.
// Not here: where the tools come from (provider.ts), the declarations that a model reads.

import { createHash } from 'node:crypto';
import { CodeModeError } from '../protocol/errors.ts';
import { manifestOf, type ToolManifest } from './manifest.ts';
import type { PlacedTool } from './provider.ts';
import type { Tool } from './tool.ts';

export interface CatalogEntry {
  /** Its place in the catalog; what a call names it by. */
  readonly index: number;
  readonly tool: Tool;
  /** `['github', 'list_issues']`: JavaScript identifiers, so that `tools.github.list_issues` is its spelling in a program. */
  readonly segments: readonly string[];
  /** `['github', 'list-issues']`: the segments as they were declared. */
  readonly spellings: readonly string[];
  /** `github.list_issues`: the segments with dots between. */
  readonly path: string;
  /** `github.list-issues`: namespaces and name as they were declared. */
  readonly name: string;
}

export interface Catalog {
  readonly entries: readonly CatalogEntry[];
  /** The entry of an index; `undefined` when there is none. */
  at(index: number): CatalogEntry | undefined;
  /** Looks up either spelling, `github.list-issues` or `github.list_issues`, with or without a leading `tools.`. */
  find(name: string): CatalogEntry | undefined;
  /** What a guest is told of the tools, by index. */
  readonly manifest: ToolManifest;
  /** Names this set of tools: SHA-256 of the manifest, in hex. */
  readonly id: string;
}

/**
 * Builds the catalog. Throws `name_collision` for names that a program could not tell apart. Pure: closing the collection
 * that the tools came from stays with the caller.
 */
export function createCatalog(tools: readonly PlacedTool[]): Catalog {
  const entries = Object.freeze(tools.map(toEntry));
  refuseCollisions(tools, entries);
  const names = nameTable(entries);
  const manifest = manifestOf(entries);
  return Object.freeze({
    entries,
    at: (index: number) => entries[index],
    find: (name: string) => names.get(name) ?? (name.startsWith(PREFIX) ? names.get(name.slice(PREFIX.length)) : undefined),
    manifest,
    id: createHash('sha256').update(manifest.entries).update(manifest.texts).digest('hex'),
  });
}

const PREFIX = 'tools.';

/**
 * A name as a JavaScript property that needs no brackets: other characters become `_`, and `_` goes before a leading digit.
 * `_` also goes before the few names that would mean something else on a tools object: `then` (a tools object is never
 * awaitable), `__proto__`, and at the root the helper `tools.call`.
 */
export function toIdentifier(name: string, { atRoot }: { readonly atRoot: boolean }): string {
  const identifier = name.replace(/[^A-Za-z0-9_$]/gu, '_');
  const taken = identifier === 'then' || identifier === '__proto__' || (atRoot && identifier === 'call');
  return taken || /^[0-9]/.test(identifier) ? `_${identifier}` : identifier;
}

function toEntry({ namespace, tool }: PlacedTool, index: number): CatalogEntry {
  // A dot in a tool's own name is part of that name: `weather.get` is the identifier `weather_get`. Only providers nest.
  const spellings = [...namespace, tool.name];
  const segments = Object.freeze(spellings.map((spelling, depth) => toIdentifier(spelling, { atRoot: depth === 0 })));
  return Object.freeze({ index, tool, segments, spellings: Object.freeze(spellings), path: segments.join('.'), name: spellings.join('.') });
}

/** One namespace while collisions are looked for: what each identifier in it stands for. */
type Names = Map<string, { readonly spelling: string; readonly index: number; readonly inner: Names | undefined }>;

function refuseCollisions(tools: readonly PlacedTool[], entries: readonly CatalogEntry[]): void {
  const root: Names = new Map();
  for (const { index, segments } of entries) {
    const { namespace = [], tool } = tools[index] ?? {};
    let names = root;
    for (const [depth, spelling] of namespace.entries()) {
      const identifier = segments[depth] ?? '';
      const known = names.get(identifier);
      if (known !== undefined && (known.inner === undefined || known.spelling !== spelling)) {
        const there = `${known.inner ? 'namespace' : 'tool'} ${quote(namespace.slice(0, depth), known.spelling)}`;
        throw collision(there, `namespace ${quote(namespace.slice(0, depth), spelling)}`, segments.slice(0, depth + 1));
      }
      const inner: Names = known?.inner ?? new Map();
      if (known === undefined) names.set(identifier, { spelling, index, inner });
      names = inner;
    }
    const identifier = segments[namespace.length] ?? '';
    const spelling = tool?.name ?? '';
    const known = names.get(identifier);
    if (known !== undefined) {
      if (known.inner === undefined && known.spelling === spelling) {
        throw new CodeModeError(
          'name_collision',
          `There are two tools named ${quote(namespace, spelling)}; rename one or give its provider a namespace.`,
          {
            details: { names: [entries[known.index]?.name, entries[index]?.name] },
          },
        );
      }
      const there = `${known.inner ? 'namespace' : 'tool'} ${quote(namespace, known.spelling)}`;
      throw collision(there, `tool ${quote(namespace, spelling)}`, segments);
    }
    names.set(identifier, { spelling, index, inner: undefined });
  }
}

function collision(first: string, second: string, segments: readonly string[]): CodeModeError {
  const path = `${PREFIX}${segments.join('.')}`;
  return new CodeModeError('name_collision', `The ${first} and the ${second} would both be \`${path}\` in a program; rename one of them.`, {
    details: { names: [first, second], path },
  });
}

function quote(namespace: readonly string[], name: string): string {
  return `\`${[...namespace, name].join('.')}\``;
}

/** Both spellings of every tool. One text for two tools (`a.b` as a name, and `b` in namespace `a`) is a collision too. */
function nameTable(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  // A Map, since `constructor` and `__proto__` are legal names.
  const names = new Map<string, CatalogEntry>();
  for (const entry of entries) {
    for (const name of [entry.path, entry.name]) {
      const known = names.get(name);
      if (known !== undefined && known !== entry) {
        throw new CodeModeError(
          'name_collision',
          `\`${name}\` could mean two tools, \`${PREFIX}${known.path}\` and \`${PREFIX}${entry.path}\`; rename one of them.`,
          { details: { names: [known.name, entry.name], path: name } },
        );
      }
      names.set(name, entry);
    }
  }
  return names;
}
