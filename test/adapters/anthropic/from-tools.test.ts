// Existing runnable tools of the SDK in the catalog: its own helpers make them, programs call them.
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { mcpTools } from '@anthropic-ai/sdk/helpers/beta/mcp';
import { betaStandardSchemaTool } from '@anthropic-ai/sdk/helpers/beta/standard-schema';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import type { BetaRunnableTool, BetaToolRunContext } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { type } from 'arktype';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fromAnthropicTools } from '../../../src/adapters/anthropic.ts';
import { createCodeMode, type RunResult, type ToolSource } from '../../../src/index.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function run(tools: ToolSource, program: string): Promise<RunResult> {
  const codeMode = createCodeMode({ tools, isolation: 'inline' });
  closers.push(() => codeMode.close());
  return codeMode.run(program);
}

const PNG = Buffer.from('89504e47', 'hex').toString('base64');

/** A tool that gives what it is told to. */
const giving = (content: unknown) =>
  betaTool({
    name: 'give',
    description: 'Gives.',
    inputSchema: { type: 'object', properties: {} },
    run: () => content as string,
  });

test('betaTool: the schema is checked, which the SDK does not do, and the call looks like one of the API', async () => {
  const seen: (BetaToolRunContext | undefined)[] = [];
  const tool = betaTool({
    name: 'get-weather',
    description: 'The weather in a city.',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string', minLength: 2 } },
      required: ['city'],
      additionalProperties: false,
    },
    run: ({ city }, context) => {
      seen.push(context);
      return JSON.stringify({ city, degrees: 21 });
    },
  });
  const result = await run(
    fromAnthropicTools([tool], { namespace: 'api' }),
    `const good = await tools.api.get_weather({ city: 'Oslo' });
     const bad = await tools.api.get_weather({ city: 5 }).catch((error) => error.message);
     return [good.degrees, bad];`,
  );
  expect(result.value).toEqual([21, expect.stringContaining('`$.city` should be a string')]);
  expect(seen).toHaveLength(1);
  expect(seen[0]?.toolUse).toEqual({
    type: 'tool_use',
    id: expect.stringMatching(/^toolu_[A-Za-z0-9_-]+$/),
    name: 'get-weather',
    input: { city: 'Oslo' },
  });
  expect(seen[0]?.toolUseBlock).toBe(seen[0]?.toolUse);
  expect(seen[0]?.signal).toBeInstanceOf(AbortSignal);
});

test('betaZodTool and betaStandardSchemaTool: their own parse has the last word', async () => {
  const zod = betaZodTool({
    name: 'trim',
    description: 'Trims.',
    inputSchema: z.object({ text: z.string().trim(), times: z.number().default(2) }),
    run: ({ text, times }) => `${text} ${times}`,
  });
  const ark = betaStandardSchemaTool({
    name: 'even',
    description: 'Takes an even number.',
    inputSchema: type({ n: 'number % 2' }),
    run: ({ n }) => String(n),
  });
  const result = await run(
    fromAnthropicTools([zod, ark]),
    `const odd = await tools.even({ n: 3 }).catch((error) => [error.code, error.message]);
     return [await tools.trim({ text: '  a ', times: 2 }), await tools.even({ n: 4 }), odd];`,
  );
  expect(result.error).toBeUndefined();
  expect(result.value).toEqual(['a 2', '4', ['input_invalid', expect.stringMatching(/n/)]]);
});

