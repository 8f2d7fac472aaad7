// What a model may call, in words of no SDK: exec, wait and stop, and the tools that stay in the conversation. Adapters only change the
// clothes. Not here: how an SDK names a tool or a result (the adapters), what a program may call (the session).
import { CodeModeError, type JsonSchema, type Observation, type Rendering, renderResult, type Session } from '../index.ts';
import { nearest } from '../protocol/nearest.ts';

/** One tool for a model. */
export interface ModelTool {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`, as every API takes it. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Carries out a call and says what the model is shown. Never rejects: a mistake of the model is a rendering with `isError`. */
  execute(input: unknown, options?: ModelCallOptions): Promise<Rendering>;
}

export interface ModelCallOptions {
  /** Ends the call when it aborts, and the program of an `exec` also later. */
  readonly signal?: AbortSignal | undefined;
  /** The call's id in the conversation: the same id with the same input is the same call, carried out once. */
  readonly callId?: string | undefined;
}

/** A JSON Schema of an object, as every API takes it. */
export interface ObjectSchema {
  type: 'object';
  properties?: Record<string, unknown>;
  required?: string[];
  [keyword: string]: unknown;
}

/** The controls of a session and the tools that `except` keeps. Throws `option_invalid` for two that a model could not tell apart. */
export function modelTools(session: Session): readonly ModelTool[] {
  if (typeof session?.controlTools !== 'function')
    throw new CodeModeError('option_invalid', 'The tools for a model are made of a session: await codeMode.openSession({ … }).');
  const calls = new Calls();
  const tools = session.controlTools().map(
    ({ name, description, inputSchema, execute }): ModelTool => ({
      name,
      description,
      inputSchema: { ...inputSchema },
      execute: (input, { signal, callId } = {}) => calls.once({ name, input, callId }, () => rendering(() => execute(input, { signal }))),
    }),
  );
  for (const { path, description, inputSchema, caller } of session.tools) {
    if (caller !== 'conversation') continue;
    const name = modelName(path);
    const { schema, unwrap } = objectSchema(inputSchema);
    tools.push({
      name,
      description,
      inputSchema: schema,
      execute: (input, { signal, callId } = {}) =>
        calls.once({ name, input, callId }, () => rendering(() => session.observeTool(path, unwrap(input), { signal }))),
    });
  }
  const taken = new Set<string>();
  for (const { name } of tools) {
    if (taken.has(name))
      throw new CodeModeError('option_invalid', `Two tools of the conversation would be \`${name}\` to the model; rename one of them.`);
    taken.add(name);
  }
  return tools;
}

/** A tool's path as APIs take names: `github.list_issues` is `github_list_issues`. Throws `option_invalid` for one that is too long. */
export function modelName(path: string): string {
  const name = path.replace(/[^A-Za-z0-9_-]/g, '_');
  if (name.length <= 64) return name;
  throw new CodeModeError(
    'option_invalid',
    `The tool \`${path}\` has ${name.length} characters; a tool that a model calls has at most 64.`,
  );
}

/** What to tell a model that called something which is no tool of the conversation: most often, a tool that only programs have. */
export function adviseDirectCall(session: Session, name: string): string {
  const bare = name.replace(/^(tools|functions|codemode)\./, '');
  const meant = session.tools.find((tool) => tool.path === bare || tool.name === bare || modelName(tool.path.slice(0, 64)) === bare);
  if (meant?.caller === 'program') {
    return `\`${name}\` is not called directly: programs have it. Call \`exec\` with a program that uses it, for example one that ends in \`return await tools.${meant.path}({ … })\`. Its signature: ${meant.signature}`;
  }
  const own = modelTools(session).map((tool) => tool.name);
  if (meant !== undefined) return `There is no tool \`${name}\`; call it \`${modelName(meant.path)}\`.`;
  const near = nearest(
    bare,
    session.tools.map(({ path }) => path),
  );
  const hint = near.length === 0 ? '' : ` Programs have ${near.map((path) => `\`tools.${path}\``).join(' and ')}.`;
  return `There is no tool \`${name}\`. You can call ${own.map((tool) => `\`${tool}\``).join(', ')}.${hint}`;
}

/**
 * A schema as APIs take it, whose root is an object with no choice in it, and the way back to what the tool takes. Nothing is lost: the
 * whole schema checks the input when the tool is called.
 */
export function objectSchema(schema: JsonSchema): { readonly schema: ObjectSchema; unwrap(input: unknown): unknown } {
  if (typeof schema === 'object' && schema['type'] === 'object') {
    const { oneOf: _oneOf, anyOf: _anyOf, allOf: _allOf, $schema: _$schema, ...kept } = schema;
    return { schema: { ...kept, type: 'object' }, unwrap: (input) => input };
  }
  const { $defs, definitions, $schema: _$schema, ...inner } = typeof schema === 'object' ? schema : {};
  const shared = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  return {
    schema: { type: 'object', properties: { input: inner }, required: ['input'], ...shared },
    unwrap: (input) => (typeof input === 'object' && input !== null && 'input' in input ? input.input : input),
  };
}

/** Shows what came of a call. Begins it at once, so that calls keep the order in which the model made them. */
async function rendering(begin: () => Promise<Observation | string>): Promise<Rendering> {
  try {
    const seen = await begin();
    if (typeof seen === 'string') return said(seen);
    if (seen.program === 0 && seen.status === 'completed' && seen.value === undefined && seen.artifacts.length === 0) return said('Done.');
    return await renderResult(seen);
  } catch (error) {
    // A mistake of the model is a sentence for the model; anything else is a fault of ours, whose text is not.
    return said(CodeModeError.is(error) ? error.message : `The call failed (${error instanceof Error ? error.name : typeof error}).`, true);
  }
}

function said(text: string, isError = false): Rendering {
  return { blocks: [{ type: 'text', text }], isError };
}

interface Call {
  readonly input: string;
  readonly rendering: Promise<Rendering>;
  isDone: boolean;
}

/** Finished calls whose answers are kept, in case an SDK asks again. */
const KEPT = 32;

/** Calls by their id, so that one that is asked for twice (an eager runner, a repeated turn) is carried out once. */
class Calls {
  readonly #byId = new Map<string, Call>();

  once({ name, input, callId }: { name: string; input: unknown; callId: string | undefined }, carryOut: () => Promise<Rendering>) {
    if (callId === undefined) return carryOut();
    const text = JSON.stringify([name, input]);
    const known = this.#byId.get(callId);
    if (known !== undefined) {
      if (known.input === text) return known.rendering;
      return Promise.resolve(said(`Two different calls have the id ${callId}; only the first was carried out.`, true));
    }
    const call: Call = { input: text, rendering: carryOut(), isDone: false };
    this.#byId.set(callId, call);
    void call.rendering.then(() => {
      call.isDone = true;
      this.#forget();
    });
    return call.rendering;
  }

  #forget(): void {
    let over = this.#byId.size - KEPT;
    for (const [id, { isDone }] of this.#byId) {
      if (over <= 0) return;
      if (!isDone) continue;
      this.#byId.delete(id);
      over -= 1;
    }
  }
}
