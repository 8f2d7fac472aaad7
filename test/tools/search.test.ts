import { describe, expect, test } from 'vitest';
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import { createToolIndex, ToolIndexes } from '../../src/tools/search.ts';
import { hasCorpus, readCorpus } from '../helpers/corpora.ts';
import { toolOf } from '../helpers/tools.ts';

const inputOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

const catalog = createCatalog([
  {
    namespace: ['github'],
    tool: toolOf('list_issues', { description: 'Lists the issues of a repository.', inputSchema: inputOf('owner', 'state') }),
  },
  {
    namespace: ['github'],
    tool: toolOf('createPullRequest', { description: 'Opens a pull request.', inputSchema: inputOf('title', 'baseBranch') }),
  },
  { namespace: ['github'], tool: toolOf('delete_file', { description: 'Removes a file from a branch.' }) },
  {
    namespace: ['slack'],
    tool: toolOf('post_message', { description: 'Sends a message to a channel.', inputSchema: inputOf('channel', 'text') }),
  },
  {
    namespace: ['slack'],
    tool: toolOf('list', { description: 'All channels. See also the issues of a repository, its owner and its state.' }),
  },
  {
    namespace: [],
    tool: toolOf('weather', {
      description: 'Forecast for a city.',
      inputSchema: { type: 'object', properties: { place: { type: 'object', properties: { postcode: {} } } } },
    }),
  },
]);
const { find } = createToolIndex(catalog);
const paths = (query: string): string[] => find(query).map((index) => catalog.at(index)?.path ?? '');

describe('finds by', () => {
  test.each([
    ['words of the description', 'forecast city', 'weather'],
    ['words of the name', 'pull request create', 'github.createPullRequest'],
    ['names of parameters', 'title and base', 'github.createPullRequest'],
    ['names of parameters inside parameters', 'postcode', 'weather'],
    ['other forms of a word', 'listing issue', 'github.list_issues'],
    ['another verb', 'remove file', 'github.delete_file'],
    ['a letter too many', 'forrecast', 'weather'],
    ['a letter too few', 'mesage chanel', 'slack.post_message'],
    ['another letter', 'forekast', 'weather'],
    ['two letters swapped', 'ctiy', 'weather'],
    ['the beginning of a word', 'forec', 'weather'],
    ['a namespace in the words', 'slack message', 'slack.post_message'],
  ])('%s', (_, query, path) => {
    expect(paths(query)[0]).toBe(path);
  });
});

describe('a name that is spelled out comes first', () => {
  test.each([
    ['github.list_issues', 'github.list_issues'],
    ['tools.slack.list', 'slack.list'],
    ['list', 'slack.list'],
    ['createPullRequest', 'github.createPullRequest'],
    ['create pull request', 'github.createPullRequest'],
  ])('%s', (query, path) => {
    expect(paths(query)[0]).toBe(path);
  });
});

test('no words list everything in the order of the catalog', () => {
  expect(paths('')).toEqual(catalog.entries.map(({ path }) => path));
  expect(paths(' \n')).toHaveLength(6);
});

test('what no tool says is not found', () => {
  expect(paths('zyxwvutsr')).toEqual([]);
  expect(paths('?!')).toEqual([]);
});

test('`within` keeps everything else out', () => {
  expect(find('list', (index) => index === 0)).toEqual([0]);
  expect(find('', (index) => index > 3)).toEqual([4, 5]);
});

test('the same query gives the same answer, and ties are in the order of the catalog', () => {
  const twins = createCatalog(
    [0, 1, 2, 3].map((number) => ({ namespace: [`n${number}`], tool: toolOf('same', { description: 'The same.' }) })),
  );
  expect(createToolIndex(twins).find('same thing')).toEqual([0, 1, 2, 3]);
});

test('names of the language are ordinary words', () => {
  const odd = createCatalog(['constructor', '__proto__', 'hasOwnProperty'].map((name) => ({ namespace: [], tool: toolOf(name) })));
  const index = createToolIndex(odd);
  expect(odd.at(index.find('constructor')[0] ?? -1)?.name).toBe('constructor');
  expect(odd.at(index.find('__proto__')[0] ?? -1)?.name).toBe('__proto__');
});

