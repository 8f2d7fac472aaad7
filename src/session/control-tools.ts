// exec, wait and stop as tools for a model, in words of no SDK: adapters only change the clothes.
import { CodeModeError } from '../protocol/errors.ts';
import { describe } from '../tools/json.ts';
import type { JsonSchema } from '../tools/schema.ts';
import type { Observation, ObserveOptions } from './observation.ts';

/** A tool specification that any SDK can be given. */
export interface ControlTool {
  readonly name: 'exec' | 'wait' | 'stop';
  readonly description: string;
  readonly inputSchema: ControlSchema;
  /**
   * Takes what the model sent. Rejects with a `CodeModeError` whose message the model should read. The program of an `exec` ends when
   * `signal` aborts, also after the call has returned; the one that `wait` watches ends when it aborts while it watches.
   */
  execute(input: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<Observation>;
}

/** A JSON Schema of an object, in the shape that SDKs take. */
export interface ControlSchema {
  type: 'object';
  properties: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties: false;
}

/** The part of a session that the controls use. */
interface Controlled {
  exec(source: string, options?: ObserveOptions & { readonly signal?: AbortSignal | undefined }): Promise<Observation>;
  wait(options?: ObserveOptions): Promise<Observation>;
  stop(options?: ObserveOptions): Promise<Observation>;
}

const BUDGET = {
  max_output_tokens: {
    type: 'integer',
    minimum: 1,
    maximum: 1_048_576,
    description: 'How much output and value may come back. Default 10000.',
  },
} as const;
const WINDOW = {
  observe_ms: {
    type: 'integer',
    minimum: 0,
    maximum: 600_000,
    description: 'How long to watch at most; the call returns at once when the program ends. Default 60000.',
  },
} as const;

export function controlTools(session: Controlled): readonly ControlTool[] {
  return [
    {
      name: 'exec',
      description:
        'Runs a JavaScript or TypeScript program that calls the tools as `await tools.name({ … })`. Return the one small value that answers the question; write progress with console.log. Start calls together with Promise.all. Status `still_working` means that it goes on by itself: use wait.',
      inputSchema: {
        type: 'object',
        properties: {
          source: { type: 'string', description: 'The program: a script body with top-level await and return.' },
          ...WINDOW,
          ...BUDGET,
        },
        required: ['source'],
        additionalProperties: false,
      },
      execute: (input, { signal } = {}) => inModelsWords(() => session.exec(sourceOf(input), { ...options(input), signal })),
    },
    {
      name: 'wait',
      description: 'Watches the program that is still working and tells what is new. It neither resumes nor prolongs it.',
      inputSchema: { type: 'object', properties: { ...WINDOW, ...BUDGET }, additionalProperties: false },
      execute: (input, { signal } = {}) => inModelsWords(() => endingWith(signal, session, () => session.wait(options(input)))),
    },
    {
      name: 'stop',
      description: 'Ends the program that is still working and tells what it had done.',
      inputSchema: { type: 'object', properties: { ...BUDGET }, additionalProperties: false },
      execute: (input) => inModelsWords(() => session.stop(options(input))),
    },
  ];
}

/** Watches; when the signal aborts, the program ends, and that is what the watch tells. */
async function endingWith(signal: AbortSignal | undefined, session: Controlled, watch: () => Promise<Observation>): Promise<Observation> {
  // Whoever watches gets the end; what stop() itself gives is the same told again, or that there is nothing to stop.
  const stop = (): void => void session.stop().catch(() => undefined);
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  try {
    return await watch();
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

function read(input: unknown): Record<string, unknown> {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
}

function sourceOf(input: unknown): string {
  const { source } = read(input);
  if (typeof source === 'string') return source;
  const sent = Object.keys(read(input));
  const instead =
    source !== undefined
      ? `\`source\` is ${describe(source)}`
      : sent.length === 0
        ? 'there is none'
        : `there is only ${sent.map((name) => `\`${name}\``).join(', ')}`;
  throw new CodeModeError('option_invalid', `exec takes the text of the program as \`source\`, a string, but ${instead}.`);
}

/** The session speaks of its own options; the model knows them by other names. */
async function inModelsWords(work: () => Promise<Observation>): Promise<Observation> {
  try {
    return await work();
  } catch (error) {
    if (!CodeModeError.is(error) || error.code !== 'option_invalid') throw error;
    throw new CodeModeError(
      error.code,
      error.message.replace('`observeMs`', '`observe_ms`').replace('`maxOutputTokens`', '`max_output_tokens`'),
      {
        cause: error,
      },
    );
  }
}

/** What the model sent under its names, as the session's options; the session checks them. */
function options(input: unknown): ObserveOptions {
  const { observe_ms, max_output_tokens } = read(input);
  return { observeMs: observe_ms as number | undefined, maxOutputTokens: max_output_tokens as number | undefined };
}
