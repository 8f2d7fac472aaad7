// What an application is told of what holds its programs: with a result, beforehand, and of the whole machine.
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type CodeMode, CodeModeError, type CodeModeOptions, createCodeMode, defineTool, LIMITS, v8 } from '../../src/index.ts';
import { findMeans, obstacleTo } from '../../src/isolation/confine.ts';

const isLinux = process.platform === 'linux';
const obstacle = await obstacleTo(process.execPath, await findMeans());
const NODE_24 = resolve(import.meta.dirname, '../../node_modules/node/bin/node');

const double = defineTool({
  name: 'double',
  description: 'Twice a number.',
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  execute: ({ n }) => n * 2,
});

function open(options: Partial<CodeModeOptions>): CodeMode {
  const codeMode = createCodeMode({ tools: [double], workers: 1, ...options });
  onTestFinished(() => codeMode.close());
  return codeMode;
}

test('a thread is said to be one, and nothing of the system', async () => {
  const codeMode = open({});
  const isolation = { engine: 'quickjs', kind: 'thread', sandbox: 'none', systemLimits: [], notes: [] };
  expect(codeMode.isolation).toEqual(isolation);
  expect((await codeMode.run('return 1')).isolation).toEqual(isolation);
});

test('of a child process nothing is said before there is one', async () => {
  const codeMode = open({ isolation: 'process' });
  expect(codeMode.isolation).toBeUndefined();
  const { isolation } = await codeMode.run('return 1');
  expect(isolation).toMatchObject({ engine: 'quickjs', kind: 'process', sandbox: 'none' });
  expect(codeMode.isolation).toEqual(isolation);
  if (isLinux && existsSync('/usr/bin/prlimit')) {
    expect(isolation?.systemLimits).toEqual(['dataBytes', 'cpuSeconds', 'fileBytes', 'descriptors', 'coreBytes']);
  }
});

test('a session says it with the end of a program', async () => {
  const codeMode = open({});
  await using session = await codeMode.openSession();
  expect((await session.exec('return 1')).isolation).toMatchObject({ kind: 'thread' });
  const working = await session.exec('await sleep(300); return 2', { observeMs: 1 });
  expect(working).not.toHaveProperty('isolation');
  expect((await session.wait()).isolation).toMatchObject({ kind: 'thread' });
});

test.each([
  [{ sandbox: 'bwrap' }, /`sandbox` should be "none", "os" or "auto", but is "bwrap"/],
  [{ sandbox: 'os', isolation: 'thread' }, /`sandbox: "os"` is for child processes, and `isolation: "thread"` has none/],
  [{ sandbox: 'auto', isolation: 'inline' }, /`isolation: "inline"` has none; leave `isolation` out/],
])('%j is refused', (options, message) => {
  expect(() => open(options as CodeModeOptions)).toThrow(message);
});

describe.skipIf(!isLinux || obstacle !== undefined)(`with the operating system's sandbox (${obstacle ?? 'it runs here'})`, () => {
  test.each(['os', 'auto'] as const)('`%s` runs programs in it, and says so', async (sandbox) => {
    const codeMode = open({ sandbox });
    const result = await codeMode.run(
      'console.log("in"); return [await tools.double({ n: 21 }), new Intl.NumberFormat("en-US").format(1234.5)]',
    );
    expect(result).toMatchObject({ status: 'completed', value: [42, '1,234.5'], output: 'in' });
    expect(result.isolation).toEqual({
      engine: 'quickjs',
      kind: 'process',
      sandbox: 'bubblewrap',
      systemLimits: expect.arrayContaining(['dataBytes', 'coreBytes']),
      notes: [],
    });
    expect(codeMode.isolation).toEqual(result.isolation);
  });

  test('errors, many calls at once and big values come through its pipes as through any other', async () => {
    const codeMode = open({ sandbox: 'os' });
    const many = await codeMode.run(
      'return (await Promise.all(Array.from({ length: 300 }, (_, n) => tools.double({ n })))).reduce((a, b) => a + b)',
    );
    expect(many.value).toBe(299 * 300);
    const big = await codeMode.run('return "é".repeat(400_000)');
    expect(big.value).toBe('é'.repeat(400_000));
    const wrong = await codeMode.run('const a = 1;\nnull.x;');
    expect(wrong.error).toMatchObject({ kind: 'program', name: 'TypeError', line: 2 });
    const endless = await codeMode.run('for (;;);', { limits: { cpuMs: 200 } });
    expect(endless.error?.kind).toBe('timeout');
    expect((await codeMode.run('return 1')).value).toBe(1);
  });

  test.skipIf(!existsSync(NODE_24))('the engine v8 runs in it too (needs the development dependency node)', async () => {
    const codeMode = open({ engine: v8({ node: NODE_24 }), sandbox: 'os' });
    const { status, value, error, isolation } = await codeMode.run(
      'const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); return [f(20), await tools.double({ n: 1 })]',
    );
    expect(error).toBeUndefined();
    expect([status, value]).toEqual(['completed', [6765, 2]]);
    expect(isolation).toMatchObject({ engine: 'v8', kind: 'process', sandbox: 'bubblewrap' });
  });
});

