// Says what is wrong with a value, in words a model can act on: every problem with its path from `$`, near misses with the
// right name, a choice of alternatives by the closest one. Not here: deciding whether a value is valid (validator.ts).
import type { ErrorObject } from 'ajv';
import { shorten } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';

/** How many problems are spelt out; the others are counted. */
const MAX_PROBLEMS = 12;

/** Where a group of errors that belong to another error begins; see `validator.ts`. */
interface ErrorMarks {
  readonly marks: readonly number[];
  readonly end: number;
}

/** `$.items[3].name`: a path that reads like the expression that the program's author would write. */
export function memberPath(path: string, key: PropertyKey): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const name = String(key);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

/** One text of many problems. `complete: false` says that the search for problems was given up. */
export function joinProblems(problems: readonly string[], { complete = true }: { complete?: boolean } = {}): string {
  const distinct = [...new Set(problems)];
  const shown = distinct.slice(0, MAX_PROBLEMS);
  const hidden = distinct.length - shown.length;
  if (!complete) shown.push('and many more');
  else if (hidden > 0) shown.push(`and ${hidden} more`);
  return shown.join('; ');
}

/** The problems that ajv (`allErrors`, `verbose`, with marks) found in `value`. */
export function describeErrors(errors: readonly ErrorObject[], value: unknown): string[] {
  return describeAll(nest(errors), value);
}

/** The problems of a Standard Schema. */
export function describeIssues(
  issues: readonly { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined }[],
): string[] {
  return issues.map(({ message, path = [] }) => {
    const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
    return `\`${keys.reduce<string>(memberPath, '$')}\`: ${shorten(message, 500)}`;
  });
}

/** The places of `value` that no JSON Schema can speak about, each with the way to pass it instead. */
export function findForeignValues(value: unknown): string[] {
  const problems: string[] = [];
  visit(value, '$', 0);
  return problems;

  function visit(node: unknown, path: string, depth: number): void {
    if (problems.length > MAX_PROBLEMS) return;
    const foreign = foreignWord(node);
    if (foreign !== undefined) {
      problems.push(`\`${path}\` ${foreign}`);
    } else if (typeof node === 'object' && node !== null) {
      if (depth === MAX_VALUE_DEPTH) {
        problems.push(`\`${shorten(path, 80)}\` is nested deeper than ${MAX_VALUE_DEPTH} levels, or contains itself`);
      } else if (Array.isArray(node)) {
        for (let index = 0; index < node.length; index++) {
          const item: unknown = node[index];
          if (isPlain(item)) continue;
          visit(item, `${path}[${index}]`, depth + 1);
        }
      } else {
        // A property that is undefined is a property that is not there, as in JSON.
        for (const key of Object.keys(node)) {
          const member: unknown = (node as Record<string, unknown>)[key];
          if (member !== undefined && !isPlain(member)) visit(member, memberPath(path, key), depth + 1);
        }
      }
    }
  }
}

/** Deeper values overflow the stack of whoever walks them next. */
const MAX_VALUE_DEPTH = 400;

/** Most values of most inputs; deciding them first saves building their paths. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || value === null || (typeof value === 'number' && Number.isFinite(value));
}

function foreignWord(value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot hold; pass a finite number or null`;
    case 'bigint':
      return 'is a BigInt; pass Number(value), or String(value) where a string is expected';
    case 'undefined':
      return 'is undefined; pass null, or leave it out';
    case 'symbol':
      return 'is a symbol; pass a string';
    case 'function':
      return 'is a function; pass plain data';
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value instanceof Map) return 'is a Map; pass Object.fromEntries(map)';
  if (value instanceof Set) return 'is a Set; pass [...set]';
  if (value instanceof Date) return 'is a Date; pass date.toISOString()';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    const name = value instanceof ArrayBuffer ? 'an ArrayBuffer' : `a ${value.constructor.name}`;
    return `holds bytes (is ${name}); pass Array.from(bytes), or a Base64 string where a string is expected`;
  }
  if (value instanceof Error) return 'is an Error; pass error.message';
  if (value instanceof RegExp) return 'is a RegExp; pass regexp.source';
  if (value instanceof Promise) return 'is a promise; await it first';
  return undefined;
}

/** An error with the errors that it sums up: one list for each alternative (`anyOf`, `oneOf`), or for what it looked at. */
interface Nested {
  readonly error: ErrorObject;
  readonly groups: readonly (readonly Nested[])[];
}

