// Real servers over standard streams, together in one program: everything, filesystem, memory and git.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type McpEvent, type McpProvider, mcpProvider } from '../../../src/adapters/mcp/mcp.ts';
import { type CodeMode, type CodeModeEvent, createCodeMode } from '../../../src/index.ts';
import { REAL } from './servers.ts';

let folder: string;
let providers: McpProvider[];
let codeMode: CodeMode;
const serverEvents: McpEvent[] = [];
const events: CodeModeEvent[] = [];

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'callgate-mcp-')));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args]);
  writeFileSync(join(folder, 'notes.md'), '# Notes\nBuy bread.\n');
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'The first notes');
  const onEvent = (event: McpEvent) => void serverEvents.push(event);
  providers = [
    mcpProvider({ name: 'everything', ...REAL.everything, onEvent }),
    mcpProvider({ name: 'files', ...REAL.filesystem, args: [...REAL.filesystem.args, folder], onEvent }),
    mcpProvider({ name: 'memory', ...REAL.memory, env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }, onEvent }),
    mcpProvider({ name: 'git', ...REAL.git, onEvent }),
  ];
  codeMode = createCodeMode({ tools: providers, workers: 1, globals: { folder }, observer: { on: (event) => void events.push(event) } });
});

afterAll(async () => {
  await codeMode.close();
  await Promise.all(providers.map((provider) => provider.disconnect()));
  rmSync(folder, { recursive: true, force: true });
});

test('one program uses four servers together', async () => {
  const { value, error } = await codeMode.run(`
    const [{ commits }, { content }] = await Promise.all([
      tools.git.git_log({ path: folder, maxCount: 5 }),
      tools.files.read_text_file({ path: folder + '/notes.md' }),
    ]);
    const entities = commits.map(({ shortHash, subject }) => ({ name: shortHash, entityType: 'commit', observations: [subject] }));
    await tools.memory.create_entities({ entities });
    const { entities: remembered } = await tools.memory.search_nodes({ query: 'first' });
    const sum = await tools.everything.get_sum({ a: content.length, b: remembered.length });
    return { subjects: remembered.map(({ observations }) => observations[0]), sum };
  `);
  expect(error).toBeUndefined();
  expect(value).toEqual({ subjects: ['The first notes'], sum: 'The sum of 19 and 1 is 20.' });
}, 60_000);

test('text, structured content, images and resources arrive as what they are', async () => {
  const { value, artifacts } = await codeMode.run(`
    const { everything } = tools;
    return [
      await everything.echo({ message: 'hi' }),
      await everything.get_structured_content({ location: 'New York' }),
      await everything.get_tiny_image({}),
      await everything.get_resource_links({ count: 2 }),
      await everything.get_resource_reference({ resourceType: 'Blob', resourceId: 1 }),
    ].map((given) => typeof given === 'string' ? given.split('\\n')[0] : Object.keys(given));
  `);
  expect(value).toEqual([
    'Echo: hi',
    ['temperature', 'conditions', 'humidity'],
    "Here's the image you requested:",
    'Here are 2 resource links to resources available in this server:',
    'Returning resource reference for Resource 1:',
  ]);
  expect(artifacts.map(({ kind, mediaType }) => `${kind} ${mediaType}`)).toEqual([
    'inline image/png',
    'deferred text/plain',
    'deferred text/plain',
    'inline text/plain',
  ]);
});

test('an error of a server is the server’s own words', async () => {
  const { error } = await codeMode.run("return await tools.files.read_text_file({ path: '/etc/passwd' })");
  expect(error).toMatchObject({ code: 'mcp_tool_error' });
  expect(error?.message).toContain('The MCP server `files` says that `read_text_file` failed: Access denied');
});

test('a long operation tells of its progress', async () => {
  await codeMode.run('return await tools.everything.trigger_long_running_operation({ duration: 1, steps: 2 })');
  expect(events.flatMap((event) => (event.type === 'log' ? [event.message] : []))).toEqual(['progress 1 of 2', 'progress 2 of 2']);
});

test('every tool that the servers list is there but those that need tasks', async () => {
  const { value } = await codeMode.run('return ALL_TOOLS.length');
  const started = serverEvents.flatMap((event) => (event.type === 'server-start' ? [event.tools] : []));
  const leftOut = serverEvents.flatMap((event) => (event.type === 'tool-left-out' ? [event.tool] : []));
  expect(started).toHaveLength(4);
  expect(leftOut).toEqual(['simulate-research-query']);
  expect(value).toBe(started.reduce((sum, count) => sum + count, 0) - leftOut.length);
});
