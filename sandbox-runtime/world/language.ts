// Additions of the language that an engine lacks, each only where it is missing: `Array.fromAsync`, `Iterator.concat`,
// `Map.prototype.getOrInsert`, `Math.sumPrecise`, `Error.isError`, `Error.captureStackTrace`. Programs run these on their own values
// through the ordinary protocols, as the native ones do. Disposal is in disposal.ts, bytes in encoding.ts.
import {
  type AnyConstructor,
  ErrorConstructor,
  MapConstructor,
  MapPrototypeGet,
  MapPrototypeHas,
  MapPrototypeSet,
  NumberIsFinite,
  NumberIsNaN,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  ObjectGetPrototypeOf,
  ObjectIs,
  ObjectPrototypeIsPrototypeOf,
  ReflectApply,
  ReflectConstruct,
  ReflectGetOwnPropertyDescriptor,
  StringPrototypeStartsWith,
  SymbolAsyncIterator,
  SymbolIterator,
  TypeErrorConstructor,
  WeakMapConstructor,
  WeakMapPrototypeGet,
  WeakMapPrototypeHas,
  WeakMapPrototypeSet,
} from '../primordials.ts';
import { dataDescriptor, defineHidden, defineMembers, defineVisible } from './define.ts';
import type { Inspector } from './inspect.ts';

type AnyFunction = (...args: never[]) => unknown;

/** Defines what is missing. */
export function installLanguage(inspector: Inspector): void {
  defineMembers(Array, { fromAsync });
  const iterator = (globalThis as { Iterator?: object }).Iterator;
  if (iterator !== undefined) defineMembers(iterator, { concat });
  guardTemplates();
  repairIteratorHelpers();
  defineMembers(Math, { sumPrecise });
  defineMembers(ErrorConstructor, {
    isError: (value: unknown) => inspector.isError(value),
    captureStackTrace(target: object): void {
      if ((typeof target !== 'object' && typeof target !== 'function') || target === null) {
        throw new TypeErrorConstructor('Error.captureStackTrace expects an object.');
      }
      defineHidden(target, 'stack', new ErrorConstructor().stack);
    },
  });
  defineMembers(MapConstructor.prototype, {
    getOrInsert(this: Map<unknown, unknown>, key: unknown, value: unknown): unknown {
      if (MapPrototypeHas(this, key)) return MapPrototypeGet(this, key);
      MapPrototypeSet(this, key, value);
      return value;
    },
    getOrInsertComputed(this: Map<unknown, unknown>, key: unknown, compute: unknown): unknown {
      const make = requireFunction(compute, 'Map.prototype.getOrInsertComputed');
      if (MapPrototypeHas(this, key)) return MapPrototypeGet(this, key);
      const value = ReflectApply(make, undefined, [key]);
      MapPrototypeSet(this, key, value);
      return value;
    },
  });
  defineMembers(WeakMapConstructor.prototype, {
    getOrInsert(this: WeakMap<object, unknown>, key: object, value: unknown): unknown {
      if (WeakMapPrototypeHas(this, key)) return WeakMapPrototypeGet(this, key);
      WeakMapPrototypeSet(this, key, value);
      return value;
    },
    getOrInsertComputed(this: WeakMap<object, unknown>, key: object, compute: unknown): unknown {
      const make = requireFunction(compute, 'WeakMap.prototype.getOrInsertComputed');
      if (WeakMapPrototypeHas(this, key)) return WeakMapPrototypeGet(this, key);
      const value = ReflectApply(make, undefined, [key]);
      WeakMapPrototypeSet(this, key, value);
      return value;
    },
  });
}

/**
 * QuickJS compiles template literals into calls of `String.prototype.concat`, found when they run: a program that replaced it could
 * read and rewrite every text that the guest's own code makes, messages to the host included. Where an engine does that, the method
 * is made permanent. Engines that build templates themselves are left alone.
 */
function guardTemplates(): void {
  const descriptor = ReflectGetOwnPropertyDescriptor(String.prototype, 'concat') as PropertyDescriptor;
  let isCalled = false;
  const probe = (): string => {
    isCalled = true;
    return '';
  };
  ObjectDefineProperty(String.prototype, 'concat', dataDescriptor(probe));
  // Not a constant: the compiler must not fold it.
  const text = `${typeof isCalled}-${typeof probe}`;
  if (!isCalled && text !== '') ObjectDefineProperty(String.prototype, 'concat', descriptor);
  else ObjectDefineProperty(String.prototype, 'concat', dataDescriptor(descriptor.value, false, false, false));
}

/**
 * QuickJS closes a helper such as `list.values().map(f)` by calling the `return` of what it reads from, even where there is none,
 * as for arrays: leaving a loop over a helper early, `take` and `find` all fail with "not a function". The helper counts as closed
 * by then, so that the failure can be dropped. Engines without the fault are left alone.
 */
