// JSON Schema and Standard Schema made one: a `Schema` checks a value and has a JSON Schema to show. Past this file nobody
// asks where a schema came from. Not here: how ajv is driven (validator.ts) and how problems are worded (problems.ts).
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { CodeModeError } from '../protocol/errors.ts';
import { CheckOverrun } from './allowance.ts';
import { type Dialect, declaredDialect, type JsonSchema, META_SCHEMAS, prepare } from './dialect.ts';
import { FORMATS } from './format.ts';
import { copyJson, describe } from './json.ts';
import { describeErrors, describeIssues, findForeignValues, joinProblems } from './problems.ts';
import { Validator } from './validator.ts';

export type { JsonSchema } from './dialect.ts';

/** Outcome of checking one value. `value` is what goes on: the parsed output of a Standard Schema, else the value itself. */
export type ParseResult =
  | { readonly ok: true; readonly value: unknown }
  /** One readable sentence fragment: every problem (capped) with its path from `$`, joined by `; `. */
  | { readonly ok: false; readonly message: string };

/** A compiled schema. `parse` may be sync or async (Standard Schema allows both) and never throws for a bad value. */
export interface Schema {
  readonly jsonSchema: JsonSchema;
  parse(value: unknown): ParseResult | Promise<ParseResult>;
}

/** What tools may be described with: JSON Schema, or a schema of zod, valibot, arktype or any other Standard Schema library. */
export type SchemaLike = JsonSchema | StandardSchemaV1;

export interface SchemaOptions {
  /** Which side of a Standard Schema is shown: what it takes (`input`, the default) or what it makes of that (`output`). */
  readonly side?: 'input' | 'output';
  /** The JSON Schema to show for a Standard Schema, where its library offers none or a better one is at hand. It checks nothing. */
  readonly jsonSchema?: unknown;
}

/**
 * Takes a JSON Schema or a Standard Schema. `where` begins the message of the error that is thrown (`schema_invalid`) when it is
 * neither, or not a valid one: "The input schema of tool `x`".
 *
 * For a Standard Schema, the JSON Schema to show is, in this order: `jsonSchema`; what the schema says itself (`~standard.jsonSchema`,
 * or a method `toJSONSchema`/`toJsonSchema`); `{}`, which says "any value". Checking is always the library's own.
 */
export function toSchema(schema: unknown, where: string, { side = 'input', jsonSchema }: SchemaOptions = {}): Schema {
  if (!isStandardSchema(schema)) {
    if (jsonSchema === undefined) return compileJsonSchema(schema, where);
    throw new CodeModeError('schema_invalid', `${where} is a JSON Schema already; a second one to show is only for schemas of a library.`);
  }
  const standard = schema['~standard'];
  const shown = jsonSchema === undefined ? convertStandardSchema(schema, side) : copySchema(jsonSchema, `${where}, as it is shown,`);
  return Object.freeze({
    jsonSchema: shown,
    parse(value: unknown): ParseResult | Promise<ParseResult> {
      const result = standard.validate(value);
      return result instanceof Promise ? result.then(toParseResult) : toParseResult(result);
    },
  });
}

export interface JsonSchemaOptions {
  /** Whether `format` is checked (the default) or only a remark. */
  readonly formats?: boolean;
  /** Other schemas that a `$ref` may name, by address. Nothing is ever fetched. */
  readonly remotes?: Readonly<Record<string, JsonSchema>>;
}

/**
 * Compiles a JSON Schema: draft-07, 2019-09 or 2020-12 as its `$schema` says; without one 2020-12, or draft-07 when only that
 * meta-schema accepts it (tuples as `items: [...]`). The schema is copied and frozen, and checked against its meta-schema at once;
 * the code for checking values is made at the first value. Values are checked, never changed: no coercion, no defaults.
 *
 * Tolerated, because real servers send them: unknown keywords and formats, `nullable`, references that lead nowhere (they accept
 * anything). Throws `schema_invalid`, with the path in the schema, for anything else that is wrong with it.
 */
export function compileJsonSchema(schema: unknown, where: string, { formats = true, remotes = {} }: JsonSchemaOptions = {}): Schema {
  const jsonSchema = copySchema(schema, where);
  const dialect = findDialect(jsonSchema, where);
  const prepared = prepare(jsonSchema, { dialect, formats: FORMATS });
  if (prepared.badPattern !== undefined) {
    const { path, problem } = prepared.badPattern;
    throw new CodeModeError('schema_invalid', `${where} is not valid: \`${path}\` is not a regular expression (${problem}).`, {
      details: { path },
    });
  }
  const others = new Map(
    Object.entries(remotes).map(([address, remote]) => [address, prepare(remote, { dialect, formats: FORMATS }).schema]),
  );
  const validator = new Validator(prepared.schema, { dialect, formats, meta: prepared.refersToMeta || others.size > 0, remotes: others });
  // Only compiling shows whether names clash or references run in circles; they are rare enough to pay for that at once.
  if (prepared.hasReferences) compileOrThrow(validator, where);
  return Object.freeze({ jsonSchema, parse: (value: unknown) => checkValue(value, validator, where) });
}

