// From JSON Schemas to TypeScript types: a world of types, so that what several schemas have in common is declared once, and the type of one schema
// on its own. Not here: what is declared with it (declarations.ts), and checking values, which is the schema's own (schema.ts).
import type { JsonSchema } from './dialect.ts';
import type { Comment } from './typescript/comment.ts';
import { nameTypes } from './typescript/names.ts';
import { type TypeNode, TypeNodes } from './typescript/node.ts';
import { Printer, type PrintOptions } from './typescript/print.ts';
import { Reader } from './typescript/read.ts';

export interface RenderOptions {
  /** The word for any value. Default `unknown`; `any` lets a reader of the type use such a value without a proof. */
  readonly anything?: 'unknown' | 'any';
  /** Whether descriptions, formats, bounds and defaults stand beside the members. Default: no, and all on one line. */
  readonly comments?: boolean;
  /** Spaces before the lines of a type with comments; the first line has none. Default 0. */
  readonly indent?: number;
  /** Objects and arrays within each other that are shown; deeper ones are `object` and `unknown[]`. Default 12. */
  readonly depth?: number;
  /** Values of an enum that are shown; of the others only the type is. Default 200. */
  readonly values?: number;
  /** About how long the text may become, in UTF-16 units; what does not fit is any value. Default 100 000. */
  readonly length?: number;
}

/** The type of the values that a schema accepts, by itself: a type that contains itself is opened once. Properties keep their order. */
export function renderType(schema: JsonSchema, options: RenderOptions = {}): string {
  const { anything = 'unknown', comments = false, indent = 0, depth = 12, values = 200, length = 100_000 } = options;
  const types = new Types({ comments });
  const { node } = types.read(schema);
  return types.printer({ anything, oneLine: !comments, words: MOST_WORDS, depth, values, length }).type(node, indent);
}

const MOST_WORDS = 100_000;

/** A type, and what is said beside it. */
export interface ReadType {
  readonly node: TypeNode;
  readonly comment: Comment;
}

/** Types of many schemas. What they have in common can be named: `declare` gives the declarations, and the printer the names. */
export class Types {
  readonly #nodes = new TypeNodes();
  readonly #comments: boolean;

  /** `comments`: whether words and remarks are kept; without them more types are the same. */
  constructor({ comments }: { readonly comments: boolean }) {
    this.#comments = comments;
  }

  read(schema: JsonSchema): ReadType {
    const { type, comment } = new Reader(schema, this.#nodes, { comments: this.#comments }).place({ schemas: [schema], name: '' });
    return { node: type, comment };
  }

  /** A printer whose types stand for themselves. */
  printer(options: Omit<PrintOptions, 'aliases'>): Printer {
    return new Printer(this.#nodes, { ...options, aliases: new Map() });
  }

  /** A printer that uses names for what is worth one among the roots, and the declarations of those names. */
  naming(
    roots: readonly TypeNode[],
    { worth, suffix = '', ...options }: NamingPrintOptions,
  ): { readonly printer: Printer; readonly declarations: string } {
    const aliases = nameTypes(roots, this.#nodes, { worth, suffix });
    const printer = new Printer(this.#nodes, { ...options, aliases });
    const told = new Set<string>();
    let declarations = '';
    for (const [node, alias] of aliases) {
      if (told.has(alias.name)) continue;
      told.add(alias.name);
      declarations += printer.definition(node, alias);
    }
    return { printer, declarations };
  }
}

export interface NamingPrintOptions extends Omit<PrintOptions, 'aliases'> {
  /** Characters that a name must save. */
  readonly worth: number;
  /** Put behind every name. */
  readonly suffix?: string;
}
