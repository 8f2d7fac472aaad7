// Values <-> wire text, the same on both sides of the gate. Plain data is the engine's own JSON; what JSON cannot hold is
// tagged. Either a value arrives as it was or an error names the path: nothing is changed silently. Not here: what sizes
// are allowed (limits), which messages carry values (messages.ts).
//
// The rules:
// - null, booleans, finite numbers, strings (lone surrogates and NUL included), arrays and plain objects: as they are, `P`.
// - A property whose value is `undefined` is left out, and so are symbol keys and what is not enumerable, as JSON has it.
// - `undefined` elsewhere (also a hole in an array), NaN, infinities, -0, BigInt, Map, Set, bytes (ArrayBuffer and views) and
//   errors: tagged, `T`, and faithful on the other side. An error keeps name, message, code and cause.
// - An object with a `toJSON` method crosses as what that returns: a Date is its ISO string. An invalid Date is an error.
// - Instances of other classes: their own enumerable properties, as JSON has it. Boxed primitives: the primitive.
// - Functions, symbols, promises, iterators, weak collections, regular expressions, cycles and nesting deeper than DEPTH: an error with the path.
//
// A program may replace every intrinsic before this code runs again, so it keeps its own copies, taken when it is loaded.

const { apply, getPrototypeOf, ownKeys } = Reflect;
const { isArray } = Array;
const { is, keys: objectKeys, defineProperty, create, setPrototypeOf, prototype: objectPrototype } = Object;
const arrayPrototype = Array.prototype;
const { parse: parseJson, stringify: stringifyJson } = JSON;
const { isSafeInteger } = Number;
const BigIntCtor = BigInt;
const MapCtor = Map;
const SetCtor = Set;
const ErrorCtor = Error;
const Uint8ArrayCtor = Uint8Array;
const TypeErrorCtor = TypeError;
const StringCtor = String;
const SyntaxErrorCtor = SyntaxError;
const mapSet = Map.prototype.set;
const mapForEach = Map.prototype.forEach;
const mapHas = Map.prototype.has;
const setAdd = Set.prototype.add;
const setForEach = Set.prototype.forEach;
const setHas = Set.prototype.has;
const setDelete = Set.prototype.delete;
const bigintToString = BigInt.prototype.toString;
const bigintValueOf = BigInt.prototype.valueOf;
const numberValueOf = Number.prototype.valueOf;
const stringValueOf = String.prototype.valueOf;
const booleanValueOf = Boolean.prototype.valueOf;
const symbolValueOf = Symbol.prototype.valueOf;
const weakMapHas = WeakMap.prototype.has;
const objectToString = Object.prototype.toString;
const indexOfText = String.prototype.indexOf;
const regexpPrototype = RegExp.prototype;
// Not test(): that looks up `exec`, which a program can replace.
const regexpExec = RegExp.prototype.exec;
const stringSlice = String.prototype.slice;
const PromiseCtor = Promise;
const promisePrototype = Promise.prototype;
const promiseThen = promisePrototype.then;
const isView = ArrayBuffer.isView;
const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
const getter = (target: object, key: PropertyKey): ((this: unknown) => unknown) => {
  const descriptor = Object.getOwnPropertyDescriptor(target, key);
  if (descriptor?.get === undefined) throw new TypeErrorCtor(`no getter ${StringCtor(key)}`);
  return descriptor.get;
};
const typedArrayTag = getter(typedArrayPrototype, Symbol.toStringTag);
const typedArrayBuffer = getter(typedArrayPrototype, 'buffer');
const typedArrayOffset = getter(typedArrayPrototype, 'byteOffset');
const typedArrayLength = getter(typedArrayPrototype, 'byteLength');
const dataViewBuffer = getter(DataView.prototype, 'buffer');
const dataViewOffset = getter(DataView.prototype, 'byteOffset');
const dataViewLength = getter(DataView.prototype, 'byteLength');
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const regexpSource = getter(RegExp.prototype, 'source');
const VIEWS: Readonly<Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>> = Object.assign(create(null), {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
});

/** Deepest nesting of a value that crosses. */
export const DEPTH = 256;

/** `P`: plain JSON. `T`: JSON in which an object with the key `$` is a tagged value. */
export type WireMode = 'P' | 'T';

