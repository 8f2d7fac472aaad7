// A session's tools on the SDK's own runner, as an application uses them without ask(): eager runs, aborting, errors, cut-off inputs.
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import type { BetaRunnableTool, BetaToolRunContext } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { toContent } from '../../../src/adapters/anthropic/content.ts';
import { anthropicTools } from '../../../src/adapters/anthropic.ts';
import { createCodeMode, defineTool, type RenderedBlock, type SessionOptions, type ToolProvider } from '../../../src/index.ts';
import {
  exec,
  hang,
  type Message,
  type MessagesApi,
  once,
  openMessagesApi,
  reply,
  replyWith,
  type Step,
  text,
} from '../../helpers/messages-api.ts';

const made: string[] = [];
const note = defineTool({
  name: 'note',
  description: 'Writes a note.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  execute: ({ text }) => void made.push(text),
});
const slow = defineTool({
  name: 'slow',
  description: 'Waits until its signal aborts.',
  execute: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      made.push('slow');
      signal.addEventListener('abort', () => {
        made.push('slow ended');
        reject(new Error('aborted'));
      });
    }),
});
const files: ToolProvider = {
  namespace: 'files',
  tools: () => [
    defineTool({
      name: 'list-all',
      description: 'Lists.',
      inputSchema: { anyOf: [{ type: 'object', properties: { in: { type: 'string' } } }, { type: 'null' }] },
      execute: (input) => input ?? 'nothing',
    }),
  ],
};
const codeMode = createCodeMode({ tools: [note, slow, files], limits: { cleanupMs: 200 } });
afterAll(() => codeMode.close());

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  made.length = 0;
  for (const close of closers.splice(0).reverse()) await close();
});

async function opened(script: readonly Step[], options: SessionOptions = {}) {
  const api: MessagesApi = await openMessagesApi(script);
  closers.push(() => api.close());
  const session = await codeMode.openSession(options);
  closers.push(() => session.close());
  const params = {
    model: 'claude-test',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'Go.' }],
    tools: anthropicTools(session),
  };
  return { api, session, params };
}

const lastContent = ({ requests }: MessagesApi): Message['content'] | undefined => requests.at(-1)?.body.messages.at(-1)?.content;

/** What a tool does outside a runner: what it gives, or the content of what it throws. */
async function outcomeOf(tool: BetaRunnableTool<unknown>, input: unknown, context?: Partial<BetaToolRunContext>): Promise<unknown> {
  try {
    return await tool.run(tool.parse(input), context as BetaToolRunContext | undefined);
  } catch (error) {
    expect(error).toBeInstanceOf(ToolError);
    return { error: (error as ToolError).content };
  }
}

describe('on a tool runner', () => {
  test('that does not stream, a program runs', async () => {
    const { api, params } = await opened([reply(exec('toolu_1', 'return 1 + 1')), reply(text('Done.'))]);
    const final = await api
      .client()
      .beta.messages.toolRunner({ ...params, thread: false })
      .runUntilDone();
    expect(final.content).toMatchObject([{ type: 'text', text: 'Done.' }]);
    expect(lastContent(api)).toEqual([{ type: 'tool_result', tool_use_id: 'toolu_1', content: '2' }]);
  });

  test('that streams, results are sent with their ids and errors are marked', async () => {
    const { api, params } = await opened([
      reply(exec('toolu_1', 'return 1 + 1'), exec('toolu_2', 'throw new Error("no")')),
      reply(text('Done.')),
    ]);
    const final = await api
      .client()
      .beta.messages.toolRunner({ ...params, stream: true, thread: false })
      .runUntilDone();
    expect(final.content).toMatchObject([{ type: 'text', text: 'Done.' }]);
    expect(lastContent(api)).toEqual([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: '2' },
      { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: expect.stringMatching(/^Status: error\nError: no \(line 1/) },
    ]);
  });

  test('on a thread, which sends only what is new, the calls are answered too', async () => {
    const { api, params } = await opened([reply(exec('toolu_1', 'return 2')), reply(text('Done.'))]);
    await api
      .client()
      .beta.messages.toolRunner({ ...params, stream: true })
      .runUntilDone();
    expect(api.requests.map(({ body }) => body['thread'])).toEqual([
      { type: 'create' },
      { type: 'continue', previous_message_id: 'msg_1' },
    ]);
    expect(api.requests[1]?.body.messages).toEqual([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '2' }] },
    ]);
    expect(api.requests[1]?.conversation).toHaveLength(3);
  });

  test('that is aborted ends the program and its calls', async () => {
    const controller = new AbortController();
    const { api, session, params } = await opened([reply(exec('toolu_1', 'await tools.slow()'))]);
    const running = api
      .client()
      .beta.messages.toolRunner({ ...params, stream: true, thread: false }, { signal: controller.signal })
      .runUntilDone();
    while (!made.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort();
    await expect(running).rejects.toThrow();
    expect(made).toEqual(['slow', 'slow ended']);
    await expect(session.wait()).rejects.toMatchObject({ code: 'call_refused' });
  });

  test('that is aborted while the model speaks ends the program that was left running', async () => {
    const controller = new AbortController();
    const { api, session, params } = await opened([
      reply(exec('toolu_1', 'await tools.slow()', { observe_ms: 30 })),
      once(() => made.includes('slow'), hang()),
    ]);
    const running = api
      .client()
      .beta.messages.toolRunner({ ...params, stream: true, thread: false }, { signal: controller.signal })
      .runUntilDone();
    while (api.requests.length < 2 || !made.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort();
    await expect(running).rejects.toThrow();
    expect(await session.wait()).toMatchObject({ status: 'terminated' });
    expect(made).toEqual(['slow', 'slow ended']);
  });
});

