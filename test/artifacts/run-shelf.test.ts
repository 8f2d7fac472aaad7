// What a run keeps: batches that are whole or not there, budgets that are given back, artifacts that are handed over once.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Artifact, artifact, type DeferredArtifact, deferredArtifact } from '../../src/artifacts/artifact.ts';
import { describeKept, type KeptFile } from '../../src/artifacts/kept.ts';
import type { Batch, ResolveArtifact, RunShelf } from '../../src/artifacts/run-shelf.ts';
import { CodeModeError } from '../../src/protocol/errors.ts';
import { type LimitOverrides, resolveLimits } from '../../src/protocol/limits.ts';
import { countedStore, shelfOf } from '../helpers/shelf.ts';

const file = (data: string, name = `${data}.txt`): Artifact => artifact({ data, mediaType: 'text/plain', name });

function keep(
  shelf: RunShelf,
  artifacts: readonly Artifact[],
  limits: LimitOverrides = {},
  order = 1,
  signal = new AbortController().signal,
): Promise<Batch> {
  return shelf.keep(artifacts, { callId: `e:${order}`, tool: 'x', signal, order, executionId: 'e', limits: resolveLimits(limits) });
}

function save(shelf: RunShelf, text: string, limits: LimitOverrides = {}): Promise<KeptFile> {
  const scope = { limits: resolveLimits(limits), executionId: 'e', order: 1, origin: { type: 'program' } } as const;
  return shelf.save({ data: new TextEncoder().encode(text), mediaType: 'text/plain' }, scope);
}

describe('keeping', () => {
  test('gives ids, bytes and facts, and prints none of the contents', async () => {
    const shelf = shelfOf();
    const made = artifact({ data: 'secret', mediaType: 'text/plain', name: 'a.txt', metadata: { secret: 1 } });
    const { artifacts, warning } = await keep(shelf, [made]);
    expect(warning).toBeUndefined();
    const [kept] = artifacts as [KeptFile];
    expect(kept).toMatchObject({
      id: 'artifact-1',
      kind: 'stored',
      bytes: 6,
      name: 'a.txt',
      metadata: { secret: 1 },
      origin: { tool: 'x', callId: 'e:1' },
    });
    expect(await kept.text()).toBe('secret');
    expect(new TextDecoder().decode(await kept.read({ start: 1, end: 3 }))).toBe('ec');
    expect(`${JSON.stringify({ ...kept, kept })} ${kept}`).not.toContain('secret');
    expect(describeKept(kept)).toEqual({
      id: 'artifact-1',
      name: 'a.txt',
      mediaType: 'text/plain',
      bytes: 6,
      from: { tool: 'x', callId: 'e:1' },
    });
    expect(shelf.get('artifact-1')).toBe(kept);
  });

  test('the same bytes with the same facts are one artifact, charged and handed over once', async () => {
    const store = countedStore();
    const shelf = shelfOf({ store });
    const first = await keep(shelf, [file('a'), file('a')]);
    const again = await keep(shelf, [file('a')]);
    const other = await keep(shelf, [artifact({ data: 'a', mediaType: 'text/plain', name: 'a.txt', metadata: { v: 2 } })]);
    expect(new Set([...first.artifacts, ...again.artifacts]).size).toBe(1);
    expect(other.artifacts[0]?.id).toBe('artifact-2');
    expect(shelf.take()).toHaveLength(2);
    expect([...store.holders.values()]).toEqual([1, 1]);
    // Two files of one byte: one byte and one file are left of this.
    const limits = { artifactRunFiles: 3, artifactRunBytes: 3 };
    expect((await keep(shelf, [file('b')], limits)).warning).toBeUndefined();
    expect((await keep(shelf, [file('c')], limits)).warning).toMatch(/artifactRunFiles/);
  });

  test('the same file from two calls at the same time is one artifact', async () => {
    const store = countedStore();
    const shelf = shelfOf({ store });
    const [one, two] = await Promise.all([keep(shelf, [file('a')]), keep(shelf, [file('a')], {}, 2)]);
    expect(one.artifacts[0]).toBe(two.artifacts[0]);
    expect(shelf.take()).toHaveLength(1);
    expect([...store.holders.values()]).toEqual([1]);
  });

  test('what was taken is never given again, and comes in the order of the calls', async () => {
    const shelf = shelfOf();
    await keep(shelf, [file('late')], {}, 3);
    await keep(shelf, [file('early')], {}, 2);
    expect(shelf.take().map(({ name }) => name)).toEqual(['early.txt', 'late.txt']);
    expect(shelf.take()).toEqual([]);
    await keep(shelf, [file('next')], {}, 1);
    expect(shelf.take().map(({ name }) => name)).toEqual(['next.txt']);
  });

  test('what was handed over outlives the run; what nobody has got does not', async () => {
    const store = countedStore();
    const shelf = shelfOf({ store });
    await keep(shelf, [file('a')]);
    const [taken] = shelf.take() as [KeptFile];
    await keep(shelf, [file('b')]);
    await shelf.close();
    expect(await taken.text()).toBe('a');
    expect(store.holders.size).toBe(1);
    await taken.release();
    await taken.release();
    expect(store.holders.size).toBe(0);
    await expect(taken.read()).rejects.toMatchObject({ code: 'store_failed' });
  });

  test('a released file is off the shelf, and its room is free', async () => {
    const shelf = shelfOf();
    const limits = { artifactRunBytes: 2 };
    const kept = await save(shelf, 'ab', limits);
    await expect(save(shelf, 'c', limits)).rejects.toMatchObject({ code: 'limit_exceeded' });
    await kept.release();
    expect(shelf.list()).toEqual([]);
    await save(shelf, 'c', limits);
  });
});

