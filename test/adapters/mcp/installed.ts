// Packages that are too big for devDependencies, in node_modules/.cache/callgate/mcp: installed on demand, with pinned versions and without their
// scripts, where CALLGATE_INSTALL=1 asks for it; used again where they are. Not here: what is tested with them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const VERSIONS = {
  '@ivotoby/openapi-mcp-server': '1.16.1',
  '@modelcontextprotocol/inspector': '0.15.0',
  '@octokit/openapi': '23.0.2',
} as const;

const folder = resolve('node_modules/.cache/callgate/mcp');
const manifest = JSON.stringify({ private: true, dependencies: VERSIONS }, null, 2);
const done = join(folder, 'installed.json');

/** The folder's node_modules, or why there is none. */
export function installed(): { readonly modules: string } | { readonly reason: string } {
  const modules = join(folder, 'node_modules');
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return { modules };
  if (process.env['CALLGATE_INSTALL'] !== '1') return { reason: 'some 500 MB of packages are not there; CALLGATE_INSTALL=1 installs them' };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  if (spawnSync('npm', ['install', ...options], { stdio: 'inherit' }).status !== 0) return { reason: 'npm could not install the packages' };
  // Last, so that an installation that was cut off is done again.
  writeFileSync(done, manifest);
  return { modules };
}
