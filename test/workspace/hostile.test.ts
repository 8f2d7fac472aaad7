// Nothing outside of a workspace is read, written, listed or removed, however a path is spelled, whatever links lie in it, and
// whoever swaps directories for links while tools are at work. Each is tried through the descriptor and, where that differs, by path.
import { type ChildProcess, spawn } from 'node:child_process';
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { Turns } from '../../src/tools/turns.ts';
import { change, type Place, readBytes, remove, withFile } from '../../src/workspace/files.ts';
import { Quota } from '../../src/workspace/quota.ts';
import { Root } from '../../src/workspace/root.ts';
import { readPath } from '../../src/workspace/spelling.ts';
import { type OpenedWorkspace, openWorkspace, SECRET } from '../helpers/workspace.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function opened(...options: Parameters<typeof openWorkspace>): Promise<OpenedWorkspace> {
  const made = await openWorkspace(...options);
  closers.push(() => made.close());
  return made;
}

/** Every tool that takes a path, as a call with it. */
const CALLS: readonly (readonly [name: string, rest: Record<string, unknown>])[] = [
  ['list_files', { depth: 3 }],
  ['read_file', {}],
  ['read_file', { fromByte: 1 }],
  ['search_files', { query: 'secret' }],
  ['search_files', { query: 'secret|inside', regex: true }],
  ['write_file', { text: 'overwritten' }],
  ['write_file', { text: 'overwritten', mode: 'append' }],
  ['write_file', { text: 'overwritten', mode: 'create' }],
  ['replace_in_file', { old: 'secret', new: 'overwritten' }],
  ['delete_file', {}],
];

async function expectUntouched({ outer }: OpenedWorkspace): Promise<void> {
  expect(await readFile(join(outer, 'outside', 'secret.txt'), 'utf8')).toBe(SECRET);
  expect(await readdir(join(outer, 'outside'))).toEqual(['secret.txt']);
  expect((await readdir(outer)).toSorted()).toEqual(['inside', 'outside']);
}

