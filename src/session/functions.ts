// The functions that programs have beside their tools and that the host carries out: their names, which the guest's image holds, and
// what each does for one run. Not here: how a call of one is checked and answered (execution.ts).
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
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
    ['searchTools', (args, { signal }) => turns.take(() => searchTools(discovery, args), signal)],
    ['describeTool', (args, { signal }) => turns.take(() => describeTools(discovery, args), signal)],
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

/**
 * Lets the searches of all programs happen one after another, with the event loop between them: a program that asks in a loop waits for itself,
 * and nobody else for it.
 */
export class SearchTurns {
  #last: Promise<unknown> = Promise.resolve();

  /** Does the work in its turn; rejects without doing it when `signal` is aborted by then. */
  take<T>(work: () => T, signal: AbortSignal): Promise<T> {
    const turn = this.#last.then(async () => {
      signal.throwIfAborted();
      const done = work();
      await eventLoopTurn();
      return done;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
