// The host side of the guest's world: pure functions over text that the guest has no tables for (locales, time zones, URLs, digests).
// Each call is bounded: its input by length, its caches by number, so that a program that asks in a loop pays with its own time and
// cannot fill the worker. No service reads files, the network, the environment or the host's own locale and zone.
import { createHash, randomBytes } from 'node:crypto';

/** Answers one request: JSON in, `{"value":…}` or `{"error":{"name","message"}}` out. Never throws. */
export type Answer = (service: string, argument: string) => string;

/** Characters of one argument. Digests carry base64 and may be longer. */
const MAX_ARGUMENT = 256 * 1024;
const MAX_DIGEST = 24 * 1024 * 1024;
const MAX_URL = 1024 * 1024;
/** IDNA work grows with the square of a host's length. */
const MAX_HOST = 4096;
/** Digits of a number to format; the conversion of a BigInt is not linear. */
const MAX_DIGITS = 2000;
const MAX_RANDOM = 65_536;
/** Formatters kept per kind; building one takes a tenth of a millisecond, using it a microsecond. */
const MAX_KEPT = 24;
const MAX_YEARS = 512;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A small least-recently-used table. */
class Kept<T> {
  readonly #values = new Map<string, T>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string, make: () => T): T {
    const known = this.#values.get(key);
    if (known !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known;
    }
    const made = make();
    // A long key would keep a long text alive.
    if (key.length > 4096) return made;
    if (this.#values.size >= this.#most) {
      const [oldest] = this.#values.keys();
      if (oldest !== undefined) this.#values.delete(oldest);
    }
    this.#values.set(key, made);
    return made;
  }
}

/** Makes the services with caches of their own. */
export function createAnswer(): Answer {
  const services = new Map<string, (argument: string) => Json | undefined>([
    ...intlServices(),
    ...zoneServices(),
    ['url.parse', (argument) => parseUrl(argument)],
    ['url.set', (argument) => setUrl(argument)],
    ['digest', (argument) => digest(argument)],
    ['random', (argument) => random(argument)],
  ]);
  return (service, argument) => {
    try {
      const run = services.get(service);
      if (run === undefined) throw new TypeError(`There is no service named "${service.slice(0, 40)}".`);
      const most = service === 'digest' ? MAX_DIGEST : service.startsWith('url.') ? MAX_URL : MAX_ARGUMENT;
      if (argument.length > most)
        throw new RangeError(`The text is too long for this operation: ${argument.length} characters as JSON, at most ${most}.`);
      return JSON.stringify({ value: run(argument) ?? null });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      return JSON.stringify({ error: { name, message: message.slice(0, 500) } });
    }
  };
}

// Intl -------------------------------------------------------------------------------------------------------------------------

/** `["NumberFormat",["en-US"],{…}]`: what makes a formatter, and the key under which it is kept. */
type Head = [kind: string, locales: string[], options: Record<string, string | number | boolean>];

type Formatter =
  | Intl.NumberFormat
  | Intl.DateTimeFormat
  | Intl.PluralRules
  | Intl.RelativeTimeFormat
  | Intl.ListFormat
  | Intl.Collator
  | Intl.Segmenter
  | Intl.DisplayNames;

/** The constructors share a shape that TypeScript does not know of. */
type FormatterClass = new (locales: string[], options: object) => Formatter;

const CLASSES: ReadonlyMap<string, FormatterClass> = new Map<string, unknown>([
  ['NumberFormat', Intl.NumberFormat],
  ['DateTimeFormat', Intl.DateTimeFormat],
  ['PluralRules', Intl.PluralRules],
  ['RelativeTimeFormat', Intl.RelativeTimeFormat],
  ['ListFormat', Intl.ListFormat],
  ['Collator', Intl.Collator],
  ['Segmenter', Intl.Segmenter],
  ['DisplayNames', Intl.DisplayNames],
]) as Map<string, FormatterClass>;

