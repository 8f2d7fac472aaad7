import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { createClassicCompiler } from '../../src/isolation/compiler-classic.ts';
import { checkTypes, type TypeProblem } from '../../src/program/typecheck.ts';
import { createCatalog } from '../../src/tools/catalog.ts';
import { checkedWorld } from '../../src/tools/declarations.ts';
import { hasCorpus } from '../helpers/corpora.ts';
import { type Pattern, readMockCatalog, readPatterns, readProgram } from '../helpers/patterns.ts';
import { toolOf } from '../helpers/tools.ts';

const catalog = createCatalog([
  {
    namespace: ['github'],
    tool: toolOf('list-issues', {
      inputSchema: {
        type: 'object',
        properties: {
          owner: { type: 'string' },
          state: { enum: ['open', 'closed'] },
          labels: { type: 'array', items: { type: 'string' } },
        },
        required: ['owner'],
        additionalProperties: false,
      },
      outputSchema: {
        type: 'object',
        properties: {
          items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' }, title: { type: 'string' } } } },
          next: { type: ['string', 'null'] },
        },
      },
    }),
  },
  {
    namespace: ['github'],
    tool: toolOf('get_issue', { inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } }),
  },
  { namespace: [], tool: toolOf('now', { inputSchema: { type: 'object', properties: {}, additionalProperties: false } }) },
  {
    namespace: [],
    tool: toolOf('either', {
      outputSchema: {
        anyOf: [
          { type: 'object', properties: { ok: { const: true } } },
          { type: 'object', properties: { error: { type: 'string' } } },
        ],
      },
    }),
  },
]);
const world = { id: catalog.id, declarations: checkedWorld(catalog), paths: catalog.entries.map(({ path }) => path) };
const compiler = createClassicCompiler(ts);
const check = (source: string): TypeProblem[] => checkTypes(source, world, compiler);