describe('that runs tools eagerly', () => {
  const eager = { stream: true, thread: false, runToolsEagerly: true } as const;

  test('a program runs once, while the reply still streams', async () => {
    const slowly = {
      content: [exec('toolu_1', 'await tools.note({ text: "one" }); return 1'), text('And so on. '.repeat(40))],
      stop: 'tool_use',
      delayMs: 5,
    };
    const { api, params } = await opened([replyWith(slowly), reply(text('Done.'))]);
    const runner = api.client().beta.messages.toolRunner({ ...params, ...eager });
    let atEnd: string[] = [];
    for await (const stream of runner) {
      const message = await stream.finalMessage();
      if (message.stop_reason !== 'tool_use') continue;
      atEnd = [...made];
      // Asked for twice, by the application and by the runner.
      await runner.generateToolResponse();
    }
    expect(atEnd).toEqual(['one']);
    expect(made).toEqual(['one']);
    expect(lastContent(api)).toEqual([{ type: 'tool_result', tool_use_id: 'toolu_1', content: '1' }]);
  });

  test('a program that was cut off does not run, even when the application asks for its result', async () => {
    const source = 'await tools.note({ text: "one" });\nawait tools.note({ text: "two" });';
    const { api, params } = await opened([replyWith({ content: [exec('toolu_1', source)], stop: 'max_tokens', cutInput: 60 })]);
    const runner = api.client().beta.messages.toolRunner({ ...params, ...eager });
    for await (const stream of runner) {
      await stream.finalMessage();
      const response = await runner.generateToolResponse();
      expect(response?.content).toEqual([
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          is_error: true,
          content: expect.stringContaining('was cut off, so `exec` was not run'),
        },
      ]);
    }
    expect(made).toEqual([]);
  });

  test('calls that an application takes over are not carried out again', async () => {
    const { api, params } = await opened([reply(exec('toolu_1', 'await tools.note({ text: "one" }); return 1')), reply(text('Done.'))]);
    const runner = api.client().beta.messages.toolRunner({ ...params, ...eager });
    for await (const stream of runner) {
      const message = await stream.finalMessage();
      if (message.stop_reason !== 'tool_use') continue;
      await runner.generateToolResponse();
      // Changing the parameters makes the runner forget its results.
      runner.setMessagesParams((before) => ({
        ...before,
        messages: [...before.messages, { role: 'assistant', content: message.content }],
      }));
    }
    expect(made).toEqual(['one']);
    expect(lastContent(api)).toEqual([{ type: 'tool_result', tool_use_id: 'toolu_1', content: '1' }]);
  });
});

