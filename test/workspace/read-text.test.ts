// Reading by lines and bytes: every way through a file in pieces gives the file, in whole characters.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunWorkspace, Workspaces } from '../../src/workspace/open.ts';
import { readText, type TextRange } from '../../src/workspace/read-text.ts';

let directory: string;
let workspaces: Workspaces;
let workspace: RunWorkspace;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'callgate-read-'));
  workspaces = new Workspaces({ directory });
  workspace = await workspaces.open();
});
afterAll(async () => {
  await workspace.close();
  await workspaces.close();
  await rm(directory, { recursive: true });
});

let files = 0;
async function reading(content: string | Uint8Array) {
  const name = `file-${++files}.txt`;
  await writeFile(join(directory, name), content);
  return (range: Partial<TextRange> = {}) => readText(workspace.locate(name), { maxBytes: 1000, ...range });
}

describe('lines', () => {
  test.each([
    ['one\ntwo\nthree\n', {}, 'one\ntwo\nthree\n', 1, 3],
    ['one\ntwo\nthree', {}, 'one\ntwo\nthree', 1, 3],
    ['one\ntwo\nthree\n', { fromLine: 2 }, 'two\nthree\n', 2, 3],
    ['one\ntwo\nthree', { fromLine: 2, toLine: 2 }, 'two\n', 2, 2],
    ['one\ntwo\nthree', { toLine: 1 }, 'one\n', 1, 1],
    ['one\ntwo\nthree', { fromLine: 3, toLine: 99 }, 'three', 3, 3],
    ['one\ntwo\nthree\n', { fromLine: 3, toLine: 3 }, 'three\n', 3, 3],
    ['', {}, '', 1, 1],
    ['\n', {}, '\n', 1, 1],
    ['\n\n', { fromLine: 2 }, '\n', 2, 2],
    ['a\r\nb\r\n', { fromLine: 2 }, 'b\r\n', 2, 2],
  ])('of %j, %j are %j', async (content, range, text, fromLine, toLine) => {
    const read = await reading(content);
    const part = await read(range);
    expect(part).toMatchObject({ text, fromLine, toLine, fileBytes: Buffer.byteLength(content), truncated: false });
    expect(content.slice(part.fromByte, part.toByte)).toBe(text);
  });

  test('after the end are an error that says how many there are', async () => {
    for (const content of ['one\ntwo\n', 'one\ntwo']) {
      const read = await reading(content);
      await expect(read({ fromLine: 3 })).rejects.toMatchObject({ code: 'range_invalid', message: expect.stringContaining('has 2 lines') });
    }
  });

  test('that do not fit are left for the next part, and a line that never fits is cut', async () => {
    const read = await reading('12345\n12345\n12345\n123456789 123456789\nend');
    expect(await read({ maxBytes: 14 })).toMatchObject({ text: '12345\n12345\n', toLine: 2, truncated: true });
    expect(await read({ fromLine: 3, maxBytes: 14 })).toMatchObject({ text: '12345\n', toLine: 3, truncated: true });
    expect(await read({ fromLine: 4, maxBytes: 14 })).toMatchObject({ text: '123456789 1234', toLine: 4, truncated: true });
  });

  test('and bytes are not asked for together, nor backwards', async () => {
    const read = await reading('x');
    await expect(read({ fromLine: 1, fromByte: 0 })).rejects.toMatchObject({ code: 'range_invalid' });
    await expect(read({ fromLine: 2, toLine: 1 })).rejects.toMatchObject({ code: 'range_invalid' });
    await expect(read({ fromByte: 2 })).rejects.toMatchObject({ code: 'range_invalid', message: expect.stringContaining('has 1 bytes') });
  });
});

test('a byte order mark is no part of the text', async () => {
  const read = await reading('\ufeff{"a":1}');
  expect((await read()).text).toBe('{"a":1}');
});

test.each([
  ['image/png', Buffer.from('89504e470d0a1a0a0000', 'hex')],
  ['application/zip', Buffer.from('504b030414000000', 'hex')],
  ['application/pdf', Buffer.from('%PDF-1.7\nall of it text')],
  ['application/x-tar', Buffer.concat([Buffer.alloc(257), Buffer.from('ustar\0')])],
  ['image/webp', Buffer.from('524946460000ff00574542505650', 'hex')],
  ['application/gzip', Buffer.from('1f8b0800', 'hex')],
  ['application/vnd.sqlite3', Buffer.from('SQLite format 3\0more')],
  ['text in UTF-16', Buffer.from('\ufeffabc', 'utf16le')],
  ['application/octet-stream', Buffer.from([0x41, 0x00, 0x42])],
  ['application/octet-stream', Buffer.from([0x41, 0xff, 0x42])],
])('%s is refused, and called that', async (type, content) => {
  const read = await reading(content);
  for (const range of [{}, { fromByte: content.length - 1 }]) {
    await expect(read(range)).rejects.toMatchObject({ code: 'not_text', message: expect.stringContaining(type), details: { type } });
  }
});

test.each(['GIF8 is a format', 'MZ', 'BMW drives', 'ID3 tags', '7z', 'a�b'])('%j is a text', async (content) => {
  expect((await (await reading(content))()).text).toBe(content);
});

test('bytes that are no characters are found wherever they are', async () => {
  const read = await reading(Buffer.concat([Buffer.from('x'.repeat(5000)), Buffer.from([0xc3, 0x28])]));
  await expect(read({ fromByte: 4990 })).rejects.toMatchObject({ code: 'not_text' });
});

test('whatever the file and the size of the parts, the parts put together are the file', async () => {
  const character = fc.constantFrom('a', '\n', '\r\n', 'ü', '€', '😀', 'line');
  await fc.assert(
    fc.asyncProperty(fc.array(character, { maxLength: 60 }), fc.integer({ min: 4, max: 40 }), async (characters, maxBytes) => {
      const content = characters.join('');
      const read = await reading(content);
      let byBytes = '';
      for (let fromByte = 0, more = true; more; ) {
        const part = await read({ fromByte, maxBytes });
        expect(part.fromByte).toBe(fromByte);
        expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(maxBytes);
        byBytes += part.text;
        more = part.truncated;
        expect(part.toByte > fromByte || !more).toBe(true);
        fromByte = part.toByte;
      }
      expect(byBytes).toBe(content);
      let byLines = '';
      for (let fromLine = 1, more = content !== ''; more; ) {
        const part = await read({ fromLine, maxBytes: 400 });
        byLines += part.text;
        more = part.truncated;
        fromLine = (part.toLine ?? 0) + 1;
      }
      expect(byLines).toBe(content);
      const lines = content.split('\n');
      if (lines.at(-1) === '' && lines.length > 1) lines.pop();
      expect((await read({ maxBytes: 4000 })).toLine).toBe(lines.length);
    }),
    { numRuns: 300 },
  );
});
