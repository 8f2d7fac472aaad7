import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CHECK_MS } from '../../src/tools/allowance.ts';
import { compileJsonSchema, toSchema } from '../../src/tools/schema.ts';

const WHERE = 'The input schema of tool `x`';

function check(schema: unknown, value: unknown): string | 'valid' {
  const result = compileJsonSchema(schema, WHERE).parse(value);
  if (result instanceof Promise) throw new TypeError('A JSON Schema is checked at once.');
  return result.ok ? 'valid' : result.message;
}

function definitionError(schema: unknown): string {
  try {
    compileJsonSchema(schema, WHERE);
  } catch (error) {
    expect(error).toMatchObject({ name: 'CodeModeError', code: 'schema_invalid' });
    return (error as Error).message;
  }
  return 'no error';
}

describe('the dialect', () => {
  test('is 2020-12 when nobody says', () => {
    expect(check({ prefixItems: [{ type: 'string' }], items: false }, ['a', 1])).toBe('`$` should have at most 1 item (has 2)');
    expect(check({ dependentRequired: { a: ['b'] } }, { a: 1 })).toBe('`$` has the property `a`, so it needs `b` too');
  });

  test('is draft-07 when nobody says and only draft-07 understands the schema', () => {
    const tuple = { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false };
    expect(check(tuple, ['a', 1])).toBe('valid');
    expect(check(tuple, [1, 'a'])).toBe('`$[0]` should be a string (is 1); `$[1]` should be a number (is the string "a")');
    expect(check(tuple, ['a', 1, 2])).toBe('`$` should have at most 2 items (has 3)');
  });

  test.each([
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft-07/schema#',
  ])('is what `$schema: %s` says', ($schema) => {
    const schema = { $schema, $ref: '#/definitions/name', minLength: 5, definitions: { name: { type: 'string' } } };
    // In draft-07 nothing counts beside a `$ref`; in 2020-12 it does.
    expect(check(schema, 'Ada')).toBe('valid');
    expect(check({ ...schema, $schema: undefined }, 'Ada')).toBe('`$` should have at least 5 characters (has 3)');
  });

  test('has 2019-09 too, and an unknown `$schema` decides nothing', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      properties: { next: { $recursiveRef: '#' } },
      additionalProperties: false,
    };
    expect(check(schema, { next: { next: {} } })).toBe('valid');
    expect(check(schema, { next: { prev: {} } })).toMatch(/^`\$\.next\.prev` is not a property here/);
    expect(check({ $schema: 'https://example.com/my-own', prefixItems: [{ type: 'null' }] }, [1])).toBe('`$[0]` should be null (is 1)');
  });
});

