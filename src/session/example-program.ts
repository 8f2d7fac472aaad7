// A small program made from the tools of a catalog, as an example for a model: right for the type check, of two related tools where there are
// such. Not here: what stands around it (instructions.ts).
import type { Catalog, CatalogEntry } from '../tools/catalog.ts';
import type { JsonSchema } from '../tools/schema.ts';
import { memberName } from '../tools/typescript/comment.ts';

/** Longest input of one call, in UTF-16 units; tools that need more are poor examples. */
const INPUT_LENGTH = 80;
/** Longest program, in UTF-16 units. */
const PROGRAM_LENGTH = 280;
/** Tools that are looked at. */
const MOST_TOOLS = 300;
/** The effort from which on a tool is one that writes, and twice that for one that destroys. */
const WRITING = 100;
/** Levels of an input that are filled in. */
const DEPTH = 4;

/** A program of two to four lines, or nothing where no tool is simple enough. The same for the same tools. */
export function exampleProgram(catalog: Catalog): string | undefined {
  const calls = catalog.entries
    .slice(0, MOST_TOOLS)
    .flatMap((entry) => callOf(entry) ?? [])
    .sort((a, b) => a.effort - b.effort);
  for (const make of [chained, sideBySide, alone]) {
    const program = make(calls);
    if (program !== undefined && program.length <= PROGRAM_LENGTH) return program;
  }
  return undefined;
}

/** A tool with an input that it takes. */
interface Call {
  readonly entry: CatalogEntry;
  /** Source text of each required member, by name. */
  readonly input: ReadonlyMap<string, string>;
  readonly text: string;
  /** The less, the better an example. */
  readonly effort: number;
}

function callOf(entry: CatalogEntry): Call | undefined {
  const schema = entry.tool.inputSchema;
  const input = new Map<string, string>();
  if (typeof schema === 'object') {
    const filler = new Filler(schema);
    if (!filler.isPlainObject) return undefined;
    for (const name of filler.required) {
      const value = filler.member(name);
      if (value === undefined) return undefined;
      input.set(name, value);
    }
  }
  const text = inputText(input);
  if (text.length > INPUT_LENGTH) return undefined;
  // Reading is a better example than writing, and few arguments than many.
  const writes = READING.test(entry.tool.name) ? 0 : entry.tool.annotations?.readOnlyHint === true ? 1 : WRITING;
  const isDestructive = entry.tool.annotations?.destructiveHint === true || DESTRUCTIVE.test(entry.tool.name);
  return { entry, input, text, effort: text.length / 2 + writes + (isDestructive ? 2 * WRITING : 0) + (input.size === 0 ? 10 : 0) };
}

const READING = /(?:^|[^a-z])(?:get|list|search|find|read|fetch|query|lookup|show|describe)|(?:List|Get|Search|Find|Read|Fetch)[A-Z]/;
const DESTRUCTIVE = /delete|remove|destroy|drop|cancel|kill|reset|purge/i;

/** One tool lists things, and the other takes something of each. */
function chained(calls: readonly Call[]): string | undefined {
  for (const lister of calls) {
    if (lister.effort >= WRITING) continue;
    const list = listIn(lister.entry.tool.outputSchema);
    if (list === undefined) continue;
    for (const taker of calls) {
      if (taker === lister || taker.effort >= WRITING || taker.input.size === 0 || namespaceOf(taker) !== namespaceOf(lister)) continue;
      const taken = [...taker.input.keys()].filter((member) => {
        const type = typeOf(memberOf(taker.entry.tool.inputSchema, member));
        return type !== undefined && type === list.members.get(member);
      });
      const [name] = taken;
      if (name === undefined || !isIdentifier(name)) continue;
      // What an item does not have was given to the first call.
      if ([...taker.input.keys()].some((other) => other !== name && lister.input.get(other) === undefined)) continue;
      const input = inputText(
        new Map([...taker.input].map(([key, value]) => [key, key === name ? key : (lister.input.get(key) ?? value)])),
      );
      return `const found = await ${call(lister)};
const details = await Promise.all(found${list.path}.slice(0, 3).map(({ ${name} }) => tools.${taker.entry.path}(${input})));
return details;`;
    }
  }
  return undefined;
}

