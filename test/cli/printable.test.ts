// Nothing that a program prints may drive the terminal.
import { expect, test } from 'vitest';
import { printable, printableJson, printableLine } from '../../src/cli/printable.ts';

test.each([
  ['clear screen', '\u001b[2J\u001b[H', '\\x1b[2J\\x1b[H'],
  ['window title', '\u001b]0;pwn\u0007', '\\x1b]0;pwn\\x07'],
  ['one-byte sequence start', '\u009b31m', '\\x9b31m'],
  ['carriage return', 'a\rb', 'a\\rb'],
  ['backspace and delete', 'a\bb\u007f', 'a\\x08b\\x7f'],
  ['zero byte', 'd\0e', 'd\\x00e'],
  ['line separator', 'c\u2028d', 'c\\u2028d'],
  ['right-to-left override and isolates', '\u202ex\u2066y\u2069', '\\u202ex\\u2066y\\u2069'],
  ['half of a surrogate pair', 'a\ud83dz', 'a\\ud83dz'],
])('%s becomes a visible escape', (_, text, expected) => {
  expect(printable(text)).toBe(expected);
});

test('newlines, tabs, accents, emoji and their joiners stay as they are', () => {
  const text = 'a\n\tŻółw 👩‍👩‍👧 日本 עברית';
  expect(printable(text)).toBe(text);
});

test('a line holds no newline', () => {
  expect(printableLine('a\nb\tc')).toBe('a\\nb\\tc');
});

test('escaped JSON holds no control character and means the same', () => {
  const value = { text: '\u001b]52;c;x\u0007\u009b\u202e\u2028\r\n\t👋\ud800' };
  const json = printableJson(JSON.stringify(value));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  expect(json).not.toMatch(/[\0-\x1f\x7f-\x9f\u2028\u202e]/);
  expect(JSON.parse(json)).toEqual(value);
});
