// `structuredClone`, after the HTML standard. It copies inside one guest; values that cross to the host take src/protocol/values.ts.
import {
  type AnyConstructor,
  ArrayBufferConstructor,
  ArrayBufferPrototype,
  ArrayBufferPrototypeGetByteLength,
  ArrayBufferPrototypeSlice,
  ArrayBufferPrototypeTransfer,
  ArrayIsArray,
  DataViewConstructor,
  DataViewPrototype,
  DataViewPrototypeGetBuffer,
  DataViewPrototypeGetByteLength,
  DataViewPrototypeGetByteOffset,
  DateConstructor,
  DatePrototype,
  DatePrototypeGetTime,
  ErrorConstructor,
  EvalErrorConstructor,
  FunctionPrototypeToString,
  list,
  MapConstructor,
  MapPrototype,
  MapPrototypeForEach,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeHas,
  MapPrototypeSet,
  ObjectGetOwnPropertyDescriptor,
  ObjectGetPrototypeOf,
  ObjectKeys,
  ObjectPrototype,
  ObjectPrototypeHasOwnProperty,
  ObjectPrototypeIsPrototypeOf,
  PromisePrototype,
  RangeErrorConstructor,
  ReferenceErrorConstructor,
  ReflectConstruct,
  RegExpConstructor,
  RegExpPrototype,
  RegExpPrototypeGetFlags,
  RegExpPrototypeGetSource,
  SetConstructor,
  SetPrototype,
  SetPrototypeAdd,
  SetPrototypeForEach,
  SetPrototypeGetSize,
  StringConstructor,
  StringPrototypeSlice,
  SymbolPrototypeToString,
  SyntaxErrorConstructor,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteOffset,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetSymbolToStringTag,
  TypeErrorConstructor,
  URIErrorConstructor,
  WeakMapPrototype,
  WeakSetPrototype,
} from '../primordials.ts';
import { defineGlobal, defineHidden, defineVisible } from './define.ts';
import type { DOMExceptionClass } from './dom-exception.ts';
import { type Inspector, unbox } from './inspect.ts';
import type { Proxies } from './proxies.ts';

type Memory = Map<object, unknown>;

const errorClasses: Readonly<Record<string, AnyConstructor<Error>>> = {
  Error: ErrorConstructor,
  EvalError: EvalErrorConstructor,
  RangeError: RangeErrorConstructor,
  ReferenceError: ReferenceErrorConstructor,
  SyntaxError: SyntaxErrorConstructor,
  TypeError: TypeErrorConstructor,
  URIError: URIErrorConstructor,
};

const viewClasses = collectViewClasses();

function collectViewClasses(): Record<string, AnyConstructor<object>> {
  const names = [
    'Int8Array',
    'Uint8Array',
    'Uint8ClampedArray',
    'Int16Array',
    'Uint16Array',
    'Int32Array',
    'Uint32Array',
    'Float16Array',
    'Float32Array',
    'Float64Array',
    'BigInt64Array',
    'BigUint64Array',
  ];
  const classes: Record<string, AnyConstructor<object>> = {};
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const found = (globalThis as unknown as Record<string, AnyConstructor<object> | undefined>)[name];
    if (found !== undefined) classes[name] = found;
  }
  return classes;
}

