// Private copies of the intrinsics, taken before any program runs. A program may replace every method on every
// prototype; guest code that runs after it uses these copies only. Rules for that code: no spread, no for-of, no
// array destructuring (the iterator protocol can be patched), lists made with `list()` (no inherited index setters).
// This file does not decide which globals exist: world/world.ts does.

const { apply, construct, deleteProperty, get, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys } = Reflect;

type AnyFunction = (...args: never[]) => unknown;
type Getter<S, R> = (self: S) => R;

const bindFunction = Function.prototype.bind;
const callFunction = Function.prototype.call;

/** Turns a method into a function whose first argument is its `this`. The caller states the resulting type, which TypeScript cannot derive. */
export function uncurry<T>(method: unknown): T {
  // `call` bound to the method: no property is looked up when it runs later.
  return apply(bindFunction, callFunction, [method]) as T;
}

function getterOf<S, R>(prototype: object, key: PropertyKey): Getter<S, R> {
  const descriptor = getOwnPropertyDescriptor(prototype, key);
  return uncurry<Getter<S, R>>(descriptor?.get);
}

// Reflect, Object, Function
export const ReflectApply = apply as <R>(target: (...args: never[]) => R, self: unknown, args: ArrayLike<unknown>) => R;
export const ReflectConstruct = construct as <R>(target: AnyConstructor<R>, args: ArrayLike<unknown>, newTarget?: AnyFunction) => R;
export const ReflectDeleteProperty = deleteProperty;
export const ReflectGet = get as (target: object, key: PropertyKey, receiver?: unknown) => unknown;
export const ReflectGetOwnPropertyDescriptor = getOwnPropertyDescriptor;
export const ReflectHas = has;
export const ReflectOwnKeys = ownKeys;
/** A constructor with any parameters. */
export type AnyConstructor<R> = abstract new (...args: never[]) => R;

export const ObjectCreate = Object.create as (prototype: object | null) => Record<PropertyKey, unknown>;
export const ObjectDefineProperty = Object.defineProperty;
export const ObjectFreeze = Object.freeze;
export const ObjectGetOwnPropertyDescriptor = Object.getOwnPropertyDescriptor as (
  target: object,
  key: PropertyKey,
) => PropertyDescriptor | undefined;
export const ObjectGetOwnPropertyNames = Object.getOwnPropertyNames;
export const ObjectGetOwnPropertySymbols = Object.getOwnPropertySymbols;
export const ObjectGetPrototypeOf = Object.getPrototypeOf as (target: unknown) => object | null;
export const ObjectIs = Object.is;
export const ObjectKeys = Object.keys as (target: object) => string[];
export const ObjectPrototype = Object.prototype;
export const ObjectPrototypeHasOwnProperty = uncurry<(self: object, key: PropertyKey) => boolean>(Object.prototype.hasOwnProperty);
export const ObjectPrototypeIsPrototypeOf = uncurry<(self: object, value: unknown) => boolean>(Object.prototype.isPrototypeOf);
export const ObjectPrototypePropertyIsEnumerable = uncurry<(self: object, key: PropertyKey) => boolean>(
  Object.prototype.propertyIsEnumerable,
);
export const ObjectPrototypeToString = uncurry<(self: unknown) => string>(Object.prototype.toString);
export const ObjectSetPrototypeOf = Object.setPrototypeOf as <T extends object>(target: T, prototype: object | null) => T;
export const FunctionPrototypeToString = uncurry<(self: unknown) => string>(Function.prototype.toString);

/** An empty array without a prototype: writing to an index can meet no setter that a program planted on `Array.prototype`. */
export function list<T>(): T[] {
  return ObjectSetPrototypeOf([] as T[], null);
}

/** An object without a prototype, for tables with keys from outside. */
export function table<T>(): Record<string, T> {
  return ObjectCreate(null) as Record<string, T>;
}

