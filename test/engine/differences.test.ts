// What a program can tell of the engine it runs in: everything reachable from the global object is compared by name, and each difference has
// a reason here. docs/engines.md says the same to users.
import { afterAll, expect, test } from 'vitest';
import { v8 } from '../../src/engine/v8-install.ts';
import { createCodeMode } from '../../src/index.ts';
import { NODE_24 } from '../helpers/engines.ts';

const codeMode = createCodeMode({ tools: [] });
afterAll(() => codeMode.close());

const WALK = `
  const seen = new Set();
  const names = [];
  const walk = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      const name = path + (typeof key === 'symbol' ? '[' + String(key) + ']' : '.' + key);
      names.push(name);
      const property = Object.getOwnPropertyDescriptor(value, key);
      if ('value' in property) walk(property.value, name);
    }
  };
  walk(globalThis, '');
  return names.filter((name) => !/[.](?:length|name|caller|arguments)$/.test(name));
`;

/** Names that only one engine has, and why that may be. */
const ONLY_QUICKJS: Readonly<Record<string, string>> = {
  '.InternalError': 'what QuickJS throws when its own stack or memory is used up; V8 throws RangeError',
  '.Function.prototype.fileName': 'for debugging; no standard',
  '.Function.prototype.lineNumber': 'for debugging; no standard',
  '.Function.prototype.columnNumber': 'for debugging; no standard',
  '[Symbol(Symbol.toStringTag)]': 'what the global object is called when it is printed',
  '.Set.groupBy': 'a mistake of QuickJS: it is in no standard',
};
const ONLY_V8: Readonly<Record<string, string>> = {
  '.Error.stackTraceLimit': 'how V8 is told how many frames a stack has',
  '.Error.prepareStackTrace': 'locked: an accessor that is always undefined, so that no program formats the stacks of our own errors',
  '.Math.sumPrecise.prototype': 'our own function, which V8 gives a prototype',
  '.Iterator.concat.prototype': 'our own function, which V8 gives a prototype',
  '.RegExp.$1': 'legacy statics of regular expressions, which hold what the program itself matched last',
};

async function namesIn(engine: 'quickjs' | ReturnType<typeof v8>): Promise<Set<string>> {
  const { value, error } = await codeMode.run(WALK, { engine });
  expect(error).toBeUndefined();
  return new Set(value as string[]);
}

test('programs find the same names in both engines, but for a few that have reasons', async () => {
  const [quickjs, isolate] = [await namesIn('quickjs'), await namesIn(v8({ node: NODE_24 }))];
  const explained = (name: string, reasons: Readonly<Record<string, string>>): boolean =>
    Object.keys(reasons).some((known) => name === known || name.startsWith(`${known}.`));
  const legacy = /^\.RegExp\.(?:input|\$.|lastMatch|lastParen|leftContext|rightContext)$/;
  expect([...quickjs].filter((name) => !isolate.has(name) && !explained(name, ONLY_QUICKJS))).toEqual([]);
  expect([...isolate].filter((name) => !quickjs.has(name) && !explained(name, ONLY_V8) && !legacy.test(name))).toEqual([]);
  expect(quickjs.size).toBeGreaterThan(1_000);
});

test('nothing that allocates beside the limits is there', async () => {
  const { value } = await codeMode.run(
    `return [
      ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry', 'gc'].map((name) => typeof globalThis[name]),
      (() => { try { return new ArrayBuffer(1, { maxByteLength: 1e9 }).byteLength; } catch (error) { return error.message; } })(),
      (() => { try { return Reflect.construct(new Uint8Array(1).buffer.constructor, [1, { maxByteLength: 1e9 }]).byteLength; } catch (error) { return error.name; } })(),
      new ArrayBuffer(8) instanceof ArrayBuffer, new (class extends ArrayBuffer {})(4).slice(1).byteLength, ArrayBuffer.isView(new DataView(new ArrayBuffer(1))),
      new WeakRef({ a: 1 }).deref().a, String(new WeakRef({})),
      Reflect.set(Error, 'prepareStackTrace', () => 'mine'), typeof new Error('x').stack,
    ];`,
    { engine: v8({ node: NODE_24 }) },
  );
  expect(value).toEqual([
    ['undefined', 'undefined', 'undefined', 'undefined', 'undefined'],
    expect.stringMatching(/resized are not available/),
    'RangeError',
    true,
    3,
    true,
    1,
    '[object WeakRef]',
    true,
    'string',
  ]);
});
