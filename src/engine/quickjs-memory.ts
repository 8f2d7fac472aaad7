// The layout of a QuickJS module's memory: where static data, stack and heap lie, what of it is worth keeping, and how it
// is put back. A guest is these bytes. Not here: entering the guest (quickjs.ts).

/** Bytes compared at once. */
const PAGE = 4096;
/** How far below the engine's stack limit frames of built-ins may reach; the depth of the engine's own C recursion. */
const STACK_SLACK = 128 * 1024;

/** Where things lie in the memory of one build of the module. All values are byte addresses. */
export interface Layout {
  /** The end of static data; the stack's far end lies above it. */
  readonly staticEnd: number;
  /** The stack's near end: it grows down from here. */
  readonly stackTop: number;
  /** The heap's first chunk. */
  readonly heapStart: number;
  /** Where the allocator (Doug Lea's) keeps the start of its last chunk, all free: the end of what is in use. */
  readonly topAddress: number;
  /** Where the C library keeps the end of the memory that the allocator has asked for. */
  readonly breakAddress: number;
}

/** A piece of memory as it was, as bytes and as words of the same bytes; `at` is a whole number of words. */
interface Segment {
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
}

/** The bytes of a guest at rest. Between two entries nothing lies on the stack, so static data and heap are all of it. */
export interface BaseImage {
  /** In order of address; what lies between them is never written to. */
  readonly segments: readonly Segment[];
  /** End of the heap in use. */
  readonly top: number;
}

/** Words that are the same between two that differ: fewer are kept with them than a run of its own would take. */
const JOIN_WORDS = 4;

/** Without the checks that a Buffer's own `fill` makes of its arguments. */
const zero = Uint8Array.prototype.fill;

/** What an untouched piece of stack holds. */
const ZEROS = Buffer.alloc(16 * PAGE);

/** One realm's memory. Views are renewed when the memory has grown. */
export class GuestMemory {
  readonly memory: WebAssembly.Memory;
  readonly #layout: Layout;
  readonly #initialBytes: number;
  #buffer: ArrayBuffer;
  #bytes: Buffer;
  #words: Uint32Array;

  constructor(memory: WebAssembly.Memory, layout: Layout) {
    this.memory = memory;
    this.#layout = layout;
    this.#buffer = memory.buffer as ArrayBuffer;
    this.#initialBytes = this.#buffer.byteLength;
    this.#bytes = Buffer.from(this.#buffer);
    this.#words = new Uint32Array(this.#buffer);
  }

  get bytes(): Buffer {
    if (this.memory.buffer !== this.#buffer) {
      this.#buffer = this.memory.buffer as ArrayBuffer;
      this.#bytes = Buffer.from(this.#buffer);
      this.#words = new Uint32Array(this.#buffer);
    }
    return this.#bytes;
  }

  get words(): Uint32Array {
    void this.bytes;
    return this.#words;
  }

  /** Whether the memory is larger than it was made; such a realm is dropped, since memory never shrinks. */
  get grown(): boolean {
    return this.grownBytes > 0;
  }

  get grownBytes(): number {
    return this.memory.buffer.byteLength - this.#initialBytes;
  }

