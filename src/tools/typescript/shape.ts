// Which values a schema accepts, kind by kind: the six kinds of JSON values exclude each other, so that schemas can be intersected and united part
// by part. Not here: how a schema is read (read.ts), and the type that a shape is (node.ts).
import type { SchemaObject } from './keywords.ts';

/** In the order in which a person writes a union. */
export const KINDS = ['string', 'number', 'boolean', 'object', 'array', 'null'] as const;
export type Kind = (typeof KINDS)[number];
export type Scalar = string | number | boolean;

/** The values of each kind; a kind that is absent has none. */
export type Shape = Readonly<Partial<Record<Kind, Part>>>;

export interface Part {
  /** False for a kind that no keyword speaks of: accepted, but perhaps nobody thought of it. */
  readonly said: boolean;
  /** The only scalars, or with `open` the well-known ones. */
  readonly values?: readonly Scalar[];
  readonly open?: boolean;
  /** Schemas whose keywords for objects or arrays all hold. */
  readonly layers: readonly SchemaObject[];
  /** Of each list one alternative holds too. */
  readonly choices: readonly (readonly Part[])[];
  readonly words: string;
  readonly name: string;
  readonly remarks: readonly string[];
}

export const FREE_PART: Part = { said: false, layers: [], choices: [], words: '', name: '', remarks: [] };
export const SAID_PART: Part = { ...FREE_PART, said: true };

/** Any value. */
export const FREE: Shape = Object.fromEntries(KINDS.map((kind) => [kind, FREE_PART]));
export const NOTHING: Shape = {};

export function isFree(shape: Shape): boolean {
  return KINDS.every((kind) => shape[kind]?.said === false);
}

/** The kinds that are spoken of, if any are: `{ "properties": … }` means an object although it accepts a number. */
export function meant(shape: Shape): Shape {
  const said = KINDS.filter((kind) => shape[kind]?.said === true);
  return said.length === 0 ? shape : only(shape, said);
}

export function only(shape: Shape, kinds: readonly Kind[]): Shape {
  const kept: Partial<Record<Kind, Part>> = {};
  for (const kind of kinds) if (shape[kind] !== undefined) kept[kind] = shape[kind];
  return kept;
}

export function intersect(a: Shape, b: Shape): Shape {
  if (a === FREE || a === b) return b;
  if (b === FREE) return a;
  const both: Partial<Record<Kind, Part>> = {};
  for (const kind of KINDS) {
    const [left, right] = [a[kind], b[kind]];
    const part = left === undefined || right === undefined ? undefined : intersectParts(left, right);
    if (part !== undefined) both[kind] = part;
  }
  return both;
}

function intersectParts(a: Part, b: Part): Part | undefined {
  if (isBare(a)) return b.said || !a.said ? b : { ...b, said: true };
  if (isBare(b)) return a.said || !b.said ? a : { ...a, said: true };
  const values = commonValues(a, b);
  if (values?.list.length === 0) return undefined;
  const content = [a, b].filter((part) => part.layers.length + part.choices.length + (part.values?.length ?? 0) > 0);
  const named = content.length === 1 ? content[0] : undefined;
  return {
    said: a.said || b.said,
    ...(values === undefined ? {} : { values: values.list, open: values.open }),
    layers: union(a.layers, b.layers),
    choices: union(a.choices, b.choices),
    words: a.words || b.words,
    name: named === undefined ? '' : named.name,
    remarks: union(a.remarks, b.remarks),
  };
}

/** Whether a part says nothing but that the kind is accepted. */
function isBare({ layers, choices, values, remarks, words, name }: Part): boolean {
  return layers.length === 0 && choices.length === 0 && values === undefined && remarks.length === 0 && words === '' && name === '';
}

function commonValues(a: Part, b: Part): { readonly list: readonly Scalar[]; readonly open: boolean } | undefined {
  if (a.values === undefined && b.values === undefined) return undefined;
  if (a.values === undefined || (a.open === true && b.values !== undefined)) return { list: b.values ?? [], open: b.open ?? false };
  if (b.values === undefined || b.open === true) return { list: a.values, open: a.open ?? false };
  const known = new Set(b.values);
  return { list: a.values.filter((value) => known.has(value)), open: false };
}

/** Values of any of the shapes. */
export function unite(shapes: readonly Shape[]): Shape {
  const [first] = shapes;
  if (first === undefined) return NOTHING;
  if (shapes.length === 1) return first;
  const all: Partial<Record<Kind, Part>> = {};
  const alternatives = shapes.filter((shape) => KINDS.some((kind) => kind !== 'null' && shape[kind] !== undefined)).length;
  for (const kind of KINDS) {
    const parts = shapes.flatMap((shape) => shape[kind] ?? []);
    const [only] = parts;
    if (only === undefined) continue;
    const isBranch = kind === 'object' || kind === 'array';
    if (parts.every((part) => !part.said)) all[kind] = only;
    else if (isBranch) all[kind] = parts.length === 1 ? only : branch(parts);
    else all[kind] = uniteScalars(parts, { kind, several: alternatives > 1 });
  }
  return all;
}

function branch(parts: readonly Part[]): Part {
  return { ...SAID_PART, choices: [[...new Set(parts)]] };
}

function uniteScalars(parts: readonly Part[], { kind, several }: { readonly kind: Kind; readonly several: boolean }): Part {
  const values = [...new Set(parts.flatMap((part) => part.values ?? []))];
  const open = parts.some((part) => part.values === undefined || part.open === true);
  const remarks: string[] = [];
  let words = '';
  for (const part of parts) {
    if (several && part.words !== '') {
      const label = part.values === undefined ? kind : part.values.map((value) => JSON.stringify(value)).join(', ');
      remarks.push(`${label}: ${part.words}`);
    } else words ||= part.words;
  }
  // What binds one of several alternatives that are all strings binds none of the others.
  const plain = parts.filter((part) => part.values === undefined);
  const bare = plain.some((part) => part.remarks.length === 0);
  const joined = plain.map((part) => part.remarks.join(', ')).filter((text) => text !== '');
  if (joined.length > 0) remarks.push(`${[...new Set(joined)].join(' or ')}${bare && plain.length > 1 ? ', or any' : ''}`);
  for (const part of parts) if (part.values !== undefined) remarks.push(...part.remarks);
  return {
    ...SAID_PART,
    said: parts.every((part) => part.said),
    ...(values.length === 0 ? {} : { values, open }),
    words,
    name: parts.find((part) => part.name !== '')?.name ?? '',
    remarks: [...new Set(remarks)],
  };
}

function union<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  if (a.length === 0) return b;
  return b.length === 0 ? a : [...new Set([...a, ...b])];
}
