// A text file of a workspace, or a part of it: by lines or by bytes, never more than fits an answer, and always whole characters. Not
// here: opening it (files.ts), what is text (content.ts).
import type { FileHandle } from 'node:fs/promises';
import { ToolError } from '../tools/tool.ts';
import { binaryType, characterStart, decode, notText, withoutMark } from './content.ts';
import { readBytes, type Target, withFile } from './files.ts';
import { shown } from './spelling.ts';

export interface TextRange {
  readonly fromLine?: number | undefined;
  readonly toLine?: number | undefined;
  readonly fromByte?: number | undefined;
  readonly maxBytes: number;
}

export interface TextPart {
  readonly text: string;
  /** Of the whole file. */
  readonly fileBytes: number;
  /** The part: up to, without, `toByte`. */
  readonly fromByte: number;
  readonly toByte: number;
  /** Where they are known: not for a part that was asked for by bytes. */
  readonly fromLine?: number;
  readonly toLine?: number;
  /** Whether the file goes on after it, or the lines that were asked for do. */
  readonly truncated: boolean;
}

/** Lines are counted in files up to this size. */
const COUNTED_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const HEAD_BYTES = 512;
const LINE_FEED = 0x0a;

/** Throws `not_text`, `range_invalid`, and what opening throws. */
export async function readText(target: Target, range: TextRange): Promise<TextPart> {
  const { fromLine, toLine, fromByte } = range;
  if ((fromLine !== undefined || toLine !== undefined) && fromByte !== undefined)
    throw invalid('Give `fromLine` and `toLine`, or `fromByte`, not both.');
  if (toLine !== undefined && toLine < (fromLine ?? 1)) throw invalid(`\`toLine\` ${toLine} is before \`fromLine\` ${fromLine ?? 1}.`);
  return withFile(target, async (file, { size }) => {
    const fileBytes = Number(size);
    const head = await readBytes(file, 0, Math.min(HEAD_BYTES, fileBytes));
    const whole = head.subarray(0, characterStart(head, fileBytes > head.length ? head.length - 1 : head.length));
    // In the middle, something else may look like text.
    if (decode(whole) === undefined) throw notText(target.path, binaryType(head));
    const part =
      fromByte === undefined
        ? await readLines(file, target, { fromLine: fromLine ?? 1, toLine, maxBytes: range.maxBytes, fileBytes })
        : await readFrom(file, target, { fromByte, maxBytes: range.maxBytes, fileBytes });
    return part.fromByte === 0 ? { ...part, text: withoutMark(part.text) } : part;
  });
}

async function readFrom(
  file: FileHandle,
  { path }: Target,
  { fromByte, maxBytes, fileBytes }: { readonly fromByte: number; readonly maxBytes: number; readonly fileBytes: number },
): Promise<TextPart> {
  if (fromByte > fileBytes) throw invalid(`The file ${shown(path)} has ${fileBytes} bytes; \`fromByte\` ${fromByte} is after its end.`);
  // From the beginning of the character that the range begins in.
  const margin = Math.min(3, fromByte);
  const bytes = await readBytes(file, fromByte - margin, margin + maxBytes + 1);
  const start = characterStart(bytes, margin);
  const end = bytes.length > margin + maxBytes ? characterStart(bytes, margin + maxBytes) : bytes.length;
  const text = decode(bytes.subarray(start, Math.max(start, end)));
  if (text === undefined) throw notText(path, 'something with bytes that are no characters');
  const from = fromByte - margin + start;
  const to = from + Math.max(0, end - start);
  return { text, fileBytes, fromByte: from, toByte: to, truncated: to < fileBytes };
}

async function readLines(
  file: FileHandle,
  target: Target,
  {
    fromLine,
    toLine,
    maxBytes,
    fileBytes,
  }: { readonly fromLine: number; readonly toLine: number | undefined; readonly maxBytes: number; readonly fileBytes: number },
): Promise<TextPart> {
  const { path } = target;
  const start = await findLine(file, target, fromLine, fileBytes);
  const bytes = await readBytes(file, start, maxBytes + 1);
  let end = 0;
  let line = fromLine;
  // Whole lines, as far as they fit.
  for (let at = bytes.indexOf(LINE_FEED); at !== -1 && at < maxBytes; at = bytes.indexOf(LINE_FEED, at + 1)) {
    end = at + 1;
    line++;
    if (toLine !== undefined && line > toLine) break;
  }
  const enough = toLine !== undefined && line > toLine;
  const isLast = bytes.length <= maxBytes;
  // The last line has no line break, or the first one is longer than fits.
  if (!enough && (isLast || end === 0)) {
    end = isLast ? bytes.length : characterStart(bytes, maxBytes);
    line++;
  }
  const text = decode(bytes.subarray(0, end));
  if (text === undefined) throw notText(path, 'something with bytes that are no characters');
  const endsWithBreak = end > 0 && bytes[end - 1] === LINE_FEED;
  return {
    text,
    fileBytes,
    fromByte: start,
    toByte: start + end,
    fromLine,
    toLine: Math.max(fromLine, line - (isLast && !enough && endsWithBreak ? 2 : 1)),
    truncated: !enough && start + end < fileBytes,
  };
}

/** The offset of a line. */
async function findLine(file: FileHandle, { path }: Target, line: number, fileBytes: number): Promise<number> {
  if (line === 1) return 0;
  if (fileBytes > COUNTED_BYTES) {
    throw invalid(`The file ${shown(path)} has ${fileBytes} bytes, too many to count lines in; use \`fromByte\`.`);
  }
  let seen = 1;
  let last = 0;
  for (let offset = 0; offset < fileBytes; offset += CHUNK_BYTES) {
    const chunk = await readBytes(file, offset, Math.min(CHUNK_BYTES, fileBytes - offset));
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) {
      seen++;
      last = offset + at + 1;
      if (seen === line && last < fileBytes) return last;
    }
  }
  throw invalid(`The file ${shown(path)} has ${last === fileBytes ? seen - 1 : seen} lines; \`fromLine\` ${line} is after its end.`);
}

function invalid(message: string): ToolError {
  return new ToolError(message, { code: 'range_invalid' });
}