describe('what real servers send', () => {
  test('unknown keywords and formats are remarks', () => {
    const schema = { type: 'string', format: 'repo.nwo', 'x-order': 1, example: 'a/b', markdownDescription: null, deprecated: true };
    expect(check(schema, 'a/b')).toBe('valid');
    for (const format of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) expect(check({ format }, 'a')).toBe('valid');
  });

  test('a reference that leads nowhere accepts anything, and the rest of the schema still counts', () => {
    const schema = {
      properties: { a: { $ref: '#/$defs/gone' }, b: { type: 'string' }, c: { $ref: 'https://example.com/other.json' } },
      required: ['b'],
    };
    expect(check(schema, { a: 1, b: 'x', c: [] })).toBe('valid');
    expect(check(schema, { a: 1, b: 2 })).toBe('`$.b` should be a string (is 2)');
  });

  test('`nullable` means what OpenAPI means, where it means anything', () => {
    expect(check({ type: 'string', nullable: true }, null)).toBe('valid');
    expect(check({ type: 'string', nullable: true }, 1)).toBe('`$` should be a string or null (is 1)');
    expect(check({ properties: { a: { nullable: true } } }, { a: null })).toBe('valid');
    expect(check({ type: ['string', 'null'], nullable: false }, null)).toBe('valid');
    for (const schema of [
      { type: 'string', enum: ['a'], nullable: true },
      { oneOf: [{ type: 'string' }, { type: 'number' }], nullable: true },
      { oneOf: [{ type: 'string', nullable: true }], nullable: true },
      { allOf: [{ $ref: '#/$defs/a' }], nullable: true, $defs: { a: { type: 'string' } } },
      { $ref: '#/$defs/a', nullable: true, $defs: { a: { type: 'string' } } },
      { const: 'a', nullable: true },
    ]) {
      expect(check(schema, null)).toBe('valid');
      expect(check(schema, 'a')).toBe('valid');
      expect(check(schema, true)).not.toBe('valid');
    }
  });

  test('roots need not be objects: unions, scalars, `{}` and booleans are schemas too', () => {
    expect(check({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, ['a'])).toBe('valid');
    expect(check({}, 7)).toBe('valid');
    expect(check(true, null)).toBe('valid');
    expect(check(false, null)).toBe('`$` is not allowed here');
  });

  test('keywords that only ajv knows have no power: `$async`, `id`, `$data`', () => {
    expect(check({ $async: true, id: 'x', type: 'string' }, 1)).toBe('`$` should be a string (is 1)');
    expect(check({ properties: { a: { const: { $data: '1/b' } }, b: {} } }, { a: 5, b: 5 })).toContain('`$.a` should be');
  });

  test('the same `$id` in two tools does not mix them', () => {
    const one = compileJsonSchema(
      { $id: 'https://example.com/args', $ref: '#/$defs/v', $defs: { v: { $id: 'v', type: 'string' } } },
      WHERE,
    );
    const two = compileJsonSchema(
      { $id: 'https://example.com/args', $ref: '#/$defs/v', $defs: { v: { $id: 'v', type: 'number' } } },
      WHERE,
    );
    expect(one.parse('a')).toEqual({ ok: true, value: 'a' });
    expect(two.parse(1)).toEqual({ ok: true, value: 1 });
    expect(one.parse(1)).toMatchObject({ ok: false });
    expect(compileJsonSchema({ $ref: 'https://example.com/args' }, WHERE).parse(null)).toEqual({ ok: true, value: null });
  });

  test('properties may have the names of keywords and of `Object.prototype`', () => {
    const schema = {
      properties: {
        format: { type: 'string' },
        pattern: { type: 'string' },
        id: { type: 'string' },
        nullable: { type: 'boolean' },
        $ref: { type: 'string' },
      },
      required: ['toString'],
    };
    expect(check(schema, { format: 'a', pattern: '(', id: 'x', nullable: true, $ref: 'y' })).toBe(
      '`$` lacks the required property `toString`',
    );
    const own = JSON.parse('{"properties":{"__proto__":{"type":"number"}},"additionalProperties":false}') as unknown;
    expect(check(own, JSON.parse('{"__proto__":1}'))).toBe('valid');
    expect(check(own, JSON.parse('{"__proto__":"a"}'))).toBe('`$.__proto__` should be a number (is the string "a")');
  });
});

describe('a bad schema is refused when it is defined', () => {
  test.each([
    [
      { type: 'strin' },
      /^The input schema of tool `x` is not valid JSON Schema \(2020-12\): `\$\.type` should be an array or one of "array", .*\(is "strin"\)\.$/,
    ],
    [{ properties: { limit: { minimum: '3' } } }, /`\$\.properties\.limit\.minimum` should be a number \(is the string "3"\)/],
    [{ required: 'a' }, /`\$\.required` should be an array \(is the string "a"\)/],
    [{ properties: { a: { pattern: '(' } } }, /`\$\.properties\.a\.pattern` is not a regular expression \(Unterminated group\)/],
    [{ patternProperties: { '[': {} } }, /`\$\.patternProperties\["\["\]` is not a regular expression/],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', items: 3 }, /\(draft-07\): `\$\.items` should be/],
    ['x', /should be a JSON Schema such as .* or a Standard Schema \(zod, valibot, arktype, …\), not a string\.$/],
    [null, /not null\.$/],
    [[], /not an array\.$/],
    [{ default: () => 1 }, /is not JSON: `\$\.default` is a function/],
    [{ properties: { when: { default: new Date(0) } } }, /`\$\.properties\.when\.default` is a Date/],
    [{ maximum: Number.NaN }, /`\$\.maximum` is NaN/],
    [{ properties: { a: { $anchor: 'a' }, b: { $anchor: 'a', type: 'string' } } }, /cannot be compiled: .*more than one schema/],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, /cannot be compiled/],
  ])('%j', (schema, message) => {
    expect(definitionError(schema)).toMatch(message);
  });

  test('a schema that contains itself', () => {
    const schema: { properties: Record<string, unknown> } = { properties: {} };
    schema.properties['self'] = schema;
    expect(definitionError(schema)).toMatch(/contains itself/);
  });
});

