// A conversation with a model as a person follows it: programs, highlighted, and their calls on standard error while they run, the answer on
// standard output. Not here: where prompts come from (ask.ts, chat.ts).

import type Anthropic from '@anthropic-ai/sdk';
import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta';
import { highlight } from '@babel/code-frame';
import { AskError, type AskEvent, type AskResult, ask } from '../adapters/anthropic.ts';
import type { Watching } from '../adapters/watch.ts';
import {
  type CodeMode,
  type CodeModeEvent,
  createCodeMode,
  type LimitOverrides,
  type Observer,
  type Session,
  type TypeCheckMode,
} from '../index.ts';
import { Answer } from './answer.ts';
import { openClient } from './client.ts';
import { printable, printableLine } from './printable.ts';
import { openProgress, type Progress } from './progress.ts';
import { loadSources, type SourceOptions, type Sources } from './sources.ts';
import { type Colors, colorsFor, type Output, type Terminal } from './terminal.ts';
import { captureFor, startWatching, type WatchPort } from './watching.ts';

export interface ConversationOptions extends SourceOptions {
  readonly model: string;
  readonly watch?: WatchPort;
  readonly system?: string;
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly limit?: LimitOverrides;
  readonly typecheck: TypeCheckMode;
  readonly timeZone: string;
  readonly locale: string;
  readonly actor?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly interface: string;
}

/** One conversation on the terminal. Close it. */
export class Conversation {
  readonly #client: Anthropic;
  readonly #codeMode: CodeMode;
  readonly #session: Session;
  readonly #sources: Sources;
  readonly #watching: Watching | undefined;
  readonly #options: ConversationOptions;
  readonly #view: View;
  readonly #stderr: Output;
  readonly #colors: Colors;
  #messages: BetaMessageParam[] = [];

  private constructor(parts: {
    client: Anthropic;
    codeMode: CodeMode;
    session: Session;
    sources: Sources;
    watching: Watching | undefined;
    options: ConversationOptions;
    view: View;
    terminal: Terminal;
  }) {
    this.#client = parts.client;
    this.#codeMode = parts.codeMode;
    this.#session = parts.session;
    this.#sources = parts.sources;
    this.#watching = parts.watching;
    this.#options = parts.options;
    this.#view = parts.view;
    this.#stderr = parts.terminal.stderr;
    this.#colors = colorsFor(parts.terminal);
  }

  /** Opens one, or throws a `UsageError` for what the person should do first. */
  static async open(options: ConversationOptions, terminal: Terminal, command: string): Promise<Conversation> {
    const client = await openClient(terminal, command);
    const view = new View(terminal);
    const { cwd, env, stderr } = terminal;
    const sources = await loadSources(options, { cwd, env, report: (line) => void stderr.write(`${line}\n`) });
    const { tools } = sources;
    const { limit = {}, typecheck, timeZone, locale, actor, context, interface: from } = options;
    const codeMode = createCodeMode({ tools, limits: limit, typecheck, timeZone, locale, observer: view, ...captureFor(options.watch) });
    let watching: Watching | undefined;
    try {
      watching = await startWatching(codeMode, options.watch, terminal);
      const session = await codeMode.openSession({
        invocation: { interface: from, ...(actor !== undefined && { actorId: actor }), ...(context !== undefined && { context }) },
      });
      return new Conversation({ client, codeMode, session, sources, watching, options, view, terminal });
    } catch (error) {
      await watching?.close();
      await codeMode.close();
      await sources.close();
      throw error;
    }
  }

  /** The page of `--watch`. */
  get watching(): Watching | undefined {
    return this.#watching;
  }

