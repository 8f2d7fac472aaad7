// Collections: tools, arrays of them, and providers that make them for a run, flattened to a list of placed tools.
// Not here: name rules and collisions (catalog.ts), what a single tool must look like (tool.ts).
import { CodeModeError } from '../protocol/errors.ts';
import { type Binding, type Closer, closeAll } from './binding.ts';
import { describe } from './json.ts';
import type { Tool } from './tool.ts';

/** Makes tools for one run, for example with the credentials of its actor. */
export interface ToolProvider {
  /** Its tools become `tools.<namespace>.<name>`; a dotted namespace nests, as providers inside providers do. */
  readonly namespace?: string;
  /** Asked once per run. May return whatever `tools` takes, other providers too. */
  tools(binding: Binding): ToolSource | Promise<ToolSource>;
  /** Called once per run in which `tools` was asked, also when it or something later failed. */
  close?(): void | Promise<void>;
}

/** What the option `tools` takes. Nothing (`null`, `undefined`, `false`) is left out, so that `isAdmin && tool` works. */
export type ToolSource = Tool | ToolProvider | null | undefined | false | readonly ToolSource[];

/** A tool with the namespaces that it is in, outermost first, as they were spelled. */
export interface PlacedTool {
  readonly namespace: readonly string[];
  readonly tool: Tool;
}

/** All tools of a source in the order of their declaration. */
export interface Collection {
  readonly tools: readonly PlacedTool[];
  /** A close function for one run: calls every `close()`, last first, all attempted, once however often it is called. */
  closing(): () => Promise<void>;
}

/** Whether nothing in the source depends on the run (no provider, no `availableIf`): one collection then serves every run. */
export function isStatic(source: ToolSource): boolean {
  return isStaticWithin(source, new Set());
}

/**
 * Collects a source for a run. Providers and `availableIf` are asked once each, one after another, in order. When something
 * fails, all that was collected before is closed and the original error is what rejects.
 */
export async function collect(source: ToolSource, binding: Binding): Promise<Collection> {
  const collector = new Collector();
  try {
    await collector.collect(source, binding, { where: 'tools', namespace: [], depth: 0, providers: [] });
  } catch (error) {
    // The error that is told is the one that came first; what closing adds to it is lost on purpose.
    await collector
      .closing()()
      .catch(() => {});
    throw error;
  }
  return collector;
}

/** Collects a source that `isStatic`, without a run and at once. */
export function collectStatic(source: ToolSource): Collection {
  const collector = new Collector();
  collector.collectStatic(source, { where: 'tools', namespace: [], depth: 0, providers: [] });
  return collector;
}

/** Where the walk is: a path for messages, the namespaces around it, and what is around it already. */
interface Place {
  readonly where: string;
  readonly namespace: readonly string[];
  readonly depth: number;
  readonly providers: readonly ToolProvider[];
}

const MAX_DEPTH = 32;
const MAX_ITEMS = 100_000;

class Collector implements Collection {
  readonly tools: PlacedTool[] = [];
  readonly #closeable = new Set<Tool | ToolProvider>();
  #items = 0;

  async collect(source: unknown, binding: Binding, place: Place): Promise<void> {
    const item = this.#next(source, place);
    switch (item.kind) {
      case 'nothing':
        return;
      case 'many':
        for (const [index, child] of item.items.entries()) await this.collect(child, binding, inside(place, index));
        return;
      case 'tool':
        if (item.tool.availableIf === undefined || (await item.tool.availableIf(binding))) this.#add(item.tool, place);
        return;
      case 'provider': {
        const { provider } = item;
        const namespace = [...place.namespace, ...namespaceOf(provider, place.where)];
        // Before it is asked: a provider that fails half-way may hold something already.
        this.#closeable.add(provider);
        const made: unknown = await provider.tools(binding);
        const providers = [...place.providers, provider];
        await this.collect(made, binding, { where: `${place.where}.tools()`, namespace, depth: place.depth + 1, providers });
        return;
      }
      default:
        item satisfies never;
    }
  }

  collectStatic(source: unknown, place: Place): void {
    const item = this.#next(source, place);
    switch (item.kind) {
      case 'nothing':
        return;
      case 'many':
        for (const [index, child] of item.items.entries()) this.collectStatic(child, inside(place, index));
        return;
      case 'tool':
        if (item.tool.availableIf !== undefined) break;
        this.#add(item.tool, place);
        return;
      case 'provider':
        break;
      default:
        item satisfies never;
    }
    throw new CodeModeError('catalog_failed', `\`${place.where}\` depends on the run, so it cannot be collected without one.`);
  }

