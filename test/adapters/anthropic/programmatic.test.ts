// The same catalog for Anthropic's hosted code execution: what is sent, how calls from its container come back, what a lost container does.
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ask, programmaticTools } from '../../../src/adapters/anthropic.ts';
import { createCodeMode, defineTool, type JsonSchema, type SessionOptions, type ToolProvider } from '../../../src/index.ts';
import {
  type Block,
  fail,
  type Message,
  openMessagesApi,
  reply,
  replyWith,
  type SentRequest,
  type Step,
  text,
  use,
} from '../../helpers/messages-api.ts';

const made: string[] = [];
const order = {
  type: 'object',
  properties: { id: { type: 'integer' }, total: { type: 'number' } },
  required: ['id', 'total'],
  additionalProperties: false,
} as const;
const recursive: JsonSchema = {
  type: 'object',
  properties: { filter: { $ref: '#/$defs/filter' } },
  $defs: {
    filter: { type: 'object', properties: { all: { type: 'array', items: { $ref: '#/$defs/filter' } }, name: { type: 'string' } } },
  },
};
const shop: ToolProvider = {
  namespace: 'shop',
  tools: () => [
    defineTool({
      name: 'get_order',
      description: 'One order.',
      inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false },
      outputSchema: order,
      execute: ({ id }) => {
        made.push(`get_order ${id}`);
        return { id, total: id * 10 };
      },
    }),
    defineTool({
      name: 'find',
      description: 'Finds what fits a filter.',
      inputSchema: recursive,
      execute: () => 'a text',
    }),
    defineTool({ name: 'ask_person', description: 'Asks a person.', execute: () => 'yes' }),
  ],
};
const codeMode = createCodeMode({ tools: shop, isolation: 'inline' });
afterAll(() => codeMode.close());

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  made.length = 0;
  for (const close of closers.splice(0).reverse()) await close();
});

async function opened(script: readonly Step[] = [], options: SessionOptions = { except: ['shop.ask_person'] }) {
  const api = await openMessagesApi(script);
  closers.push(() => api.close());
  const session = await codeMode.openSession(options);
  closers.push(() => session.close());
  return {
    api,
    session,
    asking: { client: api.client(), model: 'claude-test', session, programs: 'anthropic', prompt: 'Totals?' } as const,
  };
}

const program = (id: string): Block => ({
  type: 'server_tool_use',
  id,
  name: 'code_execution',
  input: { code: 'print(await shop_get_order({"id": 1}))' },
});
const called = (id: string, by: string, input: unknown): Block =>
  use(id, 'shop_get_order', input, { caller: { type: 'code_execution_20260120', tool_id: by } });
const ran = (id: string, stdout: string): Block => ({
  type: 'code_execution_tool_result',
  tool_use_id: id,
  content: { type: 'code_execution_result', stdout, stderr: '', return_code: 0, content: [] },
});
const container = { id: 'container_1', expires_at: '2026-12-01T00:00:00Z' };

describe('the tools', () => {
  test('are the interpreter, what programs have, and what the conversation has', async () => {
    const { session } = await opened();
    expect(JSON.parse(JSON.stringify(programmaticTools(session, { version: 'code_execution_20260521' })))).toMatchObject([
      { type: 'code_execution_20260521', name: 'code_execution' },
      {
        name: 'shop_get_order',
        allowed_callers: ['code_execution_20260521'],
        description: expect.stringContaining('json.loads it is, as a TypeScript type: { id: number; total: number }'),
        input_schema: { type: 'object', required: ['id'] },
      },
      { name: 'shop_find', allowed_callers: ['code_execution_20260521'] },
      { name: 'shop_ask_person', allowed_callers: ['direct'] },
    ]);
  });

  test('have no recursive schema, which the API refuses; the whole one is checked', async () => {
    const { session } = await opened();
    const find = programmaticTools(session).find((tool) => 'name' in tool && tool.name === 'shop_find') as BetaRunnableTool<unknown>;
    const schema = 'input_schema' in find ? find.input_schema : undefined;
    expect(schema).toEqual({
      type: 'object',
      properties: { filter: { type: 'object', properties: { all: { type: 'array', items: {} }, name: { type: 'string' } } } },
    });
    expect(await find.run({ filter: { all: [{ name: 'x' }] } })).toBe('a text');
    await expect(find.run({ filter: { all: [{ name: 5 }] } })).rejects.toThrow(/`\$\.filter\.all\[0\]\.name` should be a string/);
  });
});

