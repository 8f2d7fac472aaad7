// The promise table: a call leaves as one line, its settlement resolves the promise that the program holds. The program
// never sees an id, a resolver or another call's arguments. Not here: which names lead to a call (tools.ts).
import type { CallFailure } from '../src/protocol/errors.ts';
import type { News } from '../src/protocol/messages.ts';
import { encodeValue, UnserializableError, untagValue, type WireMode } from '../src/protocol/values.ts';
import { type Outbox, sizeOf } from './outbox.ts';
import {
  ErrorConstructor,
  list,
  MapConstructor,
  MapPrototypeDelete,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeSet,
  ObjectCreate,
  ObjectDefineProperty,
  ObjectSetPrototypeOf,
  PromiseConstructor,
  PromisePrototype,
  ProxyConstructor,
  quote,
  ReflectGet,
  ReflectHas,
  StringPrototypeCharCodeAt,
  SymbolToPrimitive,
  TypeErrorConstructor,
  WeakMapConstructor,
  WeakMapPrototypeGet,
  WeakMapPrototypeSet,
} from './primordials.ts';
import { createSmallInputs } from './small-inputs.ts';
import { programFrames } from './stack.ts';
import { defineHidden, defineVisible } from './world/define.ts';

/** One call that the program made. */
interface Call {
  readonly path: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Made at the call, so that a rejection points at the program's own line; filled in when it is needed. */
  readonly error: Error;
  // Written when there is something to say: most calls are over before, and each member costs every call its place.
  /** The program has looked at the promise: awaited it, or called one of its methods. */
  observed?: true;
  /** What the host said, and the program's frames, once it has failed. Copies: the program may change its error. */
  failure?: CallFailure;
  stack?: string;
}

/** One entry of the array that the host posts. The shapes are the host's own; see src/protocol/messages.ts. */
export type Settlement = readonly [id: number, kind: 0 | 1 | 2, payload: unknown, news?: News];

export interface Calls {
  /**
   * Makes a call and returns the promise for the program. Everything that goes wrong is a rejection, as awaiting code expects. `error` is a new
   * one, made by the function that the program called: it keeps the place, and each frame between the two would cost more than the rest of it.
   */
  invoke(index: number, path: string, input: unknown, error: Error): Promise<unknown>;
  /**
   * Calls a function of the host with its arguments; as `invoke`, but for the count. `path` is its name to the program, `most` how long the
   * arguments may be where that is not `argumentBytes`.
   */
  ask(name: string, args: readonly unknown[], path?: string, most?: number): Promise<unknown>;
  /** A promise that is already rejected, for what is refused before it leaves; its error points at the program's line. */
  refuse(path: string, failure: CallFailure): Promise<unknown>;
  /** Settles a call; `beside` are the buffers that belong to the answer. */
  settle(settlement: Settlement, beside: readonly ArrayBuffer[] | undefined): void;
  /** Calls that the host has not answered yet. */
  pending(): number;
  /** The program's frames at the call whose promise this is; empty for anything else. */
  stackOf(promise: object): string;
  /** Failed calls whose promises nobody has looked at. */
  unobservedFailures(): readonly { message: string; stack: string }[];
  begin(limits: { calls: number; argumentBytes: number; places: boolean }): void;
  /** Ends all calling: what is called from now on never leaves and never settles. */
  end(): void;
  /** Takes `end` back: the program is not over yet. */
  reopen(): void;
}

