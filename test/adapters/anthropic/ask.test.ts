// Whole conversations: the real SDK against a Messages API on loopback, which refuses what the API refuses.
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { AskError, type AskEvent, type AskOptions, ask } from '../../../src/adapters/anthropic.ts';
import { artifact, createCodeMode, defineTool, type Session, type SessionOptions, toolResult } from '../../../src/index.ts';
import {
  breakOff,
  drop,
  exec,
  fail,
  hang,
  type Message,
  type MessagesApi,
  once,
  openMessagesApi,
  reply,
  replyWith,
  type SentRequest,
  type Step,
  text,
  use,
} from '../../helpers/messages-api.ts';

const made: string[] = [];
const add = defineTool({
  name: 'add',
  description: 'The sum of two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  outputSchema: { type: 'number' },
  execute: ({ a, b }) => {
    made.push(`add ${a} ${b}`);
    return a + b;
  },
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
const codeMode = createCodeMode({ tools: [add, slow], limits: { cleanupMs: 200 } });
afterAll(() => codeMode.close());

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  made.length = 0;
  for (const close of closers.splice(0).reverse()) await close();
});

interface Setting {
  readonly api: MessagesApi;
  readonly session: Session;
  readonly events: AskEvent[];
  readonly said: string[];
  ask(options?: Partial<AskOptions>): ReturnType<typeof ask>;
}

/** An API with a script, a session, and a request to it. */
async function playing(
  script: readonly Step[] | ((request: SentRequest, index: number) => Step),
  { maxRetries = 2, ...options }: SessionOptions & { readonly maxRetries?: number } = {},
): Promise<Setting> {
  const api = await openMessagesApi(script);
  closers.push(() => api.close());
  const session = await codeMode.openSession(options);
  closers.push(() => session.close());
  const events: AskEvent[] = [];
  const said: string[] = [];
  return {
    api,
    session,
    events,
    said,
    ask: (more = {}) =>
      ask({
        client: api.client({ maxRetries }),
        model: 'claude-test',
        session,
        prompt: 'How much?',
        onText: (piece) => said.push(piece),
        onEvent: (event) => events.push(event),
        ...more,
      }),
  };
}

/** The answers to calls in the last message of a request. */
function resultsIn({ body }: SentRequest): { id: unknown; content: string; isError: boolean }[] {
  const { content } = body.messages.at(-1) as Message;
  return (typeof content === 'string' ? [] : content).flatMap((block) =>
    block.type === 'tool_result'
      ? [
          {
            id: block['tool_use_id'],
            content: typeof block['content'] === 'string' ? block['content'] : JSON.stringify(block['content']),
            isError: block['is_error'] === true,
          },
        ]
      : [],
  );
}

async function failureOf(work: Promise<unknown>): Promise<AskError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AskError);
  return error as AskError;
}

