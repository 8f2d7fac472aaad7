import { describe, expect, test } from 'vitest';
import { createRun } from '../../src/tools/binding.ts';
import { collect, collectStatic, isStatic, type ToolProvider, type ToolSource } from '../../src/tools/provider.ts';
import { toolOf } from '../helpers/tools.ts';

const binding = createRun({ invocation: { actorId: 'user-1' } });

async function names(source: ToolSource): Promise<string[]> {
  const { tools } = await collect(source, binding);
  return tools.map(({ namespace, tool }) => [...namespace, tool.name].join('/'));
}

describe('what a source may be', () => {
  test('tools, nested arrays and nothing are flattened in order', async () => {
    expect(await names([toolOf('a'), null, [toolOf('b'), [undefined, false, toolOf('c')]], toolOf('d')])).toEqual(['a', 'b', 'c', 'd']);
    expect(await names(null)).toEqual([]);
    expect(await names(toolOf('alone'))).toEqual(['alone']);
  });

  test('providers give tools, arrays, nothing or other providers, now or later; namespaces nest', async () => {
    const inner: ToolProvider = { namespace: 'inner.most', tools: async () => [toolOf('b'), null] };
    const outer: ToolProvider = { namespace: 'outer', tools: () => [toolOf('a'), inner, { tools: () => toolOf('c') }] };
    expect(await names([outer, { tools: () => null }])).toEqual(['outer/a', 'outer/inner/most/b', 'outer/c']);
  });

  test('a provider is asked once, as a method, with the run', async () => {
    const asked: unknown[] = [];
    class Provider {
      readonly own = toolOf('own');
      tools(given: unknown): ToolSource {
        asked.push(given);
        return this.own;
      }
    }
    expect(await names(new Provider())).toEqual(['own']);
    expect(asked).toEqual([binding]);
  });

  test('availableIf is asked once per collection, and a tool that is not available does not join', async () => {
    const asked: string[] = [];
    const source = [
      toolOf('hidden', { availableIf: async ({ run }) => asked.push('hidden') > 0 && run.invocation.actorId === 'admin' }),
      toolOf('shown', { availableIf: () => asked.push('shown') > 0 }),
    ];
    expect(await names(source)).toEqual(['shown']);
    expect(asked).toEqual(['hidden', 'shown']);
  });
});

describe('what is refused', () => {
  const bad: [unknown, RegExp][] = [
    [[toolOf('a'), toolOf('b'), ['text']], /`tools\[2\]\[0\]` should be a tool.*is a string/],
    [[() => toolOf('a')], /`tools\[0\]`.*function.*provider/],
    [{ execute: () => 1 }, /`tools`.*defineTool/],
    [[Promise.resolve(toolOf('a'))], /`tools\[0\]`.*a Promise\. Await it/],
    [{ tools: [toolOf('a')] }, /is a function/],
    [{ tools: () => [7] }, /`tools\.tools\(\)\[0\]` should be.*is a number/],
    [true, /is a boolean/],
  ];
  test.each(bad)('%# what is neither tool nor provider is named by its place', async (source, message) => {
    await expect(collect(source as ToolSource, binding)).rejects.toMatchObject({
      code: 'tool_invalid',
      message: expect.stringMatching(message),
    });
  });

  test.each(['', '.', 'a..b', 'a b', 'x'.repeat(65), 7])('a namespace that is none is refused: %j', async (namespace) => {
    const provider = { namespace, tools: () => null } as unknown as ToolProvider;
    await expect(collect([provider], binding)).rejects.toMatchObject({
      code: 'name_invalid',
      message: expect.stringContaining('`tools[0]`'),
    });
  });

  test('a provider that returns itself, directly or through others, is an error at once', async () => {
    const self: ToolProvider = { tools: () => [self, self] };
    await expect(collect(self, binding)).rejects.toThrow(/returns itself/);
    const ping: ToolProvider = { tools: () => ({ tools: () => ping }) };
    await expect(collect(ping, binding)).rejects.toThrow(/returns itself/);
  });

  test('providers that make new providers for ever are an error', async () => {
    const make = (): ToolProvider => ({ tools: () => make() });
    await expect(collect(make(), binding)).rejects.toThrow(/nested deeper than 32/);
    const many: ToolSource[] = [];
    many.push(many, many);
    await expect(collect(many, binding)).rejects.toMatchObject({ code: 'catalog_failed' });
    expect(isStatic(many)).toBe(true);
    expect(() => collectStatic(many)).toThrow(/contain itself/);
  });

  test('the same provider in two places is no cycle', async () => {
    const shared: ToolProvider = { tools: () => toolOf('a') };
    expect(
      await names([
        { namespace: 'x', tools: () => shared },
        { namespace: 'y', tools: () => shared },
      ]),
    ).toEqual(['x/a', 'y/a']);
  });
});