/** Two tools of one kind at a time. */
function sideBySide(calls: readonly Call[]): string | undefined {
  for (const [index, first] of calls.slice(0, 40).entries()) {
    if (first.effort >= 2 * WRITING) return undefined;
    const second = calls.slice(index + 1).find((other) => other.effort < 2 * WRITING && areRelated(first, other));
    if (second === undefined) continue;
    return `const [first, second] = await Promise.all([
  ${call(first)},
  ${call(second)},
]);
return { first, second };`;
  }
  return undefined;
}

function alone([only]: readonly Call[]): string | undefined {
  return only === undefined ? undefined : `const result = await ${call(only)};\nconsole.log(result);\nreturn result;`;
}

function areRelated(first: Call, second: Call): boolean {
  if (namespaceOf(first) !== namespaceOf(second)) return false;
  const shared = [...first.input.keys()].filter((name) => second.input.has(name));
  return shared.length > 0 || namespaceOf(first) !== '';
}

function namespaceOf({ entry }: Call): string {
  return entry.segments.slice(0, -1).join('.');
}

function call({ entry, text }: Call): string {
  return `tools.${entry.path}(${text})`;
}

function inputText(input: ReadonlyMap<string, string>): string {
  if (input.size === 0) return '';
  return `{ ${[...input].map(([name, value]) => (name === value ? name : `${memberName(name)}: ${value}`)).join(', ')} }`;
}

/** Where an output has its list, and the simple members that each item surely has. */
function listIn(schema: JsonSchema | undefined): { readonly path: string; readonly members: ReadonlyMap<string, string> } | undefined {
  if (typeof schema !== 'object') return undefined;
  const own = membersOfItems(schema);
  if (own !== undefined) return { path: '', members: own };
  const filler = new Filler(schema);
  for (const name of filler.required) {
    const members = membersOfItems(filler.schemaOf(name));
    if (members !== undefined && isIdentifier(name)) return { path: `.${name}`, members };
  }
  return undefined;
}

function membersOfItems(schema: JsonSchema | undefined): ReadonlyMap<string, string> | undefined {
  if (typeof schema !== 'object' || schema['type'] !== 'array') return undefined;
  const items = schema['items'];
  if (typeof items !== 'object' || items === null) return undefined;
  const filler = new Filler(items as JsonSchema & object);
  const members = new Map(
    filler.required.flatMap((name) => {
      const type = typeOf(filler.schemaOf(name));
      return type === undefined ? [] : [[name, type] as const];
    }),
  );
  return members.size === 0 ? undefined : members;
}

function memberOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  return typeof schema === 'object' ? new Filler(schema).schemaOf(name) : undefined;
}

/** A simple type that two schemas can have in common. */
function typeOf(schema: JsonSchema | undefined): string | undefined {
  if (typeof schema !== 'object' || 'enum' in schema || 'const' in schema) return undefined;
  const { type } = schema;
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'string' ? 'string' : undefined;
}

/** Fills in values that a schema accepts, as source text. */
class Filler {
  readonly #root: Readonly<Record<string, unknown>>;

  constructor(schema: JsonSchema & object) {
    this.#root = schema as Readonly<Record<string, unknown>>;
  }

  /** Nothing but members: what unions and conditions ask for beside them is not known here. */
  get isPlainObject(): boolean {
    const { type } = this.#root;
    if (type !== undefined && type !== 'object') return false;
    return !['allOf', 'anyOf', 'oneOf', 'not', 'if', '$ref', 'const', 'enum', 'dependentRequired', 'dependencies', 'minProperties'].some(
      (keyword) => keyword in this.#root,
    );
  }

