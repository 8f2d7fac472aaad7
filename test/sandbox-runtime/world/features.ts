// What a program may rely on, as probes: each is an expression that is true where the feature works. A test evaluates them in the
// guest of every engine, and the table in the docs is printed from here.

/** Groups of features, each with the probe that shows that it works. */
export const FEATURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ES2022 and before': {
    'Array.prototype.at': '[1, 2].at(-1) === 2',
    'Object.hasOwn': "Object.hasOwn({ a: 1 }, 'a')",
    'Error.cause': "new Error('a', { cause: 1 }).cause === 1",
    'private fields and static blocks':
      '(() => { class A { #x = 1; static y; static { A.y = 2; } get() { return this.#x; } } return new A().get() + A.y === 3; })()',
    'String.prototype.replaceAll': "'a-a'.replaceAll('a', 'b') === 'b-b'",
    'optional chaining, ??, ??=': '(() => { let a; a ??= { b: 1 }; return (a?.b ?? 2) === 1 && a?.c?.d === undefined; })()',
    'named groups and lookbehind': "/(?<=\\$)(?<n>\\d+)/.exec('cost $42').groups.n === '42'",
    'RegExp indices (d)': "/a(b)/d.exec('ab').indices[1][0] === 1",
    'String.prototype.matchAll': "[...'a1b2'.matchAll(/\\d/g)].length === 2",
    BigInt: '2n ** 64n === 18446744073709551616n',
    WeakRef: 'new WeakRef(globalThis).deref() === globalThis',
    'Promise.any and AggregateError': "typeof Promise.any === 'function' && new AggregateError([1]).errors.length === 1",
    'async generators': "typeof (async function* () {})()[Symbol.asyncIterator] === 'function'",
    'Array.prototype.flat and flatMap': '[[1], [2]].flat().length + [1].flatMap(x => [x, x]).length === 4',
    'Object.fromEntries': 'Object.fromEntries([["a", 1]]).a === 1',
    'numeric separators': '1_000 === 1000',
  },
  ES2023: {
    'findLast, findLastIndex': '[1, 2, 3].findLast(x => x < 3) === 2 && [1, 2].findLastIndex(x => x === 1) === 0',
    'toSorted, toReversed, toSpliced, with':
      '[3, 1].toSorted().join() + [1, 2].toReversed().join() + [1, 2].toSpliced(0, 1).join() + [1].with(0, 9).join() === "1,32,129"',
    'symbols as WeakMap keys': '(() => { const s = Symbol(); return new WeakMap([[s, 1]]).get(s) === 1; })()',
  },
  ES2024: {
    'Object.groupBy': "Object.groupBy([1, 2], x => x % 2 ? 'odd' : 'even').odd[0] === 1",
    'Map.groupBy': 'Map.groupBy([1, 2], x => x % 2).get(1)[0] === 1',
    'Promise.withResolvers': "typeof Promise.withResolvers().resolve === 'function'",
    'ArrayBuffer.prototype.transfer, resize':
      '(() => { const b = new ArrayBuffer(4, { maxByteLength: 8 }); b.resize(8); return b.byteLength === 8 && b.transfer(2).byteLength === 2; })()',
    'String.prototype.isWellFormed, toWellFormed': "!'\\ud800'.isWellFormed() && '\\ud800'.toWellFormed() === '\\ufffd'",
    'RegExp v flag': "new RegExp('[\\\\p{L}--[a-z]]', 'v').test('B') && !new RegExp('[\\\\p{L}--[a-z]]', 'v').test('b')",
  },
  ES2025: {
    'iterator helpers': '[1, 2, 3].values().map(x => x * 2).filter(x => x > 2).take(1).toArray()[0] === 4',
    'Iterator.from': 'Iterator.from({ next: () => ({ done: true }) }).toArray().length === 0',
    'Set methods':
      'new Set([1, 2]).union(new Set([3])).size === 3 && new Set([1]).isSubsetOf(new Set([1, 2])) && new Set([1, 2]).intersection(new Set([2])).has(2)',
    'Promise.try': "typeof Promise.try(() => 1).then === 'function'",
    'RegExp.escape': "RegExp.escape('a.b').includes('\\\\.')",
    'RegExp modifiers': "new RegExp('(?i:a)b').test('Ab')",
    'duplicate named groups': "new RegExp('(?<y>\\\\d{4})|(?<y>\\\\d{2})').exec('26').groups.y === '26'",
    Float16Array: 'new Float16Array([1.5])[0] === 1.5',
  },
  'ES2026 and later': {
    'Array.fromAsync': "typeof Array.fromAsync([1]).then === 'function'",
    'Uint8Array base64 and hex': "new Uint8Array([255]).toHex() === 'ff' && Uint8Array.fromBase64('/w==')[0] === 255",
    'Error.isError': 'Error.isError(new Error()) && !Error.isError({})',
    'Math.sumPrecise': 'Math.sumPrecise([1e20, 0.1, -1e20]) === 0.1',
    'Map.prototype.getOrInsert': "new Map().getOrInsert('a', 1) === 1",
    'Iterator.concat': 'Iterator.concat([1], [2]).toArray().length === 2',
    'Symbol.dispose, DisposableStack':
      '(() => { let n = 0; const s = new DisposableStack(); s.defer(() => n++); s.use({ [Symbol.dispose]() { n++; } }); s.dispose(); return n === 2 && s.disposed; })()',
    'AsyncDisposableStack, SuppressedError':
      "typeof new AsyncDisposableStack().disposeAsync === 'function' && new SuppressedError(1, 2).error === 1",
  },
  'The world around': {
    console:
      "['log', 'info', 'warn', 'error', 'debug', 'table', 'dir', 'group', 'groupEnd', 'time', 'timeEnd', 'assert', 'count', 'trace'].every(m => typeof console[m] === 'function')",
    timers:
      '[setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, queueMicrotask, sleep].every(f => typeof f === "function")',
    structuredClone: 'structuredClone(new Map([[1, new Date(5)]])).get(1).getTime() === 5',
    'URL, URLSearchParams': "new URL('../b?x=1', 'https://a.b/c/d').searchParams.get('x') === '1'",
    'TextEncoder, TextDecoder': "new TextDecoder().decode(new TextEncoder().encode('ü')) === 'ü'",
    'atob, btoa': "atob(btoa('hi')) === 'hi'",
    'crypto.randomUUID, getRandomValues': 'crypto.randomUUID().length === 36 && crypto.getRandomValues(new Uint8Array(4)).length === 4',
    'crypto.subtle.digest': "typeof crypto.subtle.digest('SHA-256', new Uint8Array(1)).then === 'function'",
    'AbortController, AbortSignal':
      '(c => { c.abort(); return c.signal.aborted && AbortSignal.any([c.signal]).aborted; })(new AbortController())',
    'Event, EventTarget, CustomEvent':
      "(t => { let n = 0; t.addEventListener('a', () => n++); t.dispatchEvent(new CustomEvent('a')); return n === 1; })(new EventTarget())",
    DOMException: "new DOMException('a', 'AbortError').code === 20",
    performance: 'performance.now() >= 0 && performance.timeOrigin > 0',
    Buffer: "Buffer.from('hi').toString('base64') === 'aGk='",
    Intl: "new Intl.NumberFormat('de-DE').format(1234.5) === '1.234,5'",
    'Intl.DateTimeFormat with time zones':
      "new Intl.DateTimeFormat('en-US', { timeZone: 'Asia/Tokyo', hour: 'numeric', hour12: false }).format(0) === '09'",
    'Intl.PluralRules, RelativeTimeFormat, ListFormat':
      "new Intl.PluralRules('en').select(1) + new Intl.RelativeTimeFormat('en').format(-1, 'day') + new Intl.ListFormat('en').format(['a', 'b']) === 'one1 day agoa and b'",
    'Intl.Collator, Segmenter, DisplayNames':
      "new Intl.Collator('sv').compare('z', 'ö') < 0 && [...new Intl.Segmenter('en').segment('ab')].length === 2 && new Intl.DisplayNames('en', { type: 'region' }).of('DE') === 'Germany'",
    'toLocaleString, localeCompare, normalize':
      "(1e6).toLocaleString('en-US') === '1,000,000' && ['b', 'a', 'C'].sort((x, y) => x.localeCompare(y)).join('') === 'abC' && 'e\\u0301'.normalize() === 'é'",
  },
};

/** Names that a program does not find, each absent for a reason given in the docs. */
export const ABSENT: readonly string[] = [
  'process',
  'require',
  'module',
  'exports',
  '__dirname',
  'global',
  'window',
  'self',
  'document',
  'Deno',
  'Bun',
  'fetch',
  'XMLHttpRequest',
  'WebSocket',
  'Worker',
  'importScripts',
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'FinalizationRegistry',
  'navigator',
  'std',
  'os',
  'print',
  'gc',
  'scriptArgs',
];
