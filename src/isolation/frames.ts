// Messages over a byte stream: a frame is 4 bytes of length (big-endian, of the payload alone), one byte of kind and the payload. A message
// is one frame of text, with a frame of image before it where one travels beside, and one of bytes for each buffer that does. The far end may be
// hostile: a length is looked at before anything is allocated for it. Not here: what the messages say (src/protocol/messages.ts).
import { isUtf8 } from 'node:buffer';

/** Longest payload of a frame, unless a conversation has another, and the longest that any may have: about as long as a string can be. */
export const MOST_FRAME_BYTES = 64 * 1024 * 1024;
export const LARGEST_FRAME_BYTES = 512 * 1024 * 1024 - 1024;

const HEADER_BYTES = 5;
const TEXT = 0;
const IMAGE = 1;
const BYTES = 2;
/** What a buffer counts beside its bytes: an empty one takes memory too. */
const BUFFER_COST = 512;

/** What came was no frame, or what was to go does not fit one. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** A message as bytes to write, in order. Throws `FrameError` when a part is too long for a frame, or all buffers together are. */
export function writeMessage(
  text: string,
  image?: ArrayBuffer,
  beside: readonly ArrayBuffer[] = [],
  mostBytes = MOST_FRAME_BYTES,
): Uint8Array[] {
  const start = (kind: number, length: number, room = 0): Buffer => startFrame({ kind, length, room, mostBytes });
  const length = Buffer.byteLength(text);
  const frame = start(TEXT, length, length);
  frame.write(text, HEADER_BYTES);
  const parts: Uint8Array[] = [];
  if (image !== undefined) parts.push(start(IMAGE, image.byteLength), new Uint8Array(image));
  if (costOf(beside) > mostBytes) throw new FrameError(`The bytes of a message, in ${beside.length} buffers, are more than ${mostBytes}.`);
  for (const buffer of beside) parts.push(start(BYTES, buffer.byteLength), new Uint8Array(buffer));
  parts.push(frame);
  return parts;
}

/** What buffers beside a message count against the longest payload of a frame. */
export function costOf(beside: readonly ArrayBuffer[]): number {
  let cost = 0;
  for (const { byteLength } of beside) cost += byteLength + BUFFER_COST;
  return cost;
}

function startFrame({ kind, length, room, mostBytes }: { kind: number; length: number; room: number; mostBytes: number }): Buffer {
  if (length > mostBytes) throw new FrameError(`A message of ${length} bytes does not fit a frame of at most ${mostBytes}.`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + room);
  frame.writeUInt32BE(length, 0);
  frame[4] = kind;
  return frame;
}

/** Puts the chunks of a stream together to messages. */
export class FrameReader {
  readonly #onMessage: (text: string, image?: ArrayBuffer, beside?: readonly ArrayBuffer[]) => void;
  readonly #mostBytes: number;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerFilled = 0;
  /** What has come of a payload that came in pieces. */
  #payload: Buffer | undefined;
  #filled = 0;
  #image: ArrayBuffer | undefined;
  #beside: ArrayBuffer[] = [];
  #besideCost = 0;

  /** `mostBytes` is the longest payload of a frame, and how much all buffers of a message may be together. */
  constructor(onMessage: (text: string, image?: ArrayBuffer, beside?: readonly ArrayBuffer[]) => void, mostBytes = MOST_FRAME_BYTES) {
    this.#onMessage = onMessage;
    this.#mostBytes = mostBytes;
  }

  /** Whether the stream may end here: between two messages. */
  get whole(): boolean {
    return this.#headerFilled === 0 && this.#image === undefined && this.#beside.length === 0;
  }

  /** Takes what came. Throws `FrameError` when it is no frame; nothing after that can be understood. */
  push(chunk: Buffer): void {
    let from = 0;
    // A payload may be empty, so that a header alone can complete a frame.
    while (from < chunk.length) {
      if (this.#headerFilled < HEADER_BYTES) {
        const taken = chunk.copy(this.#header, this.#headerFilled, from);
        this.#headerFilled += taken;
        from += taken;
        if (this.#headerFilled < HEADER_BYTES) return;
      }
      const length = this.#checkedLength();
      if (this.#payload === undefined && chunk.length - from >= length) {
        // Whole in this chunk, as most are.
        this.#take(chunk.subarray(from, from + length));
        from += length;
        continue;
      }
      this.#payload ??= Buffer.from(new ArrayBuffer(length));
      const taken = chunk.copy(this.#payload, this.#filled, from);
      this.#filled += taken;
      from += taken;
      if (this.#filled === length) this.#take(this.#payload);
    }
  }

  #checkedLength(): number {
    const length = this.#header.readUInt32BE(0);
    if (length > this.#mostBytes)
      throw new FrameError(`A frame says that it is ${length} bytes long; at most ${this.#mostBytes} are taken.`);
    const kind = this.#header[4];
    if (kind === BYTES && this.#besideCost + length + BUFFER_COST > this.#mostBytes)
      throw new FrameError(`The bytes beside a message are more than ${this.#mostBytes}.`);
    if (kind !== TEXT && kind !== IMAGE && kind !== BYTES) throw new FrameError(`There is no kind ${kind} of frame.`);
    if (kind === IMAGE && this.#image !== undefined) throw new FrameError('An image came where the text to an image was expected.');
    return length;
  }

  #take(payload: Buffer): void {
    this.#headerFilled = 0;
    this.#payload = undefined;
    this.#filled = 0;
    const kind = this.#header[4];
    if (kind !== TEXT) {
      // A copy, unless it has a buffer of its own already: what it was read into belongs to the stream.
      const own = (payload.byteLength === payload.buffer.byteLength ? payload.buffer : new Uint8Array(payload).buffer) as ArrayBuffer;
      if (kind === IMAGE) this.#image = own;
      else {
        this.#beside.push(own);
        this.#besideCost += own.byteLength + BUFFER_COST;
      }
      return;
    }
    if (!isUtf8(payload)) throw new FrameError('A frame of text is not UTF-8.');
    const image = this.#image;
    const beside = this.#beside;
    this.#image = undefined;
    if (beside.length > 0) {
      this.#beside = [];
      this.#besideCost = 0;
    }
    this.#onMessage(payload.toString('utf8'), image, beside.length > 0 ? beside : undefined);
  }
}
