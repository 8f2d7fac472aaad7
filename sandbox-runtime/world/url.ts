// `URL` and `URLSearchParams`. Parsing and the setters are the host's (the WHATWG algorithm needs tables for international names);
// the objects keep the resulting parts. Query strings are read and written here.
import {
  ArrayIsArray,
  ArrayPrototypeJoin,
  ArrayPrototypeSplice,
  list,
  NumberPrototypeToString,
  ObjectKeys,
  quote,
  ReflectApply,
  replaceText,
  StringConstructor,
  StringFromCharCode,
  StringPrototypeCharCodeAt,
  StringPrototypeIndexOf,
  StringPrototypePadStart,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  StringPrototypeToUpperCase,
  SymbolIterator,
  splitText,
  TypeErrorConstructor,
  Uint8ArrayConstructor,
} from '../primordials.ts';
import { hexDigit, utf8Decode, utf8Encode } from './bytes.ts';
import type { WorldContext } from './context.ts';
import { defineClass, defineHidden, defineVisible } from './define.ts';

type Pair = [name: string, value: string];
/** The order in which the service lists the parts of a URL. */
type Parts = [
  href: string,
  origin: string,
  protocol: string,
  username: string,
  password: string,
  host: string,
  hostname: string,
  port: string,
  pathname: string,
  search: string,
  hash: string,
];

