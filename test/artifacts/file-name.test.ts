import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BASE_NAME_BYTES, cleanFileName } from '../../src/artifacts/file-name.ts';

test.each([
  ['report.csv', 'report.csv'],
  ['Übersicht März.pdf', 'Übersicht März.pdf'],
  ['U\u0308bersicht.pdf', 'Übersicht.pdf'],
  ['数据.json', '数据.json'],
  [undefined, 'artifact'],
  ['', 'artifact'],
  ['..', 'artifact'],
  ['../../etc/passwd', 'passwd'],
  ['/etc/passwd', 'passwd'],
  ['C:\\Windows\\system32\\evil.dll', 'evil.dll'],
  ['..\\..\\evil', 'evil'],
  ['dir/', 'dir'],
  ['a/../..', 'a'],
  ['.bashrc', 'bashrc'],
  ['...hidden..', 'hidden'],
  ['name. . .', 'name'],
  ['a\0b', 'a_b'],
  ['a\nb\tc', 'a_b_c'],
  ['CON', '_CON'],
  ['nul.txt', '_nul.txt'],
  ['com1', '_com1'],
  ['console.log', 'console.log'],
  ['a:b', 'a_b'],
  ['evil\u202Efdp.exe', 'evilfdp.exe'],
  ['a\u200Bb', 'ab'],
  ['..\u2215..\u2215x', '_.._x'],
  ['a\uFF0Fb', 'a_b'],
  ['\ud800x', '_x'],
  ['<script>"|?*', '_script_'],
])('%j becomes %j', (name, cleaned) => {
  expect(cleanFileName(name)).toBe(cleaned);
});

test('a long name is cut before its extension, at a character', () => {
  const cut = cleanFileName(`${'ü'.repeat(200)}.tar.xlsx`);
  expect(cut).toMatch(/^ü+\.xlsx$/);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(BASE_NAME_BYTES);
  expect(Buffer.byteLength(cut)).toBeGreaterThan(BASE_NAME_BYTES - 3);
  expect(Buffer.byteLength(cleanFileName('x'.repeat(5000)))).toBe(BASE_NAME_BYTES);
});

test('whatever the name, it is one harmless name of 1 to 120 bytes, and cleaning it again changes nothing', () => {
  const hostile = fc.constantFrom(
    '..',
    '/',
    '\\',
    '\0',
    '\u202e',
    '\u2215',
    '\uff0f',
    'CON',
    '.',
    ' ',
    '\ud83d',
    '\ude00',
    '😀',
    '\u0301',
    'e',
    ':',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(fc.oneof(hostile, fc.string())).map((parts) => parts.join('')),
      ),
      (name) => {
        const cleaned = cleanFileName(name);
        const size = Buffer.byteLength(cleaned);
        expect(size).toBeGreaterThan(0);
        expect(size).toBeLessThanOrEqual(BASE_NAME_BYTES);
        expect(cleaned).not.toMatch(/[/\\:*?"<>|\p{Cc}\p{Cf}\p{Cs}\u2215\uff0f]|^\.|^\s|[.\s]$/u);
        expect(cleaned).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i);
        expect(cleanFileName(cleaned)).toBe(cleaned);
      },
    ),
    { numRuns: 2000 },
  );
});
