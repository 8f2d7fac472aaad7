// The page on what a program may rely on, against the real guest: its tables, and its examples, which run.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { DEPTH } from '../src/protocol/values.ts';
import { openWorld } from './programs/world.ts';
import { ABSENT, FEATURES } from './sandbox-runtime/world/features.ts';

const PAGE = readFileSync(new URL('../docs/guest.md', import.meta.url), 'utf8');
const codeMode = openWorld();
afterAll(() => codeMode.close());

/** The rows of the table below a heading, as cells. */
function tableUnder(heading: string): string[][] {
  const section = new RegExp(`\\n## ${heading}\\n([\\s\\S]*?)(?=\\n## |$)`).exec(PAGE)?.[1] ?? '';
  return [...section.matchAll(/^\| (.*) \|$/gm)].slice(2).map(([, row = '']) => row.split(' | '));
}

/** The names in backticks of a table's first column. */
function namesUnder(heading: string): string[] {
  return tableUnder(heading).flatMap(([first = '']) => [...first.matchAll(/`([\w$.]+)(?:\([^`]*\))?`/g)].map(([, name = '']) => name));
}

async function ask(program: string): Promise<unknown> {
  const { value, error } = await codeMode.run(program);
  if (error !== undefined) throw new Error(error.message);
  return value;
}

test('the table of features is the one that is tested', () => {
  expect(tableUnder('The language')).toEqual(
    Object.entries(FEATURES).map(([group, features]) => [group, Object.keys(features).join('; ')]),
  );
});

describe('the globals', () => {
  test('that are named are there', async () => {
    const names = [...namesUnder('Globals'), ...namesUnder('Tools')].filter((name) => name !== 'process.env');
    expect(names.length).toBeGreaterThan(35);
    expect(await ask(`return ${JSON.stringify(names)}.filter((name) => (0, eval)('typeof ' + name) === 'undefined');`)).toEqual([]);
  });

  test('that are there, beside those of the language, are named', async () => {
    const named = new Set([...namesUnder('Globals'), ...namesUnder('Tools')].map((name) => name.split('.')[0]));
    const there = (await ask('return Object.getOwnPropertyNames(globalThis);')) as string[];
    const ours = there.filter((name) => !(name in globalThis) || WEB.has(name));
    expect(ours.filter((name) => !named.has(name) && !ENGINE_OWN.has(name))).toEqual([]);
  });

  test('that are missing are missing, and all that is known to be is named', async () => {
    const names = namesUnder('What is not there');
    expect(names.filter((name) => name !== 'import').toSorted()).toEqual(ABSENT.toSorted());
    expect(await ask(`return ${JSON.stringify(ABSENT)}.filter((name) => (0, eval)('typeof ' + name) !== 'undefined');`)).toEqual([]);
  });
});

/** What this Node has and the language has not. */
const WEB = new Set(
  (
    'console setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask structuredClone URL URLSearchParams TextEncoder ' +
    'TextDecoder atob btoa Buffer crypto AbortController AbortSignal Event CustomEvent EventTarget DOMException performance Intl'
  ).split(' '),
);
/** Parts of the language that this Node may not have yet, and one class that only the engine has. */
const ENGINE_OWN = new Set(['InternalError', 'Iterator', 'Float16Array']);

test.for(tableUnder('What is not there').map(([first = '', use = '']) => ({ first, use })))(
  '$first: a hint says what to use',
  async ({ first }) => {
    for (const [, name] of first.matchAll(/`([\w$]+)`/g)) {
      const { error } = await codeMode.run(name === 'process' ? 'process.exit(1);' : `return ${name}('x');`);
      expect(error?.line, name).toBe(1);
      if (!SILENT.has(name ?? ''))
        expect(error?.hint ?? (/ is not available here.* /.test(error?.message ?? '') ? 'said' : undefined), name).toBeDefined();
    }
  },
);

/** Names of one engine that no model writes. */
const SILENT = new Set(['std', 'gc', 'scriptArgs', 'FinalizationRegistry']);

describe('the examples', () => {
  const examples = [...PAGE.matchAll(/```ts\n([\s\S]*?)\/\/ (.*)\n```/g)].map(([, program = '', value = '']) => ({ program, value }));

  test('are there', () => {
    expect(examples.length).toBeGreaterThan(4);
  });

  test.for(examples)('give $value', async ({ program, value }) => {
    expect(await ask(program)).toEqual(JSON.parse(value));
  });
});

describe('the rules for values', () => {
  test.each([
    ['undefined, NaN, Infinity, -0', 'return [undefined, NaN, Infinity, -0];', [undefined, Number.NaN, Number.POSITIVE_INFINITY, -0]],
    ['BigInt, Map, Set', 'return [1n, new Map([[1, { a: 2 }]]), new Set([3])];', [1n, new Map([[1, { a: 2 }]]), new Set([3])]],
    [
      'bytes and errors',
      "return [new Uint8Array([1]), new RangeError('x')];",
      [new Uint8Array([1]), expect.objectContaining({ name: 'RangeError' })],
    ],
    ['toJSON', "return [new Date(0), new URL('https://a.b/c')];", ['1970-01-01T00:00:00.000Z', 'https://a.b/c']],
    ['instances', 'class A { x = 1; #y = 2; get z() { return this.#y; } }\nreturn new A();', { x: 1 }],
    ['what is left out', "return { a: undefined, [Symbol('b')]: 1, c: 2 };", { c: 2 }],
    ['promises', 'return { a: Promise.resolve(1) };', { a: 1 }],
  ])('%s', async (_, program, value) => {
    expect(await ask(program)).toEqual(value);
  });

  test('an error names the path', async () => {
    const { error } = await codeMode.run('const a = { items: [0, 0, {}] };\na.items[2].parent = a;\nreturn a;');
    expect(error?.message).toContain('$.items[2].parent is circular');
  });

  test('the depth that is named is the one that holds', () => {
    expect(PAGE).toContain(`at most ${DEPTH} levels deep`);
  });
});
