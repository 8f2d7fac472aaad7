// Promises that a program forgot. Those that nobody awaits are watched, so that a rejection is told; those in its value are settled before it
// crosses; one that is used as text or as a number says so. Not here: the promises of calls (calls.ts), which know more of themselves.
import { joinPath } from '../src/protocol/values.ts';
import type { Calls } from './calls.ts';
import { describeError } from './failure.ts';
import {
  ArrayIsArray,
  ErrorConstructor,
  list,
  MapConstructor,
  MapPrototypeGet,
  MapPrototypeSet,
  ObjectCreate,
  ObjectGetPrototypeOf,
  ObjectKeys,
  ObjectPrototype,
  ObjectPrototypeIsPrototypeOf,
  PromisePrototype,
  PromisePrototypeThen,
  ReflectApply,
  StringPrototypeCharCodeAt,
  SymbolToPrimitive,
  TypeErrorConstructor,
} from './primordials.ts';
import { programFrames } from './stack.ts';
import { defineHidden, defineVisible } from './world/define.ts';

/** Something to tell beside the result, with the stack of its place. */
interface Notice {
  readonly message: string;
  readonly stack: string;
}

/** A value whose promises are being settled. */
export interface Settling {
  /** A copy, good once nothing is pending: promises in it become what they give. */
  readonly value: unknown;
  pending: number;
}

export interface Promises {
  /** Takes a promise that nobody awaits, or an async callback whose promises nobody awaits, and gives it back. */
  watch(value: unknown): unknown;
  /** Settles the promises in plain objects and lists of a value; `undefined` when there are none. `failed` is told of a rejection. */
  settle(value: unknown, failed: (error: unknown) => void): Settling | undefined;
  /** Rejections and promises so far, a bounded number. */
  notices(): readonly Notice[];
}

/** Most promises settled in a value, and the deepest that they are looked for. */
const MOST_PROMISES = 1_000;
const DEEPEST = 32;
const MOST_NOTICES = 20;

export function installPromises(calls: Calls): Promises {
  const notices = list<Notice>();
  let found = 0;

  function tell(message: string, stack: string): void {
    if (notices.length < MOST_NOTICES) notices[notices.length] = { message, stack };
  }

  function watch(value: unknown): unknown {
    if (typeof value === 'function') {
      return function (this: unknown, ...values: unknown[]): unknown {
        return watch(ReflectApply(value as (...args: unknown[]) => unknown, this, values));
      };
    }
    if (typeof value !== 'object' || value === null) return value;
    const { stack } = new ErrorConstructor() as Error;
    try {
      // The promises of calls have a prototype of their own, and tell of themselves.
      if (ObjectGetPrototypeOf(value) !== PromisePrototype) return value;
      void PromisePrototypeThen(value as Promise<unknown>, undefined, (thrown: unknown) => {
        const error = describeError(thrown);
        const what = error.isError ? `${error.name}: ${error.message}` : error.message;
        tell(`A promise that was never awaited was rejected: ${what}`, error.stack === '' ? programFrames(stack) : error.stack);
      });
    } catch {
      // No promise after all, or one that does not want to be looked at.
    }
    return value;
  }

  function settle(root: unknown, failed: (error: unknown) => void): Settling | undefined {
    const copies = new MapConstructor<object, unknown>();
    const told = ObjectCreate(null) as Record<string, true>;
    const settling: { value: unknown; pending: number } = { value: undefined, pending: 0 };

    function awaitAt(promise: object, target: object, key: string | number, path: string): boolean {
      if (found >= MOST_PROMISES) return false;
      try {
        void PromisePrototypeThen(
          promise as Promise<unknown>,
          (value: unknown) => {
            put(target, key, value);
            settling.pending--;
          },
          failed,
        );
      } catch {
        return false;
      }
      found++;
      settling.pending++;
      const shape = withoutIndexes(path);
      if (told[shape] === undefined) {
        told[shape] = true;
        tell(
          `\`${shape}\` of the program's value was a promise; it was awaited for you. Put \`await\` before the call, or \`await Promise.all(…)\` around a list of them.`,
          calls.stackOf(promise),
        );
      }
      return true;
    }

    function copy(value: unknown, target: object, key: string | number, path: string, depth: number): void {
      put(target, key, value);
      if (typeof value !== 'object' || value === null || depth > DEEPEST) return;
      if (ObjectPrototypeIsPrototypeOf(PromisePrototype, value)) {
        if (awaitAt(value, target, key, path)) put(target, key, undefined);
        return;
      }
      const known = MapPrototypeGet(copies, value);
      if (known !== undefined) {
        put(target, key, known);
        return;
      }
      if (ArrayIsArray(value)) {
        const items: unknown[] = [];
        MapPrototypeSet(copies, value, items);
        put(target, key, items);
        for (let i = 0; i < value.length; i++) copy(value[i], items, i, `${path}[${i}]`, depth + 1);
        return;
      }
      const prototype = ObjectGetPrototypeOf(value);
      if (prototype !== ObjectPrototype && prototype !== null) return;
      const members = {};
      MapPrototypeSet(copies, value, members);
      put(target, key, members);
      const names = ObjectKeys(value);
      for (let i = 0; i < names.length; i++) {
        const name = names[i] as string;
        copy((value as Record<string, unknown>)[name], members, name, joinPath(path, name), depth + 1);
      }
    }

    copy(root, settling, 'value', '$', 0);
    return settling.pending === 0 ? undefined : settling;
  }

  defineHidden(PromisePrototype, SymbolToPrimitive, (hint: unknown): never => {
    throw new TypeErrorConstructor(
      `A promise is used as a ${hint === 'default' ? 'value' : hint === 'string' ? 'string' : 'number'} here: put \`await\` before what gives it.`,
    );
  });

  return { watch, settle, notices: () => notices };
}

/** As an assignment would, whatever setters a prototype has. */
function put(target: object, key: string | number, value: unknown): void {
  defineVisible(target, key, value);
}

/** `$[3].a` as `$[…].a`: many of a kind are told once. */
function withoutIndexes(path: string): string {
  let text = '';
  let inside = false;
  for (let i = 0; i < path.length; i++) {
    const code = StringPrototypeCharCodeAt(path, i);
    if (inside && code >= 48 && code <= 57) continue;
    if (inside && code === 93) text += '…';
    inside = code === 91;
    text += path[i] as string;
  }
  return text;
}
