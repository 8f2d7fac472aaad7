// What do programs spare a conversation? Twelve tasks over the support desk, once with direct tool calls and once in code mode, by the same
// decisions: round trips, tokens in both directions, time. The decisions are scripts: no model is asked, so how well one decides is not shown.
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { countTokens } from 'gpt-tokenizer';
import { anthropicTools, ask } from '../../src/adapters/anthropic.ts';
import { type CodeMode, createCodeMode, type Session, type Tool } from '../../src/index.ts';
import { type Block, exec, openMessagesApi, reply, type SentRequest, text, use } from '../../test/helpers/messages-api.ts';
import { type Bench, type Question, type Subject, timed } from '../harness/question.ts';
import { medianOf, type Row, spread } from '../harness/result.ts';
import { readDesk, TASKS, type Task } from './support-desk.ts';

type Mode = 'direct' | 'code';

const CODE = 'code mode';
const DIRECT = 'direct tool calls';
const ADAPTER = 'exec by the Anthropic adapter';
const SESSION = 'session.exec';
/** What each call of a tool takes, and how many rounds that are mostly waiting are enough. */
const LATENCIES = [
  { latencyMs: 0, rounds: 5 },
  { latencyMs: 20, rounds: 3 },
  { latencyMs: 200, rounds: 2 },
] as const;
const SYSTEM = 'You work at a support desk.';

interface Conversation {
  readonly answer: string;
  readonly turns: number;
  readonly sent: number;
  readonly received: number;
  readonly ms: number;
}

/** The decisions of a task as a model that calls tools directly. */
class DirectCaller {
  readonly #waiting: { readonly block: Block; resolve(value: unknown): void; reject(error: Error): void }[] = [];
  readonly #outcome: Promise<unknown>;
  #ended = false;
  #value: unknown;
  #calls = 0;