function intlServices(): [string, (argument: string) => Json | undefined][] {
  const kept = new Map<string, Kept<Formatter>>([...CLASSES.keys()].map((kind) => [kind, new Kept<Formatter>(MAX_KEPT)]));

  function formatterOf(head: string): Formatter {
    const kind = head.slice(2, head.indexOf('"', 2));
    const known = kept.get(kind);
    const FormatterClass = CLASSES.get(kind);
    if (known === undefined || FormatterClass === undefined) throw new TypeError('There is no such formatter.');
    return known.get(head, () => {
      const [, locales, options] = JSON.parse(head) as Head;
      return new FormatterClass(locales, options);
    });
  }

  /** `head \n [method, …]`: the head stays text until a formatter has to be made. */
  function call(argument: string): Json | undefined {
    const split = argument.indexOf('\n');
    const formatter = formatterOf(argument.slice(0, split));
    const [method, ...values] = JSON.parse(argument.slice(split + 1)) as [string, ...Json[]];
    return callFormatter(formatter, method, values);
  }

  return [
    [
      'intl.new',
      (head) => {
        formatterOf(head);
        return null;
      },
    ],
    ['intl', call],
    [
      'intl.supported',
      (argument) => {
        const [kind, locales, options] = JSON.parse(argument) as Head;
        const FormatterClass = CLASSES.get(kind) as unknown as
          | { supportedLocalesOf(locales: string[], options: object): string[] }
          | undefined;
        return FormatterClass?.supportedLocalesOf(locales, options) ?? [];
      },
    ],
    ['intl.canonical', (argument) => Intl.getCanonicalLocales(JSON.parse(argument) as string[])],
    ['intl.values', (argument) => Intl.supportedValuesOf(JSON.parse(argument) as 'calendar')],
    ['intl.locale', (argument) => describeLocale(argument)],
    ['text.upper', (argument) => changeCase(argument, 'toLocaleUpperCase')],
    ['text.lower', (argument) => changeCase(argument, 'toLocaleLowerCase')],
  ];
}

function callFormatter(formatter: Formatter, method: string, values: Json[]): Json | undefined {
  if (method === 'resolvedOptions') return formatter.resolvedOptions() as unknown as Json;
  if (formatter instanceof Intl.NumberFormat) {
    const first = numeric(values[0]);
    // The types know numbers and bigints; decimal text keeps its digits.
    if (method === 'format') return formatter.format(first as number);
    if (method === 'formatToParts') return formatter.formatToParts(first as number) as unknown as Json;
    const ranged = formatter as unknown as Record<string, (start: unknown, end: unknown) => Json>;
    if (method === 'formatRange' || method === 'formatRangeToParts') return ranged[method]?.(first, numeric(values[1]));
  } else if (formatter instanceof Intl.DateTimeFormat) {
    const first = values[0] as number;
    if (method === 'format') return formatter.format(first);
    if (method === 'formatToParts') return formatter.formatToParts(first) as unknown as Json;
    if (method === 'formatRange') return formatter.formatRange(first, values[1] as number);
    if (method === 'formatRangeToParts') return formatter.formatRangeToParts(first, values[1] as number) as unknown as Json;
  } else if (formatter instanceof Intl.PluralRules) {
    if (method === 'select') return formatter.select(Number(numeric(values[0])));
    const ranged = formatter as unknown as { selectRange?(start: number, end: number): string };
    if (method === 'selectRange') return ranged.selectRange?.(Number(numeric(values[0])), Number(numeric(values[1])));
  } else if (formatter instanceof Intl.RelativeTimeFormat) {
    const value = Number(numeric(values[0]));
    const unit = values[1] as Intl.RelativeTimeFormatUnit;
    if (method === 'format') return formatter.format(value, unit);
    if (method === 'formatToParts') return formatter.formatToParts(value, unit) as unknown as Json;
  } else if (formatter instanceof Intl.ListFormat) {
    if (method === 'format') return formatter.format(values[0] as string[]);
    if (method === 'formatToParts') return formatter.formatToParts(values[0] as string[]) as unknown as Json;
  } else if (formatter instanceof Intl.Collator) {
    if (method === 'compare') return formatter.compare(values[0] as string, values[1] as string);
  } else if (formatter instanceof Intl.DisplayNames) {
    if (method === 'of') return formatter.of(values[0] as string);
  } else if (method === 'segment') return segment(formatter, values[0] as string);
  throw new TypeError(`There is no method ${method} here.`);
}

