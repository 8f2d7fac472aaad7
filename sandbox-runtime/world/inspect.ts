// Turns any guest value into text the way Node's `util.inspect` does, in bounded time and space and without running the
// program's getters, proxy traps or custom inspect functions. It does not decide where the text goes: console.ts does.
import {
  ArrayBufferPrototype,
  ArrayBufferPrototypeGetByteLength,
  ArrayIsArray,
  ArrayPrototypeIncludes,
  ArrayPrototypeIndexOf,
  ArrayPrototypeJoin,
  ArrayPrototypeSplice,
  BigIntPrototypeToString,
  BigIntPrototypeValueOf,
  BooleanPrototypeValueOf,
  DataViewPrototype,
  DataViewPrototypeGetBuffer,
  DataViewPrototypeGetByteLength,
  DataViewPrototypeGetByteOffset,
  DatePrototype,
  DatePrototypeGetTime,
  DatePrototypeToISOString,
  ErrorConstructor,
  ErrorPrototype,
  FunctionPrototypeToString,
  list,
  MapConstructor,
  MapPrototype,
  MapPrototypeForEach,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeSet,
  MathFloor,
  MathMax,
  MathMin,
  MathRound,
  MathSqrt,
  matches,
  NumberIsNaN,
  NumberPrototypeToString,
  NumberPrototypeValueOf,
  ObjectGetOwnPropertyDescriptor,
  ObjectGetOwnPropertyNames,
  ObjectGetOwnPropertySymbols,
  ObjectGetPrototypeOf,
  ObjectIs,
  ObjectKeys,
  ObjectPrototype,
  ObjectPrototypeHasOwnProperty,
  ObjectPrototypeIsPrototypeOf,
  ObjectPrototypePropertyIsEnumerable,
  ObjectPrototypeToString,
  ObjectSetPrototypeOf,
  PromisePrototype,
  RegExpPrototype,
  RegExpPrototypeExec,
  RegExpPrototypeGetFlags,
  RegExpPrototypeGetSource,
  replaceText,
  SetPrototype,
  SetPrototypeForEach,
  SetPrototypeGetSize,
  StringConstructor,
  StringPrototypeCharCodeAt,
  StringPrototypeEndsWith,
  StringPrototypeIncludes,
  StringPrototypePadEnd,
  StringPrototypePadStart,
  StringPrototypeRepeat,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  StringPrototypeToUpperCase,
  StringPrototypeValueOf,
  SymbolIterator,
  SymbolPrototypeToString,
  SymbolPrototypeValueOf,
  SymbolToStringTag,
  splitText,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetSymbolToStringTag,
  Uint8ArrayConstructor,
  WeakMapPrototype,
  WeakSetPrototype,
} from '../primordials.ts';
import type { Proxies } from './proxies.ts';

/** Choices for one value's text; the defaults print what a reader of a log wants. */
export interface InspectOptions {
  /** How many levels below the value are printed; 8 by default, at most 20. */
  depth?: number;
  /** Also prints properties that are not enumerable. */
  showHidden?: boolean;
  /** Elements printed of one array, Map, Set or typed array; 100 by default. */
  maxArrayLength?: number;
  /** Characters printed of one string inside a value; 10 000 by default. */
  maxStringLength?: number;
  /** Width at which a value is broken into lines; 80 by default. */
  breakLength?: number;
  /** How many inner levels may share a line; 3 by default. */
  compact?: number;
  /** Characters after which the rest is left out; 64 K by default. */
  maxLength?: number;
  /** Prints properties sorted by name. */
  sorted?: boolean;
}

/** Prints values. */
export interface Inspector {
  /** The text of any value; never throws and never runs the program's code, apart from `instanceof` hooks and `toString` of symbols' owners. */
  inspect(value: unknown, options?: InspectOptions): string;
  /** Tells how objects of one of our own classes are shown: their state lives in private fields. */
  present(prototype: object, view: (value: object) => View): void;
  /** What stands behind a proxy, through any number of them; the value itself when it is none. */
  behind(value: object): object;
  /** Whether the value is an error object. */
  isError(value: unknown): value is Error;
}

/** How one of our own objects is shown. */
type View =
  | { kind: 'object'; entries: Record<string, unknown> }
  | { kind: 'pairs'; entries: readonly (readonly [string, string])[] }
  | { kind: 'text'; text: string };

/** Characters of one console call that are kept. */
export const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 20;
const MAX_KEYS = 100_000;

