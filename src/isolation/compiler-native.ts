// TypeScript 7 as a compiler for the type check: the native port runs in a process of its own, which its package starts and this side asks over
// a virtual file system. That interface is labelled unstable; what is used of it is written down here. Not here: which findings count.
import type { Checked, Compiler, SyntaxNode } from '../program/compiler.ts';
import { GUEST_GLOBALS } from '../program/guest-globals.ts';

/** `typescript/unstable/sync`, as far as it is used. */
export interface NativeApi {
  readonly API: new (options: {
    readonly cwd: string;
    readonly fs: VirtualFiles;
  }) => {
    updateSnapshot(change: {
      readonly openProjects?: readonly string[];
      readonly fileChanges?: { readonly changed: readonly string[] };
    }): Snapshot;
    close(): void;
  };
}

/** `typescript/unstable/ast`, as far as it is used. */
export interface NativeSyntax {
  readonly SyntaxKind: Readonly<Record<number, string>>;
}

/** `undefined` stands for the real file system: the library lies there. */
interface VirtualFiles {
  readFile(name: string): string | null | undefined;
  fileExists(name: string): boolean | undefined;
  directoryExists(name: string): boolean | undefined;
  getAccessibleEntries(name: string): { readonly files: string[]; readonly directories: string[] } | undefined;
  realpath(name: string): string;
}

interface Snapshot {
  getProject(config: string): Project | undefined;
  dispose(): void;
}

interface Project {
  readonly program: {
    getSourceFile(name: string): SyntaxNode | undefined;
    getSemanticDiagnostics(name: string): readonly NativeDiagnostic[];
  };
  readonly checker: {
    getResolvedSignature(call: SyntaxNode): { readonly declaration?: { readonly path: string } | undefined } | undefined;
    getTypeAtLocation(node: SyntaxNode): NativeType | undefined;
    getApparentType(type: NativeType): NativeType | undefined;
    getPropertyOfType(type: NativeType, name: string): unknown;
  };
}

interface NativeDiagnostic {
  readonly pos: number;
  readonly code: number;
  readonly text: string;
  readonly messageChain?: readonly NativeDiagnostic[] | undefined;
}

interface NativeType {
  isUnionType(): boolean;
  getTypes(): readonly NativeType[];
  getSymbol(): { readonly declarations: readonly { readonly path: string }[] } | undefined;
}

/** A folder that no file system has. */
const ROOT = '/callgate-type-check';
const WORLD = `${ROOT}/world.d.ts`;
const SCRIPT = { config: `${ROOT}/javascript.json`, name: `${ROOT}/program.js` };
const TYPED = { config: `${ROOT}/typescript.json`, name: `${ROOT}/program.ts` };

export function createNativeCompiler({ API }: NativeApi, { SyntaxKind }: NativeSyntax): Compiler {
  const files = new Map<string, string>([
    [`${ROOT}/globals.d.ts`, GUEST_GLOBALS],
    [WORLD, ''],
    [SCRIPT.name, ''],
    [TYPED.name, ''],
    [SCRIPT.config, configFor('program.js')],
    [TYPED.config, configFor('program.ts')],
  ]);
  const isOurs = (name: string): boolean => name === ROOT || name.startsWith(`${ROOT}/`);
  const api = new API({
    cwd: ROOT,
    fs: {
      readFile: (name) => (isOurs(name) ? (files.get(name) ?? null) : undefined),
      fileExists: (name) => (isOurs(name) ? files.has(name) : undefined),
      directoryExists: (name) => (isOurs(name) ? name === ROOT : undefined),
      getAccessibleEntries: (name) =>
        isOurs(name) ? { files: [...files.keys()].map((file) => file.slice(ROOT.length + 1)), directories: [] } : undefined,
      realpath: (name) => name,
    },
  });
  let snapshot = api.updateSnapshot({ openProjects: [SCRIPT.config, TYPED.config] });
  let worldId: string | undefined;

  return {
    check({ world, code, typed }) {
      const { config, name } = typed ? TYPED : SCRIPT;
      const changed = [name];
      files.set(name, code);
      if (worldId !== world.id) {
        files.set(WORLD, world.declarations);
        changed.push(WORLD);
        worldId = world.id;
      }
      const next = api.updateSnapshot({ fileChanges: { changed } });
      snapshot.dispose();
      snapshot = next;
      const project = snapshot.getProject(config);
      const tree = project?.program.getSourceFile(name);
      if (project === undefined || tree === undefined) throw new Error('The native compiler does not know the file that it was given.');
      return checkedBy(project, { tree, name, SyntaxKind });
    },
    close() {
      snapshot.dispose();
      api.close();
    },
  };
}

function checkedBy(
  { program, checker }: Project,
  { tree, name, SyntaxKind }: { tree: SyntaxNode; name: string; SyntaxKind: NativeSyntax['SyntaxKind'] },
): Checked {
  const isIn = (path: string, file: string): boolean => path.toLowerCase() === file;
  return {
    findings: program
      .getSemanticDiagnostics(name)
      .map((diagnostic) => ({ code: diagnostic.code, start: diagnostic.pos, messages: flatten(diagnostic) })),
    tree,
    kindOf: ({ kind }) => SyntaxKind[kind] ?? '',
    isToolCall: (call) => isIn(checker.getResolvedSignature(call)?.declaration?.path ?? '', WORLD),
    typesOf(expression) {
      const type = checker.getTypeAtLocation(expression);
      if (type === undefined) return [];
      const types = type.isUnionType() ? type.getTypes() : [type];
      return types.map((each) => ({
        has: (property) => checker.getPropertyOfType(checker.getApparentType(each) ?? each, property) !== undefined,
        isOwn: each.getSymbol()?.declarations.some(({ path }) => isIn(path, name)) ?? false,
      }));
    },
  };
}

function configFor(program: string): string {
  const compilerOptions = {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    strict: false,
    types: [],
    lib: ['esnext'],
    target: 'esnext',
    module: 'esnext',
    moduleResolution: 'bundler',
    moduleDetection: 'force',
    skipLibCheck: true,
  };
  return JSON.stringify({ compilerOptions, files: [program, 'globals.d.ts', 'world.d.ts'] });
}

function flatten({ text, messageChain = [] }: NativeDiagnostic): string[] {
  return [text, ...messageChain.flatMap(flatten)];
}