/** ajv lists the errors of alternatives flat, before the error that sums them up; the marks tell how many belong to it. */
function nest(errors: readonly ErrorObject[]): Nested[] {
  const nested: Nested[] = [];
  let end = errors.length;
  while (end > 0) {
    const error = errors[--end];
    if (error === undefined) break;
    const params = error.params as Partial<ErrorMarks>;
    const groups: Nested[][] = [];
    if (params.marks?.[0] !== undefined && params.end !== undefined) {
      // Marks count from the start of the function that set them; only differences carry over to this list.
      const shift = end - params.end;
      for (const [index, mark] of params.marks.entries()) {
        groups.push(nest(errors.slice(mark + shift, (params.marks[index + 1] ?? params.end) + shift)));
      }
      end = params.marks[0] + shift;
    }
    nested.push({ error, groups });
  }
  return nested.reverse();
}

function describeAll(nested: readonly Nested[], root: unknown): string[] {
  const unionPaths = new Set(nested.filter(({ error }) => UNDECIDED.has(error.keyword)).map(({ error }) => error.instancePath));
  const lacking = new Map<string, string[]>();
  for (const { error } of nested) {
    if (error.keyword !== 'required') continue;
    const names = lacking.get(error.instancePath);
    if (names === undefined) lacking.set(error.instancePath, [missingProperty(error)]);
    else names.push(missingProperty(error));
  }
  return nested.flatMap((problem) => {
    const { error } = problem;
    switch (error.keyword) {
      case 'required': {
        // All names that one object lacks, in one sentence, at the place of the first.
        const names = lacking.get(error.instancePath) ?? [];
        if (names[0] !== missingProperty(error)) return [];
        return [
          `\`${pathOf(error, root)}\` lacks the required ${names.length === 1 ? 'property' : 'properties'} ${enumerate(names.map(code), 'and')}`,
        ];
      }
      case 'if':
        // It only says that `then` or `else` did not fit, and those speak for themselves.
        return nested.length > 1 ? [] : describeOne(error, root);
      case 'unevaluatedProperties':
      case 'unevaluatedItems':
        // Where no alternative fits, nothing that they name counts as named: noise until that is put right.
        return unionPaths.has(error.instancePath) ? [] : describeOne(error, root);
      case 'anyOf':
      case 'oneOf':
        return describeUnion(problem, root);
      case 'propertyNames':
        return describePropertyName(problem, root);
      default:
        return describeOne(error, root);
    }
  });
}

const UNDECIDED = new Set(['anyOf', 'oneOf', 'if']);

function describePropertyName({ error, groups }: Nested, root: unknown): string[] {
  const name = (error.params as { propertyName?: unknown }).propertyName;
  const why = groups.flat().map((problem) => wordsFor(problem.error));
  const rule = why.length > 0 ? `: a name there ${why.join(' and ')}` : '';
  return [`\`${pathOf(error, root)}\` has the property \`${shorten(String(name), 60)}\`, whose name is not allowed${rule}`];
}

/** `anyOf` or `oneOf`: never every alternative in full, but what is nearest to a repair. */
function describeUnion({ error, groups }: Nested, root: unknown): string[] {
  const path = pathOf(error, root);
  const passing = (error.params as { passingSchemas?: unknown }).passingSchemas;
  if (Array.isArray(passing)) {
    const numbers = passing.map((index) => `${Number(index) + 1}`);
    return [`\`${path}\` fits alternatives ${enumerate(numbers, 'and')} of ${countOf(error.schema)}, but should fit exactly one`];
  }
  let alternatives = flattenAlternatives(groups, error.instancePath);
  if (alternatives.length === 0) return describeOne(error, root);

  const simple = describeSimpleAlternatives(alternatives, error.instancePath);
  if (simple !== undefined) return [`\`${path}\` should be ${simple} (is ${show(error.data)})`];

  const total = alternatives.length;
  alternatives = keepIfAny(alternatives, (problems) => !problems.some((problem) => isKindProblem(problem, error.instancePath)));
  const tagged = describeTag(alternatives, error.instancePath, root);
  if (tagged !== undefined) return [tagged];
  alternatives = keepIfAny(alternatives, (problems) => !problems.some((problem) => isTagProblem(problem, error.instancePath)));
  const fewest = Math.min(...alternatives.map((problems) => problems.length));
  alternatives = alternatives.filter((problems) => problems.length === fewest);

  const texts = [...new Set(alternatives.map((problems) => describeAll(problems, root).join(' and ')))];
  if (texts.length === 1) return alternatives.length === 1 && alternatives[0] !== undefined ? describeAll(alternatives[0], root) : texts;
  const shown = texts.slice(0, 3).join(', or ');
  return [
    `\`${path}\` fits none of ${total} alternatives: ${shown}${texts.length > 3 ? `, or ${texts.length - 3} other alternatives` : ''}`,
  ];
}

