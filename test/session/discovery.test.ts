// Looking for tools from outside, from programs and from the conversation; what is learned of results; the shape of large catalogs.
import { afterAll, describe, expect, test } from 'vitest';
import { type CodeMode, type CodeModeOptions, createCodeMode, defineTool, renderResult, type Tool } from '../../src/index.ts';

const owner = { type: 'object', properties: { owner: { type: 'string' } }, required: ['owner'] } as const;
const list = defineTool({
  name: 'list-issues',
  description: 'Lists the issues of an owner. Newest first.',
  inputSchema: owner,
  execute: () => ({ items: [{ id: 1, title: 'secret' }], total: 1 }),
});
const close = defineTool({ name: 'close_issue', description: 'Closes an issue.', inputSchema: owner, execute: () => ({ closed: true }) });
const page = defineTool({ name: 'read_page', description: 'Downloads a page of the web.', execute: () => 'text' });
const tools = [{ namespace: 'github', tools: () => [list, close] }, page];

const opened: CodeMode[] = [];
afterAll(() => Promise.all(opened.map((codeMode) => codeMode.close())));
function open(options: Partial<CodeModeOptions> = {}): CodeMode {
  const codeMode = createCodeMode({ tools, ...options });
  opened.push(codeMode);
  return codeMode;
}
const codeMode = open();

async function valueOf(program: string, within = codeMode): Promise<unknown> {
  const { value, error } = await within.run(program);
  if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
  return value;
}

describe('a program', () => {
  test('finds tools, and calls what it found', async () => {
    expect(
      await valueOf("const [tool] = await searchTools('ishues of an owner'); return (await tools.call(tool.name, { owner: 'a' })).total;"),
    ).toBe(1);
    expect(await valueOf("return await searchTools('web page', { limit: 1 });")).toEqual([
      {
        name: 'read_page',
        identifier: 'tools.read_page',
        description: 'Downloads a page of the web.',
        signature: 'tools.read_page(): Promise<unknown>',
      },
    ]);
  });

  test('reads of one tool everything, by name or by the tool itself', async () => {
    const text = await valueOf("return await describeTool('github.list_issues');");
    expect(text).toContain('Newest first.');
    expect(await valueOf('return await describeTool(tools.github.list_issues);')).toBe(text);
    expect(await valueOf("return await describeTool((await searchTools('list issues'))[0]);")).toBe(text);
  });

  test('gets a text where it wants one', async () => {
    expect(await valueOf("return await searchTools('', { format: 'text', detail: 'names' });")).toBe(
      'tools.github.list_issues\ntools.github.close_issue\ntools.read_page',
    );
  });

  test('is told by an error what it can do', async () => {
    await expect(valueOf("await searchTools('x', { namespace: 'gihtub' });")).rejects.toThrow('Did you mean `github`?');
    await expect(valueOf("await describeTool('zyxwvutsr');")).rejects.toThrow(
      'tool_unknown: `describeTool`: There is no tool `zyxwvutsr`. There are 3 tools.',
    );
    await expect(valueOf('await describeTool();')).rejects.toThrow('Give the name of a tool, such as "github.list_issues", not undefined.');
  });

  test('may catch that error', async () => {
    expect(await valueOf('try { await searchTools(Symbol.iterator in [] ? true : 0); } catch (error) { return error.code; }')).toBe(
      'option_invalid',
    );
  });

  test('waits for nobody else’s searches, however many', async () => {
    const seen: string[] = [];
    const telling = open({
      tools: [defineTool({ name: 'tell', description: 'Tells.', inputSchema: {}, execute: (what) => void seen.push(String(what)) })],
    });
    const flood = telling.run(
      "await Promise.all(Array.from({ length: 900 }, (_, n) => searchTools('number ' + n))); await tools.tell('flood');",
    );
    const one = telling.run("await searchTools('tell'); await tools.tell('one');");
    expect([(await one).status, (await flood).status]).toEqual(['completed', 'completed']);
    expect(seen).toEqual(['one', 'flood']);
  });

  test('has only so many waiting, and what waits ends with it', async () => {
    const { value } = await codeMode.run(
      "const all = await Promise.allSettled(Array.from({ length: 1_500 }, (_, n) => searchTools('issue ' + n))); return [all.filter(({ status }) => status === 'fulfilled').length, all.at(-1).reason.code];",
    );
    const [answered, code] = value as [number, string];
    expect(answered).toBeGreaterThanOrEqual(1_000);
    expect(answered).toBeLessThan(1_500);
    expect(code).toBe('limit_exceeded');
    await codeMode.run("for (let n = 0; n < 900; n++) void searchTools('issue ' + n); exit('gone');");
    expect(await valueOf("return (await searchTools('page')).length;")).toBe(1);
  });

  test('is checked against the types of both', async () => {
    const checked = open({ typecheck: 'error' });
    expect(
      await valueOf(
        "const found = await searchTools('issue', { limit: 1 }); return found[0]!.signature + await describeTool(found[0]!.name);",
        checked,
      ),
    ).toContain('owner');
    const { error } = await checked.run("const found = await searchTools('issue'); return found.lenght;");
    expect(error?.kind).toBe('type');
  });
});

