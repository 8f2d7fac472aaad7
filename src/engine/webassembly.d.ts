// The part of the WebAssembly interface that the engine uses; Node has it, its types leave it to the DOM's.
// https://www.w3.org/TR/wasm-js-api-2/
// biome-ignore lint/style/noNamespace: the interface is a namespace, and Node's types declare it as one.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }
  type Imports = Record<string, Record<string, unknown>>;
  class Memory {
    constructor(descriptor: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
    grow(pages: number): number;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
