import { expect, test } from 'vitest';
import { openGuest } from './guest.ts';

test('timers run by due time, equal ones in the order in which they were armed', async () => {
  const guest = await openGuest();
  const body = `const log = []; const add = name => () => log.push(name);
    setTimeout(add('b'), 20); setTimeout(add('a'), 10); setTimeout(add('c'), 20); setTimeout(add('zero')); setTimeout(add('one'), 1);
    setImmediate(add('immediate')); await sleep(30); return log;`;
  expect(guest.run(body)).toEqual(['immediate', 'zero', 'one', 'a', 'b', 'c']);
});

test('the microtasks of one callback run before the next callback', async () => {
  const guest = await openGuest();
  const body = `const log = [];
    setTimeout(() => { log.push(1); Promise.resolve().then(() => log.push('micro 1')).then(() => log.push('micro 2')); }, 5);
    setTimeout(() => log.push(2), 5); await sleep(10); return log;`;
  expect(guest.run(body)).toEqual([1, 'micro 1', 'micro 2', 2]);
});

test('handles clear by object, number and text; others are ignored', async () => {
  const guest = await openGuest();
  const body = `let ran = 0; const f = () => ran++;
    clearTimeout(setTimeout(f, 5)); clearTimeout(+setTimeout(f, 5)); clearTimeout(String(+setTimeout(f, 5))); clearInterval(setInterval(f, 5)); clearImmediate(setImmediate(f));
    const last = setTimeout(f, 5); clearInterval(last); clearTimeout(last);
    clearTimeout(); clearTimeout(null); clearTimeout({}); clearTimeout('x'); clearTimeout(99999);
    await sleep(20); return ran;`;
  expect(guest.run(body)).toBe(0);
});

test('an interval repeats until it is cleared, also by itself', async () => {
  const guest = await openGuest();
  expect(
    guest.run(
      'let n = 0; await new Promise(done => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); done(); } }, 10); }); await sleep(100); return n;',
    ),
  ).toBe(3);
});

test('handles know ref, unref, hasRef and refresh, and callbacks get their arguments and handle', async () => {
  const guest = await openGuest();
  const body = `const t = setTimeout(() => {}, 50); const a = t.hasRef(); const b = t.unref() === t && t.hasRef(); t.ref(); const c = t.hasRef();
    let at; const r = setTimeout(() => { at = performance.now(); }, 30); await sleep(20); r.refresh(); await sleep(100);
    const got = await new Promise(resolve => { const h = setTimeout(function (...args) { resolve([args, this === h]); }, 1, 'x', 2); });
    return [a, b, c, at >= 50, got, typeof +t, Object.prototype.toString.call(t)];`;
  expect(guest.run(body)).toEqual([true, false, true, true, [['x', 2], true], 'number', '[object Timeout]']);
});

test('delays are clamped as in Node', async () => {
  const guest = await openGuest();
  expect(
    guest.run(
      "const log = []; for (const d of [-5, NaN, 'x', 0.5, 2 ** 31, Infinity, undefined, null]) setTimeout(() => log.push(String(d)), d); await sleep(5); return log.length;",
    ),
  ).toBe(8);
});

test('text as a callback is refused with a sentence', async () => {
  const guest = await openGuest();
  expect(guest.run("try { setTimeout('alert(1)', 1) } catch (e) { return [e.name, e.message] }")).toEqual([
    'TypeError',
    'setTimeout expects a function as its first argument and got a value of type string. Pass a function, for example `() => { … }`; text is not evaluated.',
  ]);
});

test('no more than 10 000 timers can be armed', async () => {
  const guest = await openGuest();
  expect(guest.run('let n = 0; try { for (;;) { setTimeout(() => {}, 1e8); n++; } } catch (e) { return [n, e.name]; }')).toEqual([
    10_000,
    'RangeError',
  ]);
});

test('arming and clearing ten thousand timers in any order keeps the queue in order', async () => {
  const guest = await openGuest();
  const body = `let seed = 7; const next = () => (seed = (seed * 16807) % 2147483647); const handles = []; const due = [];
    for (let i = 0; i < 5000; i++) { const d = next() % 1000 + 1; handles.push(setTimeout(() => due.push(d), d)); }
    for (let i = 0; i < 5000; i += 2) clearTimeout(handles[i]);
    await sleep(2000); return [due.length, due.every((d, i) => i === 0 || due[i - 1] <= d)];`;
  expect(guest.run(body)).toEqual([2500, true]);
});

test('what a callback throws is reported and the others run', async () => {
  const guest = await openGuest();
  expect(
    guest.run(
      "let ran = false; setTimeout(() => { throw new Error('boom'); }, 1); setTimeout(() => { ran = true; }, 2); await sleep(5); return ran;",
    ),
  ).toBe(true);
  expect(guest.uncaught()).toEqual(['Error: boom']);
});

test('the driver learns the earliest due time and how many one-shot timers wait', async () => {
  const guest = await openGuest();
  expect(guest.evaluate('String(__test.world.timers.nextDelay(0))')).toBe('undefined');
  guest.evaluate('[setTimeout(() => {}, 40), setTimeout(() => {}, 30).unref(), setInterval(() => {}, 70), AbortSignal.timeout(90)].length');
  expect(
    guest.evaluate(
      '[__test.world.timers.nextDelay(1000), __test.world.timers.nextDelay(1025), __test.world.timers.nextDelay(5000), __test.world.timers.pendingOneShots()]',
    ),
  ).toEqual([30, 5, 0, 1]);
  guest.evaluate('__test.world.timers.clear() ?? 0');
  expect(guest.evaluate('[String(__test.world.timers.nextDelay(0)), __test.world.timers.pendingOneShots()]')).toEqual(['undefined', 0]);
});

test('queueMicrotask runs before timers and reports what it throws', async () => {
  const guest = await openGuest();
  expect(
    guest.run(
      "const log = []; setTimeout(() => log.push('timer'), 0); queueMicrotask(() => log.push('micro')); queueMicrotask(() => { throw new Error('m'); }); await sleep(5); return log;",
    ),
  ).toEqual(['micro', 'timer']);
  expect(guest.uncaught()).toEqual(['Error: m']);
});

test('Math.random follows the seed', async () => {
  const [first, second] = [await openGuest(), await openGuest()];
  const draw = 'Array.from({ length: 1000 }, () => Math.random())';
  const numbers = first.evaluate(draw) as number[];
  expect(second.evaluate(draw)).toEqual(numbers);
  expect(new Set(numbers).size).toBe(1000);
  expect(numbers.every((n) => n >= 0 && n < 1)).toBe(true);
  const mean = numbers.reduce((sum, n) => sum + n, 0) / 1000;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  second.evaluate("__test.world.begin({ timeZone: 'UTC', locale: 'en-US', seed: [9, 9, 9, 9] }) ?? 0");
  expect(second.evaluate('Math.random()')).not.toBe(numbers[0]);
});
