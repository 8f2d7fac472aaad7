// What a model reads of the tools, as TypeScript: one line for a tool, one tool in full, or all of them in as much detail as a budget allows.
// Not here: how a schema becomes a type (typescript.ts), and which tools are found by a search.
import { outline } from './outline.ts';
import type { JsonSchema } from './schema.ts';
import type { Tool } from './tool.ts';
import { commentLine, commentOf, commentText, docComment, memberName } from './typescript/comment.ts';
import type { Printer } from './typescript/print.ts';
import { type ReadType, Types } from './typescript.ts';

/** What a declaration needs of a catalog's entry. */
export interface DeclaredEntry {
  readonly segments: readonly string[];
  readonly spellings: readonly string[];
  readonly tool: Pick<Tool, 'description' | 'inputSchema' | 'outputSchema' | 'annotations'>;
}

/** What a catalog's declarations need of it. */
export interface DeclaredCatalog {
  readonly entries: readonly DeclaredEntry[];
}

/** The type of a tool's results, where nothing but results that were seen tells it. */
export type OutputHint = (entry: DeclaredEntry) => string | undefined;

export interface DeclarationsOptions {
  /** About how many tokens the text may take: one is reckoned for every four characters, since no tokenizer is asked. Default: no bound. */
  readonly budgetTokens?: number;
  /** Tools that stay as detailed as can be while the others become shorter: their names or paths, or those of namespaces. */
  readonly pinned?: readonly string[];
}

/**
 * All tools as one `declare const tools: {…}`, preceded by the types that several of them share. What does not fit the budget is said more and
 * more briefly, for all tools alike: descriptions shortened, signatures without descriptions, names by namespace, and at last how many tools
 * there are and how to find them. The same catalog gives the same text, in whatever order its tools come, so that a prompt can be cached.
 */
export function declarations(
  catalog: DeclaredCatalog,
  { budgetTokens, pinned = [] }: DeclarationsOptions = {},
  hintFor: OutputHint = () => undefined,
): string {
  const entries = inOrder(catalog.entries);
  const chosen = new Set(pinned);
  const isPinned = entries.map((entry) => chosen.size > 0 && namesOf(entry).some((name) => chosen.has(name)));
  const most = budgetTokens === undefined ? Number.POSITIVE_INFINITY : budgetTokens * CHARACTERS_PER_TOKEN;
  const page = new Page(entries);
  let text = '';
  const attempt = (detailOf: (index: number) => Detail): boolean => {
    // What cannot fit is not printed to find that out.
    if (most < Number.POSITIVE_INFINITY && page.least(detailOf) > most) return false;
    text = page.render(detailOf, hintFor);
    return text.length <= most;
  };
  for (const detail of DETAILS) if (attempt((index) => (isPinned[index] === true ? FULL : detail))) return text;
  if (isPinned.includes(true)) {
    for (const detail of DETAILS.slice(1)) if (attempt((index) => (isPinned[index] === true ? detail : BRIEFEST))) return text;
  }
  return page.render(() => BRIEFEST, hintFor);
}

/** Near enough for English and code; no tokenizer is asked. */
const CHARACTERS_PER_TOKEN = 4;

export interface DeclarationOptions {
  /** The type of results that were seen, for a tool whose results no schema describes. */
  readonly outputHint?: string;
}

/** One tool in full: `declare const tools: {…}` with nothing else in it, and the types that it needs. */
export function declarationOf(entry: DeclaredEntry, { outputHint }: DeclarationOptions = {}): string {
  return new Page([entry]).render(
    () => FULL,
    () => outputHint,
  );
}

/** How a tool is shown. */
type Detail =
  | { readonly form: 'declaration'; readonly toolWords: number; readonly memberWords: number }
  | { readonly form: 'signature'; readonly depth: number; readonly values: number }
  | { readonly form: 'name' }
  | { readonly form: 'count' };

const FULL: Detail = { form: 'declaration', toolWords: 100_000, memberWords: 100_000 };
const BRIEFEST: Detail = { form: 'count' };

