// A QuickJS realm entered directly: no worker, no host, no tools but those of a manifest. For tests of the engine alone.
import type { Budget, Engine, Image, Outcome, Realm } from '../../src/engine/engine.ts';
import { createQuickJs } from '../../src/engine/quickjs.ts';
import { compileQuickJs } from '../../src/engine/quickjs-module.ts';
import { decodeLines } from '../../src/protocol/decode.ts';
import { resolveLimits } from '../../src/protocol/limits.ts';
import type { GuestMessage, Manifest, StartOptions } from '../../src/protocol/messages.ts';
import { decodeValue } from '../../src/protocol/values.ts';

export const CATALOG = 'catalog-1';

export function manifestOf(...names: readonly string[]): string {
  const tools = names.map((name) => ({ path: [name], name, description: `The tool ${name}.` }));
  return JSON.stringify({ tools, globals: {}, functions: [] } satisfies Manifest);
}

/** An engine with the tools `one` and `two` in its catalog. */
export async function openEngine(): Promise<Engine> {
  const engine = await createQuickJs(await compileQuickJs());
  engine.addCatalog(CATALOG, manifestOf('one', 'two'));
  return engine;
}

export const MEMORY = 64 << 20;

export function startOptions(overrides: Partial<StartOptions> = {}): StartOptions {
  const limits = resolveLimits();
  return {
    cpuMs: 5_000,
    sliceMs: 5_000,
    deadline: Date.now() + 20_000,
    memoryBytes: MEMORY,
    // What fits the stack of the test's own thread.
    stackBytes: 192 * 1024,
    guest: { ...limits, places: false },
    timeZone: 'UTC',
    locale: 'en-US',
    store: '{}',
    ...overrides,
  };
}

export const budget = (cpuMs = 5_000): Budget => ({ cpuMs, sliceMs: cpuMs, deadline: Date.now() + 20_000 });

/** Starts the body of an async function. */
export function begin(realm: Realm, body: string, overrides: Partial<StartOptions> = {}): Outcome {
  const options = startOptions(overrides);
  return realm.start(CATALOG, { code: `(async () => {${body}\n})`, aliases: [] }, options, {
    cpuMs: options.cpuMs,
    sliceMs: options.sliceMs,
    deadline: options.deadline,
  });
}

/** Starts a body, and lets its timers fire until it has none. */
export async function play(realm: Realm, body: string, overrides: Partial<StartOptions> = {}): Promise<Outcome> {
  let outcome = begin(realm, body, overrides);
  for (;;) {
    const last = outcome.type === 'lines' && outcome.lines !== '' ? said(outcome).at(-1) : undefined;
    if (last?.type !== 'wake') return outcome;
    await new Promise((resolve) => setTimeout(resolve, last.ms));
    outcome = realm.post('', budget(overrides.cpuMs));
  }
}

/** Parks what waits in a realm of an engine that has images. */
export function park(realm: Realm): Image {
  const image = realm.park?.(Number.POSITIVE_INFINITY);
  if (image === undefined) throw new Error('The realm did not park its program.');
  return image;
}

/** Continues it, in any realm of that engine. */
export function resume(realm: Realm, image: Image, settlements: string, overrides: Partial<StartOptions> = {}, within = budget()): Outcome {
  if (realm.resume === undefined) throw new Error('The engine has no images.');
  return realm.resume(CATALOG, image, settlements, startOptions(overrides), within);
}

/** What the guest said in a turn. */
export function said(outcome: Outcome): readonly GuestMessage[] {
  if (outcome.type !== 'lines') throw new Error(`The guest said nothing: ${JSON.stringify(outcome)}`);
  return [...decodeLines(outcome.lines)];
}

/** The value that the program completed with. */
export function valueIn(outcome: Outcome): unknown {
  const last = said(outcome).at(-1);
  if (last?.type !== 'done') throw new Error(`The program has not completed: ${JSON.stringify(last)}`);
  return decodeValue(last);
}

/** The error that the program ended with. */
export function errorIn(outcome: Outcome): { readonly name: string; readonly message: string; readonly kind: string } {
  const last = said(outcome).at(-1);
  if (last?.type !== 'fail') throw new Error(`The program has not failed: ${JSON.stringify(last)}`);
  return last.error;
}
