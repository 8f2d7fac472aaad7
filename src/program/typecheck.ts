// Which findings of a type checker are told before a program runs. A program is somebody's JavaScript: what would go wrong when it runs
// counts, what is only imprecise does not. Pure: text in, problems out. Not here: the words (type-words.ts), the compilers and the thread
// that they run in (isolation).
import type { Checked, Compiler, Finding, Scene, SyntaxNode, TypeWorld } from './compiler.ts';
import { prepareTyped } from './prepare.ts';
import type { Position } from './program.ts';
import { describeFinding, isAboutPromise } from './type-words.ts';

/** Something that a program gets wrong. */
export interface TypeProblem extends Position {
  readonly message: string;
  readonly hint?: string;
}

/** Most problems that are told of one program. */
const MOST_PROBLEMS = 20;

/** Checks a program. Empty for one that is right, and for a text that is no program. */
export function checkTypes(source: string, world: TypeWorld, compiler: Compiler): TypeProblem[] {
  const program = prepareTyped(source);
  if (program === undefined) return [];
  // One line, before the program's first: lines and columns of the program stay.
  const code = flatNames(source, world.paths) + program.code;
  const checked = compiler.check({ world, code, typed: program.typed });
  const problems: TypeProblem[] = [];
  const told = new Set<string>();
  const lines = lineStarts(code);
  for (const finding of [...checked.findings].sort((a, b) => a.start - b.start)) {
    if (!RELEVANT.has(finding.code)) continue;
    const line = lineAt(lines, finding.start);
    const place = program.locate(line + 1, finding.start - (lines[line] ?? 0) + 1);
    // Without a place in the model's text it is about what stands around it.
    if (place === undefined) continue;
    const scene = sceneAt(finding, code, checked);
    if (!counts(finding, scene, checked)) continue;
    const { message, hint } = describeFinding(finding, { ...scene, paths: world.paths });
    const key = `${place.line} ${message}`;
    if (told.has(key)) continue;
    told.add(key);
    problems.push({ message, ...place, ...(hint === undefined ? {} : { hint }) });
    if (problems.length === MOST_PROBLEMS) break;
  }
  return problems;
}

function sceneAt({ code: number, start }: Finding, code: string, checked: Checked): Scene {
  const nodes: SyntaxNode[] = [];
  const enter = (node: SyntaxNode): undefined => {
    if (node.getStart() > start || node.end <= start) return undefined;
    nodes.unshift(node);
    node.forEachChild(enter);
    return undefined;
  };
  checked.tree.forEachChild(enter);
  return {
    code,
    nodes,
    kindOf: checked.kindOf,
    receiver: receiverOf(nodes, checked),
    tool: ARGUMENTS.has(number) ? toolOf(nodes, { number, start, checked }) : undefined,
  };
}

/** For `a.b` and `const { b } = a` the node `a`, when the innermost node is `b`. */
function receiverOf(nodes: readonly SyntaxNode[], { kindOf }: Checked): SyntaxNode | undefined {
  const [name, around, pattern, declaration] = nodes;
  if (name === undefined || around === undefined) return undefined;
  const kind = kindOf(around);
  if (kind === 'PropertyAccessExpression')
    return around === name.parent && part(around, 'name') === name ? part(around, 'expression') : undefined;
  if (kind !== 'BindingElement' || pattern === undefined || declaration === undefined) return undefined;
  return kindOf(declaration) === 'VariableDeclaration' ? part(declaration, 'initializer') : undefined;
}

/** The callee of the call whose arguments hold the place, if it is a tool; only literals may stand between. */
function toolOf(
  nodes: readonly SyntaxNode[],
  { number, start, checked }: { readonly number: number; readonly start: number; readonly checked: Checked },
): SyntaxNode | undefined {
  for (const node of nodes) {
    const kind = checked.kindOf(node);
    if (kind === 'CallExpression') {
      const callee = part(node, 'expression');
      // What is wrong with the number of arguments is told at the callee's name.
      const isAbout = callee !== undefined && (start >= callee.end || ARGUMENT_COUNTS.has(number));
      return isAbout && checked.isToolCall(node) ? callee : undefined;
    }
    if (/Function|Arrow|Method|Statement|Block|Declaration$/.test(kind)) return undefined;
  }
  return undefined;
}

/** A child by the name that both generations of the compiler have for it. */
function part(node: SyntaxNode, name: 'expression' | 'name' | 'initializer'): SyntaxNode | undefined {
  return (node as SyntaxNode & { readonly [Name in typeof name]?: SyntaxNode })[name];
}