/** From the most detailed to the briefest. */
const DETAILS: readonly Detail[] = [
  FULL,
  { form: 'declaration', toolWords: 600, memberWords: 200 },
  { form: 'declaration', toolWords: 300, memberWords: 100 },
  { form: 'declaration', toolWords: 120, memberWords: 60 },
  { form: 'signature', depth: 12, values: 200 },
  { form: 'signature', depth: 3, values: 12 },
  { form: 'signature', depth: 1, values: 4 },
  { form: 'name' },
  BRIEFEST,
];

/** Tools in order, and what was read of their schemas: once, however often they are shown. */
class Page {
  readonly #entries: readonly DeclaredEntry[];
  readonly #worlds = { full: new World({ comments: true }), bare: new World({ comments: false }) };

  constructor(entries: readonly DeclaredEntry[]) {
    this.#entries = entries;
  }

  render(detailOf: (index: number) => Detail, hintFor: OutputHint): string {
    const shown = new Map<Detail, DeclaredEntry[]>();
    for (const [index, entry] of this.#entries.entries()) {
      const detail = detailOf(index);
      const others = shown.get(detail);
      if (others === undefined) shown.set(detail, [entry]);
      else others.push(entry);
    }
    const printers = new Map<Detail, Printer>();
    let shared = '';
    for (const [detail, entries] of shown) {
      if (!isTyped(detail)) continue;
      // Two sets of names in one text would clash.
      const { printer, declarations } = this.#worldOf(detail).naming(entries, { detail, suffix: printers.size === 0 ? '' : '_' });
      printers.set(detail, printer);
      shared += declarations;
    }
    const items = this.#entries.map((entry, index) => {
      const detail = detailOf(index);
      const printer = printers.get(detail);
      return {
        segments: entry.segments,
        form: detail.form,
        text: (indent: number): string =>
          printer === undefined
            ? ''
            : toolText({ entry, detail, types: this.#worldOf(detail).read(entry), printer, outputHint: hintFor(entry) }, indent),
      };
    });
    return `${shared}${outline(items)}`;
  }

  /** A length that the text will have at least. */
  least(detailOf: (index: number) => Detail): number {
    let length = 0;
    for (const [index, { segments, tool }] of this.#entries.entries()) {
      const detail = detailOf(index);
      if (detail.form === 'count') continue;
      length += (segments.at(-1)?.length ?? 0) + 2;
      if (isTyped(detail)) length += '(): Promise<>;'.length;
      // A text is cut in its second half, and its blank space may go.
      if (detail.form === 'declaration') length += Math.min(tool.description.replace(/\s+/g, '').length, detail.toolWords) / 2;
    }
    return length;
  }

  #worldOf(detail: Detail): World {
    return detail.form === 'declaration' ? this.#worlds.full : this.#worlds.bare;
  }
}

function isTyped({ form }: Detail): boolean {
  return form === 'declaration' || form === 'signature';
}

/** The types of tools, with comments or without. */
class World {
  readonly #types: Types;
  readonly #read = new Map<DeclaredEntry, ToolTypes>();

  constructor(options: { readonly comments: boolean }) {
    this.#types = new Types(options);
  }

  read(entry: DeclaredEntry): ToolTypes {
    const known = this.#read.get(entry);
    if (known !== undefined) return known;
    const types = readTool(entry.tool, this.#types);
    this.#read.set(entry, types);
    return types;
  }

  naming(
    entries: readonly DeclaredEntry[],
    { detail, suffix }: { readonly detail: Detail; readonly suffix: string },
  ): { readonly printer: Printer; readonly declarations: string } {
    const roots = entries.flatMap((entry) => rootsOf(this.read(entry)));
    const words = detail.form === 'declaration' ? detail.memberWords : 0;
    const { depth, values } = detail.form === 'signature' ? detail : { depth: 1_000, values: 100_000 };
    return this.#types.naming(roots, {
      anything: 'unknown',
      oneLine: detail.form !== 'declaration',
      words,
      depth,
      values,
      length: 1e9,
      worth: 20,
      suffix,
    });
  }
}

/** The types of a tool. */
interface ToolTypes {
  /** `undefined` for a tool that takes nothing. */
  readonly input: ReadType | undefined;
  /** `undefined` for a tool whose results no schema describes. */
  readonly output: ReadType | undefined;
}

