// ajv for one schema: two compiled functions, one that decides and one that finds every problem. Each schema has its own ajv
// instance, so that nothing (`$id`s, errors, memory) passes from one tool to another. Not here: wording (problems.ts).
import {
  _,
  Ajv,
  type AnySchema,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  MissingRefError,
  Name,
  type Options,
} from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Allowance } from './allowance.ts';
import type { Dialect, JsonSchema } from './dialect.ts';
import { boundedFormat, FORMATS } from './format.ts';
import { compilePattern } from './pattern.ts';

/** What a validator is made from. */
export interface ValidatorOptions {
  readonly dialect: Dialect;
  /** Whether `format` is checked, or only a remark. */
  readonly formats: boolean;
  /** Whether the schema may refer to the meta-schemas of its dialect. */
  readonly meta: boolean;
  /** Other schemas that a `$ref` may name, by address. */
  readonly remotes?: ReadonlyMap<string, JsonSchema>;
}

/** Every problem of a value; `complete` is false when the search was given up because there are too many. */
export interface Findings {
  readonly errors: readonly ErrorObject[];
  readonly complete: boolean;
}

/** Compiles at first use. Throws whatever ajv throws for a schema that it cannot compile. */
export class Validator {
  readonly #schema: JsonSchema;
  readonly #options: ValidatorOptions;
  readonly #allowance = new Allowance();
  #decide: ((value: unknown) => boolean) | undefined;
  #explain: ((value: unknown) => Findings) | undefined;

  constructor(schema: JsonSchema, options: ValidatorOptions) {
    this.#schema = schema;
    this.#options = options;
  }

  /** Whether the value is valid. Throws `CheckOverrun` when that takes too long to say. */
  accepts(value: unknown): boolean {
    const decide = this.compile();
    this.#allowance.start();
    return decide(value);
  }

  /** Why a value is not valid. To be asked only about values that are not: a failing choice may list errors that do not count. */
  explain(value: unknown): Findings {
    this.#explain ??= compileExplain(this.#schema, this.#options, this.#allowance);
    this.#allowance.start();
    return this.#explain(value);
  }

  compile(): (value: unknown) => boolean {
    this.#decide ??= compileDecide(this.#schema, this.#options, this.#allowance);
    return this.#decide;
  }
}

/** Stops at the first problem, so that a huge wrong value makes no huge list of errors. */
function compileDecide(schema: JsonSchema, options: ValidatorOptions, allowance: Allowance): (value: unknown) => boolean {
  const ajv = createAjv(options, allowance, { allErrors: false });
  instrument(ajv, { step: () => allowance.step(), withMarks: false });
  const validate = ajv.compile(schema);
  return (value) => validate(value) === true;
}

/** Errors beyond this number are not looked for: a model reads a dozen, and ajv's way of joining them is quadratic. */
const MAX_ERRORS = 1_000;

class TooManyErrors extends Error {
  readonly errors: readonly ErrorObject[];

  constructor(errors: readonly ErrorObject[]) {
    super('too many errors');
    this.errors = errors;
  }
}

function compileExplain(schema: JsonSchema, options: ValidatorOptions, allowance: Allowance): (value: unknown) => Findings {
  const ajv = createAjv(options, allowance, { allErrors: true, verbose: true });
  instrument(ajv, {
    step: (errors) => {
      allowance.step();
      if (errors !== null && errors.length > MAX_ERRORS) throw new TooManyErrors(errors);
    },
    withMarks: true,
  });
  const validate = ajv.compile(schema);
  return (value) => {
    try {
      validate(value);
      return { errors: validate.errors ?? [], complete: true };
    } catch (error) {
      if (error instanceof TooManyErrors) return { errors: error.errors, complete: false };
      throw error;
    }
  };
}

function createAjv({ dialect, formats, meta, remotes }: ValidatorOptions, allowance: Allowance, mode: Options): Ajv {
  const Edition = dialect === 'draft-07' ? Ajv : dialect === '2019-09' ? Ajv2019 : Ajv2020;
  const ajv = new Edition({
    ...mode,
    strict: false,
    logger: false,
    messages: false,
    meta,
    // Schemas are checked against their meta-schema when they are defined (schema.ts), not when they are compiled.
    validateSchema: false,
    // `toString` is not a property of every object.
    ownProperties: true,
    validateFormats: formats,
    ignoreKeywordsWithRef: dialect === 'draft-07',
    code: { regExp: Object.assign((pattern: string) => compilePattern(pattern, allowance), { code: 'compilePattern' }) },
  });
  if (formats) for (const name of FORMATS) ajv.addFormat(name, boundedFormat(name, allowance));
  for (const [address, remote] of remotes ?? []) ajv.addSchema(remote as AnySchema, address);
  return ajv;
}

