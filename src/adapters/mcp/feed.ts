// What programs are doing, for those who watch one run: an observer that hands events on by run. Not here: how a client is told (serve.ts).
import type { CodeModeEvent, Observer } from '../../index.ts';

/** Give it to `createCodeMode({ observer })` and to `serveMcp(…, { progress })`: clients then hear of calls while a program works. */
export class ProgressFeed implements Observer {
  readonly #watchers = new Map<string, Set<(event: CodeModeEvent) => void>>();

  on(event: CodeModeEvent): void {
    for (const watcher of this.#watchers.get(event.runId) ?? []) watcher(event);
  }

  /** Hears of a run's events until the function that is returned is called. */
  watch(runId: string, watcher: (event: CodeModeEvent) => void): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(runId);
    };
  }
}
