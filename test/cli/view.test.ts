// Traces at the command line: written by run, shown by view, run again by replay.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli } from '../../src/cli/cli.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'callgate-view-'));
  writeFileSync(
    join(cwd, 'tools.mjs'),
    `import { defineTool } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
    export default defineTool({ name: 'echo', description: 'Gives the text back.', inputSchema: {}, execute: ({ text }) => text });`,
  );
});
afterAll(() => rmSync(cwd, { recursive: true }));

async function callgate(args: readonly string[], input = ''): Promise<{ status: number; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', ''];
  const status = await cli(args, {
    stdin: Readable.from([input]),
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    cwd,
    env: {},
  });
  return { status, stdout, stderr };
}

const PROGRAM = "const a = await tools.echo({ text: 'one\\u001b[2J' });\nconsole.log(a);\nreturn [a, await tools.echo({ text: 'two' })];";
const run = (trace: string, ...more: string[]) =>
  callgate(['run', '-', '--tools', 'tools.mjs', '--isolation', 'inline', '--trace', trace, ...more], PROGRAM);

test('a trace that run wrote is shown, without a control character, and goes the same way again', async () => {
  expect((await run('a.jsonl')).status).toBe(0);
  const shown = await callgate(['view', 'a.jsonl']);
  expect(shown).toMatchObject({ status: 0, stderr: '' });
  expect(shown.stdout).toMatch(/1 program, from \d{4}-/);
  expect(shown.stdout).toMatch(/program 1 completed in [\d.]+ ms, [\d.]+ ms of it computing, 2 calls/);
  expect(shown.stdout).toContain('call echo (line 1)');
  expect(shown.stdout).not.toContain('two');
  const whole = await callgate(['view', 'a.jsonl', '--payloads']);
  expect(whole.stdout).toContain('   3 | return [a, await');
  expect(whole.stdout).toContain('output "two"');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  expect(whole.stdout).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f]/);
  expect(await callgate(['replay', 'a.jsonl'])).toEqual({ status: 0, stdout: 'program 1 went the same way, with 2 calls.\n', stderr: '' });
});

test('a replay that differs says where, with status 1', async () => {
  await run('b.jsonl');
  const path = join(cwd, 'b.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace("'two'", "'too'"));
  const { status, stdout } = await callgate(['replay', 'b.jsonl', '--program', '1']);
  expect(status).toBe(1);
  expect(stdout).toBe('program 1 differs. Call 2 is `echo({"text":"too"})`; recorded was `echo({"text":"two"})` at line 3.\n');
});

test('--no-payloads leaves texts and values out, and --quiet the calls', async () => {
  expect((await run('c.jsonl', '--no-payloads', '--quiet')).stderr).toBe('');
  const text = readFileSync(join(cwd, 'c.jsonl'), 'utf8');
  expect(text).not.toMatch(/two|echo\(/);
  expect((await callgate(['replay', 'c.jsonl'])).stdout).toBe('program 1 cannot be replayed: its text was not captured.\n');
});

test('what is no trace, or no number of a program, is the caller’s mistake', async () => {
  await run('d.jsonl');
  expect(await callgate(['view', 'none.jsonl'])).toMatchObject({ status: 2, stderr: expect.stringContaining('cannot be read') });
  expect(await callgate(['view', 'tools.mjs'])).toMatchObject({ status: 2, stderr: expect.stringContaining('no trace') });
  expect(await callgate(['replay', 'd.jsonl', '--program', '2'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('there is no number 2'),
  });
  expect(await run('d.jsonl')).toMatchObject({ status: 2, stderr: expect.stringContaining('exists already') });
});