  constructor({ program }: Task) {
    const tools = new Proxy(
      {},
      {
        get: (_, name) => (input: unknown) =>
          new Promise((resolve, reject) => {
            this.#calls += 1;
            this.#waiting.push({ block: use(`toolu_${this.#calls}`, String(name), input), resolve, reject });
          }),
      },
    );
    const AsyncFunction = (async () => undefined).constructor as new (name: string, body: string) => (tools: unknown) => Promise<unknown>;
    this.#outcome = new AsyncFunction('tools', program)(tools);
    this.#outcome.then(
      (value) => {
        this.#ended = true;
        this.#value = value;
      },
      () => undefined,
    );
  }

  /** What it says next, having read a request. */
  async reply({ body }: SentRequest): Promise<readonly Block[]> {
    const last = body.messages.at(-1)?.content;
    for (const block of typeof last === 'string' || last === undefined ? [] : last) {
      const at = this.#waiting.findIndex(({ block: { id } }) => id === block['tool_use_id']);
      const [call] = at === -1 ? [] : this.#waiting.splice(at, 1);
      const content = String(block['content']);
      if (block['is_error'] === true) call?.reject(new Error(content));
      else call?.resolve(JSON.parse(content));
    }
    // Everything that follows from the results has been decided once nothing is left to do at once.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#waiting.length > 0) return this.#waiting.map(({ block }) => block);
    if (!this.#ended) await this.#outcome;
    return [text(answerOf(this.#value))];
  }
}

const answerOf = (value: unknown): string => `The answer: ${JSON.stringify(value)}.`;

/** Plays a task and counts what crossed. */
async function play(task: Task, mode: Mode, codeMode: CodeMode, names: readonly string[]): Promise<Conversation> {
  const received: string[] = [];
  const caller = mode === 'direct' ? new DirectCaller(task) : undefined;
  const api = await openMessagesApi((request) => async (response) => {
    const blocks = caller === undefined ? writerSays(task, request) : await caller.reply(request);
    received.push(JSON.stringify(blocks.map(({ type: _type, id: _id, ...said }) => said)));
    await reply(...blocks)(response, request);
  });
  const session = await codeMode.openSession({ invocation: { actorId: 'agent-7' }, ...(mode === 'direct' && { except: names }) });
  try {
    // The worker thread and the desk's database are opened before the clock starts.
    await session.exec('return 1');
    await session.callTool('find_customers', { limit: 1 });
    const client = api.client();
    const began = performance.now();
    const answer =
      mode === 'code'
        ? (await ask({ client, model: 'claude-test', session, system: SYSTEM, prompt: task.prompt })).text
        : await askDirectly(client, session, names, task.prompt);
    const ms = performance.now() - began;
    const tokens = (texts: readonly string[]): number => texts.reduce((sum, said) => sum + countTokens(said), 0);
    const sent = tokens(api.requests.map((request) => request.text));
    return { answer, ms, turns: api.requests.length, sent, received: tokens(received) };
  } finally {
    await session.close();
    await api.close();
  }
}

/** With the SDK's own runner, as an application without code mode has it. */
async function askDirectly(
  client: ReturnType<Awaited<ReturnType<typeof openMessagesApi>>['client']>,
  session: Session,
  names: readonly string[],
  prompt: string,
): Promise<string> {
  const final = await client.beta.messages
    .toolRunner({
      model: 'claude-test',
      max_tokens: 8192,
      system: SYSTEM,
      tools: anthropicTools(session).filter((tool: BetaRunnableTool<unknown>) => names.includes(tool.name)),
      messages: [{ role: 'user', content: prompt }],
      stream: true,
      thread: false,
    })
    .runUntilDone();
  return final.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The decisions of a task as a model that writes a program. */
function writerSays({ program }: Task, { body }: SentRequest): readonly Block[] {
  const last = body.messages.at(-1)?.content;
  const [result] = typeof last === 'string' || last === undefined ? [] : last;
  if (result === undefined) return [exec('toolu_1', program)];
  const content = String(result['content']);
  if (result['is_error'] === true) throw new Error(content);
  return [text(`The answer: ${/^[\d[{]/.test(content) ? content : JSON.stringify(content)}.`)];
}

function slowed(tool: Tool, latencyMs: number): Tool {
  if (latencyMs === 0) return tool;
  return {
    ...tool,
    execute: async (input, context) => {
      await new Promise((resolve) => setTimeout(resolve, latencyMs));
      return tool.execute(input, context);
    },
  };
}

/** A task for each conversation, whose size is the time of a call; each was played once before. */
function player(mode: Mode): Subject {
  return async () => {
    const desk = await readDesk();
    const names = desk.map(({ name }) => name);
    const modes = new Map(LATENCIES.map(({ latencyMs }) => [latencyMs as number, codeModeOf(desk, latencyMs)]));
    const time = async (task: Task, latencyMs: number): Promise<number> => {
      const codeMode = modes.get(latencyMs);
      if (codeMode === undefined) throw new Error(`Nobody has tools that take ${latencyMs} ms.`);
      return (await play(task, mode, codeMode, names)).ms;
    };
    for (const task of TASKS) await time(task, 0);
    return {
      tasks: Object.fromEntries(TASKS.map((task) => [task.name, (latencyMs: number) => time(task, latencyMs)])),
      close: () => Promise.all([...modes.values()].map((codeMode) => codeMode.close())),
    };
  };
}

function codeModeOf(desk: readonly Tool[], latencyMs: number): CodeMode {
  return createCodeMode({ tools: desk.map((tool) => slowed(tool, latencyMs)) });
}

/** The same program by the session, and by its tool as a runner calls it. */
function executing(open: (session: Session) => (source: string) => unknown): Subject {
  return async () => {
    const codeMode = createCodeMode({ tools: await readDesk(), limits: { lifetimeMs: 600_000 } });
    const run = open(await codeMode.openSession());
    return { tasks: { exec: timed(() => run('return 1'), { times: 40 }) }, close: () => codeMode.close() };
  };
}

const byAdapter = executing((session) => {
  const [tool] = anthropicTools(session);
  if (tool === undefined) throw new Error('The session has no tools.');
  let id = 0;
  return (source) => {
    id += 1;
    const toolUse = { type: 'tool_use' as const, id: `toolu_${id}`, name: 'exec', input: { source } };
    return tool.run(tool.parse({ source }), { toolUse, toolUseBlock: toolUse });
  };
});

interface Counted {
  readonly direct: Conversation;
  readonly code: Conversation;
}

/** Every task once in both ways, which must give the same answer. */
async function count(): Promise<readonly Counted[]> {
  const desk = await readDesk();
  const names = desk.map(({ name }) => name);
  const codeMode = codeModeOf(desk, 0);
  const counted: Counted[] = [];
  for (const task of TASKS) {
    const direct = await play(task, 'direct', codeMode, names);
    const code = await play(task, 'code', codeMode, names);
    if (direct.answer !== code.answer) throw new Error(`The answers to "${task.name}" differ: ${direct.answer} / ${code.answer}`);
    counted.push({ direct, code });
  }
  await codeMode.close();
  return counted;
}

/** Rows of every task, and a comparison of their sums. */
async function time(bench: Bench, latencyMs: number, rounds: number): Promise<readonly (readonly Row[])[]> {
  const tasks: (readonly Row[])[] = [];
  const title = latencyMs === 0 ? 'tools that answer at once' : `tools that take ${latencyMs} ms`;
  for (const { name } of TASKS) {
    const how = { title: `${name}, ${title}`, task: name, unit: 'ms', size: latencyMs, rounds, warmMs: 0 } as const;
    tasks.push(await bench.rows({ ...how, subjects: [CODE, DIRECT] }));
  }
  const rows = [CODE, DIRECT].flatMap((subject): Row[] => {
    const all = tasks.map((task) => roundsOf(task, subject));
    const [first] = all;
    // Who could not do one of them has no sum.
    if (first === undefined || all.some((each) => each.length === 0)) return [];
    return [{ subject, rounds: first.map((_, round) => all.reduce((sum, each) => sum + (each[round] ?? Number.NaN), 0)) }];
  });
  bench.comparison({ title: `All twelve conversations, ${title}`, unit: 'ms', better: 'less', ours: CODE, floor: DIRECT, rows });
  return tasks;
}

function roundsOf(rows: readonly Row[], subject: string): readonly number[] {
  return rows.find((row) => row.subject === subject)?.rounds ?? [];
}

function tell(bench: Bench, counted: readonly Counted[], times: ReadonlyMap<number, readonly (readonly Row[])[]>): void {
  const arrow = (direct: number, code: number): string =>
    [direct, code].map((figure) => Math.round(figure).toLocaleString('en-US')).join(' → ');
  const sum = (mode: Mode, of: keyof Omit<Conversation, 'answer'>): number =>
    counted.reduce((all, conversation) => all + conversation[mode][of], 0);
  const medians = (subject: string, latencyMs: number): number[] =>
    (times.get(latencyMs) ?? []).map((rows) => spread(roundsOf(rows, subject)).median);
  const columns = [...times.keys()].map((latencyMs) => ({ direct: medians(DIRECT, latencyMs), code: medians(CODE, latencyMs) }));
  const total = (figures: readonly number[]): number => figures.reduce((all, figure) => all + figure, 0);
  const whats = ['turns', 'sent', 'received'] as const;
  bench.table({
    title: 'Each conversation, direct tool calls → code mode',
    head: ['task', 'round trips', 'tokens sent', 'tokens received', ...[...times.keys()].map((ms) => `ms, ${ms} ms a call`)],
    rows: [
      ...TASKS.map(({ name }, index) => [
        `${index + 1}. ${name}`,
        ...whats.map((what) => arrow(counted[index]?.direct[what] ?? Number.NaN, counted[index]?.code[what] ?? Number.NaN)),
        ...columns.map(({ direct, code }) => arrow(direct[index] ?? Number.NaN, code[index] ?? Number.NaN)),
      ]),
      [
        'all twelve',
        ...whats.map((what) => arrow(sum('direct', what), sum('code', what))),
        ...columns.map(({ direct, code }) => arrow(total(direct), total(code))),
      ],
    ],
  });
  const crossed = (mode: Mode): number => sum(mode, 'sent') + sum(mode, 'received');
  bench.comparison({
    title: 'Tokens of all twelve conversations, in both directions',
    unit: 'tokens',
    better: 'less',
    ours: CODE,
    floor: DIRECT,
    rows: [
      { subject: CODE, rounds: [crossed('code')] },
      { subject: DIRECT, rounds: [crossed('direct')] },
    ],
  });
}

export const question: Question = {
  name: 'turns',
  asks: 'What do programs spare a conversation: round trips, tokens, time? And what does the Anthropic adapter cost per `exec`?',
  subjects: {
    [CODE]: player('code'),
    [DIRECT]: player('direct'),
    [ADAPTER]: byAdapter,
    [SESSION]: executing((session) => (source) => session.exec(source)),
  },
  async run(bench) {
    const counted = await count();
    const times = new Map<number, readonly (readonly Row[])[]>();
    for (const { latencyMs, rounds } of bench.isSmoke ? LATENCIES.slice(0, 1) : LATENCIES) {
      times.set(latencyMs, await time(bench, latencyMs, rounds));
    }
    tell(bench, counted, times);
    const adapter = await bench.compare({ title: 'One exec of `return 1`', task: 'exec', unit: 'µs', ours: ADAPTER, floor: SESSION });
    const added = (medianOf(adapter, ADAPTER) - medianOf(adapter, SESSION)) / 1_000;
    bench.aim({ what: 'what the adapter adds to an exec, ms', value: added, atMost: 1 });
    bench.note(
      'No model was asked. The decisions are scripts that make no mistake, make all calls that do not depend on each other in one turn, and add up two hundred orders in their head. Replies come at once, so the time is that of tools and transport; with a model each round trip adds seconds. Prompt caching is not counted. Tokens are those of whole requests as the SDK sends them, by o200k_base.',
    );
  },
};
