// The scripted engine stands in for a guest in tests of a host: what it says is taken as any guest's word is, which is not at all on trust.
import { expect, onTestFinished, test } from 'vitest';
import { type ScriptedTurn, scriptedWorkers } from '../../src/adapters/testing.ts';
import { createCodeMode, defineTool, type RunResult } from '../../src/index.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: ({ a, b }) => a + b,
});

async function play(turns: readonly ScriptedTurn[]): Promise<{ result: RunResult; entries: readonly string[] }> {
  const workers = scriptedWorkers(turns);
  const codeMode = createCodeMode({ tools: [add], isolation: workers });
  onTestFinished(() => codeMode.close());
  const result = await codeMode.run('return 0;');
  return { result, entries: workers.engine.entries.map(({ type, text }) => `${type} ${type === 'start' ? '…' : text}`) };
}

test('it plays its turns, and notes what it is given', async () => {
  const { result, entries } = await play(['out log "first"\ncall 1 0 P {"a":1,"b":2}', 'done P 3']);
  expect(result).toMatchObject({ status: 'completed', value: 3, output: 'first', calls: [{ name: 'add', status: 'ok' }] });
  expect(entries).toEqual(['start …', 'post [[1,0,3]]']);
});

test('a host says of its own workers that they are that', async () => {
  const { result } = await play(['done P 1']);
  expect(result.isolation).toEqual({
    engine: 'own',
    kind: 'own',
    sandbox: 'none',
    systemLimits: [],
    notes: ["The application's own workers: scripted."],
  });
});

test.each([
  ['repeats the id of a call', ['call 1 0 P {"a":1,"b":2}\ncall 1 0 P {"a":1,"b":2}'], 'fault'],
  ['says what is no message', ['hello'], 'fault'],
  ['waits for nothing', [''], 'deadlock'],
  ['says that it is out of memory', [{ type: 'dead', kind: 'memory', limit: 'memoryBytes', output: '' }], 'memory'],
] as [string, ScriptedTurn[], string][])('a guest that %s ends as %s', async (_what, turns, kind) => {
  expect((await play(turns)).result.error?.kind).toBe(kind);
});

test('a guest that calls a tool that there is not is told so, and calls nothing', async () => {
  const { result, entries } = await play(['call 1 9 P {}', 'done P 1']);
  expect(entries[1]).toMatch(/^post \[\[1,2,\{.*tool_unknown/);
  expect(result.value).toBe(1);
});

test('what a guest says after its end is not heard', async () => {
  const { result } = await play(['done P 1\ncall 1 0 P {"a":1,"b":2}']);
  expect(result).toMatchObject({ status: 'completed', value: 1, calls: [] });
});

test.each([
  [{ isolation: { name: 'x' } }, /`isolation` of your own should be an object with a name and spawn\(\)/],
  [{ isolation: null }, /`isolation` of your own should be an object/],
  [{ isolation: scriptedWorkers([]), engine: 'quickjs' }, /`isolation` of your own \(scripted\) brings its engine/],
  [{ isolation: scriptedWorkers([]), sandbox: 'os' }, /`isolation: "scripted"` has none/],
])('options that do not fit are refused: %#', (options, message) => {
  expect(() => createCodeMode({ tools: [], ...(options as object) })).toThrow(message);
});
