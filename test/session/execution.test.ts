// One execution against a guest that a test plays by hand: what an intact guest runtime never says must not harm the host.

import { afterEach, describe, expect, test } from 'vitest';
import { Reporter } from '../../src/broker/report.ts';
import { type CodeModeEvent, defineTool, type RunResult, type Tool } from '../../src/index.ts';
import { type LimitOverrides, resolveLimits } from '../../src/protocol/limits.ts';
import { execute } from '../../src/session/execution.ts';
import { createRun } from '../../src/tools/binding.ts';
import { createCatalog } from '../../src/tools/catalog.ts';
import { collectStatic } from '../../src/tools/provider.ts';
import { gate } from '../helpers/broker.ts';
import { shelfOf } from '../helpers/shelf.ts';
import { rest, type ScriptedWorker, scripted } from '../helpers/worker.ts';

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
process.on('unhandledRejection', onUnhandled);
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  await rest(5);
  expect(unhandled.splice(0)).toEqual([]);
});

interface Played {
  readonly result: Promise<RunResult>;
  readonly worker: ScriptedWorker;
  readonly events: readonly CodeModeEvent[];
  readonly inputs: readonly unknown[];
}

/** A program has been started in the worker; what it says is up to the test. */
async function play(limits: LimitOverrides = {}, more: readonly Tool[] = []): Promise<Played> {
  const { scheduler, workers } = scripted();
  opened.push(scheduler);
  const inputs: unknown[] = [];
  const echo = defineTool({
    name: 'echo',
    description: 'Echo.',
    inputSchema: {},
    execute: (input) => {
      inputs.push(input);
      return input;
    },
  });
  const catalog = createCatalog(collectStatic([echo, ...more]).tools);
  const events: CodeModeEvent[] = [];
  const { result } = execute({
    id: 'execution-1',
    source: 'the text',
    catalog,
    guest: { id: catalog.id, manifest: catalog.manifest },
    run: createRun({ id: 'run-1' }),
    limits: resolveLimits(limits),
    shelf: shelfOf(),
    scheduler,
    functions: new Map(),
    reporter: new Reporter({ observers: [{ on: (event) => events.push(event) }] }),
    timeZone: 'UTC',
    locale: 'en-US',
    lifetime: 'wallMs',
  });
  const worker = workers[0] as ScriptedWorker;
  worker.ready();
  await rest();
  return { result, worker, events, inputs };
}

