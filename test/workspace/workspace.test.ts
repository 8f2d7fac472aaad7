// The option `workspace`: what a run gets and what is left when it has ended; quotas, places, and what is refused at once.
import { existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type CodeModeOptions, createCodeMode, defineTool, type ToolContext, workspaceTools } from '../../src/index.ts';
import { openWorkspace } from '../helpers/workspace.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function folder(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'callgate-workspaces-')));
  closers.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A tool that does what a test tells it with its context. */
const probe = (work: (context: ToolContext) => unknown) =>
  defineTool({
    name: 'probe',
    description: 'Does what the test says.',
    execute: async (_input, context) => (await work(context)) as never,
  });

async function run(work: (context: ToolContext) => unknown, options: Partial<CodeModeOptions> = { workspace: {} }) {
  const codeMode = createCodeMode({ tools: probe(work), isolation: 'inline', ...options });
  try {
    return await codeMode.run('return await tools.probe({});');
  } finally {
    await codeMode.close();
  }
}

describe('a temporary workspace', () => {
  test('is a directory of its own for each run, and is gone when the run has ended', async () => {
    const seen: string[] = [];
    const codeMode = createCodeMode({
      tools: probe(async ({ workspace }) => {
        seen.push(workspace!.directory);
        expect((await stat(workspace!.directory)).mode & 0o777).toBe(0o700);
        expect(await readdir(workspace!.directory)).toEqual([]);
        await writeFile(workspace!.path('left.txt'), 'left behind');
      }),
      workspace: {},
      isolation: 'inline',
    });
    closers.push(() => codeMode.close());
    const results = await Promise.all(
      Array.from({ length: 5 }, () => codeMode.run('await tools.probe({}); await tools.probe({}).catch(() => {});')),
    );
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill('completed'));
    expect(new Set(seen).size).toBe(5);
    expect(seen.filter((directory) => existsSync(directory))).toEqual([]);
  });

  test('is gone too when the program failed, was stopped, or its tools could not be collected', async () => {
    const seen: string[] = [];
    const note = ({ workspace }: { workspace?: { directory: string } | undefined }) => void seen.push(workspace!.directory);
    await run((context) => {
      note(context);
      throw new Error('no');
    });
    const codeMode = createCodeMode({
      tools: {
        tools: (binding) => {
          note(binding);
          throw new Error('no tools today');
        },
      },
      workspace: {},
      isolation: 'inline',
    });
    closers.push(() => codeMode.close());
    await expect(codeMode.run('return 1')).rejects.toMatchObject({ code: 'catalog_failed' });
    const stopper = new AbortController();
    const stopping = createCodeMode({
      tools: probe(async (context) => {
        note(context);
        stopper.abort();
        await new Promise(() => {});
      }),
      workspace: {},
      limits: { cleanupMs: 10 },
      isolation: 'inline',
    });
    closers.push(() => stopping.close());
    expect((await stopping.run('await tools.probe({})', { signal: stopper.signal })).status).toBe('terminated');
    expect(seen).toHaveLength(3);
    expect(seen.filter((directory) => existsSync(directory))).toEqual([]);
  });

  test('is shared by the programs of a session, and outlives everything that its tools registered', async () => {
    let directory = '';
    let thereAtEnd = false;
    const codeMode = createCodeMode({
      tools: [
        workspaceTools({ write: true }),
        probe(({ workspace, run }) => {
          directory = workspace!.directory;
          run.register(() => {
            thereAtEnd = existsSync(join(directory, 'a.txt'));
          });
        }),
      ],
      workspace: {},
      isolation: 'inline',
    });
    closers.push(() => codeMode.close());
    const session = await codeMode.openSession();
    await session.exec("await tools.write_file({ path: 'a.txt', text: 'kept' }); await tools.probe({});");
    expect((await session.exec("return (await tools.read_file({ path: 'a.txt' })).text")).value).toBe('kept');
    await session.close();
    expect(thereAtEnd).toBe(true);
    expect(existsSync(directory)).toBe(false);
  });

  test('that was replaced by another directory is left alone, which is told', async () => {
    let directory = '';
    const { rename } = await import('node:fs/promises');
    const running = run(async ({ workspace }) => {
      directory = workspace!.directory;
      await rename(directory, `${directory}-moved`);
      await mkdir(directory);
      await writeFile(join(directory, 'theirs'), '');
    });
    await expect(running).rejects.toMatchObject({ code: 'cleanup_failed' });
    closers.push(
      () => rm(directory, { recursive: true }),
      () => rm(`${directory}-moved`, { recursive: true }),
    );
    expect(await readdir(directory)).toEqual(['theirs']);
  });
});

describe('a given directory', () => {
  test('is every run’s, and is kept', async () => {
    const directory = await folder();
    await run(({ workspace }) => workspace!.write('out/a.txt', 'one'), { workspace: { directory } });
    const { value } = await run(async ({ workspace }) => Buffer.from(await workspace!.read('out/a.txt')).toString(), {
      workspace: { directory },
    });
    expect(value).toBe('one');
    expect(await readFile(join(directory, 'out/a.txt'), 'utf8')).toBe('one');
  });

  test('is reached through a link that the application gave', async () => {
    const outer = await folder();
    await mkdir(join(outer, 'real'));
    await symlink(join(outer, 'real'), join(outer, 'link'));
    const { value } = await run(({ workspace }) => workspace!.directory, { workspace: { directory: join(outer, 'link') } });
    expect(value).toBe(join(outer, 'real'));
  });
});

