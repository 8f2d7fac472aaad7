// Trace files: every event of a code mode as one line of JSON, written as it happens, and read again. The format is documented in
// docs/tracing.md; a reader refuses a version that it does not know. Not here: running a program again from one (replay.ts).
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { CodeModeError, type CodeModeEvent, type Observer } from '../index.ts';

/** Version of the format that this writes and reads. */
export const TRACE_VERSION = 1;

/** An event as a trace holds it: an error is a word for its kind, its text only in a captured `detail`. */
export type TraceEvent = { [Type in CodeModeEvent['type']]: Written<Extract<CodeModeEvent, { type: Type }>> }[CodeModeEvent['type']];
type Written<Event> = Omit<Event, 'error' | 'fields' | 'artifact'> & { readonly error?: string };

/** The first line of a trace. */
export interface TraceHeader {
  readonly type: 'trace';
  readonly version: number;
  /** Wall clock of its beginning, ISO 8601. */
  readonly started: string;
  readonly node: string;
}

export interface TraceFile extends Observer {
  on(event: CodeModeEvent): void;
  /** Writes what is left and closes the file. Safe to call twice. */
  close(): void;
}

/**
 * Writes a trace: `createCodeMode({ tools, observer: traceFile('run.jsonl'), capture: true })`. The file must not exist yet, and only its owner may
 * read it. Lines are written at the end of each turn of the event loop, whole ones only: a process that dies leaves a trace that can be read.
 * Throws `option_invalid` when the file cannot be made; when the disk is full later, the rest is left out and said once as a process warning.
 */
export function traceFile(path: string): TraceFile {
  let file: number | undefined;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === 'EEXIST' ? 'it exists already; give another name or remove it' : (cause as Error).message;
    throw new CodeModeError('option_invalid', `The trace \`${path}\` cannot be written: ${why}.`, { cause });
  }
  const header: TraceHeader = { type: 'trace', version: TRACE_VERSION, started: new Date().toISOString(), node: process.version };
  let lines = `${writtenLine(header)}\n`;
  let isWaiting = false;

  function flush(): void {
    isWaiting = false;
    if (file === undefined || lines === '') return;
    const bytes = Buffer.from(lines);
    lines = '';
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    } catch (error) {
      process.emitWarning(`The trace \`${path}\` ends here: ${(error as Error).message}`, 'CallgateTraceWarning');
      closeSync(file);
      file = undefined;
    }
  }

  flush();
  return {
    on(event) {
      if (file === undefined) return;
      lines += `${writtenLine(writtenEvent(event))}\n`;
      if (lines.length > FLUSH_CHARACTERS) flush();
      else if (!isWaiting) {
        isWaiting = true;
        setImmediate(flush);
      }
    },
    close() {
      flush();
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

const FLUSH_CHARACTERS = 64 * 1024;

/** JSON on one line, without anything that a terminal would obey. Equal when parsed. */
function writtenLine(value: object): string {
  return JSON.stringify(value).replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// What JSON leaves as it is: DEL and C1, marks and overrides of bidirectional text, line and paragraph separators, the byte order mark.
const UNSAFE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** An event as it may leave the process: originals of errors stay, a stack names paths, a message may hold what a tool worked on. */
export function writtenEvent(event: CodeModeEvent): TraceEvent {
  if (event.type === 'log') {
    const { fields: _, ...rest } = event;
    return rest;
  }
  if (event.type === 'artifact') {
    const { artifact: _, ...rest } = event;
    return rest;
  }
  if (!('error' in event)) return event as TraceEvent;
  const { error, ...rest } = event;
  return (error === undefined ? rest : { ...rest, error: wordFor(error) }) as TraceEvent;
}

function wordFor(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  try {
    const { code, name } = error as { code?: unknown; name?: unknown };
    for (const word of [code, name]) if (typeof word === 'string' && /^[\w.-]{1,64}$/.test(word)) return word;
  } catch {
    // A getter that throws.
  }
  return 'Error';
}

/** A trace as it was read. */
export interface Trace {
  readonly header: TraceHeader;
  readonly events: readonly TraceEvent[];
  /** Its last line was cut short: the process that wrote it died. */
  readonly torn: boolean;
}

/** Longest line that is read, in UTF-16 units. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** Reads a trace. Rejects with `option_invalid` for a file that is none, or of another version; a last line that is torn is left out. */
export async function readTrace(path: string): Promise<Trace> {
  const events: TraceEvent[] = [];
  let header: TraceHeader | undefined;
  let torn = false;
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (torn) throw notOne(path, `line ${number - 1} is not JSON`);
      if (line.length > MOST_CHARACTERS) throw notOne(path, `line ${number} is longer than ${MOST_CHARACTERS} characters`);
      const value = parse(line);
      if (header === undefined) header = headerOf(value, path);
      else if (isEvent(value)) events.push(value);
      else torn = true;
    }
  } catch (cause) {
    if (CodeModeError.is(cause)) throw cause;
    throw new CodeModeError('option_invalid', `The trace \`${path}\` cannot be read: ${reason(cause)}.`, { cause });
  }
  if (header === undefined) throw notOne(path, 'it is empty');
  return { header, events, torn };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function headerOf(value: unknown, path: string): TraceHeader {
  const { type, version } = (typeof value === 'object' && value !== null ? value : {}) as { type?: unknown; version?: unknown };
  if (type !== 'trace') throw notOne(path, 'its first line is no header');
  if (version !== TRACE_VERSION)
    throw new CodeModeError('option_invalid', `The trace \`${path}\` has version ${String(version)}; this reads version ${TRACE_VERSION}.`);
  return value as TraceHeader;
}

/** What is read of an event is looked at again where it is used: a trace may have been edited. */
function isEvent(value: unknown): value is TraceEvent {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

function reason(cause: unknown): string {
  if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return 'there is no such file';
  return (cause as Error).message;
}

function notOne(path: string, why: string): CodeModeError {
  return new CodeModeError('option_invalid', `\`${path}\` is no trace of callgate: ${why}.`);
}
