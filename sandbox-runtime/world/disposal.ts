// Explicit resource management where the engine lacks it: the symbols, both stacks and `SuppressedError`. The `using` statement
// itself is the compiler's work (src/program).
import {
  ErrorConstructor,
  list,
  ObjectDefineProperty,
  PromiseConstructor,
  PromisePrototypeThen,
  PromiseResolve,
  ReferenceErrorConstructor,
  ReflectApply,
  StringConstructor,
  SymbolIterator,
  TypeErrorConstructor,
} from '../primordials.ts';
import { dataDescriptor, defineClass, defineGlobal, defineHidden, defineMembers, defineName } from './define.ts';

type Cleanup = () => unknown;
const AnySymbol = Symbol as unknown as { dispose?: symbol; asyncDispose?: symbol };
const AnyGlobal = globalThis as unknown as Record<string, (new (...args: unknown[]) => Error) | undefined>;

/** Defines what is missing. */
export function installDisposal(): void {
  if (AnySymbol.dispose === undefined)
    ObjectDefineProperty(Symbol, 'dispose', dataDescriptor(Symbol('Symbol.dispose'), false, false, false));
  if (AnySymbol.asyncDispose === undefined) {
    ObjectDefineProperty(Symbol, 'asyncDispose', dataDescriptor(Symbol('Symbol.asyncDispose'), false, false, false));
  }
  const dispose = AnySymbol.dispose as symbol;
  const asyncDispose = AnySymbol.asyncDispose as symbol;

  const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][SymbolIterator]())) as object;
  // async generator object -> its function's prototype -> %AsyncGeneratorPrototype% -> %AsyncIteratorPrototype%
  const generator = (async function* () {})() as object;
  const asyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(generator))) as object;
  defineMembers(iteratorPrototype, {
    [dispose](this: { return?: unknown }): void {
      const close = this.return;
      if (typeof close === 'function') ReflectApply(close as (...args: never[]) => unknown, this, []);
    },
  });
  defineMembers(asyncIteratorPrototype, {
    [asyncDispose](this: { return?: unknown }): Promise<void> {
      return new PromiseConstructor((resolve, reject) => {
        const close = this.return;
        if (typeof close !== 'function') resolve(undefined);
        else {
          const closed = ReflectApply(close as (...args: never[]) => unknown, this, [undefined]);
          void PromisePrototypeThen(PromiseResolve(PromiseConstructor, closed), () => resolve(undefined), reject);
        }
      });
    },
  });

  if (AnyGlobal['SuppressedError'] === undefined) {
    class SuppressedError extends ErrorConstructor {
      constructor(error?: unknown, suppressed?: unknown, message?: unknown) {
        super(message === undefined ? undefined : StringConstructor(message));
        defineHidden(this, 'error', error);
        defineHidden(this, 'suppressed', suppressed);
      }
    }
    defineName(SuppressedError, 'SuppressedError');
    defineHidden(SuppressedError.prototype, 'name', 'SuppressedError');
    defineHidden(SuppressedError.prototype, 'message', '');
    defineGlobal('SuppressedError', SuppressedError);
  }
  const Suppressed = AnyGlobal['SuppressedError'] as new (error: unknown, suppressed: unknown, message: string) => Error;
  const suppress = (error: unknown, earlier: unknown): Error => new Suppressed(error, earlier, 'An error was suppressed during disposal.');

  function methodOf(value: unknown, symbols: readonly symbol[]): Cleanup | undefined {
    if (value === null || value === undefined) return undefined;
    for (let i = 0; i < symbols.length; i++) {
      const method = (value as Record<symbol, unknown>)[symbols[i] as symbol];
      if (method === undefined || method === null) continue;
      if (typeof method !== 'function') break;
      return () => ReflectApply(method as (...args: never[]) => unknown, value, []);
    }
    throw new TypeErrorConstructor('The value is not disposable: it has no method [Symbol.dispose] or [Symbol.asyncDispose].');
  }

  if (AnyGlobal['DisposableStack'] === undefined) {
    class DisposableStack {
      #cleanups: Cleanup[] | undefined = list();

      #open(): Cleanup[] {
        if (this.#cleanups === undefined) throw new ReferenceErrorConstructor('This DisposableStack is disposed already.');
        return this.#cleanups;
      }

      get disposed(): boolean {
        return this.#cleanups === undefined;
      }

      use(value: unknown): unknown {
        const cleanups = this.#open();
        const cleanup = methodOf(value, [dispose]);
        if (cleanup !== undefined) cleanups[cleanups.length] = cleanup;
        return value;
      }

      adopt(value: unknown, onDispose: unknown): unknown {
        const cleanups = this.#open();
        const run = requireFunction(onDispose);
        cleanups[cleanups.length] = () => ReflectApply(run, undefined, [value]);
        return value;
      }

      defer(onDispose: unknown): void {
        const cleanups = this.#open();
        const run = requireFunction(onDispose);
        cleanups[cleanups.length] = () => ReflectApply(run, undefined, []);
      }

      move(): DisposableStack {
        const moved = new DisposableStack();
        moved.#cleanups = this.#open();
        this.#cleanups = undefined;
        return moved;
      }

      dispose(): void {
        const cleanups = this.#cleanups;
        if (cleanups === undefined) return;
        this.#cleanups = undefined;
        let failure: { error: unknown } | undefined;
        for (let i = cleanups.length - 1; i >= 0; i--) {
          try {
            (cleanups[i] as Cleanup)();
          } catch (error) {
            failure = { error: failure === undefined ? error : suppress(error, failure.error) };
          }
        }
        if (failure !== undefined) throw failure.error;
      }
    }
    defineHidden(DisposableStack.prototype, dispose, DisposableStack.prototype.dispose);
    defineClass('DisposableStack', DisposableStack);
  }

  if (AnyGlobal['AsyncDisposableStack'] === undefined) {
    class AsyncDisposableStack {
      #cleanups: Cleanup[] | undefined = list();

      #open(): Cleanup[] {
        if (this.#cleanups === undefined) throw new ReferenceErrorConstructor('This AsyncDisposableStack is disposed already.');
        return this.#cleanups;
      }

      get disposed(): boolean {
        return this.#cleanups === undefined;
      }

      use(value: unknown): unknown {
        const cleanups = this.#open();
        const cleanup = methodOf(value, [asyncDispose, dispose]);
        if (cleanup !== undefined) cleanups[cleanups.length] = cleanup;
        return value;
      }

      adopt(value: unknown, onDispose: unknown): unknown {
        const cleanups = this.#open();
        const run = requireFunction(onDispose);
        cleanups[cleanups.length] = () => ReflectApply(run, undefined, [value]);
        return value;
      }

      defer(onDispose: unknown): void {
        const cleanups = this.#open();
        const run = requireFunction(onDispose);
        cleanups[cleanups.length] = () => ReflectApply(run, undefined, []);
      }

      move(): AsyncDisposableStack {
        const moved = new AsyncDisposableStack();
        moved.#cleanups = this.#open();
        this.#cleanups = undefined;
        return moved;
      }

      disposeAsync(): Promise<void> {
        const cleanups = this.#cleanups;
        this.#cleanups = undefined;
        return new PromiseConstructor((resolve, reject) => {
          let failure: { error: unknown } | undefined;
          const failed = (error: unknown): void => {
            failure = { error: failure === undefined ? error : suppress(error, failure.error) };
          };
          const step = (i: number): void => {
            if (cleanups === undefined || i < 0) {
              if (failure === undefined) resolve(undefined);
              else reject(failure.error);
              return;
            }
            let result: unknown;
            try {
              result = (cleanups[i] as Cleanup)();
            } catch (error) {
              failed(error);
              step(i - 1);
              return;
            }
            void PromisePrototypeThen(
              PromiseResolve(PromiseConstructor, result),
              () => step(i - 1),
              (error) => {
                failed(error);
                step(i - 1);
              },
            );
          };
          step(cleanups === undefined ? -1 : cleanups.length - 1);
        });
      }
    }
    defineHidden(AsyncDisposableStack.prototype, asyncDispose, AsyncDisposableStack.prototype.disposeAsync);
    defineClass('AsyncDisposableStack', AsyncDisposableStack);
  }
}

function requireFunction(value: unknown): (...args: never[]) => unknown {
  if (typeof value !== 'function') throw new TypeErrorConstructor('A function to run at disposal is expected.');
  return value as (...args: never[]) => unknown;
}
