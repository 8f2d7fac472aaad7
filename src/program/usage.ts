// What a program does with names and promises, collected on the one walk over its tree and judged at its end, when every declaration is known:
// promises that nobody awaits, promises used as if they were values, and names of other worlds. Not here: the walk (transform.ts).
import { memberName, rewriteFetch, rewriteProcess, rewriteRequire, rewriteWholeProcess } from './absent.ts';
import type { OffsetWarning } from './modules.ts';
import type { Rewrite } from './rewrite.ts';
import { boundNames, isFunctionExpression, type Node, single, untyped } from './tree.ts';

/** What the walk has found out. */
export interface UsageReport {
  readonly warnings: readonly OffsetWarning[];
  /** The name under which the program expects the function that watches promises nobody awaits; absent when there are none. */
  readonly watch?: string;
}

/** Collects; one per program. */
export class Usage {
  readonly #roots: readonly string[];
  /** How often each name is declared, in whatever scope. */
  readonly #declared = new Map<string, number>();
  /** Names of async functions and methods. */
  readonly #async = new Set<string>();
  /** Constants that hold the promise of a tool's call, with that call as it is written. */
  readonly #promised = new Map<string, string>();
  /** Constants that hold a list of promises, since the callback of `map` is async, by the place of that callback. */
  readonly #lists = new Map<string, number>();
  /** Names of which a member is read. */
  readonly #read = new Set<string>();
  readonly #doubts: Doubt[] = [];
  readonly #floating: Floating[] = [];
  readonly #process: Node[] = [];
  readonly #wholeProcess: Node[] = [];
  readonly #required: Node[] = [];
  readonly #fetched: Node[] = [];
  readonly #warnings: OffsetWarning[] = [];

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** A pattern, or the name of a function or class, binds names. */
  declare(pattern: Node): void {
    if (pattern.type === 'Identifier') this.#count(pattern.name ?? '');
    else for (const name of boundNames(pattern)) this.#count(name);
  }

  /** A variable is declared. */
  variable({ id, init }: Node, kind: string | undefined): void {
    if (!id) return;
    this.declare(id);
    if (!init) return;
    const value = untyped(init);
    if (id.type === 'Identifier') {
      this.#named(id.name, value);
      const call = kind === 'const' ? this.#toolCall(value) : undefined;
      if (call !== undefined) this.#promised.set(id.name ?? '', call);
      if (kind === 'const' && isAsyncMap(value)) this.#lists.set(id.name ?? '', value.start);
    } else if (value.type === 'Identifier' && value.name === 'process') this.#wholeProcess.push(value);
  }

  /** A function, class or method, wherever it stands. */
  owner({ id, key, async, computed }: Node): void {
    if (id) this.declare(id);
    const name = id?.name ?? (computed ? undefined : (key?.name ?? key?.id?.name));
    if (async && name !== undefined) this.#async.add(name);
  }

  meet(node: Node): void {
    switch (node.type) {
      case 'MemberExpression':
      case 'OptionalMemberExpression':
        if (node.object?.type !== 'Identifier') return;
        this.#read.add(node.object.name ?? '');
        if (node.object.name === 'process') this.#process.push(node);
        return;
      case 'CallExpression':
      case 'OptionalCallExpression':
        this.#call(node);
        return;
      case 'ExpressionStatement':
        this.#statement(node);
        return;
      case 'AssignmentExpression':
        if (node.left && node.right)
          this.#named(node.left.name ?? (node.left.property ? memberName(node.left) : undefined), untyped(node.right));
        return;
      case 'ObjectProperty':
      case 'ClassProperty':
        if (isNode(node.value) && !node.computed) this.#named(node.key?.name, node.value);
        return;
      case 'IfStatement':
      case 'ConditionalExpression':
      case 'WhileStatement':
      case 'DoWhileStatement':
        this.#doubt(node.test, 'truth');
        return;
      case 'UnaryExpression':
        if (node.operator === '!') this.#doubt(node.argument, 'truth');
        return;
      case 'LogicalExpression':
        this.#doubt(node.left, 'truth');
        return;
      case 'BinaryExpression':
        if (node.operator !== '===' && node.operator !== '!==') return;
        this.#doubt(node.left, 'equality');
        this.#doubt(node.right, 'equality');
        return;
      case 'ObjectExpression':
        for (const property of node.properties ?? []) if (property.type === 'SpreadElement') this.#doubt(property.argument, 'fields');
        return;
      default:
    }
  }