describe.skipIf(!isLinux)('with a bubblewrap that may not do its work', () => {
  let folder: string;
  const path = process.env['PATH'];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'callgate-bwrap-'));
    writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2; exit 1\n');
    chmodSync(join(folder, 'bwrap'), 0o755);
    process.env['PATH'] = `${folder}${delimiter}${path}`;
  });
  afterAll(() => {
    process.env['PATH'] = path;
    rmSync(folder, { recursive: true });
  });

  test('`os` runs nothing and says why', async () => {
    const codeMode = open({ sandbox: 'os' });
    const refused = await codeMode.run('return 1').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CodeModeError);
    expect(refused).toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('bwrap: setting up uid map: Permission denied'),
    });
    await expect(codeMode.openSession()).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    expect(codeMode.isolation).toBeUndefined();
  });

  test('`auto` runs without it, and every result says so', async () => {
    const { status, isolation } = await open({ sandbox: 'auto' }).run('return 1');
    expect(status).toBe('completed');
    expect(isolation).toMatchObject({ kind: 'process', sandbox: 'none' });
    expect(isolation?.notes.join()).toMatch(/no sandbox of the operating system: .*Permission denied/);
  });

  test('is described as missing, and as needed where it is', async () => {
    const needy = await open({ sandbox: 'os' }).describe();
    expect(needy).not.toHaveProperty('isolation');
    expect(needy.sandbox).toMatchObject({ usable: false, name: 'bubblewrap' });
    expect(needy.missing).toContainEqual({
      what: "the operating system's sandbox",
      how: expect.stringMatching(/Permission denied/),
      needed: true,
    });
    const modest = await open({}).describe();
    expect(modest.missing).toContainEqual(expect.objectContaining({ what: "the operating system's sandbox", needed: false }));
  });
});

describe('a description', () => {
  test('has the versions, the limits and what is in force, as plain JSON', async () => {
    const description = await open({ limits: { calls: 7 } }).describe();
    expect(JSON.parse(JSON.stringify(description))).toEqual(description);
    expect(description).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.versions.node,
      platform: process.platform,
      arch: process.arch,
      isolation: { engine: 'quickjs', kind: 'thread', sandbox: 'none' },
      typecheck: { usable: true, version: expect.stringMatching(/^\d/) },
    });
    expect(description.limits).toEqual({
      ...Object.fromEntries(Object.entries(LIMITS).map(([name, row]) => [name, row.default])),
      calls: 7,
    });
    expect(description.engines[0]).toMatchObject({
      name: 'quickjs',
      usable: true,
      versions: { 'quickjs-emscripten-core': expect.stringMatching(/^\d/) },
      isolations: ['thread', 'process', 'inline'],
    });
  });

  test('says what a run would find: the child has then what was foreseen', async () => {
    const codeMode = open({ sandbox: 'auto' });
    const { isolation } = await codeMode.describe();
    expect((await codeMode.run('return 1')).isolation).toEqual(isolation);
  });

  test('of an engine that cannot be had says what is missing', async () => {
    const { engines, missing } = await open({ engine: v8({ node: '/nowhere/node' }) }).describe();
    expect(engines[1]).toMatchObject({ name: 'v8', usable: false });
    expect(missing).toContainEqual({ what: 'the engine v8', how: expect.stringMatching(/\/nowhere\/node, cannot be run/), needed: true });
  });

  test.skipIf(!existsSync(NODE_24))('of v8 with a Node that fits has both versions (needs the development dependency node)', async () => {
    const { engines, missing } = await open({ engine: v8({ node: NODE_24 }) }).describe();
    expect(engines[1]).toMatchObject({
      usable: true,
      versions: { 'isolated-vm': expect.stringMatching(/^\d/), node: expect.stringMatching(/^24\./) },
    });
    expect(missing.map(({ what }) => what)).not.toContain('the engine v8');
  });
});
