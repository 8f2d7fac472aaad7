// Text and what is not text: bytes become a text or the name of their type. Not here: reading files (files.ts).
import { ToolError } from '../tools/tool.ts';
import { shown } from './spelling.ts';

/** The text of UTF-8 bytes, exactly. Throws `not_text`, with the type, for anything else. */
export function toText(bytes: Uint8Array, path: string): string {
  const text = decode(bytes);
  if (text === undefined) throw notText(path, binaryType(bytes));
  return text;
}

/** As `toText`, but `undefined` for what is no text. */
export function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0) || startsWith(bytes, '25504446 2d')) return undefined;
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A text without the byte order mark that it may begin with. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** The error for a file that is no text. */
export function notText(path: string, type: string): ToolError {
  return new ToolError(`The file ${shown(path)} is no text in UTF-8 but ${type}, so it cannot be read here as text.`, {
    code: 'not_text',
    details: { type },
  });
}

/** The media type that the first bytes say, for bytes that are known to be no text. */
export function binaryType(bytes: Uint8Array): string {
  for (const [type, signature, offset] of SIGNATURES) if (startsWith(bytes, signature, offset)) return type;
  if (startsWith(bytes, '52494646')) return RIFF[ascii(bytes, 8, 12)] ?? 'application/octet-stream';
  if (ascii(bytes, 4, 8) === 'ftyp') return FTYP[ascii(bytes, 8, 12)] ?? 'video/mp4';
  return 'application/octet-stream';
}

/** The nearest offset at or before `offset` where a character begins. */
export function characterStart(bytes: Uint8Array, offset: number): number {
  if (offset >= bytes.length) return bytes.length;
  let start = offset;
  // A character has at most three bytes that continue it.
  while (start > 0 && offset - start < 3 && isContinuation(bytes[start])) start--;
  return isContinuation(bytes[start]) ? offset : start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Signatures in hexadecimal, and where they are. */
const SIGNATURES: readonly (readonly [type: string, signature: string, offset?: number])[] = [
  ['image/png', '89504e47'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
  ['image/tiff', '49492a00'],
  ['image/tiff', '4d4d002a'],
  ['image/bmp', '424d'],
  ['image/x-icon', '00000100'],
  ['image/vnd.adobe.photoshop', '38425053'],
  ['application/pdf', '25504446 2d'],
  ['application/zip', '504b0304'],
  ['application/zip', '504b0506'],
  ['application/gzip', '1f8b'],
  ['application/x-bzip2', '425a68'],
  ['application/x-xz', 'fd377a585a00'],
  ['application/zstd', '28b52ffd'],
  ['application/x-7z-compressed', '377abcaf271c'],
  ['application/vnd.rar', '526172211a07'],
  ['application/x-tar', '7573746172', 257],
  ['application/x-elf', '7f454c46'],
  ['application/x-mach-binary', 'cffaedfe'],
  ['application/x-mach-binary', 'cefaedfe'],
  ['application/java-vm', 'cafebabe'],
  ['application/wasm', '0061736d'],
  ['application/vnd.microsoft.portable-executable', '4d5a'],
  ['application/vnd.sqlite3', '53514c69746520666f726d61742033 00'],
  ['application/vnd.apache.parquet', '50415231'],
  ['application/x-ole-storage', 'd0cf11e0a1b11ae1'],
  ['audio/mpeg', '494433'],
  ['audio/mpeg', 'fffb'],
  ['audio/flac', '664c6143'],
  ['audio/ogg', '4f676753'],
  ['video/webm', '1a45dfa3'],
  ['font/woff', '774f4646'],
  ['font/woff2', '774f4632'],
  ['font/ttf', '0001000000'],
  ['font/otf', '4f54544f'],
  ['text in UTF-32', 'fffe0000'],
  ['text in UTF-32', '0000feff'],
  ['text in UTF-16', 'fffe'],
  ['text in UTF-16', 'feff'],
];

const RIFF: Readonly<Record<string, string>> = { WEBP: 'image/webp', WAVE: 'audio/wav', 'AVI ': 'video/x-msvideo' };
const FTYP: Readonly<Record<string, string>> = {
  heic: 'image/heic',
  heix: 'image/heic',
  avif: 'image/avif',
  'qt  ': 'video/quicktime',
  'M4A ': 'audio/mp4',
};

function startsWith(bytes: Uint8Array, signature: string, offset = 0): boolean {
  const expected = Buffer.from(signature.replaceAll(' ', ''), 'hex');
  return bytes.length >= offset + expected.length && expected.every((byte, index) => bytes[offset + index] === byte);
}

function ascii(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString('latin1');
}
