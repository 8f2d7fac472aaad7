// What programs reach for out of habit and the guest does not have, where the text names it: `process.env` is an empty object; any other
// member of `process`, `require("…")` and `fetch(…)` throw a sentence that says what to use. Not here: imports (modules.ts), names that fail at run
// time (hints.ts).
import { adviceFor } from './modules.ts';
import type { Rewrite } from './rewrite.ts';
import { bare, type Node } from './tree.ts';

/** What to use in the place of a member of Node's `process`. */
export function processAdvice(member: string): string {
  return PROCESS[member] ?? 'There is no process here: remove it; values come from the tools, or are written into the program.';
}

const PROCESS: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  exit: 'To end the program early, call `exit(value)` or `return value`.',
  exitCode: 'To say that something failed, throw an error; to end early, call `exit(value)`.',
  abort: 'To end the program early, call `exit(value)` or throw an error.',
  argv: 'A program has no arguments: write the values into the program, or get them from a tool.',
  cwd: 'There is no file system here: use the tools for files, if there are any.',
  chdir: 'There is no file system here: use the tools for files, if there are any.',
  stdout: 'To write, use `console.log(…)` or `text(…)`.',
  stderr: 'To write, use `console.error(…)`.',
  stdin: 'There is no input here: write the values into the program, or get them from a tool.',
  nextTick: 'Use `queueMicrotask(callback)` or `await` instead.',
  hrtime: 'Use `performance.now()` instead.',
  uptime: 'Use `performance.now()` instead.',
  on: 'Use `try { … } catch (error) { … }` around what may fail.',
  once: 'Use `try { … } catch (error) { … }` around what may fail.',
});

/** The name of a member that the text states: `a.b`, `a?.b`, `a['b']`. */
export function memberName({ computed, property }: Node): string | undefined {
  if (property === undefined) return undefined;
  if (!computed) return property.name;
  return property.type === 'StringLiteral' ? String(property.value) : undefined;
}

/** Writes a member of an unbound `process`. Whatever is written starts with a name: what starts with a bracket could continue the line before. */
export function rewriteProcess(rewrite: Rewrite, node: Node): void {
  const name = memberName(node);
  if (name === 'env') {
    rewrite.replace(node.start, node.end, 'Object()');
    return;
  }
  const { object } = node;
  if (object === undefined) return;
  const what = name === undefined ? 'process' : `process.${name}`;
  rewrite.replace(object.start, object.end, throwing('ReferenceError', `\`${what}\` is not available here. ${processAdvice(name ?? '')}`));
}

/** Writes `const { env } = process` with a process that has nothing else. */
export function rewriteWholeProcess(rewrite: Rewrite, node: Node): void {
  rewrite.replace(node.start, node.end, '{ env: {} }');
}

/** Writes a call of an unbound `require`. */
export function rewriteRequire(rewrite: Rewrite, call: Node): void {
  const { callee } = call;
  const [argument] = call.arguments ?? [];
  if (callee === undefined) return;
  const module = argument && bare(argument).type === 'StringLiteral' ? String(bare(argument).value) : undefined;
  const what = module === undefined ? 'a module' : JSON.stringify(module);
  rewrite.replace(
    callee.start,
    callee.end,
    throwing('ReferenceError', `\`require\` is not available here: ${what} cannot be loaded. ${adviceFor(module ?? '')}`),
  );
}

/** Writes a call of an unbound `fetch`: it rejects, as a fetch that fails does, so that a program that is prepared for that can say why. */
export function rewriteFetch(rewrite: Rewrite, { callee }: Node): void {
  if (callee === undefined) return;
  const message = `\`fetch\` is not available here. ${adviceFor('node-fetch')}`;
  rewrite.replace(callee.start, callee.end, `Object(async () => { throw new ReferenceError(${JSON.stringify(message)}); })`);
}

function throwing(type: string, message: string): string {
  return `Object((() => { throw new ${type}(${JSON.stringify(message)}); })())`;
}
