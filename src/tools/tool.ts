// What a tool is: the record that defineTool() makes and everything after it relies on. Checked once, here; past this
// point nobody checks a tool again. Not here: how values are checked (schema.ts), how tools are collected (provider.ts).
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { ToolResult } from '../artifacts/artifact.ts';
import type { KeptArtifact } from '../artifacts/kept.ts';
import { CodeModeError, shorten } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Binding, Run } from './binding.ts';
import { copyJson, describe } from './json.ts';
import { type JsonSchema, type Schema, type SchemaLike, toSchema } from './schema.ts';

/** MCP's hints about a tool, and whatever else the application wants to carry along. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
  readonly [key: string]: unknown;
}

/** What `execute` is given beside its input. Identity comes from here, never from arguments that a model chose. */
export interface ToolContext {
  /** The agent run that this call belongs to: its identity, `once`, `register`. */
  readonly run: Run;
  /** JSON working state of the run, shared by all its calls. */
  readonly state: Record<string, unknown>;
  readonly call: {
    /** Unique per call. */
    readonly id: string;
    /** `github.list_issues`: the tool's path in the catalog. */
    readonly path: string;
    /** The same if this call is ever repeated for the same program; for exactly-once writes. */
    readonly idempotencyKey: string;
  };
  /** The files of the run; absent unless `createCodeMode` has the option `workspace`. */
  readonly workspace?: Workspace | undefined;
  /** Aborted by `timeoutMs`, by the program's end and by the caller's signal. A reply after that is ignored. */
  readonly signal: AbortSignal;
  /** The artifacts of the run so far: a program passes the `id` of one as an argument, the tool gets the artifact itself. */
  readonly artifacts: RunArtifacts;
  /** A line for the observer (event `log`). The program does not see it. */
  log(message: string, fields?: unknown): void;
}

/** The artifacts of a run, as its tools see them. */
export interface RunArtifacts {
  /** The artifact of that id, with its metadata and its bytes (`await file.read()`). Throws a `ToolError` that the program can act on. */
  get(id: string): KeptArtifact;
  list(): readonly KeptArtifact[];
}

/** One checked tool. Made by `defineTool`; frozen. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** The input as JSON Schema, for declarations and for protocols that list tools. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly input: Schema;
  readonly output?: Schema;
  readonly exclusive: boolean;
  readonly timeoutMs?: number;
  readonly annotations?: ToolAnnotations;
  availableIf?(binding: Binding): boolean | Promise<boolean>;
  execute(input: unknown, context: ToolContext): unknown;
  close?(): void | Promise<void>;
}

/** What `defineTool` takes. */
export interface ToolDefinition<Input extends SchemaLike, Output extends SchemaLike, Returned extends ReturnOf<Output>> {
  /** 1 to 64 of `A-Z a-z 0-9 _ - .`. */
  readonly name: string;
  /** What the tool does and when to use it. The model reads it. */
  readonly description: string;
  /**
   * What the tool takes: a literal JSON Schema, or a schema of zod, valibot, arktype or another Standard Schema library, whose parsed
   * output is then the input of `execute`. Without one the tool takes nothing: `{}`, and any property is refused.
   */
  readonly inputSchema?: Input;
  /** The JSON Schema to show for an `inputSchema` of a library that cannot say it itself (such as valibot). It checks nothing. */
  readonly inputJsonSchema?: JsonSchema;
  /** What the tool returns. Without one nothing is checked, and the model is told of any value. */
  readonly outputSchema?: Output;
  /** As `inputJsonSchema`, for `outputSchema`. */
  readonly outputJsonSchema?: JsonSchema;
  /** Whether calls of this tool never overlap with calls of exclusive tools in the same run. Default: false. */
  readonly exclusive?: boolean;
  /** After this time `ctx.signal` is aborted and the call fails. Default: no limit but the program's own. */
  readonly timeoutMs?: number;
  /** Hints about the tool, passed along; they decide nothing here. */
  readonly annotations?: ToolAnnotations;
  /** Asked once per run, before the tool joins the catalog. Default: always available. */
  availableIf?(binding: Binding): boolean | Promise<boolean>;
  /** Does the work. `input` fits `inputSchema`; who asks, and for whom, is in `context`. Files go beside the value: `toolResult()`. */
  execute(input: InputOf<Input>, context: ToolContext): Returned | ToolResult<Returned> | Promise<Returned | ToolResult<Returned>>;
  /** Called once, when the run that used the tool ends. */
  close?(): void | Promise<void>;
}

