// One request to a model that has code mode: its turns on the SDK's tool runner, streamed, until there is an answer. The history that comes
// back holds every tool exchange. Not here: what the tools do (tools.ts, programmatic.ts), the rules of a history (history.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import type Anthropic from '@anthropic-ai/sdk';
import type { BetaMessageStream } from '@anthropic-ai/sdk/lib/BetaMessageStream';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { BetaToolRunner, BetaToolRunnerParams } from '@anthropic-ai/sdk/lib/tools/BetaToolRunner';
import type {
  BetaMessage,
  BetaMessageParam,
  BetaToolResultBlockParam,
  BetaToolUnion,
  BetaToolUseBlock,
} from '@anthropic-ai/sdk/resources/beta';
import { CodeModeError, type Session } from '../../index.ts';
import { checkKeys, checkSignal } from '../../session/options.ts';
import { adviseDirectCall } from '../model-tools.ts';
import { errorText } from './content.ts';
import { isContainerGone, isTransient, wordsOf } from './failures.ts';
import { continued, isDirect, record, textIn, toolUses, unanswered, withoutLostProgram } from './history.ts';
import { programmaticTools } from './programmatic.ts';
import { Repetition } from './repetition.ts';
import { anthropicTools } from './tools.ts';

export interface AskOptions {
  /** A client of `@anthropic-ai/sdk` 1.x, also one of another platform. */
  readonly client: Pick<Anthropic, 'maxRetries'> & {
    readonly beta: { readonly messages: Pick<Anthropic['beta']['messages'], 'toolRunner'> };
  };
  readonly model: string;
  /** What is asked. May be left out when `messages` ends with a message of the user. */
  readonly prompt?: string | undefined;
  /** The conversation so far, for example `messages` of the last result. Not changed. Default: none. */
  readonly messages?: readonly BetaMessageParam[] | undefined;
  /** Whose tools the model has. One request at a time. Stays open. */
  readonly session: Session;
  /** The application's own system prompt, which comes before `session.instructions`. Default: none. */
  readonly system?: string | undefined;
  /** Who runs the model's programs: this library, or Anthropic's container (see `programmaticTools`). Default `callgate`. */
  readonly programs?: 'callgate' | 'anthropic' | undefined;
  /** More tools of the conversation, of the SDK. Default: none. */
  readonly tools?: readonly (BetaToolUnion | BetaRunnableTool<unknown>)[] | undefined;
  /** Other fields of each request: `thinking`, `temperature`, `betas`, `cache_control`, … Default: none. */
  readonly request?: Partial<Omit<BetaToolRunnerParams, OwnFields>> | undefined;
  /** Most tokens of one reply. Default 8192. */
  readonly maxTokens?: number | undefined;
  /** Most replies of the model. Default 100. */
  readonly maxTurns?: number | undefined;
  /** Most tool calls that the model makes itself; those of programs have the session's limit `calls`. Default 500. */
  readonly maxCalls?: number | undefined;
  /** A container to go on in; see `container` of the result. Default: none. */
  readonly container?: string | undefined;
  /** Each piece of the model's text as it arrives, what it says before a call too. */
  readonly onText?: ((text: string) => void) | undefined;
  /** Each turn, call and result as it happens. */
  readonly onEvent?: ((event: AskEvent) => void) | undefined;
  /** Ends the request, and the program that runs, at any point. */
  readonly signal?: AbortSignal | undefined;
}

type OwnFields =
  | 'model'
  | 'messages'
  | 'system'
  | 'tools'
  | 'max_tokens'
  | 'container'
  | 'stream'
  | 'thread'
  | 'max_iterations'
  | 'runToolsEagerly';

export type AskEvent =
  | { readonly type: 'turn'; readonly turn: number }
  /** The model called a tool of the conversation; of `exec`, the program is `input.source`. */
  | { readonly type: 'call'; readonly turn: number; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'result';
      readonly turn: number;
      readonly id: string;
      readonly name: string;
      readonly isError: boolean;
      readonly text: string;
    }
  /** A reply broke off before it had said anything and is asked for again. */
  | { readonly type: 'retry'; readonly turn: number; readonly error: unknown };

/** Why a request came to its end; everything but `answered` has a `reason`. */
export type AskStatus = 'answered' | 'refused' | 'cut_off' | 'out_of_turns' | 'out_of_calls' | 'repeating';

