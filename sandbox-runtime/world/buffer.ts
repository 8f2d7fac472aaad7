// `Buffer` for the conversions that programs use it for: text, base64, base64url, hex, Latin-1 and arrays to bytes and back. It is a
// `Uint8Array` as in Node; reading and writing numbers at offsets is what `DataView` is for.
import {
  ArrayIsArray,
  list,
  MathMax,
  MathMin,
  NumberConstructor,
  ObjectCreate,
  ObjectPrototypeIsPrototypeOf,
  RangeErrorConstructor,
  StringConstructor,
  StringPrototypeSlice,
  StringPrototypeToLowerCase,
  SymbolToPrimitive,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeGetByteOffset,
  TypedArrayPrototypeGetSymbolToStringTag,
  TypeErrorConstructor,
  Uint8ArrayConstructor,
} from '../primordials.ts';
import {
  base64DecodeLenient,
  base64Encode,
  bytesOf,
  hexDecodeLenient,
  hexEncode,
  latin1Decode,
  latin1Encode,
  utf8Decode,
  utf8Encode,
  utf8Length,
  utf16Decode,
  utf16Encode,
} from './bytes.ts';
import type { WorldContext } from './context.ts';
import { defineGlobal, defineName } from './define.ts';

const MAX_BYTES = 0x7fff_ffff;

/** The encodings, by the names that Node accepts. */
const ENCODINGS = makeEncodings();

interface Encoding {
  encode(text: string): Uint8Array<ArrayBuffer>;
  decode(bytes: Uint8Array, length: number): string;
}

function makeEncodings(): Record<string, Encoding> {
  const utf8: Encoding = { encode: utf8Encode, decode: (bytes, length) => utf8Decode(bytes, length, false) as string };
  const utf16: Encoding = { encode: utf16Encode, decode: (bytes, length) => utf16Decode(bytes, length) };
  const latin1: Encoding = { encode: latin1Encode, decode: (bytes, length) => latin1Decode(bytes, length) };
  const table = ObjectCreate(null) as Record<string, Encoding>;
  table['utf8'] = table['utf-8'] = utf8;
  table['utf16le'] = table['utf-16le'] = table['ucs2'] = table['ucs-2'] = utf16;
  table['latin1'] = table['binary'] = latin1;
  table['ascii'] = { encode: latin1Encode, decode: (bytes, length) => latin1Decode(bytes, length, 0x7f) };
  table['hex'] = { encode: hexDecodeLenient, decode: hexEncode };
  table['base64'] = { encode: base64DecodeLenient, decode: (bytes, length) => base64Encode(bytes, length) };
  table['base64url'] = { encode: base64DecodeLenient, decode: (bytes, length) => base64Encode(bytes, length, true, false) };
  return table;
}

function encodingOf(name: unknown): Encoding {
  if (name === undefined || name === null || name === '') return ENCODINGS['utf8'] as Encoding;
  const encoding = ENCODINGS[StringPrototypeToLowerCase(StringConstructor(name))];
  if (encoding !== undefined) return encoding;
  throw new TypeErrorConstructor(
    `Unknown encoding: ${StringPrototypeSlice(StringConstructor(name), 0, 40)}. Buffer knows utf8, utf16le, latin1, ascii, hex, base64 and base64url.`,
  );
}

function checkedSize(size: unknown): number {
  if (typeof size !== 'number' || !(size >= 0 && size <= MAX_BYTES)) {
    throw new RangeErrorConstructor(`The size of a Buffer should be a number of bytes from 0 to ${MAX_BYTES}.`);
  }
  return size - (size % 1);
}