test('programs find only their own tools, not those that stay in the conversation', async () => {
  const session = await codeMode.openSession({ except: ['github.close_issue'] });
  const { value } = await session.exec("return (await searchTools('close issue')).map(({ name }) => name);");
  expect(value).toEqual(['github.list-issues']);
  const { error } = await session.exec("return await describeTool('github.close_issue');");
  expect(error?.message ?? '').not.toContain('Closes');
  await session.close();
});

describe('the conversation', () => {
  test('has control tools for it when asked', async () => {
    const names = async (discovery?: CodeModeOptions['discovery']): Promise<string[]> => {
      const session = await open({ discovery }).openSession();
      const controls = session.controlTools().map(({ name }) => name);
      await session.close();
      return controls;
    };
    expect(await names()).toEqual(['exec', 'wait', 'stop']);
    expect(await names('guest')).toEqual(['exec', 'wait', 'stop']);
    expect(await names('conversation')).toEqual(['exec', 'wait', 'stop', 'search_tools', 'describe_tool']);
    expect(await names('both')).toEqual(['exec', 'wait', 'stop', 'search_tools', 'describe_tool']);
  });

  test('looks for the tools of programs', async () => {
    const both = open({ discovery: 'both' });
    const session = await both.openSession({ except: ['read_page'] });
    const [, , , search, describe] = session.controlTools();
    expect(await search?.execute({ query: 'lists isues', limit: 1 })).toContain(
      'tools.github.list_issues(input: { owner: string }): Promise<unknown> — Lists the issues of an owner.',
    );
    expect(await search?.execute({ detail: 'names' })).toBe('tools.github.list_issues\ntools.github.close_issue');
    expect(await search?.execute('page of the web')).toMatch(/^No tool fits/);
    expect(await describe?.execute({ name: 'github_list_issues' })).toContain('Newest first.');
    await expect(describe?.execute({})).rejects.toThrow('Give the name of a tool');
    await expect(search?.execute({ limit: -1 })).rejects.toThrow('Give a `limit` from 1, not -1.');
    expect(await renderResult((await search?.execute({ query: 'close' })) ?? '')).toEqual({
      blocks: [{ type: 'text', text: 'tools.github.close_issue(input: { owner: string }): Promise<unknown> — Closes an issue.' }],
      isError: false,
    });
    await session.close();
    await expect(search?.execute({ query: 'x' })).rejects.toThrow(expect.objectContaining({ code: 'closed' }));
  });

  test('alone: programs have no functions for it then', async () => {
    expect(await valueOf('return [typeof searchTools, typeof describeTool];', open({ discovery: 'conversation' }))).toEqual([
      'undefined',
      'undefined',
    ]);
  });
});

describe('a catalog', () => {
  test('lists, declares, finds and describes without running anything', async () => {
    const catalog = await codeMode.catalog();
    expect(catalog.tools[0]).toEqual({
      name: 'github.list-issues',
      path: 'github.list_issues',
      identifier: 'tools.github.list_issues',
      description: 'Lists the issues of an owner. Newest first.',
    });
    expect(catalog.tools).toHaveLength(3);
    expect(catalog.declarations()).toContain('list_issues(input: { owner: string }): Promise<unknown>;');
    expect(catalog.declarations({ budgetTokens: 60 }).length).toBeLessThanOrEqual(240);
    expect(catalog.declarations({ budgetTokens: 120, pinned: ['read_page'] })).toContain('Downloads a page');
    expect(catalog.search('downlaod', { detail: 'names' })).toEqual([{ name: 'read_page', identifier: 'tools.read_page' }]);
    expect(catalog.searchText('', { namespace: 'github', limit: 1, detail: 'names' })).toBe(
      'tools.github.list_issues\n1 more; search with other words, a namespace or a larger limit.',
    );
    expect(catalog.describe('read_page')).toContain('read_page(): Promise<unknown>');
  });

  test('is built as for a run, and closes what it opened', async () => {
    const told: string[] = [];
    const perActor = open({
      tools: {
        tools({ run }) {
          told.push(`open ${run.invocation.actorId}`);
          run.register(() => void told.push('closer'));
          return run.invocation.actorId === 'ann' ? [list, page] : [page];
        },
        close: () => void told.push('close'),
      },
    });
    expect((await perActor.catalog({ invocation: { actorId: 'ann' } })).tools).toHaveLength(2);
    const bobs = await perActor.catalog({ invocation: { actorId: 'bob' } });
    expect(bobs.tools.map(({ name }) => name)).toEqual(['read_page']);
    expect(bobs.search('issues')).toEqual([]);
    expect(told).toEqual(['open ann', 'close', 'closer', 'open bob', 'close', 'closer']);
  });

  test('that cannot be built, or is asked wrongly, says why', async () => {
    const broken = open({
      tools: {
        tools() {
          throw new Error('no database');
        },
      },
    });
    await expect(broken.catalog()).rejects.toThrow(expect.objectContaining({ code: 'catalog_failed' }));
    await expect(codeMode.catalog({ actor: 'x' } as object)).rejects.toThrow('catalog() has no option `actor`');
    const catalog = await codeMode.catalog();
    expect(() => catalog.declarations({ budgetTokens: -1 })).toThrow('`budgetTokens` should be');
    expect(() => catalog.declarations({ pinned: ['nothing'] })).toThrow('`pinned` names `nothing`');
    expect(() => catalog.declarations({ pinned: ['github', 'tools.read_page'] })).not.toThrow();
    expect(() => catalog.search('x', { lmit: 3 } as object)).toThrow('did you mean `limit`?');
    expect(() => catalog.describe('zyxwvutsr')).toThrow(expect.objectContaining({ code: 'tool_unknown' }));
    const closed = createCodeMode({ tools });
    await closed.close();
    await expect(closed.catalog()).rejects.toThrow(expect.objectContaining({ code: 'closed' }));
  });
});

