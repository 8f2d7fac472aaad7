// From the text that a model wrote to code that an engine can evaluate: unwrap, parse, erase and write out, find the value, wrap.
// A pure function of the text. Not here: how a mistake reads (explain.ts), and what the program finds in its world (sandbox-runtime).
import { explainEmpty, explainMistake, explainRefusal, explainShape } from './explain.ts';
import { eraseExports } from './exports.ts';
import { type OffsetWarning, rewriteImport, rewriteImportEquals } from './modules.ts';
import { hasEmptyTemplate, type ParseOutcome, parse } from './parse.ts';
import { applyEdits, locator, positions } from './positions.ts';
import type { PrepareResult, Program } from './program.ts';
import { lastStatement, topFunctions, writeResult } from './result.ts';
import { ProgramMistake, Rewrite } from './rewrite.ts';
import { Transform } from './transform.ts';
import type { Tree } from './tree.ts';
import { fences, onlyFences, programFences, startsWithFence } from './unwrap.ts';
import { resourceHelper, scopeHolds } from './using.ts';

/** What `prepare` may be told beside the text. */
export interface PrepareOptions {
  /** Other names of `tools` in the program's world, for example `codemode`. Default: none but `codemode`. */
  readonly aliases?: readonly string[];
}

/**
 * Prepares a program. `program.code`, evaluated as a script, gives the function that runs it. Never throws: a text that is no program gives a
 * sentence, a place in the text and, where there is one, a hint.
 */
export function prepare(source: string, { aliases = [] }: PrepareOptions = {}): PrepareResult {
  const shape = explainShape(source);
  if (shape) return { ok: false, error: shape };
  if (source.trim() === '') {
    return { ok: true, program: programOf(source, EMPTY, { before: [{ message: explainEmpty(), offset: 0 }], aliases, source }) };
  }
  try {
    const { text, outcome, warnings } = unwrapAndParse(source);
    if (!outcome.ok) return { ok: false, error: explainRefusal(source, text, outcome.refusal) };
    return { ok: true, program: programOf(text, outcome.tree, { before: warnings, aliases, source }) };
  } catch (error) {
    if (error instanceof ProgramMistake) return { ok: false, error: explainMistake(source, error) };
    if (error instanceof RangeError) {
      return {
        ok: false,
        error: explainRefusal(source, source, { offset: 0, reason: 'TooDeep', message: 'The program is nested too deeply.' }),
      };
    }
    throw error;
  }
}

/** A program as a type checker reads it. */
export interface TypedProgram extends Pick<Program, 'code' | 'locate'> {
  /** Whether it uses the syntax of types; otherwise it is plain JavaScript. */
  readonly typed: boolean;
}

/**
 * Prepares a program for the type check: as `prepare` does, but its types stay. `undefined` for a text that is no program: why it is none,
 * `prepare` says.
 */
export function prepareTyped(source: string, { aliases = [] }: PrepareOptions = {}): TypedProgram | undefined {
  if (explainShape(source) || source.trim() === '') return undefined;
  try {
    const { text, outcome } = unwrapAndParse(source);
    if (!outcome.ok) return undefined;
    const { code, locate } = programOf(text, outcome.tree, { before: [], aliases, source, keepTypes: true });
    return { code, locate, typed: outcome.tree.typed };
  } catch (error) {
    if (error instanceof ProgramMistake || error instanceof RangeError) return undefined;
    throw error;
  }
}

const EMPTY: Tree = { program: { type: 'Program', start: 0, end: 0, body: [], directives: [] }, comments: [], typed: false };

/** The program's text within the model's, at the same offsets, with its tree. */
function unwrapAndParse(source: string): { text: string; outcome: ParseOutcome; warnings: OffsetWarning[] } {
  const text = withoutShebang(plainBreaks(source));
  const all = fences(text);
  const fenced = startsWithFence(text);
  const whole = fenced ? undefined : parse(text);
  // A fence that a parser reads as two empty strings in a row is still a fence; one inside of a template literal is not.
  if (whole?.ok && !all.some(({ mark }) => hasEmptyTemplate(whole.tree, mark))) return { text, outcome: whole, warnings: [] };
  const blocks = programFences(all);
  if (blocks.length === 0) return { text, outcome: !whole || whole.ok ? NO_CODE : whole, warnings: [] };
  const warnings: OffsetWarning[] = [];
  const joined = withoutShebang(onlyFences(text, blocks));
  const together = parse(joined);
  if (blocks.length === 1) return { text: joined, outcome: together, warnings };
  const offset = blocks[0]?.start ?? 0;
  if (together.ok) {
    return {
      text: joined,
      outcome: together,
      warnings: [{ message: `The text has ${blocks.length} code blocks; they were run as one program, in order.`, offset }],
    };
  }
  // Blocks that do not go together are alternatives or quotations: the longest that is a program.
  const longest = [...blocks].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, 4);
  for (const block of longest) {
    const alone = withoutShebang(onlyFences(text, [block]));
    const outcome = parse(alone);
    if (outcome.ok) {
      return {
        text: alone,
        outcome,
        warnings: [{ message: `The text has ${blocks.length} code blocks; only the longest was run.`, offset: block.start }],
      };
    }
  }
  return { text: joined, outcome: together, warnings };
}