type Alternatives = readonly (readonly Nested[])[];

/** A choice whose alternative is just another choice is one choice. */
function flattenAlternatives(groups: Alternatives, instancePath: string): Alternatives {
  return groups
    .filter((problems) => problems.length > 0)
    .flatMap((problems) => {
      const [only] = problems;
      if (problems.length !== 1 || only === undefined || !isUnion(only) || only.error.instancePath !== instancePath) return [problems];
      const inner = flattenAlternatives(only.groups, instancePath);
      return inner.length > 0 ? inner : [problems];
    });
}

function isUnion({ error }: Nested): boolean {
  return error.keyword === 'anyOf' || error.keyword === 'oneOf';
}

/** "a string, an array or one of "all", "none"": when each alternative fails for being of another kind altogether. */
function describeSimpleAlternatives(alternatives: Alternatives, instancePath: string): string | undefined {
  const types: string[] = [];
  const values: unknown[] = [];
  for (const problems of alternatives) {
    // `{ type: 'string', enum: [...] }` fails twice for a number; the enumeration says more.
    const atHere = problems.filter(({ error }) => error.instancePath === instancePath);
    if (atHere.length !== problems.length) return undefined;
    const literal = atHere.find(({ error }) => error.keyword === 'enum' || error.keyword === 'const')?.error;
    const type = atHere.find(({ error }) => error.keyword === 'type')?.error;
    if (literal !== undefined) values.push(...literalsOf(literal));
    else if (type !== undefined) types.push(...typesOf(type));
    else return undefined;
  }
  const words = [...new Set(types)].map(typeWord);
  if (values.length > 0)
    words.push(words.length === 0 ? listValues(values) : values.length === 1 ? show(values[0]) : `one of ${listValues(values, false)}`);
  return enumerate(words, 'or');
}

/** When every alternative wants another value of the same property, that property is the tag, and its values are the news. */
function describeTag(alternatives: Alternatives, instancePath: string, root: unknown): string | undefined {
  if (alternatives.length < 2) return undefined;
  const tags = alternatives.map((problems) => problems.filter((problem) => isTagProblem(problem, instancePath)).map(({ error }) => error));
  const [first = []] = tags;
  for (const { instancePath: tagPath } of first) {
    const errors = tags.map((candidates) => candidates.find((candidate) => candidate.instancePath === tagPath));
    if (errors.some((candidate) => candidate === undefined)) continue;
    const [sample] = first.filter((candidate) => candidate.instancePath === tagPath);
    if (sample === undefined) continue;
    const values = errors.flatMap((candidate) => (candidate === undefined ? [] : literalsOf(candidate)));
    return `\`${pathOf(sample, root)}\` should be ${listValues(values)} (is ${show(sample.data)})${meantValue(sample.data, values)}`;
  }
  return undefined;
}

/** The value itself is of the wrong kind for this alternative. */
function isKindProblem({ error }: Nested, instancePath: string): boolean {
  return error.instancePath === instancePath && (error.keyword === 'type' || error.keyword === 'const' || error.keyword === 'enum');
}

/** A direct property has another literal than this alternative wants. */
function isTagProblem({ error }: Nested, instancePath: string): boolean {
  if (error.keyword !== 'const' && error.keyword !== 'enum') return false;
  return error.instancePath.startsWith(`${instancePath}/`) && !error.instancePath.slice(instancePath.length + 1).includes('/');
}

function keepIfAny(alternatives: Alternatives, keep: (problems: readonly Nested[]) => boolean): Alternatives {
  const kept = alternatives.filter(keep);
  return kept.length > 0 ? kept : alternatives;
}