describe('a call', () => {
  test('with the id of another call is refused', async () => {
    const { session } = await opened([]);
    const [tool] = anthropicTools(session) as [BetaRunnableTool<unknown>];
    const toolUse = (source: string) => ({ toolUse: { type: 'tool_use' as const, id: 'toolu_1', name: 'exec', input: { source } } });
    const both = [
      outcomeOf(tool, { source: 'return 1' }, toolUse('return 1')),
      outcomeOf(tool, { source: 'return 1' }, toolUse('return 1')),
    ];
    expect(await Promise.all(both)).toEqual(['1', '1']);
    expect(await outcomeOf(tool, { source: 'return 2' }, toolUse('return 2'))).toEqual({
      error: 'Two different calls have the id toolu_1; only the first was carried out.',
    });
  });

  test.each([
    [{}, 'there is none'],
    [null, 'there is none'],
    [{ source: 5 }, 'a number'],
    [{ source: 'return 1', observe_ms: '5' }, '`observe_ms`'],
  ])('of exec with %j is told what is wrong', async (input, part) => {
    const { session } = await opened([]);
    expect(await outcomeOf(anthropicTools(session)[0] as BetaRunnableTool<unknown>, input)).toEqual({
      error: expect.stringContaining(part),
    });
  });

  test('of a tool whose schema is no object goes through one, whole', async () => {
    const { session } = await opened([], { except: ['files.list-all'] });
    const tool = anthropicTools(session).find(({ name }) => name === 'files_list_all') as BetaRunnableTool<unknown>;
    expect(tool).toMatchObject({
      input_schema: { type: 'object', required: ['input'], properties: { input: { anyOf: expect.any(Array) } } },
    });
    expect(await outcomeOf(tool, { input: { in: 'docs' } })).toBe('{"in":"docs"}');
    expect(await outcomeOf(tool, { input: null })).toBe('nothing');
    expect(await outcomeOf(tool, { input: 5 })).toEqual({ error: expect.stringContaining('invalid input') });
  });

  test('of a tool that gives nothing is answered', async () => {
    const { session } = await opened([], { except: ['note'] });
    const tool = anthropicTools(session).find(({ name }) => name === 'note') as BetaRunnableTool<unknown>;
    expect(await outcomeOf(tool, { text: 'x' })).toBe('Done.');
  });
});

test('a kept tool that has the name of a control is refused at once', async () => {
  const own = createCodeMode({ tools: [defineTool({ name: 'stop', description: 'Stops the lift.', execute: () => 'stopped' })] });
  closers.push(() => own.close());
  const session = await own.openSession({ except: ['stop'] });
  expect(() => anthropicTools(session)).toThrow(/Two tools of the conversation would be `stop`/);
});

test('the tools stand beside others of the SDK', async () => {
  const { session } = await opened([]);
  const other = betaTool({ name: 'other', description: 'Another.', inputSchema: { type: 'object', properties: {} }, run: () => 'yes' });
  const all = [...anthropicTools(session), other];
  expect(all.map(({ name }) => name)).toEqual(['exec', 'wait', 'stop', 'other']);
});

describe('content', () => {
  const bytes = (size: number) => new Uint8Array(size).fill(65);
  const text = (value: string): RenderedBlock => ({ type: 'text', text: value });
  const content = (...blocks: RenderedBlock[]) => toContent({ blocks, isError: false });

  test('is a text while it is nothing else, and never empty', () => {
    expect(content(text('a'), text('b'))).toBe('a\nb');
    expect(content(text(''))).toBe('(empty)');
    expect(content(text('half \ud83e'))).toBe('half \ufffd');
  });

  test('has images of the four types, PDF and texts as documents', () => {
    expect(
      content(
        text('Look.'),
        { type: 'image', mediaType: 'image/png', data: bytes(3) },
        { type: 'document', mediaType: 'application/pdf', data: bytes(3), name: 'a.pdf' },
        { type: 'document', mediaType: 'text/csv; charset=utf-8', data: bytes(3), name: 'a.csv' },
      ),
    ).toEqual([
      { type: 'text', text: 'Look.' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUFB' } },
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'QUFB' } },
      { type: 'document', title: 'a.csv', source: { type: 'text', media_type: 'text/plain', data: 'AAA' } },
    ]);
  });

  test('names what the API would not take, with its size and without its bytes', () => {
    expect(
      content(
        { type: 'image', mediaType: 'image/tiff', data: bytes(3), name: 'scan.tiff' },
        { type: 'image', mediaType: 'image/png', data: bytes(4_000_000) },
        { type: 'document', mediaType: 'application/zip', data: bytes(9) },
      ),
    ).toEqual([
      { type: 'text', text: '(scan.tiff, image/tiff, 3 bytes: it cannot be shown here.)' },
      { type: 'text', text: '(A file, image/png, 4000000 bytes: it cannot be shown here.)' },
      { type: 'text', text: '(A file, application/zip, 9 bytes: it cannot be shown here.)' },
    ]);
  });
});
