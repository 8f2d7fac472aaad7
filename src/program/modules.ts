// Imports and exports of a program that has no modules: what is global already is dropped or named, types vanish, and anything else is a mistake
// with the way out. Not here: `require`, which is a matter of the guest's world.
import type { ProgramWarning } from './program.ts';
import { ProgramMistake, type Rewrite } from './rewrite.ts';
import type { Node } from './tree.ts';

/** A warning by offset; the caller knows lines. */
export type OffsetWarning = Pick<ProgramWarning, 'message'> & { readonly offset: number };

/** Names that every program has; an import of them from wherever adds nothing. */
const WORLD_NAMES: ReadonlySet<string> = new Set(['tools', 'codemode', 'ALL_TOOLS']);

/** Names that every program has, and that other modules export with another meaning. */
const COMMON_NAMES: ReadonlySet<string> = new Set(['text', 'exit', 'store', 'load', 'sleep', 'console']);

/** The expression for a name when every program has it. */
export function worldName(name: string, roots: readonly string[]): string | undefined {
  return WORLD_NAMES.has(name) || COMMON_NAMES.has(name) || roots.includes(name) ? name : undefined;
}

/** What modules of Node export and the guest has as a global: module, exported names. */
const NODE_GLOBALS: Readonly<Record<string, readonly string[]>> = {
  buffer: ['Buffer', 'atob', 'btoa'],
  console: ['console'],
  events: ['EventTarget', 'Event'],
  perf_hooks: ['performance'],
  process: ['exit'],
  timers: ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  url: ['URL', 'URLSearchParams'],
  util: ['TextEncoder', 'TextDecoder'],
};

/** Expressions for what modules of Node export under another name than the guest's. */
const NODE_EXPRESSIONS: Readonly<Record<string, string>> = {
  'crypto.randomUUID': '(() => crypto.randomUUID())',
  'crypto.webcrypto': 'crypto',
  'process.env': '({})',
  'timers/promises.setTimeout': 'sleep',
};

/** Modules of Node of which the guest has enough to be taken as a whole. */
const NODE_MODULES: Readonly<Record<string, string>> = {
  process: '({ env: {}, exit })',
  buffer: '({ Buffer })',
  perf_hooks: '({ performance })',
};

/** The text in the place of an import, or `undefined` to leave nothing. Throws for what cannot be had. */
export function rewriteImport(
  rewrite: Rewrite,
  node: Node,
  { roots, isUsed }: { roots: readonly string[]; isUsed: (name: string) => boolean },
): OffsetWarning | undefined {
  const module = String(node.source?.value ?? '');
  const drop = (): void => rewrite.blank(node.start, node.end, { head: ';' });
  const specifiers = (node.specifiers ?? []).filter(({ importKind }) => importKind !== 'type' && importKind !== 'typeof');
  const hadTypes = specifiers.length < (node.specifiers?.length ?? 0);
  if (node.importKind === 'type' || node.importKind === 'typeof' || (hadTypes && specifiers.length === 0)) {
    drop();
    return undefined;
  }
  const used = specifiers.filter(({ local }) => isUsed(local?.name ?? ''));
  const target = virtualTarget(module, roots);
  if (specifiers.length === 0) {
    if (target === undefined) throw refuse(module, node.start);
    drop();
    return { message: `The import of "${module}" was dropped: tools are global here.`, offset: node.start };
  }
  if (used.length === 0) {
    drop();
    return { message: `The import of "${module}" was dropped: nothing of it is used as a value.`, offset: node.start };
  }
  const bindings: string[] = [];
  const global: string[] = [];
  for (const specifier of used) {
    const local = specifier.local?.name ?? '';
    const expression = expressionFor(specifier, { module, target, roots });
    if (expression === undefined) throw refuse(module, node.start, { name: importedName(specifier) ?? local });
    if (expression === local) global.push(local);
    else bindings.push(`${local} = ${expression}`);
  }
  if (bindings.length === 0) drop();
  else rewrite.replace(node.start, node.end, `const ${bindings.join(', ')};`);
  const names = [...global.map((name) => `\`${name}\``), ...bindings.map((binding) => `\`${binding}\``)].join(', ');
  return {
    message:
      bindings.length === 0
        ? `The import of "${module}" was dropped: ${names} ${global.length === 1 ? 'is' : 'are'} global here.`
        : `There are no modules here; the import of "${module}" was read as ${names}.`,
    offset: node.start,
  };
}

