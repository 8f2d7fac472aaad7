// Builds the package: the guest bundle (a generated module below src/engine), JavaScript and declarations into dist/. Only
// what changed is written, each file whole, so that a build may run while tests use the one before.
// Not here: checking what is published (`npm run check:package`, test/package.test.ts).
//
//   node scripts/build.mjs            everything; fails on a type error
//   node scripts/build.mjs --fast     without declarations and types: what tests need (well under a second)
//   node scripts/build.mjs --guest    the guest bundle only
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import ts from 'typescript';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const guestEntry = join(root, 'sandbox-runtime/main.ts');
const guestModule = join(root, 'src/engine/guest-bundle.ts');
/** The same runtime as the V8 driver enters it. */
const v8Entry = join(root, 'sandbox-runtime/v8.ts');
const v8Module = join(root, 'src/engine/v8-guest-bundle.ts');
const executable = join(root, 'dist/cli/main.js');
const bootImage = join(root, 'dist/engine/quickjs-boot.bin');

/**
 * Builds everything, or with `fast` what tests need.
 *
 * @param {{ fast?: boolean }} [options]
 */
export async function build({ fast = false } = {}) {
  try {
    await buildGuest();
  } catch (error) {
    // Nothing may run against the guest of an earlier build. Tests that need no guest still run; those that do find none.
    rmSync(guestModule, { force: true });
    rmSync(v8Module, { force: true });
    if (!fast) throw error;
    console.error(`There is no guest runtime: ${error instanceof Error ? error.message : error}`);
  }
  const written = fast ? transpile() : compile();
  removeOthers(join(root, 'dist'), [...written, bootImage]);
  if (existsSync(guestModule)) makeBootImage(fast);
  chmodSync(executable, 0o755);
}

/**
 * Bundles sandbox-runtime/ to one classic script whose value is the default export of its main.ts. Nothing becomes a global
 * by bundling: the program that runs later finds only what the guest runtime put there on purpose.
 */
async function buildGuest() {
  await buildGuestModule(guestEntry, guestModule, 'GUEST_BUNDLE');
  await buildGuestModule(v8Entry, v8Module, 'V8_GUEST_BUNDLE');
}

/**
 * @param {string} entry
 * @param {string} module
 * @param {string} name
 */
async function buildGuestModule(entry, module, name) {
  const result = await bundle({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'guest',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    minifySyntax: true,
    minifyWhitespace: true,
    // Functions keep their source text, so short names make a smaller image. What a program sees of names is set by hand.
    minifyIdentifiers: true,
    tsconfig: join(root, 'sandbox-runtime/tsconfig.json'),
    banner: { js: '(() => {"use strict";' },
    footer: { js: 'return guest.default})()' },
    // The package's own word that its modules do nothing when they are imported is not meant for these.
    ignoreAnnotations: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error('esbuild returned no guest bundle.');
  const text = output.text.trim();
  write(module, `// Made from sandbox-runtime/ by scripts/build.mjs.\nexport const ${name}: string = ${JSON.stringify(text)};\n`);
}

/**
 * Boots the guest once, with the code just built and in a process of its own, and keeps its memory: workers start from it. Left
 * alone while nothing that it is made from has changed. Without it workers boot by themselves, so a fast build may fail here.
 *
 * @param {boolean} mayFail
 */
function makeBootImage(mayFail) {
  const folder = dirname(bootImage);
  const newest = Math.max(...readdirSync(folder).map((name) => (name.endsWith('.js') ? statSync(join(folder, name)).mtimeMs : 0)));
  if (existsSync(bootImage) && statSync(bootImage).mtimeMs > newest) return;
  const script = `
    import { renameSync, writeFileSync } from 'node:fs';
    const [{ compileQuickJs }, { makeBootImage }] = await Promise.all([import('./quickjs-module.js'), import('./quickjs.js')]);
    writeFileSync('quickjs-boot.bin.new', await makeBootImage(await compileQuickJs()));
    renameSync('quickjs-boot.bin.new', 'quickjs-boot.bin');`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder, encoding: 'utf8' });
  if (status === 0) return;
  rmSync(bootImage, { force: true });
  if (!mayFail) throw new Error(`The boot image was not made: ${stderr}`);
}

/** JavaScript only, file by file: a type error or a half-written neighbour does not stop a test. Returns what dist/ then holds. */
function transpile() {
  const { options } = readConfig();
  // File by file, the compiler cannot see that package.json makes these ES modules.
  const compilerOptions = { ...options, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
  return sources().map((source) => {
    const target = join(root, 'dist', relative(join(root, 'src'), source)).replace(/\.ts$/, '.js');
    const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), { fileName: source, compilerOptions });
    write(target, outputText);
    return target;
  });
}

/** JavaScript and declarations by the type checker; throws when it finds an error. Returns what dist/ then holds. */
function compile() {
  const { options, fileNames } = readConfig();
  const program = ts.createProgram(fileNames, options);
  /** @type {string[]} */
  const written = [];
  const emitted = program.emit(undefined, (target, text) => {
    write(target, text);
    written.push(resolve(target));
  });
  const diagnostics = [...ts.getPreEmitDiagnostics(program), ...emitted.diagnostics];
  if (diagnostics.length > 0) {
    const host = { getCanonicalFileName: (/** @type {string} */ name) => name, getCurrentDirectory: () => root, getNewLine: () => '\n' };
    throw new Error(`The types are wrong:\n${ts.formatDiagnostics(diagnostics, host)}`);
  }
  return written;
}

function readConfig() {
  const path = join(root, 'tsconfig.build.json');
  const { config, error } = ts.readConfigFile(path, ts.sys.readFile);
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  return { options, fileNames };
}

function sources() {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(root, 'src', name));
}

/**
 * Writes a file whole or not at all, and leaves it alone when it has that text already.
 *
 * @param {string} path
 * @param {string} text
 */
function write(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(root, 'node_modules/.cache/callgate', `draft-${process.pid}`);
  mkdirSync(dirname(draft), { recursive: true });
  writeFileSync(draft, text);
  renameSync(draft, path);
}

/**
 * Removes what an earlier build left in a folder: a package must not carry the output of a source that is gone.
 *
 * @param {string} folder
 * @param {string[]} kept
 */
function removeOthers(folder, kept) {
  // Declarations of a full build stay beside the JavaScript of a fast one.
  const wanted = new Set(kept.flatMap((path) => [path, path.replace(/\.js$/, '.d.ts')]));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(path)) rmSync(path, { force: true });
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    if (process.argv.includes('--guest')) await buildGuest();
    else await build({ fast: process.argv.includes('--fast') });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