test('a schema is copied and frozen: later changes have no effect', () => {
  const own = { type: 'object', properties: { a: { type: 'string' } } };
  const schema = compileJsonSchema(own, WHERE);
  own.properties.a.type = 'number';
  expect(schema.jsonSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
  expect(schema.parse({ a: 'x' })).toMatchObject({ ok: true });
  expect(() => Object.assign(Reflect.get(schema.jsonSchema as object, 'properties'), { b: {} })).toThrow(TypeError);
});

test('values are checked, never changed: no coercion, no defaults, the same object goes on', () => {
  const schema = compileJsonSchema({ properties: { a: { type: 'number', default: 3 }, b: { type: 'integer' } } }, WHERE);
  const value = { b: 1.0 };
  const result = schema.parse(value);
  expect(result).toEqual({ ok: true, value: { b: 1 } });
  expect(Reflect.get(result, 'value')).toBe(value);
  expect(schema.parse({ a: '3' })).toMatchObject({ ok: false });
});

test('lengths count characters, not UTF-16 units', () => {
  expect(check({ maxLength: 1 }, '🐲')).toBe('valid');
  expect(check({ minLength: 2 }, '🐲')).toBe('`$` should have at least 2 characters (has 1)');
});

describe('problems', () => {
  const schema = {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      state: { enum: ['open', 'closed'] },
      title: { type: 'string' },
      items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string', pattern: '^[a-z]+$' } } } },
    },
    required: ['owner', 'repo'],
    additionalProperties: false,
  };

  test('are all told, in one sentence', () => {
    expect(check(schema, { limit: 250, state: 'opened', titel: 'x', items: [{}, { name: 'A' }] }).split('; ')).toEqual([
      '`$` lacks the required properties `owner` and `repo`',
      '`$.titel` is not a property here: did you mean `title`?',
      '`$.limit` should be at most 100 (is 250)',
      '`$.state` should be one of "open", "closed" (is "opened"): did you mean "open"?',
      '`$.items[1].name` should match the pattern /^[a-z]+$/ (is "A")',
    ]);
  });

  test('are capped at twelve, the others counted', () => {
    const message = check(
      { items: { type: 'string' } },
      Array.from({ length: 20 }, (_, index) => index),
    );
    expect(message.split('; ')).toHaveLength(13);
    expect(message).toMatch(/^`\$\[0\]` should be a string \(is 0\); .*`\$\[11\]` should be a string \(is 11\); and 8 more$/);
  });

  test.each([
    [{ exclusiveMinimum: 0, exclusiveMaximum: 10 }, 10, '`$` should be less than 10 (is 10)'],
    [{ exclusiveMinimum: 0 }, 0, '`$` should be greater than 0 (is 0)'],
    [{ multipleOf: 5 }, 7, '`$` should be a multiple of 5 (is 7)'],
    [{ maxLength: 2 }, 'abc', '`$` should have at most 2 characters (has 3)'],
    [{ minItems: 1 }, [], '`$` should have at least 1 item (has 0)'],
    [{ minProperties: 1 }, {}, '`$` should have at least 1 property (has 0)'],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, '`$` should have at most 1 property (has 2)'],
    [{ uniqueItems: true }, [{ a: 1, b: 2 }, 1, { b: 2, a: 1 }], '`$` should hold no item twice (items 0 and 2 are the same)'],
    [{ contains: { const: 'x' } }, ['y'], '`$` should contain at least 1 item like {"const":"x"}'],
    [{ const: 'fixed' }, 'other', '`$` should be "fixed" (is "other")'],
    [{ format: 'date-time' }, 'tomorrow', '`$` should be in the format date-time, such as 2025-01-31T09:30:00Z (is "tomorrow")'],
    [{ not: { type: 'string' } }, 'a', '`$` should not fit {"type":"string"} (is "a")'],
    [{ properties: { a: false } }, { a: 1 }, '`$.a` is not allowed here'],
    [
      { propertyNames: { pattern: '^[a-z]+$' } },
      { 'x y': 1 },
      '`$` has the property `x y`, whose name is not allowed: a name there should match the pattern /^[a-z]+$/ (is "x y")',
    ],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1 }, '`$` lacks the required property `b`'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    [{ if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, '`$` lacks the required property `b`'],
    [{ type: ['string', 'null'] }, [1], '`$` should be a string or null (is an array)'],
    [{ type: 'object', additionalProperties: false }, { a: 1 }, '`$.a` is not a property here (it takes none)'],
    [
      { properties: { first: {}, second: {} }, additionalProperties: false },
      { zzz: 1 },
      '`$.zzz` is not a property here (known: `first`, `second`)',
    ],
    [
      { allOf: [{ properties: { name: {} } }], unevaluatedProperties: false },
      { nmae: 1 },
      '`$.nmae` is not a property here: did you mean `name`?',
    ],
    [
      { additionalProperties: { type: 'number' } },
      { 'a.b': 'x', '3': 'y' },
      '`$["3"]` should be a number (is the string "y"); `$["a.b"]` should be a number (is the string "x")',
    ],
    [
      { enum: Array.from({ length: 30 }, (_, index) => index) },
      99,
      '`$` should be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more (is 99)',
    ],
  ])('%j with %j', (given, value, message) => {
    expect(check(given, value)).toBe(message);
  });

  test('long values are shortened', () => {
    expect(check({ const: 'x' }, 'y'.repeat(100_000)).length).toBeLessThan(250);
  });
});

