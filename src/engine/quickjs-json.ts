// JSON text of the host's as the bytes from which the engine makes a value: that takes it half the time of parsing the text, since there are no names
// to look up and no numbers to read. For text that the host has made: what is not JSON is left to the engine's own parser, which says so.
// Not here: the way out of a guest (quickjs-values.ts).

/** The engine's own tags (`BC_TAG_…`). */
const TAG = { null: 1, false: 3, true: 4, int: 5, float: 6, string: 7, object: 8, array: 9 } as const;
const VERSION = 5;
/** Deeper text than any value that crosses has is not read here. */
const MOST_DEPTH = 2_000;
/** A count that is known later only is written in so many bytes, whatever it is. */
const COUNT_BYTES = 5;
/** Longest form of a number, with its tag. */
const NUMBER_BYTES = 9;

/** A number of JSON (RFC 8259, 6) that has more than digits. */
const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The bytes of a value; `undefined` for text that is not what `JSON.stringify` writes. */
export function transcribe(text: string): Uint8Array | undefined {
  try {
    return new Transcript(Buffer.from(text)).bytes();
  } catch (error) {
    if (error === NOT_JSON) return undefined;
    throw error;
  }
}

const NOT_JSON = new Error('The text is not JSON.');

class Transcript {
  readonly #source: Buffer;
  #at = 0;
  #out: Buffer;
  #view: DataView;
  #to = 0;
  readonly #names = new Map<string, number>();
  /** Names by their places, as they stand in text between quotes. */
  readonly #spelled: Uint8Array[] = [];

  constructor(source: Buffer) {
    this.#source = source;
    this.#out = Buffer.from(new ArrayBuffer(source.length + 64));
    this.#view = new DataView(this.#out.buffer);
  }