// Array
export const ArrayIsArray = Array.isArray as (value: unknown) => value is unknown[];
export const ArrayPrototypeIncludes = uncurry<<T>(self: readonly T[], value: T) => boolean>(Array.prototype.includes);
export const ArrayPrototypeIndexOf = uncurry<<T>(self: readonly T[], value: T) => number>(Array.prototype.indexOf);
export const ArrayPrototypeJoin = uncurry<(self: readonly unknown[], separator?: string) => string>(Array.prototype.join);
export const ArrayPrototypeSlice = uncurry<<T>(self: readonly T[], start?: number, end?: number) => T[]>(Array.prototype.slice);
export const ArrayPrototypeSplice = uncurry<<T>(self: T[], start: number, count?: number) => T[]>(Array.prototype.splice);

// Text
export const StringFromCharCode = String.fromCharCode;
export const StringPrototypeCharCodeAt = uncurry<(self: string, index: number) => number>(String.prototype.charCodeAt);
export const StringPrototypeEndsWith = uncurry<(self: string, search: string) => boolean>(String.prototype.endsWith);
export const StringPrototypeIncludes = uncurry<(self: string, search: string) => boolean>(String.prototype.includes);
export const StringPrototypeIndexOf = uncurry<(self: string, search: string, from?: number) => number>(String.prototype.indexOf);
export const StringPrototypePadEnd = uncurry<(self: string, length: number, fill?: string) => string>(String.prototype.padEnd);
export const StringPrototypePadStart = uncurry<(self: string, length: number, fill?: string) => string>(String.prototype.padStart);
export const StringPrototypeRepeat = uncurry<(self: string, count: number) => string>(String.prototype.repeat);
export const StringPrototypeSlice = uncurry<(self: string, start?: number, end?: number) => string>(String.prototype.slice);
export const StringPrototypeStartsWith = uncurry<(self: string, search: string) => boolean>(String.prototype.startsWith);
export const StringPrototypeToLowerCase = uncurry<(self: string) => string>(String.prototype.toLowerCase);
export const StringPrototypeToUpperCase = uncurry<(self: string) => string>(String.prototype.toUpperCase);
export const StringPrototypeTrim = uncurry<(self: string) => string>(String.prototype.trim);
export const StringPrototypeValueOf = uncurry<(self: unknown) => string>(String.prototype.valueOf);
export const StringConstructor = String;

/** Splits at a fixed separator, without `Symbol.split`. */
export function splitText(text: string, separator: string): string[] {
  const parts = list<string>();
  let from = 0;
  for (;;) {
    const at = StringPrototypeIndexOf(text, separator, from);
    if (at === -1) break;
    parts[parts.length] = StringPrototypeSlice(text, from, at);
    from = at + separator.length;
  }
  parts[parts.length] = StringPrototypeSlice(text, from);
  return parts;
}

/** Replaces every occurrence of a fixed text, without `Symbol.replace`. */
export function replaceText(text: string, search: string, replacement: string): string {
  if (!StringPrototypeIncludes(text, search)) return text;
  return ArrayPrototypeJoin(splitText(text, search), replacement);
}

// Numbers
export const NumberConstructor = Number;
export const NumberIsFinite = Number.isFinite;
export const NumberIsNaN = Number.isNaN;
export const NumberParseFloat = Number.parseFloat;
export const NumberParseInt = Number.parseInt;
export const NumberPrototypeToFixed = uncurry<(self: number, digits?: number) => string>(Number.prototype.toFixed);
export const NumberPrototypeToString = uncurry<(self: number, radix?: number) => string>(Number.prototype.toString);
export const NumberPrototypeValueOf = uncurry<(self: unknown) => number>(Number.prototype.valueOf);
export const BooleanPrototypeValueOf = uncurry<(self: unknown) => boolean>(Boolean.prototype.valueOf);
export const BigIntPrototypeValueOf = uncurry<(self: unknown) => bigint>(BigInt.prototype.valueOf);
export const BigIntPrototypeToString = uncurry<(self: bigint) => string>(BigInt.prototype.toString);
export const MathCeil = Math.ceil;
export const MathFloor = Math.floor;
export const MathMax = Math.max;
export const MathMin = Math.min;
export const MathRound = Math.round;
export const MathSqrt = Math.sqrt;

