// The `tools` object: made from the catalog's manifest when the catalog's image is made, so that a program pays nothing for
// it. Stubs send the tool's index, never a name. A name that is not in the catalog fails here, with the nearest ones.

import type { ManifestEntry } from '../src/protocol/messages.ts';
import { nearest } from '../src/protocol/nearest.ts';
import type { Calls } from './calls.ts';
import {
  ArrayIsArray,
  ArrayPrototypeJoin,
  list,
  ObjectCreate,
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectPrototypeHasOwnProperty,
  ProxyConstructor,
  ReflectApply,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  SymbolToPrimitive,
  table,
} from './primordials.ts';

const ArrayPrototypeConcat = Array.prototype.concat as (...items: unknown[]) => unknown[];

type Stub = (input?: unknown, ...rest: unknown[]) => Promise<unknown>;

/** What the manifest becomes for the program. */
export interface Toolbox {
  readonly tools: object;
  readonly allTools: readonly object[];
  /** The stub of a tool by its index. */
  stub(index: number): unknown;
}

export function createToolbox(manifest: readonly ManifestEntry[], calls: Calls): Toolbox {
  const spellings = table<Stub>();
  const paths = list<string>();
  const stubs = list<Stub>();
  const allTools: object[] = [];
  const unknown = (path: string): Promise<unknown> => calls.refuse(path, unknownTool(path, paths));
  const root = namespace('', unknown);
  for (let index = 0; index < manifest.length; index++) {
    const entry = manifest[index] as ManifestEntry;
    const path = ArrayPrototypeJoin(entry.path, '.');
    const stub = createStub(index, path, entry.takesList === true, calls);
    const own = entry.spellings ?? entry.path;
    paths[paths.length] = path;
    spellings[path] = spellings[entry.name] = stub;
    let at = root;
    let prefix = '';
    for (let depth = 0; depth < entry.path.length - 1; depth++) {
      const segment = entry.path[depth] as string;
      prefix = prefix === '' ? segment : `${prefix}.${segment}`;
      let next = at[segment] as Record<string, unknown> | undefined;
      if (!hasOwn(at, segment)) {
        next = namespace(prefix, unknown);
        define(at, segment, next, true);
        define(at, own[depth] as string, next, own[depth] === segment);
      }
      at = next as Record<string, unknown>;
    }
    const last = entry.path.length - 1;
    define(at, own[last] as string, stub, false);
    define(at, entry.path[last] as string, stub, true);
    stubs[index] = stub;
    const listed = ObjectCreate(null);
    listed['name'] = entry.name;
    listed['identifier'] = `tools.${path}`;
    listed['description'] = entry.description;
    if (entry.signature !== undefined) listed['signature'] = entry.signature;
    allTools[index] = ObjectFreeze(plain(listed));
  }
  // Names as systems without namespaces have them, where no tool has such a name itself.
  for (let index = 0; index < manifest.length; index++) {
    const { path } = manifest[index] as ManifestEntry;
    const flat = ArrayPrototypeJoin(path, '_');
    if (spellings[flat] === undefined) spellings[flat] = stubs[index] as Stub;
    const double = ArrayPrototypeJoin(path, '__');
    if (spellings[double] === undefined) spellings[double] = stubs[index] as Stub;
  }
  define(
    root,
    'call',
    (name: unknown, input?: unknown): Promise<unknown> => {
      const asked = typeof name === 'string' && StringPrototypeStartsWith(name, 'tools.') ? StringPrototypeSlice(name, 6) : name;
      const stub = typeof asked === 'string' ? spellings[asked] : undefined;
      return stub === undefined ? unknown(typeof asked === 'string' ? asked : typeof asked) : stub(input);
    },
    false,
  );
  return { tools: root, allTools: ObjectFreeze(allTools), stub: (index) => stubs[index] };
}

