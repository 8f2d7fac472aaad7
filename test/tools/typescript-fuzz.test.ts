// Schemas that nobody would write: every keyword in any place, references in circles, and names and texts that try to end the type or its comment.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCatalog } from '../../src/tools/catalog.ts';
import { checkedWorld, type DeclaredEntry, declarationOf, declarations, signatureOf } from '../../src/tools/declarations.ts';
import { compileJsonSchema, type JsonSchema } from '../../src/tools/schema.ts';
import { compile, typeOfValue } from '../helpers/compiled.ts';
import { expressible, samplesOf } from '../helpers/samples.ts';
import { toolOf } from '../helpers/tools.ts';

const HOSTILE = [
  '*/ evil(); /*',
  '*\\/',
  '"; evil(); "',
  '}; declare const evil: any; type Y = {',
  ['$', 'evil}'].join('{'),
  '`',
  "'",
  '\\',
  '\\u002a/',
  '\n',
  '\r',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u202e',
  '\ufeff',
  '\u0000\u001b[31m',
  '\ud800',
  '👩‍👩‍👧',
  '@ts-nocheck',
  '@ts-expect-error',
  '/ <reference path="x" />',
  '# sourceMappingURL=x',
  '__proto__',
  'constructor',
  'prototype',
  'then',
  'new',
  'delete',
  'function',
  'readonly',
  'get',
  'import',
  'string',
  'never',
  'Record',
  'Promise',
  'tools',
  'input',
  'Array',
  'Event',
  '',
  ' ',
  '1',
  '-1',
  '1e400',
  'a.b',
  'ünïcode',
];

const word = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('a', 'b', 'kind'),
);
const literal = fc.oneof(
  word,
  fc.integer({ min: -5, max: 500 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const data = fc.oneof({ depthSize: 'small' }, literal, fc.array(literal, { maxLength: 3 }), fc.dictionary(word, literal, { maxKeys: 3 }));
const reference = fc.oneof(
  fc.constantFrom(
    '#',
    '#/$defs/a',
    '#/$defs/b',
    '#/definitions/a',
    '#/properties/a',
    '#/$defs/missing',
    '#anchor',
    'other.json',
    'https://example.test/x#/y',
    '#/$defs/a/properties/b',
    '#/%zz',
    '#/title',
  ),
  word.map((text) => `#/$defs/${text}`),
);
const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');

const { schema } = fc.letrec<{ schema: unknown; object: unknown }>((tie) => ({
  schema: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.boolean(), tie('object')),
  object: fc
    .record(
      {
        $ref: reference,
        $dynamicRef: reference,
        $anchor: fc.constantFrom('anchor', 'x'),
        $id: fc.constantFrom('https://example.test/a', 'other.json', '#anchor', 'x/'),
        type: fc.oneof({ weight: 6, arbitrary: types }, { weight: 1, arbitrary: fc.uniqueArray(types, { minLength: 1, maxLength: 3 }) }),
        title: word,
        description: fc.oneof(
          word,
          fc.array(word, { maxLength: 4 }).map((words) => words.join('\n')),
        ),
        enum: fc.array(data, { minLength: 1, maxLength: 4 }),
        const: data,
        default: data,
        examples: fc.array(data, { maxLength: 2 }),
        deprecated: fc.boolean(),
        nullable: fc.boolean(),
        readOnly: fc.boolean(),
        format: word,
        pattern: fc.constantFrom('^a', '^x-.*$', '[', '*/', '^[a-z]+$'),
        minimum: fc.integer(),
        maximum: fc.integer(),
        exclusiveMinimum: fc.integer(),
        minLength: fc.nat(9),
        maxLength: fc.nat(9),
        minItems: fc.nat(4),
        maxItems: fc.nat(4),
        uniqueItems: fc.boolean(),
        minProperties: fc.nat(3),
        properties: fc.dictionary(word, tie('schema'), { maxKeys: 4 }),
        // ajv takes a missing property of no name for one that is there.
        required: fc.array(
          word.filter((text) => text !== ''),
          { maxLength: 3 },
        ),
        additionalProperties: tie('schema'),
        patternProperties: fc.dictionary(fc.oneof(word, fc.constantFrom('^x-', '^', '.*', '^`', '^\\$\\{')), tie('schema'), { maxKeys: 3 }),
        propertyNames: tie('schema'),
        items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 3 })),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
        additionalItems: tie('schema'),
        contains: tie('schema'),
        allOf: fc.array(tie('schema'), { maxLength: 3 }),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        oneOf: fc.array(tie('schema'), { maxLength: 3 }),
        not: tie('schema'),
        if: tie('schema'),
        // biome-ignore lint/suspicious/noThenProperty: it is a keyword.
        then: tie('schema'),
        else: tie('schema'),
        dependentRequired: fc.dictionary(word, fc.array(word, { maxLength: 2 }), { maxKeys: 2 }),
        unevaluatedProperties: tie('schema'),
        $defs: fc.dictionary(fc.oneof(fc.constantFrom('a', 'b'), word), tie('schema'), { maxKeys: 3 }),
        definitions: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
      },
      { requiredKeys: [] },
    )
    // A keyword or five, not all of them.
    .chain((whole) => fc.subarray(Object.entries(whole), { maxLength: 6 }).map((kept) => Object.fromEntries(kept))),
}));

