import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Engine, Realm } from '../../src/engine/engine.ts';
import {
  begin,
  budget,
  CATALOG,
  errorIn,
  MEMORY,
  manifestOf,
  openEngine,
  park,
  play,
  resume,
  said,
  startOptions,
  valueIn,
} from '../helpers/realm.ts';

/** Every memory that was made since the last look: the engine makes them through the global class. */
const memories: WebAssembly.Memory[] = [];
const PlainMemory = WebAssembly.Memory;

let engine: Engine;
let realm: Realm;
let memory: WebAssembly.Memory;

async function open(memoryBytes = MEMORY): Promise<{ realm: Realm; memory: WebAssembly.Memory }> {
  memories.length = 0;
  const opened = await engine.open(memoryBytes);
  return { realm: opened, memory: memories[0] as WebAssembly.Memory };
}

beforeAll(async () => {
  WebAssembly.Memory = class extends PlainMemory {
    constructor(descriptor: { initial: number; maximum: number }) {
      super(descriptor);
      memories.push(this);
    }
  };
  engine = await openEngine();
  ({ realm, memory } = await open());
});

afterAll(() => {
  WebAssembly.Memory = PlainMemory;
});

/** Tests may leave the shared realm in any state; one that cannot be used again is replaced. */
beforeEach(async () => {
  if (!realm.reset()) ({ realm, memory } = await open());
});

describe('a program starts from an image', () => {
  test('with nothing of the program before it: globals, patched intrinsics, symbols, frozen prototypes', () => {
    const dirt = `
      globalThis.left = 1; var sloppy = 2; Object.prototype.polluted = 3; Array.prototype.map = () => 'mine';
      JSON.parse = () => 'mine'; Promise.prototype.then = null; Math.random = () => 4; Symbol.for('left').description;
      delete globalThis.console; tools.one = 5; exit = 6; Object.freeze(Object.prototype); Object.preventExtensions(globalThis);
      return 'done';`;
    expect(valueIn(begin(realm, dirt))).toBe('done');
    expect(realm.reset()).toBe(true);
    const look = `
      return [typeof left, typeof sloppy, ({}).polluted, [1].map((x) => x + 1)[0], JSON.parse('7'), typeof Promise.prototype.then,
        Math.random() === 4, typeof console.log, typeof tools.one, typeof exit, Object.isFrozen(Object.prototype), Object.isExtensible(globalThis)];`;
    expect(valueIn(begin(realm, look))).toEqual([
      'undefined',
      'undefined',
      undefined,
      2,
      7,
      'function',
      false,
      'function',
      'function',
      'function',
      false,
      true,
    ]);
  });

  test('even when the realm was not reset in between', () => {
    expect(valueIn(begin(realm, 'globalThis.left = 1; return left;'))).toBe(1);
    expect(valueIn(begin(realm, 'return typeof left;'))).toBe('undefined');
  });

  test('also after one that still had calls, timers and promises outstanding', () => {
    begin(realm, 'setTimeout(() => { globalThis.late = 1; }, 0); tools.one(); setInterval(() => {}, 1); await tools.two();');
    realm.reset();
    const outcome = begin(realm, 'await tools.one(); return typeof late;');
    expect(said(outcome)).toEqual([{ type: 'call', id: 1, index: 0, mode: 'P', text: '{}' }]);
    expect(valueIn(realm.post('[[1,0,null]]', budget()))).toBe('undefined');
  });

  test('and random numbers that are not those of the program before it', () => {
    const draws = Array.from({ length: 5 }, () => {
      realm.reset();
      return valueIn(begin(realm, 'return [Math.random(), Math.random(), crypto.randomUUID()];')) as [number, number, string];
    });
    expect(new Set(draws.flat()).size).toBe(15);
  });

  test('an answer to a call of the program before it settles nothing', () => {
    begin(realm, 'await tools.one();');
    realm.reset();
    begin(realm, 'globalThis.seen = []; tools.two().then((value) => seen.push(value)); await new Promise(() => {});');
    expect(said(realm.post('[[7,0,"other"]]', budget()))).toEqual([]);
  });

  test('a catalog that was removed can be started no more; one that was added anew can', () => {
    engine.addCatalog('short-lived', manifestOf('three'));
    const start = (): unknown =>
      realm.start('short-lived', { code: '(async () => typeof tools.three)', aliases: [] }, startOptions(), budget());
    expect(valueIn(start() as never)).toBe('function');
    engine.removeCatalog('short-lived');
    realm.reset();
    begin(realm, 'return 1;');
    expect(start).toThrow(/no image of catalog short-lived/);
  });
});

