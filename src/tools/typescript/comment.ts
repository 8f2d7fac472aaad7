// Text of servers made fit for comments: nothing in it ends the comment, speaks to the compiler or to a terminal. And what is worth saying of a
// schema beside its type, in a few words. Not here: where a comment stands (print.ts).
import { isObject, type SchemaObject } from './keywords.ts';

/** What is said beside a type or a member. */
export interface Comment {
  /** A description, in the words of who wrote the schema. */
  readonly words: string;
  /** What the type cannot say: `1-100`, `date-time`, `default "open"`. */
  readonly remarks: readonly string[];
  readonly deprecated: boolean;
}

export const NO_COMMENT: Comment = { words: '', remarks: [], deprecated: false };

/** Text that may stand inside a comment: no comment end, nothing that a terminal or the compiler obeys; shortened to `length`. */
export function commentText(text: string, length: number = Number.POSITIVE_INFINITY): string {
  const plain = text
    .slice(0, length * 4)
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(UNPRINTABLE, '')
    .replace(/[ \t]+(?=\n)/g, '')
    .replace(/\n{3,}/g, '\n\n')
    .replaceAll('*/', '*\\/')
    .replace(/@(?=ts-)/g, '@ ')
    .trim();
  return plain.length <= length && text.length <= length * 4 ? plain : cut(plain, length);
}

/** The same on one line. */
export function commentLine(text: string, length?: number): string {
  return commentText(text.replace(/[\s\u0085]+/g, ' '), length);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Shortens at the end of a sentence where one is near, otherwise between words. */
function cut(text: string, length: number): string {
  const room = text.slice(0, Math.max(0, length - 1)).replace(/[\ud800-\udbff]$/, '');
  const sentence = /^.*[.!?](?=\s)/s.exec(room)?.[0];
  if (sentence !== undefined && sentence.length > length / 2) return sentence;
  const word = /^.*(?=\s)/s.exec(room)?.[0];
  return `${(word !== undefined && word.length > length / 2 ? word : room).trimEnd()}…`;
}

/**
 * A doc comment; none for an empty text. Further lines stand under the first without stars, and those of a long text at the margin, since what
 * stands before a line costs its reader tokens.
 */
export function docComment(text: string, indent: number): string {
  if (text === '') return '';
  const margin = ' '.repeat(indent);
  const isLong = text.split('\n', 5).length > 4;
  return `${margin}/** ${text.replace(/\n(?=.)/g, isLong ? '\n ' : `\n${margin} `)} */\n`;
}

/** One line for a comment, the words shortened to `length`; empty when there is nothing to say. */
export function commentOf({ words, remarks, deprecated }: Comment, length: number): string {
  const said = length <= 0 ? '' : commentLine(words, length);
  const rest = remarks.map((remark) => commentLine(remark, MOST_OF_A_REMARK)).join(', ');
  const text = said === '' ? rest : rest === '' ? said : `${said} (${rest})`;
  return deprecated ? `@deprecated ${text}`.trimEnd() : text;
}

const MOST_OF_A_REMARK = 500;

/** The description of a schema; its title, where there is none and the title is more than the name in other letters. */
export function wordsOf(schema: SchemaObject, name: string): string {
  const { description, title } = schema;
  if (typeof description === 'string' && description.trim() !== '') return description.trim();
  return typeof title === 'string' && plain(title) !== plain(name) ? title.trim() : '';
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** What a schema annotates that binds nobody: default, examples and the like. `about`: name and description, which may say it already. */
export function annotationsOf(schema: SchemaObject, about: string): string[] {
  const remarks: string[] = [];
  if (schema['readOnly'] === true && !/read-?only/i.test(about)) remarks.push('read-only');
  if (schema['writeOnly'] === true && !/write-?only/i.test(about)) remarks.push('write-only');
  const { default: fallback, example, examples } = schema;
  if (fallback !== undefined && !(/\bdefault/i.test(about) && mentions(about, fallback))) remarks.push(`default ${json(fallback)}`);
  const shown = [
    ...(Array.isArray(examples) ? examples : isObject(examples) ? Object.values(examples) : []),
    ...(example === undefined ? [] : [example]),
  ];
  const fresh = shown.filter((value) => !mentions(about, value)).map(json);
  if (fresh.length > 0) remarks.push(`e.g. ${[...new Set(fresh)].join(', ')}`);
  return remarks;
}

function mentions(about: string, value: unknown): boolean {
  const text = typeof value === 'string' ? value : json(value);
  return (
    text !== '' &&
    (/^[\w.-]+$/.test(text) ? new RegExp(`(?<![\\w.])${text.replace(/[.-]/g, '\\$&')}(?![\\w])`, 'i').test(about) : about.includes(text))
  );
}

/** A value in a comment. One that is nested beyond all reason is not shown. */
export function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '…';
  }
}

