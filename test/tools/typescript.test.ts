import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../src/tools/schema.ts';
import { commentText } from '../../src/tools/typescript/comment.ts';
import { renderType } from '../../src/tools/typescript.ts';

/** What the parser has against a type. */
function mistakes(type: string): string[] {
  // `parseDiagnostics` is on every source file that the compiler makes, though not in its public types.
  const file = ts.createSourceFile(
    'type.ts',
    `type T = ${type};\ndeclare const after: T;`,
    ts.ScriptTarget.ESNext,
    false,
  ) as ts.SourceFile & {
    readonly parseDiagnostics: readonly ts.Diagnostic[];
  };
  const statements = file.statements.length === 2 ? [] : [`${file.statements.length} statements`];
  return [...file.parseDiagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')), ...statements];
}

describe('a schema is the type', () => {
  test.each<[string, JsonSchema, string]>([
    ['true', true, 'unknown'],
    ['false', false, 'never'],
    ['{}', {}, 'unknown'],
    ['string', { type: 'string' }, 'string'],
    ['integer', { type: 'integer' }, 'number'],
    ['boolean', { type: 'boolean' }, 'boolean'],
    ['null', { type: 'null' }, 'null'],
    ['a type nobody knows', { type: 'blob' }, 'unknown'],
    [
      'types of other schema languages',
      { type: 'dict', properties: { a: { type: 'float' }, b: { type: 'any' } } },
      '{ a?: number; b?: unknown }',
    ],
    ['a list of types', { type: ['string', 'null'] }, 'string | null'],
    ['const', { const: 'a"b' }, '"a\\"b"'],
    ['const of an object', { const: { a: [1, null], 'b-c': true } }, '{ a: [1, null]; "b-c": true }'],
    ['enum', { enum: ['a', 1, -1, null, true] }, '"a" | 1 | -1 | true | null'],
    ['enum with a type beside it', { type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
    ['nullable', { type: 'string', nullable: true }, 'string | null'],
    ['nullable without a type', { anyOf: [{ type: 'string' }], nullable: true }, 'string | null'],
    ['anyOf', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    ['oneOf of constants with a type beside it', { type: 'string', oneOf: [{ const: 'a' }, { const: 'b' }] }, '"a" | "b"'],
    ['anyOf that says the same twice', { anyOf: [{ type: 'string' }, { type: 'string', format: 'uri' }] }, 'string'],
    ['anyOf with any value', { anyOf: [{ type: 'string' }, {}] }, 'unknown'],
    ['anyOf that only requires', { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }] }, '{ a: string }'],
    [
      'anyOf that requires one or the other',
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      '{ a?: string; b?: string } & ({ a: unknown } | { b: unknown })',
    ],
    [
      'allOf, of which one part may be null and the other not',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } } },
          { anyOf: [{ type: 'object', properties: { b: {} } }, { type: 'null' }] },
        ],
      },
      '{ a?: string; b?: unknown }',
    ],
    [
      'properties in order, required or not',
      { type: 'object', properties: { b: { type: 'string' }, a: { type: 'number' } }, required: ['b'] },
      '{ b: string; a?: number }',
    ],
    ['properties without a type', { properties: { a: true } }, '{ a?: unknown }'],
    ['a required property that is not described', { type: 'object', required: ['a'] }, '{ a: unknown }'],
    ['an object of anything', { type: 'object' }, 'Record<string, unknown>'],
    ['a closed empty object', { type: 'object', properties: {}, additionalProperties: false }, 'Record<string, never>'],
    ['a record', { type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [
      'properties and others',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'number' } },
      '{ a?: string; [key: string]: number | string | undefined }',
    ],
    [
      'a pattern that is a beginning',
      { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
      '{ [key: `x-${string}`]: string }',
    ],
    [
      'any other pattern, closed',
      { patternProperties: { '^[a-z]+$': { type: 'string' } }, additionalProperties: false },
      'Record<string, string>',
    ],
    ['any other pattern, open', { patternProperties: { '^[a-z]+$': { type: 'string' } } }, 'Record<string, unknown>'],
    [
      'names that are no identifiers',
      { type: 'object', properties: { 'a-b': {}, ü: {}, '1': {}, '': {}, new: {}, readonly: {} } },
      '{ "1"?: unknown; "a-b"?: unknown; "ü"?: unknown; ""?: unknown; new?: unknown; readonly?: unknown }',
    ],
    ['an array', { type: 'array', items: { type: 'string' } }, 'string[]'],
    ['an array of a union', { type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    ['an array of anything', { type: 'array' }, 'unknown[]'],
    ['an empty array', { type: 'array', maxItems: 0 }, '[]'],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2 }, '[string, number]'],
    [
      'a tuple of draft-07',
      { type: 'array', items: [{ type: 'string' }, { type: 'number' }], minItems: 2, maxItems: 2 },
      '[string, number]',
    ],
    ['a tuple that is open and may be empty', { prefixItems: [{ type: 'string' }] }, '[string?, ...unknown[]]'],
    [
      'a tuple with a rest',
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: ['number', 'null'] }, minItems: 1 },
      '[string, ...(number | null)[]]',
    ],
    ['a tuple of draft-07 with a rest', { items: [{ type: 'string' }], additionalItems: { type: 'number' } }, '[string?, ...number[]]'],
    [
      'a tuple that may be shorter',
      { prefixItems: [{ type: 'string' }, { enum: [1, 2] }], minItems: 1, items: false },
      '[string, (1 | 2)?]',
    ],
    ['what is not looked at elsewhere', { type: 'object', unevaluatedProperties: false }, 'Record<string, never>'],
    ['what is looked at elsewhere', { additionalProperties: true, unevaluatedProperties: false }, 'Record<string, unknown>'],
    ['items that alternatives look at', { unevaluatedItems: false, anyOf: [{ type: 'array', items: { type: 'string' } }] }, 'string[]'],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, 'string'],
    ['a reference with escapes', { $ref: '#/definitions/a~1b%20c~0', definitions: { 'a/b c~': { type: 'number' } } }, 'number'],
    ['a reference to an anchor', { $ref: '#name', $defs: { a: { $anchor: 'name', type: 'boolean' } } }, 'boolean'],
    ['a reference into nowhere', { type: 'array', items: { $ref: '#/$defs/nothing' } }, 'unknown[]'],
    ['a reference to another document', { $ref: 'https://example.test/schema.json' }, 'unknown'],
    ['a reference to what is no schema', { $ref: '#/title', title: 'text' }, 'unknown'],
    ['a reference to a member that every object inherits', { $ref: '#/constructor' }, 'unknown'],
    [
      'a reference with more beside it',
      { $ref: '#/$defs/a', properties: { b: { type: 'string' } }, $defs: { a: { type: 'object', properties: { a: {} } } } },
      '{ a?: unknown; b?: string }',
    ],
    [
      'a tree, opened once',
      { $ref: '#/$defs/t', $defs: { t: { type: 'object', properties: { next: { $ref: '#/$defs/t' } } } } },
      '{ next?: object }',
    ],
    ['a reference to itself and nothing else', { $ref: '#' }, 'unknown'],
  ])('%s', (_, schema, type) => {
    expect(renderType(schema)).toBe(type);
    expect(mistakes(type)).toEqual([]);
  });
});

