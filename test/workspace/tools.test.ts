// What the tools of a workspace do for a program that means well.
import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenedWorkspace, openWorkspace } from '../helpers/workspace.ts';

let opened: OpenedWorkspace;
beforeEach(async () => {
  opened = await openWorkspace();
});
afterEach(() => opened.close());

const call = (name: string, input?: Record<string, unknown>) => opened.call(name, input);
const inside = (path: string) => join(opened.directory, path);
const paths = (listing: Record<string, unknown>) => (listing['entries'] as { path: string }[]).map(({ path }) => path);

describe('list_files', () => {
  beforeEach(async () => {
    await mkdir(inside('src/deep/deeper'), { recursive: true });
    await mkdir(inside('node_modules/package'), { recursive: true });
    await writeFile(inside('readme.md'), 'hello');
    await writeFile(inside('src/a.ts'), '');
    await writeFile(inside('src/deep/deeper/b.ts'), '');
    await writeFile(inside('node_modules/package/c.ts'), '');
    await symlink('/etc/passwd', inside('passwd'));
  });

  test('lists one directory with kinds and sizes', async () => {
    expect(await call('list_files')).toEqual({
      entries: [
        { path: 'node_modules', type: 'directory', modified: expect.any(String) },
        { path: 'passwd', type: 'link', modified: expect.any(String) },
        { path: 'readme.md', type: 'file', bytes: 5, modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) },
        { path: 'src', type: 'directory', modified: expect.any(String) },
      ],
      truncated: false,
    });
    expect(paths(await call('list_files', { path: 'src/' }))).toEqual(['src/a.ts', 'src/deep']);
    expect(paths(await call('list_files', { path: './node_modules', depth: 2 }))).toEqual([
      'node_modules/package',
      'node_modules/package/c.ts',
    ]);
  });

  test('goes as deep as it is told, nearest first, and not into node_modules', async () => {
    expect(paths(await call('list_files', { depth: 9 }))).toEqual([
      'node_modules',
      'passwd',
      'readme.md',
      'src',
      'src/a.ts',
      'src/deep',
      'src/deep/deeper',
      'src/deep/deeper/b.ts',
    ]);
    expect(paths(await call('list_files', { depth: 2, match: '*.ts' }))).toEqual(['src/a.ts']);
    expect(paths(await call('list_files', { depth: 9, match: 'src/**/*.ts' }))).toEqual(['src/a.ts', 'src/deep/deeper/b.ts']);
    expect(paths(await call('list_files', { depth: 9, match: '{readme,notes}.m?' }))).toEqual(['readme.md']);
    await expect(call('list_files', { match: '{a' })).rejects.toMatchObject({ code: 'pattern_invalid' });
  });

  test('stops at the limit and says so', async () => {
    const listing = await call('list_files', { depth: 9, limit: 3 });
    expect(paths(listing)).toHaveLength(3);
    expect(listing['truncated']).toBe(true);
    expect((await call('list_files', { path: 'src', limit: 2 }))['truncated']).toBe(false);
  });

  test('counts names that could be mistaken for others, and shows none', async () => {
    await writeFile(inside('evil\u202Etxt.exe'), '');
    await writeFile(inside('back\\slash'), '');
    const listing = await call('list_files');
    expect(listing['hidden']).toBe(2);
    expect(JSON.stringify(listing)).not.toMatch(/evil|slash/);
  });

  test('a path that is no directory, or is not there, is told with the nearest name', async () => {
    await expect(call('list_files', { path: 'readme.md' })).rejects.toMatchObject({ code: 'not_a_directory' });
    await expect(call('list_files', { path: 'scr' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no "scr" for the path "scr". Did you mean "src"?',
    });
  });
});

