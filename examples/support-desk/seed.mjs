// The support desk's made-up past: customers, orders, refunds and help articles, the same ones each time.
// Not here: the tables they go into (database.mjs).

/**
 * @typedef {{ id: number, name: string, email: string, city: string, country: string, plan: 'standard' | 'plus', joinedOn: string }} Customer
 * @typedef {'delivered' | 'in_transit' | 'cancelled'} OrderStatus
 * @typedef {{ id: number, customerId: number, item: string, quantity: number, totalCents: number, status: OrderStatus,
 *   placedOn: string, promisedOn: string, deliveredOn: string | null }} Order
 * @typedef {{ id: number, orderId: number, amountCents: number, reason: string, agentId: string, issuedAt: string }} Refund
 * @typedef {{ id: number, title: string, body: string, tags: string }} Article
 * @typedef {() => number} Random From 0 to 1, exclusive.
 */

/**
 * Sixty customers, three hundred orders, forty refunds and twenty-five articles. Two calls give equal data.
 * @returns {{ customers: Customer[], orders: Order[], refunds: Refund[], articles: Article[] }}
 */
export function seedData() {
  const random = randomNumbers(20_250_331);
  const customers = seedCustomers(random);
  const orders = seedOrders(random, customers);
  const refunds = seedRefunds(random, orders);
  const articles = ARTICLES.map(([title = '', tags = '', body = ''], index) => ({ id: index + 1, title, body, tags }));
  return { customers, orders, refunds, articles };
}

/** The last day of the seeded past; parcels promised after it are still under way. */
const TODAY = '2025-03-28';

/** @param {Random} random @returns {Customer[]} */
function seedCustomers(random) {
  return Array.from({ length: 60 }, (_, index) => {
    // Coprime strides: every pair of names is different, and none looks numbered.
    const first = FIRST_NAMES[(index * 7) % FIRST_NAMES.length] ?? '';
    const last = LAST_NAMES[(index * 11 + Math.floor(index / 30)) % LAST_NAMES.length] ?? '';
    const [city, country] = pick(random, CITIES);
    return {
      id: 1001 + index,
      name: `${first} ${last}`,
      email: `${plain(first)}.${plain(last)}@${pick(random, ['example.com', 'example.org', 'example.net'])}`,
      city,
      country,
      plan: random() < 0.38 ? 'plus' : 'standard',
      joinedOn: addDays('2021-02-01', Math.floor(random() * 1200)),
    };
  });
}

/** @param {Random} random @param {Customer[]} customers @returns {Order[]} */
function seedOrders(random, customers) {
  // The power makes business grow: more orders towards the end.
  const placed = Array.from({ length: 300 }, () => addDays('2024-10-01', Math.floor(random() ** 0.7 * 179))).sort();
  return placed.map((placedOn, index) => {
    const [item, cents] = pick(random, PRODUCTS);
    const quantity = random() < 0.8 ? 1 : 2 + Math.floor(random() * 2);
    const promisedOn = addDays(placedOn, 3 + Math.floor(random() * 4));
    const cancelled = random() < 0.05;
    const daysLate = random() < 0.2 ? 1 + Math.floor(random() * 9) : -Math.floor(random() * 2);
    const arrivesOn = addDays(promisedOn, daysLate);
    const arrived = arrivesOn <= TODAY;
    return {
      id: 50_001 + index,
      customerId: pick(random, customers).id,
      item,
      quantity,
      totalCents: cents * quantity,
      status: cancelled ? 'cancelled' : arrived ? 'delivered' : 'in_transit',
      placedOn,
      promisedOn,
      deliveredOn: !cancelled && arrived ? arrivesOn : null,
    };
  });
}

