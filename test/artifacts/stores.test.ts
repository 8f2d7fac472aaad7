// What every store promises, asked of each of them, and of the directory store on machines without /proc too.
import { link, mkdtemp, open, rename, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openDirectoryStore } from '../../src/artifacts/directory.ts';
import type { ArtifactStore } from '../../src/artifacts/store.ts';
import { directoryStore, memoryStore } from '../../src/index.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'callgate-stores-'));
  closers.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const stores: Record<string, (options?: { maxBytes?: number }) => Promise<ArtifactStore>> = {
  'the memory store': async (options) => memoryStore(options),
  'the directory store, temporary': async (options) => directoryStore(options),
  'the directory store in a directory': async (options) => directoryStore({ ...options, directory: await folder() }),
  'the directory store that keeps': async (options) => directoryStore({ ...options, directory: await folder(), keep: true }),
  'the directory store without /proc': async (options) =>
    openDirectoryStore({ ...options, directory: await folder() }, { open, link, rename, unlink }, false),
};

describe.each(Object.entries(stores))('%s', (_name, make) => {
  async function opened(options?: { maxBytes?: number }): Promise<ArtifactStore> {
    const store = await make(options);
    closers.push(() => store.close());
    return store;
  }

  test('gives back what it was given, whole and in parts', async () => {
    const store = await opened();
    const stored = await store.put({ data: bytes('hello, world'), mediaType: 'text/plain', name: 'hello.txt' });
    expect(stored).toMatchObject({ bytes: 12, digest: '09ca7e4eaa6e8ae9c7d261167129184883644d07dfba7cbfbc4c8a2e08360d5b' });
    expect(text(await store.read(stored.key))).toBe('hello, world');
    expect(text(await store.read(stored.key, { start: 7 }))).toBe('world');
    expect(text(await store.read(stored.key, { start: 1, end: 4 }))).toBe('ell');
    expect(await store.read(stored.key, { start: 10, end: 99 })).toHaveLength(2);
    expect(await store.read(stored.key, { start: 12 })).toHaveLength(0);
    expect(await store.read(stored.key, { start: 5, end: 3 })).toHaveLength(0);
    await expect(store.read(stored.key, { start: -1 })).rejects.toMatchObject({ code: 'option_invalid' });
    await expect(store.read(stored.key, { start: 0, end: 1.5 })).rejects.toMatchObject({ code: 'option_invalid' });
  });

  test('keeps nothing at all as well as many bytes', async () => {
    const store = await opened();
    const empty = await store.put({ data: new Uint8Array(), mediaType: 'text/plain' });
    expect(await store.read(empty.key)).toEqual(new Uint8Array());
    const data = Uint8Array.from({ length: 9 * 1024 * 1024 + 1 }, (_, index) => (index * 7) ^ (index >> 11));
    const big = await store.put({ data, mediaType: 'application/octet-stream' });
    expect(Buffer.compare(await store.read(big.key), data)).toBe(0);
  });

  test('has bytes of its own: changing what was put, or what was read, changes nothing', async () => {
    const store = await opened();
    const data = bytes('original');
    const putting = store.put({ data, mediaType: 'text/plain' });
    data.fill(0);
    const { key } = await putting;
    (await store.read(key)).fill(1);
    expect(text(await store.read(key))).toBe('original');
  });

  test('keeps equal artifacts once, until their last holder has let go', async () => {
    const store = await opened();
    const make = () => store.put({ data: bytes('x'), mediaType: 'text/plain', name: 'x', metadata: { a: 1, b: { c: [2] } } });
    const first = await make();
    const second = await store.put({ data: bytes('x'), mediaType: 'text/plain', name: 'x', metadata: { b: { c: [2] }, a: 1 } });
    expect(second).toEqual(first);
    const others = await Promise.all([make(), make(), make()]);
    expect(new Set([first, ...others].map(({ key }) => key)).size).toBe(1);
    for (let holder = 0; holder < 4; holder++) await store.release(first.key);
    expect(text(await store.read(first.key))).toBe('x');
    await store.release(first.key);
    await expect(store.read(first.key)).rejects.toMatchObject({ code: 'store_failed' });
    await expect(store.release(first.key)).rejects.toMatchObject({ code: 'store_failed' });
  });

  test('a different name, type or metadata is a different artifact', async () => {
    const store = await opened();
    const base = { data: bytes('x'), mediaType: 'text/plain', name: 'x' };
    const variants = [
      base,
      { ...base, name: 'y' },
      { data: base.data, mediaType: 'text/plain' },
      { ...base, mediaType: 'text/csv' },
      { ...base, metadata: {} },
      { ...base, metadata: { a: [1, 2] } },
      { ...base, metadata: { a: { 0: 1, 1: 2 } } },
      { ...base, metadata: { a: { pairs: [] } } },
      { ...base, metadata: { a: {} } },
      { ...base, data: bytes('y') },
    ];
    const keys = await Promise.all(variants.map(async (variant) => (await store.put(variant)).key));
    expect(new Set(keys).size).toBe(variants.length);
  });

  test('a full store refuses, and takes again once there is room', async () => {
    const store = await opened({ maxBytes: 10 });
    const { key } = await store.put({ data: bytes('12345678'), mediaType: 'text/plain' });
    await store.put({ data: bytes('12345678'), mediaType: 'text/plain' });
    await expect(store.put({ data: bytes('abc'), mediaType: 'text/plain' })).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('8 of at most 10 bytes'),
    });
    await store.release(key);
    await store.release(key);
    expect(text(await store.read((await store.put({ data: bytes('abc'), mediaType: 'text/plain' })).key))).toBe('abc');
  });

  test('a closed store gives and takes nothing; closing and releasing again do no harm', async () => {
    const store = await opened();
    const { key } = await store.put({ data: bytes('x'), mediaType: 'text/plain' });
    const late = store.put({ data: bytes('y'), mediaType: 'text/plain' });
    const outcome = expect(late).rejects.toMatchObject({ code: 'store_failed' });
    await Promise.all([store.close(), store.close()]);
    await outcome;
    await store.close();
    await store.release(key);
    await expect(store.read(key)).rejects.toMatchObject({ code: 'store_failed' });
    await expect(store.put({ data: bytes('z'), mediaType: 'text/plain' })).rejects.toMatchObject({ code: 'store_failed' });
  });

  test('200 runs at once lose and mix nothing', async () => {
    const store = await opened();
    await Promise.all(
      Array.from({ length: 200 }, async (_, run) => {
        const own = await store.put({ data: bytes(`run ${run}`), mediaType: 'text/plain', name: 'out.txt' });
        const shared = await store.put({ data: bytes(`shared ${run % 7}`), mediaType: 'text/plain', name: 'out.txt' });
        expect(text(await store.read(own.key))).toBe(`run ${run}`);
        expect(text(await store.read(shared.key))).toBe(`shared ${run % 7}`);
        await store.release(own.key);
        await store.release(shared.key);
      }),
    );
    const after = await store.put({ data: bytes('shared 3'), mediaType: 'text/plain', name: 'out.txt' });
    await store.release(after.key);
    await expect(store.read(after.key)).rejects.toMatchObject({ code: 'store_failed' });
  });
});

test.each([
  [{ maxBytes: -1 }, 'maxBytes'],
  [{ maxBytes: '1' }, 'maxBytes'],
  [{ keep: 1 }, 'keep'],
  [{ directory: '' }, 'directory'],
  [{ directory: 'a\0b' }, 'directory'],
  [{ direcory: '/tmp' }, 'did you mean `directory`'],
  [null, 'object'],
])('directoryStore(%j) is refused with the option', (options, says) => {
  expect(() => directoryStore(options as never)).toThrow(
    expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining(says) }),
  );
});