/** Where each segment starts, and for words whether it is like a word: `[0, 1, 5, 0, …]`. */
function segment(segmenter: Intl.Segmenter, text: string): number[] {
  const marks: number[] = [];
  for (const { index, isWordLike } of segmenter.segment(text)) marks.push(index, isWordLike ? 1 : 0);
  return marks;
}

/** Numbers cross as `["number" | "bigint" | "string", text]`, since JSON has no NaN, -0 or bigints. */
function numeric(wire: Json | undefined): number | bigint | string {
  const [type, text] = wire as [string, string];
  if (text.length > MAX_DIGITS) throw new RangeError(`The number has ${text.length} digits; at most ${MAX_DIGITS} can be formatted.`);
  if (type === 'number') return Number(text);
  return type === 'bigint' ? BigInt(text) : text;
}

function describeLocale(argument: string): Json {
  const [tag, options] = JSON.parse(argument) as [string, Intl.LocaleOptions];
  const locale = new Intl.Locale(tag, options);
  const more = locale as unknown as Record<string, Json | (() => Json) | undefined>;
  const listed = (method: string, accessor: string): Json => {
    const get = more[method];
    return (typeof get === 'function' ? get.call(locale) : (more[accessor] as Json | undefined)) ?? null;
  };
  return {
    text: locale.toString(),
    baseName: locale.baseName,
    language: locale.language ?? null,
    script: locale.script ?? null,
    region: locale.region ?? null,
    calendar: locale.calendar ?? null,
    collation: locale.collation ?? null,
    hourCycle: locale.hourCycle ?? null,
    caseFirst: locale.caseFirst ?? null,
    numeric: locale.numeric ?? false,
    numberingSystem: locale.numberingSystem ?? null,
    maximized: locale.maximize().toString(),
    minimized: locale.minimize().toString(),
    calendars: listed('getCalendars', 'calendars'),
    collations: listed('getCollations', 'collations'),
    hourCycles: listed('getHourCycles', 'hourCycles'),
    numberingSystems: listed('getNumberingSystems', 'numberingSystems'),
    timeZones: listed('getTimeZones', 'timeZones'),
    textInfo: listed('getTextInfo', 'textInfo'),
    weekInfo: listed('getWeekInfo', 'weekInfo'),
  };
}

function changeCase(argument: string, method: 'toLocaleUpperCase' | 'toLocaleLowerCase'): string {
  const [text, locales] = JSON.parse(argument) as [string, string[]];
  return text[method](locales);
}

// Time zones -------------------------------------------------------------------------------------------------------------------

function zoneServices(): [string, (argument: string) => Json][] {
  const formatters = new Kept<Intl.DateTimeFormat>(MAX_KEPT);
  const years = new Kept<number[]>(MAX_YEARS);

  function offsetAt(zone: string, epochMs: number): number {
    const formatter = formatters.get(zone, () => new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }));
    const name = formatter.formatToParts(epochMs).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    const match = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(name);
    if (match?.[1] === undefined) return 0;
    const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return (match[1] === '-' ? -seconds : seconds) * 1000;
  }

  function nameAt(zone: string, epochMs: number): string {
    const formatter = formatters.get(`${zone} name`, () => new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'long' }));
    return formatter.formatToParts(epochMs).find((part) => part.type === 'timeZoneName')?.value ?? zone;
  }

  /** The offsets of a zone through one UTC year: `[from, offset, from, offset, …]`, the first entry at the year's start. */
  function year(zone: string, number: number): number[] {
    return years.get(`${zone} ${number}`, () => {
      const start = Date.UTC(2000, 0, 1) + daysFrom2000(number) * 86_400_000;
      const table = [start, offsetAt(zone, start)];
      let from = start;
      let offset = table[1] as number;
      // Two transitions within two weeks do happen (Ramadan in Morocco is longer), hence the small step.
      for (let step = 1; step <= 27; step++) {
        const to = start + step * 14 * 86_400_000;
        const next = offsetAt(zone, to);
        if (next !== offset) {
          let low = from;
          let high = to;
          while (high - low > 1000) {
            const middle = Math.floor((low + high) / 2000) * 1000;
            if (middle <= low) break;
            if (offsetAt(zone, middle) === offset) low = middle;
            else high = middle;
          }
          table.push(high, next);
          offset = next;
        }
        from = to;
      }
      return table;
    });
  }

  return [
    [
      'zone.year',
      (argument) => {
        const [zone, number] = JSON.parse(argument) as [string, number];
        return year(zone, number);
      },
    ],
    [
      'zone.name',
      (argument) => {
        const [zone, epochMs] = JSON.parse(argument) as [string, number];
        const name = nameAt(zone, epochMs);
        if (!name.startsWith('GMT')) return name;
        // ICU has no name for offsets that are history; engines print today's name for the same offset.
        const offset = offsetAt(zone, epochMs);
        const today = [Date.UTC(2025, 0, 1), Date.UTC(2025, 6, 1)].find((instant) => offsetAt(zone, instant) === offset);
        return today === undefined ? name : nameAt(zone, today);
      },
    ],
  ];
}