const PLAIN = 0;
const ELEMENT = 1;
const LISTED = 2;
type PropertyKind = typeof PLAIN | typeof ELEMENT | typeof LISTED;

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const INDEX = /^(0|[1-9][0-9]*)$/;
/** Anything but printable text without quotes and backslashes; surrogates are looked at one by one. */
const NEEDS_ESCAPE = /[^\x20-\x26\x28-\x5b\x5d-\x7e\xa0-\ud7ff\ue000-\uffff]/;
const CLASS_HEAD = /^class(?=[\s{/])/;

const asyncFunctionPrototype = ObjectGetPrototypeOf(async () => {}) as object;
const generatorFunctionPrototype = ObjectGetPrototypeOf(function* () {}) as object;
const asyncGeneratorFunctionPrototype = ObjectGetPrototypeOf(async function* () {}) as object;
// Present in newer engines only; sees errors whatever their prototype chain says.
const nativeIsError = (ErrorConstructor as { isError?: (value: unknown) => boolean }).isError;
const nativeWeakRefPrototype = (globalThis as { WeakRef?: { prototype: object } }).WeakRef?.prototype;

interface State {
  readonly depth: number;
  readonly showHidden: boolean;
  readonly maxArrayLength: number;
  readonly maxStringLength: number;
  readonly breakLength: number;
  readonly compact: number;
  readonly maxLength: number;
  readonly sorted: boolean;
  readonly seen: unknown[];
  circular: Map<unknown, number> | undefined;
  circularCount: number;
  indentation: number;
  currentDepth: number;
  spent: number;
}

/** Makes the printer. `framesOf` gives the stack lines below an error. */
export function createInspector(proxies: Proxies, framesOf: (error: object, stack: string) => string): Inspector {
  const views = new MapConstructor<object, (value: object) => View>();

  function viewOf(value: object): View | undefined {
    let prototype = ObjectGetPrototypeOf(value);
    for (let depth = 0; prototype !== null && depth < 8; depth++) {
      const view = MapPrototypeGet(views, prototype);
      if (view !== undefined) {
        try {
          return view(value);
        } catch {
          // The prototype object itself, or an impostor: it has no private state to show.
          return undefined;
        }
      }
      prototype = ObjectGetPrototypeOf(prototype);
    }
    return undefined;
  }

  function behind(value: object): object {
    let target = value;
    for (let hops = 0; hops < 100; hops++) {
      const next = proxies.targetOf(target);
      if (next === undefined) break;
      target = next;
    }
    return target;
  }

  function isError(value: unknown): value is Error {
    if (typeof value !== 'object' || value === null) return false;
    return nativeIsError?.(value) === true || ObjectPrototypeIsPrototypeOf(ErrorPrototype, value);
  }

  function formatValue(state: State, value: unknown, level: number): string {
    if (state.spent > state.maxLength) return '...';
    if (typeof value !== 'object' && typeof value !== 'function') return spend(state, formatPrimitive(state, value));
    if (value === null) return spend(state, 'null');
    const target = behind(value);
    if (ArrayPrototypeIncludes(state.seen, target)) {
      state.circular ??= new MapConstructor();
      let index = MapPrototypeGet(state.circular, target);
      if (index === undefined) {
        index = ++state.circularCount;
        MapPrototypeSet(state.circular, target, index);
      }
      return `[Circular *${index}]`;
    }
    return formatObject(state, target, level);
  }

  function formatObject(state: State, value: object, level: number): string {
    const view = viewOf(value);
    if (view?.kind === 'text') return spend(state, view.text);
    const constructor = constructorName(state, value, level);
    const tag = tagOf(state, value);
    let keys: PropertyKey[];
    let base = '';
    let braces: [string, string] = ['{', '}'];
    let kind: PropertyKind = PLAIN;
    let formatter: (inner: number) => string[] = () => list<string>();
    let extraKeys = false;

    const unknown = constructor === null;
    if (view !== undefined) {
      keys = list();
      braces = [`${prefixOf(constructor, tag === constructor ? '' : tag, 'Object')}{`, '}'];
      if (view.kind === 'object') {
        const names = ObjectKeys(view.entries);
        formatter = (inner) => formatEntries(state, view.entries, names, inner);
        if (names.length === 0) return spend(state, `${braces[0]}}`);
      } else {
        const pairs = view.entries;
        formatter = (inner) => formatPairs(state, pairs, inner);
        if (pairs.length === 0) return spend(state, `${braces[0]}}`);
      }
      keys = list();
    } else if (ArrayIsArray(value)) {
      const prefix = constructor !== 'Array' || tag !== '' ? prefixOf(constructor, tag, 'Array', `(${value.length})`) : '';
      keys = nonIndexKeys(state, value);
      braces = [`${prefix}[`, ']'];
      if (value.length === 0 && keys.length === 0) return spend(state, `${braces[0]}]`);
      kind = LISTED;
      const elements = value;
      formatter = (inner) => formatArray(state, elements, inner);
    } else if (TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined) {
      const name = TypedArrayPrototypeGetSymbolToStringTag(value) as string;
      const size = TypedArrayPrototypeGetLength(value);
      keys = nonIndexKeys(state, value);
      braces = [`${prefixOf(constructor, tag, name, `(${size})`)}[`, ']'];
      if (size === 0 && keys.length === 0) return spend(state, `${braces[0]}]`);
      kind = LISTED;
      // A typed array is read by index only, which nothing can intercept.
      const elements = value as unknown as ArrayLike<number | bigint>;
      formatter = () => formatTypedArray(state, elements, size);
    } else if (isBranded(value, SetPrototype, SetPrototypeGetSize, unknown)) {
      const size = SetPrototypeGetSize(value);
      keys = ownKeys(state, value);
      const prefix = prefixOf(constructor, tag, 'Set', `(${size})`);
      if (size === 0 && keys.length === 0) return spend(state, `${prefix}{}`);
      braces = [`${prefix}{`, '}'];
      formatter = (inner) => formatSet(state, value as Set<unknown>, size, inner);
    } else if (isBranded(value, MapPrototype, MapPrototypeGetSize, unknown)) {
      const size = MapPrototypeGetSize(value);
      keys = ownKeys(state, value);
      const prefix = prefixOf(constructor, tag, 'Map', `(${size})`);
      if (size === 0 && keys.length === 0) return spend(state, `${prefix}{}`);
      braces = [`${prefix}{`, '}'];
      formatter = (inner) => formatMap(state, value as Map<unknown, unknown>, size, inner);
    } else {
      keys = ownKeys(state, value);
      if (typeof value === 'function') {
        base = functionBase(value, constructor, tag);
        if (keys.length === 0) return spend(state, base);
      } else if (constructor === 'Object') {
        if (tag !== '') braces = [`${prefixOf(constructor, tag, 'Object')}{`, '}'];
        else if (isArguments(value)) braces = ['[Arguments] {', '}'];
        if (keys.length === 0) return spend(state, `${braces[0]}}`);
      } else if (isBranded(value, RegExpPrototype, RegExpPrototypeGetSource, unknown)) {
        base = `/${RegExpPrototypeGetSource(value)}/${RegExpPrototypeGetFlags(value)}`;
        const prefix = prefixOf(constructor, tag, 'RegExp');
        if (prefix !== 'RegExp ') base = `${prefix}${base}`;
        if (keys.length === 0 || level > state.depth) return spend(state, base);
      } else if (isBranded(value, DatePrototype, DatePrototypeGetTime, unknown)) {
        base = NumberIsNaN(DatePrototypeGetTime(value)) ? 'Invalid Date' : DatePrototypeToISOString(value);
        const prefix = prefixOf(constructor, tag, 'Date');
        if (prefix !== 'Date ') base = `${prefix}${base}`;
        if (keys.length === 0) return spend(state, base);
      } else if (isError(value)) {
        base = formatError(state, value, constructor, tag, keys);
        extraKeys = true;
        if (keys.length === 0) return spend(state, base);
      } else if (isBranded(value, ArrayBufferPrototype, ArrayBufferPrototypeGetByteLength, unknown)) {
        braces = [`${prefixOf(constructor, tag, 'ArrayBuffer')}{`, '}'];
        formatter = () => formatBuffer(state, value as ArrayBuffer);
      } else if (isBranded(value, DataViewPrototype, DataViewPrototypeGetByteLength, unknown)) {
        braces = [`${prefixOf(constructor, tag, 'DataView')}{`, '}'];
        formatter = (inner) => formatDataView(state, value, inner);
      } else if (ObjectPrototypeIsPrototypeOf(PromisePrototype, value)) {
        // The engine does not tell scripts whether a promise is settled.
        braces = [`${prefixOf(constructor, tag, 'Promise')}{`, '}'];
        if (keys.length === 0) return spend(state, `${braces[0]}}`);
      } else if (ObjectPrototypeIsPrototypeOf(WeakSetPrototype, value) || ObjectPrototypeIsPrototypeOf(WeakMapPrototype, value)) {
        braces = [`${prefixOf(constructor, tag, 'WeakMap')}{`, '}'];
        formatter = () => single('<items unknown>');
      } else if (nativeWeakRefPrototype !== undefined && ObjectPrototypeIsPrototypeOf(nativeWeakRefPrototype, value)) {
        braces = [`${prefixOf(constructor, tag, 'WeakRef')}{`, '}'];
        formatter = () => single('<ref>');
      } else {
        const boxed = boxedBase(state, value, constructor, tag, keys);
        if (boxed !== undefined) {
          base = boxed.base;
          keys = boxed.keys;
          if (keys.length === 0) return spend(state, base);
        } else {
          braces = [`${prefixOf(constructor, tag, 'Object')}{`, '}'];
          if (keys.length === 0) return spend(state, `${braces[0]}}`);
        }
      }
    }

    if (level > state.depth) {
      const name = StringPrototypeSlice(prefixOf(constructor, tag, ArrayIsArray(value) ? 'Array' : 'Object'), 0, -1);
      return spend(state, constructor === null ? name : `[${name}]`);
    }
    const inner = level + 1;
    state.seen[state.seen.length] = value;
    state.currentDepth = inner;
    const output = formatter(inner);
    for (let i = 0; i < keys.length; i++) {
      if (state.spent > state.maxLength) {
        output[output.length] = `... ${keys.length - i} more propert${keys.length - i > 1 ? 'ies' : 'y'}`;
        break;
      }
      output[output.length] = formatProperty(state, value, inner, keys[i] as PropertyKey, kind, extraKeys);
    }
    const reference = state.circular === undefined ? undefined : MapPrototypeGet(state.circular, value);
    if (reference !== undefined) base = base === '' ? `<ref *${reference}>` : `<ref *${reference}> ${base}`;
    state.seen.length -= 1;
    return reduceToText(state, output, base, braces, kind, inner, kind === LISTED ? (value as ArrayLike<unknown>) : undefined);
  }

  function formatProperty(state: State, value: object, level: number, key: PropertyKey, kind: PropertyKind, alwaysHidden = false): string {
    const descriptor = ObjectGetOwnPropertyDescriptor(value, key);
    let text: string;
    if (descriptor === undefined) text = 'undefined';
    else if (ObjectPrototypeHasOwnProperty(descriptor, 'value')) {
      state.indentation += 2;
      text = formatValue(state, descriptor.value, level);
      state.indentation -= 2;
    } else if (descriptor.get !== undefined) text = descriptor.set === undefined ? '[Getter]' : '[Getter/Setter]';
    else text = descriptor.set === undefined ? 'undefined' : '[Setter]';
    if (kind === ELEMENT) return text;
    let name: string;
    if (typeof key === 'symbol') name = `[${escapeText(SymbolPrototypeToString(key), "'")}]`;
    else if (key === '__proto__') name = "['__proto__']";
    else {
      const plain = `${key}`;
      if (descriptor?.enumerable === false || (alwaysHidden && descriptor === undefined)) name = `[${escapeText(plain, "'")}]`;
      else name = matches(IDENTIFIER, plain) ? plain : quoteText(plain);
    }
    return spend(state, `${name}: `) + text;
  }

  function formatEntries(state: State, entries: Record<string, unknown>, keys: readonly PropertyKey[], level: number): string[] {
    const output = list<string>();
    for (let i = 0; i < keys.length; i++) output[i] = formatProperty(state, entries, level, keys[i] as PropertyKey, PLAIN);
    return output;
  }

  function formatPairs(state: State, pairs: readonly (readonly [string, string])[], level: number): string[] {
    const output = list<string>();
    const shown = MathMin(state.maxArrayLength, pairs.length);
    for (let i = 0; i < shown; i++) {
      const pair = pairs[i] as readonly [string, string];
      output[i] = `${formatValue(state, pair[0], level)} => ${formatValue(state, pair[1], level)}`;
    }
    if (pairs.length > shown) output[shown] = remaining(pairs.length - shown);
    return output;
  }

  function formatArray(state: State, value: ArrayLike<unknown>, level: number): string[] {
    const length = value.length;
    const shown = MathMin(state.maxArrayLength, length);
    const output = list<string>();
    for (let i = 0; i < shown; i++) {
      if (state.spent > state.maxLength) {
        output[output.length] = remaining(length - i);
        return output;
      }
      if (!ObjectPrototypeHasOwnProperty(value, i)) return formatSparse(state, value, level, shown, output, i);
      output[output.length] = formatProperty(state, value, level, i, ELEMENT);
    }
    if (length > shown) output[output.length] = remaining(length - shown);
    return output;
  }

  function formatSparse(state: State, value: ArrayLike<unknown>, level: number, shown: number, output: string[], start: number): string[] {
    const keys = ObjectKeys(value);
    let index = start;
    for (let i = start; i < keys.length && output.length < shown; i++) {
      const key = keys[i] as string;
      const at = +key;
      if (at > 4_294_967_294) break;
      if (`${index}` !== key) {
        if (!matches(INDEX, key)) break;
        output[output.length] = emptyItems(at - index);
        index = at;
        if (output.length === shown) break;
      }
      output[output.length] = formatProperty(state, value, level, key, ELEMENT);
      index++;
    }
    const rest = value.length - index;
    if (output.length !== shown) {
      if (rest > 0) output[output.length] = emptyItems(rest);
    } else if (rest > 0) output[output.length] = remaining(rest);
    return output;
  }

  function formatTypedArray(state: State, value: ArrayLike<number | bigint>, size: number): string[] {
    const shown = MathMin(state.maxArrayLength, size);
    const output = list<string>();
    for (let i = 0; i < shown; i++) output[i] = spend(state, formatPrimitive(state, value[i]));
    if (size > shown) output[shown] = remaining(size - shown);
    return output;
  }

  function formatSet(state: State, value: Set<unknown>, size: number, level: number): string[] {
    const output = list<string>();
    const shown = MathMin(state.maxArrayLength, size);
    state.indentation += 2;
    // `forEach` cannot stop, but a native walk over what is left is cheap.
    SetPrototypeForEach(value, (entry) => {
      if (output.length < shown) output[output.length] = formatValue(state, entry, level);
    });
    state.indentation -= 2;
    if (size > shown) output[output.length] = remaining(size - shown);
    return output;
  }

  function formatMap(state: State, value: Map<unknown, unknown>, size: number, level: number): string[] {
    const output = list<string>();
    const shown = MathMin(state.maxArrayLength, size);
    state.indentation += 2;
    MapPrototypeForEach(value, (entry, key) => {
      if (output.length < shown) output[output.length] = `${formatValue(state, key, level)} => ${formatValue(state, entry, level)}`;
    });
    state.indentation -= 2;
    if (size > shown) output[output.length] = remaining(size - shown);
    return output;
  }

  function formatBuffer(state: State, value: ArrayBuffer): string[] {
    const output = list<string>();
    const length = ArrayBufferPrototypeGetByteLength(value);
    let bytes: Uint8Array;
    try {
      bytes = new Uint8ArrayConstructor(value);
    } catch {
      output[0] = '(detached)';
      output[1] = 'byteLength: 0';
      return output;
    }
    const shown = MathMin(state.maxArrayLength, length);
    let text = '';
    for (let i = 0; i < shown; i++) {
      text += (i === 0 ? '' : ' ') + StringPrototypePadStart(NumberPrototypeToString(bytes[i] as number, 16), 2, '0');
    }
    if (length > shown) text += ` ... ${length - shown} more byte${length - shown > 1 ? 's' : ''}`;
    output[0] = spend(state, `[Uint8Contents]: <${text}>`);
    output[1] = `byteLength: ${length}`;
    return output;
  }

  function formatDataView(state: State, value: object, level: number): string[] {
    const output = list<string>();
    output[0] = `byteLength: ${DataViewPrototypeGetByteLength(value)}`;
    output[1] = `byteOffset: ${DataViewPrototypeGetByteOffset(value)}`;
    state.indentation += 2;
    output[2] = `buffer: ${formatValue(state, DataViewPrototypeGetBuffer(value), level)}`;
    state.indentation -= 2;
    return output;
  }

  function formatError(state: State, error: Error, constructor: string | null, tag: string, keys: PropertyKey[]): string {
    const name = textOf(plainProperty(error, 'name'), 'Error');
    const message = textOf(plainProperty(error, 'message'), '');
    let header = name === '' ? message : message === '' ? name : `${name}: ${message}`;
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i];
      if (key === 'name' || key === 'message' || key === 'stack') {
        if (key === 'stack' || StringPrototypeIncludes(header, textOf(plainProperty(error, key), ''))) ArrayPrototypeSplice(keys, i, 1);
      }
    }
    if (ObjectPrototypeHasOwnProperty(error, 'cause') && ArrayPrototypeIndexOf(keys, 'cause') === -1) keys[keys.length] = 'cause';
    const errors = ObjectGetOwnPropertyDescriptor(error, 'errors');
    if (errors !== undefined && ArrayIsArray(errors.value) && ArrayPrototypeIndexOf(keys, 'errors') === -1) keys[keys.length] = 'errors';
    header = improveHeader(header, constructor, name, tag);
    if (state.showHidden) {
      // Their text is in the header already.
      for (let i = keys.length - 1; i >= 0; i--) if (keys[i] === 'stack' || keys[i] === 'message') ArrayPrototypeSplice(keys, i, 1);
    }
    const stack = plainProperty(error, 'stack');
    let frames = '';
    if (typeof stack === 'string' && stack !== '') {
      try {
        frames = StringConstructor(framesOf(error, stack));
      } catch {
        frames = '';
      }
    }
    let text = frames === '' ? `[${header}]` : `${header}\n${frames}`;
    if (text.length > state.maxLength) text = `${StringPrototypeSlice(text, 0, state.maxLength)}...`;
    return state.indentation === 0 ? text : replaceText(text, '\n', `\n${StringPrototypeRepeat(' ', state.indentation)}`);
  }

  return {
    inspect(value, options) {
      const state: State = {
        depth: MathMin(numberOption(options?.depth, 8), MAX_DEPTH),
        showHidden: options?.showHidden === true,
        maxArrayLength: MathMax(0, numberOption(options?.maxArrayLength, 100)),
        maxStringLength: MathMax(0, numberOption(options?.maxStringLength, 10_000)),
        breakLength: numberOption(options?.breakLength, 80),
        compact: numberOption(options?.compact, 3),
        maxLength: numberOption(options?.maxLength, MAX_TEXT),
        sorted: options?.sorted === true,
        seen: list(),
        circular: undefined,
        circularCount: 0,
        indentation: 0,
        currentDepth: 0,
        spent: 0,
      };
      try {
        return formatValue(state, value, 0);
      } catch {
        // A hostile `instanceof` hook, an exhausted stack, a revoked proxy: whatever happened, a log line must not end the program.
        return '[this value cannot be printed]';
      }
    },
    present(prototype, view) {
      MapPrototypeSet(views, prototype, view);
    },
    behind,
    isError,
  };
}

