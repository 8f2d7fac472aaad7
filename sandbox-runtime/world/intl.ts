// `Intl` and the locale methods of numbers, dates, strings and arrays. The tables are the host's: objects here hold their options as
// text and ask for each result. The program's time zone and locale take the place of the host's.
import {
  type AnyConstructor,
  ArrayIsArray,
  ArrayPrototypeJoin,
  BigIntPrototypeValueOf,
  DateNow,
  DatePrototypeGetTime,
  list,
  MathMin,
  matches,
  NumberConstructor,
  NumberIsFinite,
  NumberPrototypeValueOf,
  ObjectCreate,
  ObjectIs,
  ObjectSetPrototypeOf,
  quote,
  RangeErrorConstructor,
  ReflectApply,
  ReflectConstruct,
  StringConstructor,
  StringPrototypeSlice,
  StringPrototypeToLowerCase,
  StringPrototypeToUpperCase,
  SymbolIterator,
  TypeErrorConstructor,
} from '../primordials.ts';
import { type AsciiCollation, compareAscii } from './collation.ts';
import type { WorldContext } from './context.ts';
import { dataDescriptor, defineGlobal, defineHidden, defineMembers, defineName, defineTag } from './define.ts';

type Options = Record<string, unknown>;

const DATE_OPTIONS = [
  'localeMatcher',
  'calendar',
  'numberingSystem',
  'hour12',
  'hourCycle',
  'timeZone',
  'weekday',
  'era',
  'year',
  'month',
  'day',
  'dayPeriod',
  'hour',
  'minute',
  'second',
  'fractionalSecondDigits',
  'timeZoneName',
  'formatMatcher',
  'dateStyle',
  'timeStyle',
] as const;
const NUMBER_OPTIONS = [
  'localeMatcher',
  'numberingSystem',
  'style',
  'currency',
  'currencyDisplay',
  'currencySign',
  'unit',
  'unitDisplay',
  'notation',
  'compactDisplay',
  'useGrouping',
  'signDisplay',
  'minimumIntegerDigits',
  'minimumFractionDigits',
  'maximumFractionDigits',
  'minimumSignificantDigits',
  'maximumSignificantDigits',
  'roundingIncrement',
  'roundingMode',
  'roundingPriority',
  'trailingZeroDisplay',
] as const;
const PLURAL_OPTIONS = [
  'localeMatcher',
  'type',
  'minimumIntegerDigits',
  'minimumFractionDigits',
  'maximumFractionDigits',
  'minimumSignificantDigits',
  'maximumSignificantDigits',
  'roundingIncrement',
  'roundingMode',
  'roundingPriority',
  'trailingZeroDisplay',
] as const;
const COLLATOR_OPTIONS = ['localeMatcher', 'usage', 'sensitivity', 'ignorePunctuation', 'numeric', 'caseFirst', 'collation'] as const;
const RELATIVE_OPTIONS = ['localeMatcher', 'numberingSystem', 'style', 'numeric'] as const;
const LIST_OPTIONS = ['localeMatcher', 'type', 'style'] as const;
const SEGMENTER_OPTIONS = ['localeMatcher', 'granularity'] as const;
const NAMES_OPTIONS = ['localeMatcher', 'style', 'type', 'fallback', 'languageDisplay'] as const;
const LOCALE_OPTIONS = [
  'language',
  'script',
  'region',
  'calendar',
  'collation',
  'hourCycle',
  'caseFirst',
  'numeric',
  'numberingSystem',
] as const;

/** Languages in whose order plain ASCII keeps ICU's root order. */
const ROOT_ORDER = /^(?:en|de|fr|it|nl|pt|es)(?:-[A-Z]{2})?$/;
const PLAIN_CASE = /^(?:en|de|fr|it|nl|pt|es|ja|zh|ko|ru|hi|ar|sv|pl)(?:-|$)/;

