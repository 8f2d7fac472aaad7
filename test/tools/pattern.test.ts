import { expect, test } from 'vitest';
import { Allowance, CHECK_MS, CheckOverrun } from '../../src/tools/allowance.ts';
import { compilePattern, FALLBACK_LENGTH, FALLBACK_MS, findPatternProblem } from '../../src/tools/pattern.ts';

function compile(source: string) {
  const allowance = new Allowance();
  const pattern = compilePattern(source, allowance);
  return {
    /** Each with the whole time of a check. */
    test(text: string): boolean {
      allowance.start();
      return pattern.test(text);
    },
  };
}

/** Strings that tell the dialects apart: white space, letters, digits, signs, line ends, astral characters. */
const PROBES = [
  '',
  'a',
  'A',
  'abc',
  'aXc',
  'a\nb',
  'b\na',
  'foo.bar',
  'a-b_c',
  '0',
  '42',
  '٣',
  'é',
  'ß',
  'я',
  'Я',
  '🐲',
  '🐲🐲',
  'a🐲c',
  '\u00a0',
  '\u2028',
  '\u3000',
  '\ufeff',
  '\u180e',
  '\u0007',
  '\u0008',
  '\v',
  '\t',
  '\r',
  'C',
  'c',
  '\\',
  '/',
  '$',
  '^',
  '.',
  ']',
  '[',
  '{',
  '}',
  '{1}',
  'a{1',
  'aa',
  'aaa',
  'x=1',
  '-',
  'a b',
  '2025-01-31',
  '\ud800',
  '\u{10ffff}',
  'uuuuu',
  'k',
];

test.each([
  ['^a$'],
  ['^b'],
  ['a$'],
  ['.'],
  ['^.$'],
  ['^..$'],
  ['^...$'],
  ['\\d'],
  ['^\\D+$'],
  ['^\\w+$'],
  ['\\W'],
  ['^\\s$'],
  ['^\\S+$'],
  ['^[\\s\\S]$'],
  ['^[^\\s]+$'],
  ['[\\D]'],
  ['[\\W\\d]'],
  ['[^\\W]'],
  ['[]'],
  ['[^]'],
  ['^[^]$'],
  ['^\\p{L}+$'],
  ['^\\p{Letter}$'],
  ['\\P{L}'],
  ['^[\\p{Lu}\\p{Nd}]$'],
  ['^\\p{Script=Cyrillic}$'],
  ['^\\p{Emoji}$'],
  ['\\p{ASCII}'],
  ['^[^\\p{ASCII}]$'],
  ['\\cC'],
  ['\\cg'],
  ['\\x41'],
  ['\\u00e9'],
  ['\\u{1f432}'],
  ['^\\ud83d\\udc32*$'],
  ['^🐲*$'],
  ['^[🐲a]+$'],
  ['[\\u{1f400}-\\u{1f4ff}]'],
  ['\\0'],
  ['[\\b]'],
  ['\\bb\\b'],
  ['\\Bb'],
  ['\\t|\\v|\\r'],
  ['\\/'],
  ['^\\$$'],
  ['^\\.$'],
  ['^\\^$'],
  ['\\\\'],
  ['[\\]\\\\]'],
  ['[\\-]'],
  ['^[a-c-]+$'],
  ['^[-a]$'],
  ['a{2}'],
  ['^a{1,2}$'],
  ['^a{2,}?$'],
  ['^(?:a|b)+?c?$'],
  ['^(?<year>\\d{4})-(\\d{2})-(\\d{2})$'],
  ['(a)|b'],
  ['^(|a)$'],
  ['(?:)'],
  ['a|'],
  // Only old-style patterns from here: not valid with the `u` flag.
  ['^[\\w-.]+$'],
  ['\\-'],
  ['\\_|\\='],
  ['a{1'],
  ['^{$'],
  [']'],
  ['}'],
  ['^\\u{5}$'],
  ['\\p{L}-'],
  ['\\c'],
  ['\\07'],
  ['\\1'],
  ['(a)\\2'],
  ['\\k'],
  ['\\e|\\k|\\-'],
  ['[\\c1-]'],
])('%s matches exactly what JavaScript matches', (source) => {
  let reference: RegExp;
  try {
    reference = new RegExp(source, 'u');
  } catch {
    reference = new RegExp(source);
  }
  const pattern = compile(source);
  // Without the `u` flag JavaScript sees halves of astral characters, where JSON Schema means characters.
  const probes = reference.unicode ? PROBES : PROBES.filter((probe) => !/[\ud800-\udfff]/.test(probe));
  expect(probes.filter((probe) => pattern.test(probe))).toEqual(probes.filter((probe) => reference.test(probe)));
});

test.each([
  ['^(?=.*\\d)[a-z\\d]+$', 'abc1', 'abc'],
  ['^(?!admin)[a-z]+$', 'user', 'administrator'],
  ['(?<=\\$)\\d+', '$42', '€42'],
  ['(?<!\\$)\\b\\d+', '€42', '$42'],
  ['^(a+)-\\1$', 'aa-aa', 'aa-a'],
  ['^(?<q>["\']).*\\k<q>$', '"x"', '"x\''],
  ['^a{1500}$', 'a'.repeat(1500), 'a'.repeat(1499)],
])('%s, which RE2 cannot express, is matched all the same', (source, matching, other) => {
  const pattern = compile(source);
  expect(pattern.test(matching)).toBe(true);
  expect(pattern.test(other)).toBe(false);
});

test.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(x+x+)+y', '^([a-z]+)*!$'])('%s takes no exponential time', (source) => {
  const pattern = compile(source);
  expect(pattern.test(`${'a'.repeat(50_000)}?`)).toBe(false);
});

test('a pattern for V8 that backtracks for ever is interrupted, and that is no verdict', () => {
  const pattern = compile('^(?=a)(a+)+$');
  const started = performance.now();
  expect(() => pattern.test(`${'a'.repeat(60)}!`)).toThrow(CheckOverrun);
  expect(() => pattern.test(`${'a'.repeat(60)}!`)).toThrow(/\/\^\(\?=a\)\(a\+\)\+\$\/ took longer than \d+ ms/);
  expect(performance.now() - started).toBeLessThan(40 * FALLBACK_MS);
  expect(pattern.test('aaa')).toBe(true);
});

test('many slow matches of one check share its time', () => {
  const allowance = new Allowance();
  const pattern = compilePattern('^(?=a)(a+)+$', allowance);
  allowance.start();
  const started = performance.now();
  let overruns = 0;
  for (let count = 0; count < 1_000; count++) {
    try {
      pattern.test(`${'a'.repeat(60)}!`);
    } catch {
      overruns++;
    }
  }
  expect(overruns).toBe(1_000);
  expect(performance.now() - started).toBeLessThan(5 * CHECK_MS);
});

test('a pattern for V8 refuses strings beyond its length', () => {
  expect(() => compile('^(?!b)').test('a'.repeat(FALLBACK_LENGTH + 1))).toThrow(/65537 characters is too long/);
});

test('what is no regular expression has its problem named', () => {
  expect(findPatternProblem('(')).toMatch(/unterminated group/i);
  expect(findPatternProblem('[z-a]')).toMatch(/out of order/i);
  expect(findPatternProblem('*')).toMatch(/nothing to repeat/i);
  expect(findPatternProblem('^[\\w-.]+$')).toBeUndefined();
  expect(findPatternProblem('^a$')).toBeUndefined();
});
