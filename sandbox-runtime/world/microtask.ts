// `queueMicrotask`. What a callback throws is reported, not turned into a rejection.
import { PromiseConstructor, PromisePrototypeThen, PromiseResolve, ReflectApply, TypeErrorConstructor } from '../primordials.ts';
import { defineGlobal } from './define.ts';
import type { WorldHost } from './host.ts';

/** Defines `queueMicrotask`. */
export function installMicrotasks(host: WorldHost): void {
  const functions = {
    queueMicrotask(callback: unknown): void {
      if (typeof callback !== 'function') throw new TypeErrorConstructor('queueMicrotask expects a function as its argument.');
      // The callback catches everything, so that this promise cannot reject.
      void PromisePrototypeThen(PromiseResolve(PromiseConstructor), () => {
        try {
          ReflectApply(callback as (...args: never[]) => unknown, undefined, []);
        } catch (error) {
          host.uncaught(error);
        }
      });
    },
  };
  defineGlobal('queueMicrotask', functions.queueMicrotask);
}
