// Reads a JSON Schema as a type: what each keyword means for the values, whatever the schema holds. References may run in circles and nesting may be
// bottomless; what is cut off is any value. Not here: objects and lists (objects.ts, lists.ts), and the text (print.ts).
import { type Dialect, declaredDialect, type JsonSchema } from '../dialect.ts';
import { annotationsOf, countOf, json, literalText, NO_COMMENT, numberRemarks, stringRemarks, wordsOf } from './comment.ts';
import { conditionsOf } from './conditions.ts';
import { ANNOTATIONS, isObject, type SchemaObject } from './keywords.ts';
import { listOf } from './lists.ts';
import type { TypeNode, TypeNodes } from './node.ts';
import { objectOf } from './objects.ts';
import { References } from './references.ts';
import {
  FREE,
  FREE_PART,
  intersect,
  isFree,
  KINDS,
  type Kind,
  meant,
  NOTHING,
  only,
  type Part,
  SAID_PART,
  type Scalar,
  type Shape,
  unite,
} from './shape.ts';
import type { Placed, Slot, SlotReader } from './slot.ts';

/** A type, and what is to be said of it where it stands. */
interface Typed {
  readonly node: TypeNode;
  /** Words of schemas that the schema leads to, for a place that has none of its own. */
  readonly words: string;
  readonly remarks: readonly string[];
}

/** Deepest nesting that is read; deeper is any value. A compiler would not follow much further. */
const DEEPEST = 120;
/** Schemas that are read again because they run in circles. */
const MOST_REPEATED = 5_000;

export class Reader implements SlotReader {
  readonly nodes: TypeNodes;
  readonly #references: References;
  readonly #dialect: Dialect | undefined;
  readonly #comments: boolean;
  readonly #ids = new Map<unknown, number>();
  readonly #typed = new Map<string, Typed>();
  readonly #open = new Map<string, (TypeNode & { readonly kind: 'knot' }) | undefined>();
  readonly #shapes = new Map<SchemaObject, Shape>();
  readonly #reading = new Map<SchemaObject, number>();
  /** The outermost schema that was met again while it was being read; what lies inside is not known in full. */
  #circle = Number.POSITIVE_INFINITY;
  #repeated = 0;
  #depth = 0;

  /** `comments`: whether words and remarks are kept. Without them more types are the same. */
  constructor(root: JsonSchema, nodes: TypeNodes, { comments }: { readonly comments: boolean }) {
    this.nodes = nodes;
    this.#comments = comments;
    this.#references = new References(root);
    this.#dialect = declaredDialect(root);
  }