describe('what results look like', () => {
  const describeList = "return await describeTool('github.list_issues');";
  const callFirst = "await tools.github.list_issues({ owner: 'a' });";

  test('is not learned unless asked', async () => {
    expect(await valueOf(callFirst + describeList)).not.toContain('total');
  });

  test('is learned within a run, never its values', async () => {
    const learning = open({ learnOutputs: true });
    const text = await valueOf(callFirst + describeList, learning);
    expect(text).toContain('{ items: { id: number; title: string }[]; total: number }');
    expect(text).not.toContain('secret');
    expect(await valueOf(describeList, learning)).not.toContain('total');
    expect((await learning.catalog()).describe('github.list_issues')).not.toContain('total');
  });

  test('is learned within a session, by programs and by the conversation', async () => {
    const session = await open({ learnOutputs: true }).openSession();
    await session.callTool('github.close_issue', { owner: 'a' });
    expect((await session.exec("return await describeTool('github.close_issue');")).value).toContain('{ closed: boolean }');
    await session.close();
  });

  test('is shared by all runs where that was asked for', async () => {
    const shared = open({ learnOutputs: 'shared' });
    await shared.run(callFirst, { invocation: { actorId: 'ann' } });
    expect(await valueOf(describeList, shared)).toContain('total: number');
    const catalog = await shared.catalog();
    expect(catalog.describe('github.list_issues')).toContain('total: number');
    expect(catalog.declarations()).toContain('total: number');
    expect(catalog.declarations({ budgetTokens: 40 })).not.toContain('total: number');
  });
});

test('options that are wrong say so', () => {
  expect(() => createCodeMode({ tools, discovery: 'all' as 'both' })).toThrow(
    '`discovery` should be "guest", "conversation" or "both", but is "all".',
  );
  expect(() => createCodeMode({ tools, learnOutputs: 'yes' as 'shared' })).toThrow(
    '`learnOutputs` should be true, false or "shared", but is "yes".',
  );
  expect(() => createCodeMode({ tools, globals: { searchTools: 1 } })).toThrow('would hide what programs rely on');
});

describe('a catalog of 5 000 tools with long descriptions', () => {
  const many: Tool[] = Array.from({ length: 5_000 }, (_, index) =>
    defineTool({
      name: `make_thing_${index}`,
      description: `Makes a thing of kind ${index}. ${'It is described at great length. '.repeat(40)}`,
      inputSchema: { type: 'object', properties: { size: { type: 'integer' }, colour: { enum: ['red', 'green'] } }, required: ['size'] },
      execute: () => index,
    }),
  );

  test('reaches programs: all of it in brief, and one tool in full', async () => {
    const large = open({ tools: many });
    const value = (await valueOf(
      `const found = ALL_TOOLS.filter(({ description }) => description.includes('kind 4321.'));
       const text = await describeTool(found[0].name);
       return [ALL_TOOLS.length, found.length, found[0].identifier, text.length, await tools.make_thing_4999({ size: 1 })];`,
      large,
    )) as [number, number, string, number, number];
    expect(value).toEqual([5_000, 1, 'tools.make_thing_4321', expect.any(Number), 4_999]);
    expect(value[3]).toBeGreaterThan(1_200);
    expect(await valueOf("return (await searchTools('thing of kind 4321', { limit: 1 }))[0].name;", large)).toBe('make_thing_4321');
  });

  test('takes no memory from programs that do not list them', async () => {
    const large = open({ tools: many, limits: { memoryBytes: 17 * 2 ** 20 } });
    expect(await valueOf('return [Object.keys(tools).length, await tools.make_thing_7({ size: 1 })];', large)).toEqual([5_000, 7]);
  });

  test('wrong names are answered with a way to the right ones', async () => {
    await expect(valueOf('await tools.zzzzzz({});', open({ tools: many }))).rejects.toThrow(
      'searchTools(query) finds the tools that there are.',
    );
  });
});
