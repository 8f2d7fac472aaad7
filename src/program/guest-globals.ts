// What a program finds in its world besides the language and the tools, as TypeScript declarations: for the type check, and for whoever wants
// to show it. A test holds it against the real world. Not here: the tools (tools/declarations.ts) and the world itself (sandbox-runtime/world).

/** Declarations of the guest's globals; they need `lib.esnext.d.ts` and nothing else. Loose where being exact would help nobody. */
export const GUEST_GLOBALS = `
declare function text(value: unknown): void;
declare function exit(value?: unknown): never;
declare function store(key: string, value: unknown): void;
declare function load(key: string): any;
declare function sleep(ms: number): Promise<void>;

/** A file of this run: what a tool delivered beside its value, or what a program saved. */
interface ArtifactInfo {
  readonly id: string; readonly name: string | null; readonly mediaType: string; readonly bytes: number | null;
  readonly from: { readonly tool: string; readonly callId: string } | null;
}
declare const artifacts: readonly ArtifactInfo[] & { readonly warnings: readonly string[] };
declare function readArtifact(id: string | ArtifactInfo, options?: { as?: "text" | "bytes" | "json"; start?: number; end?: number }): Promise<any>;
declare function saveArtifact(file: { name?: string; mediaType?: string; data: string | Uint8Array | ArrayBuffer }): Promise<ArtifactInfo>;
declare function createArtifact(file?: { name?: string; mediaType?: string }): {
  append(data: string | Uint8Array | ArrayBuffer): Promise<void>;
  close(): Promise<ArtifactInfo>;
};
declare const ALL_TOOLS: readonly { readonly name: string; readonly identifier: string; readonly description: string; readonly signature?: string }[];

/** All that there is of it: every other member is written as an error that says what to use. */
declare const process: { readonly env: { [name: string]: string | undefined } };

interface Console {
  log(...values: unknown[]): void; info(...values: unknown[]): void; debug(...values: unknown[]): void; warn(...values: unknown[]): void;
  error(...values: unknown[]): void; trace(...values: unknown[]): void; dir(value?: unknown, options?: object): void; dirxml(...values: unknown[]): void;
  table(rows?: unknown, columns?: readonly string[]): void; group(...label: unknown[]): void; groupCollapsed(...label: unknown[]): void; groupEnd(): void;
  time(label?: string): void; timeLog(label?: string, ...values: unknown[]): void; timeEnd(label?: string): void;
  assert(condition?: unknown, ...values: unknown[]): void; count(label?: string): void; countReset(label?: string): void;
  clear(): void; timeStamp(label?: string): void; profile(label?: string): void; profileEnd(label?: string): void;
}
declare const console: Console;

declare function setTimeout(callback: (...values: any[]) => unknown, ms?: number, ...values: any[]): any;
declare function setInterval(callback: (...values: any[]) => unknown, ms?: number, ...values: any[]): any;
declare function setImmediate(callback: (...values: any[]) => unknown, ...values: any[]): any;
declare function clearTimeout(timer?: any): void;
declare function clearInterval(timer?: any): void;
declare function clearImmediate(timer?: any): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T, options?: object): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;

interface Error { code?: any; details?: any; [key: string]: any }
interface ErrorConstructor { captureStackTrace(target: object, constructor?: Function): void; isError(value: unknown): value is Error }
declare class DOMException extends Error { constructor(message?: string, name?: string); readonly code: number }

declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string; protocol: string; username: string; password: string; host: string; hostname: string; port: string; pathname: string; search: string; hash: string;
  readonly origin: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}
declare class URLSearchParams {
  constructor(init?: string | URLSearchParams | Iterable<readonly any[]> | { readonly [name: string]: any });
  readonly size: number;
  append(name: string, value: any): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: any): void;
  sort(): void;
  forEach(callback: (value: string, name: string, parameters: URLSearchParams) => void, self?: any): void;
  entries(): IteratorObject<[string, string], undefined>;
  keys(): IteratorObject<string, undefined>;
  values(): IteratorObject<string, undefined>;
  [Symbol.iterator](): IteratorObject<[string, string], undefined>;
  toString(): string;
}

declare class Event {
  constructor(type: string, options?: { bubbles?: boolean; cancelable?: boolean; composed?: boolean });
  readonly type: string; readonly bubbles: boolean; readonly cancelable: boolean; readonly composed: boolean; readonly timeStamp: number;
  readonly target: any; readonly currentTarget: any; readonly eventPhase: number; readonly defaultPrevented: boolean; readonly isTrusted: boolean;
  composedPath(): any[];
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
}
declare class CustomEvent<T = any> extends Event { constructor(type: string, options?: { detail?: T; bubbles?: boolean; cancelable?: boolean; composed?: boolean }); readonly detail: T }
declare class EventTarget {
  addEventListener(type: string, listener: any, options?: any): void;
  removeEventListener(type: string, listener: any, options?: any): void;
  dispatchEvent(event: Event): boolean;
}
declare class AbortSignal extends EventTarget {
  static abort(reason?: any): AbortSignal;
  static timeout(ms: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: Event) => any) | null;
  throwIfAborted(): void;
}
declare class AbortController { readonly signal: AbortSignal; abort(reason?: any): void }

interface Performance {
  readonly timeOrigin: number;
  now(): number; mark(name: string, options?: object): any; measure(name: string, ...marks: any[]): any;
  getEntries(): any[]; getEntriesByName(name: string, type?: string): any[]; getEntriesByType(type: string): any[];
  clearMarks(name?: string): void; clearMeasures(name?: string): void; toJSON(): any;
}
declare const performance: Performance;
interface Crypto {
  randomUUID(): string;
  getRandomValues<T extends ArrayBufferView>(target: T): T;
  readonly subtle: { digest(algorithm: string | { name: string }, data: ArrayBuffer | ArrayBufferView): Promise<ArrayBuffer> };
}
declare const crypto: Crypto;

interface Buffer extends Uint8Array<ArrayBuffer> {
  toString(encoding?: string, start?: number, end?: number): string;
  toJSON(): { type: "Buffer"; data: number[] };
  equals(other: Uint8Array): boolean;
  compare(other: Uint8Array): number;
  subarray(start?: number, end?: number): Buffer;
  slice(start?: number, end?: number): Buffer;
  fill(value: any, start?: any, end?: any, encoding?: string): this;
  copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number;
  write(text: string, start?: any, length?: any, encoding?: string): number;
  indexOf(value: any, start?: any, encoding?: string): number;
  includes(value: any, start?: any, encoding?: string): boolean;
}
declare const Buffer: {
  readonly prototype: Buffer;
  from(value: any, encodingOrStart?: any, length?: number): Buffer;
  alloc(size: number, fill?: any, encoding?: string): Buffer;
  allocUnsafe(size: number): Buffer;
  isBuffer(value: unknown): value is Buffer;
  isEncoding(encoding: unknown): boolean;
  byteLength(value: any, encoding?: string): number;
  concat(parts: readonly Uint8Array[], length?: number): Buffer;
  compare(left: Uint8Array, right: Uint8Array): number;
};

interface ArrayConstructor { fromAsync(items: any, map?: (item: any, index: number) => any, self?: any): Promise<any[]> }
interface IteratorConstructor { concat<T>(...iterables: Iterable<T>[]): IteratorObject<T, undefined> }
interface Map<K, V> { getOrInsert(key: K, value: V): V; getOrInsertComputed(key: K, compute: (key: K) => V): V }
interface WeakMap<K extends WeakKey, V> { getOrInsert(key: K, value: V): V; getOrInsertComputed(key: K, compute: (key: K) => V): V }
interface Date { toGMTString(): string; getYear(): number; setYear(year: number): number }
interface Math { sumPrecise(values: Iterable<number>): number }
interface Uint8Array<TArrayBuffer extends ArrayBufferLike> {
  toBase64(options?: { alphabet?: "base64" | "base64url"; omitPadding?: boolean }): string;
  toHex(): string;
  setFromBase64(text: string, options?: object): { read: number; written: number };
  setFromHex(text: string): { read: number; written: number };
}
interface Uint8ArrayConstructor { fromBase64(text: string, options?: object): Uint8Array<ArrayBuffer>; fromHex(text: string): Uint8Array<ArrayBuffer> }
`;