function checkValue(value: unknown, validator: Validator, where: string): ParseResult {
  const foreign = findForeignValues(value);
  if (foreign.length > 0) return { ok: false, message: joinProblems(foreign) };
  compileOrThrow(validator, where);
  try {
    if (validator.accepts(value)) return { ok: true, value };
  } catch (error) {
    return { ok: false, message: `\`$\` could not be checked: ${reasonOf(error)}` };
  }
  try {
    const { errors, complete } = validator.explain(value);
    return { ok: false, message: joinProblems(describeErrors(errors, value), { complete }) || NO_REASON };
  } catch (error) {
    // The verdict stands even if nobody can say why.
    return { ok: false, message: `${NO_REASON} (and ${reasonOf(error)})` };
  }
}

const NO_REASON = '`$` does not fit the schema';

/** The reasons for which a check may end without an answer. Anything else is a fault and passes on. */
function reasonOf(error: unknown): string {
  if (error instanceof CheckOverrun) return error.message;
  if (error instanceof RangeError) return 'it is nested too deeply for its schema';
  throw error;
}

function compileOrThrow(validator: Validator, where: string): void {
  try {
    validator.compile();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CodeModeError('schema_invalid', `${where} cannot be compiled: ${why}.`, { cause: error });
  }
}

/** A frozen copy, so that later changes by its owner have no effect. */
function copySchema(schema: unknown, where: string): JsonSchema {
  const isSchema = typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null && !Array.isArray(schema));
  if (!isSchema) {
    const example = '{ "type": "object", "properties": { … } }';
    throw new CodeModeError(
      'schema_invalid',
      `${where} should be a JSON Schema such as ${example}, or a Standard Schema (zod, valibot, arktype, …), not ${describe(schema)}.`,
    );
  }
  const copy = copyJson(schema);
  if (!copy.ok) throw new CodeModeError('schema_invalid', `${where} is not JSON: ${copy.problem}.`);
  // Copying keeps the kind: a boolean, or an object.
  return copy.value as JsonSchema;
}

/** The dialect whose meta-schema accepts the schema. */
function findDialect(schema: JsonSchema, where: string): Dialect {
  const declared = declaredDialect(schema);
  const dialect = declared ?? '2020-12';
  const meta = metaValidators.of(dialect);
  if (meta.accepts(schema)) return dialect;
  if (declared === undefined && metaValidators.of('draft-07').accepts(schema)) return 'draft-07';
  const { errors, complete } = meta.explain(schema);
  const problems = joinProblems(describeErrors(errors, schema), { complete });
  throw new CodeModeError('schema_invalid', `${where} is not valid JSON Schema (${dialect}): ${problems}.`, { details: { dialect } });
}

/**
 * The meta-schemas, compiled at first use. They are constants of the standard and hold nothing of the schemas that they check;
 * they are kept because compiling one takes longer than checking a thousand schemas.
 */
class MetaValidators {
  readonly #validators = new Map<Dialect, Validator>();

  of(dialect: Dialect): Validator {
    let validator = this.#validators.get(dialect);
    if (validator === undefined) {
      validator = new Validator({ $ref: `${META_SCHEMAS[dialect]}#` }, { dialect, formats: false, meta: true });
      this.#validators.set(dialect, validator);
    }
    return validator;
  }
}

const metaValidators = new MetaValidators();

/** Libraries whose schemas are functions (arktype) count too. */
function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || !('~standard' in schema)) return false;
  const standard = schema['~standard'];
  return typeof standard === 'object' && standard !== null && 'validate' in standard && typeof standard.validate === 'function';
}

function toParseResult(result: StandardSchemaV1.Result<unknown>): ParseResult {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, message: joinProblems(describeIssues(result.issues)) || NO_REASON };
}

/** What a library's schema says of itself as JSON Schema; `{}` when it cannot. What is shown never decides what is accepted. */
function convertStandardSchema(schema: StandardSchemaV1, side: 'input' | 'output'): JsonSchema {
  const { jsonSchema } = schema['~standard'] as { jsonSchema?: Record<typeof side, (options: object) => unknown> };
  const { toJSONSchema, toJsonSchema } = schema as { toJSONSchema?: unknown; toJsonSchema?: unknown };
  const ways = [
    // A part that JSON Schema cannot express should not cost the whole: zod then shows it as `{}`.
    () => jsonSchema?.[side]({ target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } }),
    () => jsonSchema?.[side]({ target: 'draft-2020-12' }),
    () => (typeof toJSONSchema === 'function' ? toJSONSchema.call(schema, { io: side, unrepresentable: 'any' }) : undefined),
    () => (typeof toJsonSchema === 'function' ? toJsonSchema.call(schema) : undefined),
  ];
  for (const way of ways) {
    try {
      const copy = copyJson(way());
      if (copy.ok && typeof copy.value === 'object' && copy.value !== null) return copy.value as JsonSchema;
    } catch {
      // Not every schema can be expressed; the next way, or `{}`.
    }
  }
  return Object.freeze({});
}
