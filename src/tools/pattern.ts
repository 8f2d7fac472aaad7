// Regular expressions of schemas, matched so that no pattern and no string can hang the host. A pattern is JavaScript's
// dialect; it is translated for RE2, which takes time in proportion to the string. What RE2 cannot express (look-around,
// back references, counts above 1000) runs on V8 with a hard time limit. Not here: where in a schema patterns occur.
import vm from 'node:vm';
import { RE2JS } from 're2js';
import { shorten } from '../protocol/errors.ts';
import { type Allowance, CheckOverrun } from './allowance.ts';

/** Longest time for one match on V8, which can backtrack exponentially; it is interrupted after that. */
export const FALLBACK_MS = 50;

/** Longest string (UTF-16 units) that is matched on V8 at all. */
export const FALLBACK_LENGTH = 65_536;

/** RE2's work is at most its program's size times the string's length. Above this bound the match goes to V8, under its time limit. */
const LINEAR_WORK = 20_000_000;

/** A compiled pattern, in the shape that ajv asks of a regular expression engine. */
interface Pattern {
  /** Unanchored search, as JSON Schema has it. Throws `CheckOverrun` when the answer would take too long. */
  test(text: string): boolean;
  toString(): string;
}

/** What is wrong with a pattern, or `undefined` when JavaScript accepts it (as a `u` pattern, or as an old-style one). */
export function findPatternProblem(source: string): string | undefined {
  try {
    compileForV8(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^Invalid regular expression: \/.*\/u?: /s, '') : String(error);
  }
}

/** Compiles at the first match: a catalog of thousands of tools is defined without compiling one. Throws `SyntaxError` for what is no pattern. */
export function compilePattern(source: string, allowance: Allowance): Pattern {
  const regex = compileForV8(source);
  let linear: RE2JS | undefined;
  let translated = false;
  const bounded = new BoundedRegex(regex, allowance);
  return {
    test(text) {
      allowance.check();
      if (!translated) {
        translated = true;
        linear = compileForRe2(regex);
      }
      if (linear !== undefined && linear.programSize() * text.length <= LINEAR_WORK) return linear.test(text);
      return bounded.test(text);
    },
    toString: () => `/${source}/`,
  };
}

/** A search in time proportional to the text. */
export interface LinearPattern {
  /** Instructions: a search takes at most so many steps per character. */
  readonly size: number;
  /** Where the first match begins, in UTF-16 units; `undefined` when there is none. */
  find(text: string): number | undefined;
}

