// How many columns of a terminal a text takes, and a text cut to so many. Rather too many than too few: a line that is too long would wrap and
// could not be rewritten. Not here: making a text harmless (printable.ts).

/** Columns that the text takes at most. It has no control characters. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** The text, or its beginning and an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns <= 0) return '';
  let used = 1;
  let cut = '';
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) break;
    cut += character;
  }
  return `${cut}…`;
}

const ASCII = /^[ -~]*$/;
const EMOJI = /\p{Extended_Pictographic}|\p{Emoji_Presentation}/u;

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (EMOJI.test(character)) return 2;
  // Hangul that begins a syllable; then everything from the Chinese radicals on, where scripts of single width are few.
  return (code >= 0x1100 && code < 0x1200) || code >= 0x2e80 ? 2 : 1;
}
