// Everything that a program finds without asking: the one reviewed list. A name that appears or goes away must be written down here.
import { beforeAll, expect, test } from 'vitest';
import type { Realm } from '../../src/engine/engine.ts';
import { begin, MEMORY, openEngine, valueIn } from '../helpers/realm.ts';

/** The language's own, as the engine makes them. */
const LANGUAGE = [
  'AggregateError',
  'Array',
  'ArrayBuffer',
  'BigInt',
  'BigInt64Array',
  'BigUint64Array',
  'Boolean',
  'DataView',
  'Date',
  'Error',
  'EvalError',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'Function',
  'Infinity',
  'Int16Array',
  'Int32Array',
  'Int8Array',
  'InternalError',
  'Iterator',
  'JSON',
  'Map',
  'Math',
  'NaN',
  'Number',
  'Object',
  'Promise',
  'Proxy',
  'RangeError',
  'ReferenceError',
  'Reflect',
  'RegExp',
  'Set',
  'String',
  'Symbol',
  'SyntaxError',
  'TypeError',
  'URIError',
  'Uint16Array',
  'Uint32Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'WeakMap',
  'WeakRef',
  'WeakSet',
  'decodeURI',
  'decodeURIComponent',
  'encodeURI',
  'encodeURIComponent',
  'escape',
  'eval',
  'globalThis',
  'isFinite',
  'isNaN',
  'parseFloat',
  'parseInt',
  'undefined',
  'unescape',
];

/** What programs expect of a modern runtime, made by our own code. */
const WORLD = [
  'AbortController',
  'AbortSignal',
  'AsyncDisposableStack',
  'Buffer',
  'CustomEvent',
  'DOMException',
  'DisposableStack',
  'Event',
  'EventTarget',
  'Intl',
  'SuppressedError',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'URLSearchParams',
  'atob',
  'btoa',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'sleep',
  'structuredClone',
];

/** What code mode adds. */
const OURS = ['ALL_TOOLS', 'artifacts', 'codemode', 'createArtifact', 'load', 'readArtifact', 'saveArtifact', 'store', 'text', 'tools'];

/** In the global scope, but no property of the global object: code that calls whatever it finds there must not end the program. */
const LEXICAL = ['exit'];

let realm: Realm;

beforeAll(async () => {
  realm = await (await openEngine()).open(MEMORY);
});

function evaluate(body: string): unknown {
  const value = valueIn(begin(realm, body));
  realm.reset();
  return value;
}

test('the global object has these names and no others', () => {
  const names = evaluate('return Object.getOwnPropertyNames(globalThis).sort();');
  expect(names).toEqual([...LANGUAGE, ...WORLD, ...OURS].sort());
});

test('it has no symbols but what the language gives, and nothing on its prototype that other objects do not have', () => {
  expect(evaluate('return Object.getOwnPropertySymbols(globalThis).map(String);')).toEqual(['Symbol(Symbol.toStringTag)']);
  expect(evaluate('return Object.getPrototypeOf(globalThis) === Object.prototype;')).toBe(true);
});

test('these names are in scope without being properties', () => {
  expect(
    evaluate(`return ${JSON.stringify(LEXICAL)}.filter((name) => (0, eval)('typeof ' + name) === 'function' && !(name in globalThis));`),
  ).toEqual(LEXICAL);
});

test.each([
  'process',
  'require',
  'module',
  'exports',
  'fetch',
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'FinalizationRegistry',
  'std',
  'os',
  'print',
  'gc',
  'scriptArgs',
  'navigator',
  'importScripts',
  'postMessage',
  'onmessage',
  'callgate',
  'guest',
  '__dirname',
  'XMLHttpRequest',
  'WebSocket',
  'Worker',
  'Deno',
  'Bun',
])('there is no %s', (name) => {
  expect(evaluate(`return typeof ${name};`)).toBe('undefined');
  expect(evaluate(`return (0, eval)('typeof ${name}');`)).toBe('undefined');
});

test('eval and Function make code of the guest, with no more reach than the program', () => {
  const reached = evaluate(`
    const roots = [eval('this'), (0, eval)('this'), new Function('return this')(), (async () => {}).constructor('return this')(), (function* () {}).constructor('yield this')().next().value];
    const own = [];
    for (const root of roots) own.push((await root) === globalThis || (await root) === undefined);
    return own;`);
  expect(reached).toEqual([true, true, true, true, true]);
  const inside = evaluate(`
    const names = new Function('return [typeof process, typeof require, typeof bridge, typeof boot, typeof driver, typeof outbox, typeof calls, typeof state]')();
    return names;`);
  expect(inside).toEqual(Array.from({ length: 8 }, () => 'undefined'));
});

test('import reaches nothing', () => {
  for (const name of ['fs', 'node:fs', './x.js', 'std', 'os', 'qjs:std', 'data:text/javascript,1', 'file:///etc/passwd']) {
    expect(
      evaluate(`try { await (0, eval)('import(${JSON.stringify(name)})'); return 'imported'; } catch (error) { return 'refused'; }`),
      name,
    ).toBe('refused');
  }
});

test('no function that a program can reach shows code of the runtime, or leads to it', () => {
  const found = evaluate(`
    const seen = new Set();
    const odd = [];
    const visit = (value, path) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || path.length > 120) return;
      seen.add(value);
      if (typeof value === 'function') {
        for (const key of ['caller', 'arguments']) {
          try { if (value[key] != null) odd.push(path + '.' + key); } catch {}
        }
        let text = '';
        try { text = Function.prototype.toString.call(value); } catch {}
        if (/callgate|settlements|addRecord|outbox/.test(text)) odd.push(path + ' shows ' + text.slice(0, 60));
      }
      for (const key of Reflect.ownKeys(value)) {
        const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
        if (!descriptor) continue;
        const at = path + '.' + String(key);
        if (/receive|drain|settle|install|bindExit|halt/.test(String(key)) && typeof descriptor.value === 'function') odd.push(at);
        visit(descriptor.value, at); visit(descriptor.get, at); visit(descriptor.set, at);
      }
      visit(Reflect.getPrototypeOf(value), path + '.__proto__');
    };
    visit(globalThis, '');
    visit(exit, 'exit');
    const refused = tools.nothing();
    await refused.catch((error) => visit(error, 'error'));
    visit(refused, 'promise');
    visit(tools.nothing, 'missing');
    return { odd, count: seen.size };`) as { odd: string[]; count: number };
  expect(found.odd.filter((path) => !/^\.Promise\.allSettled/.test(path))).toEqual([]);
  expect(found.count).toBeGreaterThan(800);
});
