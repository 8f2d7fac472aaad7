// The examples for the Anthropic SDK, as processes of their own, against a Messages API on loopback.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { exec, type MessagesApi, openMessagesApi, reply, type Step, text } from '../helpers/messages-api.ts';

const FOLDER = new URL('../../examples/anthropic/', import.meta.url);
const execute = promisify(execFile);

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function playing(script: readonly Step[]): Promise<MessagesApi> {
  const api = await openMessagesApi(script);
  closers.push(() => api.close());
  return api;
}

async function run(
  name: string,
  { api, args = [] }: { readonly api?: MessagesApi; readonly args?: readonly string[] } = {},
): Promise<string> {
  const env = { ...process.env, ANTHROPIC_API_KEY: 'test-key', ...(api !== undefined && { ANTHROPIC_BASE_URL: api.url }) };
  const { stdout } = await execute(process.execPath, [fileURLToPath(new URL(name, FOLDER)), ...args], { env });
  return stdout;
}

const COUNT = 'return (await tools.find_customers({ plan: "plus", limit: 1 })).total';

test('each has at most thirty lines', () => {
  for (const name of readdirSync(FOLDER))
    expect(readFileSync(new URL(name, FOLDER), 'utf8').trimEnd().split('\n').length, name).toBeLessThanOrEqual(30);
});

test('ask.mjs: a question, a program over the desk, an answer', async () => {
  const api = await playing([reply(exec('toolu_1', COUNT)), reply(text('There are 20.'))]);
  expect(await run('ask.mjs', { api, args: ['How many on plus?'] })).toBe('There are 20.\n(answered after 2 turns, 40 tokens)\n');
  expect(api.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'How many on plus?' }]);
  expect(api.requests[1]?.body.messages.at(-1)?.content).toMatchObject([{ tool_use_id: 'toolu_1', content: '20' }]);
});

test('tool-runner.mjs: the same in a loop that is not ours', async () => {
  const api = await playing([reply(exec('toolu_1', COUNT)), reply(text('Twenty.'))]);
  expect(await run('tool-runner.mjs', { api })).toBe('Twenty.\n');
  expect(api.requests).toHaveLength(2);
});

test("existing-tools.mjs: the SDK's own tools in a program", async () => {
  expect(await run('existing-tools.mjs')).toBe('Oslo 19, Lisbon 21\n');
});

test('the lines in the README run as they stand', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const section = /## In an agent on the Anthropic SDK\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';
  const [runner = '', asking = ''] = [...section.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
  const before = `import Anthropic from '@anthropic-ai/sdk';
    import { createCodeMode } from 'callgate';
    import tools from './examples/support-desk/tools.mjs';
    const client = new Anthropic();
    const codeMode = createCodeMode({ tools });`;
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const evaluate = async (code: string, api: MessagesApi): Promise<string> => {
    const env = { ...process.env, ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url };
    const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', code], { cwd: root, env });
    return stdout;
  };

  const first = await playing([reply(exec('toolu_1', COUNT)), reply(text('Twenty.'))]);
  expect(await evaluate(`${before}\n${runner}\nconsole.log(message.content[0].text); await codeMode.close();`, first)).toBe('Twenty.\n');

  const second = await playing([reply(exec('toolu_1', COUNT)), reply(text('Twenty. ')), reply(text('Nobody.'))]);
  const open = 'const session = await codeMode.openSession();';
  expect(
    await evaluate(`${before}\n${open}\n${asking}\nconsole.log(next.text); await session.close(); await codeMode.close();`, second),
  ).toBe('Twenty. Nobody.\n');
  expect(second.requests[2]?.body.messages).toHaveLength(5);
});
