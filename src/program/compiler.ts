// What the type check needs of a compiler, so that several generations of TypeScript can do it: files in, findings and a few questions about
// the tree out. Not here: the compilers (isolation/compiler-classic.ts, isolation/compiler-native.ts).

/** What a program is checked against. */
export interface TypeWorld {
  /** Names this world: the same id always comes with the same declarations. */
  readonly id: string;
  /** Declares the tools and the application's constants; the guest's globals are known. */
  readonly declarations: string;
  /** The tools by path: `github.list_issues`. */
  readonly paths: readonly string[];
}

/** A compiler as the check uses it. It knows the language's library and the guest's globals. */
export interface Compiler {
  check(files: CheckedFiles): Checked;
  close(): void;
}

export interface CheckedFiles {
  readonly world: Pick<TypeWorld, 'id' | 'declarations'>;
  /** The program, in a function of its own. */
  readonly code: string;
  /** Whether it is TypeScript; otherwise it is checked by the looser rules for JavaScript. */
  readonly typed: boolean;
}

/** A program that has been checked. Good until the next check of the same compiler. */
export interface Checked {
  readonly findings: readonly Finding[];
  readonly tree: SyntaxNode;
  /** The name of a node's kind, as TypeScript's `SyntaxKind` has it. */
  kindOf(node: SyntaxNode): string;
  /** Whether the signature of a call stands in the world's declarations. */
  isToolCall(call: SyntaxNode): boolean;
  /** The types that an expression may have: the members of a union, or the one. */
  typesOf(expression: SyntaxNode): readonly ExpressionType[];
}

export interface Finding {
  readonly code: number;
  readonly start: number;
  /** The message and what it says below, outermost first. */
  readonly messages: readonly string[];
}

interface ExpressionType {
  has(property: string): boolean;
  /** Whether the program itself says what the type is: a class, a literal, an interface of its own. */
  readonly isOwn: boolean;
}

/** What is asked of a syntax tree; all generations of the compiler have it. */
export interface SyntaxNode {
  readonly kind: number;
  readonly end: number;
  readonly parent?: SyntaxNode | undefined;
  getStart(): number;
  forEachChild(visit: (child: SyntaxNode) => undefined): unknown;
}

/** What stands around a finding. */
export interface Scene {
  /** The text that is checked. */
  readonly code: string;
  /** The innermost node, and those around it, outwards. */
  readonly nodes: readonly SyntaxNode[];
  readonly kindOf: Checked['kindOf'];
  /** The expression whose property is named here, if one is. */
  readonly receiver: SyntaxNode | undefined;
  /** The function that is called, when the finding is about what it is given and it is a tool. */
  readonly tool: SyntaxNode | undefined;
}
