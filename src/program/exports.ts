// The top of a program without the words of modules: `export` erased, imports set apart, the default export found.
// Not here: what becomes of an import (modules.ts).
import { refuseReexport } from './modules.ts';
import type { DefaultExport } from './result.ts';
import { ProgramMistake, type Rewrite } from './rewrite.ts';
import { isOnlyTypes } from './transform.ts';
import { type Node, single, statements } from './tree.ts';

/** What the top of a program holds. */
export interface Top {
  /** The statements to walk, declarations in the place of their exports. */
  readonly list: readonly Node[];
  readonly imports: readonly Node[];
  readonly importedNames: readonly string[];
  readonly defaultExport: DefaultExport | undefined;
}

/** Reads the top of a program and erases `export`. */
export function eraseExports(rewrite: Rewrite, program: Node): Top {
  const list: Node[] = [];
  const imports: Node[] = [];
  let defaultExport: DefaultExport | undefined;
  const setDefault = (value: DefaultExport, node: Node): void => {
    if (defaultExport) throw new ProgramMistake('A program has at most one default export.', node.start);
    defaultExport = value;
  };
  for (const node of statements(program)) {
    switch (node.type) {
      case 'ImportDeclaration':
        imports.push(node);
        break;
      case 'TSImportEqualsDeclaration':
        if (/^export\b/.test(rewrite.text.slice(node.start, node.start + 7))) rewrite.blank(node.start, node.start + 'export'.length);
        imports.push(node);
        break;
      case 'ExportAllDeclaration':
        if (node.exportKind !== 'type') refuseReexport(node);
        rewrite.blank(node.start, node.end, { head: ';' });
        break;
      case 'ExportNamedDeclaration':
        if (node.declaration) {
          rewrite.blank(node.start, node.declaration.start);
          list.push(node.declaration);
        } else {
          if (node.source && node.exportKind !== 'type') refuseReexport(node);
          const named = (node.specifiers ?? []).find(({ exported }) => (exported?.name ?? exported?.value) === 'default');
          if (named?.local?.name && node.exportKind !== 'type') setDefault({ kind: 'name', name: named.local.name }, node);
          rewrite.blank(node.start, node.end, { head: ';' });
        }
        break;
      case 'ExportDefaultDeclaration': {
        const { declaration } = node;
        if (!declaration) break;
        if (isOnlyTypes(declaration)) {
          rewrite.blank(node.start, node.end, { head: ';' });
          break;
        }
        rewrite.blank(node.start, declaration.start, { head: ';' });
        const statement = exportedStatement(declaration, node.end);
        list.push(statement);
        setDefault({ kind: 'statement', statement }, node);
        break;
      }
      case 'TSExportAssignment': {
        const expression = single(node.expression);
        if (!expression) break;
        rewrite.blank(node.start, expression.start, { head: ';' });
        const statement: Node = { type: 'ExpressionStatement', start: expression.start, end: node.end, expression };
        list.push(statement);
        setDefault({ kind: 'statement', statement }, node);
        break;
      }
      default:
        list.push(node);
    }
  }
  const importedNames = imports.flatMap((node) => {
    if (node.type === 'TSImportEqualsDeclaration') return node.id?.name ? [node.id.name] : [];
    return (node.specifiers ?? []).flatMap(({ local }) => (local?.name ? [local.name] : []));
  });
  return { list, imports, importedNames, defaultExport };
}

/** A default export as a statement: a function or class with a name declares it, anything else is an expression. */
function exportedStatement(declaration: Node, end: number): Node {
  if (/^(?:Function|Class)Declaration$/.test(declaration.type)) {
    if (declaration.id) return declaration;
    const type = declaration.type === 'FunctionDeclaration' ? 'FunctionExpression' : 'ClassExpression';
    return { type: 'ExpressionStatement', start: declaration.start, end, expression: { ...declaration, type } };
  }
  return { type: 'ExpressionStatement', start: declaration.start, end, expression: declaration };
}
