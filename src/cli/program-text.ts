// Reads the program's text from a file or standard input. Not here: whether the text is a program (that is the run's answer).
import { createReadStream, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { LIMITS } from '../index.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage.ts';

/**
 * The text of `file`, or of standard input for `-`. Throws a `UsageError` that names the file when there is no text to be had.
 * Reads no further than a little over the most that `sourceBytes` may allow: what is longer is refused by the run.
 */
export async function readProgram(file: string, { stdin, cwd, signal }: Pick<Terminal, 'stdin' | 'cwd' | 'signal'>): Promise<string> {
  const name = file === '-' ? 'The program on standard input' : `The program ${file}`;
  const stream = file === '-' ? stdin : createReadStream(existing(resolve(cwd, file), name));
  try {
    return decode(await readSome(signal === undefined ? stream : addAbortSignal(signal, stream)), name);
  } catch (error) {
    if (signal?.aborted) throw new UsageError(`${name} was not read to its end: interrupted.`);
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${name} cannot be read: ${reason(error)}.`);
  }
}

function existing(path: string, name: string): string {
  try {
    if (statSync(path).isDirectory()) throw new UsageError(`${name} is a directory; name the file in it.`);
    return path;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${name} cannot be read: ${reason(error)}.`);
  }
}

async function readSome(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const buffer = Buffer.from(chunk as Uint8Array | string);
    chunks.push(buffer);
    bytes += buffer.length;
    if (bytes > LIMITS.sourceBytes.max) break;
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, name: string): string {
  if (bytes.includes(0)) throw new UsageError(`${name} is not text: it holds a zero byte. Expected JavaScript or TypeScript in UTF-8.`);
  try {
    // Reading may have stopped inside a character; `stream` does not mind.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: bytes.length > LIMITS.sourceBytes.max });
  } catch {
    throw new UsageError(`${name} is not text in UTF-8. Expected JavaScript or TypeScript.`);
  }
}

function reason(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