describe('a request', () => {
  test('is answered by way of a program: what is sent, streamed and told', async () => {
    const { api, session, events, said, ask } = await playing([
      reply(
        text('Let me see. '),
        exec('toolu_1', 'const sum = await tools.add({ a: 20, b: 22 });\nconsole.log("ünïcode ✓ 🧮");\nreturn { sum };'),
      ),
      reply(text('It is 42. ✓ 🧮')),
    ]);
    const result = await ask({ system: 'Be brief.' });
    expect(result).toMatchObject({ status: 'answered', text: 'It is 42. ✓ 🧮', turns: 2, calls: 1 });
    expect(result.reason).toBeUndefined();
    expect(said.join('')).toBe('Let me see. It is 42. ✓ 🧮');
    expect(said.length).toBeGreaterThan(3);
    expect(events.map(({ type }) => type)).toEqual(['turn', 'call', 'result', 'turn']);
    expect(made).toEqual(['add 20 22']);

    const [first, second] = api.requests;
    expect(first?.body).toMatchObject({
      model: 'claude-test',
      max_tokens: 8192,
      stream: true,
      system: `Be brief.\n\n${session.instructions}`,
    });
    expect(first?.body).not.toHaveProperty('thread');
    expect(first?.body.tools?.map(({ name }) => name)).toEqual(['exec', 'wait', 'stop']);
    expect(Object.keys(first?.body.tools?.[0] ?? {}).sort()).toEqual(['description', 'input_schema', 'name', 'type']);
    expect(second?.body.messages).toEqual([
      { role: 'user', content: 'How much?' },
      {
        role: 'assistant',
        content: [
          text('Let me see. '),
          exec('toolu_1', 'const sum = await tools.add({ a: 20, b: 22 });\nconsole.log("ünïcode ✓ 🧮");\nreturn { sum };'),
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ünïcode ✓ 🧮\n{"sum":42}' }] },
    ]);
    expect(result.messages).toEqual([...(second?.body.messages ?? []), { role: 'assistant', content: [text('It is 42. ✓ 🧮')] }]);
  });

  test('without a call is one turn, and its text is generated once', async () => {
    const { api, ask, said } = await playing([reply(text('Hello.'))]);
    expect(await ask()).toMatchObject({ status: 'answered', text: 'Hello.', turns: 1, calls: 0 });
    expect(api.requests).toHaveLength(1);
    expect(said.join('')).toBe('Hello.');
  });

  test('sums usage over its turns, the cache too', async () => {
    const usage = (input_tokens: number, output_tokens: number, read: number, written: number) => ({
      input_tokens,
      output_tokens,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
    });
    const { ask } = await playing([
      replyWith({ content: [exec('toolu_1', 'return 1')], usage: usage(100, 7, 0, 900) }),
      replyWith({ content: [text('One.')], usage: usage(30, 5, 900, 40) }),
    ]);
    expect((await ask()).usage).toEqual({ inputTokens: 130, outputTokens: 12, cacheReadTokens: 900, cacheWriteTokens: 940 });
  });

  test('answers parallel calls in the order in which they were made, each with its own id', async () => {
    const { api, ask } = await playing([
      reply(exec('toolu_1', 'await sleep(50); return "first"'), exec('toolu_2', 'return "second"'), use('toolu_3', 'stop', {})),
      reply(text('Done.')),
    ]);
    await ask();
    expect(resultsIn(api.requests[1] as SentRequest)).toEqual([
      { id: 'toolu_1', content: 'first', isError: false },
      { id: 'toolu_2', content: 'second', isError: false },
      { id: 'toolu_3', content: expect.stringContaining('no program to stop'), isError: true },
    ]);
  });

  test('goes on after a failed program and a wrong input, which the model is told as errors', async () => {
    const { api, ask } = await playing([
      reply(exec('toolu_1', 'const n = 1;\nnull.x;'), use('toolu_2', 'exec', { code: 'return 1' })),
      reply(text('Sorry.')),
    ]);
    expect((await ask()).status).toBe('answered');
    const [first, second] = resultsIn(api.requests[1] as SentRequest);
    expect(first).toMatchObject({ isError: true, content: expect.stringMatching(/TypeError.*\(line 2/) });
    expect(second).toMatchObject({ isError: true, content: expect.stringContaining('takes the text of the program as `source`') });
  });

  test('continues a conversation with all its exchanges', async () => {
    const { api, ask } = await playing([
      reply(exec('toolu_1', 'store("n", 5); return 5')),
      reply(text('Five.')),
      reply(exec('toolu_2', 'return load("n") + 1')),
      reply(text('Six.')),
    ]);
    const first = await ask();
    const second = await ask({ prompt: 'And one more?', messages: first.messages });
    expect(second).toMatchObject({ status: 'answered', text: 'Six.' });
    expect(resultsIn(api.requests[3] as SentRequest)).toEqual([{ id: 'toolu_2', content: '6', isError: false }]);
    expect(api.requests[3]?.body.messages.slice(0, 4)).toEqual(first.messages);
    expect(second.messages).toHaveLength(8);
  });

  test('has the tools that the session keeps for the conversation', async () => {
    const { api, ask } = await playing(
      [reply(use('toolu_1', 'add', { a: 2, b: 3 }), use('toolu_2', 'add', { a: 2 })), reply(text('Five.'))],
      {
        except: ['add'],
      },
    );
    await ask();
    expect(api.requests[0]?.body.tools?.map(({ name }) => name)).toEqual(['exec', 'wait', 'stop', 'add']);
    expect(resultsIn(api.requests[1] as SentRequest)).toEqual([
      { id: 'toolu_1', content: '5', isError: false },
      { id: 'toolu_2', content: expect.stringContaining('`b`'), isError: true },
    ]);
  });

  test('has images and documents of a program, and of a call, as blocks in their results', async () => {
    const shot = defineTool({
      name: 'shot',
      description: 'A picture.',
      execute: () =>
        toolResult({
          value: 'taken',
          artifacts: [artifact({ data: Buffer.from('89504e470d0a1a0a', 'hex'), mediaType: 'image/png', name: 'a.png' })],
        }),
    });
    const page = defineTool({
      name: 'page',
      description: 'A page.',
      execute: () =>
        toolResult({ value: 'printed', artifacts: [artifact({ data: '%PDF-1.7', mediaType: 'application/pdf', name: 'a.pdf' })] }),
    });
    const own = createCodeMode({ tools: [shot, page] });
    closers.push(() => own.close());
    const { api, ask } = await playing([
      reply(exec('toolu_1', 'return await tools.shot()'), use('toolu_2', 'page', {})),
      reply(text('Seen.')),
    ]);
    const session = await own.openSession({ except: ['page'] });
    expect((await ask({ session })).status).toBe('answered');
    expect(api.requests[1]?.body.messages.at(-1)?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        content: [
          { type: 'text', text: expect.stringMatching(/^taken\nArtifacts:\n.*"a\.png"/) },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        ],
      },
      {
        type: 'tool_result',
        tool_use_id: 'toolu_2',
        content: [
          { type: 'text', text: expect.stringMatching(/^printed\nArtifacts:\n.*"a\.pdf"/) },
          { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjc=' } },
        ],
      },
    ]);
  });

  test('leaves out empty texts, which the API would not take back', async () => {
    const { ask } = await playing([reply(text(' \n'), exec('toolu_1', 'return ""')), reply(text('')), reply(text('Yes.'))]);
    const first = await ask();
    expect(first).toMatchObject({ status: 'answered', text: '' });
    expect(await ask({ messages: first.messages, prompt: 'Well?' })).toMatchObject({ status: 'answered', text: 'Yes.' });
  });

  test('closes calls that an application left open in the conversation', async () => {
    const { api, ask } = await playing([reply(text('All right.'))]);
    await ask({
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_0', name: 'exec', input: { source: '1' } }] },
      ],
    });
    expect(api.requests[0]?.body.messages.at(-1)?.content).toEqual([
      expect.objectContaining({ type: 'tool_result', tool_use_id: 'toolu_0', is_error: true }),
      text('How much?'),
    ]);
  });
});

describe('a model that', () => {
  test('calls a tool of the catalog is told to write a program, with the signature', async () => {
    const { api, ask } = await playing([reply(use('toolu_1', 'add', { a: 1, b: 2 })), reply(text('I see.'))]);
    expect((await ask()).status).toBe('answered');
    const [advice] = resultsIn(api.requests[1] as SentRequest);
    expect(advice).toMatchObject({ isError: true });
    expect(advice?.content).toContain('Call `exec`');
    expect(advice?.content).toContain('tools.add(input: { a: number; b: number }): Promise<number>');
    expect(made).toEqual([]);
  });

  test('calls what there is not is told what there is', async () => {
    const { api, ask } = await playing([reply(use('toolu_1', 'addd', {})), reply(text('I see.'))]);
    await ask();
    expect(resultsIn(api.requests[1] as SentRequest)[0]?.content).toMatch(
      /no tool `addd`\. You can call `exec`, `wait`, `stop`\. Programs have `tools\.add`/,
    );
  });

  test('makes the same call over and over is warned, then stopped', async () => {
    const again = (_: SentRequest, index: number): Step => reply(use(`toolu_${index}`, 'exec', { source: 'return 1' }));
    const { api, ask } = await playing(again);
    const result = await ask();
    expect(result).toMatchObject({
      status: 'repeating',
      turns: 5,
      reason: expect.stringContaining('The model made the same call of `exec`'),
    });
    const results = api.requests.slice(1).map((request) => resultsIn(request)[0]?.content);
    expect(results.slice(0, 2)).toEqual(['1', '1']);
    expect(results[2]).toMatch(/^Note: this is the 3rd identical call of `exec`/);
    expect(results[3]).toMatch(/4th identical call.*will not be carried out/);
    expect(result.messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'tool_result', is_error: true }] });
  });

  test('makes the same call with another result each time is not stopped, nor one whose program polls', async () => {
    let counter = 0;
    const tick = defineTool({ name: 'tick', description: 'Counts.', execute: () => ++counter });
    const own = createCodeMode({ tools: [tick] });
    closers.push(() => own.close());
    const source = 'let n = 0; for (let i = 0; i < 20; i++) n = await tools.tick(); return n';
    const { ask } = await playing((_, index) => (index < 7 ? reply(exec(`toolu_${index}`, source)) : reply(text('Enough.'))));
    expect(await ask({ session: await own.openSession() })).toMatchObject({ status: 'answered', turns: 8 });
    expect(counter).toBe(140);
  });

  test('never answers is stopped after maxTurns, and calls of the last turn are not carried out', async () => {
    const { api, ask } = await playing((_, index) => reply(exec(`toolu_${index}`, `return await tools.add({ a: ${index}, b: 0 })`)));
    const result = await ask({ maxTurns: 3 });
    expect(result).toMatchObject({ status: 'out_of_turns', turns: 3 });
    expect(api.requests).toHaveLength(3);
    expect(made).toEqual(['add 0 0', 'add 1 0']);
    expect(result.messages.at(-1)?.content).toEqual([expect.objectContaining({ tool_use_id: 'toolu_2', is_error: true })]);
  });

  test('makes more calls than maxCalls has none of that turn carried out', async () => {
    const { ask } = await playing([
      reply(exec('toolu_1', 'return await tools.add({ a: 1, b: 1 })')),
      reply(exec('toolu_2', 'return await tools.add({ a: 2, b: 2 })'), exec('toolu_3', 'return 3')),
    ]);
    const result = await ask({ maxCalls: 2 });
    expect(result).toMatchObject({ status: 'out_of_calls', calls: 3 });
    expect(made).toEqual(['add 1 1']);
  });

  test('uses one id for two calls has neither carried out', async () => {
    const { ask } = await playing([reply(exec('toolu_1', 'return await tools.add({ a: 1, b: 1 })'), exec('toolu_1', 'return 2'))]);
    expect(await failureOf(ask())).toMatchObject({ code: 'reply_invalid' });
    expect(made).toEqual([]);
  });

  test('refuses ends the request, and the refused prompt leaves the conversation', async () => {
    const { ask } = await playing([
      reply(text('Hello.')),
      replyWith({ content: [text('I ca')], stop: 'refusal', details: { type: 'refusal', category: null, explanation: 'Not that.' } }),
    ]);
    const first = await ask();
    const second = await ask({ messages: first.messages, prompt: 'Something bad.' });
    expect(second).toMatchObject({ status: 'refused', reason: 'The model refused to answer: Not that.' });
    expect(second.messages).toEqual(first.messages);
  });

  test('refuses after it has used tools keeps what was done in the conversation', async () => {
    const { ask } = await playing([
      reply(exec('toolu_1', 'return await tools.add({ a: 1, b: 1 })')),
      replyWith({ content: [], stop: 'refusal' }),
      reply(text('Two.')),
    ]);
    const first = await ask();
    expect(first).toMatchObject({ status: 'refused' });
    expect(first.messages).toHaveLength(3);
    expect(await ask({ messages: first.messages, prompt: 'Sum only.' })).toMatchObject({ status: 'answered', text: 'Two.' });
  });

  test('is cut off inside a program is told so, and no part of it runs', async () => {
    const source = `await tools.add({ a: 1, b: 1 });\n${'// and so on\n'.repeat(20)}`;
    const { api, ask } = await playing([
      replyWith({
        content: [text('Now.'), exec('toolu_1', 'return await tools.add({ a: 7, b: 7 })'), exec('toolu_2', source)],
        stop: 'max_tokens',
        cutInput: 80,
      }),
      reply(exec('toolu_3', 'return 3')),
      reply(text('Three.')),
    ]);
    expect(await ask()).toMatchObject({ status: 'answered', text: 'Three.' });
    expect(made).toEqual([]);
    expect(resultsIn(api.requests[1] as SentRequest)).toEqual([
      { id: 'toolu_1', isError: true, content: expect.stringContaining('cut off at the limit of 8192 tokens') },
      { id: 'toolu_2', isError: true, content: expect.stringContaining('Not carried out') },
    ]);
  });

  test('is cut off inside its programs again and again ends the request', async () => {
    const { api, ask } = await playing((_, index) =>
      replyWith({ content: [exec(`toolu_${index}`, 'x'.repeat(100))], stop: 'max_tokens', cutInput: 40 }),
    );
    const result = await ask({ maxTokens: 64 });
    expect(result).toMatchObject({ status: 'cut_off', turns: 3, reason: 'The reply was cut off at the limit of 64 tokens.' });
    expect(api.requests[0]?.body['max_tokens']).toBe(64);
  });

  test('is cut off in its answer gives what there is', async () => {
    const { ask } = await playing([replyWith({ content: [text('It is')], stop: 'max_tokens' })]);
    expect(await ask()).toMatchObject({ status: 'cut_off', text: 'It is' });
  });

  test('pauses is resumed from where it was, and both parts are the answer', async () => {
    const { api, ask, said } = await playing([replyWith({ content: [text('First, ')], stop: 'pause_turn' }), reply(text('then.'))]);
    const result = await ask();
    expect(result).toMatchObject({ status: 'answered', text: 'First, then.', turns: 2 });
    expect(api.requests[1]?.body.messages.at(-1)).toEqual({ role: 'assistant', content: [text('First, ')] });
    expect(said.join('')).toBe('First, then.');
  });

  test('pauses at the turn limit is not resumed', async () => {
    const { api, ask } = await playing((_, index) => replyWith({ content: [text(`${index} `)], stop: 'pause_turn' }));
    expect(await ask({ maxTurns: 2 })).toMatchObject({ status: 'out_of_turns', text: '0 1 ' });
    expect(api.requests).toHaveLength(2);
  });
});

