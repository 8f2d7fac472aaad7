// The guest's own side of the gate, evaluated once before the boot image is taken. Its value is a function that is given
// what the engine's driver offers and returns the bridge through which the driver enters. The bridge lives in the driver's
// hands only: nothing of it is on the global object. Not here: the globals of a modern runtime (world/).
import { type GuestError, type Manifest, type StartOptions, splitManifest } from '../src/protocol/messages.ts';
import { decodeValue, encodeValue, UnserializableError, type WireValue } from '../src/protocol/values.ts';
import { createArtifacts } from './artifacts.ts';
import { type Calls, createCalls, type Settlement } from './calls.ts';
import { describeError } from './failure.ts';
import { createOutbox, sizeOf } from './outbox.ts';
import {
  ArrayPrototypeIncludes,
  DateNow,
  ErrorConstructor,
  JSONParse,
  list,
  MathCeil,
  MathMin,
  ObjectKeys,
  PromisePrototypeThen,
} from './primordials.ts';
import { installPromises, type Settling } from './promises.ts';
import { programFrames } from './stack.ts';
import { createStore } from './store.ts';
import { createToolbox, type Toolbox } from './tools.ts';
import { defineHidden, defineLazy } from './world/define.ts';
import { installWorld } from './world/world.ts';

/** What the driver offers the guest: pure, synchronous functions over text. */
interface Driver {
  /** A service of the world: locale formatting, digests, random bytes. */
  ask(service: string, argument: string): string;
  /** Takes a line of output, which stays ahead of the turn's other lines. */
  say(line: string): void;
  /** Takes a copy of bytes that travel beside the turn's lines. Absent where an engine has no way for them. */
  attach?(buffer: ArrayBuffer, offset: number, length: number): void;
  /**
   * Keeps the JSON of a plain value, to be put where a line says so (outbox.ts). Gives its length, and 2³² times its place among those of the
   * turn; something negative when it cannot. Absent where the engine has no faster way than its JSON.
   */
  write?(value: unknown): number;
  /** Makes the global variable `exit`. */
  bindExit(exit: (value?: unknown) => never): void;
  /** Asks to be interrupted as soon as possible, uncatchably: the program has called `exit`. */
  halt(): void;
}

/** How the driver enters the guest. Every entry runs under the program's deadline. */
interface Bridge {
  /** Makes the tools of a catalog; the catalog's image is taken after it. */
  install(manifest: string): void;
  /** Sets what is particular to one program. */
  begin(options: string): void;
  /** Calls the prepared program; one with a parameter is given the function that watches its promises first. */
  run(program: (watch?: unknown) => unknown): void;
  /** Takes a buffer that belongs to the settlements that follow. */
  take(buffer: ArrayBuffer): void;
  /** Takes settlements: a JSON array, or what is in one where the engine has a faster way than its parser. */
  receive(settlements: string | Settlement[]): void;
  /** Asked when no promise job is left: the turn's lines, or MORE when something was started that must run first. */
  drain(): string;
}

/** What `begin` is given. */
export interface BeginOptions {
  readonly guest: StartOptions['guest'];
  readonly timeZone: string;
  readonly locale: string;
  /** What earlier programs of the session stored: JSON of wire values by key. */
  readonly store: string;
  /** Tools that the program's text calls by a flat global name, as other systems spell them. */
  readonly aliases: readonly (readonly [name: string, index: number])[];
  readonly seed: readonly [number, number, number, number];
  /** How many bytes may travel beside the lines of one turn; absent where none may. */
  readonly roomForBytes?: number;
  /** Whether `write` may be asked: the program makes no objects that cross in another way than by their members. */
  readonly writesPlain?: boolean;
}

const NOTHING = list<never>();

/** Tells the driver to run jobs and ask again. */
const MORE = '\u0001';
/** Warnings about calls that nobody looked at. */
const MOST_WARNINGS = 20;
/** Promises in the program's value may give promises in turn, this often. */
const MOST_ROUNDS = 8;
/** A program that has completed waits at most this long for timers that it left behind. */
const LINGER_MS = 5_000;
/** The host asks again: no timer of its own is longer, and a number in the protocol is not either. */
const LONGEST_WAKE_MS = 2_147_483_647;

type State =
  | { type: 'running' }
  | Completed
  | { type: 'exited'; wire: WireValue }
  | { type: 'failed'; thrown: unknown }
  | { type: 'ended' };

interface Completed {
  type: 'completed';
  value: unknown;
  at: number;
  /** The promises in the value, while they settle. */
  settling?: Settling;
  rounds: number;
}