function single(text: string): string[] {
  const output = list<string>();
  output[0] = text;
  return output;
}

function spend(state: State, text: string): string {
  state.spent += text.length;
  return text;
}

function numberOption(value: unknown, fallback: number): number {
  if (value === null) return 1 / 0;
  return typeof value === 'number' && !NumberIsNaN(value) ? value : fallback;
}

function remaining(count: number): string {
  return `... ${count} more item${count > 1 ? 's' : ''}`;
}

function emptyItems(count: number): string {
  return `<${count} empty item${count > 1 ? 's' : ''}>`;
}

/** Whether a value is of a built-in kind: by prototype first, so that ordinary objects cost no exception, then by its internal slot. */
function isBranded(value: object, prototype: object, probe: (value: object) => unknown, noPrototype: boolean): boolean {
  if (!noPrototype && !ObjectPrototypeIsPrototypeOf(prototype, value)) return false;
  try {
    probe(value);
    return value !== prototype;
  } catch {
    return false;
  }
}

/** A property's value if it is data, own or inherited; getters are not run, except the engine's own for `stack`. */
function plainProperty(value: object, key: PropertyKey): unknown {
  let holder: object | null = value;
  for (let depth = 0; holder !== null && depth < 16; depth++) {
    const descriptor = ObjectGetOwnPropertyDescriptor(holder, key);
    if (descriptor !== undefined) {
      if (ObjectPrototypeHasOwnProperty(descriptor, 'value')) return descriptor.value;
      // V8 keeps `stack` behind an accessor of its own on some versions.
      if (
        key === 'stack' &&
        descriptor.get !== undefined &&
        StringPrototypeIncludes(FunctionPrototypeToString(descriptor.get), '[native code]')
      ) {
        try {
          return (value as { stack?: unknown }).stack;
        } catch {
          return undefined;
        }
      }
      return undefined;
    }
    holder = ObjectGetPrototypeOf(holder);
  }
  return undefined;
}

