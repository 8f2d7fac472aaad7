// Values for a schema, made to be valid, and others that differ from them in one place. Whether one is valid is for a validator to say: these are
// only likely. And the schema as far as a type can express it.
import fc from 'fast-check';

type SchemaObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is SchemaObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Likely values, and values with one thing wrong. The same for the same seed. */
export function samplesOf(schema: unknown, { seed, count }: { readonly seed: number; readonly count: number }): unknown[] {
  const likely = fc.sample(arbitrary(schema, { root: schema, depth: 0 }), { seed, numRuns: count });
  const changed = fc.sample(fc.tuple(fc.constantFrom(...likely), fc.nat(), fc.constantFrom(...OTHERS)), { seed, numRuns: count * 2 });
  return [...likely, ...changed.map(([value, place, other]) => changeOne(value, place, other))];
}

const OTHERS: readonly unknown[] = [null, 7, 'zz-other', true, [], {}, ['zz-other'], undefined];

/** The value with another in one of its places; `undefined` takes a member away. */
function changeOne(value: unknown, place: number, other: unknown): unknown {
  const copy = structuredClone({ value });
  const places: { owner: Record<string, unknown>; key: string }[] = [];
  const visit = (owner: unknown): void => {
    if (typeof owner !== 'object' || owner === null) return;
    for (const key of Object.keys(owner)) {
      places.push({ owner: owner as Record<string, unknown>, key });
      visit((owner as Record<string, unknown>)[key]);
    }
  };
  visit(copy);
  const chosen = places[place % places.length];
  if (chosen === undefined) return value;
  if (other !== undefined) chosen.owner[chosen.key] = other;
  else if (Array.isArray(chosen.owner)) chosen.owner.splice(Number(chosen.key), 1);
  else if (chosen.owner !== copy) delete chosen.owner[chosen.key];
  return copy.value;
}

interface Where {
  readonly root: unknown;
  readonly depth: number;
}

function arbitrary(schema: unknown, where: Where): fc.Arbitrary<unknown> {
  if (!isObject(schema) || where.depth > 8) return fc.constantFrom<unknown>('text', 3, null);
  const inner = { ...where, depth: where.depth + 1 };
  if (typeof schema['$ref'] === 'string') return arbitrary(follow(where.root, schema['$ref']), inner);
  if (Object.hasOwn(schema, 'const')) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return fc.constantFrom(...(schema['enum'] as unknown[]));
  for (const keyword of ['anyOf', 'oneOf']) {
    const alternatives = schema[keyword];
    if (!Array.isArray(alternatives) || alternatives.length === 0) continue;
    return fc.oneof(
      ...alternatives.map((alternative: unknown) => arbitrary(merge({ ...schema, [keyword]: undefined }, alternative), inner)),
    );
  }
  if (Array.isArray(schema['allOf'])) {
    const parts = schema['allOf'].map((part: unknown) =>
      isObject(part) && typeof part['$ref'] === 'string' ? follow(where.root, part['$ref']) : part,
    );
    return arbitrary(parts.reduce<SchemaObject>(merge, { ...schema, allOf: undefined }), inner);
  }
  const types: readonly unknown[] = Array.isArray(schema['type'])
    ? schema['type']
    : schema['type'] === undefined
      ? impliedTypes(schema)
      : [schema['type']];
  const values = fc.oneof(...(types.length === 0 ? [undefined] : types).map((type) => ofType(type, schema, inner)));
  return schema['nullable'] === true ? fc.oneof({ weight: 4, arbitrary: values }, fc.constant(null)) : values;
}

function ofType(type: unknown, schema: SchemaObject, where: Where): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return (
        matching(schema['pattern']) ??
        fc.constantFrom(
          'text',
          'a',
          '2026-01-02T03:04:05Z',
          '2026-01-02',
          'https://example.com/x',
          'me@example.com',
          '7f1c1f6e-8a0e-4c43-8a4e-3a0b3f0c8e11',
          '12345',
        )
      );
    case 'integer':
    case 'number': {
      const least = typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
      return fc.constantFrom(least, least + 1, least + (type === 'integer' ? 2 : 0.5));
    }
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const { prefixItems, items } = schema;
      const listed = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
      const least = typeof schema['minItems'] === 'number' ? schema['minItems'] : 0;
      if (listed.length > 0) return fc.tuple(...listed.map((item: unknown) => arbitrary(item, where)));
      return fc.array(arbitrary(items, where), { minLength: Math.min(least, 5), maxLength: Math.max(2, Math.min(least, 5)) });
    }
    case 'object': {
      const properties = isObject(schema['properties']) ? schema['properties'] : {};
      const required = Array.isArray(schema['required'])
        ? schema['required'].filter((name): name is string => typeof name === 'string')
        : [];
      const model: Record<string, fc.Arbitrary<unknown>> = {};
      for (const name of new Set([...required, ...Object.keys(properties).slice(0, 40)])) {
        if (name !== '__proto__') model[name] = arbitrary(properties[name], where);
      }
      const named = fc.record(model, { requiredKeys: required.filter((name) => Object.hasOwn(model, name)) });
      const others = schema['additionalProperties'];
      if (!isObject(others) && others !== true) return named;
      const more = fc.dictionary(fc.constantFrom('extra', 'other-one'), arbitrary(others, where), { maxKeys: 2 });
      return fc.tuple(named, more).map(([a, b]) => ({ ...b, ...a }));
    }
    default:
      return fc.constantFrom<unknown>('text', 3, null, { a: 1 });
  }
}

