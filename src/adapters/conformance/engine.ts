// What is claimed of every engine, whatever it is made of: how programs run, what is left of them (nothing), that they end in time, that
// nothing of what they say can be forged. Not here: what each engine does in its own way (its own tests).
import { deepEqual, equal, match, notDeepEqual, ok, throws } from 'node:assert/strict';
import type { Engine } from '../../engine/engine.ts';
import { type Claims, type ConformanceCase, casesOf, type Skips } from './case.ts';
import { budgetOf, CATALOG, errorIn, Guest, type GuestOptions, MANIFEST, said, valueIn } from './guest.ts';

/** An engine to be tested. */
export interface EngineSubject extends Partial<GuestOptions> {
  /** Makes it; called once. */
  readonly open: () => Engine | Promise<Engine>;
  /** Cases that it does not keep, with the reasons. */
  readonly skip?: Skips;
}

const MEMORY_BYTES = 64 * 1024 * 1024;
/** For a program that uses up what there is. */
const SMALL_BYTES = 24 * 1024 * 1024;
/** Fits the stack of an ordinary thread. */
const STACK_BYTES = 192 * 1024;
/** For whatever has to end by itself: the machine may be busy. */
const PATIENCE_MS = 5_000;

/** The conformance suite of engines. */
export function engineCases({
  open,
  skip,
  memoryBytes = MEMORY_BYTES,
  stackBytes = STACK_BYTES,
}: EngineSubject): readonly ConformanceCase[] {
  let opened: Promise<Engine> | undefined;
  const engineOf = (): Promise<Engine> => {
    opened ??= Promise.resolve(open()).then((engine) => {
      engine.addCatalog(CATALOG, MANIFEST);
      return engine;
    });
    return opened;
  };
  /** A claim about one realm, which is new. */
  const inRealm =
    (claim: (guest: Guest, engine: Engine) => Promise<void> | void, bytes = memoryBytes) =>
    async (): Promise<void> => {
      const engine = await engineOf();
      const realm = await engine.open(bytes);
      try {
        await claim(new Guest(realm, { memoryBytes: bytes, stackBytes }), engine);
      } finally {
        realm.dispose();
      }
    };
  /** A claim about each row of a table. */
  const eachOf = <Row>(rows: Readonly<Record<string, Row>>, claim: (guest: Guest, row: Row) => Promise<void> | void): Claims[string] =>
    Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, inRealm((guest) => claim(guest, row))]));

  const claims: Claims = {
    'a program': {
      'completes with its value': inRealm((guest) =>
        deepEqual(valueIn(guest.begin('return { a: [1, null, "x"] };')), { a: [1, null, 'x'] }),
      ),
      'completes after the promises that it awaits': inRealm((guest) =>
        equal(valueIn(guest.begin('let n = 0; for (let i = 0; i < 100; i++) n += await Promise.resolve(1); return n;')), 100),
      ),
      'returns values that JSON does not have': inRealm((guest) =>
        deepEqual(valueIn(guest.begin('return [1n, new Map([[1, new Set(["a"])]]), undefined, NaN, -0, new Uint8Array([1, 2])];')), [
          1n,
          new Map([[1, new Set(['a'])]]),
          undefined,
          Number.NaN,
          -0,
          new Uint8Array([1, 2]),
        ]),
      ),
      'calls tools by their index, each once, all of a turn together': inRealm((guest) => {
        const calls = said(guest.begin('const [a, b] = await Promise.all([tools.one({ n: 1 }), tools.deep.two("x")]); return a + b;'));
        deepEqual(calls, [
          { type: 'call', id: 1, index: 0, mode: 'P', text: '{"n":1}' },
          { type: 'call', id: 2, index: 1, mode: 'P', text: '"x"' },
        ]);
        equal(valueIn(guest.post('[[2,0,20],[1,0,1]]')), 21);
      }),
      'says where it calls from, if it is asked to': inRealm((guest) => {
        const places = { ...guest.options().guest, places: true };
        const [place, call] = said(guest.begin('\nawait tools.one({});', { guest: places }));
        ok(place?.type === 'at' && place.id === 1 && /program\.js:2:/.test(place.stack), JSON.stringify(place));
        equal(call?.type, 'call');
      }),
      'goes on with each answer as it comes': inRealm((guest) => {
        guest.begin('let sum = 0; for (let i = 0; i < 3; i++) sum += await tools.one({ i }); return sum;');
        for (const id of [1, 2])
          deepEqual(
            said(guest.post(`[[${id},0,${id}]]`)).map((message) => message.type),
            ['call'],
          );
        equal(valueIn(guest.post('[[3,0,3]]')), 6);
      }),
      'can catch a call that failed, with its name, code and message': inRealm((guest) => {
        guest.begin(
          'try { await tools.one({}); } catch (error) { return [error.name, error.code, error.message, error instanceof Error]; }',
        );
        const failure = { name: 'ToolError', code: 'gone', message: 'It is gone.' };
        deepEqual(valueIn(guest.post(JSON.stringify([[1, 2, failure]]))), ['ToolError', 'gone', 'It is gone.', true]);
      }),
      'asks the functions of the host by their names': inRealm((guest) => {
        deepEqual(said(guest.begin('return (await searchTools("mail")).length;')), [
          { type: 'ask', id: 1, name: 'searchTools', mode: 'P', text: '["mail"]' },
        ]);
        equal(valueIn(guest.post('[[1,0,[1,2]]]')), 2);
      }),
      'has the constants of the application': inRealm((guest) => equal(valueIn(guest.begin('return LIMIT;')), 7)),
      'may call a tool by a global name that its text uses': inRealm((guest) =>
        deepEqual(said(guest.start('(async () => deep_two({ x: 1 }))', {}, CATALOG, [['deep_two', 1]])), [
          { type: 'call', id: 1, index: 1, mode: 'P', text: '{"x":1}' },
        ]),
      ),
      'says when its next timer is due, and goes on when it is entered then': inRealm(async (guest) => {
        const last = said(guest.begin('await new Promise((resolve) => setTimeout(resolve, 40)); return 1;')).at(-1);
        ok(last?.type === 'wake' && last.ms > 0 && last.ms <= 40, `it said ${JSON.stringify(last)}`);
        equal(valueIn(await guest.play('await sleep(10); return 2;')), 2);
      }),
      'prints in order, before whatever else it says': inRealm((guest) =>
        deepEqual(
          said(guest.begin('console.log("a"); text("b"); console.error("c"); await tools.one({});')).map((message) =>
            message.type === 'out' ? `${message.level} ${message.text}` : message.type,
          ),
          ['log a', 'text b', 'error c', 'call'],
        ),
      ),
      'is heard while it computes for long, and what it printed is told once': inRealm((guest) => {
        const told: string[] = [];
        guest.realm.onOutput = (lines) => void told.push(lines);
        const outcome = guest.begin(
          'console.log("early"); const until = Date.now() + 300; while (Date.now() < until) for (let i = 0; i < 1e4; i++); console.log("late"); for (;;);',
          { cpuMs: 600 },
        );
        guest.realm.onOutput = undefined;
        const rest = outcome.type === 'dead' ? outcome.output : '';
        const lines = [...told, rest].filter((text) => text !== '').join('\n');
        deepEqual(lines.split('\n'), ['out log "early"', 'out log "late"']);
        ok(told.length > 0, 'nothing was told before the end');
      }),
      'stores values, and finds what programs before it have stored': inRealm((guest) => {
        const store = JSON.stringify({ old: ['P', '{"n":1}'] });
        const messages = said(guest.begin('store("new", [load("old").n, load("none")]); return load("new");', { store }));
        deepEqual(
          messages.map((message) => message.type),
          ['store', 'done'],
        );
        equal(messages[0]?.type === 'store' ? messages[0].key : undefined, 'new');
      }),
      'has the time zone and the locale that it was given': inRealm((guest) =>
        deepEqual(
          valueIn(
            guest.begin('return [new Date(Date.UTC(2026, 0, 1)).getHours(), (1234.5).toLocaleString()];', {
              timeZone: 'Asia/Tokyo',
              locale: 'de-DE',
            }),
          ),
          [9, '1.234,5'],
        ),
      ),
      'fails with the name and the message of what it threw': inRealm((guest) => {
        const { kind, name, message } = errorIn(guest.begin('throw new TypeError("wrong");'));
        deepEqual([kind, name, message], ['program', 'TypeError', 'wrong']);
      }),
      'that is no program to the engine is told with its line': inRealm((guest) => {
        const outcome = guest.start('(async () => {\n  let a = ;\n})');
        ok(outcome.type === 'syntax' && outcome.line === 2 && outcome.message !== '', JSON.stringify(outcome));
      }),
      'cannot return what cannot cross, and is told the path': inRealm((guest) => {
        const { kind, message } = errorIn(guest.begin('return { a: [() => 1] };'));
        equal(kind, 'unserializable');
        match(message, /\$\.a\[0\]/);
      }),
    },

    'a new program': {
      'finds nothing of the one before it': inRealm(async (guest, engine) => {
        const dirt = `
          globalThis.left = 1; var sloppy = 2; Object.prototype.polluted = 3; Array.prototype.map = () => 'mine';
          JSON.parse = () => 'mine'; Promise.prototype.then = null; Math.random = () => 4; delete globalThis.console; tools.three = 5;
          Object.freeze(Object.prototype); Object.preventExtensions(globalThis); setInterval(() => {}, 1); void tools.one({}); return 'done';`;
        guest.begin(dirt);
        const next = await again(guest, engine, { memoryBytes, stackBytes });
        deepEqual(
          valueIn(
            next.begin(`
              return [typeof left, typeof sloppy, ({}).polluted, [1].map((x) => x + 1)[0], JSON.parse('7'), typeof Promise.prototype.then, Math.random() === 4,
                typeof console.log, typeof tools.three, Object.isFrozen(Object.prototype), Object.isExtensible(globalThis)];`),
          ),
          ['undefined', 'undefined', undefined, 2, 7, 'function', false, 'function', 'function', false, true],
        );
      }),
      'is not answered what the one before it had asked': inRealm(async (guest, engine) => {
        guest.begin('await tools.one({});');
        const next = await again(guest, engine, { memoryBytes, stackBytes });
        next.begin('globalThis.seen = []; tools.deep.two({}).then((value) => seen.push(value)); await new Promise(() => {});');
        deepEqual(said(next.post('[[7,0,"other"]]')), []);
      }),
      'draws other random numbers': inRealm(async (guest, engine) => {
        const draw = (from: Guest): unknown => valueIn(from.begin('return [Math.random(), crypto.randomUUID()];'));
        const first = draw(guest);
        notDeepEqual(draw(await again(guest, engine, { memoryBytes, stackBytes })), first);
      }),
      'counts its calls from 1': inRealm(async (guest, engine) => {
        guest.begin('await Promise.all([tools.one({}), tools.one({})]);');
        const next = await again(guest, engine, { memoryBytes, stackBytes });
        deepEqual(
          said(next.begin('await tools.one({});')).map((message) => (message.type === 'call' ? message.id : message.type)),
          [1],
        );
      }),
    },

    'a catalog': {
      'has its own tools, beside others': inRealm((guest, engine) => {
        engine.addCatalog(
          'other',
          JSON.stringify({ tools: [{ path: ['only'], name: 'only', description: '' }], globals: {}, functions: [] }),
        );
        const [call] = said(guest.begin('await tools.only({}); return typeof LIMIT;', {}, 'other'));
        ok(call?.type === 'call' && call.index === 0, JSON.stringify(call));
        equal(valueIn(guest.post('[[1,0,null]]')), 'undefined');
        engine.removeCatalog('other');
      }),
      'that was removed can be started no more; one that was added anew can': inRealm((guest, engine) => {
        engine.addCatalog('short', MANIFEST);
        engine.removeCatalog('short');
        throws(() => guest.begin('return 1;', {}, 'short'));
        engine.addCatalog('short', MANIFEST);
        equal(valueIn(guest.begin('return LIMIT;', {}, 'short')), 7);
        engine.removeCatalog('short');
      }),
    },

    'an entry ends in time': {
      ...eachOf(ENDLESS, (guest, body) => {
        const began = performance.now();
        const outcome = guest.begin(body, { cpuMs: 80, sliceMs: 80 });
        ok(outcome.type === 'dead' && outcome.kind === 'timeout', JSON.stringify(outcome));
        ok(performance.now() - began < PATIENCE_MS, 'it took far too long');
      }),
      'a timer': inRealm(async (guest) => {
        const outcome = await guest.play('setTimeout(() => { for (;;); }, 0); await new Promise(() => {});', { cpuMs: 80 });
        ok(outcome.type === 'dead' && outcome.kind === 'timeout', JSON.stringify(outcome));
      }),
      'what an answer wakes': inRealm((guest) => {
        guest.begin('await tools.one({}); for (;;);');
        const outcome = guest.post('[[1,0,null]]', { cpuMs: 80 });
        ok(outcome.type === 'dead' && outcome.kind === 'timeout', JSON.stringify(outcome));
      }),
      'and names the limit: the slice, the processor time or the clock': inRealm(async (guest, engine) => {
        const limits: (string | undefined)[] = [];
        let current = guest;
        for (const overrides of [{ cpuMs: 500, sliceMs: 40 }, { cpuMs: 40, sliceMs: 500 }, { deadline: Date.now() + 40 }]) {
          const outcome = current.begin('for (;;);', 'deadline' in overrides ? { deadline: Date.now() + 40 } : overrides);
          limits.push(outcome.type === 'dead' ? outcome.limit : outcome.type);
          current = await again(current, engine, { memoryBytes, stackBytes });
        }
        deepEqual(limits, ['sliceMs', 'cpuMs', 'wallMs']);
      }),
      'with what it had printed': inRealm((guest) => {
        const outcome = guest.begin("console.log('one'); for (;;);", { cpuMs: 40 });
        equal(outcome.type === 'dead' ? outcome.output : outcome.type, 'out log "one"');
      }),
    },

    'a program that wants too much': {
      'stack fails, and can catch that': inRealm((guest) => {
        equal(valueIn(guest.begin('const f = () => f() + 1; try { f(); } catch (error) { return error instanceof Error; }')), true);
      }),
      ...eachOf(DEEP, (guest, expression) => {
        const outcome = guest.begin(`try { return typeof (${expression}); } catch (error) { return error.name; }`);
        if (outcome.type === 'lines') match(String(valueIn(outcome)), /^(RangeError|InternalError|SyntaxError|undefined|number|string)$/);
        else ok(outcome.type === 'dead' && ['limit', 'memory', 'timeout'].includes(outcome.kind), JSON.stringify(outcome));
      }),
      'memory is refused or ended, at its limit': inRealm((guest) => {
        const outcome = guest.begin(
          'const rows = []; for (;;) rows.push(Array.from({ length: 1000 }, (_, at) => ({ at, row: rows.length })));',
        );
        // With no room left for an error an engine may throw anything: then it has to say that it was starved.
        if (outcome.type === 'lines') ok(/memory/i.test(errorIn(outcome).message) || outcome.starved, JSON.stringify(outcome));
        else ok(outcome.type === 'dead' && outcome.kind === 'memory', JSON.stringify(outcome));
      }, SMALL_BYTES),
    },

    'exit() leaves': eachOf(EXITS, async (guest, body) => {
      const messages = said(await guest.play(body, { cpuMs: 2_000 }));
      deepEqual(messages.at(-1), { type: 'done', mode: 'P', text: '7' });
      deepEqual(
        messages.filter((message) => message.type === 'out'),
        [],
      );
    }),

    'what the runtime says cannot be forged': {
      ...eachOf(PATCHES, async (guest, patch) => {
        const thrown = errorIn(guest.begin(`${patch} throw new TypeError("real");`));
        deepEqual([thrown.kind, thrown.name, thrown.message], ['program', 'TypeError', 'real']);
        const engine = await engineOf();
        const next = await again(guest, engine, { memoryBytes, stackBytes });
        const [call] = said(next.begin(`${patch} await tools.deep.two("x"); return 1;`));
        ok(call?.type === 'call' && call.id === 1 && call.index === 1 && call.text === '"x"', JSON.stringify(call));
        next.realm.dispose();
      }),
      'line breaks of every kind stay inside their line': inRealm((guest) => {
        const outcome = guest.begin(
          'const evil = "x\\ncall 9 0 P {}\\r\\u2028done P 1\\u2029\\u0085\\0"; text(evil); console.log(evil); await tools.one({ [evil]: evil });',
        );
        deepEqual(
          said(outcome).map((message) => message.type),
          ['out', 'out', 'call'],
        );
      }),
    },

    'a realm': {
      'counts what its program uses': inRealm((guest) => {
        guest.begin('globalThis.kept = Array.from({ length: 100_000 }, (_, i) => ({ i })); await tools.one({});');
        ok(guest.realm.peakBytes() > 1_000_000, `it counted ${guest.realm.peakBytes()} bytes`);
        ok(guest.realm.peakBytes() <= memoryBytes, `it counted ${guest.realm.peakBytes()} bytes`);
      }),
      'can be disposed of twice, in the middle of a program too': inRealm((guest) => {
        guest.begin('setTimeout(() => {}, 1000); await tools.one({});');
        guest.realm.dispose();
        guest.realm.dispose();
      }),
      'goes on in another one, if its engine has images': async () => {
        const engine = await engineOf();
        const [first, second] = await Promise.all([engine.open(memoryBytes), engine.open(memoryBytes)]);
        const [guest, other] = [first, second].map((realm) => new Guest(realm, { memoryBytes, stackBytes })) as [Guest, Guest];
        try {
          equal(typeof first.park, engine.parks ? 'function' : 'undefined');
          equal(typeof first.resume, engine.parks ? 'function' : 'undefined');
          if (!engine.parks) return;
          guest.begin(
            'let count = 40; const add = (n) => (count += n); const late = new Promise((resolve) => setTimeout(() => resolve("rang"), 20)); add(await tools.one({})); return [count, await late];',
          );
          equal(first.park?.(1), undefined, 'an image that is too big stays where it is');
          const image = first.park?.(Number.POSITIVE_INFINITY);
          ok(image !== undefined);
          await new Promise((resolve) => setTimeout(resolve, 30));
          const options = other.options();
          const outcome = second.resume?.(CATALOG, image, '[[1,0,2]]', options, budgetOf(options));
          ok(outcome !== undefined);
          deepEqual(valueIn(outcome), [42, 'rang']);
          // The realm that it has left is free.
          equal(valueIn(guest.begin('return typeof count;')), 'undefined');
        } finally {
          first.dispose();
          second.dispose();
        }
      },
    },
  };
  return casesOf(claims, skip);
}

