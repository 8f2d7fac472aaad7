// `Event`, `CustomEvent`, `EventTarget`, `AbortController` and `AbortSignal`. There is no tree to bubble through and nothing outside
// the guest fires an event here.
import {
  ArrayIsArray,
  ArrayPrototypeSlice,
  ArrayPrototypeSplice,
  list,
  MapConstructor,
  MapPrototypeGet,
  MapPrototypeSet,
  NumberConstructor,
  RangeErrorConstructor,
  ReflectApply,
  StringConstructor,
  SymbolIterator,
  TypeErrorConstructor,
} from '../primordials.ts';
import type { WorldContext } from './context.ts';
import { defineClass, defineConstant } from './define.ts';
import type { DOMExceptionClass } from './dom-exception.ts';

type Listener = ((event: object) => unknown) | { handleEvent?: unknown };

interface Registration {
  readonly listener: Listener;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  removed: boolean;
}

interface EventInit {
  bubbles?: unknown;
  cancelable?: unknown;
  composed?: unknown;
}

interface EventControls {
  setTarget(target: object | null, phase: number): void;
  isStopped(): boolean;
  isDispatching(): boolean;
  setPassive(passive: boolean): void;
}

/** Makes aborted signals for other parts of the world. */
export interface Aborts {
  /** Throws the signal's reason when it is aborted already, and runs `onAbort` once when it aborts later. */
  follow(signal: unknown, onAbort: (reason: unknown) => void): void;
}

