// What is made of the benchmarks' results: the committed page and section are what the results give, statistics are right, and what is missing is
// told. Nothing is measured or drawn here, so that it needs none of the packages of benchmarks/.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { type Comparison, type Curve, type Part, type Result, ratios, spread } from '../../benchmarks/harness/result.ts';
import { amount, digits, sizeText } from '../../benchmarks/report/figures.ts';
import { hottest } from '../../benchmarks/report/flame.ts';
import { dearness, headlinesOf } from '../../benchmarks/report/headlines.ts';
import { apart } from '../../benchmarks/report/labels.ts';
import { type Report, reportMarkdown } from '../../benchmarks/report/markdown.ts';
import { OVERVIEW, plotFile } from '../../benchmarks/report/plan.ts';
import { readResult, readResults } from '../../benchmarks/report/results.ts';
import { sectionMarkdown, withSection } from '../../benchmarks/report/section.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const START: Comparison = {
  kind: 'comparison',
  title: 'A start',
  unit: 'µs',
  better: 'less',
  ours: 'callgate',
  floor: 'an empty message',
  rows: [
    { subject: 'callgate', rounds: [100, 200, 400] },
    { subject: 'run', rounds: [1_000, 1_000, 8_000] },
    { subject: 'an empty message', rounds: [50, 50, 50] },
  ],
};
const THROUGHPUT: Comparison = { ...START, title: 'Programs', unit: 'per second', better: 'more' };
const CURVE: Curve = {
  kind: 'curve',
  title: 'By size',
  unit: 'ms',
  sizeOf: 'bytes',
  lines: [{ subject: 'callgate', points: [1_024, 1 << 20].map((size) => ({ size, rounds: [size / 1_024] })) }],
};

function resultOf(question: string, parts: readonly Part[] = [START], more: Partial<Result> = {}): Result {
  return {
    question,
    asks: 'What does it cost?',
    ranAt: '2026-11-30T08:00:00.000Z',
    seconds: 3,
    isSmoke: false,
    machine: { node: 'v24.0.0', platform: 'linux x64', processor: 'some processor', cores: 2, memoryGB: 8 },
    load: { before: 0, others: 0, core: 1, isBusy: false },
    versions: { callgate: '0.1.0', run: '2.1.5' },
    parts,
    absent: [],
    aims: [],
    notes: [],
    ...more,
  };
}

function reportOf(results: readonly Result[]): Report {
  const systems = [
    { name: 'callgate', where: 'a thread' },
    { name: 'run', where: 'another thread' },
  ];
  return { results, questions: ['observe', 'search'], systems, notes: { observe: 'What bounds it is told.' } };
}

describe('what is committed', () => {
  test('is what the results give', async () => {
    const { readReport, documents } = await import('../../benchmarks/report/report.ts' as string);
    const made: Record<string, string> = documents(ROOT, readReport(ROOT));
    expect(Object.keys(made)).toEqual(['benchmarks/README.md', 'README.md']);
    for (const [path, text] of Object.entries(made))
      expect(readFileSync(join(ROOT, path), 'utf8'), `${path}: run \`npm run bench:report\``).toBe(text);
  });

  test('has every plot that it links, and no other', () => {
    const linked = [...readFileSync(join(ROOT, 'benchmarks/README.md'), 'utf8').matchAll(/\]\(plots\/([^)]+)\)/g)].map(([, file]) => file);
    expect(linked).toContain(OVERVIEW);
    expect(readdirSync(join(ROOT, 'benchmarks/plots')).sort()).toEqual([...new Set(linked)].sort());
  });

  test('has every headline that is listed for its questions', () => {
    expect(headlinesOf(readResults(join(ROOT, 'benchmarks/results'))).missing).toEqual([]);
  });
});

