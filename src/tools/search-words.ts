// Text as the words that a search knows: identifiers taken apart, letters of any script, one form for all inflections of a word. Pure and
// linear in the text. Not here: which words weigh how much (search.ts).

/** Longest word that is told from others; what is longer is cut. */
const WORD_LENGTH = 40;

/**
 * The words of a text in their order, in lower case and without accents: `listPull_requestsV2` is `list`, `pull`, `requests`, `v`, `2`. A word
 * that is written in pieces only by its capitals is there as a whole too (`GitHub`: `github`, `git`, `hub`), and text without
 * spaces between words (Chinese, Japanese, Thai) as pairs of characters.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  for (const [run] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/^[a-z]+$/.test(run)) {
      words.push(run.slice(0, WORD_LENGTH));
      continue;
    }
    for (const [part] of run.matchAll(PARTS)) {
      if (UNSPACED.test(part)) words.push(...pairsOf(part));
      else {
        const pieces = part.match(PIECES) ?? [];
        if (pieces.length > 1) words.push(part.toLowerCase().slice(0, WORD_LENGTH));
        for (const piece of pieces) words.push(piece.toLowerCase().slice(0, WORD_LENGTH));
      }
    }
  }
  return words;
}

/** The form that a word has in common with its inflections: `issues`, `issue`; `listing`, `lists`, `listed`. Rough, English, and only a bridge. */
export function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let stem = word;
  if (stem.length > 4 && stem.endsWith('ies')) stem = `${stem.slice(0, -3)}y`;
  else if (/(?:ss|sh|ch|x|z)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (stem.endsWith('s') && !/(?:ss|us|is)$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 5 && stem.endsWith('ing')) stem = stem.slice(0, -3);
  else if (stem.length > 4 && stem.endsWith('ed')) stem = stem.slice(0, -2);
  else if (stem.length > 5 && stem.endsWith('er')) stem = stem.slice(0, -2);
  if (stem.length > 3 && /([b-df-hj-kmnp-rtv-z])\1$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 3 && stem.endsWith('e')) stem = stem.slice(0, -1);
  return stem;
}

const UNSPACED_SCRIPTS = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}';
const UNSPACED = new RegExp(`^[${UNSPACED_SCRIPTS}]`, 'u');
/** Stretches of one kind: a script without spaces, other letters, digits. */
const PARTS = new RegExp(`[${UNSPACED_SCRIPTS}]+|(?:(?![${UNSPACED_SCRIPTS}])\\p{L})+|\\p{N}+`, 'gu');
/** `listHTTPServers`: `list`, `HTTP`, `Servers`. */
const PIECES = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}]+/gu;

function pairsOf(text: string): string[] {
  const characters = [...text];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
