// What a model reads of the tools, as TypeScript: one line for a tool, or declarations for all of them. Not here: how a schema becomes a type
// (typescript.ts), and which tools a model is shown.
import type { JsonSchema } from './schema.ts';
import type { Tool } from './tool.ts';
import { commentText, docComment, memberName, renderType } from './typescript.ts';

/** Longest signature, in UTF-16 units, unless another is asked for. */
const SIGNATURE_LENGTH = 2_000;
/** Longest description of a tool in declarations. */
const DESCRIPTION_LENGTH = 2_000;
/** Ways to say a signature more briefly, tried in this order until one fits. */
const BRIEFER = [
  { depth: 6, values: 30 },
  { depth: 4, values: 12 },
  { depth: 2, values: 8 },
  { depth: 1, values: 4 },
] as const;

/**
 * A tool in one line: `tools.github.list_issues(input: { owner: string; state?: "open" | "closed" }): Promise<Issue[]>`. One that would be
 * longer than `length` is said more briefly: deeper levels become `object`, long lists of values their type.
 */
export function signatureOf(entry: SignedEntry, length: number = SIGNATURE_LENGTH): string {
  const start = `tools.${entry.segments.join('.')}`;
  const { inputSchema, outputSchema = true } = entry.tool;
  for (const options of BRIEFER) {
    const input = takesNothing(inputSchema) ? '' : parameter(inputSchema, options);
    const text = `${start}(${input}): Promise<${renderType(outputSchema, options)}>`;
    if (text.length <= length) return text;
  }
  // What a tool takes matters more than what it gives.
  const briefest = BRIEFER[BRIEFER.length - 1] ?? {};
  const text = `${start}(${parameter(inputSchema, briefest)}): Promise<${briefly(outputSchema)}>`;
  if (text.length <= length) return text;
  return `${start}(${nameOf(inputSchema)}: ${briefly(inputSchema)}): Promise<${briefly(outputSchema)}>`;
}

/** What a catalog's declarations need of it. */
export interface DeclaredCatalog {
  readonly entries: readonly DeclaredEntry[];
}

export interface DeclarationsOptions {
  /** About how many tokens the text may take, one for every four characters. Default: no bound. */
  readonly budgetTokens?: number;
  /** Names or paths of tools that stay as detailed as can be when others become shorter. */
  readonly pinned?: readonly string[];
}

/** All tools as one `declare const tools: {…}`, said more and more briefly until it fits the budget. The same for the same input. */
export function declarations(catalog: DeclaredCatalog, { budgetTokens = Number.POSITIVE_INFINITY }: DeclarationsOptions = {}): string {
  const full = declare(catalog);
  if (full.length / 4 <= budgetTokens) return full;
  const names = catalog.entries.map(({ segments }) => `  // ${segments.join('.')}`).join('\n');
  const listed = `declare const tools: {\n${names}\n};\n`;
  if (listed.length / 4 <= budgetTokens) return listed;
  return `declare const tools: {\n  // ${catalog.entries.length} tools: searchTools("…") finds them, describeTool(name) shows one.\n};\n`;
}

/** The full declaration of one tool, with the types that it needs. `outputHint` is the type of results that were seen. */
export function declarationOf(entry: DeclaredEntry, { outputHint }: { readonly outputHint?: string } = {}): string {
  const text = declare({ entries: [entry] });
  return outputHint === undefined ? text : `${docComment(commentText(`Results looked like: ${outputHint}`), 0)}${text}`;
}

/** What a signature needs of a catalog's entry. */
export interface SignedEntry {
  readonly segments: readonly string[];
  readonly tool: Pick<Tool, 'inputSchema' | 'outputSchema'>;
}

/** What a declaration needs of a catalog's entry. */
export interface DeclaredEntry {
  readonly segments: readonly string[];
  readonly spellings: readonly string[];
  readonly tool: Pick<Tool, 'description' | 'inputSchema' | 'outputSchema' | 'annotations'>;
}

export interface DeclareOptions {
  /**
   * `reading` (default): descriptions stand beside tools and properties. `checking`: no descriptions, results that no schema describes may be
   * used in any way, and several arguments are allowed where they mean one array.
   */
  readonly purpose?: 'reading' | 'checking';
}

