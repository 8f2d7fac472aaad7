// The `tools` object: made from the catalog's manifest when the catalog's image is made, so that a program pays nothing for
// it. Stubs send the tool's index, never a name. A name that is not in the catalog fails here, with the nearest ones.

import type { ManifestEntry, ToolText } from '../src/protocol/messages.ts';
import { nearest } from '../src/protocol/nearest.ts';
import type { Calls } from './calls.ts';
import {
  ArrayIsArray,
  ArrayPrototypeJoin,
  ErrorConstructor,
  JSONParse,
  list,
  ObjectCreate,
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectPrototypeHasOwnProperty,
  ObjectSetPrototypeOf,
  ProxyConstructor,
  ReflectApply,
  replaceText,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  SymbolToPrimitive,
  table,
} from './primordials.ts';
import { defineVisible } from './world/define.ts';

const ArrayPrototypeConcat = Array.prototype.concat as (...items: unknown[]) => unknown[];

type Stub = (input?: unknown, ...rest: unknown[]) => Promise<unknown>;

/** What the manifest becomes for the program. */
export interface Toolbox {
  readonly tools: object;
  /** The list of the tools, made when a program reads it. */
  allTools(): readonly object[];
  /** The stub of a tool by its index. */
  stub(index: number): unknown;
  /** The path of the tool whose stub this is. */
  pathOf(stub: unknown): string | undefined;
}

interface ToolboxOptions {
  /** Programs have `searchTools`, which errors then recommend. */
  readonly canSearch: boolean;
  /** What is said of the tools, where the manifest does not hold it: JSON of the `ToolText` of each. */
  texts(): string;
}

export function createToolbox(manifest: readonly ManifestEntry[], calls: Calls, { canSearch, texts }: ToolboxOptions): Toolbox {
  const paths = list<string>();
  /** Own spellings, where they differ from the path. */
  const names = list<string | undefined>();
  const stubs = list<Stub>();
  const unknown = (path: string): Promise<unknown> => calls.refuse(path, unknownTool(path, paths, canSearch));
  const root = namespace('', unknown);
  let isInside = true;
  for (let index = 0; index < manifest.length; index++) {
    const entry = manifest[index] as ManifestEntry;
    const path = ArrayPrototypeJoin(entry.path, '.');
    const stub = createStub(index, path, entry.takesList === true, calls);
    const own = entry.spellings ?? entry.path;
    paths[index] = path;
    names[index] = entry.name === path ? undefined : entry.name;
    stubs[index] = stub;
    isInside = isInside && entry.description !== undefined;
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
  }

  /** Stubs by every spelling that `tools.call` takes; made by the first call of it. */
  let spellings: Record<string, Stub> | undefined;
  function spelled(): Record<string, Stub> {
    const made = table<Stub>();
    for (let index = 0; index < stubs.length; index++) {
      made[paths[index] as string] = stubs[index] as Stub;
      const name = names[index];
      if (name !== undefined) made[name] = stubs[index] as Stub;
    }
    // Names as systems without namespaces have them, where no tool has such a name itself.
    for (let index = 0; index < stubs.length; index++) {
      for (let i = 0; i < SEPARATORS.length; i++) {
        const flat = replaceText(paths[index] as string, '.', SEPARATORS[i] as string);
        if (made[flat] === undefined) made[flat] = stubs[index] as Stub;
      }
    }
    return made;
  }

  define(
    root,
    'call',
    (name: unknown, input?: unknown): Promise<unknown> => {
      spellings ??= spelled();
      const asked = typeof name === 'string' && StringPrototypeStartsWith(name, 'tools.') ? StringPrototypeSlice(name, 6) : name;
      const stub = typeof asked === 'string' ? spellings[asked] : undefined;
      return stub === undefined ? unknown(typeof asked === 'string' ? asked : typeof asked) : stub(input);
    },
    false,
  );

  const told = isInside ? listed(paths, names, (index) => textOf(manifest[index] as ManifestEntry)) : undefined;
  return {
    tools: root,
    allTools() {
      if (told !== undefined) return told;
      const apart = JSONParse(texts()) as ToolText[];
      return listed(paths, names, (index) => apart[index] as ToolText);
    },
    stub: (index) => stubs[index],
    pathOf(stub) {
      for (let index = 0; index < stubs.length; index++) if (stubs[index] === stub) return paths[index];
      return undefined;
    },
  };
}

const SEPARATORS = ['_', '__'];

function textOf({ description = '', signature }: ManifestEntry): ToolText {
  return signature === undefined ? [description] : [description, signature];
}

/** The value of `ALL_TOOLS`. */
function listed(paths: readonly string[], names: readonly (string | undefined)[], textAt: (index: number) => ToolText): readonly object[] {
  const all: object[] = [];
  for (let index = 0; index < paths.length; index++) {
    const path = paths[index] as string;
    const text = textAt(index);
    const name = names[index] ?? path;
    const identifier = `tools.${path}`;
    const description = text[0];
    const signature = text[1];
    // Literals, whose members are their own whatever the prototypes hold; with the ordinary prototype, so that they print as usual.
    const tool = signature === undefined ? { name, identifier, description } : { name, identifier, description, signature };
    defineVisible(all, index, ObjectFreeze(tool));
  }
  return ObjectFreeze(all);
}

function createStub(index: number, path: string, takesList: boolean, calls: Calls): Stub {
  // Not a method and without a prototype, so `new` refuses it and `this` means nothing.
  const stub = (input?: unknown, ...rest: unknown[]): Promise<unknown> => {
    if (rest.length > 0 && !isIterationCallback(input, rest)) {
      if (takesList) return calls.invoke(index, path, ReflectApply(ArrayPrototypeConcat, [input], [rest]), new ErrorConstructor());
      return calls.refuse(path, {
        name: 'TypeError',
        code: 'input_invalid',
        message: `Tool \`${path}\` takes one argument, an object such as { name: value }, but was called with ${rest.length + 1}.`,
      });
    }
    return calls.invoke(index, path, input, new ErrorConstructor());
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
  // Made without a prototype, and given one: V8 keeps such an object as a table. As an ordinary object each of its members would be a shape of
  // its own, with a copy of all the shapes before, and a thousand tools would take 80 ms.
  const members = table<unknown>();
  ObjectSetPrototypeOf(members, new ProxyConstructor(ObjectCreate(null), handler as ProxyHandler<object>));
  return members;
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

/** With more tools than this a list of them is more than anybody reads. */
const MANY = 20;

function unknownTool(path: string, paths: readonly string[], canSearch: boolean): { name: string; code: string; message: string } {
  const near = nearest(path, paths);
  const searches = canSearch && paths.length > MANY;
  let hint =
    paths.length === 0 ? ' There are no tools.' : ` ${searches ? 'searchTools(query) finds' : 'ALL_TOOLS lists'} the tools that there are.`;
  if (near.length > 0) {
    hint = ' Did you mean ';
    for (let i = 0; i < near.length; i++) hint += `${i === 0 ? '' : i === near.length - 1 ? ' or ' : ', '}\`tools.${near[i]}\``;
    hint += searches ? '? searchTools(query) finds others.' : '?';
  }
  return { name: 'ReferenceError', code: 'tool_unknown', message: `There is no tool \`${StringPrototypeSlice(path, 0, 200)}\`.${hint}` };
}

function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  ObjectDefineProperty(target, key, { value, enumerable, writable: true, configurable: true });
}

function hasOwn(target: object, key: string): boolean {
  return ObjectPrototypeHasOwnProperty(target, key);
}