// Symbols
export const SymbolAsyncIterator: typeof Symbol.asyncIterator = Symbol.asyncIterator;
export const SymbolIterator: typeof Symbol.iterator = Symbol.iterator;
export const SymbolToPrimitive: typeof Symbol.toPrimitive = Symbol.toPrimitive;
export const SymbolToStringTag: typeof Symbol.toStringTag = Symbol.toStringTag;
export const SymbolPrototypeToString = uncurry<(self: symbol) => string>(Symbol.prototype.toString);
export const SymbolPrototypeValueOf = uncurry<(self: unknown) => symbol>(Symbol.prototype.valueOf);

// Collections
export const MapConstructor = Map;
export const MapPrototype: object = Map.prototype;
export const MapPrototypeClear = uncurry<(self: Map<unknown, unknown>) => void>(Map.prototype.clear);
export const MapPrototypeDelete = uncurry<<K>(self: Map<K, unknown>, key: K) => boolean>(Map.prototype.delete);
export const MapPrototypeForEach = uncurry<<K, V>(self: Map<K, V>, visit: (value: V, key: K) => void) => void>(Map.prototype.forEach);
export const MapPrototypeGet = uncurry<<K, V>(self: Map<K, V>, key: K) => V | undefined>(Map.prototype.get);
export const MapPrototypeGetSize = getterOf<unknown, number>(Map.prototype, 'size');
export const MapPrototypeHas = uncurry<<K>(self: Map<K, unknown>, key: K) => boolean>(Map.prototype.has);
export const MapPrototypeSet = uncurry<<K, V>(self: Map<K, V>, key: K, value: V) => Map<K, V>>(Map.prototype.set);
export const SetConstructor = Set;
export const SetPrototype: object = Set.prototype;
export const SetPrototypeAdd = uncurry<<T>(self: Set<T>, value: T) => Set<T>>(Set.prototype.add);
export const SetPrototypeForEach = uncurry<<T>(self: Set<T>, visit: (value: T) => void) => void>(Set.prototype.forEach);
export const SetPrototypeGetSize = getterOf<unknown, number>(Set.prototype, 'size');
export const WeakMapConstructor = WeakMap;
export const WeakMapPrototype: object = WeakMap.prototype;
export const WeakMapPrototypeGet = uncurry<<K extends object, V>(self: WeakMap<K, V>, key: K) => V | undefined>(WeakMap.prototype.get);
export const WeakMapPrototypeHas = uncurry<(self: WeakMap<object, unknown>, key: object) => boolean>(WeakMap.prototype.has);
export const WeakMapPrototypeSet = uncurry<<K extends object, V>(self: WeakMap<K, V>, key: K, value: V) => WeakMap<K, V>>(
  WeakMap.prototype.set,
);
export const WeakSetPrototype: object = WeakSet.prototype;

// Bytes
export const ArrayBufferConstructor = ArrayBuffer;
export const ArrayBufferPrototype: object = ArrayBuffer.prototype;
export const ArrayBufferPrototypeGetByteLength = getterOf<unknown, number>(ArrayBuffer.prototype, 'byteLength');
export const ArrayBufferPrototypeSlice = uncurry<(self: ArrayBuffer, start: number, end?: number) => ArrayBuffer>(
  ArrayBuffer.prototype.slice,
);
/** Absent in older engines. */
export const ArrayBufferPrototypeTransfer: ((self: ArrayBuffer) => ArrayBuffer) | undefined =
  'transfer' in ArrayBuffer.prototype ? uncurry(ArrayBuffer.prototype.transfer) : undefined;
