import { describe, expect, test } from 'vitest';
import { type Catalog, createCatalog, toIdentifier } from '../../src/tools/catalog.ts';
import { toolOf } from '../helpers/tools.ts';

/** `github/list-issues` is the tool `list-issues` in the namespace `github`. */
function catalogOf(...paths: string[]): Catalog {
  return createCatalog(
    paths.map((path) => {
      const namespace = path.split('/');
      return { namespace: namespace.slice(0, -1), tool: toolOf(namespace.at(-1) ?? '') };
    }),
  );
}

describe('names', () => {
  test.each([
    ['list-issues', 'list_issues'],
    ['weather.get', 'weather_get'],
    ['2fa', '_2fa'],
    ['then', '_then'],
    ['__proto__', '___proto__'],
    ['constructor', 'constructor'],
    ['delete', 'delete'],
    ['größe', 'gr__e'],
    ['a🙂b', 'a_b'],
    ['-', '_'],
    ['$x', '$x'],
  ])('%j is the identifier %j', (name, identifier) => {
    expect(toIdentifier(name, { atRoot: false })).toBe(identifier);
  });

  test('the helper tools.call is not shadowed; below a namespace the name is free', () => {
    expect(catalogOf('call', 'phone/call').entries.map(({ path }) => path)).toEqual(['_call', 'phone.call']);
  });

  test('a dot in a name belongs to the name, only providers nest', () => {
    expect(catalogOf('weather.get').entries[0]).toMatchObject({ segments: ['weather_get'], path: 'weather_get', name: 'weather.get' });
  });

  test('names such as constructor, toString and __proto__ are found, and only when they are there', () => {
    const odd = ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf'];
    const catalog = catalogOf(...odd, ...odd.map((name) => `prototype/${name}`));
    for (const [index, name] of odd.entries()) {
      expect(catalog.find(name)?.index).toBe(index);
      expect(catalog.find(`prototype.${name}`)?.index).toBe(index + odd.length);
    }
    const empty = catalogOf();
    for (const name of odd) expect(empty.find(name)).toBeUndefined();
  });
});

describe('lookup', () => {
  const catalog = catalogOf('github/list-issues', 'echo', 'tools/deep/x');

  test.each(['github.list-issues', 'github.list_issues', 'tools.github.list-issues', 'tools.github.list_issues'])(
    '%s finds the tool',
    (name) => {
      expect(catalog.find(name)).toBe(catalog.entries[0]);
    },
  );

  test('a namespace called tools needs no second prefix', () => {
    expect(catalog.find('tools.deep.x')?.index).toBe(2);
    expect(catalog.find('tools.tools.deep.x')?.index).toBe(2);
  });

  test.each(['', 'github', 'list-issues', 'tools.', 'tools', 'Echo', 'echo.'])('%j finds nothing', (name) => {
    expect(catalog.find(name)).toBeUndefined();
  });

  test.each([-1, 3, 0.5, Number.NaN])('there is no entry %d', (index) => {
    expect(catalog.at(index)).toBeUndefined();
  });

  test('an index is a place in order of declaration', () => {
    expect(catalog.entries.map(({ index, name }) => [index, name])).toEqual([
      [0, 'github.list-issues'],
      [1, 'echo'],
      [2, 'tools.deep.x'],
    ]);
    expect(catalog.at(1)?.tool.name).toBe('echo');
  });
});

describe('collisions', () => {
  test.each([
    ['the same name twice', ['a/x', 'a/x'], /two tools named `a\.x`/],
    [
      'a hyphen and a dot',
      ['weather-get', 'weather.get'],
      /tool `weather-get` and the tool `weather\.get` would both be `tools\.weather_get`/,
    ],
    [
      'an underscore and a hyphen, in a namespace',
      ['n/weather_get', 'n/weather-get'],
      /`n\.weather_get` and the tool `n\.weather-get`.*`tools\.n\.weather_get`/,
    ],
    ['a tool and then a namespace', ['a-b', 'a_b/c'], /tool `a-b` and the namespace `a_b` would both be `tools\.a_b`/],
    ['a namespace and then a tool', ['a_b/c', 'a-b'], /namespace `a_b` and the tool `a-b`/],
    ['two namespaces', ['git-hub/a', 'git_hub/b'], /namespace `git-hub` and the namespace `git_hub`/],
    ['a renamed name and one that has it', ['then', '_then'], /`then` and the tool `_then`/],
    [
      'a dot in a name and a namespace',
      ['weather.get', 'weather/get'],
      /`weather\.get` could mean two tools, `tools\.weather_get` and `tools\.weather\.get`/,
    ],
    ['a name __proto__ twice', ['__proto__', '__proto__'], /two tools named `__proto__`/],
  ])('%s: refused, naming both', (_, paths, message) => {
    expect(() => catalogOf(...paths)).toThrow(message);
    expect(() => catalogOf(...paths)).toThrow(expect.objectContaining({ code: 'name_collision' }));
  });

  test('the same name in two namespaces is fine, and two providers may share a namespace', () => {
    expect(catalogOf('a/x', 'b/x', 'x', 'a/y').entries).toHaveLength(4);
  });
});

describe('manifest', () => {
  test('tells the guest path, name and description by index', () => {
    const { manifest } = catalogOf('github/list-issues', 'echo');
    expect(JSON.parse(manifest.entries)).toMatchObject([
      {
        path: ['github', 'list_issues'],
        spellings: ['github', 'list-issues'],
        name: 'github.list-issues',
        description: 'The tool list-issues.',
      },
      { path: ['echo'], name: 'echo', description: 'The tool echo.' },
    ]);
  });

  test('the id names the tools and their order', () => {
    expect(catalogOf('a', 'b').id).toMatch(/^[0-9a-f]{64}$/);
    expect(catalogOf('a', 'b').id).toBe(catalogOf('a', 'b').id);
    expect(catalogOf('a', 'b').id).not.toBe(catalogOf('b', 'a').id);
  });

  test('nobody can change a catalog', () => {
    const { entries } = catalogOf('a/b');
    const segments = (entries[0]?.segments ?? []) as string[];
    expect(() => (entries as unknown[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(entries[0] ?? {}, { path: 'c' })).toThrow(TypeError);
    expect(() => segments.push('c')).toThrow(TypeError);
  });
});

describe('the manifest of many tools', () => {
  const many = (count: number, length: number): Catalog =>
    createCatalog(
      Array.from({ length: count }, (_, index) => ({
        namespace: [],
        tool: toolOf(`tool_${index}`, { description: 'word '.repeat(length / 5) }),
      })),
    );

  test('says everything of each in the entries where that is short', () => {
    const { entries, texts } = many(100, 1_000).manifest;
    expect(texts).toBe('');
    expect(JSON.parse(entries)[99]).toMatchObject({ description: 'word '.repeat(200) });
  });

  test('keeps what is said apart where it is long', () => {
    const { entries, texts } = many(1_000, 1_000).manifest;
    expect(entries).not.toContain('word');
    expect(JSON.parse(texts)[999]).toEqual(['word '.repeat(200), 'tools.tool_999(input?: unknown): Promise<unknown>']);
  });

  test('says less of each where it would be very long', () => {
    const { entries, texts } = many(9_000, 1_000).manifest;
    expect(texts.length).toBeLessThan(3.2 * 2 ** 20);
    expect(JSON.parse(texts)).toHaveLength(9_000);
    expect(JSON.parse(entries)).toHaveLength(9_000);
  });
});
