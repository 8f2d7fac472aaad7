// One table of values: how each is written in a program, and what lies on the wire for it. The text makes the value on any side.
import { runInThisContext } from 'node:vm';

export interface ValueCase {
  readonly name: string;
  /** An expression. */
  readonly source: string;
  readonly mode: 'P' | 'T';
  readonly wire: string;
  /** An expression of what arrives, where that is another value. */
  readonly arrives?: string;
}

export interface RefusedCase {
  readonly name: string;
  readonly source: string;
  readonly path: string;
  readonly message: RegExp;
}

/** The value of an expression of the table. */
export function valueOf(source: string): unknown {
  return runInThisContext(`'use strict';(() => (${source}))()`);
}

const U = '{"$":"undefined"}';

export const CROSSING: readonly ValueCase[] = [
  { name: 'null', source: 'null', mode: 'P', wire: 'null' },
  { name: 'true', source: 'true', mode: 'P', wire: 'true' },
  { name: 'a number', source: '-1.5e-7', mode: 'P', wire: '-1.5e-7' },
  { name: 'the largest number', source: 'Number.MAX_VALUE', mode: 'P', wire: '1.7976931348623157e+308' },
  { name: 'the empty string', source: '""', mode: 'P', wire: '""' },
  { name: 'NUL in a string', source: '"a\\0b"', mode: 'P', wire: '"a\\u0000b"' },
  { name: 'line separators in a string', source: '"a\\u2028b\\u2029\\n"', mode: 'P', wire: '"a\u2028b\u2029\\n"' },
  { name: 'lone surrogates', source: '"\\ud800a\\udc00"', mode: 'P', wire: '"\\ud800a\\udc00"' },
  { name: 'a character outside the plane', source: '"\\u{1f600}"', mode: 'P', wire: '"\u{1f600}"' },
  { name: 'a lone surrogate in a key', source: '({ "\\udead": 1 })', mode: 'P', wire: '{"\\udead":1}' },
  { name: 'an array', source: '[1, [2, []]]', mode: 'P', wire: '[1,[2,[]]]' },
  { name: 'an object', source: '({ a: { b: null } })', mode: 'P', wire: '{"a":{"b":null}}' },
  { name: 'a member that is undefined', source: '({ a: undefined, b: 1 })', mode: 'P', wire: '{"b":1}', arrives: '({ b: 1 })' },
  {
    name: 'symbol keys and hidden members',
    source: 'Object.defineProperty({ [Symbol("s")]: 1, b: 2 }, "h", { value: 3 })',
    mode: 'P',
    wire: '{"b":2}',
    arrives: '({ b: 2 })',
  },
  {
    name: 'an object without a prototype',
    source: 'Object.assign(Object.create(null), { a: 1 })',
    mode: 'P',
    wire: '{"a":1}',
    arrives: '({ a: 1 })',
  },
  {
    name: 'a key named __proto__',
    source: 'JSON.parse(\'{"__proto__":{"x":1},"constructor":2}\')',
    mode: 'P',
    wire: '{"__proto__":{"x":1},"constructor":2}',
  },
  {
    name: 'a key named __proto__ beside a tag',
    source: 'Object.assign(JSON.parse(\'{"__proto__":1}\'), { n: NaN })',
    mode: 'T',
    wire: '{"__proto__":1,"n":{"$":"NaN"}}',
  },
  { name: 'a key named $', source: '({ $: "NaN" })', mode: 'P', wire: '{"$":"NaN"}' },
  {
    name: 'a key named $ beside a tag',
    source: '[{ $: "NaN", v: 1 }, NaN]',
    mode: 'T',
    wire: '[{"$":"Object","v":{"$":"NaN","v":1}},{"$":"NaN"}]',
  },
  {
    name: 'a key named $ within one, beside a tag',
    source: '({ $: { $: 1n } })',
    mode: 'T',
    wire: '{"$":"Object","v":{"$":{"$":"Object","v":{"$":{"$":"BigInt","v":"1"}}}}}',
  },
  { name: 'a shared reference', source: '((s) => [s, s, { s }])({ a: 1 })', mode: 'P', wire: '[{"a":1},{"a":1},{"s":{"a":1}}]' },
  {
    name: 'a shared reference beside a tag',
    source: '((s) => [s, s, 1n])({ a: 1 })',
    mode: 'T',
    wire: '[{"a":1},{"a":1},{"$":"BigInt","v":"1"}]',
  },
  { name: 'undefined', source: 'undefined', mode: 'T', wire: U },
  { name: 'undefined in an array', source: '[undefined]', mode: 'T', wire: `[${U}]` },
  { name: 'a hole in an array', source: '[1, , 3]', mode: 'T', wire: `[1,${U},3]`, arrives: '[1, undefined, 3]' },
  { name: 'more members of an array', source: 'Object.assign([1], { extra: 2 })', mode: 'P', wire: '[1]', arrives: '[1]' },
  { name: 'NaN', source: 'NaN', mode: 'T', wire: '{"$":"NaN"}' },
  { name: 'infinities', source: '[Infinity, -Infinity]', mode: 'T', wire: '[{"$":"Infinity"},{"$":"-Infinity"}]' },
  { name: 'negative zero', source: '({ z: -0 })', mode: 'T', wire: '{"z":{"$":"-0"}}' },
  { name: 'a BigInt', source: '-(2n ** 70n)', mode: 'T', wire: '{"$":"BigInt","v":"-1180591620717411303424"}' },
  { name: 'a Date', source: 'new Date(0)', mode: 'P', wire: '"1970-01-01T00:00:00.000Z"', arrives: '"1970-01-01T00:00:00.000Z"' },
  {
    name: 'toJSON of a class, with its key',
    source: '({ k: new (class { toJSON(key) { return { key, n: 1 }; } })() })',
    mode: 'P',
    wire: '{"k":{"key":"k","n":1}}',
    arrives: '({ k: { key: "k", n: 1 } })',
  },
  {
    name: 'toJSON that returns what needs a tag',
    source: '({ toJSON: () => new Map([[1, 2]]) })',
    mode: 'T',
    wire: '{"$":"Map","v":[[1,2]]}',
    arrives: 'new Map([[1, 2]])',
  },
  { name: 'toJSON that is no function', source: '({ toJSON: 1 })', mode: 'P', wire: '{"toJSON":1}' },
  {
    name: 'boxed primitives',
    source: '[new Number(1), new String("s"), new Boolean(false), Object(2n)]',
    mode: 'T',
    wire: '[1,"s",false,{"$":"BigInt","v":"2"}]',
    arrives: '[1, "s", false, 2n]',
  },
  {
    name: 'an instance of a class',
    source: 'new (class P { x = 1; #hidden = 2; get y() { return 3; } })()',
    mode: 'P',
    wire: '{"x":1}',
    arrives: '({ x: 1 })',
  },
  {
    name: 'a Map in a Map',
    source: 'new Map([["a", new Map([[{ k: 1 }, undefined]])], [NaN, 1]])',
    mode: 'T',
    wire: `{"$":"Map","v":[["a",{"$":"Map","v":[[{"k":1},${U}]]}],[{"$":"NaN"},1]]}`,
  },
  { name: 'a Set with a Set', source: 'new Set([1, new Set(["x"])])', mode: 'T', wire: '{"$":"Set","v":[1,{"$":"Set","v":["x"]}]}' },
  {
    name: 'a subclass of Map',
    source: 'new (class M extends Map {})([[1, 2]])',
    mode: 'T',
    wire: '{"$":"Map","v":[[1,2]]}',
    arrives: 'new Map([[1, 2]])',
  },
  { name: 'bytes', source: 'new Uint8Array([0, 255, 16])', mode: 'T', wire: '{"$":"Uint8Array","v":"AP8Q"}' },
  {
    name: 'a view of a part',
    source: 'new Uint8Array([1, 2, 3, 4]).subarray(1, 3)',
    mode: 'T',
    wire: '{"$":"Uint8Array","v":"AgM="}',
    arrives: 'new Uint8Array([2, 3])',
  },
  { name: 'an ArrayBuffer', source: 'new Uint8Array([7]).buffer', mode: 'T', wire: '{"$":"ArrayBuffer","v":"Bw=="}' },
  {
    name: 'wide numbers',
    source: '[new Float64Array([1.5]), new BigInt64Array([-1n]), new Int16Array([-2])]',
    mode: 'T',
    wire: '[{"$":"Float64Array","v":"AAAAAAAA+D8="},{"$":"BigInt64Array","v":"//////////8="},{"$":"Int16Array","v":"/v8="}]',
  },
  {
    name: 'a DataView',
    source: 'new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1)',
    mode: 'T',
    wire: '{"$":"DataView","v":"Ag=="}',
    arrives: 'new DataView(new Uint8Array([2]).buffer)',
  },
  { name: 'no bytes', source: 'new Uint8Array()', mode: 'T', wire: '{"$":"Uint8Array","v":""}' },
  {
    name: 'an error',
    source: 'new TypeError("bad")',
    mode: 'T',
    wire: '{"$":"Error","v":{"name":"TypeError","message":"bad"}}',
    arrives: 'Object.defineProperty(new Error("bad"), "name", { value: "TypeError" })',
  },
  {
    name: 'an error with code and cause',
    source: 'Object.assign(new Error("a", { cause: [1n] }), { code: "E1", other: 5 })',
    mode: 'T',
    wire: '{"$":"Error","v":{"name":"Error","message":"a","code":"E1","cause":[{"$":"BigInt","v":"1"}]}}',
    arrives: 'Object.assign(new Error("a", { cause: [1n] }), { code: "E1" })',
  },
];

