// The short way to the text of an input says what the long one says, or nothing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSmallInputs } from '../../sandbox-runtime/small-inputs.ts';
import { encodeValue } from '../../src/protocol/values.ts';

const scalar = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 1e-7),
  fc.string({ unit: 'binary', maxLength: 80 }),
);

test('what is written is what the general way writes', () => {
  const small = createSmallInputs();
  let written = 0;
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('id', 'a b', '"', '\ud800', '1')), scalar, { maxKeys: 5 }), (value) => {
      // As programs write them.
      const input = Object.assign({}, value);
      const text = small(input);
      if (text === undefined) return;
      written++;
      expect(text).toBe(encodeValue(input).text);
    }),
    { numRuns: 2_000 },
  );
  expect(written).toBeGreaterThan(200);
});

test('nothing is said of what needs the general way', () => {
  const small = createSmallInputs();
  const own = Object.create(null);
  own.a = 1;
  for (const value of [
    1,
    'text',
    null,
    undefined,
    {},
    [],
    [1],
    { a: [1] },
    { a: -0 },
    { a: Number.NaN },
    { a: 1n },
    { a: undefined },
    { a: 'x'.repeat(65) },
    { a: 1, b: 2, c: 3, d: 4 },
    { toJSON: () => 1 },
    new Date(0),
    own,
    Object.setPrototypeOf([1], Object.prototype),
  ])
    expect(small(value)).toBeUndefined();
  Object.defineProperty(Object.prototype, 'toJSON', { value: () => 'other', configurable: true });
  try {
    expect(small({ a: 1 })).toBeUndefined();
  } finally {
    delete (Object.prototype as { toJSON?: unknown }).toJSON;
  }
});

test('names beyond those that are kept are written all the same', () => {
  const small = createSmallInputs();
  for (let i = 0; i < 300; i++) {
    const input = { [`name${i}`]: i, [`"${'n'.repeat(40)}`]: true };
    expect(small(input)).toBe(JSON.stringify(input));
    expect(small(input)).toBe(JSON.stringify(input));
  }
});

test('an object with a toJSON of its own goes the general way, listed or not', () => {
  const hidden = Object.defineProperty({ a: 1 }, 'toJSON', { value: () => ({ b: 2 }), enumerable: false });
  expect(createSmallInputs()(hidden)).toBeUndefined();
});
