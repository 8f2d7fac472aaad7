// What do programs spare a conversation? Twelve tasks over the support desk, once with direct tool calls and once in code mode, by the same
// decisions: round trips, tokens in both directions, time. The decisions are scripts: no model is asked, so how well one decides is not shown.
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import { countTokens } from 'gpt-tokenizer';
import { anthropicTools, ask } from '../src/adapters/anthropic.ts';
import { type CodeMode, createCodeMode, type Tool } from '../src/index.ts';
import {
  type Block,
  exec,
  type MessagesApi,
  openMessagesApi,
  reply,
  type SentRequest,
  type Step,
  text,
  use,
} from '../test/helpers/messages-api.ts';
import { aim, machine, measure, print } from './measure.ts';

interface Task {
  readonly name: string;
  readonly prompt: string;
  /** What is decided: the program of code mode; with direct calls, the calls that it makes, those that do not depend on each other in one turn. */
  readonly program: string;
}

const LATE = `const late = lists.flatMap(({ orders }) => orders).filter(({ promisedOn, deliveredOn }) => Date.parse(deliveredOn) - Date.parse(promisedOn) >= 3 * 86400000);`;
const PLUS = `const { customers } = await tools.find_customers({ plan: 'plus', limit: 100 });
const lists = await Promise.all(customers.map(({ id }) => tools.list_orders({ customerId: id, status: 'delivered', placedFrom: '2025-01-01' })));`;
const PAGES = `const pages = await Promise.all([0, 100, 200].map((offset) => tools.list_orders({ limit: 100, offset })));
const orders = pages.flatMap((page) => page.orders);`;