  /** Writes what has to be written, once the walk is over. `result` is the statement whose value the program gives: somebody awaits it. */
  finish(rewrite: Rewrite, result: Node | undefined): UsageReport {
    if (!this.#declared.has('process')) {
      for (const node of this.#process) rewriteProcess(rewrite, node);
      for (const node of this.#wholeProcess) rewriteWholeProcess(rewrite, node);
    }
    // A program that makes a `fetch` of its own calls that one.
    if (!this.#declared.has('fetch') && !/\bglobalThis\b/.test(rewrite.text)) for (const node of this.#fetched) rewriteFetch(rewrite, node);
    if (!this.#declared.has('require')) for (const node of this.#required) rewriteRequire(rewrite, node);
    for (const doubt of this.#doubts) this.#judge(doubt);
    // A program that knows of promises in other places may know what it does here too.
    if (this.#lists.size > 0 && !/\bPromise\s*\.|\bfromAsync\b|\bfor\s+await\b|\.then\s*\(/.test(rewrite.text)) {
      for (const [name, offset] of this.#lists) {
        if (!this.#read.has(name) || this.#declared.get(name) !== 1) continue;
        const message = `\`${name}\` holds promises, since the callback of \`map\` is async: write \`await Promise.all(….map(async …))\`.`;
        this.#warnings.push({ offset, message });
      }
    }
    const floating = this.#floating.filter(
      ({ node, statement, name }) =>
        (statement === undefined || statement !== result) && (name === undefined || this.#isOwnAsync(name, node)),
    );
    const warnings = this.#warnings.sort((a, b) => a.offset - b.offset).slice(0, MOST_WARNINGS);
    if (floating.length === 0) return { warnings };
    const watch = rewrite.fresh('watch');
    for (const { node } of floating) {
      rewrite.insert(node.start, `${watch}(`, -3);
      rewrite.insert(node.end, ')', 4);
    }
    return { warnings, watch };
  }

  #count(name: string): void {
    this.#declared.set(name, (this.#declared.get(name) ?? 0) + 1);
  }

  #named(name: string | undefined, value: Node): void {
    if (name !== undefined && isAsyncFunction(value)) this.#async.add(name);
  }

  #call(node: Node): void {
    const { callee } = node;
    const [first] = node.arguments ?? [];
    if (callee === undefined || first === undefined) return;
    if (callee.type === 'Identifier') {
      if (callee.name === 'require') this.#required.push(node);
      if (callee.name === 'fetch') this.#fetched.push(node);
      else if (TIMERS.has(callee.name ?? '')) this.#callback(first);
      return;
    }
    const method = memberName(callee);
    if (method === undefined || callee.object === undefined) return;
    if (method === 'forEach') this.#callback(first);
    const owner = callee.object.type === 'Identifier' ? callee.object.name : undefined;
    if (owner === 'Object' && OBJECT_READERS.has(method)) this.#doubt(first, 'fields');
    else if (owner === 'JSON' && method === 'stringify') this.#doubt(first, 'json');
    else if (PREDICATE_METHODS.has(method) && this.#toolPath(callee) === undefined) {
      const callback = untyped(first);
      if (isAsyncFunction(callback)) this.#predicate(callback, method);
    }
  }

  /** Whoever is given this async function ignores its promise. */
  #callback(argument: Node): void {
    if (isAsyncFunction(untyped(argument))) this.#floating.push({ node: argument });
  }

  #predicate({ start }: Node, method: string): void {
    this.#warnings.push({
      offset: start,
      message:
        method === 'sort' || method === 'toSorted'
          ? `\`${method}\` does not wait for an async callback, so nothing is sorted: get the values first, with \`await Promise.all(list.map(async …))\`.`
          : `\`${method}\` does not wait for an async callback, and the promise that it gives is always true: get the answers first, with \`await Promise.all(list.map(async …))\`.`,
    });
  }

  #statement(statement: Node): void {
    const expression = single(statement.expression);
    if (!expression) return;
    const node = untyped(expression);
    if (node.type === 'NewExpression') {
      if (node.callee?.name === 'Promise') this.#floating.push({ node, statement });
      return;
    }
    if (node.type !== 'CallExpression' && node.type !== 'OptionalCallExpression') return;
    const callee = node.callee && untyped(node.callee);
    if (callee === undefined) return;
    if (isFunctionExpression(callee)) {
      if (callee.async) this.#floating.push({ node, statement });
    } else if (callee.type === 'Identifier') this.#floating.push({ node, statement, name: callee.name ?? '' });
    else {
      const method = memberName(callee) ?? callee.property?.id?.name;
      if (method === undefined) return;
      const always = CHAINS.has(method) || (callee.object?.type === 'Identifier' && callee.object.name === 'Promise');
      this.#floating.push(always ? { node, statement } : { node, statement, name: method });
    }
  }

  #doubt(expression: Node | null | undefined, use: Use): void {
    if (!expression) return;
    const node = untyped(expression);
    if (node.type === 'Identifier') this.#doubts.push({ node, use, variable: node.name ?? '' });
    else if (node.type === 'CallExpression') {
      const call = this.#toolCall(node);
      if (call !== undefined) this.#doubts.push({ node, use, call });
      else if (node.callee?.type === 'Identifier') this.#doubts.push({ node, use, callee: node.callee.name ?? '' });
    }
  }

  #judge({ node, use, variable, callee, call }: Doubt): void {
    if (variable !== undefined) {
      const promised = this.#promised.get(variable);
      // A call's promise that is written as JSON says so itself, when it happens.
      if (promised === undefined || this.#declared.get(variable) !== 1 || use === 'json') return;
      this.#warn(node, `\`${variable}\` is a promise, since \`${promised}\` was not awaited`, use, `await ${promised}`);
    } else if (callee !== undefined) {
      if (this.#isOwnAsync(callee, node) && this.#declared.get(callee) === 1)
        this.#warn(node, `\`${callee}(…)\` gives a promise`, use, `await ${callee}(…)`);
    } else if (call !== undefined && use !== 'json') this.#warn(node, `\`${call}\` is not awaited here`, use, `await ${call}`);
  }

  #warn({ start }: Node, what: string, use: Use, fix: string): void {
    this.#warnings.push({ offset: start, message: `${what}, and a promise ${USES[use]}: write \`${fix}\`.` });
  }

  /** Whether a call's callee is an async function of the program itself. */
  #isOwnAsync(name: string, { callee }: Node): boolean {
    return this.#async.has(name) && (callee === undefined || this.#toolPath(callee) === undefined);
  }

  #toolCall(node: Node): string | undefined {
    if (node.type !== 'CallExpression' || node.callee === undefined) return undefined;
    const path = this.#toolPath(node.callee);
    return path === undefined ? undefined : `${path}(…)`;
  }

  /** `tools.a.b`, when an expression is nothing but that. */
  #toolPath(callee: Node): string | undefined {
    let node = untyped(callee);
    let path = '';
    for (;;) {
      if (node.type === 'Identifier') {
        const root = node.name ?? '';
        return path !== '' && (root === 'tools' || root === 'codemode' || this.#roots.includes(root)) ? root + path : undefined;
      }
      if ((node.type !== 'MemberExpression' && node.type !== 'OptionalMemberExpression') || !node.object) return undefined;
      const name = memberName(node);
      path = `${name === undefined ? '[…]' : /^[\w$]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}${path}`;
      node = untyped(node.object);
    }
  }
}