/** What a name, a member or a value is missing: these are told wherever they stand. */
const NAMES = new Set([2304, 2552, 2503, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 18004]);
const MEMBERS = new Set([2339, 2551, 2550, 2568, 2576]);
const CALLS = new Set([2349, 2348, 2351, 6234]);
/** A value that does not fit: told of what a tool is given, since the host refuses it; elsewhere JavaScript has its own ways. */
const ARGUMENTS = new Set([2322, 2326, 2345, 2353, 2554, 2555, 2556, 2559, 2560, 2561, 2739, 2740, 2741, 2769, 2820]);
const ARGUMENT_COUNTS = new Set([2554, 2555, 2556]);
const LISTS = new Set([2461, 2488, 2495, 2504, 2548, 2549, 2569, 2802]);
/** Told only when a promise is what is used. */
const OPERATORS = new Set([2362, 2363, 2365, 2367]);
const VARIABLES = new Set([2448, 2449, 2450, 2588]);
const RELEVANT = new Set([...NAMES, ...MEMBERS, ...CALLS, ...ARGUMENTS, ...LISTS, ...OPERATORS, ...VARIABLES]);

function counts(finding: Finding, scene: Scene, checked: Checked): boolean {
  const { code, messages } = finding;
  // Where no node begins is a comment, whose types are read too.
  if (scene.nodes[0]?.getStart() !== finding.start) return false;
  // What a type says wrong has no effect when the program runs.
  if (scene.nodes.some((node) => isTypeNode(checked.kindOf(node), node, scene))) return false;
  if (ARGUMENTS.has(code)) return scene.tool !== undefined && isCertain(messages);
  if (OPERATORS.has(code)) return isAboutPromise(messages);
  if (NAMES.has(code)) return !isHarmlessName(finding, scene);
  if (!MEMBERS.has(code)) return true;
  if (/ on type 'never'/.test(messages[0] ?? '') || isAskedFor(scene)) return false;
  const property = /^Property '(.+?)'/.exec(messages[0] ?? '')?.[1];
  if (scene.receiver === undefined || property === undefined) return true;
  const { receiver } = scene;
  if (PROBED.has(property) && /^(?:tools|codemode)[\w$.]*$/.test(scene.code.slice(receiver.getStart(), receiver.end))) return false;
  const types = checked.typesOf(receiver);
  // Objects of the program's own grow members as it goes; and of a union one member is enough, since the others give `undefined`.
  return !types.some((type) => type.isOwn || type.has(property));
}

function isTypeNode(kind: string, node: SyntaxNode, { nodes }: Scene): boolean {
  if (kind === 'InterfaceDeclaration' || kind === 'TypeAliasDeclaration') return true;
  // `class A extends B` names a value, in the clothes of a type.
  if (kind === 'ExpressionWithTypeArguments') return false;
  return (kind.endsWith('Type') || /^(?:TypeReference|TypeQuery|TypeLiteral|TypePredicate|JSDoc.*)$/.test(kind)) && nodes.includes(node);
}

/**
 * Whether a value that does not fit its type is really wrong. A `string` where one of several strings is wanted may be right, and so may
 * one kind of several; a Date crosses as a string.
 */
function isCertain(messages: readonly string[]): boolean {
  for (const message of messages) {
    const [, source = '', target = ''] =
      /^(?:Argument of type|Type) '(.*?)' is not assignable to (?:parameter of )?type '(.*)'\.?/.exec(message) ?? [];
    if (source === '') continue;
    if (source === 'Date' && /\bstring\b/.test(target)) return false;
    if (/^(?:string|number|boolean)(?:\[\])*$/.test(source) && /"|\b\d|\btrue\b|\bfalse\b|`/.test(target)) return false;
    if (/^[^{(<[]* \| /.test(source)) return false;
  }
  // A list of unknown length for a tuple.
  return !messages.some((message) => /source may have fewer|Source has \d+ element/.test(message));
}

/** Names that honest code looks up on any object, to learn what it is: the tools object takes it for no mistake either. */
const PROBED = new Set(['then', 'toJSON', 'prototype', 'length', 'size', 'inspect']);

/** `typeof a.b` asks whether there is such a member. */
function isAskedFor({ nodes, kindOf }: Scene): boolean {
  const around = nodes.slice(1).find((node) => kindOf(node) !== 'PropertyAccessExpression');
  return around !== undefined && kindOf(around) === 'TypeOfExpression';
}

/** `typeof x` asks whether there is such a name; and an assignment makes a global in code that is not strict. */
function isHarmlessName({ start, messages }: Finding, { code }: Scene): boolean {
  if (/\btypeof\s*\(?\s*$/.test(code.slice(Math.max(0, start - 40), start))) return true;
  const name = /'([^']+)'/.exec(messages[0] ?? '')?.[1] ?? '';
  // A module's name, in an import that the guest answers with a sentence of its own.
  if (!/^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name)) return true;
  return new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}\\s*=(?![=>])`).test(code);
}

/** Declares the tools that a text calls by a flat name, as other systems spell them; the guest has them as globals then. */
function flatNames(source: string, paths: readonly string[]): string {
  if (!source.includes('_')) return '';
  const flat = new Map(paths.map((path) => [path.replaceAll('.', '_'), path]));
  const names = new Map<string, string>();
  for (const [name] of source.matchAll(/\b[A-Za-z]\w*_\w*/g)) {
    const path = flat.get(name) ?? (name.startsWith('external_') ? flat.get(name.slice(9)) : undefined);
    if (path !== undefined) names.set(name, path);
  }
  return [...names].map(([name, path]) => `declare const ${name}: typeof tools.${path};`).join(' ');
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