/** `import x = A.B` is an alias; `import x = require("y")` asks for a module. */
export function rewriteImportEquals(rewrite: Rewrite, node: Node, { isUsed }: { isUsed: boolean }): void {
  const reference = node.moduleReference;
  if (node.importKind === 'type' || !reference || !isUsed) {
    rewrite.blank(node.start, node.end, { head: ';' });
    return;
  }
  if (reference.type === 'TSExternalModuleReference') {
    const module = typeof reference.expression === 'object' ? String(reference.expression.value ?? '') : '';
    throw refuse(module, node.start);
  }
  const start = rewrite.text.indexOf('import', node.start);
  rewrite.replace(start, start + 'import'.length, 'const ');
}

/** `export … from` asks for a module; nobody imports the program, so only an export of types can be dropped. */
export function refuseReexport(node: Node): never {
  throw refuse(String(node.source?.value ?? ''), node.start);
}

/** `import(…)` becomes a function that is called with the same arguments and gives the tools, or a rejection that says what to do. */
export function dynamicImport(rewrite: Rewrite, node: Node, roots: readonly string[]): void {
  const literal = node.source?.type === 'StringLiteral' ? String(node.source.value) : undefined;
  const target = literal === undefined ? undefined : virtualTarget(literal, roots);
  const end = node.start + 'import'.length;
  if (target !== undefined) {
    rewrite.replace(node.start, end, `(async () => ${target})`);
    return;
  }
  const what = literal === undefined ? 'a module' : JSON.stringify(literal);
  const message = `\`import()\` is not available here: ${what} cannot be loaded. ${adviceFor(literal ?? '')}`;
  rewrite.replace(node.start, end, `(async () => { throw new Error(${JSON.stringify(message)}); })`);
}

/**
 * The tools, when a module's name says that it stands for them: `/mcp`, `codemode`, `@acme/tools`, `./servers/slack`; `undefined` for any other.
 * Gives the expression for what the module would hold.
 */
