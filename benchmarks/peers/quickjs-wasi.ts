// `quickjs-wasi`: QuickJS-ng in the host's own thread, a WebAssembly instance with a memory of its own per program, from one compiled module. The
// second way puts back a snapshot in which the tools are there already.
import type { JSValueHandle, QuickJS, QuickJSOptions } from 'quickjs-wasi';
import { guestProgram, guestTools, hostCall, type Packed, unpack } from './bare.ts';
import { DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_MS, failure, type Opened, type Peer, type Setup } from './peer.ts';

export const quickJsWasi: Peer = {
  name: 'quickjs-wasi',
  where: "QuickJS in the host's own thread, a memory per program",
  async open(setup) {
    const { create, optionsOf, prelude } = await prepare(setup);
    return opened(setup, async () => {
      const vm = await create.create(optionsOf());
      listen(vm, setup);
      vm.evalCode(prelude).dispose();
      return vm;
    });
  },
};

export const quickJsWasiSnapshot: Peer = {
  name: 'quickjs-wasi, snapshot',
  where: "QuickJS in the host's own thread, a memory per program",
  async open(setup) {
    const { create, optionsOf, prelude } = await prepare(setup);
    const first = await create.create(optionsOf());
    listen(first, setup);
    first.evalCode(prelude).dispose();
    const snapshot = first.snapshot();
    first.dispose();
    return opened(setup, async () => {
      const vm = await create.restore(snapshot, optionsOf());
      vm.registerHostCallback('hostCall', calls(vm, setup));
      return vm;
    });
  },
};

async function prepare(setup: Setup): Promise<{ create: typeof QuickJS; optionsOf(): QuickJSOptions; prelude: string }> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryBytes = DEFAULT_MEMORY_BYTES } = setup;
  const { readFile } = await import('node:fs/promises');
  const { QuickJS: create } = await import('quickjs-wasi');
  const wasm = await WebAssembly.compile(await readFile(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));
  return {
    create,
    optionsOf() {
      const deadline = Date.now() + timeoutMs;
      return { wasm, memoryLimit: memoryBytes, interruptHandler: () => Date.now() > deadline };
    },
    prelude: `const call = hostCall;\n${guestTools(setup.tools)}`,
  };
}

function opened(setup: Setup, enter: () => Promise<QuickJS>): Opened {
  return {
    async run(source) {
      let vm: QuickJS | undefined;
      try {
        vm = await enter();
        const promise = vm.evalCode(guestProgram(source, setup));
        vm.executePendingJobs();
        const result = await vm.resolvePromise(promise);
        promise.dispose();
        if ('error' in result) return failure(result.error.consume((handle) => vm?.dump(handle)));
        // The program's expression gives what pack() gives.
        const packed = result.value.consume((handle) => vm?.dump(handle)) as Packed;
        return { status: 'completed', value: unpack(packed), output: '' };
      } catch (error) {
        return failure(error);
      } finally {
        vm?.dispose();
      }
    },
  };
}

function listen(vm: QuickJS, setup: Setup): void {
  vm.newFunction('hostCall', calls(vm, setup)).consume((handle) => vm.setProp(vm.global, 'hostCall', handle));
}

/** A host function that gives a promise: its package settles it, lets the jobs run, and forgets what comes after the end. */
function calls(vm: QuickJS, { tools }: Setup): (index: JSValueHandle, packed: JSValueHandle) => JSValueHandle {
  const execute = hostCall(tools);
  // guestTools() has packed it.
  return (index, packed) => vm.hostToHandle(execute(index.toNumber(), vm.dump(packed) as Packed));
}