/** @param {Random} random @param {Order[]} orders @returns {Refund[]} */
function seedRefunds(random, orders) {
  const delivered = orders.flatMap(({ deliveredOn, ...order }) => (deliveredOn === null ? [] : [{ ...order, deliveredOn }]));
  /** @param {{ deliveredOn: string, promisedOn: string }} order */
  const isLate = (order) => Date.parse(order.deliveredOn) - Date.parse(order.promisedOn) >= 3 * DAY_MS;
  // Every third late parcel was made good for; the other refunds are spread over the whole past, at most one per order.
  const late = delivered.filter(isLate).filter((_, index) => index % 3 === 0);
  const others = delivered.filter((order) => !isLate(order));
  const step = others.length / (40 - late.length);
  const chosen = [...late, ...others.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))];
  return chosen
    .sort((a, b) => a.id - b.id)
    .map((order, index) => {
      const [reason, share] = isLate(order) ? ['Late delivery', 0.1] : pick(random, REFUND_REASONS);
      const [issuedOn] = [addDays(order.deliveredOn, 1 + Math.floor(random() * 5)), TODAY].sort();
      return {
        id: 9001 + index,
        orderId: order.id,
        amountCents: Math.round(order.totalCents * share),
        reason,
        agentId: pick(random, ['agent-2', 'agent-3', 'agent-7', 'agent-11']),
        issuedAt: `${issuedOn}T${String(8 + Math.floor(random() * 9)).padStart(2, '0')}:15:00.000Z`,
      };
    });
}

/**
 * Mulberry32: small, fast, and the same sequence on every machine.
 * @param {number} seed
 * @returns {Random}
 */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const DAY_MS = 86_400_000;

/** @template Item @param {Random} random @param {readonly Item[]} list @returns {Item} */
function pick(random, list) {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new RangeError('There is nothing to pick from.');
  return item;
}

