// What a model is told: short, true, and with an example that is right.
import { encode } from 'gpt-tokenizer';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import { type CodeModeOptions, createCodeMode, defineTool, type JsonSchema } from '../../src/index.ts';
import { createClassicCompiler } from '../../src/isolation/compiler-classic.ts';
import { checkTypes } from '../../src/program/typecheck.ts';
import { resolveLimits } from '../../src/protocol/limits.ts';
import { exampleProgram } from '../../src/session/example-program.ts';
import { instructionsFor } from '../../src/session/instructions.ts';
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import { checkedWorld } from '../../src/tools/declarations.ts';
import { Discovery } from '../../src/tools/discovery.ts';
import { ToolIndexes } from '../../src/tools/search.ts';
import { CATALOG_FILES, readCatalog } from '../helpers/catalogs.ts';
import { toolOf } from '../helpers/tools.ts';

const compiler = createClassicCompiler(ts);

function problemsOf(catalog: Catalog, program: string): string[] {
  const world = { id: catalog.id, declarations: checkedWorld(catalog), paths: catalog.entries.map(({ path }) => path) };
  return checkTypes(program, world, compiler).map(({ message }) => message);
}

/** What stands before the declarations. */
function guideOf(instructions: string): string {
  return instructions.split('\nThe tools:\n')[0] ?? '';
}

const objectOf = (properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
});
const string = { type: 'string' } as const;
const integer = { type: 'integer' } as const;

describe('the example', () => {
  test('goes from a list to what each of its items leads to', () => {
    const catalog = createCatalog([
      { namespace: ['github'], tool: toolOf('delete_repo', { inputSchema: objectOf({ owner: string }) }) },
      {
        namespace: ['github'],
        tool: toolOf('list_issues', {
          inputSchema: objectOf({ owner: string }),
          outputSchema: objectOf({ items: { type: 'array', items: objectOf({ issue: integer }) } }),
        }),
      },
      { namespace: ['github'], tool: toolOf('get_issue', { inputSchema: objectOf({ owner: string, issue: integer }) }) },
    ]);
    expect(exampleProgram(catalog)).toBe(
      `const found = await tools.github.list_issues({ owner: "owner" });
const details = await Promise.all(found.items.slice(0, 3).map(({ issue }) => tools.github.get_issue({ owner: "owner", issue })));
return details;`,
    );
    expect(problemsOf(catalog, exampleProgram(catalog) ?? '')).toEqual([]);
  });

  test('calls two related tools at once where no list is known', () => {
    const catalog = createCatalog([
      { namespace: [], tool: toolOf('search_code', { inputSchema: objectOf({ repo: { type: 'string', examples: ['octo/cat'] } }) }) },
      { namespace: [], tool: toolOf('time', { inputSchema: objectOf({ zone: { enum: ['utc', 'local'] } }) }) },
      { namespace: [], tool: toolOf('get_branch', { inputSchema: objectOf({ repo: string, depth: { type: 'integer', minimum: 3 } }) }) },
    ]);
    expect(exampleProgram(catalog)).toBe(
      `const [first, second] = await Promise.all([
  tools.search_code({ repo: "octo/cat" }),
  tools.get_branch({ repo: "repo", depth: 3 }),
]);
return { first, second };`,
    );
  });

  test('calls the one tool there is', () => {
    const catalog = createCatalog([
      { namespace: [], tool: toolOf('time', { inputSchema: objectOf({ zone: { enum: ['utc', 'local'] } }) }) },
    ]);
    expect(exampleProgram(catalog)).toBe('const result = await tools.time({ zone: "utc" });\nconsole.log(result);\nreturn result;');
  });

  test('does not call what deletes, nor what is hard to call, while there is something else', () => {
    const catalog = createCatalog([
      { namespace: [], tool: toolOf('delete_all', { inputSchema: objectOf({}) }) },
      { namespace: [], tool: toolOf('deep', { inputSchema: objectOf({ a: { not: {} } }) }) },
      { namespace: [], tool: toolOf('get_one', { inputSchema: objectOf({ id: string }) }) },
    ]);
    expect(exampleProgram(catalog)).toContain('await tools.get_one({ id: "id" });');
  });

  test('is left out where nothing is simple', () => {
    expect(
      exampleProgram(createCatalog([{ namespace: [], tool: toolOf('hard', { inputSchema: { anyOf: [{ required: ['a'] }] } }) }])),
    ).toBeUndefined();
  });
});