/** Sums over all turns, those that broke off as far as they were told. */
export interface AskUsage {
  /** Tokens that were read without the cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface AskResult {
  readonly status: AskStatus;
  /** What the model answered: the text of its last reply. */
  readonly text: string;
  /** A sentence for people, unless it was answered. */
  readonly reason?: string;
  /**
   * The conversation with everything that happened in it, ready to be continued. A prompt that was refused is not in it, as the API wants,
   * unless tools were used for it.
   */
  readonly messages: BetaMessageParam[];
  readonly usage: AskUsage;
  /** Replies of the model. */
  readonly turns: number;
  /** Tool calls that the model made itself. */
  readonly calls: number;
  /** Anthropic's container, to be passed on with the next request. */
  readonly container?: string;
}

/** A request that has no answer. What happened until then is in it, ready to be continued. */
export class AskError extends Error {
  override readonly name: string = 'AskError';
  /** `cancelled` by the signal, `request_failed` by the API or the way there (`cause` is the SDK's error), or a reply that makes no sense. */
  readonly code: 'cancelled' | 'request_failed' | 'reply_invalid';
  readonly messages: BetaMessageParam[];
  readonly usage: AskUsage;
  readonly turns: number;

  constructor(
    message: string,
    { code, cause, ...facts }: Pick<AskError, 'code' | 'messages' | 'usage' | 'turns'> & { readonly cause?: unknown },
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.messages = facts.messages;
    this.usage = facts.usage;
    this.turns = facts.turns;
  }
}

/**
 * Asks a model that has the session's tools, and lets it work until it answers. Mistakes of the model and failed programs go back to the
 * model. Resolves however the model ends; rejects with an `AskError` when the signal aborts or a request fails for good, with `option_invalid`
 * for wrong options, and with whatever `onText` or `onEvent` throws.
 */
export async function ask(options: AskOptions): Promise<AskResult> {
  checkKeys(options, OPTIONS, 'ask()');
  return new Request(checkOptions(options)).run();
}

const OPTIONS: readonly string[] = [
  'client',
  'model',
  'prompt',
  'messages',
  'session',
  'system',
  'programs',
  'tools',
  'request',
  'maxTokens',
  'maxTurns',
  'maxCalls',
  'container',
  'onText',
  'onEvent',
  'signal',
];

function checkOptions(options: AskOptions): AskOptions {
  const { client, model, prompt, messages = [], session, programs, signal } = options;
  if (typeof client?.beta?.messages?.toolRunner !== 'function')
    throw invalid('`client` should be a client of @anthropic-ai/sdk 1.x, with `client.beta.messages.toolRunner`.');
  if (typeof model !== 'string' || model === '') throw invalid('`model` should be the name of a model.');
  if (typeof session?.controlTools !== 'function') throw invalid('`session` should be a session: `await codeMode.openSession()`.');
  if (prompt !== undefined && (typeof prompt !== 'string' || prompt.trim() === ''))
    throw invalid('`prompt` should be a text that is not empty.');
  if (!Array.isArray(messages)) throw invalid('`messages` should be an array of messages.');
  if (prompt === undefined && messages.at(-1)?.role !== 'user')
    throw invalid('ask() needs a `prompt`, or `messages` that end with one of the user.');
  if (programs !== undefined && programs !== 'callgate' && programs !== 'anthropic')
    throw invalid(`\`programs\` should be "callgate" or "anthropic", but is ${JSON.stringify(programs)}.`);
  for (const name of ['maxTokens', 'maxTurns', 'maxCalls'] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isInteger(value) && value >= 1))
      throw invalid(`\`${name}\` should be a whole number from 1, but is ${String(value)}.`);
  }
  checkSignal(signal);
  return options;
}

function invalid(message: string): CodeModeError {
  return new CodeModeError('option_invalid', message);
}

/** How one request ended, when it is not to go on. */
interface Ending {
  readonly status: AskStatus;
  readonly reason?: string;
}

/** Replies in a row whose call was cut off before the request ends. */
const MOST_CUT_OFF = 3;
/** A wait that took at least so long has really waited, and is no repetition. */
const WAITED_MS = 1_000;
/** How long tools have to come to an end once the request is cancelled. A program ends in less; a tool of the application may not listen. */
const ABORT_GRACE_MS = 5_000;