describe('a batch', () => {
  test.each([
    ['artifactBytes', { artifactBytes: 2 }, /b\.txt is 3 bytes.*`artifactBytes` is 2/],
    ['artifactCallFiles', { artifactCallFiles: 1 }, /there are 2.*`artifactCallFiles` is 1/],
    ['artifactCallBytes', { artifactCallBytes: 4 }, /5 bytes.*`artifactCallBytes` is 4/],
    ['artifactRunFiles', { artifactRunFiles: 1 }, /`artifactRunFiles` is 1/],
    ['artifactRunBytes', { artifactRunBytes: 4 }, /`artifactRunBytes` is 4/],
  ])('over %s is not kept at all, costs nothing, and says why', async (_, limits, message) => {
    const told: unknown[] = [];
    const store = countedStore();
    const shelf = shelfOf({ store, tell: (fact) => told.push(fact) });
    const { artifacts, warning } = await keep(
      shelf,
      [file('aa'), artifact({ data: 'bbb', mediaType: 'text/plain', name: 'b.txt' })],
      limits,
    );
    expect(artifacts).toEqual([]);
    expect(warning).toMatch(message);
    expect(warning).toMatch(/^Tool `x` succeeded, but .* do not call it again/);
    expect([store.puts, shelf.list().length, shelf.take().length]).toEqual([0, 0, 0]);
    expect(told).toEqual([]);
    // The whole budget is there.
    const one = { artifactRunFiles: 1, artifactRunBytes: 4 };
    expect((await keep(shelf, [file('aaaa')], one)).warning).toBeUndefined();
  });

  test('exactly at every limit is kept', async () => {
    const limits = { artifactBytes: 2, artifactCallFiles: 2, artifactCallBytes: 4, artifactRunFiles: 2, artifactRunBytes: 4 };
    expect((await keep(shelfOf(), [file('aa'), file('bb')], limits)).artifacts).toHaveLength(2);
  });

  test('that fails half-way leaves nothing behind, and the names that others throw stay hidden', async () => {
    const store = countedStore();
    const shelf = shelfOf({ store });
    store.before = (put) => {
      if (put === 3) throw Object.assign(new Error('/secret/path'), { name: 'DiskError' });
    };
    const { warning } = await keep(shelf, [file('a'), file('b'), file('c')]);
    expect(warning).toMatch(/none of the 3 files.*the store failed \(DiskError\)/);
    expect(warning).not.toContain('secret');
    expect([store.holders.size, shelf.list().length]).toEqual([0, 0]);
    expect((await keep(shelf, [file('a'), file('b')], { artifactRunFiles: 2, artifactRunBytes: 2 })).artifacts).toHaveLength(2);
  });

  test('the sentence of a store is told', async () => {
    const store = countedStore();
    store.before = () => {
      throw new CodeModeError('store_failed', 'The disk is full.');
    };
    const { warning } = await keep(shelfOf({ store }), [file('a')]);
    expect(warning).toContain('the file beside its value could be kept: The disk is full. What');
  });

  test('whose run ends while it is stored is released', async () => {
    const store = countedStore();
    const shelf = shelfOf({ store });
    store.before = () => shelf.close();
    expect((await keep(shelf, [file('a')])).warning).toMatch(/the run has ended/);
    expect(store.holders.size).toBe(0);
  });
});

