// Columns of a text on a terminal.
import { expect, test } from 'vitest';
import { columnsOf, cutTo } from '../../src/cli/columns.ts';

test.each([
  ['plain', 5],
  ['é · └ …', 7],
  ['漢字', 4],
  ['한글', 4],
  ['👍ok', 4],
  ['✅', 2],
  ['', 0],
])('%j takes %i columns', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test.each([
  ['plain', 5, 'plain'],
  ['plain', 4, 'pla…'],
  ['漢字漢字', 5, '漢字…'],
  ['漢字漢字', 4, '漢…'],
  ['👍👍', 3, '👍…'],
  ['plain', 1, '…'],
  ['plain', 0, ''],
])('%j cut to %i columns is %j, and no wider', (text, columns, cut) => {
  expect(cutTo(text, columns)).toBe(cut);
  expect(columnsOf(cut)).toBeLessThanOrEqual(columns);
});
