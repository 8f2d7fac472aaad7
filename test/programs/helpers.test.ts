// The helpers that every program has, in a real guest: what they take and give, and what a wrong name says.
import { afterAll, describe, expect, test } from 'vitest';
import { defineTool } from '../../src/index.ts';
import { openWorld } from './world.ts';

const codeMode = openWorld();
afterAll(() => codeMode.close());

const valueOf = async (program: string): Promise<unknown> => {
  const { value, error } = await codeMode.run(program);
  if (error !== undefined) throw new Error(`${error.name}: ${error.message}`);
  return value;
};

describe('text', () => {
  test('writes strings as they are and anything else as JSON', async () => {
    const { output } = await codeMode.run(
      "text('a');\ntext({ b: [1] });\ntext(2);\ntext(null);\ntext(undefined);\ntext('');\ntext('end');",
    );
    expect(output).toBe('a\n{"b":[1]}\n2\nnull\nundefined\n\nend');
  });

  test('gives nothing, and is no value of the program', async () => {
    expect(await codeMode.run("text('a')")).toMatchObject({ status: 'completed', value: undefined, output: 'a' });
  });
});

describe('exit', () => {
  test.each([
    ['without a value', 'exit();', undefined],
    ['with a value', 'exit({ a: 1 });\nreturn 2;', { a: 1 }],
    ['around a catch and a finally', "try { exit(1); } catch { return 'caught'; } finally { return 'finally'; }", 1],
    ['in a callback', "try { [1, 2].forEach((n) => { if (n === 2) exit(n); }); } catch { return 'caught'; }", 2],
    ['in a comparison', 'return [3, 1].sort(() => exit(4));', 4],
    ['in a timer', "setTimeout(() => exit('t'), 1);\nawait sleep(5_000);", 't'],
    ['in a promise with a catch', "await Promise.resolve().then(() => exit('p')).catch(() => 0);\nreturn 0;", 'p'],
    ['in an async function', 'const stop = async () => exit(5);\nawait stop().catch(() => 0);\nreturn 0;', 5],
    ['in a getter', 'const o = { get x() { return exit(6); } };\ntry { return o.x; } catch { return 0; }', 6],
    ['in a constructor', 'class A { constructor() { exit(7); } }\ntry { new A(); } catch {}\nreturn 0;', 7],
    ['in toJSON', 'try { JSON.stringify({ toJSON: () => exit(8) }); } catch {}\nreturn 0;', 8],
    ['in a generator', 'function* all() { try { exit(9); } finally { yield 1; } }\nreturn [...all()];', 9],
  ])('%s ends the program at once', async (_, program, value) => {
    expect(await codeMode.run(program)).toMatchObject({ status: 'completed', value });
  });

  test('lets calls that were started come to their end', async () => {
    const { value, calls } = await codeMode.run("tools.names();\nexit('early');");
    expect(value).toBe('early');
    expect(calls.map(({ status }) => status)).toEqual(['ok']);
  });
});

describe('store and load', () => {
  test('keep copies of values, faithfully', async () => {
    expect(
      await valueOf(`const a = { list: [1], at: new Date(0), big: 10n, map: new Map([[1, undefined]]) };
store('a', a);
a.list.push(2);
const b = load('a');
return [b.list, b.at, typeof b.big, b.map.has(1), b === load('a'), load('nothing')];`),
    ).toEqual([[1], '1970-01-01T00:00:00.000Z', 'bigint', true, false, undefined]);
  });

  test.each([
    ['a key that is no string', 'store(1, 2)', /string as the key, not number/],
    ['a function', "store('f', () => 1)", /is a function, which cannot cross/],
    ['a promise', "store('p', tools.names())", /is a promise; await it first/],
  ])('refuse %s', async (_, program, message) => {
    const { error } = await codeMode.run(program);
    expect(error?.message).toMatch(message);
    expect(error?.line).toBe(1);
  });
});

describe('sleep', () => {
  test('waits, and not longer than asked', async () => {
    expect(await valueOf('const began = Date.now();\nawait sleep(30);\nreturn Date.now() - began >= 29;')).toBe(true);
    expect(await valueOf('return await Promise.race([sleep(5_000).then(() => 1), sleep(1).then(() => 2)]);')).toBe(2);
  });
});