export function createCalls(outbox: Outbox): Calls {
  const small = createSmallInputs();
  const table = new MapConstructor<number, Call>();
  const records = new WeakMapConstructor<object, Call>();
  const failed = list<Call>();
  const promisePrototype = callPromisePrototype(records);
  let lastId = 0;
  let made = 0;
  let allowed = 0;
  let argumentBytes = 0;
  let places = false;
  let ended = false;

  // Of the promise made last. One executor for all: one for each would cost as much as the promise.
  let resolve!: (value: unknown) => void;
  let reject!: (error: unknown) => void;
  const executor = (res: (value: unknown) => void, rej: (error: unknown) => void): void => {
    resolve = res;
    reject = rej;
  };

  /** The call behind a promise just made. */
  function register(promise: Promise<unknown>, path: string, error: Error): Call {
    const call: Call = { path, resolve, reject, error };
    ObjectSetPrototypeOf(promise, promisePrototype);
    WeakMapPrototypeSet(records, promise, call);
    return call;
  }

  function fail(call: Call, failure: CallFailure): void {
    const { error } = call;
    call.failure = failure;
    call.stack = programFrames(error.stack);
    dress(error, failure, call.stack);
    call.reject(error);
    if (call.observed !== true) failed[failed.length] = call;
  }

  /** Sends a call to the tool of an index, or a question to a function of the host. */
  function send(kind: 'call' | 'ask', to: number | string, path: string, input: unknown, most: number, error: Error): Promise<unknown> {
    const promise = new PromiseConstructor(executor) as Promise<unknown>;
    const call = register(promise, path, error);
    let mode: WireMode = 'P';
    let text: string | undefined;
    let length: number | undefined;
    let beside: Uint8Array[] | undefined;
    try {
      text = input === undefined ? '{}' : small(input);
      if (text === undefined) {
        if (outbox.carries) beside = list();
        ({ mode, text, length } = encodeValue(input, beside, outbox.writePlain));
      }
    } catch (thrown) {
      const sentence = UnserializableError.sentenceOf(thrown);
      if (sentence === undefined) {
        // A getter, proxy or toJSON of the program threw: its own error, unchanged.
        call.reject(thrown);
        return promise;
      }
      fail(call, {
        name: 'TypeError',
        code: 'input_invalid',
        message: `${nameOf(kind, path)} was called with a value that cannot cross: ${sentence}`,
      });
      return promise;
    }
    if (ended) return promise;
    const bytes = beside === undefined || beside.length === 0 ? 0 : sizeOf(beside);
    const size = (length ?? text.length) + bytes;
    if (size > most) {
      fail(call, {
        name: 'RangeError',
        code: 'limit_exceeded',
        message: `${nameOf(kind, path)} was called with ${size} bytes of arguments; the limit \`argumentBytes\` is ${most}. Pass less, or in parts.`,
      });
      return promise;
    }
    // The host counts too and ends the program at the first call over the limit; those after it stay here.
    if (kind === 'call' && made++ > allowed) return promise;
    let count = '';
    if (beside !== undefined && beside.length > 0) {
      if (!outbox.attach(beside)) {
        fail(call, {
          name: 'RangeError',
          code: 'limit_exceeded',
          message: `${nameOf(kind, path)} was called with ${bytes} bytes, more than can be on their way at once; await the calls before it.`,
        });
        return promise;
      }
      count = `${beside.length}`;
    }
    const id = ++lastId;
    MapPrototypeSet(table, id, call);
    if (places) outbox.add(`at ${id} ${quote(programFrames(call.error.stack))}`);
    outbox.add(`${kind} ${id} ${to} ${mode}${count} ${text}`);
    return promise;
  }

  return {
    invoke: (index, path, input, error) => send('call', index, path, input, argumentBytes, error),
    ask: (name, args, path = name, most = argumentBytes) => send('ask', name, path, args, most, new ErrorConstructor()),
    refuse(path, failure) {
      const promise = new PromiseConstructor(executor) as Promise<unknown>;
      fail(register(promise, path, new ErrorConstructor()), failure);
      return promise;
    },
    settle(settlement, beside) {
      const id = settlement[0];
      const call = MapPrototypeGet(table, id);
      if (call === undefined) return;
      MapPrototypeDelete(table, id);
      switch (settlement[1]) {
        case 0:
          call.resolve(settlement[2]);
          return;
        case 1:
          try {
            call.resolve(untagValue(settlement[2], beside));
          } catch (error) {
            call.reject(error);
          }
          return;
        case 2:
          fail(call, settlement[2] as CallFailure);
          return;
      }
    },
    pending: () => MapPrototypeGetSize(table),
    stackOf: (promise) => programFrames(WeakMapPrototypeGet(records, promise)?.error.stack),
    unobservedFailures() {
      const failures = list<{ message: string; stack: string }>();
      for (let i = 0; i < failed.length; i++) {
        const call = failed[i] as Call;
        if (call.observed === true) continue;
        const { message } = call.failure as CallFailure;
        failures[failures.length] = {
          message: `A call of \`${call.path}\` that was never awaited failed: ${message}`,
          stack: call.stack as string,
        };
      }
      return failures;
    },
    begin(limits) {
      allowed = limits.calls;
      argumentBytes = limits.argumentBytes;
      places = limits.places;
    },
    end() {
      ended = true;
    },
    reopen() {
      ended = false;
    },
  };
}

