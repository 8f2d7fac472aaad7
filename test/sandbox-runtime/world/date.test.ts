import { describe, expect, test } from 'vitest';
import { openGuest } from './guest.ts';
import { guestExpression, inNodeZone } from './node.ts';

const ZONES = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Asia/Tokyo',
  'Asia/Kolkata',
  'Australia/Sydney',
  'Africa/Casablanca',
  'Pacific/Apia',
];

const INSTANTS = [
  '0',
  '1e12',
  '1772359200000',
  '1774746000000',
  '1774745999999',
  '1793494800000',
  '-1e12',
  '951782400000',
  '1325239200000',
  '4102444800000',
];

const EXPRESSIONS = [
  ...INSTANTS.flatMap((ms) => [
    `new Date(${ms}).toString()`,
    `new Date(${ms}).toDateString()`,
    `new Date(${ms}).toTimeString()`,
    `(d => [d.getFullYear(), d.getMonth(), d.getDate(), d.getDay(), d.getHours(), d.getMinutes(), d.getSeconds(), d.getMilliseconds(), d.getTimezoneOffset(), d.getYear()])(new Date(${ms}))`,
    `(d => [d.setHours(0, 0, 0, 0), d.setDate(1), d.setMonth(6), d.setFullYear(2024, 1, 29), d.setMinutes(90), d.setSeconds(-1), d.setMilliseconds(1500)])(new Date(${ms}))`,
  ]),
  // Around the changes of the clock: skipped hours, repeated hours and their neighbours.
  ...[1, 2, 3, 4, 7].flatMap((hour) => [
    `new Date(2026, 2, 8, ${hour}, 30).toISOString()`,
    `new Date(2026, 2, 29, ${hour}, 30).toISOString()`,
    `new Date(2026, 3, 5, ${hour}, 30).toISOString()`,
    `new Date(2026, 9, 4, ${hour}, 30).toISOString()`,
    `new Date(2026, 9, 25, ${hour}, 30).toISOString()`,
    `new Date(2026, 10, 1, ${hour}, 30).toISOString()`,
  ]),
  'new Date(2026, 0).getTime()',
  'new Date(99, 0, 1).getFullYear()',
  'new Date(2026, 0, 31, 25, 61, 61, 1001).toISOString()',
  "new Date('2026-03-01').getTime()",
  "new Date('2026-03-01T10:00').getTime()",
  "new Date('2026-03-01T10:00:30.250').getTime()",
  "new Date('2026-03-01T10:00:00Z').getTime()",
  "new Date('2026-03-01T10:00:00+05:30').getTime()",
  "new Date('2026-03-01 10:00').getTime()",
  "new Date('2026/03/01').getTime()",
  "new Date('March 7, 2026').getTime()",
  "new Date('Mar 7, 2026 10:00 PM').getTime()",
  "new Date('7 March 2026 10:00').getTime()",
  "new Date('03/07/2026').getTime()",
  "new Date('Sat, 07 Mar 2026 10:00:00 GMT').getTime()",
  "new Date('Sat Mar 07 2026 10:00:00 GMT+0100 (CET)').getTime()",
  "new Date('2026').getTime()",
  "new Date('2026-03').getTime()",
  "new Date('nonsense').getTime()",
  "Date.parse('2026-07-01T00:00:00')",
  'new Date(NaN).toString()',
  'new Date(NaN).getHours()',
  'new Date(8.64e15 + 1).getTime()',
  'Date.UTC(2026, 1, 3)',
  'new Date(new Date(1e12)).getTime()',
  'typeof Date()',
  'typeof Date.now()',
  'Date.length',
  'Date.name',
  '[new Date(0) instanceof Date, Object.prototype.toString.call(new Date(0)), new Date(0).constructor === Date]',
  'new (class extends Date { twice() { return this.getTime() * 2; } })(5).twice()',
  '(d => { d.setFullYear(2020); return d.getFullYear(); })(new Date(NaN))',
  'JSON.stringify({ d: new Date(0) })',
  '`${new Date(0)}`',
  'new Date(1e12) - new Date(0)',
];

/** Leaves out the zone's name where engines guess: ICU has none for offsets that are history. */
function comparable(outcome: unknown, expression: string, timeZone: string): string {
  const text = JSON.stringify(outcome);
  const isGuess = expression.includes('-1e12') || timeZone === 'Africa/Casablanca';
  return isGuess ? text.replace(/ \([^)]*\)/, '') : text;
}

describe.each(ZONES)('in %s', (timeZone) => {
  test('dates read, compute and print as in Node', async () => {
    const guest = await openGuest({ timeZone });
    const expected = inNodeZone(timeZone, EXPRESSIONS);
    const differences = EXPRESSIONS.flatMap((expression, index) => {
      const actual = comparable(guest.evaluate(guestExpression(expression)), expression, timeZone);
      const wanted = comparable(expected[index], expression, timeZone);
      return actual === wanted ? [] : [{ expression, actual, wanted }];
    });
    expect(differences).toEqual([]);
  });
});

test('in UTC a date asks the host for nothing', async () => {
  const guest = await openGuest();
  guest.evaluate('[new Date(2026, 1, 1).getHours(), new Date().toString(), new Date("2026-01-01T00:00").getTime()]');
  expect(guest.asked()).toBe(0);
});

test('a loop over the hours of a year asks the host once per year', async () => {
  const guest = await openGuest({ timeZone: 'Europe/Berlin' });
  const before = guest.asked();
  expect(
    guest.evaluate('(() => { let sum = 0; for (let i = 1; i < 8000; i++) sum += new Date(2026, 0, 2, i).getHours(); return sum; })()'),
  ).toBeGreaterThan(0);
  expect(guest.asked() - before).toBeLessThan(5);
});
