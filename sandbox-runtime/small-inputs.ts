// The text of small inputs, as those of most calls are: in a guest the engine's JSON takes longer to begin than all of this does, and no second
// look is needed. Says nothing of what it does not write; src/protocol/values.ts is the whole of it, and the two agree.
import { ArrayIsArray, ObjectGetPrototypeOf, ObjectKeys, ObjectPrototype, quote, table } from './primordials.ts';

/** Members of a small input, and the longest of its strings. */
const FEW = 3;
const SHORT = 64;
/** Names that are kept as text, and the longest of them. */
const MOST_NAMES = 100;
const LONGEST_NAME = 32;

/** Gives the JSON of a plain object of a few numbers, booleans and short strings; `undefined` for others. Throws what a getter or proxy throws. */
export function createSmallInputs(): (value: unknown) => string | undefined {
  /** Names as JSON, with the colon. */
  const written = table<string>();
  let kept = 0;

  function nameOf(name: string): string {
    const text = `${quote(name)}:`;
    if (kept < MOST_NAMES && name.length <= LONGEST_NAME) {
      kept++;
      written[name] = text;
    }
    return text;
  }

  return (value) => {
    if (typeof value !== 'object' || value === null || ObjectGetPrototypeOf(value) !== ObjectPrototype || ArrayIsArray(value))
      return undefined;
    // Its own, listed or not, or one that a program has given to every object.
    if ((value as { toJSON?: unknown }).toJSON !== undefined) return undefined;
    const names = ObjectKeys(value);
    // None at all may be a boxed number.
    if (names.length === 0 || names.length > FEW) return undefined;
    let text = '';
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const member = (value as Record<string, unknown>)[name];
      let json: string;
      if (typeof member === 'number') {
        // Neither NaN, nor an infinity, nor -0.
        if (member - member !== 0 || (member === 0 && 1 / member < 0)) return undefined;
        json = `${member}`;
      } else if (typeof member === 'string') {
        if (member.length > SHORT) return undefined;
        json = quote(member);
      } else if (typeof member === 'boolean') json = member ? 'true' : 'false';
      else return undefined;
      const begun = written[name] ?? nameOf(name);
      text = text === '' ? begun + json : `${text},${begun}${json}`;
    }
    return `{${text}}`;
  };
}
