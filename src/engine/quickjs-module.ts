// One instance of the QuickJS WebAssembly module, with what it may import decided here: it knows nothing of
// the host's time zone, prints nowhere, and can not grow past its memory. Not here: what runs in it (quickjs.ts).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import releaseSync from '@jitl/quickjs-wasmfile-release-sync';
import type { QuickJSSyncVariant } from 'quickjs-emscripten-core';
import type { Layout } from './quickjs-memory.ts';

/** An address in the module's memory. The package brands its pointer types one by one; here every one is a number. */
type Pointer = number;

/** The functions of the package's FFI that the driver uses. */
interface Ffi {
  QTS_NewRuntime(): Pointer;
  QTS_NewContext(runtime: Pointer, intrinsics: number): Pointer;
  QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void;
  QTS_RuntimeEnableInterruptHandler(runtime: Pointer): void;
  QTS_Eval(context: Pointer, code: Pointer, bytes: number, file: string, detectModule: number, flags: number): Pointer;
  QTS_Call(context: Pointer, target: Pointer, self: Pointer, count: number, argv: Pointer): Pointer;
  QTS_ResolveException(context: Pointer, value: Pointer): Pointer;
  QTS_GetProp(context: Pointer, object: Pointer, key: Pointer): Pointer;
  QTS_SetProp(context: Pointer, object: Pointer, key: Pointer, value: Pointer): void;
  QTS_NewObject(context: Pointer): Pointer;
  QTS_NewFunction(context: Pointer, name: string, parameters: number, isConstructor: boolean, id: number): Pointer;
  QTS_NewString(context: Pointer, text: Pointer): Pointer;
  QTS_NewFloat64(context: Pointer, value: number): Pointer;
  /** Makes a value of the bytes in an array buffer. */
  QTS_bjson_decode(context: Pointer, bytes: Pointer): Pointer;
  /** Writes a value as bytes, which come as an array buffer. */
  QTS_bjson_encode(context: Pointer, value: Pointer): Pointer;
  QTS_NewArrayBuffer(context: Pointer, bytes: Pointer, length: number): Pointer;
  QTS_GetArrayBuffer(context: Pointer, value: Pointer): Pointer;
  QTS_GetArrayBufferLength(context: Pointer, value: Pointer): number;
  QTS_GetFloat64(context: Pointer, value: Pointer): number;
  QTS_GetString(context: Pointer, value: Pointer): Pointer;
  QTS_FreeCString(context: Pointer, text: Pointer): void;
  QTS_FreeValuePointer(context: Pointer, value: Pointer): void;
  QTS_GetUndefined(): Pointer;
  QTS_IsJobPending(runtime: Pointer): number;
  QTS_ExecutePendingJob(runtime: Pointer, most: number, contextOut: Pointer): Pointer;
  QTS_ArgvGetJSValueConstPointer(argv: Pointer, index: number): Pointer;
}

/** What the module calls back. */
interface Callbacks {
  callFunction(asyncify: undefined, context: Pointer, self: Pointer, count: number, argv: Pointer, id: number): Pointer;
  shouldInterrupt(asyncify: undefined, runtime: Pointer): 0 | 1;
}

interface Emscripten {
  callbacks: Callbacks & Record<string, (...args: never[]) => unknown>;
  _malloc(bytes: number): Pointer;
  _free(pointer: Pointer): void;
}

/** The module compiled, and how to make instances of it. A compiled module may be handed to worker threads. */
export interface QuickJsModule {
  readonly wasm: WebAssembly.Module;
  instantiate(memory: WebAssembly.Memory): Promise<Instance>;
}

/** One running instance. */
export interface Instance {
  readonly module: Emscripten;
  readonly ffi: Ffi;
  readonly stackTop: number;
}

/** Compiles the module: some 10 ms, once per process. */
export function compileQuickJs(): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  return WebAssembly.compile(readFileSync(path));
}

