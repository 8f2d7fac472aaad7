// `callgate types` and `callgate tools`: what a model would see of the tools, without running a program. Not here: options (cli.ts), how tools
// are found and declared (the library says).
import { CodeModeError, createCodeMode, type DiscoveryPlace, type Invocation, type ModelCatalog, type SearchDetail } from '../index.ts';
import { printable, printableJson, printableLine } from './printable.ts';
import { loadSources, type SourceOptions } from './sources.ts';
import { colorsFor, type Terminal } from './terminal.ts';
import { UsageError } from './usage.ts';

interface CatalogOptions extends SourceOptions {
  readonly actor?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly interface: string;
}

export interface TypesOptions extends CatalogOptions {
  readonly budget?: number;
  readonly pin?: readonly string[];
  readonly instructions?: boolean;
  readonly except?: readonly string[];
  readonly discovery: DiscoveryPlace;
}

export interface ToolsOptions extends CatalogOptions {
  readonly search?: string;
  readonly describe?: string;
  readonly namespace?: string;
  readonly limit?: number;
  readonly detail?: SearchDetail;
  readonly json?: boolean;
}

/** Prints the declarations, or all that a model is told; and on standard error about how many tokens that is. */
export async function types(options: TypesOptions, terminal: Terminal): Promise<void> {
  await withTools(options, terminal, async ({ codeMode, invocation }) => {
    let text: string;
    if (options.instructions === true) {
      await using session = await codeMode.openSession({ invocation, except: options.except ?? [] });
      text = session.instructions;
    } else {
      if (options.except !== undefined)
        throw new UsageError('--except says which tools programs do not have: it goes with --instructions.');
      const catalog = await codeMode.catalog({ invocation });
      text = catalog.declarations({
        ...(options.budget === undefined ? {} : { budgetTokens: options.budget }),
        ...(options.pin === undefined ? {} : { pinned: options.pin }),
      });
    }
    terminal.stdout.write(`${printable(text).trimEnd()}\n`);
    terminal.stderr.write(`${colorsFor(terminal).dim(`about ${Math.ceil(text.length / 4).toLocaleString('en-US')} tokens`)}\n`);
  });
}

/** Lists, searches or describes the tools. Resolves to whether there was something to show. */
export async function tools(words: readonly string[], options: ToolsOptions, terminal: Terminal): Promise<boolean> {
  const query = [...words, ...(options.search === undefined ? [] : [options.search])].join(' ');
  if (options.describe !== undefined && query !== '') throw new UsageError('Either look for tools or --describe one of them, not both.');
  let isShown = true;
  await withTools(options, terminal, async ({ codeMode, invocation }) => {
    const catalog = await codeMode.catalog({ invocation });
    isShown =
      options.describe === undefined ? list(catalog, query, options, terminal) : describe(catalog, options.describe, options, terminal);
  });
  return isShown;
}

function describe(catalog: ModelCatalog, name: string, { json }: ToolsOptions, { stdout, stderr }: Terminal): boolean {
  try {
    const declaration = catalog.describe(name);
    stdout.write(json === true ? `${printableJson(JSON.stringify({ declaration }, null, 2))}\n` : `${printable(declaration)}\n`);
    return true;
  } catch (error) {
    if (!CodeModeError.is(error) || error.code !== 'tool_unknown') throw error;
    stderr.write(`${printable(error.message)}\n`);
    return false;
  }
}

function list(catalog: ModelCatalog, query: string, options: ToolsOptions, terminal: Terminal): boolean {
  const { stdout, stderr } = terminal;
  const { namespace, json, detail = 'signatures' } = options;
  // Somebody who looks for nothing in particular wants to see them all.
  const limit = options.limit ?? (query === '' ? 1_000 : 10);
  const search = { limit, ...(namespace === undefined ? {} : { namespace }) };
  if (json === true) {
    stdout.write(`${printableJson(JSON.stringify(catalog.search(query, { ...search, detail }), null, 2))}\n`);
    return true;
  }
  const isPlain = options.detail === undefined && query === '';
  const found = catalog.search(query, { ...search, detail: isPlain ? 'names' : detail });
  if (found.length === 0) {
    stderr.write(`${printable(catalog.searchText(query, search))}\n`);
    return false;
  }
  if (isPlain) {
    const about = new Map(catalog.tools.map(({ identifier, description }) => [identifier, description]));
    const width = Math.min(48, Math.max(...found.map(({ identifier }) => identifier.length)));
    const room = Math.max(20, (stdout.columns || 120) - width - 2);
    for (const { identifier } of found) stdout.write(`${identifier.padEnd(width)}  ${shortened(about.get(identifier) ?? '', room)}\n`);
  } else {
    stdout.write(`${printable(catalog.searchText(query, { ...search, detail }))}\n`);
  }
  const all = catalog.tools.length;
  if (isPlain) stderr.write(`${colorsFor(terminal).dim(found.length === all ? `${all} tools` : `${found.length} of ${all} tools`)}\n`);
  return true;
}

/** The beginning of a description on one line. */
function shortened(description: string, length: number): string {
  const line = printableLine(description.trim().replace(/\s+/g, ' '));
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}

async function withTools(
  options: CatalogOptions & { readonly discovery?: DiscoveryPlace },
  { cwd, env, stderr }: Terminal,
  work: (parts: { readonly codeMode: ReturnType<typeof createCodeMode>; readonly invocation: Invocation }) => Promise<void>,
): Promise<void> {
  const { tools: source, close } = await loadSources(options, { cwd, env, report: (line) => void stderr.write(`${line}\n`) });
  const codeMode = createCodeMode({ tools: source, ...(options.discovery === undefined ? {} : { discovery: options.discovery }) });
  const { actor, context, interface: from } = options;
  const invocation = { interface: from, ...(actor === undefined ? {} : { actorId: actor }), ...(context === undefined ? {} : { context }) };
  try {
    await work({ codeMode, invocation });
  } finally {
    await codeMode.close();
    await close();
  }
}
