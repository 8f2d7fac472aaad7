// Globals from the web platform, compared with Node's: URL, encoders, structuredClone, events, crypto, Buffer.
import { describe, expect, test } from 'vitest';
import { openGuest } from './guest.ts';
import { guestExpression, inNode } from './node.ts';

const parts = (u: string): string =>
  `(u => [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash])(${u})`;

const URLS = [
  "new URL('https://user:pass@example.com:8080/a/b?x=1&y=2#frag')",
  "new URL('../c?d', 'https://example.com/a/b/')",
  "new URL('https://EXAMPLE.com:443/%7Efoo/../bar')",
  "new URL('https://münchen.de/straße?ü=ä#ö')",
  "new URL('file:///C:/a/../b')",
  "new URL('mailto:a@b.c')",
  "new URL('data:text/plain,hi there')",
  "new URL('http://[::1]:3000/')",
  "new URL('http://0x7f.1/')",
  "new URL('  https://a.b/\\tc ')",
].map(parts);

const CASES: Record<string, string[]> = {
  URL: [
    ...URLS,
    "new URL('nope')",
    "new URL('')",
    "new URL('https://a b/')",
    "new URL('/x', 'nope')",
    "URL('https://a.b')",
    "URL.canParse('https://a.b'), URL.canParse('nope')",
    "[URL.canParse('https://a.b'), URL.canParse('x'), URL.canParse('x', 'https://a.b')]",
    "(u => { u.searchParams.append('q', 'a b&c'); u.searchParams.set('x', '2'); u.hash = 'h'; u.pathname = '/p q'; u.port = '99'; u.host = 'z.y:1'; return [u.href, `${u}`, JSON.stringify({ u })]; })(new URL('https://a.b/c?x=1&x=3'))",
    "(u => { u.search = '?k=v'; return [u.searchParams.get('k'), [...u.searchParams].length]; })(new URL('https://a.b'))",
    "(u => { const p = u.searchParams; u.search = 'a=1'; const one = p.get('a'); u.href = 'https://c.d/?a=2'; return [one, p.get('a'), p === u.searchParams]; })(new URL('https://a.b'))",
    "(u => { u.href = 'nope'; })(new URL('https://a.b'))",
    "(u => { u.protocol = 'http'; u.username = 'me'; u.password = 'p@ss'; u.hostname = 'x.y'; return u.href; })(new URL('https://a.b'))",
    "(u => { u.searchParams.delete('a'); return u.href; })(new URL('https://a.b/?a=1'))",
    "new URLSearchParams('?a=1&b=2&a=3').getAll('a')",
    "String(new URLSearchParams({ a: 'x y', b: 'ü', c: '*-._~!' }))",
    "String(new URLSearchParams([['a', '1'], ['b', undefined]]))",
    "String(new URLSearchParams(new Map([['k', 'v']])))",
    "String(new URLSearchParams(new URLSearchParams('a=b')))",
    "new URLSearchParams([['a']])",
    "[...new URLSearchParams('a=1&b=%zz&c=%F0%9F%98%80&d=+&=e&f')]",
    "(p => { p.sort(); return [String(p), p.size, p.has('b'), p.has('b', '9'), p.get('q'), [...p.keys()], [...p.values()]]; })(new URLSearchParams('b=2&a=1&b=1'))",
    "(p => { const seen = []; p.forEach((v, k) => seen.push([k, v])); return seen; })(new URLSearchParams('x=1&y=2'))",
    "(p => { p.delete('a', '1'); return String(p); })(new URLSearchParams('a=1&a=2'))",
    'Object.prototype.toString.call(new URL("https://a.b")) + Object.prototype.toString.call(new URLSearchParams())',
    'String(new URLSearchParams("a=\\ud800"))',
  ],
  encoding: [
    "[...new TextEncoder().encode('aé€😀\\ud800')]",
    'new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xc3, 0xa9]))',
    "new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))",
    'new TextDecoder().decode(new Uint8Array([0xff, 0x61, 0xe2, 0x82, 0x62, 0xf0, 0x9f, 0x98, 0xed, 0xa0, 0x80, 0xc0, 0xaf]))',
    "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff]))",
    '(d => d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac])))(new TextDecoder())',
    "new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0, 0x3d, 0xd8, 0, 0xde]))",
    "new TextDecoder('latin1').decode(new Uint8Array([0xe9, 0xff]))",
    "[new TextDecoder().encoding, new TextDecoder('ascii').encoding, new TextEncoder().encoding, new TextDecoder().fatal]",
    "new TextDecoder('nope')",
    "new TextDecoder().decode('text')",
    'new TextDecoder().decode(new Uint8Array([97, 98, 99]).buffer) + new TextDecoder().decode(new DataView(new Uint8Array([97, 98]).buffer, 1)) + new TextDecoder().decode()',
    "new TextEncoder().encodeInto('a€😀', new Uint8Array(6))",
    "btoa('hello') + btoa('') + btoa('\\xff\\x00') + btoa('ab')",
    "btoa('€')",
    'btoa()',
    "atob('aGVsbG8=') + atob(' aGVs bG8 ') + atob('')",
    "atob('a')",
    "atob('ab=c')",
    "atob('ab===')",
    "atob('a*bc')",
    "[...atob('/+8=')].map(c => c.charCodeAt(0))",
  ],
  structuredClone: [
    'structuredClone({ a: [1, { b: null }], c: undefined, d: NaN, e: -0 })',
    '(c => [c instanceof Map, [...c], c.get("k") instanceof Set])(structuredClone(new Map([["k", new Set([1])]])))',
    'structuredClone(new Date(5)).getTime()',
    '(r => [String(r), r.lastIndex])(structuredClone(Object.assign(/a/gi, { lastIndex: 3 })))',
    '(o => { o.self = o; const c = structuredClone(o); return [c !== o, c.self === c]; })({})',
    '(e => [e.name, e.message, e.cause, e instanceof RangeError, e.code])(structuredClone(Object.assign(new RangeError("m", { cause: 1 }), { code: 2 })))',
    '(c => [c instanceof Error, c.name])(structuredClone(new (class X extends Error { name = "X" })("m")))',
    'structuredClone(() => {})',
    'structuredClone({ a: Symbol("x") })',
    'structuredClone(new WeakMap())',
    'structuredClone(Promise.resolve())',
    'structuredClone()',
    'structuredClone(new Proxy({}, {}))',
    '(c => [c.constructor.name, Object.keys(c)])(structuredClone(new (class Foo { constructor() { this.a = 1; } get b() { return 2; } })()))',
    '(c => [c.constructor.name, [...c], c.buffer.byteLength])(structuredClone(new Uint16Array([1, 2])))',
    '(([a, b]) => a.buffer === b.buffer)(structuredClone((b => [new Uint8Array(b), new Int8Array(b, 1)])(new ArrayBuffer(4))))',
    '(b => { const c = structuredClone(b, { transfer: [b] }); return [b.byteLength, c.byteLength]; })(new ArrayBuffer(8))',
    '[typeof structuredClone(Object(1n)), structuredClone(new Number(3)).valueOf(), structuredClone(10n) === 10n]',
    '(a => [a.length, 1 in a])(structuredClone([1, , 3]))',
    'structuredClone({ get x() { return 1; } })',
    'Object.getPrototypeOf(structuredClone(Object.create(null))) === Object.prototype',
    '(e => [e.name, e.code, e instanceof Error, e instanceof DOMException])((() => { try { structuredClone(() => {}); } catch (e) { return e; } })())',
  ],
  events: [
    '(t => { const log = []; t.addEventListener("a", e => log.push(e.type, e.target === t)); t.addEventListener("a", { handleEvent() { log.push("obj"); } }, { once: true }); t.dispatchEvent(new Event("a")); t.dispatchEvent(new Event("a")); return log; })(new EventTarget())',
    '(t => { t.addEventListener("a", e => e.preventDefault()); return [t.dispatchEvent(new Event("a", { cancelable: true })), t.dispatchEvent(new Event("a"))]; })(new EventTarget())',
    '(t => { const log = []; const f = () => log.push(1); t.addEventListener("a", f); t.addEventListener("a", f); t.dispatchEvent(new Event("a")); t.removeEventListener("a", f); t.dispatchEvent(new Event("a")); return log; })(new EventTarget())',
    '(t => { const log = []; t.addEventListener("a", e => { log.push(1); e.stopImmediatePropagation(); }); t.addEventListener("a", () => log.push(2)); t.dispatchEvent(new Event("a")); return log; })(new EventTarget())',
    '(t => { const c = new AbortController(); const log = []; t.addEventListener("a", () => log.push(1), { signal: c.signal }); t.dispatchEvent(new Event("a")); c.abort(); t.dispatchEvent(new Event("a")); return log; })(new EventTarget())',
    'new CustomEvent("x", { detail: { a: 1 } }).detail',
    'new Event()',
    '(c => { const log = []; c.signal.onabort = () => log.push("on"); c.signal.addEventListener("abort", () => log.push("listener")); c.abort(); c.abort(); return [log, c.signal.aborted, c.signal.reason.name, c.signal.reason.code]; })(new AbortController())',
    '(c => { c.abort(new TypeError("mine")); c.signal.throwIfAborted(); })(new AbortController())',
    '(c => { c.abort(); c.signal.throwIfAborted(); })(new AbortController())',
    'AbortSignal.abort("r").reason',
    'new AbortSignal()',
    '(c => { const any = AbortSignal.any([new AbortController().signal, c.signal]); c.abort(7); return [any.aborted, any.reason]; })(new AbortController())',
    'AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason',
    '[new AbortController().signal instanceof EventTarget, Object.prototype.toString.call(new AbortController().signal), String(new Event("x"))]',
    '(e => [e.name, e.message, e.code, String(e), DOMException.ABORT_ERR, e instanceof Error])(new DOMException("m", "AbortError"))',
    '[new DOMException().name, new DOMException("a").code, Object.prototype.toString.call(new DOMException())]',
  ],
  Buffer: [
    "Buffer.from('héllo').toString('base64') + Buffer.from('héllo').toString('hex') + Buffer.from('a?>~ÿ', 'latin1').toString('base64url')",
    "Buffer.from('aGk', 'base64').toString() + Buffer.from('a-_b', 'base64url').toString('hex') + Buffer.from('6869zz', 'hex').toString()",
    "[Buffer.byteLength('€'), Buffer.byteLength('aGk=', 'base64'), Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1))]",
    "Buffer.concat([Buffer.from('a'), new Uint8Array([98])]).toString()",
    'JSON.stringify(Buffer.from([1, 2, 300]))',
    "Buffer.from(JSON.parse(JSON.stringify(Buffer.from('abc')))).toString()",
    "(b => { b.subarray(1, 3)[0] = 120; return [b.toString(), b.slice(-2).toString(), b.toString('utf8', 1, 2)]; })(Buffer.from('abcd'))",
    "[Buffer.from('a').equals(Buffer.from('a')), Buffer.compare(Buffer.from('a'), Buffer.from('b')), Buffer.from('abc').indexOf('c'), Buffer.from('abc').includes('x')]",
    "[...Buffer.alloc(4, 'ab')]",
    'Buffer.from(5)',
    "Buffer.from('x', 'nope')",
    "[Buffer.from('abc') instanceof Uint8Array, Buffer.from('abc').length, Buffer.from(new Uint8Array([1, 2]).buffer, 1).length]",
    "Buffer.from('zażółć', 'utf16le').toString('utf16le') + Buffer.from('é', 'ascii').toString('latin1')",
    "Array.from(Buffer.from('hi').map(x => x + 1))",
    "[...Buffer.from('hi').entries()]",
  ],
  globals: [
    "['console','setTimeout','URL','Intl','crypto','structuredClone','Buffer','AbortController','TextEncoder','performance','queueMicrotask','atob'].map(n => Object.getOwnPropertyDescriptor(globalThis, n) && !Object.getOwnPropertyDescriptor(globalThis, n).enumerable === (n === 'Intl' || n[0] === n[0].toUpperCase() || n === 'console'))[0]",
    "['process_', 'require_', 'module_'].map(n => typeof globalThis[n])",
    'typeof performance.now() + (performance.now() <= performance.now())',
    '(a => a.length === 4 && a.some(x => x !== 0))(crypto.getRandomValues(new Uint32Array(4)))',
    'crypto.getRandomValues(new Float32Array(4))',
    'crypto.getRandomValues(new Uint8Array(70000))',
    '/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())',
    '(() => { const all = new Set(); for (let i = 0; i < 100; i++) all.add(crypto.randomUUID()); return all.size; })()',
  ],
};