/** Days from 1 January 2000 to 1 January of a year, proleptic Gregorian; `Date.UTC` reads the years 0 to 99 as 1900 to 1999. */
function daysFrom2000(year: number): number {
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) - (499 - 19 + 4);
  return (year - 2000) * 365 + leapDays;
}

// URLs -------------------------------------------------------------------------------------------------------------------------

function parseUrl(argument: string): Json {
  const [text, base] = JSON.parse(argument) as [string, string | null];
  checkHost(text);
  if (base !== null) checkHost(base);
  const url = tryUrl(text, base);
  return url === undefined ? null : describeUrl(url);
}

const SETTABLE = new Set(['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']);

function setUrl(argument: string): Json {
  const [href, property, value] = JSON.parse(argument) as [string, string, string];
  if (!SETTABLE.has(property)) throw new TypeError('There is no such part of a URL.');
  if (property === 'host' || property === 'hostname') checkHost(`http://${value}`);
  if (property === 'href') checkHost(value);
  const url = tryUrl(href, null);
  if (url === undefined) return null;
  if (property === 'href') {
    const replaced = tryUrl(value, null);
    return replaced === undefined ? null : describeUrl(replaced);
  }
  // One of the string properties listed above.
  (url as unknown as Record<string, string>)[property] = value;
  return describeUrl(url);
}

function tryUrl(text: string, base: string | null): URL | undefined {
  try {
    return base === null ? new URL(text) : new URL(text, base);
  } catch {
    return undefined;
  }
}

function describeUrl(url: URL): Json {
  return [
    url.href,
    url.origin,
    url.protocol,
    url.username,
    url.password,
    url.host,
    url.hostname,
    url.port,
    url.pathname,
    url.search,
    url.hash,
  ];
}

function checkHost(text: string): void {
  if (text.length <= MAX_HOST) return;
  const host = /^[\s\0-\x20]*(?:[a-z][a-z0-9+.\-\t\n\r]*:)?[/\\\t\n\r]*([^/\\?#]*)/i.exec(text)?.[1] ?? '';
  const isOpaque = /^[\s\0-\x20]*(?:data|blob|javascript|mailto|about):/i.test(text);
  if (!isOpaque && host.length > MAX_HOST) throw new RangeError(`The host of a URL should have at most ${MAX_HOST} characters.`);
}

// Crypto -----------------------------------------------------------------------------------------------------------------------

const DIGESTS = new Map([
  ['SHA-1', 'sha1'],
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
]);

function digest(argument: string): string {
  const [algorithm, base64] = JSON.parse(argument) as [string, string];
  const name = DIGESTS.get(algorithm);
  if (name === undefined) throw new TypeError('There is no such digest.');
  return createHash(name).update(base64, 'base64').digest('base64');
}

function random(argument: string): string {
  const count = JSON.parse(argument) as number;
  if (!Number.isInteger(count) || count < 0 || count > MAX_RANDOM)
    throw new RangeError(`At most ${MAX_RANDOM} random bytes can be had at once.`);
  return randomBytes(count).toString('base64');
}
