// A directory of the host that is held open, so that what is done in it is done in this directory and in no other that somebody
// puts in its place. Not here: which names may be used in it (names.ts, spelling.ts), and what for.
import { close, constants, fstat, open } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Which file of a disk something is. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Thrown when the directory is not there any more, or another is in its place. The message names no path. */
export class RootLost extends Error {
  override readonly name = 'RootLost';
  readonly how: 'vanished' | 'replaced';

  constructor(how: 'vanished' | 'replaced', cause?: unknown) {
    super(
      how === 'vanished' ? 'The directory has vanished.' : 'The directory has been replaced by another.',
      cause === undefined ? undefined : { cause },
    );
    this.how = how;
  }
}

/**
 * A directory held open. On Linux its children are reached through the descriptor (`/proc/self/fd/N/name`), so that check and use are of the
 * same directory; elsewhere by path, and who uses it checks again afterwards. Close it: a descriptor is a thing of the process.
 */
export class Root {
  /** Absolute, without links. */
  readonly directory: string;
  readonly identity: Identity;
  /** Whether children are reached through the descriptor. */
  readonly byDescriptor: boolean;
  /** Absent where directories cannot be opened (Windows). */
  #descriptor: number | undefined;

  private constructor(directory: string, identity: Identity, descriptor: number | undefined, byDescriptor: boolean) {
    this.directory = directory;
    this.identity = identity;
    this.#descriptor = descriptor;
    this.byDescriptor = byDescriptor;
  }

  /** Opens a directory; links on the way to it are followed now and never again. `byDescriptor: false` is for machines without `/proc`. */
  static async open(path: string, { byDescriptor = true }: { readonly byDescriptor?: boolean } = {}): Promise<Root> {
    const directory = await realpath(path);
    if (process.platform === 'win32') return new Root(directory, identityOf(await directoryStat(directory)), undefined, false);
    const descriptor = await openDescriptor(directory, DIRECTORY_FLAGS);
    try {
      const identity = identityOf(await statDescriptor(descriptor, { bigint: true }));
      const reachable = byDescriptor && (await isReachable(descriptor, identity));
      const root = new Root(directory, identity, descriptor, reachable);
      await root.check();
      return root;
    } catch (error) {
      await closeDescriptor(descriptor);
      throw error;
    }
  }

  /** The path of a child, for one call of the file system. `name` is one name, or `.` for the directory itself. */
  at(name: string): string {
    if (!this.byDescriptor) return join(this.directory, name);
    if (this.#descriptor === undefined) throw new RootLost('vanished');
    return `/proc/self/fd/${this.#descriptor}/${name}`;
  }

  /**
   * Opens a directory in this one; a link is not followed. Without `/proc` it is opened by its path and looked at again afterwards: whoever swaps
   * directories for links and back, faster than that and in the right order, is not noticed there.
   */
  async enter(name: string): Promise<Root> {
    const directory = join(this.directory, name);
    if (process.platform === 'win32') {
      const child = new Root(directory, identityOf(await directoryStat(directory)), undefined, false);
      await child.verify();
      return child;
    }
    const descriptor = await openDescriptor(this.at(name), DIRECTORY_FLAGS);
    try {
      const identity = identityOf(await statDescriptor(descriptor, { bigint: true }));
      const child = new Root(directory, identity, descriptor, this.byDescriptor);
      await child.verify();
      return child;
    } catch (error) {
      await closeDescriptor(descriptor);
      throw error;
    }
  }

  /** Where this directory is reached by its path: rejects unless the path has no link in it and leads here. Spelled otherwise is not there. */
  async verify(): Promise<void> {
    if (this.byDescriptor) return;
    const real = await realpath(this.directory);
    if (real !== this.directory && real.normalize() !== this.directory.normalize()) throw new RootLost('replaced');
    await this.check();
  }

  /** Rejects with `RootLost` unless the path still leads to this directory. */
  async check(): Promise<void> {
    let found: Identity;
    try {
      found = await lstat(this.directory, { bigint: true });
    } catch (cause) {
      throw new RootLost('vanished', cause);
    }
    if (!isSame(found, this.identity)) throw new RootLost('replaced');
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) await closeDescriptor(descriptor);
  }
}

/** Opens a directory and nothing that only leads to one. */
const DIRECTORY_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Opens a file to be read; no link, and without waiting for a writer when it is a pipe. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Makes a file that was not there. */
export const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function isSame(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** `ENOENT` and its like. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

// Bare descriptors, not Node's FileHandle: one that somebody forgets to close must not end the process when it is collected.
const openDescriptor: (path: string, flags: number) => Promise<number> = promisify(open);
const closeDescriptor = promisify(close);
const statDescriptor: (descriptor: number, options: { bigint: true }) => Promise<Identity> = promisify(fstat);

function identityOf({ dev, ino }: Identity): Identity {
  return { dev, ino };
}

async function directoryStat(path: string): Promise<Identity> {
  const found = await lstat(path, { bigint: true });
  if (!found.isDirectory()) throw Object.assign(new Error('This is no directory.'), { code: 'ENOTDIR' });
  return found;
}

async function isReachable(descriptor: number, identity: Identity): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    return isSame(await stat(`/proc/self/fd/${descriptor}/.`, { bigint: true }), identity);
  } catch {
    return false; // no /proc here
  }
}