/** The package's own glue around a compiled module. */
export async function loadQuickJs(wasm: WebAssembly.Module): Promise<QuickJsModule> {
  // The package's types describe its CommonJS side; as a module its default export is the variant itself.
  const variant = releaseSync as unknown as QuickJSSyncVariant;
  const [loader, FFI] = await Promise.all([variant.importModuleLoader(), variant.importFFI()]);
  // The variant wraps its loader once or twice, depending on how it was imported.
  const load = (typeof loader === 'function' ? loader : loader.default) as unknown as (options: object) => Promise<Emscripten>;
  return {
    wasm,
    async instantiate(memory) {
      let exports: Record<string, unknown> = {};
      const options = {
        wasmMemory: memory,
        // Else the path of the host's script lies in the guest's memory, as the environment's `_`.
        thisProgram: 'guest',
        print: () => undefined,
        printErr: () => undefined,
        instantiateWasm(
          imports: { a: Record<string, unknown> },
          done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
        ) {
          Object.assign(imports.a, timeImports(memory));
          const instance = new WebAssembly.Instance(wasm, imports);
          exports = instance.exports;
          done(instance, wasm);
          return exports;
        },
      };
      const module = await load(options);
      const stackTop = (exports[IMPORTS.stackPointer] as () => number)();
      return { module, ffi: new FFI(module as never) as unknown as Ffi, stackTop };
    },
  };
}

/** Names in this build's minified import and export lists; the dependency is pinned, and `findLayout` refuses another build. */
const IMPORTS = { localTime: 'm', initTimeZone: 'n', stackPointer: 'Oa' } as const;

/** The C library's local time is UTC: the host's time zone is nobody's business, and the guest's own is made in the guest. */
function timeImports(memory: WebAssembly.Memory): Record<string, unknown> {
  return {
    [IMPORTS.localTime](seconds: bigint, result: number): void {
      const local = new Date(Number(seconds) * 1000);
      const yearStart = Date.UTC(local.getUTCFullYear(), 0, 1);
      const fields = [
        local.getUTCSeconds(),
        local.getUTCMinutes(),
        local.getUTCHours(),
        local.getUTCDate(),
        local.getUTCMonth(),
        local.getUTCFullYear() - 1900,
        local.getUTCDay(),
        Math.floor((local.getTime() - yearStart) / 86_400_000),
        0,
        0,
      ];
      new Int32Array(memory.buffer, result, fields.length).set(fields);
    },
    [IMPORTS.initTimeZone](zone: number, daylight: number, standardName: number, daylightName: number): void {
      // Nothing reads these; they must be valid, and say nothing of the host.
      const bytes = new Uint8Array(memory.buffer);
      new Int32Array(memory.buffer, zone, 1)[0] = 0;
      new Int32Array(memory.buffer, daylight, 1)[0] = 0;
      for (const name of [standardName, daylightName]) bytes.set([85, 84, 67, 0], name);
    },
  };
}

/** The stack of this build, in bytes. */
const STACK_BYTES = 5 * 1024 * 1024;

/**
 * Finds the memory layout of the build by looking at what allocating changes: the word in static data that moves with the
 * heap's end. Done once per thread, on an instance that is thrown away. Throws when this is not the build that it knows.
 */
export async function findLayout(module: QuickJsModule): Promise<Layout> {
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: 512 });
  const { module: emscripten, stackTop } = await module.instantiate(memory);
  const staticEnd = stackTop - STACK_BYTES;
  const size = 1 << 20;
  const words = (): Uint32Array => new Uint32Array(memory.buffer.slice(0, Math.max(0, staticEnd)));
  const before = words();
  const first = emscripten._malloc(size);
  const between = words();
  const last = emscripten._malloc(size);
  const after = words();
  const moved: number[] = [];
  for (let i = 0; i < after.length; i++) {
    const [a, b, c] = [before[i] as number, between[i] as number, after[i] as number];
    if (a >= stackTop && b > a + size / 2 && c >= b + size) moved.push(i * 4);
  }
  // Two words move with the heap: the start of the allocator's free chunk at its end, and the end of the memory behind that.
  const topAddress = moved.find((address) => after[address / 4] === last + size);
  const breakAddress = moved.find((address) => (after[address / 4] as number) > last + size);
  if (topAddress === undefined || breakAddress === undefined || staticEnd <= 0) {
    throw new Error('This build of QuickJS lays out its memory in a way that is not known here; install the pinned version.');
  }
  return { staticEnd, stackTop, heapStart: first - 8, topAddress, breakAddress };
}

/** Pages that this build's memory starts with: 16 MiB. */
export const INITIAL_PAGES = 256;