/** Defines `structuredClone`. */
export function installStructuredClone(DOMException: DOMExceptionClass, inspector: Inspector, proxies: Proxies): void {
  const refuse = (what: string): never => {
    throw new DOMException(`${what} could not be cloned.`, 'DataCloneError');
  };

  function isKind(value: object, prototype: object, probe: (value: object) => unknown): boolean {
    if (!ObjectPrototypeIsPrototypeOf(prototype, value)) return false;
    try {
      probe(value);
      return true;
    } catch {
      return false;
    }
  }

  function clone(value: unknown, memory: Memory): unknown {
    if (typeof value === 'symbol') return refuse(SymbolPrototypeToString(value));
    if (typeof value === 'function') return refuse(StringPrototypeSlice(FunctionPrototypeToString(value), 0, 200));
    if (typeof value !== 'object' || value === null) return value;
    if (MapPrototypeHas(memory, value)) return MapPrototypeGet(memory, value);
    if (proxies.targetOf(value) !== undefined) return refuse('#<Object>');
    return cloneObject(value, memory);
  }

  function cloneObject(value: object, memory: Memory): unknown {
    const remember = <T extends object>(copy: T): T => {
      MapPrototypeSet(memory, value, copy);
      return copy;
    };
    if (ArrayIsArray(value)) {
      const copy: unknown[] = [];
      copy.length = value.length;
      return copyProperties(value, remember(copy), memory);
    }
    const prototype = ObjectGetPrototypeOf(value);
    if (prototype === ObjectPrototype || prototype === null) return copyProperties(value, remember({}), memory);
    if (isKind(value, DatePrototype, DatePrototypeGetTime)) return remember(new DateConstructor(DatePrototypeGetTime(value)));
    if (isKind(value, MapPrototype, MapPrototypeGetSize))
      return cloneMap(value as Map<unknown, unknown>, remember(new MapConstructor()), memory);
    if (isKind(value, SetPrototype, SetPrototypeGetSize)) return cloneSet(value as Set<unknown>, remember(new SetConstructor()), memory);
    if (isKind(value, RegExpPrototype, RegExpPrototypeGetSource)) {
      return remember(new RegExpConstructor(RegExpPrototypeGetSource(value), RegExpPrototypeGetFlags(value)));
    }
    if (isKind(value, ArrayBufferPrototype, ArrayBufferPrototypeGetByteLength)) return remember(copyBuffer(value as ArrayBuffer));
    const viewName = TypedArrayPrototypeGetSymbolToStringTag(value);
    if (viewName !== undefined) {
      const buffer = clone(TypedArrayPrototypeGetBuffer(value), memory);
      const ViewClass = viewClasses[viewName];
      if (ViewClass === undefined) return refuse(`#<${viewName}>`);
      return remember(ReflectConstruct(ViewClass, [buffer, TypedArrayPrototypeGetByteOffset(value), TypedArrayPrototypeGetLength(value)]));
    }
    if (isKind(value, DataViewPrototype, DataViewPrototypeGetByteLength)) {
      const buffer = clone(DataViewPrototypeGetBuffer(value), memory) as ArrayBuffer;
      return remember(new DataViewConstructor(buffer, DataViewPrototypeGetByteOffset(value), DataViewPrototypeGetByteLength(value)));
    }
    if (inspector.isError(value)) return cloneError(value, remember, memory);
    const boxed = unbox(value);
    // A boxed symbol cannot be cloned, as its primitive cannot.
    if (boxed !== undefined) return remember(Object(clone(boxed.value, memory)) as object);
    if (ObjectPrototypeIsPrototypeOf(PromisePrototype, value)) return refuse('#<Promise>');
    if (ObjectPrototypeIsPrototypeOf(WeakMapPrototype, value)) return refuse('#<WeakMap>');
    if (ObjectPrototypeIsPrototypeOf(WeakSetPrototype, value)) return refuse('#<WeakSet>');
    return copyProperties(value, remember({}), memory);
  }

  function copyProperties(value: object, copy: object, memory: Memory): object {
    const keys = ObjectKeys(value);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      // A getter that ran before may have removed it.
      if (ObjectPrototypeHasOwnProperty(value, key)) defineVisible(copy, key, clone((value as Record<string, unknown>)[key], memory));
    }
    return copy;
  }

  function cloneMap(value: Map<unknown, unknown>, copy: Map<unknown, unknown>, memory: Memory): Map<unknown, unknown> {
    // A snapshot first: a getter inside a key may change the original meanwhile.
    const entries = list<unknown>();
    MapPrototypeForEach(value, (entry, key) => {
      entries[entries.length] = key;
      entries[entries.length] = entry;
    });
    for (let i = 0; i < entries.length; i += 2) {
      const key = clone(entries[i], memory);
      MapPrototypeSet(copy, key, clone(entries[i + 1], memory));
    }
    return copy;
  }

  function cloneSet(value: Set<unknown>, copy: Set<unknown>, memory: Memory): Set<unknown> {
    const entries = list<unknown>();
    SetPrototypeForEach(value, (entry) => {
      entries[entries.length] = entry;
    });
    for (let i = 0; i < entries.length; i++) SetPrototypeAdd(copy, clone(entries[i], memory));
    return copy;
  }

  function cloneError(value: Error, remember: <T extends object>(copy: T) => T, memory: Memory): Error {
    let name: unknown = value.name;
    name = name === undefined ? 'Error' : StringConstructor(name);
    const ErrorClass = ObjectPrototypeHasOwnProperty(errorClasses, name as string)
      ? (errorClasses[name as string] as AnyConstructor<Error>)
      : ErrorConstructor;
    const copy = remember(ReflectConstruct(ErrorClass, []));
    const message = ObjectGetOwnPropertyDescriptor(value, 'message');
    if (message !== undefined && ObjectPrototypeHasOwnProperty(message, 'value'))
      defineHidden(copy, 'message', StringConstructor(message.value));
    const stack: unknown = value.stack;
    if (typeof stack === 'string') defineHidden(copy, 'stack', stack);
    if (ObjectPrototypeHasOwnProperty(value, 'cause')) defineHidden(copy, 'cause', clone(value.cause, memory));
    return copy;
  }

  function copyBuffer(buffer: ArrayBuffer): ArrayBuffer {
    const resizable = buffer as unknown as { resizable?: boolean; maxByteLength?: number; detached?: boolean };
    if (resizable.detached === true) return refuse('#<ArrayBuffer>');
    if (resizable.resizable !== true) return ArrayBufferPrototypeSlice(buffer, 0);
    const length = ArrayBufferPrototypeGetByteLength(buffer);
    const copy = ReflectConstruct(ArrayBufferConstructor as AnyConstructor<ArrayBuffer>, [
      length,
      { maxByteLength: resizable.maxByteLength },
    ]);
    const source = ReflectConstruct(viewClasses['Uint8Array'] as AnyConstructor<object>, [buffer]) as Uint8Array;
    const target = ReflectConstruct(viewClasses['Uint8Array'] as AnyConstructor<object>, [copy]) as Uint8Array;
    for (let i = 0; i < length; i++) target[i] = source[i] as number;
    return copy;
  }

  function transferables(options: unknown): ArrayBuffer[] {
    const buffers = list<ArrayBuffer>();
    if (options === undefined || options === null) return buffers;
    if (typeof options !== 'object' && typeof options !== 'function') {
      throw new TypeErrorConstructor('structuredClone expects an object such as { transfer: [buffer] } as its second argument.');
    }
    const given = (options as { transfer?: unknown }).transfer;
    if (given === undefined) return buffers;
    if (!ArrayIsArray(given))
      throw new TypeErrorConstructor('structuredClone expects the option `transfer` to be an array of ArrayBuffers.');
    for (let i = 0; i < given.length; i++) {
      const buffer = given[i] as object;
      if (typeof buffer !== 'object' || buffer === null || !isKind(buffer, ArrayBufferPrototype, ArrayBufferPrototypeGetByteLength)) {
        throw new DOMException('Value not transferable: only ArrayBuffers can be moved here.', 'DataCloneError');
      }
      buffers[i] = buffer as ArrayBuffer;
    }
    return buffers;
  }

  const functions = {
    structuredClone(value: unknown, options?: unknown): unknown {
      if (arguments.length === 0) throw new TypeErrorConstructor('The "value" argument must be specified');
      const buffers = transferables(options);
      const memory: Memory = new MapConstructor();
      for (let i = 0; i < buffers.length; i++) {
        const buffer = buffers[i] as ArrayBuffer;
        MapPrototypeSet(memory, buffer, copyBuffer(buffer));
      }
      const copy = clone(value, memory);
      // Detached last: views need their offsets while they are read. Engines without `transfer` leave the originals usable.
      if (ArrayBufferPrototypeTransfer !== undefined) {
        for (let i = 0; i < buffers.length; i++) ArrayBufferPrototypeTransfer(buffers[i] as ArrayBuffer);
      }
      return copy;
    },
  };

  defineGlobal('structuredClone', functions.structuredClone);
}