function matching(pattern: unknown): fc.Arbitrary<string> | undefined {
  if (typeof pattern !== 'string') return undefined;
  try {
    return fc.stringMatching(new RegExp(pattern));
  } catch {
    // Not every pattern can be turned round.
    return undefined;
  }
}

function merge(a: SchemaObject, b: unknown): SchemaObject {
  if (!isObject(b)) return a;
  return {
    ...a,
    ...b,
    properties: { ...(a['properties'] as object | undefined), ...(b['properties'] as object | undefined) },
    required: [...((a['required'] as string[] | undefined) ?? []), ...((b['required'] as string[] | undefined) ?? [])],
    ...(a['type'] === undefined && b['type'] === undefined ? {} : { type: b['type'] ?? a['type'] }),
  };
}

function follow(root: unknown, reference: string): unknown {
  let node: unknown = root;
  for (const part of reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((text) => text !== '')) {
    node =
      isObject(node) || Array.isArray(node)
        ? (node as SchemaObject)[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')]
        : undefined;
  }
  return node;
}

const SPEAKS: Readonly<Record<string, readonly string[]>> = {
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
    'unevaluatedProperties',
  ],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains', 'unevaluatedItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

/** The types that a schema without `type` speaks of. */
function impliedTypes(schema: SchemaObject): string[] {
  const types = Object.keys(SPEAKS).filter((type) => SPEAKS[type]?.some((keyword) => keyword in schema));
  return types.length > 0 && schema['nullable'] === true ? [...types, 'null'] : types;
}

/** Keywords that bind values in ways for which TypeScript has no types. */
const BEYOND = new Set(
  'minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf uniqueItems contains minContains maxContains minProperties maxProperties if then else not dependentRequired dependentSchemas dependencies propertyNames unevaluatedProperties unevaluatedItems'.split(
    ' ',
  ),
);
const NAMED = new Set(['properties', '$defs', 'definitions']);
const LITERAL = new Set(['const', 'enum', 'default', 'examples', 'example', 'required']);

/**
 * A schema that accepts what a type for it can: without bounds and conditions, open, `oneOf` as `anyOf`; and `meant` as it was: objects where
 * it speaks of properties.
 */
export function expressible(schema: unknown, { keepAll = false }: { readonly keepAll?: boolean } = {}): unknown {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (!isObject(node)) return node;
    const copy: Record<string, unknown> = {};
    const isTuple = Array.isArray(node['prefixItems']) || Array.isArray(node['items']);
    for (const [keyword, value] of Object.entries(node)) {
      if (!keepAll) {
        if (BEYOND.has(keyword) || (keyword === 'additionalProperties' && value === false)) continue;
        if ((keyword === 'minItems' || keyword === 'maxItems') && !isTuple) continue;
        if (keyword === 'patternProperties') continue;
        if (keyword === 'type') {
          copy[keyword] =
            value === 'integer'
              ? 'number'
              : Array.isArray(value)
                ? [...new Set(value.map((type) => (type === 'integer' ? 'number' : type)))]
                : value;
          continue;
        }
        if (keyword === 'oneOf' && !('anyOf' in node)) {
          copy['anyOf'] = visit(value);
          continue;
        }
      }
      if (LITERAL.has(keyword)) copy[keyword] = value;
      else if (NAMED.has(keyword) && isObject(value))
        copy[keyword] = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visit(member)]));
      else copy[keyword] = visit(value);
    }
    const implied = impliedTypes(node);
    if (implied.length > 0 && node['type'] === undefined) copy['type'] = implied;
    return copy;
  };
  return visit(schema);
}
