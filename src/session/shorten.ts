// Fits a value and an output into a token budget without breaking them: JSON stays JSON, text is cut in its middle at
// character boundaries, and what is missing is counted. Not here: the limits of what a program may produce at all.
import { toJson } from '../protocol/values.ts';

/** Bytes of UTF-8 that stand for one token, roughly, whatever the model. */
const BYTES_PER_TOKEN = 4;

/** A piece that fits, and what was left out of it in words; `undefined` when nothing was. */
export interface Shortened<T> {
  readonly kept: T;
  readonly left?: string;
}

/** Bytes that a budget in tokens allows. */
export function bytesOf(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}

/** A value as JSON for a model: as `toJson`, but of bytes only how many there are. */
export function toShownJson(value: unknown): unknown {
  return toJson(value, (bytes, kind) => `${bytes.length} bytes (${kind})`);
}

/** A text cut in the middle to so many bytes; the note in the cut is not counted. */
export function shortenText(text: string, bytes: number): Shortened<string> {
  const all = Buffer.from(text);
  if (all.length <= bytes) return { kept: text };
  const half = Math.floor(bytes / 2);
  const head = all.toString('utf8', 0, charEnd(all, half));
  const tail = all.toString('utf8', charStart(all, all.length - (bytes - half)));
  const missing = all.length - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const left = `${missing} of ${all.length} bytes`;
  return { kept: `${head}\n… ${left} left out …\n${tail}`, left };
}

/** The end of the last whole character at or before `at`. */
function charEnd(bytes: Buffer, at: number): number {
  let end = at;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return end;
}

/** The start of the first whole character at or after `at`. */
function charStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/**
 * JSON data cut to about so many bytes of text, as JSON: long arrays, objects and strings keep their beginning and say how
 * much is missing, the longest first, until the whole fits. The value is not changed.
 */
export function shortenJson(value: unknown, bytes: number): Shortened<unknown> {
  // The engine's own JSON is several times faster than measuring part by part, which most values never need.
  const size = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (size <= bytes) return { kept: value };
  const sizes: Sizes = new Map();
  // The share that every part may keep is halved until the whole fits: what is small is never touched.
  for (let most = bytes; most >= 16; most = Math.floor(most / 2)) {
    const kept = squeeze(value, most, sizes);
    const left = sizeOf(kept, sizes);
    if (left <= bytes) return { kept, left: `${size - left} of ${size} bytes of JSON` };
  }
  return { kept: describe(value), left: `${size} bytes of JSON` };
}

/** Sizes of objects that were measured before: each is asked for at every level above it. */
type Sizes = Map<object, number>;

/** Bytes of a value as JSON text. */
function sizeOf(value: unknown, sizes: Sizes): number {
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(JSON.stringify(value) ?? '');
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) size += sizeOf(item, sizes);
    size += Math.max(0, value.length - 1);
  } else {
    const entries = Object.entries(value);
    for (const [key, member] of entries) size += Buffer.byteLength(JSON.stringify(key)) + 1 + sizeOf(member, sizes);
    size += Math.max(0, entries.length - 1);
  }
  sizes.set(value, size);
  return size;
}

/** A copy in which no string, array or object takes much more than `most` bytes by itself. */
function squeeze(value: unknown, most: number, sizes: Sizes): unknown {
  if (typeof value === 'string') {
    if (Buffer.byteLength(value) <= most) return value;
    const kept = [...value.slice(0, most)].slice(0, Math.max(8, Math.floor(most / 2))).join('');
    return `${kept}… (${value.length - kept.length} more characters)`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (sizeOf(value, sizes) <= most) return value;
  let room = most;
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const item of value) {
      const next = squeeze(item, Math.floor(most / 2), sizes);
      room -= sizeOf(next, sizes) + 1;
      if (room < 0) break;
      kept.push(next);
    }
    if (kept.length < value.length) kept.push(`… ${value.length - kept.length} more items`);
    return kept;
  }
  const kept: [string, unknown][] = [];
  const entries = Object.entries(value);
  for (const [key, member] of entries) {
    const next = squeeze(member, Math.floor(most / 2), sizes);
    room -= sizeOf(next, sizes) + key.length + 4;
    if (room < 0) break;
    kept.push([key, next]);
  }
  if (kept.length < entries.length) kept.push(['…', `${entries.length - kept.length} more properties`]);
  return Object.fromEntries(kept);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} items`;
  if (typeof value === 'object' && value !== null) return `an object with ${Object.keys(value).length} properties`;
  return `a ${typeof value}`;
}