describe('tools.call', () => {
  test.each(['github.list_issues', 'tools.github.list_issues', 'github_list_issues', 'github__list_issues'])('takes %s', async (name) => {
    expect(await valueOf(`return (await tools.call(${JSON.stringify(name)}, { owner: 'a' })).total;`)).toBe(3);
  });

  test('takes the name as it was declared and as it is written in programs', async () => {
    const dashed = defineTool({ name: 'get-issue', description: 'Gets an issue.', inputSchema: {}, execute: () => 'it' });
    await using own = openWorld({ tools: { namespace: 'git-hub', tools: () => [dashed] } });
    const { value } = await own.run(
      "return [await tools.call('git-hub.get-issue'), await tools.call('git_hub.get_issue', {}), await tools['git-hub']['get-issue'](), await tools.git_hub.get_issue()];",
    );
    expect(value).toEqual(['it', 'it', 'it', 'it']);
  });

  test('a name of another tool goes before a joined one', async () => {
    const named = (name: string) => defineTool({ name, description: name, inputSchema: {}, execute: () => name });
    await using own = openWorld({ tools: [{ namespace: 'a', tools: () => [named('b')] }, named('a_b')] });
    expect(await own.run("return [await tools.call('a_b'), await tools.call('a.b')];")).toMatchObject({ value: ['a_b', 'b'] });
  });

  test.each([
    ["tools.call('github.list_isues', {})", /no tool `github\.list_isues`.*`tools\.github\.list_issues`/],
    ['tools.call(5)', /no tool `number`/],
    ['tools.call()', /no tool `undefined`/],
  ])('%s says what there is', async (program, message) => {
    expect((await codeMode.run(`return await ${program};`)).error?.message).toMatch(message);
  });
});

describe('ALL_TOOLS', () => {
  test('lists each tool with its name, identifier, description and signature', async () => {
    const all = (await valueOf('return ALL_TOOLS;')) as Record<string, string>[];
    expect(all.map(({ identifier }) => identifier)).toEqual([
      'tools.github.list_issues',
      'tools.github.create_issue',
      'tools.web.read_page',
      'tools.disk.read_file',
      'tools.names',
      'tools.profile',
      'tools.fail',
    ]);
    expect(all[0]).toEqual({
      name: 'github.list_issues',
      identifier: 'tools.github.list_issues',
      description: 'Lists the issues of an owner.',
      signature: expect.stringMatching(/owner: string.*limit\?: number/s),
    });
  });

  test('leads to a call, and cannot be changed', async () => {
    expect(
      await valueOf(`'use strict';
const found = ALL_TOOLS.find(({ description }) => /profile/i.test(description));
let changed = true;
try { ALL_TOOLS[0].name = 'x'; } catch { changed = false; }
return [(await tools.call(found.name)).name, (await tools.call(found.identifier)).name, changed];`),
    ).toEqual(['Ann', 'Ann', false]);
  });
});

