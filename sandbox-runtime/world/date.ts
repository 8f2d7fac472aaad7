// `Date` in the program's time zone. Engines run their native `Date` in UTC; for another zone this file puts local-time methods and a
// constructor of its own in place, exact at the changes of the clock, where QuickJS is not. Locale formatting is in intl.ts.
import {
  DateConstructor,
  DateNow,
  DateParse,
  DatePrototype,
  DatePrototypeGetTime,
  list,
  MapConstructor,
  MapPrototypeClear,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeSet,
  MathFloor,
  matches,
  NumberConstructor,
  NumberIsNaN,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  quote,
  ReflectApply,
  ReflectConstruct,
  StringConstructor,
  StringPrototypePadStart,
  StringPrototypeSlice,
  StringPrototypeTrim,
  SymbolToPrimitive,
  uncurry,
} from '../primordials.ts';
import type { WorldContext } from './context.ts';
import { dataDescriptor, defineGlobal, defineHidden, defineMembers } from './define.ts';

const DAY = 86_400_000;
const MAX_YEARS = 400;
const MAX_TIME = 8.64e15;

type Getter = (date: unknown) => number;

const nativeUTC = DateConstructor.UTC;
const setTime = uncurry<(date: unknown, time: number) => number>(Date.prototype.setTime);
const toUTCString = uncurry<(date: unknown) => string>(Date.prototype.toUTCString);
const getUTCFullYear = uncurry<Getter>(Date.prototype.getUTCFullYear);
const utcGetters: Readonly<Record<string, Getter>> = {
  getFullYear: getUTCFullYear,
  getMonth: uncurry(Date.prototype.getUTCMonth),
  getDate: uncurry(Date.prototype.getUTCDate),
  getDay: uncurry(Date.prototype.getUTCDay),
  getHours: uncurry(Date.prototype.getUTCHours),
  getMinutes: uncurry(Date.prototype.getUTCMinutes),
  getSeconds: uncurry(Date.prototype.getUTCSeconds),
  getMilliseconds: uncurry(Date.prototype.getUTCMilliseconds),
};
const utcSetters: Readonly<Record<string, (...args: never[]) => unknown>> = {
  setFullYear: Date.prototype.setUTCFullYear,
  setMonth: Date.prototype.setUTCMonth,
  setDate: Date.prototype.setUTCDate,
  setHours: Date.prototype.setUTCHours,
  setMinutes: Date.prototype.setUTCMinutes,
  setSeconds: Date.prototype.setUTCSeconds,
  setMilliseconds: Date.prototype.setUTCMilliseconds,
};
const ZONED = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDay',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
  'getYear',
  'getTimezoneOffset',
  'setFullYear',
  'setMonth',
  'setDate',
  'setHours',
  'setMinutes',
  'setSeconds',
  'setMilliseconds',
  'setYear',
] as const;

/** A date and time without a zone, which means local time. */
const LOCAL_ISO = /^(?:[+-]\d{6}|\d{4})(?:-\d\d(?:-\d\d)?)?T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?$/;
const DATE_ONLY_ISO = /^(?:[+-]\d{6}|\d{4})(?:-\d\d(?:-\d\d)?)?$/;
/** Texts of other shapes that name their zone. */
const HAS_ZONE =
  /(?:\d|\s)(?:Z|UTC?|GMT|[ECMP][SD]T)\b|[T\s]\d{1,2}:?\d\d(?::\d\d(?:[.,]\d+)?)?\s*(?:[AP]M)?\s*[+-]\d{1,2}(?::?\d\d)?|\([^)]*\)\s*$/i;