describe('deferred', () => {
  const later = (reference: string, name?: string): DeferredArtifact =>
    deferredArtifact({ reference, mediaType: 'application/pdf', ...(name !== undefined && { name }) });

  test('without a resolver the caller gets the reference; programs do not', async () => {
    const shelf = shelfOf();
    const { artifacts } = await keep(shelf, [deferredArtifact({ reference: 'secret', mediaType: 'image/png', size: 5 })]);
    expect(artifacts[0]).toMatchObject({ kind: 'deferred', reference: 'secret', bytes: 5 });
    expect(JSON.stringify([artifacts, artifacts.map(describeKept)])).not.toContain('secret');
    expect(() => shelf.file('artifact-1')).toThrow(/kept by another service/);
  });

  test('are asked for once each, one after the other, in order', async () => {
    const asked: unknown[] = [];
    let running = 0;
    const resolve: ResolveArtifact = async ({ reference }, { run, maxBytes, signal }) => {
      asked.push(reference);
      expect([++running, run.id, maxBytes, signal.aborted]).toEqual([1, 'run-1', 100, false]);
      await new Promise((done) => setTimeout(done, 5));
      running--;
      if (reference === 'none') return null;
      if (reference === 'typed') return artifact({ data: '<svg>', mediaType: 'image/svg+xml', name: 'final.svg' });
      return new TextEncoder().encode(`${reference}`);
    };
    const shelf = shelfOf({ resolve });
    const twice = later('one', 'one.pdf');
    const limits = { artifactBytes: 100 };
    const batch = await keep(shelf, [twice, later('none'), later('typed', 'draft.svg')], limits);
    expect(batch.artifacts).toMatchObject([
      { kind: 'stored', name: 'one.pdf', mediaType: 'application/pdf', bytes: 3 },
      { kind: 'deferred', reference: 'none' },
      { kind: 'stored', name: 'final.svg', mediaType: 'image/svg+xml' },
    ]);
    const again = await keep(shelf, [twice], limits);
    expect(again.artifacts[0]).toBe(batch.artifacts[0]);
    expect(asked).toEqual(['one', 'none', 'typed']);
    expect(shelf.take()).toHaveLength(3);
  });

  test('what cannot be fetched takes its batch with it, told by its class, and is not asked for again', async () => {
    let asked = 0;
    const resolve: ResolveArtifact = () => {
      asked++;
      throw new TypeError('secret token');
    };
    const store = countedStore();
    const shelf = shelfOf({ store, resolve });
    const made = later('r');
    const { warning } = await keep(shelf, [file('a'), made]);
    expect(warning).toMatch(/it could not be fetched \(TypeError\)/);
    expect(warning).not.toContain('secret');
    expect((await keep(shelf, [made])).warning).toMatch(/TypeError/);
    expect([asked, store.holders.size, shelf.take().length]).toEqual([1, 0, 0]);
  });

  test.each([
    ['over artifactBytes', { artifactBytes: 3 }, /`artifactBytes`/],
    ['over artifactCallBytes', { artifactCallBytes: 3 }, /`artifactCallBytes`/],
    ['over artifactRunBytes', { artifactRunBytes: 3 }, /`artifactRunBytes`/],
  ])('more than was asked for is refused: %s', async (_, limits, message) => {
    const store = countedStore();
    const shelf = shelfOf({ store, resolve: () => new Uint8Array(4) });
    expect((await keep(shelf, [later('r')], limits)).warning).toMatch(message);
    expect([store.puts, shelf.list().length]).toEqual([0, 0]);
  });

  test('something that is no bytes is refused', async () => {
    const shelf = shelfOf({ resolve: (() => ({ data: 'x' })) as never });
    expect((await keep(shelf, [later('r')])).warning).toMatch(/could not be fetched \(TypeError\)/);
  });

  test('a resolver that does not look at its signal is not waited for, and none is asked after the end', async () => {
    let asked = 0;
    const ending = new AbortController();
    const shelf = shelfOf({
      resolve: () => {
        asked++;
        return new Promise<never>(() => undefined);
      },
    });
    const keeping = keep(shelf, [later('r'), later('s')], {}, 1, ending.signal);
    setImmediate(() => ending.abort());
    expect((await keeping).warning).toMatch(/the program has ended/);
    expect((await keep(shelf, [later('t')], {}, 2, ending.signal)).warning).toMatch(/the program has ended/);
    expect(asked).toBe(1);
  });
});

