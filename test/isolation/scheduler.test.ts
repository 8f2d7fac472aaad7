import { afterEach, describe, expect, test } from 'vitest';
import { createCodeMode, defineTool } from '../../src/index.ts';
import { job, rest, type ScriptedWorker, scripted } from '../helpers/worker.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** A scheduler whose workers have said that they are ready, one job after another. */
function open(options: Parameters<typeof scripted>[0] = {}): ReturnType<typeof scripted> {
  const setup = scripted(options);
  opened.push({ close: () => setup.scheduler.close() });
  return setup;
}

async function readyWorker(workers: readonly ScriptedWorker[], index = 0): Promise<ScriptedWorker> {
  const worker = workers[index];
  if (worker === undefined) throw new Error(`There is no worker ${index}.`);
  worker.ready();
  await rest();
  return worker;
}

describe('one worker', () => {
  test('is told of a catalog once, before the first program that uses it', async () => {
    const { scheduler, workers } = open();
    const first = job('one');
    scheduler.start(first);
    expect(workers[0]?.heard).toEqual([]);
    const worker = await readyWorker(workers);
    expect(worker.story).toEqual(['catalog', 'start 1 one']);
    expect(worker.heard[0]?.body).toBe('manifest of catalog-1');
    worker.ends(1);
    await rest();
    expect(first.turns.map(({ lines }) => lines)).toEqual(['done P 1']);
    scheduler.start(job('two'));
    await rest();
    expect(worker.story).toEqual(['catalog', 'start 1 one', 'start 2 two']);
  });

  test('forgets the catalog that it has held longest when there are too many, and is told of it again', async () => {
    const { scheduler, workers } = open();
    for (let i = 1; i <= 18; i++) {
      scheduler.start(job('x', {}, `catalog-${i === 18 ? 1 : i}`));
      const worker = i === 1 ? await readyWorker(workers) : (workers[0] as ScriptedWorker);
      await rest();
      worker.ends(i);
      await rest();
    }
    const told = (workers[0] as ScriptedWorker).heard.flatMap(({ envelope }) =>
      envelope.type === 'catalog' || envelope.type === 'forget' ? [`${envelope.type} ${envelope.catalog}`] : [],
    );
    expect(told.slice(16)).toEqual(['catalog catalog-17', 'forget catalog-1', 'catalog catalog-1', 'forget catalog-2']);
  });

  test('runs programs in the order in which they came', async () => {
    const { scheduler, workers } = open();
    for (const name of ['a', 'b', 'c']) scheduler.start(job(name));
    const worker = await readyWorker(workers);
    for (const id of [1, 2, 3]) {
      worker.ends(id);
      await rest();
    }
    expect(worker.story.slice(1)).toEqual(['start 1 a', 'start 2 b', 'start 3 c']);
  });

  test('hands big settlements over in several entries: no text grows past what a guest or an engine can hold', async () => {
    const { scheduler, workers } = open();
    const ticket = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    const big = `"${'x'.repeat(3 * 1024 * 1024)}"`;
    ticket.post([`[1,0,${big}]`, `[2,0,${big}]`, '[3,0,3]']);
    worker.waits(1);
    await rest();
    expect(ticket.ready).toBe(true);
    worker.waits(1);
    await rest();
    expect(ticket.ready).toBe(false);
    const posted = worker.heard
      .filter(({ envelope }) => envelope.type === 'post')
      .map(({ body }) => (JSON.parse(body) as [number][]).map(([id]) => id));
    expect(posted).toEqual([[1], [2, 3]]);
  });

  test('hands settlements that come while a guest computes to its next entry, all at once', async () => {
    const { scheduler, workers } = open();
    const ticket = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    ticket.post(['[1,0,1]']);
    ticket.post(['[2,0,2]', '[3,0,3]']);
    ticket.wake();
    await rest();
    expect(worker.story.slice(1)).toEqual(['start 1 a']);
    worker.waits(1);
    await rest();
    expect(worker.story.slice(2)).toEqual(['post 1 [[1,0,1],[2,0,2],[3,0,3]]']);
    worker.waits(1);
    await rest();
    ticket.wake();
    await rest();
    expect(worker.story.slice(3)).toEqual(['post 1']);
  });

  test('hands over what is answered before the program has been started', async () => {
    const { scheduler, workers } = open();
    const ticket = scheduler.start(job('a'));
    ticket.post(['[1,0,1]']);
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    // What came early is not lost: it waits for the next reason to enter the guest.
    ticket.wake();
    await rest();
    expect(worker.story.slice(1)).toEqual(['start 1 a', 'post 1 [[1,0,1]]']);
  });
});

