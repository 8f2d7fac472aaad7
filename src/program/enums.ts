// A TypeScript enum as the code that makes its object, each member on its own line. Not here: where its name is declared (transform.ts).
import type { Rewrite } from './rewrite.ts';
import { bare, type Node } from './tree.ts';

/** Where an enum or namespace stands: what declares its object, and the namespace that exports it. */
export interface Place {
  readonly keyword: string;
  readonly owner?: string;
}

/** An enum whose initializers are about to be visited: they may name its members. */
export interface EnumScope {
  readonly name: string;
  readonly members: ReadonlySet<string>;
  close(): void;
}

export function openEnum(rewrite: Rewrite, node: Node, place: Place): EnumScope {
  const name = node.id?.name ?? '';
  const brace = rewrite.next(node.id?.end ?? node.start);
  rewrite.replace(node.start, brace + 1, opening(name, place));
  const known = new Map<string, number | string>();
  const names = (node.members ?? []).map((member) => memberName(member));
  const ends: (() => void)[] = [];
  let previous: string | undefined;
  for (const [index, member] of (node.members ?? []).entries()) {
    const key = JSON.stringify(names[index] ?? '');
    const initializer = member.initializer;
    const value = initializer ? evaluate(initializer, known) : increment(previous, known);
    if (value !== undefined) known.set(names[index] ?? '', value);
    if (!initializer) {
      const text = value ?? `${name}[${JSON.stringify(previous)}] + 1`;
      rewrite.replace(member.start, member.end, `${name}[${name}[${key}] = ${text}] = ${key};`);
    } else if (typeof value === 'string' || isText(initializer)) {
      rewrite.replace(member.start, initializer.start, `${name}[${key}] = `);
      ends.push(() => rewrite.insert(initializer.end, ';'));
    } else {
      rewrite.replace(member.start, initializer.start, `${name}[${name}[${key}] = `);
      ends.push(() => rewrite.insert(initializer.end, `] = ${key};`));
    }
    const comma = rewrite.next(member.end);
    if (rewrite.text[comma] === ',') rewrite.blank(comma, comma + 1);
    previous = names[index];
  }
  return {
    name,
    members: new Set(names),
    close() {
      for (const end of ends) end();
      rewrite.replace(node.end - 1, node.end, closing(name, place.owner));
    },
  };
}

/** The head of the function that fills an enum's or namespace's object. */
export function opening(name: string, { keyword }: Place): string {
  return `${keyword === '' ? '' : `${keyword} ${name}`};(function (${name}) {`;
}

/** Its end: the object is made if nobody has made it yet. */
export function closing(name: string, owner: string | undefined): string {
  return owner === undefined ? `})(${name} || (${name} = {}));` : `})(${name} = ${owner}.${name} || (${owner}.${name} = {}));`;
}

function memberName(member: Node): string {
  const id = member.id;
  return id?.name ?? String(id?.value ?? '');
}

function increment(previous: string | undefined, known: ReadonlyMap<string, number | string>): number | undefined {
  if (previous === undefined) return 0;
  const value = known.get(previous);
  return typeof value === 'number' ? value + 1 : undefined;
}

/** The value of an initializer that is constant, as TypeScript computes it; `undefined` when it is not. */
function evaluate(initializer: Node, known: ReadonlyMap<string, number | string>): number | string | undefined {
  const node = bare(initializer);
  switch (node.type) {
    case 'NumericLiteral':
    case 'StringLiteral':
      return typeof node.value === 'number' || typeof node.value === 'string' ? node.value : undefined;
    case 'Identifier':
      return known.get(node.name ?? '');
    case 'UnaryExpression': {
      const value = node.argument ? evaluate(node.argument, known) : undefined;
      if (typeof value !== 'number') return undefined;
      if (node.operator === '-') return -value;
      if (node.operator === '~') return ~value;
      return node.operator === '+' ? value : undefined;
    }
    case 'BinaryExpression': {
      const left = node.left ? evaluate(node.left, known) : undefined;
      const right = node.right ? evaluate(node.right, known) : undefined;
      if (left === undefined || right === undefined) return undefined;
      if (node.operator === '+' && (typeof left === 'string' || typeof right === 'string')) return `${left}${right}`;
      return typeof left === 'number' && typeof right === 'number' ? compute(left, node.operator, right) : undefined;
    }
    default:
      return undefined;
  }
}

function compute(left: number, operator: string | undefined, right: number): number | undefined {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    case '**':
      return left ** right;
    case '|':
      return left | right;
    case '&':
      return left & right;
    case '^':
      return left ^ right;
    case '<<':
      return left << right;
    case '>>':
      return left >> right;
    case '>>>':
      return left >>> right;
    default:
      return undefined;
  }
}

/** An initializer that gives a string though its value is not constant. */
function isText(initializer: Node): boolean {
  const node = bare(initializer);
  if (node.type === 'TemplateLiteral' || node.type === 'StringLiteral') return true;
  return (
    node.type === 'BinaryExpression' && node.operator === '+' && [node.left, node.right].some((side) => side !== undefined && isText(side))
  );
}
