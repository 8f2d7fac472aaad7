// The directory store against a hostile or failing disk: what others do in its directory, full disks, many processes, any sequence of
// puts, failures, releases and closes.
import { execFile, execFileSync } from 'node:child_process';
import {
  access,
  chmod,
  type FileHandle,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type Disk, openDirectoryStore } from '../../src/artifacts/directory.ts';
import type { StoredArtifact } from '../../src/artifacts/store.ts';
import { directoryStore } from '../../src/index.ts';

const [MOUNT, UNMOUNT] = ['mount', 'umount'];
const DISK: Disk = { open, link, rename, unlink };
const bytes = (text: string) => new TextEncoder().encode(text);
const put = { data: bytes('secret contents'), mediaType: 'text/plain', name: 'note.txt' };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close().catch(() => undefined);
});

async function folder(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'callgate-store-')));
  closers.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function statAndClose(handle: FileHandle) {
  try {
    return await handle.stat({ bigint: true });
  } finally {
    await handle.close();
  }
}

/** A store in a directory that is inside one of the test's own. */
async function inside(byDescriptor = true) {
  const outer = await folder();
  const directory = join(outer, 'store');
  const store = openDirectoryStore({ directory }, DISK, byDescriptor);
  closers.push(() => store.close());
  return { outer, directory, store };
}

/** Refused with `store_failed`, a cause that is kept, and no path of the host in the message. */
function failure(says: string) {
  return expect.objectContaining({
    code: 'store_failed',
    message: expect.stringMatching(new RegExp(`^(?!.*(?:/tmp|callgate-store|store/)).*${says}`)),
  });
}