function textOf(value: unknown, fallback: string): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null || typeof value === 'object' || typeof value === 'function') return fallback;
  return StringConstructor(value);
}

function tagOf(state: State, value: object): string {
  const tag = plainOrNative(value, SymbolToStringTag);
  if (typeof tag !== 'string' || tag === '') return '';
  // An own enumerable tag is printed as a property.
  if (
    state.showHidden
      ? ObjectPrototypeHasOwnProperty(value, SymbolToStringTag)
      : ObjectPrototypePropertyIsEnumerable(value, SymbolToStringTag)
  ) {
    return '';
  }
  return tag;
}

function plainOrNative(value: object, key: typeof SymbolToStringTag): unknown {
  const typed = TypedArrayPrototypeGetSymbolToStringTag(value);
  return typed ?? plainProperty(value, key);
}

function constructorName(state: State, value: object, level: number): string | null {
  let holder: object | null = value;
  let first: object | null | undefined;
  for (let depth = 0; holder !== null && depth < 64; depth++) {
    if (holder === ObjectPrototype) return holder === value ? null : 'Object';
    const descriptor = ObjectGetOwnPropertyDescriptor(holder, 'constructor');
    if (descriptor !== undefined && typeof descriptor.value === 'function') {
      const name = ownName(descriptor.value);
      if (name !== '' && isInstance(value, descriptor.value)) return name;
    }
    holder = ObjectGetPrototypeOf(holder);
    if (first === undefined) first = holder;
  }
  if (first === null || first === undefined) return null;
  const kind = ArrayIsArray(value) ? 'Array' : typeof value === 'function' ? 'Function' : 'Object';
  if (level > state.depth) return `${kind} <Complex prototype>`;
  const above = constructorName(state, first, level + 1);
  return above === null ? `${kind} <[Object: null prototype] {}>` : `${kind} <${above}>`;
}

