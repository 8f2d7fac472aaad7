// What a user gets from the registry: the packed files, and that they work in an empty project that has nothing but the
// package's declared dependencies. Not here: whether package.json and the types are well-formed (`npm run check:package`).
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';

const execute = promisify(execFile);
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string; mode: number }[];
}

let project: string;
let packed: Packed;
beforeAll(async () => {
  await execute(process.execPath, ['scripts/build.mjs'], { cwd: root });
  project = await mkdtemp(join(tmpdir(), 'callgate-package-'));
  const { stdout } = await execute('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], { cwd: root });
  packed = firstPacked(JSON.parse(stdout));
  await install();
}, 120_000);
afterAll(() => rm(project, { recursive: true, force: true }));

test('the package holds built code with its types, the readme and the licence, and nothing else', async () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      'package.json',
      'README.md',
      'LICENSE',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/cli/main.js',
      'dist/isolation/entry.js',
      'dist/engine/guest-bundle.js',
      'dist/engine/quickjs-boot.bin',
      'dist/watch-page/page.js',
    ]),
  );
  // The page of `--watch` is bundled: one script, with its document and its style.
  const page = ['dist/watch-page/index.html', 'dist/watch-page/page.css', 'dist/watch-page/page.js'];
  const others = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'dist/engine/quickjs-boot.bin', ...page];
  const built = paths.filter((path) => !others.includes(path));
  expect(built.filter((path) => !/^dist\/.+\.(js|d\.ts)$/.test(path))).toEqual([]);
  for (const path of built) {
    const source = path.replace(/^dist\//, 'src/').replace(/(\.d\.ts|\.js)$/, '.ts');
    await expect(access(join(root, source)), `${path} is made from ${source}`).resolves.toBeUndefined();
  }
});

test('the package stays small', () => {
  expect(packed.size).toBeLessThan(2_000_000);
  expect(packed.unpackedSize).toBeLessThan(6_000_000);
});

test('an installed package runs a program on a worker thread', async () => {
  await writeFile(
    join(project, 'run.mjs'),
    `import { createCodeMode, defineTool } from 'callgate';
     const double = defineTool({
       name: 'double',
       description: 'Twice a number.',
       inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
       execute: ({ n }) => n * 2,
     });
     const codeMode = createCodeMode({ tools: [double] });
     const { status, value } = await codeMode.run('const n: number = await tools.double({ n: 21 }); return n;');
     await codeMode.close();
     console.log(JSON.stringify({ status, value }));`,
  );
  const { stdout } = await execute(process.execPath, ['run.mjs'], { cwd: project });
  expect(JSON.parse(stdout)).toEqual({ status: 'completed', value: 42 });
});

test('the installed command says its version', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const { stdout } = await execute(join(project, 'node_modules/.bin/callgate'), ['--version']);
  expect(stdout.trim()).toBe(version);
});

test('engines and channels of others are made with the installed package, and tested with it', async () => {
  await writeFile(
    join(project, 'extend.mjs'),
    `import { createCodeMode } from 'callgate';
     import { channelCases, linkedChannels, scriptedWorkers } from 'callgate/testing';
     import { GUEST_RUNTIME, serveWorker } from 'callgate/worker';
     const open = () => { const [near, far] = linkedChannels(); far.onMessage = (text, image, beside) => far.send(text, image, beside); return { near }; };
     for (const { run } of channelCases({ open })) await run();
     const codeMode = createCodeMode({ tools: [], isolation: scriptedWorkers(['done P 42']) });
     const { value } = await codeMode.run('return 0;');
     await codeMode.close();
     console.log(JSON.stringify([value, typeof serveWorker, typeof GUEST_RUNTIME]));`,
  );
  const { stdout } = await execute(process.execPath, ['extend.mjs'], { cwd: project });
  expect(JSON.parse(stdout)).toEqual([42, 'function', 'string']);
});

test('an installed package finds all that it needs in the sandbox, through links too', async () => {
  await writeFile(
    join(project, 'sandboxed.mjs'),
    `import { createCodeMode } from 'callgate';
     const codeMode = createCodeMode({ tools: [], sandbox: 'auto', workers: 1 });
     const { value, error, isolation } = await codeMode.run('return 6 * 7;');
     await codeMode.close();
     console.log(JSON.stringify({ value, error, kind: isolation?.kind }));`,
  );
  const { stdout } = await execute(process.execPath, ['sandboxed.mjs'], { cwd: project });
  expect(JSON.parse(stdout)).toEqual({ value: 42, kind: 'process' });
});

test('nothing but the listed names can be imported', async () => {
  await writeFile(join(project, 'door.mjs'), "import 'callgate/dist/broker/broker.js';");
  await expect(execute(process.execPath, ['door.mjs'], { cwd: project })).rejects.toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
});

test('the types stand on the declared dependencies alone', async () => {
  const consumer = join(project, 'consumer.mts');
  await writeFile(
    consumer,
    `import { defineTool } from 'callgate';
     export const tool = defineTool({
       name: 'greet',
       description: 'Greets.',
       inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
       execute: (input) => {
         const name: string = input.name;
         // @ts-expect-error: the schema has no such property.
         input.nickname;
         return name;
       },
     });`,
  );
  expect(compile([consumer])).toEqual([]);
});

test("the readme's snippets compile as they stand, and print what they say", async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const snippets = [...readme.matchAll(/```ts\n([\s\S]+?)```/g)]
    .map(([, code = '']) => code)
    .filter((code) => code.includes("from 'callgate'"));
  expect(snippets.length).toBeGreaterThan(3);
  const files = snippets.map((_, index) => join(project, `snippet-${index}.mts`));
  await Promise.all(files.map((file, index) => writeFile(file, snippets[index] ?? '')));
  expect(compile(files)).toEqual([]);
  for (const [index, code] of snippets.entries()) {
    const script = join(project, `snippet-${index}.mjs`);
    await writeFile(
      script,
      ts.transpileModule(code, { compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 } }).outputText,
    );
    const { stdout } = await execute(process.execPath, [script], { cwd: project });
    const promised = [...code.matchAll(/console\.log\(.+\); \/\/ (.+)/g)].map(([, line]) => line);
    expect(promised).not.toEqual([]);
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(promised));
  }
}, 60_000);

/** What the compiler has to say of these files and of the installed package, as a strict application compiles them. */
function compile(files: readonly string[]): string[] {
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    typeRoots: [join(project, 'node_modules/@types')],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file === undefined || file.fileName.startsWith(project))
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

/** What `npm install` would lay out, without asking a registry: the tarball unpacked, its dependencies linked, its command linked. */
async function install(): Promise<void> {
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, 'callgate'), { recursive: true });
  await execute('tar', ['-xzf', join(project, packed.filename), '--strip-components=1', '-C', join(modules, 'callgate')]);
  const manifest = JSON.parse(await readFile(join(modules, 'callgate/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    bin: Record<string, string>;
  };
  // The compiler is an optional peer: there for those who check types. The server is one that the README starts.
  for (const name of [...Object.keys(manifest.dependencies), '@types/node', 'typescript', '@modelcontextprotocol/server-memory']) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(modules, name), 'junction');
  }
  await mkdir(join(modules, '.bin'));
  await symlink(`../callgate/${manifest.bin['callgate']}`, join(modules, '.bin/callgate'));
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
}

/** npm prints a list up to version 11 and a record by package name from version 12 on. */
function firstPacked(report: Packed[] | Record<string, Packed>): Packed {
  const [first] = Object.values(report);
  if (first === undefined) throw new Error('npm pack reported no package.');
  return first;
}