export const REFUSED: readonly RefusedCase[] = [
  { name: 'a function', source: '({ a: [() => 1] })', path: '$.a[0]', message: /is a function/ },
  { name: 'a class', source: 'class {}', path: '$', message: /is a function/ },
  { name: 'a symbol', source: '({ "odd key": Symbol("x") })', path: '$["odd key"]', message: /is a symbol/ },
  { name: 'a boxed symbol', source: '[Object(Symbol("x"))]', path: '$[0]', message: /is a symbol/ },
  { name: 'a promise', source: '({ p: Promise.resolve(1) })', path: '$.p', message: /is a promise; await it first/ },
  { name: 'a regular expression', source: '/x/g', path: '$', message: /is a regular expression/ },
  { name: 'a WeakMap', source: '[new WeakMap()]', path: '$[0]', message: /is a WeakMap/ },
  { name: 'a WeakSet', source: '[new WeakSet()]', path: '$[0]', message: /is a WeakSet/ },
  {
    name: 'an iterator of a Map',
    source: '({ m: new Map().values() })',
    path: '$.m',
    message: /is an iterator \(Map Iterator\).*Array\.from/,
  },
  { name: 'a generator', source: '[(function* () {})()]', path: '$[0]', message: /is an iterator \(Generator\)/ },
  { name: 'an invalid Date', source: '({ at: new Date(NaN) })', path: '$.at', message: /is an invalid Date/ },
  { name: 'a cycle', source: '((a) => { a.b = [a]; return a; })({})', path: '$.b[0]', message: /is circular/ },
  { name: 'a cycle through a Map', source: '((m) => m.set("k", { m }))(new Map())', path: '$.get("k").m', message: /is circular/ },
  {
    name: 'a cycle through a cause',
    source: '((e) => { e.cause = [e]; return e; })(new Error("x"))',
    path: '$.cause[0]',
    message: /is circular/,
  },
  { name: 'what toJSON returns', source: '({ a: { toJSON: () => () => 1 } })', path: '$.a', message: /is a function/ },
  { name: 'a function as a key of a Map', source: 'new Map([[() => 1, 1]])', path: '$.keys[0]', message: /is a function/ },
  { name: 'a function in a Set', source: 'new Set([1, () => 1])', path: '$.values[1]', message: /is a function/ },
  {
    name: 'an array that is too deep',
    source: '((d) => { let v = 1; for (let i = 0; i < d; i++) v = [v]; return v; })(257)',
    path: `$${'[0]'.repeat(13)}…`,
    message: /is nested deeper than 256 levels/,
  },
];
