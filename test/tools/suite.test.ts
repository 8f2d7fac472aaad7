// The official JSON Schema Test Suite, run through compileJsonSchema(): our dialects, our preparation, our pattern engine.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { compileJsonSchema, type JsonSchema } from '../../src/tools/schema.ts';

const SUITE = fileURLToPath(new URL('../../../shared/schemas/json-schema-test-suite/', import.meta.url));
const present = existsSync(SUITE);

interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

type Folder = 'draft7' | 'draft2019-09' | 'draft2020-12';

const META_SCHEMAS: Readonly<Record<Folder, string>> = {
  draft7: 'http://json-schema.org/draft-07/schema#',
  'draft2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
};

/** What does not hold, and why: reason, then group, then how many of its cases fail. An entry that is not exactly so fails the test. */
type Exceptions = Readonly<Record<string, Readonly<Record<string, number>>>>;

const ADDRESSES = {
  'ajv follows a relative `$id` beside a `$ref` for ever; such a schema is refused at definition': {
    'ref.json › URN ref with nested pointer ref': 2,
    'ref.json › refs with relative uris and defs': 3,
    'ref.json › relative refs with absolute uris and defs': 3,
  },
  'ajv knows the vocabularies of the standard meta-schemas only': {
    'vocabulary.json › schema that uses custom metaschema with with no validation vocabulary': 1,
  },
};

const UNEVALUATED = {
  'ajv evaluates nothing in an `if` that lacks the branch taken': {
    'unevaluatedItems.json › unevaluatedItems can see annotations from if without then and else': 1,
    'unevaluatedProperties.json › unevaluatedProperties can see annotations from if without then and else': 1,
    'unevaluatedProperties.json › unevaluatedProperties with if/then/else, then not defined': 2,
  },
  'ajv takes the items of a failed alternative for evaluated where another alternative accepts everything': {
    'unevaluatedItems.json › unevaluatedItems with nested items': 2,
  },
};

const EXCEPTIONS: Readonly<Record<Folder, Exceptions>> = {
  draft7: {},
  'draft2019-09': {
    ...ADDRESSES,
    ...UNEVALUATED,
    'ajv leads a `$recursiveRef` to the root of the whole, not to the part with its own `$id`': {
      'recursiveRef.json › $recursiveRef with no $recursiveAnchor in the initial target schema resource': 2,
    },
  },
  'draft2020-12': {
    ...ADDRESSES,
    ...UNEVALUATED,
    'ajv takes every item for evaluated once there is a `contains`': {
      'unevaluatedItems.json › unevaluatedItems and contains interact to control item dependency relationship': 4,
      'unevaluatedItems.json › unevaluatedItems depends on adjacent contains': 1,
      'unevaluatedItems.json › unevaluatedItems depends on multiple nested contains': 1,
      'unevaluatedItems.json › unevaluatedItems with minContains = 0': 1,
    },
    'ajv has no dynamic scope over several parts with their own `$id` (within one part, dynamic references work)': {
      'dynamicRef.json › $dynamicRef avoids the root of each schema, but scopes are still registered': 1,
      'dynamicRef.json › $dynamicRef skips over intermediate resources - direct reference': 1,
      'dynamicRef.json › $ref and $dynamicAnchor are independent of order - $defs first': 1,
      'dynamicRef.json › $ref and $dynamicAnchor are independent of order - $ref first': 1,
      'dynamicRef.json › A $dynamicRef resolves to the first $dynamicAnchor still in scope that is encountered when the schema is evaluated': 1,
      'dynamicRef.json › A $dynamicRef that initially resolves to a schema with a matching $dynamicAnchor resolves to the first $dynamicAnchor in the dynamic scope': 2,
      'dynamicRef.json › A $dynamicRef that initially resolves to a schema without a matching $dynamicAnchor behaves like a normal $ref to $anchor': 1,
      'dynamicRef.json › A $dynamicRef with a non-matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor': 1,
      "dynamicRef.json › A $dynamicRef with intermediate scopes that don't include a matching $dynamicAnchor does not affect dynamic scope resolution": 1,
      'dynamicRef.json › A $dynamicRef without a matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor': 1,
      'dynamicRef.json › A $dynamicRef without anchor in fragment behaves identical to $ref': 1,
      'dynamicRef.json › An $anchor with the same name as a $dynamicAnchor is not used for dynamic scope resolution': 1,
      'dynamicRef.json › after leaving a dynamic scope, it is not used by a $dynamicRef': 3,
      'dynamicRef.json › multiple dynamic paths to the $dynamicRef keyword': 2,
      'dynamicRef.json › strict-tree schema, guards against misspelled properties': 1,
      'dynamicRef.json › tests for implementation dynamic anchor and reference link': 1,
      'unevaluatedItems.json › unevaluatedItems with $dynamicRef': 1,
      'unevaluatedProperties.json › unevaluatedProperties with $dynamicRef': 1,
    },
  },
};

