import { expect, test } from 'vitest';
import { ABSENT, FEATURES } from './features.ts';
import { openGuest } from './guest.ts';
import { guestExpression } from './node.ts';

test.each(Object.entries(FEATURES))('%s: every feature of the table works', async (_, features) => {
  const guest = await openGuest();
  const missing = Object.entries(features).flatMap(([name, probe]) => {
    const outcome = guest.evaluate(guestExpression(probe)) as { value?: unknown };
    return outcome.value === true ? [] : [{ name, outcome }];
  });
  expect(missing).toEqual([]);
});

test('what is not offered is not there', async () => {
  const guest = await openGuest();
  expect(guest.evaluate(`${JSON.stringify(ABSENT)}.filter(name => typeof globalThis[name] !== 'undefined' || name in globalThis)`)).toEqual(
    [],
  );
});

test('every global that the world adds is hidden, writable and configurable', async () => {
  const guest = await openGuest();
  const odd = guest.evaluate(`Object.getOwnPropertyNames(globalThis).filter(name => {
    const { enumerable, writable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name);
    return !name.startsWith('__') && !['undefined', 'NaN', 'Infinity', 'globalThis'].includes(name) && (enumerable || !writable || !configurable);
  })`);
  expect(odd).toEqual([]);
});

test('classes carry their names, methods cannot be called with new', async () => {
  const guest = await openGuest();
  const names = [
    'URL',
    'URLSearchParams',
    'TextEncoder',
    'TextDecoder',
    'Event',
    'CustomEvent',
    'EventTarget',
    'AbortController',
    'AbortSignal',
    'DOMException',
    'Buffer',
    'Proxy',
    'DisposableStack',
    'AsyncDisposableStack',
    'SuppressedError',
  ];
  expect(guest.evaluate(`${JSON.stringify(names)}.map(name => globalThis[name].name)`)).toEqual(names);
  expect(guest.evaluate('[Intl.NumberFormat, Intl.PluralRules, Intl.Segmenter, Intl.Locale].map(c => c.name)')).toEqual([
    'NumberFormat',
    'PluralRules',
    'Segmenter',
    'Locale',
  ]);
  expect(guest.evaluate(guestExpression('new setTimeout(() => {}, 1)'))).toEqual({ throws: 'TypeError' });
  expect(guest.evaluate(guestExpression('new structuredClone({})'))).toEqual({ throws: 'TypeError' });
});

test('async additions of the language give their values', async () => {
  const guest = await openGuest();
  expect(guest.run('return await Array.fromAsync((async function* () { yield 1; yield 2; })(), x => x * 2)')).toEqual([2, 4]);
  expect(guest.run('return await Array.fromAsync([Promise.resolve(1), 2])')).toEqual([1, 2]);
  expect(guest.run('return await Array.fromAsync({ length: 2, 0: "a", 1: Promise.resolve("b") })')).toEqual(['a', 'b']);
  expect(guest.run('return (await Promise.try(() => { throw new Error("x"); }).catch(e => e.message))')).toBe('x');
  const body = `const log = []; const stack = new AsyncDisposableStack();
    stack.defer(async () => { await sleep(5); log.push('first'); }); stack.use({ [Symbol.dispose]() { log.push('second'); } });
    stack.adopt(3, async v => { log.push(v); throw new Error('boom'); });
    try { await stack.disposeAsync(); } catch (e) { log.push(e.message); } return log;`;
  expect(guest.run(body)).toEqual([3, 'second', 'first', 'boom']);
});

test('iterator helpers can be left early', async () => {
  const guest = await openGuest();
  expect(guest.evaluate('[1, 2, 3].values().map(x => x).filter(x => x > 1).take(1).toArray()')).toEqual([2]);
  expect(guest.evaluate('(() => { for (const x of new Set([7, 8]).values().map(x => x)) return x; })()')).toBe(7);
  expect(guest.evaluate('(([a]) => a)([5, 6].values().filter(() => true))')).toBe(5);
  expect(guest.evaluate('[1, 2].values().map(x => x).find(x => x === 1)')).toBe(1);
  expect(guest.evaluate('(h => [h.return(), h.next()])([1].values().map(x => x))')).toEqual([{ done: true }, { done: true }]);
  const own =
    '(() => { const it = { next: () => ({ value: 1, done: false }), return() { null.x; }, __proto__: Iterator.prototype }; for (const x of it.map(x => x)) break; })()';
  expect(guest.evaluate(guestExpression(own))).toEqual({ throws: 'TypeError' });
});

test('sums are exact', async () => {
  const guest = await openGuest();
  expect(
    guest.evaluate(
      '[Math.sumPrecise([0.1, 0.2, 0.3]), Math.sumPrecise([1e308, 1, -1e308]), Object.is(Math.sumPrecise([]), -0), String(Math.sumPrecise([Infinity, -Infinity]))]',
    ),
  ).toEqual([0.6, 1, true, 'NaN']);
});
