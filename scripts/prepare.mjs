// What `npm install` does last in a clone: builds the package, and takes the link to the development dependency `node` (a Node 24 for
// children that need one) out of npm's PATH, so that `node` in a script stays the Node that the developer chose.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const root = resolve(fileURLToPath(import.meta.url), '../..');
for (const name of ['node', 'node.cmd', 'node.ps1']) rmSync(join(root, 'node_modules/.bin', name), { force: true });
await build();
