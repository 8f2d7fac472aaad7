// From a JSON Schema to the text of a TypeScript type, whatever the schema holds: names and descriptions come from servers and may be
// hostile, references may run in circles, and the text stays well-formed and bounded. Not here: what is declared with it (declarations.ts),
// and checking values, which is the schema's own (schema.ts).
import type { JsonSchema } from './schema.ts';

export interface RenderOptions {
  /** The word for any value. Default `unknown`; `any` lets a reader of the type use such a value without a proof. */
  readonly anything?: 'unknown' | 'any';
  /** Whether descriptions, formats, bounds and defaults stand beside the properties as doc comments. Default: no, and all on one line. */
  readonly comments?: boolean;
  /** Spaces before the lines of a type with comments; the first line has none. Default 0. */
  readonly indent?: number;
  /** Objects and arrays within each other that are shown; deeper ones are `object` and `unknown[]`. Default 12. */
  readonly depth?: number;
  /** Values of an enum that are shown; of the others only the type is. Default 200. */
  readonly values?: number;
  /** About how long the text may become, in UTF-16 units; what does not fit is any value. Default 100 000. */
  readonly length?: number;
}

/** The type of the values that a schema accepts, as far as TypeScript can say it. Properties keep their order. */
export function renderType(schema: JsonSchema, options: RenderOptions = {}): string {
  return new Renderer(schema, options).render();
}

