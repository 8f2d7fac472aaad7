// Installs the peers into node_modules/.cache/callgate/peers on demand: they are big and nobody but this benchmark needs them, so
// they are no devDependencies. Versions are pinned, scripts stay off, and what is there already is used again.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Direct dependencies. `typescript` is what `run` erases types with on Node 20; the others that are no peers are peer dependencies. */
export const VERSIONS = {
  '@cloudflare/codemode': '0.5.6',
  '@tanstack/ai': '0.28.0',
  '@tanstack/ai-code-mode': '0.2.5',
  '@tanstack/ai-isolate-quickjs': '0.1.30',
  run: '2.1.5',
  typescript: '5.9.3',
  zod: '4.3.6',
} as const;

const { install, load } = createInstaller('peers', VERSIONS);

export { install, load };

export interface Installer {
  /** Whether the packages are there, after installing them where needed. */
  install(): boolean;
  load(specifier: string): Promise<unknown>;
}

/** Packages of their own in a folder of that name. */
export function createInstaller(name: string, versions: Readonly<Record<string, string>>): Installer {
  const folder = resolve('node_modules/.cache/callgate', name);
  const manifest = `${JSON.stringify({ private: true, type: 'module', dependencies: versions }, null, 2)}\n`;
  const done = join(folder, 'installed.json');
  return {
    install() {
      if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return true;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), manifest);
      // A module of that folder: its bare imports find the packages there, by the rules of their own `exports`.
      writeFileSync(join(folder, 'load.js'), 'export const load = (specifier) => import(specifier);\n');
      const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      const { status } = spawnSync('npm', ['install', ...options], {
        stdio: ['ignore', 'ignore', 'inherit'],
        shell: process.platform === 'win32',
      });
      if (status !== 0) return false;
      // Last, so that an installation that was cut off is done again.
      writeFileSync(done, manifest);
      return true;
    },
    async load(specifier) {
      const module: { load(specifier: string): Promise<unknown> } = await import(pathToFileURL(join(folder, 'load.js')).href);
      return module.load(specifier);
    },
  };
}