const NO_CODE: ParseOutcome = {
  ok: false,
  refusal: { offset: 0, reason: 'NoCode', message: 'The text has no code block with a program.' },
};

/** A lone CR ends a line for a parser and not for every engine: the same line break for both, at the same offset. */
function plainBreaks(source: string): string {
  return source.includes('\r') ? source.replace(/\r(?!\n)/g, '\n') : source;
}

function withoutShebang(text: string): string {
  const start = /^[\s\ufeff]*(?=#!)/.exec(text)?.[0].length;
  if (start === undefined) return text;
  const end = text.indexOf('\n', start);
  const length = (end < 0 ? text.length : end) - start;
  return text.slice(0, start) + ' '.repeat(length) + text.slice(start + length);
}

/** `<!--` and `-->` start comments for the parser; an engine that reads them otherwise must not see what they hide. */
function blankMarkupComments(rewrite: Rewrite, tree: Tree): void {
  for (const { start, end } of tree.comments) {
    const next = rewrite.text.charAt(start + 1);
    if (rewrite.text.charAt(start) !== '/' || (next !== '/' && next !== '*')) rewrite.blank(start, end);
  }
}

interface Surroundings {
  readonly before: readonly OffsetWarning[];
  readonly aliases: readonly string[];
  readonly source: string;
  /** Leaves types, enums and the like as they are. Default: they are erased or written out. */
  readonly keepTypes?: boolean;
}

function programOf(text: string, tree: Tree, { before, aliases, source, keepTypes = false }: Surroundings): Program {
  const rewrite = new Rewrite(text, tree.comments);
  const warnings = [...before];
  blankMarkupComments(rewrite, tree);
  const top = eraseExports(rewrite, tree.program);
  const functions = topFunctions(top.list);
  const references = new Map<string, number[]>();
  for (const name of [...functions.keys(), ...top.importedNames]) references.set(name, []);
  // The walk is needed for what it counts; with the types kept, nobody reads what it wrote.
  const transform = new Transform(keepTypes ? new Rewrite(text, tree.comments) : rewrite, { references, roots: aliases });
  const lastDirective = tree.program.directives?.at(-1);
  transform.list(top.list, { owner: 'function', start: lastDirective?.end ?? 0, end: text.length });
  const isUsed = (name: string): boolean => (references.get(name) ?? []).length > 0;
  for (const node of top.imports) {
    if (node.type === 'TSImportEqualsDeclaration') rewriteImportEquals(rewrite, node, { isUsed: isUsed(node.id?.name ?? '') });
    else {
      const warning = rewriteImport(rewrite, node, { roots: aliases, isUsed });
      if (warning) warnings.push(warning);
    }
  }
  const forgotten = writeResult(rewrite, {
    list: top.list,
    directives: tree.program.directives ?? [],
    defaultExport: top.defaultExport,
    functions,
    references,
    roots: aliases,
    awaited: scopeHolds(top.list) !== undefined,
  });
  if (forgotten !== undefined) warnings.push({ message: forgotten, offset: 0 });
  const usage = transform.finish(lastStatement(top.list), top.importedNames);
  warnings.push(...usage.warnings);
  const watch = usage.watch === undefined || keepTypes ? '' : `(${usage.watch}) => `;
  const around = transform.needsResources && !keepTypes ? resourceHelper(rewrite) : { before: '', after: '' };
  // The function has a line of its own before the program, so that columns stay, and one behind it, in case the program ends in a comment.
  // Nothing but the program is in its scope. The program was parsed on its own, so it cannot close the function.
  const { code, map } = applyEdits(text, rewrite.edits, {
    prefix: `(${watch}${around.before}async function () {\n`,
    suffix: `\n}${around.after})`,
  });
  const positionAt = positions(source);
  return {
    code,
    warnings: warnings.map(({ message, offset }) => ({ message, ...positionAt(offset) })),
    map,
    locate: locator(code, source, map),
  };
}