function virtualTarget(module: string, roots: readonly string[]): string | undefined {
  const path = module
    .replace(/^(?:virtual|mcp|tools|sandbox|codemode|callgate):(?:\/\/)?/, (scheme) => `${scheme.replace(/:.*$/s, '')}/`)
    .replace(/^(?:\.{0,2}\/)+/, '')
    .replace(/^[#~]\/?/, '')
    .replace(/\.(?:[cm]?[jt]s)$/, '')
    .replace(/\/index$/, '');
  const parts = path.split('/');
  if (parts[0]?.startsWith('@')) parts.shift();
  const first = parts[0] ?? '';
  if (first !== '' && !VIRTUAL.has(first.toLowerCase()) && !roots.includes(first)) return undefined;
  if (first === '' && parts.length > 1) return undefined;
  if (first === '') return undefined;
  const rest = parts.slice(1).filter((part) => part !== '' && !VIRTUAL.has(part.toLowerCase()));
  return ['tools', ...rest.map((part) => part.replace(/[^\w$]/g, '_'))].join('.');
}

const VIRTUAL: ReadonlySet<string> = new Set(
  'mcp mcps tools tool servers server codemode code-mode callgate sandbox virtual mcp-tools mcp_tools mcp-servers'.split(' '),
);

function importedName(specifier: Node): string | undefined {
  if (specifier.type !== 'ImportSpecifier') return undefined;
  return specifier.imported?.name ?? String(specifier.imported?.value ?? '');
}

function expressionFor(
  specifier: Node,
  { module, target, roots }: { module: string; target: string | undefined; roots: readonly string[] },
): string | undefined {
  const local = specifier.local?.name ?? '';
  const imported = importedName(specifier);
  const isRoot = (name: string): boolean => WORLD_NAMES.has(name) || roots.includes(name);
  if (imported === undefined || imported === 'default') {
    // The whole module: `import * as slack from './servers/slack'`, `import tools from 'codemode'`.
    if (isRoot(local) && (target === undefined || target === 'tools')) return local;
    return target ?? NODE_MODULES[module.replace(/^node:/, '')];
  }
  if (isRoot(imported)) return imported;
  const bare = module.replace(/^node:/, '');
  if (NODE_GLOBALS[bare]?.includes(imported)) return imported;
  const expression = NODE_EXPRESSIONS[`${bare}.${imported}`];
  if (expression !== undefined) return expression === 'sleep' && local === 'sleep' ? local : expression;
  if (target === undefined) return undefined;
  if (target === 'tools' && COMMON_NAMES.has(imported)) return imported;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(imported) ? `${target}.${imported}` : `${target}[${JSON.stringify(imported)}]`;
}

function refuse(module: string, offset: number, { name }: { name?: string } = {}): ProgramMistake {
  const what = name === undefined || name === '' ? `"${module}"` : `\`${name}\` from "${module}"`;
  return new ProgramMistake(`A program cannot import ${what}: there are no modules here.`, offset, adviceFor(module));
}

/** What to use in the place of a module. */
export function adviceFor(module: string): string {
  const name = module.replace(/^node:/, '');
  for (const [pattern, advice] of ADVICE) if (pattern.test(name)) return advice;
  if (/^[./#~]/.test(name)) return 'Remove the import, put what you need into the program itself, and reach tools as `tools.<name>(…)`.';
  return 'Remove the import: use what JavaScript has built in, and the tools as `tools.<name>(…)`.';
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:fs|path|os|fs-extra|glob|fast-glob)(?:\/|$)/,
    'There is no file system here: use the tools for files, if there are any, and plain strings for paths.',
  ],
  [
    /^(?:https?|http2|net|tls|dns|undici|axios|got|ky|superagent|request|ws|node-fetch|cross-fetch|isomorphic-fetch)(?:\/|$)/,
    'There is no network here: call the tools, as `await tools.<name>(…)`; they do it on your behalf.',
  ],
  [/^child_process$|^(?:execa|shelljs|zx)$/, 'There are no processes here: use the tools.'],
  [/^crypto(?:\/|$)/, '`crypto.randomUUID()`, `crypto.getRandomValues()` and `crypto.subtle.digest()` are global here.'],
  [
    /^(?:process|module|vm|worker_threads|cluster|async_hooks)$/,
    'There is no Node here: remove the import; `exit()` ends a program early.',
  ],
  [/^(?:timers(?:\/promises)?|delay)$/, '`setTimeout` is global here, and `await sleep(ms)` waits.'],
  [
    /^(?:lodash|lodash-es|underscore|ramda|remeda)(?:[./]|$)/,
    'Use the methods of arrays and `Object.groupBy`, `Object.entries`, `structuredClone`.',
  ],
  [/^(?:date-fns|dayjs|moment|luxon)(?:\/|$)/, 'Use `Date` and `Intl.DateTimeFormat`, which are global here.'],
  [/^(?:uuid|nanoid)$/, 'Use `crypto.randomUUID()`, which is global here.'],
  [/^(?:zod|ajv|valibot|yup|joi)(?:\/|$)/, 'Check values with plain code; the inputs of tools are checked for you.'],
  [
    /^(?:pg|mysql2?|sqlite3|better-sqlite3|mongodb|redis|ioredis|knex|prisma|@prisma\/client)(?:\/|$)/,
    'There is no database driver here: use the tools.',
  ],
  [
    /^(?:openai|@anthropic-ai\/|@google\/|ai$|@ai-sdk\/|langchain|@modelcontextprotocol\/)/,
    'No client libraries are available here: use the tools.',
  ],
];