  closing(): () => Promise<void> {
    const closers: Closer[] = [];
    for (const item of this.#closeable) {
      if (item.close !== undefined) closers.push(() => item.close?.());
    }
    let closed: Promise<void> | undefined;
    return () => {
      closed ??= closeAll(closers, 'the tools');
      return closed;
    };
  }

  #add(tool: Tool, place: Place): void {
    this.#closeable.add(tool);
    this.tools.push({ namespace: place.namespace, tool });
  }

  #next(source: unknown, place: Place): Item {
    this.#items += 1;
    if (this.#items > MAX_ITEMS) {
      throw new CodeModeError(
        'catalog_failed',
        `The tools are more than ${MAX_ITEMS} entries at \`${shortened(place.where)}\`; does a provider return new providers for ever?`,
      );
    }
    if (place.depth > MAX_DEPTH) {
      throw new CodeModeError(
        'catalog_failed',
        `\`${shortened(place.where)}\` is nested deeper than ${MAX_DEPTH} levels; does a list or a provider contain itself?`,
      );
    }
    const item = classify(source, place.where);
    if (item.kind === 'provider' && place.providers.includes(item.provider)) {
      throw new CodeModeError('catalog_failed', `The provider at \`${shortened(place.where)}\` returns itself, so its tools have no end.`);
    }
    return item;
  }
}

type Item =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'many'; readonly items: readonly unknown[] }
  | { readonly kind: 'tool'; readonly tool: Tool }
  | { readonly kind: 'provider'; readonly provider: ToolProvider };

const NOTHING: Item = { kind: 'nothing' };

function classify(source: unknown, where: string): Item {
  if (source === null || source === undefined || source === false) return NOTHING;
  if (Array.isArray(source)) return { kind: 'many', items: source };
  if (isTool(source)) return { kind: 'tool', tool: source };
  if (isProvider(source)) return { kind: 'provider', provider: source };
  throw new CodeModeError(
    'tool_invalid',
    `\`${where}\` should be a tool, a provider or an array of them, but is ${describe(source)}. ${hintFor(source)}`,
    {
      details: { where },
    },
  );
}

function isTool(value: unknown): value is Tool {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Tool>).execute === 'function' &&
    typeof (value as Partial<Tool>).name === 'string' &&
    typeof (value as Partial<Tool>).input?.parse === 'function'
  );
}

function isProvider(value: unknown): value is ToolProvider {
  return (
    typeof value === 'object' && value !== null && !('execute' in value) && typeof (value as Partial<ToolProvider>).tools === 'function'
  );
}

function hintFor(value: unknown): string {
  if (typeof value === 'function') return 'For tools that depend on the run, give a provider: { tools(binding) { … } }.';
  if (typeof value !== 'object' || value === null) return 'Make tools with defineTool({ … }).';
  if ('execute' in value) return 'It has an `execute`, but is not complete: make it with defineTool({ … }).';
  if ('then' in value) return 'Await it first, or give a provider: { tools: () => promise }.';
  if ('tools' in value) return 'The `tools` of a provider is a function: { tools(binding) { … } }.';
  return 'Make tools with defineTool({ … }).';
}

function inside(place: Place, index: number): Place {
  return { where: `${place.where}[${index}]`, namespace: place.namespace, depth: place.depth + 1, providers: place.providers };
}

function namespaceOf(provider: ToolProvider, where: string): readonly string[] {
  const namespace: unknown = provider.namespace;
  if (namespace === undefined) return [];
  const segments = typeof namespace === 'string' ? namespace.split('.') : [];
  if (segments.length === 0 || !segments.every((segment) => /^[A-Za-z0-9_-]{1,64}$/.test(segment))) {
    throw new CodeModeError(
      'name_invalid',
      `The namespace of the provider at \`${where}\` should be 1 to 64 letters, digits, "_" or "-", or several of these with dots between, but is ${JSON.stringify(namespace) ?? describe(namespace)}.`,
    );
  }
  return segments;
}

function isStaticWithin(source: unknown, lists: Set<unknown>): boolean {
  if (Array.isArray(source)) {
    // A list that contains itself is refused when it is collected, not here.
    if (lists.has(source)) return true;
    lists.add(source);
    return source.every((item) => isStaticWithin(item, lists));
  }
  if (isTool(source)) return source.availableIf === undefined;
  return !isProvider(source);
}

function shortened(where: string): string {
  return where.length > 200 ? `${where.slice(0, 200)}…` : where;
}