describe('a file in pieces', () => {
  const limits = resolveLimits({ artifactBytes: 6, artifactRunBytes: 8, artifactRunFiles: 2 });
  const scope = { limits, executionId: 'e', order: 1 };
  const facts = (): { mediaType: string; name: string } & typeof scope => ({ mediaType: 'text/plain', name: 'p.txt', ...scope });
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  test('is charged as it grows and is one file in the end', async () => {
    const shelf = shelfOf();
    shelf.append('e:1', bytes('abc'), facts);
    shelf.append('e:1', bytes('def'), facts);
    const kept = await shelf.finish('e:1', facts);
    expect(await kept.text()).toBe('abcdef');
    await expect(shelf.finish('e:1', facts)).rejects.toThrow(/closed/);
    expect(() => shelf.append('e:1', bytes('g'), facts)).toThrow(/closed/);
    await expect(save(shelf, 'ghi', limits)).rejects.toMatchObject({ code: 'limit_exceeded' });
  });

  test('that grew too big stays refused', async () => {
    const shelf = shelfOf();
    shelf.append('e:1', bytes('abcdef'), facts);
    expect(() => shelf.append('e:1', bytes('g'), facts)).toThrow(/`artifactBytes` is 6/);
    expect(() => shelf.append('e:1', bytes(''), facts)).toThrow(/`artifactBytes` is 6/);
    await expect(shelf.finish('e:1', facts)).rejects.toThrow(/`artifactBytes` is 6/);
    expect(shelf.list()).toEqual([]);
    await save(shelf, 'ghijkl', limits);
  });

  test('that nothing was written to is empty', async () => {
    expect(await (await shelfOf().finish('e:1', facts)).text()).toBe('');
  });

  test('that was never closed is given up with its execution, and costs nothing', async () => {
    const shelf = shelfOf();
    shelf.append('e:1', bytes('abcdef'), facts);
    shelf.append('f:1', bytes('a'), () => ({ ...facts(), executionId: 'f' }));
    expect(shelf.abandon('e')).toEqual(['p.txt']);
    await save(shelf, 'ghijkl', limits);
    expect(shelf.abandon('e')).toEqual([]);
  });

  test('whose facts are wrong when it is closed costs nothing in the end', async () => {
    const shelf = shelfOf();
    shelf.append('e:1', bytes('abcdef'), facts);
    const wrong = (): never => {
      throw new CodeModeError('input_invalid', 'The name is none.');
    };
    await expect(shelf.finish('e:1', wrong)).rejects.toThrow(/name/);
    shelf.abandon('e');
    await save(shelf, 'ghijkl', limits);
  });
});

