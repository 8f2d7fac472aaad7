// Remembers which objects are proxies, so that printing or cloning one runs none of its traps. A wrapper around `Proxy` keeps a weak
// table from proxy to target; programs see the same constructor otherwise. It does not make proxies safe to use elsewhere.
import {
  ObjectDefineProperty,
  ProxyConstructor,
  ReflectGetOwnPropertyDescriptor,
  TypeErrorConstructor,
  WeakMapConstructor,
  WeakMapPrototypeGet,
  WeakMapPrototypeSet,
} from '../primordials.ts';
import { dataDescriptor, defineGlobal, defineHidden, defineName } from './define.ts';

/** Looks through proxies. */
export interface Proxies {
  /** The target of a proxy made by the program or registered; `undefined` for any other object. */
  targetOf(value: object): object | undefined;
  /** Makes a proxy that is known as one. */
  create<T extends object>(target: T, handler: ProxyHandler<T>): T;
}

const nativeRevocable = ProxyConstructor.revocable;

/** Replaces the global `Proxy` by one that remembers. */
export function installProxies(): Proxies {
  const targets = new WeakMapConstructor<object, object>();
  const create = <T extends object>(target: T, handler: ProxyHandler<T>): T => {
    const proxy = new ProxyConstructor(target, handler);
    WeakMapPrototypeSet(targets, proxy, target);
    return proxy;
  };

  function Proxy(target: object, handler: ProxyHandler<object>): object {
    if (new.target === undefined) throw new TypeErrorConstructor("Constructor Proxy requires 'new'");
    return create(target, handler);
  }
  const revocable = {
    revocable(target: object, handler: ProxyHandler<object>): { proxy: object; revoke: () => void } {
      const made = nativeRevocable(target, handler);
      const proxy = (ReflectGetOwnPropertyDescriptor(made, 'proxy') as { value: object }).value;
      WeakMapPrototypeSet(targets, proxy, target);
      return made;
    },
  };
  defineHidden(Proxy, 'revocable', revocable.revocable);
  // The real `Proxy` has no prototype property; a function's cannot be deleted, only emptied.
  ObjectDefineProperty(Proxy, 'prototype', dataDescriptor(undefined, false, false, false));
  defineName(Proxy, 'Proxy');
  defineGlobal('Proxy', Proxy);
  return { targetOf: (value) => WeakMapPrototypeGet(targets, value), create };
}