describe.each(Object.entries(CASES))('%s', (_, expressions) => {
  test('does what Node does', async () => {
    const guest = await openGuest();
    const differences = expressions.flatMap((expression) => {
      const actual = guest.evaluate(guestExpression(expression));
      const expected = inNode(expression);
      return JSON.stringify(actual) === JSON.stringify(expected) ? [] : [{ expression, actual, expected }];
    });
    expect(differences).toEqual([]);
  });
});

test('crypto.subtle.digest gives what Node gives', async () => {
  const guest = await openGuest();
  for (const algorithm of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
    const expected = Buffer.from(await crypto.subtle.digest(algorithm, new TextEncoder().encode('hello €'))).toString('hex');
    expect(
      guest.run(`return Buffer.from(await crypto.subtle.digest('${algorithm}', new TextEncoder().encode('hello €'))).toString('hex')`),
    ).toBe(expected);
  }
  expect(guest.run("try { await crypto.subtle.digest('MD5', new Uint8Array(1)) } catch (e) { return e.name }")).toBe('NotSupportedError');
  expect(guest.run("try { await crypto.subtle.digest('SHA-1', 'text') } catch (e) { return e.message }")).toContain('TextEncoder');
});

test('the label latin1 means windows-1252, as the standard says', async () => {
  const guest = await openGuest();
  expect(guest.evaluate("new TextDecoder('latin1').decode(new Uint8Array([0x80, 0x93]))")).toBe('\u20ac\u201c');
});

