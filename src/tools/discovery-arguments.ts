// The arguments of `searchTools` and `describeTool` as models write them: what can be meant in one way only is taken. Not here: what is done
// with them (discovery.ts).
import { CodeModeError } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import type { SearchDetail, SearchOptions } from './discovery.ts';
import { describe } from './json.ts';

/** A search as it was asked for. `text` instead of objects is only given where that was wanted. */
export interface SearchRequest extends SearchOptions {
  readonly query: string;
  readonly format: 'objects' | 'text';
}

/**
 * Reads `(query, { limit, namespace, detail, format })`, and what is as clear: everything in one object, a list of words as the query, a number
 * as the second argument. Throws `option_invalid` for what is not, in the words of the call.
 */
export function readSearch(args: readonly unknown[]): SearchRequest {
  const [first, second] = args;
  const isWhole = isRecord(first);
  const given: Readonly<Record<string, unknown>> = {
    ...(isWhole ? first : {}),
    ...(isRecord(second) ? second : typeof second === 'number' ? { limit: second } : typeof second === 'string' ? worded(second) : {}),
  };
  const query = isWhole ? pick(first, QUERY) : first;
  return {
    query: readQuery(query),
    limit: readLimit(pick(given, LIMIT)),
    namespace: readNamespace(pick(given, NAMESPACE)),
    detail: readDetail(pick(given, DETAIL)),
    format: readFormat(pick(given, FORMAT)),
  };
}

/** Reads `(name)`, `({ name })` or a list of names. Throws `option_invalid` when there is no name. */
export function readNames(args: readonly unknown[]): readonly string[] {
  const [first] = args;
  const names = isRecord(first) ? pick(first, NAME) : first;
  const list = Array.isArray(names) ? names : [names, ...args.slice(1).filter((arg) => typeof arg === 'string')];
  const read = list.map((item) => (isRecord(item) ? pick(item, NAME) : item));
  const isName = (item: unknown): item is string => typeof item === 'string' && item.trim() !== '';
  if (read.length > 0 && read.length <= MOST_NAMES && read.every(isName)) return read;
  if (read.length > MOST_NAMES) throw invalid(`at most ${MOST_NAMES} names at a time, not ${read.length}`);
  throw invalid(`the name of a tool, such as "github.list_issues", not ${describe(read.find((item) => !isName(item)))}`);
}

const MOST_NAMES = 50;

/** Other words that say the same, in the order in which they are looked for. */
const QUERY = ['query', 'q', 'text', 'search', 'keywords', 'intent', 'task'];
const LIMIT = ['limit', 'max', 'maxResults', 'max_results', 'topK', 'top_k', 'k', 'count', 'n'];
const NAMESPACE = ['namespace', 'server', 'provider', 'within'];
const DETAIL = ['detail', 'details', 'level', 'detailLevel', 'detail_level'];
const FORMAT = ['format', 'as'];
const NAME = ['name', 'identifier', 'tool', 'path', 'toolName', 'tool_name', 'names'];

const DETAILS: Readonly<Record<string, SearchDetail>> = {
  names: 'names',
  name: 'names',
  brief: 'names',
  signatures: 'signatures',
  signature: 'signatures',
  summary: 'signatures',
  description: 'signatures',
  full: 'full',
  all: 'full',
  declaration: 'full',
  declarations: 'full',
  schema: 'full',
  detailed: 'full',
};

function worded(word: string): Readonly<Record<string, unknown>> {
  return word.toLowerCase() in DETAILS ? { detail: word } : { namespace: word };
}

function readQuery(query: unknown): string {
  if (query === undefined || query === null) return '';
  if (typeof query === 'string' || typeof query === 'number') return String(query);
  if (Array.isArray(query) && query.every((word) => typeof word === 'string')) return query.join(' ');
  throw invalid(`words to look for, such as "create issue", not ${describe(query)}`);
}

function readLimit(limit: unknown): number | undefined {
  if (limit === undefined || limit === null || limit === '') return undefined;
  const number = typeof limit === 'string' ? Number(limit) : limit;
  if (typeof number === 'number' && number >= 1) return Math.floor(number);
  throw invalid(
    `a \`limit\` from 1, not ${typeof limit === 'number' || typeof limit === 'string' ? JSON.stringify(limit) : describe(limit)}`,
  );
}

function readNamespace(namespace: unknown): string | undefined {
  if (namespace === undefined || namespace === null || namespace === '') return undefined;
  if (typeof namespace === 'string') return namespace;
  if (Array.isArray(namespace) && namespace.every((segment) => typeof segment === 'string')) return namespace.join('.');
  throw invalid(`a \`namespace\` such as "github", not ${describe(namespace)}`);
}

function readDetail(detail: unknown): SearchDetail | undefined {
  if (detail === undefined || detail === null) return undefined;
  const known = typeof detail === 'string' && Object.hasOwn(DETAILS, detail.toLowerCase()) ? DETAILS[detail.toLowerCase()] : undefined;
  if (known !== undefined) return known;
  const [near] = typeof detail === 'string' ? nearest(detail, Object.keys(DETAILS)) : [];
  if (near !== undefined) return DETAILS[near];
  throw invalid(
    `\`detail\` as "names", "signatures" or "full", not ${typeof detail === 'string' ? JSON.stringify(detail.slice(0, 100)) : describe(detail)}`,
  );
}

function readFormat(format: unknown): 'objects' | 'text' {
  if (format === undefined || format === null || format === 'objects' || format === 'json') return 'objects';
  if (format === 'text' || format === 'string') return 'text';
  throw invalid(
    `\`format\` as "objects" or "text", not ${typeof format === 'string' ? JSON.stringify(format.slice(0, 100)) : describe(format)}`,
  );
}

function invalid(expected: string): CodeModeError {
  return new CodeModeError('option_invalid', `Give ${expected}.`);
}

function pick(record: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  const name = names.find((one) => Object.hasOwn(record, one) && record[one] !== undefined);
  return name === undefined ? undefined : record[name];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