  /** End of the heap in use, the header of the free chunk behind it included. */
  get top(): number {
    return (this.words[this.#layout.topAddress >> 2] as number) + HEADER;
  }

  /** End of what the allocator has ever had. */
  get #break(): number {
    return this.words[this.#layout.breakAddress >> 2] as number;
  }

  /** Keeps the guest as it is. `holes` are free pieces of the heap that were taken out of use: they need not be kept. */
  capture(holes: readonly Hole[]): BaseImage {
    const { staticEnd, stackTop } = this.#layout;
    const { top } = this;
    // Whatever making this guest has left behind the heap, so that nothing of it is kept or found later.
    this.bytes.fill(0, top, this.#break);
    const segments = [this.#copy(0, staticEnd)];
    let from = stackTop;
    for (const { start, end } of merge(holes)) {
      if (start > from) segments.push(this.#copy(from, start));
      from = Math.max(from, end);
    }
    if (top > from) segments.push(this.#copy(from, top));
    return { segments, top };
  }

  /** A copy of its own, not a view: the memory goes on changing. */
  #copy(from: number, to: number): Segment {
    const bytes = new Uint8Array(this.bytes.subarray(from, to));
    return { at: from, bytes, words: new Uint32Array(bytes.buffer, 0, bytes.length >> 2) };
  }

  /** Makes the memory what it was when `base` was captured, over whatever a program left; nothing of that stays. */
  restore(base: BaseImage, stackBytes: number): void {
    const { staticEnd, stackTop } = this.#layout;
    const { bytes } = this;
    zero.call(bytes, 0, base.top, this.#break);
    zero.call(bytes, 0, Math.max(staticEnd, stackTop - stackBytes - STACK_SLACK), stackTop);
    for (const segment of base.segments) bytes.set(segment.bytes, segment.at);
  }

  /** Whether a program has left bytes on the stack further down than `restore` scrubs. */
  stackOverran(stackBytes: number): boolean {
    const { staticEnd, stackTop } = this.#layout;
    const low = Math.max(staticEnd, stackTop - stackBytes - STACK_SLACK);
    const from = Math.max(staticEnd, low - ZEROS.length);
    return this.bytes.compare(ZEROS, 0, low - from, from, low) !== 0;
  }

  /**
   * What differs from `base`, as one block: count, memory size, then address and length of each run, then the runs. Pages are
   * compared as a whole first; within one that differs only the words that do are kept, since counters of references to
   * shared objects change all over the heap.
   */
  difference(base: BaseImage): ArrayBuffer {
    const { bytes, words, top } = this;
    const runs: number[] = [];
    let size = 0;
    const keep = (from: number, to: number): void => {
      runs.push(from, to - from);
      size += to - from;
    };
    for (const { at, bytes: kept, words: keptWords } of base.segments) {
      for (let offset = 0; offset < kept.length; offset += PAGE) {
        const end = Math.min(offset + PAGE, kept.length);
        if (bytes.compare(kept, offset, end, at + offset, at + end) === 0) continue;
        const first = at >> 2;
        let from = -1;
        let to = -1;
        for (let word = offset >> 2; word < end >> 2; word++) {
          if (words[first + word] === keptWords[word]) continue;
          if (from >= 0 && word - to > JOIN_WORDS) {
            keep(at + from * 4, at + to * 4);
            from = -1;
          }
          if (from < 0) from = word;
          to = word + 1;
        }
        if (from >= 0) keep(at + from * 4, at + to * 4);
      }
    }
    if (top > base.top) keep(base.top, top);
    const header = 8 + runs.length * 4;
    const block = new ArrayBuffer(header + size);
    new Uint32Array(block, 0, 2 + runs.length).set([runs.length / 2, bytes.length, ...runs]);
    const out = new Uint8Array(block);
    let offset = header;
    for (let i = 0; i < runs.length; i += 2) {
      const [at, length] = [runs[i] as number, runs[i + 1] as number];
      out.set(bytes.subarray(at, at + length), offset);
      offset += length;
    }
    return block;
  }

  /** Puts the runs of `difference` back over `base`, which the memory holds. */
  apply(block: ArrayBuffer): void {
    const [count, size] = new Uint32Array(block, 0, 2) as unknown as [number, number];
    if (this.bytes.length < size) this.memory.grow((size - this.bytes.length) / 65536);
    const runs = new Uint32Array(block, 8, count * 2);
    const source = new Uint8Array(block);
    const { bytes } = this;
    let offset = 8 + count * 8;
    for (let i = 0; i < runs.length; i += 2) {
      const [at, length] = [runs[i] as number, runs[i + 1] as number];
      bytes.set(source.subarray(offset, offset + length), at);
      offset += length;
    }
  }

  /**
   * Takes every free piece between used ones out of use, zeroed: booting leaves thousands, and what a program allocates would be
   * scattered over them, to be kept and put back piece by piece. They stay allocated for ever, so nothing is written there again,
   * and all that a program allocates lies together behind the heap.
   */
  takeHoles(allocator: { _malloc(bytes: number): number; _free(pointer: number): void }): Hole[] {
    const holes: Hole[] = [];
    const end = this.words[this.#layout.topAddress >> 2] as number;
    for (const size of this.#freeChunks(end)) {
      const pointer = allocator._malloc(size - CHUNK_OVERHEAD);
      if (pointer >= end) {
        allocator._free(pointer);
        continue;
      }
      this.bytes.fill(0, pointer, pointer + size - CHUNK_OVERHEAD);
      holes.push({ start: pointer, end: pointer + size - CHUNK_OVERHEAD });
    }
    return holes;
  }

  /** Sizes of the free chunks before `end`, largest first. A chunk begins with the size of a free one before it, its own size and flags. */
  #freeChunks(end: number): number[] {
    const { words } = this;
    const sizes: number[] = [];
    for (let at = this.#layout.heapStart; at < end; ) {
      const head = words[(at + 4) >> 2] as number;
      const size = head & ~7;
      if (size === 0) throw new Error('The heap of this build of QuickJS is not laid out as expected; install the pinned version.');
      if ((head & IN_USE) === 0) sizes.push(size);
      at += size;
    }
    return sizes.sort((a, b) => b - a);
  }
}

const IN_USE = 2;
/** What a chunk in use takes beside its bytes. */
const CHUNK_OVERHEAD = 4;

/** A piece of the heap that nothing uses. */
export interface Hole {
  readonly start: number;
  readonly end: number;
}

/** Smaller gaps between what is kept cost more to leave out than to copy. */
const WORTH_LEAVING_OUT = 2048;
/** Between two neighbouring holes lies the second one's header only, which nothing changes any more. */
const HEADER = 16;

function merge(holes: readonly Hole[]): Hole[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of [...holes].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start - last.end <= HEADER) last.end = end;
    else merged.push({ start, end });
  }
  return merged.filter(({ start, end }) => end - start >= WORTH_LEAVING_OUT);
}
