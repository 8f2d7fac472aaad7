// Code mode without an SDK: definitions in the forms that APIs take, and calls as they send them.
import { afterEach, expect, test } from 'vitest';
import { functionTools } from '../../src/adapters/functions.ts';
import { type CodeMode, createCodeMode, defineTool, type Session } from '../../src/index.ts';

const opened: CodeMode[] = [];
afterEach(async () => {
  for (const codeMode of opened.splice(0)) await codeMode.close();
});
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: ({ a, b }) => a + b,
});
const either = defineTool({
  name: 'either',
  description: 'Takes one or the other.',
  inputSchema: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  execute: (input) => typeof input,
});

function openSession(except: string[] = []): Promise<Session> {
  const codeMode = createCodeMode({ tools: [add, either], isolation: 'inline' });
  opened.push(codeMode);
  return codeMode.openSession({ except });
}

test('definitions come in the forms of the APIs, and every root is an object', async () => {
  const { definitions, chatTools, responsesTools } = functionTools(await openSession(['either']));
  expect(definitions.map(({ name }) => name)).toEqual(['exec', 'wait', 'stop', 'either']);
  for (const { inputSchema } of definitions) expect(inputSchema.type).toBe('object');
  const { name, description, inputSchema } = definitions[0] as (typeof definitions)[number];
  expect(chatTools()[0]).toEqual({ type: 'function', function: { name, description, parameters: inputSchema } });
  expect(responsesTools()[0]).toEqual({ type: 'function', name, description, parameters: inputSchema, strict: false });
});

test('a call takes an object or its JSON, and gives text', async () => {
  const { execute } = functionTools(await openSession());
  expect(await execute('exec', { source: 'return await tools.add({ a: 1, b: 2 })' })).toEqual({
    text: '3',
    blocks: [{ type: 'text', text: '3' }],
    isError: false,
  });
  expect(await execute('exec', '{"source":"return 4"}')).toMatchObject({ text: '4', isError: false });
});

test('a tool whose input is no object is called through one', async () => {
  const { execute } = functionTools(await openSession(['either']));
  expect(await execute('either', { input: 7 })).toMatchObject({ text: 'number' });
});

test.each([
  ['arguments that are cut off', 'exec', '{"source":"return', /no whole JSON/],
  ['no program', 'exec', '', /there is none/],
  ['a tool that programs have', 'add', { a: 1, b: 2 }, /`exec`.*tools\.add/s],
  ['a name that there is not', 'run_code', {}, /There is no tool `run_code`/],
  ['nothing to wait for', 'wait', {}, /no program to wait for/],
])('%s is a sentence for the model', async (_, name, args, message) => {
  const { execute } = functionTools(await openSession());
  const { text, isError } = await execute(name, args);
  expect(isError).toBe(true);
  expect(text).toMatch(message);
});

test('the same call, asked for twice by its id, is carried out once', async () => {
  const { execute } = functionTools(await openSession());
  const program = { source: "store('n', (load('n') ?? 0) + 1); return load('n')" };
  const twice = await Promise.all([execute('exec', program, { callId: 'a' }), execute('exec', program, { callId: 'a' })]);
  expect(twice.map(({ text }) => text)).toEqual(['1', '1']);
  expect((await execute('exec', program, { callId: 'b' })).text).toBe('2');
});