/** Defines `Buffer`. */
export function installBuffer(context: WorldContext): void {
  class Buffer extends Uint8ArrayConstructor {
    constructor(value?: unknown, offset?: unknown, length?: unknown) {
      // The engine's own methods (`map`, `filter`) construct through here, with a length or a buffer.
      super(
        (typeof value === 'string' ? encodingOf(offset).encode(value) : value) as ArrayBuffer,
        (typeof value === 'string' ? undefined : offset) as number,
        length as number,
      );
    }

    static override from(this: unknown, value: unknown, second?: unknown, third?: unknown): Buffer {
      if (typeof value === 'string') return wrap(encodingOf(second).encode(value));
      if (typeof value === 'object' && value !== null) {
        if (TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined) return copyOf(value as unknown as ArrayLike<number>);
        const bytes = bytesOf(value);
        // An ArrayBuffer is shared, a part of it if asked for.
        if (bytes !== undefined && !(value instanceof DataView)) return new Buffer(value, second, third);
        if (ArrayIsArray(value)) return copyOf(value as number[]);
        const data = (value as { type?: unknown; data?: unknown }).data;
        if ((value as { type?: unknown }).type === 'Buffer' && ArrayIsArray(data)) return copyOf(data as number[]);
        const convert = (value as { [SymbolToPrimitive]?: unknown })[SymbolToPrimitive];
        const inner: unknown =
          typeof convert === 'function' ? convert.call(value, 'string') : (value as { valueOf?(): unknown }).valueOf?.();
        if (typeof inner === 'string') return wrap(encodingOf(second).encode(inner));
        if (typeof (value as { length?: unknown }).length === 'number') return copyOf(value as ArrayLike<number>);
      }
      throw new TypeErrorConstructor(
        `The first argument of Buffer.from must be a string, an array of bytes, an ArrayBuffer or a typed array, and is ${value === null ? 'null' : `of type ${typeof value}`}.`,
      );
    }

    static alloc(size: unknown, fill?: unknown, encoding?: unknown): Buffer {
      const buffer = new Buffer(checkedSize(size));
      return fill === undefined || fill === 0 ? buffer : buffer.fill(fill as number, encoding as number);
    }

    static allocUnsafe(size: unknown): Buffer {
      return new Buffer(checkedSize(size));
    }

    static isBuffer(value: unknown): value is Buffer {
      return ObjectPrototypeIsPrototypeOf(Buffer.prototype, value);
    }

    static isEncoding(name: unknown): boolean {
      return typeof name === 'string' && ENCODINGS[StringPrototypeToLowerCase(name)] !== undefined;
    }

    static byteLength(value: unknown, encoding?: unknown): number {
      if (typeof value === 'string') {
        const chosen = encodingOf(encoding);
        return chosen === ENCODINGS['utf8'] ? utf8Length(value) : sizeOf(chosen.encode(value));
      }
      const bytes = bytesOf(value);
      if (bytes === undefined) throw new TypeErrorConstructor('Buffer.byteLength expects a string, an ArrayBuffer or a typed array.');
      return sizeOf(bytes);
    }

    static concat(buffers: unknown, total?: unknown): Buffer {
      if (!ArrayIsArray(buffers)) throw new TypeErrorConstructor('Buffer.concat expects an array of Buffers or Uint8Arrays.');
      const parts = list<Uint8Array>();
      let length = 0;
      for (let i = 0; i < buffers.length; i++) {
        const bytes = TypedArrayPrototypeGetSymbolToStringTag(buffers[i]) === undefined ? undefined : bytesOf(buffers[i]);
        if (bytes === undefined)
          throw new TypeErrorConstructor(`Buffer.concat expects Buffers or Uint8Arrays; the element at index ${i} is something else.`);
        parts[i] = bytes;
        length += sizeOf(bytes);
      }
      const result = new Buffer(total === undefined ? length : checkedSize(total));
      const space = sizeOf(result);
      let at = 0;
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i] as Uint8Array;
        for (let j = 0; j < part.length && at < space; j++) result[at++] = part[j] as number;
      }
      return result;
    }

    static compare(left: unknown, right: unknown): number {
      const a = requireBytes(left, 'Buffer.compare');
      const b = requireBytes(right, 'Buffer.compare');
      const shared = MathMin(sizeOf(a), sizeOf(b));
      for (let i = 0; i < shared; i++) {
        const order = (a[i] as number) - (b[i] as number);
        if (order !== 0) return order < 0 ? -1 : 1;
      }
      return sizeOf(a) === sizeOf(b) ? 0 : sizeOf(a) < sizeOf(b) ? -1 : 1;
    }

    override toString(encoding?: unknown, start?: unknown, end?: unknown): string {
      const bytes = start === undefined && end === undefined ? this : this.subarray(start as number, end as number);
      return encodingOf(encoding).decode(bytes, sizeOf(bytes));
    }

    toJSON(): { type: 'Buffer'; data: number[] } {
      const data: number[] = [];
      data.length = sizeOf(this);
      for (let i = 0; i < data.length; i++)
        Object.defineProperty(data, i, { value: this[i], writable: true, enumerable: true, configurable: true });
      return { type: 'Buffer', data };
    }

    equals(other: unknown): boolean {
      return Buffer.compare(this, other) === 0;
    }

    compare(other: unknown): number {
      return Buffer.compare(this, other);
    }

    /** Shares its bytes with this buffer, as in Node. */
    override subarray(start?: unknown, end?: unknown): Buffer {
      const length = sizeOf(this);
      const from = bound(start, 0, length);
      const to = MathMax(from, bound(end, length, length));
      return new Buffer(TypedArrayPrototypeGetBuffer(this), TypedArrayPrototypeGetByteOffset(this) + from, to - from);
    }

    override slice(start?: unknown, end?: unknown): Buffer {
      return this.subarray(start, end);
    }

    override fill(value: unknown, start?: unknown, end?: unknown, encoding?: unknown): this {
      const length = sizeOf(this);
      const textEncoding = typeof start === 'string' ? start : typeof end === 'string' ? end : encoding;
      const from = bound(typeof start === 'string' ? undefined : start, 0, length);
      const to = bound(typeof end === 'string' ? undefined : end, length, length);
      const source =
        typeof value === 'string' ? encodingOf(textEncoding).encode(value) : typeof value === 'object' ? bytesOf(value) : undefined;
      for (let i = from; i < to; i++)
        this[i] =
          source === undefined ? NumberConstructor(value) : source.length === 0 ? 0 : (source[(i - from) % source.length] as number);
      return this;
    }

    copy(target: unknown, targetStart?: unknown, start?: unknown, end?: unknown): number {
      const bytes = requireBytes(target, 'Buffer.copy');
      const source = this.subarray(start, end);
      const at = bound(targetStart, 0, sizeOf(bytes));
      const count = MathMin(sizeOf(source), sizeOf(bytes) - at);
      for (let i = 0; i < count; i++) bytes[at + i] = source[i] as number;
      return count;
    }

    write(text: unknown, offset?: unknown, length?: unknown, encoding?: unknown): number {
      const name = typeof offset === 'string' ? offset : typeof length === 'string' ? length : encoding;
      const bytes = encodingOf(name).encode(StringConstructor(text));
      const at = bound(typeof offset === 'string' ? undefined : offset, 0, sizeOf(this));
      const room = MathMin(sizeOf(this) - at, typeof length === 'number' ? length : 1 / 0);
      const count = MathMin(sizeOf(bytes), room);
      for (let i = 0; i < count; i++) this[at + i] = bytes[i] as number;
      return count;
    }

    override indexOf(value: unknown, from?: unknown, encoding?: unknown): number {
      const needle =
        typeof value === 'number'
          ? copyOf([value & 255])
          : typeof value === 'string'
            ? encodingOf(encoding).encode(value)
            : requireBytes(value, 'Buffer.indexOf');
      const length = sizeOf(this);
      for (let i = bound(from, 0, length); i + sizeOf(needle) <= length; i++) {
        let j = 0;
        while (j < needle.length && this[i + j] === needle[j]) j++;
        if (j === needle.length) return i;
      }
      return -1;
    }

    override includes(value: unknown, from?: unknown, encoding?: unknown): boolean {
      return this.indexOf(value, from, encoding) !== -1;
    }
  }

  const sizeOf = TypedArrayPrototypeGetByteLength;

  function wrap(bytes: Uint8Array<ArrayBuffer>): Buffer {
    return new Buffer(TypedArrayPrototypeGetBuffer(bytes), 0, sizeOf(bytes));
  }

  function copyOf(source: ArrayLike<number>): Buffer {
    const buffer = new Buffer(checkedSize(source.length));
    const length = sizeOf(buffer);
    for (let i = 0; i < length; i++) buffer[i] = source[i] as number;
    return buffer;
  }

  function requireBytes(value: unknown, method: string): Uint8Array {
    const bytes =
      typeof value === 'object' && value !== null && TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined
        ? bytesOf(value)
        : undefined;
    if (bytes === undefined) throw new TypeErrorConstructor(`${method} expects a Buffer or a Uint8Array.`);
    return bytes;
  }

  function bound(value: unknown, fallback: number, length: number): number {
    if (value === undefined) return fallback;
    const index = NumberConstructor(value) || 0;
    const whole = index - (index % 1);
    return whole < 0 ? MathMax(0, length + whole) : MathMin(whole, length);
  }

  defineName(Buffer, 'Buffer');
  defineGlobal('Buffer', Buffer);
  context.inspector.present(Buffer.prototype, (value) => {
    const buffer = value as Buffer;
    const length = sizeOf(buffer);
    const shown = MathMin(length, 50);
    let text = '<Buffer';
    for (let i = 0; i < shown; i++)
      text += ` ${hexEncode(new Uint8ArrayConstructor(TypedArrayPrototypeGetBuffer(buffer), TypedArrayPrototypeGetByteOffset(buffer) + i, 1), 1)}`;
    return { kind: 'text', text: `${text}${length > shown ? ` ... ${length - shown} more byte${length - shown > 1 ? 's' : ''}` : ''}>` };
  });
}