describe('the instructions', () => {
  const opened: { close(): Promise<void> }[] = [];
  afterAll(() => Promise.all(opened.map((codeMode) => codeMode.close())));
  const find = defineTool({
    name: 'find',
    description: 'Finds.',
    inputSchema: { type: 'object', properties: { query: string }, required: ['query'], additionalProperties: false },
    execute: () => [],
  });
  const pay = defineTool({ name: 'pay', description: 'Pays.', execute: () => null });
  async function told(options: Partial<CodeModeOptions> = {}, except: readonly string[] = []): Promise<string> {
    const codeMode = createCodeMode({ tools: [find, pay], ...options });
    opened.push(codeMode);
    const session = await codeMode.openSession({ except });
    return session.instructions;
  }

  test('tell of what is on', async () => {
    const plain = await told();
    expect(plain).toContain('searchTools');
    expect(plain).not.toContain('search_tools');
    expect(plain).not.toContain('call them directly');
    const conversation = await told({ discovery: 'conversation' });
    expect(conversation).not.toContain('searchTools');
    expect(conversation).toContain('`search_tools`');
    expect(await told({ discovery: 'both' })).toMatch(/searchTools[\s\S]*`search_tools`/);
    expect(await told({ limits: { calls: 7, cpuMs: 500, memoryBytes: 32 * 2 ** 20, concurrentCalls: 2 } })).toContain(
      'A program has 7 calls, 2 at a time, 500 ms of computing (interpreted) and 32 MiB.',
    );
  });

  test('tell which tools stay in the conversation, and neither declare them nor call them', async () => {
    const text = await told({}, ['pay']);
    expect(text).toContain('Not in programs, call them directly: pay.');
    expect(text).not.toContain('pay(');
    expect(text).toContain('tools.find({ query: "query" })');
  });

  test('without tools say so', async () => {
    const text = await told({ tools: [] });
    expect(text).toMatch(/Programs have no tools\.$/);
    expect(text).not.toContain('searchTools');
  });

  test('the example of a session runs', async () => {
    const codeMode = createCodeMode({ tools: [find], typecheck: 'error' });
    opened.push(codeMode);
    const session = await codeMode.openSession();
    const example = /For example:\n```ts\n([\s\S]*?)\n```/.exec(session.instructions)?.[1] ?? '';
    expect(example).toContain('tools.find');
    expect((await session.exec(example)).status).toBe('completed');
  });
});

test.skipIf(CATALOG_FILES.length > 0)('real catalogs are not tested: ../shared/catalogs is absent', () => undefined);
describe('of real catalogs', () => {
  test.for(CATALOG_FILES)('%s: under 350 tokens before the declarations, and an example that fits the types', (file) => {
    const catalog = readCatalog(file);
    const rest = createCatalog(catalog.entries.slice(20).map(({ spellings, tool }) => ({ namespace: spellings.slice(0, -1), tool })));
    for (const programs of [catalog, rest]) {
      const text = instructionsFor({
        discovery: new Discovery(programs, new ToolIndexes()),
        everything: catalog,
        limits: resolveLimits(),
        discoveryPlace: 'both',
      });
      expect(encode(guideOf(text)).length).toBeLessThan(350);
    }
    const example = exampleProgram(catalog);
    if (example === undefined) return;
    // The tools that it calls are enough to check it, and take less time.
    const called = catalog.entries.filter(({ path }) => example.includes(`tools.${path}(`));
    const small = createCatalog(called.map(({ spellings, tool }) => ({ namespace: spellings.slice(0, -1), tool })));
    expect(problemsOf(small, example)).toEqual([]);
  });

  test.skipIf(CATALOG_FILES.length === 0)('nearly all have an example, most of them of two tools', () => {
    const examples = CATALOG_FILES.map((file) => exampleProgram(readCatalog(file)));
    expect(examples.filter((example) => example !== undefined).length).toBeGreaterThan(examples.length * 0.9);
    expect(examples.filter((example) => example?.includes('Promise.all')).length).toBeGreaterThan(examples.length * 0.5);
  });
});