export const DataViewConstructor = DataView;
export const DataViewPrototype: object = DataView.prototype;
export const DataViewPrototypeGetBuffer = getterOf<unknown, ArrayBuffer>(DataView.prototype, 'buffer');
export const DataViewPrototypeGetByteLength = getterOf<unknown, number>(DataView.prototype, 'byteLength');
export const DataViewPrototypeGetByteOffset = getterOf<unknown, number>(DataView.prototype, 'byteOffset');
export const Uint8ArrayConstructor = Uint8Array;
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
export const TypedArrayPrototypeGetBuffer = getterOf<unknown, ArrayBuffer>(TypedArrayPrototype, 'buffer');
export const TypedArrayPrototypeGetByteLength = getterOf<unknown, number>(TypedArrayPrototype, 'byteLength');
export const TypedArrayPrototypeGetByteOffset = getterOf<unknown, number>(TypedArrayPrototype, 'byteOffset');
export const TypedArrayPrototypeGetLength = getterOf<unknown, number>(TypedArrayPrototype, 'length');
/** The name of a typed array's class, `undefined` for everything else; it cannot be faked and never throws. */
export const TypedArrayPrototypeGetSymbolToStringTag = getterOf<unknown, string | undefined>(TypedArrayPrototype, Symbol.toStringTag);

// Dates, patterns, errors, promises, JSON
export const DateConstructor = Date;
export const DateNow = Date.now;
export const DateParse = Date.parse;
export const DatePrototype: object = Date.prototype;
export const DatePrototypeGetTime = uncurry<(self: unknown) => number>(Date.prototype.getTime);
export const DatePrototypeToISOString = uncurry<(self: unknown) => string>(Date.prototype.toISOString);
export const RegExpConstructor = RegExp;
export const RegExpPrototype: object = RegExp.prototype;
const flagGetters: readonly (readonly [letter: string, get: Getter<unknown, boolean>])[] = [
  ['d', getterOf(RegExp.prototype, 'hasIndices')],
  ['g', getterOf(RegExp.prototype, 'global')],
  ['i', getterOf(RegExp.prototype, 'ignoreCase')],
  ['m', getterOf(RegExp.prototype, 'multiline')],
  ['s', getterOf(RegExp.prototype, 'dotAll')],
  ['u', getterOf(RegExp.prototype, 'unicode')],
  ['v', getterOf(RegExp.prototype, 'unicodeSets')],
  ['y', getterOf(RegExp.prototype, 'sticky')],
];
/** The flags by their internal slots; the native `flags` reads each through the prototype. */
export function RegExpPrototypeGetFlags(self: unknown): string {
  let flags = '';
  for (let i = 0; i < flagGetters.length; i++) {
    const flag = flagGetters[i] as readonly [string, Getter<unknown, boolean>];
    if (flag[1](self)) flags += flag[0];
  }
  return flags;
}
export const RegExpPrototypeGetSource = getterOf<unknown, string>(RegExp.prototype, 'source');
export const ErrorConstructor = Error;
export const ErrorPrototype: object = Error.prototype;
export const EvalErrorConstructor = EvalError;
export const RangeErrorConstructor = RangeError;
export const ReferenceErrorConstructor = ReferenceError;
export const SyntaxErrorConstructor = SyntaxError;
export const TypeErrorConstructor = TypeError;
export const URIErrorConstructor = URIError;
export const PromiseConstructor = Promise;
export const PromisePrototype: object = Promise.prototype;
export const PromisePrototypeThen = uncurry<
  <T, A, B>(self: Promise<T>, fulfilled?: (value: T) => A, rejected?: (reason: unknown) => B) => Promise<A | B>
>(Promise.prototype.then);
export const PromiseResolve = uncurry<(self: unknown, value?: unknown) => Promise<unknown>>(Promise.resolve);
export const ProxyConstructor = Proxy;
export const JSONParse = JSON.parse as (text: string) => unknown;
export const JSONStringify = JSON.stringify as (value: unknown) => string | undefined;
const stringifyText = JSON.stringify;
/** A string as JSON text; well-formed for lone surrogates and NUL. Only for strings: an object could bring its own `toJSON`. */
export const quote = (text: string): string => stringifyText(text);

const regExpExec = uncurry<(self: RegExp, text: string) => RegExpExecArray | null>(RegExp.prototype.exec);
/** Runs a pattern that is not global or sticky. `exec` itself reads nothing that a program can replace. */
export const RegExpPrototypeExec = regExpExec;
/** Whether the pattern occurs; see RegExpPrototypeExec. */
export const matches = (pattern: RegExp, text: string): boolean => regExpExec(pattern, text) !== null;
