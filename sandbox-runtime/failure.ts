// Whatever a program threw, as bounded strings: read defensively, since it may be anything, a getter may throw and a proxy
// may answer differently each time. Runs under the program's deadline, so a getter that never returns is a timeout.
import { MESSAGE_LENGTH } from '../src/protocol/errors.ts';
import type { GuestError } from '../src/protocol/messages.ts';
import { encodeValue } from '../src/protocol/values.ts';
import { ErrorPrototype, ObjectPrototypeIsPrototypeOf, StringConstructor, StringPrototypeSlice } from './primordials.ts';
import { programFrames } from './stack.ts';

export function describeError(thrown: unknown): GuestError {
  const isError =
    attempt(() => typeof thrown === 'object' && thrown !== null && ObjectPrototypeIsPrototypeOf(ErrorPrototype, thrown)) === true;
  if (!isError) return { kind: 'program', name: 'thrown', message: bounded(describeValue(thrown)), stack: '', isError: false };
  const error = thrown as { name?: unknown; message?: unknown; stack?: unknown; code?: unknown };
  const name = string(() => error.name) ?? 'Error';
  const message = string(() => error.message) ?? '';
  const code = attempt(() => error.code);
  return {
    kind: 'program',
    name: StringPrototypeSlice(name, 0, 200),
    message: bounded(message),
    stack: StringPrototypeSlice(programFrames(attempt(() => error.stack)), 0, 8000),
    ...(typeof code === 'string' ? { code: StringPrototypeSlice(code, 0, 200) } : {}),
    isError: true,
  };
}

function describeValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'undefined';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) {
    return attempt(() => encodeValue(value).text) ?? 'an object that cannot be shown';
  }
  return string(() => (typeof value === 'symbol' ? 'a symbol' : value)) ?? 'something that cannot be shown';
}

function bounded(text: string): string {
  return text.length > MESSAGE_LENGTH ? `${StringPrototypeSlice(text, 0, MESSAGE_LENGTH - 1)}…` : text;
}

function string(read: () => unknown): string | undefined {
  return attempt(() => {
    const value = read();
    return value === undefined ? undefined : StringConstructor(value);
  });
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