/** A guest for the next program: the same realm where it can be used again, else a new one. */
async function again(guest: Guest, engine: Engine, options: GuestOptions): Promise<Guest> {
  if (guest.realm.reset()) return guest;
  guest.realm.dispose();
  return new Guest(await engine.open(options.memoryBytes), options);
}

const ENDLESS = {
  'a loop': 'for (;;);',
  'a loop that catches everything': 'for (;;) { try { for (;;); } catch {} finally { continue; } }',
  'promise callbacks without an end': 'const again = () => Promise.resolve().then(again); again(); await new Promise(() => {});',
  'microtasks without an end': 'const again = () => queueMicrotask(again); again(); await new Promise(() => {});',
  'an await in a loop': 'for (;;) await null;',
  'a regular expression that backtracks': "/^(a+)+$/.test('a'.repeat(40) + 'b');",
  'a getter of the value': 'return { get a() { for (;;); } };',
  'toJSON of the value': 'return { toJSON() { for (;;); } };',
  'a proxy as the value': 'return new Proxy({}, { ownKeys() { for (;;); } });',
  'a getter of what was thrown': 'throw Object.defineProperty(new Error(), "message", { get() { for (;;); } });',
  'a then of the value': 'return { then() { for (;;); } };',
  'an async generator': 'async function* g() { for (;;) yield 1; } for await (const x of g());',
};

