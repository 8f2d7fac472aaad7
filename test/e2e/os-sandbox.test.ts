// A child that has been taken over: it runs whatever code it likes, as after an escape from the engine. What it tries is tried without the
// sandbox too, where it must succeed; otherwise a test here would show nothing.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createCodeMode } from '../../src/index.ts';
import { findMeans, obstacleTo } from '../../src/isolation/confine.ts';
import { DENIED } from '../../src/isolation/seccomp.ts';
import { askConfined, runConfined } from '../helpers/confined.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NODE_24 = join(ROOT, 'node_modules/node/bin/node');
const nodes = [process.execPath, ...(existsSync(NODE_24) ? [NODE_24] : [])];

const means = await findMeans();
const obstacle = await obstacleTo(process.execPath, means);
const cannot = process.platform !== 'linux' || obstacle !== undefined;
if (cannot) console.warn(`The operating system's sandbox is not tested: ${obstacle ?? 'this is not Linux.'}`);

let folder: string;
let server: Server;
let port: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'callgate-os-'));
  server = createServer((socket) => socket.on('error', () => undefined).end('reached'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  port = (server.address() as { port: number }).port;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

describe.skipIf(cannot).each(nodes)(`a child under bubblewrap (${obstacle ?? 'it runs here'}), with %s`, (file) => {
  const ask = (script: string): Promise<unknown> => askConfined(script, { file }, 'os', means);
  const askBare = (script: string): Promise<unknown> => askConfined(script, { file }, 'none', means);

  test('reads no file of the project, of the system or of its user, by any path', async () => {
    const secret = join(folder, 'secret.txt');
    writeFileSync(secret, 'secret');
    const paths = [
      secret,
      join(ROOT, 'package.json'),
      import.meta.filename,
      '/etc/passwd',
      '/etc/hostname',
      '/proc/self/environ',
      `/proc/${process.pid}/root/etc/passwd`,
      `/lib/../..${secret}`,
      join(ROOT, 'node_modules/../package.json'),
    ];
    const script = `const fs = require('node:fs'); answer(${JSON.stringify(paths)}.filter((path) => { try { fs.readFileSync(path); return true; } catch { return false; } }));`;
    expect(await ask(script)).toEqual([]);
    expect(await askBare(script)).toEqual(expect.arrayContaining([secret, join(ROOT, 'package.json'), '/etc/passwd']));
  });

  test('finds no folder but those on the way to Node and its libraries', async () => {
    const walk = `const fs = require('node:fs'); const { join } = require('node:path'); const files = [];
      const walk = (path) => { let entries = []; try { entries = fs.readdirSync(path, { withFileTypes: true }); } catch {}
        for (const entry of entries) { const at = join(path, entry.name); if (entry.isDirectory()) walk(at); else files.push(at); } };
      walk('/'); answer(files);`;
    const files = (await ask(walk)) as string[];
    expect(files.filter((path) => !/\.so(\.\d+)*$/.test(path) && !/^\/lib(64)?$/.test(path))).toEqual([file]);
    expect(readdirSync(homedir()).filter((name) => files.some((path) => path.includes(`/${name}/`)))).toEqual([]);
  });

  test('reaches neither loopback nor any other network, and makes no socket', async () => {
    const script = `const net = require('node:net'); const seen = {};
      const tried = (name, run) => new Promise((done) => { const end = (result) => { seen[name] = result; done(); };
        try { run(end); } catch (error) { end(error.code); } });
      (async () => {
        await tried('loopback', (end) => net.connect(${port}, '127.0.0.1').on('data', String).on('data', (data) => end(String(data))).on('error', (error) => end(error.code)));
        await tried('listen', (end) => { const server = net.createServer().on('error', (error) => end(error.code)).listen(0, '127.0.0.1', () => { server.close(); end('listens'); }); });
        await tried('local', (end) => { const server = net.createServer().on('error', (error) => end(error.code)).listen('\\0abstract-${process.pid}', () => { server.close(); end('listens'); }); });
        await tried('datagram', (end) => { const socket = require('node:dgram').createSocket('udp4'); socket.on('error', (error) => end(error.code)); socket.bind(0, '127.0.0.1', () => { socket.close(); end('bound'); }); });
        answer(seen);
      })();`;
    expect(await ask(script)).toEqual({ loopback: 'EPERM', listen: 'EPERM', local: 'EPERM', datagram: 'EPERM' });
    expect(await askBare(script)).toEqual({ loopback: 'reached', listen: 'listens', local: 'listens', datagram: 'bound' });
  });

  test('starts no program: neither a shell nor Node again', async () => {
    const script = `const { spawnSync, execFileSync, fork } = require('node:child_process');
      const seen = [];
      for (const [file, args] of [['/bin/sh', ['-c', 'echo hi']], [process.execPath, ['--version']]]) {
        const { error, status } = spawnSync(file, args); seen.push(error ? error.code : status);
      }
      try { execFileSync('sh', ['-c', 'true']); seen.push(0); } catch (error) { seen.push(error.code); }
      answer(seen);`;
    expect(await ask(script)).toEqual(['EPERM', 'EPERM', 'EPERM']);
    const bare = (await askBare(script)) as unknown[];
    expect(bare.slice(0, 2)).toEqual([0, 0]);
  });

  test.skipIf(file !== NODE_24)('what takes its place is Node again, under the same walls (Node 24 can do that)', async () => {
    const inner = `const fs = require('node:fs'); const seen = [require('node:child_process').spawnSync(process.execPath, ['--version']).error?.code];
      for (const path of ['/etc/passwd', ${JSON.stringify(import.meta.filename)}]) { try { fs.readFileSync(path); seen.push('read'); } catch (error) { seen.push(error.code); } }
      require('node:net').connect(${port}, '127.0.0.1').on('error', (error) => fs.writeSync(1, JSON.stringify([...seen, error.code])));`;
    const outer = `process.execve(process.execPath, ['node', '-e', ${JSON.stringify(inner)}], {});`;
    const { stdout } = await runConfined({ file, args: ['-e', outer] }, 'os', means);
    expect(JSON.parse(stdout)).toEqual(['EPERM', 'ENOENT', 'ENOENT', 'EPERM']);
    const shell = await runConfined({ file, args: ['-e', "process.execve('/bin/sh', ['sh', '-c', 'echo started'], {})"] }, 'os', means);
    expect(shell.stdout).toBe('');
    const written = await runConfined(
      { file, args: ['-e', "require('node:fs').writeFileSync('x', 'more')"], limits: { fileBytes: 0 } },
      'os',
      means,
    );
    expect(written.stderr, 'no program of its own can be put there').toContain('EFBIG');
  });

  test('sees no other process, and can signal none', async () => {
    const script = `const { pid, ppid } = process; const alive = [];
      for (const other of [${process.pid}, ${process.ppid}]) { try { process.kill(other, 0); alive.push(other); } catch {} }
      answer({ alive, small: pid < 10 && ppid < 10, proc: require('node:fs').existsSync('/proc') });`;
    expect(await ask(script)).toEqual({ alive: [], small: true, proc: false });
    expect(await askBare(script)).toMatchObject({ alive: expect.arrayContaining([process.pid]), small: false, proc: true });
  });

  test('has no environment, no name, no power, and no terminal', async () => {
    process.env['CALLGATE_TEST_SECRET'] = 'secret';
    const script = `const os = require('node:os'); const seen = { env: Object.keys(process.env), user: process.getuid(), host: os.hostname() };
      for (const [name, run] of Object.entries({ setuid: () => process.setuid(0), chroot: () => process.chdir('/root'), priority: () => os.setPriority(-5), interfaces: () => os.networkInterfaces() })) { try { run(); seen[name] = 'done'; } catch (error) { seen[name] = 'refused'; } }
      answer(seen);`;
    delete process.env['CALLGATE_TEST_SECRET'];
    expect(await ask(script)).toMatchObject({
      env: ['PWD'],
      user: 65534,
      host: 'guest',
      setuid: 'refused',
      chroot: 'refused',
      priority: 'refused',
      interfaces: 'refused',
    });
  });

  test('writes nothing anywhere but in an empty folder of its own, which is gone afterwards', async () => {
    const script = `const fs = require('node:fs'); const seen = [fs.readdirSync('.').length];
      for (const path of ['/x', '/usr/x', '/lib/x', process.execPath, '/tmp/x', 'own.txt']) { try { fs.writeFileSync(path, 'mine'); seen.push(path); } catch {} }
      try { fs.writeFileSync('big.txt', Buffer.alloc(8e6)); seen.push('big'); } catch (error) { seen.push(error.code); }
      seen.push(process.cwd()); answer(seen);`;
    const [before, ...rest] = (await ask(script)) as [number, ...string[]];
    expect(before).toBe(0);
    const [own, big, cwd] = rest;
    expect([own, big, rest.length]).toEqual(['own.txt', 'ENOSPC', 3]);
    expect(existsSync(cwd!)).toBe(false);
  });

  test('works all the same: threads, WebAssembly, timers and the pipes that it is given', async () => {
    const script = `const { Worker } = require('node:worker_threads');
      new Worker("require('node:worker_threads').parentPort.postMessage(6 * 7)", { eval: true }).on('message', async (value) => {
        await WebAssembly.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
        new WebAssembly.Memory({ initial: 1, maximum: 32768 });
        setTimeout(() => answer(value), 5);
      });`;
    expect(await askConfined(script, { file, limits: { dataBytes: 3e9, descriptors: 64, fileBytes: 0 } }, 'os', means)).toBe(42);
  });
});

describe.skipIf(process.platform !== 'linux').each(['none', 'os'] as const)('a parent that is killed (sandbox: %s)', (sandbox) => {
  test.skipIf(sandbox === 'os' ? cannot : means.limitTools.setpriv === undefined)(
    'takes its child along, whatever the child is doing',
    async () => {
      // The child alone holds the far end of this pipe once its parent is dead.
      const script = "require('node:fs').writeSync(4, 'alive'); for (;;);";
      const parent = `
      const { confine } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'dist/isolation/confine.js')).href)});
      const { spawn } = await import('node:child_process');
      const confined = await confine({ file: process.execPath, args: ['-e', ${JSON.stringify(script)}], reads: [], scratch: ${JSON.stringify(folder)}, limits: {} }, ${JSON.stringify(sandbox)});
      spawn(confined.file, confined.args, { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 4, 'ignore', ...confined.stdio] });
      confined.release();
      setInterval(() => {}, 1000);`;
      const host = spawn(process.execPath, ['--input-type=module', '-e', parent], {
        stdio: ['ignore', 'ignore', 'inherit', 'ignore', 'pipe'],
      });
      const pipe = host.stdio[4] as NodeJS.ReadableStream;
      const ended = new Promise((end) => pipe.on('end', () => end('ended')).on('error', () => end('ended')));
      await new Promise<void>((alive) => pipe.once('data', () => alive()));
      host.kill('SIGKILL');
      const late = new Promise((give) => setTimeout(() => give('still there'), 10_000).unref());
      expect(await Promise.race([ended, late])).toBe('ended');
    },
  );
});

describe.skipIf(cannot)('programs of a code mode, in the sandbox', () => {
  test('end with their host, when that is killed in the middle of one', async () => {
    const script = `
      const { createCodeMode } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'dist/index.js')).href)});
      const codeMode = createCodeMode({ tools: [], sandbox: 'os', workers: 1, observer: { on: (event) => { if (event.type === 'execution-start') console.log('started'); } } });
      const { isolation } = await codeMode.run('return 1');
      console.log(isolation.sandbox);
      await codeMode.run('for (;;);', { limits: { cpuMs: 60_000, sliceMs: 60_000 } });`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    host.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await expect.poll(() => said, { timeout: 20_000 }).toBe('started\nbubblewrap\nstarted\n');
    const family = descendantsOf(host.pid as number);
    // Bubblewrap, its reaper and Node.
    expect(family.length).toBeGreaterThanOrEqual(3);
    host.kill('SIGKILL');
    await expect.poll(() => family.filter(isAlive), { timeout: 10_000 }).toEqual([]);
  });

  test('reach no more than elsewhere, and what they break is theirs alone', async () => {
    const codeMode = createCodeMode({ tools: [], sandbox: 'os', workers: 1 });
    onTestFinished(() => codeMode.close());
    const [hog, fine] = await Promise.all([
      codeMode.run('const rows = []; for (;;) rows.push(new Array(100_000).fill(1));', { limits: { memoryBytes: 32 << 20 } }),
      codeMode.run(
        'return [typeof process, typeof require, typeof fetch === "function" && (await fetch("http://127.0.0.1").catch((error) => error.name))];',
      ),
    ]);
    expect(hog.status).toBe('error');
    expect(hog.isolation?.sandbox).toBe('bubblewrap');
    expect(fine).toMatchObject({ status: 'completed', isolation: { sandbox: 'bubblewrap' } });
    expect((fine.value as unknown[]).slice(0, 2)).toEqual(['undefined', 'undefined']);
  });
});

function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const found: number[] = [];
  for (const [child, parent] of parents) if (parent === pid) found.push(child);
  for (let at = 0; at < found.length; at++)
    for (const [child, parent] of parents) if (parent === found[at] && !found.includes(child)) found.push(child);
  return found;
}

function isAlive(pid: number): boolean {
  try {
    // One that has ended and is not yet buried is no program any more.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
describe.skipIf(cannot || compiler === undefined)(`native code in the child (needs a C compiler: ${compiler ?? 'none here'})`, () => {
  test('is refused every system call of the list by the kernel itself', async () => {
    const source = join(folder, 'probe.c');
    const probe = join(folder, 'probe');
    // Each call with arguments that do nothing where it is allowed; the answer is its error number, 0 for none.
    writeFileSync(
      source,
      `#include <errno.h>
       #include <stdio.h>
       #include <stdlib.h>
       #include <sys/mman.h>
       #include <sys/syscall.h>
       #include <unistd.h>
       static int result(long value) { return value < 0 ? errno : 0; }
       int main(int count, char **words) {
         for (int i = 1; i < count; i++) printf("%s ", result(syscall(atol(words[i]), 0, 0, 0, 0, 0, 0)) == EPERM ? "EPERM" : words[i]);
         printf("clone3:%d ", result(syscall(435, 0, 0)));
         printf("newer:%d ", result(syscall(500)));
         printf("fork:%d ", result(fork()));
         printf("shared:%d ", mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0);
         printf("private:%d ", mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0);
         printf("raise:%d\\n", setuid(0));
         return 0;
       }`,
    );
    execFileSync(compiler as string, ['-O1', '-o', probe, source]);
    const numbers = Object.values(DENIED)
      .map(([x64, arm64]) => (process.arch === 'x64' ? x64 : arm64))
      .filter((number) => number !== undefined);
    const { stdout, stderr } = await runConfined({ file: probe, args: numbers.map(String) }, 'os', means);
    expect(stderr).toBe('');
    expect(stdout.trim().split(' ')).toEqual([
      ...numbers.map(() => 'EPERM'),
      ...['clone3:38', 'newer:38', 'fork:1', 'shared:1', 'private:0', 'raise:-1'],
    ]);
  });

  test.skipIf(process.arch !== 'x64')('is ended when it calls by the numbers of 32-bit programs', async () => {
    const source = join(folder, 'x32.c');
    const probe = join(folder, 'x32');
    writeFileSync(
      source,
      '#include <stdio.h>\n#include <unistd.h>\nint main(int count, char **words) { if (words[1][0] == \'-\') return 0; puts("before"); fflush(stdout); syscall(0x40000000 + 39); puts("after"); return 0; }',
    );
    execFileSync(compiler as string, ['-o', probe, source]);
    const { stdout, code, signal } = await runConfined({ file: probe, args: ['now'] }, 'os', means);
    expect(stdout).toBe('before\n');
    // Bubblewrap's reaper tells a signal as a shell does.
    expect(signal ?? code).toBe(128 + 31);
  });
});
