// Puts globals and methods in place with the attributes that browsers and Node give them: writable, configurable, not enumerable.
// Nothing here decides what is defined.
import {
  ObjectCreate,
  ObjectDefineProperty,
  ReflectDeleteProperty,
  ReflectGetOwnPropertyDescriptor,
  ReflectOwnKeys,
  SymbolToStringTag,
} from '../primordials.ts';

type Descriptor = PropertyDescriptor & ThisType<unknown>;

/** A descriptor that inherits nothing, so that a polluted `Object.prototype` cannot add a getter to it. */
export function dataDescriptor(value: unknown, enumerable = false, writable = true, configurable = true): Descriptor {
  const descriptor = ObjectCreate(null) as Descriptor;
  descriptor.value = value;
  descriptor.enumerable = enumerable;
  descriptor.writable = writable;
  descriptor.configurable = configurable;
  return descriptor;
}

/** Defines a hidden, replaceable property. */
export function defineHidden(target: object, key: PropertyKey, value: unknown): void {
  ObjectDefineProperty(target, key, dataDescriptor(value));
}

/** Defines a property that shows up when listed, as ordinary assignment would, whatever setters its prototypes hold. */
export function defineVisible(target: object, key: PropertyKey, value: unknown): void {
  ObjectDefineProperty(target, key, dataDescriptor(value, true));
}

/** Defines a constant. */
export function defineConstant(target: object, key: PropertyKey, value: unknown): void {
  ObjectDefineProperty(target, key, dataDescriptor(value, true, false, false));
}

/** Defines a global. */
export function defineGlobal(name: string, value: unknown): void {
  defineHidden(globalThis, name, value);
}

/** Defines a global that is made when it is first read, and then stays; it may be replaced before. */
export function defineLazy(name: string, make: () => unknown): void {
  const descriptor = ObjectCreate(null) as Descriptor;
  descriptor.get = () => {
    const value = make();
    defineHidden(globalThis, name, value);
    return value;
  };
  descriptor.set = (value: unknown) => defineHidden(globalThis, name, value);
  descriptor.enumerable = false;
  descriptor.configurable = true;
  ObjectDefineProperty(globalThis, name, descriptor);
}

/** Removes globals that this world does not offer. */
export function removeGlobals(names: readonly string[]): void {
  for (let i = 0; i < names.length; i++) ReflectDeleteProperty(globalThis, names[i] as string);
}

/** Copies methods and accessors of a literal onto a target, hidden. Existing ones stay unless `replace` is set. */
export function defineMembers(target: object, members: object, replace = false): void {
  const keys = ReflectOwnKeys(members);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as PropertyKey;
    if (!replace && ReflectGetOwnPropertyDescriptor(target, key) !== undefined) continue;
    const descriptor = ReflectGetOwnPropertyDescriptor(members, key) as Descriptor;
    descriptor.enumerable = false;
    ObjectDefineProperty(target, key, descriptor);
  }
}

/** Sets what `Object.prototype.toString` prints for a prototype's objects. */
export function defineTag(prototype: object, tag: string): void {
  ObjectDefineProperty(prototype, SymbolToStringTag, dataDescriptor(tag, false, false));
}

/** Gives a function or class its name, whatever the bundler made of the one in its source. */
export function defineName(target: object, name: string): void {
  ObjectDefineProperty(target, 'name', dataDescriptor(name, false, false));
}

/** Defines a global class with its name and tag. */
export function defineClass(name: string, value: { prototype: object }, tag = name): void {
  defineName(value, name);
  defineTag(value.prototype, tag);
  defineGlobal(name, value);
}
