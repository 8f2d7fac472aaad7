// Finds and loads the module that `--tools` names. Not here: whether what it exports are good tools (createCodeMode says).
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ToolSource } from '../index.ts';
import { UsageError } from './usage.ts';

/**
 * The default export of a module: a path from `cwd`, or a package that is installed there (or beside this one).
 * Throws a `UsageError` that names the module when there is none, when it fails to load, or when it exports no tools.
 */
export async function loadTools(specifier: string, cwd: string): Promise<ToolSource> {
  const url = locate(specifier, cwd);
  let exports: Record<string, unknown>;
  try {
    exports = (await import(url)) as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`The tools module ${specifier} failed to load: ${loadFailure(error)}`, { cause: error });
  }
  const tools = exports['default'];
  if (tools === undefined) {
    const names = Object.keys(exports);
    const others = names.length === 0 ? 'It exports nothing.' : `It exports ${names.join(', ')}.`;
    throw new UsageError(`The tools module ${specifier} has no default export; write \`export default [tool, …]\` there. ${others}`);
  }
  const why = noTools(tools);
  if (why !== undefined)
    throw new UsageError(`The default export of the tools module ${specifier} should be tools made by defineTool, but is ${why}.`);
  // Proved no further here: createCodeMode checks every tool, and says which one is wrong.
  return tools as ToolSource;
}

/** Why nothing in the value can be a tool, or `undefined`. */
function noTools(value: unknown): string | undefined {
  if (Array.isArray(value)) return isEmpty(value) ? 'an array without a tool' : undefined;
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value === 'function' ? 'a function' : `a ${typeof value}`;
  return Object.keys(value).length === 0 ? 'an empty object' : undefined;
}

/** Nothing, or nothing but that however deep: allowed among tools, but no tools. */
function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === false || (Array.isArray(value) && value.every(isEmpty));
}

function locate(specifier: string, cwd: string): string {
  const isUrl = specifier.startsWith('file:');
  const path = isUrl ? fileURLToPath(specifier) : resolve(cwd, specifier);
  const kind = kindOf(path);
  if (kind === 'file') return pathToFileURL(path).href;
  const isPath = isUrl || /^(\.{1,2}([/\\]|$)|[/\\]|[A-Za-z]:[/\\])/.test(specifier);
  const found = isPath ? undefined : locatePackage(specifier, cwd);
  if (found !== undefined) return found;
  if (kind === 'directory') throw new UsageError(`The tools module ${specifier} is a directory; name the file in it.`);
  throw new UsageError(
    `There is no tools module ${specifier}: ${isPath ? `no file ${path}` : `neither a file ${path} nor a package of that name`}.`,
  );
}

function kindOf(path: string): 'file' | 'directory' | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.isDirectory() ? 'directory' : 'file';
}

function locatePackage(name: string, cwd: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(cwd, 'package.json')).resolve(name)).href;
  } catch {
    // No such package there, or one for `import` alone, which only the resolver of our own place can look up.
  }
  try {
    const url = import.meta.resolve(name);
    return url.startsWith('file:') && kindOf(fileURLToPath(url)) === 'file' ? url : undefined;
  } catch {
    return undefined;
  }
}

function loadFailure(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}.`;
  if ((error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return `${error.message}. Node ${process.versions.node} loads JavaScript (.mjs, .js, .cjs); compile the module first, or give Node a loader with NODE_OPTIONS.`;
  }
  // The stack says where, and begins with the name and message.
  return (error.stack ?? `${error.name}: ${error.message}`).split('\n').slice(0, 5).join('\n');
}
