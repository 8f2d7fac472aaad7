// Bare `quickjs-emscripten`, the build without Asyncify: QuickJS in the host's own thread, all programs in one WebAssembly memory. Each gets a new
// runtime and context; a call gives a promise that the host settles, as its README shows.
import type { QuickJSContext, QuickJSDeferredPromise, QuickJSHandle } from 'quickjs-emscripten';
import { guestProgram, guestTools, hostCall, type Packed, unpack } from './bare.ts';
import { DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_MS, failure, type Peer } from './peer.ts';

export const quickJsEmscripten: Peer = {
  name: 'quickjs-emscripten',
  where: "QuickJS in the host's own thread, one memory for all",
  async open(setup) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryBytes = DEFAULT_MEMORY_BYTES } = setup;
    const { getQuickJS, shouldInterruptAfterDeadline } = await import('quickjs-emscripten');
    const quickJs = await getQuickJS();
    const execute = hostCall(setup.tools);
    const prelude = `const bufferOf = (packed) => (packed instanceof Uint8Array ? packed.buffer : packed);
const call = (index, packed) => hostCall(index, bufferOf(packed)).then((given) => (given instanceof ArrayBuffer ? new Uint8Array(given) : given));
${guestTools(setup.tools)}`;
    return {
      async run(source) {
        const vm = quickJs.newContext();
        const open = new Set<QuickJSDeferredPromise>();
        vm.runtime.setMemoryLimit(memoryBytes);
        vm.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + timeoutMs));
        try {
          vm.newFunction('hostCall', (index, packed) => {
            const promise = vm.newPromise();
            open.add(promise);
            const settle = (way: 'resolve' | 'reject', make: () => QuickJSHandle): void => {
              // The program may have ended before its call.
              if (!vm.alive) return;
              make().consume((handle) => promise[way](handle));
              open.delete(promise);
              promise.dispose();
              const jobs = vm.runtime.executePendingJobs();
              jobs.error?.dispose();
            };
            execute(vm.getNumber(index), taken(vm, packed)).then(
              (value) => settle('resolve', () => given(vm, value)),
              (error: Error) => settle('reject', () => vm.newError(error)),
            );
            return promise.handle.dup();
          }).consume((handle) => vm.setProp(vm.global, 'hostCall', handle));
          const promise = vm.unwrapResult(vm.evalCode(`${prelude}\n${guestProgram(source, setup)}.then(bufferOf)`));
          const settled = vm.resolvePromise(promise);
          promise.dispose();
          vm.runtime.executePendingJobs().unwrap();
          const value = vm.unwrapResult(await settled).consume((handle) => taken(vm, handle));
          return { status: 'completed', value: unpack(value), output: '' };
        } catch (error) {
          return failure(error instanceof Error && error.cause instanceof Error ? error.cause : error);
        } finally {
          for (const promise of open) promise.dispose();
          vm.dispose();
        }
      },
    };
  },
};

function taken(vm: QuickJSContext, handle: QuickJSHandle | undefined): Packed {
  switch (handle === undefined ? 'undefined' : vm.typeof(handle)) {
    case 'undefined':
      return undefined;
    case 'string':
      return vm.getString(handle as QuickJSHandle);
    default:
      return vm.getArrayBuffer(handle as QuickJSHandle).consume(({ value }) => value.slice());
  }
}

function given(vm: QuickJSContext, packed: Packed): QuickJSHandle {
  if (packed === undefined) return vm.undefined;
  if (typeof packed === 'string') return vm.newString(packed);
  // It takes the whole buffer.
  return vm.newArrayBuffer(packed.slice().buffer);
}
