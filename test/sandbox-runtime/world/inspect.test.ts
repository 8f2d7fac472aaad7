import { inspect } from 'node:util';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { openGuest } from './guest.ts';

// Every value is printed by the guest and by Node, with the guest's depth of 8.
const VALUES = [
  "({a:1,b:'x',c:[1,2,3]})",
  '[1,,3]',
  'Array.from({length:120},(_, i)=>i)',
  "new Map([['a',{b:1}],[{x:1},2]])",
  "new Set([1,'a',[1]])",
  'new Set()',
  'new Map()',
  '(()=>{const a={x:1}; a.self=a; return a})()',
  'new (class Foo extends Map { constructor(){super(); this.z=1} })()',
  '(class A { constructor(){this.a=1} get q(){return 1} }, new (class A { constructor(){this.a=1} get q(){return 1} })())',
  'Object.create(null)',
  'Object.assign(Object.create(null), {a:1})',
  '({get a(){throw 1}, set a(v){}, get b(){return 2}, set c(v){}})',
  'function foo(a){return 1}',
  'foo2 = () => {}',
  'async () => {}',
  'async function* g(){}',
  'function* gg(){}',
  'class B {}',
  'class C extends Array {}',
  "Symbol('a')",
  "({[Symbol('s')]: 1})",
  '1n',
  '-0',
  "'it\\'s'",
  '"a\\nb"',
  "['a\\nb', \"it's\"]",
  'new Date(0)',
  'new Date(NaN)',
  '/a/gi',
  "new Error('boom').message",
  '[undefined, null, NaN, true]',
  'new Number(3)',
  "new String('abc')",
  'Object(1n)',
  "Object(Symbol('q'))",
  'new Boolean(false)',
  'new Uint8Array([1,2,3])',
  'new Float64Array(200)',
  'new ArrayBuffer(10)',
  'new DataView(new ArrayBuffer(4))',
  'new WeakMap()',
  'new WeakSet()',
  '(function(){return arguments})(1,2)',
  'new Proxy({a:1},{get(){throw 1}})',
  'new Proxy([1,2],{})',
  'new Proxy(function f(){}, {})',
  '({a:{b:{c:{d:{e:{f:{g:{h:{i:{j:{k:1}}}}}}}}}}})',
  "({ users: [{ id: 1, name: 'Ada Lovelace', email: 'ada@example.com', tags: ['a','b'] }, { id: 2, name: 'Grace Hopper', email: 'grace@example.com', tags: [] }], total: 2, next: null })",
  "Array.from({length: 30}, (_, i) => 'item number ' + i)",
  'Array.from({length: 27}, (_, i) => i * 1000)',
  "[['a', 1], ['b', 2]]",
  '[[[[[1]]]]]',
  "({'a-b': 1, 2: 3, __proto__x: 1, ['__proto__']: 2})",
  "'x'.repeat(200)",
  "['x'.repeat(200)]",
  "({a: 'line one is long enough to break\\nline two is long enough to break too\\nand three of them'})",
  'globalThis.Math',
  'JSON',
  'Reflect',
  '[1.5, -2, 1e21]',
  '({a: function(){}, b: class {}, c: () => 1})',
  'Object.assign(() => {}, {a: 1})',
  'Object.assign([1,2], {x: 1, [-1]: 2})',
  '[function(){}, class X {}]',
  "new (class extends Error { constructor(){ super('m'); this.name='MyErr' } })().name",
  "[new Map([['k', new Map([['z', 1]])]])]",
  '(function(){ return new (function Foo(){ this.a = 1 })() })()',
  'new (class { #p = 1; x = 2 })()',
  'Object.create({a:1})',
  'Object.create(class Q{}.prototype)',
  "[,'a',,'b',,]",
  'new Array(5)',
  '[[],{}]',
  '({a:[],b:{}})',
  "'\\u{1F600} \\ud800'",
  "['\\u{1F600}', '\\ud800']",
  "['日本語','中文字符','한국어','a','b','c','d','e']",
  '[true,false,true,false,true,false,true,false]',
  "({[Symbol.toStringTag]:'T', a:1})",
  '[1,2,3][Symbol.iterator]()',
  '(function*(){})()',
  'Promise',
  'Symbol.iterator',
  '[Symbol.iterator]',
  "({ a: 1n, b: Symbol('x'), c: undefined, d: null })",
  '({f(){}, async g(){}, *h(){}})',
  '[new Date(0), /x/]',
  'new (class extends Array {})(3)',
  '({a:{b:{c:{}}}})',
  'Object.freeze([1])',
  '[0.1, -0, 0]',
  "['a', 'b'].entries()",
  "({ a: new Error('x').message })",
  "[new URL('https://a.b/c?d=1')]",
  "new URL('https://a.b/c?d=1').searchParams",
  'new URLSearchParams()',
  "Buffer.from('hi')",
  '[new AbortController().signal]',
  "new Map([['config', { retries: 3, hosts: ['alpha.example.com', 'beta.example.com', 'gamma.example.com'] }]])",
  "Array.from({ length: 8 }, (_, i) => ({ id: i, name: 'user ' + i }))",
  "[['x'.repeat(30), 'y'.repeat(30), 'z'.repeat(30)]]",
  "Array.from({ length: 101 }, (_, i) => 'k' + i)",
  'new Set(Array.from({ length: 130 }, (_, i) => i))',
  "({ a: { b: [1, 2, { c: 3 }] }, d: 'text with \\'quotes\\' and \"double\" ones' })",
  'Array.from({ length: 10 }, () => 1.5)',
  'Array.from({ length: 20 }, (_, i) => 10n ** BigInt(i))',
  "'multi\\nline'",
  "new Intl.NumberFormat('en')",
  '[undefined, , null]',
  '[-1, -22, 333, 4444, 55555, 666666, 7777777]',
  'Array(3)',
  'Object.assign(function named() {}, { b: { c: 1 } })',
  'new (class Point { constructor() { this.x = 1; this.y = { z: [1, 2] }; } })()',
  "({ [Symbol.for('k')]: [Symbol('v')], 'x y': 1, $d: 2, 'ünï': 3 })",
  'new Date(NaN)',
  '[[], [[]], {}, { a: {} }]',
  'new (class extends Set {})([1])',
  'Object.create({}, { hidden: { value: 1 }, shown: { value: 2, enumerable: true } })',
];

