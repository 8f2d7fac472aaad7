import { expect, test } from 'vitest';
import { stemOf, wordsOf } from '../../src/tools/search-words.ts';

test.each([
  ['list_pull-requests.by owner', ['list', 'pull', 'requests', 'by', 'owner']],
  ['createKVNamespace', ['createkvnamespace', 'create', 'kv', 'namespace']],
  ['GitHub', ['github', 'git', 'hub']],
  ['v2Users', ['v', '2', 'users']],
  ['Café Ünïcode', ['cafe', 'unicode']],
  ['获取天气 now', ['获取', '取天', '天气', 'now']],
  ['данные ΑΒΓ', ['данные', 'αβγ']],
  ['— … !?', []],
  ['', []],
])('%j in words', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test('a word of any length is told from others by its beginning only', () => {
  expect(wordsOf('a'.repeat(10_000))).toEqual(['a'.repeat(40)]);
});

test.each([
  ['issue', 'issues'],
  ['query', 'queries'],
  ['list', 'listing', 'lists', 'listed'],
  ['update', 'updates', 'updated', 'updating'],
  ['branch', 'branches'],
  ['run', 'running', 'runs'],
])('%s has one stem with %s', (word, ...others) => {
  expect(others.map(stemOf)).toEqual(others.map(() => stemOf(word)));
});

test.each([['status'], ['address'], ['id'], ['s3'], ['bus'], ['die']])('%s stays itself', (word) => {
  expect(stemOf(word)).toBe(word);
});