function readTool({ inputSchema, outputSchema }: Pick<Tool, 'inputSchema' | 'outputSchema'>, types: Types): ToolTypes {
  return {
    input: takesNothing(inputSchema) ? undefined : types.read(inputSchema),
    output: outputSchema === undefined ? undefined : types.read(outputSchema),
  };
}

function rootsOf({ input, output }: ToolTypes): ReadType['node'][] {
  return [input, output].flatMap((type) => (type === undefined ? [] : [type.node]));
}

interface ShownTool {
  readonly entry: DeclaredEntry;
  readonly detail: Detail;
  readonly types: ToolTypes;
  readonly printer: Printer;
  readonly outputHint: string | undefined;
}

function toolText({ entry: { segments, tool }, detail, types, printer, outputHint }: ShownTool, indent: number): string {
  const margin = ' '.repeat(indent);
  const { input, output } = types;
  const parameters = input === undefined ? '' : `${nameOf(tool.inputSchema)}: ${printer.type(input.node, indent)}`;
  const result = output === undefined ? 'unknown' : printer.type(output.node, indent);
  const line = `${margin}${segments.at(-1)}(${parameters}): Promise<${result}>;\n`;
  if (detail.form !== 'declaration') return line;
  const words = commentText(tool.description, detail.toolWords);
  const remarks = [
    words,
    tool.annotations?.['deprecated'] === true ? '@deprecated' : '',
    remarkOf('@param input', input, { about: words, detail }),
    remarkOf('@returns', output, { about: words, detail }),
    outputHint === undefined || output !== undefined ? '' : `@returns seen: ${commentLine(outputHint, 4_000)}`,
  ];
  return `${docComment(remarks.filter((remark) => remark !== '').join('\n'), indent)}${line}`;
}

/** What is said of an input or a result as a whole, unless the tool's description says it. */
function remarkOf(tag: string, type: ReadType | undefined, { about, detail }: { readonly about: string; readonly detail: Detail }): string {
  if (type === undefined || detail.form !== 'declaration') return '';
  const { words } = type.comment;
  const text = commentOf(about.includes(words) ? { ...type.comment, words: '' } : type.comment, detail.memberWords);
  return text === '' ? '' : `${tag} ${text}`;
}

function inOrder(entries: readonly DeclaredEntry[]): DeclaredEntry[] {
  // By code units, not by a locale's rules, which differ from machine to machine.
  return [...entries].sort((a, b) => {
    for (const [depth, segment] of a.segments.entries()) {
      const other = b.segments[depth];
      if (other === undefined) return 1;
      if (segment !== other) return segment < other ? -1 : 1;
    }
    return a.segments.length - b.segments.length;
  });
}

/** What a tool can be pinned by: its path, its name, and those of the namespaces around it. */
function namesOf({ segments, spellings }: DeclaredEntry): string[] {
  return [segments, spellings].flatMap((parts) =>
    parts.flatMap((_, depth) => [parts.slice(0, depth + 1).join('.'), `tools.${parts.slice(0, depth + 1).join('.')}`]),
  );
}

// ---- one line for a tool

/** Longest signature, in UTF-16 units, unless another is asked for. */
const SIGNATURE_LENGTH = 2_000;
/** Ways to say a signature more briefly, tried in this order until one fits. */
const BRIEFER = [
  { depth: 6, values: 30 },
  { depth: 4, values: 12 },
  { depth: 2, values: 8 },
  { depth: 1, values: 4 },
] as const;

/** What a signature needs of a catalog's entry. */
export interface SignedEntry {
  readonly segments: readonly string[];
  readonly tool: Pick<Tool, 'inputSchema' | 'outputSchema'>;
}

/**
 * A tool in one line: `tools.github.list_issues(input: { owner: string; state?: "open" | "closed" }): Promise<Issue[]>`. One that would be
 * longer than `length` is said more briefly: deeper levels become `object`, long lists of values their type.
 */
