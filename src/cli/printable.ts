// Text from programs and tools, made harmless for a terminal: what could move the cursor, set a title, fill the clipboard
// or turn the reading direction becomes a visible escape. Not here: JSON output, which escapes in its own notation (render.ts).

/** The text with every control character but newline and tab written as an escape, for example `\x1b`. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escapeCharacter);
}

/** The same on one line: newlines and tabs become escapes too. */
export function printableLine(text: string): string {
  return printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** JSON text whose control characters are written as JSON escapes: equal when parsed, harmless when printed. */
export function printableJson(json: string): string {
  return json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// C0 but newline and tab, DEL and C1 (0x9b is an escape sequence's start in one byte); marks, embeddings, overrides and
// isolates of bidirectional text; line and paragraph separators; the byte order mark; halves of surrogate pairs.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const UNSAFE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/gu;

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (character === '\r') return '\\r';
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