describe('a choice of alternatives', () => {
  const shape = {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind', 'radius'] },
      { type: 'object', properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
      { type: 'string' },
    ],
  };

  test.each([
    [shape, { kind: 'circle', radius: 'big' }, '`$.radius` should be a number (is the string "big")'],
    [shape, { kind: 'circel' }, '`$.kind` should be one of "circle", "square" (is "circel"): did you mean "circle"?'],
    [shape, 3, '`$` should be an object or a string (is 3)'],
    [
      { properties: { shapes: { items: shape } } },
      { shapes: ['a', { kind: 'square' }] },
      '`$.shapes[1]` lacks the required property `side`',
    ],
    [
      {
        $ref: '#/$defs/s',
        $defs: { s: { anyOf: [{ $ref: '#/$defs/n' }, { $ref: '#/$defs/b' }] }, n: { type: 'number' }, b: { type: 'boolean' } },
      },
      'a',
      '`$` should be a number or a boolean (is "a")',
    ],
    [
      { anyOf: [{ type: 'string', enum: ['asc', 'desc'] }, { type: 'null' }] },
      'up',
      '`$` should be null or one of "asc", "desc" (is "up")',
    ],
    [
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      '`$` fits none of 2 alternatives: `$` lacks the required property `a`, or `$` lacks the required property `b`',
    ],
    [{ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 1, '`$` fits alternatives 1 and 2 of 2, but should fit exactly one'],
    [
      { anyOf: [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, { type: 'boolean' }] },
      'a',
      '`$` should be a number, null or a boolean (is "a")',
    ],
  ])('%j with %j', (schema, value, message) => {
    expect(check(schema, value)).toBe(message);
  });

  test('that fits in a later alternative is no problem, however wrong it is in an earlier one', () => {
    const schema = { anyOf: [{ items: { type: 'string' } }, { items: { type: 'number' } }] };
    expect(
      check(
        schema,
        Array.from({ length: 20_000 }, () => 1),
      ),
    ).toBe('valid');
  });
});

test.each([
  [new Map(), '`$.x` is a Map; pass Object.fromEntries(map)'],
  [new Set(), '`$.x` is a Set; pass [...set]'],
  [Number.NaN, '`$.x` is NaN, which JSON cannot hold; pass a finite number or null'],
  [10n, '`$.x` is a BigInt; pass Number(value), or String(value) where a string is expected'],
  [new Uint8Array(2), '`$.x` holds bytes (is a Uint8Array); pass Array.from(bytes), or a Base64 string where a string is expected'],
  [new Error('no'), '`$.x` is an Error; pass error.message'],
  [new Date(0), '`$.x` is a Date; pass date.toISOString()'],
  [[undefined], '`$.x[0]` is undefined; pass null, or leave it out'],
])('a value that is not JSON is named, also where the schema takes anything: %s', (x, message) => {
  expect(check({}, { x })).toBe(message);
});

test('a property that is undefined is a property that is not there', () => {
  expect(check({ properties: { a: { type: 'string' } }, additionalProperties: false }, { a: undefined })).toBe('valid');
  expect(check({ required: ['a'] }, { a: undefined })).toBe('`$` lacks the required property `a`');
});

describe('schema and value together cannot hang the host', () => {
  const HUGE = 200_000;

  function timed(schema: unknown, value: unknown): string {
    const started = performance.now();
    const message = check(schema, value);
    expect(performance.now() - started).toBeLessThan(10 * CHECK_MS);
    return message;
  }

  test('a union that looks at the same place twice at every level', () => {
    const twice = {
      properties: { a: { $ref: '#' } },
      anyOf: [
        { properties: { a: { $ref: '#' } }, required: ['x'] },
        { properties: { a: { $ref: '#' } }, required: ['y'] },
      ],
    };
    let value: object = { y: 1 };
    for (let depth = 0; depth < 60; depth++) value = { a: value, y: 1 };
    expect(timed(twice, value)).toMatch(/^`\$` could not be checked: checking it took longer than 250 ms/);
  });

  test('references that double at every step', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'string' } };
    for (let step = 1; step < 60; step++)
      $defs[`d${step}`] = { allOf: [{ $ref: `#/$defs/d${step - 1}` }, { $ref: `#/$defs/d${step - 1}` }] };
    expect(timed({ $ref: '#/$defs/d59', $defs }, 'a')).toMatch(/could not be checked/);
  });

  test('a reference to itself', () => {
    expect(timed({ $ref: '#' }, 1)).toMatch(/could not be checked: it is nested too deeply for its schema/);
  });

  test('many different objects under `uniqueItems`', () => {
    const items = Array.from({ length: HUGE }, (_, id) => ({ id }));
    expect(timed({ uniqueItems: true }, items)).toBe('valid');
  });

  test('a flood of problems', () => {
    expect(
      timed(
        { items: { $ref: '#/$defs/s' }, $defs: { s: { type: 'string', minLength: 1, enum: ['a'] } } },
        Array.from({ length: HUGE }, () => 1),
      ),
    ).toMatch(/and many more$/);
    expect(
      timed({ additionalProperties: false }, Object.fromEntries(Array.from({ length: HUGE }, (_, index) => [`k${index}`, 1]))),
    ).toMatch(/and \d+ more$/);
  });

  test('a slow pattern, a slow format, and both in bulk', () => {
    expect(timed({ pattern: '^(a+)+$' }, `${'a'.repeat(100_000)}!`)).toMatch(/should match the pattern/);
    expect(timed({ pattern: '^(?!x)(a+)+$' }, `${'a'.repeat(60)}!`)).toMatch(
      /could not be checked: matching a string of 61 characters with the pattern .* took longer than/,
    );
    expect(timed({ not: { pattern: '^(?!x)(a+)+$' } }, `${'a'.repeat(60)}!`)).toMatch(/could not be checked/);
    expect(timed({ format: 'url' }, `http://${':'.repeat(500_000)}@`)).toMatch(/should be in the format url/);
    expect(
      timed(
        { items: { format: 'url' } },
        Array.from({ length: 2_000 }, () => `http://${':'.repeat(2_000)}@@`),
      ),
    ).toMatch(/\$/);
    expect(timed({ format: 'uri' }, `a:${'%41'.repeat(300_000)}`)).toMatch(/should be in the format uri/);
  });

  test('a value nested deeper than anyone needs', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 5_000; depth++) value = [value];
    expect(timed({}, value)).toMatch(/nested deeper than 400 levels/);
  });
});