function createStub(index: number, path: string, takesList: boolean, calls: Calls): Stub {
  // Not a method and without a prototype, so `new` refuses it and `this` means nothing.
  const stub = (input?: unknown, ...rest: unknown[]): Promise<unknown> => {
    if (rest.length > 0 && !isIterationCallback(input, rest)) {
      if (takesList) return calls.invoke(index, path, ReflectApply(ArrayPrototypeConcat, [input], [rest]));
      return calls.refuse(path, {
        name: 'TypeError',
        code: 'input_invalid',
        message: `Tool \`${path}\` takes one argument, an object such as { name: value }, but was called with ${rest.length + 1}.`,
      });
    }
    return calls.invoke(index, path, input);
  };
  ObjectDefineProperty(stub, 'name', { value: path, configurable: true });
  return stub;
}

/** Whether the arguments are those that `map`, `forEach` and their kin give a callback: item, index, array. */
function isIterationCallback(input: unknown, rest: unknown[]): boolean {
  if (rest.length !== 2 || typeof rest[0] !== 'number') return false;
  const array = rest[1];
  return ArrayIsArray(array) && array[rest[0]] === input;
}

/** An object for tools and namespaces whose missing names are answered by a prototype of our own. */
function namespace(path: string, unknown: (path: string) => Promise<unknown>): Record<string, unknown> {
  const handler = ObjectCreate(null);
  handler['get'] = (_target: object, key: PropertyKey): unknown =>
    typeof key !== 'string' || SILENT[key] === true ? undefined : missing(path === '' ? key : `${path}.${key}`, unknown);
  handler['has'] = () => false;
  handler['getPrototypeOf'] = () => null;
  return ObjectCreate(new ProxyConstructor(ObjectCreate(null), handler as ProxyHandler<object>)) as Record<string, unknown>;
}

/** Stands for a name that is not in the catalog: calling it, at any depth, tells what is. */
function missing(path: string, unknown: (path: string) => Promise<unknown>): unknown {
  const handler = ObjectCreate(null);
  handler['apply'] = () => unknown(path);
  handler['get'] = (_target: object, key: PropertyKey): unknown => {
    // As text it says what it is: the engine's own error would name neither the tool nor the mistake.
    if (key === SymbolToPrimitive) return () => `[no tool ${path}]`;
    return typeof key !== 'string' || SILENT[key] === true ? undefined : missing(`${path}.${key}`, unknown);
  };
  handler['has'] = () => false;
  return new ProxyConstructor(() => undefined, handler as ProxyHandler<() => undefined>);
}

/** Names that engines and honest code look up on any object: not there, and no mistake. */
const SILENT = table<true>();
for (const name of [
  'then',
  'toJSON',
  'toString',
  'valueOf',
  'toLocaleString',
  'constructor',
  'prototype',
  '__proto__',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
  'inspect',
  'nodeType',
  '$$typeof',
  'asymmetricMatch',
  'length',
  'size',
  'caller',
  'callee',
  'arguments',
])
  SILENT[name] = true;

function unknownTool(path: string, paths: readonly string[]): { name: string; code: string; message: string } {
  const near = nearest(path, paths);
  let hint = paths.length === 0 ? ' There are no tools.' : ' ALL_TOOLS lists the tools that there are.';
  if (near.length > 0) {
    hint = ' Did you mean ';
    for (let i = 0; i < near.length; i++) hint += `${i === 0 ? '' : i === near.length - 1 ? ' or ' : ', '}\`tools.${near[i]}\``;
    hint += '?';
  }
  return { name: 'ReferenceError', code: 'tool_unknown', message: `There is no tool \`${StringPrototypeSlice(path, 0, 200)}\`.${hint}` };
}

function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  ObjectDefineProperty(target, key, { value, enumerable, writable: true, configurable: true });
}

function hasOwn(target: object, key: string): boolean {
  return ObjectPrototypeHasOwnProperty(target, key);
}

function plain(record: Record<PropertyKey, unknown>): object {
  // With the ordinary prototype, so that printing and copying it look as usual.
  return { ...record };
}
