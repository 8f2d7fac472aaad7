// The command line of bubblewrap for a child: namespaces of its own, and a read-only view of nothing but what Node needs. Not here: the
// system calls that are refused inside (seccomp.ts), whether bubblewrap works on this machine (confine.ts).
import { execFile } from 'node:child_process';
import { lstat, open, readdir, readlink, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** What bubblewrap is to show. */
export interface View {
  /** Bubblewrap itself, and the options that it knows (`bwrap --help`). */
  readonly bubblewrap: string;
  readonly options: ReadonlySet<string>;
  readonly file: string;
  readonly reads: readonly string[];
  readonly scratch: string;
  /** Descriptor at which bubblewrap finds the filter. */
  readonly filterAt: number;
  /** Libraries of a binary, as `librariesOf` finds them. */
  readonly libraries: (file: string) => Promise<readonly string[]>;
}

/** The child's own files are as big as this together, if the limit on a file allows any. */
const SCRATCH_BYTES = 1024 * 1024;

/** What comes before the child's own command line. Rejects when something that the child must read is not there. */
export async function bubblewrapArguments(view: View): Promise<string[]> {
  const { bubblewrap, options, file, reads, scratch, filterAt } = view;
  const addons = (await Promise.all(reads.map(addonsIn))).flat();
  const libraries = (await Promise.all([file, ...addons].map(view.libraries))).flat();
  const extra = libraries.every(isInDefaultFolder) ? [] : ['/etc/ld.so.cache'];
  const seen = new Sight();
  for (const path of [file, ...reads, ...libraries, ...extra]) await seen.add(path);
  const { folder, links } = await seen.locate(scratch);
  const can = (option: string): boolean => options.has(option);
  return [
    bubblewrap,
    // Everything that can be its own is: users, processes, network, IPC, host name, control groups.
    ...['--unshare-all', '--unshare-user', '--uid', NOBODY, '--gid', NOBODY, '--hostname', 'guest'],
    ...(can('--disable-userns') ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...seen.arguments(),
    ...links.flatMap(([path, target]) => (seen.has(path) ? [] : ['--symlink', target, path])),
    ...(can('--size') ? ['--size', String(SCRATCH_BYTES)] : []),
    ...['--tmpfs', folder],
    // The root, which is a file system in memory too, is not the child's to write.
    ...['--remount-ro', '/', '--chdir', scratch],
    ...['--seccomp', String(filterAt), '--'],
  ];
}

const NOBODY = '65534';

/** The paths that become visible: links on the way stay links, since Node finds packages by following them. */
class Sight {
  readonly #binds = new Set<string>();
  readonly #links = new Map<string, string>();

  async add(path: string): Promise<void> {
    const { folder, links } = await this.locate(path);
    this.#binds.add(folder);
    for (const [link, target] of links) this.#links.set(link, target);
  }

  /** Where a path leads, and the links on the way. */
  async locate(path: string): Promise<{ folder: string; links: readonly (readonly [path: string, target: string])[] }> {
    const links: [string, string][] = [];
    let rest = resolve(path).split('/').filter(Boolean);
    let at = '/';
    while (rest.length > 0) {
      const [name = '', ...others] = rest;
      const next = join(at, name);
      const target = (await lstat(next)).isSymbolicLink() ? await readlink(next) : undefined;
      if (target === undefined) {
        at = next;
        rest = others;
        continue;
      }
      if (links.length > 40) throw new Error(`${path} goes through too many links.`);
      links.push([next, target]);
      rest = [...resolve(at, target).split('/').filter(Boolean), ...others];
      at = '/';
    }
    return { folder: at, links };
  }

  /** Whether a path is inside one that is shown. */
  has(path: string): boolean {
    for (let above = path; above !== '/'; above = dirname(above)) if (this.#binds.has(above)) return true;
    return this.#links.has(path);
  }

  arguments(): string[] {
    // A folder before what lies in it, and then what lies in it need not be named.
    const outermost = [...this.#binds].sort().filter((path) => !this.#isBelow(path));
    return [
      ...outermost.flatMap((path) => ['--ro-bind', path, path]),
      ...[...this.#links].flatMap(([path, target]) => (this.#isBelow(path) ? [] : ['--symlink', target, path])),
    ];
  }

  #isBelow(path: string): boolean {
    for (let above = dirname(path); above !== '/'; above = dirname(above)) if (this.#binds.has(above)) return true;
    return false;
  }
}

/** Compiled addons among what the child reads: they are linked with libraries of the system too. */
async function addonsIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return path.endsWith('.node') ? [path] : [];
  const names = await readdir(path, { recursive: true });
  return names.filter((name) => name.endsWith('.node')).map((name) => join(path, name));
}

/**
 * The libraries that the system's loader would load for a binary, the loader itself included. None for one that is linked statically, or that
 * is for another system. Nothing of the binary is run.
 */
export async function librariesOf(binary: string, loader: string | undefined): Promise<readonly string[]> {
  if (loader === undefined) return [];
  try {
    // The child's environment is empty, so LD_LIBRARY_PATH and its kin do not count here either.
    const { stdout } = await execute(loader, ['--list', binary], { env: {} });
    const found = [...stdout.matchAll(/(?:=> |^\s*)(\/\S.*?) \(0x[0-9a-f]+\)$/gm)].map(([, path = '']) => path);
    return [...new Set([loader, ...found])];
  } catch {
    return [];
  }
}

/** The loader that a binary names (`PT_INTERP` of a 64-bit ELF file). `undefined`: it needs none. */
export async function loaderOf(binary: string): Promise<string | undefined> {
  const file = await open(binary);
  try {
    const head = Buffer.alloc(4096);
    await file.read(head, 0, head.length, 0);
    if (head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2) return undefined;
    const offset = Number(head.readBigUInt64LE(32));
    const size = head.readUInt16LE(54);
    for (let index = 0; index < head.readUInt16LE(56); index++) {
      const at = offset + index * size;
      if (at + 56 > head.length || head.readUInt32LE(at) !== 3) continue;
      const name = Buffer.alloc(Math.min(4096, Number(head.readBigUInt64LE(at + 32))));
      await file.read(name, 0, name.length, Number(head.readBigUInt64LE(at + 8)));
      return name.toString('utf8').replace(/\0.*$/s, '');
    }
    return undefined;
  } finally {
    await file.close();
  }
}

/** Where loaders look by themselves. What lies elsewhere is found through their cache, which then has to be there as well. */
function isInDefaultFolder(library: string): boolean {
  return /^(\/usr)?\/lib(64)?(\/[a-z0-9_]+-linux-(gnu|musl)\w*)?\/[^/]+$/.test(library);
}
