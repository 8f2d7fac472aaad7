// Which artifacts are text, what type a file's name says, and text out of a part of UTF-8. Not here: reading (store.ts).
import type { ByteRange, KeptFile } from './kept.ts';

/** Whether a media type is of text, which is read as text unless asked otherwise. */
export function isTextual(mediaType: string): boolean {
  const type = essenceOf(mediaType);
  return (
    type.startsWith('text/') || /[/+](json|xml|yaml|ndjson|jsonl|x-ndjson|javascript|typescript|sql|csv|toml|x-yaml|graphql)$/.test(type)
  );
}

/** A media type without its parameters, in lower case. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The media type of a file's name; without a known ending, plain text or bytes. */
export function mediaTypeOf(name: string | undefined, text: boolean): string {
  const ending = /\.([A-Za-z0-9]+)$/.exec(name ?? '')?.[1]?.toLowerCase();
  return (ending === undefined ? undefined : TYPES.get(ending)) ?? (text ? 'text/plain' : 'application/octet-stream');
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['csv', 'text/csv'],
  ['tsv', 'text/tab-separated-values'],
  ['txt', 'text/plain'],
  ['log', 'text/plain'],
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['css', 'text/css'],
  ['js', 'text/javascript'],
  ['ts', 'text/plain'],
  ['json', 'application/json'],
  ['jsonl', 'application/x-ndjson'],
  ['ndjson', 'application/x-ndjson'],
  ['xml', 'application/xml'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
]);

/** Most bytes of one character. */
const MOST_OF_ONE = 4;

/**
 * The text of a part of a file. A character belongs to the part that its first byte is in, so that the texts of neighbouring parts, put
 * together, are the whole text. Bytes that are no UTF-8 become U+FFFD.
 */
export async function textOf(
  file: KeptFile,
  { start, end }: ByteRange & { readonly start: number; readonly end: number },
): Promise<string> {
  if (end <= start) return '';
  const bytes = await file.read({ start, end: Math.min(file.bytes, end + MOST_OF_ONE - 1) });
  const from = start === 0 ? 0 : nextStart(bytes, 0);
  const to = end >= file.bytes ? bytes.length : nextStart(bytes, end - start);
  // A byte order mark in the middle is a character.
  return new TextDecoder('utf-8', { ignoreBOM: start > 0 }).decode(bytes.subarray(Math.min(from, to), to));
}

/** The first place from `at` on where a character starts; at most three bytes on, since what goes on longer is no UTF-8. */
function nextStart(bytes: Uint8Array, at: number): number {
  let next = at;
  while (next < bytes.length && next < at + MOST_OF_ONE - 1 && ((bytes[next] as number) & 0xc0) === 0x80) next++;
  return next;
}