function describeOne(error: ErrorObject, root: unknown): string[] {
  const path = pathOf(error, root);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      if (error.schema !== false) break;
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      const known = propertyNames(error.parentSchema);
      const [meant] = nearest(name, known, 1);
      const hint =
        meant !== undefined ? `: did you mean \`${meant}\`?` : known.length > 0 ? ` (known: ${listNames(known)})` : ' (it takes none)';
      return [`\`${shorten(memberPath(path, name), 120)}\` is not a property here${hint}`];
    }
    case 'dependentRequired':
    case 'dependencies':
      return [`\`${path}\` has the property \`${String(params['property'])}\`, so it needs \`${String(params['missingProperty'])}\` too`];
    default:
  }
  return [`\`${path}\` ${wordsFor(error)}`];
}

/** The part of the sentence after the path: "should be at most 100 (is 250)". */
function wordsFor(error: ErrorObject): string {
  const { data } = error;
  const params = error.params as Record<string, unknown>;
  const limit = String(params['limit']);
  switch (error.keyword) {
    case 'type':
      return `should be ${enumerate(typesOf(error).map(typeWord), 'or')} (is ${show(data, true)})`;
    case 'enum':
    case 'const': {
      const values = literalsOf(error);
      return `should be ${listValues(values)} (is ${show(data)})${meantValue(data, values)}`;
    }
    case 'minimum':
      return `should be at least ${limit} (is ${show(data)})`;
    case 'maximum':
      return `should be at most ${limit} (is ${show(data)})`;
    case 'exclusiveMinimum':
      return `should be greater than ${limit} (is ${show(data)})`;
    case 'exclusiveMaximum':
      return `should be less than ${limit} (is ${show(data)})`;
    case 'multipleOf':
      return `should be a multiple of ${String(params['multipleOf'])} (is ${show(data)})`;
    case 'minLength':
      return `should have at least ${plural(limit, 'character')} (has ${characters(data)})`;
    case 'maxLength':
      return `should have at most ${plural(limit, 'character')} (has ${characters(data)})`;
    case 'minItems':
      return `should have at least ${plural(limit, 'item')} (has ${countOf(data)})`;
    case 'maxItems':
    case 'items':
    case 'additionalItems':
      return `should have at most ${plural(limit, 'item')} (has ${countOf(data)})`;
    case 'unevaluatedItems':
      return params['len'] === undefined
        ? 'has an item that is not allowed here'
        : `should have at most ${plural(String(params['len']), 'item')} (has ${countOf(data)})`;
    case 'minProperties':
      return `should have at least ${plural(limit, 'property', 'properties')} (has ${countOf(data)})`;
    case 'maxProperties':
      return `should have at most ${plural(limit, 'property', 'properties')} (has ${countOf(data)})`;
    case 'uniqueItems': {
      const [left, right] = params['pair'] as [number, number];
      return `should hold no item twice (items ${left} and ${right} are the same)`;
    }
    case 'contains': {
      const { minContains = 1, maxContains } = params as { minContains?: number; maxContains?: number };
      const most = maxContains === undefined ? '' : ` and at most ${maxContains}`;
      return `should contain at least ${minContains}${most} ${minContains === 1 && maxContains === undefined ? 'item' : 'items'} like ${show(error.schema)}`;
    }
    case 'pattern':
      return `should match the pattern /${shorten(String(params['pattern']), 200)}/ (is ${show(data)})`;
    case 'format': {
      const format = String(params['format']);
      const example = FORMAT_EXAMPLES[format];
      return `should be in the format ${format}${example === undefined ? '' : `, such as ${example}`} (is ${show(data)})`;
    }
    case 'not':
      return `should not fit ${show(error.schema)} (is ${show(data)})`;
    case 'required':
      return `lacks the required property \`${missingProperty(error)}\``;
    case 'false schema':
      return 'is not allowed here';
    case 'if':
      return `does not fit the \`${String(params['failingKeyword'])}\` part of its schema`;
    default:
      return `does not fit ${error.keyword}`;
  }
}

const FORMAT_EXAMPLES: Readonly<Record<string, string>> = {
  date: '2025-01-31',
  time: '09:30:00Z',
  'date-time': '2025-01-31T09:30:00Z',
  duration: 'P3DT12H',
  email: 'ada@example.com',
  hostname: 'www.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/path',
  url: 'https://example.com/path',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  'json-pointer': '/items/0',
  byte: 'aGVsbG8=',
};