describe('an API that', () => {
  test.each([
    [429, 'rate_limit_error', { 'retry-after-ms': '30' }],
    [529, 'overloaded_error', { 'retry-after-ms': '10' }],
    [500, 'api_error', { 'retry-after': '0.01' }],
  ])('fails with %i is asked again when it says, and the request goes on', async (status, type, headers) => {
    const { api, ask } = await playing([
      reply(exec('toolu_1', 'return await tools.add({ a: 1, b: 1 })')),
      fail(status, type, 'Later.', headers),
      reply(text('Two.')),
    ]);
    expect(await ask()).toMatchObject({ status: 'answered', text: 'Two.', turns: 2 });
    expect(api.requests).toHaveLength(3);
    expect(api.requests[2]?.text).toBe(api.requests[1]?.text);
    expect(made).toEqual(['add 1 1']);
  });

  test('keeps failing ends the request with what happened so far, and the conversation can go on', async () => {
    const { ask } = await playing(
      [reply(exec('toolu_1', 'return await tools.add({ a: 1, b: 1 })')), fail(529, 'overloaded_error', 'Overloaded'), reply(text('Two.'))],
      { maxRetries: 0 },
    );
    const error = await failureOf(ask());
    expect(error).toMatchObject({
      code: 'request_failed',
      turns: 1,
      message: expect.stringContaining('Overloaded'),
      cause: { status: 529 },
    });
    expect(error.messages).toHaveLength(3);
    expect(await ask({ prompt: undefined, messages: error.messages })).toMatchObject({ status: 'answered', text: 'Two.' });
    expect(made).toEqual(['add 1 1']);
  });

  test('refuses the request is not asked again', async () => {
    const { api, ask } = await playing([fail(401, 'authentication_error', 'invalid x-api-key')]);
    expect(await failureOf(ask())).toMatchObject({ code: 'request_failed', cause: { status: 401 } });
    expect(api.requests).toHaveLength(1);
  });

  test.each<[string, Step]>([
    ['drops the connection inside a call', drop({ content: [exec('toolu_1', 'return await tools.add({ a: 1, b: 1 })')] }, 9)],
    ['drops the connection at once', drop({ content: [] }, 1)],
    [
      'breaks off with an error inside a call',
      breakOff({ content: [exec('toolu_1', 'return await tools.add({ a: 1, b: 1 })')] }, 9, 'overloaded_error'),
    ],
  ])('%s is asked again, and what had arrived does not run', async (_, broken) => {
    const { api, events, ask } = await playing([
      broken,
      reply(exec('toolu_2', 'return await tools.add({ a: 2, b: 2 })')),
      reply(text('Four.')),
    ]);
    expect(await ask()).toMatchObject({ status: 'answered', text: 'Four.', turns: 2 });
    expect(made).toEqual(['add 2 2']);
    expect(api.requests[1]?.text).toBe(api.requests[0]?.text);
    expect(events.filter(({ type }) => type === 'retry')).toHaveLength(1);
  });

  test('drops the connection inside the answer fails: it is not generated and shown twice', async () => {
    const { api, said, ask } = await playing([drop({ content: [text('It is a long story of many words.')] }, 6)]);
    const error = await failureOf(ask());
    expect(error).toMatchObject({ code: 'request_failed' });
    expect(api.requests).toHaveLength(1);
    expect('It is a long story of many words.'.startsWith(said.join(''))).toBe(true);
    expect(error.messages).toEqual([{ role: 'user', content: 'How much?' }]);
    expect(error.usage.inputTokens).toBe(10);
  });

  test('breaks off with an error that stays is not asked again', async () => {
    const { api, ask } = await playing([breakOff({ content: [] }, 1, 'invalid_request_error')]);
    await failureOf(ask());
    expect(api.requests).toHaveLength(1);
  });
});