function ownName(fn: object): string {
  const descriptor = ObjectGetOwnPropertyDescriptor(fn, 'name');
  return descriptor !== undefined && typeof descriptor.value === 'string' ? descriptor.value : '';
}

/** `instanceof` without `Symbol.hasInstance`. */
function isInstance(value: object, constructor: object): boolean {
  const descriptor = ObjectGetOwnPropertyDescriptor(constructor, 'prototype');
  const prototype: unknown = descriptor?.value;
  return (
    (typeof prototype === 'object' || typeof prototype === 'function') &&
    prototype !== null &&
    ObjectPrototypeIsPrototypeOf(prototype, value)
  );
}

function prefixOf(constructor: string | null, tag: string, fallback: string, size = ''): string {
  if (constructor === null) {
    return tag !== '' && fallback !== tag ? `[${fallback}${size}: null prototype] [${tag}] ` : `[${fallback}${size}: null prototype] `;
  }
  return tag !== '' && constructor !== tag ? `${constructor}${size} [${tag}] ` : `${constructor}${size} `;
}

function ownKeys(state: State, value: object): PropertyKey[] {
  let keys: PropertyKey[];
  try {
    keys = state.showHidden ? ObjectGetOwnPropertyNames(value) : ObjectKeys(value);
  } catch {
    return list();
  }
  if (keys.length > MAX_KEYS) keys.length = MAX_KEYS;
  // The array came from the engine with the ordinary prototype; without it, adding to it meets no planted setter.
  ObjectSetPrototypeOf(keys, null);
  const symbols = ObjectGetOwnPropertySymbols(value);
  for (let i = 0; i < symbols.length; i++) {
    const symbol = symbols[i] as symbol;
    if (state.showHidden || ObjectPrototypePropertyIsEnumerable(value, symbol)) keys[keys.length] = symbol;
  }
  if (state.sorted) sortKeys(keys);
  return keys;
}

