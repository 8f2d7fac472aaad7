// Which value a program has when it does not say `return`: its last expression, its default export, or what its one uncalled function gives.
// Not here: the walk that counted references (transform.ts).
import { worldName } from './modules.ts';
import type { Rewrite } from './rewrite.ts';
import { boundNames, isFunctionExpression, type Node, single, untyped } from './tree.ts';

/** A function declared at the top of the program under a name. */
export interface TopFunction {
  readonly name: string;
  readonly node: Node;
  /** The range of its declaration: a reference inside is a recursion, not a call of the program's. */
  readonly start: number;
  readonly end: number;
}

/** What the program exports by default, if anything. */
export type DefaultExport = { readonly kind: 'statement'; readonly statement: Node } | { readonly kind: 'name'; readonly name: string };

export interface ResultQuestion {
  /** The statements in order, without imports and without the words of exports. */
  readonly list: readonly Node[];
  readonly directives: readonly Node[];
  readonly defaultExport: DefaultExport | undefined;
  readonly functions: ReadonlyMap<string, TopFunction>;
  readonly references: ReadonlyMap<string, readonly number[]>;
  readonly roots: readonly string[];
  /** Whether something happens after the value is there (`using`): then a promise has to be awaited first. */
  readonly awaited: boolean;
}

/** Functions at the top of the program, by name: declarations and constants. */
export function topFunctions(list: readonly Node[]): Map<string, TopFunction> {
  const found = new Map<string, TopFunction>();
  for (const statement of list) {
    if (statement.type === 'FunctionDeclaration' && statement.id?.name) {
      found.set(statement.id.name, { name: statement.id.name, node: statement, start: statement.start, end: statement.end });
    } else if (statement.type === 'VariableDeclaration' && !statement.declare) {
      for (const declarator of statement.declarations ?? []) {
        const init = declarator.init && untyped(declarator.init);
        const name = declarator.id?.type === 'Identifier' ? declarator.id.name : undefined;
        if (init && name && isFunctionExpression(init)) found.set(name, { name, node: init, start: declarator.start, end: declarator.end });
      }
    }
  }
  return found;
}

/** Writes the program's value into the text; gives a sentence when a function looks forgotten. */
export function writeResult(rewrite: Rewrite, question: ResultQuestion): string | undefined {
  const { list, defaultExport, functions } = question;
  const last = lastStatement(list);
  if (defaultExport?.kind === 'name') {
    const main = functions.get(defaultExport.name);
    return finish(rewrite, main ? call(main.name, main.node, question) : defaultExport.name);
  }
  if (defaultExport) {
    const { statement } = defaultExport;
    if (statement === last) return returnExpression(rewrite, statement, question);
    const declared = statement.id?.name;
    if (declared) return finish(rewrite, statement.type === 'FunctionDeclaration' ? call(declared, statement, question) : declared);
    return returnLater(rewrite, statement, question);
  }
  const main = functions.get('main');
  if (main && last?.type !== 'ReturnStatement' && !isReferenced(main, question)) return finish(rewrite, call('main', main.node, question));
  if (last?.type === 'ExpressionStatement') return returnExpression(rewrite, last, question);
  if (list.length === 0) return returnDirective(rewrite, question.directives);
  const forgotten = [...functions.values()].filter((candidate) => !isReferenced(candidate, question));
  const only = wholeProgram(list, forgotten, question);
  if (only) return finish(rewrite, call(only.name, only.node, question));
  const name = last?.type === 'ReturnStatement' ? undefined : forgotten.find(({ node }) => node.async)?.name;
  return name === undefined
    ? undefined
    : `The function \`${name}\` is declared but never called: end the program with \`return await ${name}();\`.`;
}

/** The last statement that runs: functions and types behind it do not count. */
export function lastStatement(list: readonly Node[]): Node | undefined {
  return list.findLast(({ type, declare }) => !SILENT.has(type) && !declare);
}

const SILENT: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'EmptyStatement',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSDeclareFunction',
]);

const DECLARATIONS: ReadonlySet<string> = new Set([
  ...SILENT,
  'VariableDeclaration',
  'ClassDeclaration',
  'TSEnumDeclaration',
  'TSModuleDeclaration',
  'TSImportEqualsDeclaration',
]);

function isReferenced(candidate: TopFunction, { references }: ResultQuestion): boolean {
  return (references.get(candidate.name) ?? []).some((at) => at < candidate.start || at >= candidate.end);
}

/** The function that is the program, when the program does nothing but declare. */
function wholeProgram(list: readonly Node[], forgotten: readonly TopFunction[], question: ResultQuestion): TopFunction | undefined {
  if (!list.every(({ type }) => DECLARATIONS.has(type))) return undefined;
  const named = forgotten.find(({ name }) => ENTRY_NAMES.has(name));
  if (named) return named;
  const able = forgotten.filter(({ node }) => node.async || suppliesAll(node, question));
  if (able.length === 1) return able[0];
  const asynchronous = able.filter(({ node }) => node.async);
  return asynchronous.length === 1 ? asynchronous[0] : undefined;
}