describe('cancelling', () => {
  const settled = async (check: () => boolean): Promise<void> => {
    for (let i = 0; i < 200 && !check(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(check()).toBe(true);
  };

  test('before it begins sends nothing', async () => {
    const { api, ask } = await playing([reply(text('Hello.'))]);
    expect(await failureOf(ask({ signal: AbortSignal.abort() }))).toMatchObject({ code: 'cancelled' });
    expect(api.requests).toHaveLength(0);
  });

  test('while the model speaks ends the connection', async () => {
    const controller = new AbortController();
    const { api, ask } = await playing([hang({ content: [text('It is a long story.')] }, 5)]);
    const asking = ask({ signal: controller.signal, onText: () => controller.abort() });
    expect(await failureOf(asking)).toMatchObject({ code: 'cancelled', messages: [{ role: 'user', content: 'How much?' }] });
    await settled(() => api.open() === 0);
  });

  test('while a program runs ends it and its calls, and the history is whole', async () => {
    const controller = new AbortController();
    const { session, ask } = await playing([reply(exec('toolu_1', 'await tools.slow(); return 1')), reply(text('After.'))]);
    const asking = ask({ signal: controller.signal });
    await settled(() => made.includes('slow'));
    controller.abort(new Error('enough'));
    const error = await failureOf(asking);
    expect(error).toMatchObject({ code: 'cancelled', cause: { message: 'enough' } });
    expect(made).toEqual(['slow', 'slow ended']);
    expect(error.messages.at(-1)).toMatchObject({ role: 'user', content: [{ tool_use_id: 'toolu_1', is_error: true }] });
    await expect(session.wait()).rejects.toMatchObject({ code: 'call_refused' });
    expect(await ask({ messages: error.messages, prompt: 'Go on.' })).toMatchObject({ status: 'answered' });
  });

  test('while the model speaks ends the program that was left running', async () => {
    const controller = new AbortController();
    const { session, ask } = await playing([
      reply(exec('toolu_1', 'await tools.slow(); return 1', { observe_ms: 50 })),
      once(() => made.includes('slow'), hang({ content: [text('It goes on.')] }, 5)),
    ]);
    const error = await failureOf(ask({ signal: controller.signal, onText: () => controller.abort() }));
    expect(error.messages.at(-1)?.content).toEqual([expect.objectContaining({ content: expect.stringContaining('still_working') })]);
    expect(made).toEqual(['slow', 'slow ended']);
    await expect(session.wait()).rejects.toMatchObject({ code: 'call_refused' });
  });

  test('while the API asks to wait does not wait', async () => {
    const controller = new AbortController();
    const { api, ask } = await playing([fail(429, 'rate_limit_error', 'Later.', { 'retry-after': '20' })]);
    const asking = ask({ signal: controller.signal });
    await settled(() => api.requests.length === 1);
    const began = performance.now();
    controller.abort();
    expect(await failureOf(asking)).toMatchObject({ code: 'cancelled' });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('a tool of the conversation aborts its signal', async () => {
    const controller = new AbortController();
    const { ask } = await playing([reply(use('toolu_1', 'slow', {}))], { except: ['slow'] });
    const asking = ask({ signal: controller.signal });
    await settled(() => made.includes('slow'));
    controller.abort();
    expect(await failureOf(asking)).toMatchObject({ code: 'cancelled' });
    expect(made).toEqual(['slow', 'slow ended']);
  });

  test('is what an exception of a callback does, which is then what rejects', async () => {
    const { api, ask } = await playing([hang({ content: [text('It is a long story.')] }, 5)]);
    await expect(
      ask({
        onText: () => {
          throw new RangeError('mine');
        },
      }),
    ).rejects.toThrow(new RangeError('mine'));
    expect(api.requests).toHaveLength(1);
    await settled(() => api.open() === 0);
  });
});

test.each<[string, Partial<AskOptions>, string]>([
  ['no prompt', { prompt: undefined }, '`prompt`'],
  ['an empty prompt', { prompt: ' ' }, '`prompt`'],
  ['no client', { client: {} as AskOptions['client'] }, '`client`'],
  ['no session', { session: undefined as unknown as Session }, '`session`'],
  ['a limit of none', { maxTurns: 0 }, '`maxTurns`'],
  ['another name', { maxTurn: 1 } as Partial<AskOptions>, 'did you mean `maxTurns`'],
  ['nobody to run programs', { programs: 'me' as 'callgate' }, '`programs`'],
])('%s is a mistake that is named', async (_, options, name) => {
  const { api, ask } = await playing([]);
  await expect(ask(options)).rejects.toMatchObject({ code: 'option_invalid', message: expect.stringContaining(name) });
  expect(api.requests).toHaveLength(0);
});
