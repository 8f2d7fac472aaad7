import { describe, expect, test } from 'vitest';
import { openGuest } from './guest.ts';
import { guestExpression, inNodeZone } from './node.ts';

const LOCALES = ['en-US', 'en-GB', 'de-DE', 'fr-FR', 'es-ES', 'ja-JP', 'pt-BR', 'hi-IN', 'ar-EG', 'zh-CN', 'sv-SE', 'tr-TR'];
const ZONES = ['UTC', 'America/New_York', 'Asia/Kolkata'];

const perLocale = (locale: string): string[] => {
  const l = JSON.stringify(locale);
  return [
    `(1234567.891).toLocaleString(${l})`,
    `(1234.5).toLocaleString(${l}, { style: 'currency', currency: 'EUR' })`,
    `(0.256).toLocaleString(${l}, { style: 'percent', maximumFractionDigits: 1 })`,
    `(12345678901234567890n).toLocaleString(${l})`,
    `new Intl.NumberFormat(${l}, { notation: 'compact' }).format(1234567)`,
    `new Intl.NumberFormat(${l}, { style: 'unit', unit: 'kilometer-per-hour' }).formatToParts(50)`,
    `new Intl.NumberFormat(${l}).formatRange(3, 5)`,
    `new Date(1772359200123).toLocaleString(${l})`,
    `new Date(1772359200123).toLocaleDateString(${l})`,
    `new Date(1772359200123).toLocaleTimeString(${l})`,
    `new Date(1772359200123).toLocaleDateString(${l}, { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' })`,
    `new Date(1772359200123).toLocaleTimeString(${l}, { hour: '2-digit', minute: '2-digit' })`,
    `new Date(1772359200123).toLocaleString(${l}, { dateStyle: 'full', timeStyle: 'long' })`,
    `new Date(1772359200123).toLocaleString(${l}, { timeZone: 'Asia/Tokyo', hour12: false })`,
    `new Date(1772359200123).toLocaleString(${l}, { month: 'short' })`,
    `new Intl.DateTimeFormat(${l}, { dateStyle: 'medium' }).formatToParts(new Date(0))`,
    `new Intl.DateTimeFormat(${l}).formatRange(new Date(0), new Date(1e12))`,
    `new Intl.PluralRules(${l}, { type: 'ordinal' }).select(3)`,
    `new Intl.RelativeTimeFormat(${l}, { numeric: 'auto' }).format(-1, 'day')`,
    `new Intl.RelativeTimeFormat(${l}).formatToParts(3, 'week')`,
    `new Intl.ListFormat(${l}, { type: 'disjunction' }).format(['a', 'b', 'c'])`,
    `new Intl.DisplayNames(${l}, { type: 'region' }).of('JP')`,
    `['z', 'ä', 'a', 'Z', 'ö', 'é', 'e', 'ı', 'i', 'I', '10', '9', '_', 'aa', 'Å'].sort(new Intl.Collator(${l}).compare)`,
    `['z', 'ä', 'a', 'Z', 'b1', 'b10', 'b2'].sort((x, y) => x.localeCompare(y, ${l}, { numeric: true, sensitivity: 'base' }))`,
    `'Iıiİß'.toLocaleUpperCase(${l}) + 'Iıiİß'.toLocaleLowerCase(${l})`,
    `Object.entries(new Intl.NumberFormat(${l}, { style: 'currency', currency: 'JPY' }).resolvedOptions())`,
    `Object.entries(new Intl.DateTimeFormat(${l}).resolvedOptions())`,
    `[1234.5, new Date(0), 'x'].toLocaleString(${l})`,
    `Intl.NumberFormat.supportedLocalesOf([${l}, 'xx'])`,
    `[...new Intl.Segmenter(${l}, { granularity: 'word' }).segment('Hello, big world 👍🏽!')]`,
  ];
};

