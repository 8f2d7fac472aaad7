// Bytes to text and back: UTF-8, UTF-16, Latin-1, base64 and hex, as plain functions over `Uint8Array`. The classes that
// programs see (`TextDecoder`, `Buffer`, …) are in encoding.ts and buffer.ts.
import {
  ArrayBufferPrototype,
  ArrayBufferPrototypeGetByteLength,
  DataViewPrototype,
  DataViewPrototypeGetBuffer,
  DataViewPrototypeGetByteLength,
  DataViewPrototypeGetByteOffset,
  list,
  MathMin,
  matches,
  ObjectPrototypeIsPrototypeOf,
  ReflectApply,
  StringFromCharCode,
  StringPrototypeCharCodeAt,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeGetByteOffset,
  TypedArrayPrototypeGetSymbolToStringTag,
  Uint8ArrayConstructor,
} from '../primordials.ts';

const CHUNK = 4096;
const NOT_ASCII = /[\u0080-\uffff]/;

/** A string from UTF-16 units. The loops below fill a list and empty it through here: a call per unit would double their cost. */
function textOf(units: readonly number[]): string {
  return ReflectApply(StringFromCharCode as (...units: never[]) => string, undefined, units);
}

/** The bytes of an ArrayBuffer or of a view, shared and not copied; `undefined` for anything else. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined) {
    return new Uint8ArrayConstructor(
      TypedArrayPrototypeGetBuffer(value),
      TypedArrayPrototypeGetByteOffset(value),
      TypedArrayPrototypeGetByteLength(value),
    );
  }
  try {
    if (ObjectPrototypeIsPrototypeOf(ArrayBufferPrototype, value)) {
      ArrayBufferPrototypeGetByteLength(value);
      return new Uint8ArrayConstructor(value as ArrayBuffer);
    }
    if (ObjectPrototypeIsPrototypeOf(DataViewPrototype, value)) {
      return new Uint8ArrayConstructor(
        DataViewPrototypeGetBuffer(value),
        DataViewPrototypeGetByteOffset(value),
        DataViewPrototypeGetByteLength(value),
      );
    }
  } catch {
    // An impostor with the right prototype.
  }
  return undefined;
}

/** How many bytes a string takes in UTF-8. */
export function utf8Length(text: string): number {
  if (!matches(NOT_ASCII, text)) return text.length;
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    if (unit < 0x80) length += 1;
    else if (unit < 0x800) length += 2;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLow(text, i + 1)) {
      length += 4;
      i++;
    } else length += 3;
  }
  return length;
}