describe('files', () => {
  test('are named by a random prefix, the digest and a cleaned name, and are readable by their owner alone', async () => {
    const { directory, store } = await inside();
    const stored = await store.put({ ...put, name: '../../../.ssh/auth\u202Eorized_keys' });
    expect(dirname(stored.path!)).toBe(directory);
    expect(basename(stored.path!)).toMatch(new RegExp(`^[0-9a-f]{32}-${stored.digest}-authorized_keys$`));
    expect((await stat(stored.path!)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(await readdir(directory)).toEqual([basename(stored.path!)]);
  });

  test('of a temporary directory are gone when the store closes, with the directory', async () => {
    const store = directoryStore();
    const { path } = await store.put(put);
    expect(dirname(path!)).toContain('callgate-artifacts');
    expect((await stat(dirname(path!))).mode & 0o777).toBe(0o700);
    await store.close();
    await expect(access(dirname(path!))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('of a given directory are gone when the store closes, but nobody else’s', async () => {
    const { directory, store } = await inside();
    await store.put(put);
    await writeFile(join(directory, 'theirs'), '');
    await store.close();
    expect(await readdir(directory)).toEqual(['theirs']);
  });

  test.each([true, false])('stay when the store is asked to keep them, in a directory given: %s', async (given) => {
    const directory = given ? await folder() : undefined;
    const store = directoryStore({ directory, keep: true });
    const { path } = await store.put(put);
    closers.push(() => rm(dirname(path!), { recursive: true, force: true }));
    const failed = await store.put({ ...put, name: 'half of a batch that failed' });
    await store.release(failed.key);
    await store.close();
    expect(await readFile(path!, 'utf8')).toBe('secret contents');
    expect(await readdir(dirname(path!))).toEqual([basename(path!)]);
  });

  test('two stores of one directory do not touch each other’s', async () => {
    const directory = await folder();
    const [one, other] = [directoryStore({ directory }), directoryStore({ directory })];
    closers.push(() => other.close());
    const [mine, theirs] = [await one.put(put), await other.put(put)];
    expect(mine.path).not.toBe(theirs.path);
    await one.close();
    expect(await readFile(theirs.path!, 'utf8')).toBe('secret contents');
    await expect(access(mine.path!)).rejects.toThrow();
  });
});

describe.each([true, false])('somebody else in the directory, reached by its descriptor: %s', (byDescriptor) => {
  test('who puts a link in the place of a file is not followed', async () => {
    const { outer, store } = await inside(byDescriptor);
    const { key, path } = await store.put(put);
    await writeFile(join(outer, 'outside'), 'secret contents');
    await rm(path!);
    await symlink(join(outer, 'outside'), path!);
    await expect(store.read(key)).rejects.toEqual(failure('link'));
    await store.release(key);
    expect(await readFile(join(outer, 'outside'), 'utf8')).toBe('secret contents');
  });

  test('who gives a file a second name, other contents or another time is found out', async () => {
    const { outer, store } = await inside(byDescriptor);
    const changes: ((path: string) => Promise<unknown>)[] = [
      (path) => link(path, join(outer, 'second name')),
      (path) => writeFile(path, 'forged'),
      (path) => writeFile(path, 'forged contents'),
      (path) => utimes(path, 1, 1),
      async (path) => {
        await rm(path);
        await writeFile(path, 'secret contents');
      },
      async (path) => {
        await rm(path);
        await mkdir(path);
      },
    ];
    for (const [index, change] of changes.entries()) {
      const { key, path } = await store.put({ ...put, name: `${index}` });
      await change(path!);
      await expect(store.read(key)).rejects.toEqual(failure('changed or replaced'));
      await expect(store.read(key, { start: 1, end: 3 })).rejects.toEqual(failure('changed or replaced'));
    }
  });

  test('who forges contents, and their time to the nanosecond, is found out when the whole is read', async () => {
    const outer = await folder();
    let time = 0n;
    const forging: Disk = {
      ...DISK,
      open: async (path, flags, mode) => {
        const handle = await open(path, flags, mode);
        const stats = await handle.stat({ bigint: true });
        time ||= stats.mtimeNs;
        if (mode === undefined) handle.stat = (async () => Object.assign(stats, { mtimeNs: time })) as typeof handle.stat;
        else handle.stat = (async () => Object.assign(await open(path, 'r').then(statAndClose), { mtimeNs: time })) as typeof handle.stat;
        return handle;
      },
    };
    const store = openDirectoryStore({ directory: join(outer, 'store') }, forging, byDescriptor);
    closers.push(() => store.close());
    const { key, path } = await store.put(put);
    expect(await store.read(key)).toEqual(put.data);
    await writeFile(path!, 'SECRET contents');
    await expect(store.read(key)).rejects.toEqual(failure('changed or replaced'));
  });

  test('who puts another directory in its place gets nothing', async () => {
    const { outer, directory, store } = await inside(byDescriptor);
    const { key } = await store.put(put);
    await rename(directory, join(outer, 'moved'));
    await mkdir(directory);
    await expect(store.put({ ...put, name: 'later' })).rejects.toEqual(failure('been replaced by another'));
    await expect(store.read(key)).rejects.toEqual(failure('been replaced by another'));
    expect(await readdir(directory)).toEqual([]);
    await rm(directory, { recursive: true });
    await symlink(join(outer, 'moved'), directory);
    await expect(store.put({ ...put, name: 'later' })).rejects.toEqual(failure('been replaced by another'));
    expect(await readdir(join(outer, 'moved'))).toHaveLength(1);
  });

  test('who removes the directory makes a clean error, and no new directory', async () => {
    const { directory, store } = await inside(byDescriptor);
    const { key } = await store.put(put);
    await rm(directory, { recursive: true });
    await expect(store.put({ ...put, name: 'later' })).rejects.toEqual(failure('has vanished'));
    await expect(store.read(key)).rejects.toEqual(failure('has vanished'));
    await store.close();
    await expect(access(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('a temporary directory that was replaced is not removed', async () => {
  const store = directoryStore();
  const { path } = await store.put(put);
  const directory = dirname(path!);
  await rename(directory, `${directory}-moved`);
  await mkdir(directory);
  await writeFile(join(directory, 'theirs'), '');
  closers.push(
    () => rm(directory, { recursive: true }),
    () => rm(`${directory}-moved`, { recursive: true }),
  );
  await expect(store.close()).rejects.toEqual(failure('been replaced by another'));
  expect(await readdir(directory)).toEqual(['theirs']);
});

test('a directory that cannot be made is a clean error, and is tried again', async () => {
  const outer = await folder();
  await writeFile(join(outer, 'file'), '');
  const store = directoryStore({ directory: join(outer, 'file', 'store') });
  closers.push(() => store.close());
  await expect(store.put(put)).rejects.toEqual(failure('not a directory'));
  await rm(join(outer, 'file'));
  expect(await store.put(put)).toMatchObject({ bytes: 15 });
});

test('a directory that this process may not write to is a clean error', async ({ skip }) => {
  const { directory, store } = await inside();
  const { key } = await store.put(put);
  await chmod(directory, 0o500);
  const probe = await writeFile(join(directory, 'probe'), '').then(
    () => true,
    () => false,
  );
  skip(probe, 'this user may write everywhere');
  await expect(store.put({ ...put, name: 'later' })).rejects.toEqual(failure('not open to this process'));
  await chmod(directory, 0o700);
  await store.release(key);
});

test('a disk without hard links is good enough', async () => {
  const directory = await folder();
  const linkless: Disk = { ...DISK, link: () => Promise.reject(Object.assign(new Error('link'), { code: 'EPERM' })) };
  const store = openDirectoryStore({ directory }, linkless);
  closers.push(() => store.close());
  const { key, path } = await store.put(put);
  expect(await readdir(directory)).toEqual([basename(path!)]);
  expect(await store.read(key)).toEqual(put.data);
});

test('a disk that is really full keeps nothing of what does not fit, and takes what does', async ({ skip }) => {
  const disk = await folder();
  try {
    execFileSync(MOUNT, ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    skip('this user may not mount a small disk');
  }
  closers.push(async () => execFileSync(UNMOUNT, ['-l', disk]));
  const store = directoryStore({ directory: disk });
  closers.push(() => store.close());
  const { key } = await store.put({ ...put, data: new Uint8Array(100_000) });
  await expect(store.put({ ...put, data: new Uint8Array(400_000) })).rejects.toEqual(failure('full, so an artifact of 400000 bytes'));
  expect(await readdir(disk)).toEqual([key]);
  expect(await store.read(key)).toHaveLength(100_000);
  expect(await store.put({ ...put, data: new Uint8Array(80_000) })).toMatchObject({ bytes: 80_000 });
});

test('several processes store in one directory at once, and each finds its own', async () => {
  const directory = await folder();
  const script = fileURLToPath(new URL('../helpers/storing-process.ts', import.meta.url));
  const { build } = await import('esbuild');
  const built = join(directory, '..', `${basename(directory)}.mjs`);
  closers.push(() => rm(built));
  const dist = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
  await build({
    entryPoints: [script],
    outfile: built,
    format: 'esm',
    platform: 'node',
    bundle: true,
    plugins: [
      { name: 'dist', setup: (step) => void step.onResolve({ filter: /dist\/index\.js$/ }, () => ({ path: dist, external: true })) },
    ],
  });
  const runs = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const { stdout } = await promisify(execFile)(process.execPath, [built, directory, name, '40']);
      return JSON.parse(stdout) as { problems: string[]; paths: string[] };
    }),
  );
  expect(runs.flatMap(({ problems }) => problems)).toEqual([]);
  const names = runs.flatMap(({ paths }) => paths.map((path) => basename(path)));
  expect(names).toHaveLength(3 * 21);
  expect((await readdir(directory)).toSorted()).toEqual(names.toSorted());
});

describe('whatever happens in whatever order', () => {
  /** A disk on which the next operations fail as told, some of them half-way. */
  class FailingDisk implements Disk {
    readonly failures: string[] = [];

    async open(path: string, flags: number, mode?: number) {
      this.#fail('open');
      const handle = await open(path, flags, mode);
      const { writeFile, close } = handle;
      handle.writeFile = async (data, options) => {
        if (this.#next('write')) {
          await handle.write((data as Uint8Array).subarray(0, (data as Uint8Array).length >> 1));
          throw Object.assign(new Error(`no space at ${path}`), { code: 'ENOSPC' });
        }
        await writeFile.call(handle, data, options);
      };
      handle.close = async () => {
        await close.call(handle);
        this.#fail('close');
      };
      return handle;
    }

    async link(from: string, to: string) {
      this.#fail('link');
      await link(from, to);
      // Done, and still failed: what a network disk does.
      this.#fail('linked');
    }

    rename = rename;

    async unlink(path: string) {
      this.#fail('unlink');
      await unlink(path);
    }

    #next(operation: string): boolean {
      if (this.failures[0] !== operation) return false;
      this.failures.shift();
      return true;
    }

    #fail(operation: string): void {
      if (this.#next(operation)) throw Object.assign(new Error(`failed at ${operation}`), { code: 'ENOSPC' });
    }
  }

  type Step =
    | { readonly do: 'put'; readonly what: number; readonly failures: readonly string[] }
    | { readonly do: 'release'; readonly which: number; readonly failures: readonly string[] }
    | { readonly do: 'together'; readonly what: readonly number[]; readonly failures: readonly string[] };

  const failures = fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(fc.constantFrom('open', 'write', 'close', 'link', 'linked', 'unlink'), { minLength: 1, maxLength: 3 }),
    },
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant('put' as const), what: fc.nat({ max: 9 }), failures }),
    fc.record({ do: fc.constant('release' as const), which: fc.nat(), failures }),
    fc.record({ do: fc.constant('together' as const), what: fc.array(fc.nat({ max: 9 }), { minLength: 2, maxLength: 6 }), failures }),
  );
  const NAMES = ['a.txt', '../a.txt', '/etc/passwd', '..', '', '\0', 'CON', 'x'.repeat(300), 'a/b\\c', '\u202e'];
  const MAX_BYTES = 700;
  const contents = (what: number) => ({
    data: new Uint8Array(what * 30).fill(what),
    mediaType: 'text/plain',
    ...(NAMES[what] !== '' && { name: NAMES[what] }),
  });

  test('the files are those of the artifacts that are held, the budget is their size, and nothing leaves the directory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.boolean(), async (steps, byDescriptor) => {
        const outer = await realpath(await mkdtemp(join(tmpdir(), 'callgate-store-')));
        const directory = join(outer, 'store');
        const disk = new FailingDisk();
        const store = openDirectoryStore({ directory, maxBytes: MAX_BYTES }, disk, byDescriptor);
        try {
          const held: StoredArtifact[] = [];
          // Names whose removal failed: they stay until the store closes, and count until then.
          let stuckBytes = 0;
          let stuckFiles = 0;
          const attempt = async (what: number, mayFail: boolean) => {
            try {
              held.push(await store.put(contents(what)));
            } catch (error) {
              expect(error).toMatchObject({ code: 'store_failed', message: expect.not.stringContaining(outer) });
              if (!mayFail) expect(error).toMatchObject({ message: expect.stringContaining('The store is full: it holds') });
            }
          };
          for (const step of steps) {
            disk.failures.splice(0, Number.POSITIVE_INFINITY, ...step.failures);
            if (step.do === 'put') await attempt(step.what, step.failures.length > 0);
            else if (step.do === 'together') await Promise.all(step.what.map((what) => attempt(what, step.failures.length > 0)));
            else if (held.length > 0) {
              const [released] = held.splice(step.which % held.length, 1);
              try {
                await store.release(released!.key);
              } catch (error) {
                expect(error).toMatchObject({ code: 'store_failed' });
                stuckBytes += released!.bytes;
              }
            }
            disk.failures.splice(0);
            const expected = new Set(held.map(({ key }) => key));
            const found = await readdir(directory).catch(() => []);
            expect(found.filter((name) => expected.has(name))).toHaveLength(expected.size);
            const others = found.filter((name) => !expected.has(name));
            // Only after a removal that failed may something else be there, and never more than it was before.
            if (!step.failures.includes('unlink')) expect(others.length).toBeLessThanOrEqual(stuckFiles);
            stuckFiles = others.length;
            for (const { key, bytes: size } of held) expect(await store.read(key)).toHaveLength(size);
          }
          const used = [...new Map(held.map(({ key, bytes }) => [key, bytes])).values()].reduce((sum, size) => sum + size, stuckBytes);
          // The budget is exactly what is held: so much fits, and a byte more does not.
          await expect(store.put({ data: new Uint8Array(MAX_BYTES - used + 1), mediaType: 'text/x-probe' })).rejects.toEqual(
            failure(`holds ${used} of at most ${MAX_BYTES}`),
          );
          const probe = await store.put({ data: new Uint8Array(MAX_BYTES - used), mediaType: 'text/x-probe' });
          await store.release(probe.key);
          await store.close();
          expect(await readdir(directory)).toEqual([]);
          expect(await readdir(outer)).toEqual(['store']);
        } finally {
          await rm(outer, { recursive: true, force: true });
        }
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
