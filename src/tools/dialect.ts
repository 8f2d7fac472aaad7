// Prepares a private copy of a JSON Schema for ajv: smooths over what ajv takes for a mistake although real servers send it,
// and finds every pattern. Not here: whether the schema is valid (its meta-schema says), and what the model is shown.
import { findPatternProblem } from './pattern.ts';
import { memberPath } from './problems.ts';

export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** The editions of JSON Schema that are understood. */
export type Dialect = 'draft-07' | '2019-09' | '2020-12';

/** Where each edition's meta-schema is named. */
export const META_SCHEMAS: Readonly<Record<Dialect, string>> = {
  'draft-07': 'http://json-schema.org/draft-07/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
};

/** What `$schema` says, if it names an edition. Draft-06 is draft-07 without `if`; other values decide nothing. */
export function declaredDialect(schema: JsonSchema): Dialect | undefined {
  if (typeof schema === 'boolean' || typeof schema['$schema'] !== 'string') return undefined;
  const name = schema['$schema'].replace(/#$/, '').replace(/^https?:\/\//, '');
  if (name === 'json-schema.org/draft-06/schema') return 'draft-07';
  return (Object.keys(META_SCHEMAS) as Dialect[]).find((dialect) => META_SCHEMAS[dialect].endsWith(`//${name}`));
}

/** A schema as ajv can take it, and what its compilation needs to know. */
export interface Prepared {
  readonly schema: JsonSchema;
  /** It names or refers to parts of itself: names can clash and references run in circles, which only compiling it shows. */
  readonly hasReferences: boolean;
  /** It refers to a meta-schema. */
  readonly refersToMeta: boolean;
  /** The first pattern that is no regular expression, and where. */
  readonly badPattern?: { readonly path: string; readonly problem: string };
}

/** Copies `schema` without what ajv cannot take. The structure stays, because references point into it. */
export function prepare(schema: JsonSchema, { dialect, formats }: { dialect: Dialect; formats: ReadonlySet<string> }): Prepared {
  const survey = surveySchema(schema);
  let badPattern: Prepared['badPattern'];
  return {
    // visit() turns an object into an object and a boolean into itself.
    schema: visit(schema, { path: '$', known: true }) as JsonSchema,
    hasReferences: survey.hasReferences,
    refersToMeta: survey.refersToMeta,
    ...(badPattern !== undefined && { badPattern }),
  };

  /** `known`: the node is a schema, not something below an unknown keyword that only a reference could make one. */
  function visit(node: unknown, { path, known }: { path: string; known: boolean }): unknown {
    if (Array.isArray(node)) return node.map((item, index) => visit(item, { path: `${path}[${index}]`, known }));
    if (!isObject(node)) return node;
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(node)) {
      if (isForeignToAjv(key, value, { node, known })) continue;
      const at = memberPath(path, key);
      if (key === 'pattern' && typeof value === 'string' && known) visitPattern(value, at);
      if (LITERAL.has(key)) define(copy, key, value);
      else if (NAMED.has(key) && isObject(value)) define(copy, key, visitNamed(key, value, { path: at, known }));
      else define(copy, key, visit(value, { path: at, known: known && NESTED.has(key) }));
    }
    const adapted = adapt(copy);
    return known && Reflect.get(node, 'nullable') === true && !(dialect === 'draft-07' && '$ref' in node) ? allowNull(adapted) : adapted;
  }

  /** An object whose keys are names, not keywords: a property may be called `format`. */
  function visitNamed(keyword: string, members: object, { path, known }: { path: string; known: boolean }): object {
    const copy: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(members)) {
      const at = memberPath(path, name);
      if (keyword === 'patternProperties' && known) visitPattern(name, at);
      define(copy, name, visit(member, { path: at, known }));
    }
    return copy;
  }

  function visitPattern(pattern: string, path: string): void {
    const problem = findPatternProblem(pattern);
    if (problem !== undefined) badPattern ??= { path, problem };
  }

  /** Whether a keyword has to be left out of ajv's copy. */
  function isForeignToAjv(key: string, value: unknown, { node, known }: { node: object; known: boolean }): boolean {
    switch (key) {
      case '$id':
        // In draft-07 a `$ref` hides everything beside it, the base address too. Below an unknown keyword nothing has an address.
        return typeof value === 'string' && (!known || (dialect === 'draft-07' && '$ref' in node));
      case '$anchor':
      case '$dynamicAnchor':
        return typeof value === 'string' && !known;
      case '$async': // ajv's own; it would turn the verdict into a promise, which is always true
      case 'id': // draft-04's `$id`, and an error for ajv
        return !isObject(value);
      case 'nullable':
        // OpenAPI's; ajv honours it beside `type` and throws elsewhere, where allowNull() says it in other words.
        return typeof value === 'boolean' && (value === false || !('type' in node));
      case 'format':
        return typeof value === 'string' && !formats.has(value);
      default:
        return false;
    }
  }

  /** Says in other words what ajv gets wrong. */
  function adapt(node: Record<string, unknown>): Record<string, unknown> {
    if (survey.isOneResource) {
      // Within one resource a dynamic reference is a plain one; ajv would lead it to the root.
      for (const keyword of ['$dynamicRef', '$recursiveRef']) {
        const target = node[keyword];
        if (typeof target !== 'string') continue;
        delete node[keyword];
        if (!('$ref' in node)) node['$ref'] = target;
        else node['allOf'] = [...(Array.isArray(node['allOf']) ? (node['allOf'] as unknown[]) : []), { $ref: target }];
      }
    }
    const properties = node['properties'];
    if (isObject(properties) && Object.hasOwn(properties, '__proto__')) {
      // ajv leaves a property of this name out; under a pattern it does not.
      const patterns = isObject(node['patternProperties']) ? node['patternProperties'] : {};
      node['patternProperties'] = { ...patterns, '^__proto__$': Reflect.get(properties, '__proto__') };
    }
    return node;
  }
}