function pathOf(error: ErrorObject, root: unknown): string {
  let path = '$';
  let node = root;
  for (const segment of error.instancePath.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    path = memberPath(path, Array.isArray(node) ? Number(key) : key);
    node = typeof node === 'object' && node !== null && Object.hasOwn(node, key) ? (node as Record<string, unknown>)[key] : undefined;
  }
  return shorten(path, 200);
}

function missingProperty(error: ErrorObject): string {
  return String((error.params as { missingProperty?: unknown }).missingProperty);
}

function literalsOf(error: ErrorObject): unknown[] {
  if (error.keyword === 'const') return [error.schema];
  return Array.isArray(error.schema) ? error.schema : [];
}

function typesOf(error: ErrorObject): string[] {
  const types = ([] as unknown[]).concat(error.schema).map(String);
  return error.parentSchema?.['nullable'] === true && !types.includes('null') ? [...types, 'null'] : types;
}

function typeWord(type: string): string {
  switch (type) {
    case 'null':
      return 'null';
    case 'integer':
      return 'a whole number';
    case 'array':
    case 'object':
      return `an ${type}`;
    default:
      return `a ${type}`;
  }
}

/** Names of properties that a schema knows, as far as it says so itself and in its parts. */
function propertyNames(schema: unknown, depth = 0): string[] {
  if (typeof schema !== 'object' || schema === null || depth > 4) return [];
  const { properties, allOf, anyOf, oneOf, ...others } = schema as Record<string, unknown>;
  const parts = [allOf, anyOf, oneOf].flatMap((part) => (Array.isArray(part) ? (part as unknown[]) : []));
  const conditional = [others['if'], others['then'], others['else']];
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [...new Set([...own, ...[...parts, ...conditional].flatMap((part) => propertyNames(part, depth + 1))])];
}

function meantValue(data: unknown, values: readonly unknown[]): string {
  if (typeof data !== 'string') return '';
  const strings = values.filter((value) => typeof value === 'string');
  const [meant] = nearest(data, strings, 1);
  return meant === undefined || values.length === 1 ? '' : `: did you mean ${JSON.stringify(meant)}?`;
}

const MAX_LISTED = 10;

/** "one of "a", "b"", or the one value alone; long lists are cut. */
function listValues(values: readonly unknown[], withIntroduction = true): string {
  const distinct = [...new Set(values.map((value) => show(value)))];
  if (distinct.length === 1 && distinct[0] !== undefined) return distinct[0];
  const shown = distinct.slice(0, MAX_LISTED).join(', ');
  const hidden = distinct.length - MAX_LISTED;
  return `${withIntroduction ? 'one of ' : ''}${shown}${hidden > 0 ? ` and ${hidden} more` : ''}`;
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map((name) => code(shorten(name, 60)));
  return `${shown.join(', ')}${names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''}`;
}

function code(name: string): string {
  return `\`${name}\``;
}

/** "a, b or c". */
function enumerate(words: readonly string[], conjunction: 'and' | 'or'): string {
  if (words.length <= 1) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1) ?? ''}`;
}

function plural(count: string, one: string, many: string = `${one}s`): string {
  return `${count} ${count === '1' ? one : many}`;
}

function characters(data: unknown): number {
  return typeof data === 'string' ? [...data].length : 0;
}

function countOf(data: unknown): number {
  if (Array.isArray(data)) return data.length;
  return typeof data === 'object' && data !== null ? Object.keys(data).length : 0;
}

/** A value in a sentence, short. `withType` names the type where the value alone would not tell. */
function show(value: unknown, withType = false): string {
  switch (typeof value) {
    case 'string':
      return `${withType ? 'the string ' : ''}${shorten(JSON.stringify(value), 100)}`;
    case 'object': {
      if (value === null) return 'null';
      if (withType) return Array.isArray(value) ? 'an array' : 'an object';
      const text = Array.isArray(value) && value.length > 20 ? '' : Object.keys(value).length > 20 ? '' : JSON.stringify(value);
      if (text !== '' && text.length <= 100) return text;
      return Array.isArray(value) ? `an array of ${plural(String(value.length), 'item')}` : 'an object';
    }
    default:
      return String(value);
  }
}
