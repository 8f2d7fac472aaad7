// The declarations of the guest's globals against the real world, in both directions.
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodeMode, createCodeMode } from '../../src/index.ts';
import { createClassicCompiler } from '../../src/isolation/compiler-classic.ts';
import { GUEST_GLOBALS } from '../../src/program/guest-globals.ts';
import { checkTypes } from '../../src/program/typecheck.ts';
import { optionsUnderTest } from '../helpers/engines.ts';

let codeMode: CodeMode;
beforeAll(() => {
  codeMode = createCodeMode({ ...optionsUnderTest(), tools: [] });
});
afterAll(() => codeMode.close());

const compiler = createClassicCompiler(ts);
const world = { id: 'empty', declarations: 'declare const tools: {}; declare const codemode: {};', paths: [] };

async function ask(program: string): Promise<unknown> {
  const { value, error } = await codeMode.run(program);
  if (error !== undefined) throw new Error(error.message);
  return value;
}

/** Globals that are there only to say what to use in their place. */
const EXPLAINED = new Set(['fetch', 'require', 'XMLHttpRequest', 'WebSocket', 'fs']);
/** What one engine has and no program knows of. */
const ENGINE_OWN = new Set(['InternalError', 'Set.groupBy']);

test('the declarations are TypeScript without a mistake', () => {
  const options: ts.CompilerOptions = { strict: true, lib: ['lib.esnext.d.ts'], types: [], noEmit: true };
  const host = ts.createCompilerHost(options);
  const original = host.getSourceFile.bind(host);
  host.getSourceFile = (name, version) =>
    name === 'guest.d.ts' ? ts.createSourceFile(name, GUEST_GLOBALS, version) : original(name, version);
  const program = ts.createProgram(['guest.d.ts'], options, host);
  expect(ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});

test('every global of the guest is known to the type check', async () => {
  const names = (await ask('return Object.getOwnPropertyNames(globalThis)')) as string[];
  const unknown = names.filter(
    (name) => !EXPLAINED.has(name) && !ENGINE_OWN.has(name) && checkTypes(`return [${name}]`, world, compiler).length > 0,
  );
  expect(unknown).toEqual([]);
});

test('every method of the guest is known to the type check', async () => {
  const members = (await ask(`
    const found = [];
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[name];
      if (value === null || value === globalThis || name === 'tools' || name === 'codemode') continue;
      if (typeof value === 'object' || (typeof value === 'function' && value.prototype)) {
        for (const key of Object.getOwnPropertyNames(value)) if (/^[a-z]\\w*$/i.test(key) && typeof value[key] === 'function') found.push(name + '.' + key);
      }
      if (typeof value === 'function' && value.prototype) {
        for (const [key, { value: method }] of Object.entries(Object.getOwnPropertyDescriptors(value.prototype))) {
          if (/^[a-z]\\w*$/i.test(key) && typeof method === 'function' && key !== 'constructor') found.push(name + '.prototype.' + key);
        }
      }
    }
    return found;`)) as string[];
  const unknown = members.filter(
    (member) => !ENGINE_OWN.has(member) && ![...EXPLAINED, ...ENGINE_OWN].includes(member.split('.', 1)[0] ?? ''),
  );
  const program = unknown.map((member) => `[${member}];`).join('\n');
  // All at once, a line each, since a check costs more than a line: as many rounds as there are problems to a check.
  const told = new Set<string>();
  for (let left = program.split('\n'); ; ) {
    const problems = checkTypes(left.join('\n'), world, compiler);
    for (const { line } of problems) told.add(left[line - 1] ?? '');
    if (problems.length === 0) break;
    left = left.filter((line) => !told.has(line));
  }
  expect([...told]).toEqual([]);
});

describe('what is declared is there', () => {
  const file = ts.createSourceFile('guest.d.ts', GUEST_GLOBALS, ts.ScriptTarget.ESNext, true);
  const paths = file.statements.flatMap((statement): string[] => {
    if (ts.isFunctionDeclaration(statement)) return [statement.name?.text ?? ''];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.flatMap(({ name, type }) => {
        const members = type && ts.isTypeLiteralNode(type) ? type.members.flatMap(nameOf) : [];
        return [name.getText(), ...members.filter((member) => member !== 'prototype').map((member) => `${name.getText()}.${member}`)];
      });
    }
    if (!ts.isClassDeclaration(statement) && !ts.isInterfaceDeclaration(statement)) return [];
    const owner = statement.name?.text ?? '';
    return [
      ...(ts.isClassDeclaration(statement) ? [owner] : []),
      ...[...statement.members]
        .filter(
          (member): member is ts.MethodDeclaration | ts.MethodSignature => ts.isMethodDeclaration(member) || ts.isMethodSignature(member),
        )
        .flatMap((member) => {
          const isStatic =
            ts.canHaveModifiers(member) && (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
          const lower = owner.toLowerCase();
          const at = owner.endsWith('Constructor')
            ? owner.slice(0, -'Constructor'.length)
            : isStatic || owner === 'Math'
              ? owner
              : ['console', 'performance', 'crypto'].includes(lower)
                ? lower
                : `${owner}.prototype`;
          return nameOf(member).map((name) => `${at}.${name}`);
        }),
    ];
  });

  test('every name and every method', async () => {
    expect(paths.length).toBeGreaterThan(100);
    const missing =
      await ask(`const has = (path) => { const [root, ...rest] = path.split('.'); if ((0, eval)('typeof ' + root) === 'undefined') return false; let at = (0, eval)(root); for (const name of rest) { if (at == null || !(name in Object(at))) return false; at = at[name]; } return true; };
return ${JSON.stringify(paths)}.filter((path) => !has(path));`);
    // `process.env` is written out by prepare: nothing of that name is in the guest.
    expect(missing).toEqual(['process', 'process.env']);
  });

  function nameOf(member: ts.TypeElement | ts.ClassElement): string[] {
    return member.name !== undefined && ts.isIdentifier(member.name) ? [member.name.text] : [];
  }
});