/** Lets a schema accept null too: each keyword that would refuse it becomes one of two alternatives. */
function allowNull(node: Record<string, unknown>): Record<string, unknown> {
  const values = node['enum'];
  if (Array.isArray(values) && !values.includes(null)) node['enum'] = [...(values as unknown[]), null];
  const refusing = ['$ref', 'allOf', 'anyOf', 'oneOf', 'const'].filter((keyword) => Object.hasOwn(node, keyword));
  if (refusing.length === 0) return node;
  const parts = refusing.map((keyword) => ({ anyOf: [{ [keyword]: node[keyword] }, { type: 'null' }] }));
  for (const keyword of refusing) delete node[keyword];
  node['allOf'] = parts;
  return node;
}

/** What has to be known of the whole before its parts are copied. */
interface Survey {
  hasReferences: boolean;
  refersToMeta: boolean;
  /** No part has an address of its own, and no reference leads outside. */
  isOneResource: boolean;
}

function surveySchema(schema: JsonSchema): Survey {
  const survey: Survey = { hasReferences: false, refersToMeta: false, isOneResource: true };
  visit(schema);
  return survey;

  function visit(node: unknown): void {
    if (Array.isArray(node)) node.forEach(visit);
    else if (isObject(node)) {
      for (const [key, value] of Object.entries(node)) {
        if (typeof value === 'string') {
          if (REFERENCES.has(key)) survey.hasReferences = true;
          if (key === '$id' && node !== schema) survey.isOneResource = false;
          if (key === '$ref' && !value.startsWith('#')) survey.isOneResource = false;
          if (key === '$ref' && value.includes('json-schema.org/')) survey.refersToMeta = true;
        } else if (!LITERAL.has(key)) {
          visit(value);
        }
      }
    }
  }
}

/** Keywords whose value is an object of schemas under free names. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** Keywords that give a part of a schema a name, or lead to one. */
const REFERENCES = new Set(['$id', '$ref', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef']);

/** Keywords whose value is data: what looks like a schema there is none. */
const LITERAL = new Set(['const', 'enum', 'default', 'examples', 'example', 'required', 'dependentRequired']);

/** Keywords whose value is a schema, or an array of schemas. */
const NESTED = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Defined, not assigned: a property may be called `__proto__`. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
