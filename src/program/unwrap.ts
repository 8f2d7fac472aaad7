// What surrounds a program in a model's text: Markdown fences with prose around them. The surroundings become spaces, so that every position
// stays what it was. Not here: whether what is left is a program (parse.ts).

/** A fenced block of a text, by offsets of its content. */
export interface Fence {
  /** Where the opening fence's marks start. */
  readonly mark: number;
  readonly start: number;
  readonly end: number;
  /** The word behind the opening fence, in lower case. */
  readonly language: string;
  readonly closed: boolean;
}

/** Whether the first thing in the text is a fence: then the text is not meant as a program as it stands. */
export function startsWithFence(text: string): boolean {
  return /^[\s\ufeff]*(?:```|~~~)/.test(text);
}

/** The fenced blocks, in order. A block that nobody closes goes to the end of the text. */
export function fences(text: string): Fence[] {
  const found: Fence[] = [];
  const lines = /^[ \t\ufeff]*(`{3,}|~{3,})([^\r\n]*)(?:\r\n|\r|\n|$)/gm;
  let open: { mark: string; at: number; start: number; language: string } | undefined;
  // An odd number of backticks before the first fence: it stands in a template literal, not in prose.
  let [ticks, counted] = [0, 0];
  for (let match = lines.exec(text); match; match = lines.exec(text)) {
    const mark = match[1] ?? '';
    const rest = (match[2] ?? '').trim();
    if (!open && found.length === 0) {
      for (let at = text.indexOf('`', counted); at >= 0 && at < match.index; at = text.indexOf('`', at + 1)) ticks += 1;
      counted = match.index;
    }
    if (!open) {
      // A fence on one line, or backticks that go on as text, open nothing.
      if (!rest.includes('`') && (found.length > 0 || ticks % 2 === 0)) {
        open = {
          mark,
          at: match.index + match[0].indexOf(mark),
          start: match.index + match[0].length,
          language: (/^[^\s{:]*/.exec(rest)?.[0] ?? '').toLowerCase(),
        };
      }
    } else if (rest === '' && mark[0] === open.mark[0] && mark.length >= open.mark.length) {
      found.push({ mark: open.at, start: open.start, end: match.index, language: open.language, closed: true });
      open = undefined;
    }
    if (match[0] === '') lines.lastIndex += 1;
  }
  if (open) {
    // Marks behind the last statement, instead of on a line of their own, close it too.
    const end = text.trimEnd().length - open.mark.length;
    const closed = end > open.start && text.startsWith(open.mark, end);
    found.push({ mark: open.at, start: open.start, end: closed ? end : text.length, language: open.language, closed });
  }
  return found;
}

/** The blocks that can hold the program: those marked as JavaScript or TypeScript, else those not marked as something else. */
export function programFences(all: readonly Fence[]): readonly Fence[] {
  const named = all.filter((fence) => OURS.has(fence.language));
  return named.length > 0 ? named : all.filter((fence) => !FOREIGN.has(fence.language));
}

/** The text with everything outside these blocks turned into spaces. */
export function onlyFences(text: string, blocks: readonly Fence[]): string {
  let result = '';
  let from = 0;
  for (const block of blocks) {
    result += spaces(text, from, block.start) + text.slice(block.start, block.end);
    from = block.end;
  }
  return result + spaces(text, from, text.length);
}

function spaces(text: string, start: number, end: number): string {
  return text.slice(start, end).replace(/[^\r\n]/g, ' ');
}

const OURS: ReadonlySet<string> = new Set(
  'js javascript jsx mjs cjs ts typescript tsx mts cts node nodejs deno bun es6 ecmascript codemode code-mode'.split(' '),
);

const FOREIGN: ReadonlySet<string> = new Set(
  (
    'json jsonc json5 bash sh shell zsh console terminal powershell cmd bat python py python3 text txt plaintext plain output log html css scss ' +
    'sql graphql yaml yml toml ini xml svg diff patch md markdown csv http go rust java kotlin swift c cpp csharp cs ruby rb php lua r mermaid dockerfile'
  ).split(' '),
);