  /** The type of a place and its comment. */
  place(slot: Slot): Placed {
    const { node, words, remarks } = this.#readSlot(slot);
    if (!this.#comments) return { type: node, comment: NO_COMMENT };
    const own = slot.schemas.filter(isObject);
    const said = own.map((schema) => wordsOf(schema, slot.name)).find((text) => text !== '') ?? '';
    const about = `${slot.name} ${said} ${words}`;
    const annotated = own.flatMap((schema) => annotationsOf(schema, about));
    // An object bears the words of the schema that is referred to, since it may be printed elsewhere.
    const bears = words !== '' && (node.kind === 'object' || node.kind === 'knot' || node.kind === 'intersection');
    const inner = bears || said.includes(words) ? '' : words;
    return {
      type: bears && words !== said ? this.nodes.described(node, words) : node,
      comment: {
        words: said === '' || inner === '' ? said || inner : `${said} ${inner}`,
        remarks: [...new Set([...remarks, ...annotated])],
        deprecated: own.some((schema) => schema['deprecated'] === true),
      },
    };
  }

  #readSlot(slot: Slot): Typed {
    const { targets, words, name, remarks } = this.#follow(slot.schemas);
    if (targets.length === 0) return { node: this.nodes.unknown, words, remarks };
    const key = targets.map((target) => this.#id(target)).join();
    const known = this.#typed.get(key) ?? this.#readOpen(key);
    if (known !== undefined) return withWords(known, { words, remarks });
    if (this.#depth >= DEEPEST) return { node: this.nodes.unknown, words, remarks };
    this.#open.set(key, undefined);
    this.#depth++;
    const typed = this.#read(targets, slot.name);
    this.#depth--;
    const knot = this.#open.get(key);
    this.#open.delete(key);
    if (knot !== undefined) this.nodes.tie(knot, typed.node);
    const whole = knot === undefined ? typed : { ...typed, node: knot };
    for (const proposed of [name, ...titles(targets), slot.name]) this.nodes.propose(whole.node, proposed);
    this.#typed.set(key, whole);
    return withWords(whole, { words, remarks });
  }

  /** A type that is met while it is being read contains itself. */
  #readOpen(key: string): Typed | undefined {
    if (!this.#open.has(key)) return undefined;
    const knot = this.#open.get(key) ?? this.nodes.knot();
    this.#open.set(key, knot);
    return { node: knot, words: '', remarks: [] };
  }

  #read(targets: readonly unknown[], name: string): Typed {
    let shape: Shape = FREE;
    for (const target of targets) shape = intersect(shape, this.#shapeOf(target, name) ?? FREE);
    return this.#typeOf(meant(shape), name);
  }

  /** Follows references that stand alone: what they lead to is the same type wherever it is referred to. */
  #follow(schemas: readonly unknown[]): { targets: unknown[]; words: string; name: string; remarks: readonly string[] } {
    const targets = new Set<unknown>();
    const remarks: string[] = [];
    let [words, name] = ['', ''];
    for (const start of schemas) {
      const passed = new Set<unknown>();
      let schema = start;
      for (
        let reference = this.#lonelyReference(schema);
        reference !== undefined && isObject(schema);
        reference = this.#lonelyReference(schema)
      ) {
        const target = this.#references.resolve(reference, schema);
        if (target === undefined) remarks.push(`${reference} is not there`);
        schema = target === undefined || passed.has(target.schema) ? true : target.schema;
        passed.add(schema);
        if (target !== undefined && isName(target.name)) name = target.name;
        if (isObject(schema)) {
          words ||= wordsOf(schema, name);
          remarks.push(...annotationsOf(schema, words));
        }
      }
      if (schema !== true && !(isObject(schema) && Object.keys(schema).every((keyword) => ANNOTATIONS.has(keyword)))) targets.add(schema);
    }
    return { targets: [...targets], words, name, remarks };
  }

  #lonelyReference(schema: unknown): string | undefined {
    if (!isObject(schema)) return undefined;
    const reference = schema['$ref'] ?? schema['$dynamicRef'] ?? schema['$recursiveRef'];
    if (typeof reference !== 'string') return undefined;
    const others = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword) && !keyword.startsWith('x-'));
    return others.length === 1 || ('$ref' in schema && this.#hidesOthers()) ? reference : undefined;
  }

  /** In draft-07 a `$ref` hides what stands beside it. A schema that names no edition is of that one if only that one accepts it. */
  #hidesOthers(): boolean {
    return this.#dialect === 'draft-07' || (this.#dialect === undefined && this.#references.listsItems);
  }

  #id(schema: unknown): number {
    const known = this.#ids.get(schema);
    if (known !== undefined) return known;
    this.#ids.set(schema, this.#ids.size);
    return this.#ids.size - 1;
  }

  // ---- shapes

  /** `undefined` for a schema that is being read: it contains itself and nothing stands between. */
  #shapeOf(schema: unknown, about: string, kinds?: readonly Kind[]): Shape | undefined {
    if (schema === false) return NOTHING;
    if (!isObject(schema)) return FREE;
    const known = kinds === undefined ? this.#shapes.get(schema) : undefined;
    if (known !== undefined) return known;
    const began = this.#reading.get(schema);
    if (began !== undefined) {
      this.#circle = Math.min(this.#circle, began);
      return undefined;
    }
    const at = this.#reading.size;
    if (at >= DEEPEST || this.#repeated >= MOST_REPEATED) return FREE;
    this.#reading.set(schema, at);
    const before = this.#circle;
    this.#circle = Number.POSITIVE_INFINITY;
    const shape = this.#readShape(schema, about, kinds);
    this.#reading.delete(schema);
    if (this.#circle < at) this.#repeated++;
    else if (kinds === undefined) this.#shapes.set(schema, shape);
    this.#circle = Math.min(before, this.#circle >= at ? Number.POSITIVE_INFINITY : this.#circle);
    return shape;
  }

  /** The shape with the schema's own words and name, for whoever is led to it. */
  #alternative(schema: unknown, about: string, kinds?: readonly Kind[]): Shape | undefined {
    const shape = this.#shapeOf(schema, about, kinds);
    if (shape === undefined || !isObject(schema) || '$ref' in schema) return shape;
    const words = wordsOf(schema, about);
    const remarks = annotationsOf(schema, `${about} ${words}`);
    return entitle(shape, { words, remarks, name: typeof schema['title'] === 'string' ? schema['title'] : '' });
  }

  #readShape(schema: SchemaObject, about: string, kinds: readonly Kind[] | undefined): Shape {
    const reference = schema['$ref'];
    if (typeof reference === 'string' && this.#hidesOthers()) return this.#referred(reference, schema, about);
    let shape: Shape = FREE;
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const leads = schema[keyword];
      if (typeof leads === 'string') shape = intersect(shape, this.#referred(leads, schema, about));
    }
    shape = intersect(shape, this.#ownShape(schema, about));
    if (Array.isArray(schema['allOf'])) {
      for (const part of schema['allOf'] as unknown[]) shape = intersect(shape, this.#alternative(part, about) ?? FREE);
    }
    const stated = kindsOf(schema['type']) ?? kinds;
    for (const keyword of ['anyOf', 'oneOf']) {
      const alternatives = schema[keyword];
      if (Array.isArray(alternatives) && alternatives.length > 0) shape = intersect(shape, this.#choice(alternatives, about, stated));
    }
    if ('not' in schema) shape = this.#without(shape, schema['not']);
    const conditions = conditionsOf(schema);
    if (conditions.length > 0) shape = remark(shape, conditions);
    if (schema['nullable'] === true && !isFree(shape)) shape = { ...shape, null: SAID_PART };
    return shape;
  }

  #referred(reference: string, from: SchemaObject, about: string): Shape {
    const target = this.#references.resolve(reference, from);
    if (target === undefined) return remark(FREE, [`${reference} is not there`]);
    const shape = this.#alternative(target.schema, about) ?? FREE;
    return isName(target.name) ? entitle(shape, { words: '', remarks: [], name: target.name }) : shape;
  }

  #choice(alternatives: readonly unknown[], about: string, kinds: readonly Kind[] | undefined): Shape {
    const shapes: Shape[] = [];
    for (const alternative of alternatives) {
      const shape = this.#alternative(alternative, about, kinds);
      if (shape === undefined) continue;
      // Beside a `type`, an alternative that says nothing of a kind accepts it.
      shapes.push(kinds === undefined ? meant(shape) : only(shape, kinds));
    }
    return unite(shapes);
  }

  /** What the schema says by itself. */
  #ownShape(schema: SchemaObject, about: string): Shape {
    const kinds = kindsOf(schema['type']);
    const parts: Partial<Record<Kind, Part>> = {};
    const words = `${about} ${wordsOf(schema, about)}`;
    for (const kind of kinds ?? KINDS) parts[kind] = this.#part(kind, { schema, isStated: kinds !== undefined, words });
    const values = Object.hasOwn(schema, 'const') ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : undefined;
    return values === undefined ? parts : intersect(parts, this.#valuesShape(values));
  }

  #part(
    kind: Kind,
    { schema, isStated, words }: { readonly schema: SchemaObject; readonly isStated: boolean; readonly words: string },
  ): Part {
    const bare = isStated ? SAID_PART : FREE_PART;
    switch (kind) {
      case 'string': {
        const remarks = speaksOf(schema, STRING_KEYWORDS) && !isNumberFormat(schema) ? stringRemarks(schema, words) : undefined;
        return remarks === undefined ? bare : { ...SAID_PART, remarks };
      }
      case 'number': {
        const isFormat = isNumberFormat(schema);
        if (!speaksOf(schema, NUMBER_KEYWORDS) && !isFormat && schema['type'] !== 'integer') return bare;
        return { ...SAID_PART, remarks: numberRemarks(schema, words) };
      }
      case 'object': {
        if (!speaksOf(schema, OBJECT_KEYWORDS)) return bare;
        const count = countOf(schema, { least: 'minProperties', most: 'maxProperties', of: 'properties' }, words);
        return { ...SAID_PART, layers: [schema], remarks: count === undefined ? [] : [count] };
      }
      case 'array':
        return speaksOf(schema, ARRAY_KEYWORDS) ? { ...SAID_PART, layers: [schema] } : bare;
      default:
        return bare;
    }
  }

  #valuesShape(values: readonly unknown[]): Shape {
    const scalars: Record<'string' | 'number' | 'boolean', Scalar[]> = { string: [], number: [], boolean: [] };
    const shape: Partial<Record<Kind, Part>> = {};
    const literals: Record<'object' | 'array', Part[]> = { object: [], array: [] };
    for (const value of values) {
      if (value === null) shape.null = SAID_PART;
      else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
        // typeof gives one of the three.
        scalars[typeof value as 'string'].push(value);
      } else if (Array.isArray(value)) {
        const prefixItems = value.map((item: unknown) => ({ const: item }));
        literals.array.push({ ...SAID_PART, layers: [{ prefixItems, items: false, minItems: value.length }] });
      } else if (isObject(value)) {
        const properties = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, { const: member }]));
        literals.object.push({ ...SAID_PART, layers: [{ properties, required: Object.keys(value), additionalProperties: false }] });
      }
    }
    for (const kind of ['string', 'number', 'boolean'] as const)
      if (scalars[kind].length > 0) shape[kind] = { ...SAID_PART, values: [...new Set(scalars[kind])], open: false };
    for (const kind of ['object', 'array'] as const) {
      const [first, ...others] = literals[kind];
      if (first !== undefined) shape[kind] = others.length === 0 ? first : { ...SAID_PART, choices: [literals[kind]] };
    }
    return shape;
  }

  /** `not`, where a type can say it: kinds, values, a property that must be absent. Otherwise a remark. */
  #without(shape: Shape, excluded: unknown): Shape {
    if (excluded === true || (isObject(excluded) && Object.keys(excluded).length === 0)) return NOTHING;
    if (!isObject(excluded)) return shape;
    const keywords = Object.keys(excluded).filter((keyword) => !ANNOTATIONS.has(keyword));
    const [keyword] = keywords;
    const kinds = kindsOf(excluded['type']);
    if (keywords.length === 1 && keyword === 'type' && kinds !== undefined && excluded['type'] !== 'integer') {
      const left = KINDS.filter((kind) => !kinds.includes(kind));
      return isFree(shape) ? Object.fromEntries(left.map((kind) => [kind, SAID_PART])) : only(shape, left);
    }
    if (keywords.length === 1 && (keyword === 'const' || keyword === 'enum')) {
      const values = new Set<unknown>(keyword === 'const' ? [excluded['const']] : Array.isArray(excluded['enum']) ? excluded['enum'] : []);
      const { string, number, boolean, ...others } = shape;
      const left: Partial<Record<Kind, Part>> = { ...others };
      let isComplete = true;
      for (const [kind, part] of Object.entries({ string, number, boolean })) {
        if (part === undefined) continue;
        const kept = part.values?.filter((value) => !values.has(value));
        if (part.values === undefined || part.open === true) isComplete &&= ![...values].some((value) => typeof value === kind);
        if (kept === undefined || kept.length > 0) left[kind as Kind] = kept === undefined ? part : { ...part, values: kept };
      }
      if (isComplete && ![...values].some((value) => typeof value === 'object')) return left;
      return remark(left, [`not ${[...values].map(json).join(', ')}`]);
    }
    const required = excluded['required'];
    if (
      keywords.length === 1 &&
      keyword === 'required' &&
      Array.isArray(required) &&
      required.length === 1 &&
      typeof required[0] === 'string'
    ) {
      const layer = { properties: { [required[0]]: false } };
      const forbidden: Shape = { ...FREE, object: { ...SAID_PART, layers: [layer] } };
      return intersect(isFree(shape) ? only(forbidden, ['object']) : shape, forbidden);
    }
    if (keyword === 'type') return remark(shape, [`not ${json(excluded['type'])}`]);
    return shape;
  }

  // ---- types

  #typeOf(shape: Shape, name: string): Typed {
    const { nodes } = this;
    if (isFree(shape)) {
      const part = shape.object ?? FREE_PART;
      return { node: nodes.unknown, words: part.words, remarks: part.remarks };
    }
    const present = KINDS.filter((kind) => shape[kind] !== undefined);
    const isSingle = present.filter((kind) => kind !== 'null').length <= 1;
    const types: TypeNode[] = [];
    const remarks: string[] = [];
    let words = '';
    for (const kind of present) {
      const part = shape[kind] ?? FREE_PART;
      const typed = this.#kind(kind, part, name);
      if (isSingle) words ||= typed.words;
      const isBranch = kind === 'object' || kind === 'array';
      if (!isSingle && isBranch) types.push(this.#described(typed.node, withRemarks(typed.words, typed.remarks)));
      else {
        types.push(typed.node);
        remarks.push(...typed.remarks);
        if (!isSingle && typed.words !== '') {
          if (words === '' && present.every((other) => shape[other]?.words === typed.words)) words = typed.words;
          else if (words !== typed.words) remarks.push(`${kind}: ${typed.words}`);
        }
      }
    }
    return { node: nodes.union(types), words, remarks: [...new Set(remarks)] };
  }

  #kind(kind: Kind, part: Part, name: string): Typed {
    const { nodes } = this;
    const typed = (node: TypeNode, remarks = part.remarks): Typed => {
      nodes.propose(node, part.name);
      return { node, words: part.words, remarks };
    };
    switch (kind) {
      case 'string':
      case 'number':
        return typed(this.#scalars(kind, part));
      case 'boolean':
        return typed(
          part.values === undefined || part.values.length === 2
            ? nodes.word('boolean')
            : nodes.union(part.values.map((value) => nodes.literal(String(value), 'boolean'))),
        );
      case 'null':
        return typed(nodes.word('null'));
      default:
        return this.#branch(kind, part, name);
    }
  }

  #scalars(kind: 'string' | 'number', { values, open }: Part): TypeNode {
    const { nodes } = this;
    if (values === undefined) return nodes.word(kind);
    const literals = values.map((value) =>
      typeof value === 'number' && !Number.isFinite(value) ? nodes.word('number') : nodes.literal(literalText(value), kind),
    );
    return nodes.union(open === true ? [...literals, nodes.word(kind)] : literals);
  }

  #described(node: TypeNode, words: string): TypeNode {
    return this.#comments ? this.nodes.described(node, words) : node;
  }

  #branch(kind: 'object' | 'array', part: Part, name: string): Typed {
    const { nodes } = this;
    const groups = part.choices.map((alternatives) =>
      nodes.union(
        alternatives.map((alternative) => {
          const { node, words, remarks } = this.#branch(kind, alternative, name);
          return this.#described(node, withRemarks(words, remarks));
        }),
      ),
    );
    const own =
      part.layers.length > 0 || groups.length === 0
        ? kind === 'object'
          ? objectOf(part, this, groups.length > 0)
          : listOf(part, this, name)
        : undefined;
    const node = nodes.intersection([...(own === undefined ? [] : [own.node]), ...groups]);
    nodes.propose(node, part.name);
    return { node, words: part.words, remarks: [...part.remarks, ...(own?.remarks ?? [])] };
  }
}