/** Prints in this process. The expressions are the ones above. */
function printed(expression: string): string {
  const value: unknown = runInThisContext(`(${expression})`);
  return inspect(value, { depth: 8 });
}

/** Printed otherwise by Node from 24 on: symbols as keys without brackets, lengths of buffers in brackets. Ours is the older form. */
const CHANGED = new Set([
  "({[Symbol('s')]: 1})",
  'new ArrayBuffer(10)',
  'new DataView(new ArrayBuffer(4))',
  "({[Symbol.toStringTag]:'T', a:1})",
  "({ [Symbol.for('k')]: [Symbol('v')], 'x y': 1, $d: 2, 'ünï': 3 })",
]);
const newerNode = Number(process.versions.node.split('.')[0]) > 22;

test('values are printed as Node prints them', async () => {
  const guest = await openGuest();
  const differences = VALUES.filter((expression) => !newerNode || !CHANGED.has(expression)).flatMap((expression) => {
    const actual = guest.evaluate(`__test.world.inspector.inspect((${expression}))`);
    const expected = printed(expression);
    return actual === expected ? [] : [{ expression, actual, expected }];
  });
  expect(differences).toEqual([]);
});

test('the options of Node are understood', async () => {
  const guest = await openGuest();
  const value = '{ a: { b: { c: 1 } }, list: Array.from({ length: 9 }, (_, i) => i), text: "x".repeat(40) }';
  for (const options of [
    { depth: 0 },
    { depth: 1 },
    { maxArrayLength: 2 },
    { breakLength: 40 },
    { maxStringLength: 5 },
    { showHidden: true },
  ]) {
    const expected = inspect(runInThisContext(`(${value})`) as object, { depth: 8, ...options });
    expect(guest.evaluate(`__test.world.inspector.inspect(${value}, ${JSON.stringify(options)})`)).toBe(expected);
  }
});