/** Text that may stand inside a doc comment: no comment end, nothing that a terminal obeys; shortened to `length`. */
export function commentText(text: string, length: number = DESCRIPTION_LENGTH): string {
  const plain = text
    .slice(0, length * 4)
    .replace(/[\u2028\u2029]/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/[ \t]*\r?\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .replaceAll('*/', '*\\/')
    .trim();
  if (plain.length <= length && text.length <= length * 4) return plain;
  return `${plain
    .slice(0, length - 1)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}…`;
}

/** A name as a member of an object type: quoted where it is no identifier. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A doc comment as lines; none for an empty text. */
export function docComment(text: string, indent: number): string {
  if (text === '') return '';
  const margin = ' '.repeat(indent);
  const lines = text.split('\n');
  if (lines.length === 1) return `${margin}/** ${text} */\n`;
  return `${margin}/**\n${lines.map((line) => `${margin} * ${line}`.trimEnd()).join('\n')}\n${margin} */\n`;
}

/** Longest description of a property that is shown. */
const DESCRIPTION_LENGTH = 300;
/** How often one path through the schema may follow the same reference. */
const MOST_EXPANSIONS = 2;
/** Members of one object, and alternatives of one union, that are shown. */
const MOST_MEMBERS = 500;

/** A type's text and how loosely it binds: what stands around it decides about parentheses. */
interface Rendered {
  readonly text: string;
  readonly binds: 'tightly' | 'as intersection' | 'as union';
}

type SchemaObject = Readonly<Record<string, unknown>>;

/** Where the renderer is in the schema. */
interface Place {
  /** Objects and arrays that may still be opened. */
  readonly depth: number;
  readonly indent: number;
  /** References followed on the way here. */
  readonly references: readonly string[];
}

class Renderer {
  readonly #root: JsonSchema;
  readonly #anything: Rendered;
  readonly #comments: boolean;
  readonly #values: number;
  readonly #start: Place;
  #left: number;

  constructor(
    root: JsonSchema,
    { anything = 'unknown', comments = false, indent = 0, depth = 12, values = 200, length = 100_000 }: RenderOptions,
  ) {
    this.#root = root;
    this.#anything = tight(anything);
    this.#comments = comments;
    this.#values = values;
    this.#left = length;
    this.#start = { depth, indent, references: [] };
  }

  render(): string {
    return this.#schema(this.#root, this.#start).text;
  }

  #schema(schema: unknown, place: Place): Rendered {
    if (schema === false) return NEVER;
    this.#left -= 4;
    if (!isObject(schema) || this.#left <= 0 || place.references.length > 32) return this.#anything;
    const parts: Rendered[] = [];
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const reference = schema[keyword];
      if (typeof reference === 'string') parts.push(this.#reference(reference, place));
    }
    const combined = this.#combinations(schema, place);
    const own = this.#own(schema, place, combined.length > 0 || parts.length > 0);
    if (own !== undefined) parts.push(own);
    const whole = this.#intersection([...parts, ...combined]);
    return schema['nullable'] === true ? this.#union([whole, NULL]) : whole;
  }

  /** What the schema says without its references and combinations; `undefined` when that is nothing. */
  #own(schema: SchemaObject, place: Place, isPart: boolean): Rendered | undefined {
    if (Object.hasOwn(schema, 'const')) return this.#literal(schema['const'], place);
    if (Array.isArray(schema['enum'])) return this.#enumeration(schema['enum'], place);
    const type = schema['type'] ?? impliedType(schema);
    const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
    if (types.length === 0) return undefined;
    // `{ "type": "string", "oneOf": [{ "const": "a" }] }`: the alternatives say more than the type beside them.
    if (isPart && !SHAPE_KEYWORDS.some((keyword) => keyword in schema)) return undefined;
    return this.#union(types.slice(0, MOST_MEMBERS).map((name) => this.#ofType(name, schema, place)));
  }

  #combinations(schema: SchemaObject, place: Place): Rendered[] {
    const parts: Rendered[] = [];
    for (const keyword of ['anyOf', 'oneOf']) {
      const alternatives = schema[keyword];
      if (Array.isArray(alternatives) && alternatives.length > 0) {
        parts.push(this.#union(alternatives.slice(0, MOST_MEMBERS).map((alternative) => this.#schema(alternative, place))));
      }
    }
    const all = schema['allOf'];
    if (Array.isArray(all)) parts.push(...all.slice(0, MOST_MEMBERS).map((part) => this.#schema(part, place)));
    return parts.filter((part) => part.text !== this.#anything.text);
  }

  #reference(reference: string, place: Place): Rendered {
    if (place.references.filter((followed) => followed === reference).length >= MOST_EXPANSIONS) return this.#anything;
    const target = resolve(this.#root, reference);
    if (target === undefined) return this.#anything;
    return this.#schema(target, { ...place, references: [...place.references, reference] });
  }

  #ofType(type: unknown, schema: SchemaObject, place: Place): Rendered {
    switch (type) {
      case 'string':
        return STRING;
      case 'number':
      case 'integer':
        return NUMBER;
      case 'boolean':
        return BOOLEAN;
      case 'null':
        return NULL;
      case 'array':
        return this.#array(schema, place);
      case 'object':
        return this.#object(schema, place);
      default:
        return this.#anything;
    }
  }

  #array(schema: SchemaObject, { depth, ...place }: Place): Rendered {
    if (depth <= 0) return tight(`${this.#anything.text}[]`);
    const inner = { ...place, depth: depth - 1 };
    const { prefixItems, items } = schema;
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const rest = Array.isArray(prefixItems) ? items : Array.isArray(items) ? schema['additionalItems'] : undefined;
    if (first.length === 0) {
      if (items === false || schema['maxItems'] === 0) return tight('[]');
      return arrayOf(items === undefined || Array.isArray(items) ? this.#anything : this.#schema(items, inner));
    }
    // Only a `minItems` makes items optional: whoever lists the items of a tuple means all of them.
    const needed = typeof schema['minItems'] === 'number' ? schema['minItems'] : first.length;
    const elements = first.slice(0, MOST_MEMBERS).map((item, index) => {
      const element = this.#schema(item, inner);
      return index < needed ? element.text : `${parenthesised(element)}?`;
    });
    if (rest === true || isObject(rest)) elements.push(`...${arrayOf(this.#schema(rest, inner)).text}`);
    return tight(`[${elements.join(', ')}]`);
  }

  #object(schema: SchemaObject, { depth, indent, references }: Place): Rendered {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const required = new Set(Array.isArray(schema['required']) ? schema['required'].filter((name) => typeof name === 'string') : []);
    const names = Object.keys(properties);
    // A name may be required that nothing else is said of.
    for (const name of required) if (!Object.hasOwn(properties, name)) names.push(name);
    if (depth <= 0 && names.length > 0) return OBJECT;
    const inner = { depth: depth - 1, indent: indent + 2, references };
    const members: Member[] = [];
    for (const name of names.slice(0, MOST_MEMBERS)) {
      if (this.#left <= 0) break;
      this.#left -= name.length;
      const property: unknown = Object.hasOwn(properties, name) ? properties[name] : true;
      const type = this.#schema(property, inner).text;
      members.push({
        text: `${memberName(name)}${required.has(name) ? '' : '?'}: ${type}`,
        comment: this.#comments ? this.#describe(property) : '',
      });
    }
    const others = this.#otherProperties(schema, inner, names.length > members.length);
    if (others !== undefined) {
      // An index signature has to hold for the named properties too.
      const type = members.length > 0 ? this.#anything.text : others.text;
      members.push({ text: `[key: string]: ${type}`, comment: '' });
    }
    if (members.length === 0)
      return tight(schema['additionalProperties'] === false ? '{ [key: string]: never }' : `{ [key: string]: ${this.#anything.text} }`);
    return tight(
      this.#comments && members.some(({ comment }) => comment !== '')
        ? block(members, indent)
        : `{ ${members.map(({ text }) => text).join('; ')} }`,
    );
  }

  /** The type of properties that have no name in the schema, where the schema says that there may be some. */
  #otherProperties(schema: SchemaObject, place: Place, cut: boolean): Rendered | undefined {
    if (cut) return this.#anything;
    const { additionalProperties, patternProperties } = schema;
    const patterns = isObject(patternProperties) ? Object.values(patternProperties) : [];
    const schemas = additionalProperties === true || isObject(additionalProperties) ? [...patterns, additionalProperties] : patterns;
    return schemas.length === 0 ? undefined : this.#union(schemas.slice(0, MOST_MEMBERS).map((other) => this.#schema(other, place)));
  }

  #enumeration(values: readonly unknown[], place: Place): Rendered {
    const shown = values.slice(0, this.#values);
    const literals = shown.map((value) => (this.#left > 0 ? this.#literal(value, place) : this.#typeOf(value)));
    return this.#union([...literals, ...values.slice(this.#values).map((value) => this.#typeOf(value))]);
  }

  #typeOf(value: unknown): Rendered {
    if (value === null) return NULL;
    const type = typeof value;
    return type === 'string' || type === 'number' || type === 'boolean' ? tight(type) : this.#anything;
  }

  #literal(value: unknown, { depth, ...place }: Place): Rendered {
    if (value === null || typeof value === 'boolean') return tight(String(value));
    // `-1` and `1e+21` are types; what JSON reads as an infinity is none.
    if (typeof value === 'number') return Number.isFinite(value) ? tight(String(value)) : NUMBER;
    if (typeof value === 'string') {
      this.#left -= value.length;
      return value.length > 500 ? STRING : tight(JSON.stringify(value));
    }
    if (depth <= 0 || this.#left <= 0) return this.#anything;
    const inner = { ...place, depth: depth - 1 };
    if (Array.isArray(value))
      return tight(
        `[${value
          .slice(0, MOST_MEMBERS)
          .map((item) => this.#literal(item, inner).text)
          .join(', ')}]`,
      );
    if (!isObject(value)) return this.#anything;
    const members = Object.entries(value).slice(0, MOST_MEMBERS);
    return tight(
      members.length === 0
        ? '{}'
        : `{ ${members.map(([name, member]) => `${memberName(name)}: ${this.#literal(member, inner).text}`).join('; ')} }`,
    );
  }

  #union(parts: readonly Rendered[]): Rendered {
    const different = unique(parts.filter(({ text }) => text !== 'never'));
    const [only] = different;
    if (only === undefined) return NEVER;
    if (different.some(({ text }) => text === this.#anything.text)) return this.#anything;
    if (different.length === 1) return only;
    // A union within a union needs no parentheses, and an intersection binds more tightly anyway.
    return { text: different.map(({ text }) => text).join(' | '), binds: 'as union' };
  }

  #intersection(parts: readonly Rendered[]): Rendered {
    const different = unique(parts.filter(({ text }) => text !== this.#anything.text));
    const [only] = different;
    if (only === undefined) return this.#anything;
    if (different.length === 1) return only;
    return {
      text: different.map((part) => (part.binds === 'as union' ? `(${part.text})` : part.text)).join(' & '),
      binds: 'as intersection',
    };
  }

  /** What a property's schema says beside its type. */
  #describe(schema: unknown): string {
    if (!isObject(schema)) return '';
    const { description, title } = schema;
    const remarks: string[] = [];
    const words = typeof description === 'string' && description.trim() !== '' ? description : title;
    if (typeof words === 'string') remarks.push(commentText(words).replace(/\s+/g, ' '));
    if (schema['deprecated'] === true) remarks.push('@deprecated');
    for (const keyword of REMARKS) {
      const value = schema[keyword];
      if (value === undefined || (keyword !== 'default' && typeof value === 'object')) continue;
      const text = typeof value === 'string' && keyword !== 'default' ? value : JSON.stringify(value);
      if (typeof text === 'string') remarks.push(`@${keyword} ${commentText(text, 100).replace(/\s+/g, ' ')}`);
    }
    const comment = remarks.filter((remark) => remark !== '').join(' ');
    this.#left -= comment.length;
    return comment;
  }
}

/** What is told of a property beside its description. */
const REMARKS = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'default',
];

interface Member {
  readonly text: string;
  readonly comment: string;
}

function block(members: readonly Member[], indent: number): string {
  const margin = ' '.repeat(indent + 2);
  return `{\n${members.map(({ text, comment }) => `${docComment(comment, indent + 2)}${margin}${text};\n`).join('')}${' '.repeat(indent)}}`;
}

const tight = (text: string): Rendered => ({ text, binds: 'tightly' });
const NEVER = tight('never');
const NULL = tight('null');
const STRING = tight('string');
const NUMBER = tight('number');
const BOOLEAN = tight('boolean');
const OBJECT = tight('object');

function parenthesised({ text, binds }: Rendered): string {
  return binds === 'tightly' ? text : `(${text})`;
}

function arrayOf(item: Rendered): Rendered {
  return tight(`${parenthesised(item)}[]`);
}

function unique(parts: readonly Rendered[]): Rendered[] {
  return [...new Map(parts.map((part) => [part.text, part])).values()];
}

/** Keywords by which a schema describes an object or an array, whatever its `type` says. */
const SHAPE_KEYWORDS = ['properties', 'required', 'additionalProperties', 'patternProperties', 'items', 'prefixItems'];

/** The type that a schema without `type` is about, as its keywords show. */
function impliedType(schema: SchemaObject): 'object' | 'array' | undefined {
  if (isObject(schema['properties']) || isObject(schema['additionalProperties']) || isObject(schema['patternProperties'])) return 'object';
  if (isObject(schema['items']) || Array.isArray(schema['items']) || Array.isArray(schema['prefixItems'])) return 'array';
  return undefined;
}

/** The part of the schema that a local reference names; `undefined` when it leads nowhere or elsewhere. */
function resolve(root: JsonSchema, reference: string): JsonSchema | undefined {
  if (!reference.startsWith('#')) return undefined;
  const fragment = reference.slice(1);
  if (fragment === '') return root;
  if (!fragment.startsWith('/')) return findAnchor(root, fragment);
  let node: unknown = root;
  for (const part of fragment.slice(1).split('/')) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[key];
  }
  return typeof node === 'boolean' || isObject(node) ? node : undefined;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A definition by its `$anchor`: those that are used stand in `$defs` or `definitions`. */
function findAnchor(root: JsonSchema, anchor: string): JsonSchema | undefined {
  if (typeof root === 'boolean') return undefined;
  if (root['$anchor'] === anchor || root['$dynamicAnchor'] === anchor) return root;
  for (const keyword of ['$defs', 'definitions']) {
    const definitions = root[keyword];
    if (!isObject(definitions)) continue;
    for (const definition of Object.values(definitions)) {
      if (isObject(definition) && (definition['$anchor'] === anchor || definition['$dynamicAnchor'] === anchor)) return definition;
    }
  }
  return undefined;
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