  bytes(): Uint8Array {
    this.#value(0);
    if (this.#at !== this.#source.length) throw NOT_JSON;
    const body = this.#out.subarray(0, this.#to);
    this.#to = 0;
    this.#out = Buffer.from(new ArrayBuffer(256));
    this.#view = new DataView(this.#out.buffer);
    this.#room(6);
    this.#out[this.#to++] = VERSION;
    this.#number(this.#names.size);
    for (const name of this.#names.keys()) this.#characters(name);
    const head = this.#out.subarray(0, this.#to);
    return Buffer.concat([head, body]);
  }

  #value(depth: number): void {
    const source = this.#source;
    switch (source[this.#at]) {
      case 34:
        this.#room(1);
        this.#out[this.#to++] = TAG.string;
        this.#string();
        return;
      case 123:
        this.#object(depth);
        return;
      case 91:
        this.#array(depth);
        return;
      case 110:
        this.#word('null', TAG.null);
        return;
      case 116:
        this.#word('true', TAG.true);
        return;
      case 102:
        this.#word('false', TAG.false);
        return;
      default:
        this.#numeral();
    }
  }

  #array(depth: number): void {
    if (depth > MOST_DEPTH) throw NOT_JSON;
    const source = this.#source;
    const place = this.#open(TAG.array);
    let count = 0;
    if (source[++this.#at] === 93) this.#at++;
    else
      for (;;) {
        this.#value(depth + 1);
        count++;
        const byte = source[this.#at++];
        if (byte === 93) break;
        if (byte !== 44) throw NOT_JSON;
      }
    this.#close(place, count);
  }

  #object(depth: number): void {
    if (depth > MOST_DEPTH) throw NOT_JSON;
    const source = this.#source;
    const place = this.#open(TAG.object);
    let count = 0;
    let last = -1;
    if (source[++this.#at] === 125) this.#at++;
    else
      for (;;) {
        last = this.#name(last);
        if (source[this.#at++] !== 58) throw NOT_JSON;
        this.#value(depth + 1);
        count++;
        const byte = source[this.#at++];
        if (byte === 125) break;
        if (byte !== 44) throw NOT_JSON;
      }
    this.#close(place, count);
  }

  #open(tag: number): number {
    this.#room(1 + COUNT_BYTES);
    this.#out[this.#to++] = tag;
    const place = this.#to;
    this.#to += COUNT_BYTES;
    return place;
  }

  #close(place: number, count: number): void {
    const out = this.#out;
    out[place] = 128 | (count & 127);
    out[place + 1] = 128 | ((count >>> 7) & 127);
    out[place + 2] = 128 | ((count >>> 14) & 127);
    out[place + 3] = 128 | ((count >>> 21) & 127);
    out[place + 4] = count >>> 28;
  }

  /** A member's name, by its place among all names. Rows have the same names one after another, so that the next one is tried first. */
  #name(last: number): number {
    const source = this.#source;
    if (source[this.#at] !== 34) throw NOT_JSON;
    const from = this.#at + 1;
    let place = last + 1;
    const expected = this.#spelled[place];
    if (expected !== undefined && this.#reads(expected, from)) {
      this.#at = from + expected.length + 1;
    } else {
      let to = from;
      let isSimple = true;
      for (; source[to] !== 34; to++) {
        if (source[to] === undefined || (source[to] as number) < 32) throw NOT_JSON;
        if (source[to] === 92) {
          isSimple = false;
          to++;
        }
      }
      this.#at = to + 1;
      const name = isSimple ? source.toString('utf8', from, to) : readString(source.toString('utf8', from - 1, to + 1));
      const known = this.#names.get(name);
      place = known ?? this.#names.size;
      if (known === undefined) {
        this.#names.set(name, place);
        this.#spelled.push(source.subarray(from, to));
      }
    }
    this.#room(5);
    this.#number((place + 1) * 2);
    return place;
  }

  /** Whether the text has these bytes there, and then a quote. */
  #reads(expected: Uint8Array, from: number): boolean {
    const source = this.#source;
    const { length } = expected;
    if (source[from + length] !== 34) return false;
    for (let i = 0; i < length; i++) if (source[from + i] !== expected[i]) return false;
    return true;
  }

  #string(): void {
    const source = this.#source;
    const from = this.#at + 1;
    let to = from;
    let byte = source[to] as number;
    while (byte !== 34 && byte !== 92 && byte >= 32 && byte < 128) byte = source[++to] as number;
    if (byte === 34) {
      const length = to - from;
      this.#at = to + 1;
      this.#room(length + 5);
      this.#number(length * 2);
      const out = this.#out;
      const at = this.#to;
      if (length > 64) out.set(source.subarray(from, to), at);
      else for (let i = 0; i < length; i++) out[at + i] = source[from + i] as number;
      this.#to = at + length;
      return;
    }
    let isSimple = true;
    for (; byte !== 34; byte = source[++to] as number) {
      if (byte === undefined || byte < 32) throw NOT_JSON;
      if (byte === 92) {
        isSimple = false;
        to++;
      }
    }
    this.#at = to + 1;
    this.#characters(isSimple ? source.toString('utf8', from, to) : readString(source.toString('utf8', from - 1, to + 1)));
  }

  /** A string's length and its characters: a byte for each where that is enough, else two. */
  #characters(text: string): void {
    const { length } = text;
    let wide = 0;
    for (let i = 0; i < length && wide === 0; i++) if (text.charCodeAt(i) > 255) wide = 1;
    this.#room(2 * length + 5);
    this.#number(length * 2 + wide);
    this.#to += this.#out.write(text, this.#to, wide === 1 ? 'utf16le' : 'latin1');
  }

  #numeral(): void {
    const source = this.#source;
    const from = this.#at;
    let to = from;
    let byte = source[to] as number;
    const isNegative = byte === 45;
    if (isNegative) byte = source[++to] as number;
    let number = 0;
    const first = to;
    for (; byte >= 48 && byte <= 57; byte = source[++to] as number) number = number * 10 + byte - 48;
    const isInt = byte !== 46 && byte !== 101 && byte !== 69;
    if (isInt) {
      if (to === first || (source[first] === 48 && to - first > 1)) throw NOT_JSON;
      // Nine digits are exact, and an int; `-0` is none.
      if (to - first > 9 || (isNegative && number === 0)) number = Number(source.toString('latin1', from, to));
      else if (isNegative) number = -number;
    } else {
      while ((byte >= 48 && byte <= 57) || byte === 46 || byte === 101 || byte === 69 || byte === 43 || byte === 45)
        byte = source[++to] as number;
      const numeral = source.toString('latin1', from, to);
      if (!NUMERAL.test(numeral)) throw NOT_JSON;
      number = Number(numeral);
    }
    this.#at = to;
    this.#room(NUMBER_BYTES);
    if ((number | 0) === number && !Object.is(number, -0)) {
      this.#out[this.#to++] = TAG.int;
      this.#number(((number << 1) ^ (number >> 31)) >>> 0);
      return;
    }
    this.#out[this.#to++] = TAG.float;
    this.#view.setFloat64(this.#to, number, true);
    this.#to += 8;
  }

  #word(word: string, tag: number): void {
    if (this.#source.toString('latin1', this.#at, this.#at + word.length) !== word) throw NOT_JSON;
    this.#at += word.length;
    this.#room(1);
    this.#out[this.#to++] = tag;
  }

  /** An unsigned number of up to 32 bits, for which there is room: seven in a byte, the lowest first. */
  #number(number: number): void {
    const out = this.#out;
    let rest = number;
    while (rest > 127) {
      out[this.#to++] = 128 | (rest & 127);
      rest >>>= 7;
    }
    out[this.#to++] = rest;
  }

  #room(bytes: number): void {
    const needed = this.#to + bytes;
    if (needed <= this.#out.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, 2 * this.#out.length)));
    larger.set(this.#out.subarray(0, this.#to));
    this.#out = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** A string with escapes in it. */
function readString(json: string): string {
  try {
    return JSON.parse(json) as string;
  } catch {
    throw NOT_JSON;
  }
}
