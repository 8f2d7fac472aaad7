// Which types are named and declared once: those that contain themselves, and those that are long and stand in several places. Not here: text (print.ts).
import { GLOBAL_NAMES } from './global-names.ts';
import type { TypeNode, TypeNodes } from './node.ts';
import type { Alias } from './print.ts';

export interface NamingOptions {
  /** Characters that a name must save in all. */
  readonly worth: number;
  /** Put behind every name, for a world in which a program has names too. */
  readonly suffix?: string;
}

/** Names for types among all that the roots hold, in the order in which they are met. */
export function nameTypes(roots: readonly TypeNode[], nodes: TypeNodes, { worth, suffix = '' }: NamingOptions): Map<TypeNode, Alias> {
  const order: TypeNode[] = [];
  const words = new Map<TypeNode, string>();
  const seen = new Set<TypeNode>();
  const left = roots.toReversed();
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    order.push(node);
    if (node.kind === 'described' && !words.has(node.of)) words.set(node.of, node.words);
    const children = childrenOf(node, nodes);
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index];
      if (child !== undefined && !isLeaf(child)) left.push(child);
    }
  }
  // Parts are made before their wholes, so that backwards every type comes before its parts; a type that contains itself is the exception.
  const sorted = order.toSorted((a, b) => b.id - a.id);
  const lengths = lengthsOf(sorted.toReversed());
  const uses = new Map<TypeNode, number>();
  const use = (node: TypeNode, times: number): void => {
    uses.set(node, (uses.get(node) ?? 0) + times);
  };
  for (const root of roots) use(root, 1);
  const named = new Set<TypeNode>();
  for (const node of sorted) if (node.kind === 'knot') use(nodes.behind(node), 1);
  for (const node of sorted) {
    const times = uses.get(node) ?? 0;
    const length = lengths.get(node) ?? 0;
    if (node.kind === 'knot' || (isNameable(node, length) && times > 1 && (times - 1) * length - times * 12 - 20 > worth)) named.add(node);
    if (node.kind === 'knot') continue;
    const each = named.has(node) ? 1 : times;
    for (const child of childrenOf(node, nodes)) if (!isLeaf(child)) use(child, each);
  }
  const aliases = new Map<TypeNode, Alias>();
  const taken = new Set<string>();
  for (const node of order) {
    if (!named.has(node)) continue;
    const target = node.kind === 'knot' ? nodes.behind(node) : node;
    const known = aliases.get(target) ?? aliases.get(node);
    const alias = known ?? {
      name: freshName([...nodes.namesOf(node), ...nodes.namesOf(target), membersName(target)], { taken, suffix }),
      words: words.get(node) ?? words.get(target) ?? '',
      isRecursive: node.kind === 'knot',
    };
    aliases.set(node, alias);
    if (node.kind === 'knot') aliases.set(target, alias);
  }
  return aliases;
}

function isLeaf({ kind }: TypeNode): boolean {
  return kind === 'word' || kind === 'literal';
}

function childrenOf(node: TypeNode, nodes: TypeNodes): readonly TypeNode[] {
  switch (node.kind) {
    case 'array':
      return [node.item];
    case 'tuple':
      return [...node.items.map(({ type }) => type), ...(node.rest === undefined ? [] : [node.rest])];
    case 'object':
      return [...node.members.map(({ type }) => type), ...node.indexes.map(({ type }) => type)];
    case 'union':
    case 'intersection':
      return node.parts;
    case 'described':
      return [node.of];
    case 'knot':
      return [nodes.behind(node)];
    default:
      return [];
  }
}

/** A name for what is read as quickly as a name is in nobody's way only when it is not there. */
function isNameable(node: TypeNode, length: number): boolean {
  switch (node.kind) {
    case 'object':
      return node.members.length > 0 || length > 60;
    case 'union':
    case 'intersection':
    case 'tuple':
      return length >= 40;
    default:
      return false;
  }
}

/** About how long the texts are, each with its parts in it. Parts come first. */
function lengthsOf(sorted: readonly TypeNode[]): Map<TypeNode, number> {
  const lengths = new Map<TypeNode, number>();
  // A type that contains itself is printed by its name.
  const of = (node: TypeNode): number => (node.kind === 'word' || node.kind === 'literal' ? node.text.length : (lengths.get(node) ?? 12));
  const sum = (nodes: readonly TypeNode[], between: number): number => nodes.reduce((total, node) => total + of(node) + between, 0);
  for (const node of sorted) {
    let length = 0;
    switch (node.kind) {
      case 'array':
        length = of(node.item) + 2;
        break;
      case 'tuple':
        length =
          sum(
            node.items.map(({ type }) => type),
            2,
          ) + (node.rest === undefined ? 0 : of(node.rest));
        break;
      case 'object':
        for (const { name, type, comment } of node.members) {
          length += name.length + of(type) + comment.words.length + 5;
          for (const remark of comment.remarks) length += remark.length + 2;
        }
        for (const { type } of node.indexes) length += of(type) + 16;
        break;
      case 'union':
      case 'intersection':
        length = sum(node.parts, 3);
        break;
      case 'described':
        length = of(node.of) + node.words.length;
        break;
      default:
        length = 12;
    }
    lengths.set(node, Math.min(length, 1e9));
  }
  return lengths;
}

/** `OwnerRepo` for an object that nobody named. */
function membersName(node: TypeNode): string {
  if (node.kind !== 'object') return '';
  const names = node.members.map(({ name }) => name);
  return names.slice(0, 3).join(' ') + (names.length > 3 ? ' more' : '');
}

function freshName(proposed: readonly string[], { taken, suffix }: { readonly taken: Set<string>; readonly suffix: string }): string {
  const names = proposed.map(pascalCase).filter((name) => name !== '');
  const free = names.find((name) => !taken.has(name) && !GLOBAL_NAMES.has(name));
  const name = free ?? numbered(names[0] ?? 'Shape', taken);
  taken.add(name);
  return name + suffix;
}

function numbered(name: string, taken: ReadonlySet<string>): string {
  for (let number = GLOBAL_NAMES.has(name) ? 1 : 2; ; number++) if (!taken.has(`${name}${number}`)) return `${name}${number}`;
}

/** `pull_request.input` as the name of a type: PullRequestInput. */
function pascalCase(text: string): string {
  const words = text.slice(0, 100).match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? [];
  const name = words
    .slice(0, 6)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
  return /^[0-9]/.test(name) ? `T${name}` : name;
}
