// A realm entered by hand, as a worker would: for the conformance suite of engines. Not here: what is claimed of it (engine.ts).
import type { Budget, Outcome, Realm } from '../../engine/engine.ts';
import { decodeLines } from '../../protocol/decode.ts';
import { resolveLimits } from '../../protocol/limits.ts';
import type { GuestError, GuestMessage, Manifest, StartOptions } from '../../protocol/messages.ts';
import { decodeValue } from '../../protocol/values.ts';

/** The catalog of the suite: two tools, a constant and a function of the host. */
export const CATALOG = 'conformance';
export const MANIFEST = JSON.stringify({
  tools: [
    { path: ['one'], name: 'one', description: 'The first tool.' },
    { path: ['deep', 'two'], name: 'deep.two', description: 'The second tool.' },
  ],
  globals: { LIMIT: { mode: 'P', text: '7' } },
  functions: ['searchTools'],
} satisfies Manifest);

/** How a suite starts programs: what an implementation needs otherwise is overridden. */
export interface GuestOptions {
  readonly memoryBytes: number;
  readonly stackBytes: number;
}

export class Guest {
  readonly realm: Realm;
  readonly #options: GuestOptions;

  constructor(realm: Realm, options: GuestOptions) {
    this.realm = realm;
    this.#options = options;
  }

  options(overrides: Partial<StartOptions> = {}): StartOptions {
    return {
      cpuMs: 5_000,
      sliceMs: 5_000,
      deadline: Date.now() + 20_000,
      memoryBytes: this.#options.memoryBytes,
      stackBytes: this.#options.stackBytes,
      guest: { ...resolveLimits(), places: false },
      timeZone: 'UTC',
      locale: 'en-US',
      store: '{}',
      ...overrides,
    };
  }

  /** Starts the body of an async function. */
  begin(body: string, overrides: Partial<StartOptions> = {}, catalog = CATALOG): Outcome {
    return this.start(`(async () => {${body}\n})`, overrides, catalog);
  }

  start(
    code: string,
    overrides: Partial<StartOptions> = {},
    catalog = CATALOG,
    aliases: readonly (readonly [string, number])[] = [],
  ): Outcome {
    const options = this.options(overrides);
    return this.realm.start(catalog, { code, aliases }, options, budgetOf(options));
  }

  post(settlements: string, overrides: Partial<StartOptions> = {}): Outcome {
    return this.realm.post(settlements, budgetOf(this.options(overrides)));
  }

  /** Starts a body, and lets its timers fire until it has none. */
  async play(body: string, overrides: Partial<StartOptions> = {}): Promise<Outcome> {
    let outcome = this.begin(body, overrides);
    for (;;) {
      const last = outcome.type === 'lines' && outcome.lines !== '' ? said(outcome).at(-1) : undefined;
      if (last?.type !== 'wake') return outcome;
      await new Promise((resolve) => setTimeout(resolve, last.ms));
      outcome = this.post('', overrides);
    }
  }
}

export function budgetOf({ cpuMs, sliceMs, deadline }: StartOptions): Budget {
  return { cpuMs, sliceMs, deadline };
}

/** What the guest said in a turn. */
export function said(outcome: Outcome): readonly GuestMessage[] {
  if (outcome.type !== 'lines') throw new Error(`The guest was to say something, but the turn was ${JSON.stringify(outcome)}.`);
  return [...decodeLines(outcome.lines)];
}

/** The value that the program completed with. */
export function valueIn(outcome: Outcome): unknown {
  const last = said(outcome).at(-1);
  if (last?.type !== 'done') throw new Error(`The program was to complete, but its last line was ${JSON.stringify(last)}.`);
  return decodeValue(last);
}

/** The error that the program failed with. */
export function errorIn(outcome: Outcome): GuestError {
  const last = said(outcome).at(-1);
  if (last?.type !== 'fail') throw new Error(`The program was to fail, but its last line was ${JSON.stringify(last)}.`);
  return last.error;
}