const TASKS: readonly Task[] = [
  {
    name: 'count a plan',
    prompt: 'How many customers are on the plus plan?',
    program: `return (await tools.find_customers({ plan: 'plus', limit: 1 })).total;`,
  },
  {
    name: 'look at an order',
    prompt: 'Has order 50010 arrived, and was anything refunded?',
    program: `const { status, deliveredOn, refunds } = await tools.get_order({ orderId: 50010 });\nreturn { status, deliveredOn, refunds: refunds.length };`,
  },
  {
    name: 'read a rule',
    prompt: 'What do we owe plus customers for late deliveries?',
    program: `return (await tools.search_articles({ query: 'late deliveries plus', limit: 1 })).articles[0].body;`,
  },
  {
    name: 'one customer, two lists',
    prompt: 'What has customer 1003 ordered since January, and what was refunded to them?',
    program: `const [{ orders }, { refunds }] = await Promise.all([
  tools.list_orders({ customerId: 1003, placedFrom: '2025-01-01' }),
  tools.list_refunds({ customerId: 1003 }),
]);
return { orders: orders.map(({ id, item, status }) => ({ id, item, status })), refundedCents: refunds.reduce((sum, { amountCents }) => sum + amountCents, 0) };`,
  },
  {
    name: 'best customer of a country',
    prompt: 'Which customer in the Netherlands spent the most?',
    program: `const { customers } = await tools.find_customers({ country: 'NL', limit: 100 });
const lists = await Promise.all(customers.map(({ id }) => tools.list_orders({ customerId: id, limit: 100 })));
const spent = customers.map(({ name }, index) => ({ name, cents: lists[index].orders.reduce((sum, { totalCents }) => sum + totalCents, 0) }));
return spent.sort((a, b) => b.cents - a.cents)[0] ?? 'nobody';`,
  },
  {
    name: 'late parcels',
    prompt: 'How many parcels of plus customers came three or more days late this quarter?',
    program: `${PLUS}\n${LATE}\nreturn late.length;`,
  },
  {
    name: 'late and not refunded',
    prompt: 'Which late parcels of plus customers have not been refunded?',
    program: `${PLUS}\n${LATE}
const refunds = await Promise.all(late.map(({ id }) => tools.list_refunds({ orderId: id })));
return late.filter((_, index) => refunds[index].refunds.length === 0).map(({ id }) => id);`,
  },
  {
    name: 'revenue by month',
    prompt: 'What was the revenue of each month?',
    program: `${PAGES}
const months = {};
for (const { placedOn, totalCents, status } of orders) if (status !== 'cancelled') months[placedOn.slice(0, 7)] = (months[placedOn.slice(0, 7)] ?? 0) + totalCents;
return months;`,
  },
  {
    name: 'best-selling items',
    prompt: 'Which five items sell best?',
    program: `${PAGES}
const sold = {};
for (const { item, quantity } of orders) sold[item] = (sold[item] ?? 0) + quantity;
return Object.entries(sold).sort((a, b) => b[1] - a[1]).slice(0, 5);`,
  },
  {
    name: 'first with a cancelled order',
    prompt: 'Who was the first customer on the standard plan, by id, with a cancelled order? Look at one after the other.',
    program: `const { customers } = await tools.find_customers({ plan: 'standard', limit: 100 });
for (const { id, name } of customers) {
  const { total } = await tools.list_orders({ customerId: id, status: 'cancelled', limit: 1 });
  if (total > 0) return name;
}
return 'nobody';`,
  },
  {
    name: 'notes to many',
    prompt: 'Write a note to every customer whose parcel is under way although it was promised before 28 March.',
    program: `const { orders } = await tools.list_orders({ status: 'in_transit', limit: 100 });
const overdue = orders.filter(({ promisedOn }) => promisedOn < '2025-03-28');
await Promise.all(overdue.map(({ id, customerId }) => tools.add_note({ customerId, text: \`Order \${id} is overdue; apologise.\` })));
return overdue.length;`,
  },
  {
    name: 'settle the worst case',
    prompt: 'Settle the worst late parcel of a plus customer that was not refunded: a tenth of its price, with a note.',
    program: `const [policy, { customers }] = await Promise.all([tools.search_articles({ query: 'late deliveries plus', limit: 1 }), tools.find_customers({ plan: 'plus', limit: 100 })]);
const lists = await Promise.all(customers.map(({ id }) => tools.list_orders({ customerId: id, status: 'delivered', placedFrom: '2025-01-01' })));
${LATE}
const refunds = await Promise.all(late.map(({ id }) => tools.list_refunds({ orderId: id })));
const days = ({ promisedOn, deliveredOn }) => (Date.parse(deliveredOn) - Date.parse(promisedOn)) / 86400000;
const [worst] = late.filter((_, index) => refunds[index].refunds.length === 0).sort((a, b) => days(b) - days(a));
if (worst === undefined) return 'nothing to settle';
const refund = await tools.issue_refund({ orderId: worst.id, amountCents: Math.round(worst.totalCents / 10), reason: \`Late delivery, \${days(worst)} days\` });
await tools.add_note({ customerId: worst.customerId, text: \`Refunded \${refund.amountCents} cents for late order \${worst.id}.\` });
return { order: worst.id, cents: refund.amountCents, rule: policy.articles[0].title };`,
  },
];

