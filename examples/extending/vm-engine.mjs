// An engine of one's own: guests in contexts of node:vm. It shows what an engine has to do and is NO sandbox: Node says so itself of node:vm.
// It has no images, no memory limit, and cannot cut off a program that catches everything; test/examples/extending.test.ts lists that.
import { createContext, Script } from 'node:vm';
import { createAnswer, GUEST_RUNTIME } from 'callgate/worker';

/** Answered by the guest's `drain` when it has started something that must run first. */
const MORE = '\u0001';

/**
 * Opens the engine.
 *
 * @returns {import('callgate/worker').Engine}
 */
export function createVmEngine() {
  /** @type {Map<string, string>} */
  const manifests = new Map();
  const answer = createAnswer();
  return {
    build: `vm ${process.versions.v8}`,
    parks: false,
    mostRealms: 1,
    addCatalog: (id, manifest) => void manifests.set(id, manifest),
    removeCatalog: (id) => void manifests.delete(id),
    open: async () => new VmRealm(manifests, answer),
  };
}

/** A realm: one context for each program. */
class VmRealm {
  /** @type {((lines: string) => void) | undefined} */
  onOutput = undefined;
  /** @type {string[]} */
  #said = [];
  /** @type {any} */
  #guest;
  #manifests;
  #answer;

  /**
   * @param {Map<string, string>} manifests
   * @param {import('callgate/worker').Answer} answer
   */
  constructor(manifests, answer) {
    this.#manifests = manifests;
    this.#answer = answer;
  }

  /** @type {import('callgate/worker').Realm['start']} */
  start(catalog, { code, aliases }, options, budget) {
    const manifest = this.#manifests.get(catalog);
    if (manifest === undefined) throw new Error(`There is no catalog ${catalog}.`);
    this.#boot();
    const { guest, timeZone, locale, store } = options;
    const seed = Array.from(crypto.getRandomValues(new Uint32Array(4)));
    return this.#turn(budget, () => {
      this.#enter('install', manifest, budget);
      this.#enter('begin', JSON.stringify({ guest, timeZone, locale, aliases, store, seed }), budget);
      let program;
      try {
        program = new Script(code, { filename: 'program.js' }).runInContext(this.#guest.context);
      } catch (error) {
        const [, line] = /^program\.js:(\d+)/.exec(/** @type {Error} */ (error).stack ?? '') ?? [];
        return { type: 'syntax', message: /** @type {Error} */ (error).message, ...(line === undefined ? {} : { line: Number(line) }) };
      }
      this.#enter('run', program, budget);
    });
  }

  /** @type {import('callgate/worker').Realm['post']} */
  post(settlements, budget) {
    return this.#turn(budget, () => void this.#enter('receive', settlements, budget));
  }

  peakBytes() {
    return 0;
  }

  reset() {
    this.#guest = undefined;
    return true;
  }

  dispose() {
    this.#guest = undefined;
  }

  /** A context with the guest's runtime in it: the runtime is given what the engine offers, and gives how it is entered. */
  #boot() {
    const context = createContext({}, { microtaskMode: 'afterEvaluate' });
    const boot = new Script(GUEST_RUNTIME, { filename: 'callgate.js' }).runInContext(context);
    const bindExit = new Script('let exit; (value) => { exit = value; };').runInContext(context);
    const bridge = boot({
      ask: this.#answer,
      say: (/** @type {string} */ line) => this.#said.push(line),
      halt: () => undefined,
      bindExit,
    });
    // Entered through a script, since only a script has a time limit that covers promise callbacks too.
    const entry = new Script('entry()');
    this.#guest = { context, bridge, entry };
  }

  /**
   * Enters the guest by one of the bridge's functions.
   *
   * @param {'install' | 'begin' | 'run' | 'receive' | 'drain'} operation
   * @param {unknown} argument
   * @param {import('callgate/worker').Budget} budget
   */
  #enter(operation, argument, budget) {
    const { context, bridge, entry } = this.#guest;
    const left = Math.min(budget.cpuMs, budget.sliceMs, budget.deadline - Date.now()) - (performance.now() - this.#began);
    if (left <= 0) throw new OutOfTime();
    /** @type {unknown} */
    let result;
    context.entry = () => {
      delete context.entry;
      result = bridge[operation](argument);
    };
    try {
      entry.runInContext(context, { timeout: Math.ceil(left) });
    } catch (error) {
      if (/** @type {{ code?: unknown }} */ (error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new OutOfTime();
      throw error;
    }
    return result;
  }

  #began = 0;

  /**
   * One turn: the work, then whatever it has started, until the guest can only wait.
   *
   * @param {import('callgate/worker').Budget} budget
   * @param {() => import('callgate/worker').Outcome | undefined | void} work
   * @returns {import('callgate/worker').Outcome}
   */
  #turn(budget, work) {
    this.#began = performance.now();
    this.#said = [];
    try {
      const early = work();
      if (early) return early;
      for (;;) {
        const lines = /** @type {string} */ (this.#enter('drain', undefined, budget));
        if (lines === MORE) continue;
        return { type: 'lines', lines: [...this.#said, lines].filter((text) => text !== '').join('\n'), starved: false };
      }
    } catch (error) {
      const output = this.#said.join('\n');
      if (!(error instanceof OutOfTime)) return { type: 'dead', kind: 'fault', output };
      const limits = /** @type {const} */ ([
        ['sliceMs', budget.sliceMs],
        ['cpuMs', budget.cpuMs],
        ['wallMs', budget.deadline - Date.now() + (performance.now() - this.#began)],
      ]);
      const [limit] = limits.reduce((least, one) => (one[1] < least[1] ? one : least));
      return { type: 'dead', kind: 'timeout', limit, output };
    }
  }
}

class OutOfTime extends Error {}
