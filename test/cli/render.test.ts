// How a result reads: for a person, and for a script.
import pc from 'picocolors';
import { expect, test } from 'vitest';
import { renderJson, renderOutput, renderTroubles } from '../../src/cli/render.ts';
import type { RunResult } from '../../src/index.ts';

const plain = pc.createColors(false);

test.each<[string, unknown, string]>([
  ['a string is printed as it is', 'two\nlines', 'two\nlines\n'],
  ['undefined prints nothing', undefined, ''],
  ['null is a value', null, 'null\n'],
  ['plain data is JSON', { a: [1, 'x'] }, '{\n  "a": [\n    1,\n    "x"\n  ]\n}\n'],
  ['a Map with string keys is an object', new Map([['a', 1]]), '{\n  "a": 1\n}\n'],
  ['bytes are base64', new Uint8Array([1, 2, 255]), '"AQL/"\n'],
  ['control characters are escaped', '\u001b[2J', '\\x1b[2J\n'],
  ['control characters are escaped inside data too', ['\u009b'], '[\n  "\\u009b"\n]\n'],
])('%s', (_, value, expected) => {
  expect(renderOutput({ output: '', value })).toBe(expected);
});

test('output comes before the value, each on lines of its own', () => {
  expect(renderOutput({ output: 'one\ntwo', value: 3 })).toBe('one\ntwo\n3\n');
});

test('an error is told with kind, place, frame and hint, and nothing in it reaches the terminal raw', () => {
  const error = {
    kind: 'timeout',
    name: 'TimeoutError',
    message: 'Out of time\u001b[2J.',
    line: 2,
    column: 5,
    frame: '> 2 | for (;;)\u009b;',
    hint: 'Wait less.',
  };
  const text = renderTroubles(
    { warnings: [], artifacts: [], error: error as RunResult['error'] } as Pick<RunResult, 'warnings' | 'artifacts' | 'error'>,
    plain,
  );
  expect(text).toBe('program failed: timeout: Out of time\\x1b[2J. (line 2, column 5)\n\n> 2 | for (;;)\\x9b;\n\nhint: Wait less.\n');
});

test('the JSON document is one value that reads back, with nothing raw in it', () => {
  const result = {
    status: 'completed',
    value: new Map([['bytes', new Uint8Array([1])]]),
    output: '\u009b\n',
    artifacts: [],
    calls: [],
    warnings: [],
    usage: {},
  };
  const json = renderJson(result as unknown as RunResult);
  expect(json).not.toContain('\u009b');
  expect(JSON.parse(json)).toEqual({ ...result, value: { bytes: 'AQ==' } });
});
