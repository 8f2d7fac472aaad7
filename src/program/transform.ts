// One walk over the tree that turns a program into plain JavaScript of the same places: types become spaces, the few constructs of TypeScript
// that make code (enums, namespaces, parameter properties) and `using` are written out. Not here: modules (modules.ts) and the value (result.ts).
import { openEnum, type Place } from './enums.ts';
import { eraseAssertion, eraseCallTypes, eraseClassHead, eraseFunctionTypes, eraseMember, erasePattern } from './erase.ts';
import { dynamicImport, rewriteImportEquals } from './modules.ts';
import { type Body, isTypeOnly, writeNamespace } from './namespaces.ts';
import { ProgramMistake, type Rewrite } from './rewrite.ts';
import { CHILDREN, type Node, single, statements } from './tree.ts';
import { Usage, type UsageReport } from './usage.ts';
import { closeScope, openScope, registerResources, scopeHolds, wrapLoop, wrapLoopBody } from './using.ts';

/** The walk: one per program. */
export class Transform {
  readonly rewrite: Rewrite;
  /** Whether a helper for `using` has to surround the program. */
  needsResources = false;
  readonly #references: ReadonlyMap<string, number[]>;
  readonly #roots: readonly string[];
  readonly #usage: Usage;
  /** Members that an enum's initializers may name without its name in front, innermost enum last. */
  readonly #enums: { readonly name: string; readonly members: ReadonlySet<string> }[] = [];

  /** `references` gets, for each name it has, the places where the name stands as a value. */
  constructor(rewrite: Rewrite, { references, roots }: { references: ReadonlyMap<string, number[]>; roots: readonly string[] }) {
    this.rewrite = rewrite;
    this.#references = references;
    this.#roots = roots;
    this.#usage = new Usage(roots);
  }

  /** Ends the walk. `result` is the statement whose value the program gives; `imported` are names that imports bind. */
  finish(result: Node | undefined, imported: readonly string[]): UsageReport {
    for (const name of imported) this.#usage.declare({ type: 'Identifier', start: 0, end: 0, name });
    return this.#usage.finish(this.rewrite, result);
  }

  /** The statements of a program or of another body. */
  list(list: readonly Node[], { owner, start, end, exports }: Body): void {
    const scoped = scopeHolds(list);
    if (scoped) {
      this.needsResources = true;
      openScope(this.rewrite, start);
    }
    for (const [index, statement] of list.entries()) this.#statement(statement, { list, index, owner, ...(exports ? { exports } : {}) });
    if (scoped) closeScope(this.rewrite, end, scoped);
  }

  visit(node: Node): void {
    const { rewrite } = this;
    this.#usage.meet(node);
    switch (node.type) {
      case 'Identifier':
        this.#identifier(node);
        return;
      case 'MemberExpression':
      case 'OptionalMemberExpression':
        this.#child(node.object);
        if (node.computed) this.#child(node.property);
        return;
      case 'ObjectProperty':
        this.#property(node);
        return;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'ObjectMethod':
        this.#function(node);
        return;
      case 'ClassDeclaration':
      case 'ClassExpression':
        this.#class(node);
        return;
      case 'VariableDeclaration':
        this.#variables(node, { head: false });
        return;
      case 'CallExpression':
      case 'NewExpression':
      case 'OptionalCallExpression':
      case 'TaggedTemplateExpression':
        this.#children(node);
        eraseCallTypes(rewrite, node);
        return;
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'TSInstantiationExpression':
      case 'TSTypeAssertion':
        eraseAssertion(rewrite, node, () => this.#children(node));
        return;
      case 'ImportExpression':
        dynamicImport(rewrite, node, this.#roots);
        this.#children(node);
        return;
      case 'BlockStatement':
      case 'StaticBlock':
        this.#block(node, 'block');
        return;
      case 'CatchClause':
        if (node.param) this.#usage.declare(node.param);
        this.#children(node);
        return;
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
        this.#loop(node);
        return;
      case 'SwitchStatement':
        this.#child(node.discriminant);
        for (const branch of node.cases ?? []) {
          if (branch.test) this.visit(branch.test);
          const list = listOf(branch.consequent);
          if (scopeHolds(list))
            throw new ProgramMistake('`using` may not stand in a bare `case`: put braces around its statements.', branch.start);
          for (const [index, statement] of list.entries()) this.#statement(statement, { list, index, owner: 'block' });
        }
        return;
      case 'LabeledStatement':
      case 'IfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'WithStatement':
        for (const field of CHILDREN[node.type] ?? []) {
          const child = node[field];
          if (isNode(child)) /Statement$|Declaration$/.test(child.type) ? this.#lone(child) : this.visit(child);
        }
        return;
      case 'ObjectPattern':
      case 'ArrayPattern':
      case 'RestElement':
        this.#children(node);
        erasePattern(rewrite, node);
        return;
      case 'ImportDeclaration':
      case 'ExportNamedDeclaration':
      case 'ExportDefaultDeclaration':
      case 'ExportAllDeclaration':
      case 'TSExportAssignment':
        throw new ProgramMistake('`import` and `export` may stand only at the top of a program, not inside a block.', node.start);
      default:
        this.#children(node);
        return;
    }
  }

  #statement(
    node: Node,
    { list, index, owner, exports }: Pick<Body, 'owner' | 'exports'> & { list: readonly Node[]; index: number },
  ): void {
    const { rewrite } = this;
    const place = (): Place => ({
      keyword: keywordFor(list, index, owner),
      ...(exports?.exported.has(node) ? { owner: exports.owner } : {}),
    });
    if (isOnlyTypes(node)) {
      rewrite.blank(node.start, node.end, { head: ';' });
      return;
    }
    switch (node.type) {
      case 'TSEnumDeclaration':
        this.#enumeration(node, place());
        return;
      case 'TSModuleDeclaration':
        writeNamespace(this, node, place());
        return;
      case 'TSImportEqualsDeclaration':
        rewriteImportEquals(rewrite, node, { isUsed: true });
        return;
      default: {
        const before = rewrite.edits.length;
        this.visit(node);
        if (ENDS_WITH_SEMICOLON.has(node.type)) this.#endStatement(node, before);
      }
    }
  }

  /** A statement that is the whole body of another one. */
  #lone(node: Node): void {
    this.#statement(node, { list: [node], index: 0, owner: 'block' });
  }