describe('a path', () => {
  const up = (dots: string, slash = '/') => `${dots}${slash}outside${slash}secret.txt`;
  const spellings = (outer: string): string[] => [
    up('..'),
    up('./..'),
    up('a/../..'),
    up('..', '//'),
    `inside/../../outside/secret.txt`,
    join(outer, 'outside/secret.txt'),
    `/${join(outer, 'outside/secret.txt')}`,
    `file://${join(outer, 'outside/secret.txt')}`,
    'C:/outside/secret.txt',
    'C:..\\outside\\secret.txt',
    '\\\\server\\share\\secret.txt',
    up('..', '\\'),
    up('..\\..', '/'),
    up('%2e%2e'),
    up('%2E%2e', '%2f'),
    up('..', '%2f'),
    up('%252e%252e', '%252f'),
    up('..', '%5c'),
    up('..', '%c0%af'),
    up('%c0%ae%c0%ae'),
    up('%uff0e%uff0e'),
    up('．．'),
    up('..', '／'),
    up('．．', '／'),
    up('‥'),
    up('․․'),
    up('..', '∕'),
    up('..', '⁄'),
    up('..', '⧸'),
    up('..', '＼'),
    up('.\u200b.'),
    up('.\u200c.'),
    up('\u202e..'),
    up('.\ufe0f.'),
    up('.. '),
    up(' ..'),
    up('...'),
    up('. .'),
    up('..\u00a0'),
    `..\0/outside/secret.txt`,
    `inside.txt\0../../outside/secret.txt`,
    `..\n/outside/secret.txt`,
    '~/secret.txt',
    '~',
    '/proc/self/cwd/secret.txt',
    '/dev/stdin',
    '/',
    '..',
    '../',
    '\ud800/x',
    `${'a/'.repeat(70)}b`,
    'a'.repeat(300),
    'x/'.repeat(3000),
    '.callgate-0123',
    'x/.CallGate-0123',
  ];

  test('that leads out in any spelling is refused by every tool, and nothing is touched', async () => {
    const workspace = await opened();
    await writeFile(join(workspace.directory, 'inside.txt'), 'inside secret');
    for (const path of spellings(workspace.outer)) {
      for (const [name, rest] of CALLS) {
        const answer = workspace.call(name, { path, ...rest });
        await expect(answer, `${name} ${JSON.stringify(path)}`).rejects.toMatchObject({
          code: 'path_invalid',
          message: expect.not.stringContaining(SECRET),
        });
      }
    }
    await expectUntouched(workspace);
    expect(await readdir(workspace.directory)).toEqual(['inside.txt']);
  }, 60_000);

  test('that is only unusual is taken as it is', async () => {
    const workspace = await opened();
    for (const path of [
      'a b/c d.txt',
      'ümläut.txt',
      '数据/表.csv',
      'émoji 👨‍👩‍👧.txt',
      '.hidden',
      '..a',
      'a..b',
      '100%.txt',
      'a%20b',
      'x~1',
      'v1.2.3',
      'ab:c',
      '-rf',
      '$HOME',
      '*',
      "it's",
    ]) {
      await workspace.call('write_file', { path, text: path });
      expect(await workspace.call('read_file', { path: `./${path.replace('/', '//')}` })).toMatchObject({ text: path });
      expect(await readFile(join(workspace.directory, path), 'utf8')).toBe(path);
    }
  });

  test('whatever it is, its names are names, or it is refused', () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      '%2e',
      '%2f',
      '%25',
      '．',
      '／',
      '∕',
      '\0',
      ' ',
      '\u200b',
      '\u202e',
      'a',
      '~',
      'C:',
      '\ud800',
      '℀',
      '…',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
          fc.string({ unit: 'binary' }),
        ),
        (path) => {
          let names: readonly string[];
          try {
            names = readPath(path);
          } catch (error) {
            expect(error).toMatchObject({ code: 'path_invalid' });
            return;
          }
          const root = '/root/of it';
          expect(join(root, ...names) === root || join(root, ...names).startsWith(`${root}/`)).toBe(true);
          for (const name of names) {
            for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) {
              const plain = name.normalize(form);
              expect(plain).not.toMatch(/[/\\\0]/);
              expect(plain.replace(/[. ]+$/, '')).not.toBe('');
            }
            expect(Buffer.from(name).toString()).toBe(name);
          }
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe('a link', () => {
  test.each([
    [
      'a symbolic link to a file',
      (outer: string, inside: string) => symlink(join(outer, 'outside/secret.txt'), join(inside, 'trap')),
      'trap',
    ],
    ['a relative link to a file', (_outer: string, inside: string) => symlink('../outside/secret.txt', join(inside, 'trap')), 'trap'],
    [
      'a file in a linked directory',
      (outer: string, inside: string) => symlink(join(outer, 'outside'), join(inside, 'trap')),
      'trap/secret.txt',
    ],
    ['a hard link', (outer: string, inside: string) => link(join(outer, 'outside/secret.txt'), join(inside, 'trap')), 'trap'],
    ['a link to nothing', (outer: string, inside: string) => symlink(join(outer, 'outside/new.txt'), join(inside, 'trap')), 'trap'],
    ['a link to itself', (_outer: string, inside: string) => symlink('trap', join(inside, 'trap')), 'trap'],
    ['a link to a file inside', (_outer: string, inside: string) => symlink('inside.txt', join(inside, 'trap')), 'trap'],
  ])('%s is not followed by any tool', async (_name, lay, path) => {
    const workspace = await opened();
    await writeFile(join(workspace.directory, 'inside.txt'), 'nothing here');
    await lay(workspace.outer, workspace.directory);
    for (const [name, rest] of CALLS) {
      if (name === 'list_files' || name === 'search_files') continue;
      await expect(workspace.call(name, { path, ...rest })).rejects.toMatchObject({ code: 'link_refused' });
    }
    const listing = JSON.stringify(await workspace.call('list_files', { depth: 9 }));
    expect(listing).toContain('"path":"trap","type":"link"');
    expect(listing).not.toContain('secret.txt');
    const found = await workspace.call('search_files', { query: 'secret' });
    expect(found).toMatchObject({ matches: [], skipped: { links: 1 } });
    for (const [name, rest] of CALLS) {
      if (name !== 'list_files' && name !== 'search_files') continue;
      await expect(workspace.call(name, { path: 'trap', ...rest })).rejects.toMatchObject({
        code: expect.stringMatching(/link_refused|not_a_directory/),
      });
    }
    await expectUntouched(workspace);
  });

  test('pipes and devices are not opened', async () => {
    const workspace = await opened();
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [join(workspace.directory, 'pipe')]);
    await expect(workspace.call('read_file', { path: 'pipe' })).rejects.toMatchObject({ code: 'not_a_file' });
    expect(await workspace.call('search_files', { query: 'x' })).toMatchObject({ matches: [] });
  });
});

test('a workspace whose directory was replaced is not used any more, and errors name no path of the host', async () => {
  const workspace = await opened();
  await writeFile(join(workspace.directory, 'a.txt'), 'a');
  await rename(workspace.directory, `${workspace.directory}-moved`);
  await symlink(join(workspace.outer, 'outside'), workspace.directory);
  for (const [name, rest] of CALLS) {
    await expect(
      workspace.call(name, { path: name.startsWith('list') || name.startsWith('search') ? '' : 'secret.txt', ...rest }),
    ).rejects.toMatchObject({
      code: 'workspace_lost',
      message: expect.not.stringContaining(workspace.outer),
    });
  }
  await rm(workspace.directory);
  await expect(workspace.call('list_files')).rejects.toMatchObject({ code: 'workspace_lost' });
});

test('without /proc, a directory above that has become a link is noticed when one below it is opened', async () => {
  const workspace = await opened();
  await mkdir(join(workspace.directory, 'spot/below'), { recursive: true });
  await mkdir(join(workspace.outer, 'outside/below'));
  const root = await Root.open(workspace.directory, { byDescriptor: false });
  const spot = await root.enter('spot');
  closers.push(
    () => root.close(),
    () => spot.close(),
  );
  await (await spot.enter('below')).close();
  await rename(join(workspace.directory, 'spot'), join(workspace.directory, 'moved'));
  await symlink(join(workspace.outer, 'outside'), join(workspace.directory, 'spot'));
  await expect(spot.enter('below')).rejects.toMatchObject({ name: 'RootLost' });
  await expect(spot.verify()).rejects.toMatchObject({ name: 'RootLost' });
});

/** A process that swaps `inside/spot` between a directory and a link to the outside as fast as it can, until it is killed. */
function swapper(outer: string, trap: string): ChildProcess {
  const code = `
    const { linkSync, renameSync, rmSync, symlinkSync } = require('node:fs');
    const [inside, outside] = [process.argv[1] + '/inside', process.argv[1] + '/outside'];
    // Anew each time: a tool may have written a file of its own in its place.
    const lay = () => {
      rmSync(inside + '/trap', { recursive: true, force: true });
      ${trap};
    };
    lay();
    process.send('ready');
    // Where a tool makes the directory that is missing for a moment, it is in the way and goes.
    const move = (from, to) => {
      for (;;) {
        try {
          return renameSync(inside + from, inside + to);
        } catch {
          try {
            rmSync(inside + to, { recursive: true, force: true });
          } catch {}
        }
      }
    };
    for (;;) {
      lay();
      move('/spot', '/real');
      move('/trap', '/spot');
      move('/spot', '/trap');
      move('/real', '/spot');
    }`;
  return spawn(process.execPath, ['-e', code, outer], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

async function swapping(outer: string, trap = "symlinkSync(outside, inside + '/trap')"): Promise<void> {
  const child = swapper(outer, trap);
  closers.push(async () => {
    expect(child.exitCode).toBe(null);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  });
  await new Promise((resolve) => child.once('message', resolve));
}

const RACE_MS = 2500;

test('while a directory is swapped for a link and back, tools never see or touch what is outside', async () => {
  const workspace = await opened();
  await mkdir(join(workspace.directory, 'spot'));
  await writeFile(join(workspace.directory, 'spot/secret.txt'), 'harmless');
  await swapping(workspace.outer);
  const end = performance.now() + RACE_MS;
  const seen = { read: 0, refused: 0, written: 0 };
  let turn = 0;
  while (performance.now() < end) {
    turn++;
    const answers = await Promise.allSettled([
      workspace.call('read_file', { path: 'spot/secret.txt' }),
      workspace.call('list_files', { path: 'spot' }),
      workspace.call('search_files', { query: 'outside' }),
      workspace.call('write_file', { path: `spot/new-${turn}.txt`, text: 'written' }),
      workspace.call('write_file', { path: 'spot/secret.txt', text: 'harmless' }),
      workspace.call('delete_file', { path: `spot/new-${turn - 1}.txt` }),
    ]);
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'rejected') {
        seen.refused++;
        expect(answer.reason.message).not.toContain(workspace.outer);
        expect(answer.reason).toMatchObject({
          code: expect.stringMatching(/^(link_refused|not_found|not_a_directory|workspace_failed|changed)$/),
        });
        continue;
      }
      expect(JSON.stringify(answer.value)).not.toContain(SECRET);
      if (index === 0) seen.read++;
      if (index === 3) seen.written++;
    }
  }
  expect(seen.read).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
  expect(seen.written).toBeGreaterThan(0);
  expect(await readFile(join(workspace.outer, 'outside/secret.txt'), 'utf8')).toBe(SECRET);
  expect(await readdir(join(workspace.outer, 'outside'))).toEqual(['secret.txt']);
}, 30_000);

test.each([
  ['a symbolic link', "symlinkSync(outside + '/secret.txt', inside + '/trap')"],
  ['a hard link', "linkSync(outside + '/secret.txt', inside + '/trap')"],
])(
  'while a file is swapped for %s and back, what it leads to is never read or changed',
  async (_kind, trap) => {
    const workspace = await opened();
    await writeFile(join(workspace.directory, 'spot'), 'harmless');
    await swapping(workspace.outer, trap);
    const end = performance.now() + RACE_MS;
    const seen = { read: 0, refused: 0 };
    while (performance.now() < end) {
      const answers = await Promise.allSettled([
        workspace.call('read_file', { path: 'spot' }),
        workspace.call('search_files', { query: 'secret outside' }),
        workspace.call('write_file', { path: 'spot', text: 'harmless' }),
        workspace.call('replace_in_file', { path: 'spot', old: 'secret', new: 'changed' }),
      ]);
      for (const answer of answers) {
        if (answer.status === 'rejected') {
          if (answer.reason.code === 'link_refused' || answer.reason.code === 'changed') seen.refused++;
          continue;
        }
        expect(JSON.stringify(answer.value)).not.toContain(SECRET);
        seen.read++;
      }
    }
    expect(seen.read).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
    expect(await readFile(join(workspace.outer, 'outside/secret.txt'), 'utf8')).toBe(SECRET);
  },
  30_000,
);

/** A place as on a machine without `/proc`. */
async function placeByPath(directory: string): Promise<Place> {
  const root = await Root.open(directory, { byDescriptor: false });
  closers.push(() => root.close());
  expect(root.byDescriptor).toBe(false);
  return { name: undefined, root, writable: true, writing: new Turns(1) };
}

test('without /proc too, a swapped directory does not get a file read that is outside', async () => {
  const workspace = await opened();
  await mkdir(join(workspace.directory, 'spot'));
  await writeFile(join(workspace.directory, 'spot/secret.txt'), 'harmless');
  const place = await placeByPath(workspace.directory);
  await swapping(workspace.outer);
  const end = performance.now() + RACE_MS;
  const seen = { read: 0, refused: 0 };
  while (performance.now() < end) {
    const reading = withFile({ path: 'spot/secret.txt', place, names: ['spot', 'secret.txt'] }, (file) => readBytes(file, 0, 100));
    const text = await reading.catch(() => undefined);
    if (text === undefined) seen.refused++;
    else {
      seen.read++;
      expect(Buffer.from(text).toString()).toBe('harmless');
    }
  }
  expect(seen.read).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
}, 30_000);

test('without /proc too, files are written, changed and removed, but not through a link', async () => {
  const workspace = await opened();
  const place = await placeByPath(workspace.directory);
  const quota = new Quota({ maxBytes: 1000, maxFiles: 10 });
  const write = (path: string, text: string) =>
    change({ path, place, names: readPath(path) }, { quota, maxBytes: 100, make: () => Buffer.from(text) });
  expect(await write('a/b/c.txt', 'one')).toEqual({ bytes: 3, created: true });
  expect(await write('a/b/c.txt', 'three')).toEqual({ bytes: 5, created: false });
  expect(await readFile(join(workspace.directory, 'a/b/c.txt'), 'utf8')).toBe('three');
  await symlink(join(workspace.outer, 'outside'), join(workspace.directory, 'trap'));
  await symlink(join(workspace.outer, 'outside/secret.txt'), join(workspace.directory, 'trap.txt'));
  for (const path of ['trap/new.txt', 'trap/secret.txt', 'trap/deeper/new.txt', 'trap.txt']) {
    await expect(write(path, 'x')).rejects.toMatchObject({ code: 'link_refused' });
    await expect(remove({ path, place, names: readPath(path) }, quota)).rejects.toMatchObject({ code: 'link_refused' });
  }
  await expectUntouched(workspace);
  expect(await remove({ path: 'a/b/c.txt', place, names: ['a', 'b', 'c.txt'] }, quota)).toEqual({ bytes: 5 });
  expect(await readdir(join(workspace.directory, 'a/b'))).toEqual([]);
});