function sortKeys(keys: PropertyKey[]): void {
  // Insertion sort: keys are few, and no comparator is handed out.
  for (let i = 1; i < keys.length && i < 2000; i++) {
    const key = keys[i] as PropertyKey;
    let j = i - 1;
    while (j >= 0 && StringConstructor(keys[j]) > StringConstructor(key)) {
      keys[j + 1] = keys[j] as PropertyKey;
      j--;
    }
    keys[j + 1] = key;
  }
}

function nonIndexKeys(state: State, value: object): PropertyKey[] {
  // An ordinary dense array has one own key per element; listing them all only to drop them would cost more than the printing.
  const kept = list<PropertyKey>();
  if (elementCount(value) > MAX_KEYS) return kept;
  const keys = ownKeys(state, value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as PropertyKey;
    if (typeof key === 'symbol' || !matches(INDEX, key as string)) kept[kept.length] = key;
  }
  return kept;
}

function elementCount(value: object): number {
  if (ArrayIsArray(value)) return value.length;
  return TypedArrayPrototypeGetSymbolToStringTag(value) === undefined ? 0 : TypedArrayPrototypeGetLength(value);
}

function functionBase(value: object, constructor: string | null, tag: string): string {
  const source = FunctionPrototypeToString(value);
  if (matches(CLASS_HEAD, StringPrototypeSlice(source, 0, 6)) && StringPrototypeEndsWith(source, '}'))
    return classBase(value, constructor, tag);
  let type = 'Function';
  if (ObjectPrototypeIsPrototypeOf(asyncFunctionPrototype, value)) type = 'AsyncFunction';
  else if (ObjectPrototypeIsPrototypeOf(generatorFunctionPrototype, value)) type = 'GeneratorFunction';
  else if (ObjectPrototypeIsPrototypeOf(asyncGeneratorFunctionPrototype, value)) type = 'AsyncGeneratorFunction';
  let base = `[${type}`;
  if (constructor === null) base += ' (null prototype)';
  const name = ownName(value);
  base += name === '' ? ' (anonymous)]' : `: ${name}]`;
  if (constructor !== type && constructor !== null) base += ` ${constructor}`;
  if (tag !== '' && constructor !== tag) base += ` [${tag}]`;
  return base;
}

function classBase(value: object, constructor: string | null, tag: string): string {
  const name = ownName(value);
  let base = `class ${name === '' ? '(anonymous)' : name}`;
  if (constructor !== 'Function' && constructor !== null) base += ` [${constructor}]`;
  if (tag !== '' && constructor !== tag) base += ` [${tag}]`;
  if (constructor !== null) {
    const above = ObjectGetPrototypeOf(value);
    const superName = above === null ? '' : ownName(above);
    if (superName !== '') base += ` extends ${superName}`;
  } else base += ' extends [null prototype]';
  return `[${base}]`;
}

function boxedBase(
  state: State,
  value: object,
  constructor: string | null,
  tag: string,
  keys: PropertyKey[],
): { base: string; keys: PropertyKey[] } | undefined {
  const inner = unbox(value);
  if (inner === undefined) return undefined;
  let base = `[${inner.type}`;
  if (inner.type !== constructor) base += constructor === null ? ' (null prototype)' : ` (${constructor})`;
  base += `: ${formatPrimitive(state, inner.value)}]`;
  if (tag !== '' && tag !== constructor) base += ` [${tag}]`;
  if (inner.type !== 'String') return { base, keys };
  const kept = list<PropertyKey>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as PropertyKey;
    if (typeof key === 'symbol' || !matches(INDEX, key as string)) kept[kept.length] = key;
  }
  return { base, keys: kept };
}