describe('a program that waits', () => {
  test('stays where it is while nobody else wants the worker', async () => {
    const { scheduler, workers } = open();
    const ticket = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest(20);
    ticket.post(['[1,0,1]']);
    await rest();
    expect(worker.story.slice(1)).toEqual(['start 1 a', 'post 1 [[1,0,1]]']);
  });

  test('is parked when another wants the worker, and is continued there with its image', async () => {
    const { scheduler, workers } = open();
    const a = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    expect(worker.story.slice(2)).toEqual(['park 1']);
    worker.parks(1, 77);
    await rest();
    expect(worker.story.slice(3)).toEqual(['start 2 b']);
    a.post(['[1,0,1]']);
    await rest();
    worker.ends(2);
    await rest();
    const last = worker.heard.at(-1);
    expect(last?.envelope).toMatchObject({ type: 'resume', id: 1, catalog: 'catalog-1', usedMs: 1 });
    expect(last?.body).toBe('[[1,0,1]]');
    expect([...new Uint8Array(last?.image as ArrayBuffer)]).toEqual([77]);
  });

  test('is answered at once when its answer comes before the other has waited long enough', async () => {
    const { scheduler, workers } = open();
    const a = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    scheduler.start(job('b'));
    worker.waits(1);
    await Promise.resolve();
    await Promise.resolve();
    a.post(['[1,0,1]']);
    await rest(10);
    // A sequence of fast calls never parks.
    expect(worker.story.slice(1, 3)).toEqual(['start 1 a', 'post 1 [[1,0,1]]']);
  });

  test('is continued on another worker when that one is free', async () => {
    const { scheduler, workers } = open({ workers: 2 });
    const a = scheduler.start(job('a'));
    const first = await readyWorker(workers, 0);
    first.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    first.parks(1, 5);
    const second = await readyWorker(workers, 1);
    await rest();
    expect(first.story.at(-1)).toBe('start 2 b');
    a.post(['[1,0,1]']);
    await rest();
    expect(second.story).toEqual(['catalog', 'resume 1 [[1,0,1]]']);
  });

  test('goes on when its answer comes while it is being parked', async () => {
    const { scheduler, workers } = open();
    const a = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    a.post(['[1,0,1]']);
    worker.parks(1, 5);
    await rest();
    worker.ends(2);
    await rest();
    expect(worker.story.slice(2)).toEqual(['park 1', 'start 2 b', 'resume 1 [[1,0,1]]']);
  });
});