/** How something that may be a promise is used. */
type Use = keyof typeof USES;

const USES = {
  truth: 'is always true',
  equality: 'equals nothing but itself',
  fields: 'has no fields of its own',
  json: 'is `{}` as JSON',
} as const;

interface Doubt {
  readonly node: Node;
  readonly use: Use;
  /** The name of a variable, the name of a function that is called, or the call of a tool as it is written. */
  readonly variable?: string;
  readonly callee?: string;
  readonly call?: string;
}

/** An expression whose promise nobody awaits: always, or when `name` is one of an async function. */
interface Floating {
  readonly node: Node;
  readonly statement?: Node;
  readonly name?: string;
}

const MOST_WARNINGS = 10;

/** `list.map(async …)` */
function isAsyncMap(node: Node): boolean {
  if (node.type !== 'CallExpression' || node.callee === undefined || memberName(node.callee) !== 'map') return false;
  const [first] = node.arguments ?? [];
  return first !== undefined && isAsyncFunction(untyped(first));
}

function isAsyncFunction(node: Node): boolean {
  return node.async === true && isFunctionExpression(node);
}

const TIMERS: ReadonlySet<string> = new Set(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']);
const CHAINS: ReadonlySet<string> = new Set(['then', 'catch', 'finally']);
const OBJECT_READERS: ReadonlySet<string> = new Set(['keys', 'values', 'entries']);
/** Methods of lists that use what a callback gives at once. */
const PREDICATE_METHODS: ReadonlySet<string> = new Set([
  'filter',
  'some',
  'every',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'sort',
  'toSorted',
]);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