  /** Asks and shows the answer. Resolves to whether there was one; what went wrong has been said then. */
  async say(prompt: string, signal?: AbortSignal): Promise<boolean> {
    const { model, system, maxTurns, maxTokens } = this.#options;
    try {
      const result = await ask({
        client: this.#client,
        model,
        session: this.#session,
        prompt,
        messages: this.#messages,
        onText: (text) => this.#view.text(text),
        onEvent: (event) => this.#view.show(event),
        system,
        maxTurns,
        maxTokens,
        signal,
      });
      this.#messages = result.messages;
      this.#view.end();
      if (result.reason !== undefined) this.#stderr.write(`${this.#colors.yellow(result.status)}: ${printable(result.reason)}\n`);
      this.#stderr.write(`${this.#colors.dim(summary(result))}\n`);
      return result.status === 'answered';
    } catch (error) {
      this.#view.end();
      if (!(error instanceof AskError)) throw error;
      this.#messages = error.messages;
      if (error.code !== 'cancelled' || signal?.aborted !== true) this.#stderr.write(`callgate: ${printable(error.message)}\n`);
      return false;
    }
  }

  async close(): Promise<void> {
    this.#view.end();
    await this.#watching?.close();
    await this.#session.close();
    await this.#codeMode.close();
    await this.#sources.close();
  }
}

function summary({ turns, usage }: AskResult): string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const cached = cacheReadTokens + cacheWriteTokens === 0 ? '' : ` (${cacheReadTokens} from the cache, ${cacheWriteTokens} into it)`;
  return `${turns} ${turns === 1 ? 'turn' : 'turns'}, ${inputTokens + cacheReadTokens + cacheWriteTokens} tokens in${cached}, ${outputTokens} out`;
}

/** Longest error of a program that is shown; the model gets all of it. */
const ERROR_LENGTH = 1_000;

/** Shows what happens, in the order in which it does. */
class View implements Observer {
  readonly #terminal: Terminal;
  readonly #stderr: Output;
  readonly #colors: Colors;
  readonly #answer: Answer;
  /** Of the program that runs. */
  #progress: Progress | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#stderr = terminal.stderr;
    this.#colors = colorsFor(terminal);
    this.#answer = new Answer(terminal.stdout, terminal.stderr, this.#colors);
  }

  on(event: CodeModeEvent): void {
    if (event.type === 'execution-start') {
      this.#progress?.close();
      this.#progress = openProgress(this.#terminal);
    }
    this.#progress?.on(event);
    if (event.type === 'execution-end') this.#stopProgress();
  }

  text(piece: string): void {
    // Its live line would be in the way of the text.
    if (piece !== '') this.#stopProgress();
    this.#answer.piece(piece);
  }

  show(event: AskEvent): void {
    switch (event.type) {
      case 'turn':
        break;
      case 'call':
        this.#answer.remark();
        this.#call(event.name, event.input);
        break;
      case 'result':
        this.#stopProgress();
        if (event.isError) this.#stderr.write(`${this.#colors.red(`${printableLine(event.name)} failed`)}\n${shortened(event.text)}\n`);
        break;
      case 'retry':
        this.#stderr.write(`${this.#colors.yellow('the reply broke off; asking again')}\n`);
        break;
      default:
        event satisfies never;
    }
  }

  /** No more is coming: the text so far was the answer. */
  end(): void {
    this.#stopProgress();
    this.#answer.end();
  }

  #call(name: string, input: unknown): void {
    const source = name === 'exec' && typeof input === 'object' && input !== null && 'source' in input ? input.source : undefined;
    if (typeof source !== 'string') {
      const text = JSON.stringify(input) ?? '';
      this.#stderr.write(
        `${this.#colors.cyan(printableLine(name))} ${printableLine(text.length > 200 ? `${text.slice(0, 200)}…` : text)}\n`,
      );
      return;
    }
    const program = printable(source.trim());
    this.#stderr.write(`${this.#colors.cyan('program')}\n${this.#colors.isColorSupported ? highlight(program) : program}\n`);
  }

  #stopProgress(): void {
    this.#progress?.close();
    this.#progress = undefined;
  }
}

function shortened(text: string): string {
  return printable(text.length > ERROR_LENGTH ? `${text.slice(0, ERROR_LENGTH)}…` : text);
}
