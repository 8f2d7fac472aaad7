// Reading the program: what is no text is said before anything runs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readProgram } from '../../src/cli/program-text.ts';
import { LIMITS } from '../../src/index.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'callgate-cli-'));
  writeFileSync(join(cwd, 'program.ts'), 'return "ż";\n');
  writeFileSync(join(cwd, 'empty.ts'), '');
  writeFileSync(join(cwd, 'picture.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]));
  writeFileSync(join(cwd, 'latin1.js'), Buffer.from('return "caf\xe9"', 'latin1'));
  mkdirSync(join(cwd, 'folder'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

const nothing = Readable.from([]);
const read = (file: string, stdin: Readable = nothing) => readProgram(file, { cwd, stdin });

test('a file is read as UTF-8, relative to the working directory', async () => {
  expect(await read('program.ts')).toBe('return "ż";\n');
  expect(await read('empty.ts')).toBe('');
});

test('- is standard input, also when a character is split between chunks', async () => {
  const bytes = Buffer.from('return "ż"');
  expect(await read('-', Readable.from([bytes.subarray(0, 9), bytes.subarray(9)]))).toBe('return "ż"');
});

test.each([
  ['missing.ts', 'The program missing.ts cannot be read: there is no such file.'],
  ['program.ts/x', 'The program program.ts/x cannot be read: there is no such file.'],
  ['folder', 'The program folder is a directory; name the file in it.'],
  ['picture.png', 'The program picture.png is not text: it holds a zero byte. Expected JavaScript or TypeScript in UTF-8.'],
  ['latin1.js', 'The program latin1.js is not text in UTF-8. Expected JavaScript or TypeScript.'],
])('%s is refused in a sentence that names it', async (file, message) => {
  await expect(read(file)).rejects.toMatchObject({ name: 'UsageError', message });
});

test('endless input is read no further than a program may be long', async () => {
  let given = 0;
  const endless = new Readable({
    read(size) {
      given += size;
      this.push('f();'.repeat(Math.ceil(size / 4)));
    },
  });
  const text = await read('-', endless);
  expect(text.length).toBeGreaterThan(LIMITS.sourceBytes.max);
  expect(given).toBeLessThan(LIMITS.sourceBytes.max + 1024 * 1024);
});

test('an interruption ends the wait for input', async () => {
  const silent = new Readable({ read() {} });
  const interruption = new AbortController();
  const reading = readProgram('-', { cwd, stdin: silent, signal: interruption.signal });
  interruption.abort();
  await expect(reading).rejects.toThrow('The program on standard input was not read to its end: interrupted.');
});