describe('closing', () => {
  test('tools and providers close once, last first, a provider after its tools', async () => {
    const log: string[] = [];
    const closing = (name: string) => ({ close: () => void log.push(name) });
    const shared = toolOf('shared', closing('shared'));
    const source = [
      toolOf('a', closing('a')),
      { tools: () => [toolOf('b', closing('b')), shared], ...closing('provider') },
      { namespace: 'again', tools: () => shared },
      toolOf('unavailable', { availableIf: () => false, ...closing('unavailable') }),
    ];
    const close = (await collect(source, binding)).closing();
    await close();
    await close();
    expect(log).toEqual(['shared', 'b', 'provider', 'a']);
  });

  test('all closes are attempted and the first failure is reported', async () => {
    const log: string[] = [];
    const collection = await collect(
      [toolOf('a', { close: () => void log.push('a') }), toolOf('b', { close: () => Promise.reject(new Error('b failed')) })],
      binding,
    );
    await expect(collection.closing()()).rejects.toMatchObject({ code: 'cleanup_failed', message: expect.stringContaining('b failed') });
    expect(log).toEqual(['a']);
  });

  test('when building fails half-way, all that was built is closed and the original error is what rejects', async () => {
    const log: string[] = [];
    const original = new Error('no connection');
    const source = [
      toolOf('a', { close: () => void log.push('a') }),
      toolOf('b', {
        close: () => {
          log.push('b');
          throw new Error('close failed too');
        },
      }),
      { tools: () => Promise.reject(original), close: () => void log.push('provider') },
      { tools: () => null, close: () => void log.push('never asked') },
    ];
    await expect(collect(source, binding)).rejects.toBe(original);
    expect(log).toEqual(['provider', 'b', 'a']);
  });

  test('an availableIf that throws fails the collection', async () => {
    const original = new Error('no database');
    const source = toolOf('a', { availableIf: () => Promise.reject(original) });
    await expect(collect(source, binding)).rejects.toBe(original);
  });
});

describe('static sources', () => {
  test('a source is static while nothing in it depends on the run', () => {
    expect(isStatic([toolOf('a', { close: () => {} }), [null, toolOf('b')]])).toBe(true);
    expect(isStatic([toolOf('a', { availableIf: () => true })])).toBe(false);
    expect(isStatic([[{ tools: () => null }]])).toBe(false);
  });

  test('one static collection closes its tools once for every run', async () => {
    let closed = 0;
    const collection = collectStatic([toolOf('a', { close: () => void closed++ })]);
    const runs = [collection.closing(), collection.closing()];
    for (const close of runs) {
      await close();
      await close();
    }
    expect(closed).toBe(2);
  });

  test('a bad static source fails at once, and what depends on a run is refused', () => {
    expect(() => collectStatic(['text'] as unknown as ToolSource)).toThrow(/`tools\[0\]`/);
    expect(() => collectStatic([{ tools: () => null }])).toThrow(/depends on the run/);
  });
});