describe('comments', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      since: { type: 'string', description: 'Only newer ones.\n  Exclusive.', format: 'date-time', default: '2026-01-01' },
      filter: { type: 'object', properties: { limit: { type: 'integer', minimum: 1, maximum: 100 } } },
      plain: { type: 'boolean' },
    },
  };

  test('tell descriptions, formats, bounds and defaults, where asked', () => {
    expect(renderType(schema, { comments: true })).toBe(`{
  since?: string; // Only newer ones. Exclusive. (date-time, default "2026-01-01")
  filter?: {
    limit?: number; // 1-100
  };
  plain?: boolean;
}`);
    expect(renderType(schema)).toBe('{ since?: string; filter?: { limit?: number }; plain?: boolean }');
  });

  test('a text is shortened at the end of a sentence or a word, and never within a character', () => {
    expect(commentText('One sentence of some length. And another one.', 40)).toBe('One sentence of some length.');
    expect(commentText('many words and no full stop', 20)).toBe('many words and no…');
    expect(commentText('x'.repeat(100), 100)).toBe('x'.repeat(100));
    expect(commentText('🙂'.repeat(100), 100)).toBe(`${'🙂'.repeat(49)}…`);
  });
});

test('alternatives of which something is said have lines of their own, also within each other', () => {
  const said = (name: string): JsonSchema => ({ type: 'object', properties: { [name]: { type: 'string' } }, description: `The ${name}.` });
  const schema: JsonSchema = {
    anyOf: [
      { type: 'string' },
      { description: 'Either.', anyOf: [said('a'), said('b')] },
      { type: 'array', items: { anyOf: [said('c'), said('d')] } },
    ],
  };
  const type = renderType(schema, { comments: true });
  expect(mistakes(type)).toEqual([]);
  for (const words of ['// The a.', '// The b.', '// The c.', '// The d.', 'Either.']) expect(type).toContain(words);
});

describe('a hostile schema stays well-formed', () => {
  const evil = [
    '*/ evil(); /*',
    '"; evil(); "',
    ['$', 'evil}'].join('{'),
    '`',
    "'",
    '\\',
    '\n',
    '\u2028',
    '__proto__',
    'constructor',
    '/*',
    '//',
    '}',
    '}; declare const x: any; type Y = {',
    '\u0000\u001b[31m',
    '\ud800',
  ];

  test.each(evil)('with %j everywhere', (text) => {
    const property = { description: text, title: text, format: text, default: text, pattern: text, enum: [text, { [text]: text }] };
    const schema = {
      type: 'object',
      description: text,
      required: [text],
      properties: Object.fromEntries([
        [text, property],
        ['a', { const: text }],
        ['b', { $ref: `#/$defs/${text}` }],
      ]),
    };
    for (const comments of [true, false]) expect(mistakes(renderType(schema, { comments }))).toEqual([]);
  });

  test('a schema that grows without an end is cut', () => {
    const wide = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, { $ref: `#/$defs/d${index % 5}` }]));
    const schema = {
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`d${index}`, { type: 'object', properties: wide }])),
    };
    const type = renderType(schema);
    expect(type.length).toBeLessThan(300_000);
    expect(mistakes(type)).toEqual([]);
    expect(renderType(schema, { depth: 2, length: 2_000 }).length).toBeLessThan(10_000);
  });

  test('deep nesting is cut at the depth that is asked for', () => {
    let schema: JsonSchema = { type: 'string' };
    for (let i = 0; i < 60; i++) schema = i % 2 === 0 ? { type: 'array', items: schema } : { type: 'object', properties: { a: schema } };
    expect(renderType(schema, { depth: 3 })).toBe('{ a?: { a?: unknown[] }[] }');
    expect(renderType(schema, { depth: 4 })).toBe('{ a?: { a?: object[] }[] }');
    expect(mistakes(renderType(schema))).toEqual([]);
  });

  test('a long enum ends in its type', () => {
    expect(renderType({ enum: ['a', 'b', 'c', 4] }, { values: 2 })).toBe('"a" | "b" | string | number');
  });
});
