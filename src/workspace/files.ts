// Files of one place of a workspace: opened from its root down, name by name, without following a link; written whole or not at all.
// Not here: which place a path means (open.ts), what a path may be (spelling.ts), text (content.ts).
import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, rename, unlink } from 'node:fs/promises';
import { CodeModeError } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import { ToolError } from '../tools/tool.ts';
import type { Turns } from '../tools/turns.ts';
import type { Quota } from './quota.ts';
import { CREATE_FLAGS, codeOf, isSame, READ_FLAGS, type Root, RootLost } from './root.ts';
import { checkNewName, isSpellable, PARTIAL, shown } from './spelling.ts';

/** A directory of the host as a part of workspaces. Shared by the runs of a code mode, unless it is a run's own. */
export interface Place {
  /** Absent: the workspace's own directory. */
  readonly name: string | undefined;
  readonly root: Root;
  readonly writable: boolean;
  /** Writes to it, one at a time: a file is read, changed and written without another in between. */
  readonly writing: Turns;
}

/** A path of a workspace, and where it leads. */
export interface Target {
  readonly path: string;
  readonly place: Place;
  /** From the place's root. */
  readonly names: readonly string[];
}

/** What happens to a file: its new bytes, from those that it has (`undefined`: there is no file yet). */
export type Change = (old: Uint8Array | undefined) => Uint8Array;

/** Opens a file to be read, and closes it when `work` has ended. */
export async function withFile<Result>(target: Target, work: (file: FileHandle, stats: BigIntStats) => Promise<Result>): Promise<Result> {
  return guarded(target, async () => {
    const [names, name] = split(target, 'a file');
    const folder = await descend(target, names);
    try {
      return await readIn(folder, name, target, work);
    } finally {
      await folder.close();
    }
  });
}

/** As `withFile`, for a file of a directory that is open. */
export async function readIn<Result>(
  folder: Root,
  name: string,
  target: Target,
  work: (file: FileHandle, stats: BigIntStats) => Promise<Result>,
): Promise<Result> {
  const expected = await plainFile(folder, name, target);
  if (expected === undefined) throw await notFound(folder, name, target);
  const file = await open(folder.at(name), READ_FLAGS);
  try {
    const stats = await file.stat({ bigint: true });
    // Whatever was put here after the look: it is that file and no other.
    if (!isSame(stats, expected) || !stats.isFile() || stats.nlink !== 1n) throw changed(target);
    await stillThere(folder, name, stats, target);
    return await work(file, stats);
  } finally {
    await file.close();
  }
}

/** Opens a directory, and closes it when `work` has ended. */
export async function withFolder<Result>(target: Target, work: (folder: Root) => Promise<Result>): Promise<Result> {
  return guarded(target, async () => {
    const folder = await descend(target, target.names);
    try {
      return await work(folder);
    } finally {
      await folder.close();
    }
  });
}