describe('tools', () => {
  test('can be listed, asked and taken apart', async () => {
    expect(await valueOf('return Object.keys(tools);')).toEqual(['github', 'web', 'disk', 'names', 'profile', 'fail']);
    expect(await valueOf("return ['github' in tools, 'create_issue' in tools.github, 'nope' in tools, 'call' in tools];")).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(
      await valueOf("const { github, names } = tools;\nreturn [(await github.list_issues({ owner: 'a' })).total, await names()];"),
    ).toEqual([3, ['a', 'b']]);
    expect(
      await valueOf(
        'const found = [];\nfor (const [name, tool] of Object.entries(tools)) found.push(`${name} ${typeof tool}`);\nreturn found;',
      ),
    ).toEqual(['github object', 'web object', 'disk object', 'names function', 'profile function', 'fail function']);
    expect(await valueOf('const found = [];\nfor (const name in tools.github) found.push(name);\nreturn found;')).toEqual([
      'list_issues',
      'create_issue',
    ]);
    expect(
      await valueOf(
        "const all = { ...tools, ...tools.github };\nreturn [Object.keys(all).length, (await all.create_issue({ title: 'a' })).id];",
      ),
    ).toEqual([8, 7]);
    expect(await valueOf('const { list_issues = 1, ...rest } = tools.github;\nreturn [typeof list_issues, Object.keys(rest)];')).toEqual([
      'function',
      ['create_issue'],
    ]);
  });

  test.each([
    ['tools.github?.nope', true],
    ["'nope' in tools.github", false],
    ['Object.hasOwn(tools, "nope")', false],
    ['typeof tools.names', 'function'],
    ['tools.names.name', 'names'],
    ['JSON.stringify(tools)', '{"github":{},"web":{},"disk":{}}'],
    ['await tools === tools', true],
  ])('%s answers', async (expression, expected) => {
    const value = await valueOf(`const answer = ${expression};\nreturn typeof answer === 'function' ? true : answer;`);
    expect(value).toBe(expected);
  });

  test.each([
    ["tools.github.creat_issue({ title: 'a' })", /`github\.creat_issue`\. Did you mean `tools\.github\.create_issue`/],
    ["tools.create_issue({ title: 'a' })", /`create_issue`\. Did you mean `tools\.github\.create_issue`/],
    ["tools.git.hub.create_issue({ title: 'a' })", /no tool `git\.hub\.create_issue`/],
    ['tools.completely_different()', /no tool `completely_different`/],
  ])('%s fails in the guest, without a trip to the host', async (program, message) => {
    const { error, calls } = await codeMode.run(`return await ${program};`);
    expect(error?.message).toMatch(message);
    expect(error).toMatchObject({ code: 'tool_unknown', line: 1 });
    expect(calls).toEqual([]);
  });

  test('a wrong name can be caught', async () => {
    expect(await valueOf('return await tools.nope().catch((error) => [error.name, error.code]);')).toEqual([
      'ReferenceError',
      'tool_unknown',
    ]);
  });
});

describe('process', () => {
  test.each([
    ['typeof process', 'undefined'],
    ["process.env.KEY ?? 'none'", 'none'],
    ["process?.env?.KEY ?? 'none'", 'none'],
    ["process.env['KEY'] || 'none'", 'none'],
    ['Object.keys(process.env)', []],
    ["typeof process !== 'undefined' && process.env.KEY", false],
    ['globalThis.process?.env', undefined],
    ['typeof process.env', 'object'],
    ['(process.env.KEY = 1, 2)', 2],
  ])('%s has the value %j', async (expression, value) => {
    expect(await valueOf(`return ${expression};`)).toEqual(value);
  });

  test.each([
    ["const { KEY = 'none', ...rest } = process.env;\nreturn [KEY, rest];", ['none', {}]],
    ["const { env } = process;\nconst { env: { KEY = 'none' } } = process;\nreturn [env, KEY];", [{}, 'none']],
    ["import process from 'node:process';\nimport { env } from 'process';\nreturn [process.env, env];", [{}, {}]],
    ['const a = 1\nprocess.env.KEY = a\nreturn a', 1],
    ['const key = process.env.KEY!;\nconst other = process.env.KEY as string;\nreturn [key, other];', [undefined, undefined]],
    // A program's own name is its own.
    ['function process(n) { return n * 2; }\nprocess.env = 3;\nreturn [process(2), process.env];', [4, 3]],
    ['const run = (process) => process.env.X;\nreturn run({ env: { X: 1 } });', 1],
    ['const out = [];\nfor (const process of [{ exit: () => 1 }]) out.push(process.exit());\nreturn out;', [1]],
    ['try { throw { exit: 2 }; } catch (process) { return process.exit; }', 2],
    ['try { process.exit(1); } catch (error) { return error.name; }', 'ReferenceError'],
    ["let fs;\ntry { fs = require('fs'); } catch { fs = null; }\nreturn fs;", null],
    ['const require = (name) => name;\nreturn require("fs");', 'fs'],
  ])('%j gives its value', async (program, value) => {
    expect(await valueOf(program)).toEqual(value);
  });

  test('the type check knows `process.env` and nothing else of it', async () => {
    await using strict = openWorld({ typecheck: 'error' });
    expect(await strict.run("const key: string | undefined = process.env.KEY;\nreturn key ?? 'none';")).toMatchObject({ value: 'none' });
    const { error } = await strict.run('return process.exit(1);');
    expect(error).toMatchObject({
      kind: 'type',
      message: 'There is no `process.exit` here.',
      hint: expect.stringContaining('`exit(value)`'),
      line: 1,
      column: 16,
    });
  });
});
