import { describe, expect, test } from 'vitest';
import { createCatalog } from '../../src/tools/catalog.ts';
import { Discovery } from '../../src/tools/discovery.ts';
import { readNames, readSearch } from '../../src/tools/discovery-arguments.ts';
import { ToolIndexes } from '../../src/tools/search.ts';
import { toolOf } from '../helpers/tools.ts';

const input = { type: 'object', properties: { owner: { type: 'string' } }, required: ['owner'] };
const catalog = createCatalog([
  { namespace: ['github', 'issues'], tool: toolOf('list-open', { description: 'Lists open issues. Newest first.', inputSchema: input }) },
  { namespace: ['github'], tool: toolOf('get_user', { description: 'A user of the service.', inputSchema: input }) },
  { namespace: ['slack'], tool: toolOf('post', { description: 'Posts a message.', inputSchema: input, outputSchema: { type: 'string' } }) },
  { namespace: [], tool: toolOf('clock_now', { description: 'The time.' }) },
  { namespace: [], tool: toolOf('clock_zone', { description: 'The time zone.' }) },
]);
const discovery = new Discovery(catalog, new ToolIndexes());
const found = (query: string, options?: Parameters<Discovery['search']>[1]): string[] =>
  discovery.search(query, options).map(({ identifier }) => identifier);

describe('what is told of a tool', () => {
  test('by itself: how to call it, and its first sentence', () => {
    expect(discovery.search('open issues')).toEqual([
      {
        name: 'github.issues.list-open',
        identifier: 'tools.github.issues.list_open',
        description: 'Lists open issues.',
        signature: 'tools.github.issues.list_open(input: { owner: string }): Promise<unknown>',
      },
    ]);
  });

  test('its names alone', () => {
    expect(discovery.search('open issues', { detail: 'names' })).toEqual([
      { name: 'github.issues.list-open', identifier: 'tools.github.issues.list_open' },
    ]);
  });

  test('everything', () => {
    const [tool] = discovery.search('open issues', { detail: 'full' });
    expect(tool?.description).toBe('Lists open issues. Newest first.');
    expect(tool?.declaration).toBe(discovery.describe('github.issues.list_open'));
    expect(tool?.declaration).toContain('Newest first.');
  });

  test('as text a line, and how many more there are', () => {
    expect(discovery.searchText('', { limit: 1 })).toBe(
      'tools.github.issues.list_open(input: { owner: string }): Promise<unknown> — Lists open issues.\n4 more; search with other words, a namespace or a larger limit.',
    );
    expect(discovery.searchText('zone', { detail: 'names' })).toBe('tools.clock_zone');
    expect(discovery.searchText('qqqqq')).toBe(
      'No tool fits "qqqqq". There are 5 tools. The namespaces are github.issues, github, slack.'.replace(
        'github.issues, github',
        'github, github.issues',
      ),
    );
  });
});

describe('a namespace', () => {
  test.each([
    ['github', ['tools.github.issues.list_open', 'tools.github.get_user']],
    ['github.issues', ['tools.github.issues.list_open']],
    ['tools.Github.issues.', ['tools.github.issues.list_open']],
    ['clock', ['tools.clock_now', 'tools.clock_zone']],
  ])('%s', (namespace, identifiers) => {
    expect(found('', { namespace })).toEqual(identifiers);
  });

  test('that is not there is an error that says which there are', () => {
    expect(() => discovery.search('x', { namespace: 'gihub' })).toThrow(
      'There is no namespace `gihub`. Did you mean `github`? The namespaces are github, github.issues, slack.',
    );
    const flat = new Discovery(createCatalog([{ namespace: [], tool: toolOf('one') }]), new ToolIndexes());
    expect(() => flat.search('', { namespace: 'x' })).toThrow('The tools have no namespaces: search without one.');
  });
});

