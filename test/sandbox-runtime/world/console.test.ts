import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { format } from 'node:util';
import { expect, test } from 'vitest';
import { openGuest } from './guest.ts';

/** What Node's console writes for a statement. */
function nodeOutput(statement: string): string[] {
  let written = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done();
    },
  });
  const console = new Console({ stdout: stream, stderr: stream, inspectOptions: { depth: 8 } });
  new Function('console', statement)(console);
  return written.split('\n').slice(0, -1);
}

const STATEMENTS = [
  "console.log('plain', 1, { a: [1, 2] }, null, undefined, true, 1n)",
  'console.log()',
  "console.log('%s is %d years and %i, %f%%', 'Ada', 36.5, 36.5, '1.5', 'rest', { x: 1 })",
  "console.log('%j %o %O', { a: 1 }, [1], { b: { c: 2 } })",
  "console.log('%s %s %s %s', null, undefined, { a: { b: 1 } }, [1, [2]])",
  "console.log('%s', class A {}, '%d', 'x')",
  "console.log('%c styled', 'color: red')",
  "console.log('100% sure', 5)",
  "console.log('%d %i', '42abc', '42abc')",
  "console.log('%s', { toString() { return 'mine'; } })",
  "console.log('%s %s', Symbol('s'), -0)",
  "console.log('%x %', 1)",
  "console.log('a%sb%sc', 1)",
  "console.table([{ a: 1, b: 'x' }, { a: 2, c: true }])",
  'console.table([[1, 2], [3, 4]])',
  "console.table(['x', 'y'])",
  "console.table([{ a: 1, b: 2 }], ['b'])",
  "console.table(new Map([['k', { v: 1 }]]))",
  "console.table(new Set([1, 'b']))",
  'console.table({ r1: { c: 1 }, r2: { c: 2 } })',
  "console.table([{ name: '日本', n: 1 }, 5, null])",
  "console.table('not tabular')",
  'console.table([])',
  "console.group('G'); console.log('in\\nside'); console.group(); console.warn({ a: 1 }); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log('out')",
  "console.assert(1 === 1, 'no'); console.assert(false); console.assert(false, 'why %s', 'x')",
  "console.count(); console.count('a'); console.count(); console.countReset(); console.count()",
  'console.dir({ a: { b: { c: {} } } }, { depth: 0 }); console.dir([1])',
  "console.dirxml(1, 'a')",
  "const { log } = console; log('unbound'); [1, 2].forEach(console.log)",
  "console.info('i'); console.debug('d'); console.error('e'); console.warn('w')",
];

test('every method writes what Node writes', async () => {
  const guest = await openGuest();
  const differences = STATEMENTS.flatMap((statement) => {
    guest.run(statement);
    const actual = guest.lines().flatMap(([, text]) => text.split('\n'));
    const expected = nodeOutput(statement);
    return JSON.stringify(actual) === JSON.stringify(expected) ? [] : [{ statement, actual, expected }];
  });
  expect(differences).toEqual([]);
});

test('each method has its level', async () => {
  const guest = await openGuest();
  guest.run(
    "console.log(1); console.info(1); console.warn(1); console.error(1); console.debug(1); console.trace('t'); console.assert(false)",
  );
  expect(guest.lines().map(([level]) => level)).toEqual(['log', 'info', 'warn', 'error', 'debug', 'error', 'warn']);
});

test('time measures with the host’s clock', async () => {
  const guest = await openGuest();
  guest.run(
    "console.time('t'); await sleep(1500); console.timeLog('t', { step: 1 }); await sleep(500); console.timeEnd('t'); console.timeEnd('t')",
  );
  expect(guest.lines().map(([, text]) => text)).toEqual([
    't: 1.500s { step: 1 }',
    't: 2.000s',
    "Warning: No such label 't' for console.timeEnd()",
  ]);
});

test('a text that is too long is cut with a note', async () => {
  const guest = await openGuest();
  guest.run("console.log('L'.repeat(1000000))");
  const [[, text] = ['', '']] = guest.lines();
  expect(text.length).toBeLessThan(66_000);
  expect(text).toContain('[cut here: 934464 more characters');
});

test('a flood of arguments and directives is bounded', async () => {
  const guest = await openGuest();
  guest.run(
    "console.log('%s%d%i%f%j%o%O%c%%'.repeat(1000), ...new Array(20000).fill({ a: 1 })); console.log('%s'.repeat(100000), ...new Array(5).fill('x'))",
  );
  const lines = guest.lines();
  expect(lines).toHaveLength(2);
  for (const [, text] of lines) expect(text.length).toBeLessThan(70_000);
});

test('labels, groups and tables cannot grow without bound', async () => {
  const guest = await openGuest();
  guest.run(
    "for (let i = 0; i < 3000; i++) { console.time('t' + i); console.group(); } console.log('x'); console.table(Array.from({ length: 2000 }, (_, i) => ({ i })))",
  );
  const lines = guest.lines();
  expect(lines[0]?.[1].length).toBeLessThan(100);
  expect(lines[1]?.[1]).toContain('... 1500 more rows');
});

test('strings are printed raw, whatever they hold', async () => {
  const guest = await openGuest();
  guest.run("console.log('a\\u0000b\\ud800', '%s')");
  expect(guest.lines()).toEqual([['log', 'a\u0000b\ud800 %s']]);
  expect(format('a\u0000b\ud800', '%s')).toBe('a\u0000b\ud800 %s');
});