  get required(): readonly string[] {
    const { required } = this.#root;
    return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
  }

  schemaOf(name: string): JsonSchema | undefined {
    const { properties } = this.#root;
    if (!isRecord(properties) || !Object.hasOwn(properties, name)) return undefined;
    const schema = properties[name];
    return isRecord(schema) ? schema : undefined;
  }

  member(name: string): string | undefined {
    const schema = this.schemaOf(name);
    return schema === undefined ? undefined : this.#value(schema, name, 0);
  }

  #value(schema: unknown, name: string, depth: number): string | undefined {
    if (depth > DEPTH || !isRecord(schema)) return undefined;
    for (const given of [schema['const'], ...listOf(schema['enum'])]) if (isSimple(given)) return JSON.stringify(given);
    if ('const' in schema || 'enum' in schema) return undefined;
    if (typeof schema['$ref'] === 'string') return this.#value(this.#resolve(schema['$ref']), name, depth + 1);
    if (['allOf', 'not', 'if'].some((keyword) => keyword in schema)) return undefined;
    for (const keyword of ['anyOf', 'oneOf']) {
      for (const choice of listOf(schema[keyword])) {
        const value = this.#value(choice, name, depth + 1);
        if (value !== undefined) return value;
      }
      if (keyword in schema) return undefined;
    }
    const [type] = Array.isArray(schema['type']) ? schema['type'] : [schema['type']];
    switch (type) {
      case 'string':
        return JSON.stringify(stringFor(schema, name));
      case 'integer':
      case 'number':
        return String(numberFor(schema));
      case 'boolean':
        return 'true';
      case 'array': {
        const item = this.#value(schema['items'], name.replace(/s$/, ''), depth + 1);
        if (item === undefined) return 'prefixItems' in schema || Array.isArray(schema['items']) ? undefined : '[]';
        return `[${item}]`;
      }
      case 'object': {
        const { required, properties } = schema;
        if ('minProperties' in schema) return undefined;
        const input = new Map<string, string>();
        for (const member of listOf(required)) {
          const inner =
            typeof member === 'string' && isRecord(properties) && Object.hasOwn(properties, member) ? properties[member] : undefined;
          const value = this.#value(inner, String(member), depth + 1);
          if (value === undefined) return undefined;
          input.set(String(member), value);
        }
        return input.size === 0 ? '{}' : inputText(input);
      }
      default:
        return undefined;
    }
  }

  /** Only what stands in the same schema. */
  #resolve(reference: string): unknown {
    let at: unknown = this.#root;
    if (!reference.startsWith('#/')) return undefined;
    for (const part of reference.slice(2).split('/')) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined;
      at = at[key];
    }
    return at;
  }
}

/** The schema's own example, else the name as a placeholder: a model sees what belongs there. */
function stringFor(schema: Readonly<Record<string, unknown>>, name: string): string {
  for (const given of [...listOf(schema['examples']), schema['example'], schema['default']])
    if (typeof given === 'string' && given !== '' && given.length <= 40) return given;
  return name;
}

function numberFor(schema: Readonly<Record<string, unknown>>): number {
  for (const given of [...listOf(schema['examples']), schema['default']])
    if (typeof given === 'number' && Number.isFinite(given)) return given;
  const { minimum, maximum } = schema;
  if (typeof minimum === 'number' && minimum > 1) return minimum;
  return typeof maximum === 'number' && maximum < 1 ? maximum : 1;
}

function isSimple(value: unknown): boolean {
  return (
    (typeof value === 'string' && value.length <= 60) || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isIdentifier(name: string): boolean {
  return memberName(name) === name && !RESERVED.has(name);
}

/** Words that cannot stand as a variable. */
const RESERVED: ReadonlySet<string> = new Set(
  'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield arguments eval'.split(
    ' ',
  ),
);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