/** Bytes of an open file from `start`, at most `length`. */
export async function readBytes(file: FileHandle, start: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Makes or changes a file, and the directories above it. `maxBytes` bounds the file before and after. Resolves to its new size. */
export async function change(
  target: Target,
  { quota, maxBytes, make }: { readonly quota: Quota; readonly maxBytes: number; readonly make: Change },
): Promise<{ readonly bytes: number; readonly created: boolean }> {
  return inTurn(target, async () => {
    const [names, name] = split(target, 'a file');
    const folder = await descend(target, names, quota);
    try {
      const before = await plainFile(folder, name, target);
      if (before === undefined) checkNewName(target.path, name);
      const old = before === undefined ? undefined : await readWhole(folder, name, target, maxBytes);
      const data = make(old);
      if (data.length > maxBytes) throw tooLarge(target, data.length, maxBytes);
      const charge = { bytes: data.length - (old?.length ?? 0), files: before === undefined ? 1 : 0 };
      quota.charge(charge);
      try {
        await replace(folder, name, { target, before, data });
      } catch (error) {
        quota.charge({ bytes: -charge.bytes, files: -charge.files });
        throw error;
      }
      return { bytes: data.length, created: before === undefined };
    } finally {
      await folder.close();
    }
  });
}

/** Removes a file. */
export async function remove(target: Target, quota: Quota): Promise<{ readonly bytes: number }> {
  return inTurn(target, async () => {
    const [names, name] = split(target, 'a file');
    const folder = await descend(target, names);
    try {
      const found = await plainFile(folder, name, target);
      if (found === undefined) throw await notFound(folder, name, target);
      await stillThere(folder, name, found, target);
      await unlink(folder.at(name));
      const bytes = Number(found.size);
      quota.charge({ bytes: -bytes, files: -1 });
      return { bytes };
    } finally {
      await folder.close();
    }
  });
}

/** The whole of a file that has at most `maxBytes`. */
function readWhole(folder: Root, name: string, target: Target, maxBytes: number): Promise<Uint8Array> {
  return readIn(folder, name, target, async (file, { size }) => {
    if (size > BigInt(maxBytes)) throw tooLarge(target, Number(size), maxBytes);
    return readBytes(file, 0, Number(size));
  });
}

/** The names in a directory that programs may use, in order; at most `most` of any kind are looked at. */
export async function namesIn(
  folder: Root,
  most: number,
): Promise<{ readonly names: readonly string[]; readonly hidden: number; readonly cut: boolean }> {
  await folder.verify();
  const names: string[] = [];
  let hidden = 0;
  for await (const { name } of await opendir(folder.at('.'), { bufferSize: 256 })) {
    if (names.length + hidden >= most) return { names: names.sort(), hidden, cut: true };
    if (isSpellable(name)) names.push(name);
    // Half-written files are nobody's business.
    else if (!name.startsWith(PARTIAL)) hidden++;
  }
  return { names: names.sort(), hidden, cut: false };
}

export function tooLarge({ path }: Target, bytes: number, maxBytes: number): ToolError {
  return new ToolError(`The file ${shown(path)} has ${bytes} bytes, and at most ${maxBytes} are allowed here.`, {
    code: 'too_large',
    details: { bytes, maxBytes },
  });
}

/** The name of the last part, and those above it. */
function split({ path, names }: Target, wanted: string): [readonly string[], string] {
  const name = names.at(-1);
  if (name === undefined) throw new ToolError(`The path ${shown(path)} is a directory; name ${wanted} in it.`, { code: 'not_a_file' });
  return [names.slice(0, -1), name];
}

/** Opens the directory at `names`. With a quota the missing ones are made. */
async function descend(target: Target, names: readonly string[], quota?: Quota): Promise<Root> {
  const { root } = target.place;
  await root.check();
  let folder = await root.enter('.');
  for (const name of names) {
    let next: Root;
    try {
      next = await enterOrMake(folder, name, target, quota);
    } finally {
      await folder.close();
    }
    folder = next;
  }
  return folder;
}

async function enterOrMake(folder: Root, name: string, target: Target, quota: Quota | undefined): Promise<Root> {
  try {
    return await folder.enter(name);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' && quota !== undefined) {
      checkNewName(target.path, name);
      await make(folder, name, quota);
      return folder.enter(name);
    }
    if (code === 'ENOENT') throw await notFound(folder, name, target);
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    const found = await lstat(folder.at(name)).catch(() => undefined);
    if (found?.isSymbolicLink() === true) throw linkRefused(target, name);
    throw new ToolError(`In ${shown(target.path)}, ${shown(name)} is no directory.`, { code: 'not_a_directory' });
  }
}