describe('no byte of a program is left in the memory', () => {
  const SECRET = 'Zq7#planted-secret#7qZ';
  // The text is put together at run time, so that it lies in the memory only where the program has put it; the parts lie there too.
  const MAKE = `const secret = ['Zq7#planted', '-secret#7qZ'].join('');`;
  const PARTS = ['Zq7#planted', '-secret#7qZ'];

  function found(where: WebAssembly.Memory): string[] {
    const bytes = Buffer.from(where.buffer as ArrayBuffer);
    return [SECRET, ...PARTS]
      .flatMap((text) => [text, Buffer.from(text, 'utf16le')])
      .flatMap((needle) => {
        const at = bytes.indexOf(needle);
        return at === -1 ? [] : [`${String(needle)} at ${at}`];
      });
  }

  test.each([
    ['completes', `${MAKE} globalThis.kept = secret; return secret.length;`, {}],
    [
      'leaves strings all over the heap',
      `${MAKE} globalThis.kept = Array.from({ length: 20_000 }, (_, i) => secret + i); return kept.length;`,
      {},
    ],
    [
      'frees what it had',
      `${MAKE} let a = Array.from({ length: 40_000 }, (_, i) => secret + i); a = null; let b = secret.repeat(100_000); b = null; return 1;`,
      {},
    ],
    ['has wide strings', `${MAKE} globalThis.kept = (secret + '\\u4e00').repeat(1000); return 1;`, {}],
    ['throws', `${MAKE} throw new Error(secret);`, {}],
    [
      'has the secret in its deepest frames',
      `${MAKE} const bytes = new TextEncoder().encode(secret); const f = (n, a, b, c) => n === 0 ? bytes[0] : f(n - 1, a + n, b, c) + 1; try { f(100000, secret, secret, 0n); } catch {} return 1;`,
      {},
    ],
    [
      'sorts, parses and matches deep in built-ins',
      `${MAKE} const deep = JSON.parse('['.repeat(500) + JSON.stringify(secret) + ']'.repeat(500)); ('x'.repeat(200) + secret).match(/(x+)+(.*)/); [secret, secret + 1].sort((a, b) => a < b ? 1 : -1); JSON.stringify([deep, secret]); return secret.localeCompare(secret);`,
      {},
    ],
    [
      'formats numbers and dates in static buffers',
      `${MAKE} const n = 1.23456789e-300; n.toFixed(20); n.toString(7); new Date().toString(); Number(secret); parseFloat('1' + secret); console.log(secret, n); return 1;`,
      {},
    ],
    ['is out of time', `${MAKE} globalThis.kept = secret; for (;;) { kept = secret + 'x'; }`, { cpuMs: 30 }],
    [
      'is out of time in a regular expression',
      `${MAKE} globalThis.kept = secret; /^(\\w+\\s?)*$/.test(secret.replace(/\\W/g, 'a').repeat(3) + '!');`,
      { cpuMs: 30 },
    ],
    ['waits', `${MAKE} globalThis.kept = secret; await tools.one({ secret });`, {}],
    ['exits', `${MAKE} setTimeout(() => secret, 5); exit(secret);`, {}],
    ['leaves timers', `${MAKE} setInterval(() => secret, 1000); return 1;`, {}],
  ] as const)('when it %s', (_how, body, overrides) => {
    begin(realm, body, overrides);
    expect(found(memory), 'the secret should lie in the memory while the program is there').not.toEqual([]);
    if (realm.reset()) expect(found(memory)).toEqual([]);
    // A memory that has grown is given up as a whole, with its realm.
    else expect(memory.buffer.byteLength).toBeGreaterThan(256 * 65536);
  });

  test('when its memory is used up, the realm is not used again', async () => {
    const { realm: small } = await open(17 << 20);
    const outcome = begin(small, `${MAKE} const a = []; for (;;) a.push(secret.repeat(1000) + a.length);`, {});
    expect(outcome.type === 'dead' ? outcome.kind : errorIn(outcome).message).toMatch(/memory/);
    expect(small.reset()).toBe(false);
  });

  test('nor after it was parked', () => {
    begin(realm, `${MAKE} globalThis.kept = secret; await tools.one();`);
    const image = park(realm);
    expect(Buffer.from(image).includes(SECRET)).toBe(true);
    expect(found(memory)).toEqual([]);
  });

  test('and neither are the settlements that it was given', () => {
    begin(realm, 'globalThis.kept = await tools.one(); await tools.two();');
    realm.post(JSON.stringify([[1, 0, SECRET]]), budget());
    expect(found(memory)).not.toEqual([]);
    realm.reset();
    expect(found(memory)).toEqual([]);
  });

  test('the memory of a fresh realm and of one that was used are the same, byte for byte', async () => {
    const before = await open();
    begin(before.realm, 'return 1;');
    before.realm.reset();
    const clean = Buffer.from(before.memory.buffer as ArrayBuffer).toString('latin1');
    begin(
      before.realm,
      `${MAKE} globalThis.kept = [secret, new Map([[1, { deep: secret }]])]; for (let i = 0; i < 1e5; i++) kept.push({ i }); console.log(secret); await tools.one();`,
    );
    before.realm.reset();
    expect(Buffer.from(before.memory.buffer as ArrayBuffer).toString('latin1') === clean).toBe(true);
  });
});

