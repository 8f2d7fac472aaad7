// The support desk's tools: what a program may ask of the desk. Reading is free; writing needs an agent, whom the
// application names in the invocation and no program can choose. Not here: the tables (database.mjs).
import { defineTool, ToolError } from 'callgate';
import { all, get, openDesk, transaction } from './database.mjs';

/** @import { ToolContext } from 'callgate' */
/** @import { Database } from 'node-sqlite3-wasm' */
/** @import { Customer, Order, Refund } from './seed.mjs' */

const id = /** @type {const} */ ({ type: 'integer', minimum: 1 });
const text = /** @type {const} */ ({ type: 'string' });
const day = /** @type {const} */ ({ type: 'string', format: 'date', description: 'For example 2025-01-31' });
const cents = /** @type {const} */ ({ type: 'integer', minimum: 1, description: 'Euro cents' });
const plan = /** @type {const} */ ({ enum: ['standard', 'plus'] });
const status = /** @type {const} */ ({ enum: ['delivered', 'in_transit', 'cancelled'] });
const country = /** @type {const} */ ({ type: 'string', pattern: '^[A-Z]{2}$', description: 'Two capital letters, for example NL' });
const page = /** @type {const} */ ({
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Most rows to return; 50 when left out' },
  offset: { type: 'integer', minimum: 0, description: 'Rows to pass over; 0 when left out' },
});

const customer = record({
  id,
  name: text,
  email: text,
  city: text,
  country,
  plan,
  joinedOn: day,
});
const order = record({
  id,
  customerId: id,
  item: text,
  quantity: id,
  totalCents: { type: 'integer', minimum: 0, description: 'Euro cents' },
  status,
  placedOn: day,
  promisedOn: day,
  deliveredOn: { type: ['string', 'null'], description: 'null until the parcel has arrived' },
});
const refund = record({
  id,
  orderId: id,
  amountCents: cents,
  reason: text,
  agentId: { type: 'string', description: 'Who issued it' },
  issuedAt: { type: 'string', format: 'date-time' },
});
const article = record({ id, title: text, body: text });

const findCustomers = defineTool({
  name: 'find_customers',
  description: 'Customers by plan, country, or a part of their name or email address, ordered by id.',
  inputSchema: record({ text: { type: 'string', minLength: 1 }, plan, country, ...page }, []),
  outputSchema: record({ customers: { type: 'array', items: customer }, total: { type: 'integer' } }),
  annotations: { readOnlyHint: true },
  async execute({ text, plan, country, limit = 50, offset = 0 }, context) {
    const { database } = await desk(context);
    const where = `(:text IS NULL OR instr(lower(name || ' ' || email), lower(:text)) > 0)
      AND (:plan IS NULL OR plan = :plan) AND (:country IS NULL OR country = :country)`;
    const filter = { ':text': text ?? null, ':plan': plan ?? null, ':country': country ?? null };
    return {
      customers: all(database, `SELECT * FROM customers WHERE ${where} ORDER BY id LIMIT :limit OFFSET :offset`, {
        ...filter,
        ':limit': limit,
        ':offset': offset,
      }),
      total: count(database, `SELECT count(*) AS total FROM customers WHERE ${where}`, filter),
    };
  },
});

const getCustomer = defineTool({
  name: 'get_customer',
  description: 'One customer with the notes that agents wrote about them.',
  inputSchema: record({ customerId: id }),
  outputSchema: record({
    ...customer.properties,
    notes: { type: 'array', items: record({ text: text, agentId: text, writtenAt: text }) },
  }),
  annotations: { readOnlyHint: true },
  async execute({ customerId }, context) {
    const { database } = await desk(context);
    const notes = all(database, 'SELECT text, agentId, writtenAt FROM notes WHERE customerId = ? ORDER BY id', [customerId]);
    return { ...theCustomer(database, customerId), notes };
  },
});

