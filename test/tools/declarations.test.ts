import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import { checkedWorld, declarationOf, declarations, signatureOf } from '../../src/tools/declarations.ts';
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
    expect(JSON.parse(catalog.manifest.entries)).toMatchObject([
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
      /** The tool purge.
       @deprecated */
      purge(): Promise<unknown>;
    };
    /** Lists issues.
     Newest first. */
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

describe('a budget', () => {
  const parameters = (words: string): JsonSchema => ({
    type: 'object',
    properties: {
      owner: { type: 'string', description: `Who has it. ${words}` },
      filter: { type: 'object', properties: { state: { enum: ['open', 'closed'] }, since: { type: 'string', format: 'date-time' } } },
    },
    required: ['owner'],
  });
  const words = 'It goes on for quite a while and says one thing after another. '.repeat(6);
  const many = Array.from({ length: 40 }, (_, index) => ({
    namespace: [index % 2 === 0 ? 'github' : 'slack'],
    tool: toolOf(`do_thing_${index}`, { description: `Does thing ${index}. ${words}`, inputSchema: parameters(`${words}${index}`) }),
  }));
  const catalog = createCatalog(many);
  const full = declarations(catalog);

  test('is kept in every step, each well-formed and saying less than the one before', () => {
    const steps = [12_000, 6_000, 3_500, 2_200, 1_500, 900, 350, 60].map((budgetTokens) => declarations(catalog, { budgetTokens }));
    for (const [index, text] of steps.entries()) {
      expect(text.length / 4).toBeLessThanOrEqual([12_000, 6_000, 3_500, 2_200, 1_500, 900, 350, 60][index]!);
      expect(mistakes(text)).toEqual([]);
    }
    expect(new Set(steps).size).toBeGreaterThanOrEqual(6);
    expect(steps.map(({ length }) => length)).toEqual(steps.map(({ length }) => length).toSorted((a, b) => b - a));
  });

  test('that is met in full changes nothing', () => {
    expect(declarations(catalog, { budgetTokens: Math.ceil(full.length / 4) })).toBe(full);
    expect(full).toContain(`Does thing 7. ${words.trim()}`);
  });

  test('shortens descriptions before it drops them, then types, then leaves names, then a number', () => {
    expect(declarations(catalog, { budgetTokens: 3_500 })).toMatch(/Does thing 7\. It goes on[^*]*[.…] \*\//);
    expect(declarations(catalog, { budgetTokens: 1_500 })).toContain('do_thing_7(input: OwnerFilter): Promise<unknown>;');
    expect(declarations(catalog, { budgetTokens: 1_500 })).not.toContain('Does thing');
    expect(declarations(catalog, { budgetTokens: 350 })).toContain('  slack: {\n    // do_thing_1, do_thing_11, do_thing_13');
    expect(declarations(catalog, { budgetTokens: 60 })).toBe(`// searchTools("what to do") finds them, describeTool(name) shows one
declare const tools: {
  github: {}; // 20 tools
  slack: {}; // 20 tools
};
`);
    // A budget that nothing fits gets the least there is.
    expect(declarations(catalog, { budgetTokens: 1 })).toBe(declarations(catalog, { budgetTokens: 60 }));
  });

  test('gives pinned tools their detail as long as it can', () => {
    for (const pinned of ['github.do_thing_4', 'tools.github.do_thing_4']) {
      const text = declarations(catalog, { budgetTokens: 700, pinned: [pinned] });
      expect(mistakes(text)).toEqual([]);
      expect(text).toContain(`Does thing 4. ${words.trim()}`);
      expect(text).toContain('// do_thing_0, do_thing_10');
    }
    expect(declarations(catalog, { budgetTokens: 100, pinned: ['github.do_thing_4'] })).toContain('do_thing_4(');
    expect(declarations(catalog, { budgetTokens: 100, pinned: ['github.do_thing_4'] })).toContain('// 19 more tools');
    expect(declarations(catalog, { budgetTokens: 3_000, pinned: ['slack'] })).toBe(
      declarations(catalog, { budgetTokens: 3_000, pinned: ['slack'] }),
    );
  });

  test('gives the same text in whatever order the tools come', () => {
    const shuffled = createCatalog([...many].reverse());
    for (const budgetTokens of [12_000, 2_200, 350, 60])
      expect(declarations(shuffled, { budgetTokens })).toBe(declarations(catalog, { budgetTokens }));
  });
});

describe('one tool', () => {
  test('is declared in full with the types that it needs and nothing else', () => {
    const node: JsonSchema = {
      type: 'object',
      description: 'A comment.',
      properties: { text: { type: 'string' }, replies: { type: 'array', items: { $ref: '#/$defs/comment_node' } } },
      required: ['text'],
    };
    const catalog = createCatalog([
      {
        namespace: ['forum'],
        tool: toolOf('read-thread', {
          description: 'Reads a thread.',
          inputSchema: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
          outputSchema: { $ref: '#/$defs/comment_node', $defs: { comment_node: node } },
        }),
      },
      { namespace: ['forum'], tool: toolOf('other') },
    ]);
    expect(declarationOf(catalog.entries[0]!)).toBe(`// A comment.
type CommentNode = { text: string; replies?: CommentNode[] };
declare const tools: {
  forum: {
    /** Reads a thread. */
    read_thread(input: {
      id: number; // >= 1
    }): Promise<CommentNode>;
  };
};
`);
  });

  test('tells what its results looked like, where no schema says it', () => {
    const catalog = createCatalog([{ namespace: [], tool: toolOf('echo', { description: 'Echoes.' }) }]);
    const text = declarationOf(catalog.entries[0]!, { outputHint: '{ id: number; text: "*/" }[]' });
    expect(text).toContain('/** Echoes.\n   @returns seen: { id: number; text: "*\\/" }[] */');
    expect(mistakes(text)).toEqual([]);
  });
});

describe('types that several tools share', () => {
  test('are declared once, under the name that the schema gives them', () => {
    const address: JsonSchema = {
      type: 'object',
      properties: {
        street: { type: 'string', description: 'Street and number.' },
        city: { type: 'string', description: 'City or village.' },
        country: { type: 'string', description: 'Two letters of ISO 3166.' },
      },
    };
    const tool = (name: string, property: string) => ({
      namespace: [],
      tool: toolOf(name, {
        inputSchema: { type: 'object', properties: { [property]: { $ref: '#/$defs/postal_address' } }, $defs: { postal_address: address } },
      }),
    });
    const text = declarations(createCatalog([tool('send', 'to'), tool('move', 'from')]));
    expect(text.match(/Street and number/g)).toHaveLength(1);
    expect(text).toContain('type PostalAddress = {');
    expect(text).toContain('send(input?: { to?: PostalAddress }): Promise<unknown>;');
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

test('the example of the documentation is what is printed', () => {
  const page = readFileSync(new URL('../../docs/declarations.md', import.meta.url), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1];
  const place: JsonSchema = {
    type: 'object',
    description: 'A place on a map.',
    properties: {
      latitude: { type: 'number' },
      longitude: { type: 'number' },
      nearby: { type: 'array', items: { $ref: '#/$defs/place' } },
    },
    required: ['latitude', 'longitude'],
  };
  const inputSchema: JsonSchema = {
    type: 'object',
    properties: {
      at: { $ref: '#/$defs/place' },
      days: { type: 'integer', minimum: 1, maximum: 14, default: 3 },
      unit: { enum: ['celsius', 'fahrenheit'] },
    },
    required: ['at'],
    $defs: { place },
  };
  const outputSchema: JsonSchema = {
    type: 'array',
    items: { type: 'object', properties: { day: { type: 'string' }, high: { type: ['number', 'null'] } }, required: ['day', 'high'] },
  };
  const tool = toolOf('forecast', { description: 'Forecast for the next days.', inputSchema, outputSchema });
  expect(declarations(createCatalog([{ namespace: ['weather'], tool }]))).toBe(example);
});