test('a program of the container calls here, and is answered with nothing but results, in its container', async () => {
  const { api, asking } = await opened([
    replyWith({
      content: [
        text('I compute.'),
        program('srvtoolu_1'),
        called('toolu_1', 'srvtoolu_1', { id: 1 }),
        called('toolu_2', 'srvtoolu_1', { id: 'x' }),
      ],
      container,
    }),
    replyWith({ content: [ran('srvtoolu_1', '10\n'), text('Ten.')], container }),
  ]);
  const result = await ask(asking);
  expect(result).toMatchObject({ status: 'answered', text: 'Ten.', calls: 0, container: 'container_1' });
  expect(made).toEqual(['get_order 1']);
  const [first, second] = api.requests;
  expect(first?.body).not.toHaveProperty('system');
  expect(first?.body.tools?.[0]).toEqual({ type: 'code_execution_20260120', name: 'code_execution' });
  expect(second?.body.container).toBe('container_1');
  expect(second?.body.messages.at(-1)?.content).toEqual([
    { type: 'tool_result', tool_use_id: 'toolu_1', content: '{"id":1,"total":10}' },
    { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: expect.stringContaining('`$.id` should be a whole number') },
  ]);
  expect(second?.body.messages.at(-2)?.content).toContainEqual(called('toolu_1', 'srvtoolu_1', { id: 1 }));
});

test('the same call again and again by a program of the container is not repetition', async () => {
  const rounds = Array.from({ length: 8 }, (_, index) =>
    replyWith({ content: [...(index === 0 ? [program('srvtoolu_1')] : []), called(`toolu_${index}`, 'srvtoolu_1', { id: 1 })], container }),
  );
  const { asking } = await opened([...rounds, reply(ran('srvtoolu_1', ''), text('Done.'))]);
  expect(await ask(asking)).toMatchObject({ status: 'answered', turns: 9 });
  expect(made).toHaveLength(8);
});

test('the container is carried on to the next request', async () => {
  const { api, asking } = await opened([
    replyWith({ content: [program('srvtoolu_1'), ran('srvtoolu_1', '1'), text('One.')], container }),
    reply(text('Still one.')),
  ]);
  const first = await ask(asking);
  await ask({ ...asking, messages: first.messages, ...(first.container !== undefined && { container: first.container }) });
  expect(api.requests.map(({ body }) => body.container)).toEqual([undefined, 'container_1']);
});

describe('a container that has expired', () => {
  const expired = fail(400, 'invalid_request_error', 'container: Container container_1 has expired.');

  test('between requests is left, and another one begins', async () => {
    const { api, asking } = await opened([
      expired,
      replyWith({ content: [text('Anew.')], container: { ...container, id: 'container_2' } }),
    ]);
    expect(await ask({ ...asking, container: 'container_1' })).toMatchObject({
      status: 'answered',
      text: 'Anew.',
      container: 'container_2',
    });
    expect(api.requests.map(({ body }) => body.container)).toEqual(['container_1', undefined]);
    expect(api.requests[1]?.body.messages).toEqual(api.requests[0]?.body.messages);
  });

  test('under a program loses the program, and the model is told what it had done', async () => {
    const { api, asking } = await opened([
      replyWith({ content: [text('I compute.'), program('srvtoolu_1'), called('toolu_1', 'srvtoolu_1', { id: 1 })], container }),
      replyWith({ content: [called('toolu_2', 'srvtoolu_1', { id: 2 })], container }),
      expired,
      reply(text('Thirty.')),
    ]);
    const result = await ask(asking);
    expect(result).toMatchObject({ status: 'answered', text: 'Thirty.' });
    expect(result.container).toBeUndefined();
    expect(made).toEqual(['get_order 1', 'get_order 2']);
    expect(api.requests[3]?.body).not.toHaveProperty('container');
    const [prompt, spoken, told] = (api.requests[3] as SentRequest).body.messages as [Message, Message, Message];
    expect(prompt).toEqual({ role: 'user', content: 'Totals?' });
    expect(spoken).toEqual({ role: 'assistant', content: [text('I compute.')] });
    expect(told.content).toContain('- shop_get_order({"id":1}) → {"id":1,"total":10}\n- shop_get_order({"id":2}) → {"id":2,"total":20}');
    expect(told.content).toContain('do not repeat what has changed something');
  });

  test('is no reason to go on when another request is refused', async () => {
    const { api, asking } = await opened([fail(400, 'invalid_request_error', 'messages: too long')]);
    await expect(ask({ ...asking, container: 'container_1' })).rejects.toMatchObject({ code: 'request_failed' });
    expect(api.requests).toHaveLength(1);
  });
});
