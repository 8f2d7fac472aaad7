// Declarations through the compiler, strict: what it has against a text, and whether it takes a value for a type. Libraries are parsed once.
import ts from 'typescript';

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  types: [],
  lib: ['lib.es2022.d.ts'],
  target: ts.ScriptTarget.ES2022,
  skipLibCheck: false,
  skipDefaultLibCheck: true,
};
const FOLDER = ts.getDefaultLibFilePath(OPTIONS).replace(/[^\\/]*$/, '');
const libraries = new Map<string, ts.SourceFile | undefined>();

export interface Compiled {
  readonly mistakes: readonly string[];
  /** Whether the type of one name can be given where the type of the other is wanted; both are aliases in the text. */
  isAssignable(source: string, target: string): boolean;
  /** The type of an alias, as the compiler writes it. */
  textOf(name: string): string;
}

export function compile(text: string, { browser = false }: { readonly browser?: boolean } = {}): Compiled {
  const file = ts.createSourceFile('/tools.ts', text, { languageVersion: ts.ScriptTarget.ES2022 }, true);
  const options = browser ? { ...OPTIONS, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'] } : OPTIONS;
  const host: ts.CompilerHost = {
    getSourceFile: (name) => (name === '/tools.ts' ? file : library(name)),
    fileExists: (name) => name === '/tools.ts',
    readFile: () => undefined,
    getDefaultLibFileName: () => `${FOLDER}lib.es2022.d.ts`,
    getDefaultLibLocation: () => FOLDER,
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    writeFile: () => undefined,
  };
  const program = ts.createProgram({ rootNames: ['/tools.ts'], options, host });
  const checker = program.getTypeChecker();
  const types = new Map<string, ts.Type>();
  for (const statement of file.statements) {
    if (ts.isTypeAliasDeclaration(statement)) types.set(statement.name.text, checker.getTypeAtLocation(statement.name));
  }
  const typeOf = (name: string): ts.Type => {
    const type = types.get(name);
    if (type === undefined) throw new Error(`The text declares no type ${name}.`);
    return type;
  };
  const diagnostics = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return {
    mistakes: diagnostics.map(({ messageText, start = 0 }) => {
      const { line } = file.getLineAndCharacterOfPosition(start);
      return `${ts.flattenDiagnosticMessageText(messageText, ' ')} (${text.split('\n')[line]?.trim().slice(0, 200)})`;
    }),
    isAssignable: (source, target) => checker.isTypeAssignableTo(typeOf(source), typeOf(target)),
    textOf: (name) => checker.typeToString(typeOf(name), undefined, ts.TypeFormatFlags.InTypeAlias),
  };
}

function library(name: string): ts.SourceFile | undefined {
  if (!libraries.has(name)) {
    const text = name.startsWith(FOLDER) ? ts.sys.readFile(name) : undefined;
    libraries.set(name, text === undefined ? undefined : ts.createSourceFile(name, text, ts.ScriptTarget.ES2022));
  }
  return libraries.get(name);
}

/** The type that only this value has. */
export function typeOfValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(typeOfValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, member]) => `${JSON.stringify(name)}: ${typeOfValue(member)}`)
      .join('; ')} }`;
  }
  return JSON.stringify(value);
}