/** A value as text. */
export interface WireValue {
  readonly mode: WireMode;
  readonly text: string;
  /** Bytes that travel beside the text; a tag of bytes says its place here, a number, in the place of base64. */
  readonly beside?: readonly ArrayBuffer[];
  /** How long the text is, where another stands for it here. Within a guest only. */
  readonly length?: number;
}

/** Writes a big value that is all plain, where an engine has a faster way than its JSON; `undefined` for one that it cannot write so. */
export type WritePlain = (value: unknown) => WireValue | undefined;

/** A value cannot cross. `path` begins with `$`; `message` is a whole sentence that names it and says what to do. */
export class UnserializableError extends TypeErrorCtor {
  override readonly name: string = 'UnserializableError';
  readonly path: string;
  readonly #sentence: string;
  constructor(path: string, what: string) {
    // Keys are the program's, and may be as long as it likes.
    const sentence = `${path.length > 600 ? `${apply(stringSlice, path, [0, 500])}…` : path} ${what}`;
    super(sentence);
    this.path = path;
    this.#sentence = sentence;
  }

  /** The sentence of such an error, `undefined` for anything else. Asks nothing that a program could answer in its stead. */
  static sentenceOf(error: unknown): string | undefined {
    return typeof error === 'object' && error !== null && #sentence in error ? error.#sentence : undefined;
  }
}

/** Values of so many members and items are written at once; a faster way for more of them takes its time to begin with. */
const SMALL = 256;
/** Fewer bytes are not worth a way of their own. */
const WORTH_BESIDE = 512;

/**
 * The value as wire text. Throws `UnserializableError`, or whatever a getter, proxy or `toJSON` of the value throws. With `beside`, bytes are
 * put into that list, uncopied, and the text has their places in it instead of base64.
 */
export function encodeValue(value: unknown, beside?: Uint8Array[], writePlain?: WritePlain): WireValue {
  if (!inheritsToJson()) {
    const room = { left: writePlain === undefined ? Number.POSITIVE_INFINITY : SMALL };
    let plain = isPlain(value, 0, room);
    if (!plain && room.left < 0) {
      const wire = writePlain?.(value);
      if (wire !== undefined) return wire;
      room.left = Number.POSITIVE_INFINITY;
      plain = isPlain(value, 0, room);
    }
    if (plain) {
      // None for a value that answers differently the second time: a `toJSON` that is not listed, a getter, a proxy.
      const text = stringifyJson(value);
      if (text !== undefined) return { mode: 'P', text };
    }
  }
  const text = stringifyJson(tag(value, '$', 0, { parents: new SetCtor(), beside }, '')) as string;
  // Dates and other objects with a `toJSON` need no tags. Within a string, the quotes of what stands here would be escaped.
  return { mode: apply(indexOfText, text, ['{"$":']) === -1 ? 'P' : 'T', text };
}

/** Whether a program has given every object or array a `toJSON` method: the engine's JSON would then call it on plain data. */
function inheritsToJson(): boolean {
  return (objectPrototype as { toJSON?: unknown }).toJSON !== undefined || (arrayPrototype as { toJSON?: unknown }).toJSON !== undefined;
}

/** The value behind wire text. Throws a `SyntaxError` for text that is no JSON or holds an unknown tag. */
export function decodeValue({ mode, text, beside }: WireValue): unknown {
  const raw: unknown = parseJson(text);
  return mode === 'P' ? raw : untag(raw, beside ?? NOTHING);
}

/** The value behind parsed tagged text. */
export function untagValue(raw: unknown, beside: readonly ArrayBuffer[] = NOTHING): unknown {
  return untag(raw, beside);
}

const NOTHING: readonly ArrayBuffer[] = [];

/**
 * Whether the engine's own JSON keeps every part of the value. Only looks; getters and proxies may answer differently
 * later, and then the program has misled nobody but itself, since what crosses is the text. False also when there is no `room` for all its
 * members, which is below zero then.
 */
