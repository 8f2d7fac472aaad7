import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { cli } from '../../src/cli/cli.ts';

async function callgate(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const output = (name: keyof typeof written): { write(text: string): void } => ({ write: (text) => void (written[name] += text) });
  const status = await cli(args, {
    stdin: Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
    cwd: process.cwd(),
    env: {},
  });
  return { status, ...written };
}

test('the doctor says what there is, in sections that a person reads', async () => {
  const { status, stdout, stderr } = await callgate('doctor');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^callgate \d+\.\d+\.\d+ on Node \d+/);
  expect(stdout).toMatch(/\nEngines\n {2}quickjs +usable +in thread, process, inline +quickjs-emscripten-core \d/);
  expect(stdout).toMatch(/\n {2}v8 +(usable|not usable) +in process/);
  expect(stdout).toMatch(/\nIn force, as asked for\n {2}engine +quickjs\n {2}isolation +thread\n {2}sandbox +none\n/);
  expect(stdout).toMatch(/\n {2}wallMs +60,000 +ms\n/);
  expect(stdout).not.toMatch(/ \n|\t/);
});

test('with --json it is one document, with the same facts', async () => {
  const { status, stdout } = await callgate('doctor', '--json', '--isolation', 'process');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ isolation: { kind: 'process', sandbox: 'none' }, node: process.versions.node });
});

test('what was asked for and cannot be had is status 1, and says how to get it', async () => {
  const { status, stdout } = await callgate('doctor', '--engine', 'v8', '--node', '/nowhere/node');
  expect(status).toBe(1);
  expect(stdout).toMatch(/\nMissing\n[\s\S]*the engine v8 \(needed for what was asked\): The Node binary .*\/nowhere\/node, cannot be run/);
});

test('options that do not go together are a mistake of usage', async () => {
  const { status, stderr } = await callgate('doctor', '--sandbox', 'os', '--isolation', 'thread');
  expect(status).toBe(2);
  expect(stderr).toContain('is for child processes');
});