test('mcpTools: values, images and errors of an MCP client', async () => {
  const client = {
    callTool: async ({ name, arguments: input }: { name: string; arguments?: Record<string, unknown> }) => {
      if (name === 'fail') return { content: [{ type: 'text' as const, text: 'No such page.' }], isError: true };
      return {
        content: [
          { type: 'text' as const, text: JSON.stringify({ name, input }) },
          { type: 'image' as const, data: PNG, mimeType: 'image/png' },
        ],
      };
    },
  };
  const tools = mcpTools(
    [
      { name: 'page', description: 'A page.', inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
      { name: 'fail', inputSchema: { type: 'object' } },
    ],
    client,
  );
  const result = await run(
    fromAnthropicTools(tools, { outputSchemas: { page: { type: 'object', required: ['name'] } } }),
    `const wrong = await tools.page({ id: 'x' }).catch((error) => error.code);
     const failed = await tools.fail().catch((error) => [error.name, error.message]);
     return [await tools.page({ id: 1 }), wrong, failed];`,
  );
  expect(result.value).toEqual([{ name: 'page', input: { id: 1 } }, 'input_invalid', ['ToolError', 'No such page.']]);
  expect(result.artifacts).toMatchObject([{ kind: 'stored', mediaType: 'image/png', bytes: 4 }]);
});

describe('the rule for values', () => {
  test.each([
    ['a text', 'hello', 'hello'],
    ['JSON of an object', ' {"a":1}', { a: 1 }],
    ['JSON of an array', '[1,2]', [1, 2]],
    ['JSON of a scalar, which may be a name', '007', '007'],
    ['true as a text', 'true', 'true'],
    ['what only begins like JSON', '[1] is the first', '[1] is the first'],
    ['one text block', [{ type: 'text', text: '{"a":1}' }], { a: 1 }],
    [
      'several text blocks',
      [
        { type: 'text', text: '{"a":1}' },
        { type: 'text', text: 'b' },
      ],
      [{ a: 1 }, 'b'],
    ],
    ['nothing', [], null],
    ['an empty text', '', ''],
    [
      'a search result',
      [
        {
          type: 'search_result',
          title: 'T',
          source: 'https://a.b',
          content: [
            { type: 'text', text: 'x' },
            { type: 'text', text: 'y' },
          ],
        },
      ],
      { title: 'T', source: 'https://a.b', text: 'x\ny' },
    ],
    ['a reference to a tool', [{ type: 'tool_reference', tool_name: 'x' }], { type: 'tool_reference', tool_name: 'x' }],
    ['what is no result at all', { a: 1 }, { a: 1 }],
    ['undefined', undefined, null],
  ])('%s', async (_, content, value) => {
    const result = await run(fromAnthropicTools([giving(content)]), 'return await tools.give()');
    expect(result.error).toBeUndefined();
    expect(result.value).toEqual(value);
  });

  test('images and documents are artifacts, whatever their source', async () => {
    const content = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } },
      { type: 'document', title: 'Report', source: { type: 'base64', media_type: 'application/pdf', data: PNG } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'inner' }] } },
      { type: 'text', text: 'six' },
    ];
    const result = await run(fromAnthropicTools([giving(content)]), 'return await tools.give()');
    expect(result.value).toBe('six');
    expect(result.artifacts).toMatchObject([
      { kind: 'stored', mediaType: 'image/png', bytes: 4 },
      { kind: 'deferred', reference: { url: 'https://a.b/c.png' } },
      { kind: 'stored', mediaType: 'application/pdf', name: 'Report' },
      { kind: 'stored', mediaType: 'text/plain', bytes: 5 },
      { kind: 'deferred', reference: { fileId: 'file_1' } },
      { kind: 'stored', mediaType: 'text/plain', bytes: 5 },
    ]);
  });

  test('can be another one', async () => {
    const readText = (text: string, name: string) => `${name}: ${text}`;
    const result = await run(fromAnthropicTools([giving('{"a":1}')], { readText }), 'return await tools.give()');
    expect(result.value).toBe('give: {"a":1}');
  });
});

test('a ToolError of the SDK is shown, any other exception is not', async () => {
  const failing = (name: string, error: unknown) =>
    betaTool({
      name,
      description: 'Fails.',
      inputSchema: { type: 'object', properties: {} },
      run: () => {
        throw error;
      },
    });
  const result = await run(
    fromAnthropicTools([
      failing(
        'told',
        new ToolError([
          { type: 'text', text: 'Not today.' },
          { type: 'image', source: { type: 'url', url: 'https://a.b' } },
        ]),
      ),
      failing('hidden', new Error('password 1234')),
    ]),
    'return Promise.all([tools.told(), tools.hidden()].map((call) => call.catch((error) => error.message)))',
  );
  expect(result.value).toEqual(['Not today.\n[image]', 'Tool `hidden` failed (Error).']);
});

test('close is called when the run ends, on the tool itself', async () => {
  const closed: string[] = [];
  const tool: BetaRunnableTool<unknown> & { label: string } = {
    label: 'mine',
    name: 'shell',
    description: 'A shell.',
    input_schema: { type: 'object' },
    parse: (input) => input,
    run: () => 'ok',
    close() {
      closed.push(this.label);
    },
  };
  await run(fromAnthropicTools([tool]), 'return await tools.shell()');
  expect(closed).toEqual(['mine']);
});

test('a function makes tools for each run, with what is known of it', async () => {
  const provider = fromAnthropicTools(({ run }) => [giving(`for ${run.invocation.actorId}`)]);
  const codeMode = createCodeMode({ tools: provider, isolation: 'inline' });
  closers.push(() => codeMode.close());
  const { value } = await codeMode.run('return await tools.give()', { invocation: { actorId: 'ada' } });
  expect(value).toBe('for ada');
});

test('a tool that ends with the program hears its signal', async () => {
  const controller = new AbortController();
  let aborted = false;
  const tool = betaTool({
    name: 'slow',
    description: 'Waits.',
    inputSchema: { type: 'object', properties: {} },
    run: (_, context) =>
      new Promise<string>((_resolve, reject) => {
        context?.signal?.addEventListener('abort', () => {
          aborted = true;
          reject(new Error('aborted'));
        });
        setTimeout(() => controller.abort());
      }),
  });
  const codeMode = createCodeMode({ tools: fromAnthropicTools([tool]) });
  closers.push(() => codeMode.close());
  expect(await codeMode.run('await tools.slow()', { signal: controller.signal })).toMatchObject({ status: 'terminated' });
  expect(aborted).toBe(true);
});

test.each<[string, () => unknown, RegExp]>([
  [
    'what is no tool',
    () => fromAnthropicTools([{ name: 'x' } as never]),
    /`tools\[0\]` of fromAnthropicTools\(\) should be a runnable tool/,
  ],
  [
    'an output schema for a tool that is not there',
    () => fromAnthropicTools([giving('')], { outputSchemas: { gave: {} } }),
    /names `gave`, but the tools are give/,
  ],
])('%s is refused at once', (_, make, message) => {
  expect(make).toThrow(message);
});