describe('ending a program', () => {
  test('that is queued takes it out of the queue', async () => {
    const { scheduler, workers } = open();
    scheduler.start(job('a'));
    const gone = job('b');
    scheduler.start(gone).end();
    scheduler.start(job('c'));
    const worker = await readyWorker(workers);
    worker.ends(1);
    await rest();
    expect(worker.story.slice(1)).toEqual(['start 1 a', 'start 3 c']);
    expect([gone.turns, gone.ends]).toEqual([[], []]);
  });

  test('that waits frees its worker', async () => {
    const { scheduler, workers } = open();
    const a = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    a.end();
    a.end();
    scheduler.start(job('b'));
    await rest();
    expect(worker.story.slice(2)).toEqual(['drop 1', 'start 2 b']);
  });

  test('that runs and comes to its own end leaves the worker alive, and nothing is heard of it', async () => {
    const { scheduler, workers } = open();
    const a = job('a');
    const ticket = scheduler.start(a);
    const b = job('b');
    scheduler.start(b);
    const worker = await readyWorker(workers);
    ticket.end();
    ticket.post(['[1,0,1]']);
    worker.waits(1);
    await rest();
    worker.ends(2);
    await rest(80);
    expect(worker.story.slice(1)).toEqual(['start 1 a', 'drop 1', 'start 2 b']);
    expect([a.turns, a.ends, b.turns.length, worker.closed]).toEqual([[], [], 1, false]);
  });

  test('that runs and does not stop takes its worker down, and only that', async () => {
    const { scheduler, workers } = open();
    const a = job('a');
    const ticket = scheduler.start(a);
    const b = job('b');
    scheduler.start(b);
    await readyWorker(workers);
    ticket.end();
    await rest(120);
    expect(workers[0]?.closed).toBe(true);
    const next = await readyWorker(workers, 1);
    next.ends(2);
    await rest();
    expect([a.turns, a.ends]).toEqual([[], []]);
    expect(b.turns).toHaveLength(1);
  });

  test('that is parked forgets its image', async () => {
    const { scheduler, workers } = open();
    const a = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    worker.parks(1, 5);
    await rest();
    a.end();
    a.post(['[1,0,1]']);
    a.wake();
    worker.ends(2);
    await rest();
    expect(worker.story.slice(3)).toEqual(['start 2 b']);
  });

  test('that is just being parked frees its worker for the next', async () => {
    const { scheduler, workers } = open();
    const a = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    a.end();
    worker.parks(1, 5);
    await rest();
    expect(worker.story.slice(2)).toEqual(['park 1', 'start 2 b']);
  });

  test('from inside its own turn is heard', async () => {
    const { scheduler, workers } = open();
    const a = job('a');
    const ticket = scheduler.start({ ...a, onTurn: () => ticket.end() });
    scheduler.start(job('b'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    expect(worker.story.slice(1)).toEqual(['start 1 a', 'drop 1', 'start 2 b']);
  });
});

describe('the watchdog', () => {
  test.each([
    ['its processor time', { cpuMs: 20 }, 'cpuMs'],
    ['its slice', { sliceMs: 20 }, 'sliceMs'],
    ['its life', { deadline: Date.now() - 1 }, 'wallMs'],
  ] as const)(
    'ends a worker that does not answer when the program has used up %s, and exactly that program',
    async (_name, overrides, limit) => {
      const { scheduler, workers } = open();
      const hog = job('hog', overrides);
      const other = job('other');
      scheduler.start(hog);
      scheduler.start(other);
      await readyWorker(workers);
      await rest(400);
      expect(hog.ends).toEqual([{ kind: 'timeout', limit }]);
      expect(workers[0]?.closed).toBe(true);
      const next = await readyWorker(workers, 1);
      next.ends(2);
      await rest();
      expect([other.ends, other.turns.length]).toEqual([[], 1]);
      // What the dead worker may still say is not heard.
      workers[0]?.ends(1);
      await rest();
      expect(hog.turns).toEqual([]);
    },
  );

  test('counts the processor time of earlier turns', async () => {
    const { scheduler, workers } = open();
    const a = job('a', { cpuMs: 1_000 });
    const ticket = scheduler.start(a);
    const worker = await readyWorker(workers);
    worker.say({ type: 'turn', id: 1, cpuMs: 990, peakBytes: 1, fate: 'live' }, 'wake 5');
    await rest();
    ticket.wake();
    await rest(400);
    expect(a.ends).toEqual([{ kind: 'timeout', limit: 'cpuMs' }]);
  });

  test('does not run while a program only waits', async () => {
    const { scheduler, workers } = open();
    const a = job('a', { cpuMs: 10, sliceMs: 10 });
    scheduler.start(a);
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest(400);
    expect([a.ends, worker.closed]).toEqual([[], false]);
  });

  test('is not there for workers that cannot be ended', async () => {
    const { scheduler, workers } = open({ killable: false });
    const a = job('a', { cpuMs: 10, sliceMs: 10 });
    scheduler.start(a);
    const worker = await readyWorker(workers);
    await rest(400);
    worker.ends(1);
    await rest();
    expect([a.ends, a.turns.length]).toEqual([[], 1]);
  });
});

describe('while every worker computes', () => {
  test('one more is started once each has done so for a slice, and ends when there is nothing left to do', async () => {
    const { scheduler, workers } = open({ workers: 1, maxWorkers: 2 });
    scheduler.start(job('a'));
    const first = await readyWorker(workers, 0);
    scheduler.start(job('b'));
    scheduler.start(job('c'));
    expect(workers).toHaveLength(1);
    await rest(60);
    expect(workers).toHaveLength(2);
    const second = await readyWorker(workers, 1);
    expect(second.story.at(-1)).toBe('start 2 b');
    await rest(60);
    // Never more than maxWorkers.
    expect(workers).toHaveLength(2);
    second.ends(2);
    await rest();
    expect(second.story.at(-1)).toBe('start 3 c');
    first.ends(1);
    second.ends(3);
    await rest(1_200);
    expect(workers.filter(({ closed }) => closed)).toHaveLength(1);
    const survivor = workers.find(({ closed }) => !closed) as ScriptedWorker;
    const d = job('d');
    scheduler.start(d);
    await rest();
    survivor.ends(4);
    await rest();
    expect(d.turns).toHaveLength(1);
  });

  test('none is started for programs that wait: their workers are made free', async () => {
    const { scheduler, workers } = open({ workers: 1, maxWorkers: 4 });
    scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(60);
    expect(workers).toHaveLength(1);
  });
});

describe('programs beyond the most at a time', () => {
  test('are let in one by one as others end, in order, whatever way those ended', async () => {
    const { scheduler, workers } = open({ maxPrograms: 2 });
    const jobs = ['a', 'b', 'c', 'd', 'e'].map((name) => job(name));
    const tickets = jobs.map((each) => scheduler.start(each));
    const admitted = (): string => tickets.map((ticket) => (ticket.admitted ? 'x' : '.')).join('');
    expect(admitted()).toBe('xx...');
    const worker = await readyWorker(workers);
    worker.ends(1);
    await rest();
    expect(admitted()).toBe('xxx..');
    tickets[3]?.end();
    expect(admitted()).toBe('xxx..');
    worker.dies();
    expect(jobs[1]?.ends).toHaveLength(1);
    expect(admitted()).toBe('xxx.x');
    const next = await readyWorker(workers, 1);
    next.ends(3);
    await rest();
    expect(next.story.slice(1)).toEqual(['start 3 c', 'start 5 e']);
  });
});

describe('a worker that is lost', () => {
  test('ends the program on it as a fault, with the reason for the host; the others go on elsewhere', async () => {
    const { scheduler, workers } = open();
    const a = job('a');
    const b = job('b');
    scheduler.start(a);
    scheduler.start(b);
    const worker = await readyWorker(workers);
    const reason = new Error('segmentation fault');
    worker.dies(reason);
    expect(a.ends).toEqual([{ kind: 'fault', cause: reason }]);
    const next = await readyWorker(workers, 1);
    expect(next.story).toEqual(['catalog', 'start 2 b']);
  });

  test('of its own memory ends the program as out of memory', async () => {
    const { scheduler, workers } = open();
    const a = job('a');
    scheduler.start(a);
    const worker = await readyWorker(workers);
    worker.dies(Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
    expect(a.ends).toMatchObject([{ kind: 'memory', limit: 'memoryBytes' }]);
  });

  test('while a program waits on it ends that program too', async () => {
    const { scheduler, workers } = open();
    const a = job('a');
    scheduler.start(a);
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    worker.dies();
    expect(a.ends).toMatchObject([{ kind: 'fault' }]);
  });

  test('does not touch programs that are parked', async () => {
    const { scheduler, workers } = open();
    const a = job('a');
    const ticket = scheduler.start(a);
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    worker.parks(1, 9);
    await rest();
    worker.dies();
    const next = await readyWorker(workers, 1);
    ticket.post(['[1,0,1]']);
    await rest();
    expect(next.story).toEqual(['catalog', 'resume 1 [[1,0,1]]']);
    expect(a.ends).toEqual([]);
  });

  test('while it was asked about an error leaves the question without an answer', async () => {
    const { scheduler, workers } = open();
    const answer = scheduler.diagnose('text', { stacks: [], tools: [] });
    const worker = await readyWorker(workers);
    expect(worker.story).toEqual(['diagnose 0 text']);
    worker.dies();
    expect(await answer).toBeUndefined();
  });

  test('before it was ready ends what waits for it, and is not tried again until the next program', async () => {
    const { scheduler, workers } = open({ workers: 4 });
    const a = job('a');
    scheduler.start(a);
    const answer = scheduler.diagnose('text', { stacks: [], tools: [] });
    const reason = new Error('cannot start');
    while (workers.some((worker) => !worker.closed)) {
      const worker = workers.find(({ closed }) => !closed) as ScriptedWorker;
      worker.closed = true;
      worker.dies(reason);
      expect(workers.length).toBeLessThan(10);
    }
    expect(a.ends).toEqual([{ kind: 'fault', cause: reason }]);
    expect(await answer).toBeUndefined();
    const started = workers.length;
    await rest(20);
    expect(workers.length).toBe(started);
    const b = job('b');
    scheduler.start(b);
    (await readyWorker(workers, started)).ends(2);
    await rest();
    expect(b.turns).toHaveLength(1);
  });

  test('before it was ready leaves queued programs to the workers that there are', async () => {
    const { scheduler, workers } = open({ workers: 2 });
    scheduler.start(job('a'));
    const first = await readyWorker(workers, 0);
    const b = job('b');
    scheduler.start(b);
    expect(workers).toHaveLength(2);
    workers[1]?.dies(new Error('no more threads'));
    await rest(20);
    // Trying again at once would only fail again.
    expect(workers).toHaveLength(2);
    first.ends(1);
    await rest();
    expect(first.story.at(-1)).toBe('start 2 b');
    expect(b.ends).toEqual([]);
  });
});

describe('nothing keeps the process alive', () => {
  test('but workers that somebody waits for', async () => {
    const { scheduler, workers } = open();
    const ticket = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    expect(worker.held).toBe(1);
    worker.waits(1);
    await rest();
    // It waits for a tool: the tool is what it depends on, but its own worker must hear the answer.
    expect(worker.held).toBe(1);
    ticket.end();
    expect(worker.held).toBe(-1);
    scheduler.start(job('b'));
    expect(worker.held).toBe(1);
    await rest();
    worker.ends(2);
    await rest();
    expect(worker.held).toBe(-1);
    const answer = scheduler.diagnose('x', { stacks: [], tools: [] });
    expect(worker.held).toBe(1);
    await rest();
    worker.say({ type: 'diagnosis', id: 0, places: [] });
    await answer;
    expect(worker.held).toBe(-1);
  });

  test('and after the last program no timer is left', async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const { scheduler, workers } = open();
    const a = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    worker.parks(1, 1);
    await rest();
    worker.ends(2);
    await rest();
    a.end();
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBeLessThanOrEqual(before);
  });
});

test('a closed scheduler closes its workers, answers questions with nothing and takes no more programs', async () => {
  const { scheduler, workers } = open();
  scheduler.start(job('a'));
  await readyWorker(workers);
  const asked = scheduler.diagnose('x', { stacks: [], tools: [] });
  await scheduler.close();
  await scheduler.close();
  expect(await asked).toBeUndefined();
  expect(workers.every(({ closed }) => closed)).toBe(true);
  expect(() => scheduler.start(job('b'))).toThrow(/closed/);
});

describe('real threads', () => {
  const sleep = defineTool({
    name: 'rest',
    description: 'Waits.',
    inputSchema: { type: 'object', properties: { ms: { type: 'number' }, n: { type: 'number' } }, required: ['ms', 'n'] },
    execute: ({ ms, n }) => new Promise((resolve) => setTimeout(resolve, ms, n)),
  });

  test('forty programs that wait share two workers and all get their own answers', async () => {
    const codeMode = createCodeMode({ tools: sleep });
    opened.push(codeMode);
    await codeMode.run('return 1');
    const delays = Array.from({ length: 40 }, (_, i) => 50 + ((i * 37) % 150));
    const serialMs = delays.reduce((sum, ms) => sum + 3 * ms, 0);
    const began = performance.now();
    const results = await Promise.all(
      delays.map((ms, n) =>
        codeMode.run(`
          const mine = Array.from({ length: 100 }, (_, i) => ${n} * 1000 + i);
          const a = await tools.rest({ ms: ${ms}, n: ${n} });
          await new Promise((resolve) => setTimeout(resolve, ${ms}));
          const b = await tools.rest({ ms: ${ms}, n: 1 });
          return [a, b, mine.reduce((sum, x) => sum + x, 0)];`),
      ),
    );
    const took = performance.now() - began;
    expect(results.map(({ value }) => value)).toEqual(delays.map((_, n) => [n, 1, n * 100_000 + 4950]));
    expect(took).toBeLessThan(serialMs / 4);
  });

  test('a program that takes its worker down leaves its waiting neighbours their memory', async () => {
    const codeMode = createCodeMode({ tools: sleep });
    opened.push(codeMode);
    const waiting = Array.from({ length: 6 }, (_, n) =>
      codeMode.run(
        `const held = new Map([[${n}, 'x'.repeat(1000) + ${n}]]); for (let i = 0; i < 8; i++) await tools.rest({ ms: 60, n: i }); return held.get(${n}).slice(-3);`,
      ),
    );
    await rest(50);
    // Each of these sits in a built-in that no clock reaches, or loops.
    const hogs = await Promise.all(
      ["/^(a+)+$/.test('a'.repeat(40) + 'b')", 'for (;;);', 'const a = new Array(1e5).fill(1); for (;;) a.sort(() => 1);'].map((source) =>
        codeMode.run(source, { limits: { cpuMs: 200 } }),
      ),
    );
    expect(hogs.map(({ error }) => error?.kind)).toEqual(['timeout', 'timeout', 'timeout']);
    expect((await Promise.all(waiting)).map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5].map((n) => `xx${n}`));
  });
});

describe('programs that compute', () => {
  test('bring in another worker once each has computed for a slice, and it goes again when there is nothing to do', async () => {
    const { scheduler, workers } = open({ workers: 1, maxWorkers: 2 });
    scheduler.start(job('hog'));
    const worker = await readyWorker(workers);
    scheduler.start(job('other'));
    await rest();
    expect(workers).toHaveLength(1);
    await rest(60);
    expect(workers).toHaveLength(2);
    const extra = await readyWorker(workers, 1);
    expect(extra.story).toEqual(['catalog', 'start 2 other']);
    extra.ends(2);
    worker.ends(1);
    await rest(1_500);
    expect(workers.filter(({ closed }) => closed)).toHaveLength(1);
    expect(workers).toHaveLength(2);
  });

  test('bring in none beyond the most, nor while one waits that may be parked', async () => {
    const { scheduler, workers } = open({ workers: 1, maxWorkers: 1 });
    scheduler.start(job('hog'));
    await readyWorker(workers);
    scheduler.start(job('other'));
    await rest(60);
    expect(workers).toHaveLength(1);
  });
});

describe('more programs than may be there at a time', () => {
  test('wait outside, and come in first come first served', async () => {
    const { scheduler, workers } = open({ maxPrograms: 2 });
    const tickets = ['a', 'b', 'c', 'd'].map((name) => scheduler.start(job(name)));
    expect(tickets.map(({ admitted }) => admitted)).toEqual([true, true, false, false]);
    const worker = await readyWorker(workers);
    worker.ends(1);
    await rest();
    expect(tickets.map(({ admitted }) => admitted)).toEqual([true, true, true, false]);
    tickets[2]?.end();
    await rest();
    expect(tickets[3]?.admitted).toBe(true);
  });

  test('are told so when their time is up before they could start', async () => {
    await using codeMode = createCodeMode({ tools: [], maxPrograms: 1 });
    await codeMode.run('return 1');
    const inside = codeMode.run('await sleep(1_500); return "inside"');
    const outside = await codeMode.run('return "outside"', { limits: { wallMs: 300 } });
    expect(outside).toMatchObject({ status: 'error', error: { kind: 'timeout', message: expect.stringContaining('maxPrograms') } });
    expect((await inside).value).toBe('inside');
  });
});

describe('parked programs', () => {
  test('have a bound together: beyond it a program that waits keeps its worker, until one of them goes on', async () => {
    const { scheduler, workers } = open({ maxParkedBytes: 0 });
    const first = scheduler.start(job('a'));
    const worker = await readyWorker(workers);
    worker.waits(1);
    await rest();
    scheduler.start(job('b'));
    await rest(20);
    expect(worker.story.slice(1)).toEqual(['start 1 a', 'park 1']);
    worker.parks(1, 7);
    await rest();
    worker.waits(2);
    await rest();
    scheduler.start(job('c'));
    await rest(20);
    // One byte is parked, and none may be: the second program stays where it is.
    expect(worker.story.slice(3)).toEqual(['start 2 b']);
    first.end();
    scheduler.start(job('d'));
    await rest(20);
    expect(worker.story.slice(4)).toEqual(['park 2']);
  });
});

test('a worker of another build is not used: images would not fit it', async () => {
  const { scheduler, workers } = open({ workers: 2 });
  scheduler.start(job('a'));
  const worker = await readyWorker(workers);
  scheduler.start(job('b'));
  await rest();
  const stranger = workers[1] as ScriptedWorker;
  stranger.say({ type: 'ready', build: 'another', parks: true });
  await rest();
  expect(stranger.closed).toBe(true);
  expect(stranger.story).toEqual([]);
  worker.ends(1);
  await rest();
  expect(worker.story.slice(1)).toEqual(['start 1 a', 'start 2 b']);
});
