// Why a text is no program, in words that a model can act on: the parser's finding, where it is, and the usual way out.
// Not here: errors of a program that ran (diagnose.ts).
import type { Refusal } from './parse.ts';
import { positions } from './positions.ts';
import type { ProgramSyntaxError } from './program.ts';
import type { ProgramMistake } from './rewrite.ts';
import { fences, programFences } from './unwrap.ts';

/** A text that is refused before anybody parses it: bytes that are no text, or a tool call in the place of a program. */
export function explainShape(source: string): ProgramSyntaxError | undefined {
  const at = (offset: number): { line: number; column: number } => positions(source)(offset);
  const nul = source.indexOf('\0');
  if (nul >= 0) {
    return {
      message: 'The program holds a NUL character: it seems to be binary data, not text.',
      ...at(nul),
      hint: 'Send the program as plain text; write `\\0` inside a string.',
    };
  }
  const half = source.search(/\p{Surrogate}/u);
  if (half >= 0) {
    return {
      message: 'The program holds half of a character (a lone surrogate), which is not valid text.',
      ...at(half),
      hint: `Write it as an escape inside a string: \`\\u${source.charCodeAt(half).toString(16)}\`.`,
    };
  }
  return toolCallInstead(source);
}

/** The sentence for a text without anything in it. It is a program that does nothing. */
export function explainEmpty(): string {
  return 'The program is empty: nothing was run and the value is undefined.';
}

/** Explains what the parser found. `text` is the source with its surroundings blanked; offsets are the same in both. */
export function explainRefusal(source: string, text: string, found: Refusal): ProgramSyntaxError {
  const refusal = found.reason === 'MissingSemicolon' ? { ...found, offset: nextWord(text, found.offset) } : found;
  const positionAt = positions(source);
  const junk = binaryAt(source);
  if (junk !== undefined) {
    return {
      message: 'The text is not a program: it holds control or replacement characters, as binary data does.',
      ...positionAt(junk),
      hint: 'Send JavaScript or TypeScript as plain text.',
    };
  }
  const foreign = foreignFence(source);
  if (foreign) return { message: foreign.message, ...positionAt(foreign.offset), hint: 'Send JavaScript or TypeScript.' };
  if (refusal.reason !== 'TooDeep' && isProse(text)) {
    return {
      message: 'This is not a program: it reads as prose.',
      ...positionAt(refusal.offset),
      hint: 'Send only code, or put the code in one ```js block.',
    };
  }
  const { message, offset = refusal.offset, hint } = describe(text, refusal, positionAt);
  return { message, ...positionAt(offset), ...(hint === undefined ? {} : { hint }) };
}

/** Explains a mistake that the parser let pass. */
export function explainMistake(source: string, mistake: ProgramMistake): ProgramSyntaxError {
  return { message: mistake.message, ...positions(source)(mistake.offset), ...(mistake.hint === undefined ? {} : { hint: mistake.hint }) };
}

interface Explanation {
  readonly message: string;
  readonly offset?: number;
  readonly hint?: string;
}