const SYSTEM = 'You work at a support desk.';
/** A variable, so that the compiler does not follow the import into plain JavaScript. */
const module = new URL('examples/support-desk/tools.mjs', `file://${process.cwd()}/`).href;
const { default: desk } = (await import(module)) as { default: readonly Tool[] };

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
async function play(task: Task, mode: 'direct' | 'code', codeMode: CodeMode): Promise<Conversation> {
  const received: string[] = [];
  const caller = mode === 'direct' ? new DirectCaller(task) : undefined;
  const speak =
    (request: SentRequest): Step =>
    async (response) => {
      const blocks = caller === undefined ? writerSays(task, request) : await caller.reply(request);
      received.push(JSON.stringify(blocks.map(({ type: _type, id: _id, ...said }) => said)));
      await reply(...blocks)(response, request);
    };
  const api = await openMessagesApi(speak);
  const names = desk.map(({ name }) => name);
  const session = await codeMode.openSession({ invocation: { actorId: 'agent-7' }, ...(mode === 'direct' && { except: names }) });
  try {
    // The worker thread and the desk's database are opened before the clock starts.
    await session.exec('return 1');
    await session.callTool('find_customers', { limit: 1 });
    const began = performance.now();
    const client = api.client();
    let answer: string;
    if (mode === 'code') {
      answer = (await ask({ client, model: 'claude-test', session, system: SYSTEM, prompt: task.prompt })).text;
    } else {
      const tools = anthropicTools(session).filter((tool: BetaRunnableTool<unknown>) => names.includes(tool.name));
      const params = {
        model: 'claude-test',
        max_tokens: 8192,
        system: SYSTEM,
        tools,
        messages: [{ role: 'user' as const, content: task.prompt }],
      };
      const final = await client.beta.messages.toolRunner({ ...params, stream: true, thread: false }).runUntilDone();
      answer = final.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    }
    const ms = performance.now() - began;
    return {
      answer,
      ms,
      turns: api.requests.length,
      sent: sentTokens(api),
      received: received.reduce((sum, said) => sum + countTokens(said), 0),
    };
  } finally {
    await session.close();
    await api.close();
  }
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

const sentTokens = ({ requests }: MessagesApi): number => requests.reduce((sum, { text: body }) => sum + countTokens(body), 0);

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

console.log(machine());
const LATENCIES = [0, 20, 200] as const;
const ROUNDS = 3;
const MODES = ['direct', 'code'] as const;
const modes = LATENCIES.map((latencyMs) => createCodeMode({ tools: desk.map((tool) => slowed(tool, latencyMs)) }));
const row = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`);
row(['task', 'round trips', 'tokens sent', 'tokens received', ...LATENCIES.map((ms) => `time, ${ms} ms a call`)]);
row(['---', '---:', '---:', '---:', ...LATENCIES.map(() => '---:')]);

interface Sums {
  turns: number;
  sent: number;
  received: number;
  readonly ms: number[];
}
const sums: Record<(typeof MODES)[number], Sums> = {
  direct: { turns: 0, sent: 0, received: 0, ms: [0, 0, 0] },
  code: { turns: 0, sent: 0, received: 0, ms: [0, 0, 0] },
};
const cells = (direct: Sums, code: Sums): string[] => {
  const both = (a: number, b: number): string => `${Math.round(a).toLocaleString('en-US')} → ${Math.round(b).toLocaleString('en-US')}`;
  const times = LATENCIES.map((_, at) => `${both(direct.ms[at] ?? 0, code.ms[at] ?? 0)} ms`);
  return [both(direct.turns, code.turns), both(direct.sent, code.sent), both(direct.received, code.received), ...times];
};

for (const [index, task] of TASKS.entries()) {
  const played = { direct: LATENCIES.map((): Conversation[] => []), code: LATENCIES.map((): Conversation[] => []) };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, codeMode] of modes.entries()) for (const mode of MODES) played[mode][at]?.push(await play(task, mode, codeMode));
  }
  const answers = new Set(MODES.flatMap((mode) => played[mode].flat().map(({ answer }) => answer)));
  if (answers.size !== 1) throw new Error(`The answers to task ${index + 1} differ: ${[...answers].join(' / ')}`);
  const of = (mode: (typeof MODES)[number]): Sums => {
    const [{ turns, sent, received }] = played[mode].flat() as [Conversation];
    const ms = played[mode].map((runs) => runs.map((run) => run.ms).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0);
    const sum = sums[mode];
    sum.turns += turns;
    sum.sent += sent;
    sum.received += received;
    for (const [at, value] of ms.entries()) sum.ms[at] = (sum.ms[at] ?? 0) + value;
    return { turns, sent, received, ms };
  };
  row([`${index + 1}. ${task.name}`, ...cells(of('direct'), of('code'))]);
}
row(['**all twelve**', ...cells(sums.direct, sums.code)]);
for (const mode of modes) await mode.close();

// What the adapter itself costs: the same program by the session, and by its tool as a runner calls it.
const codeMode = createCodeMode({ tools: desk });
const session = await codeMode.openSession();
const [tool] = anthropicTools(session);
let id = 0;
const source = 'return 1';
const figures = await measure(
  [
    { name: 'session.exec', run: () => session.exec(source) },
    {
      name: 'exec by the adapter',
      run: () => {
        id += 1;
        const toolUse = { type: 'tool_use' as const, id: `toolu_${id}`, name: 'exec', input: { source } };
        return tool?.run(tool.parse({ source }), { toolUse, toolUseBlock: toolUse });
      },
    },
  ],
  { rounds: 30, perRound: 40 },
);
print('The adapter, per exec', figures, 'session.exec');
aim('milliseconds that the adapter adds to an exec', figures[1].medianMs - figures[0].medianMs, 1);
await session.close();
await codeMode.close();