describe('a Standard Schema', () => {
  const ours = {
    zod: z.object({ id: z.string().transform((text) => text.length), tags: z.array(z.string()).default([]) }),
    valibot: v.object({
      id: v.pipe(
        v.string(),
        v.transform((text) => text.length),
      ),
      tags: v.optional(v.array(v.string()), []),
    }),
    arktype: type({ id: type('string').pipe((text) => text.length), tags: type('string[]').default(() => []) }),
  };

  test.each(Object.entries(ours))('of %s hands on its parsed output', async (_, library) => {
    expect(await toSchema(library, WHERE).parse({ id: 'four' })).toEqual({ ok: true, value: { id: 4, tags: [] } });
  });

  test.each(Object.entries(ours))('of %s has its problems told with paths from `$`', async (_, library) => {
    const result = await toSchema(library, WHERE).parse({ id: 'four', tags: ['a', 7] });
    expect(result).toMatchObject({ ok: false, message: expect.stringMatching(/^`\$\.tags\[1\]`: .*string/) as string });
  });

  test('shows the JSON Schema that its library makes, of what it takes or of what it returns', () => {
    const schema = z.object({ limit: z.number().int().max(9).default(3) });
    expect(toSchema(schema, WHERE).jsonSchema).toMatchObject({ type: 'object', properties: { limit: { type: 'integer', maximum: 9 } } });
    expect(toSchema(schema, WHERE).jsonSchema).not.toHaveProperty('required');
    expect(toSchema(schema, WHERE, { side: 'output' }).jsonSchema).toMatchObject({ required: ['limit'] });
    expect(toSchema(type({ name: 'string' }), WHERE).jsonSchema).toMatchObject({
      properties: { name: { type: 'string' } },
      required: ['name'],
    });
  });

  test('shows a part that JSON Schema cannot express as any value', () => {
    expect(toSchema(z.object({ when: z.date(), n: z.number() }), WHERE).jsonSchema).toMatchObject({
      properties: { when: {}, n: { type: 'number' } },
    });
  });

  test('shows any value where its library cannot say, or what it is told to show', () => {
    expect(toSchema(v.object({ a: v.string() }), WHERE).jsonSchema).toEqual({});
    const jsonSchema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(toSchema(v.object({ a: v.string() }), WHERE, { jsonSchema }).jsonSchema).toEqual(jsonSchema);
    expect(() => toSchema({ type: 'object' }, WHERE, { jsonSchema })).toThrow(/is a JSON Schema already/);
  });

  test('may answer later', async () => {
    const schema = z.string().refine(async (text) => text === 'yes', 'say yes');
    expect(await toSchema(schema, WHERE).parse('no')).toEqual({ ok: false, message: '`$`: say yes' });
    expect(await toSchema(schema, WHERE).parse('yes')).toEqual({ ok: true, value: 'yes' });
  });
});
