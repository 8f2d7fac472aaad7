// What the guest has to say at the end of a turn: lines, counted as they are added so that a flood stops here first.
// The host enforces the same limits again. Not here: what the lines mean (src/protocol/messages.ts).

import { MESSAGE_LENGTH } from '../src/protocol/errors.ts';
import type { OutputLevel } from '../src/protocol/messages.ts';
import type { WireValue, WritePlain } from '../src/protocol/values.ts';
import {
  ArrayPrototypeJoin,
  list,
  MathFloor,
  ObjectKeys,
  quote,
  StringPrototypeCharCodeAt,
  StringPrototypeSlice,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeGetByteOffset,
} from './primordials.ts';

export interface Outbox {
  /** Adds one line. The caller guarantees that it holds no newline. */
  add(line: string): void;
  /** Adds one line of a kind whose rest is JSON. */
  addRecord(kind: 'warn', record: { readonly [name: string]: string | boolean }): void;
  /** Ends the program with a record. */
  endRecord(kind: 'fail', record: { readonly [name: string]: string | boolean }): void;
  /** Adds a piece of output, cut or dropped where the program has used up its output. */
  output(level: OutputLevel, text: string): void;
  /** Adds the line that ends the program: what was dropped is told before it, since nothing comes after. */
  end(line: string): void;
  /** Hands over bytes that belong to the next line. `false`, and nothing is handed over, when there is no room for them in this turn. */
  attach(beside: readonly Uint8Array[]): boolean;
  /** Whether bytes may travel beside lines. */
  readonly carries: boolean;
  /** How big plain values of this program are written, where the engine has a way of its own. */
  readonly writePlain: WritePlain | undefined;
  /** Everything since the last take, and empties the box. */
  take(): string;
  begin(outputBytes: number, roomForBytes: number, writesPlain: boolean): void;
}

/** `say` takes a line of output at once: what was printed shall be known even if its turn never comes to an end. */
export function createOutbox(
  say: (line: string) => void,
  attach: ((buffer: ArrayBuffer, offset: number, length: number) => void) | undefined,
  write: ((value: unknown) => number) | undefined,
): Outbox {
  /** Joined when they are taken: a text that grows line by line would be copied for each. */
  let lines = list<string>();
  let outputLeft = 0;
  let dropped = 0;
  let closed = false;
  /** Bytes that may travel beside the lines of one turn, and those that may yet in this one. */
  let room = 0;
  let roomLeft = 0;
  let mayWrite = false;

  function writePlain(value: unknown): WireValue | undefined {
    const written = write === undefined ? -1 : write(value);
    if (written < 0) return undefined;
    const place = MathFloor(written / PLACE);
    return { mode: 'P', text: `${WRITTEN}${place}${WRITTEN}`, length: written - place * PLACE };
  }

  function add(line: string): void {
    // Code of the program may run after its end was told, in a getter of what it threw: nothing comes after the end.
    if (closed) return;
    lines[lines.length] = line;
  }

  function tellDropped(): void {
    if (dropped > 0) add(`dropped ${dropped}`);
    dropped = 0;
  }

  return {
    add,
    get carries() {
      return room > 0;
    },
    get writePlain() {
      return mayWrite ? writePlain : undefined;
    },
    attach(beside) {
      const size = sizeOf(beside);
      if (size > roomLeft || attach === undefined) return false;
      roomLeft -= size;
      for (let i = 0; i < beside.length; i++) {
        const bytes = beside[i] as Uint8Array;
        attach(TypedArrayPrototypeGetBuffer(bytes), TypedArrayPrototypeGetByteOffset(bytes), TypedArrayPrototypeGetByteLength(bytes));
      }
      return true;
    },
    end(line) {
      tellDropped();
      add(line);
      closed = true;
    },
    addRecord: (kind, record) => add(`${kind} ${writeRecord(record)}`),
    endRecord(kind, record) {
      tellDropped();
      add(`${kind} ${writeRecord(record)}`);
      closed = true;
    },
    output(level, piece) {
      if (closed) return;
      if (outputLeft <= 0) {
        dropped++;
        return;
      }
      let kept = piece;
      if (piece.length > outputLeft) {
        // A cut between the two halves of a character would make two characters that nobody wrote.
        const last = StringPrototypeCharCodeAt(piece, outputLeft - 1);
        kept = StringPrototypeSlice(piece, 0, last >= 0xd800 && last <= 0xdbff ? outputLeft - 1 : outputLeft);
      }
      outputLeft -= piece.length + 1;
      say(`out ${level} ${quote(kept)}`);
      if (kept.length < piece.length) {
        dropped += 1;
      }
    },
    take() {
      tellDropped();
      roomLeft = room;
      if (lines.length === 0) return '';
      const taken = lines.length === 1 ? (lines[0] as string) : ArrayPrototypeJoin(lines, '\n');
      lines = list();
      return taken;
    },
    begin(outputBytes, roomForBytes, writesPlain) {
      mayWrite = writesPlain;
      room = roomLeft = roomForBytes;
      closed = false;
      lines = list();
      dropped = 0;
      outputLeft = outputBytes;
    },
  };
}

/** Stands on both sides of the place of a text that the driver puts into its line: no line has this character of itself. */
const WRITTEN = '\u0002';
/** The driver gives a place and a length as one number. */
const PLACE = 2 ** 32;

/** Bytes in all of a list. */
export function sizeOf(beside: readonly Uint8Array[]): number {
  let size = 0;
  for (let i = 0; i < beside.length; i++) size += TypedArrayPrototypeGetByteLength(beside[i]);
  return size;
}

/**
 * Written by hand: the engine's JSON calls a `toJSON` that the program gave to every object, and keeps its place in an array
 * whose indexes the program may have given setters. Either would speak in our name.
 */
function writeRecord(record: { readonly [name: string]: string | boolean }): string {
  let json = '';
  const names = ObjectKeys(record);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const value = record[name];
    json += `${i === 0 ? '' : ','}${quote(name)}:${typeof value === 'string' ? quote(clip(name, value)) : value}`;
  }
  return `{${json}}`;
}

/** The host refuses longer ones: names of functions and keys are the program's, and they get into stacks and messages. */
function clip(name: string, value: string): string {
  const most = name === 'message' ? MESSAGE_LENGTH : name === 'stack' ? STACK_LENGTH : NAME_LENGTH;
  if (value.length <= most) return value;
  return name === 'message' ? `${StringPrototypeSlice(value, 0, most - 1)}…` : StringPrototypeSlice(value, 0, most);
}

const STACK_LENGTH = 8000;
const NAME_LENGTH = 200;
