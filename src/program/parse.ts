// From a text to a tree: plain JavaScript first, TypeScript when that fails or when only TypeScript gives the text its meaning.
// Not here: how an error reads (explain.ts) and what surrounds the program in the text (unwrap.ts).
import { createRequire } from 'node:module';
import type { ParseError, ParserOptions, ParserPlugin } from '@babel/parser';
import { boundNames, isFunctionExpression, type Node, single, statements, type Tree } from './tree.ts';

// Required, not imported: Node reads the half megabyte of a CommonJS module twice before it imports it, which takes ten times as long.
const { parse: parseText, parseExpression } = createRequire(import.meta.url)('@babel/parser') as typeof import('@babel/parser');

/** Why a text is no program, as the parser says it. */
export interface Refusal {
  /** Offset in the text. */
  readonly offset: number;
  /** The parser's name for it, `TooDeep` when nesting exhausted the stack. */
  readonly reason: string;
  readonly message: string;
  readonly name?: string;
  /** Where the text fails as JavaScript because JSX seems to start there. */
  readonly markup?: number;
}

export type ParseOutcome = { readonly ok: true; readonly tree: Tree } | { readonly ok: false; readonly refusal: Refusal };

/** Parses a program: a script body in which `await`, `return`, `import` and `export` may stand at the top. */
export function parse(text: string): ParseOutcome {
  const outcome = parseStatements(text);
  if (outcome.ok) return { ok: true, tree: withTrailingObject(outcome.tree, text) };
  if (outcome.refusal.reason === 'TooDeep') return outcome;
  const tree = withTrailingExpression(text, outcome.refusal.offset);
  return tree ? { ok: true, tree } : outcome;
}

function parseStatements(text: string): ParseOutcome {
  const plain = attempt(text, false);
  if (plain.ok) {
    if (!mayMeanTypes(text)) return plain;
    const typed = attempt(text, true);
    return typed.ok && meansTypes(typed.tree, plain.tree) ? typed : plain;
  }
  if (plain.refusal.reason === 'TooDeep') return plain;
  if (castsDeeply(text)) {
    return { ok: false, refusal: { offset: 0, reason: 'TooDeep', message: 'Type assertions are nested too deeply.' } };
  }
  const typed = attempt(text, true);
  return typed.ok ? typed : { ok: false, refusal: furthest(plain.refusal, typed.refusal) };
}

const OPTIONS: ParserOptions = {
  sourceType: 'script',
  allowImportExportEverywhere: true,
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
  allowUndeclaredExports: true,
  allowNewTargetOutsideFunction: false,
  attachComment: false,
  createParenthesizedExpressions: true,
  createImportExpressions: true,
};

const PLAIN: ParserPlugin[] = ['explicitResourceManagement'];
const TYPED: ParserPlugin[] = ['explicitResourceManagement', 'typescript'];

function attempt(text: string, typed: boolean): ParseOutcome {
  const options = { ...OPTIONS, plugins: typed ? TYPED : PLAIN };
  try {
    return { ok: true, tree: asTree(parseText(text, options), typed) };
  } catch (error) {
    if (!isParseError(error) || error.reasonCode !== 'UnexpectedUsingDeclaration') return { ok: false, refusal: refusalOf(error, text) };
  }
  // The parser takes the program for a script, where `using` may not stand at the top; ours becomes a function body, where it may.
  try {
    const file = parseText(text, { ...options, errorRecovery: true });
    const mistake = (file.errors ?? []).find((error) => error.reasonCode !== 'UnexpectedUsingDeclaration');
    return mistake ? { ok: false, refusal: refusalOf(mistake, text) } : { ok: true, tree: asTree(file, typed) };
  } catch (error) {
    return { ok: false, refusal: refusalOf(error, text) };
  }
}

function asTree(file: { readonly program: unknown; readonly comments?: unknown }, typed: boolean): Tree {
  // Node is a loose view of the parser's own node types: same field names, all optional.
  return { program: file.program as Node, comments: (file.comments ?? []) as Node[], typed };
}

