// What a child process reads from disk: this package's own code, and the packages that an engine is made of. Nothing else of the application
// has to be shown to it. Not here: how a sandbox shows it (confine.ts).
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What preparing and diagnosing programs needs. */
const PARSER = ['@babel/parser'];
const QUICKJS = ['@jitl/quickjs-wasmfile-release-sync', 'quickjs-emscripten-core'];

/** Files and folders that a child with this engine reads, absolute. */
export function readsOf(engine: 'quickjs' | 'v8'): readonly string[] {
  // The same two levels up from src/isolation and from dist/isolation.
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const reads = new Set([join(root, 'dist'), join(root, 'package.json')]);
  const seen = new Set<string>();
  const add = (name: string, from: string): void => {
    const folder = folderOf(name, from);
    if (folder === undefined || seen.has(folder)) return;
    seen.add(folder);
    reads.add(folder);
    // Behind a link, as some package managers lay it out, Node goes on from the real place.
    reads.add(realpathSync(folder));
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies?: Record<string, string> };
    for (const dependency of Object.keys(manifest.dependencies ?? {})) add(dependency, realpathSync(folder));
  };
  for (const name of [...PARSER, ...(engine === 'quickjs' ? QUICKJS : ['isolated-vm'])]) add(name, root);
  return [...reads];
}

/** The folder of a package as Node would find it; `undefined` when it is not installed. */
function folderOf(name: string, from: string): string | undefined {
  for (const folder of createRequire(join(from, 'package.json')).resolve.paths(name) ?? []) {
    const candidate = resolve(folder, name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
  }
  return undefined;
}