describe('errors', () => {
  test('show class, message, cause, and fields of their own', async () => {
    const guest = await openGuest();
    const print = (expression: string): unknown => guest.evaluate(`__test.world.inspector.inspect(${expression})`);
    expect(print("new TypeError('no')")).toBe('[TypeError: no]');
    expect(print("Object.assign(new Error('m'), { code: 'E1', status: 404 })")).toBe("[Error: m] { code: 'E1', status: 404 }");
    expect(print("new Error('outer', { cause: new RangeError('inner') })")).toBe('[Error: outer] { [cause]: [RangeError: inner] }');
    expect(print("new AggregateError([new Error('a')], 'all')")).toBe('[AggregateError: all] { [errors]: [ [Error: a] ] }');
    expect(print("new (class ToolError extends Error { constructor(m) { super(m); this.name = 'ToolError'; } })('t')")).toBe(
      '[ToolError: t]',
    );
    expect(print("new (class Custom extends Error {})('t')")).toBe(
      inspect(
        new (class Custom extends Error {
          override stack = '';
        })('t'),
      )
        .replace(/ \{[^}]*\}$/, '')
        .replace('stack: ', ''),
    );
    expect(print("new DOMException('m', 'AbortError')")).toBe('[DOMException [AbortError]: m]');
    expect(print('[new Error("in a list")]')).toBe('[ [Error: in a list] ]');
  });
});

describe('hostile values', () => {
  test('getters, traps and custom inspect functions do not run', async () => {
    const guest = await openGuest();
    const ran = guest.evaluate(`(() => {
      let ran = 0;
      const touch = () => { ran++; throw new Error('touched'); };
      const handler = new Proxy({}, { get: touch });
      const values = [
        { get a() { return touch(); } },
        new Proxy({ a: 1 }, handler),
        Proxy.revocable({ a: 1 }, handler).proxy,
        [new Proxy([], handler)],
        { [Symbol.for('nodejs.util.inspect.custom')]: touch, toString: touch, toJSON: touch, valueOf: touch, inspect: touch },
        { __proto__: { get constructor() { return touch(); }, get [Symbol.toStringTag]() { return touch(); } } },
        class { static [Symbol.hasInstance]() { return touch(); } },
        { constructor: class { static [Symbol.hasInstance]() { return touch(); } } },
        Object.defineProperty(new Error('x'), 'message', { get: touch }),
        Object.defineProperty(new Error('x'), 'stack', { get: touch }),
        Object.defineProperty(() => {}, 'name', { get: touch }),
      ];
      for (const value of values) { console.log(value); console.log('%o %O %s', value, value, 1); console.table([value]); console.dir(value, { showHidden: true }); }
      return ran;
    })()`);
    expect(ran).toBe(0);
  });

  test('cycles, depth and size are bounded', async () => {
    const guest = await openGuest();
    const lengthOf = (expression: string): number => guest.evaluate(`__test.world.inspector.inspect(${expression}).length`) as number;
    expect(lengthOf('(() => { let d = {}; for (let i = 0; i < 50000; i++) d = { d }; return d; })()')).toBeLessThan(500);
    expect(lengthOf("(() => { const o = {}; for (let i = 0; i < 50000; i++) o['key' + i] = i; return o; })()")).toBeLessThan(200_000);
    expect(lengthOf('(() => { let d = []; for (let i = 0; i < 8; i++) d = Array(100).fill(d); return d; })()')).toBeLessThan(300_000);
    expect(lengthOf("Array(1000).fill('x'.repeat(100000))")).toBeLessThan(300_000);
    expect(lengthOf("new Map(Array.from({ length: 5000 }, (_, i) => [i, 'v'.repeat(5000)]))")).toBeLessThan(300_000);
    expect(guest.evaluate('(() => { const a = { n: 1 }; a.self = a; a.list = [a]; return __test.world.inspector.inspect(a); })()')).toBe(
      '<ref *1> { n: 1, self: [Circular *1], list: [ [Circular *1] ] }',
    );
  });

  test('impostors are printed without harm', async () => {
    const guest = await openGuest();
    for (const value of [
      'Object.create(Map.prototype)',
      'Object.create(URL.prototype)',
      'Object.create(Date.prototype)',
      'Map.prototype',
      'Promise.prototype',
      'URL.prototype',
      'Object.prototype',
      'Object.create(Error.prototype)',
      'Object.create(Buffer.prototype)',
      'Intl.NumberFormat.prototype',
      'AbortSignal.prototype',
      'Object.setPrototypeOf(new Map([[1, 2]]), null)',
      'Object.setPrototypeOf([1], null)',
      'Object.setPrototypeOf(() => {}, null)',
    ]) {
      const text = guest.evaluate(`__test.world.inspector.inspect(${value})`);
      expect([value, typeof text, text === '[this value cannot be printed]']).toEqual([value, 'string', false]);
    }
  });
});