const listOrders = defineTool({
  name: 'list_orders',
  description: 'Orders of one customer or of all, newest first.',
  inputSchema: record(
    {
      customerId: id,
      status,
      placedFrom: { ...day, description: 'First day, inclusive' },
      placedTo: { ...day, description: 'Last day, inclusive' },
      ...page,
    },
    [],
  ),
  outputSchema: record({ orders: { type: 'array', items: order }, total: { type: 'integer' } }),
  annotations: { readOnlyHint: true },
  async execute({ customerId, status, placedFrom, placedTo, limit = 50, offset = 0 }, context) {
    const { database } = await desk(context);
    if (customerId !== undefined) theCustomer(database, customerId);
    const where = `(:customerId IS NULL OR customerId = :customerId) AND (:status IS NULL OR status = :status)
      AND (:placedFrom IS NULL OR placedOn >= :placedFrom) AND (:placedTo IS NULL OR placedOn <= :placedTo)`;
    const filter = {
      ':customerId': customerId ?? null,
      ':status': status ?? null,
      ':placedFrom': placedFrom ?? null,
      ':placedTo': placedTo ?? null,
    };
    return {
      orders: all(database, `SELECT * FROM orders WHERE ${where} ORDER BY placedOn DESC, id DESC LIMIT :limit OFFSET :offset`, {
        ...filter,
        ':limit': limit,
        ':offset': offset,
      }),
      total: count(database, `SELECT count(*) AS total FROM orders WHERE ${where}`, filter),
    };
  },
});

const getOrder = defineTool({
  name: 'get_order',
  description: 'One order with its refunds.',
  inputSchema: record({ orderId: id }),
  outputSchema: record({ ...order.properties, refunds: { type: 'array', items: refund } }),
  annotations: { readOnlyHint: true },
  async execute({ orderId }, context) {
    const { database } = await desk(context);
    return { ...theOrder(database, orderId), refunds: refundsOf(database, orderId) };
  },
});

const listRefunds = defineTool({
  name: 'list_refunds',
  description: 'Refunds of one order, or of all orders of one customer; oldest first.',
  inputSchema: { ...record({ orderId: id, customerId: id }, []), minProperties: 1 },
  outputSchema: record({ refunds: { type: 'array', items: refund } }),
  annotations: { readOnlyHint: true },
  async execute({ orderId, customerId }, context) {
    const { database } = await desk(context);
    if (orderId !== undefined) theOrder(database, orderId);
    if (customerId !== undefined) theCustomer(database, customerId);
    return {
      refunds: all(
        database,
        `SELECT ${REFUND_COLUMNS} FROM refunds JOIN orders ON orders.id = refunds.orderId
         WHERE (:orderId IS NULL OR orderId = :orderId) AND (:customerId IS NULL OR customerId = :customerId) ORDER BY refunds.id`,
        { ':orderId': orderId ?? null, ':customerId': customerId ?? null },
      ),
    };
  },
});

