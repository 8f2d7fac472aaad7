// An engine that runs nothing: it plays what a test has written down for a guest to say. What stands before and behind it is real, so that a
// host can be tested against any guest, also a hostile one, without one. Not here: real engines (engine/).
import type { Engine, Outcome } from '../engine/engine.ts';
import { linkedChannels } from '../isolation/channel.ts';
import { serveJail } from '../isolation/jail.ts';
import type { WorkerSource } from '../session/engines.ts';

/** What a guest does in one turn: its lines as src/protocol/messages.ts has them, one text with `\n` between them, or an outcome of any other kind. */
export type ScriptedTurn = string | Outcome;

export interface ScriptedEngine extends Engine {
  /** Every entry so far, in order, with what the guest was given: the program's code, or settlements. */
  readonly entries: readonly { readonly type: 'start' | 'post'; readonly text: string }[];
}

/** An engine whose every program says these turns, one with each entry, and then nothing more. */
export function scriptedEngine(turns: readonly ScriptedTurn[]): ScriptedEngine {
  const entries: { type: 'start' | 'post'; text: string }[] = [];
  const catalogs = new Set<string>();
  return {
    entries,
    build: 'scripted',
    parks: false,
    mostRealms: 1,
    addCatalog: (id) => void catalogs.add(id),
    removeCatalog: (id) => void catalogs.delete(id),
    async open() {
      let at = 0;
      const play = (type: 'start' | 'post', text: string): Outcome => {
        entries.push({ type, text });
        const turn = turns[at++] ?? '';
        return typeof turn === 'string' ? { type: 'lines', lines: turn, starved: false } : turn;
      };
      return {
        onOutput: undefined,
        start(catalog, { code }) {
          if (!catalogs.has(catalog)) throw new Error(`There is no catalog ${catalog}.`);
          at = 0;
          return play('start', code);
        },
        post: (settlements) => play('post', settlements),
        peakBytes: () => 0,
        reset: () => true,
        dispose: () => undefined,
      };
    },
  };
}

/** Workers with such an engine, for `createCodeMode({ isolation: scriptedWorkers(turns) })`. */
export function scriptedWorkers(turns: readonly ScriptedTurn[]): WorkerSource & { readonly engine: ScriptedEngine } {
  const engine = scriptedEngine(turns);
  return {
    name: 'scripted',
    engine,
    spawn() {
      const [near, far] = linkedChannels();
      serveJail(far, engine, (error) => near.onLost(error));
      return near;
    },
  };
}