  /** When the last token of a statement was a type, the line after it may now continue the statement: a semicolon keeps them apart. */
  #endStatement(node: Node, firstEdit: number): void {
    const last = this.rewrite.edits.at(-1);
    if (!last || this.rewrite.edits.length === firstEdit || last.end !== node.end || last.text.charAt(0) !== ' ') return;
    if (this.rewrite.text.charAt(node.end - 1) !== ';') last.text = `;${last.text.slice(1)}`;
  }

  #identifier(node: Node): void {
    const name = node.name ?? '';
    this.#references.get(name)?.push(node.start);
    const owner = this.#enums.findLast(({ members }) => members.has(name));
    if (owner && !node.typeAnnotation) this.rewrite.insert(node.start, `${owner.name}.`);
    erasePattern(this.rewrite, node);
  }

  #property(node: Node): void {
    if (node.computed) this.#child(node.key);
    const value = node.value;
    if (!isNode(value)) return;
    const inEnum = node.shorthand && this.#enums.some(({ members }) => members.has(value.name ?? ''));
    if (inEnum) this.rewrite.insert(value.start, `${value.name ?? ''}: `);
    this.visit(value);
  }

  #function(node: Node): void {
    if (node.type === 'ObjectMethod' && node.computed) this.#child(node.key);
    this.functionParts(node);
  }

  /** Parameters, types and body of anything that is a function. */
  functionParts(node: Node): void {
    this.#usage.owner(node);
    for (const parameter of node.params ?? []) {
      this.#usage.declare(parameter);
      this.visit(parameter);
    }
    eraseFunctionTypes(this.rewrite, node);
    const body = single(node.body);
    if (body?.type === 'BlockStatement') this.#block(body, 'function');
    else if (body) this.visit(body);
  }

  #class(node: Node): void {
    const { rewrite } = this;
    this.#usage.owner(node);
    if (node.superClass) this.visit(node.superClass);
    eraseClassHead(rewrite, node);
    const body = single(node.body);
    for (const member of body ? statements(body) : []) {
      const before = rewrite.edits.length;
      if (eraseMember(rewrite, member)) continue;
      if (member.computed) this.#child(member.key);
      if (member.type === 'ClassMethod' || member.type === 'ClassPrivateMethod') {
        this.functionParts(member);
        if (member.kind === 'constructor') parameterProperties(rewrite, member, node);
      } else if (member.type === 'StaticBlock') this.#block(member, 'function');
      else {
        this.#usage.meet(member);
        const value = member.value;
        if (isNode(value)) this.visit(value);
        this.#endStatement(member, before);
      }
    }
  }

  #variables(node: Node, { head }: { head: boolean }): void {
    const { rewrite } = this;
    if (node.kind === 'using' || node.kind === 'await using') registerResources(rewrite, node, { head });
    for (const declarator of node.declarations ?? []) {
      this.#usage.variable(declarator, node.kind);
      if (declarator.id) this.visit(declarator.id);
      if (declarator.definite && declarator.id?.typeAnnotation) {
        const mark = rewrite.previous(declarator.id.typeAnnotation.start) - 1;
        if (rewrite.text[mark] === '!') rewrite.blank(mark, mark + 1);
      }
      if (declarator.init) this.visit(declarator.init);
      if (declarator.init && (node.kind === 'using' || node.kind === 'await using')) {
        rewrite.insert(declarator.init.end, node.kind === 'using' ? ')' : ', true)');
      }
    }
  }

  #block(node: Node, owner: 'function' | 'block'): void {
    const list = statements(node);
    const lastDirective = node.directives?.at(-1);
    const start = lastDirective ? lastDirective.end : this.rewrite.text.indexOf('{', node.start) + 1;
    this.list(list, { owner, start, end: node.end - 1 });
  }

  #loop(node: Node): void {
    const { rewrite } = this;
    const head = node.type === 'ForStatement' ? single(node.init) : single(node.left);
    const resource = head?.type === 'VariableDeclaration' && (head.kind === 'using' || head.kind === 'await using') ? head : undefined;
    if (resource) this.needsResources = true;
    if (resource && node.type === 'ForStatement') wrapLoop(rewrite, node, resource);
    if (head?.type === 'VariableDeclaration') this.#variables(head, { head: node.type !== 'ForStatement' });
    else if (head) this.visit(head);
    for (const field of ['right', 'test', 'update'] as const) {
      const child = node[field];
      if (child) this.visit(child);
    }
    const body = single(node.body);
    if (body && resource && node.type !== 'ForStatement') wrapLoopBody(rewrite, body, resource, () => this.#lone(body));
    else if (body) this.#lone(body);
  }

  /** An enum, as the object that TypeScript makes of it. */
  #enumeration(node: Node, place: Place): void {
    const scope = openEnum(this.rewrite, node, place);
    this.#enums.push(scope);
    for (const member of node.members ?? []) if (member.initializer) this.visit(member.initializer);
    this.#enums.pop();
    scope.close();
  }

  #child(child: Node | null | undefined): void {
    if (child) this.visit(child);
  }

  #children(node: Node): void {
    const fields = CHILDREN[node.type];
    if (!fields) return;
    for (const field of fields) {
      const value = node[field];
      if (Array.isArray(value)) {
        for (const child of value) if (child) this.visit(child);
      } else if (isNode(value)) this.visit(value);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function listOf(value: Node | readonly Node[] | null | undefined): readonly Node[] {
  return Array.isArray(value) ? value : [];
}

/** Statements that are for the type checker alone. */
export function isOnlyTypes(node: Node): boolean {
  switch (node.type) {
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'TSDeclareFunction':
    case 'TSNamespaceExportDeclaration':
      return true;
    case 'TSModuleDeclaration':
      return isTypeOnly(node);
    default:
      return node.declare === true;
  }
}

const ENDS_WITH_SEMICOLON: ReadonlySet<string> = new Set([
  'ExpressionStatement',
  'VariableDeclaration',
  'ReturnStatement',
  'ThrowStatement',
]);

/** What declares the object of an enum or namespace: nothing when the name is there already, as merging has it. */
function keywordFor(list: readonly Node[], index: number, owner: 'function' | 'block'): string {
  const name = declared(list[index])?.id?.name;
  const merges = list.slice(0, index).some((earlier) => {
    const declaration = declared(earlier);
    return declaration?.id?.name === name && MERGEABLE.has(declaration?.type ?? '') && !(declaration && isOnlyTypes(declaration));
  });
  if (merges) return '';
  return owner === 'function' ? 'var' : 'let';
}

const MERGEABLE: ReadonlySet<string> = new Set(['ClassDeclaration', 'FunctionDeclaration', 'TSEnumDeclaration', 'TSModuleDeclaration']);

function declared(node: Node | undefined): Node | undefined {
  return node?.declaration ?? node;
}

/** `constructor(private x: number)` also assigns: after `super(…)` in a derived class, else first. */
function parameterProperties(rewrite: Rewrite, method: Node, owner: Node): void {
  const names = (method.params ?? []).flatMap((parameter) => {
    if (parameter.type !== 'TSParameterProperty' || !parameter.parameter) return [];
    const target = parameter.parameter.type === 'AssignmentPattern' ? parameter.parameter.left : parameter.parameter;
    return target?.name ? [target.name] : [];
  });
  const body = single(method.body);
  if (names.length === 0 || !body) return;
  const assignments = names.map((name) => ` this.${name} = ${name};`).join('');
  const directive = body.directives?.at(-1);
  if (!owner.superClass) {
    rewrite.insert(directive?.end ?? body.start + 1, directive ? `;${assignments}` : assignments, -2);
    return;
  }
  const call = statements(body).find((statement) => {
    const expression = single(statement.expression);
    return expression?.type === 'CallExpression' && expression.callee?.type === 'Super';
  });
  if (!call) {
    throw new ProgramMistake(
      'A constructor with parameter properties must call `super(…)` as a statement of its own.',
      method.start,
      'Call `super(…)` first, or assign the fields yourself.',
    );
  }
  rewrite.insert(call.end, `;${assignments}`, 1);
}