/** What `execute` receives for an input schema. */
type InputOf<S extends SchemaLike> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : TypeOfJsonSchema<S>;

/** What `execute` may return for an output schema: what a Standard Schema takes, or what a JSON Schema accepts. */
export type ReturnOf<S extends SchemaLike> = Readable<S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : TypeOfJsonSchema<S>>;

/**
 * The type of a literal JSON Schema; `unknown` for a schema that is not known in detail (read from a file, sent by a server).
 * A property with a default stays optional, because defaults are not filled in.
 */
type TypeOfJsonSchema<S> = JsonSchema extends S
  ? unknown
  : S extends true
    ? unknown
    : string extends keyof S
      ? unknown
      : S extends JSONSchema
        ? FromSchema<S, { keepDefaultedPropertiesOptional: true }>
        : unknown;

/**
 * What may stand where a `T` is only read: read-only arrays and members too. The index signature that stands for "and other
 * properties" is left out, because an interface has none and may be returned all the same.
 */
type Readable<T> = T extends (...parameters: never[]) => unknown
  ? T
  : T extends readonly unknown[]
    ? { readonly [Index in keyof T]: Readable<T[Index]> }
    : T extends object
      ? { readonly [Key in keyof T as string extends Key ? (unknown extends T[Key] ? never : Key) : Key]: Readable<T[Key]> }
      : T;

/** The schema of a tool that takes nothing. */
export type NoInput = typeof NO_INPUT;

const NO_INPUT = Object.freeze({ type: 'object', properties: Object.freeze({}), additionalProperties: false } as const);

/**
 * Makes a tool. The types of `input` and of what `execute` returns follow from the schemas, also from a literal JSON Schema without
 * `as const`. Throws `CodeModeError` with code `name_invalid`, `schema_invalid` or `tool_invalid`, naming the tool and the option.
 */
export function defineTool<
  const Input extends SchemaLike = NoInput,
  const Output extends SchemaLike = true,
  // Its own parameter, and `const`: a returned literal keeps its type, and other properties than the known ones may be returned.
  const Returned extends ReturnOf<Output> = ReturnOf<Output>,
>(definition: ToolDefinition<Input, Output, Returned>): Tool {
  const options = readOptions(definition);
  const subject = `tool \`${options.name}\``;
  const input = toSchema(options.inputSchema === undefined ? NO_INPUT : options.inputSchema, `The input schema of ${subject}`, {
    side: 'input',
    jsonSchema: options.inputJsonSchema,
  });
  const output =
    options.outputSchema === undefined
      ? undefined
      : toSchema(options.outputSchema, `The output schema of ${subject}`, { side: 'output', jsonSchema: options.outputJsonSchema });
  const { name, description, exclusive = false, timeoutMs, annotations, availableIf, execute, close } = options;
  return Object.freeze({
    name,
    description,
    inputSchema: input.jsonSchema,
    input,
    ...(output !== undefined && { outputSchema: output.jsonSchema, output }),
    exclusive,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(annotations !== undefined && { annotations }),
    // Bound, so that a definition may be written with methods that use `this`.
    ...(availableIf !== undefined && { availableIf: availableIf.bind(definition) }),
    execute: execute.bind(definition),
    ...(close !== undefined && { close: close.bind(definition) }),
  });
}

/** What a program and its model may be told of a failure. */
export interface ToolErrorOptions {
  /** A constant for programs to branch on. Default: `tool_failed`. */
  readonly code?: string;
  /** JSON for the program: what it needs to do better. */
  readonly details?: unknown;
  /** Kept on the host, for the observer. */
  readonly cause?: unknown;
}

const TOOL_ERROR = Symbol.for('callgate.ToolError');

/**
 * Thrown by a tool to tell the program what went wrong: message, code and details are shown to it and to the model. Whatever else
 * a tool throws stays on the host. `ToolError.is(value)` also recognises errors of another copy of this package.
 */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';
  readonly code: string;
  readonly details: unknown;

  constructor(message: string, { code = 'tool_failed', details, cause }: ToolErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    Object.defineProperty(this, TOOL_ERROR, { value: true });
  }

  static is(value: unknown): value is ToolError {
    return typeof value === 'object' && value !== null && TOOL_ERROR in value;
  }
}

/** The options as they may be relied on: each checked, JavaScript callers have no compiler. */
interface Options {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: unknown;
  readonly inputJsonSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly outputJsonSchema?: unknown;
  readonly exclusive?: boolean;
  readonly timeoutMs?: number;
  readonly annotations?: ToolAnnotations;
  readonly availableIf?: NonNullable<Tool['availableIf']>;
  readonly execute: Tool['execute'];
  readonly close?: NonNullable<Tool['close']>;
}

