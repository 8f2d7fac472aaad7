// Runs benchmarks/ENTRY.ts against the built package: `npm run bench`, `bench:check`, `bench:report` and `profile` differ in the entry. A file there
// may import `../src/…`, also for floors below the public surface: that means the code in dist/ that users get. What the peers need is installed
// first. Everything runs in Node 24 where it is at hand, since isolated-vm loads nowhere below.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import { build } from './build.mjs';

const root = resolve(fileURLToPath(import.meta.url), '../..');
const benchmarks = join(root, 'benchmarks');
const [entry = 'main', ...args] = process.argv.slice(2);

// The hunt for leaks needs nobody beside it, and runs in the Node that is at hand.
const isAlone = entry === 'soak';

if (!isAlone) install();
if (entry === 'install') process.exit();
await build({ fast: true });
// Inside node_modules, so that imports of packages resolve as those of the benchmarks' own files would.
// A folder for each entry, so that one can run while another is bundled.
const outdir = join(benchmarks, 'node_modules/.cache/callgate', entry);
/** @param {string} folder */
const files = (folder) =>
  readdirSync(join(benchmarks, folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(benchmarks, folder, file));
await bundle({
  entryPoints: [
    join(benchmarks, `${entry}.ts`),
    ...(isAlone ? [] : [join(benchmarks, 'harness/stand.ts'), join(benchmarks, 'first-try/serve.ts'), ...files('questions')]),
  ],
  outdir,
  outbase: benchmarks,
  bundle: true,
  splitting: true,
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
        onResolve({ filter: /^(?:\.\.\/)+src\// }, ({ path }) => ({
          path: pathToFileURL(join(root, path.replace(/^(?:\.\.\/)+src\//, 'dist/').replace(/\.ts$/, '.js'))).href,
          external: true,
        }));
      },
    },
  ],
});
const flags = ['--expose-gc', '--no-node-snapshot', '--enable-source-maps'];
const { status } = spawnSync(isAlone ? process.execPath : chooseNode(), [...flags, join(outdir, `${entry}.js`), ...args], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

/** The packages of benchmarks/package.json, as its lockfile has them; once. */
function install() {
  const lock = readFileSync(join(benchmarks, 'package-lock.json'), 'utf8');
  const done = join(benchmarks, 'node_modules/.installed');
  if (existsSync(done) && readFileSync(done, 'utf8') === lock) return;
  console.log('Installing the peers into benchmarks/node_modules, once.');
  const options = ['ci', '--prefix', benchmarks, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', options, { stdio: 'inherit', shell: process.platform === 'win32' });
  process.exitCode = status ?? 1;
  if (status === 0) writeFileSync(done, lock);
  else console.log('They could not be installed: who needs them is listed as absent.');
}

function chooseNode() {
  const other = join(root, 'node_modules/node/bin/node');
  return Number(process.versions.node.split('.')[0]) >= 24 || !existsSync(other) ? process.execPath : other;
}