describe('places', () => {
  const places = (outer: string) => ({
    paths: { docs: join(outer, 'docs'), out: { directory: join(outer, 'out'), writable: true } },
  });

  async function withPlaces() {
    const outer = await folder();
    await mkdir(join(outer, 'docs/guides'), { recursive: true });
    await mkdir(join(outer, 'out'));
    await writeFile(join(outer, 'docs/guides/one.md'), 'find me');
    const opened = await openWorkspace(places(outer));
    closers.push(() => opened.close());
    return { ...opened, places: outer };
  }

  test('stand in the workspace under their names, in listings and searches too', async () => {
    const { call, directory } = await withPlaces();
    await mkdir(join(directory, 'docs'));
    await writeFile(join(directory, 'docs/hidden behind the place.md'), 'find me');
    expect(await call('list_files', { depth: 9, match: '**' })).toMatchObject({
      entries: [
        { path: 'docs', type: 'directory', writable: false },
        { path: 'out', type: 'directory', writable: true },
        { path: 'docs/guides', type: 'directory' },
        { path: 'docs/guides/one.md', type: 'file', bytes: 7 },
      ],
    });
    expect(await call('list_files')).toMatchObject({ entries: [{ path: 'docs' }, { path: 'out' }] });
    expect(await call('read_file', { path: 'docs/guides/one.md' })).toMatchObject({ text: 'find me' });
    expect(await call('search_files', { query: 'find' })).toMatchObject({ matches: [{ path: 'docs/guides/one.md' }] });
  });

  test('are only for reading unless they are said to be writable', async () => {
    const { call, places } = await withPlaces();
    const refused = expect.objectContaining({ code: 'read_only', message: expect.stringContaining('"docs", which is only for reading') });
    await expect(call('write_file', { path: 'docs/new.md', text: '' })).rejects.toEqual(refused);
    await expect(call('replace_in_file', { path: 'docs/guides/one.md', old: 'find', new: 'lose' })).rejects.toEqual(refused);
    await expect(call('delete_file', { path: 'docs/guides/one.md' })).rejects.toEqual(refused);
    await call('write_file', { path: 'out/a.md', text: 'x' });
    expect(await readFile(join(places, 'out/a.md'), 'utf8')).toBe('x');
    await expect(call('delete_file', { path: 'out' })).rejects.toMatchObject({ code: 'not_a_file' });
  });

  test('are not taken for another spelling of their names', async () => {
    const { call, directory } = await withPlaces();
    for (const path of ['Docs/x', 'DOCS/x', 'ｄｏｃｓ/x']) {
      await expect(call('write_file', { path, text: '' })).rejects.toMatchObject({
        code: 'path_invalid',
        message: expect.stringContaining('"docs"'),
      });
    }
    expect(await readdir(directory)).toEqual([]);
  });

  test('context.workspace.path() names them, and refuses what could lead out', async () => {
    const outer = await folder();
    await mkdir(join(outer, 'docs'));
    await mkdir(join(outer, 'out'));
    await run(
      ({ workspace }) => {
        expect(workspace!.path('.')).toBe(workspace!.directory);
        expect(workspace!.path('a/b.txt')).toBe(join(workspace!.directory, 'a/b.txt'));
        expect(workspace!.path('docs/b.txt')).toBe(join(outer, 'docs/b.txt'));
        for (const path of ['../x', '/etc/passwd', 'docs/../../x', 'a\0b', '']) {
          if (path === '') expect(workspace!.path(path)).toBe(workspace!.directory);
          else expect(() => workspace!.path(path)).toThrow(expect.objectContaining({ code: 'path_invalid' }));
        }
      },
      { workspace: places(outer) },
    ).then(({ error }) => expect(error).toBeUndefined());
  });
});

describe('quotas', () => {
  test('bound by how much a run makes its workspace grow; what is deleted is given back', async () => {
    const opened = await openWorkspace({ maxBytes: 1000, maxFiles: 4 });
    closers.push(() => opened.close());
    const write = (path: string, size: number) => opened.call('write_file', { path, text: 'x'.repeat(size) });
    await write('a', 900);
    await write('a', 800);
    await write('b', 200);
    await expect(write('c', 1)).rejects.toMatchObject({ code: 'quota_exceeded', message: expect.stringContaining('1000 bytes') });
    await expect(write('a', 801)).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect((await readdir(opened.directory)).toSorted()).toEqual(['a', 'b']);
    expect((await stat(join(opened.directory, 'a'))).size).toBe(800);
    await opened.call('delete_file', { path: 'a' });
    await write('d/e', 700);
    await write('f', 1);
    await expect(write('g', 1)).rejects.toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringContaining('4 files and directories'),
    });
    await expect(opened.call('replace_in_file', { path: 'f', old: 'x', new: 'y'.repeat(500) })).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    expect(await readFile(join(opened.directory, 'f'), 'utf8')).toBe('x');
  });

  test('hold for writes that come at once', async () => {
    const opened = await openWorkspace({ maxBytes: 1000 });
    closers.push(() => opened.close());
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => opened.call('write_file', { path: `d${index % 3}/${index}`, text: 'x'.repeat(100) })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  });
});