/** Longest time limit that a timer takes. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What each option should be, in words, and the check of that. Schemas are checked where they are compiled. */
const OPTIONS: Readonly<
  Record<keyof Options, { readonly should: string; readonly fits: (value: unknown) => boolean; readonly required?: true }>
> = {
  name: { should: 'a string', fits: (value) => typeof value === 'string', required: true },
  description: {
    should: 'a text that tells the model what the tool does',
    fits: (value) => typeof value === 'string' && value.trim() !== '',
    required: true,
  },
  execute: { should: 'a function (input, context) that does the work', fits: isFunction, required: true },
  inputSchema: { should: 'a schema', fits: () => true },
  inputJsonSchema: { should: 'a JSON Schema', fits: () => true },
  outputSchema: { should: 'a schema', fits: () => true },
  outputJsonSchema: { should: 'a JSON Schema', fits: () => true },
  exclusive: { should: 'true or false', fits: (value) => typeof value === 'boolean' },
  timeoutMs: {
    should: `a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}`,
    fits: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TIMEOUT_MS,
  },
  annotations: { should: 'an object', fits: (value) => typeof value === 'object' && value !== null && !Array.isArray(value) },
  availableIf: { should: 'a function (binding) that says whether the tool is available', fits: isFunction },
  close: { should: 'a function', fits: isFunction },
};

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

function readOptions(definition: unknown): Options {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    throw new CodeModeError(
      'tool_invalid',
      `defineTool() takes an object such as { name, description, inputSchema, execute }, not ${describe(definition)}.`,
    );
  }
  const given = definition as Readonly<Record<string, unknown>>;
  const subject = typeof given['name'] === 'string' ? `The tool ${JSON.stringify(shorten(given['name'], 100))}` : 'A tool';
  for (const option of Object.keys(given)) {
    if (Object.hasOwn(OPTIONS, option)) continue;
    const [meant] = nearest(option, Object.keys(OPTIONS), 1);
    const hint = meant === undefined ? `The options are ${Object.keys(OPTIONS).join(', ')}.` : `Did you mean \`${meant}\`?`;
    throw new CodeModeError('tool_invalid', `${subject} has an unknown option \`${option}\`. ${hint}`, { details: { option } });
  }
  for (const [option, { should, fits, required }] of Object.entries(OPTIONS)) {
    const value = given[option];
    if (value === undefined ? required === undefined : fits(value)) continue;
    const code = option === 'name' ? 'name_invalid' : 'tool_invalid';
    const is = value === '' ? 'an empty string' : describe(value);
    const verdict =
      value === undefined ? `needs the option \`${option}\`: ${should}` : `has an \`${option}\` that should be ${should}, but is ${is}`;
    throw new CodeModeError(code, `${subject} ${verdict.replace(/^has an `(?![aeiou])/, 'has a `')}.`, { details: { option } });
  }
  // Each option has been checked against its row of the table.
  const options = given as unknown as Options;
  if (!NAME.test(options.name)) {
    throw new CodeModeError(
      'name_invalid',
      `${subject} has a name that is not one: ${problemOfName(options.name)}. A name has 1 to 64 of the characters A-Z a-z 0-9 _ - .`,
      {
        details: { name: options.name },
      },
    );
  }
  return { ...pick(options), ...(options.annotations !== undefined && { annotations: copyAnnotations(options.annotations, subject) }) };
}

function problemOfName(name: string): string {
  if (name === '') return 'it is empty';
  const strange = [...name].find((character) => !NAME.test(character));
  return strange === undefined ? `it has ${name.length} characters` : `it contains ${JSON.stringify(strange)}`;
}

/** Reads each option by its name: one that comes from a prototype (a class with an `execute` method) is no less given. */
function pick(options: Options): Options {
  return Object.fromEntries(
    Object.keys(OPTIONS).flatMap((option) => {
      const value = options[option as keyof Options];
      return value === undefined ? [] : [[option, value]];
    }),
  ) as unknown as Options;
}

function copyAnnotations(annotations: ToolAnnotations, subject: string): ToolAnnotations {
  const copy = copyJson(annotations);
  if (!copy.ok)
    throw new CodeModeError('tool_invalid', `${subject} has \`annotations\` that are not JSON: ${copy.problem}.`, {
      details: { option: 'annotations' },
    });
  return copy.value as ToolAnnotations;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