class Request {
  readonly #options: AskOptions;
  readonly #history: BetaMessageParam[];
  readonly #tools: (BetaToolUnion | BetaRunnableTool<unknown>)[];
  readonly #names: ReadonlySet<string>;
  readonly #repetition = new Repetition();
  readonly #usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  /** Ends the request: the caller's signal, or a callback that threw. */
  readonly #abort = new AbortController();
  #container: string | undefined;
  #text = '';
  #turns = 0;
  #calls = 0;
  #cutOff = 0;
  #retries = 0;
  #thrown: { readonly error: unknown } | undefined;

  constructor(options: AskOptions) {
    const { session, messages = [], prompt, programs = 'callgate', tools = [], container } = options;
    this.#options = options;
    this.#history = continued(messages, prompt);
    this.#tools = [...(programs === 'anthropic' ? programmaticTools(session) : anthropicTools(session)), ...tools];
    this.#names = new Set(this.#tools.flatMap((tool) => ('name' in tool ? [tool.name] : [])));
    this.#container = container;
  }

  async run(): Promise<AskResult> {
    const { signal } = this.#options;
    const onAbort = (): void => this.#abort.abort(signal?.reason);
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        this.#checkAbort();
        const ending = await this.#converse();
        if (ending !== undefined) return this.#result(ending);
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
      // Whatever failed, it was the end that was asked for; once it is told, nothing runs any more.
      await this.#options.session.stop().catch(() => undefined);
      throw this.#thrown === undefined ? this.#error('cancelled', 'The request was cancelled.', signal?.reason) : this.#thrown.error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Turn after turn on one tool runner, to the end; `undefined` when another runner should go on from the history. */
  async #converse(): Promise<Ending | undefined> {
    const { maxTurns = 100 } = this.#options;
    const runner = this.#openRunner();
    for await (const stream of runner) {
      this.#tell({ type: 'turn', turn: this.#turns + 1 });
      const reply = await this.#listen(stream);
      if (reply === undefined) return undefined;
      this.#turns += 1;
      this.#retries = 0;
      this.#count(reply);
      this.#container = reply.container?.id ?? this.#container;
      const ending = await this.#take(reply, runner);
      this.#checkAbort();
      if (ending !== undefined) return ending;
      if (this.#turns >= maxTurns) return { status: 'out_of_turns', reason: `The model did not answer within ${maxTurns} turns.` };
    }
    throw this.#error('reply_invalid', 'The tool runner ended before the model had answered.');
  }

  #openRunner(): BetaToolRunner<true> {
    const { client, model, session, system, programs, request, maxTokens = 8192, maxTurns = 100 } = this.#options;
    const prompts = [system, programs === 'anthropic' ? undefined : session.instructions].filter(
      (text) => text !== undefined && text !== '',
    );
    return client.beta.messages.toolRunner(
      {
        ...request,
        model,
        max_tokens: maxTokens,
        ...(prompts.length > 0 && { system: prompts.join('\n\n') }),
        messages: [...this.#history],
        tools: this.#tools,
        ...(this.#container !== undefined && { container: this.#container }),
        stream: true,
        // The whole history in each request: what is told does not depend on what a server still holds.
        thread: false,
        max_iterations: maxTurns - this.#turns,
      },
      { signal: this.#abort.signal },
    );
  }

  /** Hears one reply to its end; `undefined` when it broke off and may be asked for again. */
  async #listen(stream: BetaMessageStream): Promise<BetaMessage | undefined> {
    const { onText } = this.#options;
    let said = false;
    stream.on('text', (text) => {
      said = true;
      if (onText !== undefined) this.#callBack(() => onText(text));
    });
    try {
      // The SDK does not end its own waiting between two attempts when the signal aborts.
      return await this.#unlessAborted(stream.finalMessage());
    } catch (error) {
      this.#count(stream.currentMessage);
      this.#checkAbort();
      if (await this.#recovers(error, { began: stream.response != null, said })) return undefined;
      throw this.#error('request_failed', `The request to the model failed: ${wordsOf(error)}`, error);
    }
  }

  async #recovers(error: unknown, { began, said }: { readonly began: boolean; readonly said: boolean }): Promise<boolean> {
    if (this.#container !== undefined && isContainerGone(error)) {
      this.#container = undefined;
      withoutLostProgram(this.#history);
      return true;
    }
    // What was said has been shown: the same again would be shown twice.
    if (!began || said || !isTransient(error) || this.#retries >= this.#options.client.maxRetries) return false;
    this.#tell({ type: 'retry', turn: this.#turns + 1, error });
    const delayMs = 500 * 2 ** this.#retries;
    this.#retries += 1;
    await sleep(delayMs, undefined, { signal: this.#abort.signal });
    return true;
  }

  /** Takes a whole reply into the history, with its calls answered. */
  async #take(reply: BetaMessage, runner: BetaToolRunner<true>): Promise<Ending | undefined> {
    const uses = toolUses(reply.content);
    const text = textIn(reply.content);
    switch (reply.stop_reason) {
      case 'tool_use':
        this.#text = text;
        return this.#answer(reply, uses, runner);
      case 'pause_turn':
      case 'compaction':
        // The runner goes on with the same reply.
        this.#text += text;
        record(this.#history, reply);
        return undefined;
      case 'refusal':
        this.#text = text;
        this.#forgetRefused();
        return { status: 'refused', reason: refusalOf(reply) };
      case 'max_tokens':
      case 'model_context_window_exceeded': {
        this.#text += text;
        const limit =
          reply.stop_reason === 'max_tokens' ? `the limit of ${this.#options.maxTokens ?? 8192} tokens` : "the model's context window";
        const results = uses.map((use) =>
          unanswered(use, `Not carried out: your reply was cut off at ${limit}. Send a shorter one, for example a program in parts.`),
        );
        record(this.#history, reply, results);
        this.#cutOff += 1;
        if (uses.length === 0 || reply.stop_reason !== 'max_tokens' || this.#cutOff >= MOST_CUT_OFF)
          return { status: 'cut_off', reason: `The reply was cut off at ${limit}.` };
        this.#text = '';
        this.#sendHistory(runner);
        return undefined;
      }
      default:
        this.#text += text;
        record(
          this.#history,
          reply,
          uses.map((use) => unanswered(use, 'Not carried out: the reply had ended.')),
        );
        return { status: 'answered' };
    }
  }

  async #answer(reply: BetaMessage, uses: readonly BetaToolUseBlock[], runner: BetaToolRunner<true>): Promise<Ending | undefined> {
    if (new Set(uses.map(({ id }) => id)).size < uses.length)
      throw this.#error('reply_invalid', 'The model made two calls with the same id, so none was carried out.');
    this.#cutOff = 0;
    const direct = uses.filter(isDirect);
    this.#calls += direct.length;
    for (const { id, name, input } of direct) this.#tell({ type: 'call', turn: this.#turns, id, name, input });
    const ending = this.#endingBefore(direct);
    const results =
      ending === undefined ? await this.#carryOut(uses, runner) : uses.map((use) => unanswered(use, `Not carried out: ${ending.reason}`));
    record(this.#history, reply, results);
    for (const { id, name } of direct) {
      const result = results.find((candidate) => candidate.tool_use_id === id);
      this.#tell({ type: 'result', turn: this.#turns, id, name, isError: result?.is_error === true, text: errorText(result?.content) });
    }
    this.#text = '';
    if (ending === undefined) this.#sendHistory(runner);
    return ending;
  }

  /** Why the calls of a reply are not to be carried out: they are over a limit as a whole, or one goes round in a circle. */
  #endingBefore(direct: readonly BetaToolUseBlock[]): (Ending & { readonly reason: string }) | undefined {
    const { maxTurns = 100, maxCalls = 500 } = this.#options;
    if (this.#calls > maxCalls) return { status: 'out_of_calls', reason: `the model made more than ${maxCalls} calls for this request.` };
    if (this.#turns >= maxTurns) return { status: 'out_of_turns', reason: `the model did not answer within ${maxTurns} turns.` };
    const circular = direct.find(({ name, input }) => this.#repetition.isExhausted(name, input));
    if (circular !== undefined)
      return { status: 'repeating', reason: `the model made the same call of \`${circular.name}\` again and again, with the same result.` };
    return undefined;
  }

  /** Lets the runner carry out the calls, and adds to the results what a model should know beside them. */
  async #carryOut(uses: readonly BetaToolUseBlock[], runner: BetaToolRunner<true>): Promise<BetaToolResultBlockParam[]> {
    const began = performance.now();
    const response = await this.#unlessAborted(runner.generateToolResponse(this.#abort.signal), ABORT_GRACE_MS).catch((error: unknown) => {
      if (this.#abort.signal.aborted) return null;
      throw error;
    });
    const hasWaited = performance.now() - began >= WAITED_MS;
    const content = typeof response?.content === 'string' ? [] : (response?.content ?? []);
    const results = uses.map((use): BetaToolResultBlockParam => {
      const result = content.find((block) => block.type === 'tool_result' && block.tool_use_id === use.id);
      // Programs of Anthropic's container are not ours to advise.
      if (!this.#names.has(use.name) && use.toolset_name == null && this.#options.programs !== 'anthropic')
        return unanswered(use, adviseDirectCall(this.#options.session, use.name));
      return result?.type === 'tool_result' ? result : unanswered(use, 'The call was ended before it gave a result.');
    });
    const counted = uses.flatMap((use, index) =>
      isDirect(use) && !(use.name === 'wait' && hasWaited)
        ? [{ name: use.name, input: use.input, result: results[index]?.content, index }]
        : [],
    );
    for (const [at, warning] of this.#repetition.note(counted).entries()) {
      const index = counted[at]?.index;
      const result = index === undefined ? undefined : results[index];
      if (warning !== undefined && index !== undefined && result !== undefined)
        results[index] = { ...result, content: withNote(result.content, warning) };
    }
    return results;
  }

  /** Our history is the one that counts: it has our results, and nothing that the API would refuse to read again. */
  #sendHistory(runner: BetaToolRunner<true>): void {
    if (this.#turns < (this.#options.maxTurns ?? 100)) runner.setMessagesParams((params) => ({ ...params, messages: [...this.#history] }));
  }

  /** A refused prompt would be refused again with every message after it. */
  #forgetRefused(): void {
    const { messages = [], prompt } = this.#options;
    if (prompt === undefined || this.#turns > 1) return;
    this.#history.splice(0, this.#history.length, ...continued(messages, undefined));
  }

  #count(reply: BetaMessage | undefined): void {
    if (reply === undefined) return;
    this.#usage.inputTokens += reply.usage.input_tokens;
    this.#usage.outputTokens += reply.usage.output_tokens;
    this.#usage.cacheReadTokens += reply.usage.cache_read_input_tokens ?? 0;
    this.#usage.cacheWriteTokens += reply.usage.cache_creation_input_tokens ?? 0;
  }

  #result({ status, reason }: Ending): AskResult {
    return {
      status,
      text: this.#text,
      ...(reason !== undefined && { reason: reason.charAt(0).toUpperCase() + reason.slice(1) }),
      messages: this.#history,
      usage: this.#usage,
      turns: this.#turns,
      calls: this.#calls,
      ...(this.#container !== undefined && { container: this.#container }),
    };
  }

  #error(code: AskError['code'], message: string, cause?: unknown): AskError {
    return new AskError(message, { code, cause, messages: this.#history, usage: this.#usage, turns: this.#turns });
  }

  #checkAbort(): void {
    if (this.#abort.signal.aborted) throw this.#abort.signal.reason ?? new Error('Aborted.');
  }

  /** What `work` gives, or a rejection once the request is to end and `graceMs` have passed. */
  async #unlessAborted<T>(work: Promise<T>, graceMs = 0): Promise<T> {
    const { signal } = this.#abort;
    let onAbort: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => {
        timer = setTimeout(() => reject(signal.reason), graceMs);
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      clearTimeout(timer);
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    }
  }

  #tell(event: AskEvent): void {
    const { onEvent } = this.#options;
    if (onEvent !== undefined) this.#callBack(() => onEvent(event));
  }

  /** Inside a listener of the SDK an exception would pass for a broken reply. */
  #callBack(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#thrown ??= { error };
      this.#abort.abort(error);
    }
  }
}

function refusalOf({ stop_details: details }: BetaMessage): string {
  const explanation = details?.type === 'refusal' ? details.explanation : undefined;
  return explanation == null ? 'The model refused to answer.' : `The model refused to answer: ${explanation}`;
}

function withNote(content: BetaToolResultBlockParam['content'], note: string): NonNullable<BetaToolResultBlockParam['content']> {
  return typeof content === 'string' ? `${note}\n\n${content}` : [{ type: 'text', text: note }, ...(content ?? [])];
}