function withRemarks(words: string, remarks: readonly string[]): string {
  if (remarks.length === 0) return words;
  return words === '' ? remarks.join(', ') : `${words} (${remarks.join(', ')})`;
}

function withWords(typed: Typed, { words, remarks }: { readonly words: string; readonly remarks: readonly string[] }): Typed {
  if (words === '' && remarks.length === 0) return typed;
  return {
    node: typed.node,
    words: words || typed.words,
    remarks: remarks.length === 0 ? typed.remarks : [...new Set([...typed.remarks, ...remarks])],
  };
}

/** Gives the parts that are spoken of words, remarks and a name, where they have none. */
function entitle(
  shape: Shape,
  { words, remarks, name }: { readonly words: string; readonly remarks: readonly string[]; readonly name: string },
): Shape {
  if (words === '' && name === '' && remarks.length === 0) return shape;
  const free = isFree(shape);
  const entitled: Partial<Record<Kind, Part>> = {};
  for (const kind of KINDS) {
    const part = shape[kind];
    if (part === undefined) continue;
    // Without a type they go where they are looked for: to objects.
    const takes = free ? kind === 'object' : part.said && kind !== 'null';
    entitled[kind] = takes
      ? { ...part, words: part.words || words, name: part.name || name, remarks: [...part.remarks, ...remarks] }
      : part;
  }
  return entitled;
}

