import { existsSync, fstatSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confine, findMeans, type Means, obstacleTo } from '../../src/isolation/confine.ts';
import { limitWith } from '../../src/isolation/resource-limits.ts';
import { seatbeltProfile } from '../../src/isolation/seatbelt.ts';
import { CodeModeError } from '../../src/protocol/errors.ts';
import { askConfined, runConfined } from '../helpers/confined.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NODE_24 = join(ROOT, 'node_modules/node/bin/node');
const isLinux = process.platform === 'linux';

let folder: string;
let means: Means;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callgate-confine-'));
  means = await findMeans();
});
afterAll(() => rm(folder, { recursive: true }));

function command(): Parameters<typeof confine>[0] {
  return { file: process.execPath, args: ['--version'], reads: [], scratch: folder, limits: {} };
}

describe('limits of the system', () => {
  const tools = { prlimit: '/bin/prlimit', setpriv: '/bin/setpriv', shell: '/bin/sh' };
  const all = { dataBytes: 1_000_000, cpuSeconds: 2.5, fileBytes: 1_000, descriptors: 64 };

  test('are set by prlimit, and never on address space', () => {
    const { prefix, limits, diesWithParent } = limitWith(tools, all, {}, 'linux');
    expect(prefix.join(' ')).toBe(
      '/bin/setpriv --pdeathsig KILL --no-new-privs -- /bin/prlimit --data=1000000 --cpu=3 --fsize=1000 --nofile=64 --core=0 --',
    );
    expect(limits).toEqual(['dataBytes', 'cpuSeconds', 'fileBytes', 'descriptors', 'coreBytes']);
    expect(diesWithParent).toBe(true);
  });

  test('where none is asked for, memory is still never dumped', () => {
    expect(limitWith({ prlimit: '/bin/prlimit' }, {}, {}, 'linux')).toEqual({
      prefix: ['/bin/prlimit', '--core=0', '--'],
      limits: ['coreBytes'],
      diesWithParent: false,
      notes: [],
    });
  });

  test('are not above what this process may give', () => {
    const { prefix } = limitWith({ prlimit: '/bin/prlimit' }, all, { descriptors: 32, dataBytes: 5_000_000 }, 'linux');
    expect(prefix).toContain('--nofile=32');
    expect(prefix).toContain('--data=1000000');
  });

  test('without prlimit are set by a shell, in its units', () => {
    const { prefix, limits } = limitWith({ shell: '/bin/sh' }, all, {}, 'linux');
    expect(prefix).toEqual([
      '/bin/sh',
      '-c',
      'ulimit -d 977 && ulimit -t 3 && ulimit -f 2 && ulimit -n 64 && ulimit -c 0 && exec "$@"',
      'callgate',
    ]);
    expect(limits).toHaveLength(5);
  });

  test('a limit that macOS would ignore is not claimed', () => {
    const { prefix, limits, notes } = limitWith({ shell: '/bin/sh' }, all, {}, 'darwin');
    expect(prefix.join(' ')).not.toContain('ulimit -d');
    expect(limits).not.toContain('dataBytes');
    expect(notes.join()).toMatch(/no limit on a process's data memory/);
  });

  test('where nothing sets them, none is claimed', () => {
    const { prefix, limits, notes } = limitWith({}, all, {}, 'win32');
    expect([prefix, limits]).toEqual([[], []]);
    expect(notes.join()).toMatch(/Nothing sets limits/);
  });

  test.skipIf(!isLinux)('are what the child finds (Linux)', async () => {
    const wanted = { dataBytes: 900_000_000, cpuSeconds: 77, fileBytes: 0, descriptors: 50 };
    for (const limitTools of [means.limitTools, { shell: means.limitTools.shell }]) {
      const text = (await askConfined('answer(require("node:fs").readFileSync("/proc/self/limits", "utf8"))', { limits: wanted }, 'none', {
        ...means,
        limitTools,
      })) as string;
      const row = (name: string): string | undefined => new RegExp(`^${name} +(\\S+) +(\\S+)`, 'm').exec(text)?.slice(1).join(' ');
      const data = limitTools.prlimit === undefined ? Math.ceil(900_000_000 / 1024) * 1024 : 900_000_000;
      expect(row('Max data size')).toBe(`${data} ${data}`);
      expect(row('Max cpu time')).toBe('77 77');
      expect(row('Max file size')).toBe('0 0');
      expect(row('Max open files')).toBe('50 50');
      expect(row('Max core file size')).toBe('0 0');
      expect(row('Max address space')).toBe('unlimited unlimited');
    }
  });

  test.skipIf(!isLinux)('memory beyond its limit is refused to the child, which lives on (Linux)', async () => {
    const script =
      'let blocks = []; try { for (;;) blocks.push(Buffer.alloc(20e6, 1)); } catch (error) { const { name } = error; const count = blocks.length; blocks = []; answer([name, count]); }';
    const [name, count] = (await askConfined(script, { limits: { dataBytes: 600_000_000 } }, 'none', means)) as [string, number];
    expect(name).toBe('RangeError');
    expect(count).toBeLessThan(30);
  });
});

describe('a sandbox that cannot be had', () => {
  test.skipIf(!isLinux)('is an error with instructions when it was asked for, and a note when not (Linux)', async () => {
    const poor = await findMeans(folder);
    const refused = await confine(command(), 'os', poor).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CodeModeError);
    expect(refused).toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringMatching(
        /asked for \(sandbox: 'os'\) and cannot be had: Bubblewrap \(bwrap\) is not installed\. Install it: `apt-get install/,
      ),
    });
    const { inForce } = await confine(command(), 'auto', poor);
    expect(inForce.sandbox).toBe('none');
    expect(inForce.notes.join()).toMatch(/There is no sandbox of the operating system: Bubblewrap .+ not installed/);
  });

  test.skipIf(!isLinux)('because the kernel forbids it says what bubblewrap said (Linux)', async () => {
    const fake = join(folder, 'forbidden');
    await mkdir(fake);
    await writeFile(
      join(fake, 'bwrap'),
      '#!/bin/sh\ncase "$1" in --version) echo bubblewrap 0.9.0;; --help) echo --unshare-all;; *) echo "bwrap: No permissions to create new namespace" >&2; exit 1;; esac\n',
    );
    await chmod(join(fake, 'bwrap'), 0o755);
    const forbidden = await findMeans(fake);
    expect(forbidden.bubblewrap?.version).toBe('0.9.0');
    await expect(confine(command(), 'os', forbidden)).rejects.toThrow(/`bwrap: No permissions to create new namespace` .*namespaces/);
  });

  test.each([
    ['another system', { platform: 'win32' as const }, /sandboxes of Linux and macOS, and this is win32/],
    ['another processor', { platform: 'linux' as const, arch: 'riscv64' }, /written for x64 and arm64, and this is riscv64/],
    ['a Mac without sandbox-exec', { platform: 'darwin' as const, bubblewrap: undefined }, /no sandbox-exec/],
  ])('because it is %s says so', async (_what, differences, message) => {
    const bubblewrap = { path: '/usr/bin/bwrap', version: '0', options: new Set<string>() };
    const elsewhere: Means = { ...means, bubblewrap, sandboxExec: undefined, ...differences, trials: new Map(), libraries: new Map() };
    expect(await obstacleTo(process.execPath, elsewhere)).toMatch(message);
    await expect(confine(command(), 'os', elsewhere)).rejects.toMatchObject({ code: 'sandbox_unavailable' });
  });

  test('is not looked for when nobody wants one', async () => {
    const trials = new Map<string, Promise<string | undefined>>();
    const { inForce } = await confine(command(), 'none', { ...means, trials });
    expect(inForce).toMatchObject({ sandbox: 'none', notes: [] });
    expect(trials.size).toBe(0);
  });

  test('does not keep a child from running without one', async () => {
    expect((await runConfined({ args: ['--version'] }, 'none', means)).stdout.trim()).toBe(process.version);
  });
});

describe('bubblewrap', async () => {
  const obstacle = await obstacleTo(process.execPath, await findMeans());
  describe.skipIf(!isLinux || obstacle !== undefined)(`where it runs (${obstacle ?? 'here'})`, () => {
    test('shows what the child must read, by the paths and links that lead there', async () => {
      const packages = join(folder, 'packages');
      await mkdir(join(packages, 'real/lib'), { recursive: true });
      await writeFile(join(packages, 'real/package.json'), '{"name":"linked","main":"lib/main.js"}');
      await writeFile(join(packages, 'real/lib/main.js'), 'module.exports = __filename;');
      await writeFile(join(packages, 'secret.txt'), 'secret');
      await mkdir(join(packages, 'node_modules'));
      await symlink('../real', join(packages, 'node_modules/linked'));
      const entry = join(packages, 'entry.cjs');
      await writeFile(
        entry,
        'const fs = require("node:fs"); fs.writeSync(1, JSON.stringify([require("linked"), fs.readdirSync(__dirname).sort()]));',
      );
      const { stdout, stderr } = await runConfined({ args: [entry], reads: [entry, join(packages, 'node_modules/linked')] }, 'os', means);
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual([join(packages, 'real/lib/main.js'), ['entry.cjs', 'node_modules', 'real']]);
    });

    test.skipIf(!existsSync(NODE_24))(
      'loads a compiled addon, whatever it is linked with (needs the development dependency node)',
      async () => {
        const addon = join(ROOT, 'node_modules/isolated-vm');
        const script = `const { Isolate } = require(${JSON.stringify(addon)}); answer(new Isolate().createContextSync().evalSync('6 * 7'));`;
        const reads = [addon, join(ROOT, 'node_modules/node-gyp-build')];
        expect(await askConfined(script, { file: NODE_24, reads }, 'os', means)).toBe(42);
      },
    );

    test('a file that is not there is an error before anything starts', async () => {
      await expect(confine({ ...command(), reads: [join(folder, 'nowhere')] }, 'os', means)).rejects.toThrow(/ENOENT.*nowhere/);
    });

    test('the filter travels by a descriptor that is closed here at the end, and is not open in the child', async () => {
      const confined = await confine(command(), 'os', means);
      const [descriptor] = confined.stdio;
      expect(fstatSync(descriptor!).size).toBeGreaterThan(800);
      confined.release();
      confined.release();
      expect(isFilter(descriptor!)).toBe(false);
      const open = await askConfined(
        'const fs = require("node:fs"); const open = []; for (let fd = 0; fd < 40; fd++) { try { if (fs.fstatSync(fd).isFile()) open.push(fd); } catch {} } answer(open)',
        {},
        'os',
        means,
      );
      expect(open).toEqual([]);
    });

    test('is tried once for a binary', async () => {
      const fresh = await findMeans();
      await Promise.all([confine(command(), 'os', fresh), confine(command(), 'auto', fresh)].map(async (each) => (await each).release()));
      expect(fresh.trials.size).toBe(1);
    });
  });
});

function isFilter(descriptor: number): boolean {
  try {
    const { nlink, size } = fstatSync(descriptor);
    return nlink === 0 && size > 800;
  } catch {
    return false;
  }
}

describe("the profile of macOS's sandbox", () => {
  const profile = seatbeltProfile({ file: '/opt/node/bin/node', reads: ['/app/node_modules/callgate/dist'], scratch: '/private/tmp/x' });

  test('denies by default and names what is allowed', () => {
    expect(profile).toBe(`(version 1)
(deny default)
(allow process-exec (literal "/opt/node/bin/node"))
(allow process-info* (target self))
(allow signal (target self))
(allow sysctl-read)
(allow file-read* (literal "/opt/node/bin/node") (literal "/dev/null") (literal "/dev/random") (literal "/dev/urandom") (literal "/") (subpath "/usr/lib") (subpath "/System/Library/Frameworks") (subpath "/System/Library/PrivateFrameworks") (subpath "/System/Volumes/Preboot/Cryptexes") (subpath "/app/node_modules/callgate/dist") (subpath "/private/tmp/x"))
(allow file-map-executable (literal "/opt/node/bin/node") (subpath "/usr/lib") (subpath "/System/Library/Frameworks") (subpath "/System/Library/PrivateFrameworks") (subpath "/System/Volumes/Preboot/Cryptexes") (subpath "/app/node_modules/callgate/dist") (subpath "/private/tmp/x"))
(allow file-read-metadata (literal "/opt") (literal "/opt/node") (literal "/opt/node/bin") (literal "/app") (literal "/app/node_modules") (literal "/app/node_modules/callgate") (literal "/private") (literal "/private/tmp"))
(allow file-write* (subpath "/private/tmp/x"))
(allow file-write-data (literal "/dev/null"))`);
  });

  test('has no network, no fork and no service in it', () => {
    expect(profile).not.toMatch(/network|process-fork|mach-lookup|iokit|process\*|file-write\* \(subpath "\/app/);
  });

  test('a path cannot close the text that it stands in', () => {
    const odd = seatbeltProfile({ file: '/a"b\\c', reads: [], scratch: '/s' });
    expect(odd).toContain('(literal "/a\\"b\\\\c")');
    expect(() => seatbeltProfile({ file: '/a\nb', reads: [], scratch: '/s' })).toThrow(/cannot be named in a sandbox profile/);
  });
});
