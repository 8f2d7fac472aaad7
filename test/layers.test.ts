// The direction of imports (which layer may know which) is a lint rule in biome.json, and the purity of each side a compiler
// setting. This shows that they fail what they should fail; that the real tree obeys them is `npm run check`.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** A file of each layer, and the layers that it may import. Everything else must be refused. */
const layers: Record<string, { file: string; mayImport: string[] }> = {
  protocol: { file: 'src/protocol/probe.ts', mayImport: [] },
  program: { file: 'src/program/probe.ts', mayImport: ['protocol'] },
  observe: { file: 'src/observe.ts', mayImport: ['protocol'] },
  tools: { file: 'src/tools/probe.ts', mayImport: ['protocol', 'program', 'observe', 'artifacts', 'workspace'] },
  artifacts: { file: 'src/artifacts/probe.ts', mayImport: ['protocol', 'program', 'observe', 'tools', 'workspace'] },
  workspace: { file: 'src/workspace/probe.ts', mayImport: ['protocol', 'program', 'observe', 'tools', 'artifacts'] },
  broker: { file: 'src/broker/probe.ts', mayImport: ['protocol', 'program', 'observe', 'tools', 'artifacts', 'workspace'] },
  engine: { file: 'src/engine/probe.ts', mayImport: ['protocol', 'program'] },
  isolation: { file: 'src/isolation/probe.ts', mayImport: ['protocol', 'program', 'engine'] },
  session: {
    file: 'src/session/probe.ts',
    mayImport: ['protocol', 'program', 'observe', 'tools', 'artifacts', 'workspace', 'broker', 'engine', 'isolation'],
  },
  index: {
    file: 'src/index.ts',
    mayImport: ['protocol', 'program', 'observe', 'tools', 'artifacts', 'workspace', 'broker', 'engine', 'isolation', 'session'],
  },
  adapters: {
    file: 'src/adapters/probe.ts',
    mayImport: ['protocol', 'program', 'observe', 'tools', 'artifacts', 'workspace', 'broker', 'engine', 'isolation', 'session', 'index'],
  },
  cli: { file: 'src/cli/probe.ts', mayImport: ['index', 'adapters'] },
  'sandbox-runtime': { file: 'sandbox-runtime/world/probe.ts', mayImport: ['protocol'] },
  examples: { file: 'examples/support-desk/probe.mjs', mayImport: [] },
};

let tree: string;
beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'callgate-layers-'));
  await cp(join(root, 'biome.json'), join(tree, 'biome.json'));
});
afterAll(() => rm(tree, { recursive: true }));

describe('lint', () => {
  test.each(Object.entries(layers))('%s imports no layer but those above it', async (name, { file, mayImport }) => {
    const others = Object.keys(layers).filter((other) => other !== name && other !== 'examples');
    const found = await lint({ [file]: others.map((other) => importing(file, layers[other]!.file, other)).join('') });
    const refused = found.filter(({ category }) => category === 'lint/style/noRestrictedImports').map(({ line }) => others[line - 1]);
    expect(refused).toEqual(others.filter((other) => !mayImport.includes(other)));
  });

  test.each([
    ['a type import', "import type { Thing } from '../isolation/thread.ts';\nexport type Used = Thing;\n"],
    ['a re-export', "export { thing } from '../isolation/thread.ts';\n"],
    ['a dynamic import', "export const load = () => import('../isolation/thread.ts');\n"],
    ['a deeper folder', "import { thing } from '../../isolation/thread.ts';\nexport const used = thing;\n"],
  ])('%s is an import', async (_form, text) => {
    const found = await lint({ 'src/broker/probe.ts': text });
    expect(found).toContainEqual({ category: 'lint/style/noRestrictedImports', file: 'src/broker/probe.ts', line: 1 });
  });

  test.each([
    ['src/protocol/probe.ts', 'node:crypto'],
    ['src/protocol/probe.ts', 'ajv'],
    ['sandbox-runtime/probe.ts', 'node:crypto'],
  ])('%s may not import %s', async (file, specifier) => {
    const found = await lint({ [file]: `import { thing } from '${specifier}';\nexport const used = thing;\n` });
    expect(found).toContainEqual({ category: 'lint/style/noRestrictedImports', file, line: 1 });
  });

  test('two files of one folder do not import each other, not even for types', async () => {
    const found = await lint({
      'src/tools/left.ts': "import type { Right } from './right.ts';\nexport type Left = Right[];\n",
      'src/tools/right.ts': "import type { Left } from './left.ts';\nexport type Right = Left | 0;\n",
    });
    expect(found).toContainEqual({ category: 'lint/suspicious/noImportCycles', file: 'src/tools/left.ts', line: 1 });
  });

  test('every folder of src is a layer with a rule', async () => {
    const folders = (await readdir(join(root, 'src'), { withFileTypes: true })).filter((entry) => entry.isDirectory());
    expect(Object.keys(layers)).toEqual(expect.arrayContaining(folders.map(({ name }) => name)));
  });
});