const DEEP = {
  'native recursion is held': "JSON.parse('['.repeat(1e5))",
  'a deep pattern is held': "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
  'a getter of itself is held': '(() => { const o = { get a() { return this.a; } }; return o.a; })()',
  'a proxy of proxies is held': '(() => { let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.a; })()',
  'sorting that sorts is held': '(() => { const s = () => [2, 1].sort(s); return s(); })()',
  'text that is deep is held': "eval('['.repeat(1e5))",
};

const EXITS = {
  'from a catch': 'try { exit(7); } catch { text("caught"); }',
  'from a finally': 'try { exit(7); } finally { for (;;); }',
  'from a loop that catches': 'for (;;) try { exit(7); } catch {}',
  'from a callback of a built-in': '[3, 2, 1].sort(() => exit(7)); for (;;);',
  'from a promise callback': 'await Promise.resolve().then(() => { try { exit(7); } catch {} for (;;); });',
  'from a promise executor': 'await new Promise(() => exit(7)); for (;;);',
  'from a timer': 'setTimeout(() => { try { exit(7); } catch {} for (;;); }, 0); await new Promise(() => {});',
  'from a timer, quietly': 'setTimeout(() => exit(7), 0); await new Promise(() => {});',
  'from an async generator': 'async function* g() { try { yield exit(7); } catch { for (;;); } } for await (const x of g());',
  'from a getter of the value': 'return { get a() { try { exit(7); } catch {} for (;;); } };',
  'from toString': 'String({ toString() { exit(7); } }); for (;;);',
  'from a proxy trap': 'new Proxy({}, { get() { exit(7); } }).x; for (;;);',
  'while calls are pending': 'tools.one(); tools.deep.two(); exit(7);',
  'only once': 'try { exit(7); } catch {} try { exit(8); } catch {} return 9;',
};

const PATCHES = {
  'by toJSON on every object': 'Object.prototype.toJSON = () => "forged";',
  'by toJSON as a getter': 'Object.defineProperty(Object.prototype, "toJSON", { get() { return () => ({ kind: "limit" }); } });',
  'by setters on indexes':
    'for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, { set() { throw new Error("setter"); }, configurable: true });',
  'by JSON replaced': 'JSON.stringify = JSON.parse = () => "forged";',
  'by pattern matching replaced': 'RegExp.prototype.exec = () => { throw new Error("exec"); }; RegExp.prototype.test = () => true;',
  'by kind and name on every object': 'Object.prototype.kind = "limit"; Object.prototype.isError = false; Object.prototype.code = "fake";',
  'by the iterator protocol replaced': 'Array.prototype[Symbol.iterator] = function* () { yield "forged"; };',
  'by the global constructors replaced':
    'for (const name of ["Map", "Set", "Promise", "Error", "Object", "Array", "String", "Reflect", "WeakMap", "Proxy", "RegExp"]) globalThis[name] = undefined;',
};
