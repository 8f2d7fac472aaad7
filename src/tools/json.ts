// Copies what the application hands over (invocation context, artifact metadata, error details) as frozen JSON, so that
// nobody can change it later. Not here: how a program's values cross (protocol/values.ts).

/** A frozen copy, or where and why the value is not JSON: "`$.when` is a Date". */
export type JsonCopy = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

const MAX_DEPTH = 64;

/**
 * Copies plain JSON deeply and freezes the copy. Object members that are `undefined` are left out, as JSON does; everything
 * else that JSON cannot hold exactly (NaN, BigInt, Date, class instances, functions, cycles) is refused with its path.
 */
export function copyJson(value: unknown): JsonCopy {
  try {
    return { ok: true, value: copy(value, '$', 0) };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, problem: error.message };
    throw error;
  }
}

/** A word for what a value is, with its article: "a string", "an array", "null". */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return typeof value === 'number' && !Number.isFinite(value) ? String(value) : `a ${typeof value}`;
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object';
  return `${/^[AEIOU]/i.test(name) ? 'an' : 'a'} ${name}`;
}

class NotJson extends Error {}

function copy(value: unknown, path: string, depth: number): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new NotJson(`\`${path}\` is ${value}, which JSON cannot hold`);
  }
  if (typeof value !== 'object') throw new NotJson(`\`${path}\` is ${describe(value)}, not JSON`);
  if (depth === MAX_DEPTH) throw new NotJson(`\`${path}\` is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
  if (Array.isArray(value)) return Object.freeze(Array.from(value, (item, index) => copy(item, `${path}[${index}]`, depth + 1)));
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of another realm (a vm context, a test runner) has that realm's Object.prototype: its own prototype is null.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new NotJson(`\`${path}\` is ${describe(value)}, not a plain object`);
  const copied: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    // Defined, not assigned: an own key `__proto__` stays a key.
    Object.defineProperty(copied, key, { value: copy(member, memberPath(path, key), depth + 1), enumerable: true });
  }
  return Object.freeze(copied);
}

function memberPath(path: string, key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