function boot(driver: Driver): Bridge {
  const outbox = createOutbox(driver.say, driver.attach, driver.write);
  const calls: Calls = createCalls(outbox);
  const world = installWorld({
    output: (level, text) => {
      if (!hasEnded()) outbox.output(level, text);
    },
    ask: driver.ask,
    now: DateNow,
    uncaught: (error) => fail(error),
    frames: (_error, stack) => programFrames(stack),
  });
  const promises = installPromises(calls);
  let state: State = { type: 'running' };
  let valueBytes = 0;
  let toolbox: Toolbox | undefined;
  let arrived = list<ArrayBuffer>();

  /** Code of the program may still run then: promise callbacks, getters of what it threw. Nothing that it says counts. */
  const hasEnded = (): boolean => state.type !== 'running' && state.type !== 'completed';

  function fail(thrown: unknown): void {
    if (hasEnded()) return;
    // Told when the turn ends, where there is stack enough: it may have failed for want of it.
    state = { type: 'failed', thrown };
    calls.end();
  }

  function tellFailure(thrown: unknown): void {
    const error = describeError(thrown);
    state = { type: 'ended' };
    tellUnobserved();
    outbox.endRecord('fail', { ...error });
  }

  function tellEnd(): void {
    if (state.type === 'failed') tellFailure(state.thrown);
    else if (state.type === 'exited') finish(state.wire);
  }

  function failAs(error: GuestError): void {
    state = { type: 'ended' };
    outbox.endRecord('fail', { ...error });
  }

  /** Ends the program with its value: last, so that whatever un-awaited calls still put into it is there. `false` when it must wait for more. */
  function complete(completed: Completed): boolean {
    const { settling } = completed;
    if (settling?.pending === 0) {
      completed.value = settling.value;
      delete completed.settling;
    }
    calls.end();
    let wire: WireValue;
    let beside: Uint8Array[] | undefined;
    try {
      if (outbox.carries) beside = list();
      wire = encodeValue(completed.value, beside, outbox.writePlain);
    } catch (error) {
      if (hasEnded()) return true;
      // Only now: a value without promises must not be walked twice.
      if (completed.settling === undefined && completed.rounds < MOST_ROUNDS) {
        const found = promises.settle(completed.value, fail);
        if (hasEnded()) return true;
        if (found !== undefined) {
          completed.settling = found;
          completed.rounds++;
          calls.reopen();
          return false;
        }
      }
      const sentence = UnserializableError.sentenceOf(error);
      if (sentence === undefined) {
        fail(error);
        return true;
      }
      failAs({
        kind: 'unserializable',
        name: 'TypeError',
        message: `The program's value cannot cross: ${sentence}${completed.settling === undefined ? '' : ' Nothing is left that could settle it.'}`,
        stack: '',
        isError: true,
      });
      return true;
    }
    // Getters of the value are code of the program: they may have ended it otherwise.
    if (!hasEnded()) finish(wire, beside);
    return true;
  }

  function finish(wire: WireValue, beside: readonly Uint8Array[] = NOTHING): void {
    const size = (wire.length ?? wire.text.length) + sizeOf(beside);
    if (size > valueBytes || (beside.length > 0 && !outbox.attach(beside))) {
      failAs({
        kind: 'limit',
        name: 'RangeError',
        message: `The program's value is ${size} bytes as JSON; the limit \`valueBytes\` is ${valueBytes}. Return only what is needed: filter, count or summarise first.`,
        stack: '',
        isError: true,
      });
      return;
    }
    state = { type: 'ended' };
    tellUnobserved();
    outbox.end(`done ${wire.mode}${beside.length > 0 ? beside.length : ''} ${wire.text}`);
  }

  function tellUnobserved(): void {
    const failures = calls.unobservedFailures();
    for (let i = 0; i < failures.length && i < MOST_WARNINGS; i++)
      outbox.addRecord('warn', failures[i] as { message: string; stack: string });
    const notices = promises.notices();
    for (let i = 0; i < notices.length; i++) outbox.addRecord('warn', notices[i] as { message: string; stack: string });
  }

  define('text', (value: unknown) => {
    if (hasEnded()) return;
    const piece = typeof value === 'string' ? value : describeOutput(value);
    // What the value answered to that may have ended the program.
    if (!hasEnded()) outbox.output('text', piece);
  });

  /** JSON where it says everything, else as `console.log` prints it. */
  function describeOutput(value: unknown): string {
    try {
      const wire = encodeValue(value);
      if (wire.mode === 'P') return wire.text;
    } catch {
      // What cannot cross can still be shown.
    }
    return world.inspector.inspect(value);
  }

  /** A function of the host as a global. */
  function defineFunction(name: string): void {
    define(name, (...args: unknown[]) => {
      // A tool itself is as good as its name: `describeTool(tools.github.list_issues)`.
      for (let i = 0; i < args.length; i++) if (typeof args[i] === 'function') args[i] = toolbox?.pathOf(args[i]) ?? args[i];
      return calls.ask(name, args);
    });
  }

  const artifacts = createArtifacts(calls);
  const store = createStore(outbox);
  define('store', (key: unknown, value?: unknown): void => {
    if (!hasEnded()) store.store(key, value);
  });
  define('load', store.load);

  driver.bindExit((value?: unknown): never => {
    if (state.type === 'running' || state.type === 'completed') {
      const wire = encodeValue(value);
      // What the value answered to that may have ended the program before this.
      if (!hasEnded()) {
        calls.end();
        state = { type: 'exited', wire };
        driver.halt();
      }
    }
    throw new ErrorConstructor('exit');
  });

  return {
    install(sent) {
      const { manifest, texts } = splitManifest(sent);
      const { tools: entries, globals, functions } = JSONParse(manifest) as Manifest;
      toolbox = createToolbox(entries, calls, {
        canSearch: ArrayPrototypeIncludes(functions, 'searchTools'),
        texts: () => (texts === '' ? driver.ask('toolTexts', '') : texts),
      });
      define('tools', toolbox.tools);
      define('codemode', toolbox.tools);
      defineLazy('ALL_TOOLS', toolbox.allTools);
      for (let i = 0; i < functions.length; i++) defineFunction(functions[i] as string);
      const names = ObjectKeys(globals);
      for (let i = 0; i < names.length; i++) define(names[i] as string, decodeValue(globals[names[i] as string] as WireValue));
    },
    begin(text) {
      const options = JSONParse(text) as BeginOptions;
      valueBytes = options.guest.valueBytes;
      outbox.begin(options.guest.outputBytes, options.roomForBytes ?? 0, options.writesPlain === true);
      calls.begin(options.guest);
      store.begin(options.store, options.guest.storeBytes);
      artifacts.begin(options.guest.artifacts);
      for (let i = 0; i < options.aliases.length; i++) {
        const alias = options.aliases[i] as readonly [string, number];
        define(alias[0], toolbox?.stub(alias[1]));
      }
      world.begin({ timeZone: options.timeZone, locale: options.locale, seed: options.seed });
    },
    run(program) {
      let promise: Promise<unknown>;
      try {
        const main = (program.length === 0 ? program : program(promises.watch)) as () => Promise<unknown>;
        // Not through `apply`: that would be one frame more under every call.
        promise = main();
        void PromisePrototypeThen(
          promise,
          (value: unknown) => {
            if (state.type === 'running') state = { type: 'completed', value, at: DateNow(), rounds: 0 };
          },
          fail,
        );
      } catch (error) {
        fail(error);
      }
    },
    take(buffer) {
      arrived[arrived.length] = buffer;
    },
    receive(sent) {
      const buffers = arrived;
      if (buffers.length > 0) arrived = list();
      if (sent === '') return;
      let used = 0;
      const settlements = typeof sent === 'string' ? (JSONParse(sent) as Settlement[]) : sent;
      for (let i = 0; i < settlements.length; i++) {
        const settlement = settlements[i] as Settlement;
        try {
          // Its own member: a program may have put something on the prototype of arrays.
          const news = settlement.length === 4 ? settlement[3] : undefined;
          let beside: ArrayBuffer[] | undefined;
          if (news !== undefined) {
            if (news.beside !== undefined) {
              beside = list();
              for (let n = 0; n < news.beside; n++) beside[n] = buffers[used++] as ArrayBuffer;
            }
            artifacts.learn(news);
          }
          calls.settle(settlement, beside);
        } catch (error) {
          fail(error);
        }
      }
    },
    drain() {
      try {
        return drain();
      } catch (error) {
        // Whatever a program can make happen here is its own error, never a fault of the sandbox.
        fail(error);
        tellEnd();
        return outbox.take();
      }
    },
  };

  function drain(): string {
    const now = DateNow();
    const delay = world.timers.nextDelay(now);
    if (state.type === 'running' || state.type === 'completed') {
      if (delay === 0) {
        world.timers.fire(now);
        return MORE;
      }
      if (state.type === 'completed' && calls.pending() === 0) {
        const owed = state.settling !== undefined && state.settling.pending > 0;
        const lingers = delay !== undefined && (owed || (world.timers.pendingOneShots() > 0 && now + delay <= state.at + LINGER_MS));
        if (!lingers && !complete(state)) return MORE;
      }
    }
    tellEnd();
    if (state.type !== 'ended' && delay !== undefined) outbox.add(`wake ${MathMin(MathCeil(delay), LONGEST_WAKE_MS)}`);
    return outbox.take();
  }
}

function define(name: string, value: unknown): void {
  defineHidden(globalThis, name, value);
}

// The bundle's value, taken by the driver.
export default boot;
