// `callgate types` and `callgate tools` as a person or a script meets them, in this process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli } from '../../src/cli/cli.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'callgate-tools-'));
  writeFileSync(
    join(cwd, 'tools.mjs'),
    `import { defineTool } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
    const inputSchema = { type: 'object', properties: { owner: { type: 'string' } }, required: ['owner'] };
    const list = defineTool({ name: 'list-issues', description: 'Lists the issues of an owner.\\nNewest first, ' + 'and so on '.repeat(30) + '\\u001b[2J', inputSchema, execute: () => [] });
    const page = defineTool({ name: 'read_page', description: 'Downloads a page.', execute: () => '' });
    const mine = defineTool({ name: 'mine', description: 'For Ann.', availableIf: ({ run }) => run.invocation.actorId === 'ann', execute: () => '' });
    export default [{ namespace: 'github', tools: () => [list] }, page, mine];`,
  );
});
afterAll(() => rmSync(cwd, { recursive: true }));

async function callgate(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', ''];
  const status = await cli([...args, '--tools', 'tools.mjs'], {
    stdin: Readable.from([]),
    stdout: { write: (text) => (stdout += text), columns: 80 },
    stderr: { write: (text) => (stderr += text) },
    cwd,
    env: {},
  });
  return { status, stdout, stderr };
}

test('types prints the declarations, and about how many tokens they are', async () => {
  const { status, stdout, stderr } = await callgate('types');
  expect(stdout).toContain('list_issues(input: { owner: string }): Promise<unknown>;');
  expect(stdout).toContain('read_page(): Promise<unknown>;');
  expect(stdout).not.toContain('\u001b');
  expect(stderr).toMatch(/^about \d+ tokens\n$/);
  expect(status).toBe(0);
});

test('types keeps to a budget, and to what is pinned', async () => {
  const { stdout } = await callgate('types', '--budget', '60');
  expect(stdout.length).toBeLessThanOrEqual(241);
  expect((await callgate('types', '--budget', '110', '--pin', 'read_page')).stdout).toContain('Downloads a page.');
  expect(await callgate('types', '--pin', 'raed_page')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('`pinned` names `raed_page`'),
  });
});

test('types prints all that a model is told', async () => {
  const { stdout } = await callgate('types', '--instructions', '--except', 'read_page', '--discovery', 'both');
  expect(stdout).toMatch(/^Write programs for `exec`/);
  expect(stdout).toContain('call them directly: read_page');
  expect(stdout).toContain('`search_tools`');
  expect(await callgate('types', '--except', 'read_page')).toMatchObject({ status: 2 });
});

test('tools lists them on a line each', async () => {
  const { status, stdout, stderr } = await callgate('tools');
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^tools\.github\.list_issues {2}Lists the issues of an owner\. Newest first, .*…$/);
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  expect(lines[1]).toBe('tools.read_page           Downloads a page.');
  expect(stderr).toBe('2 tools\n');
  expect(status).toBe(0);
  expect((await callgate('tools', '--actor', 'ann')).stderr).toBe('3 tools\n');
  expect((await callgate('tools', '--namespace', 'github')).stderr).toBe('1 of 2 tools\n');
});

test('tools finds some by words', async () => {
  const { status, stdout } = await callgate('tools', 'list', 'ishues');
  expect(stdout).toBe('tools.github.list_issues(input: { owner: string }): Promise<unknown> — Lists the issues of an owner.\n');
  expect(status).toBe(0);
  expect((await callgate('tools', '--search', 'pages', '--detail', 'names')).stdout).toBe('tools.read_page\n');
  expect(JSON.parse((await callgate('tools', 'page', '--json', '--limit', '1')).stdout)).toEqual([
    {
      name: 'read_page',
      identifier: 'tools.read_page',
      description: 'Downloads a page.',
      signature: 'tools.read_page(): Promise<unknown>',
    },
  ]);
  expect(await callgate('tools', 'qqqqq')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'No tool fits "qqqqq". There are 2 tools. The only namespace is github.\n',
  });
  expect(await callgate('tools', '--namespace', 'gihub')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Did you mean `github`?'),
  });
});

test('tools describes one', async () => {
  const { status, stdout } = await callgate('tools', '--describe', 'github.list-issues');
  expect(stdout).toContain('Newest first');
  expect(stdout).not.toContain('\u001b');
  expect(status).toBe(0);
  expect(JSON.parse((await callgate('tools', '--describe', 'read_page', '--json')).stdout).declaration).toContain(
    'read_page(): Promise<unknown>',
  );
  expect(await callgate('tools', '--describe', 'zyxwvuts')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('There is no tool `zyxwvuts`'),
  });
  expect(await callgate('tools', 'page', '--describe', 'read_page')).toMatchObject({ status: 2 });
});

test('tools without a source say so', async () => {
  let stderr = '';
  const terminal = {
    stdin: Readable.from([]),
    stdout: { write: () => true },
    stderr: { write: (text: string) => (stderr += text) },
    cwd,
    env: {},
  };
  expect(await cli(['tools'], terminal)).toBe(2);
  expect(stderr).toContain('say --tools MODULE');
});
