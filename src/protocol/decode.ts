// Untrusted text -> message: size first, then shape, then meaning. Past this point nobody checks a guest's message again.
// Not here: whether what it asks is allowed (broker), the values inside (values.ts, decoded once they are counted).
import { MESSAGE_LENGTH, shorten } from './errors.ts';
import { type GuestError, type GuestMessage, OUTPUT_LEVELS, type OutputLevel } from './messages.ts';
import { DEPTH, decodeValue, findProtoKey, UnserializableError, type WireMode, type WireValue } from './values.ts';

/** The guest broke the rules of the conversation: its runtime is no longer ours, and the execution ends as a fault. */
export class GuestProtocolError extends Error {
  override readonly name: string = 'GuestProtocolError';
}

/** The messages in a turn's body, in order. Throws `GuestProtocolError` at the first that is not one. */
export function* decodeLines(body: string, buffers: readonly ArrayBuffer[] = []): Generator<GuestMessage> {
  if (body === '') return;
  const beside = new Beside(buffers);
  let ended = false;
  for (let from = 0; from <= body.length; ) {
    const newline = body.indexOf('\n', from);
    const to = newline === -1 ? body.length : newline;
    if (ended) throw new GuestProtocolError('The guest spoke after its end.');
    const message = decodeLine(body.slice(from, to), beside);
    ended = message.type === 'done' || message.type === 'fail';
    yield message;
    from = to + 1;
  }
}

function decodeLine(line: string, beside: Beside): GuestMessage {
  const call = CALL.exec(line);
  if (call !== null) {
    const [head, id, index, mode] = call;
    // One of the two, as the pattern says.
    return { type: 'call', id: Number(id), index: Number(index), mode: mode as WireMode, text: line.slice(head.length) };
  }
  const [kind, rest] = cut(line);
  switch (kind) {
    case 'call': {
      const [id, afterId] = cut(rest);
      const [index, afterIndex] = cut(afterId);
      const [mode, text] = cut(afterIndex);
      return { type: 'call', id: natural(id), index: natural(index), ...beside.take(mode), text };
    }
    case 'at': {
      const [id, text] = cut(rest);
      return { type: 'at', id: natural(id), stack: jsonString(text).slice(0, STACK_LENGTH) };
    }
    case 'ask': {
      const [id, afterId] = cut(rest);
      const [name, afterName] = cut(afterId);
      const [mode, text] = cut(afterName);
      return { type: 'ask', id: natural(id), name, ...beside.take(mode), text };
    }
    case 'out': {
      const [level, text] = cut(rest);
      if (!(OUTPUT_LEVELS as readonly string[]).includes(level)) throw new GuestProtocolError('The guest wrote to an unknown output.');
      return { type: 'out', level: level as OutputLevel, text: jsonString(text) };
    }
    case 'store': {
      const [key, afterKey] = cut(rest);
      const [mode, text] = cut(afterKey);
      // The key is a JSON string without spaces: the guest escapes them.
      return { type: 'store', key: jsonString(key), mode: wireMode(mode), text };
    }
    case 'warn':
      return warning(rest);
    case 'dropped':
      return { type: 'dropped', count: natural(rest) };
    case 'wake':
      return { type: 'wake', ms: natural(rest) };
    case 'done': {
      const [mode, text] = cut(rest);
      return { type: 'done', ...beside.take(mode), text };
    }
    case 'fail':
      return { type: 'fail', error: guestError(rest) };
    default:
      throw new GuestProtocolError('The guest sent an unknown message.');
  }
}

/** A call without bytes, which is nearly every line: read at once. What it does not fit is read word by word, and told what is wrong with it. */
const CALL = /^call (\d{1,15}) (\d{1,15}) ([PT]) /;

/** Arguments behind untrusted wire text of checked length: no `__proto__` keys, and an array's holes are `null`, as in JSON. */
export function decodeArguments(wire: WireValue): unknown {
  const value = decodeUntrusted(wire);
  if (wire.text.includes('__proto__') || wire.text.includes('\\u')) {
    const path = findProtoKey(value);
    if (path !== undefined) throw new UnserializableError(path, 'is a key that tools never accept; rename it.');
  }
  return wire.mode === 'T' ? fillHoles(value) : value;
}

function fillHoles(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = value[index] === undefined ? null : fillHoles(value[index]);
  } else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    Object.values(value).forEach(fillHoles);
  return value;
}

/** The value behind untrusted wire text of checked length; its depth is checked before it is parsed. */
export function decodeUntrusted(wire: WireValue): unknown {
  if (textDepth(wire.text, DEPTH * 3) > DEPTH * 3)
    throw new UnserializableError('$', `is nested deeper than ${DEPTH} levels; pass a flatter value.`);
  try {
    return decodeValue(wire);
  } catch {
    throw new GuestProtocolError('The guest sent a value that is not JSON.');
  }
}