describe('a parked program', () => {
  test('goes on in another realm with its calls, closures and timers', async () => {
    const { realm: other } = await open();
    begin(
      realm,
      `let count = 40; const add = (n) => (count += n);
       const map = new Map([['k', { add }]]);
       const timer = new Promise((resolve) => setTimeout(() => resolve('rang'), 300));
       const [a, b] = await Promise.all([tools.one({ n: 1 }), tools.two()]);
       map.get('k').add(a + b);
       return [count, await timer];`,
    );
    const image = park(realm);
    const first = said(resume(other, image, '[[2,0,1]]'));
    expect(first.map((message) => message.type)).toEqual(['wake']);
    await new Promise((resolve) => setTimeout(resolve, 320));
    const again = park(other);
    // And back into the realm that it came from, where another program has run meanwhile.
    begin(realm, 'globalThis.left = 1; return left;');
    realm.reset();
    expect(valueIn(resume(realm, again, '[[1,0,1]]'))).toEqual([42, 'rang']);
  });

  test('goes on after its memory has grown', async () => {
    const { realm: grown, memory: before } = await open();
    const { realm: other } = await open();
    begin(
      grown,
      'const rows = Array.from({ length: 200_000 }, (_, i) => ({ i, text: "row " + i })); await tools.one(); return [rows.length, rows[123_456].text];',
    );
    const image = park(grown);
    expect(image.byteLength).toBeGreaterThan(16 << 20);
    expect(before.buffer.byteLength).toBeGreaterThan(16 << 20);
    expect(grown.reset()).toBe(false);
    expect(valueIn(resume(other, image, '[[1,0,null]]'))).toEqual([200_000, 'row 123456']);
    expect(other.reset()).toBe(false);
  });

  test('is small when the program is', () => {
    begin(realm, 'await tools.one();');
    expect(park(realm).byteLength).toBeLessThan(128 * 1024);
  });

  test('may be parked again and again, waiting for a different call each time', async () => {
    const { realm: other } = await open();
    const realms = [realm, other];
    begin(realm, 'let sum = 0; for (let i = 0; i < 20; i++) sum += await tools.one({ i }); return sum;');
    for (let i = 0; i < 19; i++) {
      const image = park(realms[i % 2] as Realm);
      expect(said(resume(realms[(i + 1) % 2] as Realm, image, `[[${i + 1},0,${i}]]`))).toHaveLength(1);
    }
    expect(valueIn((realms[1] as Realm).post('[[20,0,19]]', budget()))).toBe(190);
  });

  test('an engine in another thread has the same build, and continues it', async () => {
    begin(realm, 'const closure = { n: 41 }; const got = await tools.one(); return closure.n + got;');
    const image = park(realm);
    const url = new URL('../../dist/engine/', import.meta.url).href;
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      (async () => {
        const { createQuickJs } = await import(${JSON.stringify(`${url}quickjs.js`)});
        const { compileQuickJs } = await import(${JSON.stringify(`${url}quickjs-module.js`)});
        const engine = await createQuickJs(await compileQuickJs());
        engine.addCatalog(workerData.catalog, workerData.manifest);
        const realm = await engine.open(${MEMORY});
        parentPort.postMessage([engine.build, realm.resume(workerData.catalog, workerData.image, '[[1,0,1]]', workerData.options, workerData.budget)]);
      })();`;
    const workerData = { catalog: CATALOG, manifest: manifestOf('one', 'two'), image, options: startOptions(), budget: budget() };
    const worker = new Worker(code, { eval: true, workerData, env: {}, execArgv: [], resourceLimits: { stackSizeMb: 16 } });
    const [build, outcome] = await new Promise<[string, never]>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    await worker.terminate();
    expect(build).toBe(engine.build);
    expect(valueIn(outcome)).toBe(42);
  });
});

describe('an entry ends', () => {
  test.each([
    ['a loop', 'for (;;);'],
    ['a loop that catches everything', 'for (;;) { try { for (;;); } catch {} finally { continue; } }'],
    ['promise callbacks without an end', 'const again = () => Promise.resolve().then(again); again(); await new Promise(() => {});'],
    ['queueMicrotask without an end', 'const again = () => queueMicrotask(again); again(); await new Promise(() => {});'],
    ['an await in a loop', 'for (;;) await null;'],
    ['a regular expression that backtracks', "/^(a+)+$/.test('a'.repeat(40) + 'b');"],
    ['a getter of the value', 'return { get a() { for (;;); } };'],
    ['toJSON of the value', 'return { toJSON() { for (;;); } };'],
    ['a proxy as the value', 'return new Proxy({}, { ownKeys() { for (;;); } });'],
    ['a getter of what was thrown', 'throw Object.defineProperty(new Error(), "message", { get() { for (;;); } });'],
    ['a then of the value', 'return { then() { for (;;); } };'],
    ['an async generator', 'async function* g() { for (;;) yield 1; } for await (const x of g());'],
  ])('in time: %s', (_name, body) => {
    const began = performance.now();
    const outcome = begin(realm, body, { cpuMs: 60, sliceMs: 60 });
    expect(outcome).toEqual({ type: 'dead', kind: 'timeout', limit: 'cpuMs', output: '' });
    expect(performance.now() - began).toBeLessThan(2_000);
    // A realm that grew is given up; any other is as good as new.
    expect(realm.reset()).toBe(memory.buffer.byteLength === 256 * 65536);
  });

  test('and what it printed before is not lost, nor held back while it computes', () => {
    const told: string[] = [];
    realm.onOutput = (lines) => told.push(lines);
    expect(begin(realm, "console.log('one'); for (;;);", { cpuMs: 20 })).toMatchObject({ type: 'dead', output: 'out log "one"' });
    expect(told).toEqual([]);
    expect(realm.reset()).toBe(true);
    expect(begin(realm, "console.log('one'); console.log('two'); for (;;);", { cpuMs: 400 })).toMatchObject({ type: 'dead', output: '' });
    expect(told).toEqual(['out log "one"\nout log "two"']);
    realm.onOutput = undefined;
  });

  test('in time: a timer', async () => {
    expect(await play(realm, 'setTimeout(() => { for (;;); }, 0); await new Promise(() => {});', { cpuMs: 60 })).toMatchObject({
      kind: 'timeout',
    });
  });

  test('with the limit that it hit: the slice, the processor time or the clock', () => {
    expect(begin(realm, 'for (;;);', { cpuMs: 500, sliceMs: 20 })).toMatchObject({ limit: 'sliceMs' });
    expect(begin(realm, 'for (;;);', { cpuMs: 20, sliceMs: 500 })).toMatchObject({ limit: 'cpuMs' });
    expect(begin(realm, 'for (;;);', { cpuMs: 500, sliceMs: 500, deadline: Date.now() + 20 })).toMatchObject({ limit: 'wallMs' });
  });

  test('as a failure of the program when its stack is used up', () => {
    const outcome = begin(realm, 'const f = () => f() + 1; f();');
    expect(errorIn(outcome).message).toMatch(/stack/i);
    expect(realm.reset()).toBe(true);
  });

  test.each([
    ['native recursion', "JSON.parse('['.repeat(1e5))"],
    ['a deep pattern', "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))"],
    ['a getter of itself', '(() => { const o = { get a() { return this.a; } }; return o.a; })()'],
    ['toString of itself', '(() => { const a = []; a[0] = a; const b = { toString() { return `${b}`; } }; return `${b}`; })()'],
    ['a proxy of proxies', '(() => { let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.a; })()'],
    ['bound functions', '(() => { let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); return f(); })()'],
    ['sorting that sorts', '(() => { const s = () => [2, 1].sort(s); return s(); })()'],
    ['text that is deep', "eval('['.repeat(1e5))"],
  ])('without harm to the realm: %s', (_name, expression) => {
    const outcome = begin(realm, `try { return typeof (${expression}); } catch (error) { return error.name; }`);
    if (outcome.type === 'lines')
      expect(['RangeError', 'InternalError', 'SyntaxError', 'undefined', 'number', 'string']).toContain(valueIn(outcome));
    else expect(['limit', 'memory']).toContain(outcome.type === 'dead' ? outcome.kind : outcome.type);
  });

  test('as out of memory, or as an error that the program may catch, at the limit of the memory', async () => {
    const { realm: small } = await open(24 << 20);
    expect(valueIn(begin(small, 'try { new ArrayBuffer(100 << 20); } catch (error) { return error.name; }'))).toMatch(
      /InternalError|RangeError/,
    );
    const outcome = begin((await open(24 << 20)).realm, 'let s = "x"; for (;;) s += s;');
    expect(outcome.type === 'dead' ? outcome.kind : errorIn(outcome).message).toMatch(/memory|string too long/);
  });

  test('as no program, with the place, when the engine cannot read the text', () => {
    const outcome = realm.start(CATALOG, { code: '(async () => {\n  let a = ;\n})', aliases: [] }, startOptions(), budget());
    expect(outcome).toMatchObject({ type: 'syntax', line: 2 });
  });
});

describe('exit() leaves from everywhere, and nothing catches it', () => {
  test.each([
    ['a catch', 'try { exit(7); } catch { text("caught"); }'],
    ['a finally', 'try { exit(7); } finally { for (;;); }'],
    ['a finally that returns', '(() => { try { exit(7); } finally { return 1; } })(); for (;;);'],
    ['a loop that catches', 'for (;;) try { exit(7); } catch {}'],
    ['a callback of a built-in', '[3, 2, 1].sort(() => exit(7)); for (;;);'],
    ['a promise callback', 'await Promise.resolve().then(() => { try { exit(7); } catch {} for (;;); });'],
    ['a promise executor', 'await new Promise(() => exit(7)); for (;;);'],
    ['a rejection handler', 'await Promise.reject(1).catch(() => { exit(7); }).catch(() => 8);'],
    ['Promise.allSettled', 'await Promise.allSettled([(async () => exit(7))()]); for (;;);'],
    ['a timer', 'setTimeout(() => { try { exit(7); } catch {} for (;;); }, 0); await new Promise(() => {});'],
    ['a timer, quietly', 'setTimeout(() => exit(7), 0); await new Promise(() => {});'],
    ['an interval', 'setInterval(() => exit(7), 0); await new Promise(() => {});'],
    ['a generator', 'function* g() { try { yield exit(7); } finally { for (;;); } } [...g()];'],
    ['an async generator', 'async function* g() { try { yield exit(7); } catch { for (;;); } } for await (const x of g());'],
    ['a getter', '({ get a() { try { exit(7); } catch {} for (;;); } }).a;'],
    ['a getter of the value', 'return { get a() { try { exit(7); } catch {} for (;;); } };'],
    ['toJSON of the value', 'return { toJSON() { exit(7); } };'],
    ['a then of the value', 'return { then() { exit(7); } };'],
    ['toString', '`${{ toString() { exit(7); } }}`; for (;;);'],
    ['a proxy trap', 'new Proxy({}, { get() { exit(7); } }).x; for (;;);'],
    ['Symbol.hasInstance', '1 instanceof { [Symbol.hasInstance]() { exit(7); } }; for (;;);'],
    ['a microtask', 'queueMicrotask(() => exit(7)); await new Promise(() => {});'],
    ['an event listener', 'const c = new AbortController(); c.signal.addEventListener("abort", () => exit(7)); c.abort(); for (;;);'],
    ['while calls are pending', 'tools.one(); tools.two(); exit(7);'],
    ['more than once', 'try { exit(7); } catch {} try { exit(8); } catch {} return 9;'],
    ['a static block', 'class C { static { exit(7); } } for (;;);'],
    ['a default parameter', '((a = exit(7)) => a)(); for (;;);'],
    ['a replacer of text', "'abc'.replace(/b/, () => exit(7)); for (;;);"],
    ['an argument of a call', 'await tools.one({ get a() { exit(7); } }); for (;;);'],
  ])('from %s', async (_where, body) => {
    const messages = said(await play(realm, body, { cpuMs: 1_000 }));
    expect(messages.at(-1)).toEqual({ type: 'done', mode: 'P', text: '7' });
    expect(messages.filter((message) => message.type === 'out')).toEqual([]);
  });

  test('what is called after it never leaves', () => {
    const outcome = begin(
      realm,
      'try { exit(7); } catch {} try { tools.one({ late: true }); console.log("late"); text("late"); store("k", "late"); } catch {} return 1;',
    );
    expect(said(outcome)).toEqual([{ type: 'done', mode: 'P', text: '7' }]);
  });

  test('a value that cannot cross is told to whoever calls it, and the program goes on', () => {
    expect(valueIn(begin(realm, 'try { exit(() => 1); } catch (error) { return error.message; }'))).toBe(
      '$ is a function, which cannot cross; leave it out or return what it computes.',
    );
  });

  test('a program that has thrown has ended: a getter of its error can not make it complete', () => {
    const thrown = errorIn(begin(realm, 'throw Object.defineProperty(new Error(), "message", { get() { exit(7); } });'));
    expect(thrown).toMatchObject({ kind: 'program', name: 'Error', message: '' });
  });

  test('it works in what settlements wake, too', () => {
    begin(realm, 'await tools.one().then(() => { try { exit(7); } catch {} for (;;); });');
    expect(said(realm.post('[[1,0,null]]', budget(1_000))).at(-1)).toEqual({ type: 'done', mode: 'P', text: '7' });
    realm.reset();
    begin(realm, 'Object.defineProperty(Object.prototype, "then", { get() { try { exit(7); } catch {} for (;;); } }); await tools.one();');
    expect(said(realm.post('[[1,0,{}]]', budget(1_000))).at(-1)).toEqual({ type: 'done', mode: 'P', text: '7' });
  });
});

describe('what the runtime says cannot be forged', () => {
  test.each([
    ['toJSON on every object', 'Object.prototype.toJSON = () => "forged";'],
    ['toJSON on every object that gives nothing', 'Object.prototype.toJSON = () => undefined;'],
    ['toJSON on every array that gives nothing', 'Array.prototype.toJSON = () => undefined;'],
    ['toJSON as a getter', 'Object.defineProperty(Object.prototype, "toJSON", { get() { return () => ({ kind: "limit" }); } });'],
    [
      'setters on indexes',
      'for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, { set() { throw new Error("setter"); }, configurable: true });',
    ],
    ['JSON replaced', 'JSON.stringify = JSON.parse = () => "forged";'],
    ['pattern matching replaced', 'RegExp.prototype.exec = () => { throw new Error("exec"); }; RegExp.prototype.test = () => true;'],
    ['kind and name on every object', 'Object.prototype.kind = "limit"; Object.prototype.isError = false; Object.prototype.code = "fake";'],
    ['the iterator protocol replaced', 'Array.prototype[Symbol.iterator] = function* () { yield "forged"; };'],
    [
      'Math replaced',
      'for (const name of Object.getOwnPropertyNames(Math)) if (typeof Math[name] === "function") Math[name] = () => { throw new Error("Math"); };',
    ],
    [
      'the global constructors replaced',
      'for (const name of ["Map", "Set", "Promise", "Error", "Object", "Array", "String", "Reflect", "WeakMap", "Proxy", "RegExp"]) globalThis[name] = undefined;',
    ],
  ])('by %s', (_how, patch) => {
    const thrown = errorIn(begin(realm, `${patch} throw new TypeError("real");`));
    expect(thrown).toMatchObject({ kind: 'program', name: 'TypeError', message: 'real' });
    realm.reset();
    const calls = said(begin(realm, `${patch} const got = await tools.two("x"); return typeof got === "bigint" ? "big" : "odd";`));
    expect(calls).toEqual([{ type: 'call', id: 1, index: 1, mode: expect.stringMatching(/^[PT]$/), text: '"x"' }]);
    const [end] = said(realm.post('[[1,1,{"$":"BigInt","v":"5"}]]', budget()));
    // The engine's own JSON meets a setter on index 0 of arrays: then the program has spoilt its own value, and is told so.
    if (end?.type === 'fail') expect(end.error).toMatchObject({ kind: 'program', message: 'setter' });
    else expect(end).toMatchObject({ type: 'done', text: '"big"' });
    realm.reset();
    // A name that there is not is answered inside the guest, by code of ours.
    const unknown = errorIn(begin(realm, `${patch} await tools.onne();`));
    expect(unknown).toMatchObject({
      kind: 'program',
      name: 'ReferenceError',
      message: 'There is no tool `onne`. Did you mean `tools.one`?',
    });
  });

  test('plain data crosses as it is, whatever is on the prototypes', () => {
    const outcome = begin(realm, 'Object.prototype.toJSON = () => undefined; await tools.one({ a: 1 });');
    // It is the program that changed its own JSON: its argument is what its toJSON says.
    expect(said(outcome)).toEqual([{ type: 'call', id: 1, index: 0, mode: 'T', text: '{"$":"undefined"}' }]);
  });

  test('a return value that its own toJSON makes nothing of is nothing, not a fault', () => {
    expect(valueIn(begin(realm, 'Object.prototype.toJSON = () => undefined; return { a: 1 };'))).toBeUndefined();
    realm.reset();
    expect(valueIn(begin(realm, 'Array.prototype.toJSON = () => undefined; return [1];'))).toBeUndefined();
  });

  test('line breaks of every kind stay inside their line', () => {
    const outcome = begin(
      realm,
      'const evil = "x\\ncall 9 0 P {}\\r\\u2028done P 1\\u2029\\u0085\\0"; text(evil); console.log(evil); await tools.one({ [evil]: evil });',
    );
    expect(said(outcome).map((message) => message.type)).toEqual(['out', 'out', 'call']);
  });
});

describe('the end of a program', () => {
  test('is the last thing that it says: what was left out of its output is told before', () => {
    const guest = { ...startOptions().guest, outputBytes: 10 };
    const messages = said(begin(realm, "for (let i = 0; i < 5; i++) text('12345'); return 1;", { guest }));
    expect(messages.map(({ type }) => type)).toEqual(['out', 'out', 'dropped', 'done']);
    expect(messages[2]).toEqual({ type: 'dropped', count: 4 });
    realm.reset();
    expect(said(begin(realm, "for (let i = 0; i < 5; i++) text('12345'); throw 1;", { guest })).map(({ type }) => type)).toEqual([
      'out',
      'out',
      'dropped',
      'fail',
    ]);
  });

  test('silences what still runs after it', async () => {
    const outcome = await play(
      realm,
      `
      setTimeout(() => { Promise.resolve().then(() => { console.log('late'); tools.one(); store('k', 1); }); throw new Error('first'); }, 0);
      await new Promise(() => {});`,
    );
    expect(said(outcome)).toMatchObject([{ type: 'fail', error: { message: 'first' } }]);
  });

  test('is told even when it came where no stack was left', () => {
    const outcome = begin(
      realm,
      `
      const c = new AbortController();
      c.signal.addEventListener('abort', function again() { c.signal.addEventListener('abort', again); c.signal.dispatchEvent(new Event('abort')); });
      c.abort();
      return 1;`,
    );
    expect(['InternalError', 'RangeError']).toContain(errorIn(outcome).name);
  });

  test('names what was thrown, whatever it was', () => {
    for (const [thrown, message] of [
      ['undefined', 'undefined'],
      ['null', 'null'],
      ['"text"', 'text'],
      ['5n', '5'],
      ['Symbol("s")', 'a symbol'],
      ['() => 1', 'a function'],
      ['{ a: 1 }', '{"a":1}'],
    ]) {
      expect(errorIn(begin(realm, `throw ${thrown};`)).message).toBe(message);
      realm.reset();
    }
  });
});

test('a disposed realm can be disposed again, and cannot be used again', async () => {
  const { realm: gone } = await open();
  gone.dispose();
  gone.dispose();
  expect(gone.reset()).toBe(false);
});

test('the most memory that a program used is counted without the engine', () => {
  begin(realm, 'return 1;');
  expect(realm.peakBytes()).toBeLessThan(256 * 1024);
  realm.reset();
  begin(realm, 'globalThis.kept = new Uint8Array(3 << 20); return 1;');
  expect(realm.peakBytes()).toBeGreaterThan(3 << 20);
  expect(realm.peakBytes()).toBeLessThan(4 << 20);
});
