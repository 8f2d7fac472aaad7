// The support desk of examples/support-desk: its tools, and twelve tasks over them with what is decided in each. Not here: who plays them (turns.ts).
import type { Tool } from '../../src/index.ts';

export interface Task {
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

export const TASKS: readonly Task[] = [
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

/** The example is plain JavaScript, which the compiler does not follow; benchmarks run in the repository's root. */
export async function readDesk(): Promise<readonly Tool[]> {
  const module = new URL('examples/support-desk/tools.mjs', `file://${process.cwd()}/`).href;
  const { default: desk } = (await import(module)) as { default: readonly Tool[] };
  return desk;
}
