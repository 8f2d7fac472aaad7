// Child processes as the system sees them, and children that do not speak as they should.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCodeMode, defineTool } from '../../src/index.ts';
import { createAlone } from '../../src/isolation/awake.ts';
import type { Command, Confined } from '../../src/isolation/confine.ts';
import { FrameError } from '../../src/isolation/frames.ts';
import { startProcess } from '../../src/isolation/process.ts';

const isLinux = process.platform === 'linux';
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** The processes that `pid` has started, by /proc. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1]) === pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function until(condition: () => boolean, withinMs = 10_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!condition() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).toBe(true);
}

const held = defineTool({ name: 'held', description: 'Takes its time.', inputSchema: { type: 'object' }, execute: () => released });
let release: () => void = () => undefined;
let released: Promise<void> = Promise.resolve();
const hold = (): void => {
  released = new Promise((resolve) => {
    release = resolve;
  });
};
afterEach(() => release());

describe.runIf(isLinux)('a child', () => {
  test('inherits nothing but its pipes: no environment, no descriptor, a folder that is gone as soon as it has started', async () => {
    const before = new Set(childrenOf(process.pid));
    const codeMode = createCodeMode({ tools: [], isolation: 'process', workers: 1 });
    onTestFinished(() => codeMode.close());
    await codeMode.run('return 1');
    const [pid] = childrenOf(process.pid).filter((child) => !before.has(child)) as [number];
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('');
    await until(() => readlinkSync(`/proc/${pid}/cwd`).endsWith(' (deleted)'));
    expect(readlinkSync(`/proc/${pid}/cwd`)).toMatch(/\/callgate-\w+ \(deleted\)$/);
    expect((await codeMode.run('return new Date(0).toLocaleDateString("de-DE")')).value).toBe('1.1.1970');
    // What Node opens for itself has no name in the file system, but for /dev/null; pipes are sockets.
    const descriptors = readdirSync(`/proc/${pid}/fd`).map((name) => [Number(name), readlinkSync(`/proc/${pid}/fd/${name}`)] as const);
    expect(descriptors.filter(([, target]) => target.startsWith('socket:') || target.startsWith('pipe:')).map(([fd]) => fd)).toEqual(
      expect.arrayContaining([2, 3, 4]),
    );
    for (const [, target] of descriptors) expect(target).toMatch(/^(socket|pipe|anon_inode):|^\/dev\/null$/);
    expect(descriptors.filter(([, target]) => target.startsWith('socket:'))).toHaveLength(3);
    await codeMode.close();
    expect(isAlive(pid)).toBe(false);
  });

  test('is held to limits by the system', async () => {
    const before = new Set(childrenOf(process.pid));
    const codeMode = createCodeMode({ tools: [], isolation: 'process', workers: 1 });
    onTestFinished(() => codeMode.close());
    await codeMode.run('return 1');
    const [pid] = childrenOf(process.pid).filter((child) => !before.has(child)) as [number];
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    expect(limits).toMatch(/Max core file size +0 +0/);
    expect(limits).toMatch(/Max file size +0 +0/);
    expect(limits).toMatch(/Max open files +64 +64/);
    expect(limits).toMatch(/Max data size +\d+ +\d+/);
    expect(limits).toMatch(/Max cpu time +\d+ +\d+/);
  });

  test('that is killed takes exactly its own program with it, and is replaced', async () => {
    const before = new Set(childrenOf(process.pid));
    const codeMode = createCodeMode({ tools: [held], isolation: 'process', workers: 1 });
    onTestFinished(() => codeMode.close());
    hold();
    const running = codeMode.run('await tools.held({}); return 1');
    // Beside it there are for a moment programs that say what the system has.
    const started = (): number[] =>
      childrenOf(process.pid).filter((child) => !before.has(child) && commandOf(child).includes('process-entry'));
    await until(() => started().length > 0);
    const [pid] = started() as [number];
    await codeMode.run('return 1').then(() => undefined);
    process.kill(pid, 'SIGKILL');
    const beside = codeMode.run('return 2');
    release();
    const outcomes = [await running, await beside];
    // Parked while the other ran, or in the child that was killed: one of both, as it comes.
    for (const { status, error } of outcomes) if (status !== 'completed') expect(error?.kind).toBe('fault');
    expect((await codeMode.run('return 3')).value).toBe(3);
  });

  test.each([
    ['by the system', ''],
    ['by a thread of its own, where the system does not', 'bare'],
  ])('that is stuck dies with its host, also when that is killed: %s', async (_, how) => {
    const host = spawn(process.execPath, ['--input-type=module', '--eval', HOST, dist, how], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void host.kill('SIGKILL'));
    await new Promise((resolve) => host.stdout.once('data', resolve));
    const [pid] = childrenOf(host.pid as number) as [number];
    expect(isAlive(pid)).toBe(true);
    host.kill('SIGKILL');
    await until(() => !isAlive(pid), 5_000);
  });
});