/** Keywords that look at several parts of a value or at several schemas: each look is a step of the allowance. */
const LOOPS = [
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'additionalItems',
  'additionalProperties',
  'anyOf',
  'contains',
  'items',
  'oneOf',
  'patternProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
];

/** Keywords whose error sums up errors that were listed before it. */
const SUMS = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames']);

/** Names of ajv's generated code: the errors so far, and how many of them count. */
const V_ERRORS = new Name('vErrors');
const ERRORS = new Name('errors');

interface Instruments {
  step(errors: readonly ErrorObject[] | null): void;
  readonly withMarks: boolean;
}

/**
 * Gives this instance's keywords what ajv lacks: a way out of endless work (`step`), references that lead nowhere, `uniqueItems`
 * without comparing every pair, and marks that tell which errors belong to which alternative.
 */
function instrument(ajv: Ajv, { step, withMarks }: Instruments): void {
  function countStep({ gen }: KeywordCxt): void {
    gen.code(_`${gen.scopeValue('func', { ref: step })}(${V_ERRORS})`);
  }

  for (const keyword of LOOPS) {
    redefine(ajv, keyword, (original) => {
      const marksOf = new WeakMap<KeywordCxt, Name>();
      const code = (cxt: KeywordCxt): void => {
        const marks = withMarks && SUMS.has(keyword) ? cxt.gen.let('marks', _`[]`) : undefined;
        if (marks !== undefined) marksOf.set(cxt, marks);
        if (keyword.startsWith('$')) countStep(cxt);
        const subschema = cxt.subschema.bind(cxt);
        cxt.subschema = (application, valid) => {
          countStep(cxt);
          if (marks !== undefined) cxt.gen.code(_`${marks}.push(${ERRORS})`);
          return subschema(application, valid);
        };
        if (keyword === '$ref') acceptIfUnresolved(cxt, original.code);
        else original.code(cxt);
      };
      const { error } = original;
      if (error === undefined || !withMarks || !SUMS.has(keyword)) return { ...original, code };
      // `contains` and the alternatives sum up everything since their first mark, a property name only what was said of itself.
      const params: NonNullable<typeof error.params> = (cxt) => {
        const known = typeof error.params === 'function' ? error.params(cxt as KeywordCxt) : (error.params ?? _`{}`);
        const marks = marksOf.get(cxt as KeywordCxt);
        if (marks === undefined) return known;
        const relevant = keyword === 'propertyNames' ? _`${marks}.slice(-1)` : marks;
        return _`{...${known}, marks: ${relevant}, end: ${ERRORS}}`;
      };
      return { ...original, code, error: { ...error, params } };
    });
  }

  redefine(ajv, 'enum', (original) => ({
    ...original,
    code(cxt) {
      // No value is one of none; ajv refuses to compile that.
      if (Array.isArray(cxt.schema) && cxt.schema.length === 0) cxt.fail(_`true`);
      else original.code(cxt);
    },
  }));

  redefine(ajv, 'uniqueItems', (original) => ({
    ...original,
    error: { message: 'must hold no item twice', params: ({ params }) => _`{pair: ${params['pair']}}` },
    code(cxt) {
      if (cxt.schema !== true) return;
      const pair = cxt.gen.const('pair', _`${cxt.gen.scopeValue('func', { ref: findEqualItems })}(${cxt.data})`);
      cxt.setParams({ pair });
      cxt.fail(_`${pair} !== undefined`);
    },
  }));
}

/** Replaces what a keyword does in this instance; the rule keeps its place in the order, on which `unevaluated…` depends. */
function redefine(ajv: Ajv, keyword: string, change: (original: CodeKeywordDefinition) => CodeKeywordDefinition): void {
  const rule = ajv.RULES.all[keyword];
  if (typeof rule !== 'object' || !('code' in rule.definition)) return;
  const changed = change(rule.definition as CodeKeywordDefinition);
  rule.definition = changed as typeof rule.definition;
}

/** A reference that leads nowhere accepts anything: real servers send them, and the rest of their schema is still good. */
function acceptIfUnresolved(cxt: KeywordCxt, code: (cxt: KeywordCxt) => void): void {
  try {
    code(cxt);
  } catch (error) {
    if (!(error instanceof MissingRefError)) throw error;
    cxt.it.props = true;
    cxt.it.items = true;
  }
}

/** The positions of two equal items, if any. Linear: a hostile array of a hundred thousand objects has five billion pairs. */
function findEqualItems(items: readonly unknown[]): [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const key = canonical(item);
    const earlier = seen.get(key);
    if (earlier !== undefined) return [earlier, index];
    seen.set(key, index);
  }
  return undefined;
}

/** One text for equal JSON values: members in order of their names. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = value as Record<string, unknown>;
  return `{${Object.keys(members)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(members[key])}`)
    .join(',')}}`;
}
