// Messages over a byte stream: a frame is 4 bytes of length (big-endian, of the payload alone), one byte of kind and the payload. A message
// is one frame of text, with a frame of image before it where one travels beside. The far end may be hostile: a length is looked at
// before anything is allocated for it. Not here: what the messages say (src/protocol/messages.ts).
import { isUtf8 } from 'node:buffer';

/** Longest payload of a frame. */
export const MOST_FRAME_BYTES = 64 * 1024 * 1024;

const HEADER_BYTES = 5;
const TEXT = 0;
const IMAGE = 1;

/** What came was no frame, or what was to go does not fit one. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** A message as bytes to write, in order. Throws `FrameError` when a part is too long for a frame. */
export function writeMessage(text: string, image?: ArrayBuffer): Uint8Array[] {
  const length = Buffer.byteLength(text);
  const frame = startFrame(TEXT, length, length);
  frame.write(text, HEADER_BYTES);
  return image === undefined ? [frame] : [startFrame(IMAGE, image.byteLength, 0), new Uint8Array(image), frame];
}

function startFrame(kind: number, length: number, room: number): Buffer {
  if (length > MOST_FRAME_BYTES) throw new FrameError(`A message of ${length} bytes does not fit a frame of at most ${MOST_FRAME_BYTES}.`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + room);
  frame.writeUInt32BE(length, 0);
  frame[4] = kind;
  return frame;
}

/** Puts the chunks of a stream together to messages. */
export class FrameReader {
  readonly #onMessage: (text: string, image?: ArrayBuffer) => void;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerFilled = 0;
  /** What has come of a payload that came in pieces. */
  #payload: Buffer | undefined;
  #filled = 0;
  #image: ArrayBuffer | undefined;

  constructor(onMessage: (text: string, image?: ArrayBuffer) => void) {
    this.#onMessage = onMessage;
  }

  /** Whether the stream may end here: between two messages. */
  get whole(): boolean {
    return this.#headerFilled === 0 && this.#image === undefined;
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
    if (length > MOST_FRAME_BYTES)
      throw new FrameError(`A frame says that it is ${length} bytes long; at most ${MOST_FRAME_BYTES} are taken.`);
    const kind = this.#header[4];
    if (kind !== TEXT && kind !== IMAGE) throw new FrameError(`There is no kind ${kind} of frame.`);
    if (kind === IMAGE && this.#image !== undefined) throw new FrameError('An image came where the text to an image was expected.');
    return length;
  }

  #take(payload: Buffer): void {
    this.#headerFilled = 0;
    this.#payload = undefined;
    this.#filled = 0;
    if (this.#header[4] === IMAGE) {
      // A copy, unless it has a buffer of its own already: what it was read into belongs to the stream.
      const own = payload.byteLength === payload.buffer.byteLength ? payload.buffer : new Uint8Array(payload).buffer;
      this.#image = own as ArrayBuffer;
      return;
    }
    if (!isUtf8(payload)) throw new FrameError('A frame of text is not UTF-8.');
    const image = this.#image;
    this.#image = undefined;
    this.#onMessage(payload.toString('utf8'), image);
  }
}