/** Defines `Intl` and everything that depends on the locale. */
export function installIntl(context: WorldContext): void {
  const { settings, ask, inspector } = context;

  // Requests ---------------------------------------------------------------------------------------------------------------------

  /** The requested tags as texts. */
  function tagsOf(locales: unknown): string[] {
    const tags = list<string>();
    if (locales === undefined) return tags;
    if (typeof locales === 'string') {
      tags[0] = locales;
      return tags;
    }
    if (locales === null) throw new TypeErrorConstructor('Cannot convert undefined or null to object');
    if (isLocale(locales)) {
      tags[0] = localeText(locales);
      return tags;
    }
    if (typeof locales !== 'object') return tags;
    const given = locales as ArrayLike<unknown>;
    const length = MathMin(NumberConstructor(given.length) || 0, 1000);
    for (let i = 0; i < length; i++) {
      if (!(i in given)) continue;
      const tag = given[i];
      if (typeof tag === 'string') tags[tags.length] = tag;
      else if (isLocale(tag)) tags[tags.length] = localeText(tag);
      else throw new TypeErrorConstructor('Incorrect locale information provided');
    }
    return tags;
  }

  function encodeTags(tags: readonly string[]): string {
    const quoted = list<string>();
    for (let i = 0; i < tags.length; i++) quoted[i] = quote(tags[i] as string);
    return `[${ArrayPrototypeJoin(quoted, ',')}]`;
  }

  /** Requested locales, then the program's own: the host's default must never be the fallback. */
  function encodeLocales(locales: unknown): string {
    const tags = tagsOf(locales);
    tags[tags.length] = settings.locale;
    return encodeTags(tags);
  }

  function encodeOption(value: unknown): string {
    if (typeof value === 'boolean') return value ? 'true' : 'false';
    if (typeof value === 'number' && NumberIsFinite(value)) return `${value}`;
    return quote(StringConstructor(value));
  }

  /** The known options as JSON; each is read once, as the standard says. */
  function encodeOptions(names: readonly string[], options: unknown, defaults?: Options): string {
    const given = objectOf(options);
    let text = '';
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const value = given?.[name];
      const chosen = value === undefined ? defaults?.[name] : value;
      if (chosen !== undefined) text += `${text === '' ? '' : ','}"${name}":${encodeOption(chosen)}`;
    }
    return `{${text}}`;
  }

  function objectOf(options: unknown): Options | undefined {
    if (options === undefined) return undefined;
    if (options === null) throw new TypeErrorConstructor('Cannot convert undefined or null to object');
    return typeof options === 'object' || typeof options === 'function' ? (options as Options) : undefined;
  }

  const headOf = (kind: string, locales: unknown, names: readonly string[], options: unknown, defaults?: Options): string =>
    `["${kind}",${encodeLocales(locales)},${encodeOptions(names, options, defaults)}]`;

  function request(head: string, method: string, values = ''): unknown {
    return ask('intl', `${head}\n["${method}"${values === '' ? '' : `,${values}`}]`);
  }

  function encodeNumber(value: unknown): string {
    let primitive = value;
    if (typeof value === 'object' && value !== null) primitive = toNumeric(value);
    if (typeof primitive === 'bigint') return `["bigint","${primitive}"]`;
    if (typeof primitive === 'string') return `["string",${quote(primitive)}]`;
    if (typeof primitive === 'symbol') throw new TypeErrorConstructor('Cannot convert a Symbol value to a number');
    const number = NumberConstructor(primitive);
    return ObjectIs(number, -0) ? '["number","-0"]' : `["number","${number}"]`;
  }

  function toNumeric(value: object): number | bigint {
    try {
      return BigIntPrototypeValueOf(value);
    } catch {
      return NumberConstructor(value);
    }
  }

  function encodeTime(value: unknown): string {
    let time: number;
    if (value === undefined) time = DateNow();
    else if (typeof value === 'number') time = value;
    else {
      try {
        time = DatePrototypeGetTime(value);
      } catch {
        time = NumberConstructor(value);
      }
    }
    if (!(time >= -8.64e15 && time <= 8.64e15)) throw new RangeErrorConstructor('Invalid time value');
    return `${time - (time % 1)}`;
  }

  // Formatters -------------------------------------------------------------------------------------------------------------------

  /** What the classes share: their head, and the options that the host resolved. */
  class Formatter {
    readonly #head: string;

    constructor(kind: string, names: readonly string[], locales: unknown, options: unknown, defaults?: Options) {
      this.#head = headOf(kind, locales, names, options, defaults);
      ask('intl.new', this.#head);
    }

    static head(value: unknown, kind: string): string {
      if (typeof value === 'object' && value !== null && #head in value) {
        const head = value.#head;
        if (StringPrototypeSlice(head, 2, kind.length + 2) === kind) return head;
      }
      throw new TypeErrorConstructor(`This method works on an Intl.${kind} only.`);
    }
  }
  const { head } = Formatter;
  const resolved = (kind: string) => ({
    resolvedOptions(this: unknown): unknown {
      return request(head(this, kind), 'resolvedOptions');
    },
  });

  class NumberFormat extends Formatter {
    #format: ((value: unknown) => unknown) | undefined;
    constructor(locales?: unknown, options?: unknown) {
      super('NumberFormat', NUMBER_OPTIONS, locales, options);
    }
    get format(): (value: unknown) => unknown {
      const own = head(this, 'NumberFormat');
      this.#format ??= (value) => request(own, 'format', encodeNumber(value));
      return this.#format;
    }
    formatToParts(value: unknown): unknown {
      return request(head(this, 'NumberFormat'), 'formatToParts', encodeNumber(value));
    }
    formatRange(start: unknown, end: unknown): unknown {
      return request(head(this, 'NumberFormat'), 'formatRange', `${encodeNumber(start)},${encodeNumber(end)}`);
    }
    formatRangeToParts(start: unknown, end: unknown): unknown {
      return request(head(this, 'NumberFormat'), 'formatRangeToParts', `${encodeNumber(start)},${encodeNumber(end)}`);
    }
  }

  class DateTimeFormat extends Formatter {
    #format: ((value?: unknown) => unknown) | undefined;
    constructor(locales?: unknown, options?: unknown) {
      super('DateTimeFormat', DATE_OPTIONS, locales, options, zoneDefault());
    }
    get format(): (value?: unknown) => unknown {
      const own = head(this, 'DateTimeFormat');
      this.#format ??= (value) => request(own, 'format', encodeTime(value));
      return this.#format;
    }
    formatToParts(value?: unknown): unknown {
      return request(head(this, 'DateTimeFormat'), 'formatToParts', encodeTime(value));
    }
    formatRange(start: unknown, end: unknown): unknown {
      return request(head(this, 'DateTimeFormat'), 'formatRange', encodeRange(start, end));
    }
    formatRangeToParts(start: unknown, end: unknown): unknown {
      return request(head(this, 'DateTimeFormat'), 'formatRangeToParts', encodeRange(start, end));
    }
  }

  function encodeRange(start: unknown, end: unknown): string {
    if (start === undefined || end === undefined) throw new TypeErrorConstructor('startDate or endDate cannot be undefined');
    return `${encodeTime(start)},${encodeTime(end)}`;
  }

  function zoneDefault(): Options {
    const defaults = ObjectCreate(null);
    defaults['timeZone'] = settings.timeZone;
    return defaults;
  }

  class PluralRules extends Formatter {
    constructor(locales?: unknown, options?: unknown) {
      super('PluralRules', PLURAL_OPTIONS, locales, options);
    }
    select(value: unknown): unknown {
      return request(head(this, 'PluralRules'), 'select', encodeNumber(NumberConstructor(value)));
    }
    selectRange(start: unknown, end: unknown): unknown {
      return request(
        head(this, 'PluralRules'),
        'selectRange',
        `${encodeNumber(NumberConstructor(start))},${encodeNumber(NumberConstructor(end))}`,
      );
    }
  }

  class RelativeTimeFormat extends Formatter {
    constructor(locales?: unknown, options?: unknown) {
      super('RelativeTimeFormat', RELATIVE_OPTIONS, locales, options);
    }
    format(value: unknown, unit: unknown): unknown {
      return request(
        head(this, 'RelativeTimeFormat'),
        'format',
        `${encodeNumber(NumberConstructor(value))},${quote(StringConstructor(unit))}`,
      );
    }
    formatToParts(value: unknown, unit: unknown): unknown {
      return request(
        head(this, 'RelativeTimeFormat'),
        'formatToParts',
        `${encodeNumber(NumberConstructor(value))},${quote(StringConstructor(unit))}`,
      );
    }
  }

  class ListFormat extends Formatter {
    constructor(locales?: unknown, options?: unknown) {
      super('ListFormat', LIST_OPTIONS, locales, options);
    }
    format(values: unknown): unknown {
      return request(head(this, 'ListFormat'), 'format', encodeTexts(values));
    }
    formatToParts(values: unknown): unknown {
      return request(head(this, 'ListFormat'), 'formatToParts', encodeTexts(values));
    }
  }

  function encodeTexts(values: unknown): string {
    const texts = list<string>();
    const add = (value: unknown): void => {
      if (typeof value !== 'string')
        throw new TypeErrorConstructor('Iterable yielded a non-String value; Intl.ListFormat takes strings only.');
      texts[texts.length] = value;
    };
    if (ArrayIsArray(values)) for (let i = 0; i < values.length; i++) add(values[i]);
    else if (values !== undefined) for (const value of values as Iterable<unknown>) add(value);
    return encodeTags(texts);
  }

  class Collator extends Formatter {
    readonly #fast: AsciiCollation | undefined;
    #compare: ((left: unknown, right: unknown) => number) | undefined;
    constructor(locales?: unknown, options?: unknown) {
      super('Collator', COLLATOR_OPTIONS, locales, options);
      this.#fast = fastCollation(locales, options);
    }
    get compare(): (left: unknown, right: unknown) => number {
      const own = head(this, 'Collator');
      const fast = this.#fast;
      this.#compare ??= (left, right) => collate(StringConstructor(left), StringConstructor(right), fast, own);
      return this.#compare;
    }
  }

  /** The rules for plain texts, where the locale and the options allow to apply them here. */
  function fastCollation(locales: unknown, options: unknown): AsciiCollation | undefined {
    const locale = locales === undefined ? settings.locale : locales;
    if (typeof locale !== 'string' || !matches(ROOT_ORDER, locale)) return undefined;
    const given = objectOf(options);
    if (given === undefined) return PLAIN_ORDER;
    const { numeric, sensitivity } = given;
    if (
      given['usage'] !== undefined ||
      given['caseFirst'] !== undefined ||
      given['collation'] !== undefined ||
      given['localeMatcher'] !== undefined
    )
      return undefined;
    if (given['ignorePunctuation'] !== undefined || (numeric !== undefined && typeof numeric !== 'boolean')) return undefined;
    if (
      sensitivity !== undefined &&
      sensitivity !== 'base' &&
      sensitivity !== 'accent' &&
      sensitivity !== 'variant' &&
      sensitivity !== 'case'
    )
      return undefined;
    return { numeric: numeric === true, ignoreCase: sensitivity === 'base' || sensitivity === 'accent' };
  }

  function collate(left: string, right: string, fast: AsciiCollation | undefined, own: string): number {
    const order = fast === undefined ? undefined : compareAscii(left, right, fast);
    // The service answers compare with a number.
    return order ?? (request(own, 'compare', `${quote(left)},${quote(right)}`) as number);
  }

  class DisplayNames extends Formatter {
    constructor(locales: unknown, options: unknown) {
      if (options === undefined)
        throw new TypeErrorConstructor('Intl.DisplayNames expects options with a `type`, for example { type: "region" }.');
      super('DisplayNames', NAMES_OPTIONS, locales, options);
    }
    of(code: unknown): unknown {
      return request(head(this, 'DisplayNames'), 'of', quote(StringConstructor(code))) ?? undefined;
    }
  }

  class Segmenter extends Formatter {
    readonly #isWord: boolean;
    constructor(locales?: unknown, options?: unknown) {
      super('Segmenter', SEGMENTER_OPTIONS, locales, options);
      this.#isWord = objectOf(options)?.['granularity'] === 'word';
    }
    segment(input: unknown): Segments {
      const text = StringConstructor(input);
      return new Segments(text, request(head(this, 'Segmenter'), 'segment', quote(text)) as number[], this.#isWord);
    }
  }

  interface Segment {
    segment: string;
    index: number;
    input: string;
    isWordLike?: boolean;
  }

  class Segments {
    readonly #text: string;
    // `[start, isWordLike, …]`
    readonly #marks: number[];
    readonly #isWord: boolean;

    constructor(text: string, marks: number[], isWord: boolean) {
      this.#text = text;
      this.#marks = marks;
      this.#isWord = isWord;
    }

    #at(mark: number): Segment {
      const marks = this.#marks;
      const index = marks[mark] as number;
      const end = mark + 2 < marks.length ? (marks[mark + 2] as number) : this.#text.length;
      const found: Segment = { segment: StringPrototypeSlice(this.#text, index, end), index, input: this.#text };
      if (this.#isWord) found.isWordLike = marks[mark + 1] === 1;
      return found;
    }

    containing(position: unknown = 0): Segment | undefined {
      const index = NumberConstructor(position) || 0;
      if (index < 0 || index >= this.#text.length) return undefined;
      let mark = 0;
      while (mark + 2 < this.#marks.length && (this.#marks[mark + 2] as number) <= index) mark += 2;
      return this.#at(mark);
    }

    *[SymbolIterator](): Generator<Segment> {
      for (let mark = 0; mark < this.#marks.length; mark += 2) yield this.#at(mark);
    }
  }
  defineHidden(Segments.prototype, 'constructor', Object);

  interface LocaleFacts {
    text: string;
    [name: string]: unknown;
  }

  class Locale {
    readonly #facts: LocaleFacts;

    constructor(tag: unknown, options?: unknown) {
      if (typeof tag !== 'string' && typeof tag !== 'object')
        throw new TypeErrorConstructor("First argument to Intl.Locale constructor can't be empty or missing");
      const text = isLocale(tag) ? localeText(tag) : StringConstructor(tag);
      this.#facts = ask('intl.locale', `[${quote(text)},${encodeOptions(LOCALE_OPTIONS, options)}]`) as LocaleFacts;
    }

    static is(value: unknown): value is Locale {
      return typeof value === 'object' && value !== null && #facts in value;
    }

    static fact(locale: Locale, name: string): unknown {
      return locale.#facts[name] ?? undefined;
    }

    toString(): string {
      return this.#facts.text;
    }
    maximize(): Locale {
      return new Locale(this.#facts['maximized']);
    }
    minimize(): Locale {
      return new Locale(this.#facts['minimized']);
    }
  }
  const isLocale = Locale.is;
  const factOf = Locale.fact;
  const localeText = (locale: Locale): string => factOf(locale, 'text') as string;
  for (const name of [
    'baseName',
    'language',
    'script',
    'region',
    'calendar',
    'collation',
    'hourCycle',
    'caseFirst',
    'numeric',
    'numberingSystem',
  ]) {
    defineAccessor(Locale.prototype, name, function (this: Locale) {
      return factOf(this, name);
    });
  }
  for (const name of ['calendars', 'collations', 'hourCycles', 'numberingSystems', 'timeZones', 'textInfo', 'weekInfo']) {
    defineAccessor(Locale.prototype, name, function (this: Locale) {
      return factOf(this, name);
    });
    defineHidden(
      Locale.prototype,
      `get${name[0]?.toUpperCase()}${name.slice(1)}`,
      {
        [name](this: Locale): unknown {
          return factOf(this, name);
        },
      }[name],
    );
  }
  Reflect.deleteProperty(Locale, 'is');
  Reflect.deleteProperty(Locale, 'fact');
  inspector.present(Locale.prototype, () => ({ kind: 'text', text: 'Locale [Intl.Locale] {}' }));

  // The global object ------------------------------------------------------------------------------------------------------------

  const intl = {};
  defineTag(intl, 'Intl');
  defineMembers(intl, {
    getCanonicalLocales(locales?: unknown): unknown {
      return ask('intl.canonical', encodeTags(tagsOf(locales)));
    },
    supportedValuesOf(key: unknown): unknown {
      return ask('intl.values', quote(StringConstructor(key)));
    },
  });

  function expose(kind: string, FormatterClass: { prototype: object }, callable: boolean): void {
    const Class = FormatterClass as unknown as AnyConstructor<object> & { prototype: object };
    let exposed: object = Class;
    if (callable) {
      exposed = makeCallable(Class);
    }
    defineMembers(Class.prototype, resolved(kind));
    defineTag(Class.prototype, `Intl.${kind}`);
    defineHidden(
      exposed,
      'supportedLocalesOf',
      {
        supportedLocalesOf(locales?: unknown, options?: unknown): unknown {
          return ask('intl.supported', `["${kind}",${encodeTags(tagsOf(locales))},${encodeOptions(['localeMatcher'], options)}]`);
        },
      }.supportedLocalesOf,
    );
    // The chain through the shared base is nobody's business.
    ObjectSetPrototypeOf(Class.prototype, Object.prototype);
    defineName(exposed, kind);
    defineHidden(intl, kind, exposed);
    inspector.present(Class.prototype, (value) => {
      head(value, kind);
      return { kind: 'text', text: `${kind} [Intl.${kind}] {}` };
    });
  }

  /** A constructor that may be called without `new`. */
  function makeCallable(Class: AnyConstructor<object> & { prototype: object }): object {
    const constructor = function (this: unknown, locales?: unknown, options?: unknown): object {
      return ReflectConstruct(
        Class,
        [locales, options],
        (new.target as (() => unknown) | undefined) ?? (constructor as unknown as () => unknown),
      );
    };
    Object.defineProperty(constructor, 'length', dataDescriptor(0, false, false));
    Object.defineProperty(constructor, 'prototype', dataDescriptor(Class.prototype, false, false, false));
    defineHidden(Class.prototype, 'constructor', constructor);
    return constructor;
  }

  expose('NumberFormat', NumberFormat, true);
  expose('DateTimeFormat', DateTimeFormat, true);
  expose('Collator', Collator, true);
  expose('PluralRules', PluralRules, false);
  expose('RelativeTimeFormat', RelativeTimeFormat, false);
  expose('ListFormat', ListFormat, false);
  expose('DisplayNames', DisplayNames, false);
  expose('Segmenter', Segmenter, false);
  defineTag(Locale.prototype, 'Intl.Locale');
  defineName(Locale, 'Locale');
  defineHidden(intl, 'Locale', Locale);
  defineGlobal('Intl', intl);

  // Methods ----------------------------------------------------------------------------------------------------------------------

  function numberText(value: number | bigint, locales: unknown, options: unknown): unknown {
    return request(headOf('NumberFormat', locales, NUMBER_OPTIONS, options), 'format', encodeNumber(value));
  }

  defineMembers(
    Number.prototype,
    {
      toLocaleString(this: unknown, locales?: unknown, options?: unknown): unknown {
        return numberText(NumberPrototypeValueOf(this), locales, options);
      },
    },
    true,
  );
  defineMembers(
    BigInt.prototype,
    {
      toLocaleString(this: unknown, locales?: unknown, options?: unknown): unknown {
        return numberText(BigIntPrototypeValueOf(this), locales, options);
      },
    },
    true,
  );

  function dateText(date: unknown, locales: unknown, options: unknown, wanted: 'any' | 'date' | 'time'): unknown {
    const time = DatePrototypeGetTime(date);
    if (time !== time) return 'Invalid Date';
    const given = objectOf(options);
    const has = (names: readonly string[]): boolean => {
      for (let i = 0; i < names.length; i++) if (given?.[names[i] as string] !== undefined) return true;
      return false;
    };
    const defaults = zoneDefault();
    if (given !== undefined && wanted === 'date' && given['timeStyle'] !== undefined)
      throw new TypeErrorConstructor('Invalid option : timeStyle');
    if (given !== undefined && wanted === 'time' && given['dateStyle'] !== undefined)
      throw new TypeErrorConstructor('Invalid option : dateStyle');
    const isChosen =
      given !== undefined &&
      ((wanted !== 'time' && has(DATE_FIELDS)) ||
        (wanted !== 'date' && has(TIME_FIELDS)) ||
        given['dateStyle'] !== undefined ||
        given['timeStyle'] !== undefined);
    if (!isChosen) {
      if (wanted !== 'time') defaults['year'] = defaults['month'] = defaults['day'] = 'numeric';
      if (wanted !== 'date') defaults['hour'] = defaults['minute'] = defaults['second'] = 'numeric';
    }
    return request(headOf('DateTimeFormat', locales, DATE_OPTIONS, options, defaults), 'format', encodeTime(time));
  }

  defineMembers(
    Date.prototype,
    {
      toLocaleString(this: unknown, locales?: unknown, options?: unknown): unknown {
        return dateText(this, locales, options, 'any');
      },
      toLocaleDateString(this: unknown, locales?: unknown, options?: unknown): unknown {
        return dateText(this, locales, options, 'date');
      },
      toLocaleTimeString(this: unknown, locales?: unknown, options?: unknown): unknown {
        return dateText(this, locales, options, 'time');
      },
    },
    true,
  );

  defineMembers(
    Array.prototype,
    {
      toLocaleString(this: ArrayLike<unknown>, locales?: unknown, options?: unknown): string {
        const texts = list<string>();
        const length = NumberConstructor(this.length) || 0;
        for (let i = 0; i < length; i++) {
          const element = this[i];
          if (element === undefined || element === null) texts[i] = '';
          else {
            const method = (element as { toLocaleString?: unknown }).toLocaleString;
            texts[i] = StringConstructor(ReflectApply(method as (...args: never[]) => unknown, element, [locales, options]));
          }
        }
        return ArrayPrototypeJoin(texts, ',');
      },
    },
    true,
  );

  function textOf(value: unknown, method: string): string {
    if (value === undefined || value === null) throw new TypeErrorConstructor(`String.prototype.${method} called on null or undefined`);
    return StringConstructor(value);
  }

  function changeCase(text: string, locales: unknown, service: string, native: (text: string) => string): string {
    const tags = tagsOf(locales);
    const first = tags[0] ?? settings.locale;
    if (matches(PLAIN_CASE, first)) return native(text);
    // The service answers with a string.
    return ask(service, `[${quote(text)},${encodeLocales(locales)}]`) as string;
  }

  defineMembers(
    String.prototype,
    {
      localeCompare(this: unknown, that: unknown, locales?: unknown, options?: unknown): number {
        const left = textOf(this, 'localeCompare');
        const right = StringConstructor(that);
        const fast = fastCollation(locales, options);
        const order = fast === undefined ? undefined : compareAscii(left, right, fast);
        if (order !== undefined) return order;
        return collate(left, right, undefined, headOf('Collator', locales, COLLATOR_OPTIONS, options));
      },
      toLocaleUpperCase(this: unknown, locales?: unknown): string {
        return changeCase(textOf(this, 'toLocaleUpperCase'), locales, 'text.upper', StringPrototypeToUpperCase);
      },
      toLocaleLowerCase(this: unknown, locales?: unknown): string {
        return changeCase(textOf(this, 'toLocaleLowerCase'), locales, 'text.lower', StringPrototypeToLowerCase);
      },
    },
    true,
  );
}

const PLAIN_ORDER: AsciiCollation = { numeric: false, ignoreCase: false };
const DATE_FIELDS = ['weekday', 'year', 'month', 'day'] as const;
const TIME_FIELDS = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'] as const;

function defineAccessor(target: object, name: string, get: (this: never) => unknown): void {
  const descriptor = ObjectCreate(null) as PropertyDescriptor;
  descriptor.get = get as () => unknown;
  descriptor.enumerable = false;
  descriptor.configurable = true;
  Object.defineProperty(target, name, descriptor);
}
