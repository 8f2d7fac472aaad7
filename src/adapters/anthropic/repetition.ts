// Notices a model that makes the same call over and over and learns nothing from it. Only calls of the conversation are seen here: a program
// may poll as it likes. Not here: what happens to the conversation then (ask.ts).
import { createHash } from 'node:crypto';

/** A call that gave the same result so often is told so; one time more is not carried out. */
const WARN_AT = 3;
const STOP_AT = 5;

interface Known {
  result: string;
  times: number;
}

export class Repetition {
  readonly #known = new Map<string, Known>();

  /** Whether this call has been made so often, always with the same result, that it should not be made again. */
  isExhausted(name: string, input: unknown): boolean {
    return (this.#known.get(keyOf(name, input))?.times ?? 0) >= STOP_AT - 1;
  }

  /** Takes note of the calls of one turn, identical ones once; gives the warning for each, or nothing. */
  note(calls: readonly { readonly name: string; readonly input: unknown; readonly result: unknown }[]): (string | undefined)[] {
    const seen = new Map<string, string | undefined>();
    return calls.map(({ name, input, result }) => {
      const key = keyOf(name, input);
      if (!seen.has(key)) seen.set(key, this.#count(key, name, digest(result)));
      return seen.get(key);
    });
  }

  #count(key: string, name: string, result: string): string | undefined {
    const known = this.#known.get(key);
    if (known?.result !== result) {
      this.#known.set(key, { result, times: 1 });
      return undefined;
    }
    known.times += 1;
    if (known.times < WARN_AT) return undefined;
    const last = known.times >= STOP_AT - 1 ? ' The next one like it will not be carried out, and ends this request.' : '';
    return `Note: this is the ${known.times}th identical call of \`${name}\`, with the same result each time. Do something else, or answer with what you know.${last}`.replace(
      '3th',
      '3rd',
    );
  }
}

function keyOf(name: string, input: unknown): string {
  return digest([name, input]);
}

function digest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(value)) ?? '')
    .digest('base64');
}

/** The value with the keys of its objects in order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, canonical(member)]),
  );
}
