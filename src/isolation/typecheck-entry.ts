// The first file of the type check's thread: finds a compiler and answers one request after another. Not here: the host's side (typecheck.ts),
// and what counts as a problem (program/typecheck.ts).
import { parentPort, workerData } from 'node:worker_threads';
import type typescript from 'typescript';
import type { Compiler, TypeWorld } from '../program/compiler.ts';
import { checkTypes } from '../program/typecheck.ts';
import { createClassicCompiler } from './compiler-classic.ts';
import { createNativeCompiler, type NativeApi, type NativeSyntax } from './compiler-native.ts';
import type { TypeCheckOutcome, TypeCheckRequest, TypeCheckStart } from './typecheck.ts';

if (parentPort === null) throw new Error('This file is a worker thread; it is started by typecheck.ts.');
const port = parentPort;
const { compiler: packageName } = workerData as TypeCheckStart;
const worlds = new Map<string, TypeWorld>();
const loading = load(packageName);

port.on('message', (text: string) => {
  // Written by our own host, so its shape is not in doubt. What throws here ends the thread, and the host sees why.
  void answer(JSON.parse(text) as TypeCheckRequest).then((outcome) => port.postMessage(JSON.stringify(outcome)));
});

async function answer({ source, worldId, world = worlds.get(worldId), forget }: TypeCheckRequest): Promise<TypeCheckOutcome> {
  if (world === undefined) throw new Error('A program was to be checked against declarations that this thread does not have.');
  worlds.set(worldId, world);
  for (const id of forget) worlds.delete(id);
  const compiler = await loading;
  if (typeof compiler === 'string') return { type: 'unavailable', message: compiler };
  try {
    return { type: 'checked', problems: checkTypes(source, world, compiler) };
  } catch (error) {
    // Deep nesting ends most compilers so; the next program is none the worse.
    if (error instanceof RangeError) return { type: 'skipped', reason: 'it is nested too deeply' };
    throw error;
  }
}

/** The compiler in a package, or a sentence on why there is none. */
async function load(name: string): Promise<Compiler | string> {
  let found: string;
  try {
    const module = (await import(name)) as { readonly default?: unknown };
    const compiler = module.default ?? module;
    found = versionOf(compiler);
    const [major = 0, minor = 0] = found.split('.').map(Number);
    if (isClassic(compiler)) {
      if (major > 5 || (major === 5 && minor >= 9)) return createClassicCompiler(compiler);
    } else if (major === 7) {
      const [api, syntax] = (await Promise.all([import(`${name}/unstable/sync`), import(`${name}/unstable/ast`)])) as [
        NativeApi,
        NativeSyntax,
      ];
      return createNativeCompiler(api, syntax);
    }
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return `Checking types needs the package \`${name}\` (5.9, 6 or 7), which could not be loaded: ${reason}. Install it with \`npm install typescript@6\`, or leave \`typecheck\` off.`;
  }
  return `Checking types works with TypeScript 5.9, 6 and 7, but the package \`${name}\` is version ${found}. Install \`typescript@6\`, or leave \`typecheck\` off.`;
}

function isClassic(compiler: unknown): compiler is typeof typescript {
  return typeof compiler === 'object' && compiler !== null && 'createProgram' in compiler;
}

function versionOf(compiler: unknown): string {
  const version = typeof compiler === 'object' && compiler !== null && 'version' in compiler ? compiler.version : undefined;
  return typeof version === 'string' ? version : 'unknown';
}
