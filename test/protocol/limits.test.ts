import { describe, expect, test } from 'vitest';
import { CodeModeError } from '../../src/protocol/errors.ts';
import { LIMITS, type LimitName, type LimitOverrides, resolveLimits } from '../../src/protocol/limits.ts';

const NAMES = Object.keys(LIMITS) as LimitName[];

test('without overrides every limit has its default', () => {
  expect(resolveLimits()).toEqual(Object.fromEntries(NAMES.map((name) => [name, LIMITS[name].default])));
});

test('limits are overridden key by key, and later ones win', () => {
  const limits = resolveLimits({ wallMs: 5, calls: 7 }, undefined, { calls: 8, cpuMs: undefined });
  expect(limits).toEqual({ ...resolveLimits(), wallMs: 5, calls: 8 });
});

describe.each(NAMES)('%s', (name) => {
  const { min, max, unit, stops, default: usual } = LIMITS[name];

  test('has a row that makes sense', () => {
    expect(min).toBeLessThanOrEqual(usual);
    expect(usual).toBeLessThanOrEqual(max);
    expect(stops.length).toBeGreaterThan(10);
    expect(name.toLowerCase()).toMatch(unit === 'bytes' ? /bytes$/ : unit === 'ms' ? /ms$/ : /./);
  });

  test('takes what is in its range, and nothing else', () => {
    expect(resolveLimits({ [name]: min })[name]).toBe(min);
    expect(resolveLimits({ [name]: max })[name]).toBe(max);
    for (const wrong of [min - 1, max + 1, min + 0.5, Number.NaN, Number.POSITIVE_INFINITY, -1, '5', null, 5n, true, {}]) {
      const refused = refusal({ [name]: wrong } as LimitOverrides);
      expect(refused.code).toBe('limit_invalid');
      expect(refused.message).toContain(`The limit \`${name}\` should be a whole number of ${unit} from ${min} to ${max}`);
      expect(refused.details).toEqual({ limit: name, min, max });
    }
  });
});

test.each(['wallMS', 'timeoutMs', '__proto__', 'constructor', 'toString', ''])('there is no limit named %j', (name) => {
  const refused = refusal(JSON.parse(`{${JSON.stringify(name)}:5}`) as LimitOverrides);
  expect(refused.code).toBe('limit_invalid');
  expect(refused.message).toContain(`There is no limit \`${name}\``);
  expect(refused.message).toContain('wallMs');
});

test.each([
  [null, 'null'],
  [[1], 'an array'],
  [5, 'number'],
  ['wallMs', 'string'],
])('limits that are %j are no limits', (wrong, described) => {
  expect(refusal(wrong as unknown as LimitOverrides).message).toContain(`not ${described}`);
});

function refusal(limits: LimitOverrides): CodeModeError {
  try {
    resolveLimits(limits);
  } catch (error) {
    if (CodeModeError.is(error)) return error;
    throw error;
  }
  throw new Error(`These limits were accepted: ${JSON.stringify(limits)}`);
}