/** @param {string} day @param {number} days */
function addDays(day, days) {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** @param {string} name */
function plain(name) {
  return name
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}

const FIRST_NAMES = [
  'Ada',
  'Bruno',
  'Chiara',
  'Daniel',
  'Elif',
  'Femke',
  'Gustav',
  'Hana',
  'Ilse',
  'Jonas',
  'Katarzyna',
  'Luca',
  'Marta',
  'Noah',
  'Oona',
  'Pedro',
  'Quentin',
  'Rosa',
  'Samuel',
  'Tilda',
  'Ugo',
  'Vera',
  'Willem',
  'Ximena',
  'Yann',
  'Zoë',
  'Amélie',
  'Benedikt',
  'Clara',
  'Dario',
  'Esther',
];
const LAST_NAMES = [
  'Almeida',
  'Bakker',
  'Conti',
  'Dubois',
  'Eriksen',
  'Fischer',
  'García',
  'Horvat',
  'Ivanova',
  'Janssen',
  'Kowalski',
  'Lindqvist',
  'Moreau',
  'Nowak',
  'Oliveira',
  'Petersen',
  'Quiroga',
  'Rossi',
  'Schneider',
  'Toivonen',
  'Ulrich',
  'Visser',
  'Weber',
  'Yilmaz',
  'Zanetti',
  'Bergman',
  'Castro',
  'Demir',
  'Engel',
  'Ferrari',
  'Gruber',
];
/** @type {[city: string, country: string][]} */
const CITIES = [
  ['Amsterdam', 'NL'],
  ['Utrecht', 'NL'],
  ['Berlin', 'DE'],
  ['Hamburg', 'DE'],
  ['Leipzig', 'DE'],
  ['Lyon', 'FR'],
  ['Nantes', 'FR'],
  ['Lisbon', 'PT'],
  ['Porto', 'PT'],
  ['Milan', 'IT'],
  ['Bologna', 'IT'],
  ['Kraków', 'PL'],
  ['Gothenburg', 'SE'],
  ['Helsinki', 'FI'],
];
/** @type {[item: string, cents: number][]} */
const PRODUCTS = [
  ['Pour-over kettle', 5490],
  ['Burr grinder', 12900],
  ['Ceramic dripper', 2490],
  ['Paper filters, 200', 890],
  ['Travel press', 3490],
  ['Milk pitcher', 1990],
  ['Espresso scale', 6990],
  ['House blend, 1 kg', 2650],
  ['Decaf beans, 500 g', 1590],
  ['Cold brew jug', 2990],
  ['Moka pot', 3790],
  ['Cleaning tablets', 1290],
  ['Double-wall cups, 4', 3190],
  ['Espresso machine', 48900],
  ['Storage tin', 1490],
];
/** @type {[reason: string, share: number][]} */
const REFUND_REASONS = [
  ['Arrived damaged', 1],
  ['Wrong item sent', 1],
  ['Part missing', 0.4],
  ['Returned unused', 1],
  ['Price match', 0.15],
];
const ARTICLES = [
  [
    'Late deliveries: what we offer',
    'delivery late refund plus',
    'A parcel that comes three or more days after the promised day earns a Plus customer 10 % of the order back. Others get a voucher.',
  ],
  [
    'Tracking your parcel',
    'delivery tracking',
    'The tracking link is in the shipping mail. It starts to work in the evening of the day on which the parcel leaves us.',
  ],
  [
    'A parcel says delivered but is not there',
    'delivery lost',
    'Ask the neighbours and wait one working day. After that we open a search with the carrier, which takes up to five days.',
  ],
  [
    'Changing the delivery address',
    'delivery address',
    'Until the parcel is packed an agent can change the address. Afterwards only the carrier can, through the tracking link.',
  ],
  [
    'Returning an order',
    'returns refund',
    'Unused goods can come back within 30 days. Print the label from your account and hand the parcel in at any shop of the carrier.',
  ],
  [
    'When will I get my refund?',
    'refund payment',
    'Refunds are sent on the day on which we approve them. Cards take three to five working days, bank transfers one.',
  ],
  [
    'Refunds above the order total',
    'refund agent',
    'An order is never refunded for more than was paid. Goodwill beyond that is a voucher, which a team lead approves.',
  ],
  [
    'Damaged on arrival',
    'refund damaged delivery',
    'Send a photo of the parcel and of the goods. We replace or refund in full, and you need not send anything back.',
  ],
  [
    'A part is missing',
    'refund missing',
    'Tell us which part. Spare parts leave within a day; if there is none left, part of the price is refunded.',
  ],
  [
    'Cancelling an order',
    'orders cancel',
    'Orders can be cancelled until they are packed, usually until noon of the next working day. The payment is released at once.',
  ],
  ['Price match', 'refund price', 'Found it cheaper within 14 days of buying? Send us the link and we refund the difference.'],
  ['What Plus includes', 'plus plan', 'Plus customers have free shipping, 60 days for returns, and compensation for late deliveries.'],
  ['Leaving Plus', 'plus plan cancel', 'Plus can be ended at any time and runs until the end of the paid month.'],
  ['Descaling your kettle', 'care kettle', 'Boil equal parts of water and white vinegar, leave it for twenty minutes, then rinse twice.'],
  [
    'Cleaning a burr grinder',
    'care grinder',
    'Unplug it, lift out the upper burr and brush both. Never use water. Once a month is enough at home.',
  ],
  [
    'First use of an espresso machine',
    'care espresso',
    'Fill the tank, run two full cups of water through the group, and let the machine heat for fifteen minutes.',
  ],
  [
    'Espresso machine does not build pressure',
    'repair espresso',
    'Check the seal of the portafilter and grind finer. If the gauge still does not move, write to us: the pump is under warranty.',
  ],
  ['Scale shows Err', 'repair scale', 'Replace the batteries and calibrate with a full bottle of water of one litre.'],
  ['Warranty', 'warranty repair', 'Machines have two years of warranty and grinders five. Burrs and seals wear and are not covered.'],
  [
    'Storing beans',
    'beans care',
    'Keep beans closed, dark and cool, but not in the refrigerator. They taste best between one and six weeks after roasting.',
  ],
  ['Which grind for which brewer', 'beans grinder', 'Fine for espresso, medium for drippers, coarse for presses and cold brew.'],
  ['Invoices', 'payment invoice', 'Invoices are in your account from the day of shipping. A company name can be added for 30 days.'],
  [
    'Payment was declined',
    'payment',
    'The bank declines, not the shop. Try again after an hour or choose a bank transfer; the order is kept for a day.',
  ],
  [
    'Deleting your account',
    'account privacy',
    'Write to us from the address of the account. Data that tax law requires is kept for ten years, the rest is gone within a week.',
  ],
  ['Holiday opening hours', 'contact', 'The desk is closed on public holidays in the Netherlands. Parcels leave on the next working day.'],
];