function nameOf(kind: 'call' | 'ask', path: string): string {
  return kind === 'call' ? `Tool \`${path}\`` : `\`${path}\``;
}

/** Gives an error made at the call what the host said, and a stack of the program's own frames only. */
function dress(error: Error, failure: CallFailure, stack: string): void {
  defineHidden(error, 'name', failure.name);
  defineHidden(error, 'message', failure.message);
  defineHidden(error, 'stack', stack);
  defineVisible(error, 'code', failure.code);
  if (failure.details !== undefined) defineVisible(error, 'details', failure.details);
}

function isIndex(key: string): boolean {
  for (let i = 0; i < key.length; i++) {
    const code = StringPrototypeCharCodeAt(key, i);
    if (code < 48 || code > 57) return false;
  }
  return key.length > 0;
}

/** Names that libraries and engines look up on anything; answering them with an error would break honest code. */
const PROBED = ObjectCreate(null) as Record<string, true>;
PROBED['$$typeof'] = PROBED['asymmetricMatch'] = PROBED['nodeType'] = PROBED['inspect'] = true;

/**
 * The prototype of the promises that calls return. Every way of observing a promise reads its `constructor` (await,
 * Promise.resolve) or calls a method, which reads it too: that is how we learn of promises nobody looked at. A property
 * that promises do not have was meant for the awaited value, and says so.
 */
function callPromisePrototype(records: WeakMap<object, Call>): object {
  const handler = ObjectCreate(null);
  handler['get'] = (target: object, key: PropertyKey, receiver: unknown): unknown => {
    if (typeof key !== 'string' || ReflectHas(target, key)) return ReflectGet(target, key, receiver);
    const call = typeof receiver === 'object' && receiver !== null ? WeakMapPrototypeGet(records, receiver) : undefined;
    if (call === undefined || PROBED[key] === true) return undefined;
    if (key === 'toJSON')
      throw new TypeErrorConstructor(
        `\`${call.path}\` was called without \`await\`: what is written as JSON here is its promise; await it first.`,
      );
    const read = isIndex(key) ? `[${key}]` : `.${key}`;
    throw new TypeErrorConstructor(
      `\`${call.path}\` was called without \`await\`: a promise has no property \`${key}\`; write (await tools.${call.path}(…))${read}.`,
    );
  };
  const guard = new ProxyConstructor(ObjectCreate(PromisePrototype), handler as ProxyHandler<object>);
  const prototype = ObjectCreate(guard);
  const refuse = (promise: unknown, hint: unknown): never => {
    const call = typeof promise === 'object' && promise !== null ? WeakMapPrototypeGet(records, promise) : undefined;
    const what = hint === 'string' ? 'a string' : hint === 'number' ? 'a number' : 'a value';
    if (call === undefined) throw new TypeErrorConstructor(`A promise is used as ${what} here: put \`await\` before what gives it.`);
    throw new TypeErrorConstructor(
      `\`${call.path}\` was called without \`await\`: its promise is used as ${what} here; write await tools.${call.path}(…).`,
    );
  };
  defineHidden(prototype, SymbolToPrimitive, function (this: unknown, hint: unknown) {
    return refuse(this, hint);
  });
  defineHidden(prototype, 'toString', function (this: unknown) {
    return refuse(this, 'string');
  });
  ObjectDefineProperty(prototype, 'constructor', {
    configurable: true,
    enumerable: false,
    get(this: object) {
      const call = WeakMapPrototypeGet(records, this);
      if (call !== undefined) call.observed = true;
      return PromiseConstructor;
    },
    set(this: object, value: unknown) {
      defineVisible(this, 'constructor', value);
    },
  });
  return prototype;
}
