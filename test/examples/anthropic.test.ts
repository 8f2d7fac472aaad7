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
