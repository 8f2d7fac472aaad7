// Types as text: on one line where they are short and nothing is to be said, otherwise a line for each member with its comment behind it. The text is
// well-formed whatever names and words hold. Not here: which types have names of their own (names.ts).
import { type Comment, commentLine, commentOf, memberName } from './comment.ts';
import type { IndexMember, Member, TypeNode, TypeNodes } from './node.ts';

export interface PrintOptions {
  /** The word for any value. */
  readonly anything: 'unknown' | 'any';
  /** Whether everything stands on one line, without comments. */
  readonly oneLine: boolean;
  /** Longest description that stands beside a member, in UTF-16 units; with 0 only what binds the value is said. */
  readonly words: number;
  /** Objects and arrays within each other that are shown; deeper ones are `object` and `unknown[]`. */
  readonly depth: number;
  /** Values of a union that are shown; of the others only the type is. */
  readonly values: number;
  /** About how long the text may become; what does not fit is any value. */
  readonly length: number;
  /** Names of types that are declared elsewhere. */
  readonly aliases: ReadonlyMap<TypeNode, Alias>;
}

export interface Alias {
  readonly name: string;
  /** What is said where it is declared. */
  readonly words: string;
  readonly isRecursive: boolean;
}

/** A type's text and how loosely it binds: what stands around it decides about parentheses. */
interface Printed {
  readonly text: string;
  readonly binds: 'tightly' | 'as intersection' | 'as union';
}

interface Where {
  readonly indent: number;
  readonly depth: number;
}

/** Longest object on one line. */
const WIDTH = 100;

export class Printer {
  readonly #nodes: TypeNodes;
  readonly #options: PrintOptions;
  /** Types around the one that is printed: without a name, one that contains itself is not opened again. */
  readonly #around = new Set<TypeNode>();
  #left: number;
  #circles = 0;

  constructor(nodes: TypeNodes, options: PrintOptions) {
    this.#nodes = nodes;
    this.#options = options;
    this.#left = options.length;
  }

  /** The type of a place; its first line has no margin, the others one of `indent`. */
  type(node: TypeNode, indent: number): string {
    return this.#print(node, { indent, depth: this.#options.depth }).text;
  }

  /** The declaration of a name. */
  definition(node: TypeNode, { name, words }: Alias): string {
    const target = node.kind === 'knot' ? this.#nodes.behind(node) : node;
    const { text } = this.#form(target, { indent: 0, depth: this.#options.depth });
    const comment = this.#words(words);
    const start = `type ${name} =`;
    if (text.startsWith('{\n')) return `${start} {${comment === '' ? '' : ` // ${comment}`}${text.slice(1)};\n`;
    return `${comment === '' ? '' : `// ${comment}\n`}${start}${text.startsWith('\n') ? '' : ' '}${text};\n`;
  }

  #print(node: TypeNode, where: Where): Printed {
    this.#left -= 8;
    const alias = this.#options.aliases.get(node);
    if (alias !== undefined) {
      if (alias.isRecursive) this.#circles++;
      return tight(alias.name);
    }
    if (node.kind === 'described') return this.#described(node, where);
    if (node.kind === 'knot') {
      const target = this.#nodes.behind(node);
      if (this.#around.has(node))
        return tight(
          target.kind === 'object' ? 'object' : target.kind === 'array' ? `${this.#options.anything}[]` : this.#options.anything,
        );
      this.#around.add(node);
      const printed = this.#print(target, where);
      this.#around.delete(node);
      return printed;
    }
    return this.#form(node, where);
  }

