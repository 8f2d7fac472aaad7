// The functions that programs have beside their tools and that the host carries out: their names, which the guest's image holds, and
// what each does for one run. Not here: how a call of one is checked and answered (execution.ts).
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { CodeModeError } from '../protocol/errors.ts';
import type { Discovery, FoundTool } from '../tools/discovery.ts';
import { readNames, readSearch } from '../tools/discovery-arguments.ts';
import { artifactFunctions } from './artifact-functions.ts';
import type { HostFunction } from './execution.ts';
import type { DiscoveryPlace } from './options.ts';

/** Names of the functions, in the order that a guest defines them. */
export function functionNames(discovery: DiscoveryPlace): readonly string[] {
  return discovery === 'conversation' ? [] : ['searchTools', 'describeTool'];
}

/** What the functions do in one run. */
export function hostFunctions({
  discovery,
  turns,
}: {
  readonly discovery: Discovery;
  readonly turns: SearchTurns;
}): ReadonlyMap<string, HostFunction> {
  return new Map<string, HostFunction>([
    ...artifactFunctions(),
    [
      'searchTools',
      async (args, { signal }) => {
        await discovery.prepare();
        return turns.take(() => searchTools(discovery, args), signal);
      },
    ],
    ['describeTool', (args, { signal }) => describeInTurns(discovery, args, { turns, signal })],
  ]);
}

/** Finds tools as a program or a model asked for it: a list, or one text. */
export function searchTools(discovery: Discovery, args: readonly unknown[]): FoundTool[] | string {
  const { query, format, ...options } = readSearch(args);
  return format === 'text' ? discovery.searchText(query, options) : discovery.search(query, options);
}

/** The declarations of one tool or several, as one text. */
export function describeTools(discovery: Discovery, args: readonly unknown[]): string {
  return readNames(args)
    .map((name) => discovery.describe(name))
    .join('\n\n');
}

/** The same, each tool in a turn of its own: the nearest to a name that there is not takes a while to find, among many tools. */
async function describeInTurns(
  discovery: Discovery,
  args: readonly unknown[],
  { turns, signal }: { readonly turns: SearchTurns; readonly signal: AbortSignal },
): Promise<string> {
  const texts: string[] = [];
  for (const name of readNames(args)) texts.push(await turns.take(() => discovery.describe(name), signal));
  return texts.join('\n\n');
}

/** Searches that one program may have waiting. */
const MOST_WAITING = 1_000;

/**
 * Lets the searches of all programs happen one at a time, each program's in its turn, with the event loop between them: a program that asks in
 * a loop waits for itself, and nobody else for it.
 */
export class SearchTurns {
  /** By program, in the order of their next turns. */
  readonly #waiting = new Map<AbortSignal, (() => void)[]>();
  #isServing = false;

  /** Does the work in its turn; rejects without doing it when `signal`, which stands for the program, is aborted by then. */
  take<T>(work: () => T, signal: AbortSignal): Promise<T> {
    const own = this.#waiting.get(signal) ?? [];
    if (own.length >= MOST_WAITING)
      return Promise.reject(new CodeModeError('limit_exceeded', `${MOST_WAITING} searches are waiting already; await some of them first.`));
    return new Promise((resolve, reject) => {
      own.push(() => {
        try {
          signal.throwIfAborted();
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      this.#waiting.set(signal, own);
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const [signal, own] = next;
      const work = own.shift();
      // To the end of the line, behind the other programs.
      this.#waiting.delete(signal);
      if (own.length > 0) this.#waiting.set(signal, own);
      work?.();
      await eventLoopTurn();
    }
    this.#isServing = false;
  }
}
