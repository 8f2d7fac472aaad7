// The syntax tree as this folder reads it: one loose node type over the parser's, and which children of a node are code.
// Not here: how a text becomes a tree (parse.ts) and what is done with it (transform.ts).

/**
 * A node of the parser's tree. One interface with every field that this folder reads, because a rewrite asks the same questions
 * ("is there a type annotation?") of many kinds; `type` says which fields are there.
 */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly value?: unknown;
  readonly operator?: string;
  readonly kind?: string;
  readonly async?: boolean;
  readonly computed?: boolean;
  readonly shorthand?: boolean;
  readonly static?: boolean;
  readonly declare?: boolean;
  readonly abstract?: boolean;
  readonly optional?: boolean;
  readonly definite?: boolean;
  readonly readonly?: boolean;
  readonly override?: boolean;
  readonly accessibility?: string;
  readonly await?: boolean;
  readonly importKind?: string;
  readonly exportKind?: string;
  readonly id?: Node | null;
  readonly key?: Node;
  readonly label?: Node | null;
  readonly params?: readonly Node[];
  readonly body?: Node | readonly Node[];
  readonly directives?: readonly Node[];
  readonly decorators?: readonly Node[] | null;
  readonly declarations?: readonly Node[];
  readonly declaration?: Node | null;
  readonly specifiers?: readonly Node[];
  readonly source?: Node | null;
  readonly local?: Node;
  readonly imported?: Node;
  readonly exported?: Node;
  readonly expression?: Node | boolean;
  readonly expressions?: readonly Node[];
  readonly quasis?: readonly Node[];
  readonly quasi?: Node;
  readonly tag?: Node;
  readonly left?: Node;
  readonly right?: Node;
  readonly init?: Node | null;
  readonly test?: Node | null;
  readonly update?: Node | null;
  readonly object?: Node;
  readonly property?: Node;
  readonly properties?: readonly Node[];
  readonly elements?: readonly (Node | null)[];
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly argument?: Node | null;
  readonly discriminant?: Node;
  readonly cases?: readonly Node[];
  readonly consequent?: Node | readonly Node[];
  readonly alternate?: Node | null;
  readonly block?: Node;
  readonly handler?: Node | null;
  readonly finalizer?: Node | null;
  readonly param?: Node | null;
  readonly superClass?: Node | null;
  readonly superTypeParameters?: Node | null;
  readonly implements?: readonly Node[];
  readonly typeParameters?: Node | null;
  readonly typeAnnotation?: Node | null;
  readonly returnType?: Node | null;
  readonly parameter?: Node;
  readonly members?: readonly Node[];
  readonly initializer?: Node | null;
  readonly moduleReference?: Node;
  readonly options?: Node | null;
}

/** The parsed text. */
export interface Tree {
  readonly program: Node;
  readonly comments: readonly Node[];
  /** Whether TypeScript's grammar was needed: without it nothing has to be erased. */
  readonly typed: boolean;
}

/** The statements of a program, block, function body or static block. */
export function statements(node: Node): readonly Node[] {
  return Array.isArray(node.body) ? node.body : [];
}

/** The one node in a field that may also hold a list. */
export function single(value: Node | readonly Node[] | boolean | null | undefined): Node | undefined {
  return typeof value === 'object' && value !== null && 'type' in value ? value : undefined;
}

/** An expression without the parentheses around it. */
export function bare(node: Node): Node {
  let inner = node;
  while (inner.type === 'ParenthesizedExpression') {
    const next = single(inner.expression);
    if (!next) break;
    inner = next;
  }
  return inner;
}

/** An expression without parentheses and without what only the type checker reads. */
export function untyped(node: Node): Node {
  let inner = bare(node);
  while (TYPE_WRAPPERS.has(inner.type)) {
    const next = single(inner.expression);
    if (!next) break;
    inner = bare(next);
  }
  return inner;
}

const TYPE_WRAPPERS: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);

/** A function that can be called where it stands. */
export function isFunctionExpression(node: Node): boolean {
  return node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';
}

/** The names that a declaration's pattern binds. */
export function boundNames(pattern: Node): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name ?? ''];
    case 'ObjectPattern':
      return (pattern.properties ?? []).flatMap((property) => boundNames(property));
    case 'ObjectProperty':
      return pattern.value ? boundNames(pattern.value as Node) : []; // in a pattern, a property's value is a pattern
    case 'ArrayPattern':
      return (pattern.elements ?? []).flatMap((element) => (element ? boundNames(element) : []));
    case 'AssignmentPattern':
      return pattern.left ? boundNames(pattern.left) : [];
    case 'RestElement':
      return pattern.argument ? boundNames(pattern.argument) : [];
    case 'TSParameterProperty':
      return pattern.parameter ? boundNames(pattern.parameter) : [];
    default:
      return [];
  }
}

/** The fields of each kind of node that hold code, in the order of the text. Kinds that are absent have none, or are types. */
export const CHILDREN: Readonly<Record<string, readonly (keyof Node)[]>> = {
  ArrayExpression: ['elements'],
  ArrayPattern: ['elements'],
  AssignmentExpression: ['left', 'right'],
  AssignmentPattern: ['left', 'right'],
  AwaitExpression: ['argument'],
  BinaryExpression: ['left', 'right'],
  BlockStatement: ['body'],
  CallExpression: ['callee', 'arguments'],
  CatchClause: ['param', 'body'],
  ClassBody: ['body'],
  ConditionalExpression: ['test', 'consequent', 'alternate'],
  DoWhileStatement: ['body', 'test'],
  ExpressionStatement: ['expression'],
  ForInStatement: ['left', 'right', 'body'],
  ForOfStatement: ['left', 'right', 'body'],
  ForStatement: ['init', 'test', 'update', 'body'],
  IfStatement: ['test', 'consequent', 'alternate'],
  ImportExpression: ['source', 'options'],
  LabeledStatement: ['body'],
  LogicalExpression: ['left', 'right'],
  MemberExpression: ['object'],
  NewExpression: ['callee', 'arguments'],
  ObjectExpression: ['properties'],
  ObjectPattern: ['properties'],
  OptionalCallExpression: ['callee', 'arguments'],
  OptionalMemberExpression: ['object'],
  ParenthesizedExpression: ['expression'],
  Program: ['body'],
  RestElement: ['argument'],
  ReturnStatement: ['argument'],
  SequenceExpression: ['expressions'],
  SpreadElement: ['argument'],
  StaticBlock: ['body'],
  SwitchCase: ['test', 'consequent'],
  SwitchStatement: ['discriminant', 'cases'],
  TaggedTemplateExpression: ['tag', 'quasi'],
  TemplateLiteral: ['expressions'],
  ThrowStatement: ['argument'],
  TryStatement: ['block', 'handler', 'finalizer'],
  TSAsExpression: ['expression'],
  TSInstantiationExpression: ['expression'],
  TSNonNullExpression: ['expression'],
  TSParameterProperty: ['parameter'],
  TSSatisfiesExpression: ['expression'],
  TSTypeAssertion: ['expression'],
  UnaryExpression: ['argument'],
  UpdateExpression: ['argument'],
  VariableDeclaration: ['declarations'],
  VariableDeclarator: ['id', 'init'],
  WhileStatement: ['test', 'body'],
  WithStatement: ['object', 'body'],
  YieldExpression: ['argument'],
};
