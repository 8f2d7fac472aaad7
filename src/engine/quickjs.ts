// The QuickJS driver: realms whose every program starts from an image. Entering the guest goes through the package's FFI
// directly, with text written straight into its memory: the wrappers around it cost more than the entry itself.
// Not here: when a realm is entered and for how long it may run (isolation/jail.ts).
import type { ErrorKind } from '../protocol/errors.ts';
import type { LimitName } from '../protocol/limits.ts';
import { type StartOptions, splitManifest } from '../protocol/messages.ts';
import type { Budget, Engine, Image, Outcome, Realm, Start } from './engine.ts';
import { tightest } from './entry-time.ts';
import { GUEST_BUNDLE } from './guest-bundle.ts';
import { type Boot, BRIDGE, type Bridge, buildId, packBoot, readBoot } from './quickjs-boot.ts';
import { transcribe } from './quickjs-json.ts';
import { type BaseImage, GuestMemory, type Layout } from './quickjs-memory.ts';
import { findLayout, INITIAL_PAGES, type Instance, loadQuickJs, type QuickJsModule } from './quickjs-module.ts';
import { makesPlainObjects, readPlain } from './quickjs-values.ts';
import { Seeds } from './seeds.ts';
import { type Answer, createAnswer } from './services.ts';

/** The file name under which a program's text is evaluated; stacks name it. */
const PROGRAM_FILE = 'program.js';

const EVAL_GLOBAL = 0;
/** Jobs run between two looks at the clock. */
const JOBS_AT_ONCE = 64;
/** Answered by the guest's `drain` when it has started something that must run first. */
const MORE = '\u0001';
/** Ids of the functions that the guest is given. */
const ASK = 1;
const HALT = 2;
const SAY = 3;
const ATTACH = 4;
const WRITE = 5;
/** Stands on both sides of the place of a text in `#written`; and a place and a length in one number. See sandbox-runtime/outbox.ts. */
const WRITTEN = '\u0002';
const PLACE = 2 ** 32;
/** Characters of all such texts of a turn: they and the lines become one text. */
const MOST_WRITTEN = 2 ** 27;
/** Settlements that are shorter are parsed inside: making bytes of them takes its time to begin with. */
const WORTH_TRANSCRIBING = 32 * 1024;
/** What a program prints is told before its turn ends, when that takes longer. */
const TELL_MS = 50;
/** The guest with a catalog's tools in it, and what is said of those tools where that stays outside. */
interface CatalogImage {
  readonly base: BaseImage;
  readonly texts: string;
}

/**
 * Opens the engine in this thread: finds the memory's layout and takes the boot image that the package was built with; without
 * one (run from the sources) the guest's runtime is evaluated here, which takes a hundred milliseconds.
 */
export async function createQuickJs(wasm: WebAssembly.Module): Promise<Engine> {
  const module = await loadQuickJs(wasm);
  const layout = await findLayout(module);
  const build = buildId(layout);
  const answer = createAnswer();
  const images = new Map<string, CatalogImage>();
  const maker = await QuickJsRealm.instantiate(module, layout, answer, INITIAL_PAGES * 65536);
  const boot = readBoot(build) ?? maker.boot();
  maker.adopt(boot, images);
  return {
    build,
    carriesBytes: true,
    parks: true,
    mostRealms: 3,
    addCatalog(id, manifest) {
      const { manifest: tools, texts } = splitManifest(manifest);
      images.set(id, { base: maker.makeImage(boot, tools), texts });
    },
    removeCatalog(id) {
      images.delete(id);
    },
    async open(memoryBytes) {
      const realm = await QuickJsRealm.instantiate(module, layout, answer, memoryBytes);
      realm.adopt(boot, images);
      return realm;
    },
  };
}

/**
 * Boots the engine and packs the image for `readBoot`; called by scripts/build.mjs.
 * @public
 */
export async function makeBootImage(wasm: WebAssembly.Module): Promise<Uint8Array> {
  const module = await loadQuickJs(wasm);
  const layout = await findLayout(module);
  const realm = await QuickJsRealm.instantiate(module, layout, createAnswer(), INITIAL_PAGES * 65536);
  return packBoot(buildId(layout), realm.boot());
}