describe('with 5 000 tools and a hostile query', () => {
  const many = createCatalog(
    Array.from({ length: 5_000 }, (_, index) => ({
      namespace: [`service${index % 50}`],
      tool: toolOf(`get_thing_${index}`, {
        description: `Gets the thing of kind ${index} for the user with the id and the name.`,
        inputSchema: inputOf('id', 'name'),
      }),
    })),
  );
  const index = createToolIndex(many);

  test.each([
    ['words that all tools have', 'get the thing of kind for user with id and name '.repeat(5_000)],
    ['words that no tool has', Array.from({ length: 20_000 }, (_, number) => `q${number.toString(36)}zx`).join(' ')],
    ['one endless word', 'x'.repeat(1_000_000)],
    ['every number', Array.from({ length: 5_000 }, (_, number) => number).join(' ')],
    ['no words at all', '\u0000\ud800 '.repeat(100_000)],
  ])('%s take no longer than a moment', (_, query) => {
    const began = performance.now();
    index.find(query);
    expect(performance.now() - began).toBeLessThan(1_500);
  });

  test('one tool is found among all', () => {
    expect(index.find('thing of kind 4321')[0]).toBe(4_321);
  });
});

describe('indexes', () => {
  test('are shared by catalogs that say the same, and by no others', () => {
    const indexes = new ToolIndexes();
    const make = (description: string): Catalog => createCatalog([{ namespace: [], tool: toolOf('one', { description }) }]);
    const first = indexes.of(make('The one.'));
    expect(indexes.of(make('The one.'))).toBe(first);
    expect(indexes.of(make('Another.'))).not.toBe(first);
  });

  test('are made in short steps where that was asked for, and are the same', async () => {
    const indexes = new ToolIndexes();
    let turns = 0;
    const ticking = setInterval(() => turns++, 0);
    const many = createCatalog(Array.from({ length: 1_000 }, (_, index) => ({ namespace: [], tool: toolOf(`thing_${index}`) })));
    await Promise.all([indexes.prepare(many), indexes.prepare(many)]);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(1);
    const index = indexes.of(many);
    expect(indexes.of(many)).toBe(index);
    expect(index.find('thing 777')).toEqual(createToolIndex(many).find('thing 777'));
    const same = createCatalog(many.entries.map(({ tool }) => ({ namespace: [], tool })));
    await indexes.prepare(same);
    expect(indexes.of(same)).toBe(index);
  });

  test('do not pile up', () => {
    const indexes = new ToolIndexes();
    const first = createCatalog([{ namespace: [], tool: toolOf('first') }]);
    const before = indexes.of(first);
    for (let number = 0; number < 20; number++) indexes.of(createCatalog([{ namespace: [], tool: toolOf(`tool${number}`) }]));
    expect(indexes.of(createCatalog([{ namespace: [], tool: toolOf('first') }]))).not.toBe(before);
  });
});

const present = hasCorpus('catalogs');
test.skipIf(!present)('tools of a real server are found by what they do (skipped when ../shared/catalogs is absent)', () => {
  const { tools } = JSON.parse(readCorpus('catalogs/github-official.json')) as {
    tools: { name: string; description: string; inputSchema: object }[];
  };
  const real = createCatalog(
    tools.map(({ name, description, inputSchema }) => ({
      namespace: [],
      tool: toolOf(name, { description, inputSchema: { ...inputSchema } }),
    })),
  );
  const index = createToolIndex(real);
  const five = (query: string): string[] =>
    index
      .find(query)
      .slice(0, 5)
      .map((number) => real.at(number)?.name ?? '');
  expect(five('make a new branch')).toContain('create_branch');
  expect(five('serach code')).toContain('search_code');
  expect(five('notifications mark all as read')).toContain('mark_all_notifications_read');
});