const entryOf = (inputSchema: JsonSchema, description: string, index: number): DeclaredEntry => ({
  segments: ['server', `tool_${index}`],
  spellings: ['server', `tool-${index}`],
  tool: { description, inputSchema, outputSchema: inputSchema },
});

describe('a schema of any kind', () => {
  test('gives declarations that a strict compiler accepts, in every form', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(schema, word), { minLength: 10, maxLength: 30 }), (drawn) => {
        const entries = drawn.map(([inputSchema, description], index) => entryOf(inputSchema as JsonSchema, description, index));
        const signatures = entries.map(
          (entry, index) => `declare function f${index}${signatureOf(entry).slice(`tools.server.tool_${index}`.length)};`,
        );
        const texts = [
          declarations({ entries }),
          checkedWorld({ entries }),
          signatures.join('\n'),
          ...entries.slice(0, 3).map((entry) => declarationOf(entry)),
        ];
        for (const budgetTokens of [20, 300, 700]) texts.push(declarations({ entries }, { budgetTokens, pinned: ['server.tool_1'] }));
        // Each in a scope of its own, since each declares `tools`.
        const whole = texts.map((text, index) => `namespace N${index} {\n${text}\n}`).join('\n');
        expect(compile(whole).mistakes, whole).toEqual([]);
      }),
      { numRuns: 5, seed: 20261130, endOnFailure: true },
    );
  }, 300_000);

  test('accepts with its type what it accepts', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.array(schema, { minLength: 20, maxLength: 40 }), (drawn) => {
        const lines: string[] = [];
        const valid: { name: string; target: string; value: unknown; schema: unknown }[] = [];
        const entries: DeclaredEntry[] = [];
        for (const [index, each] of drawn.entries()) {
          const validators = compiledOrNot(each);
          if (validators === undefined) continue;
          entries.push(entryOf(each as JsonSchema, 'A tool.', index));
          lines.push(`type T${index} = Awaited<ReturnType<typeof tools.server.tool_${index}>>;`);
          for (const [at, value] of samplesOf(each, { seed: 5, count: 4 }).entries()) {
            if (value === undefined || !validators.every((validator) => accepts(validator, value))) continue;
            const name = `V${index}_${at}`;
            lines.push(`type ${name} = ${typeOfValue(value)};`);
            valid.push({ name, target: `T${index}`, value, schema: each });
          }
        }
        const compiled = compile([declarations({ entries }), ...lines].join('\n'));
        expect(compiled.mistakes).toEqual([]);
        for (const { name, target, value, schema: of } of valid) {
          compared++;
          const told = `${JSON.stringify(of)} accepts ${JSON.stringify(value)}, its type does not: ${compiled.textOf(target)}`;
          expect(compiled.isAssignable(name, target), told).toBe(true);
        }
      }),
      { numRuns: 10, seed: 7, endOnFailure: true },
    );
    expect(compared).toBeGreaterThan(200);
  }, 300_000);
});

/** The schema, and what it means where it leaves out the type; `undefined` for one that is refused. */
function compiledOrNot(of: unknown): ReturnType<typeof compileJsonSchema>[] | undefined {
  // What draft-07 does not know is skipped by the validator in a schema that only draft-07 accepts; the type means it.
  const isLater = /"prefixItems":|"\$dynamicRef":/.test(JSON.stringify(of));
  const edition = isLater && typeof of === 'object' ? { $schema: 'https://json-schema.org/draft/2020-12/schema', ...of } : of;
  try {
    return [compileJsonSchema(edition, 'It'), compileJsonSchema(expressible(edition, { keepAll: true }), 'It')];
  } catch {
    return undefined;
  }
}

function accepts(validator: ReturnType<typeof compileJsonSchema>, value: unknown): boolean {
  try {
    const result = validator.parse(value);
    return !(result instanceof Promise) && result.ok;
  } catch {
    return false;
  }
}

test('names that clash with types of the language or a browser are not taken', () => {
  const shared = (title: string): JsonSchema => ({
    type: 'object',
    title,
    properties: { first: { type: 'string', description: `The first of ${title}.` }, second: { type: 'number', description: 'A number.' } },
  });
  const titles = ['Event', 'Comment', 'Record', 'Promise', 'Map', 'Document', 'File List', 'tools', 'input', 'Issue'];
  const entries = titles.flatMap((title, index) => {
    const inputSchema = { type: 'object', properties: { a: shared(title), b: shared(title), c: shared(title) } };
    return [{ namespace: [], tool: toolOf(`t${index}`, { inputSchema }) }];
  });
  const text = declarations(createCatalog(entries));
  expect(compile(text, { browser: true }).mistakes).toEqual([]);
  expect(text).toContain('type Issue = ');
});