/** Prepares the zoned `Date`; the result puts it in place for a zone, or the native one back for UTC. */
export function installDate(context: WorldContext): (timeZone: string) => void {
  const { ask } = context;
  const native = list<readonly [string, PropertyDescriptor]>();
  for (let i = 0; i < ZONED.length; i++) {
    const name = ZONED[i] as string;
    native[i] = [name, ObjectGetOwnPropertyDescriptor(DatePrototype, name) as PropertyDescriptor];
  }
  const nativeDescriptor = ObjectGetOwnPropertyDescriptor(globalThis, 'Date') as PropertyDescriptor;
  const years = new MapConstructor<number, number[]>();
  let zone = 'UTC';

  /** `[from, offset, …]` for the UTC year of an instant. */
  function tableFor(time: number): number[] {
    const year = getUTCFullYear(new DateConstructor(time));
    const known = MapPrototypeGet(years, year);
    if (known !== undefined) return known;
    if (MapPrototypeGetSize(years) >= MAX_YEARS) MapPrototypeClear(years);
    const table = ask('zone.year', `[${quote(zone)},${year}]`) as number[];
    MapPrototypeSet(years, year, table);
    return table;
  }

  /** Milliseconds that local time is ahead of UTC at an instant. */
  function offsetAt(time: number): number {
    if (!(time >= -MAX_TIME && time <= MAX_TIME) || zone === 'UTC') return 0;
    const table = tableFor(time);
    let offset = table[1] as number;
    for (let i = 2; i < table.length; i += 2) {
      if ((table[i] as number) > time) break;
      offset = table[i + 1] as number;
    }
    return offset;
  }

  /**
   * The instant of a local time. A time that the clock shows twice is the first of the two; one that it skips is read with
   * the offset before the change. Both as the language's standard says.
   */
  function fromLocal(local: number): number {
    if (!(local >= -MAX_TIME - DAY && local <= MAX_TIME + DAY)) return 0 / 0;
    const before = offsetAt(local - DAY);
    const after = offsetAt(local + DAY);
    if (before === after) return local - before;
    if (offsetAt(local - before) === before) return local - before;
    if (offsetAt(local - after) === after) return local - after;
    return local - before;
  }

  const localDate = (date: unknown): Date => {
    const time = DatePrototypeGetTime(date);
    return new DateConstructor(time + offsetAt(time));
  };

  function parse(text: string): number {
    const trimmed = StringPrototypeTrim(text);
    if (matches(DATE_ONLY_ISO, trimmed)) return DateParse(trimmed);
    if (matches(LOCAL_ISO, trimmed)) return fromLocal(DateParse(`${trimmed}Z`));
    if (matches(HAS_ZONE, trimmed)) return DateParse(text);
    const ending = DateParse(`${trimmed} UTC`);
    return NumberIsNaN(ending) ? DateParse(text) : fromLocal(ending);
  }

  // Always in place: QuickJS leaves out the zone's name, and prints local time with its own idea of the offset.
  const text = (date: unknown, wanted: 'date' | 'time' | 'both'): string => {
    const time = DatePrototypeGetTime(date);
    if (NumberIsNaN(time)) return 'Invalid Date';
    const offset = offsetAt(time);
    // "Thu, 01 Jan 1970 00:00:00 GMT"; years may be longer, or negative.
    const utc = toUTCString(new DateConstructor(time + offset));
    const weekday = StringPrototypeSlice(utc, 0, 3);
    const day = StringPrototypeSlice(utc, 5, 7);
    const month = StringPrototypeSlice(utc, 8, 11);
    const year = StringPrototypeSlice(utc, 12, -13);
    const datePart = `${weekday} ${month} ${day} ${year}`;
    if (wanted === 'date') return datePart;
    const minutes = MathFloor((offset < 0 ? -offset : offset) / 60_000);
    const two = (value: number): string => StringPrototypePadStart(`${value}`, 2, '0');
    const sign = offset < 0 ? '-' : '+';
    const name = zone === 'UTC' ? 'Coordinated Universal Time' : (ask('zone.name', `[${quote(zone)},${time}]`) as string);
    const timePart = `${StringPrototypeSlice(utc, -12, -4)} GMT${sign}${two(MathFloor(minutes / 60))}${two(minutes % 60)} (${name})`;
    return wanted === 'time' ? timePart : `${datePart} ${timePart}`;
  };
  const toText = {
    toString(this: unknown): string {
      return text(this, 'both');
    },
    toDateString(this: unknown): string {
      return text(this, 'date');
    },
    toTimeString(this: unknown): string {
      return text(this, 'time');
    },
  };
  defineMembers(DatePrototype, toText, true);

  // The zoned methods, made once so that choosing a zone only swaps properties.
  const zoned = list<readonly [string, PropertyDescriptor]>();
  const addZoned = (name: string, method: (...args: never[]) => unknown, length: number): void => {
    ObjectDefineProperty(method, 'name', dataDescriptor(name, false, false));
    ObjectDefineProperty(method, 'length', dataDescriptor(length, false, false));
    zoned[zoned.length] = [name, dataDescriptor(method)];
  };
  for (const name of Object.keys(utcGetters)) {
    const get = utcGetters[name] as Getter;
    const { method } = {
      method(this: unknown): number {
        return get(localDate(this));
      },
    };
    addZoned(name, method, 0);
  }
  for (const name of Object.keys(utcSetters)) {
    const set = utcSetters[name] as (...args: never[]) => unknown;
    const { method } = {
      method(this: unknown, ...args: unknown[]): number {
        let local = localDate(this);
        // Setting the year revives an invalid date.
        if (name === 'setFullYear' && NumberIsNaN(DatePrototypeGetTime(local))) local = new DateConstructor(0);
        ReflectApply(set, local, args);
        return setTime(this, fromLocal(DatePrototypeGetTime(local)));
      },
    };
    addZoned(name, method, set.length);
  }
  const others = {
    getTimezoneOffset(this: unknown): number {
      const time = DatePrototypeGetTime(this);
      return NumberIsNaN(time) ? time : 0 - offsetAt(time) / 60_000;
    },
    getYear(this: unknown): number {
      return getUTCFullYear(localDate(this)) - 1900;
    },
    setYear(this: unknown, year: unknown): number {
      const number = NumberConstructor(year);
      const full = number >= 0 && number < 100 ? 1900 + MathFloor(number) : number;
      let local = localDate(this);
      if (NumberIsNaN(DatePrototypeGetTime(local))) local = new DateConstructor(0);
      ReflectApply(utcSetters['setFullYear'] as (...args: never[]) => unknown, local, [full]);
      return setTime(this, fromLocal(DatePrototypeGetTime(local)));
    },
  };
  addZoned('getTimezoneOffset', others.getTimezoneOffset, 0);
  addZoned('getYear', others.getYear, 0);
  addZoned('setYear', others.setYear as (...args: never[]) => unknown, 1);

  function ZonedDate(this: unknown, ...args: unknown[]): unknown {
    if (new.target === undefined) return text(new DateConstructor(), 'both');
    let time: number;
    if (args.length === 0) time = DateNow();
    else if (args.length === 1) time = timeOf(args[0]);
    else time = fromLocal(ReflectApply(nativeUTC as (...args: never[]) => number, undefined, args));
    return ReflectConstruct(DateConstructor as unknown as new (...args: never[]) => Date, [time], new.target);
  }

  function timeOf(value: unknown): number {
    if (typeof value === 'number') return value;
    if (typeof value === 'string') return parse(value);
    try {
      return DatePrototypeGetTime(value);
    } catch {
      // Not a date.
    }
    let primitive = value;
    if (typeof value === 'object' && value !== null) {
      const convert = (value as { [SymbolToPrimitive]?: unknown })[SymbolToPrimitive];
      primitive =
        typeof convert === 'function'
          ? ReflectApply(convert as (...args: never[]) => unknown, value, ['default'])
          : defaultPrimitive(value);
    }
    return typeof primitive === 'string' ? parse(primitive) : NumberConstructor(primitive);
  }

  function defaultPrimitive(value: object): unknown {
    const inner: unknown = (value as { valueOf(): unknown }).valueOf();
    return typeof inner === 'object' && inner !== null ? StringConstructor(value) : inner;
  }

  ObjectDefineProperty(ZonedDate, 'name', dataDescriptor('Date', false, false));
  ObjectDefineProperty(ZonedDate, 'length', dataDescriptor(7, false, false));
  ObjectDefineProperty(ZonedDate, 'prototype', dataDescriptor(DatePrototype, false, false, false));
  defineMembers(ZonedDate, {
    now: DateNow,
    UTC: nativeUTC,
    parse(value: unknown): number {
      return parse(StringConstructor(value));
    },
  });

  return (timeZone) => {
    if (timeZone === zone) return;
    const wasUTC = zone === 'UTC';
    zone = timeZone;
    MapPrototypeClear(years);
    if (zone !== 'UTC' && !wasUTC) return;
    const methods = zone === 'UTC' ? native : zoned;
    for (let i = 0; i < methods.length; i++) {
      const entry = methods[i] as readonly [string, PropertyDescriptor];
      ObjectDefineProperty(DatePrototype, entry[0], entry[1]);
    }
    if (zone === 'UTC') {
      ObjectDefineProperty(globalThis, 'Date', nativeDescriptor);
      defineHidden(DatePrototype, 'constructor', DateConstructor);
    } else {
      defineGlobal('Date', ZonedDate);
      defineHidden(DatePrototype, 'constructor', ZonedDate);
    }
  };
}