function repairIteratorHelpers(): void {
  const start = [1][SymbolIterator]() as unknown as { map?(visit: (value: unknown) => unknown): Iterator<unknown> };
  const helper = start.map?.((value) => value);
  if (helper === undefined) return;
  const prototype = ObjectGetPrototypeOf(helper) as { return?: AnyFunction };
  const close = prototype.return;
  try {
    helper.return?.();
    return;
  } catch {
    if (close === undefined) return;
  }
  const repaired = {
    return(this: unknown): unknown {
      try {
        return ReflectApply(close, this, []);
      } catch (error) {
        if (isMissingReturn(error)) return { value: undefined, done: true };
        throw error;
      }
    },
  };
  defineMembers(prototype, repaired, true);
}

/** The engine's own complaint, thrown by the native `return` itself and not by a method of the program that it called. */
function isMissingReturn(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !ObjectPrototypeIsPrototypeOf(TypeErrorConstructor.prototype, error)) return false;
  const message: unknown = ObjectGetOwnPropertyDescriptor(error, 'message')?.value;
  const stack: unknown = ObjectGetOwnPropertyDescriptor(error, 'stack')?.value;
  return message === 'not a function' && typeof stack === 'string' && StringPrototypeStartsWith(stack, '    at return (native)');
}

async function fromAsync(this: unknown, items: unknown, mapper?: unknown, self?: unknown): Promise<unknown[]> {
  const map = mapper === undefined ? undefined : requireFunction(mapper, 'Array.fromAsync');
  if (items === null || items === undefined)
    throw new TypeErrorConstructor('Array.fromAsync expects an iterable, an async iterable or an array-like object.');
  const isConstructor = typeof this === 'function' && this !== Array;
  const target = (isConstructor ? ReflectConstruct(this as unknown as AnyConstructor<unknown[]>, []) : []) as unknown[];
  const source = items as { [SymbolAsyncIterator]?: unknown; [SymbolIterator]?: unknown; length?: unknown };
  let count = 0;
  if (source[SymbolAsyncIterator] != null || source[SymbolIterator] != null) {
    // A sync iterable's promises are awaited by `for await` itself.
    for await (const item of items as AsyncIterable<unknown>) {
      defineVisible(target, count, map === undefined ? item : await ReflectApply(map, self, [item, count]));
      count++;
    }
  } else {
    const length = Number(source.length) || 0;
    for (; count < length; count++) {
      const item = await (items as ArrayLike<unknown>)[count];
      defineVisible(target, count, map === undefined ? item : await ReflectApply(map, self, [item, count]));
    }
  }
  target.length = count;
  return target;
}

function* concatenated(sources: readonly Iterable<unknown>[]): Generator<unknown> {
  for (let i = 0; i < sources.length; i++) yield* sources[i] as Iterable<unknown>;
}

function concat(...sources: unknown[]): Iterator<unknown> {
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i];
    if (typeof source !== 'object' || source === null || typeof (source as { [SymbolIterator]?: unknown })[SymbolIterator] !== 'function') {
      throw new TypeErrorConstructor(`Iterator.concat expects iterable objects; argument ${i + 1} is none.`);
    }
  }
  return concatenated(sources as Iterable<unknown>[]);
}

/** Sums without rounding in between: partial sums that do not overlap (Shewchuk), rounded once at the end. */
function sumPrecise(items: Iterable<unknown>): number {
  const partials: number[] = [];
  let special = 0;
  let hasSpecial = false;
  let isNegativeZero = true;
  for (const item of items) {
    if (typeof item !== 'number') throw new TypeErrorConstructor('Math.sumPrecise expects an iterable of numbers.');
    if (!ObjectIs(item, -0)) isNegativeZero = false;
    if (!NumberIsFinite(item)) {
      special = hasSpecial ? special + item : item;
      hasSpecial = true;
      continue;
    }
    let x = item;
    let kept = 0;
    for (let i = 0; i < partials.length; i++) {
      let y = partials[i] as number;
      if (magnitude(x) < magnitude(y)) {
        const smaller = x;
        x = y;
        y = smaller;
      }
      const high = x + y;
      const low = y - (high - x);
      if (low !== 0) partials[kept++] = low;
      x = high;
    }
    partials.length = kept;
    partials[kept] = x;
  }
  if (hasSpecial) return NumberIsNaN(special) ? 0 / 0 : special;
  if (isNegativeZero) return -0;
  let total = 0;
  let error = 0;
  let i = partials.length - 1;
  if (i >= 0) total = partials[i--] as number;
  while (i >= 0) {
    const x = total;
    const y = partials[i--] as number;
    total = x + y;
    error = y - (total - x);
    if (error !== 0) break;
  }
  // Halfway cases: the next partial decides the direction.
  if (i >= 0 && ((error < 0 && (partials[i] as number) < 0) || (error > 0 && (partials[i] as number) > 0))) {
    const doubled = error * 2;
    const moved = total + doubled;
    if (doubled === moved - total) total = moved;
  }
  return total;
}

function magnitude(value: number): number {
  return value < 0 ? -value : value;
}

function requireFunction(value: unknown, where: string): AnyFunction {
  if (typeof value !== 'function') throw new TypeErrorConstructor(`${where} expects a function.`);
  return value as AnyFunction;
}