const searchArticles = defineTool({
  name: 'search_articles',
  description: 'Help articles that hold every word of the query, those with a word in the title first.',
  inputSchema: record(
    {
      query: { type: 'string', minLength: 1, maxLength: 200 },
      limit: { type: 'integer', minimum: 1, maximum: 10, description: 'Most articles to return; 3 when left out' },
    },
    ['query'],
  ),
  outputSchema: record({ articles: { type: 'array', items: article } }),
  annotations: { readOnlyHint: true },
  async execute({ query, limit = 3 }, context) {
    const { database } = await desk(context);
    const words = JSON.stringify(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
    return {
      articles: all(
        database,
        `SELECT id, title, body FROM articles
         WHERE NOT EXISTS (SELECT 1 FROM json_each(:words) WHERE instr(lower(title || ' ' || tags || ' ' || body), value) = 0)
         ORDER BY (SELECT count(*) FROM json_each(:words) WHERE instr(lower(title), value) > 0) DESC, id LIMIT :limit`,
        { ':words': words, ':limit': limit },
      ),
    };
  },
});

const issueRefund = defineTool({
  name: 'issue_refund',
  description: 'Pays back a part of an order, at most what was paid less what was refunded before. Recorded under the agent of this run.',
  inputSchema: record({
    orderId: id,
    amountCents: cents,
    reason: { type: 'string', minLength: 3, maxLength: 200 },
  }),
  outputSchema: refund,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  exclusive: true,
  async execute({ orderId, amountCents, reason }, context) {
    const agentId = agent(context, 'issue a refund');
    const { database } = await desk(context);
    const key = context.call.idempotencyKey;
    return transaction(database, () => {
      // The same call again, for example after a crash: the refund is there already and is not paid twice.
      const before = refundOfCall(database, key);
      if (before !== undefined) return before;
      const { status, totalCents } = theOrder(database, orderId);
      if (status === 'cancelled')
        throw new ToolError(`Order ${orderId} was cancelled; nothing was paid for it.`, { code: 'order_cancelled' });
      const refunded = refundsOf(database, orderId).reduce((sum, { amountCents }) => sum + amountCents, 0);
      const left = totalCents - refunded;
      if (amountCents > left) {
        throw new ToolError(
          `Order ${orderId} can be refunded by ${left} cents at most, not by ${amountCents}: ${totalCents} paid, ${refunded} refunded.`,
          {
            code: 'refund_too_high',
            details: { totalCents, refundedCents: refunded, leftCents: left },
          },
        );
      }
      database.run('INSERT INTO refunds (orderId, amountCents, reason, agentId, issuedAt, idempotencyKey) VALUES (?, ?, ?, ?, ?, ?)', [
        orderId,
        amountCents,
        reason,
        agentId,
        new Date().toISOString(),
        key,
      ]);
      return /** @type {Refund} */ (refundOfCall(database, key));
    });
  },
});

const addNote = defineTool({
  name: 'add_note',
  description: 'Writes a note about a customer, for the agents who speak with them next.',
  inputSchema: record({ customerId: id, text: { type: 'string', minLength: 1, maxLength: 1000 } }),
  annotations: { readOnlyHint: false, destructiveHint: false },
  async execute({ customerId, text }, context) {
    const agentId = agent(context, 'write a note');
    const { database } = await desk(context);
    theCustomer(database, customerId);
    database.run(
      'INSERT INTO notes (customerId, text, agentId, writtenAt, idempotencyKey) VALUES (?, ?, ?, ?, ?) ON CONFLICT (idempotencyKey) DO NOTHING',
      [customerId, text, agentId, new Date().toISOString(), context.call.idempotencyKey],
    );
    return { noted: true };
  },
});

export default [findCustomers, getCustomer, listOrders, getOrder, listRefunds, searchArticles, issueRefund, addNote];

const REFUND_COLUMNS = 'refunds.id, orderId, amountCents, reason, agentId, issuedAt';

/**
 * The desk of this run: opened by the first call that needs it, closed when the run ends.
 * `SUPPORT_DESK_DATABASE` names a file that outlives the run.
 * @param {ToolContext} context
 */
function desk({ run }) {
  return run.once('support-desk', () => {
    const opened = openDesk(process.env.SUPPORT_DESK_DATABASE);
    run.register(() => opened.close());
    return opened;
  });
}

/** @param {ToolContext} context @param {string} what */
function agent({ run }, what) {
  const { actorId } = run.invocation;
  if (actorId === undefined) throw new ToolError(`Only an agent can ${what}, and this run has none.`, { code: 'agent_missing' });
  return actorId;
}

/** @param {Database} database @param {number} customerId @returns {Customer} */
function theCustomer(database, customerId) {
  const found = get(database, 'SELECT * FROM customers WHERE id = ?', [customerId]);
  if (found === undefined) throw new ToolError(`There is no customer ${customerId}.`, { code: 'customer_unknown' });
  return /** @type {Customer} */ (found);
}

/** @param {Database} database @param {number} orderId @returns {Order} */
function theOrder(database, orderId) {
  const found = get(database, 'SELECT * FROM orders WHERE id = ?', [orderId]);
  if (found === undefined) throw new ToolError(`There is no order ${orderId}.`, { code: 'order_unknown' });
  return /** @type {Order} */ (found);
}

/** @param {Database} database @param {number} orderId @returns {Refund[]} */
function refundsOf(database, orderId) {
  return all(database, `SELECT ${REFUND_COLUMNS} FROM refunds WHERE orderId = ? ORDER BY id`, [orderId]);
}

/** @param {Database} database @param {string} key @returns {Refund | undefined} */
function refundOfCall(database, key) {
  return get(database, `SELECT ${REFUND_COLUMNS} FROM refunds WHERE idempotencyKey = ?`, [key]);
}

/** @param {Database} database @param {string} sql @param {Record<string, string | number | null>} values */
function count(database, sql, values) {
  return /** @type {{ total: number }} */ (get(database, sql, values)).total;
}

/**
 * An object with these properties and no others; all of them required unless `required` says otherwise.
 * @template const Properties
 * @template {keyof Properties & string} [Required=keyof Properties & string]
 * @param {Properties} properties
 * @param {readonly Required[]} [required]
 */
function record(properties, required) {
  const all = /** @type {Required[]} */ (Object.keys(/** @type {object} */ (properties)));
  return /** @type {const} */ ({ type: 'object', properties, required: required ?? all, additionalProperties: false });
}