function describe(text: string, refusal: Refusal, positionAt: (offset: number) => { line: number; column: number }): Explanation {
  const foreign = foreignHabit(text, refusal.offset);
  switch (refusal.reason) {
    case 'TooDeep':
      return { message: `${refusal.message}`, hint: 'Split the expression or the function into smaller ones.' };
    case 'Decorator':
      return {
        message: 'Decorators are not supported.',
        hint: 'Call the decorator as a function on the class or method, or leave it out.',
      };
    case 'VarRedeclaration':
      return redeclared(text, refusal, positionAt);
    case 'AwaitNotInAsyncContext':
      return {
        message: '`await` stands in a function that is not async.',
        hint: 'Make the function that holds it async: `async () => …` or `async function …`; await the calls of it too.',
      };
    case 'ImportMetaOutsideModule':
      return {
        message: '`import.meta` is not available: a program is not a module.',
        hint: 'Remove it; there are no files or URLs to resolve against.',
      };
    case 'UnexpectedNewTarget':
      return { message: '`new.target` may stand only inside a function or class.' };
    case 'UnterminatedString':
      return {
        message: 'A string is not closed on its line.',
        hint: 'Close the quote, write `\\n` for a line break, or use a template literal (backticks).',
      };
    case 'UnterminatedTemplate':
      return {
        message: 'A template literal is not closed: a backtick is missing.',
        offset: unclosed(text)?.offset ?? refusal.offset,
        hint: 'Close the backtick; escape backticks inside as \\`.',
      };
    case 'UnterminatedComment':
      return { message: 'A comment is not closed: `*/` is missing.' };
    case 'UnterminatedRegExp':
      if (refusal.markup !== undefined || looksLikeMarkup(text, refusal.offset))
        return { ...MARKUP, ...(refusal.markup === undefined ? {} : { offset: refusal.markup }) };
      return foreign ?? { message: 'A regular expression is not closed: `/` is missing.' };
    case 'MissingOneOfPlugins':
    case 'MissingPlugin':
      if (refusal.markup !== undefined) return { ...MARKUP, offset: refusal.markup };
      return { message: 'This syntax is not supported.' };
    case 'IllegalBreakContinue':
      return {
        message: `${word(text, refusal.offset)} stands outside of any loop${word(text, refusal.offset) === '`break`' ? ' or switch' : ''}.`,
        hint: 'In a callback use `return`; `forEach` cannot be left early, `for…of` can.',
      };
    case 'DeclarationMissingInitializer':
      return { message: 'A `const` has no value.', hint: 'Give it one, or use `let`.' };
    default:
      break;
  }
  if (foreign) return foreign;
  if (refusal.markup !== undefined && looksLikeMarkup(text, refusal.markup)) return { ...MARKUP, offset: refusal.markup };
  const atEnd = text.slice(refusal.offset).trim() === '';
  const bracket = unclosed(text);
  if (atEnd && bracket) {
    return {
      message: `The program ends too early: the \`${bracket.mark}\` here is not closed.`,
      offset: bracket.offset,
      hint: 'Close it, and check that the text is complete and was not cut off.',
    };
  }
  if (atEnd)
    return {
      message: 'The program ends too early: something is missing at the end.',
      hint: 'Check that the text is complete and was not cut off.',
    };
  if (bracket?.wrong !== undefined) {
    const opened = bracket.offset < 0 ? undefined : positionAt(bracket.offset);
    const place = opened ? `: the \`${bracket.mark}\` of line ${opened.line} is still open` : ': nothing is open';
    return { message: `\`${text.charAt(bracket.wrong)}\` does not fit${place}.`, offset: bracket.wrong };
  }
  return { message: plain(refusal, text), offset: refusal.offset, ...hintFor(text, refusal, positionAt) };
}

const MARKUP: Explanation = {
  message: 'JSX is not supported in programs.',
  hint: 'Return data (strings, numbers, objects, arrays), not markup; put HTML in a string if a tool needs it.',
};

function redeclared(
  text: string,
  { offset, name = '' }: Refusal,
  positionAt: (offset: number) => { line: number; column: number },
): Explanation {
  const escaped = name.replace(/\$/g, '\\$');
  const first = new RegExp(`\\b(?:const|let|var|class|function\\*?|enum|import)\\b[^;=]*?(?<![\\w$.])${escaped}(?![\\w$])`).exec(
    text.slice(0, offset),
  );
  const place = first ? ` (first on line ${positionAt(first.index + first[0].length - name.length).line})` : '';
  return {
    message: `\`${name}\` is declared twice${place}.`,
    hint: 'Give the second one another name, or assign to the first, declared with `let`.',
  };
}

/** The parser names the end of a statement; what stands behind it on the line says more. */
function nextWord(text: string, offset: number): number {
  const space = /[ \t]*/y;
  space.lastIndex = offset;
  space.exec(text);
  return space.lastIndex;
}

/** The parser's words, with what stands at the place. */
function plain(refusal: Refusal, text: string): string {
  const found = word(text, refusal.offset);
  const expected = /expected "(.+)"/.exec(refusal.message)?.[1];
  if (refusal.reason === 'UnexpectedToken')
    return expected === undefined ? `Unexpected ${found}.` : `Unexpected ${found}: \`${expected}\` was expected.`;
  if (refusal.reason === 'MissingSemicolon') return `Unexpected ${found}: the statement before it seems to have ended.`;
  return refusal.message.replace(/\?\.?$|\.?$/, (end) => (end.startsWith('?') ? '?' : '.'));
}

function word(text: string, offset: number): string {
  const token = /[\p{ID_Start}$_][\p{ID_Continue}$]*|\d[\w.]*|=>|[!=]==?|\?\?|&&|\|\||\?\.|\.\.\.|\S/uy;
  token.lastIndex = offset;
  const found = token.exec(text)?.[0];
  return found === undefined ? 'end of the line' : `\`${found}\``;
}