describe('read_file', () => {
  test('reads a text whole or in part', async () => {
    await writeFile(inside('three.txt'), 'one\ntwo\nthree\n');
    expect(await call('read_file', { path: 'three.txt' })).toEqual({
      text: 'one\ntwo\nthree\n',
      fileBytes: 14,
      fromByte: 0,
      toByte: 14,
      fromLine: 1,
      toLine: 3,
      truncated: false,
    });
    expect(await call('read_file', { path: 'three.txt', fromLine: 2, toLine: 2 })).toMatchObject({ text: 'two\n' });
    expect(await call('read_file', { path: 'three.txt', fromByte: 4, maxBytes: 5 })).toMatchObject({ text: 'two\nt', truncated: true });
  });

  test('a file that is not there is told with the nearest name', async () => {
    await mkdir(inside('notes'));
    await writeFile(inside('notes/today.md'), '');
    await expect(call('read_file', { path: 'notes/Today.md' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('Did you mean "today.md"?'),
    });
    await expect(call('read_file', { path: 'notes' })).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(call('read_file', { path: '' })).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(call('read_file', { path: 'notes/today.md/x' })).rejects.toMatchObject({ code: 'not_a_directory' });
  });

  test('a huge file is read in part without being read whole', async () => {
    const line = `${'x'.repeat(99)}\n`;
    await writeFile(inside('huge.txt'), line.repeat(100_000));
    expect(await call('read_file', { path: 'huge.txt' })).toMatchObject({ fileBytes: 10_000_000, toLine: 2621, truncated: true });
    expect(await call('read_file', { path: 'huge.txt', fromLine: 99_999, toLine: 99_999 })).toMatchObject({
      text: line,
      fromByte: 9_999_800,
    });
  });
});

describe('search_files', () => {
  beforeEach(async () => {
    await mkdir(inside('src'));
    await writeFile(inside('src/a.ts'), 'const a = 1;\nfunction Gate() {}\n// gate (1+1)\n');
    await writeFile(inside('b.md'), 'The gate.\r\nNothing.\r\n');
    await writeFile(inside('image.png'), Buffer.from('89504e470d0a1a0a00gate', 'latin1'));
    await writeFile(inside('image.bin'), Buffer.from('gate\0gate'));
  });

  test('finds a literal, with line and column, and not in what is no text', async () => {
    const found = await call('search_files', { query: 'gate' });
    expect(found).toMatchObject({
      matches: [
        { path: 'b.md', line: 1, column: 5, text: 'The gate.' },
        { path: 'image.png', line: 1 },
        { path: 'src/a.ts', line: 3, column: 4, text: '// gate (1+1)' },
      ],
      skipped: { binary: 1, large: 0, links: 0, longLines: 0 },
    });
    expect(found).not.toHaveProperty('stopped');
    expect(await call('search_files', { query: '(1+1)' })).toMatchObject({ matches: [{ path: 'src/a.ts', column: 9 }] });
    expect((await call('search_files', { query: 'GATE', ignoreCase: true, files: '*.ts' }))['matches']).toHaveLength(2);
  });

  test('finds a regular expression, per line, with lines around it', async () => {
    expect(await call('search_files', { query: '^function\\s+\\w+', regex: true, context: 1 })).toMatchObject({
      matches: [{ path: 'src/a.ts', line: 2, column: 1, text: 'function Gate() {}', before: ['const a = 1;'], after: ['// gate (1+1)'] }],
    });
    expect((await call('search_files', { query: 'nothing\\.$', regex: true, ignoreCase: true }))['matches']).toHaveLength(1);
    expect((await call('search_files', { query: 'gate', path: 'src', files: 'src/*.ts' }))['matches']).toHaveLength(1);
  });

  test.each([
    [{ query: '(', regex: true }, 'is no regular expression'],
    [{ query: '(?=x)x', regex: true }, 'look-around'],
    [{ query: '(a)\\1', regex: true }, 'back references'],
    [{ query: 'a\nb' }, 'line break'],
    [{ query: 'x'.repeat(1001) }, 'longer than 1000'],
    [{ query: '((a{100}){100}){100}', regex: true }, ''],
  ])('%j is refused with the reason', async (input, says) => {
    await expect(call('search_files', input)).rejects.toMatchObject({ code: 'pattern_invalid', message: expect.stringContaining(says) });
  });

  test.each([false, true])(
    'a line that is nearly a long query, again and again, is not searched to its end (ignoreCase: %s)',
    async (ignoreCase) => {
      await writeFile(inside('long.txt'), `${'a'.repeat(4_000_000)}\nb\n`);
      const query = `${'a'.repeat(999)}b`;
      const found = await call('search_files', { query, ignoreCase, files: 'long.txt' });
      expect(found).toMatchObject({ matches: [], skipped: { longLines: 1 } });
      await writeFile(inside('long.txt'), `${'a'.repeat(10_000)}b\n`);
      expect(await call('search_files', { query, ignoreCase, files: 'long.txt' })).toMatchObject({ matches: [{ line: 1, column: 9_002 }] });
    },
  );

  test('a pattern that would take a backtracking matcher years takes no longer than others', async () => {
    await writeFile(inside('evil.txt'), `${'a'.repeat(200_000)}!\n`);
    const before = performance.now();
    expect(await call('search_files', { query: '(a+)+$', regex: true })).toMatchObject({ matches: [] });
    expect(await call('search_files', { query: '(a|a)*b', regex: true, files: 'evil.txt' })).toMatchObject({ matches: [] });
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test('stops at the limit and says so; a long line is cut around the match', async () => {
    await writeFile(inside('many.txt'), 'needle\n'.repeat(50));
    expect(await call('search_files', { query: 'needle', limit: 7 })).toMatchObject({ stopped: 'matches' });
    await writeFile(inside('long.txt'), `${'😀'.repeat(2000)}here${'x'.repeat(3000)}`);
    const [match] = (await call('search_files', { query: 'here' }))['matches'] as [{ text: string; column: number }];
    expect(match.column).toBe(4001);
    expect(match.text.length).toBeLessThan(310);
    expect(match.text).toMatch(/^…(?:😀)+here(x)+…$/u);
  });
});

describe('write_file', () => {
  test('makes files and the directories above them, and tells their size', async () => {
    expect(await call('write_file', { path: 'out/2024/a.txt', text: 'grün' })).toEqual({ bytes: 5, created: true });
    expect(await readFile(inside('out/2024/a.txt'), 'utf8')).toBe('grün');
    expect(await call('write_file', { path: 'out/2024/a.txt', text: 'x' })).toEqual({ bytes: 1, created: false });
    expect(await call('write_file', { path: 'out/2024/a.txt', text: 'y', mode: 'append' })).toEqual({ bytes: 2, created: false });
    expect(await call('write_file', { path: 'new.txt', text: 'y', mode: 'append' })).toEqual({ bytes: 1, created: true });
    await expect(call('write_file', { path: 'new.txt', text: 'z', mode: 'create' })).rejects.toMatchObject({ code: 'exists' });
    expect(await readFile(inside('new.txt'), 'utf8')).toBe('y');
    expect(await readdir(inside('out/2024'))).toEqual(['a.txt']);
  });

  test('keeps the mode of a file that it overwrites', async () => {
    await writeFile(inside('run.sh'), 'old');
    await chmod(inside('run.sh'), 0o755);
    await call('write_file', { path: 'run.sh', text: 'new' });
    expect((await stat(inside('run.sh'))).mode & 0o777).toBe(0o755);
  });

  test('does not make names that are devices elsewhere, nor write over directories', async () => {
    await expect(call('write_file', { path: 'aux.txt', text: '' })).rejects.toMatchObject({ code: 'path_invalid' });
    await expect(call('write_file', { path: 'nul/x', text: '' })).rejects.toMatchObject({ code: 'path_invalid' });
    await mkdir(inside('directory'));
    await expect(call('write_file', { path: 'directory', text: '' })).rejects.toMatchObject({ code: 'not_a_file' });
  });

  test('a hundred at once, to one file and to many, are all there', async () => {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        await call('write_file', { path: 'log.txt', text: `${index}\n`, mode: 'append' });
        await call('write_file', { path: `many/${index}.txt`, text: `${index}` });
      }),
    );
    const lines = (await readFile(inside('log.txt'), 'utf8')).trim().split('\n').map(Number);
    expect(lines.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 50 }, (_, index) => index));
    expect(await readdir(inside('many'))).toHaveLength(50);
  });
});