class QuickJsRealm implements Realm {
  onOutput: ((lines: string) => void) | undefined;
  carriesBytes = false;
  canBeEnded = false;
  readonly #memory: GuestMemory;
  readonly #instance: Instance;
  readonly #answer: Answer;
  readonly #encoder = new TextEncoder();
  readonly #seeds = new Seeds();
  #boot: Boot | undefined;
  #images: ReadonlyMap<string, CatalogImage> = new Map();
  /** The image that the memory holds, scrubbed and untouched; `undefined` while a program is in it. */
  #clean: string | undefined;
  #stackBytes = 0;
  #entryEnd = 0;
  /** Output of the entry so far. */
  readonly #said: string[] = [];
  #tellAt = 0;
  /** Bytes of the entry so far that travel beside its lines. */
  #attached: ArrayBuffer[] = [];
  /** Texts of the entry so far that its lines name by their places, and how many bytes more of them there may be. */
  #written: string[] = [];
  #roomToWrite = 0;
  #memoryBytes = 0;
  /** Longest of these texts that could still cross. */
  #mostWritten = 0;
  #interrupted = false;
  #halted = false;
  #starved = false;
  #broken = false;

  static async instantiate(module: QuickJsModule, layout: Layout, answer: Answer, memoryBytes: number): Promise<QuickJsRealm> {
    const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: Math.max(INITIAL_PAGES, Math.floor(memoryBytes / 65536)) });
    return new QuickJsRealm(new GuestMemory(memory, layout), await module.instantiate(memory), answer);
  }

  private constructor(memory: GuestMemory, instance: Instance, answer: Answer) {
    this.#answer = answer;
    this.#memory = memory;
    this.#instance = instance;
    const grow = memory.memory.grow.bind(memory.memory);
    memory.memory.grow = (pages) => {
      try {
        return grow(pages);
      } catch (error) {
        this.#starved = true;
        throw error;
      }
    };
    instance.module.callbacks = {
      callFunction: (_asyncify, context, _self, count, argv, id) => this.#callFunction(context, count, argv, id),
      shouldInterrupt: () => this.#shouldInterrupt(),
      loadModuleSource: () => 0,
      normalizeModule: () => 0,
      freeHostRef: () => undefined,
    };
  }

  /** Evaluates the guest's runtime and takes the boot image. */
  boot(): Boot {
    const { ffi, module } = this.#instance;
    this.#entryEnd = Number.POSITIVE_INFINITY;
    const runtime = ffi.QTS_NewRuntime();
    ffi.QTS_RuntimeSetMaxStackSize(runtime, 512 * 1024);
    ffi.QTS_RuntimeEnableInterruptHandler(runtime);
    const context = ffi.QTS_NewContext(runtime, 0);
    const scratch = module._malloc(16);
    const driver = ffi.QTS_NewObject(context);
    this.#setProperty(context, driver, 'ask', ffi.QTS_NewFunction(context, 'ask', 2, false, ASK));
    this.#setProperty(context, driver, 'halt', ffi.QTS_NewFunction(context, 'halt', 0, false, HALT));
    this.#setProperty(context, driver, 'say', ffi.QTS_NewFunction(context, 'say', 1, false, SAY));
    this.#setProperty(context, driver, 'attach', ffi.QTS_NewFunction(context, 'attach', 3, false, ATTACH));
    this.#setProperty(context, driver, 'write', ffi.QTS_NewFunction(context, 'write', 1, false, WRITE));
    // A variable of the global scope, not a property of the global object: code that goes through all of those and calls
    // them, as models and attackers do, must not end the program by accident.
    this.#setProperty(
      context,
      driver,
      'bindExit',
      this.#must(context, this.#evaluate(context, 'let exit; (value) => { exit = value; };', 'callgate.js')),
    );
    const bootFunction = this.#must(context, this.#evaluate(context, GUEST_BUNDLE, 'callgate.js'));
    this.#memory.words[scratch >> 2] = driver;
    const bridgeObject = this.#must(context, ffi.QTS_Call(context, bootFunction, ffi.QTS_GetUndefined(), 1, scratch));
    const bridge = Object.fromEntries(BRIDGE.map((name) => [name, this.#getProperty(context, bridgeObject, name)])) as unknown as Bridge;
    const holes = this.#memory.takeHoles(module);
    const boot: Boot = { runtime, context, bridge, scratch, holes, image: this.#memory.capture(holes) };
    return boot;
  }

  /** Makes this realm one of the booted build, without booting it. */
  adopt(boot: Boot, images: ReadonlyMap<string, CatalogImage>): void {
    this.#boot = boot;
    this.#images = images;
  }

  makeImage(boot: Boot, manifest: string): BaseImage {
    this.#memory.restore(boot.image, 512 * 1024);
    this.#entryEnd = performance.now() + 30_000;
    const problem = this.#call(boot.bridge.install, manifest);
    if (problem !== undefined || this.#interrupted || this.#memory.grown)
      throw new Error(`The catalog does not fit a guest${problem === undefined ? '' : `: ${problem}`}.`);
    const holes = [...boot.holes, ...this.#memory.takeHoles(this.#instance.module)];
    return this.#memory.capture(holes);
  }

  start(catalog: string, { code, aliases }: Start, options: StartOptions, budget: Budget): Outcome {
    const boot = this.#prepare(catalog, options);
    return this.#enter(budget, () => {
      const { context, bridge } = boot;
      const { ffi } = this.#instance;
      const begin = {
        guest: options.guest,
        timeZone: options.timeZone,
        locale: options.locale,
        aliases,
        store: options.store,
        seed: this.#seeds.next(),
        // As much again as the guest itself may hold.
        ...(this.carriesBytes && { roomForBytes: options.memoryBytes }),
        // The writer walks an array to its length, holes and all, and looks at no clock meanwhile.
        writesPlain: this.canBeEnded && makesPlainObjects(code),
      };
      this.#call(bridge.begin, JSON.stringify(begin));
      const program = this.#evaluate(context, code, PROGRAM_FILE);
      const exception = ffi.QTS_ResolveException(context, program);
      if (exception !== 0) {
        if (this.#interrupted) return undefined;
        const stack = this.#readProperty(context, exception, 'stack');
        const place = /program\.js:(\d+)(?::(\d+))?/.exec(stack);
        return {
          type: 'syntax',
          message: this.#readProperty(context, exception, 'message'),
          ...(place === null ? {} : { line: Number(place[1]), column: Number(place[2] ?? 1) }),
        };
      }
      this.#memory.words[boot.scratch >> 2] = program;
      ffi.QTS_FreeValuePointer(context, ffi.QTS_Call(context, bridge.run, ffi.QTS_GetUndefined(), 1, boot.scratch));
      return undefined;
    });
  }

  post(settlements: string, budget: Budget, beside: readonly ArrayBuffer[] = []): Outcome {
    return this.#enter(budget, () => {
      for (const buffer of beside) this.#take(buffer);
      const problem = this.#receive(settlements);
      // There was no room for what the host sent, so some of it is lost: the program would wait for it for ever.
      if (problem !== undefined && this.#starved && !this.#interrupted && !this.#halted) throw new Error('starved');
      return undefined;
    });
  }

  park(mostBytes: number): Image | undefined {
    const base = this.#images.get(this.#catalog)?.base;
    if (base === undefined) throw new Error('A realm without a program cannot be parked.');
    const image = this.#memory.difference(base);
    if (image.byteLength > mostBytes) return undefined;
    this.reset();
    return image;
  }

  resume(
    catalog: string,
    image: Image,
    settlements: string,
    options: StartOptions,
    budget: Budget,
    beside: readonly ArrayBuffer[] = [],
  ): Outcome {
    this.#prepare(catalog, options);
    this.#memory.apply(image);
    return this.post(settlements, budget, beside);
  }

  peakBytes(): number {
    // Held even when the program is gone from the memory: the image that it started from is known by its catalog.
    return Math.max(0, this.#memory.grownBytes, this.#memory.top - (this.#images.get(this.#catalog)?.base.top ?? 0));
  }

  reset(): boolean {
    this.#written = [];
    if (this.#broken || this.#memory.grown || this.#memory.stackOverran(this.#stackBytes)) return false;
    const base = this.#images.get(this.#catalog)?.base;
    if (base === undefined) return false;
    this.#memory.restore(base, this.#stackBytes);
    this.#clean = this.#catalog;
    return true;
  }

  dispose(): void {
    // Never through the engine: with promises outstanding that aborts. The memory goes with the realm.
    this.#broken = true;
  }

  #catalog = '';

  get #booted(): Boot {
    if (this.#boot === undefined) throw new Error('The realm has not been booted.');
    return this.#boot;
  }

  /** Puts the catalog's image in place, unless it is there already. */
  #prepare(catalog: string, { stackBytes, memoryBytes, guest }: StartOptions): Boot {
    this.#memoryBytes = memoryBytes;
    this.#mostWritten = Math.min(MOST_WRITTEN, Math.max(guest.valueBytes, guest.argumentBytes) + 1);
    const boot = this.#booted;
    if (this.#clean !== catalog) {
      const base = this.#images.get(catalog)?.base;
      if (base === undefined) throw new Error(`There is no image of catalog ${catalog}.`);
      this.#memory.restore(base, 512 * 1024);
    }
    this.#clean = undefined;
    this.#catalog = catalog;
    this.#stackBytes = stackBytes;
    this.#instance.ffi.QTS_RuntimeSetMaxStackSize(boot.runtime, stackBytes);
    return boot;
  }

  /** One entry: the work, then every job and due timer until the guest can only wait. */
  #enter(budget: Budget, work: () => Outcome | undefined): Outcome {
    const { ms, limit } = tightest(budget);
    const now = performance.now();
    this.#entryEnd = now + ms;
    this.#tellAt = now + TELL_MS;
    this.#said.length = 0;
    this.#attached = [];
    this.#written = [];
    // As much again as the guest itself may hold.
    this.#roomToWrite = Math.min(this.#memoryBytes, MOST_WRITTEN);
    this.#interrupted = false;
    this.#halted = false;
    const dead = (kind: ErrorKind, spent?: LimitName): Outcome => ({
      type: 'dead',
      kind,
      ...(spent === undefined ? {} : { limit: spent }),
      output: this.#takeSaid(),
    });
    try {
      const early = work();
      if (early !== undefined) return early;
      for (;;) {
        this.#runJobs();
        if (this.#halted) {
          // `exit` was called: everything else in the guest is cut off, its value is still to be fetched.
          this.#halted = false;
          this.#interrupted = false;
        }
        if (this.#interrupted) return dead('timeout', limit);
        const lines = this.#fillIn(this.#drain());
        if (this.#interrupted) return dead('timeout', limit);
        if (lines === MORE) continue;
        const output = this.#takeSaid();
        return {
          type: 'lines',
          lines: output === '' || lines === '' ? output + lines : `${output}\n${lines}`,
          starved: this.#starved,
          ...(this.#attached.length > 0 && { beside: this.#attached }),
        };
      }
    } catch (error) {
      // Out of the module came an error of the host's: the instance's state is broken, nothing may enter it again.
      this.#broken = true;
      if (this.#starved) return dead('memory', 'memoryBytes');
      if (error instanceof RangeError) return dead('limit', 'stackBytes');
      return dead('fault');
    }
  }

  #runJobs(): void {
    const { ffi } = this.#instance;
    const { runtime, context, scratch } = this.#booted;
    while (!this.#interrupted && ffi.QTS_IsJobPending(runtime) !== 0) {
      if (this.#halted) return;
      ffi.QTS_FreeValuePointer(context, ffi.QTS_ExecutePendingJob(runtime, JOBS_AT_ONCE, scratch + 8));
      if (performance.now() > this.#entryEnd) this.#interrupted = true;
    }
  }

  #drain(): string {
    const { ffi } = this.#instance;
    const { context, bridge, scratch } = this.#booted;
    let result = ffi.QTS_Call(context, bridge.drain, ffi.QTS_GetUndefined(), 0, scratch);
    let exception = ffi.QTS_ResolveException(context, result);
    if (exception !== 0 && this.#halted && !this.#interrupted) {
      // A timer or a getter of the program called `exit` and went on: it was cut off, and the value is still to be fetched.
      this.#halted = false;
      result = ffi.QTS_Call(context, bridge.drain, ffi.QTS_GetUndefined(), 0, scratch);
      exception = ffi.QTS_ResolveException(context, result);
    }
    if (exception !== 0) {
      if (this.#interrupted) return '';
      throw new Error(this.#starved ? 'starved' : 'The guest runtime failed.');
    }
    const lines = this.#readString(context, result);
    ffi.QTS_FreeValuePointer(context, result);
    return lines;
  }

  /** Hands over settlements: long ones as a value that the engine reads from bytes, which is faster than its JSON. */
  #receive(settlements: string): string | undefined {
    const { bridge, context } = this.#booted;
    const bytes = settlements.length < WORTH_TRANSCRIBING ? undefined : transcribe(settlements);
    const value = bytes === undefined ? undefined : this.#newValue(context, bytes);
    return value === undefined ? this.#call(bridge.receive, settlements) : this.#callWith(bridge.receive, value);
  }

  /** A value from the engine's own bytes; `undefined` when there is no room for it, which the parser may still have. */
  #newValue(context: number, bytes: Uint8Array): number | undefined {
    const { ffi, module } = this.#instance;
    const pointer = module._malloc(bytes.length);
    if (pointer === 0) return undefined;
    this.#memory.bytes.set(bytes, pointer);
    // The engine frees them with the buffer.
    const buffer = ffi.QTS_NewArrayBuffer(context, pointer, bytes.length);
    const starved = this.#starved;
    const value = ffi.QTS_bjson_decode(context, buffer);
    ffi.QTS_FreeValuePointer(context, buffer);
    const exception = ffi.QTS_ResolveException(context, value);
    if (exception === 0) return value;
    ffi.QTS_FreeValuePointer(context, exception);
    this.#starved = starved;
    return undefined;
  }

  /** Calls one of the bridge's functions with a text. What it threw, as text, or `undefined`. */
  #call(target: number, text: string): string | undefined {
    return this.#callWith(target, this.#newString(this.#booted.context, text));
  }

  /** Calls one of the bridge's functions with a value, which is freed. */
  #callWith(target: number, argument: number): string | undefined {
    const { ffi } = this.#instance;
    const { context, scratch } = this.#booted;
    this.#memory.words[scratch >> 2] = argument;
    const result = ffi.QTS_Call(context, target, ffi.QTS_GetUndefined(), 1, scratch);
    const exception = ffi.QTS_ResolveException(context, result);
    ffi.QTS_FreeValuePointer(context, argument);
    if (exception !== 0) return this.#readString(context, exception);
    ffi.QTS_FreeValuePointer(context, result);
    return undefined;
  }

  #callFunction(context: number, count: number, argv: number, id: number): number {
    const { ffi } = this.#instance;
    if (id === HALT) {
      this.#halted = true;
      return ffi.QTS_GetUndefined();
    }
    if (id === SAY) {
      const line = this.#readString(context, ffi.QTS_ArgvGetJSValueConstPointer(argv, 0));
      // Nothing when the guest had no memory left for it.
      if (line !== '') this.#said.push(line);
      return ffi.QTS_GetUndefined();
    }
    if (id === ATTACH) {
      this.#attach(context, argv);
      return ffi.QTS_GetUndefined();
    }
    if (id === WRITE) return ffi.QTS_NewFloat64(context, this.#writePlain(context, ffi.QTS_ArgvGetJSValueConstPointer(argv, 0)));
    if (id !== ASK || count < 2) return ffi.QTS_GetUndefined();
    const service = this.#readString(context, ffi.QTS_ArgvGetJSValueConstPointer(argv, 0));
    const argument = this.#readString(context, ffi.QTS_ArgvGetJSValueConstPointer(argv, 1));
    // No service of the world: it is this catalog's, and not part of its image.
    const answer = service === 'toolTexts' ? (this.#images.get(this.#catalog)?.texts ?? '') : this.#answer(service, argument);
    return this.#newString(context, answer);
  }

  /**
   * Copies bytes out of the guest. What a program has detached or shrunk since is sent empty: the place of every buffer counts. The numbers
   * are the guest's, so they are held against what is there.
   */
  #attach(context: number, argv: number): void {
    const { ffi } = this.#instance;
    const buffer = ffi.QTS_ArgvGetJSValueConstPointer(argv, 0);
    const offset = ffi.QTS_GetFloat64(context, ffi.QTS_ArgvGetJSValueConstPointer(argv, 1));
    const length = ffi.QTS_GetFloat64(context, ffi.QTS_ArgvGetJSValueConstPointer(argv, 2));
    const pointer = ffi.QTS_GetArrayBuffer(context, buffer);
    const size = pointer === 0 ? 0 : ffi.QTS_GetArrayBufferLength(context, buffer);
    const fits = this.carriesBytes && offset >= 0 && length >= 0 && offset + length <= size;
    const { bytes } = this.#memory;
    this.#attached.push(fits ? new Uint8Array(bytes.subarray(pointer + offset, pointer + offset + length)).buffer : new ArrayBuffer(0));
  }

  /** Keeps a plain value as JSON text for one of the turn's lines. Its place and length in one number, or -1 for what is not plain. */
  #writePlain(context: number, value: number): number {
    const { ffi } = this.#instance;
    const starved = this.#starved;
    const encoded = ffi.QTS_bjson_encode(context, value);
    const exception = ffi.QTS_ResolveException(context, encoded);
    if (exception !== 0) {
      // If there was no room for it: the guest's own way may need less.
      this.#starved = starved;
      ffi.QTS_FreeValuePointer(context, exception);
      return -1;
    }
    const pointer = ffi.QTS_GetArrayBuffer(context, encoded);
    const bytes = this.#memory.bytes.subarray(pointer, pointer + ffi.QTS_GetArrayBufferLength(context, encoded));
    const text = readPlain(bytes, Math.min(this.#roomToWrite, this.#mostWritten));
    ffi.QTS_FreeValuePointer(context, encoded);
    if (text === undefined || text.length > this.#roomToWrite) return -1;
    this.#roomToWrite -= text.length;
    return (this.#written.push(text) - 1) * PLACE + text.length;
  }

  /** The lines with the texts that they name. A name without a text stays, and is no JSON to the host. */
  #fillIn(lines: string): string {
    if (this.#written.length === 0) return lines;
    const parts = lines.split(WRITTEN);
    return parts.map((part, i) => (i % 2 === 0 ? part : (this.#written[Number(part)] ?? WRITTEN))).join('');
  }

  /** Gives the guest a buffer, as bytes of its own memory. */
  #take(buffer: ArrayBuffer): void {
    const { ffi, module } = this.#instance;
    const { context, scratch, bridge } = this.#booted;
    // Of at least one byte: an allocation of none gives no address.
    const pointer = module._malloc(Math.max(1, buffer.byteLength));
    if (pointer === 0) {
      this.#starved = true;
      throw new Error('starved');
    }
    this.#memory.bytes.set(new Uint8Array(buffer), pointer);
    // The engine frees it with the buffer.
    const value = ffi.QTS_NewArrayBuffer(context, pointer, buffer.byteLength);
    this.#memory.words[scratch >> 2] = value;
    ffi.QTS_FreeValuePointer(context, ffi.QTS_Call(context, bridge.take, ffi.QTS_GetUndefined(), 1, scratch));
    ffi.QTS_FreeValuePointer(context, value);
  }

  #shouldInterrupt(): 0 | 1 {
    if (this.#halted) return 1;
    const now = performance.now();
    if (now <= this.#entryEnd) {
      if (now > this.#tellAt && this.#said.length > 0) {
        this.#tellAt = now + TELL_MS;
        this.onOutput?.(this.#takeSaid());
      }
      return 0;
    }
    this.#interrupted = true;
    return 1;
  }

  /** The lines of output that nobody has been told yet. */
  #takeSaid(): string {
    if (this.#said.length === 0) return '';
    return this.#said.splice(0).join('\n');
  }

  #evaluate(context: number, code: string, file: string): number {
    const { module, ffi } = this.#instance;
    const { pointer, length } = this.#write(code);
    const result = ffi.QTS_Eval(context, pointer, length, file, 0, EVAL_GLOBAL);
    module._free(pointer);
    return result;
  }

  #newString(context: number, text: string): number {
    const { module, ffi } = this.#instance;
    const { pointer } = this.#write(text);
    const value = ffi.QTS_NewString(context, pointer);
    module._free(pointer);
    return value;
  }

  /** Text as UTF-8 in the guest's memory, closed by a zero. */
  #write(text: string): { pointer: number; length: number } {
    const room = text.length * 3 + 1;
    const pointer = this.#instance.module._malloc(room);
    if (pointer === 0) {
      this.#starved = true;
      throw new Error('starved');
    }
    const { bytes } = this.#memory;
    const { written } = this.#encoder.encodeInto(text, bytes.subarray(pointer, pointer + room - 1));
    bytes[pointer + written] = 0;
    return { pointer, length: written };
  }

  #readString(context: number, value: number): string {
    const { ffi } = this.#instance;
    const pointer = ffi.QTS_GetString(context, value);
    if (pointer === 0) return '';
    const { bytes } = this.#memory;
    const text = bytes.toString('utf8', pointer, bytes.indexOf(0, pointer));
    ffi.QTS_FreeCString(context, pointer);
    return text;
  }

  #setProperty(context: number, object: number, key: string, value: number): void {
    this.#instance.ffi.QTS_SetProp(context, object, this.#newString(context, key), value);
  }

  #getProperty(context: number, object: number, key: string): number {
    return this.#instance.ffi.QTS_GetProp(context, object, this.#newString(context, key));
  }

  #readProperty(context: number, object: number, key: string): string {
    return this.#readString(context, this.#getProperty(context, object, key));
  }

  #must(context: number, value: number): number {
    const exception = this.#instance.ffi.QTS_ResolveException(context, value);
    if (exception !== 0)
      throw new Error(
        `The guest runtime does not boot: ${this.#readString(context, exception)} ${this.#readProperty(context, exception, 'stack')}`,
      );
    return value;
  }
}
