// A program may replace any intrinsic before it uses the world. The world keeps working, and none of its private state passes through
// what the program planted.
import { expect, test } from 'vitest';
import { openGuest } from './guest.ts';

/** Values of the program's own, made before it tampers: their making runs through the intrinsics. */
const VALUES = `
  const value = { a: [1, 'x', new Map([[1, 2]]), new Set(['s'])], d: new Date(0), e: new RangeError('r'), re: /x/g };
  const day = new Date(0);
  const results = Object.setPrototypeOf([], null);
`;

const USES = `
  console.log(value, '%s', 'text');
  console.table([{ a: 1 }]);
  results[0] = new URL('/p?b=2&a=1', 'https://x.y').searchParams.get('a');
  results[1] = new TextDecoder().decode(new TextEncoder().encode('h\u00e9'));
  results[2] = atob(btoa('abc'));
  results[3] = (1234.5).toLocaleString('de-DE');
  results[4] = structuredClone({ a: [1, { b: 2 }] }).a[1].b;
  results[5] = day.toLocaleDateString('en-GB');
  results[6] = 'b'.localeCompare('\u00e4', 'de');
  results[7] = Buffer.from('hi').toString('hex');
  results[8] = crypto.randomUUID().length;
  const controller = new AbortController();
  controller.signal.addEventListener('abort', () => { results[9] = 'aborted'; });
  controller.abort();
  results[10] = new Intl.NumberFormat('en-US').format(1e6);
`;

const EXPECTED = ['1', 'hé', 'abc', '1.234,5', 2, '01/01/1970', 1, '6869', 36, 'aborted', '1,000,000'];

/** Replaces every method of an object by one that notes the call; accessors too. */
const TAMPER = `
  let noted = 0;
  const { defineProperty, getOwnPropertyDescriptor, ownKeys, apply } = Reflect;
  const stringify = JSON.stringify;
  const poison = (object, label) => {
    const keys = ownKeys(object);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (key === 'constructor' || key === 'prototype' || key === 'length' || key === 'name' || key === 'caller' || key === 'arguments') continue;
      const old = getOwnPropertyDescriptor(object, key);
      if (!old.configurable) continue;
      const fake = function () { noted++; throw new Error('planted: ' + label); };
      if (typeof old.value === 'function') defineProperty(object, key, { value: fake, writable: true, configurable: true });
      else if (old.get) defineProperty(object, key, { get: fake, set: fake, configurable: true });
    }
  };
`;

test.each([
  ['Array.prototype', 'poison(Array.prototype, "Array")'],
  [
    'String.prototype',
    'const keep = String.prototype.localeCompare; poison(String.prototype, "String"); defineProperty(String.prototype, "localeCompare", { value: keep });',
  ],
  ['Map, Set, WeakMap', 'poison(Map.prototype, "Map"); poison(Set.prototype, "Set"); poison(WeakMap.prototype, "WeakMap")'],
  ['Function.prototype', 'poison(Function.prototype, "Function")'],
  ['RegExp.prototype', 'poison(RegExp.prototype, "RegExp")'],
  ['Promise', 'poison(Promise.prototype, "Promise"); poison(Promise, "Promise")'],
  ['Object and Reflect', 'poison(Object, "Object"); poison(Reflect, "Reflect")'],
  ['JSON and Math', 'poison(JSON, "JSON"); poison(Math, "Math")'],
  [
    'Number, BigInt, Symbol',
    'for (const k of ["toString", "valueOf", "toFixed"]) Number.prototype[k] = () => { noted++; throw 1; }; poison(Number, "Number"); poison(BigInt, "BigInt"); poison(String, "StringStatic")',
  ],
  ['Error', 'poison(Error.prototype, "Error"); poison(Error, "Error")'],
  [
    'typed arrays',
    'poison(Object.getPrototypeOf(Uint8Array.prototype), "TypedArray"); poison(ArrayBuffer.prototype, "ArrayBuffer"); poison(DataView.prototype, "DataView")',
  ],
  [
    'iterators',
    'poison(Object.getPrototypeOf([][Symbol.iterator]()), "ArrayIterator"); poison(Object.getPrototypeOf(new Map().entries()), "MapIterator"); Array.prototype[Symbol.iterator] = function* () { noted++; yield "planted"; }; String.prototype[Symbol.iterator] = Array.prototype[Symbol.iterator];',
  ],
  [
    'Object.prototype',
    'for (const k of ["toJSON", "value", "get", "set", "error", "type", "kind", "then", "depth", "transfer", "signal", "0", "1"]) defineProperty(Object.prototype, k, { __proto__: null, get() { noted++; return undefined; }, set() { noted++; }, configurable: true }); noted = 0;',
  ],
  [
    'index setters',
    'for (let i = 0; i < 20; i++) defineProperty(Array.prototype, String(i), { set(v) { noted++; }, get() { noted++; return undefined; }, configurable: true });',
  ],
  [
    'constructors on globalThis',
    'for (const k of ["Map", "Set", "Array", "Error", "TypeError", "RangeError", "Promise", "Date", "Uint8Array", "ArrayBuffer", "String", "Number", "Boolean", "Symbol", "RegExp", "WeakMap"]) defineProperty(globalThis, k, { value: function () { noted++; throw 1; }, configurable: true, writable: true });',
  ],
])('the world works when %s is replaced', async (label, tamper) => {
  const guest = await openGuest();
  const outcome = guest.evaluate(
    `(() => { ${VALUES} ${TAMPER} ${tamper}; ${USES} const seen = noted; return stringify(results) + '|' + seen; })()`,
  ) as string;
  const [text, noted] = outcome.split('|') as [string, string];
  expect(JSON.parse(text)).toEqual(EXPECTED);
  // Options that a program passes are read as ordinary properties, which a polluted Object.prototype may see: nothing private is in that.
  if (label !== 'Object.prototype') expect(noted).toBe('0');
  expect(guest.lines().length).toBe(2);
});

test('a template literal is not made by a method that a program can replace', async () => {
  const guest = await openGuest();
  expect(
    guest.evaluate("(() => { try { String.prototype.concat = () => 'planted'; } catch {} const x = 1; return `a${x}b${x}`; })()"),
  ).toBe('a1b1');
});

test('a frozen world is no obstacle', async () => {
  const guest = await openGuest();
  const outcome = guest.evaluate(
    `(() => { for (const o of [Promise, Object, Array, Map, Set, String, Date, Function]) { Object.freeze(o.prototype); } Object.freeze(JSON); ${VALUES} ${USES} return Array.from(results); })()`,
  );
  expect(outcome).toEqual(EXPECTED);
});

test('timers run with replaced intrinsics', async () => {
  const guest = await openGuest();
  const outcome =
    guest.run(`${TAMPER} poison(Array.prototype, 'Array'); poison(Map.prototype, 'Map'); poison(Function.prototype, 'Function');
    await sleep(5); let ran = 0; const t = setTimeout(() => ran++, 5); clearTimeout(setTimeout(() => ran++, 1)); await sleep(10); return [ran, noted];`);
  expect(outcome).toEqual([1, 0]);
});

test('a world that was tampered with in one guest is whole in the next', async () => {
  const first = await openGuest();
  first.evaluate('(() => { Array.prototype.push = null; globalThis.console = null; return 1; })()');
  const second = await openGuest();
  expect(second.evaluate('typeof console.log + [].push(1)')).toBe('function1');
});
