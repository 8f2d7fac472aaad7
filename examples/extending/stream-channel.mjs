// A channel of one's own: over any byte stream, so over a socket to another machine too. Each message is 8 bytes of lengths (the text's, and the
// image's plus one), the text as UTF-8, the image.

/** Longest message that is taken: whoever is at the other end may not be who one thinks. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * A channel over a stream. `end` ends the other side, whatever it is doing.
 *
 * @param {import('node:stream').Duplex} stream
 * @param {() => Promise<void>} [end]
 * @returns {import('callgate/worker').Channel}
 */
export function streamChannel(stream, end = async () => undefined) {
  let open = true;
  /** @type {import('callgate/worker').Channel} */
  const channel = {
    mostBytes: MOST_BYTES,
    send(text, image) {
      if (!open) return;
      const bytes = Buffer.from(text);
      const lengths = Buffer.alloc(8);
      lengths.writeUInt32LE(bytes.length, 0);
      lengths.writeUInt32LE(image === undefined ? 0 : image.byteLength + 1, 4);
      stream.write(Buffer.concat([lengths, bytes, ...(image === undefined ? [] : [Buffer.from(image)])]));
    },
    onMessage: () => undefined,
    onLost: () => undefined,
    async close() {
      open = false;
      stream.destroy();
      await end();
    },
  };
  /** @param {Error} reason */
  const lose = (reason) => {
    if (!open) return;
    open = false;
    stream.destroy();
    channel.onLost(reason);
  };
  /** @type {Buffer[]} */
  let pieces = [];
  let held = 0;
  stream.on('data', (/** @type {Buffer} */ piece) => {
    pieces.push(piece);
    held += piece.length;
    if (held < 8) return;
    // Joined when a whole message may be there, and not with each piece of a long one.
    if (pieces.length > 1 && held < wanted(pieces)) return;
    let bytes = Buffer.concat(pieces);
    while (open && bytes.length >= 8) {
      const text = bytes.readUInt32LE(0);
      const image = bytes.readUInt32LE(4);
      const size = 8 + text + Math.max(0, image - 1);
      if (size > MOST_BYTES) return lose(new Error(`A message of ${size} bytes is too long.`));
      if (bytes.length < size) break;
      const body = bytes.subarray(8, size);
      bytes = bytes.subarray(size);
      channel.onMessage(body.toString('utf8', 0, text), image === 0 ? undefined : Uint8Array.from(body.subarray(text)).buffer);
    }
    pieces = [bytes];
    held = bytes.length;
  });
  stream.on('error', lose);
  stream.on('close', () => lose(new Error('The stream has ended.')));
  return channel;
}

/**
 * How long the first message is, as far as that can be said.
 *
 * @param {Buffer[]} pieces
 */
function wanted([first]) {
  if (first === undefined || first.length < 8) return 0;
  return 8 + first.readUInt32LE(0) + Math.max(0, first.readUInt32LE(4) - 1);
}
