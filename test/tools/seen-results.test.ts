import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { type CatalogEntry, createCatalog } from '../../src/tools/catalog.ts';
import { SeenResultsOfTools } from '../../src/tools/seen-results.ts';
import { toolOf } from '../helpers/tools.ts';

const catalog = createCatalog([
  { namespace: [], tool: toolOf('one') },
  { namespace: [], tool: toolOf('other') },
  { namespace: [], tool: toolOf('typed', { outputSchema: { type: 'string' } }) },
]);
const [one, other, typed] = catalog.entries as [CatalogEntry, CatalogEntry, CatalogEntry];

function typeOf(...results: unknown[]): string | undefined {
  const seen = new SeenResultsOfTools();
  for (const result of results) seen.see(one, result);
  return seen.typeOf(one);
}

describe('the type of', () => {
  test.each<[string, unknown[], string | undefined]>([
    ['nothing', [], undefined],
    ['words', ['a'], 'string'],
    ['several kinds', ['a', 1, null, true], 'boolean | number | string | null'],
    ['nothing at all', [undefined], 'undefined'],
    ['an object', [{ id: 1, title: 'a' }], '{ id: number; title: string }'],
    ['objects that differ', [{ id: 1, a: true }, { id: 2 }], '{ id: number; a?: boolean }'],
    ['a list of objects that differ', [[{ id: 1 }, { id: 'a', b: null }]], '{ id: number | string; b?: null }[]'],
    ['an empty list', [[]], 'unknown[]'],
    ['an empty list and a full one', [[], [1]], 'number[]'],
    ['a list of several kinds', [[1, 'a']], '(number | string)[]'],
    ['lists in lists', [[[1], [2]]], 'number[][]'],
    [
      'a page',
      [
        { items: [{ n: 1 }], next: null },
        { items: [], next: 'c' },
      ],
      '{ items: { n: number }[]; next: string | null }',
    ],
    ['a date', [{ at: new Date(0) }], '{ at: string }'],
    ['bytes, maps, sets', [[new Uint8Array(1), new Map(), new Set()]], '(Map<unknown, unknown> | Set<unknown> | Uint8Array)[]'],
    ['members that are no identifiers', [{ 'a-b': 1 }], '{ "a-b": number }'],
    ['an object or a list', [{ a: 1 }, [1]], '{ a: number } | number[]'],
    ['what cannot be told', [() => 1], undefined],
  ])('%s', (_, results, type) => {
    expect(typeOf(...results)).toBe(type);
  });
});

describe('never a value', () => {
  test.each<[string, unknown, string]>([
    ['text', { state: 'secret-word' }, '{ state: string }'],
    ['a constant', { kind: 'secret', n: 42, yes: true }, '{ kind: string; n: number; yes: boolean }'],
    ['addresses as keys', { 'ann@example.test': { age: 1 }, 'bob@example.test': { age: 2 } }, 'Record<string, { age: number }>'],
    ['ids as keys', { users: { u_81723: 1, u_90012: 2 } }, '{ users: Record<string, number> }'],
    ['uuids as keys', { '6f9619ff-8b86-d011-b42d-00cf4fc964ff': 1 }, 'Record<string, number>'],
    ['dates as keys', { '2026-01-01': [1] }, 'Record<string, number[]>'],
    ['sentences as keys', { 'the patient said that it hurts': 1 }, 'Record<string, number>'],
    [
      'very many keys',
      Object.fromEntries(
        Array.from({ length: 100 }, (_, index) => [`${'abcdefghij'[index % 10]}${'klmnopqrst'[Math.floor(index / 10)]}`, 1]),
      ),
      'Record<string, number>',
    ],
  ])('%s', (_, result, type) => {
    expect(typeOf(result)).toBe(type);
  });

  test('keys that were taken for members are forgotten once others show that they are data', () => {
    expect(typeOf({ ann: 1 }, { 'bob@example.test': 2 })).toBe('Record<string, number>');
  });

  test('keys that come and go from result to result are data', () => {
    const words = 'ann bob cid dan eve fay gus hal ida jon kim lea'.split(' ');
    expect(typeOf(...words.map((word) => ({ [word]: { age: 1 } })))).toBe('Record<string, { age: number }>');
  });
});

test('tools are told apart, and one that says its type is not learned from', () => {
  const seen = new SeenResultsOfTools();
  seen.see(one, 1);
  seen.see(typed, 1);
  expect([seen.typeOf(one), seen.typeOf(other), seen.typeOf(typed)]).toEqual(['number', undefined, undefined]);
});

describe('whatever a result is', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 'end' : { inner: deep(levels - 1) });
  const cycle: Record<string, unknown> = { a: 1 };
  cycle['self'] = cycle;
  const wide = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${'abcdefghijklmnopqrstuvwxyzABCD'[index]}`, deep(20)]));
  const hostile = {
    get trap(): unknown {
      throw new Error('no');
    },
  };
  test.each<[string, unknown]>([
    ['deep', deep(1_000)],
    ['a cycle', cycle],
    ['wide and deep', wide],
    ['long', Array.from({ length: 1_000_000 }, (_, index) => ({ index }))],
    ['a getter that throws', hostile],
    [
      'a revoked proxy',
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
    ],
    ['members of the language', JSON.parse('{"__proto__":1,"constructor":2}')],
  ])('%s: a short type that parses, at once', (_, result) => {
    const began = performance.now();
    const type = typeOf(result) ?? 'unknown';
    expect(performance.now() - began).toBeLessThan(500);
    expect(type.length).toBeLessThanOrEqual(1_500);
    const { diagnostics } = ts.transpileModule(`type T = ${type};`, { reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
  });

  test('what is kept of one tool does not grow with its results', () => {
    const seen = new SeenResultsOfTools();
    for (let round = 0; round < 5_000; round++)
      seen.see(one, { [`key${'x'.repeat(round % 30)}`]: { [`in${'y'.repeat(round % 30)}`]: round } });
    expect(seen.typeOf(one)?.length ?? 0).toBeLessThanOrEqual(1_500);
  });
});
