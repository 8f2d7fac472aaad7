import { expect, test } from 'vitest';
import { nearest } from '../../src/protocol/nearest.ts';

const TOOLS = ['customers.list', 'customers.get', 'orders.search', 'refund_order', 'sendEmail'];

test.each([
  ['another case', 'sendemail', 'sendEmail'],
  ['another separator', 'customers_list', 'customers.list'],
  ['a swapped pair', 'refnud_order', 'refund_order'],
  ['a letter too many', 'orders.searchh', 'orders.search'],
  ['a letter too few', 'refund_oder', 'refund_order'],
  ['a part left out', 'search', 'orders.search'],
  ['a part too many', 'tools.customers.get', 'customers.get'],
])('%s still finds the name that was meant', (_how, asked, meant) => {
  expect(nearest(asked, TOOLS)[0]).toBe(meant);
});

test('what is near to nothing finds nothing', () => {
  expect(nearest('weather', TOOLS)).toEqual([]);
  expect(nearest('', TOOLS)).toEqual([]);
  expect(nearest('x', [])).toEqual([]);
});

test('the nearest come first, at most as many as asked for', () => {
  expect(nearest('item', ['itemz', 'item', 'items', 'it-em'], 2)).toEqual(['item', 'it-em']);
  expect(nearest('item', ['itemz', 'item', 'items'])).toEqual(['item', 'itemz', 'items']);
});

test('long names cost no more than short ones', () => {
  const names = Array.from({ length: 2000 }, (_, i) => `${'n'.repeat(10_000)}${i}`);
  const began = performance.now();
  nearest('m'.repeat(1_000_000), names);
  // Two thousand distances of 80 by 80 letters; of 10 000 by 10 000 they would take hours.
  expect(performance.now() - began).toBeLessThan(5_000);
});
