import { readdirSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import { checkedWorld, declarations, signatureOf } from '../../src/tools/declarations.ts';
import type { JsonSchema } from '../../src/tools/schema.ts';
import { corpusUrl, hasCorpus, readCorpus } from '../helpers/corpora.ts';
import { toolOf } from '../helpers/tools.ts';

const listIssues: JsonSchema = {
  type: 'object',
  properties: { owner: { type: 'string', description: 'Who has the repository.' }, state: { enum: ['open', 'closed'] } },
  required: ['owner'],
  additionalProperties: false,
};
const issues: JsonSchema = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } };

function signature(inputSchema: JsonSchema, outputSchema?: JsonSchema, length?: number): string {
  const tool = { inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
  return signatureOf({ segments: ['github', 'list_issues'], tool }, length);
}

describe('a signature', () => {
  test('says on one line what a tool takes and gives', () => {
    expect(signature(listIssues, issues)).toBe(
      'tools.github.list_issues(input: { owner: string; state?: "open" | "closed" }): Promise<{ id: number }[]>',
    );
  });

  test.each<[string, JsonSchema, string]>([
    ['takes nothing', { type: 'object', properties: {}, additionalProperties: false }, '()'],
    ['takes only options', { type: 'object', properties: { page: { type: 'integer' } } }, '(input?: { page?: number })'],
    ['takes anything', {}, '(input?: unknown)'],
    ['needs what a combination says', { type: 'object', anyOf: [{ required: ['a'] }] }, '(input: { a: unknown })'],
    ['takes a list', { type: 'array', items: { type: 'string' } }, '(input: string[])'],
  ])('of a tool that %s', (_, schema, parameters) => {
    expect(signature(schema)).toBe(`tools.github.list_issues${parameters}: Promise<unknown>`);
  });

  test('that would be too long says deeper levels and long lists more briefly', () => {
    const values = Array.from({ length: 40 }, (_, index) => `value-${index}`);
    const deep = {
      type: 'object',
      properties: { a: { type: 'object', properties: { b: { type: 'object', properties: { c: { enum: values } } } } } },
      required: ['a'],
    };
    expect(signature(deep, undefined, 2_000)).toContain('"value-29" | string');
    expect(signature(deep, undefined, 150)).toBe('tools.github.list_issues(input: { a: { b?: object } }): Promise<unknown>');
    expect(signature(deep, undefined, 65)).toBe('tools.github.list_issues(input: { a: object }): Promise<unknown>');
    expect(signature(deep, deep, 10)).toBe('tools.github.list_issues(input: object): Promise<object>');
  });

  test('is what ALL_TOOLS gets, by way of the manifest', () => {
    const catalog = createCatalog([{ namespace: ['github'], tool: toolOf('list-issues', { inputSchema: listIssues }) }]);
    expect(JSON.parse(catalog.manifest)).toMatchObject([
      { signature: 'tools.github.list_issues(input: { owner: string; state?: "open" | "closed" }): Promise<unknown>' },
    ]);
  });
});

describe('declarations', () => {
  const catalog = createCatalog([
    {
      namespace: ['github'],
      tool: toolOf('list-issues', { description: 'Lists issues.\nNewest first.', inputSchema: listIssues, outputSchema: issues }),
    },
    {
      namespace: ['github', 'admin'],
      tool: toolOf('purge', {
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
        annotations: { deprecated: true },
      }),
    },
    { namespace: [], tool: toolOf('echo') },
  ]);

  test('for reading: namespaces nest, descriptions stand beside, the order is that of the names', () => {
    expect(declarations(catalog)).toBe(`declare const tools: {
  /** The tool echo. */
  echo(input?: unknown): Promise<unknown>;
  github: {
    admin: {
      /**
       * The tool purge.
       * @deprecated
       */
      purge(): Promise<unknown>;
    };
    /**
     * Lists issues.
     * Newest first.
     */
    list_issues(input: {
      owner: string; // Who has the repository.
      state?: "open" | "closed";
    }): Promise<{ id: number }[]>;
  };
};
`);
  });

  test('for checking: no descriptions, and results that nobody described may be used in any way', () => {
    expect(checkedWorld(catalog)).toBe(`declare const tools: {
  github: {
    list_issues(input: { owner: string; state?: "open" | "closed" }): Promise<{ id: number }[]>;
    "list-issues": typeof tools.github.list_issues;
    admin: {
      purge(input?: Record<string, never>): Promise<any>;
    };
  };
  echo(input?: any, ...more: unknown[]): Promise<any>;
  call(name: string, input?: unknown): Promise<any>;
};
declare const codemode: typeof tools;
`);
  });

  test('a description cannot leave its comment', () => {
    const evil = createCatalog([{ namespace: [], tool: toolOf('a', { description: 'x */ }; evil(); /* \u2028 @ts-nocheck' }) }]);
    expect(mistakes(declarations(evil))).toEqual([]);
    expect(declarations(evil)).toContain('x *\\/ }; evil();');
  });
});

describe('real catalogs', () => {
  const present = hasCorpus('catalogs');
  test.skipIf(present)('are not tested: ../shared/catalogs is absent', () => undefined);
  const files = present ? readdirSync(corpusUrl('catalogs')).filter((file) => file.endsWith('.json')) : [];

  test.for(files)('%s is declared in well-formed TypeScript, every signature is bounded', (file) => {
    const catalog = readCatalog(file);
    for (const text of [declarations(catalog), checkedWorld(catalog)]) expect(mistakes(text)).toEqual([]);
    const signatures = catalog.entries.map((entry) => signatureOf(entry));
    expect(Math.max(...signatures.map((text) => text.length))).toBeLessThanOrEqual(2_000);
    const members = signatures.map((text, index) => `declare function f${index}${text.slice(text.indexOf('('))};`);
    expect(mistakes(members.join('\n'))).toEqual([]);
  });
});

function readCatalog(file: string): Catalog {
  const { tools } = JSON.parse(readCorpus(`catalogs/${file}`)) as {
    tools: { name: string; description?: string; inputSchema?: JsonSchema; outputSchema?: JsonSchema }[];
  };
  return createCatalog(
    tools.map(({ name, description = '', inputSchema = {}, outputSchema }, index) => ({
      namespace: ['server'],
      // The place keeps names apart that differ only in what no identifier can hold.
      tool: toolOf(`${name.replace(/[^\w.-]/g, '-').slice(0, 58)}_${index}`, {
        description,
        inputSchema,
        ...(outputSchema === undefined ? {} : { outputSchema }),
      }),
    })),
  );
}

/** What the parser has against a text. */
function mistakes(text: string): string[] {
  // `parseDiagnostics` is on every source file that the compiler makes, though not in its public types.
  const { parseDiagnostics } = ts.createSourceFile('tools.d.ts', text, ts.ScriptTarget.ESNext, false) as ts.SourceFile & {
    readonly parseDiagnostics: readonly ts.Diagnostic[];
  };
  return parseDiagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