/** An application whose guest computes for ever; says so when it does. */
const HOST = `
const [dist, how] = process.argv.slice(-2);
const { startProcess } = await import(dist + 'isolation/process.js');
const { confine } = await import(dist + 'isolation/confine.js');
const { createAlone } = await import(dist + 'isolation/awake.js');
const { seal } = await import(dist + 'protocol/messages.js');
const bare = async ({ file, args }) => ({ file, args, stdio: [], release() {}, inForce: { sandbox: 'none', limits: [], diesWithParent: false, notes: [] } });
const channel = startProcess({
  start: { engine: 'quickjs', allowNode22: false },
  node: process.execPath,
  reads: [],
  limits: {},
  confine: how === 'bare' ? bare : (command) => confine(command, 'none'),
  alone: createAlone(),
});
channel.ref();
channel.onLost = (reason) => { throw reason; };
channel.onMessage = () => {
  channel.onMessage = () => undefined;
  channel.send(seal({ type: 'catalog', catalog: 'a' }, JSON.stringify({ tools: [], globals: {}, functions: [] })));
  const guest = { calls: 1, argumentBytes: 1e5, outputBytes: 1e5, valueBytes: 1e5, storeBytes: 1e5 };
  // No clock of the engine's ends it: only the death of its host can.
  const options = { cpuMs: 1e9, sliceMs: 1e9, deadline: Date.now() + 1e9, memoryBytes: 64 << 20, stackBytes: 256 << 10, guest, store: '{}', timeZone: 'UTC', locale: 'en-US' };
  channel.send(seal({ type: 'start', id: 1, catalog: 'a', ...options }, 'for (;;) {}'));
  setTimeout(() => console.log('stuck'), 300);
};
`;

describe('a child that speaks wrongly is lost, alone', () => {
  /** A channel to a child that runs `code` instead of ours. */
  function impostor(code: string): { lost: Promise<unknown>; heard: string[]; close(): Promise<void> } {
    const confine = async ({ file }: Command): Promise<Confined> => ({
      file,
      args: ['--eval', `const { writeSync } = require('node:fs'); ${code}; setInterval(() => {}, 1000);`],
      stdio: [],
      release: () => undefined,
      inForce: { sandbox: 'none', limits: [], diesWithParent: false, notes: [] },
    });
    const start = { engine: 'quickjs', allowNode22: false } as const;
    const channel = startProcess({ start, node: process.execPath, reads: [], limits: {}, confine, alone: createAlone() });
    channel.ref();
    onTestFinished(() => channel.close());
    const heard: string[] = [];
    channel.onMessage = (text) => void heard.push(text);
    const lost = new Promise((resolve) => {
      channel.onLost = resolve;
    });
    return { lost, heard, close: () => channel.close() };
  }

  test.each([
    ['a frame that is too long', 'writeSync(3, Buffer.from([255, 255, 255, 255, 0]))', /4294967295 bytes long/],
    ['a kind of frame that there is not', 'writeSync(3, Buffer.from([0, 0, 0, 1, 9, 9]))', /no kind 9/],
    ['text that is none', 'writeSync(3, Buffer.from([0, 0, 0, 1, 0, 255]))', /not UTF-8/],
    ['half a frame', 'writeSync(3, Buffer.from([0, 0, 0, 9, 0, 65])); process.exit(0)', /in the middle of a message/],
  ])('%s', async (_, code, message) => {
    const { lost } = impostor(code);
    const reason = await lost;
    expect(reason).toBeInstanceOf(FrameError);
    expect((reason as Error).message).toMatch(message);
  });

  test('what it writes to its output and errors is no part of the conversation', async () => {
    const { lost, heard } = impostor(
      "console.log('\\0\\0\\0\\u0001\\0x'); console.error('last words'); writeSync(3, Buffer.from([0, 0, 0, 2, 0, 79, 75])); setTimeout(() => process.exit(3), 200)",
    );
    expect(String(await lost)).toMatch(/ended with code 3. It wrote: last words/);
    expect(heard).toEqual(['OK']);
  });

  test('a binary that is not there is told', async () => {
    const start = { engine: 'quickjs', allowNode22: false } as const;
    const confine = async ({ file, args }: Command): Promise<Confined> => ({
      file,
      args,
      stdio: [],
      release: () => undefined,
      inForce: { sandbox: 'none', limits: [], diesWithParent: false, notes: [] },
    });
    const channel = startProcess({ start, node: '/nowhere/node', reads: [], limits: {}, confine, alone: createAlone() });
    const reason = await new Promise((resolve) => {
      channel.onLost = resolve;
    });
    expect(String(reason)).toMatch(/ENOENT/);
    await channel.close();
  });
});
