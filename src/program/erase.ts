// Blanks of types: each function takes a node that carries types and turns them into spaces, so that no line or column moves, and keeps the
// meaning where a line break or a brace would otherwise change it. Not here: TypeScript that makes code (enums.ts, namespaces.ts).
import { ProgramMistake, type Rewrite } from './rewrite.ts';
import type { Node } from './tree.ts';
import { single } from './tree.ts';

/** `x as T`, `x satisfies T`, `x!`, `f<T>` and `<T>x`; `children` visits the expression inside. */
export function eraseAssertion(rewrite: Rewrite, node: Node, children: () => void): void {
  const expression = single(node.expression);
  if (!expression) return;
  if (node.type !== 'TSTypeAssertion') {
    children();
    rewrite.blank(expression.end, node.end);
    return;
  }
  // What stood behind `<T>` now stands first: a brace would open a block, and `return` would end at a line break.
  const first = rewrite.text.slice(expression.start, expression.start + 16);
  const before = rewrite.text.slice(0, rewrite.previous(node.start)).slice(-8);
  const opensStatement =
    /^(?:\{|function\b|class\b|async\s+function\b|let\s*\[)/.test(first) && /(?:=>|[;{}]|^|\bdefault|\belse|\))$/.test(before);
  const guarded = opensStatement || rewrite.hasBreak(node.start, expression.start);
  rewrite.blank(node.start, expression.start, guarded ? { head: '(' } : {});
  children();
  if (guarded) rewrite.insert(node.end, ')');
}

/** The type annotation and the `?` of a parameter, variable or pattern. */
export function erasePattern(rewrite: Rewrite, node: Node): void {
  const annotation = node.typeAnnotation;
  if (annotation) {
    let start = annotation.start;
    if (node.optional) {
      const mark = rewrite.previous(start) - 1;
      if (rewrite.text[mark] === '?') start = mark;
    }
    rewrite.blank(start, annotation.end);
  } else if (node.optional && rewrite.text[node.end - 1] === '?') rewrite.blank(node.end - 1, node.end);
}

/** Type parameters, a `this` parameter, modifiers of parameters, and the return type. Parameters themselves are visited by the walk. */
export function eraseFunctionTypes(rewrite: Rewrite, node: Node): void {
  const isArrow = node.type === 'ArrowFunctionExpression';
  const { typeParameters, returnType } = node;
  if (typeParameters) {
    if (isArrow && rewrite.hasBreak(typeParameters.start, typeParameters.end)) {
      // `return <T⏎>(x) => …` and `async <T⏎>(x) => …`: the parenthesis moves up to the line where the types began.
      const parenthesis = rewrite.next(typeParameters.end);
      rewrite.blank(typeParameters.start, parenthesis + 1, { head: '(' });
    } else rewrite.blank(typeParameters.start, typeParameters.end);
  }
  const parameters = node.params ?? [];
  const self = parameters[0];
  if (self?.type === 'Identifier' && self.name === 'this') eraseThis(rewrite, self, parameters[1]);
  for (const parameter of parameters) {
    if (parameter.decorators?.length)
      throw new ProgramMistake('Decorators are not supported.', parameter.start, 'Call the function directly instead.');
    if (parameter.type === 'TSParameterProperty' && parameter.parameter) rewrite.blank(parameter.start, parameter.parameter.start);
  }
  if (returnType) {
    const close = rewrite.previous(returnType.start) - 1;
    if (isArrow && rewrite.text[close] === ')' && rewrite.hasBreak(close, rewrite.next(returnType.end))) {
      // No line break may stand before `=>`: the parenthesis moves down to its line.
      const arrow = rewrite.next(returnType.end);
      if (rewrite.hasBreak(returnType.end, arrow)) rewrite.blank(close, arrow, { tail: ')' });
      else rewrite.blank(close, returnType.end, { tail: ')' });
    } else rewrite.blank(returnType.start, returnType.end);
  }
}

function eraseThis(rewrite: Rewrite, self: Node, following: Node | undefined): void {
  // The annotation of `this` was blanked with the parameter; what is left is the word and the comma.
  rewrite.blank(self.start, self.typeAnnotation?.start ?? self.end);
  if (following) {
    const comma = rewrite.next(self.end);
    if (rewrite.text[comma] === ',') rewrite.blank(comma, comma + 1);
    return;
  }
  const comma = rewrite.next(self.end);
  if (rewrite.text[comma] === ',') rewrite.blank(comma, comma + 1);
}

/** `abstract`, type parameters, type arguments of the superclass, `implements …`. */
export function eraseClassHead(rewrite: Rewrite, node: Node): void {
  if (node.decorators?.length) throw new ProgramMistake('Decorators are not supported.', node.start, 'Call the function directly instead.');
  const { typeParameters, superTypeParameters, superClass, id } = node;
  if (node.abstract) {
    const start = rewrite.text.indexOf('abstract', node.start);
    rewrite.blank(start, start + 'abstract'.length);
  }
  if (typeParameters) rewrite.blank(typeParameters.start, typeParameters.end);
  if (superTypeParameters) rewrite.blank(superTypeParameters.start, superTypeParameters.end);
  const last = node.implements?.at(-1);
  if (!last) return;
  const before = superTypeParameters?.end ?? superClass?.end ?? typeParameters?.end ?? id?.end;
  rewrite.blank(before ?? rewrite.text.indexOf('class', node.start) + 'class'.length, last.end);
}

/** The types of a class member; `true` when the whole member was one. */
export function eraseMember(rewrite: Rewrite, member: Node): boolean {
  if (member.decorators?.length)
    throw new ProgramMistake('Decorators are not supported.', member.start, 'Call the function directly instead.');
  const onlyTypes =
    member.type === 'TSDeclareMethod' || member.type === 'TSIndexSignature' || member.declare === true || member.abstract === true;
  if (onlyTypes) {
    rewrite.blank(member.start, member.end, { head: ';' });
    return true;
  }
  if (!member.key) return false;
  eraseModifiers(rewrite, member, member.key);
  let at = rewrite.next(member.key.end);
  if (member.computed && rewrite.text[at] === ']') at = rewrite.next(at + 1);
  const marked = (member.optional || member.definite) && /[?!]/.test(rewrite.text[at] ?? '');
  const annotation = member.typeAnnotation;
  if (annotation) rewrite.blank(marked ? at : annotation.start, annotation.end);
  else if (marked) rewrite.blank(at, at + 1);
  return false;
}

const MODIFIERS: ReadonlySet<string> = new Set(['public', 'private', 'protected', 'readonly', 'override', 'declare', 'abstract']);

/** The words before a member's name that only the type checker reads. */
function eraseModifiers(rewrite: Rewrite, member: Node, key: Node): void {
  if (!member.accessibility && !member.readonly && !member.override) return;
  const word = /[a-z]+/y;
  let at = rewrite.next(member.start);
  const first = at;
  while (at < key.start) {
    word.lastIndex = at;
    const text = word.exec(rewrite.text)?.[0];
    if (!text) break;
    const end = at + text.length;
    const following = rewrite.next(end);
    if (MODIFIERS.has(text)) {
      // `[key]` or `*key` at the start of a member would continue a field above that has no semicolon.
      const exposed = at === first && /[[*]/.test(rewrite.text[following] ?? '');
      rewrite.blank(at, end, exposed ? { head: ';' } : {});
    }
    at = following;
  }
}

/** The type arguments of a call, `new` or tagged template. */
export function eraseCallTypes(rewrite: Rewrite, node: Node): void {
  if (node.typeParameters) rewrite.blank(node.typeParameters.start, node.typeParameters.end);
}
