// The support desk example: its data, its tools one by one, and the whole program through the public API.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openDesk } from '../../examples/support-desk/database.mjs';
import { seedData } from '../../examples/support-desk/seed.mjs';
import deskTools from '../../examples/support-desk/tools.mjs';
import { mcpServers } from '../../src/adapters/mcp/mcp.ts';
import { createCodeMode, type RunArtifacts, type Tool, type ToolContext } from '../../src/index.ts';

const PROGRAM = readFileSync(new URL('../../examples/support-desk/late-parcels.ts', import.meta.url), 'utf8');
const SERVERS: unknown = JSON.parse(readFileSync(new URL('../../examples/support-desk/mcp.json', import.meta.url), 'utf8'));
const tools = deskTools as readonly Tool[];

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The desk looks at no artifacts. */
const NONE: RunArtifacts = {
  list: () => [],
  get: () => {
    throw new Error('There are none.');
  },
};

/** The desk's tools and its two MCP servers, whose memory is empty. */
function withServers() {
  const folder = mkdtempSync(join(tmpdir(), 'support-desk-memory-'));
  const servers = mcpServers(SERVERS, { environment: { SUPPORT_DESK_MEMORY: join(folder, 'memory.jsonl') } });
  closers.push(
    () => rmSync(folder, { recursive: true }),
    () => servers.disconnect(),
  );
  return [deskTools, servers];
}

/** A run of the desk, without code mode around it: calls one tool after the other. */
function desk(actorId?: string) {
  const kept = new Map<string, Promise<unknown>>();
  let calls = 0;
  const run: ToolContext['run'] = {
    id: 'run',
    invocation: actorId === undefined ? {} : { actorId },
    once: <T>(key: string, work: () => T | Promise<T>) => {
      if (!kept.has(key)) kept.set(key, Promise.resolve().then(work));
      return kept.get(key) as Promise<T>;
    },
    register: (closer) => void closers.push(closer),
  };
  return async (name: string, input: unknown, idempotencyKey = `key-${++calls}`): Promise<Record<string, unknown>> => {
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw new Error(`The desk has no tool ${name}.`);
    const call = { id: `call-${calls}`, path: name, idempotencyKey };
    const answer = await tool.execute(input, { run, state: {}, call, signal: new AbortController().signal, artifacts: NONE, log() {} });
    if (tool.output !== undefined) expect(await tool.output.parse(answer)).toMatchObject({ ok: true });
    return answer as Record<string, unknown>;
  };
}

test('the past is the same each time, in the promised numbers', () => {
  const data = seedData();
  expect(seedData()).toEqual(data);
  const counts = Object.fromEntries(Object.entries(data as Record<string, unknown[]>).map(([table, rows]) => [table, rows.length]));
  expect(counts).toEqual({ customers: 60, orders: 300, refunds: 40, articles: 25 });
});

test('a desk without a file is gone when it closes, a desk with one stays', () => {
  const temporary = openDesk();
  expect(existsSync(temporary.file)).toBe(true);
  temporary.close();
  expect(existsSync(temporary.file)).toBe(false);

  const folder = mkdtempSync(join(tmpdir(), 'support-desk-test-'));
  closers.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'desk.sqlite');
  const first = openDesk(file);
  first.database.run('DELETE FROM articles WHERE id > 20');
  first.close();
  const second = openDesk(file);
  expect(second.database.get('SELECT count(*) AS n FROM articles')).toEqual({ n: 20 });
  second.close();
});

test('every read answers what its output schema promises', async () => {
  const call = desk();
  const { customers, total } = await call('find_customers', { plan: 'plus', limit: 3 });
  expect(customers).toHaveLength(3);
  expect(total).toBe(20);
  const [{ id: customerId }] = customers as [{ id: number }];
  expect(await call('get_customer', { customerId })).toMatchObject({ id: customerId, plan: 'plus', notes: [] });
  const { orders } = await call('list_orders', { status: 'in_transit' });
  expect(orders).toHaveLength(6);
  const { refunds } = await call('list_refunds', { orderId: 50_001 });
  expect((await call('get_order', { orderId: 50_001 }))['refunds']).toEqual(refunds);
  const { articles } = await call('search_articles', { query: 'late deliveries' });
  expect((articles as { title: string }[])[0]?.title).toBe('Late deliveries: what we offer');
});

