// TypeScript 5.9 and 6 as a compiler for the type check: within this thread, kept warm. What the library and the declarations parse to is kept,
// so that a check costs the program's own text and one pass of the checker. Not here: which findings count (program/typecheck.ts).
import type typescript from 'typescript';
import type { Checked, CheckedFiles, Compiler, SyntaxNode } from '../program/compiler.ts';
import { GUEST_GLOBALS } from '../program/guest-globals.ts';

type TypeScript = typeof typescript;

/** Declarations of as many worlds are kept; a world is a catalog, and few are in use at a time. */
const WORLDS = 4;

export function createClassicCompiler(ts: TypeScript): Compiler {
  const options = {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    strict: false,
    noLib: false,
    types: [],
    lib: ['lib.esnext.d.ts'],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    // The program is a module: its names are its own, whatever the world declares.
    moduleDetection: ts.ModuleDetectionKind.Force,
    skipLibCheck: true,
  } satisfies typescript.CompilerOptions;
  const libraryFolder = ts.getDefaultLibFilePath(options).replace(/[^\\/]*$/, '');
  const library = new Map<string, typescript.SourceFile | undefined>();
  const worlds = new Map<string, typescript.SourceFile>();
  let previous: typescript.Program | undefined;

  const parse = (name: string, text: string): typescript.SourceFile =>
    ts.createSourceFile(name, text, { languageVersion: ts.ScriptTarget.ESNext }, true);
  const globals = parse(GLOBALS, GUEST_GLOBALS);

  function libraryFile(name: string): typescript.SourceFile | undefined {
    if (!library.has(name)) {
      const text = name.startsWith(libraryFolder) ? ts.sys.readFile(name) : undefined;
      library.set(name, text === undefined ? undefined : parse(name, text));
    }
    return library.get(name);
  }

  function worldFile({ id, declarations }: CheckedFiles['world']): typescript.SourceFile {
    const known = worlds.get(id) ?? parse(WORLD, declarations);
    worlds.delete(id);
    worlds.set(id, known);
    for (const oldest of worlds.keys()) {
      if (worlds.size <= WORLDS) break;
      worlds.delete(oldest);
    }
    return known;
  }

  return {
    check({ world, code, typed }) {
      const name = typed ? '/program.ts' : '/program.js';
      const file = parse(name, code);
      const own = new Map([
        [name, file],
        [GLOBALS, globals],
        [WORLD, worldFile(world)],
      ]);
      const host: typescript.CompilerHost = {
        getSourceFile: (asked) => own.get(asked) ?? libraryFile(asked),
        fileExists: (asked) => own.has(asked),
        readFile: () => undefined,
        getDefaultLibFileName: () => `${libraryFolder}lib.esnext.d.ts`,
        getDefaultLibLocation: () => libraryFolder,
        getCurrentDirectory: () => '/',
        getCanonicalFileName: (asked) => asked,
        useCaseSensitiveFileNames: () => true,
        getNewLine: () => '\n',
        writeFile: () => undefined,
        // The program is asked for nothing but its own files.
        resolveModuleNameLiterals: (literals) => literals.map(() => ({ resolvedModule: undefined })),
      };
      const program = ts.createProgram({
        rootNames: [...own.keys()],
        options,
        host,
        ...(previous === undefined ? {} : { oldProgram: previous }),
      });
      previous = program;
      const findings = program
        .getSemanticDiagnostics(file)
        .map(({ code: number, start = 0, messageText }) => ({ code: number, start, messages: flatten(messageText) }));
      return checkedBy(ts, { checker: program.getTypeChecker(), file, findings });
    },
    close() {
      previous = undefined;
    },
  };
}

const GLOBALS = '/globals.d.ts';
const WORLD = '/world.d.ts';

function checkedBy(
  ts: TypeScript,
  { checker, file, findings }: { checker: typescript.TypeChecker; file: typescript.SourceFile; findings: Checked['findings'] },
): Checked {
  // Every node that is asked about came out of `file`: the check knows no other tree.
  const node = (given: SyntaxNode): typescript.Node => given as unknown as typescript.Node;
  return {
    findings,
    tree: file as unknown as SyntaxNode,
    kindOf: ({ kind }) => ts.SyntaxKind[kind] ?? '',
    isToolCall: (call) =>
      checker.getResolvedSignature(node(call) as typescript.CallExpression)?.declaration?.getSourceFile().fileName === WORLD,
    typesOf(expression) {
      const type = checker.getTypeAtLocation(node(expression));
      const types = type.isUnion() ? type.types : [type];
      return types.map((each) => ({
        has: (property) => checker.getPropertyOfType(checker.getApparentType(each), property) !== undefined,
        isOwn: each.symbol?.declarations?.some((declaration) => declaration.getSourceFile() === file) ?? false,
      }));
    },
  };
}

function flatten(message: string | typescript.DiagnosticMessageChain): string[] {
  if (typeof message === 'string') return [message];
  return [message.messageText, ...(message.next ?? []).flatMap(flatten)];
}