function isPlain(value: unknown, depth: number, room: { left: number }): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return value === value && value - value === 0 && (value !== 0 || 1 / value > 0);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth >= DEPTH) return false;
  if (isArray(value)) {
    const { length } = value;
    room.left -= length;
    if (room.left < 0) return false;
    for (let i = 0; i < length; i++) {
      const item: unknown = value[i];
      if (typeof item === 'string') continue;
      if (!isPlain(item, depth + 1, room)) return false;
    }
    return true;
  }
  const prototype = getPrototypeOf(value);
  if (prototype !== objectPrototype && prototype !== null) return false;
  const object = value as Record<string, unknown>;
  const names = objectKeys(object);
  const { length } = names;
  room.left -= length;
  if (room.left < 0) return false;
  for (let i = 0; i < length; i++) {
    const name = names[i] as string;
    const member = object[name];
    const type = typeof member;
    // The commonest kinds first, here rather than in a call: in a guest a call costs more than all of this.
    if (type === 'string' || type === 'boolean' || member === undefined || member === null) continue;
    if (type === 'number') {
      if ((member as number) - (member as number) === 0 && (member !== 0 || 1 / (member as number) > 0)) continue;
      return false;
    }
    if (name === 'toJSON' && type === 'function') return false;
    if (!isPlain(member, depth + 1, room)) return false;
  }
  return true;
}

/** What is known on the way through a value. */
interface Walk {
  /** The objects on the way down, so that shared references are no cycles. */
  readonly parents: Set<unknown>;
  /** Takes bytes that travel beside the text. */
  readonly beside: Uint8Array[] | undefined;
}

/** The value as plain data with tags. */
function tag(value: unknown, path: string, depth: number, walk: Walk, key: string): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'undefined':
      return mark('undefined');
    case 'number':
      if (is(value, -0)) return mark('-0');
      return value - value === 0 ? value : mark(StringCtor(value));
    case 'bigint':
      return mark('BigInt', apply(bigintToString, value, []));
    case 'function':
      throw new UnserializableError(path, 'is a function, which cannot cross; leave it out or return what it computes.');
    case 'symbol':
      throw new UnserializableError(path, 'is a symbol, which cannot cross; use a string.');
    default:
  }
  if (value === null) return null;
  if (apply(setHas, walk.parents, [value])) {
    throw new UnserializableError(path, 'is circular: it contains itself; return a copy without the back reference.');
  }
  if (depth >= DEPTH) throw new UnserializableError(shortPath(path), `is nested deeper than ${DEPTH} levels; return a flatter value.`);
  const object = value as Record<string, unknown>;
  apply(setAdd, walk.parents, [value]);
  try {
    return tagObject(object, path, depth, walk, key);
  } finally {
    apply(setDelete, walk.parents, [value]);
  }
}

function tagObject(object: Record<string, unknown>, path: string, depth: number, walk: Walk, key: string): unknown {
  // What is no built-in need not be asked what it is: each question costs an exception.
  const prototype = getPrototypeOf(object);
  const isOrdinary = prototype === objectPrototype || prototype === null || isArray(object);
  const bytes = isOrdinary || prototype === datePrototype ? undefined : readBytes(object, path);
  if (bytes !== undefined) {
    const { beside } = walk;
    if (beside === undefined || (apply(typedArrayLength, bytes.bytes, []) as number) < WORTH_BESIDE)
      return mark(bytes.kind, toBase64(bytes.bytes));
    defineOwn(beside, `${beside.length}`, bytes.bytes);
    return mark(bytes.kind, beside.length - 1);
  }
  // Before anything of it is read: the promise of a call answers a look at `toJSON` with an error of its own.
  if (!isOrdinary && isPromise(object)) throw new UnserializableError(path, PROMISE);
  const toJson = object['toJSON'];
  if (typeof toJson === 'function') {
    const replacement: unknown = apply(toJson, object, [key]);
    if (replacement === null && isDate(object)) throw new UnserializableError(path, 'is an invalid Date; check what it was made from.');
    if (replacement !== object) return tag(replacement, path, depth + 1, walk, key);
  }
  if (isArray(object)) {
    const items = emptyList();
    for (let i = 0, length = object.length; i < length; i++) append(items, tag(object[i], `${path}[${i}]`, depth + 1, walk, `${i}`));
    return items;
  }
  if (!isOrdinary) {
    const primitive = unbox(object);
    if (primitive !== undefined) return tag(primitive, path, depth, walk, key);
    if (isMap(object)) return tagMap(object, path, depth, walk);
    if (isSet(object)) return tagSet(object, path, depth, walk);
    const why = obstacle(object);
    if (why !== undefined) throw new UnserializableError(path, why);
    if (object instanceof ErrorCtor) return tagError(object, path, depth, walk);
  }
  const names = objectKeys(object);
  const copy: Record<string, unknown> = create(null);
  let escape = false;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const member = object[name];
    if (member === undefined) continue;
    if (name === '$') escape = true;
    // Without a prototype no assignment meets a setter.
    copy[name] = tag(member, joinPath(path, name), depth + 1, walk, name);
  }
  return escape ? mark('Object', copy) : copy;
}

