// The booted guest as a file: made when the package is built, read when a worker starts, so that starting one does not evaluate the
// guest's runtime. Not here: booting (quickjs.ts), what an image is (quickjs-memory.ts).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { GUEST_BUNDLE } from './guest-bundle.ts';
import type { BaseImage, Hole, Layout } from './quickjs-memory.ts';

/** The functions through which the driver enters the guest. */
export const BRIDGE = ['install', 'begin', 'run', 'take', 'receive', 'drain'] as const;

/** Their addresses. */
export type Bridge = Readonly<Record<(typeof BRIDGE)[number], number>>;

/** What boot leaves: the same addresses in every realm of a build, or images would not fit. */
export interface Boot {
  readonly runtime: number;
  readonly context: number;
  readonly bridge: Bridge;
  /** Two words for passing an argument and taking a context. */
  readonly scratch: number;
  /** Pieces of the heap that are out of use in every image of this build. */
  readonly holes: readonly Hole[];
  readonly image: BaseImage;
}

const FILE = new URL('./quickjs-boot.bin', import.meta.url);

/** Names the engine, the guest's runtime and the memory's layout: what an image depends on. */
export function buildId(layout: Layout): string {
  const { version } = createRequire(import.meta.url)('@jitl/quickjs-wasmfile-release-sync/package.json') as { version: string };
  return createHash('sha256')
    .update(`quickjs ${version}\n${JSON.stringify(layout)}\n${GUEST_BUNDLE}`)
    .digest('hex')
    .slice(0, 32);
}

/** A line of JSON, then the bytes of the image's segments. */
export function packBoot(build: string, { image, ...boot }: Boot): Uint8Array {
  const segments = image.segments.map(({ at, bytes }) => [at, bytes.length]);
  const head = Buffer.from(`${JSON.stringify({ build, boot, top: image.top, segments })}\n`);
  return Buffer.concat([head, ...image.segments.map(({ bytes }) => bytes)]);
}

/** The boot image that was kept for this very build; `undefined` when there is none, or one of another build. */
export function readBoot(build: string): Boot | undefined {
  let file: Buffer;
  try {
    file = readFileSync(FILE);
  } catch {
    return undefined;
  }
  const end = file.indexOf(10);
  const head = JSON.parse(file.toString('utf8', 0, end)) as {
    build: string;
    boot: Omit<Boot, 'image'>;
    top: number;
    segments: [number, number][];
  };
  if (head.build !== build) return undefined;
  let from = end + 1;
  const segments = head.segments.map(([at, length]) => {
    // Copies of their own: words are read from them, which need an even start.
    const bytes = new Uint8Array(file.subarray(from, from + length));
    from += length;
    return { at, bytes, words: new Uint32Array(bytes.buffer, 0, length >> 2) };
  });
  return { ...head.boot, image: { segments, top: head.top } };
}