const GENERAL = [
  'Object.prototype.toString.call(Intl)',
  'Object.prototype.toString.call(new Intl.NumberFormat())',
  'new Intl.NumberFormat() instanceof Intl.NumberFormat',
  'Intl.NumberFormat().constructor === Intl.NumberFormat',
  'Intl.DateTimeFormat().resolvedOptions().locale',
  'Intl.DateTimeFormat().resolvedOptions().timeZone',
  "new Intl.PluralRules('en-US').resolvedOptions().locale",
  'Intl.PluralRules()',
  "new Intl.NumberFormat('xx-invalid-locale-tag-really')",
  "new Intl.NumberFormat('not a locale')",
  "new Intl.NumberFormat('en', { style: 'currency' })",
  "new Intl.NumberFormat('en', { style: 'currency', currency: 'nope' })",
  "new Intl.DateTimeFormat('en', { timeZone: 'Mars/Olympus' })",
  "new Intl.DateTimeFormat('en').format(NaN)",
  "new Intl.NumberFormat('en').format('123456789012345678901234.56')",
  "new Intl.NumberFormat('en').format(-0)",
  "[NaN, Infinity, null, undefined, true, '12', [5]].map(new Intl.NumberFormat('en').format)",
  "(1e21).toLocaleString('en-US')",
  '(1234567).toLocaleString()',
  '(0.1 + 0.2).toLocaleString(undefined, { maximumFractionDigits: 20 })',
  "(5).toLocaleString('en-US', { minimumFractionDigits: 2 })",
  'new Date(0).toLocaleString(undefined, { timeZone: "UTC" })',
  'new Date(NaN).toLocaleString()',
  'new Date(NaN).toLocaleDateString("en-US")',
  "new Date(0).toLocaleDateString('en', { timeStyle: 'short' })",
  "new Date(0).toLocaleTimeString('en', { timeStyle: 'short', timeZone: 'UTC' })",
  "new Date(0).toLocaleTimeString('en', { timeZoneName: 'short' })",
  "new Date(0).toLocaleDateString('en', { hour: 'numeric' })",
  "Intl.getCanonicalLocales(['EN-us', 'de-de'])",
  "Intl.supportedValuesOf('unit').length",
  "new Intl.Locale('en-Latn-US-u-ca-buddhist').calendar",
  "new Intl.Locale('zh').maximize().toString()",
  "new Intl.Locale('en', { region: 'GB' }).toString()",
  "(1.5).toLocaleString(new Intl.Locale('de'))",
  "new Intl.ListFormat('en').format(new Set(['x', 'y']))",
  "new Intl.ListFormat('en').format([1])",
  "[...new Intl.Segmenter('en').segment('añ👩‍👩‍👧')].map(s => s.segment)",
  "new Intl.Segmenter('en', { granularity: 'word' }).segment('Hello world').containing(7)",
  "'a'.localeCompare('b')",
  "'résumé'.localeCompare('resume')",
  "'a'.localeCompare('A')",
  "'a'.localeCompare('á', 'en', { sensitivity: 'base' })",
  "'item 10'.localeCompare('Item 9', undefined, { numeric: true, sensitivity: 'base' })",
  "'a'.localeCompare('b', 'not a locale')",
  "['b', undefined, 'a', null].toLocaleString()",
  "'ǆ'.normalize('NFKD') + 'é'.normalize('NFD').length + '\\u1E9B\\u0323'.normalize('NFKC')",
  "'\\uFB00'.normalize()",
  "'x'.normalize('bad')",
  'new Intl.NumberFormat("en", null)',
  'new Intl.DateTimeFormat("en", { hour: "numeric", fractionalSecondDigits: 3, second: "numeric" }).format(1234)',
  'Intl.DateTimeFormat.prototype.format',
  'typeof new Intl.DateTimeFormat().format',
  '(f => f.format === f.format)(new Intl.NumberFormat())',
  'Number.prototype.toLocaleString.call("x")',
];

test.each(LOCALES)('formatting for %s is what Node gives', async (locale) => {
  const guest = await openGuest();
  const expressions = perLocale(locale);
  expect(
    compare(
      expressions.map((expression) => guest.evaluate(guestExpression(expression))),
      expressions,
      'UTC',
    ),
  ).toEqual([]);
});

test.each(ZONES)('Intl behaves as in Node in %s', async (timeZone) => {
  const guest = await openGuest({ timeZone });
  const expressions = [...GENERAL, ...perLocale('en-US')];
  expect(
    compare(
      expressions.map((expression) => guest.evaluate(guestExpression(expression))),
      expressions,
      timeZone,
    ),
  ).toEqual([]);
});

function compare(actual: unknown[], expressions: string[], timeZone: string): unknown[] {
  const expected = inNodeZone(timeZone, expressions);
  return expressions.flatMap((expression, index) => {
    if (JSON.stringify(actual[index]) === JSON.stringify(expected[index])) return [];
    return [{ expression, actual: actual[index], expected: expected[index] }];
  });
}

describe('the program’s own locale', () => {
  test('is the default and the fallback', async () => {
    const guest = await openGuest({ locale: 'de-DE', timeZone: 'Europe/Berlin' });
    expect(guest.evaluate('(1234.5).toLocaleString()')).toBe('1.234,5');
    expect(guest.evaluate("(1234.5).toLocaleString('xx')")).toBe('1.234,5');
    expect(guest.evaluate('new Date(0).toLocaleString()')).toBe('1.1.1970, 01:00:00');
    expect(guest.evaluate('Intl.DateTimeFormat().resolvedOptions()')).toMatchObject({ locale: 'de-DE', timeZone: 'Europe/Berlin' });
  });
});

describe('comparing plain texts', () => {
  const texts = [
    '',
    'a',
    'A',
    'b',
    'B',
    'ab',
    'Ab',
    'aB',
    'a b',
    'a-b',
    'a_b',
    'a.b',
    '1',
    '01',
    '10',
    '2',
    '$1',
    'a1',
    'a01',
    'a10',
    'a2B',
    'a2b',
    'A2',
    '~',
    ' ',
    '!',
    'z9',
    'Z10',
    'x1y2',
    'x01y1',
    '0',
    '00',
    'a0',
    'a',
  ];

  test.each([
    ['undefined', 'undefined'],
    ['"en"', '{ numeric: true }'],
    ['"en-US"', '{ sensitivity: "base" }'],
    ['"de"', '{ numeric: true, sensitivity: "base" }'],
    ['"fr"', '{ sensitivity: "case" }'],
    ['"es"', '{ sensitivity: "accent" }'],
  ])('gives ICU’s order without asking the host (%s, %s)', async (locale, options) => {
    const guest = await openGuest();
    const expression = `${JSON.stringify(texts)}.map((x, _, all) => all.map(y => Math.sign(x.localeCompare(y, ${locale}, ${options}))))`;
    const before = guest.asked();
    const actual = guest.evaluate(expression);
    expect(guest.asked()).toBe(before);
    expect({ value: actual }).toEqual(inNodeZone('UTC', [expression])[0]);
  });

  test('sorting a thousand names is no work for the host', async () => {
    const guest = await openGuest();
    guest.evaluate("Array.from({ length: 1000 }, (_, i) => 'name ' + ((i * 7919) % 1000)).sort((a, b) => a.localeCompare(b)).length");
    expect(guest.asked()).toBe(0);
  });
});