function tagMap(map: Map<unknown, unknown>, path: string, depth: number, walk: Walk): unknown {
  const pairs = emptyList();
  let index = 0;
  apply(mapForEach, map, [
    (item: unknown, itemKey: unknown) => {
      const pair = emptyList();
      append(pair, tag(itemKey, `${path}.keys[${index}]`, depth + 1, walk, ''));
      append(pair, tag(item, `${path}.get(${typeof itemKey === 'string' ? stringifyJson(itemKey) : index})`, depth + 1, walk, ''));
      append(pairs, pair);
      index++;
    },
  ]);
  return mark('Map', pairs);
}

function tagSet(set: Set<unknown>, path: string, depth: number, walk: Walk): unknown {
  const items = emptyList();
  let index = 0;
  apply(setForEach, set, [(item: unknown) => append(items, tag(item, `${path}.values[${index++}]`, depth + 1, walk, ''))]);
  return mark('Set', items);
}

function tagError(error: Error & { code?: unknown }, path: string, depth: number, walk: Walk): unknown {
  const fields: Record<string, unknown> = create(null);
  fields['name'] = StringCtor(error.name);
  fields['message'] = StringCtor(error.message);
  const { code, cause } = error;
  if (typeof code === 'string' || typeof code === 'number') fields['code'] = code;
  if (cause !== undefined) fields['cause'] = tag(cause, `${path}.cause`, depth + 1, walk, 'cause');
  return mark('Error', fields);
}

/** Restores tagged values in place of their tags. */
function untag(raw: unknown, beside: readonly ArrayBuffer[]): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  if (isArray(raw)) {
    for (let i = 0; i < raw.length; i++) raw[i] = untag(raw[i], beside);
    return raw;
  }
  const object = raw as Record<string, unknown>;
  if (!hasOwn(object, '$')) return untagMembers(object, beside);
  const { $: kind, v } = object as { $: unknown; v?: unknown };
  switch (kind) {
    case 'undefined':
      return undefined;
    case 'NaN':
      return Number.NaN;
    case 'Infinity':
      return Number.POSITIVE_INFINITY;
    case '-Infinity':
      return Number.NEGATIVE_INFINITY;
    case '-0':
      return -0;
    case 'BigInt':
      if (typeof v === 'string' && apply(regexpExec, /^-?\d+$/, [v]) !== null) return BigIntCtor(v);
      break;
    case 'Object':
      if (typeof v === 'object' && v !== null && !isArray(v)) return untagMembers(v as Record<string, unknown>, beside);
      break;
    case 'Map':
      if (isArray(v)) return untagMap(v, beside);
      break;
    case 'Set':
      if (isArray(v)) {
        const set = new SetCtor<unknown>();
        for (let i = 0; i < v.length; i++) apply(setAdd, set, [untag(v[i], beside)]);
        return set;
      }
      break;
    case 'Error':
      if (typeof v === 'object' && v !== null && !isArray(v)) return untagError(v as Record<string, unknown>, beside);
      break;
    case 'ArrayBuffer':
      if (typeof v === 'string') return fromBase64(v).buffer;
      if (typeof v === 'number') return bufferAt(beside, v);
      break;
    default:
      if (typeof kind === 'string' && (typeof v === 'string' || typeof v === 'number') && kind in VIEWS) {
        const View = VIEWS[kind] as new (buffer: ArrayBuffer) => ArrayBufferView;
        return new View(typeof v === 'string' ? fromBase64(v).buffer : bufferAt(beside, v));
      }
  }
  throw new SyntaxErrorCtor('The wire text holds an unknown or malformed tag.');
}

function untagMembers(object: Record<string, unknown>, beside: readonly ArrayBuffer[]): Record<string, unknown> {
  const names = objectKeys(object);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const member = object[name];
    // Its own, so that no setter is met.
    if (typeof member === 'object' && member !== null) object[name] = untag(member, beside);
  }
  return object;
}

function untagMap(pairs: readonly unknown[], beside: readonly ArrayBuffer[]): Map<unknown, unknown> {
  const map = new MapCtor<unknown, unknown>();
  for (let i = 0; i < pairs.length; i++) {
    const pair = pairs[i];
    if (!isArray(pair) || pair.length !== 2) throw new SyntaxErrorCtor('The wire text holds a malformed Map.');
    apply(mapSet, map, [untag(pair[0], beside), untag(pair[1], beside)]);
  }
  return map;
}

