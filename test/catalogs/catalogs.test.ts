// The tools of real servers: each is defined, all declarations compile, and the types agree with the validator on generated values. With
// CATALOGS=all every tool is compared; otherwise some of each catalog, since compiling validators is what takes the time.
import { describe, expect, test } from 'vitest';
import type { CatalogEntry } from '../../src/tools/catalog.ts';
import { checkedWorld, declarationOf, declarations } from '../../src/tools/declarations.ts';
import { compileJsonSchema, type JsonSchema, type Schema } from '../../src/tools/schema.ts';
import { CATALOG_FILES, readCatalog } from '../helpers/catalogs.ts';
import { compile, typeOfValue } from '../helpers/compiled.ts';
import { expressible, samplesOf } from '../helpers/samples.ts';

const TOOLS_PER_CATALOG = process.env['CATALOGS'] === 'all' ? Number.POSITIVE_INFINITY : 24;
const VALUES_PER_TOOL = 6;
/** Generous: a catalog has up to 1 223 tools. */
const TIMEOUT_MS = 300_000;

test.skipIf(CATALOG_FILES.length > 0)('the catalogs are not tested: ../shared/catalogs is absent', () => undefined);

/** The type of a tool's input by its path in `tools`. */
function inputOf({ segments }: CatalogEntry): string {
  return `Input<(typeof tools)${segments.map((segment) => `["${segment}"]`).join('')}>`;
}

/** A tool that takes nothing may be given `{}`. */
const INPUT = 'type Input<F extends (...input: never[]) => unknown> = Parameters<F> extends [] ? Record<string, never> : Parameters<F>[0];';

function outputOf({ segments }: CatalogEntry): string {
  return `Awaited<ReturnType<(typeof tools)${segments.map((segment) => `["${segment}"]`).join('')}>>`;
}

interface Side {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly type: string;
}

function sidesOf(entry: CatalogEntry, index: number): Side[] {
  const { inputSchema, outputSchema } = entry.tool;
  const input = { name: `In${index}`, schema: inputSchema, type: inputOf(entry) };
  return outputSchema === undefined ? [input] : [input, { name: `Out${index}`, schema: outputSchema, type: outputOf(entry) }];
}

const check = (schema: Schema, value: unknown): boolean => {
  const result = schema.parse(value);
  return !(result instanceof Promise) && result.ok;
};

/** Whether a schema says anything of the values that it accepts. */
function saysSomething(schema: JsonSchema): boolean {
  if (typeof schema === 'boolean') return !schema;
  return Object.keys(schema).some((keyword) => !/^(?:\$|title$|description$|x-|default$|examples?$|definitions$)/.test(keyword));
}

describe.each(CATALOG_FILES)('%s', (file) => {
  test('is declared in TypeScript that a strict compiler accepts', () => {
    const catalog = readCatalog(file);
    expect(compile(declarations(catalog), { browser: true }).mistakes).toEqual([]);
    expect(compile(checkedWorld(catalog)).mistakes).toEqual([]);
    const some = catalog.entries.filter((_, index) => index % Math.ceil(catalog.entries.length / 5) === 0);
    // Each in a scope of its own, since each declares `tools`.
    const single = some.map((entry, index) => `namespace N${index} {\n${declarationOf(entry)}}`).join('\n');
    expect(compile(single).mistakes).toEqual([]);
    for (const budgetTokens of [200, 2_000, 8_000]) expect(compile(declarations(catalog, { budgetTokens })).mistakes).toEqual([]);
  });

  test(
    'the types accept what the schemas accept, and no more where a type can say so',
    () => {
      const catalog = readCatalog(file);
      const step = Math.max(1, catalog.entries.length / TOOLS_PER_CATALOG);
      const chosen = catalog.entries.filter((_, index) => Math.floor(index % step) === 0);
      const lines = [declarations(catalog), INPUT];
      const cases: { side: Side; entry: CatalogEntry; value: unknown; name: string; valid: boolean; expressible: boolean }[] = [];
      for (const [index, entry] of chosen.entries()) {
        for (const side of sidesOf(entry, index)) {
          lines.push(`type ${side.name} = ${side.type};`);
          const where = 'A schema of the test';
          const exact = compileJsonSchema(side.schema, where);
          const meant = compileJsonSchema(expressible(side.schema, { keepAll: true }), where);
          const wide = compileJsonSchema(expressible(side.schema), where);
          for (const [at, value] of samplesOf(side.schema, { seed: 11, count: VALUES_PER_TOOL }).entries()) {
            if (value === undefined) continue;
            const name = `V_${side.name}_${at}`;
            lines.push(`type ${name} = ${typeOfValue(value)};`);
            const valid = check(exact, value) && check(meant, value);
            cases.push({ side, entry, value, name, valid, expressible: check(wide, value) });
          }
        }
      }
      const compiled = compile(lines.join('\n'));
      expect(compiled.mistakes).toEqual([]);
      const narrower: string[] = [];
      const wider = new Set<string>();
      const found = { valid: 0, invalid: 0 };
      for (const { side, entry, value, name, valid, expressible: isExpressible } of cases) {
        const accepted = compiled.isAssignable(name, side.name);
        found[valid ? 'valid' : 'invalid']++;
        const told = `${entry.path} ${side.name.replace(/\d+/, '')}: ${JSON.stringify(value).slice(0, 300)} ${compiled.textOf(side.name).slice(0, 300)}`;
        if (valid && !accepted) narrower.push(told);
        if (!isExpressible && accepted) wider.add(`${entry.path} ${side.name.replace(/\d+/, '')}`);
      }
      const sides = catalog.entries.flatMap((entry, index) => sidesOf(entry, index));
      const unknown = compile([declarations(catalog), INPUT, ...sides.map(({ name, type }) => `type ${name} = ${type};`)].join('\n'));
      const unsaid = sides
        .filter(({ name, schema }) => saysSomething(schema) && unknown.textOf(name) === 'unknown')
        .map(({ type }) => type);
      const compared = new Set(cases.map(({ side }) => side.name)).size;
      console.log(
        `${file}: of ${compared} types compared ${compared - wider.size} exact, ${wider.size} wider; ${unsaid.length} of ${sides.length} unknown; ` +
          `${found.valid} valid values, ${found.invalid} others${wider.size === 0 ? '' : `; wider: ${[...wider].slice(0, 5).join(', ')}`}`,
      );
      expect(narrower).toEqual([]);
      expect(unsaid).toEqual([]);
      expect(found.valid).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});