async function make(folder: Root, name: string, quota: Quota): Promise<void> {
  quota.charge({ files: 1 });
  try {
    await folder.verify();
    await mkdir(folder.at(name));
  } catch (error) {
    quota.charge({ files: -1 });
    // Somebody else has made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** The file at a name, or `undefined` when there is nothing; a link, a directory or anything else is refused. */
async function plainFile(folder: Root, name: string, target: Target): Promise<BigIntStats | undefined> {
  let found: BigIntStats;
  try {
    found = await lstat(folder.at(name), { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (found.isSymbolicLink()) throw linkRefused(target, name);
  if (found.isDirectory()) throw new ToolError(`The path ${shown(target.path)} is a directory, not a file.`, { code: 'not_a_file' });
  if (!found.isFile()) throw new ToolError(`The path ${shown(target.path)} is no ordinary file.`, { code: 'not_a_file' });
  if (found.nlink !== 1n) {
    throw new ToolError(
      `The file ${shown(target.path)} has a second name (it is a hard link), which may be outside of the workspace; it is left alone.`,
      { code: 'link_refused' },
    );
  }
  return found;
}

/** Without `/proc`, a path may have led elsewhere for a moment: what is at it now must be what was opened. */
async function stillThere(folder: Root, name: string, expected: BigIntStats, target: Target): Promise<void> {
  if (folder.byDescriptor) return;
  // Whoever swaps directories would have to be at the right instant each time.
  for (let look = 0; look < LOOKS; look++) {
    await folder.verify();
    const found = await lstat(folder.at(name), { bigint: true });
    if (!isSame(found, expected)) throw changed(target);
  }
}

const LOOKS = 3;

async function replace(
  folder: Root,
  name: string,
  { target, before, data }: { readonly target: Target; readonly before: BigIntStats | undefined; readonly data: Uint8Array },
): Promise<void> {
  const partial = `${PARTIAL}${randomBytes(12).toString('hex')}`;
  await folder.verify();
  const file = await open(folder.at(partial), CREATE_FLAGS, before === undefined ? 0o666 : 0o600);
  try {
    let written: BigIntStats;
    try {
      written = await file.stat({ bigint: true });
      // Before anything is in it: without `/proc` it may have been made elsewhere.
      await stillThere(folder, partial, written, target);
      await file.writeFile(data);
      if (before !== undefined) await file.chmod(Number(before.mode & 0o777n));
    } finally {
      await file.close();
    }
    const now = await plainFile(folder, name, target);
    const untouched =
      before === undefined
        ? now === undefined
        : now !== undefined && isSame(now, before) && now.mtimeNs === before.mtimeNs && now.size === before.size;
    if (!untouched) throw changed(target);
    await folder.verify();
    // A rename replaces a name and follows nothing, whatever has been put there meanwhile.
    await rename(folder.at(partial), folder.at(name));
    // Without `/proc`, whoever swaps the directory in this very moment has the file elsewhere; it is not told as written.
    await stillThere(folder, name, written, target);
  } catch (error) {
    await unlink(folder.at(partial)).catch(() => undefined);
    throw error;
  }
}

async function inTurn<Result>(target: Target, work: () => Promise<Result>): Promise<Result> {
  const { place, path } = target;
  if (!place.writable) {
    throw new ToolError(`The path ${shown(path)} is in ${shown(place.name ?? '.')}, which is only for reading.`, { code: 'read_only' });
  }
  const holder = {};
  if (!place.writing.tryTake(holder)) await new Promise<void>((resolve) => place.writing.wait(holder, resolve));
  try {
    return await guarded(target, work);
  } finally {
    place.writing.leave(holder);
  }
}

/** Failures of the file system as sentences for programs, without a path of the host. */
export async function guarded<Result>({ path }: { readonly path: string }, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (ToolError.is(error) || CodeModeError.is(error)) throw error;
    if (error instanceof RootLost) {
      throw new ToolError(`A directory of ${shown(path)} has ${error.how} while it was used; nothing more is done there.`, {
        code: 'workspace_lost',
        cause: error,
      });
    }
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new ToolError(`${REASONS[code] ?? `The file system failed (${code})`} at ${shown(path)}.`, {
      code: 'workspace_failed',
      cause: error,
    });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full',
  EDQUOT: 'The disk quota is used up',
  EACCES: 'The host may not open the file',
  EPERM: 'The host may not do this',
  EROFS: 'The disk is read-only',
  ENOENT: 'Something vanished while it was used',
  ELOOP: 'A link was put in the place of something while it was used',
  ENOTDIR: 'A directory was replaced while it was used',
  ENAMETOOLONG: 'A name is too long for the disk',
  EMFILE: 'The host has too many open files',
  ENFILE: 'The host has too many open files',
};

function changed({ path }: Target): ToolError {
  return new ToolError(`The file ${shown(path)} was changed by somebody else at the same time; read it again and repeat.`, {
    code: 'changed',
  });
}

function linkRefused({ path }: Target, name: string): ToolError {
  return new ToolError(`In ${shown(path)}, ${shown(name)} is a symbolic link, which is not followed.`, { code: 'link_refused' });
}

/** With the names that are nearest: a model that guessed guesses better. */
async function notFound(folder: Root, name: string, { path }: Target): Promise<ToolError> {
  const { names } = await namesIn(folder, MOST_NAMES).catch(() => ({ names: [] }));
  const [near] = nearest(name, names, 1);
  const hint = near === undefined ? 'list_files shows what there is.' : `Did you mean ${shown(near)}?`;
  return new ToolError(`There is no ${shown(name)} for the path ${shown(path)}. ${hint}`, { code: 'not_found' });
}

const MOST_NAMES = 5000;