function isParseError(error: unknown): error is ParseError {
  return error instanceof SyntaxError && 'reasonCode' in error && 'pos' in error;
}

function refusalOf(error: unknown, text: string): Refusal {
  if (error instanceof RangeError) return { offset: deepest(text), reason: 'TooDeep', message: 'The program is nested too deeply.' };
  if (!isParseError(error)) throw error;
  const details: { identifierName?: unknown; missingPlugin?: unknown } = error.details;
  const missing = Array.isArray(error.missingPlugin) ? error.missingPlugin : [];
  return {
    offset: error.pos,
    reason: missing.includes('decorators') ? 'Decorator' : error.reasonCode,
    message: error.message.replace(/\s*\(\d+:\d+\)$/, ''),
    ...(typeof details?.identifierName === 'string' ? { name: details.identifierName } : {}),
    ...(missing.includes('jsx') ? { markup: error.pos } : {}),
  };
}

function furthest(plain: Refusal, typed: Refusal): Refusal {
  if (plain.offset >= typed.offset) return plain;
  return plain.markup === undefined ? typed : { ...typed, markup: plain.markup };
}

/** The first place with the deepest nesting of brackets, roughly: strings are not looked at. */
function deepest(text: string): number {
  let depth = 0;
  let most = 0;
  let place = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 40 || code === 91 || code === 123) depth += 1;
    else if (code === 41 || code === 93 || code === 125) depth -= 1;
    if (depth > most) {
      most = depth;
      place = at;
    }
  }
  return place;
}

