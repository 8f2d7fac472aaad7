// The store that keeps artifacts as files of one directory. Whatever a name says, whoever else works in the directory, and whenever
// the disk is full, a file is there whole or not at all, and only in this directory. Not here: counting holders (shelf.ts).
import { randomBytes } from 'node:crypto';
import { type FileHandle, link, mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { dir } from 'tmp-promise';
import { CodeModeError } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import { describe } from '../tools/json.ts';
import { CREATE_FLAGS, codeOf, type Identity, isSame, READ_FLAGS, Root, RootLost } from '../workspace/root.ts';
import { cleanFileName } from './file-name.ts';
import { checkMaxBytes } from './max-bytes.ts';
import { createStore, digestOf, type Shelf, storeFailed } from './shelf.ts';
import type { ArtifactStore, StoredArtifact, StoreInput } from './store.ts';

export interface DirectoryStoreOptions {
  /** Where the files are; made when it is not there. Several stores and processes may share it. Default: a temporary directory of its own. */
  readonly directory?: string | undefined;
  /** Whether the files that nobody released stay when the store closes. Default: false, they are removed, and a temporary directory with them. */
  readonly keep?: boolean | undefined;
  /** Most bytes that the store holds at a time, for all runs together. Default: what the disk takes. */
  readonly maxBytes?: number | undefined;
}

/**
 * Keeps artifacts as files: mode 0600, named by a random prefix, the digest of the bytes and a cleaned name. The directory is opened with the
 * first artifact; close the store with the application. Throws `option_invalid` for a wrong option.
 */
export function directoryStore(options: DirectoryStoreOptions = {}): ArtifactStore {
  return openDirectoryStore(options, DISK);
}

/** What the store asks of a file system. */
export interface Disk {
  open(path: string, flags: number, mode?: number): Promise<FileHandle>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

/** A directory store over a file system of one's own; `byDescriptor: false` does without `/proc`. */
export function openDirectoryStore(options: DirectoryStoreOptions, disk: Disk, byDescriptor = true): ArtifactStore {
  const { directory, keep = false, maxBytes } = checkOptions(options);
  return createStore(new DirectoryShelf({ directory, keep, disk, byDescriptor }), {
    maxBytes: checkMaxBytes(maxBytes) ?? Number.POSITIVE_INFINITY,
  });
}

const DISK: Disk = { open, link, rename, unlink };

interface OnDisk extends StoredArtifact, Identity {
  /** In the directory; the key as well. */
  readonly name: string;
  readonly path: string;
  readonly modified: bigint;
}

/** The directory while it is open, and how a temporary one is removed. */
interface Opened {
  readonly root: Root;
  readonly remove: (() => Promise<void>) | undefined;
}

class DirectoryShelf implements Shelf<OnDisk> {
  readonly #directory: string | undefined;
  readonly #keep: boolean;
  readonly #disk: Disk;
  readonly #byDescriptor: boolean;
  /** Names of what failed to be written and then to be removed; closing tries again. */
  readonly #leftovers = new Set<string>();
  #opening: Promise<Opened> | undefined;

  constructor({
    directory,
    keep,
    disk,
    byDescriptor,
  }: {
    readonly directory: string | undefined;
    readonly keep: boolean;
    readonly disk: Disk;
    readonly byDescriptor: boolean;
  }) {
    this.#directory = directory;
    this.#keep = keep;
    this.#disk = disk;
    this.#byDescriptor = byDescriptor;
  }

  async save({ data, name: shownName }: StoreInput, digest: string): Promise<OnDisk> {
    try {
      const root = await this.#root();
      const random = randomBytes(16).toString('hex');
      const name = `${random}-${digest}-${cleanFileName(shownName)}`;
      // A name that nobody can guess, and no name of a store: whoever lists the directory never takes half a file for a whole one.
      const partial = `.${randomBytes(16).toString('hex')}.part`;
      let written: Identity & { readonly mtimeNs: bigint };
      try {
        written = await this.#write(root, partial, data);
        await this.#settle(root, partial, name);
        // Where the directory is reached by its path, it could have been another one meanwhile.
        if (!root.byDescriptor) await root.check();
      } catch (error) {
        for (const leftover of [partial, name]) await this.#remove(root, leftover).catch(() => this.#leftovers.add(leftover));
        throw error;
      }
      const { dev, ino, mtimeNs } = written;
      return { key: name, name, path: join(root.directory, name), bytes: data.length, digest, dev, ino, modified: mtimeNs };
    } catch (error) {
      throw explain(error, `an artifact of ${data.length} bytes was not kept`);
    }
  }

  async load(item: OnDisk, start: number, end: number): Promise<Uint8Array> {
    let data: Uint8Array;
    try {
      const root = await this.#root();
      const handle = await this.#disk.open(root.at(item.name), READ_FLAGS);
      try {
        const found = await handle.stat({ bigint: true });
        const untouched =
          found.isFile() &&
          found.nlink === 1n &&
          isSame(found, item) &&
          found.size === BigInt(item.bytes) &&
          found.mtimeNs === item.modified;
        if (!untouched) throw storeFailed(CHANGED);
        data = await readAll(handle, start, end);
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw explain(error, 'an artifact could not be read');
    }
    if (start === 0 && end === item.bytes && (await digestOf(data)) !== item.digest) throw storeFailed(CHANGED);
    return data;
  }

  async drop(item: OnDisk): Promise<void> {
    try {
      const { root } = await this.#open();
      // Through the descriptor it is this directory, wherever it has gone; by a path only as long as it leads there.
      if (!root.byDescriptor) await root.check();
      await this.#remove(root, item.name);
    } catch (error) {
      throw explain(error, 'an artifact could not be removed');
    }
  }

  async close(items: readonly OnDisk[]): Promise<void> {
    // One that could not be opened holds nothing.
    const opened = await this.#opening?.catch(() => undefined);
    if (opened === undefined) return;
    const { root, remove } = opened;
    try {
      if (this.#keep) return;
      if (remove !== undefined) {
        await root.check();
        await remove();
        return;
      }
      if (!root.byDescriptor) await root.check();
      const outcomes = await Promise.allSettled(
        [...items.map(({ name }) => name), ...this.#leftovers].map((name) => this.#remove(root, name)),
      );
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    } catch (error) {
      // What is gone need not be removed.
      if (error instanceof RootLost && error.how === 'vanished') return;
      throw explain(error, 'its files could not all be removed');
    } finally {
      await root.close();
    }
  }

  /** The directory, which must still be where it was opened. */
  async #root(): Promise<Root> {
    const { root } = await this.#open();
    await root.check();
    return root;
  }

  #open(): Promise<Opened> {
    if (this.#opening !== undefined) return this.#opening;
    const opening = this.#openDirectory();
    this.#opening = opening;
    // Whoever comes after a failure tries again.
    opening.catch(() => {
      this.#opening = undefined;
    });
    return opening;
  }

  async #openDirectory(): Promise<Opened> {
    const options = { byDescriptor: this.#byDescriptor };
    if (this.#directory !== undefined) {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      return { root: await Root.open(this.#directory, options), remove: undefined };
    }
    const { path, cleanup } = await dir({ prefix: 'callgate-artifacts', mode: 0o700, unsafeCleanup: true, keep: this.#keep });
    return { root: await Root.open(path, options), remove: cleanup };
  }

  async #write(root: Root, name: string, data: Uint8Array): Promise<Identity & { readonly mtimeNs: bigint }> {
    const handle = await this.#disk.open(root.at(name), CREATE_FLAGS, 0o600);
    try {
      await handle.writeFile(data);
      // What is kept should be whole after a power cut too; what goes with the store need not.
      if (this.#keep) await handle.datasync();
      const found = await handle.stat({ bigint: true });
      if (!found.isFile() || found.nlink !== 1n || found.size !== BigInt(data.length)) throw storeFailed(CHANGED);
      return found;
    } finally {
      await handle.close();
    }
  }

  /** Gives a whole file its name. A link fails when the name is taken; where a disk has none, the name is one that nobody can have guessed. */
  async #settle(root: Root, partial: string, name: string): Promise<void> {
    try {
      await this.#disk.link(root.at(partial), root.at(name));
    } catch (error) {
      if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
      await this.#disk.rename(root.at(partial), root.at(name));
      return;
    }
    await this.#disk.unlink(root.at(partial));
  }

  async #remove(root: Root, name: string): Promise<void> {
    try {
      await this.#disk.unlink(root.at(name));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

const CHANGED = 'A file of the store has been changed or replaced by somebody else, so its contents are not given out.';

/** What disks without hard links say, and systems that do not let a process make them. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

async function readAll(handle: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const data = new Uint8Array(end - start);
  for (let filled = 0; filled < data.length; ) {
    const { bytesRead } = await handle.read(data, filled, data.length - filled, start + filled);
    if (bytesRead === 0) throw storeFailed(CHANGED);
    filled += bytesRead;
  }
  return data;
}

/** A failure of the file system as a sentence without a path. */
function explain(error: unknown, what: string): CodeModeError {
  if (CodeModeError.is(error)) return error;
  if (error instanceof RootLost)
    return storeFailed(
      `The directory of the store has ${error.how === 'vanished' ? 'vanished' : 'been replaced by another'}, so ${what}.`,
      error,
    );
  const code = codeOf(error);
  return storeFailed(`${REASONS[code ?? ''] ?? `The file system failed (${code ?? 'for no reason that it gives'})`}, so ${what}.`, error);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk of the store is full',
  EDQUOT: 'The disk quota of the store is used up',
  EFBIG: 'The disk of the store takes no file of this size',
  EACCES: 'The directory of the store is not open to this process',
  EPERM: 'The directory of the store is not open to this process',
  EROFS: 'The disk of the store is read-only',
  ENOENT: 'The directory of the store, or a file in it, has vanished',
  ENOTDIR: 'The directory of the store is not a directory',
  ELOOP: 'A file of the store has been replaced by a link',
  EEXIST: 'A name in the directory of the store is taken',
  EMFILE: 'This process has too many open files',
  ENFILE: 'This machine has too many open files',
  EIO: 'The disk of the store failed',
};

function checkOptions(options: unknown): DirectoryStoreOptions {
  if (typeof options !== 'object' || options === null)
    throw new CodeModeError('option_invalid', `directoryStore() takes an object of options, not ${describe(options)}.`);
  for (const key of Object.keys(options)) {
    if (OPTIONS.includes(key)) continue;
    const [near] = nearest(key, OPTIONS, 1);
    throw new CodeModeError(
      'option_invalid',
      `directoryStore() has no option \`${key}\`${near === undefined ? '.' : `; did you mean \`${near}\`?`} It has ${OPTIONS.join(', ')}.`,
    );
  }
  const { directory, keep } = options as Record<string, unknown>;
  if (directory !== undefined && (typeof directory !== 'string' || directory === '' || directory.includes('\0')))
    throw new CodeModeError(
      'option_invalid',
      `The \`directory\` of a store should be the path of a directory, not ${describe(directory)}.`,
    );
  if (keep !== undefined && typeof keep !== 'boolean')
    throw new CodeModeError('option_invalid', `The \`keep\` of a store should be true or false, not ${describe(keep)}.`);
  return options;
}

const OPTIONS = ['directory', 'keep', 'maxBytes'];