/** What binds a number and no type can say. */
export function numberRemarks(schema: SchemaObject, about: string): string[] {
  const remarks: string[] = [];
  const least = bound(schema, 'minimum', 'exclusiveMinimum');
  const most = bound(schema, 'maximum', 'exclusiveMaximum');
  if (least !== undefined && most !== undefined && !least.exclusive && !most.exclusive) {
    // What JavaScript can count to is no bound that anybody set.
    const isBound = !(Math.abs(least.value) >= Number.MAX_SAFE_INTEGER && Math.abs(most.value) >= Number.MAX_SAFE_INTEGER);
    if (isBound && !saysRange(about, least.value, most.value)) remarks.push(rangeOf(least.value, most.value));
  } else {
    if (least !== undefined && !saysBound(about, LEAST, least.value)) remarks.push(`${least.exclusive ? '>' : '>='} ${least.value}`);
    if (most !== undefined && most.value < Number.MAX_SAFE_INTEGER && !saysBound(about, MOST, most.value))
      remarks.push(`${most.exclusive ? '<' : '<='} ${most.value}`);
  }
  if (typeof schema['multipleOf'] === 'number' && schema['multipleOf'] !== 1) remarks.push(`multiple of ${schema['multipleOf']}`);
  return remarks;
}

function rangeOf(least: number, most: number): string {
  if (most >= Number.MAX_SAFE_INTEGER) return `>= ${least}`;
  if (least <= Number.MIN_SAFE_INTEGER) return `<= ${most}`;
  return least < 0 || most < 0 ? `${least} to ${most}` : `${least}-${most}`;
}

const LEAST = /\b(?:min(?:imum)?|at least|from|between|positive|starts?|starting|greater)\b|>=|≥/i;
const MOST = /\b(?:max(?:imum)?|at most|up to|between|limit|no more)\b|<=|≤/i;

function saysBound(about: string, words: RegExp, value: number): boolean {
  return words.test(about) && mentions(about, value);
}

function saysRange(about: string, least: number, most: number): boolean {
  if (!mentions(about, least) || !mentions(about, most)) return false;
  return (LEAST.test(about) && MOST.test(about)) || new RegExp(`${least}\\s*(?:-|–|—|to|and|\\.\\.+)\\s*${most}`).test(about);
}

/** Draft-04 has `exclusiveMinimum: true` beside `minimum`. */
function bound(
  schema: SchemaObject,
  inclusive: string,
  exclusive: string,
): { readonly value: number; readonly exclusive: boolean } | undefined {
  const [a, b] = [schema[inclusive], schema[exclusive]];
  if (typeof b === 'number') return { value: b, exclusive: true };
  return typeof a === 'number' ? { value: a, exclusive: b === true } : undefined;
}

/** What binds a string. */
export function stringRemarks(schema: SchemaObject, about: string): string[] {
  const remarks: string[] = [];
  const { format, pattern, contentEncoding, contentMediaType } = schema;
  if (typeof format === 'string' && format !== '' && !(SAYS_FORMAT.get(format)?.test(about) ?? plain(about).includes(plain(format))))
    remarks.push(format);
  const length = countOf(schema, { least: 'minLength', most: 'maxLength', of: 'characters' }, about);
  if (length !== undefined) remarks.push(length);
  if (typeof pattern === 'string' && !about.includes(pattern)) remarks.push(`/${pattern}/`);
  if (typeof contentMediaType === 'string') remarks.push(contentMediaType);
  if (typeof contentEncoding === 'string' && !about.toLowerCase().includes(contentEncoding.toLowerCase())) remarks.push(contentEncoding);
  return remarks;
}

/** What a name or a description says in place of a format. */
const SAYS_FORMAT: ReadonlyMap<string, RegExp> = new Map([
  ['date-time', /date-?time|iso[ -]?8601|rfc[ -]?3339|\bISO\b/i],
  ['uri', /\bur[il]s?\b|Ur[il]\b/i],
  ['email', /e-?mail/i],
  ['uuid', /u?uid/i],
]);

/** How many items, characters or properties, in words; `undefined` when that is said already, or open. */
export function countOf(
  schema: SchemaObject,
  { least, most, of }: { readonly least: string; readonly most: string; readonly of: 'characters' | 'items' | 'properties' },
  about: string,
): string | undefined {
  const min = typeof schema[least] === 'number' && schema[least] > 0 ? schema[least] : undefined;
  const max = typeof schema[most] === 'number' ? schema[most] : undefined;
  if (min === undefined && max === undefined) return undefined;
  if (min !== undefined && max !== undefined) {
    if (saysRange(about, min, max)) return undefined;
    return min === max ? `${min} ${of}` : `${min}-${max} ${of}`;
  }
  if (max !== undefined) return saysBound(about, MOST, max) ? undefined : `<= ${max} ${of}`;
  if (min === 1) return /non-?empty|not empty|at least one/i.test(about) ? undefined : 'not empty';
  return saysBound(about, LEAST, min ?? 0) ? undefined : `>= ${min} ${of}`;
}

/** A literal type; what a terminal or a reader would not show is escaped. */
export function literalText(value: string | number | boolean): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}

export function quoted(text: string): string {
  const plain = JSON.stringify(text);
  return plain.replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const INVISIBLE = /[\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A name as a member of an object type: quoted where it is no identifier. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : quoted(name);
}