test('nothing stays open: not after errors, searches that end early, or runs', async ({ skip }) => {
  const open = () => readdir('/proc/self/fd').catch(() => undefined);
  const before = await open();
  skip(before === undefined, 'only Linux tells which files are open');
  const opened = await openWorkspace();
  const during = await open();
  await mkdir(join(opened.directory, 'a/b/c'), { recursive: true });
  for (let index = 0; index < 30; index++) {
    await Promise.allSettled([
      opened.call('write_file', { path: `a/b/c/${index}.txt`, text: 'needle\n' }),
      opened.call('read_file', { path: 'a/b/missing/x' }),
      opened.call('read_file', { path: 'a/b/c' }),
      opened.call('search_files', { query: 'needle', limit: 1 }),
      opened.call('list_files', { depth: 9, limit: 2 }),
      opened.call('replace_in_file', { path: 'a/b/c/0.txt', old: 'nothing', new: '' }),
      opened.call('write_file', { path: 'a/b', text: '' }),
    ]);
  }
  expect(await open()).toHaveLength(during!.length);
  await opened.close();
  expect((await open())!.length).toBeLessThan(during!.length);
});

describe('the option', () => {
  test('is needed by workspaceTools(), which says so', async () => {
    const codeMode = createCodeMode({ tools: workspaceTools(), isolation: 'inline' });
    closers.push(() => codeMode.close());
    await expect(codeMode.run('return 1')).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining('the option `workspace`'),
    });
    const { value } = await run(({ workspace }) => workspace === undefined, {});
    expect(value).toBe(true);
  });

  test('without `write`, programs have no tools that write', async () => {
    const codeMode = createCodeMode({ tools: workspaceTools(), workspace: {}, isolation: 'inline' });
    closers.push(() => codeMode.close());
    expect((await codeMode.run('return ALL_TOOLS.map(({ name }) => name)')).value).toEqual(['list_files', 'read_file', 'search_files']);
  });

  test('that is wrong is refused at once, with what was expected', async () => {
    const directory = await folder();
    await mkdir(join(directory, 'a/b'), { recursive: true });
    await writeFile(join(directory, 'file'), '');
    const a = join(directory, 'a');
    const wrong: [unknown, string][] = [
      [true, 'should be an object'],
      [{ direcory: a }, 'did you mean `directory`'],
      [{ directory: join(directory, 'missing') }, 'a directory that is there'],
      [{ directory: join(directory, 'file') }, 'something else'],
      [{ directory: 7 }, 'not a number'],
      [{ paths: [a] }, 'directories by name'],
      [{ paths: { '../x': a } }, 'has the name "../x"'],
      [{ paths: { x: {} } }, 'not undefined'],
      [{ paths: { x: { directory: a, writeable: true } } }, 'did you mean `writable`'],
      [{ paths: { x: { directory: a, writable: 'yes' } } }, 'true or false'],
      [{ paths: { x: a, y: `${a}/` } }, 'the same directory'],
      [{ paths: { x: a, X: join(a, 'b') } }, 'the same but for their case'],
      [{ directory: a, paths: { x: join(a, 'b') } }, 'is inside the other'],
      [{ maxBytes: -1 }, 'workspace.maxBytes'],
      [{ maxFiles: 1.5 }, 'workspace.maxFiles'],
    ];
    for (const [workspace, says] of wrong) {
      expect(() => createCodeMode({ tools: [], workspace: workspace as never }), says).toThrow(
        expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining(says) }),
      );
    }
    expect(() => workspaceTools({ wirte: true } as never)).toThrow(expect.objectContaining({ code: 'option_invalid' }));
    expect(() => workspaceTools({ write: 1 } as never)).toThrow(expect.objectContaining({ code: 'option_invalid' }));
  });

  test('100 runs at once write to one directory, and each finds its own', async () => {
    const directory = await folder();
    const codeMode = createCodeMode({ tools: workspaceTools({ write: true }), workspace: { directory }, isolation: 'inline' });
    closers.push(() => codeMode.close());
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        codeMode.run(`
          await tools.write_file({ path: 'run-${index}/out.txt', text: 'run ${index}' });
          await tools.write_file({ path: 'all.txt', text: '${index}\\n', mode: 'append' });
          return (await tools.read_file({ path: 'run-${index}/out.txt' })).text;`),
      ),
    );
    expect(results.map(({ value, error }) => error?.message ?? value)).toEqual(Array.from({ length: 100 }, (_, index) => `run ${index}`));
    expect((await readFile(join(directory, 'all.txt'), 'utf8')).trim().split('\n')).toHaveLength(100);
    await access(join(directory, 'run-99'));
    expect(basename(directory)).toContain('callgate');
  });
});