test('what a program passes is data, never SQL', async () => {
  const call = desk();
  expect(await call('find_customers', { text: "x' OR 1=1 --" })).toEqual({ customers: [], total: 0 });
  expect(await call('find_customers', { text: '%' })).toEqual({ customers: [], total: 0 });
  expect(await call('search_articles', { query: '"]; DROP TABLE articles' })).toEqual({ articles: [] });
});

test('a refund is recorded under the agent of the run', async () => {
  const call = desk('agent-7');
  expect(await call('issue_refund', { orderId: 50_267, amountCents: 379, reason: 'Late delivery' })).toMatchObject({
    orderId: 50_267,
    agentId: 'agent-7',
  });
});

test('the same refund call twice pays once and answers the same', async () => {
  const call = desk('agent-7');
  const input = { orderId: 50_267, amountCents: 379, reason: 'Late delivery' };
  const first = await call('issue_refund', input, 'same');
  expect(await call('issue_refund', input, 'same')).toEqual(first);
  expect((await call('list_refunds', { orderId: 50_267 }))['refunds']).toEqual([first]);
});

test('refunds never add up to more than was paid', async () => {
  const call = desk('agent-7');
  await call('issue_refund', { orderId: 50_267, amountCents: 3000, reason: 'Late delivery' });
  await expect(call('issue_refund', { orderId: 50_267, amountCents: 791, reason: 'Late delivery' })).rejects.toMatchObject({
    code: 'refund_too_high',
    message: 'Order 50267 can be refunded by 790 cents at most, not by 791: 3790 paid, 3000 refunded.',
  });
  await call('issue_refund', { orderId: 50_267, amountCents: 790, reason: 'Late delivery' });
});

test('a write without an agent is refused', async () => {
  const call = desk();
  await expect(call('issue_refund', { orderId: 50_267, amountCents: 1, reason: 'Late delivery' })).rejects.toMatchObject({
    code: 'agent_missing',
  });
  await expect(call('add_note', { customerId: 1001, text: 'Hello' })).rejects.toMatchObject({ code: 'agent_missing' });
});

test('unknown customers and orders are named', async () => {
  const call = desk('agent-7');
  await expect(call('get_customer', { customerId: 7 })).rejects.toThrow('There is no customer 7.');
  await expect(call('list_orders', { customerId: 7 })).rejects.toThrow('There is no customer 7.');
  await expect(call('issue_refund', { orderId: 7, amountCents: 1, reason: 'Late delivery' })).rejects.toThrow('There is no order 7.');
});

test('the program completes over more than twenty calls with one refund and one small value', async () => {
  const codeMode = createCodeMode({ tools: withServers(), isolation: 'inline' });
  closers.push(() => codeMode.close());
  const result = await codeMode.run(PROGRAM, { invocation: { actorId: 'agent-7' } });
  expect(result.error).toBeUndefined();
  expect(result.status).toBe('completed');
  expect(result.value).toEqual({
    plusCustomers: 20,
    lateParcels: 5,
    averageDaysLate: 5,
    settled: '€3.79 to Jonas Yilmaz for order 50267 (Moka pot), by agent-7',
    remembered: ['Jonas Yilmaz'],
    stillOwed: ['Gustav Fischer: €48.90, 6 days late', 'Benedikt Ivanova: €1.49, 3 days late'],
  });
  expect(result.calls.length).toBeGreaterThan(20);
  expect(result.calls.every((call) => call.status === 'ok')).toBe(true);
  expect(result.calls.filter((call) => call.name === 'issue_refund')).toHaveLength(1);
  expect(result.output).toContain('5 parcels came 3 or more days late, 3 of them without a refund.');
});

test('without an agent the program fails at its refund and says why', async () => {
  const codeMode = createCodeMode({ tools: withServers(), isolation: 'inline' });
  closers.push(() => codeMode.close());
  const result = await codeMode.run(PROGRAM);
  expect(result.status).toBe('error');
  expect(result.error).toMatchObject({ kind: 'program', message: expect.stringContaining('Only an agent can issue a refund') });
});