function hintFor(text: string, refusal: Refusal, positionAt: (offset: number) => { line: number; column: number }): { hint?: string } {
  const { offset } = refusal;
  if (text[offset] === '(' && /\}\s*$/.test(text.slice(Math.max(0, offset - 40), offset))) {
    return { hint: 'To call a function where it is written, put it in parentheses: `(async () => { … })()`.' };
  }
  const string = refusal.reason === 'MissingSemicolon' ? /(['"])[ \t]*$/.exec(text.slice(Math.max(0, offset - 12), offset)) : null;
  if (string && /[\p{ID_Start}]/u.test(text.charAt(offset))) {
    return {
      hint: `The string before it ended at its quote: write \`\\${string[1]}\` for a ${string[1]} inside of it, or put it in backticks.`,
    };
  }
  if (!/expected "[,)\]]"/.test(refusal.message)) return {};
  const open = unclosed(text.slice(0, offset));
  return open === undefined || open.wrong !== undefined
    ? {}
    : { hint: `The \`${open.mark}\` of line ${positionAt(open.offset).line} is still open here.` };
}

/** Habits of other languages and of text that passed through a formatter, told by the line of the failure. */
function foreignHabit(text: string, offset: number): Explanation | undefined {
  const start = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end < 0 ? text.length : end).slice(0, 400);
  const before = text.slice(text.lastIndexOf('\n', start - 2) + 1, Math.max(0, start - 1)).slice(0, 400);
  if (/^\s*(?:select\s.*\sfrom|insert\s+into|delete\s+from|update\s+\w+\s+set|create\s+table)\s/i.test(text.slice(0, 400))) {
    return {
      message: 'This is SQL; programs are JavaScript or TypeScript.',
      hint: 'Pass the statement, as a string, to a tool that queries the database.',
    };
  }
  const near = text.slice(Math.max(0, offset - 12), offset + 12);
  if (/[“”‘’„«»]/.test(text.slice(Math.max(0, offset - 1), offset + 2)))
    return { message: 'Typographic quotes are not quotes of a program.', hint: 'Use " or \' or backticks.' };
  if (/&(?:amp|lt|gt|quot|#39|#x27);/.test(near))
    return { message: 'The text holds HTML entities in the place of characters.', hint: 'Write `&&`, `<`, `>` and quotes as they are.' };
  if (/\\[n"'`]/.test(text.slice(Math.max(0, offset - 1), offset + 2)) && !/^\s*\//.test(line))
    return {
      message: 'The text seems to be escaped twice: it holds `\\n` or `\\"` outside of strings.',
      hint: 'Send the program with real line breaks and quotes.',
    };
  if (SHELL.test(line)) {
    return {
      message: 'This is a shell command; programs are JavaScript or TypeScript.',
      hint: 'There is no shell here: call the tools, as `await tools.<name>({ … })`.',
    };
  }
  for (const [pattern, what] of PYTHON) {
    if (pattern.test(line) || (start > 0 && pattern.test(before)))
      return {
        message: `This is Python (${what}); programs are JavaScript or TypeScript.`,
        hint: 'Write it in JavaScript: `const`, `function`, `for (const x of xs) { … }`, `true`/`false`/`null`, `//` for comments.',
      };
  }
  return undefined;
}

const SHELL = /^\s*(?:\$\s+)?(?:curl|wget|ls|cat|grep|cd|mkdir|rm|echo|npm|npx|pip3?|git|sudo|python3?|node|bash)\s+(?!=|\()[-\w./~"'$]/;

const PYTHON: readonly (readonly [RegExp, string])[] = [
  [/^\s*(?:async\s+)?def\s+\w+\s*\(.*\)\s*(?:->.*)?:\s*$/, '`def`'],
  [/^\s*(?:if|elif|while|for)\b[^{(]*:\s*(?:#.*)?$/, 'a colon in the place of braces'],
  [/^\s*for\s+[\w\s,()]+\s+in\s+.*:\s*(?:#.*)?$/, 'a colon in the place of braces'],
  [/^\s*(?:if|elif|while)\s+[^{]*:\s*(?:#.*)?$/, 'a colon in the place of braces'],
  [/\belif\b/, '`elif`; write `else if`'],
  [/^\s*(?:try|else|finally|except\b.*|with\b.*)\s*:\s*$/, 'a colon in the place of braces'],
  [/^\s*from\s+[\w.]+\s+import\s/, '`from … import`'],
  [/^\s*import\s+\w+(?:\s+as\s+\w+)?\s*$/, '`import` without `from`'],
  [/^\s*(?:\w+\s*=\s*)?#(?!\w+\s*(?:in|[=;(]))/, '`#` for a comment'],
  [/(?<![\w$])[fr]["']/, 'an f-string'],
  [/^\s*\w.*\bfor\s+\w+\s+in\s+\w+.*[\])]\s*$/, 'a comprehension'],
  [/(?<![\w$.])(?:not\s+\w|\w+\s+(?:and|or|is)\s+\w)/, '`and`, `or`, `not`, `is`'],
  [/(?<![\w$.'"])lambda\s+\w+\s*:/, '`lambda`'],
];

function looksLikeMarkup(text: string, offset: number): boolean {
  const from = text.lastIndexOf('\n', offset - 1) + 1;
  return /<\/?[A-Za-z][\w.-]*(?:\s[^<>]*)?\/?>/.test(text.slice(from, offset + 80)) && /<\/[A-Za-z]|\/>|<\/>/.test(text.slice(from));
}

/** `{"tool": "x", "arguments": {…}}` or `{"code": "…"}`: the envelope of a call, not what goes in it. */
function toolCallInstead(source: string): ProgramSyntaxError | undefined {
  if (!/^\s*(?:```\w*\s*)?[{[]/.test(source) || source.length > 1_000_000) return undefined;
  const text = source.replace(/^\s*```\w*\s*/, '').replace(/\s*```\s*$/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const call: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof call !== 'object' || call === null) return undefined;
  const has = (...names: string[]): string | undefined => names.find((name) => Object.hasOwn(call, name));
  const fields: Readonly<Record<string, unknown>> = { ...call };
  const place = { line: 1, column: 1 };
  const code = has('code', 'program', 'script', 'source');
  if (code !== undefined && typeof fields[code] === 'string' && Object.keys(call).length <= 3) {
    return {
      message: `This is JSON with the program in its field \`${code}\`, not the program.`,
      ...place,
      hint: 'Send only the text of the program.',
    };
  }
  const name = has('tool', 'tool_name', 'name', 'function', 'toolName', 'recipient_name');
  const input = has('arguments', 'args', 'input', 'parameters', 'params');
  if (name === undefined || input === undefined) return undefined;
  const tool = typeof fields[name] === 'string' ? String(fields[name]).slice(0, 64) : 'name';
  return {
    message: 'This is a tool call in JSON, not a program.',
    ...place,
    hint: `Write code that makes the call: \`return await tools.${tool}({ … });\`.`,
  };
}

function binaryAt(source: string): number | undefined {
  const control = /(?![\t-\r])\p{Cc}/u.exec(source);
  const replaced = source.match(/\ufffd/g)?.length ?? 0;
  if (control) return control.index;
  return replaced > 2 && replaced > source.length / 50 ? source.indexOf('\ufffd') : undefined;
}

function foreignFence(source: string): { message: string; offset: number } | undefined {
  const all = fences(source);
  const first = all[0];
  if (!first || programFences(all).length > 0) return undefined;
  return { message: `The text has a code block marked \`${first.language}\`; programs are JavaScript or TypeScript.`, offset: first.start };
}

/** Words and hardly any of the marks that code is made of. */
function isProse(text: string): boolean {
  const trimmed = text.trim();
  const words = trimmed.match(/\p{L}[\p{L}'’-]+/gu)?.length ?? 0;
  const marks = trimmed.match(/[(){}[\]=;<>`$/\\|&+*]/g)?.length ?? 0;
  return (
    words >= 3 &&
    marks <= words / 12 &&
    !/^\s*(?:const|let|var|return|await|import|export|function|async|class|if|for|while|try|type|interface|def|print)\b/.test(trimmed)
  );
}

interface Bracket {
  readonly mark: string;
  readonly offset: number;
  /** Offset of a closing bracket that does not fit the open one. */
  readonly wrong?: number;
}

/** The bracket that is open where the text ends, or the first closing one that does not fit. A rough reading of strings, templates and comments. */
function unclosed(text: string): Bracket | undefined {
  const open: { mark: string; offset: number }[] = [];
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|`|[()[\]{}]|(?<=[=(,:[!&|?{};\n][ \t]{0,8}|\breturn[ \t]{0,8})\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;
  const template = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(`|\$\{|$)/y;
  let inTemplate = false;
  let at = 0;
  for (;;) {
    if (inTemplate) {
      template.lastIndex = at;
      const match = template.exec(text);
      if (!match) return open.at(-1);
      at = template.lastIndex;
      if (match[1] === '`') {
        open.pop();
        inTemplate = false;
      } else if (match[1] === '${') {
        open.push({ mark: '${', offset: at - 2 });
        inTemplate = false;
      } else return open.at(-1);
      continue;
    }
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) return open.at(-1);
    const mark = match[0];
    at = token.lastIndex;
    if (mark === '`') {
      open.push({ mark, offset: match.index });
      inTemplate = true;
    } else if (mark === '(' || mark === '[' || mark === '{') open.push({ mark, offset: match.index });
    else if (mark === ')' || mark === ']' || mark === '}') {
      const last = open.at(-1);
      if (!last || CLOSES[mark]?.includes(last.mark) !== true)
        return { mark: last?.mark ?? '', offset: last?.offset ?? -1, wrong: match.index };
      open.pop();
      if (last.mark === '${') inTemplate = true;
    }
  }
}

const CLOSES: Readonly<Record<string, readonly string[]>> = { ')': ['('], ']': ['['], '}': ['{', '${'] };
