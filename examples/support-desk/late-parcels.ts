// Which Plus customers waited longest for a parcel this quarter, what do we owe them, and is the worst case put right?
// The desk's own tools read and write its database; `files` and `memory` are two MCP servers.
interface Customer {
  id: number;
  name: string;
  country: string;
}

interface Order {
  id: number;
  customerId: number;
  item: string;
  totalCents: number;
  promisedOn: string;
  deliveredOn: string | null;
}

interface LateOrder extends Order {
  customer: Customer;
  daysLate: number;
}

const DAY = 24 * 60 * 60 * 1000;
const euros = (cents: number): string => `€${(cents / 100).toFixed(2)}`;

// What is owed stands in the handbook, and how we say it in the help centre.
const [handbook, policy, { customers }] = await Promise.all([
  tools.files.read_text_file({ path: 'compensation.json' }),
  tools.search_articles({ query: 'late deliveries plus', limit: 1 }),
  tools.find_customers({ plan: 'plus', limit: 100 }) as Promise<{ customers: Customer[] }>,
]);
const rule: { fromDaysLate: number; shareOfOrder: number } = JSON.parse(handbook.content);
console.log(`Rule: ${policy.articles[0].title}. Reading the orders of ${customers.length} Plus customers…`);

// One call per customer, all at once.
const late: LateOrder[] = (
  await Promise.all(
    customers.map(async (customer): Promise<LateOrder[]> => {
      const { orders } = await tools.list_orders({ customerId: customer.id, status: 'delivered', placedFrom: '2025-01-01' });
      return orders.map((order: Order) => ({
        ...order,
        customer,
        daysLate: Math.round((Date.parse(order.deliveredOn!) - Date.parse(order.promisedOn)) / DAY),
      }));
    }),
  )
)
  .flat()
  .filter((order) => order.daysLate >= rule.fromDaysLate)
  .sort((a, b) => b.daysLate - a.daysLate);

// Leave out what was refunded already.
const refunds = await Promise.all(late.map((order) => tools.list_refunds({ orderId: order.id })));
const open = late.filter((_, index) => refunds[index].refunds.length === 0);
console.log(`${late.length} parcels came ${rule.fromDaysLate} or more days late, ${open.length} of them without a refund.`);

const owed = (order: LateOrder): number => Math.round(order.totalCents * rule.shareOfOrder);
const [worst] = open;
let settled = 'nothing to settle';
if (worst) {
  const refund = await tools.issue_refund({ orderId: worst.id, amountCents: owed(worst), reason: `Late delivery, ${worst.daysLate} days` });
  await tools.add_note({ customerId: worst.customer.id, text: `Refunded ${euros(refund.amountCents)} for late order ${worst.id}.` });
  // For whoever speaks with them next, also without the desk.
  const told = { name: worst.customer.name, entityType: 'customer', observations: [`${euros(refund.amountCents)} back for late order ${worst.id}`] };
  await tools.memory.create_entities({ entities: [told] });
  settled = `${euros(refund.amountCents)} to ${worst.customer.name} for order ${worst.id} (${worst.item}), by ${refund.agentId}`;
}

const { entities: remembered } = await tools.memory.search_nodes({ query: 'late order' });
return {
  plusCustomers: customers.length,
  lateParcels: late.length,
  averageDaysLate: Number((late.reduce((sum, order) => sum + order.daysLate, 0) / late.length).toFixed(1)),
  settled,
  remembered: remembered.map(({ name }) => name),
  stillOwed: open.slice(1).map((order) => `${order.customer.name}: ${euros(owed(order))}, ${order.daysLate} days late`),
};