const ENTRY_NAMES: ReadonlySet<string> = new Set(['run', 'execute', 'handler', 'program', 'start', 'solution', 'script', 'task']);

/** `return` before the expression; a function is called. */
function returnExpression(rewrite: Rewrite, statement: Node, question: ResultQuestion): undefined {
  let expression = single(statement.expression);
  if (!expression) return undefined;
  rewrite.insert(statement.start, question.awaited ? 'return await (' : 'return ', -4);
  if (question.awaited) rewrite.insert(expression.end, ')', 3);
  expression = untyped(expression);
  if (
    expression.type === 'UnaryExpression' &&
    expression.operator === 'void' &&
    expression.argument &&
    /Call/.test(untyped(expression.argument).type)
  ) {
    // `void main()` says that nobody waits for it; the program does.
    rewrite.blank(expression.start, expression.argument.start);
    return undefined;
  }
  if (expression.type === 'AssignmentExpression' && isModuleExports(expression.left) && expression.right) {
    rewrite.blank(expression.start, expression.right.start);
    expression = untyped(expression.right);
  }
  if (isFunctionExpression(expression)) {
    rewrite.insert(expression.start, '(', -2);
    rewrite.insert(expression.end, `)(${callArguments(expression, question)})`, 2);
  } else if (expression.type === 'Identifier') {
    const named = question.functions.get(expression.name ?? '');
    if (named) rewrite.insert(expression.end, `(${callArguments(named.node, question)})`, 2);
  }
  return undefined;
}

function isModuleExports(node: Node | undefined): boolean {
  if (node?.type !== 'MemberExpression' || node.computed) return false;
  const { object, property } = node;
  if (object?.type === 'Identifier' && object.name === 'module') return property?.name === 'exports';
  return object?.type === 'Identifier' && object.name === 'exports' && (property?.name === 'default' || property?.name === 'main');
}

/** A default export with statements behind it: kept under a name that the program does not have. */
function returnLater(rewrite: Rewrite, statement: Node, question: ResultQuestion): undefined {
  const expression = single(statement.expression);
  if (!expression) return undefined;
  const name = rewrite.fresh('default');
  rewrite.insert(statement.start, `const ${name} = `, -4);
  rewrite.insert(expression.end, ';', 2);
  const value = untyped(expression);
  const named = value.type === 'Identifier' ? question.functions.get(value.name ?? '') : undefined;
  const callee = isFunctionExpression(value) ? value : named?.node;
  finish(rewrite, callee ? call(name, callee, question) : name);
  return undefined;
}

/** `"hello"` alone is a directive to a parser and a value to whoever wrote it. */
function returnDirective(rewrite: Rewrite, directives: readonly Node[]): undefined {
  const last = directives.at(-1);
  if (!last || /^.use strict./.test(rewrite.text.slice(last.start, last.end))) return undefined;
  rewrite.insert(last.start, 'return ', -3);
  return undefined;
}

function finish(rewrite: Rewrite, value: string): undefined {
  // On a line of its own: the program may end in a comment, or without a semicolon. Awaited, so that `using` disposes after it.
  rewrite.insert(rewrite.text.length, `\nreturn await ${value};`, 2);
  return undefined;
}

function call(name: string, node: Node, question: ResultQuestion): string {
  return `${name}(${callArguments(node, question)})`;
}

/** Arguments for a function that somebody else was expected to call: the tools and helpers that its parameters name. */
function callArguments(node: Node, question: ResultQuestion): string {
  const values = (node.params ?? [])
    .filter(({ name }) => name !== 'this')
    .map((parameter, index) => argumentFor(parameter, index, question));
  while (values.length > 0 && values.at(-1) === undefined) values.pop();
  return values.map((value) => value ?? 'undefined').join(', ');
}

function argumentFor(parameter: Node, index: number, { roots }: ResultQuestion): string | undefined {
  if (parameter.type === 'Identifier') return worldName(parameter.name ?? '', roots);
  if (parameter.type !== 'ObjectPattern') return undefined;
  const keys = (parameter.properties ?? []).flatMap(({ type, computed, key }) =>
    type === 'ObjectProperty' && !computed && key?.name ? [key.name] : [],
  );
  const known = keys.flatMap((key) => {
    const value = worldName(key, roots);
    return value === undefined ? [] : [`${key}: ${value}`];
  });
  if (known.length > 0) return `{ ${known.join(', ')} }`;
  // `async ({ github, slack }) => …` takes the tools apart.
  return index === 0 && keys.length > 0 ? 'tools' : undefined;
}

function suppliesAll(node: Node, question: ResultQuestion): boolean {
  return (node.params ?? []).every(
    (parameter, index) =>
      parameter.type === 'AssignmentPattern' ||
      parameter.type === 'RestElement' ||
      parameter.optional === true ||
      parameter.name === 'this' ||
      argumentFor(parameter, index, question) !== undefined ||
      boundNames(parameter).length === 0,
  );
}