function untagError(fields: Record<string, unknown>, beside: readonly ArrayBuffer[]): Error {
  const error = new ErrorCtor(hasOwn(fields, 'message') ? StringCtor(fields['message']) : '');
  if (hasOwn(fields, 'name')) hide(error, 'name', StringCtor(fields['name']));
  if (hasOwn(fields, 'code')) defineOwn(error as unknown as Record<string, unknown>, 'code', fields['code']);
  if (hasOwn(fields, 'cause')) hide(error, 'cause', untag(fields['cause'], beside));
  return error;
}

function bufferAt(beside: readonly ArrayBuffer[], place: number): ArrayBuffer {
  // Its own: a program may have put something on the prototype of arrays.
  const buffer = hasOwn(beside, `${place}`) ? beside[place] : undefined;
  if (buffer === undefined) throw new SyntaxErrorCtor('The wire text names bytes that are not beside it.');
  return buffer;
}

/** Why an object of a built-in kind cannot cross, or `undefined` when its own properties are all there is to it. */
function obstacle(object: object): string | undefined {
  if (has(() => apply(regexpSource, object, [])) && object !== regexpPrototype)
    return 'is a regular expression, which cannot cross; use its source text.';
  if (has(() => apply(weakMapHas, object, [object]))) return 'is a WeakMap, which cannot cross; use a Map.';
  const name = apply(objectToString, object, []) as string;
  switch (name) {
    case '[object WeakSet]':
    case '[object WeakRef]':
    case '[object FinalizationRegistry]':
      return `is a ${kindOf(name)}, which cannot cross; return plain data.`;
    case '[object Generator]':
    case '[object AsyncGenerator]':
    case '[object Array Iterator]':
    case '[object Map Iterator]':
    case '[object Set Iterator]':
    case '[object String Iterator]':
    case '[object RegExp String Iterator]':
    case '[object Iterator Helper]':
      return `is an iterator (${kindOf(name)}), which cannot cross; make an array of it with Array.from() or [...it].`;
    default:
      return undefined;
  }
}

/** `Map Iterator` out of `[object Map Iterator]`. */
function kindOf(name: string): string {
  return apply(stringSlice, name, [8, -1]) as string;
}

/** Tests for an internal slot by a method that throws without it. */
function has(probe: () => unknown): boolean {
  try {
    probe();
    return true;
  } catch {
    return false;
  }
}

const isMap = (object: object): object is Map<unknown, unknown> => has(() => apply(mapHas, object, [undefined]));
const isSet = (object: object): object is Set<unknown> => has(() => apply(setHas, object, [undefined]));
const datePrototype = Date.prototype;
const dateGetTime = datePrototype.getTime;
const isDate = (object: object): object is Date => has(() => apply(dateGetTime, object, []));
const PROMISE = 'is a promise; await it first.';
function isPromise(object: object): boolean {
  if (!(object instanceof PromiseCtor) || object === promisePrototype) return false;
  return has(() => apply(promiseThen, object, [undefined, () => undefined]));
}

function unbox(object: object): unknown {
  const name: unknown = apply(objectToString, object, []);
  switch (name) {
    case '[object Number]':
      return has(() => apply(numberValueOf, object, [])) ? apply(numberValueOf, object, []) : undefined;
    case '[object String]':
      return has(() => apply(stringValueOf, object, [])) ? apply(stringValueOf, object, []) : undefined;
    case '[object Boolean]':
      return has(() => apply(booleanValueOf, object, [])) ? apply(booleanValueOf, object, []) : undefined;
    case '[object BigInt]':
      return has(() => apply(bigintValueOf, object, [])) ? apply(bigintValueOf, object, []) : undefined;
    case '[object Symbol]':
      return has(() => apply(symbolValueOf, object, [])) ? apply(symbolValueOf, object, []) : undefined;
    default:
      return undefined;
  }
}

/** Bytes that can cross, or `undefined` for what is not bytes. */
function readBytes(object: object, path: string): ReturnType<typeof bytesOf> {
  let read: ReturnType<typeof bytesOf>;
  try {
    read = bytesOf(object);
  } catch {
    throw new UnserializableError(path, 'is a view of bytes that are gone: its buffer was transferred or shrunk; copy the bytes first.');
  }
  if (read === undefined || read.kind === 'ArrayBuffer' || read.kind in VIEWS) return read;
  // Not every side has it.
  throw new UnserializableError(path, `is a ${read.kind}, which cannot cross; make a Float32Array or an array of it.`);
}