/** Compiles for searching, and never for V8: `undefined` for what RE2 has no words for. Throws `SyntaxError` for what is no pattern. */
export function compileLinear(source: string, { ignoreCase = false }: { readonly ignoreCase?: boolean } = {}): LinearPattern | undefined {
  const linear = compileForRe2(compileForV8(source), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  if (linear === undefined) return undefined;
  return {
    size: linear.programSize(),
    find: (text) => {
      const matcher = linear.matcher(text);
      return matcher.find() ? matcher.start() : undefined;
    },
  };
}

/** JSON Schema asks for the `u` dialect; many published patterns (`[\w-.]`, `\_`) only parse without it, and are taken as they are meant. */
function compileForV8(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch (strict) {
    try {
      return new RegExp(source);
    } catch {
      throw strict;
    }
  }
}

function compileForRe2(regex: RegExp, flags = 0): RE2JS | undefined {
  try {
    return RE2JS.compile(new Translation(regex.source, regex.unicode).run(), flags);
  } catch {
    // Untranslatable here, or too big for RE2 (it refuses counts above 1000 and programs of a size to be feared): V8 under a time limit.
    return undefined;
  }
}

/** V8's backtracking matcher behind three fences: the string's length, a time limit per match, the allowance of the whole check. */
class BoundedRegex {
  readonly #regex: RegExp;
  readonly #allowance: Allowance;
  #context: { regex: RegExp; text: string } | undefined;
  #script: vm.Script | undefined;

  constructor(regex: RegExp, allowance: Allowance) {
    this.#regex = regex;
    this.#allowance = allowance;
  }

  test(text: string): boolean {
    if (text.length > FALLBACK_LENGTH) {
      throw new CheckOverrun(`a string of ${text.length} characters is too long to be matched with the pattern ${this.#shown()}`);
    }
    // The context only carries two values to the script; what matters is `timeout`, which interrupts the matcher itself.
    this.#context ??= vm.createContext({ regex: this.#regex, text: '' }) as { regex: RegExp; text: string };
    this.#script ??= new vm.Script('regex.test(text)');
    const timeout = Math.max(1, Math.min(FALLBACK_MS, Math.floor(this.#allowance.remainingMs)));
    this.#context.text = text;
    try {
      return this.#script.runInContext(this.#context, { timeout }) === true;
    } catch (error) {
      // No `instanceof`: the error may be of another realm.
      const interrupted = (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      // Anything else is V8 giving up: the pattern is too big for it, or backtracking needs too much stack.
      const how = interrupted ? `took longer than ${timeout} ms` : 'is more than the engine can do';
      throw new CheckOverrun(`matching a string of ${text.length} characters with the pattern ${this.#shown()} ${how}`);
    } finally {
      this.#context.text = '';
    }
  }

  #shown(): string {
    return `/${shorten(this.#regex.source, 120)}/`;
  }
}

/** Thrown while translating what RE2 has no words for. */
class Untranslatable extends Error {}

type Ranges = readonly (readonly [from: number, to: number])[];

const LAST = 0x10ffff;
const DIGIT: Ranges = [[0x30, 0x39]];
const WORD: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** JavaScript's white space and line ends: far more than RE2's `\s`. */
const SPACE: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_END: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Each property that RE2 has no name for costs a walk over all characters; more of them than this go to V8. */
const MAX_SCANNED_PROPERTIES = 4;

/**
 * Rewrites a pattern for RE2. V8 has parsed it before, so what is met here is valid; the only question is what it means.
 * The result has no captures and no lazy repetitions: they do not change whether a string matches.
 */
class Translation {
  readonly #source: string;
  readonly #unicode: boolean;
  readonly #groups: number;
  readonly #named: boolean;
  readonly #scanned = new Map<string, Ranges>();
  #at = 0;

  constructor(source: string, unicode: boolean) {
    this.#source = source;
    this.#unicode = unicode;
    const openings = source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, '');
    this.#named = /\(\?<(?![=!])/.test(openings);
    this.#groups = (openings.match(/\((?!\?)|\(\?<(?![=!])/g) ?? []).length;
  }

  run(): string {
    let out = '';
    while (this.#at < this.#source.length) out += this.#term();
    return out;
  }

  #term(): string {
    const character = this.#take();
    switch (character) {
      case '^':
        return '\\A';
      case '$':
        return '\\z';
      case '.':
        return set(LINE_END, true);
      case '|':
      case ')':
      case '*':
      case '+':
        return this.#lazyDropped(character);
      case '?':
        return this.#lazyDropped(character);
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '{': {
        const count = /^\d+(?:,\d*)?\}/.exec(this.#source.slice(this.#at));
        if (count === null) return literal(0x7b);
        this.#at += count[0].length;
        return this.#lazyDropped(`{${count[0]}`);
      }
      case '\\':
        return this.#escape();
      default:
        return literal(character.codePointAt(0) ?? 0);
    }
  }

  /** After a repetition, a `?` only says which match is preferred. */
  #lazyDropped(repetition: string): string {
    if (repetition !== '|' && repetition !== ')' && this.#source[this.#at] === '?') this.#at++;
    return repetition;
  }

  #group(): string {
    if (this.#source[this.#at] !== '?') return '(?:';
    if (this.#source.startsWith('?:', this.#at)) {
      this.#at += 2;
      return '(?:';
    }
    const name = /^\?<(?![=!])[^>]*>/.exec(this.#source.slice(this.#at));
    if (name === null) throw new Untranslatable('look-around or modifiers');
    this.#at += name[0].length;
    return '(?:';
  }

  /** What follows a backslash outside a class. */
  #escape(): string {
    const next = this.#source[this.#at] ?? '';
    if (next === 'b' || next === 'B') {
      this.#at++;
      return `\\${next}`;
    }
    if (next === 'k' && (this.#unicode || this.#named)) throw new Untranslatable('back reference');
    if (/[1-9]/.test(next)) {
      const number = Number(/^\d+/.exec(this.#source.slice(this.#at))?.[0]);
      if (this.#unicode || number <= this.#groups) throw new Untranslatable('back reference');
    }
    const meant = this.#escaped();
    return typeof meant === 'number' ? literal(meant) : set(meant.ranges, meant.negated);
  }

  /** `[…]`, the opening bracket being taken. */
  #class(): string {
    const negated = this.#source[this.#at] === '^';
    if (negated) this.#at++;
    const members: [number, number][] = [];
    while (this.#source[this.#at] !== ']') {
      const from = this.#member();
      const dash = this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']';
      if (!dash) {
        add(members, from);
        continue;
      }
      this.#at++;
      const to = this.#member();
      if (typeof from === 'number' && typeof to === 'number') {
        members.push([from, to]);
      } else {
        // Old-style `[\w-.]`: the dash stands for itself.
        add(members, from);
        add(members, 0x2d);
        add(members, to);
      }
    }
    this.#at++;
    return set(members, negated);
  }

  #member(): Meaning {
    const character = this.#take();
    if (character !== '\\') return character.codePointAt(0) ?? 0;
    const next = this.#source[this.#at];
    if (next === 'b') {
      this.#at++;
      return 8;
    }
    if (next === '-' && this.#unicode) {
      this.#at++;
      return 0x2d;
    }
    return this.#escaped(true);
  }

  /** The meaning of an escape sequence, the backslash being taken: one character, or a set of them. */
  #escaped(inClass = false): Meaning {
    const rest = this.#source.slice(this.#at, this.#at + 80);
    const letter = this.#take();
    switch (letter) {
      case 'd':
      case 'D':
        return { ranges: DIGIT, negated: letter === 'D' };
      case 'w':
      case 'W':
        return { ranges: WORD, negated: letter === 'W' };
      case 's':
      case 'S':
        return { ranges: SPACE, negated: letter === 'S' };
      case 'p':
      case 'P': {
        const property = this.#unicode ? /^[pP]\{([^}]+)\}/.exec(rest) : null;
        if (property === null) return letter.charCodeAt(0);
        this.#at += property[0].length - 1;
        return { ranges: this.#property(property[1] ?? ''), negated: letter === 'P' };
      }
      case 'c': {
        const control = (inClass && !this.#unicode ? /^c([A-Za-z0-9_])/ : /^c([A-Za-z])/).exec(rest);
        if (control === null) {
          // Old-style: the backslash stands for itself, and the `c` after it too.
          this.#at--;
          return 0x5c;
        }
        this.#at++;
        return (control[1] ?? '').charCodeAt(0) % 32;
      }
      case 'x':
        return this.#hex(/^x([0-9a-fA-F]{2})/.exec(rest), 'x');
      case 'u': {
        const pair = /^u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(rest);
        if (pair !== null) {
          this.#at += pair[0].length - 1;
          return ((Number.parseInt(pair[1] ?? '', 16) - 0xd800) << 10) + (Number.parseInt(pair[2] ?? '', 16) - 0xdc00) + 0x10000;
        }
        return this.#hex((this.#unicode ? /^u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]+)\})/ : /^u([0-9a-fA-F]{4})/).exec(rest), 'u');
      }
      default: {
        const octal = this.#unicode ? null : /^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/.exec(rest);
        if (octal !== null) {
          this.#at += octal[0].length - 1;
          return Number.parseInt(octal[0], 8);
        }
        return letter === '0' ? 0 : (CONTROLS[letter] ?? letter.codePointAt(0) ?? 0);
      }
    }
  }

  #hex(match: RegExpExecArray | null, letter: string): number {
    if (match === null) return letter.charCodeAt(0);
    this.#at += match[0].length - 1;
    return Number.parseInt(match[1] ?? match[2] ?? '', 16);
  }

  /** The characters of `\p{name}`: V8 is asked about each, so that both agree to the letter. */
  #property(name: string): Ranges {
    const known = this.#scanned.get(name);
    if (known !== undefined) return known;
    if (this.#scanned.size >= MAX_SCANNED_PROPERTIES) throw new Untranslatable('many Unicode properties');
    const ranges = scan(new RegExp(`\\p{${name}}+`, 'gu'));
    this.#scanned.set(name, ranges);
    return ranges;
  }

  /** The next character, whole even if it takes two UTF-16 units. */
  #take(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }
}

/** One character, or a set of characters. */
type Meaning = number | { readonly ranges: Ranges; readonly negated: boolean };

function add(members: [number, number][], meaning: Meaning): void {
  if (typeof meaning === 'number') members.push([meaning, meaning]);
  else for (const [from, to] of meaning.negated ? complement(meaning.ranges) : meaning.ranges) members.push([from, to]);
}

function literal(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`;
}

/** A character class. An empty one matches nothing, as `[]` does in JavaScript; RE2 has to be told in other words. */
function set(ranges: Ranges, negated: boolean): string {
  if (ranges.length === 0) return negated ? `[\\x{0}-\\x{${LAST.toString(16)}}]` : `[^\\x{0}-\\x{${LAST.toString(16)}}]`;
  const members = ranges.map(([from, to]) => (from === to ? literal(from) : `${literal(from)}-${literal(to)}`));
  return `[${negated ? '^' : ''}${members.join('')}]`;
}

function complement(ranges: Ranges): Ranges {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of ranges.toSorted((left, right) => left[0] - right[0])) {
    if (from > next) gaps.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= LAST) gaps.push([next, LAST]);
  return gaps;
}

/** Every character that a one-character pattern matches, found by matching it with all of them, block by block. */
function scan(runs: RegExp): Ranges {
  const found: [number, number][] = [];
  const BLOCK = 0x1000;
  for (let start = 0; start <= LAST; start += BLOCK) {
    const codePoints = Array.from({ length: BLOCK }, (_, offset) => start + offset);
    const text = String.fromCodePoint(...codePoints);
    const width = start < 0x10000 ? 1 : 2;
    for (const run of text.matchAll(runs)) {
      const from = start + run.index / width;
      const to = from + run[0].length / width - 1;
      const last = found.at(-1);
      if (last !== undefined && last[1] === from - 1) last[1] = to;
      else found.push([from, to]);
    }
  }
  return found;
}
