// How `npm run bench:check` judges: what is too much fails, what is missing fails with a sentence, and what holds passes.
import { describe, expect, test } from 'vitest';
import type { Result } from '../../benchmarks/harness/result.ts';
import { QUESTIONS } from '../../benchmarks/questions/questions.ts';
import { RATIOS } from '../../benchmarks/ratios.ts';
import { type Bound, judge } from '../../benchmarks/report/judge.ts';

const RESULT: Result = {
  question: 'calls',
  asks: 'What does it cost?',
  ranAt: '2026-11-30T08:00:00.000Z',
  seconds: 3,
  isSmoke: false,
  machine: { node: 'v24.0.0', platform: 'linux x64', processor: 'some processor', cores: 2, memoryGB: 8 },
  load: { before: 0, others: 0, core: 1, isBusy: false },
  versions: {},
  parts: [
    {
      kind: 'comparison',
      title: 'A call',
      unit: 'µs',
      better: 'less',
      ours: 'callgate',
      rows: [
        { subject: 'callgate', rounds: [10, 30, 20] },
        { subject: 'run', rounds: [100, 60, 100] },
      ],
    },
    {
      kind: 'curve',
      title: 'By tools',
      unit: 'µs',
      sizeOf: 'tools',
      lines: [
        { subject: 'callgate', points: [0, 500].map((size) => ({ size, rounds: [100 + size] })) },
        { subject: 'run', points: [{ size: 0, rounds: [1_000] }] },
      ],
    },
  ],
  absent: [{ subject: 'isolated-vm', part: 'A call', reason: 'It does not load.' }],
  aims: [
    { what: 'patterns that fail', value: 0, atMost: 0 },
    { what: 'a figure that could not be had', value: null as unknown as number, atMost: 1 },
  ],
  notes: [],
};

const base = { question: 'calls', reason: 'Because.' };
const call: Bound = { ...base, part: 'A call', of: 'callgate', to: 'run', atMost: 0.5 };
const growth: Bound = { ...base, part: 'By tools', of: 'callgate', from: 0, size: 500, atMost: 6 };

describe('what holds', () => {
  test.each<[string, Bound, number]>([
    ['a ratio, by the median of its rounds', call, 0.2],
    ['a ratio that is just at its bound', { ...call, atMost: 0.2 }, 0.2],
    ['a ratio that must be large', { ...base, part: 'A call', of: 'run', to: 'callgate', atLeast: 4 }, 5],
    ['the growth along a curve', growth, 6],
    ['a ratio at one size of a curve', { ...base, part: 'By tools', of: 'callgate', to: 'run', size: 0, atMost: 1 }, 0.1],
    ['an aim', { ...base, aim: 'patterns that fail', atMost: 0 }, 0],
  ])('%s', (_, bound, value) => {
    expect(judge(bound, RESULT)).toMatchObject({ value, holds: true });
  });
});

describe('what fails', () => {
  test.each<[string, Bound, number]>([
    ['a ratio above its bound', { ...call, atMost: 0.19 }, 0.2],
    ['a ratio below its bound', { ...base, part: 'A call', of: 'callgate', to: 'run', atLeast: 0.3 }, 0.2],
    ['growth above its bound', { ...growth, atMost: 5.9 }, 6],
    ['a bound without a number', { ...base, part: 'A call', of: 'callgate', to: 'run' }, 0.2],
    ['an aim whose figure could not be had', { ...base, aim: 'a figure that could not be had', atMost: 1 }, Number.NaN],
  ])('%s', (_, bound, value) => {
    expect(judge(bound, RESULT)).toMatchObject({ value, holds: false });
  });

  test.each<[string, Bound, string]>([
    ['a part', { ...call, part: 'Another' }, 'The question calls has no part "Another".'],
    ['a subject', { ...call, to: 'nobody' }, 'The part "A call" has no figures of "nobody".'],
    ['a subject that is absent', { ...call, to: 'isolated-vm' }, 'It is absent: It does not load.'],
    ['a size', { ...growth, size: 1_000 }, 'The part "By tools" has no figures of "callgate" for 1000.'],
    ['a curve', { ...growth, part: 'A call' }, 'The part "A call" is no curve.'],
    ['an aim', { ...base, aim: 'none', atMost: 1 }, 'The question calls has no aim "none".'],
  ])('%s that is missing', (_, bound, sentence) => {
    const verdict = judge(bound, RESULT);
    expect(verdict).toMatchObject({ value: undefined, holds: false });
    expect(verdict.missing).toContain(sentence);
  });

  test('a question without results', () => {
    expect(judge(call, undefined)).toMatchObject({ holds: false, missing: 'The question calls has no results.' });
  });
});

test('each ratio that must hold is of a question that there is, is bounded, and has a reason', () => {
  expect(RATIOS.length).toBeGreaterThan(5);
  for (const { question, atMost, atLeast, reason } of RATIOS) {
    expect(QUESTIONS).toContain(question);
    expect(atMost ?? atLeast).toBeTypeOf('number');
    expect(reason).toMatch(/\.$/);
  }
});