test('whatever is kept, fails, is taken and released, budget, store and shelf agree', async () => {
  type Step =
    | { type: 'keep'; files: number[]; fails: number }
    | { type: 'save'; file: number }
    | { type: 'release'; which: number }
    | { type: 'take' };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ type: fc.constant('keep' as const), files: fc.array(fc.nat(5), { maxLength: 4 }), fails: fc.nat(8) }),
    fc.record({ type: fc.constant('save' as const), file: fc.nat(5) }),
    fc.record({ type: fc.constant('release' as const), which: fc.nat(5) }),
    fc.record({ type: fc.constant('take' as const) }),
  );
  const limits = { artifactRunFiles: 5, artifactRunBytes: 12, artifactCallFiles: 3 };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 3 }), { maxLength: 8 }), async (rounds) => {
      const store = countedStore();
      const shelf = shelfOf({ store });
      const taken: unknown[] = [];
      let fails = 0;
      store.before = () => {
        if (fails > 0 && --fails === 0) throw new Error('full');
      };
      for (const round of rounds) {
        // The steps of a round run side by side.
        await Promise.all(
          round.map(async (each) => {
            if (each.type === 'keep') {
              fails = each.fails;
              const { artifacts, warning } = await keep(
                shelf,
                each.files.map((n) => file('x'.repeat(n), `${n}`)),
                limits,
              );
              expect(artifacts.length).toBe(warning === undefined ? each.files.length : 0);
            } else if (each.type === 'save') await save(shelf, 'y'.repeat(each.file), limits).catch(() => undefined);
            else if (each.type === 'take') taken.push(...shelf.take());
            else {
              const found = shelf.list()[each.which];
              if (found?.kind === 'stored') await found.release();
            }
          }),
        );
        const files = shelf.list() as readonly KeptFile[];
        expect([...store.holders.values()]).toEqual(files.map(() => 1));
        expect(files.length).toBeLessThanOrEqual(limits.artifactRunFiles);
        expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(limits.artifactRunBytes);
      }
      fails = 0;
      // Exactly what is not used may still be kept.
      const files = shelf.list() as readonly KeptFile[];
      const bytes = limits.artifactRunBytes - files.reduce((sum, kept) => sum + kept.bytes, 0);
      if (files.length < limits.artifactRunFiles) {
        expect((await keep(shelf, [file('z'.repeat(bytes), 'rest')], limits)).warning).toBeUndefined();
        expect((await keep(shelf, [file('z', 'more')], limits)).warning).toBeDefined();
      }
      taken.push(...shelf.take());
      expect(new Set(taken).size).toBe(taken.length);
    }),
    { numRuns: 300 },
  );
});

test('a file that was released and is then held by nobody stays with another run that has the same', async () => {
  const store = countedStore();
  const forgets: (() => void)[] = [];
  const first = shelfOf({ store, watch: (_, forget) => forgets.push(forget) });
  const second = shelfOf({ store });
  const released = await save(first, 'the same');
  const kept = await save(second, 'the same');
  await released.release();
  // What garbage collection does then.
  for (const forget of [...forgets, ...forgets]) forget();
  expect(forgets).toHaveLength(1);
  expect(await kept.text()).toBe('the same');
  expect([...store.holders.values()]).toEqual([1]);
});
