// Types as a graph: equal types are one node, so that what occurs twice is seen, and a schema that is referred to a thousand times is read once.
// Not here: how a schema becomes a type (read.ts), and text (print.ts).
import type { Comment } from './comment.ts';

export type TypeNode = { readonly id: number } & TypeForm;

type TypeForm =
  | { readonly kind: 'word'; readonly text: 'unknown' | 'never' | 'string' | 'number' | 'boolean' | 'null' | 'undefined' }
  | { readonly kind: 'literal'; readonly text: string; readonly of: 'string' | 'number' | 'boolean' }
  | { readonly kind: 'array'; readonly item: TypeNode }
  | { readonly kind: 'tuple'; readonly items: readonly TupleItem[]; readonly rest: TypeNode | undefined }
  | { readonly kind: 'object'; readonly members: readonly Member[]; readonly indexes: readonly IndexMember[] }
  | { readonly kind: 'union' | 'intersection'; readonly parts: readonly TypeNode[] }
  /** A type with words of its own, where a union or a list has no other place for them. */
  | { readonly kind: 'described'; readonly of: TypeNode; readonly words: string }
  /** A type that contains itself: what it stands for is known when it has been read. */
  | { readonly kind: 'knot'; readonly number: number };

export interface TupleItem {
  readonly type: TypeNode;
  readonly optional: boolean;
}

export interface Member {
  readonly name: string;
  readonly optional: boolean;
  readonly type: TypeNode;
  readonly comment: Comment;
}

/** `[key: string]: T`; a key type of literals makes a mapped type whose members are optional. */
export interface IndexMember {
  readonly key: string;
  readonly mapped: boolean;
  readonly type: TypeNode;
  /** The type of these members alone, where `type` takes in the named ones too. */
  readonly meant?: TypeNode;
  readonly comment: Comment;
}

/** All nodes of some declarations. */
export class TypeNodes {
  readonly #known = new Map<string, TypeNode>();
  readonly #knots: (TypeNode | undefined)[] = [];
  readonly #names = new Map<TypeNode, string[]>();
  readonly unknown = this.word('unknown');
  readonly never = this.word('never');

  word(text: Extract<TypeForm, { kind: 'word' }>['text']): TypeNode {
    return this.#node(text, { kind: 'word', text });
  }

  literal(text: string, of: 'string' | 'number' | 'boolean'): TypeNode {
    return this.#node(`= ${text}`, { kind: 'literal', text, of });
  }

  array(item: TypeNode): TypeNode {
    return this.#node(`[] ${item.id}`, { kind: 'array', item });
  }

  tuple(items: readonly TupleItem[], rest: TypeNode | undefined): TypeNode {
    const key = items.map(({ type, optional }) => `${type.id}${optional ? '?' : ''}`).join();
    return this.#node(`tuple ${key} ${rest?.id ?? ''}`, { kind: 'tuple', items, rest });
  }

  object(members: readonly Member[], indexes: readonly IndexMember[]): TypeNode {
    const keys = members.map(
      ({ name, optional, type, comment }) => `${JSON.stringify(name)}${optional ? '?' : ''}${type.id}${commentKey(comment)}`,
    );
    for (const { key, mapped, type, meant, comment } of indexes)
      keys.push(`[${mapped}${key}]${type.id} ${meant?.id}${commentKey(comment)}`);
    return this.#node(`{${keys.join()}`, { kind: 'object', members, indexes });
  }

  union(parts: readonly TypeNode[]): TypeNode {
    const [first] = parts;
    if (first === undefined) return this.never;
    if (parts.length === 1) return first;
    const flat = new Set<TypeNode>();
    for (const part of parts) {
      if (part.kind === 'union') for (const inner of part.parts) flat.add(inner);
      else flat.add(part);
    }
    if (flat.has(this.unknown)) return this.unknown;
    flat.delete(this.never);
    // The same type with and without words is one.
    for (const part of flat) if (part.kind === 'described' && flat.has(part.of)) flat.delete(part);
    const different = [...flat];
    const [only] = different;
    if (only === undefined || different.length === 1) return only ?? this.never;
    let key = '|';
    for (const { id } of different) key += ` ${id}`;
    return this.#node(key, { kind: 'union', parts: different });
  }

  intersection(parts: readonly TypeNode[]): TypeNode {
    const different = [...new Set(parts)].filter((part) => part !== this.unknown);
    const [only] = different;
    if (only === undefined) return this.unknown;
    if (different.includes(this.never)) return this.never;
    if (different.length === 1) return only;
    return this.#node(`& ${different.map(({ id }) => id).join()}`, { kind: 'intersection', parts: different });
  }

  described(of: TypeNode, words: string): TypeNode {
    if (words === '' || of.kind === 'described' || of.kind === 'word') return of;
    return this.#node(`" ${of.id} ${words}`, { kind: 'described', of, words });
  }

  /** A place for a type that is being read. */
  knot(): TypeNode & { readonly kind: 'knot' } {
    const number = this.#knots.push(undefined) - 1;
    // The form is what is passed in.
    return this.#node(`knot ${number}`, { kind: 'knot', number }) as TypeNode & { readonly kind: 'knot' };
  }

  tie(knot: TypeNode & { readonly kind: 'knot' }, type: TypeNode): void {
    this.#knots[knot.number] = type;
  }

  /** What a knot stands for. */
  behind(knot: TypeNode & { readonly kind: 'knot' }): TypeNode {
    return this.#knots[knot.number] ?? this.unknown;
  }

  /** Proposes a name for a type; the first proposals are the best. */
  propose(node: TypeNode, name: string): void {
    if (name === '') return;
    const target = node.kind === 'described' ? node.of : node;
    const names = this.#names.get(target);
    if (names === undefined) this.#names.set(target, [name]);
    else if (names.length < 4 && !names.includes(name)) names.push(name);
  }

  namesOf(node: TypeNode): readonly string[] {
    return this.#names.get(node) ?? [];
  }

  #node(key: string, form: TypeForm): TypeNode {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const node: TypeNode = { id: this.#known.size, ...form };
    this.#known.set(key, node);
    return node;
  }
}

function commentKey({ words, remarks, deprecated }: Comment): string {
  return words === '' && remarks.length === 0 && !deprecated ? '' : `/${JSON.stringify([words, remarks])}${deprecated}`;
}
