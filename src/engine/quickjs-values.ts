// A guest's plain data as JSON text, read from the bytes into which the engine itself writes it: its writer looks at a value in one go and
// runs no code of the program, neither a getter nor a `toJSON`, and is ten times as fast as walking the value inside. What is not plain is left
// to the guest's own code (src/protocol/values.ts), which says what can cross, and how. Not here: when a value is written so (quickjs.ts).
import { DEPTH } from '../protocol/values.ts';

/** The engine's own tags (`BC_TAG_…`) of what JSON has too, and of what it leaves out. */
const TAG = { null: 1, undefined: 2, false: 3, true: 4, int: 5, float: 6, string: 7, object: 8, array: 9, reference: 19 } as const;
const VERSION = 5;
/** Longest JSON text of a number. */
const NUMBER_LENGTH = 32;
/** Longest JSON text of a character (UTF-16 unit). */
const ESCAPE_LENGTH = 6;

/**
 * Words by which a program may give an object a `toJSON`, or a prototype for whose sake it crosses in another way than by its members; and, against
 * accidents, an array that is longer than what is in it, whose holes the engine would write one by one.
 */
const UNPLAIN =
  /toJSON|\bURL\b|\bprototype\b|__proto__|PrototypeOf|\beval\b|\bFunction\b|\bconstructor\b|\.length\s*=[^=]|\bArray\s*\(\s*[\w(]/;

/**
 * Whether a program's objects can be written without a look at their prototypes. A program that hides such a word gets the members of its
 * objects in the place of what their `toJSON` would have said, and has misled nobody but itself.
 */
export function makesPlainObjects(code: string): boolean {
  return !UNPLAIN.test(code);
}

/**
 * The JSON text of a value that the engine has written as bytes; `undefined` when it holds anything that is not plain, or is longer than
 * `mostBytes`. The bytes are the guest's: whatever they are, nothing outside of them is read.
 */
export function readPlain(bytes: Uint8Array, mostBytes: number): string | undefined {
  try {
    return new PlainReader(bytes, mostBytes).text();
  } catch (error) {
    if (error === NOT_PLAIN) return undefined;
    throw error;
  }
}

const NOT_PLAIN = new Error('The value is not plain.');

/** What a byte of text becomes in JSON: itself, or an escape. */
const IS_PLAIN = new Uint8Array(256).map((_, byte) => (byte >= 32 && byte < 128 && byte !== 34 && byte !== 92 ? 1 : 0));
const ESCAPES: readonly (readonly number[])[] = Array.from({ length: 128 }, (_, code) =>
  // Without its quotes.
  [...Buffer.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1))],
);

class PlainReader {
  readonly #source: Uint8Array;
  readonly #view: DataView;
  readonly #mostBytes: number;
  #at = 0;
  #out: Uint8Array;
  #to = 0;
  /** Whether every character so far is a byte. */
  #ascii = true;
  /** Where each property name stands, and its JSON with the colon once it was needed. */
  readonly #names: number[] = [];
  readonly #keys: Uint8Array[] = [];
  /** Start, end (0 while it is being written) and height of every object and array in `#out`, three numbers for each. */
  readonly #objects: number[] = [];

  constructor(source: Uint8Array, mostBytes: number) {
    this.#source = source;
    this.#view = new DataView(source.buffer, source.byteOffset, source.byteLength);
    this.#mostBytes = mostBytes;
    this.#out = new Uint8Array(Math.min(mostBytes, 3 * source.length) + 64);
  }