describe('told, with the place and the way out', () => {
  test.each([
    [
      'a tool that is not there',
      'return await tools.github.gte_issue({ id: 1 })',
      '1:27 There is no tool `github.gte_issue`. Did you mean `tools.github.get_issue`?',
    ],
    [
      'a namespace that is not there',
      'return await tools.gihub.get_issue({ id: 1 })',
      '1:20 There is no tool `gihub.get_issue`. Did you mean `tools.github.get_issue`?',
    ],
    [
      'a namespace that is called',
      'return await tools.github({ id: 1 })',
      '1:20 `tools.github` is not a function. [Its tools are called by name, such as `tools.github.list_issues`, `tools.github.get_issue`.]',
    ],
    [
      'a tool in a destructured namespace',
      'async ({ github }) => github.get_isue({ id: 1 })',
      '1:30 There is no property `get_isue` on `github`. Did you mean `get_issue`?',
    ],
    [
      'an argument that is not there',
      'await tools.github.list_issues({ ownr: "x" })',
      '1:34 `tools.github.list_issues` takes no `ownr`. Did you mean `owner`?',
    ],
    [
      'an argument that is missing',
      'await tools.github.list_issues({ state: "open" })',
      '1:32 `tools.github.list_issues` needs `owner` in its input.',
    ],
    [
      'an argument of the wrong type',
      'await tools.github.get_issue({ id: "7" })',
      '1:32 `tools.github.get_issue`: `id` should be `number`, but is `string`.',
    ],
    [
      'a value that is none of the enum',
      'await tools.github.list_issues({ owner: "x", state: "opened" })',
      '1:46 `tools.github.list_issues`: `state` should be `"open" | "closed"`, but is `"opened"`. Did you mean `"open"`?',
    ],
    [
      'an item of the wrong type',
      'await tools.github.list_issues({ owner: "x", labels: [1] })',
      '1:55 `tools.github.list_issues`: an item of `labels` should be `string`, but is `number`.',
    ],
    ['no input', 'await tools.github.list_issues()', '1:20 `tools.github.list_issues` needs an input: an object of its arguments by name.'],
    [
      'several arguments',
      'await tools.github.get_issue(7, true)',
      '1:33 `tools.github.get_issue` takes one argument, an object of its arguments by name, but is given 2.',
    ],
    [
      'an argument for a tool that takes none',
      'await tools.now({ zone: "UTC" })',
      '1:19 `tools.now` takes no properties: call it with `{}` or nothing.',
    ],
    [
      'an alias of a tool',
      'const { list_issues } = tools.github; await list_issues({ ownr: "x" })',
      '1:59 `list_issues` takes no `ownr`. Did you mean `owner`?',
    ],
    [
      'a tool by its flat name',
      'await github_get_issue({ id: "7" })',
      '1:26 `github_get_issue`: `id` should be `number`, but is `string`.',
    ],
    [
      'a tool without its namespace',
      'await get_issue({ id: 7 })',
      '1:7 There is no `get_issue` here. Did you mean `tools.github.get_issue`?',
    ],
    [
      'a call that is not awaited, read',
      'const page = tools.github.list_issues({ owner: "x" }); return page.items',
      '1:68 `items` is read from a promise, not from what it gives. [Put `await` before the call.]',
    ],
    [
      'a call that is not awaited, read at once',
      'return tools.github.get_issue({ id: 7 }).title',
      '1:42 `title` is read from a promise, not from what it gives. [Put `await` before the call: `(await tools.github.get_issue({ id: 7 })).title`.]',
    ],
    [
      'a call that is not awaited, destructured',
      'const { items } = tools.github.list_issues({ owner: "x" }); return items',
      '1:9 `items` is read from a promise, not from what it gives. [Put `await` before the call: `(await tools.github.list_issues({ owner: "x" })).items`.]',
    ],
    [
      'a call that is not awaited, in a loop',
      'for (const issue of tools.github.list_issues({ owner: "x" })) text(issue)',
      '1:21 A promise is used where its value is needed. [Put `await` before the call.]',
    ],
    [
      'a call that is not awaited, as an argument',
      'await tools.github.get_issue({ id: tools.now() })',
      '1:32 `tools.github.get_issue` is given a promise. [Put `await` before the call.]',
    ],
    [
      'a property that a result does not have',
      'const page = await tools.github.list_issues({ owner: "x" }); return page.itmes.length',
      '1:74 There is no property `itmes` on `page`. Did you mean `items`?',
    ],
    [
      'a property of an item',
      'return (await tools.github.list_issues({ owner: "x" })).items.map((issue) => issue.body)',
      '1:84 There is no property `body` on `issue`, which is `{ id?: number; title?: string; }`.',
    ],
    ['a method that is misspelt', 'return [1].lenght', '1:12 There is no property `lenght` on `[1]`. Did you mean `length`?'],
    ['a name that is not there', 'return total + 1', '1:8 There is no `total` here.'],
    [
      'the network',
      'return await fetch("https://example.test")',
      '1:14 There is no `fetch` here. [There is no network here: call the tools, as `await tools.<name>(…)`; they do it on your behalf.]',
    ],
    [
      'a constant that is assigned',
      'const total = 1; total += 1; return total',
      '1:18 `total` is a constant: it cannot be assigned again.',
    ],
    ['a variable before its time', 'text(late); const late = 1;', '1:6 `late` is used before it is declared.'],
    ['something that is no function', 'const count = 3; return count()', '1:25 `count` is not a function.'],
  ])('%s', (_, source, said) => {
    expect(
      check(source).map(({ line, column, message, hint }) => `${line}:${column} ${message}${hint === undefined ? '' : ` [${hint}]`}`),
    ).toEqual([said]);
  });

  test.each([
    ['a fence with prose', 'Here it is:\n```ts\nconst id: string = "ü🙂"; /* 🙂 */ await tools.nwo();\n```\nDone.', 3, 48],
    ['a default export', 'export default async function () {\n  return tools.nwo();\n}', 2, 16],
    ['an import that names the tools', 'import { github } from "mcp";\nreturn await github.get_isue({ id: 1 });', 2, 21],
    ['an arrow in the middle of lines that end in CRLF', '// one\r\nasync () => {\r\n  await tools.nwo();\r\n}', 3, 15],
    ['a function that is called for it', 'async function main() {\n  await tools.nwo();\n}', 2, 15],
  ])('%s: the position is in the text as the model wrote it', (_, source, line, column) => {
    expect(check(source)).toEqual([expect.objectContaining({ line, column })]);
  });

  test('several problems come in order, each once', () => {
    const problems = check('await tools.nwo();\nawait tools.github.get_issue({ id: "1" });\nreturn missing + missing;');
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  test('a program with a hundred mistakes does not give a hundred problems', () => {
    const source = Array.from({ length: 100 }, (_, index) => `tools.nothing_${index}();`).join('\n');
    expect(check(source)).toHaveLength(20);
  });
});

describe('not told, because it runs', () => {
  test.each([
    'const made = {}; made.list = []; made.list.push(1); return made.count',
    'const input: { owner: string } = { owner: "x" }; (input as any).state = "open"; return await tools.github.list_issues(input)',
    'const input = { owner: "x" }; input.state = "open"; return await tools.github.list_issues(input)',
    'for (const state of ["open", "closed"]) await tools.github.list_issues({ owner: "x", state })',
    'const input = { owner: "x", state: "open" }; return await tools.github.list_issues(input)',
    'return await tools.github.list_issues({ owner: new Date() })',
    'let total = 5; total = total.toFixed(2); return total',
    'return new Date() - new Date(0)',
    'return parseInt(5.5) + Math.round("5") + isNaN("x")',
    'function add(a, b) { return b === undefined ? a : a + b } return add(1)',
    'try { await tools.now() } catch (error) { return error.code ?? error.message }',
    'try { JSON.parse("") } catch (error) { if (error instanceof Error) return error.code }',
    'const error = new Error("x"); error.status = 404; throw error',
    'return typeof fetch === "undefined" && typeof tools.github.nothing === "function"',
    'count = 0; for (const x of [1, 2]) count += x; return count',
    'const issue = await tools.github.get_issue({ id: 1 }); return issue.user.login[0]',
    'const [now, page] = await Promise.all([tools.now(), tools.github.list_issues({ owner: "x" })]); return page.items[0].title + now.zone',
    'const results = await Promise.allSettled([tools.now()]); return results.map((result) => result.value ?? result.reason)',
    'const answer = await tools.either(); return answer.error ?? answer.ok',
    'const wanted: Wanted = 1; return wanted',
    'interface Page { items: Missing[] }\nconst page = (await tools.now()) as Page; return page.items',
    'class Counter { constructor() { this.count = 1 } } return new Counter().count',
    'const name = "now"; return await tools[name]()',
    'return await tools.call("github.list-issues", { owner: "x" })',
    'return await tools.github["list-issues"]({ owner: "x" })',
    'return await tools.either(1, 2, 3)',
    'return await external_github_get_issue({ id: 1 })',
    'enum Level { Low, High } return Level.High',
    'const groups = Object.groupBy([{ kind: "a" }], ({ kind }) => kind); return groups.a.length',
    'const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms)); await wait(1)',
    '/** @type {Nothing} */ const x = 1; return x',
    'return await (await import("node:fs")).readFile("x")',
    '"use strict"; using handle = { [Symbol.dispose]() {} }; return 1',
    'not a program at all',
    '',
  ])('%s', (source) => {
    expect(check(source)).toEqual([]);
  });
});

describe('the program patterns', () => {
  const present = hasCorpus('programs');
  /** Patterns that are about a mistake, or about a name that not every world has. */
  const mistaken = new Set(['call-unawaited-then-read', 'call-unknown-tool', 'err-reference', 'env-text-image-helpers']);

  test.skipIf(present)('are not tested: ../shared/programs is absent', () => undefined);
  test.runIf(present)('a program that runs is not refused', async () => {
    const mock = createCatalog(await readMockCatalog());
    const mockWorld = {
      id: mock.id,
      declarations: `${checkedWorld(mock)}declare const spec: any;`,
      paths: mock.entries.map(({ path }) => path),
    };
    const refused = (pattern: Pattern): boolean => checkTypes(readProgram(pattern), mockWorld, compiler).length > 0;
    expect(
      readPatterns()
        .filter(refused)
        .map(({ slug }) => slug)
        .filter((slug) => !mistaken.has(slug)),
    ).toEqual([]);
  });
});