describe('a guest that breaks the rules of the conversation', () => {
  test.each([
    ['uses the id of a call twice', 'call 1 0 P 1\ncall 1 0 P 2'],
    ['says a word that there is not', 'grant secret'],
    ['writes a number that is none', 'call x 0 P 1'],
    ['writes to an output that there is not', 'out root "x"'],
    ['sends an error that is none', 'fail {"kind":"fault"}'],
    ['sends an empty line', 'call 1 0 P 1\n\ncall 2 0 P 1'],
  ])('ends as a fault when it %s; the reason is for the application alone', async (_how, lines) => {
    const { result, worker, events } = await play();
    worker.waits(1, lines);
    const { status, error } = await result;
    expect([status, error?.kind]).toEqual(['error', 'fault']);
    expect(error?.message).toMatch(/^The sandbox broke/);
    const end = events.find(({ type }) => type === 'execution-end') as { error?: Error };
    expect(end.error?.name).toBe('GuestProtocolError');
  });

  test.each([
    ['a value that is no JSON', 'done P {'],
    ['a value with a tag that there is not', 'done T {"$":"Nope"}'],
  ])('ends as a fault when it completes with %s', async (_what, lines) => {
    const { result, worker } = await play();
    worker.ends(1, lines);
    expect((await result).error?.kind).toBe('fault');
  });

  test('does not deepen the stack of the host: a value too deep is refused', async () => {
    const { result, worker } = await play();
    worker.ends(1, `done P ${'['.repeat(100_000)}`);
    expect((await result).error).toMatchObject({ kind: 'unserializable' });
  });

  test('is bounded by the host all the same: value, output, arguments and calls', async () => {
    const first = await play({ valueBytes: 100 });
    first.worker.ends(1, `done P "${'x'.repeat(200)}"`);
    expect((await first.result).error).toMatchObject({ kind: 'limit', message: expect.stringContaining('`valueBytes`') });

    const second = await play({ outputBytes: 100 });
    second.worker.ends(1, `${'out log "0123456789"\n'.repeat(50)}done P 1`);
    expect((await second.result).output.length).toBeLessThanOrEqual(100);

    const third = await play({ argumentBytes: 100 });
    third.worker.waits(1, `call 1 0 P "${'x'.repeat(200)}"`);
    await rest(5);
    expect(third.worker.story.at(-1)).toMatch(/post 1 \[\[1,2,\{.*"code":"limit_exceeded"/);
    expect(third.inputs).toEqual([]);
    third.worker.ends(1);
    await third.result;

    const fourth = await play({ calls: 3 });
    fourth.worker.waits(1, Array.from({ length: 50 }, (_, i) => `call ${i + 1} 0 P 1`).join('\n'));
    expect((await fourth.result).error).toMatchObject({ kind: 'limit' });
    expect(fourth.inputs.length).toBeLessThanOrEqual(3);
  });

  test('gets an answer, not a tool, for an index that is not in its catalog', async () => {
    const { result, worker, inputs } = await play();
    worker.waits(1, 'call 1 1 P {}\ncall 2 999999999999999 P {}');
    await rest(5);
    expect(worker.story.at(-1)).toMatch(/\[1,2,\{.*"code":"tool_unknown".*\[2,2,\{.*"code":"tool_unknown"/);
    worker.ends(1);
    expect((await result).calls.map(({ status }) => status)).toEqual(['refused', 'refused']);
    expect(inputs).toEqual([]);
  });

  test('says nothing that counts after its end', async () => {
    const { result, worker, inputs } = await play();
    worker.ends(1, 'done P 1\ncall 1 0 P {}\nout log "late"');
    expect(await result).toMatchObject({ status: 'completed', value: 1, output: '', calls: [] });
    expect(inputs).toEqual([]);
  });
});

test('calls of one turn that are answered together go back together', async () => {
  const { result, worker } = await play();
  worker.waits(1, 'call 1 0 P 1\ncall 2 0 P 2\ncall 3 0 T {"$":"-0"}');
  await rest(5);
  expect(worker.story.at(-1)).toBe('post 1 [[1,0,1],[2,0,2],[3,1,"{\\"$\\":\\"-0\\"}"]]');
  worker.ends(1);
  await result;
});

test('a worker that dies ends the program as a fault, and the reason is for the application alone', async () => {
  const { result, worker, events } = await play();
  worker.dies(new Error('/host/path broke'));
  const { error } = await result;
  expect(error).toMatchObject({ kind: 'fault', message: expect.stringContaining('may be run again') });
  expect(JSON.stringify(error)).not.toContain('/host/path');
  expect((events.at(-1) as { error?: Error }).error?.message).toBe('/host/path broke');
});

test('a guest whose last answer comes while it computes is not a deadlock: it has not seen that answer', async () => {
  const slow = gate<string>();
  const { result, worker } = await play({}, [
    defineTool({ name: 'slow', description: 'Slow.', inputSchema: {}, execute: () => slow.promise }),
  ]);
  worker.waits(1, 'call 1 0 P 1\ncall 2 1 P 2');
  await rest(5);
  expect(worker.story.at(-1)).toBe('post 1 [[1,0,1]]');
  slow.open('late');
  await rest(5);
  // The answer waits for the guest's turn to end, and the turn says that the guest waits, for exactly that.
  expect(worker.story.at(-1)).toBe('post 1 [[1,0,1]]');
  worker.waits(1, '');
  await rest(5);
  expect(worker.story.at(-1)).toBe('post 1 [[2,0,"late"]]');
  worker.ends(1);
  expect((await result).status).toBe('completed');
});

test('a guest that waits for nothing is a deadlock, one that waits for a timer is woken', async () => {
  const waiting = await play();
  waiting.worker.waits(1, 'wake 20');
  await rest(60);
  expect(waiting.worker.story.at(-1)).toBe('post 1');
  waiting.worker.waits(1, '');
  expect((await waiting.result).error?.kind).toBe('deadlock');
});

test('a key that is overwritten for ever takes the room of one value, and more than `storeBytes` ends as a fault', async () => {
  const once = await play({ storeBytes: 100 });
  const line = `store "k" P "${'x'.repeat(80)}"`;
  once.worker.ends(1, `${Array(1000).fill(line).join('\n')}\ndone P 1`);
  expect(await once.result).toMatchObject({ status: 'completed' });
  const twice = await play({ storeBytes: 100 });
  twice.worker.waits(1, `${line}\n${line.replace('"k"', '"l"')}`);
  expect(await twice.result).toMatchObject({ error: { kind: 'fault' } });
});

test('a very long turn is heard in pieces, and nothing is posted before its end', async () => {
  const { result, worker, inputs } = await play({ outputBytes: 10_000_000 });
  const lines = ['call 1 0 P 1', ...Array(200_000).fill('out text ""'), 'call 2 0 P 2'].join('\n');
  worker.waits(1, lines);
  let turns = 0;
  while (inputs.length < 2) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
    expect(inputs.length === 2 || worker.story.every((said) => !said.startsWith('post'))).toBe(true);
  }
  expect(turns).toBeGreaterThan(1);
  await rest(5);
  // The second answer may come a moment later than the first.
  expect(worker.story.at(-1)).toMatch(/^post 1 \[\[1,0,1\]/);
  worker.ends(1);
  expect(await result).toMatchObject({ status: 'completed' });
});