/** Adds remarks to the part that they are most likely about. */
function remark(shape: Shape, remarks: readonly string[]): Shape {
  const kind =
    KINDS.find((each) => (each === 'object' || each === 'array') && shape[each]?.said === true) ??
    KINDS.find((each) => shape[each]?.said === true) ??
    'object';
  const part = shape[kind];
  return part === undefined ? shape : { ...shape, [kind]: { ...part, remarks: [...part.remarks, ...remarks] } };
}

function titles(targets: readonly unknown[]): string[] {
  return targets.length === 1
    ? targets.flatMap((target) => (isObject(target) && typeof target['title'] === 'string' ? [target['title']] : []))
    : [];
}

/** `#/properties/a/items` and `#/allOf/0` name nothing. */
function isName(text: string): boolean {
  return text !== 'items' && text !== 'additionalProperties' && !/^\d*$/.test(text);
}

const KIND_OF_TYPE: Readonly<Record<string, Kind>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'array',
  null: 'null',
  // Names of other schema languages.
  dict: 'object',
  float: 'number',
  tuple: 'array',
};

/** The kinds that `type` names; `undefined` when it names none that is known. */
function kindsOf(type: unknown): readonly Kind[] | undefined {
  const types = Array.isArray(type) ? type : [type];
  const kinds = types.map((name) => (typeof name === 'string' && Object.hasOwn(KIND_OF_TYPE, name) ? KIND_OF_TYPE[name] : undefined));
  return kinds.length === 0 || kinds.includes(undefined) ? undefined : KINDS.filter((kind) => kinds.includes(kind));
}

const STRING_KEYWORDS = ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'];
const NUMBER_KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const OBJECT_KEYWORDS = [
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'unevaluatedProperties',
];
const ARRAY_KEYWORDS = ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains', 'unevaluatedItems'];

function speaksOf(schema: SchemaObject, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => schema[keyword] !== undefined && Object.hasOwn(schema, keyword));
}

/** Formats of OpenAPI that are about numbers. */
function isNumberFormat({ format }: SchemaObject): boolean {
  return typeof format === 'string' && /^(?:u?int(?:8|16|32|64)?|float|double|decimal)$/.test(format);
}
