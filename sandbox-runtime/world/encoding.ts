// `TextEncoder`, `TextDecoder`, `atob`, `btoa` and the base64 and hex methods of `Uint8Array` where the engine lacks them.
// The conversions themselves are in bytes.ts.
import {
  list,
  matches,
  ObjectPrototypeHasOwnProperty,
  RangeErrorConstructor,
  StringConstructor,
  StringPrototypeCharCodeAt,
  StringPrototypeSlice,
  StringPrototypeToLowerCase,
  StringPrototypeTrim,
  SyntaxErrorConstructor,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetSymbolToStringTag,
  TypeErrorConstructor,
  Uint8ArrayConstructor,
} from '../primordials.ts';
import {
  BASE64_VALUES,
  base64Digit,
  base64Encode,
  bytesOf,
  hexDigit,
  hexEncode,
  isBase64Space,
  latin1Decode,
  latin1Encode,
  packDigits,
  type Utf8State,
  utf8Decode,
  utf8Encode,
  utf8Start,
  utf8Write,
  utf16Decode,
} from './bytes.ts';
import { defineClass, defineGlobal, defineMembers } from './define.ts';
import type { DOMExceptionClass } from './dom-exception.ts';
import type { Inspector } from './inspect.ts';

const LABELS: Readonly<Record<string, string>> = {
  'unicode-1-1-utf-8': 'utf-8',
  unicode11utf8: 'utf-8',
  unicode20utf8: 'utf-8',
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'x-unicode20utf8': 'utf-8',
  'utf-16': 'utf-16le',
  'utf-16le': 'utf-16le',
  'ucs-2': 'utf-16le',
  unicode: 'utf-16le',
  'utf-16be': 'utf-16be',
  unicodefffe: 'utf-16be',
  ascii: 'windows-1252',
  'us-ascii': 'windows-1252',
  latin1: 'windows-1252',
  l1: 'windows-1252',
  'iso-8859-1': 'windows-1252',
  iso88591: 'windows-1252',
  'windows-1252': 'windows-1252',
  cp1252: 'windows-1252',
};