function bytesOf(object: object): { kind: string; bytes: Uint8Array } | undefined {
  if (isView(object)) {
    const kind: unknown = apply(typedArrayTag, object, []);
    if (typeof kind === 'string') {
      const bytes = new Uint8ArrayCtor(
        apply(typedArrayBuffer, object, []) as ArrayBuffer,
        apply(typedArrayOffset, object, []) as number,
        apply(typedArrayLength, object, []) as number,
      );
      return { kind, bytes };
    }
    const bytes = new Uint8ArrayCtor(
      apply(dataViewBuffer, object, []) as ArrayBuffer,
      apply(dataViewOffset, object, []) as number,
      apply(dataViewLength, object, []) as number,
    );
    return { kind: 'DataView', bytes };
  }
  if (has(() => apply(bufferLength, object, []))) return { kind: 'ArrayBuffer', bytes: new Uint8ArrayCtor(object as ArrayBuffer) };
  return undefined;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Bytes as base64 (RFC 4648, section 4). Written here because neither guest engine has one that a program cannot replace. */
export function toBase64(bytes: Uint8Array): string {
  const length = apply(typedArrayLength, bytes, []) as number;
  let text = '';
  for (let i = 0; i < length; i += 3) {
    const b0 = bytes[i] as number;
    const b1 = i + 1 < length ? (bytes[i + 1] as number) : 0;
    const b2 = i + 2 < length ? (bytes[i + 2] as number) : 0;
    text += ALPHABET[b0 >> 2] as string;
    text += ALPHABET[((b0 & 3) << 4) | (b1 >> 4)] as string;
    text += i + 1 < length ? (ALPHABET[((b1 & 15) << 2) | (b2 >> 6)] as string) : '=';
    text += i + 2 < length ? (ALPHABET[b2 & 63] as string) : '=';
  }
  return text;
}

const DIGITS: Readonly<Record<string, number>> = (() => {
  const table: Record<string, number> = create(null);
  for (let i = 0; i < 64; i++) table[ALPHABET[i] as string] = i;
  return table;
})();

/** The bytes behind base64 text. Throws a `SyntaxError` for anything that `toBase64` does not write. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const length = text.length;
  if (length % 4 !== 0) throw new SyntaxErrorCtor('The wire text holds malformed base64.');
  const padding = length === 0 || text[length - 1] !== '=' ? 0 : text[length - 2] === '=' ? 2 : 1;
  const bytes = new Uint8ArrayCtor((length / 4) * 3 - padding);
  let at = 0;
  for (let i = 0; i < length; i += 4) {
    let word = 0;
    for (let j = 0; j < 4; j++) {
      const digit = i + j >= length - padding ? 0 : DIGITS[text[i + j] as string];
      if (digit === undefined) throw new SyntaxErrorCtor('The wire text holds malformed base64.');
      word = (word << 6) | digit;
    }
    for (let j = 16; j >= 0 && at < bytes.length; j -= 8) bytes[at++] = (word >> j) & 255;
  }
  return bytes;
}

/** A tag. Without a prototype, as all that `tag` makes: a `toJSON` that a program gave to every object must not meet it. */
function mark(kind: string, v?: unknown): object {
  const marked = create(null) as Record<string, unknown>;
  marked['$'] = kind;
  if (v !== undefined) marked['v'] = v;
  return marked;
}

function emptyList(): unknown[] {
  return setPrototypeOf([], null) as unknown[];
}

function append(list: unknown[], item: unknown): void {
  // Without a prototype no assignment meets a setter. Never push(): that is one of the methods that it has not.
  list[list.length] = item;
}

function defineOwn(target: object, key: string, value: unknown): void {
  defineProperty(target, key, dataDescriptor(value, true));
}

function hide(target: object, key: string, value: unknown): void {
  defineProperty(target, key, dataDescriptor(value, false));
}

/** Without a prototype: a program may have given every object a `get`, and a descriptor with that beside `value` is refused. */
function dataDescriptor(value: unknown, enumerable: boolean): PropertyDescriptor {
  const descriptor = create(null) as PropertyDescriptor;
  descriptor.value = value;
  descriptor.writable = descriptor.configurable = true;
  descriptor.enumerable = enumerable;
  return descriptor;
}

const hasOwnProperty = Object.prototype.hasOwnProperty;
function hasOwn(object: object, key: string): boolean {
  return apply(hasOwnProperty, object, [key]) as boolean;
}

/** `$.a["b c"]`: a member's path, short enough to read. */
export function joinPath(path: string, name: string): string {
  if (path.length > 400) return path;
  return apply(regexpExec, /^[A-Za-z_$][\w$]*$/, [name]) !== null
    ? `${path}.${name}`
    : `${path}[${stringifyJson(apply(stringSlice, name, [0, 60]))}]`;
}

function shortPath(path: string): string {
  return path.length <= 60 ? path : `${apply(stringSlice, path, [0, 40])}…`;
}

/** Path of the first own `__proto__` key in a decoded value, or `undefined`. Tools that merge their input must never meet one. */
export function findProtoKey(value: unknown): string | undefined {
  return holdsProtoKey(value) ? pathOfProtoKey(value, '$') : undefined;
}

/** Without the path, which costs ten times as much and which hardly anybody needs. */
function holdsProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || isView(value)) return false;
  if (value instanceof MapCtor) return [...value].some(([key, item]) => holdsProtoKey(key) || holdsProtoKey(item));
  if (value instanceof SetCtor) return [...value].some(holdsProtoKey);
  if (isArray(value)) return value.some(holdsProtoKey);
  for (const key of ownKeys(value))
    if (key === '__proto__' || (typeof key === 'string' && holdsProtoKey((value as Record<string, unknown>)[key]))) return true;
  return false;
}

