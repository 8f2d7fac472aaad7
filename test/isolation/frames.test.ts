import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameError, FrameReader, MOST_FRAME_BYTES, writeMessage } from '../../src/isolation/frames.ts';

function read(chunks: readonly Uint8Array[]): { messages: [string, (number[] | undefined)?][]; reader: FrameReader } {
  const messages: [string, (number[] | undefined)?][] = [];
  const reader = new FrameReader((text, image) => messages.push(image === undefined ? [text] : [text, [...new Uint8Array(image)]]));
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { messages, reader };
}

function header(length: number, kind: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(length);
  bytes[4] = kind;
  return bytes;
}

test('a message is its length in four bytes, a zero for text, and UTF-8', () => {
  expect(Buffer.concat(writeMessage('aé')).toString('hex')).toBe('000000030061c3a9');
});

test('an image goes before the text that it travels beside', () => {
  expect(Buffer.concat(writeMessage('a', new Uint8Array([7, 8]).buffer)).toString('hex')).toBe('000000020107080000000100' + '61');
});

test('bytes go before the text that they travel beside, each buffer in a frame', () => {
  const sent = writeMessage('a', undefined, [new Uint8Array([7, 8]).buffer, new ArrayBuffer(0)]);
  expect(Buffer.concat(sent).toString('hex')).toBe('00000002020708' + '0000000002' + '000000010061');
  const heard: unknown[] = [];
  const reader = new FrameReader((...message) => heard.push(message));
  for (const byte of Buffer.concat([...sent, ...writeMessage('b')])) {
    reader.push(Buffer.from([byte]));
    expect(reader.whole).toBe(heard.length > 0);
    if (heard.length > 0) break;
  }
  expect(heard).toEqual([['a', undefined, [new Uint8Array([7, 8]).buffer, new ArrayBuffer(0)]]]);
  reader.push(Buffer.concat(writeMessage('b')));
  expect(heard[1]).toEqual(['b', undefined, undefined]);
});

test('more bytes than a message may have are not written', () => {
  expect(() => writeMessage('', undefined, [new ArrayBuffer(600), new ArrayBuffer(600)], 2_000)).toThrow(FrameError);
});

test('messages arrive whole, however the stream is cut', () => {
  const message = fc.tuple(fc.string({ unit: 'grapheme' }), fc.option(fc.uint8Array({ minLength: 1 }), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(message), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (sent, sizes) => {
      const bytes = Buffer.concat(sent.flatMap(([text, image]) => writeMessage(text, image && new Uint8Array(image).buffer)));
      const chunks: Buffer[] = [];
      for (let from = 0; from < bytes.length; ) {
        const size = sizes.next().value ?? 1;
        chunks.push(bytes.subarray(from, from + size));
        from += size;
      }
      const { messages, reader } = read(chunks);
      expect(messages).toEqual(sent.map(([text, image]) => (image === undefined ? [text] : [text, [...image]])));
      expect(reader.whole).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('an image has a buffer of its own, also when it came in one piece', () => {
  const images: ArrayBuffer[] = [];
  const reader = new FrameReader((_, image) => image && images.push(image));
  const stream = Buffer.concat(writeMessage('', new Uint8Array([1, 2]).buffer));
  reader.push(stream);
  stream.fill(9);
  expect([...new Uint8Array(images[0] as ArrayBuffer)]).toEqual([1, 2]);
});

describe('a frame is refused', () => {
  test.each([
    ['that says that it is longer than any', [header(MOST_FRAME_BYTES + 1, 0)]],
    ['that says so of an image', [header(0xffffffff, 1)]],
    ['of no known kind', [header(1, 3)]],
    ['that is a second image', [header(0, 1), header(0, 1)]],
    ['of bytes that are too many with those before', [header(10, 2), Buffer.alloc(10), header(MOST_FRAME_BYTES - 600, 2)]],
    ['of bytes that are none, over and over', [Buffer.concat(Array(140_000).fill(header(0, 2)))]],
    ['that is not UTF-8', [header(1, 0), Buffer.from([0xff])]],
  ])('%s', (_, chunks) => {
    expect(() => read(chunks)).toThrow(FrameError);
  });

  test('before anything is allocated for it', () => {
    const before = process.memoryUsage().arrayBuffers;
    expect(() => read([header(0xfffffff0, 0)])).toThrow(/4294967280 bytes long/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
  });
});

test('a message that is too long for a frame is not written', () => {
  expect(() => writeMessage('x'.repeat(MOST_FRAME_BYTES + 1))).toThrow(FrameError);
});

test('the end of a stream in the middle of a message can be seen', () => {
  for (const cut of [1, 4, 6]) expect(read([Buffer.concat(writeMessage('abc')).subarray(0, cut)]).reader.whole).toBe(false);
  expect(read([Buffer.concat(writeMessage('', new ArrayBuffer(1))).subarray(0, 6)]).reader.whole).toBe(false);
});