/** Failures in optional files: content is not decoded, editions do not mix in one schema, numbers are JavaScript's. */
const OPTIONAL_FAILURES: Readonly<Record<Folder, Readonly<Record<string, number>>>> = {
  draft7: { 'optional/content.json': 4, 'optional/cross-draft.json': 1, 'optional/float-overflow.json': 1 },
  'draft2019-09': { 'optional/cross-draft.json': 1, 'optional/float-overflow.json': 1 },
  'draft2020-12': { 'optional/dynamicRef.json': 1, 'optional/float-overflow.json': 1 },
};

describe.skipIf(!present)(present ? 'the official test suite' : 'the official test suite (skipped: ../shared/schemas is absent)', () => {
  for (const folder of Object.keys(META_SCHEMAS) as Folder[]) {
    test(`${folder}: every required case holds, but for exactly the listed exceptions`, () => {
      // Without format checks: the required tests of all editions have `format` as a remark.
      const { cases, failed } = run(folder, filesOf(folder, ''), { formats: false });
      expect(cases).toBeGreaterThan(900);
      const expected = Object.assign({}, ...Object.values(EXCEPTIONS[folder])) as Record<string, number>;
      expect(countByGroup(failed)).toEqual(expected);
    });

    test(`${folder}: the optional cases on regular expressions hold, and most of those on formats and the rest`, () => {
      const patterns = ['optional/ecmascript-regex.json', 'optional/non-bmp-regex.json'];
      expect(run(folder, patterns, { formats: false }).failed).toEqual([]);

      const others = filesOf(folder, 'optional').filter((file) => !patterns.includes(file) && !file.endsWith('format-assertion.json'));
      expect(countByFile(run(folder, others, { formats: false }).failed)).toEqual(OPTIONAL_FAILURES[folder]);

      const formats = run(folder, filesOf(folder, 'optional/format'), { formats: true });
      expect(formats.failed.length / formats.cases).toBeLessThan(0.25);
    });
  }
});

interface Outcome {
  readonly cases: number;
  readonly failed: readonly { readonly file: string; readonly group: string }[];
}

function run(folder: Folder, files: readonly string[], { formats }: { formats: boolean }): Outcome {
  const failed: { file: string; group: string }[] = [];
  let cases = 0;
  const remotes = readRemotes(folder);
  for (const file of files) {
    const groups = JSON.parse(readFileSync(join(SUITE, 'tests', folder, file), 'utf8')) as Group[];
    for (const { description, schema, tests } of groups) {
      for (const { data, valid } of tests) {
        cases++;
        if (verdict({ schema, data, folder, formats, remotes }) !== valid) failed.push({ file, group: `${file} › ${description}` });
      }
    }
  }
  return { cases, failed };
}

/** Whether the data fits, or `undefined` when the schema cannot be compiled. A refusal has to come with a reason. */
function verdict(given: {
  schema: JsonSchema;
  data: unknown;
  folder: Folder;
  formats: boolean;
  remotes: Readonly<Record<string, JsonSchema>>;
}): boolean | undefined {
  const { schema, data, folder, formats, remotes } = given;
  // The draft-07 tests do not name their edition, and ours is 2020-12 when nobody says.
  const named = typeof schema === 'object' && !('$schema' in schema) ? { $schema: META_SCHEMAS[folder], ...schema } : schema;
  try {
    const result = compileJsonSchema(named, 'The schema', { formats, remotes }).parse(data);
    if (result instanceof Promise) throw new TypeError('A JSON Schema is checked at once.');
    if (!result.ok) expect(result.message).toMatch(/^`\$[^`]*` (?!does not fit the schema)/);
    return result.ok;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'schema_invalid') return undefined;
    throw error;
  }
}

function countByGroup(failed: Outcome['failed']): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { group } of failed) counts[group] = (counts[group] ?? 0) + 1;
  return counts;
}

function countByFile(failed: Outcome['failed']): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { file } of failed) counts[file] = (counts[file] ?? 0) + 1;
  return counts;
}

function filesOf(folder: Folder, part: string): string[] {
  return readdirSync(join(SUITE, 'tests', folder, part))
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(part, name));
}

/** The suite's other schemas, at the addresses by which its tests name them. */
function readRemotes(folder: Folder): Record<string, JsonSchema> {
  const remotes: Record<string, JsonSchema> = {};
  const root = join(SUITE, 'remotes');
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = relative(root, join(entry.parentPath, entry.name));
    const ofAnotherEdition = /^(?:draft|v1)/.test(path) && !path.startsWith(`${folder}/`);
    if (!entry.isFile() || !entry.name.endsWith('.json') || ofAnotherEdition) continue;
    remotes[`http://localhost:1234/${path}`] = JSON.parse(readFileSync(join(root, path), 'utf8')) as JsonSchema;
  }
  return remotes;
}