  text(): string {
    if (this.#source[this.#at++] !== VERSION) throw NOT_PLAIN;
    const count = this.#number();
    if (count > this.#source.length) throw NOT_PLAIN;
    for (let i = 0; i < count; i++) {
      this.#names.push(this.#at);
      const head = this.#number();
      this.#at += (head & 1) === 0 ? head >>> 1 : head & ~1;
    }
    this.#value(0);
    if (this.#to > this.#mostBytes) throw NOT_PLAIN;
    const bytes = Buffer.from(this.#out.buffer, 0, this.#to);
    return bytes.toString(this.#ascii ? 'latin1' : 'utf8');
  }

  /** Writes the next value, and gives its height: 0, or how many levels of objects and arrays it has. */
  #value(depth: number): number {
    switch (this.#source[this.#at++]) {
      case TAG.null:
        this.#word(NULL);
        return 0;
      case TAG.false:
        this.#word(FALSE);
        return 0;
      case TAG.true:
        this.#word(TRUE);
        return 0;
      case TAG.int:
        this.#int();
        return 0;
      case TAG.float:
        this.#float();
        return 0;
      case TAG.string:
        this.#string();
        return 0;
      case TAG.object:
        return this.#container(depth, false);
      case TAG.array:
        return this.#container(depth, true);
      case TAG.reference:
        return this.#again(depth);
      default:
        throw NOT_PLAIN;
    }
  }

  #container(depth: number, isArray: boolean): number {
    if (depth >= DEPTH) throw NOT_PLAIN;
    const objects = this.#objects;
    const place = objects.length;
    objects.push(this.#to, 0, 0);
    const count = this.#number();
    this.#byte(isArray ? 91 : 123);
    let height = 0;
    let isFirst = true;
    for (let i = 0; i < count; i++) {
      if (!isArray) {
        const name = this.#number();
        // An index: such members come first in JSON, and stand here where they were made.
        if ((name & 1) === 1) throw NOT_PLAIN;
        if (this.#source[this.#at] === TAG.undefined) {
          this.#at++;
          continue;
        }
        if (!isFirst) this.#byte(44);
        this.#word(this.#key((name >>> 1) - 1));
      } else if (!isFirst) this.#byte(44);
      isFirst = false;
      const inner = this.#value(depth + 1);
      if (inner > height) height = inner;
    }
    this.#byte(isArray ? 93 : 125);
    objects[place + 1] = this.#to;
    objects[place + 2] = height + 1;
    return height + 1;
  }

  /** An object that was written before. One that is still being written contains itself. */
  #again(depth: number): number {
    const place = this.#number() * 3;
    const [start, end, height] = [this.#objects[place], this.#objects[place + 1], this.#objects[place + 2]];
    if (start === undefined || end === undefined || height === undefined || end === 0 || depth + height > DEPTH) throw NOT_PLAIN;
    // References make much of little: whoever has more than may leave is told before there is room for it.
    if (this.#to + end - start > this.#mostBytes) throw NOT_PLAIN;
    this.#room(end - start);
    this.#out.copyWithin(this.#to, start, end);
    this.#to += end - start;
    return height;
  }

  #key(index: number): Uint8Array {
    const known = this.#keys[index];
    if (known !== undefined) return known;
    const name = this.#names[index];
    if (name === undefined) throw NOT_PLAIN;
    const { length } = this.#objects;
    const [at, to] = [this.#at, this.#to];
    this.#at = name;
    this.#string();
    this.#byte(58);
    const key = this.#out.slice(to, this.#to);
    this.#at = at;
    this.#to = to;
    this.#objects.length = length;
    this.#keys[index] = key;
    return key;
  }

  #string(): void {
    const head = this.#number();
    const length = head >>> 1;
    if (this.#to + length > this.#mostBytes) throw NOT_PLAIN;
    if ((head & 1) === 1) {
      this.#wideString(length);
      return;
    }
    const source = this.#source;
    const from = this.#at;
    if (from + length > source.length) throw NOT_PLAIN;
    this.#at = from + length;
    this.#room(length + 2);
    const out = this.#out;
    let to = this.#to;
    out[to++] = 34;
    let i = 0;
    for (; i < length; i++) {
      const byte = source[from + i] as number;
      if (IS_PLAIN[byte] === 0) break;
      out[to++] = byte;
    }
    this.#to = to;
    if (i < length) {
      this.#room((length - i) * ESCAPE_LENGTH + 1);
      for (; i < length; i++) this.#character(source[from + i] as number);
    }
    this.#out[this.#to++] = 34;
  }

  #wideString(length: number): void {
    if (this.#at + 2 * length > this.#source.length) throw NOT_PLAIN;
    this.#room(length * ESCAPE_LENGTH + 2);
    this.#out[this.#to++] = 34;
    for (let i = 0; i < length; i++, this.#at += 2) {
      const unit = this.#view.getUint16(this.#at, true);
      if (unit < 0xd800 || unit > 0xdfff) {
        this.#character(unit);
        continue;
      }
      const next = i + 1 < length ? this.#view.getUint16(this.#at + 2, true) : 0;
      if (unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
        this.#character(0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00));
        i++;
        this.#at += 2;
      } else for (const char of `\\u${unit.toString(16)}`) this.#out[this.#to++] = char.charCodeAt(0);
    }
    this.#out[this.#to++] = 34;
  }

  /** One character, for which there is room. */
  #character(code: number): void {
    const out = this.#out;
    if (code < 128) {
      if (IS_PLAIN[code] === 1) out[this.#to++] = code;
      else for (const byte of ESCAPES[code] as readonly number[]) out[this.#to++] = byte;
      return;
    }
    this.#ascii = false;
    if (code < 0x800) out[this.#to++] = 0xc0 | (code >> 6);
    else {
      if (code < 0x10000) out[this.#to++] = 0xe0 | (code >> 12);
      else {
        out[this.#to++] = 0xf0 | (code >> 18);
        out[this.#to++] = 0x80 | ((code >> 12) & 63);
      }
      out[this.#to++] = 0x80 | ((code >> 6) & 63);
    }
    out[this.#to++] = 0x80 | (code & 63);
  }

  #int(): void {
    const head = this.#number();
    let number = (head >>> 1) ^ -(head & 1);
    this.#room(NUMBER_LENGTH);
    const out = this.#out;
    if (number < 0) {
      out[this.#to++] = 45;
      number = -number;
    }
    let digits = 1;
    for (let most = 10; number >= most; most *= 10) digits++;
    this.#to += digits;
    for (let i = 1; i <= digits; i++) {
      const rest = Math.floor(number / 10);
      out[this.#to - i] = 48 + number - rest * 10;
      number = rest;
    }
  }

  #float(): void {
    if (this.#at + 8 > this.#source.length) throw NOT_PLAIN;
    const number = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    if (number - number !== 0 || Object.is(number, -0)) throw NOT_PLAIN;
    const text = `${number}`;
    this.#room(NUMBER_LENGTH);
    for (let i = 0; i < text.length; i++) this.#out[this.#to++] = text.charCodeAt(i);
  }

  /** An unsigned number of up to 32 bits, seven in a byte, the lowest first. */
  #number(): number {
    const source = this.#source;
    let byte = source[this.#at++] as number;
    if (byte < 128) return byte;
    let number = byte & 127;
    for (let shift = 7; byte >= 128 && shift < 35; shift += 7) {
      byte = source[this.#at++] as number;
      number |= (byte & 127) << shift;
    }
    // Not past the end, where there is no byte.
    if (byte === undefined) throw NOT_PLAIN;
    return number >>> 0;
  }

  #byte(byte: number): void {
    this.#room(1);
    this.#out[this.#to++] = byte;
  }

  #word(word: Uint8Array): void {
    this.#room(word.length);
    const out = this.#out;
    let to = this.#to;
    for (let i = 0; i < word.length; i++) out[to++] = word[i] as number;
    this.#to = to;
  }

  #room(bytes: number): void {
    const needed = this.#to + bytes;
    if (needed <= this.#out.length) return;
    if (this.#to > this.#mostBytes) throw NOT_PLAIN;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#out.length));
    larger.set(this.#out.subarray(0, this.#to));
    this.#out = larger;
  }
}

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