describe('types', () => {
  test('the guest runtime compiles without Node and DOM types', () => {
    const probe = 'process; Buffer; setTimeout; fetch; console; URL; WebAssembly; require; structuredClone; [1].toSorted;';
    const errors = compile('sandbox-runtime/tsconfig.json', probe);
    expect(errors).toHaveLength(10);
  });

  test('the guest runtime may use all of ES2022', () => {
    const probe = 'globalThis; Promise.any; Error("", { cause: 1 }).cause; Object.hasOwn; [1].at(-1); WeakRef; class A { static #b = 1; }';
    expect(compile('sandbox-runtime/tsconfig.json', probe)).toEqual([]);
  });

  test('the host compiles without DOM types', () => {
    expect(compile('tsconfig.json', 'document; window; localStorage; HTMLElement;')).toHaveLength(4);
  });

  test('a worker thread loads nothing of the left arm', () => {
    const { options, fileNames } = readConfig('tsconfig.worker.json');
    const loaded = ts
      .createProgram(fileNames, options)
      .getSourceFiles()
      .map(({ fileName }) => relative(root, fileName))
      .filter((name) => name.startsWith('src/'));
    expect(loaded).toContain('src/isolation/entry.ts');
    expect(loaded.filter((name) => !/^src\/(protocol|program|engine|isolation)\//.test(name))).toEqual([]);
  });
});

/** One line that imports one file from another, and uses it. */
function importing(file: string, target: string, name: string): string {
  const path = relative(dirname(file), target);
  return `import { thing as ${name.replace('-', '_')} } from '${path.startsWith('.') ? path : `./${path}`}';\n`;
}

interface Finding {
  category: string;
  file: string;
  line: number;
}

/** What biome says about these files under this repository's configuration. */
async function lint(files: Record<string, string>): Promise<Finding[]> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(tree, name)), { recursive: true });
    await writeFile(join(tree, name), text);
  }
  const { stdout } = await run(['lint', '--reporter=json', '--max-diagnostics=none', ...Object.keys(files)]);
  const report = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string; start: { line: number } } }[] };
  return report.diagnostics.map(({ category, location }) => ({ category, file: location.path, line: location.start.line }));
}

function run(args: string[]): Promise<{ stdout: string }> {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  return new Promise((done, fail) => {
    execFile(process.execPath, [biome, ...args], { cwd: tree, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) => {
      // Biome fails when it finds something, and then still reports on standard output.
      if (stdout.startsWith('{')) done({ stdout });
      else fail(new Error(`biome gave no report: ${stdout}${stderr}`));
    });
  });
}

function readConfig(name: string): { options: ts.CompilerOptions; fileNames: string[] } {
  const path = join(root, name);
  const { config } = ts.readConfigFile(path, ts.sys.readFile);
  return ts.parseJsonConfigFileContent(config, ts.sys, dirname(path));
}

/** The type errors of a text that stands alone, one for each undeclared name, under the options of one side. */
function compile(configuration: string, text: string): string[] {
  const { options } = readConfig(configuration);
  const name = join(root, dirname(configuration), 'probe.ts');
  const host = ts.createCompilerHost(options);
  const original = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, `${text}\nexport {};`, ts.ScriptTarget.ES2023) : original(file, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([name], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
