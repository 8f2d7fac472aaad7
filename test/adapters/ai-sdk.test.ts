// The adapter for the AI SDK with the SDK's own loop, and a model of its own that follows a script.
import { generateText, jsonSchema, stepCountIs, type ToolSet, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { aiTools, fromAiTools } from '../../src/adapters/ai-sdk.ts';
import { type CodeMode, type CodeModeOptions, createCodeMode, defineTool, type Session } from '../../src/index.ts';

const opened: CodeMode[] = [];
afterEach(async () => {
  for (const codeMode of opened.splice(0)) await codeMode.close();
});
function open(tools: CodeModeOptions['tools']): CodeMode {
  const codeMode = createCodeMode({ tools, isolation: 'inline' });
  opened.push(codeMode);
  return codeMode;
}

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: ({ a, b }) => a + b,
});
const now = defineTool({ name: 'now', description: 'The time.', inputSchema: {}, execute: () => 'noon' });

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
const usage: Generated['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const calls = (...made: [name: string, input: object][]): Generated => ({
  content: made.map(([toolName, input], index) => ({
    type: 'tool-call',
    toolCallId: `call-${index}`,
    toolName,
    input: JSON.stringify(input),
  })),
  finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
  usage,
  warnings: [],
});
const says = (text: string): Generated => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop', raw: 'stop' },
  usage,
  warnings: [],
});

/** Plays the model's part; gives what the model was shown of each call. */
async function converse(session: Session, ...script: Generated[]): Promise<{ text: string; shown: unknown[] }> {
  const model = new MockLanguageModelV3({ doGenerate: script });
  const { text } = await generateText({ model, tools: aiTools(session), prompt: 'Go.', stopWhen: stepCountIs(10) });
  const last = model.doGenerateCalls.at(-1)?.prompt ?? [];
  const shown = last.flatMap((message) =>
    message.role === 'tool' ? message.content.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])) : [],
  );
  return { text, shown };
}

describe('a session as tools', () => {
  test('the model runs a program, reads its value, and answers', async () => {
    const session = await open(add).openSession();
    const { text, shown } = await converse(
      session,
      calls(['exec', { source: 'return await tools.add({ a: 1, b: 2 })' }]),
      says('It is 3.'),
    );
    expect(text).toBe('It is 3.');
    expect(shown).toEqual([{ type: 'text', value: '3' }]);
  });

  test('what a program or the model got wrong is shown as an error, and the loop goes on', async () => {
    const session = await open(add).openSession();
    const { shown } = await converse(
      session,
      calls(['exec', { source: 'return await tools.ad({ a: 1 })' }]),
      calls(['exec', { program: 'return 1' }]),
      calls(['exec', { source: 'return await tools.add({ a: 1, b: 1 })' }]),
      says('Done.'),
    );
    expect(shown).toMatchObject([
      { type: 'error-text', value: expect.stringContaining('Did you mean `tools.add`') },
      { type: 'error-text', value: expect.stringContaining('there is only `program`') },
      { type: 'text', value: '2' },
    ]);
  });

  test('tools that stay in the conversation are there beside exec, with their own schema', async () => {
    const session = await open([add, now]).openSession({ except: ['now'] });
    const tools = aiTools(session);
    expect(Object.keys(tools)).toEqual(expect.arrayContaining(['exec', 'wait', 'stop', 'now']));
    expect(Object.keys(tools)).not.toContain('add');
    const { shown } = await converse(session, calls(['now', {}]), says('Noon.'));
    expect(shown).toEqual([{ type: 'text', value: 'noon' }]);
  });

  test('aborting the request ends the program', async () => {
    const ended = new Promise<void>((resolve) => {
      const hang = defineTool({
        name: 'hang',
        description: 'Hangs.',
        inputSchema: {},
        execute: (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => resolve())),
      });
      void open(hang)
        .openSession()
        .then(async (session) => {
          const abort = new AbortController();
          const model = new MockLanguageModelV3({ doGenerate: [calls(['exec', { source: 'await tools.hang()' }]), says('never')] });
          setTimeout(() => abort.abort(), 50);
          await generateText({ model, tools: aiTools(session), prompt: 'Go.', abortSignal: abort.signal, stopWhen: stepCountIs(3) }).catch(
            () => undefined,
          );
        });
    });
    await ended;
  });
});

describe('tools of the SDK for programs', () => {
  const tools = {
    weather: tool({
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string().min(2), days: z.number().default(3) }),
      outputSchema: z.object({ city: z.string(), days: z.number() }),
      execute: async ({ city, days }) => ({ city, days }),
    }),
    plain: tool({
      description: 'Gives its input back.',
      inputSchema: jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
      execute: async ({ n }, { toolCallId, abortSignal }) => ({ n, toolCallId, hasSignal: abortSignal instanceof AbortSignal }),
    }),
    steps: tool({
      description: 'Answers in steps.',
      inputSchema: z.object({}),
      async *execute() {
        yield 'started';
        yield 'half';
        yield 'whole';
      },
    }),
    risky: tool({
      description: 'Deletes.',
      inputSchema: z.object({ id: z.number() }),
      needsApproval: async ({ id }) => id > 1,
      execute: async () => 'deleted',
    }),
  };

  test('inputs are parsed by their schema, which the model sees, and outputs are checked', async () => {
    const codeMode = open(fromAiTools(tools, { namespace: 'ai' }));
    expect((await codeMode.run('return await tools.ai.weather({ city: "Rome" })')).value).toEqual({ city: 'Rome', days: 3 });
    const wrong = await codeMode.run('return await tools.ai.weather({ city: "R" })');
    expect(wrong.error).toMatchObject({ code: 'input_invalid', message: expect.stringMatching(/`?city`?/) });
    const session = await codeMode.openSession();
    expect(session.instructions).toMatch(/city: string/);
    await session.close();
  });

  test('a JSON Schema of the SDK is checked though the SDK would not', async () => {
    const codeMode = open(fromAiTools(tools));
    expect((await codeMode.run('return await tools.plain({ n: 1 })')).value).toEqual({
      n: 1,
      toolCallId: expect.any(String),
      hasSignal: true,
    });
    expect((await codeMode.run('return await tools.plain({ n: "1" })')).error?.code).toBe('input_invalid');
  });

  test('of an output in steps a program gets the last', async () => {
    expect((await open(fromAiTools(tools)).run('return await tools.steps()')).value).toBe('whole');
  });

  test('a call that needs approval is refused, and one that does not is made', async () => {
    const codeMode = open(fromAiTools(tools));
    expect((await codeMode.run('return await tools.risky({ id: 1 })')).value).toBe('deleted');
    expect((await codeMode.run('return await tools.risky({ id: 2 })')).error).toMatchObject({ code: 'approval_needed' });
  });

  test('a wrong output is a failure of the tool, hidden from the program', async () => {
    const wrong = { weather: { ...tools.weather, execute: async () => ({ city: 7 }) } } as unknown as ToolSet;
    expect((await open(fromAiTools(wrong)).run('return await tools.weather({ city: "Rome" })')).error).toMatchObject({
      code: 'output_invalid',
    });
  });

  test('a tool that no program can call is refused by name', () => {
    expect(() => fromAiTools({ ask: tool({ description: 'Asks the user.', inputSchema: z.object({}) }) })).toThrow(/`ask`.*no `execute`/);
  });
});
