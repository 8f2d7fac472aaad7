// A TypeScript namespace as the function that fills its object, on the same lines. Not here: enums, which are made alike (enums.ts).
import { closing, opening, type Place } from './enums.ts';
import type { Rewrite } from './rewrite.ts';
import { boundNames, type Node, single, statements } from './tree.ts';

/** A list of statements: `var` may declare in it when it belongs to a function; a namespace's list also has exports. */
export interface Body {
  readonly owner: 'function' | 'block';
  readonly start: number;
  readonly end: number;
  readonly exports?: { readonly owner: string; readonly exported: ReadonlySet<Node> };
}

/** What a namespace asks of the walk. */
interface Walk {
  readonly rewrite: Rewrite;
  list(list: readonly Node[], body: Body): void;
}

/** Writes a namespace out; the walk goes through its statements. */
export function writeNamespace(walk: Walk, node: Node, place: Place): void {
  const { rewrite } = walk;
  const names: string[] = [];
  let block = node;
  // `namespace A.B { … }` is one node inside the other.
  while (block.type === 'TSModuleDeclaration') {
    names.push(block.id?.name ?? '');
    const inner = single(block.body);
    if (!inner) return;
    block = inner;
  }
  const heads = names.map((name, index) => opening(name, index === 0 ? place : { keyword: 'var' }));
  const tails = names.map((name, index) => closing(name, index === 0 ? place.owner : names[index - 1]));
  rewrite.replace(node.start, block.start + 1, heads.join(' '));
  const name = names.at(-1) ?? '';
  const exported: Node[] = [];
  const list = statements(block).map((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : undefined;
    if (!declaration) return statement;
    rewrite.blank(statement.start, declaration.start);
    exported.push(declaration);
    return declaration;
  });
  walk.list(list, { owner: 'function', start: block.start + 1, end: block.end - 1, exports: { owner: name, exported: new Set(exported) } });
  for (const declaration of exported) exportNames(rewrite, name, declaration);
  rewrite.replace(block.end - 1, block.end, tails.reverse().join(''));
}

/** Whether nothing of a namespace is left when types are gone. */
export function isTypeOnly(node: Node): boolean {
  if (node.declare || node.kind === 'global' || node.id?.type === 'StringLiteral') return true;
  const body = single(node.body);
  if (!body) return true;
  if (body.type === 'TSModuleDeclaration') return isTypeOnly(body);
  return statements(body).every((statement) => {
    const declaration = statement.declaration ?? statement;
    if (declaration.type === 'TSModuleDeclaration') return isTypeOnly(declaration);
    return declaration.declare === true || TYPES.has(declaration.type);
  });
}

const TYPES: ReadonlySet<string> = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSDeclareFunction', 'EmptyStatement']);

/** What an exported declaration adds to the namespace's object. A variable that may change stays one with the property. */
function exportNames(rewrite: Rewrite, owner: string, declaration: Node): void {
  if (declaration.declare) return;
  if (declaration.type === 'VariableDeclaration') {
    const names = (declaration.declarations ?? []).flatMap((declarator) => (declarator.id ? boundNames(declarator.id) : []));
    const text = names.map((name) => (declaration.kind === 'const' ? ` ${owner}.${name} = ${name};` : live(owner, name))).join('');
    rewrite.insert(declaration.end, `;${text}`, 1);
  } else if (declaration.type === 'FunctionDeclaration' || declaration.type === 'ClassDeclaration') {
    const name = declaration.id?.name ?? '';
    rewrite.insert(declaration.end, `; ${owner}.${name} = ${name};`, 1);
  }
}

function live(owner: string, name: string): string {
  const value = name === 'v' ? 'w' : 'v';
  return ` ${owner}.__defineGetter__("${name}", () => ${name}); ${owner}.__defineSetter__("${name}", (${value}) => { ${name} = ${value}; });`;
}
