// Workers whose engine has no images: a program stays where it is while it waits, so that others need workers of their own.
import { describe, expect, test } from 'vitest';
import { job, rest, scripted } from '../helpers/worker.ts';

describe('a worker that does not park', () => {
  test('is left to a program that waits; the next one gets another', async () => {
    const { scheduler, workers } = scripted({ workers: 1, maxWorkers: 3 });
    scheduler.start(job('a'));
    workers[0]!.ready(false);
    await rest();
    workers[0]!.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    // The spare that was started when the first one was taken.
    workers[1]!.ready(false);
    await rest();
    expect(workers[0]!.story).toEqual(['catalog', 'start 1 a']);
    expect(workers[1]!.story).toEqual(['catalog', 'start 2 b']);
    await scheduler.close();
  });

  test('has a warm spare beside it, up to the most that there may be', async () => {
    const { scheduler, workers } = scripted({ workers: 1, maxWorkers: 2 });
    scheduler.start(job('a'));
    workers[0]!.ready(false);
    await rest();
    expect(workers).toHaveLength(2);
    workers[1]!.ready(false);
    scheduler.start(job('b'));
    await rest();
    expect(workers[1]!.story).toEqual(['catalog', 'start 2 b']);
    expect(workers).toHaveLength(2);
    // The third waits for one of them to end.
    scheduler.start(job('c'));
    workers[0]!.waits(1);
    await rest(20);
    expect(workers).toHaveLength(2);
    workers[1]!.ends(2);
    await rest();
    expect(workers[1]!.story).toEqual(['catalog', 'start 2 b', 'start 3 c']);
    await scheduler.close();
  });

  test('places of errors are told even when every worker is taken', async () => {
    const { scheduler, workers } = scripted({ workers: 1, maxWorkers: 1 });
    scheduler.start(job('a'));
    workers[0]!.ready(false);
    await rest();
    workers[0]!.waits(1);
    await rest();
    const answer = scheduler.diagnose('text', { stacks: [], tools: [] });
    await rest();
    workers[1]!.ready(false);
    await rest();
    workers[1]!.say({ type: 'diagnosis', id: 0, places: [] });
    expect(await answer).toMatchObject({ places: [] });
    expect(workers[0]!.story).toEqual(['catalog', 'start 1 a']);
    await scheduler.close();
  });
});

describe('a worker is replaced', () => {
  test('when its program may yet take it down, before it is given another', async () => {
    const { scheduler, workers } = scripted({ workers: 1 });
    const first = job('a');
    scheduler.start(first);
    workers[0]!.ready();
    await rest();
    scheduler.start(job('b'));
    workers[0]!.say({ type: 'turn', id: 1, cpuMs: 1, peakBytes: 1, fate: 'dead', kind: 'memory', limit: 'memoryBytes', spent: true });
    await rest();
    expect(first.ends).toMatchObject([{ kind: 'memory', limit: 'memoryBytes' }]);
    expect(workers[0]!.closed).toBe(true);
    workers[1]!.ready();
    await rest();
    expect(workers[0]!.story).toEqual(['catalog', 'start 1 a']);
    expect(workers[1]!.story).toEqual(['catalog', 'start 2 b']);
    await scheduler.close();
  });

  test('when its programs have computed for long enough', async () => {
    const { scheduler, workers } = scripted({ workers: 1, retireAfterMs: 10 });
    scheduler.start(job('a'));
    workers[0]!.ready();
    await rest();
    workers[0]!.say({ type: 'turn', id: 1, cpuMs: 11, peakBytes: 1, fate: 'live' }, 'wake 1000');
    await rest();
    // Not while its program waits.
    expect(workers[0]!.closed).toBe(false);
    workers[0]!.ends(1);
    // `ends` answers nothing that was asked: what counts is that the program has come to its end.
    await rest();
    expect(workers[0]!.closed).toBe(true);
    expect(workers).toHaveLength(2);
    await scheduler.close();
  });

  test.each([
    ['what is no envelope', '{"type":"turn"}\n'],
    ['what is no JSON', 'hello'],
    ['a number that is none', '{"type":"turn","id":1,"cpuMs":"1","peakBytes":0,"fate":"live"}\n'],
    ['an error of no known kind', '{"type":"turn","id":1,"cpuMs":1,"peakBytes":0,"fate":"dead","kind":"__proto__"}\n'],
    ['a diagnosis without a text', '{"type":"turn","id":1,"cpuMs":1,"peakBytes":0,"fate":"dead","kind":"syntax","diagnosis":{"name":1}}\n'],
    ['warnings that are no list', '{"type":"turn","id":1,"cpuMs":1,"peakBytes":0,"fate":"live","warnings":{"length":1}}\n'],
  ])('when it says %s: its program ends as a fault, and nobody else notices', async (_, text) => {
    const { scheduler, workers } = scripted({ workers: 1 });
    const first = job('a');
    scheduler.start(first);
    workers[0]!.ready();
    await rest();
    workers[0]!.sayText(text);
    await rest();
    expect(first.ends).toMatchObject([{ kind: 'fault' }]);
    expect(workers[0]!.closed).toBe(true);
    const second = job('b');
    scheduler.start(second);
    workers[1]!.ready();
    await rest();
    workers[1]!.ends(2);
    await rest();
    expect(second.turns).toHaveLength(1);
    await scheduler.close();
  });
});

test('a program whose image is too big to be carried keeps its worker, and goes on there', async () => {
  const { scheduler, workers } = scripted({ workers: 1 });
  const first = job('a');
  const ticket = scheduler.start(first);
  workers[0]!.ready();
  await rest();
  workers[0]!.waits(1);
  await rest();
  scheduler.start(job('b'));
  await rest(20);
  expect(workers[0]!.story).toEqual(['catalog', 'start 1 a', 'park 1']);
  ticket.post(['[1,0,2]']);
  workers[0]!.say({ type: 'parked', id: 1 });
  await rest();
  expect(workers[0]!.story).toEqual(['catalog', 'start 1 a', 'park 1', 'post 1 [[1,0,2]]']);
  workers[0]!.waits(1);
  await rest(20);
  // It is not asked again.
  expect(workers[0]!.story).toHaveLength(4);
  ticket.end();
  await rest();
  expect(workers[0]!.story.at(-1)).toBe('start 2 b');
  await scheduler.close();
});