  #described({ of, words }: TypeNode & { readonly kind: 'described' }, where: Where): Printed {
    const printed = this.#print(of, where);
    const alias = this.#options.aliases.get(of);
    const comment = alias === undefined || alias.words !== words ? this.#words(words) : '';
    if (comment === '') return printed;
    if (printed.text.startsWith('{\n')) return { ...printed, text: `{ // ${comment}${printed.text.slice(1)}` };
    return { ...printed, text: `/* ${comment} */ ${printed.text}` };
  }

  #form(node: TypeNode, where: Where): Printed {
    const { anything } = this.#options;
    if (this.#left <= 0) return tight(anything);
    switch (node.kind) {
      case 'word':
        return tight(node.text === 'unknown' ? anything : node.text);
      case 'literal':
        this.#left -= node.text.length;
        return tight(node.text);
      case 'array': {
        if (where.depth <= 0) return tight(`${anything}[]`);
        return tight(`${parenthesised(this.#print(node.item, deeper(where)))}[]`);
      }
      case 'tuple': {
        if (where.depth <= 0) return tight(`${anything}[]`);
        const items = node.items.map(({ type, optional }) => {
          const printed = this.#print(type, deeper(where));
          return optional ? `${parenthesised(printed)}?` : printed.text;
        });
        if (node.rest !== undefined) items.push(`...${parenthesised(this.#print(node.rest, deeper(where)))}[]`);
        return tight(`[${items.join(', ')}]`);
      }
      case 'object':
        return tight(this.#object(node, where));
      case 'union':
        return this.#union(node.parts, where);
      case 'intersection':
        return { text: node.parts.map((part) => this.#operand(part, where)).join(' & '), binds: 'as intersection' };
      default:
        return this.#print(node, where);
    }
  }

  #operand(part: TypeNode, where: Where): string {
    const { text, binds } = this.#print(part, where);
    return binds === 'as union' ? `(${text})` : text;
  }

  #union(parts: readonly TypeNode[], where: Where): Printed {
    const { values, oneLine, words } = this.#options;
    const isTold = (part: TypeNode): boolean => part.kind === 'described' && this.#options.aliases.get(part.of)?.words !== part.words;
    if (!oneLine && words > 0 && parts.some(isTold)) return this.#alternatives(parts, where);
    const literals = parts.filter((part) => part.kind === 'literal');
    const hidden = new Set(literals.slice(values));
    const texts = parts.map((part) => (part.kind === 'literal' && hidden.has(part) ? part.of : alternative(this.#print(part, where))));
    return { text: [...new Set(texts)].join(' | '), binds: 'as union' };
  }

  /** Alternatives of which something is said: a line for each, with its words above where they do not stand behind a brace. */
  #alternatives(parts: readonly TypeNode[], where: Where): Printed {
    const margin = ' '.repeat(where.indent + 2);
    let text = '';
    for (const part of parts) {
      const isDescribed = part.kind === 'described';
      const type = alternative(this.#print(isDescribed ? part.of : part, { ...where, indent: where.indent + 2 }));
      const told = isDescribed && this.#options.aliases.get(part.of)?.words !== part.words ? this.#words(part.words) : '';
      if (told !== '' && type.startsWith('{\n')) text += `\n${margin}| { // ${told}${type.slice(1)}`;
      else text += `${told === '' ? '' : `\n${margin}// ${told}`}\n${margin}| ${type}`;
    }
    return { text, binds: 'as union' };
  }

  #object({ members, indexes }: TypeNode & { readonly kind: 'object' }, where: Where): string {
    if (where.depth <= 0 && members.length > 0) return 'object';
    const inner: Where = { indent: where.indent + 2, depth: where.depth - 1 };
    const lines: Line[] = [];
    for (const member of members) {
      if (this.#left <= 0) break;
      lines.push(this.#member(member, inner));
    }
    if (lines.length < members.length) lines.push({ text: `[key: string]: ${this.#options.anything}`, comment: '' });
    else for (const index of indexes) lines.push(this.#index(index, inner));
    const [only] = indexes;
    if (members.length === 0 && (only === undefined || (indexes.length === 1 && !only.mapped && only.key === 'string'))) {
      const circles = this.#circles;
      const value = only === undefined ? this.#options.anything : this.#print(only.type, inner).text;
      // A name within the arguments of `Record` may not stand for something around it.
      const isPlain = circles === this.#circles && (lines[0]?.comment ?? '') === '' && !value.includes('\n');
      if (isPlain) return `Record<string, ${value}>`;
    }
    const isShort =
      lines.every(({ comment, text }) => comment === '' && !text.includes('\n')) &&
      lines.reduce((sum, { text }) => sum + text.length + 2, 2) <= WIDTH;
    if (this.#options.oneLine || isShort) return `{ ${lines.map(({ text }) => text).join('; ')} }`;
    const margin = ' '.repeat(inner.indent);
    return `{\n${lines.map((line) => `${withComment(line, margin)}\n`).join('')}${' '.repeat(where.indent)}}`;
  }

  #member({ name, optional, type, comment }: Member, where: Where): Line {
    this.#left -= name.length;
    let [bare, words] = [type, comment.words];
    // Words of the type itself stand where the member's own would.
    if (type.kind === 'described' && words === '') {
      bare = type.of;
      const alias = this.#options.aliases.get(bare);
      if (alias?.words !== type.words) words = type.words;
    }
    if (bare.kind === 'union' && words === '') {
      // What is said of one alternative only is said of the whole.
      const told = bare.parts.filter((part) => part.kind === 'described');
      const [only] = told;
      if (only !== undefined && told.length === 1) {
        words = only.words;
        bare = this.#nodes.union(bare.parts.map((part) => (part === only ? only.of : part)));
      }
    }
    const { text } = this.#print(bare, where);
    return {
      text: `${memberName(name)}${optional ? '?' : ''}:${text.startsWith('\n') ? '' : ' '}${text}`,
      comment: this.#comment({ ...comment, words }),
    };
  }

  #index({ key, mapped, type, meant, comment }: IndexMember, where: Where): Line {
    const { text } = this.#print(type, where);
    const told = meant === undefined || this.#options.oneLine ? '' : `others: ${this.#plain(meant)}`;
    const remarks = told === '' ? comment.remarks : [told, ...comment.remarks];
    return { text: mapped ? `[key in ${key}]?: ${text}` : `[key: ${key}]: ${text}`, comment: this.#comment({ ...comment, remarks }) };
  }

  /** A type in a comment. */
  #plain(node: TypeNode): string {
    return commentLine(new Printer(this.#nodes, { ...this.#options, oneLine: true, depth: 3, length: 500 }).type(node, 0), 500);
  }

  #comment(comment: Comment): string {
    if (this.#options.oneLine) return '';
    const text = commentOf(comment, this.#options.words);
    this.#left -= text.length;
    return text;
  }

  #words(words: string): string {
    return this.#options.oneLine || this.#options.words <= 0 ? '' : commentLine(words, this.#options.words);
  }
}

interface Line {
  readonly text: string;
  readonly comment: string;
}

/** A comment stands behind its member, or behind the brace that opens it. */
function withComment({ text, comment }: Line, margin: string): string {
  if (comment === '') return `${margin}${text};`;
  const first = text.indexOf('\n');
  if (first < 0) return `${margin}${text}; // ${comment}`;
  if (text.slice(0, first).endsWith(':')) return `${margin}${text.slice(0, first)} // ${comment}${text.slice(first)};`;
  if (text.slice(0, first).endsWith('{') && !text.slice(0, first).includes('//'))
    return `${margin}${text.slice(0, first)} // ${comment}${text.slice(first)};`;
  return `${margin}// ${comment}\n${margin}${text};`;
}

function deeper({ indent, depth }: Where): Where {
  return { indent, depth: depth - 1 };
}

const tight = (text: string): Printed => ({ text, binds: 'tightly' });

/** A union that has a line for each of its parts begins with a `|`, which cannot follow another. */
function alternative({ text }: Printed): string {
  return text.startsWith('\n') ? `(${text})` : text;
}

function parenthesised({ text, binds }: Printed): string {
  return binds === 'tightly' ? text : `(${text})`;
}