export function signatureOf({ segments, tool }: SignedEntry, length: number = SIGNATURE_LENGTH): string {
  const start = `tools.${segments.join('.')}`;
  const { inputSchema, outputSchema = true } = tool;
  const types = new Types({ comments: false });
  const input = takesNothing(inputSchema) ? undefined : types.read(inputSchema).node;
  const output = types.read(outputSchema).node;
  const result = (text: string, given: string): string =>
    `${start}(${input === undefined ? '' : `${nameOf(inputSchema)}: ${text}`}): Promise<${given}>`;
  let [takes, gives] = ['', ''];
  for (const options of BRIEFER) {
    const printer = types.printer({ ...options, anything: 'unknown', oneLine: true, words: 0, length: length * 2 });
    takes = input === undefined ? '' : printer.type(input, 0);
    gives = printer.type(output, 0);
    const text = result(takes, gives);
    if (text.length <= length) return text;
  }
  // What a tool takes matters more than what it gives.
  const text = result(takes, briefly(outputSchema));
  return text.length <= length ? text : result(briefly(inputSchema), briefly(outputSchema));
}

function briefly(schema: JsonSchema): string {
  return typeof schema === 'object' && (schema['type'] === 'object' || 'properties' in schema) ? 'object' : 'unknown';
}

// ---- the world of a program that is checked

/**
 * The tools for a type checker: no comments, results that no schema describes may be used in any way, several arguments are allowed where they
 * mean one array, and a tool whose own spelling is no identifier stands under both. Depends on nothing but the standard library.
 */
export function checkedWorld(catalog: DeclaredCatalog): string {
  const types = new Types({ comments: false });
  const read = catalog.entries.map((entry) => ({ entry, types: readTool(entry.tool, types) }));
  const { printer, declarations: shared } = types.naming(
    read.flatMap((each) => rootsOf(each.types)),
    // Long ones only: a message that shows the type says more than one that shows its name.
    { anything: 'any', oneLine: true, words: 0, depth: 1_000, values: 100_000, length: 1e9, worth: 400, suffix: '$' },
  );
  const body = outline(
    read.map(({ entry: { segments, spellings, tool }, types: { input, output } }) => ({
      segments,
      spellings,
      form: 'declaration',
      text: (indent) => {
        const takes = input === undefined ? 'Record<string, never>' : printer.type(input.node, indent);
        const more = acceptsList(tool.inputSchema) ? ', ...more: unknown[]' : '';
        const gives = output === undefined ? 'any' : printer.type(output.node, indent);
        return `${' '.repeat(indent)}${segments.at(-1)}(${nameOf(tool.inputSchema)}: ${takes}${more}): Promise<${gives}>;\n`;
      },
    })),
    { more: '  call(name: string, input?: unknown): Promise<any>;\n', quote: memberName },
  );
  return `${shared}${body}declare const codemode: typeof tools;\n`;
}

function nameOf(schema: JsonSchema): 'input' | 'input?' {
  return needsNothing(schema) ? 'input?' : 'input';
}

/** Whether the schema accepts `{}`, as far as it can be told without checking: combinations and references may need anything. */
function needsNothing(schema: JsonSchema): boolean {
  if (typeof schema === 'boolean') return schema;
  const { type, required } = schema;
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) return false;
  if (Array.isArray(required) && required.length > 0) return false;
  if (typeof schema['minProperties'] === 'number' && schema['minProperties'] > 0) return false;
  return !['$ref', '$dynamicRef', '$recursiveRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'const', 'enum'].some(
    (keyword) => keyword in schema,
  );
}

/** Whether an array as such may be a valid input: then several arguments mean one. */
export function acceptsList(schema: JsonSchema): boolean {
  if (typeof schema === 'boolean') return schema;
  const { type } = schema;
  if (type === 'array' || (Array.isArray(type) && type.includes('array'))) return true;
  return Object.keys(schema).every((keyword) => keyword.startsWith('$') || keyword === 'title' || keyword === 'description');
}

function takesNothing(schema: JsonSchema): boolean {
  if (typeof schema === 'boolean' || schema['additionalProperties'] !== false || !needsNothing(schema)) return false;
  const { properties, patternProperties } = schema;
  return [properties, patternProperties].every((names) => typeof names !== 'object' || names === null || Object.keys(names).length === 0);
}