/** Could `a < b > (c)` be in the text? Cheap, and may be wrong in this direction only. */
function mayMeanTypes(text: string): boolean {
  return text.includes('<') && /[^=]>\s*[(`]/.test(text);
}

/**
 * A text that is JavaScript and also TypeScript with another meaning: `f<T>(x)` calls or compares. It calls when one of the type
 * arguments is no value that the program has (`string`, an unknown name, a class): then the comparison could only fail.
 */
function meansTypes(typed: Tree, plain: Tree): boolean {
  const values = new Set<string>();
  everyNode(plain.program, (node) => {
    if (node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration')
      for (const name of boundNames(node.id ?? node)) values.add(name);
    if (node.params) for (const parameter of node.params) for (const name of boundNames(parameter)) values.add(name);
    if (node.type === 'CatchClause' && node.param) for (const name of boundNames(node.param)) values.add(name);
  });
  let found = false;
  everyNode(typed.program, (node) => {
    if (found || !node.typeParameters || node.typeParameters.type !== 'TSTypeParameterInstantiation') return;
    everyNode(node.typeParameters, (type) => {
      if (/^TS(?!TypeParameterInstantiation$|TypeReference$|QualifiedName$)/.test(type.type)) found = true;
      if (type.type === 'Identifier' && !values.has(type.name ?? '')) found = true;
    });
  });
  return found;
}

/** Whether an empty template literal starts at an offset: what a parser sees in the first two of three backticks. */
export function hasEmptyTemplate(tree: Tree, offset: number): boolean {
  let found = false;
  everyNode(tree.program, ({ type, start, end }) => {
    if (type === 'TemplateLiteral' && start === offset && end === offset + 2) found = true;
  });
  return found;
}

/** Every node below one, types included. Slow; only for the questions that need it. */
function everyNode(root: Node, visit: (node: Node) => void): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) open.push(item);
      continue;
    }
    if (!('type' in value) || typeof value.type !== 'string') continue;
    visit(value as Node); // whatever has a type in the parser's tree is a node
    for (const [key, child] of Object.entries(value)) if (key !== 'loc' && key !== 'extra' && typeof child === 'object') open.push(child);
  }
}

/**
 * What is an expression but no statement may still end a program: `async function () { … }` without a name, or `{ a: 1, b: 2 }`.
 * The text before it must be a program on its own.
 */
function withTrailingExpression(text: string, failedAt: number): Tree | undefined {
  for (const start of expressionStarts(text, failedAt)) {
    const head = text.slice(0, start);
    const tail = text.slice(start).replace(/[;\s]+$/, '');
    if (castsDeeply(tail)) return undefined;
    const plain = expressionAt(tail, start, false);
    const value = plain ?? expressionAt(tail, start, true);
    if (!value || !(isFunctionExpression(value) || value.type === 'ObjectExpression')) continue;
    const before = parseStatements(head);
    if (!before.ok) continue;
    const end = start + tail.length;
    const statement: Node = { type: 'ExpressionStatement', start, end, expression: value };
    return {
      program: { ...before.tree.program, end, body: [...statements(before.tree.program), statement] },
      comments: [...before.tree.comments, ...(value.comments ?? [])],
      typed: before.tree.typed || plain === undefined,
    };
  }
  return undefined;
}

/** A block at the end that reads as an object, `{ total }` or `{ total: sum(xs) }`, is one: nobody writes such a block. */
function withTrailingObject(tree: Tree, text: string): Tree {
  const body = statements(tree.program);
  const last = body.at(-1);
  if (last?.type !== 'BlockStatement') return tree;
  const [only, ...others] = statements(last);
  const expression = only?.type === 'ExpressionStatement' ? single(only.expression) : undefined;
  const names = expression?.type === 'SequenceExpression' ? (expression.expressions ?? []) : expression ? [expression] : [];
  const reads = only?.type === 'LabeledStatement' || (names.length > 0 && names.every(({ type }) => type === 'Identifier'));
  if (!reads || others.length > 0) return tree;
  const value = expressionAt(text.slice(last.start, last.end), last.start, tree.typed);
  if (value?.type !== 'ObjectExpression') return tree;
  const statement: Node = { type: 'ExpressionStatement', start: last.start, end: last.end, expression: value };
  return { ...tree, program: { ...tree.program, body: [...body.slice(0, -1), statement] } };
}

/** One expression, and nothing else, that starts at an offset of the whole text. */
function expressionAt(text: string, start: number, typed: boolean): (Node & { readonly comments?: readonly Node[] }) | undefined {
  try {
    const parsed: unknown = parseExpression(text, {
      ...OPTIONS,
      plugins: typed ? TYPED : PLAIN,
      startIndex: start,
      startLine: 1,
      startColumn: start,
    });
    return parsed as Node; // the same loose view as in asTree
  } catch (error) {
    if (isParseError(error) || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Lines that could start such an expression, nearest before the failure first; only a few, so that the work stays bounded. */
function expressionStarts(text: string, failedAt: number): number[] {
  const starts: number[] = [];
  const lines = /^[ \t\ufeff]*(?=\{|(?:async[ \t]+)?function\b)/gm;
  let match = lines.exec(text);
  while (match && match.index <= failedAt) {
    starts.push(match.index + match[0].length);
    lines.lastIndex = match.index + match[0].length + 1;
    match = lines.exec(text);
  }
  return starts.slice(-4).reverse();
}

/**
 * Does the text nest angle-bracket assertions (`<any>f(<any>g(…))`)? The parser reads each level twice, so that twenty levels would take
 * minutes. Roughly counted, without looking at strings, and only refused far beyond what anybody writes.
 */
function castsDeeply(text: string): boolean {
  const marks = /([=(,:?[{;&|!+\-*%~^]|=>|\breturn)\s*<[^<>=;()]{1,60}>(?=\s*[\w$({[<"'`])|[()[\]{};,]/g;
  const open: boolean[] = [];
  let pending = false;
  let depth = 0;
  for (let match = marks.exec(text); match; match = marks.exec(text)) {
    for (const mark of match[1] === undefined ? match[0] : match[1]) {
      if (mark === '(' || mark === '[' || mark === '{') {
        open.push(pending);
        if (pending) depth += 1;
        pending = false;
      } else if (mark === ')' || mark === ']' || mark === '}') {
        if (open.pop()) depth -= 1;
        pending = false;
      } else if (mark === ';' || mark === ',') pending = false;
    }
    if (match[1] !== undefined) pending = true;
    if (depth > 8) return true;
  }
  return false;
}