/** Both Node and browsers have it; the guest, which never loads this file, has not. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
/** Longer texts are read as bytes: copying them costs a tenth of what that saves. */
const WORTH_BYTES = 2048;

/**
 * Deepest nesting of JSON text, read without parsing it, so that no parser or validator meets a text that is too deep for
 * its stack. Linear; stops at `most + 1`.
 */
export function textDepth(text: string, most: number): number {
  if (text.length <= most) return 0;
  if (text.length > WORTH_BYTES) return byteDepth(new TextEncoder().encode(text), most);
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (quoted) {
      if (code === 92) i++;
      else if (code === 34) quoted = false;
    } else if (code === 34) quoted = true;
    else if (code === 123 || code === 91) {
      if (++depth > deepest) {
        deepest = depth;
        if (deepest > most) return deepest;
      }
    } else if (code === 125 || code === 93) depth--;
  }
  return deepest;
}

/** The same of UTF-8, in which no byte of a longer character is one that counts here. */
function byteDepth(bytes: Uint8Array, most: number): number {
  const { length } = bytes;
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < length; ) {
    const byte = bytes[i++] as number;
    if (byte === 34) {
      for (let inside = bytes[i++]; inside !== 34 && inside !== undefined; inside = bytes[i++]) if (inside === 92) i++;
    } else if (byte > 90) {
      // Without the bit in which they differ, `[` and `{` are one, and so are `]` and `}`.
      const bracket = byte & 0xdf;
      if (bracket === 91) {
        if (++depth > deepest) {
          deepest = depth;
          if (deepest > most) return deepest;
        }
      } else if (bracket === 93) depth--;
    }
  }
  return deepest;
}

function cut(text: string): [string, string] {
  const space = text.indexOf(' ');
  return space === -1 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
}

function natural(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new GuestProtocolError('The guest sent a number that is not one.');
  return Number(text);
}

/** The buffers beside a turn, handed out in the order of its lines. */
class Beside {
  readonly #buffers: readonly ArrayBuffer[];
  #taken = 0;

  constructor(buffers: readonly ArrayBuffer[]) {
    this.#buffers = buffers;
  }

  /** The mode of a value, and the buffers that belong to it. */
  take(word: string): { mode: WireMode; beside?: readonly ArrayBuffer[] } {
    if (word.length === 1) return { mode: wireMode(word) };
    const mode = wireMode(word.slice(0, 1));
    const end = this.#taken + natural(word.slice(1));
    if (end > this.#buffers.length) throw new GuestProtocolError('The guest named bytes that it did not send.');
    const beside = this.#buffers.slice(this.#taken, end);
    this.#taken = end;
    return { mode, beside };
  }
}

function wireMode(text: string): WireMode {
  if (text !== 'P' && text !== 'T') throw new GuestProtocolError('The guest sent a value of an unknown kind.');
  return text;
}

function jsonString(text: string): string {
  const value = parse(text);
  if (typeof value !== 'string') throw new GuestProtocolError('The guest sent a text that is not one.');
  return value;
}

function warning(text: string): GuestMessage {
  const raw = text.length > 8 * (MESSAGE_LENGTH + STACK_LENGTH) ? undefined : parse(text);
  const { message, stack } = (raw ?? {}) as Record<string, unknown>;
  if (typeof message !== 'string' || typeof stack !== 'string') throw new GuestProtocolError('The guest sent a warning that is not one.');
  return { type: 'warn', message: shorten(message), stack: stack.slice(0, STACK_LENGTH) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whoever asked says what was expected.
    return undefined;
  }
}

const ERROR_KINDS: readonly string[] = ['program', 'unserializable', 'limit'] satisfies GuestError['kind'][];
/** Longest stack of a guest error, in UTF-16 units: some forty frames. */
const STACK_LENGTH = 8192;

function guestError(text: string): GuestError {
  const raw = text.length > 8 * (MESSAGE_LENGTH + STACK_LENGTH) ? undefined : parse(text);
  if (typeof raw !== 'object' || raw === null) throw new GuestProtocolError('The guest sent an error that is not one.');
  const { kind, name, message, stack, code, isError } = raw as Record<string, unknown>;
  if (
    typeof kind !== 'string' ||
    !ERROR_KINDS.includes(kind) ||
    typeof name !== 'string' ||
    typeof message !== 'string' ||
    typeof stack !== 'string'
  ) {
    throw new GuestProtocolError('The guest sent an error that is not one.');
  }
  return {
    kind: kind as GuestError['kind'],
    name: shorten(name, 200),
    message: shorten(message, MESSAGE_LENGTH),
    stack: stack.slice(0, STACK_LENGTH),
    ...(typeof code === 'string' ? { code: shorten(code, 200) } : {}),
    isError: isError === true,
  };
}