describe('a description', () => {
  test.each([
    ['github.get_user'],
    ['tools.github.get_user'],
    ['github_get_user'],
    ['mcp__github__get_user'],
    ['github/getUser'],
    ['get_user'],
    [' github.get_user '],
  ])('of %s is found', (name) => {
    expect(discovery.describe(name)).toBe(discovery.describe('github.get_user'));
    expect(discovery.describe(name)).toMatch(/^declare const tools/);
  });

  test('of a name that is nearly right is the nearest tool’s, and says so', () => {
    expect(discovery.describe('github.get_usr')).toMatch(
      /^\/\/ There is no tool "github.get_usr". The nearest is tools.github.get_user.\ndeclare const tools/,
    );
    expect(discovery.describe('evil\n*/ name of a user')).toMatch(/^\/\/ There is no tool "evil\\n\*\/ name of a user". [^\n]*\ndeclare/);
  });

  test('of what there is not is an error', () => {
    expect(() => discovery.describe('zyxwvutsr')).toThrow(
      expect.objectContaining({ code: 'tool_unknown', message: expect.stringContaining('There are 5 tools.') }),
    );
  });

  test('shows the type of results that were seen, where no schema tells it', () => {
    const seen = new Discovery(catalog, new ToolIndexes(), {
      typeOf: ({ segments }) => (segments[0] === 'clock_zone' ? undefined : '{ seen: true }'),
    });
    expect(seen.describe('github.get_user')).toContain('{ seen: true }');
    expect(seen.describe('slack.post')).not.toContain('seen');
    expect(seen.describe('clock_zone')).not.toContain('seen');
  });
});

describe('arguments of a search', () => {
  const defaults = { query: 'x', limit: undefined, namespace: undefined, detail: undefined, format: 'objects' };
  test.each<[string, unknown[], object]>([
    ['the query', ['x'], {}],
    [
      'the query and options',
      ['x', { limit: 3, namespace: 'a', detail: 'full', format: 'text' }],
      { limit: 3, namespace: 'a', detail: 'full', format: 'text' },
    ],
    ['one object', [{ query: 'x', limit: 3 }], { limit: 3 }],
    ['one object in other words', [{ q: 'x', max_results: '3', server: 'a' }], { limit: 3, namespace: 'a' }],
    ['a number as the limit', ['x', 3], { limit: 3 }],
    ['a word as the namespace', ['x', 'github'], { namespace: 'github' }],
    ['a word as the detail', ['x', 'full'], { detail: 'full' }],
    ['a list of words', [['x', 'y']], { query: 'x y' }],
    ['nothing', [], { query: '' }],
    ['null', [null, null], { query: '' }],
    ['a fraction', ['x', 2.7], { limit: 2 }],
    ['a detail in other words', ['x', { detail: 'Signature' }], { detail: 'signatures' }],
    ['a detail, mistyped', ['x', { detail: 'nmaes' }], { detail: 'names' }],
  ])('%s', (_, args, read) => {
    expect(readSearch(args)).toEqual({ ...defaults, ...read });
  });

  test.each<[unknown[], string]>([
    [[true], 'Give words to look for, such as "create issue", not a boolean.'],
    [['x', { limit: 0 }], 'Give a `limit` from 1, not 0.'],
    [['x', { limit: 'many' }], 'Give a `limit` from 1, not "many".'],
    [['x', { namespace: 7 }], 'Give a `namespace` such as "github", not a number.'],
    [['x', { detail: 'zzzzzz' }], 'Give `detail` as "names", "signatures" or "full", not "zzzzzz".'],
    [['x', { format: 'xml' }], 'Give `format` as "objects" or "text", not "xml".'],
  ])('%j is refused', (args, message) => {
    expect(() => readSearch(args)).toThrow(message);
  });

  test('names of the language are no words of the call', () => {
    expect(() => readSearch(['x', { detail: 'constructor' }])).toThrow('Give `detail`');
    expect(readSearch(['x', 'toString'])).toMatchObject({ namespace: 'toString' });
  });
});

describe('arguments of a description', () => {
  test.each<[string, unknown[], string[]]>([
    ['a name', ['a'], ['a']],
    ['an object', [{ name: 'a' }], ['a']],
    ['a tool that was found', [{ name: 'a', identifier: 'tools.a' }], ['a']],
    ['names', ['a', 'b'], ['a', 'b']],
    ['a list of names', [['a', { name: 'b' }]], ['a', 'b']],
  ])('%s', (_, args, names) => {
    expect(readNames(args)).toEqual(names);
  });

  test.each<[unknown[]]>([[[]], [[7]], [[{}]], [[[]]], [['']], [[['a', 7]]], [[Array(51).fill('a')]]])('%j is refused', (args) => {
    expect(() => readNames(args)).toThrow(expect.objectContaining({ code: 'option_invalid' }));
  });
});

test('limits are bounded by what a model can read', () => {
  const many = createCatalog(Array.from({ length: 1_500 }, (_, index) => ({ namespace: [], tool: toolOf(`t${index}`) })));
  const all = new Discovery(many, new ToolIndexes());
  expect(all.search('', { limit: 1e9, detail: 'names' })).toHaveLength(1_000);
  expect(all.search('', { limit: 1e9 })).toHaveLength(200);
  expect(all.search('', { limit: 1e9, detail: 'full' })).toHaveLength(50);
  expect(all.search('')).toHaveLength(10);
});