// What windows-1252 has in place of the control characters 0x80 to 0x9f.
const WINDOWS_1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/** Defines the encoders. */
export function installEncoding(DOMException: DOMExceptionClass, inspector: Inspector): void {
  class TextEncoder {
    get encoding(): string {
      return 'utf-8';
    }

    encode(text: unknown = ''): Uint8Array {
      return utf8Encode(StringConstructor(text));
    }

    encodeInto(text: unknown, target: unknown): { read: number; written: number } {
      if (typeof target !== 'object' || target === null || TypedArrayPrototypeGetSymbolToStringTag(target) !== 'Uint8Array') {
        throw new TypeErrorConstructor('TextEncoder.encodeInto expects a Uint8Array as its second argument.');
      }
      return utf8Write(StringConstructor(text), target as Uint8Array, TypedArrayPrototypeGetLength(target));
    }
  }

  class TextDecoder {
    readonly #encoding: string;
    readonly #fatal: boolean;
    readonly #ignoreBOM: boolean;
    #state: Utf8State = utf8Start();
    #odd: number | undefined;
    #atStart = true;

    constructor(label: unknown = 'utf-8', options?: { fatal?: unknown; ignoreBOM?: unknown }) {
      const name = StringPrototypeToLowerCase(StringPrototypeTrim(StringConstructor(label)));
      if (!ObjectPrototypeHasOwnProperty(LABELS, name)) {
        throw new RangeErrorConstructor(
          `The "${StringPrototypeSlice(name, 0, 40)}" encoding is not supported; TextDecoder reads utf-8, utf-16le, utf-16be and latin1.`,
        );
      }
      this.#encoding = LABELS[name] as string;
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }

    get encoding(): string {
      return this.#encoding;
    }

    get fatal(): boolean {
      return this.#fatal;
    }

    get ignoreBOM(): boolean {
      return this.#ignoreBOM;
    }

    decode(input?: unknown, options?: { stream?: unknown }): string {
      const bytes = input === undefined ? new Uint8ArrayConstructor(0) : bytesOf(input);
      if (bytes === undefined) {
        throw new TypeErrorConstructor(
          'TextDecoder.decode expects an ArrayBuffer, a typed array or a DataView; to decode base64 text use atob() or Uint8Array.fromBase64().',
        );
      }
      const stream = !!options?.stream;
      let text: string | undefined;
      if (this.#encoding === 'utf-8') text = utf8Decode(bytes, TypedArrayPrototypeGetLength(bytes), this.#fatal, this.#state, stream);
      else if (this.#encoding === 'windows-1252') text = decodeWindows1252(bytes);
      else text = this.#decode16(bytes, stream);
      if (text === undefined) {
        this.#restart();
        throw new TypeErrorConstructor(`The encoded data was not valid for encoding ${this.#encoding}`);
      }
      if (this.#atStart && text !== '') {
        this.#atStart = false;
        if (!this.#ignoreBOM && this.#encoding !== 'windows-1252' && StringPrototypeCharCodeAt(text, 0) === 0xfeff) {
          text = StringPrototypeSlice(text, 1);
        }
      }
      if (!stream) this.#restart();
      return text;
    }

    #restart(): void {
      this.#state = utf8Start();
      this.#odd = undefined;
      this.#atStart = true;
    }

    #decode16(input: Uint8Array, stream: boolean): string | undefined {
      let bytes = input;
      let length = TypedArrayPrototypeGetLength(bytes);
      if (this.#odd !== undefined) {
        const joined = new Uint8ArrayConstructor(length + 1);
        joined[0] = this.#odd;
        for (let i = 0; i < length; i++) joined[i + 1] = bytes[i] as number;
        bytes = joined;
        length += 1;
        this.#odd = undefined;
      }
      const isOdd = length % 2 === 1;
      if (isOdd) this.#odd = bytes[length - 1] as number;
      const text = replaceLoneSurrogates(utf16Decode(bytes, length, this.#encoding === 'utf-16be'), this.#fatal);
      if (!isOdd || stream || text === undefined) return text;
      return this.#fatal ? undefined : `${text}\ufffd`;
    }
  }

  function decodeWindows1252(bytes: Uint8Array): string {
    const text = latin1Decode(bytes, TypedArrayPrototypeGetLength(bytes));
    if (!matches(/[\x80-\x9f]/, text)) return text;
    let result = '';
    for (let i = 0; i < text.length; i++) {
      const unit = StringPrototypeCharCodeAt(text, i);
      result += unit >= 0x80 && unit <= 0x9f ? (WINDOWS_1252[unit - 0x80] as string) : (text[i] as string);
    }
    return result;
  }

  const functions = {
    btoa(data: unknown): string {
      if (arguments.length === 0) throw new TypeErrorConstructor('The "data" argument must be specified');
      const text = StringConstructor(data);
      if (matches(/[\u0100-\uffff]/, text)) {
        throw new DOMException(
          'Invalid character: btoa takes characters up to U+00FF only; encode the text first, for example Buffer.from(text).toString("base64").',
          'InvalidCharacterError',
        );
      }
      return base64Encode(latin1Encode(text), text.length);
    },
    atob(data: unknown): string {
      if (arguments.length === 0) throw new TypeErrorConstructor('The "data" argument must be specified');
      const bytes = decodeForgiving(StringConstructor(data));
      if (bytes === undefined) throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
      return latin1Decode(bytes, TypedArrayPrototypeGetLength(bytes));
    },
  };

  defineClass('TextEncoder', TextEncoder);
  defineClass('TextDecoder', TextDecoder);
  defineGlobal('atob', functions.atob);
  defineGlobal('btoa', functions.btoa);
  inspector.present(TextDecoder.prototype, (value) => {
    const decoder = value as TextDecoder;
    return { kind: 'object', entries: { encoding: decoder.encoding, fatal: decoder.fatal, ignoreBOM: decoder.ignoreBOM } };
  });
  installByteMethods();
}

function replaceLoneSurrogates(text: string, fatal: boolean): string | undefined {
  if (!matches(/[\ud800-\udfff]/, text)) return text;
  let result = '';
  for (let i = 0; i < text.length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    const next = i + 1 < text.length ? StringPrototypeCharCodeAt(text, i + 1) : 0;
    if (unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
      result += StringPrototypeSlice(text, i, i + 2);
      i++;
    } else if (unit >= 0xd800 && unit <= 0xdfff) {
      if (fatal) return undefined;
      result += '\ufffd';
    } else result += text[i] as string;
  }
  return result;
}

/** The standard's forgiving base64: white space skipped, padding optional, anything else refused. */
function decodeForgiving(text: string): Uint8Array | undefined {
  const digits = list<number>();
  let padding = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    const digit = unit < 128 ? (BASE64_VALUES[unit] as number) : -1;
    if (digit >= 0) {
      if (padding > 0) return undefined;
      digits[digits.length] = digit;
    } else if (unit === 0x3d) {
      if (++padding > 2) return undefined;
    } else if (!isBase64Space(unit)) return undefined;
  }
  if (digits.length % 4 === 1 || (padding > 0 && (digits.length + padding) % 4 !== 0)) return undefined;
  return packDigits(digits);
}

interface Base64Options {
  alphabet?: unknown;
  omitPadding?: unknown;
  lastChunkHandling?: unknown;
}

function isUrlAlphabet(options: Base64Options | undefined): boolean {
  const alphabet = options?.alphabet;
  if (alphabet === undefined || alphabet === 'base64') return false;
  if (alphabet === 'base64url') return true;
  throw new TypeErrorConstructor('The option `alphabet` should be "base64" or "base64url".');
}

function requireBytes(value: unknown, method: string): Uint8Array {
  if (typeof value === 'object' && value !== null && TypedArrayPrototypeGetSymbolToStringTag(value) === 'Uint8Array')
    return value as Uint8Array;
  throw new TypeErrorConstructor(`Uint8Array.prototype.${method} works on a Uint8Array only.`);
}

function requireText(value: unknown, method: string): string {
  if (typeof value === 'string') return value;
  throw new TypeErrorConstructor(`Uint8Array.${method} expects a string.`);
}

/** Reads base64 after the standard, in whole groups of four, as many as fit in `space` bytes. */
function decodeStandard(source: string, options: Base64Options | undefined, space: number): { bytes: Uint8Array; read: number } {
  const url = isUrlAlphabet(options);
  const handling = options?.lastChunkHandling ?? 'loose';
  const digits = list<number>();
  let padding = 0;
  let complete = 0;
  for (let i = 0; i < source.length; i++) {
    const unit = StringPrototypeCharCodeAt(source, i);
    if (isBase64Space(unit)) continue;
    if (unit === 0x3d) {
      padding++;
      continue;
    }
    const digit = base64Digit(unit, !url, url);
    if (digit < 0 || padding > 0)
      throw new SyntaxErrorConstructor(`Uint8Array.fromBase64 met a character that is not base64 at index ${i}.`);
    const bytesWithThis = ((digits.length + 1) * 3) >> 2;
    if (bytesWithThis > space) {
      digits.length -= digits.length % 4;
      return { bytes: packDigits(digits), read: complete };
    }
    digits[digits.length] = digit;
    if (digits.length % 4 === 0) {
      complete = i + 1;
      if ((digits.length / 4) * 3 === space) return { bytes: packDigits(digits), read: complete };
    }
  }
  const left = digits.length % 4;
  if (handling === 'stop-before-partial' && left > 0 && padding === 0) {
    digits.length -= left;
    return { bytes: packDigits(digits), read: complete };
  }
  const isBadlyPadded = padding > 0 && (left < 2 || left + padding !== 4);
  if (isBadlyPadded || left === 1 || (handling === 'strict' && left > 0 && padding === 0)) {
    throw new SyntaxErrorConstructor('Uint8Array.fromBase64 met an incomplete last group of characters.');
  }
  return { bytes: packDigits(digits), read: source.length };
}

/** `Uint8Array.fromBase64` and its family (ES2026), after the standard. */
function installByteMethods(): void {
  defineMembers(Uint8ArrayConstructor, {
    fromBase64(text: unknown, options?: Base64Options): Uint8Array {
      return decodeStandard(requireText(text, 'fromBase64'), options, 1 / 0).bytes;
    },
    fromHex(text: unknown): Uint8Array {
      const source = requireText(text, 'fromHex');
      if (source.length % 2 === 1) throw new SyntaxErrorConstructor('Uint8Array.fromHex expects an even number of digits.');
      const bytes = new Uint8ArrayConstructor(source.length / 2);
      for (let i = 0; i < source.length; i += 2) {
        const high = hexDigit(StringPrototypeCharCodeAt(source, i));
        const low = hexDigit(StringPrototypeCharCodeAt(source, i + 1));
        if (high < 0 || low < 0)
          throw new SyntaxErrorConstructor(`Uint8Array.fromHex met a character that is not a hex digit near index ${i}.`);
        bytes[i / 2] = high * 16 + low;
      }
      return bytes;
    },
  });
  defineMembers(Uint8ArrayConstructor.prototype, {
    toBase64(this: unknown, options?: Base64Options): string {
      const bytes = requireBytes(this, 'toBase64');
      const url = isUrlAlphabet(options);
      return base64Encode(bytes, TypedArrayPrototypeGetLength(bytes), url, !options?.omitPadding);
    },
    toHex(this: unknown): string {
      const bytes = requireBytes(this, 'toHex');
      return hexEncode(bytes, TypedArrayPrototypeGetLength(bytes));
    },
    setFromBase64(this: unknown, text: unknown, options?: Base64Options): { read: number; written: number } {
      const target = requireBytes(this, 'setFromBase64');
      const source = requireText(text, 'prototype.setFromBase64');
      const space = TypedArrayPrototypeGetLength(target);
      const { bytes, read } = decodeStandard(source, options, space);
      const written = TypedArrayPrototypeGetLength(bytes);
      for (let i = 0; i < written; i++) target[i] = bytes[i] as number;
      return { read, written };
    },
    setFromHex(this: unknown, text: unknown): { read: number; written: number } {
      const target = requireBytes(this, 'setFromHex');
      const source = requireText(text, 'prototype.setFromHex');
      if (source.length % 2 === 1) throw new SyntaxErrorConstructor('Uint8Array.prototype.setFromHex expects an even number of digits.');
      const space = TypedArrayPrototypeGetLength(target);
      let written = 0;
      for (let i = 0; i < source.length && written < space; i += 2) {
        const high = hexDigit(StringPrototypeCharCodeAt(source, i));
        const low = hexDigit(StringPrototypeCharCodeAt(source, i + 1));
        if (high < 0 || low < 0)
          throw new SyntaxErrorConstructor(`Uint8Array.prototype.setFromHex met a character that is not a hex digit near index ${i}.`);
        target[written++] = high * 16 + low;
      }
      return { read: written * 2, written };
    },
  });
}
