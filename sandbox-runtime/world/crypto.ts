// `crypto`: random numbers and digests from the host. Keys, signatures and encryption are not here; a tool can offer them.
import {
  ArrayBufferPrototypeSlice,
  ObjectPrototypeHasOwnProperty,
  PromiseConstructor,
  StringConstructor,
  StringPrototypeSlice,
  StringPrototypeToUpperCase,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeGetSymbolToStringTag,
  TypeErrorConstructor,
} from '../primordials.ts';
import { base64DecodeLenient, base64Encode, bytesOf, hexEncode } from './bytes.ts';
import type { WorldContext } from './context.ts';
import { defineGlobal, defineMembers, defineTag } from './define.ts';
import type { DOMExceptionClass } from './dom-exception.ts';

const MAX_RANDOM = 65_536;
const ALGORITHMS: Readonly<Record<string, string>> = { 'SHA-1': 'SHA-1', 'SHA-256': 'SHA-256', 'SHA-384': 'SHA-384', 'SHA-512': 'SHA-512' };

/** Defines `crypto`. */
export function installCrypto(context: WorldContext, DOMException: DOMExceptionClass): void {
  const { ask } = context;
  const randomBytes = (count: number): Uint8Array => base64DecodeLenient(ask('random', `${count}`) as string);

  function algorithmOf(algorithm: unknown): string {
    const given = typeof algorithm === 'object' && algorithm !== null ? (algorithm as { name?: unknown }).name : algorithm;
    const name = StringPrototypeToUpperCase(StringConstructor(given));
    if (!ObjectPrototypeHasOwnProperty(ALGORITHMS, name)) {
      throw new DOMException(
        `Unrecognized algorithm name "${StringPrototypeSlice(name, 0, 40)}": digests are SHA-1, SHA-256, SHA-384 and SHA-512.`,
        'NotSupportedError',
      );
    }
    return ALGORITHMS[name] as string;
  }

  function digest(algorithm: unknown, data: unknown): ArrayBuffer {
    const name = algorithmOf(algorithm);
    const bytes = bytesOf(data);
    if (bytes === undefined) {
      throw new TypeErrorConstructor(
        'crypto.subtle.digest expects bytes as its second argument; for text pass new TextEncoder().encode(text).',
      );
    }
    const result = base64DecodeLenient(
      ask('digest', `["${name}","${base64Encode(bytes, TypedArrayPrototypeGetByteLength(bytes))}"]`) as string,
    );
    return ArrayBufferPrototypeSlice(TypedArrayPrototypeGetBuffer(result), 0);
  }

  const subtle = {};
  defineMembers(subtle, {
    digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
      return new PromiseConstructor((resolve, reject) => {
        try {
          resolve(digest(algorithm, data));
        } catch (error) {
          reject(error);
        }
      });
    },
  });
  defineTag(subtle, 'SubtleCrypto');

  const crypto = {};
  defineMembers(crypto, {
    get subtle(): object {
      return subtle;
    },
    getRandomValues(target: unknown): unknown {
      const kind = typeof target === 'object' && target !== null ? TypedArrayPrototypeGetSymbolToStringTag(target) : undefined;
      if (kind === undefined || kind === 'Float16Array' || kind === 'Float32Array' || kind === 'Float64Array') {
        throw new DOMException(
          'crypto.getRandomValues expects a typed array of integers, for example new Uint8Array(16).',
          'TypeMismatchError',
        );
      }
      const bytes = bytesOf(target) as Uint8Array;
      const length = TypedArrayPrototypeGetByteLength(bytes);
      if (length > MAX_RANDOM) {
        throw new DOMException(`The requested length exceeds ${MAX_RANDOM} bytes; ask for several smaller pieces.`, 'QuotaExceededError');
      }
      const random = randomBytes(length);
      for (let i = 0; i < length; i++) bytes[i] = random[i] as number;
      return target;
    },
    randomUUID(): string {
      const bytes = randomBytes(16);
      bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
      bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
      const digits = hexEncode(bytes, 16);
      const part = (from: number, to: number): string => StringPrototypeSlice(digits, from, to);
      return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
    },
  });
  defineTag(crypto, 'Crypto');
  defineGlobal('crypto', crypto);
}
