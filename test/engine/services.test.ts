import { expect, test } from 'vitest';
import { createAnswer } from '../../src/engine/services.ts';

const ask = (service: string, argument: string): { value?: unknown; error?: { name: string; message: string } } =>
  JSON.parse(createAnswer()(service, argument)) as { value?: unknown; error?: { name: string; message: string } };

test('a request that is no request is answered with an error, never thrown', () => {
  const answer = createAnswer();
  const requests: [string, string][] = [
    ['', ''],
    ['nope', '{}'],
    ['constructor', '[]'],
    ['__proto__', '[]'],
    ['intl', ''],
    ['intl', '\n'],
    ['intl', '["NumberFormat",["en"],{}]\n["toString"]'],
    ['intl', '["Function",["en"],{}]\n["call"]'],
    ['intl', '["constructor",["en"],{}]\n["format",["number","1"]]'],
    ['intl', '["NumberFormat",["en"],{}]\n["format"]'],
    ['intl', '["NumberFormat",["en"],{}]\n["constructor","return process"]'],
    ['intl.new', 'null'],
    ['intl.supported', '["toString",[],{}]'],
    ['url.parse', '{}'],
    ['url.set', '["https://a.b","constructor","x"]'],
    ['url.set', '["https://a.b","toString","x"]'],
    ['url.set', '["nope","href","x"]'],
    ['digest', '["md5","AA=="]'],
    ['digest', '[]'],
    ['random', '1e9'],
    ['random', '-1'],
    ['random', '"x"'],
    ['zone.year', '["Nowhere/Land",2026]'],
    ['zone.year', '["UTC",1e9]'],
    ['zone.name', '["UTC",null]'],
    ['text.upper', '[1,2]'],
    ['intl.values', '"nope"'],
  ];
  for (const [service, argument] of requests) {
    const text = answer(service, argument);
    const outcome = JSON.parse(text) as object;
    expect([service, argument, Object.keys(outcome).join()]).toEqual([
      service,
      argument,
      expect.stringMatching(/^(value|error)$/) as unknown,
    ]);
    expect(text).not.toMatch(/node:|file:|\/src\//);
  }
});

test('long arguments are refused before any work', () => {
  const long = JSON.stringify('x'.repeat(2_000_000));
  for (const service of ['intl', 'intl.new', 'intl.canonical', 'text.upper', 'zone.year', 'url.parse', 'random']) {
    expect(ask(service, long).error?.name).toBe('RangeError');
  }
  expect(ask('digest', `["SHA-256","${'A'.repeat(4_000_000)}"]`).value).toEqual(expect.any(String));
});

test('a number with too many digits and a host that is too long are refused', () => {
  expect(ask('intl', `["NumberFormat",["en"],{}]\n["format",["bigint","${'9'.repeat(100_000)}"]]`).error?.message).toContain(
    'at most 2000',
  );
  expect(ask('url.parse', JSON.stringify([`https://${'ü'.repeat(100_000)}/`, null])).error?.message).toContain('4096');
  expect(ask('url.parse', JSON.stringify([`//${'ü'.repeat(100_000)}`, 'https://a.b'])).error?.message).toContain('4096');
  expect(ask('url.parse', JSON.stringify([`data:text/plain,${'x'.repeat(100_000)}`, null])).value).toEqual(expect.any(Array));
  expect(ask('url.parse', JSON.stringify([`https://a.b/${'x'.repeat(100_000)}`, null])).value).toEqual(expect.any(Array));
});

test('thousands of different formatters do not stay in memory', () => {
  const answer = createAnswer();
  const before = process.memoryUsage.rss();
  for (let i = 0; i < 3000; i++)
    answer(
      'intl',
      `["NumberFormat",["en"],{"minimumIntegerDigits":${(i % 21) + 1},"maximumFractionDigits":${i % 100}}]\n["format",["number","${i}"]]`,
    );
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
});

test('the host’s own locale and zone are never the default', () => {
  expect(ask('intl', '["DateTimeFormat",["xx","de-DE"],{"timeZone":"Asia/Tokyo"}]\n["resolvedOptions"]').value).toMatchObject({
    locale: 'de-DE',
    timeZone: 'Asia/Tokyo',
  });
});

test('a year’s changes of the clock are found to the second', () => {
  const { value } = ask('zone.year', '["Europe/Berlin",2026]');
  expect(value).toEqual([Date.UTC(2026, 0, 1), 3_600_000, Date.UTC(2026, 2, 29, 1), 7_200_000, Date.UTC(2026, 9, 25, 1), 3_600_000]);
  expect(ask('zone.year', '["UTC",2026]').value).toEqual([Date.UTC(2026, 0, 1), 0]);
});

test('random bytes differ and have the asked length', () => {
  const [first, second] = [ask('random', '16').value as string, ask('random', '16').value as string];
  expect(Buffer.from(first, 'base64')).toHaveLength(16);
  expect(first).not.toBe(second);
});