function pathOfProtoKey(value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // Bytes have millions of keys and none of interest.
  if (isView(value)) return undefined;
  if (value instanceof MapCtor) return findIn([...value].flat(), `${path}.entries`);
  if (value instanceof SetCtor) return findIn([...value], `${path}.values`);
  if (isArray(value)) return findIn(value, path);
  for (const key of ownKeys(value)) {
    if (key === '__proto__') return `${path}["__proto__"]`;
    if (typeof key !== 'string') continue;
    const found = pathOfProtoKey((value as Record<string, unknown>)[key], joinPath(path, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

function findIn(items: readonly unknown[], path: string): string | undefined {
  for (let i = 0; i < items.length; i++) {
    const found = pathOfProtoKey(items[i], `${path}[${i}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * A value as JSON that people and models read: Map as an object (string keys) or as pairs, Set as an array, bytes as
 * base64, BigInt as a number or decimal string, NaN and infinities by name, an error as name and message.
 * For printing; the value itself is not changed. `showBytes` says what stands for bytes instead of base64.
 */
export function toJson(value: unknown, showBytes: (bytes: Uint8Array, kind: string) => unknown = toBase64): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : StringCtor(value);
    case 'bigint':
      return isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case 'object':
      break;
    case 'function':
    case 'symbol':
      return StringCtor(value);
    default:
      return value;
  }
  if (value === null) return null;
  if (isArray(value)) return value.map((item) => (item === undefined ? null : toJson(item, showBytes)));
  // First, because they are most of what there is, and to ask an object whether it is bytes costs an exception where it is none.
  const prototype: unknown = getPrototypeOf(value);
  if (prototype === objectPrototype || prototype === null) return membersToJson(value, showBytes);
  const bytes = bytesOf(value);
  if (bytes !== undefined) return showBytes(bytes.bytes, bytes.kind);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof MapCtor) {
    const pairs = [...value].map(([key, item]) => [toJson(key, showBytes), toJson(item, showBytes)] as const);
    return pairs.every(([key]) => typeof key === 'string') ? Object.fromEntries(pairs) : pairs;
  }
  if (value instanceof SetCtor) return Array.from(value, (item) => toJson(item, showBytes));
  if (value instanceof ErrorCtor) {
    const code = (value as { code?: unknown }).code;
    return { name: value.name, message: value.message, ...(code === undefined ? {} : { code }) };
  }
  return membersToJson(value, showBytes);
}

function membersToJson(value: object, showBytes: (bytes: Uint8Array, kind: string) => unknown): object {
  const copy: Record<string, unknown> = {};
  for (const key of objectKeys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    const json = toJson(member, showBytes);
    if (key === '__proto__') defineOwn(copy, key, json);
    else copy[key] = json;
  }
  return copy;
}