describe('statistics', () => {
  test('percentiles lie between figures', () => {
    expect(spread([40, 10, 30, 20, 50])).toEqual({ median: 30, p10: 14, p90: 46, least: 10 });
    expect(spread([7])).toEqual({ median: 7, p10: 7, p90: 7, least: 7 });
  });

  test('ratios are taken round by round, before their median', () => {
    const [ours, run] = START.rows as [Comparison['rows'][0], Comparison['rows'][0]];
    expect(ratios(run, ours)).toEqual([10, 5, 20]);
    expect(dearness(START, 'run', 'callgate').median).toBe(10);
    // Of the medians it would be 5.
    expect(spread(run.rounds).median / spread(ours.rounds).median).toBe(5);
  });

  test('where more is better, who does less is dearer', () => {
    expect(dearness(THROUGHPUT, 'run', 'callgate').median).toBe(0.1);
    expect(dearness({ ...THROUGHPUT, rows: [...THROUGHPUT.rows].reverse() }, 'callgate', 'run').median).toBe(10);
  });

  test('figures have about three digits and the unit that fits', () => {
    expect([0.02345, 1.5, 173.4, 3_262, 12_436].map(digits)).toEqual(['0.0234', '1.5', '173', '3\u00a0262', '12\u00a0400']);
    expect([amount(3_262, 'µs'), amount(999.9, 'ms'), amount(0.4, 'KB'), amount(26_100, 'KB'), amount(0, 'ms')]).toEqual([
      '3.26\u00a0ms',
      '1\u00a0s',
      '0.4\u00a0KB',
      '26.1\u00a0MB',
      '0',
    ]);
    expect([sizeText(1_024, 'bytes'), sizeText(16 << 20, 'bytes'), sizeText(10_000, 'programs')]).toEqual([
      '1\u00a0KB',
      '16\u00a0MB',
      '10\u00a0000',
    ]);
  });

  test('names at line ends keep their distance, and stay where they have room', () => {
    const placed = apart(
      [10, 12, 14, 100, 190, 199].map((wanted) => ({ wanted })),
      0,
      200,
      17,
    );
    for (const [index, { at }] of placed.entries()) if (index > 0) expect(at - (placed[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(16.9);
    expect(placed.find(({ wanted }) => wanted === 100)?.at).toBe(100);
  });

  test('a profile tells where the time went, idleness aside', () => {
    const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 6 });
    const profile = {
      nodes: [
        { id: 1, callFrame: frame('(root)'), children: [2, 3] },
        { id: 2, callFrame: frame('(idle)') },
        { id: 3, callFrame: frame('work', 'file:///repo/dist/a.js') },
      ],
      samples: [2, 3, 3, 2],
      timeDeltas: [0, 5_000, 1_000, 2_000],
    };
    expect(hottest(profile, '/repo')).toEqual({
      hot: [{ name: 'work', place: 'dist/a.js:7', ms: 3, share: 1 }],
      busyMs: 3,
      idleMs: 5,
    });
  });
});

describe('the page', () => {
  const busy = { before: 0.9, others: 0.5, core: 0.6, isBusy: true };

  test('says what was missed, who was absent and why, and what was not asked', () => {
    const page = reportMarkdown(
      reportOf([
        resultOf('observe', [START], {
          load: busy,
          absent: [{ subject: 'isolated-vm', reason: 'It does not load.' }],
          aims: [
            { what: 'a start, µs', value: 200, atMost: 150 },
            { what: 'a call, µs', value: 30, atMost: 40 },
          ],
          notes: ['Three rounds only.'],
        }),
      ]),
    );
    expect(page).toContain('**The machine was busy with other work** during [observe](#observe)');
    expect(page).toContain('| `isolated-vm` | [observe](#observe) | It does not load. |');
    expect(page).toContain('Without results yet: `search`.');
    expect(page).toContain('1 of 2 are met.');
    expect(page).toContain('| [observe](#observe) | a start, µs | 200 | at most 150 | **missed** |');
    expect(page).toContain('Three rounds only.');
    expect(page).toContain('What bounds it is told.');
    expect(page).toContain('| run | 1\u00a0ms | 1\u00a0ms | 6.6\u00a0ms | 10× [6 to 18] | 20× |');
    expect(page).toContain('| `run` | 2.1.5 | another thread |');
  });

  test('has a headline with the nearness to its floor and each peer', () => {
    expect(reportMarkdown(reportOf([resultOf('observe')]))).toContain(
      '| [observe](#observe): A start | **200\u00a0µs** | 50\u00a0µs (an empty message) | 4× | 10× |',
    );
    expect(sectionMarkdown(reportOf([resultOf('observe')]))).toContain(
      '| [observe](benchmarks/README.md#observe): A start | 200\u00a0µs | 4× an empty message | `run` 10× |',
    );
  });

  test('has headlines of curves, at the largest size that ours and half of all have, and of tables, by their percentages', () => {
    const curve: Curve = {
      kind: 'curve',
      title: 'Resident memory of a waiting program',
      unit: 'KB',
      sizeOf: 'programs',
      lines: [
        { subject: 'callgate', points: [1, 10, 1_000].map((size) => ({ size, rounds: [size] })) },
        { subject: 'run', points: [1, 10, 100].map((size) => ({ size, rounds: [size * 3] })) },
        { subject: 'utcp', points: [{ size: 1, rounds: [2] }] },
      ],
    };
    const table: Part = {
      kind: 'table',
      title: 'Programs that run right, by kind',
      head: ['kind', 'callgate', 'run'],
      rows: [
        ['shape', '5/5, 100 %', '0/5, 0 %'],
        ['all', '8/8, 100 %', '4/8, 50 %'],
      ],
    };
    const { headlines } = headlinesOf([resultOf('density', [curve]), resultOf('first-try', [table])]);
    expect(headlines.map(({ part, ours, others }) => [part.title, ours.median, others.map(({ ratio }) => ratio.median)])).toEqual([
      ['Resident memory of a waiting program: 10 programs', 10, [3]],
      ['Programs that run right', 100, [2]],
    ]);
  });

  test('does not count an aim without a figure as met', () => {
    const aim = { what: 'a call', value: null as unknown as number, atMost: 1 };
    expect(reportMarkdown(reportOf([resultOf('observe', [START], { aims: [aim] })]))).toContain('0 of 1 are met.');
  });

  test('a headline that is listed and not measured is named', () => {
    const { headlines, missing } = headlinesOf([resultOf('start')]);
    expect(headlines).toEqual([]);
    expect(missing[0]).toContain('start: ');
  });

  test('a plot is of what has something to show', () => {
    expect(plotFile('q', START)).toBe('q-a-start.svg');
    expect(plotFile('q', { ...START, rows: START.rows.slice(0, 2) })).toBeUndefined();
    expect(plotFile('q', CURVE)).toBe('q-by-size.svg');
    expect(plotFile('q', { kind: 'table', title: 'T', head: [], rows: [] })).toBeUndefined();
  });

  test('a README without the marks is refused', () => {
    expect(() => withSection('# Nothing', 'x')).toThrow('README.md lacks the marks');
  });
});

describe('results that are not as they should be', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callgate-results-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const written = (value: unknown): string => {
    writeFileSync(join(folder, 'calls.json'), typeof value === 'string' ? value : JSON.stringify(value));
    try {
      return readResult(folder, 'calls').question;
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('a missing file is told with the command that makes it', () => {
    expect(() => readResult(folder, 'start')).toThrow('There are no results of the question start. Run `npm run bench -- start`.');
  });

  test('a good one is read', () => {
    expect(written(resultOf('calls', [START, CURVE]))).toBe('calls');
    expect(readResults(folder).map(({ question }) => question)).toEqual(['calls']);
  });

  test.each<[string, unknown, string]>([
    ['half a file', '{"question": "calls",', 'is not JSON'],
    ['a list', [], 'it is no object'],
    ['another question', resultOf('start'), '`question` is "start", not "calls"'],
    ['a smoke run', { ...resultOf('calls'), isSmoke: true }, 'of a smoke run'],
    ['no load', { ...resultOf('calls'), load: {} }, '`load` lacks a figure'],
    ['no parts', { ...resultOf('calls'), parts: undefined }, '`parts` is no list'],
    [
      'a figure that is none',
      resultOf('calls', [{ ...START, rows: [{ subject: 'callgate', rounds: [Number.NaN] }] }]),
      'the part "A start" has a row',
    ],
    [
      'a row without rounds',
      resultOf('calls', [{ ...START, rows: [{ subject: 'callgate', rounds: [] }] }]),
      'the part "A start" has a row',
    ],
    ['two parts of a name', resultOf('calls', [START, START]), 'two parts have the title "A start"'],
    ['a part of no kind', resultOf('calls', [{ ...START, kind: 'pie' } as unknown as Part]), 'is of no known kind'],
    ['an aim without a bound', resultOf('calls', [], { aims: [{ what: 'x', value: 1 }] }), '`aims` has one'],
  ])('%s', (_, value, sentence) => {
    expect(written(value)).toContain(sentence);
    expect(written(value)).toContain('results/calls.json');
  });

  test('a file of no question is told', () => {
    written(resultOf('calls'));
    writeFileSync(join(folder, 'nothing.json'), '{}');
    expect(() => readResults(folder)).toThrow('results/nothing.json answers no question');
    rmSync(join(folder, 'nothing.json'));
  });
});