/** Defines the event classes. */
export function installEvents(context: WorldContext, DOMException: DOMExceptionClass): Aborts {
  const { host, inspector, settings, timers } = context;

  class Event {
    readonly #type: string;
    readonly #bubbles: boolean;
    readonly #cancelable: boolean;
    readonly #composed: boolean;
    readonly #timeStamp: number;
    #target: object | null = null;
    #phase = 0;
    #prevented = false;
    #stopped = false;
    #propagationStopped = false;
    #passive = false;

    constructor(type: unknown, init?: EventInit) {
      if (arguments.length === 0)
        throw new TypeErrorConstructor('Event expects its type as the first argument, for example new Event("done").');
      this.#type = StringConstructor(type);
      this.#bubbles = !!init?.bubbles;
      this.#cancelable = !!init?.cancelable;
      this.#composed = !!init?.composed;
      this.#timeStamp = host.now() - settings.origin;
    }

    static controls(event: Event): EventControls {
      return {
        setTarget: (target, phase) => {
          if (target !== null) event.#target = target;
          event.#phase = phase;
          if (phase === 0) {
            event.#stopped = false;
            event.#propagationStopped = false;
          }
        },
        isStopped: () => event.#stopped,
        isDispatching: () => event.#phase !== 0,
        setPassive: (passive) => {
          event.#passive = passive;
        },
      };
    }

    static is(value: unknown): value is Event {
      return typeof value === 'object' && value !== null && #type in value;
    }

    get type(): string {
      return this.#type;
    }
    get bubbles(): boolean {
      return this.#bubbles;
    }
    get cancelable(): boolean {
      return this.#cancelable;
    }
    get composed(): boolean {
      return this.#composed;
    }
    get timeStamp(): number {
      return this.#timeStamp;
    }
    get target(): object | null {
      return this.#target;
    }
    get srcElement(): object | null {
      return this.#target;
    }
    get currentTarget(): object | null {
      return this.#phase === 0 ? null : this.#target;
    }
    get eventPhase(): number {
      return this.#phase;
    }
    get defaultPrevented(): boolean {
      return this.#prevented;
    }
    get returnValue(): boolean {
      return !this.#prevented;
    }
    get cancelBubble(): boolean {
      return this.#propagationStopped;
    }
    set cancelBubble(value: unknown) {
      if (value) this.#propagationStopped = true;
    }
    get isTrusted(): boolean {
      return false;
    }
    composedPath(): object[] {
      return this.#phase === 0 || this.#target === null ? [] : [this.#target];
    }
    preventDefault(): void {
      if (this.#cancelable && !this.#passive) this.#prevented = true;
    }
    stopPropagation(): void {
      this.#propagationStopped = true;
    }
    stopImmediatePropagation(): void {
      this.#propagationStopped = true;
      this.#stopped = true;
    }
  }
  const controlsOf = Event.controls;
  const isEvent = Event.is;
  hideStatics(Event);
  const phases: readonly (readonly [string, number])[] = [
    ['NONE', 0],
    ['CAPTURING_PHASE', 1],
    ['AT_TARGET', 2],
    ['BUBBLING_PHASE', 3],
  ];
  for (const [name, value] of phases) {
    defineConstant(Event, name, value);
    defineConstant(Event.prototype, name, value);
  }

  class CustomEvent extends Event {
    readonly #detail: unknown;

    constructor(type: unknown, init?: EventInit & { detail?: unknown }) {
      super(type, init);
      this.#detail = init?.detail ?? null;
    }

    get detail(): unknown {
      return this.#detail;
    }
  }

  class EventTarget {
    readonly #listeners = new MapConstructor<string, Registration[]>();

    static dispatch(target: EventTarget, event: Event): boolean {
      const controls = controlsOf(event);
      if (controls.isDispatching()) throw new DOMException('The event is being dispatched already.', 'InvalidStateError');
      controls.setTarget(target, 2);
      const registered = MapPrototypeGet(target.#listeners, event.type);
      if (registered !== undefined) {
        const snapshot = ArrayPrototypeSlice(registered);
        for (let i = 0; i < snapshot.length; i++) {
          const registration = snapshot[i] as Registration;
          if (registration.removed) continue;
          if (registration.once) removeListener(target, event.type, registration);
          controls.setPassive(registration.passive);
          try {
            const { listener } = registration;
            if (typeof listener === 'function') ReflectApply(listener as (...args: never[]) => unknown, target, [event]);
            else {
              const handle = listener.handleEvent;
              if (typeof handle !== 'function') throw new TypeErrorConstructor('The event listener has no method `handleEvent`.');
              ReflectApply(handle as (...args: never[]) => unknown, listener, [event]);
            }
          } catch (error) {
            host.uncaught(error);
          }
          controls.setPassive(false);
          if (controls.isStopped()) break;
        }
      }
      controls.setTarget(null, 0);
      return !event.defaultPrevented;
    }

    static remove(target: EventTarget, type: string, registration: Registration): void {
      const registered = MapPrototypeGet(target.#listeners, type);
      if (registered === undefined) return;
      for (let i = 0; i < registered.length; i++) {
        if (registered[i] !== registration) continue;
        registration.removed = true;
        ArrayPrototypeSplice(registered, i, 1);
        return;
      }
    }

    addEventListener(type: unknown, listener: unknown, options?: unknown): void {
      if (arguments.length < 2) throw new TypeErrorConstructor('addEventListener expects a type and a listener.');
      if (listener === null || listener === undefined) return;
      if (typeof listener !== 'function' && typeof listener !== 'object') {
        throw new TypeErrorConstructor(
          'addEventListener expects a function, or an object with a method `handleEvent`, as its second argument.',
        );
      }
      const name = StringConstructor(type);
      const given = typeof options === 'object' && options !== null ? (options as Record<string, unknown>) : undefined;
      const capture = given === undefined ? !!options : !!given['capture'];
      const signal = given?.['signal'];
      if (signal !== undefined && !isSignal(signal))
        throw new TypeErrorConstructor('The option `signal` of addEventListener should be an AbortSignal.');
      if (signal !== undefined && (signal as AbortSignal).aborted) return;
      let registered = MapPrototypeGet(this.#listeners, name);
      if (registered === undefined) {
        registered = list<Registration>();
        MapPrototypeSet(this.#listeners, name, registered);
      }
      for (let i = 0; i < registered.length; i++) {
        const known = registered[i] as Registration;
        if (known.listener === listener && known.capture === capture) return;
      }
      const registration: Registration = {
        listener: listener as Listener,
        capture,
        once: !!given?.['once'],
        passive: !!given?.['passive'],
        removed: false,
      };
      registered[registered.length] = registration;
      if (signal !== undefined) follow(signal as AbortSignal, () => removeListener(this, name, registration));
    }

    removeEventListener(type: unknown, listener: unknown, options?: unknown): void {
      const name = StringConstructor(type);
      const registered = MapPrototypeGet(this.#listeners, name);
      if (registered === undefined) return;
      const capture = typeof options === 'object' && options !== null ? !!(options as { capture?: unknown }).capture : !!options;
      for (let i = 0; i < registered.length; i++) {
        const known = registered[i] as Registration;
        if (known.listener === listener && known.capture === capture) {
          removeListener(this, name, known);
          return;
        }
      }
    }

    dispatchEvent(event: unknown): boolean {
      if (!isEvent(event)) throw new TypeErrorConstructor('dispatchEvent expects an Event, for example new Event("done").');
      return dispatch(this, event);
    }
  }
  const dispatch = EventTarget.dispatch;
  const removeListener = EventTarget.remove;
  hideStatics(EventTarget);

  let mayConstruct = false;

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason: unknown;
    #onabort: unknown = null;
    // Internal followers run before the program's listeners, and a program cannot remove them.
    #followers: ((reason: unknown) => void)[] = list();

    constructor() {
      if (!mayConstruct)
        throw new TypeErrorConstructor(
          'Illegal constructor: use new AbortController().signal, AbortSignal.timeout(ms) or AbortSignal.abort().',
        );
      super();
    }

    static create(): AbortSignal {
      mayConstruct = true;
      try {
        return new AbortSignal();
      } finally {
        mayConstruct = false;
      }
    }

    static is(value: unknown): value is AbortSignal {
      return typeof value === 'object' && value !== null && #aborted in value;
    }

    static trigger(signal: AbortSignal, reason: unknown): void {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
      const followers = signal.#followers;
      signal.#followers = list();
      for (let i = 0; i < followers.length; i++) (followers[i] as (reason: unknown) => void)(signal.#reason);
      const event = new Event('abort');
      const handler = signal.#onabort;
      if (typeof handler === 'function') {
        try {
          ReflectApply(handler as (...args: never[]) => unknown, signal, [event]);
        } catch (error) {
          host.uncaught(error);
        }
      }
      dispatch(signal, event);
    }

    static follow(signal: AbortSignal, follower: (reason: unknown) => void): void {
      if (signal.#aborted) follower(signal.#reason);
      else signal.#followers[signal.#followers.length] = follower;
    }

    static abort(reason?: unknown): AbortSignal {
      const signal = createSignal();
      trigger(signal, reason);
      return signal;
    }

    static timeout(delay: unknown): AbortSignal {
      const milliseconds = NumberConstructor(delay);
      if (!(milliseconds >= 0 && milliseconds <= 9_007_199_254_740_991)) {
        throw new RangeErrorConstructor('AbortSignal.timeout expects a number of milliseconds, 0 or more.');
      }
      const signal = createSignal();
      timers.after(milliseconds, () => trigger(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')));
      return signal;
    }

    static any(signals: unknown): AbortSignal {
      const sources = listOf(signals);
      const combined = createSignal();
      for (let i = 0; i < sources.length; i++) {
        if (!isSignal(sources[i])) throw new TypeErrorConstructor('AbortSignal.any expects an array of AbortSignals.');
      }
      for (let i = 0; i < sources.length; i++) {
        const source = sources[i] as AbortSignal;
        if (source.aborted) {
          trigger(combined, source.reason);
          return combined;
        }
      }
      for (let i = 0; i < sources.length; i++) follow(sources[i] as AbortSignal, (reason) => trigger(combined, reason));
      return combined;
    }

    get aborted(): boolean {
      return this.#aborted;
    }

    get reason(): unknown {
      return this.#reason;
    }

    get onabort(): unknown {
      return this.#onabort;
    }

    set onabort(handler: unknown) {
      this.#onabort = typeof handler === 'function' ? handler : null;
    }

    throwIfAborted(): void {
      if (this.#aborted) throw this.#reason;
    }
  }
  const createSignal = AbortSignal.create;
  const isSignal = AbortSignal.is;
  const trigger = AbortSignal.trigger;
  const follow = AbortSignal.follow;
  hideStatics(AbortSignal);

  class AbortController {
    readonly #signal = createSignal();

    get signal(): AbortSignal {
      return this.#signal;
    }

    abort(reason?: unknown): void {
      trigger(this.#signal, reason);
    }
  }

  defineClass('Event', Event);
  defineClass('CustomEvent', CustomEvent);
  defineClass('EventTarget', EventTarget);
  defineClass('AbortSignal', AbortSignal);
  defineClass('AbortController', AbortController);

  inspector.present(Event.prototype, (value) => {
    const event = value as Event;
    return {
      kind: 'object',
      entries: { type: event.type, defaultPrevented: event.defaultPrevented, cancelable: event.cancelable, timeStamp: event.timeStamp },
    };
  });
  inspector.present(AbortSignal.prototype, (value) => ({ kind: 'object', entries: { aborted: (value as AbortSignal).aborted } }));
  inspector.present(AbortController.prototype, (value) => ({ kind: 'object', entries: { signal: (value as AbortController).signal } }));

  function listOf(signals: unknown): unknown[] {
    if (ArrayIsArray(signals)) return signals;
    if (
      typeof signals !== 'object' ||
      signals === null ||
      typeof (signals as { [SymbolIterator]?: unknown })[SymbolIterator] !== 'function'
    ) {
      throw new TypeErrorConstructor('AbortSignal.any expects an array of AbortSignals.');
    }
    const collected = list<unknown>();
    // The program's own iterable; running it is what it asked for.
    for (const signal of signals as Iterable<unknown>) collected[collected.length] = signal;
    return collected;
  }

  return {
    follow(signal, onAbort) {
      if (!isSignal(signal))
        throw new TypeErrorConstructor('The option `signal` should be an AbortSignal, for example new AbortController().signal.');
      follow(signal, onAbort);
    },
  };
}

/** Removes the internal entrances of a class once this file has kept them. */
function hideStatics(target: object): void {
  const internal = ['controls', 'is', 'dispatch', 'remove', 'create', 'trigger', 'follow'];
  for (const name of internal) Reflect.deleteProperty(target, name);
}