/** Defines both classes. */
export function installURL(context: WorldContext): void {
  const { ask, inspector } = context;
  let onChangeOfNext: ((query: string) => void) | undefined;

  class URLSearchParams {
    #pairs = list<Pair>();
    readonly #onChange: ((query: string) => void) | undefined;

    constructor(init?: unknown) {
      this.#onChange = onChangeOfNext;
      onChangeOfNext = undefined;
      if (init === undefined || init === null) return;
      if (typeof init === 'object' || typeof init === 'function') this.#pairs = pairsOf(init);
      else {
        const text = StringConstructor(init);
        this.#pairs = parseQuery(StringPrototypeStartsWith(text, '?') ? StringPrototypeSlice(text, 1) : text);
      }
    }

    static replace(params: URLSearchParams, query: string): void {
      params.#pairs = parseQuery(query);
    }

    static pairs(params: URLSearchParams): Pair[] {
      return params.#pairs;
    }

    #changed(): void {
      this.#onChange?.(formatQuery(this.#pairs));
    }

    get size(): number {
      return this.#pairs.length;
    }

    append(name: unknown, value: unknown): void {
      requireCount(arguments.length, 2, 'append');
      this.#pairs[this.#pairs.length] = [toUSV(name), toUSV(value)];
      this.#changed();
    }

    delete(name: unknown, value?: unknown): void {
      requireCount(arguments.length, 1, 'delete');
      const key = toUSV(name);
      const wanted = value === undefined ? undefined : toUSV(value);
      const kept = list<Pair>();
      for (let i = 0; i < this.#pairs.length; i++) {
        const pair = this.#pairs[i] as Pair;
        if (pair[0] !== key || (wanted !== undefined && pair[1] !== wanted)) kept[kept.length] = pair;
      }
      this.#pairs = kept;
      this.#changed();
    }

    get(name: unknown): string | null {
      requireCount(arguments.length, 1, 'get');
      const key = toUSV(name);
      for (let i = 0; i < this.#pairs.length; i++) if ((this.#pairs[i] as Pair)[0] === key) return (this.#pairs[i] as Pair)[1];
      return null;
    }

    getAll(name: unknown): string[] {
      requireCount(arguments.length, 1, 'getAll');
      const key = toUSV(name);
      const values: string[] = [];
      for (let i = 0; i < this.#pairs.length; i++) {
        if ((this.#pairs[i] as Pair)[0] === key) defineVisible(values, values.length, (this.#pairs[i] as Pair)[1]);
      }
      return values;
    }

    has(name: unknown, value?: unknown): boolean {
      requireCount(arguments.length, 1, 'has');
      const key = toUSV(name);
      const wanted = value === undefined ? undefined : toUSV(value);
      for (let i = 0; i < this.#pairs.length; i++) {
        const pair = this.#pairs[i] as Pair;
        if (pair[0] === key && (wanted === undefined || pair[1] === wanted)) return true;
      }
      return false;
    }

    set(name: unknown, value: unknown): void {
      requireCount(arguments.length, 2, 'set');
      const key = toUSV(name);
      const text = toUSV(value);
      let isSet = false;
      for (let i = 0; i < this.#pairs.length; i++) {
        const pair = this.#pairs[i] as Pair;
        if (pair[0] !== key) continue;
        if (!isSet) {
          pair[1] = text;
          isSet = true;
        } else ArrayPrototypeSplice(this.#pairs, i--, 1);
      }
      if (!isSet) this.#pairs[this.#pairs.length] = [key, text];
      this.#changed();
    }

    sort(): void {
      const pairs = this.#pairs;
      // Merge sort: stable, linearithmic, and no comparator leaves this file.
      this.#pairs = sortPairs(pairs, 0, pairs.length);
      this.#changed();
    }

    forEach(visit: unknown, self?: unknown): void {
      if (typeof visit !== 'function') throw new TypeErrorConstructor('URLSearchParams.forEach expects a function.');
      for (let i = 0; i < this.#pairs.length; i++) {
        const pair = this.#pairs[i] as Pair;
        ReflectApply(visit as (...args: never[]) => unknown, self, [pair[1], pair[0], this]);
      }
    }

    *entries(): Generator<Pair> {
      for (let i = 0; i < this.#pairs.length; i++) {
        const pair = this.#pairs[i] as Pair;
        yield [pair[0], pair[1]];
      }
    }

    *keys(): Generator<string> {
      for (let i = 0; i < this.#pairs.length; i++) yield (this.#pairs[i] as Pair)[0];
    }

    *values(): Generator<string> {
      for (let i = 0; i < this.#pairs.length; i++) yield (this.#pairs[i] as Pair)[1];
    }

    toString(): string {
      return formatQuery(this.#pairs);
    }
  }
  defineHidden(URLSearchParams.prototype, SymbolIterator, URLSearchParams.prototype.entries);
  const replaceParams = URLSearchParams.replace;
  const pairsIn = URLSearchParams.pairs;
  Reflect.deleteProperty(URLSearchParams, 'replace');
  Reflect.deleteProperty(URLSearchParams, 'pairs');

  function parse(input: unknown, base: unknown): Parts | undefined {
    const text = toUSV(input);
    const baseText = base === undefined ? undefined : toUSV(base);
    // The service lists the parts, or answers null for what is not a URL.
    return (ask('url.parse', `[${quote(text)},${baseText === undefined ? 'null' : quote(baseText)}]`) as Parts | null) ?? undefined;
  }

  class URL {
    #parts: Parts;
    #params: URLSearchParams | undefined;

    constructor(input: unknown, base?: unknown) {
      if (arguments.length === 0) throw new TypeErrorConstructor('The "url" argument must be specified');
      const parts = parse(input, base);
      if (parts === undefined) throw invalid(input, base);
      this.#parts = parts;
    }

    static canParse(input: unknown, base?: unknown): boolean {
      return parse(input, base) !== undefined;
    }

    static parse(input: unknown, base?: unknown): URL | null {
      const parts = parse(input, base);
      return parts === undefined ? null : new URL(parts[0]);
    }

    #set(property: string, value: unknown): void {
      const text = toUSV(value);
      const parts = ask('url.set', `[${quote(this.#parts[0])},"${property}",${quote(text)}]`) as Parts | null;
      if (parts === null) {
        if (property === 'href') throw invalid(text, undefined);
        return;
      }
      this.#parts = parts;
      if (this.#params !== undefined && (property === 'search' || property === 'href')) {
        replaceParams(this.#params, StringPrototypeSlice(parts[9], 1));
      }
    }

    get href(): string {
      return this.#parts[0];
    }
    set href(value: unknown) {
      this.#set('href', value);
    }
    get origin(): string {
      return this.#parts[1];
    }
    get protocol(): string {
      return this.#parts[2];
    }
    set protocol(value: unknown) {
      this.#set('protocol', value);
    }
    get username(): string {
      return this.#parts[3];
    }
    set username(value: unknown) {
      this.#set('username', value);
    }
    get password(): string {
      return this.#parts[4];
    }
    set password(value: unknown) {
      this.#set('password', value);
    }
    get host(): string {
      return this.#parts[5];
    }
    set host(value: unknown) {
      this.#set('host', value);
    }
    get hostname(): string {
      return this.#parts[6];
    }
    set hostname(value: unknown) {
      this.#set('hostname', value);
    }
    get port(): string {
      return this.#parts[7];
    }
    set port(value: unknown) {
      this.#set('port', value);
    }
    get pathname(): string {
      return this.#parts[8];
    }
    set pathname(value: unknown) {
      this.#set('pathname', value);
    }
    get search(): string {
      return this.#parts[9];
    }
    set search(value: unknown) {
      this.#set('search', value);
    }
    get searchParams(): URLSearchParams {
      if (this.#params === undefined) {
        onChangeOfNext = (query) => {
          // What the parameters write is a query already; the setter only puts it in place.
          const parts = ask('url.set', `[${quote(this.#parts[0])},"search",${quote(query)}]`) as Parts;
          this.#parts = parts;
        };
        this.#params = new URLSearchParams(this.#parts[9]);
      }
      return this.#params;
    }
    get hash(): string {
      return this.#parts[10];
    }
    set hash(value: unknown) {
      this.#set('hash', value);
    }
    toString(): string {
      return this.#parts[0];
    }
    toJSON(): string {
      return this.#parts[0];
    }
  }

  defineClass('URL', URL);
  defineClass('URLSearchParams', URLSearchParams);
  inspector.present(URL.prototype, (value) => {
    const url = value as URL;
    return {
      kind: 'object',
      entries: {
        href: url.href,
        origin: url.origin,
        protocol: url.protocol,
        username: url.username,
        password: url.password,
        host: url.host,
        hostname: url.hostname,
        port: url.port,
        pathname: url.pathname,
        search: url.search,
        searchParams: url.searchParams,
        hash: url.hash,
      },
    };
  });
  inspector.present(URLSearchParams.prototype, (value) => ({ kind: 'pairs', entries: pairsIn(value as URLSearchParams) }));

  /** The initial pairs from another instance, an iterable of pairs, or a record. */
  function pairsOf(init: object): Pair[] {
    const pairs = list<Pair>();
    const iterate = (init as { [SymbolIterator]?: unknown })[SymbolIterator];
    if (iterate === undefined || iterate === null) {
      const keys = ObjectKeys(init);
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i] as string;
        pairs[pairs.length] = [toUSV(key), toUSV((init as Record<string, unknown>)[key])];
      }
      return pairs;
    }
    if (typeof iterate !== 'function') throw new TypeErrorConstructor('Query pairs must be iterable');
    const add = (entry: unknown): void => {
      if (!ArrayIsArray(entry)) {
        if (typeof entry !== 'object' || entry === null)
          throw new TypeErrorConstructor('Each query pair must be an iterable [name, value] tuple');
        const items = list<unknown>();
        for (const item of entry as Iterable<unknown>) items[items.length] = item;
        if (items.length !== 2) throw new TypeErrorConstructor('Each query pair must be an iterable [name, value] tuple');
        pairs[pairs.length] = [toUSV(items[0]), toUSV(items[1])];
        return;
      }
      if (entry.length !== 2) throw new TypeErrorConstructor('Each query pair must be an iterable [name, value] tuple');
      pairs[pairs.length] = [toUSV(entry[0]), toUSV(entry[1])];
    };
    if (ArrayIsArray(init)) for (let i = 0; i < init.length; i++) add(init[i]);
    else for (const entry of init as Iterable<unknown>) add(entry);
    return pairs;
  }
}

function invalid(input: unknown, base: unknown): Error {
  const error = new TypeErrorConstructor('Invalid URL');
  defineHidden(error, 'code', 'ERR_INVALID_URL');
  defineHidden(error, 'input', StringConstructor(input));
  if (base !== undefined) defineHidden(error, 'base', StringConstructor(base));
  return error;
}

function requireCount(given: number, needed: number, method: string): void {
  if (given < needed) {
    throw new TypeErrorConstructor(`URLSearchParams.${method} expects ${needed === 1 ? 'a name' : 'a name and a value'}.`);
  }
}

/** Text with lone surrogates replaced. */
function toUSV(value: unknown): string {
  const text = StringConstructor(value);
  let result = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = i + 1 < text.length ? StringPrototypeCharCodeAt(text, i + 1) : 0;
    if (unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) i++;
    else {
      result += `${StringPrototypeSlice(text, from, i)}\ufffd`;
      from = i + 1;
    }
  }
  return from === 0 ? text : result + StringPrototypeSlice(text, from);
}

/** Reads `application/x-www-form-urlencoded`. */
function parseQuery(text: string): Pair[] {
  const pairs = list<Pair>();
  const parts = splitText(text, '&');
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    if (part === '') continue;
    const equals = StringPrototypeIndexOf(part, '=');
    const name = equals === -1 ? part : StringPrototypeSlice(part, 0, equals);
    const value = equals === -1 ? '' : StringPrototypeSlice(part, equals + 1);
    pairs[pairs.length] = [decodePart(name), decodePart(value)];
  }
  return pairs;
}

function decodePart(part: string): string {
  const text = toUSV(replaceText(part, '+', ' '));
  if (StringPrototypeIndexOf(text, '%') === -1) return text;
  const encoded = utf8Encode(text);
  const bytes = new Uint8ArrayConstructor(encoded.length);
  let length = 0;
  for (let i = 0; i < encoded.length; i++) {
    const byte = encoded[i] as number;
    const high = byte === 0x25 && i + 2 < encoded.length ? hexDigit(encoded[i + 1] as number) : -1;
    const low = high >= 0 ? hexDigit(encoded[i + 2] as number) : -1;
    if (low >= 0) {
      bytes[length++] = high * 16 + low;
      i += 2;
    } else bytes[length++] = byte;
  }
  return utf8Decode(bytes, length, false) as string;
}

function formatQuery(pairs: readonly Pair[]): string {
  const parts = list<string>();
  for (let i = 0; i < pairs.length; i++) {
    const pair = pairs[i] as Pair;
    parts[i] = `${encodePart(pair[0])}=${encodePart(pair[1])}`;
  }
  return ArrayPrototypeJoin(parts, '&');
}

function encodePart(text: string): string {
  const bytes = utf8Encode(text);
  let result = '';
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    const isSafe =
      (byte >= 0x30 && byte <= 0x39) ||
      (byte >= 0x41 && byte <= 0x5a) ||
      (byte >= 0x61 && byte <= 0x7a) ||
      byte === 0x2a ||
      byte === 0x2d ||
      byte === 0x2e ||
      byte === 0x5f;
    if (isSafe) result += StringFromCharCode(byte);
    else if (byte === 0x20) result += '+';
    else result += `%${StringPrototypePadStart(StringPrototypeToUpperCase(NumberPrototypeToString(byte, 16)), 2, '0')}`;
  }
  return result;
}

function sortPairs(pairs: readonly Pair[], from: number, to: number): Pair[] {
  const sorted = list<Pair>();
  if (to - from === 1) sorted[0] = pairs[from] as Pair;
  if (to - from <= 1) return sorted;
  const middle = (from + to) >> 1;
  const left = sortPairs(pairs, from, middle);
  const right = sortPairs(pairs, middle, to);
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const takeLeft = j >= right.length || (i < left.length && (left[i] as Pair)[0] <= (right[j] as Pair)[0]);
    sorted[sorted.length] = (takeLeft ? left[i++] : right[j++]) as Pair;
  }
  return sorted;
}
