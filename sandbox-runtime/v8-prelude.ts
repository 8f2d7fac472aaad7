// What V8 offers that no limit holds, taken away or made harmless before anything keeps a copy of it. Imported first, by v8.ts. Here are
// only globals that programs may have in a harmless form; those that they do not have at all are removed with the world (world/world.ts).

/** Grows outside the isolate's memory limit. */
const NativeArrayBuffer = ArrayBuffer;
const { construct, defineProperty, get } = Reflect;

/** The constructor that programs have: everything that makes an array buffer of a size that they choose goes through it. */
function GuardedArrayBuffer(this: unknown, length: unknown, options?: unknown): object {
  if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'");
  if (typeof options === 'object' && options !== null && get(options, 'maxByteLength') !== undefined)
    throw new RangeError('Array buffers that can be resized are not available here; make a new one and copy with `set`.');
  return construct(NativeArrayBuffer, [length], new.target);
}

define(GuardedArrayBuffer, 'name', 'ArrayBuffer', false);
define(GuardedArrayBuffer, 'length', 1, false);
define(GuardedArrayBuffer, 'isView', NativeArrayBuffer.isView, true);
define(GuardedArrayBuffer, 'prototype', NativeArrayBuffer.prototype, false, false);
defineProperty(GuardedArrayBuffer, Symbol.species, {
  get(this: unknown) {
    return this;
  },
  configurable: true,
});
define(NativeArrayBuffer.prototype, 'constructor', GuardedArrayBuffer, true);
define(globalThis, 'ArrayBuffer', GuardedArrayBuffer, true);

/** Holds its target for good, which is all that a program can rely on while it holds the reference. */
class StrongRef<T extends WeakKey> {
  readonly #target: T;

  constructor(target: T) {
    if ((typeof target !== 'object' && typeof target !== 'function' && typeof target !== 'symbol') || target === null)
      throw new TypeError('WeakRef: target must be an object');
    this.#target = target;
  }

  deref(): T {
    return this.#target;
  }
}

define(StrongRef, 'name', 'WeakRef', false);
define(StrongRef.prototype, Symbol.toStringTag, 'WeakRef', false);
define(globalThis, 'WeakRef', StrongRef, true);

// Text that `JSON.stringify` would take as it is: no other engine has it.
delete (JSON as { rawJSON?: unknown }).rawJSON;
delete (JSON as { isRawJSON?: unknown }).isRawJSON;

// A function here would be called whenever a stack is read, the runtime's own too, with its frames as objects.
defineProperty(Error, 'prepareStackTrace', { get: () => undefined, set: () => undefined, configurable: false });
// Frames of the runtime are left out of what a program sees, so that more have to be kept.
(Error as { stackTraceLimit?: number }).stackTraceLimit = 30;

function define(target: object, key: PropertyKey, value: unknown, writable: boolean, configurable = true): void {
  defineProperty(target, key, { value, writable, configurable, enumerable: false });
}