/**
 * Declares `tools` with everything in it: namespaces nest, a tool is a method, and one whose own spelling is no identifier stands under
 * both spellings. Well-formed TypeScript whatever the catalog holds; depends on nothing but the standard library.
 */
export function declare(catalog: { readonly entries: readonly DeclaredEntry[] }, { purpose = 'reading' }: DeclareOptions = {}): string {
  const root: Namespace = { members: new Map() };
  for (const entry of catalog.entries) place(root, entry);
  const comment = purpose === 'reading' ? docComment('Calls a tool by its name, as ALL_TOOLS lists it.', 2) : '';
  const call = `${comment}  call(name: string, input?: unknown): Promise<${ANYTHING[purpose]}>;\n`;
  return `declare const tools: {\n${membersOf(root, { indent: 2, purpose })}${call}};\ndeclare const codemode: typeof tools;\n`;
}

/** The word for results that no schema describes. */
const ANYTHING = { reading: 'unknown', checking: 'any' } as const;

interface Namespace {
  readonly members: Map<string, Member>;
}

interface Member {
  /** The name as it was declared; the key in the namespace is the identifier. */
  readonly spelling: string;
  readonly path: string;
  readonly is: Namespace | DeclaredEntry;
}

function place(root: Namespace, entry: DeclaredEntry): void {
  let at = root;
  const last = entry.segments.length - 1;
  entry.segments.forEach((segment, depth) => {
    const spelling = entry.spellings[depth] ?? segment;
    const path = `tools.${entry.segments.slice(0, depth + 1).join('.')}`;
    const known = at.members.get(segment)?.is;
    if (depth === last) at.members.set(segment, { spelling, path, is: entry });
    else if (known !== undefined && 'members' in known) at = known;
    else {
      const inner: Namespace = { members: new Map() };
      at.members.set(segment, { spelling, path, is: inner });
      at = inner;
    }
  });
}

function membersOf(namespace: Namespace, { indent, purpose }: Required<DeclareOptions> & { readonly indent: number }): string {
  const comments = purpose === 'reading';
  const margin = ' '.repeat(indent);
  let text = '';
  for (const [segment, { spelling, path, is }] of namespace.members) {
    if ('members' in is) {
      text += `${margin}${segment}: {\n${membersOf(is, { indent: indent + 2, purpose })}${margin}};\n`;
    } else {
      const { description, inputSchema, outputSchema = true, annotations } = is.tool;
      if (comments) {
        const remark = annotations?.['deprecated'] === true ? '\n@deprecated' : '';
        text += docComment(`${commentText(description, DESCRIPTION_LENGTH)}${remark}`, indent);
      }
      const output = renderType(outputSchema, { anything: ANYTHING[purpose], comments, indent });
      const more = purpose === 'checking' && acceptsList(inputSchema) ? ', ...more: unknown[]' : '';
      text += `${margin}${segment}(${parameter(inputSchema, { comments, indent })}${more}): Promise<${output}>;\n`;
    }
    if (spelling !== segment) text += `${margin}${memberName(spelling)}: typeof ${path};\n`;
  }
  return text;
}

/** The parameter list of a tool. An input is optional when `{}` is one: calling a tool with nothing means that. */
function parameter(schema: JsonSchema, options: Parameters<typeof renderType>[1]): string {
  return `${nameOf(schema)}: ${takesNothing(schema) ? 'Record<string, never>' : renderType(schema, options)}`;
}

function nameOf(schema: JsonSchema): 'input' | 'input?' {
  return needsNothing(schema) ? 'input?' : 'input';
}

function briefly(schema: JsonSchema): string {
  return typeof schema === 'object' && (schema['type'] === 'object' || 'properties' in schema) ? 'object' : 'unknown';
}

/** Whether the schema accepts `{}`, as far as it can be told without checking: combinations and references may need anything. */
function needsNothing(schema: JsonSchema): boolean {
  if (typeof schema === 'boolean') return schema;
  const { type, required } = schema;
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) return false;
  if (Array.isArray(required) && required.length > 0) return false;
  if (typeof schema['minProperties'] === 'number' && schema['minProperties'] > 0) return false;
  return !['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'const', 'enum'].some((keyword) => keyword in schema);
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
