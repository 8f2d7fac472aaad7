// `using` and `await using` for engines that lack them: a block's statements go into `try … finally`, its resources into a stack that a small
// helper disposes of in reverse order. The helper stands around the program, outside of what it can see by a name that its text holds.
import { ProgramMistake, type Rewrite } from './rewrite.ts';
import { boundNames, type Node } from './tree.ts';

/** Whether, and how, the statements of one list declare resources. */
export function scopeHolds(list: readonly Node[]): 'sync' | 'async' | undefined {
  let found: 'sync' | 'async' | undefined;
  for (const { kind } of list) {
    if (kind === 'await using') return 'async';
    if (kind === 'using') found = 'sync';
  }
  return found;
}

/** The start of a list that declares resources. Lists may nest: each has a stack of the same name in its own block. */
export function openScope(rewrite: Rewrite, at: number): void {
  // A directive may stand before, without a semicolon.
  rewrite.insert(at, `${/[\w'"]/.test(rewrite.text.charAt(at - 1)) ? ';' : ''}${opened(rewrite)}`, -1);
}

export function closeScope(rewrite: Rewrite, at: number, scope: 'sync' | 'async'): void {
  // At the end of the program a comment may be open to the end of its line.
  rewrite.insert(at, `${at === rewrite.text.length ? '\n' : ''}${closed(rewrite, scope)}`, 5);
}

/** `using a = x` becomes `const a = stack.add(x`; the walk closes the parenthesis behind each initializer. */
export function registerResources(rewrite: Rewrite, node: Node, { head }: { head: boolean }): void {
  const length = node.kind === 'using' ? 'using'.length : rewrite.next(node.start + 'await'.length) + 'using'.length - node.start;
  rewrite.replace(node.start, node.start + length, 'const');
  if (head) return;
  for (const { init } of node.declarations ?? []) {
    if (!init) throw new ProgramMistake('A `using` declaration needs a value.', node.start);
    rewrite.insert(init.start, `${stackName(rewrite)}.add(`, -1);
  }
}

/** `for (using a = x; …)`: the resource lives as long as the loop. */
export function wrapLoop(rewrite: Rewrite, loop: Node, resource: Node): void {
  rewrite.insert(loop.start, `{${opened(rewrite)}`, -1);
  rewrite.insert(loop.end, `${closed(rewrite, scopeOf(resource))}}`, 3);
}

/** `for (using a of x)`: a resource for each round. */
export function wrapLoopBody(rewrite: Rewrite, body: Node, resource: Node, visit: () => void): void {
  const scope = scopeOf(resource);
  const name = boundNames(resource.declarations?.[0]?.id ?? resource)[0] ?? '';
  rewrite.insert(body.start, `{${opened(rewrite)}${stackName(rewrite)}.add(${name}${scope === 'async' ? ', true' : ''});`, -1);
  visit();
  rewrite.insert(body.end, `${closed(rewrite, scope)}}`, 3);
}

/** What has to surround a program that uses the helper: an expression around the program's function. */
export function resourceHelper(rewrite: Rewrite): { readonly before: string; readonly after: string } {
  return { before: `((${helperName(rewrite)}) => `, after: `)(${HELPER})` };
}

function scopeOf(node: Node): 'sync' | 'async' {
  return node.kind === 'await using' ? 'async' : 'sync';
}

function helperName(rewrite: Rewrite): string {
  return rewrite.fresh('resources');
}

function stackName(rewrite: Rewrite): string {
  return rewrite.fresh('stack');
}

function opened(rewrite: Rewrite): string {
  return ` const ${stackName(rewrite)} = ${helperName(rewrite)}(); try {`;
}

function closed(rewrite: Rewrite, scope: 'sync' | 'async'): string {
  const [stack, error] = [stackName(rewrite), rewrite.fresh('error')];
  const end = scope === 'async' ? `await ${stack}.endAsync()` : `${stack}.end()`;
  return `} catch (${error}) { ${stack}.fail(${error}); } finally { ${end}; }`;
}

/** Makes stacks. Strict, on one line; takes what it needs from the world when it is made, before the program has run. */
const HELPER = `(() => { "use strict"; const Type = TypeError, Plain = Error, Suppressed = globalThis.SuppressedError;
const method = (value, isAsync) => {
  if (typeof value !== "object" && typeof value !== "function") throw new Type("A \`using\` declaration needs an object, null or undefined.");
  let dispose = isAsync && Symbol.asyncDispose !== undefined ? value[Symbol.asyncDispose] : undefined;
  if (dispose === undefined || dispose === null) dispose = Symbol.dispose !== undefined ? value[Symbol.dispose] : undefined;
  if (typeof dispose !== "function") throw new Type("The value of a \`using\` declaration needs a method " + (isAsync ? "[Symbol.asyncDispose] or " : "") + "[Symbol.dispose].");
  return dispose;
};
const suppress = (error, suppressed) => {
  if (typeof Suppressed === "function") return new Suppressed(error, suppressed, "An error was suppressed during disposal.");
  const both = new Plain("An error was suppressed during disposal."); both.name = "SuppressedError"; both.error = error; both.suppressed = suppressed; return both;
};
return () => {
  const items = []; let size = 0, failed = false, error;
  const fail = (next) => { error = failed ? suppress(next, error) : next; failed = true; };
  return {
    add(value, isAsync) {
      if (value === null || value === undefined) { if (isAsync) items[size++] = { isAsync }; return value; }
      items[size++] = { value, dispose: method(value, isAsync), isAsync }; return value;
    },
    fail,
    end() {
      while (size > 0) { const { value, dispose } = items[--size]; try { dispose.call(value); } catch (next) { fail(next); } }
      if (failed) throw error;
    },
    async endAsync() {
      while (size > 0) { const { value, dispose, isAsync } = items[--size]; try { const done = dispose ? dispose.call(value) : undefined; if (isAsync) await done; } catch (next) { fail(next); } }
      if (failed) throw error;
    },
  };
}; })()`.replace(/\n\s*/g, ' ');
