// Runs benchmarks/NAME.ts against the built package, on any supported Node: `npm run bench -- start`. A benchmark may import
// `callgate` and, for floors below the public surface, `../src/…`: both mean the code in dist/ that users get.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import { build } from './build.mjs';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const [name, ...args] = process.argv.slice(2);
const source = join(root, 'benchmarks', `${name}.ts`);
if (name === undefined || !existsSync(source)) {
  const known = existsSync(join(root, 'benchmarks')) ? readdirSync(join(root, 'benchmarks')).filter((file) => file.endsWith('.ts')) : [];
  const names = known.map((file) => basename(file, '.ts')).join(', ');
  console.error(`Say which benchmark to run: npm run bench -- NAME [ARGUMENTS], where NAME is one of: ${names}.`);
  process.exit(2);
}

await build({ fast: true });
// Inside node_modules, so that the bundle's imports of packages resolve as the benchmark's own would.
const outfile = join(root, 'node_modules/.cache/callgate', `bench-${name}.mjs`);
await bundle({
  entryPoints: [source],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'warning',
  plugins: [
    {
      name: 'src-means-dist',
      setup({ onResolve }) {
        onResolve({ filter: /^\.\.\/src\// }, ({ path }) => ({
          path: pathToFileURL(join(root, path.replace(/^\.\.\/src\//, 'dist/').replace(/\.ts$/, '.js'))).href,
          external: true,
        }));
      },
    },
  ],
});
const { status } = spawnSync(process.execPath, ['--expose-gc', '--enable-source-maps', outfile, ...args], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