function isLow(text: string, at: number): boolean {
  if (at >= text.length) return false;
  const unit = StringPrototypeCharCodeAt(text, at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Writes UTF-8 until the bytes are full; never splits a character. */
export function utf8Write(text: string, bytes: Uint8Array, length: number): { read: number; written: number } {
  let at = 0;
  let i = 0;
  for (; i < text.length; i++) {
    let code = StringPrototypeCharCodeAt(text, i);
    if (code < 0x80) {
      if (at >= length) break;
      bytes[at++] = code;
    } else if (code < 0x800) {
      if (at + 2 > length) break;
      bytes[at++] = 0xc0 | (code >> 6);
      bytes[at++] = 0x80 | (code & 0x3f);
    } else if (code >= 0xd800 && code <= 0xdbff && isLow(text, i + 1)) {
      if (at + 4 > length) break;
      code = (code - 0xd800) * 0x400 + (StringPrototypeCharCodeAt(text, i + 1) - 0xdc00) + 0x10000;
      bytes[at++] = 0xf0 | (code >> 18);
      bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[at++] = 0x80 | (code & 0x3f);
      i++;
    } else {
      if (at + 3 > length) break;
      // A lone surrogate has no UTF-8 form.
      if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
      bytes[at++] = 0xe0 | (code >> 12);
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[at++] = 0x80 | (code & 0x3f);
    }
  }
  return { read: i, written: at };
}

/** A string in UTF-8. */
export function utf8Encode(text: string): Uint8Array<ArrayBuffer> {
  const length = utf8Length(text);
  const bytes = new Uint8ArrayConstructor(length);
  utf8Write(text, bytes, length);
  return bytes;
}

/** What a streaming decoder keeps between two pieces: a character that is not complete yet. */
export interface Utf8State {
  needed: number;
  seen: number;
  code: number;
  lower: number;
  upper: number;
}

/** A decoder at the start of a text. */
export function utf8Start(): Utf8State {
  return { needed: 0, seen: 0, code: 0, lower: 0x80, upper: 0xbf };
}

/** Decodes UTF-8 after the WHATWG standard; gives `undefined` when `fatal` and the bytes are not valid. */
export function utf8Decode(
  bytes: Uint8Array,
  length: number,
  fatal: boolean,
  state: Utf8State = utf8Start(),
  more = false,
): string | undefined {
  let text = '';
  let units = list<number>();
  for (let i = 0; i < length; i++) {
    if (units.length >= CHUNK) {
      text += textOf(units);
      units = list();
    }
    const byte = bytes[i] as number;
    if (state.needed === 0) {
      if (byte < 0x80) units[units.length] = byte;
      else if (byte >= 0xc2 && byte <= 0xdf) begin(state, 1, byte & 0x1f);
      else if (byte >= 0xe0 && byte <= 0xef) {
        begin(state, 2, byte & 0xf);
        if (byte === 0xe0) state.lower = 0xa0;
        if (byte === 0xed) state.upper = 0x9f;
      } else if (byte >= 0xf0 && byte <= 0xf4) {
        begin(state, 3, byte & 0x7);
        if (byte === 0xf0) state.lower = 0x90;
        if (byte === 0xf4) state.upper = 0x8f;
      } else {
        if (fatal) return undefined;
        units[units.length] = 0xfffd;
      }
      continue;
    }
    if (byte < state.lower || byte > state.upper) {
      if (fatal) return undefined;
      reset(state);
      units[units.length] = 0xfffd;
      i--;
      continue;
    }
    state.lower = 0x80;
    state.upper = 0xbf;
    state.code = (state.code << 6) | (byte & 0x3f);
    if (++state.seen < state.needed) continue;
    if (state.code >= 0x10000) {
      units[units.length] = 0xd800 + ((state.code - 0x10000) >> 10);
      units[units.length] = 0xdc00 + ((state.code - 0x10000) & 0x3ff);
    } else units[units.length] = state.code;
    reset(state);
  }
  if (!more && state.needed !== 0) {
    if (fatal) return undefined;
    reset(state);
    units[units.length] = 0xfffd;
  }
  return text + textOf(units);
}

function begin(state: Utf8State, needed: number, code: number): void {
  state.needed = needed;
  state.seen = 0;
  state.code = code;
}

function reset(state: Utf8State): void {
  state.needed = 0;
  state.seen = 0;
  state.lower = 0x80;
  state.upper = 0xbf;
}

/** Each byte as the character with its number. */
export function latin1Decode(bytes: Uint8Array, length: number, mask = 0xff): string {
  let text = '';
  for (let from = 0; from < length; from += CHUNK) {
    const to = MathMin(from + CHUNK, length);
    const units = list<number>();
    for (let i = from; i < to; i++) units[i - from] = (bytes[i] as number) & mask;
    text += textOf(units);
  }
  return text;
}

/** The low byte of each UTF-16 unit. */
export function latin1Encode(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8ArrayConstructor(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = StringPrototypeCharCodeAt(text, i);
  return bytes;
}

/** Pairs of bytes, the low one first. */
export function utf16Decode(bytes: Uint8Array, length: number, bigEndian = false): string {
  let text = '';
  let units = list<number>();
  for (let i = 0; i + 1 < length; i += 2) {
    if (units.length >= CHUNK) {
      text += textOf(units);
      units = list();
    }
    const first = bytes[i] as number;
    const second = bytes[i + 1] as number;
    units[units.length] = bigEndian ? (first << 8) | second : (second << 8) | first;
  }
  return text + textOf(units);
}

/** UTF-16, the low byte first. */
export function utf16Encode(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8ArrayConstructor(text.length * 2);
  for (let i = 0; i < text.length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    bytes[2 * i] = unit;
    bytes[2 * i + 1] = unit >> 8;
  }
  return bytes;
}

/** The digits as character codes, made before any program runs. */
const BASE64 = codesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const BASE64_URL = codesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
const HEX = codesOf('0123456789abcdef');

function codesOf(text: string): readonly number[] {
  const codes = list<number>();
  for (let i = 0; i < text.length; i++) codes[i] = text.charCodeAt(i);
  return codes;
}

/** Base64, by default with padding and the ordinary alphabet. */
export function base64Encode(bytes: Uint8Array, length: number, url = false, padded = true): string {
  const digits = url ? BASE64_URL : BASE64;
  let text = '';
  let units = list<number>();
  let i = 0;
  for (; i + 2 < length; i += 3) {
    if (units.length >= CHUNK) {
      text += textOf(units);
      units = list();
    }
    const three = ((bytes[i] as number) << 16) | ((bytes[i + 1] as number) << 8) | (bytes[i + 2] as number);
    const at = units.length;
    units[at] = digits[three >> 18] as number;
    units[at + 1] = digits[(three >> 12) & 63] as number;
    units[at + 2] = digits[(three >> 6) & 63] as number;
    units[at + 3] = digits[three & 63] as number;
  }
  const left = length - i;
  if (left > 0) {
    const rest = ((bytes[i] as number) << 16) | (left === 2 ? (bytes[i + 1] as number) << 8 : 0);
    units[units.length] = digits[rest >> 18] as number;
    units[units.length] = digits[(rest >> 12) & 63] as number;
    if (left === 2) units[units.length] = digits[(rest >> 6) & 63] as number;
    if (padded) for (let pad = left; pad < 3; pad++) units[units.length] = 0x3d;
  }
  return text + textOf(units);
}

/** The value of each ASCII character as a digit of ordinary base64, -1 for what is none. */
export const BASE64_VALUES = valuesOf(BASE64);
const ANY_BASE64_VALUES = valuesOf(BASE64, BASE64_URL);

function valuesOf(...alphabets: (readonly number[])[]): readonly number[] {
  const values = list<number>();
  for (let code = 0; code < 128; code++) values[code] = -1;
  for (const digits of alphabets) for (let i = 0; i < digits.length; i++) values[digits[i] as number] = i;
  return values;
}

/** The value of a base64 digit in the chosen alphabets, or -1. */
export function base64Digit(unit: number, ordinary: boolean, url: boolean): number {
  if (unit >= 0x41 && unit <= 0x5a) return unit - 0x41;
  if (unit >= 0x61 && unit <= 0x7a) return unit - 0x61 + 26;
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30 + 52;
  if (ordinary && unit === 0x2b) return 62;
  if (ordinary && unit === 0x2f) return 63;
  if (url && unit === 0x2d) return 62;
  if (url && unit === 0x5f) return 63;
  return -1;
}

/** Whether a unit is white space that base64 readers skip. */
export function isBase64Space(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0c || unit === 0x0d;
}

/** Reads base64 the forgiving way of Node's `Buffer`: either alphabet, anything else skipped, up to the padding. */
export function base64DecodeLenient(text: string): Uint8Array<ArrayBuffer> {
  const digits = list<number>();
  for (let i = 0; i < text.length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    if (unit === 0x3d) break;
    const digit = unit < 128 ? (ANY_BASE64_VALUES[unit] as number) : -1;
    if (digit >= 0) digits[digits.length] = digit;
  }
  return packDigits(digits);
}

/** Joins 6-bit digits into bytes; bits that fill no byte are dropped. */
export function packDigits(digits: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8ArrayConstructor((digits.length * 3) >> 2);
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < digits.length; i++) {
    held = (held << 6) | (digits[i] as number);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
    held &= 0xffff;
  }
  return bytes;
}

/** Two lower-case digits for each byte. */
export function hexEncode(bytes: Uint8Array, length: number): string {
  let text = '';
  let units = list<number>();
  for (let i = 0; i < length; i++) {
    if (units.length >= CHUNK) {
      text += textOf(units);
      units = list();
    }
    const byte = bytes[i] as number;
    units[units.length] = HEX[byte >> 4] as number;
    units[units.length] = HEX[byte & 15] as number;
  }
  return text + textOf(units);
}

/** The value of a hex digit, or -1. */
export function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  if (unit >= 0x61 && unit <= 0x66) return unit - 0x61 + 10;
  if (unit >= 0x41 && unit <= 0x46) return unit - 0x41 + 10;
  return -1;
}

/** Reads pairs of hex digits up to the first thing that is none. */
export function hexDecodeLenient(text: string): Uint8Array<ArrayBuffer> {
  const bytes = list<number>();
  for (let i = 0; i + 1 < text.length; i += 2) {
    const high = hexDigit(StringPrototypeCharCodeAt(text, i));
    const low = hexDigit(StringPrototypeCharCodeAt(text, i + 1));
    if (high < 0 || low < 0) break;
    bytes[bytes.length] = high * 16 + low;
  }
  const result = new Uint8ArrayConstructor(bytes.length);
  for (let i = 0; i < bytes.length; i++) result[i] = bytes[i] as number;
  return result;
}