/** The primitive inside a wrapper object such as `new Number(1)`. */
export function unbox(value: object): { type: string; value: unknown } | undefined {
  for (let i = 0; i < BOXES.length; i++) {
    const box = BOXES[i] as Box;
    // Each probe throws for everything but its own kind, so it runs only for objects that descend from the kind.
    if (!ObjectPrototypeIsPrototypeOf(box.prototype, value)) continue;
    try {
      return { type: box.type, value: box.valueOf(value) };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

interface Box {
  readonly type: string;
  readonly prototype: object;
  readonly valueOf: (value: object) => unknown;
}

const BOXES: readonly Box[] = [
  { type: 'Number', prototype: Number.prototype, valueOf: NumberPrototypeValueOf },
  { type: 'String', prototype: String.prototype, valueOf: StringPrototypeValueOf },
  { type: 'Boolean', prototype: Boolean.prototype, valueOf: BooleanPrototypeValueOf },
  { type: 'BigInt', prototype: BigInt.prototype, valueOf: BigIntPrototypeValueOf },
  { type: 'Symbol', prototype: Symbol.prototype, valueOf: SymbolPrototypeValueOf },
];

/** An `arguments` object. Its class text is asked for only where no tag, possibly a getter, could speak instead. */
function isArguments(value: object): boolean {
  if (!ObjectPrototypeHasOwnProperty(value, 'length') || !ObjectPrototypeHasOwnProperty(value, SymbolIterator)) return false;
  let holder: object | null = value;
  for (let depth = 0; holder !== null && depth < 8; depth++) {
    if (ObjectPrototypeHasOwnProperty(holder, SymbolToStringTag)) return false;
    holder = ObjectGetPrototypeOf(holder);
  }
  return ObjectPrototypeToString(value) === '[object Arguments]';
}

function improveHeader(header: string, constructor: string | null, name: string, tag: string): string {
  let length = name.length;
  const regular =
    StringPrototypeEndsWith(name, 'Error') &&
    StringPrototypeStartsWith(header, name) &&
    (header.length === length || header[length] === ':' || header[length] === '\n');
  if (constructor !== null && !regular) return header;
  let fallback = 'Error';
  if (constructor === null) {
    const start =
      RegExpPrototypeExec(/^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n {4}at)/, header) ?? RegExpPrototypeExec(/^([a-z_A-Z0-9-]*Error)$/, header);
    fallback = start?.[1] ?? '';
    length = fallback.length;
    if (fallback === '') fallback = 'Error';
  }
  const prefix = StringPrototypeSlice(prefixOf(constructor, tag, fallback), 0, -1);
  if (name === prefix) return header;
  if (StringPrototypeIncludes(prefix, name))
    return length === 0 ? `${prefix}: ${header}` : `${prefix}${StringPrototypeSlice(header, length)}`;
  return `${prefix} [${name}]${StringPrototypeSlice(header, length)}`;
}

/** The text of a primitive as it appears inside a value. */
function formatPrimitive(state: State, value: unknown): string {
  switch (typeof value) {
    case 'string': {
      let text = value;
      let trailer = '';
      if (text.length > state.maxStringLength) {
        const rest = text.length - state.maxStringLength;
        text = StringPrototypeSlice(text, 0, state.maxStringLength);
        trailer = `... ${rest} more character${rest > 1 ? 's' : ''}`;
      }
      if (text.length > 16 && text.length > state.breakLength - state.indentation - 4 && StringPrototypeIncludes(text, '\n')) {
        const lines = splitText(text, '\n');
        const quoted = list<string>();
        for (let i = 0; i < lines.length; i++) {
          const last = i === lines.length - 1;
          if (last && lines[i] === '') break;
          quoted[i] = quoteText(last ? (lines[i] as string) : `${lines[i]}\n`);
        }
        return ArrayPrototypeJoin(quoted, ` +\n${StringPrototypeRepeat(' ', state.indentation + 2)}`) + trailer;
      }
      return quoteText(text) + trailer;
    }
    case 'number':
      return formatNumber(value);
    case 'bigint':
      return `${BigIntPrototypeToString(value)}n`;
    case 'symbol':
      return SymbolPrototypeToString(value);
    default:
      return `${value as undefined | boolean}`;
  }
}

/** A number's text, with the sign of negative zero. */
export function formatNumber(value: number): string {
  return ObjectIs(value, -0) ? '-0' : `${value}`;
}

/** Quotes a string with the kind of quote that needs the fewest escapes, single ones first. */
function quoteText(text: string): string {
  if (!matches(NEEDS_ESCAPE, text)) return `'${text}'`;
  let mark = "'";
  if (StringPrototypeIncludes(text, "'")) {
    if (!StringPrototypeIncludes(text, '"')) mark = '"';
    else if (!StringPrototypeIncludes(text, '`') && !StringPrototypeIncludes(text, '${')) mark = '`';
  }
  return `${mark}${escapeText(text, mark)}${mark}`;
}

const NAMED_ESCAPES: readonly string[] = ['\\b', '\\t', '\\n', '\\x0B', '\\f', '\\r'];

function escapeText(text: string, mark: string): string {
  if (!matches(NEEDS_ESCAPE, text)) return text;
  let result = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = StringPrototypeCharCodeAt(text, i);
    let escaped: string | undefined;
    if (code < 0x20) escaped = code >= 8 && code <= 13 ? NAMED_ESCAPES[code - 8] : `\\x${hex(code)}`;
    else if (code === 0x27) escaped = mark === "'" ? "\\'" : undefined;
    else if (code === 0x5c) escaped = '\\\\';
    else if (code >= 0x7f && code <= 0x9f) escaped = `\\x${hex(code)}`;
    else if (code >= 0xd800 && code <= 0xdfff) {
      const next = i + 1 < text.length ? StringPrototypeCharCodeAt(text, i + 1) : 0;
      if (code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
        i++;
        continue;
      }
      escaped = `\\u${NumberPrototypeToString(code, 16)}`;
    }
    if (escaped === undefined) continue;
    result += StringPrototypeSlice(text, from, i) + escaped;
    from = i + 1;
  }
  return result + StringPrototypeSlice(text, from);
}

function hex(code: number): string {
  return StringPrototypePadStart(StringPrototypeToUpperCase(NumberPrototypeToString(code, 16)), 2, '0');
}

function reduceToText(
  state: State,
  entries: string[],
  base: string,
  braces: [string, string],
  kind: PropertyKind,
  level: number,
  value: ArrayLike<unknown> | undefined,
): string {
  let output = entries;
  const head = base === '' ? '' : `${base} `;
  const count = output.length;
  if (kind === LISTED && count > 6) output = groupElements(state, output, value);
  if (state.currentDepth - level < state.compact && count === output.length) {
    const start = output.length + state.indentation + braces[0].length + base.length + 10;
    if (fits(state, output, start, base)) {
      const joined = ArrayPrototypeJoin(output, ', ');
      if (!StringPrototypeIncludes(joined, '\n')) return `${head}${braces[0]} ${joined} ${braces[1]}`;
    }
  }
  const indentation = `\n${StringPrototypeRepeat(' ', state.indentation)}`;
  return `${head}${braces[0]}${indentation}  ${ArrayPrototypeJoin(output, `,${indentation}  `)}${indentation}${braces[1]}`;
}

function fits(state: State, output: readonly string[], start: number, base: string): boolean {
  let total = output.length + start;
  if (total + output.length > state.breakLength) return false;
  for (let i = 0; i < output.length; i++) {
    total += (output[i] as string).length;
    if (total > state.breakLength) return false;
  }
  return base === '' || !StringPrototypeIncludes(base, '\n');
}

function groupElements(state: State, output: string[], value: ArrayLike<unknown> | undefined): string[] {
  let total = 0;
  let longest = 0;
  let count = output.length;
  // The note "... n more items" stays on its own line.
  const hasNote = StringPrototypeStartsWith(output[count - 1] as string, '... ');
  if (hasNote) count--;
  const widths = list<number>();
  for (let i = 0; i < count; i++) {
    const width = displayWidth(output[i] as string);
    widths[i] = width;
    total += width + 2;
    if (longest < width) longest = width;
  }
  const columnWidth = longest + 2;
  if (!(columnWidth * 3 + state.indentation < state.breakLength && (total / columnWidth > 5 || longest <= 6))) return output;
  const bias = MathSqrt(columnWidth - total / output.length);
  const biased = MathMax(columnWidth - 3 - bias, 1);
  const columns = MathMin(
    MathRound(MathSqrt(2.5 * biased * count) / biased),
    MathFloor((state.breakLength - state.indentation) / columnWidth),
    state.compact * 4,
    15,
  );
  if (columns <= 1) return output;
  const lineWidths = list<number>();
  for (let i = 0; i < columns; i++) {
    let width = 0;
    for (let j = i; j < count; j += columns) if ((widths[j] as number) > width) width = widths[j] as number;
    lineWidths[i] = width + 2;
  }
  let alignRight = value !== undefined;
  if (value !== undefined) {
    for (let i = 0; i < output.length; i++) {
      const type = ArrayIsArray(value) ? typeof ObjectGetOwnPropertyDescriptor(value, i)?.value : typeof value[i];
      if (type !== 'number' && type !== 'bigint') {
        alignRight = false;
        break;
      }
    }
  }
  const lines = list<string>();
  for (let i = 0; i < count; i += columns) {
    const end = MathMin(i + columns, count);
    let line = '';
    let j = i;
    for (; j < end - 1; j++) {
      const cell = output[j] as string;
      const padding = (lineWidths[j - i] as number) + cell.length - (widths[j] as number);
      line += alignRight ? StringPrototypePadStart(`${cell}, `, padding, ' ') : StringPrototypePadEnd(`${cell}, `, padding, ' ');
    }
    const last = output[j] as string;
    line += alignRight ? StringPrototypePadStart(last, (lineWidths[j - i] as number) + last.length - (widths[j] as number) - 2, ' ') : last;
    lines[lines.length] = line;
  }
  if (hasNote) lines[lines.length] = output[count] as string;
  return lines;
}

/** Columns that a text takes on a terminal: wide characters count two, combining ones none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    let code = StringPrototypeCharCodeAt(text, i);
    if (code >= 0xd800 && code <= 0xdbff && i + 1 < text.length) {
      const low = StringPrototypeCharCodeAt(text, i + 1);
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = (code - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
        i++;
      }
    }
    if (code < 127) width += code >= 32 ? 1 : 0;
    else if (isWide(code)) width += 2;
    else if (!isZeroWidth(code)) width += 1;
  }
  return width;
}

function isZeroWidth(code: number): boolean {
  return (
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0x300 && code <= 0x36f) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x20d0 && code <= 0x20ff) ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    (code >= 0xfe20 && code <= 0xfe2f) ||
    (code >= 0xe0100 && code <= 0xe01ef)
  );
}

function isWide(code: number): boolean {
  return (
    code >= 0x1100 &&
    (code <= 0x115f ||
      code === 0x2329 ||
      code === 0x232a ||
      (code >= 0x2e80 && code <= 0x3247 && code !== 0x303f) ||
      (code >= 0x3250 && code <= 0x4dbf) ||
      (code >= 0x4e00 && code <= 0xa4c6) ||
      (code >= 0xa960 && code <= 0xa97c) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe10 && code <= 0xfe19) ||
      (code >= 0xfe30 && code <= 0xfe6b) ||
      (code >= 0xff01 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) ||
      (code >= 0x1b000 && code <= 0x1b001) ||
      (code >= 0x1f200 && code <= 0x1f251) ||
      (code >= 0x1f300 && code <= 0x1f64f) ||
      (code >= 0x1f900 && code <= 0x1f9ff) ||
      (code >= 0x20000 && code <= 0x3fffd))
  );
}