test('what a listener throws is reported and does not stop the others', async () => {
  const guest = await openGuest();
  expect(
    guest.evaluate(
      '(t => { const log = []; t.addEventListener("a", () => { throw new Error("boom"); }); t.addEventListener("a", () => log.push(2)); t.dispatchEvent(new Event("a")); return log; })(new EventTarget())',
    ),
  ).toEqual([2]);
  expect(guest.uncaught()).toEqual(['Error: boom']);
});

test('AbortSignal.timeout aborts when its time has come', async () => {
  const guest = await openGuest();
  const body = `const signal = AbortSignal.timeout(50); const before = signal.aborted;
    await new Promise(resolve => signal.addEventListener('abort', resolve)); return [before, signal.aborted, signal.reason.name];`;
  expect(guest.run(body)).toEqual([false, true, 'TimeoutError']);
});

test('bytes as base64 and hex, after the standard', async () => {
  const guest = await openGuest();
  expect(guest.evaluate('new Uint8Array([104, 105, 255]).toBase64()')).toBe('aGn/');
  expect(guest.evaluate("new Uint8Array([104, 105, 255, 1]).toBase64({ alphabet: 'base64url', omitPadding: true })")).toBe('aGn_AQ');
  expect(guest.evaluate('new Uint8Array([1, 171]).toHex()')).toBe('01ab');
  expect(guest.evaluate("[...Uint8Array.fromBase64('aGn/ AQ==')]")).toEqual([104, 105, 255, 1]);
  expect(guest.evaluate("[...Uint8Array.fromHex('01AB')]")).toEqual([1, 171]);
  expect(guest.evaluate("(a => [a.setFromBase64('aGn/AQ=='), [...a]])(new Uint8Array(5))")).toEqual([
    { read: 8, written: 4 },
    [104, 105, 255, 1, 0],
  ]);
  expect(guest.evaluate("(a => [a.setFromBase64('aGn/AQID'), [...a]])(new Uint8Array(4))")).toEqual([
    { read: 4, written: 3 },
    [104, 105, 255, 0],
  ]);
  for (const bad of [
    "Uint8Array.fromBase64('a')",
    "Uint8Array.fromBase64('a*bc')",
    "Uint8Array.fromHex('abc')",
    "Uint8Array.fromHex('zz')",
    "Uint8Array.fromBase64('YQ', { lastChunkHandling: 'strict' })",
  ]) {
    expect(guest.evaluate(guestExpression(bad))).toEqual({ throws: 'SyntaxError' });
  }
});