describe('replace_in_file', () => {
  const edit = (old: string, text: string) => call('replace_in_file', { path: 'f.txt', old, new: text });

  test('replaces the one occurrence, exactly', async () => {
    await writeFile(inside('f.txt'), '\ufeffone\r\ntwo $& $1\nthree');
    expect(await edit('two $& $1\n', 'zwei $$ $`\n')).toEqual({ line: 2, bytes: Buffer.byteLength('\ufeffone\r\nzwei $$ $`\nthree') });
    expect(await readFile(inside('f.txt'), 'utf8')).toBe('\ufeffone\r\nzwei $$ $`\nthree');
    await edit('three', '');
    expect(await readFile(inside('f.txt'), 'utf8')).toBe('\ufeffone\r\nzwei $$ $`\n');
  });

  test('none and several are errors that say how many and where, and change nothing', async () => {
    await writeFile(inside('f.txt'), 'a\nb a\nc\na');
    await expect(edit('a', 'x')).rejects.toMatchObject({
      code: 'several_matches',
      message: expect.stringContaining('occurs 3 times in "f.txt", in the lines 1, 2, 4'),
      details: { details: { count: 3, lines: [1, 2, 4] } },
    });
    await expect(edit('d', 'x')).rejects.toMatchObject({ code: 'no_match' });
    await writeFile(inside('f.txt'), 'aaa');
    await expect(edit('aa', 'x')).rejects.toMatchObject({ code: 'several_matches' });
    await writeFile(inside('f.txt'), 'a\n'.repeat(100));
    await expect(edit('a', 'x')).rejects.toMatchObject({
      message: expect.stringContaining('occurs 100 times in "f.txt", in lines such as 1, 2,'),
    });
    expect(await readFile(inside('f.txt'), 'utf8')).toBe('a\n'.repeat(100));
  });

  test.each([
    ['if (a) {\r\n  b();\r\n}', 'if (a) {\n  b();', 'end in \\r\\n'],
    ['x\n    return  1;\n', 'return 1;', 'Line 2 begins like it'],
    ['const A = 1;', 'const a = 1;', 'Line 1 has it with other capital letters'],
  ])('in %j, %j is not found, with a hint', async (text, old, hint) => {
    await writeFile(inside('f.txt'), text);
    await expect(edit(old, 'y')).rejects.toMatchObject({ code: 'no_match', message: expect.stringContaining(hint) });
  });

  test('a file that is not there or is no text is refused', async () => {
    await expect(edit('a', 'b')).rejects.toMatchObject({ code: 'not_found' });
    await writeFile(inside('f.txt'), Buffer.from('89504e470d0a1a0a00', 'hex'));
    await expect(edit('a', 'b')).rejects.toMatchObject({ code: 'not_text', details: { details: { type: 'image/png' } } });
  });
});

test('delete_file deletes one file, and neither directories nor links', async () => {
  await writeFile(inside('a.txt'), 'abc');
  expect(await call('delete_file', { path: 'a.txt' })).toEqual({ bytes: 3 });
  await expect(call('delete_file', { path: 'a.txt' })).rejects.toMatchObject({ code: 'not_found' });
  await mkdir(inside('d'));
  await symlink('d', inside('l'));
  await writeFile(inside('one'), '');
  await link(inside('one'), inside('two'));
  await expect(call('delete_file', { path: 'd' })).rejects.toMatchObject({ code: 'not_a_file' });
  await expect(call('delete_file', { path: 'l' })).rejects.toMatchObject({ code: 'link_refused' });
  await expect(call('delete_file', { path: 'two' })).rejects.toMatchObject({ code: 'link_refused' });
  expect((await readdir(opened.directory)).toSorted()).toEqual(['d', 'l', 'one', 'two']);
});
