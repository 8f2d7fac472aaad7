// A bare QuickJS guest with the world installed, for tests: no worker, no image, no tools. Not the product's engine driver.
import { fileURLToPath } from 'node:url';
import releaseSync from '@jitl/quickjs-wasmfile-release-sync';
import { build } from 'esbuild';
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { createAnswer } from '../../../src/engine/services.ts';

const worldFolder = fileURLToPath(new URL('../../../sandbox-runtime/world/', import.meta.url));

// The package's types describe its CommonJS face, whose default export is wrapped once more; Node's import gives the variant itself.
const variant = releaseSync as unknown as QuickJSSyncVariant;

const ENTRY = `
import { installWorld } from './world.ts';
const { output, ask, now } = globalThis.__host;
delete globalThis.__host;
const quote = JSON.stringify, parse = JSON.parse;
const uncaught = [];
const world = installWorld({
  output: (level, text) => output(quote(level), quote(text)),
  ask: (service, argument) => ask(service, argument),
  now,
  uncaught: error => { uncaught.push(String(error)); },
  frames: () => '',
});
const control = { world, uncaught: () => quote(uncaught.splice(0)), evaluate: source => quote({ value: (0, eval)(source) }) };
globalThis.__control = control;
`;

/** One line of console output. */
type Line = [level: string, text: string];

/** A guest under test. */
export interface Guest {
  /** Evaluates an expression; the value crosses as JSON. */
  evaluate(expression: string): unknown;
  /** Evaluates the body of an async function, running microtasks and timers until it settles; the clock jumps, nothing waits. */
  run(body: string): unknown;
  /** Lines printed since the last call. */
  lines(): Line[];
  /** What timers and listeners threw since the last call. */
  uncaught(): string[];
  /** How many services were asked for since the start. */
  asked(): number;
  /** Used bytes of the engine's heap. */
  heapBytes(): number;
}

let script: Promise<string> | undefined;
let engine: Promise<QuickJSWASMModule> | undefined;

/** The bundled world as one script. */
function worldScript(): Promise<string> {
  script ??= build({
    stdin: { contents: ENTRY, resolveDir: worldFolder, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    // Modules are strict; a script has to say so.
    banner: { js: '"use strict";' },
  }).then((result) => {
    const file = result.outputFiles[0];
    if (file === undefined) throw new Error('esbuild wrote nothing');
    return file.text;
  });
  return script;
}

function quickjs(): Promise<QuickJSWASMModule> {
  engine ??= newQuickJSWASMModuleFromVariant(variant);
  return engine;
}

/** Opens a fresh guest. */
export async function openGuest(settings: { timeZone?: string; locale?: string } = {}): Promise<Guest> {
  const [module, source] = await Promise.all([quickjs(), worldScript()]);
  const runtime = module.newRuntime();
  runtime.setMaxStackSize(256 * 1024);
  const context = runtime.newContext();
  const printed: Line[] = [];
  const answer = createAnswer();
  let asked = 0;
  let clock = 1000;

  const host = context.newObject();
  const define = (name: string, call: Parameters<QuickJSContext['newFunction']>[1]): void => {
    context.newFunction(name, call).consume((handle) => context.setProp(host, name, handle));
  };
  define('output', (level, text) => {
    printed.push([JSON.parse(context.getString(level)) as string, JSON.parse(context.getString(text)) as string]);
  });
  define('ask', (service, argument) => {
    asked++;
    return context.newString(answer(context.getString(service), context.getString(argument)));
  });
  define('now', () => context.newNumber(clock));
  context.setProp(context.global, '__host', host);
  host.dispose();

  const evaluateText = (code: string): string => {
    const result = context.evalCode(code, 'test.js');
    if (result.error) {
      const error: unknown = context.dump(result.error);
      result.error.dispose();
      const {
        name = 'Error',
        message = String(error),
        stack = '',
      } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, string>;
      throw new Error(`the guest threw ${name}: ${message}\n${stack}`);
    }
    const text = context.getString(result.value);
    result.value.dispose();
    return text;
  };
  evaluateText(source);
  const begin = { timeZone: settings.timeZone ?? 'UTC', locale: settings.locale ?? 'en-US', seed: [1, 2, 3, 4] };
  evaluateText(`__control.world.begin(${JSON.stringify(begin)})`);
  evaluateText(`globalThis.__test = __control; delete globalThis.__control; undefined`);

  const drain = (): void => {
    for (let i = 0; i < 10_000; i++) {
      const result = runtime.executePendingJobs(1000);
      if (result.error) {
        result.error.dispose();
        throw new Error('a pending job failed');
      }
      if (result.value === 0) return;
    }
    throw new Error('the microtasks do not end');
  };

  return {
    evaluate: (expression) =>
      (JSON.parse(evaluateText(`__test.evaluate(${JSON.stringify(`(${expression})`)})`)) as { value?: unknown }).value,
    run(body) {
      evaluateText(`globalThis.__done = undefined; (async () => {${body}\n})().then(
        value => { globalThis.__done = JSON.stringify({ value }); },
        error => { globalThis.__done = JSON.stringify({ error: String(error) }); }); undefined`);
      for (let turns = 0; turns < 50_000; turns++) {
        drain();
        const done = evaluateText('globalThis.__done');
        if (done !== 'undefined') {
          const outcome = JSON.parse(done) as { value?: unknown; error?: string };
          if (outcome.error !== undefined) throw new Error(outcome.error);
          return outcome.value;
        }
        const delay = evaluateText(`__test.world.timers.nextDelay(${clock})`);
        if (delay === 'undefined') throw new Error('the program waits for nothing');
        clock += Number(delay);
        evaluateText(`__test.world.timers.fire(${clock})`);
      }
      throw new Error('the program does not end');
    },
    lines: () => printed.splice(0),
    uncaught: () => JSON.parse(evaluateText('__test.uncaught()')) as string[],
    asked: () => asked,
    heapBytes() {
      const usage = runtime.computeMemoryUsage();
      const value = context.dump(usage) as { memory_used_size: number; malloc_size: number };
      usage.dispose();
      return value.malloc_size;
    },
  };
}
