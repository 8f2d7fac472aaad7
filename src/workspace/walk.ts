// The tree below a directory of a workspace, nearest first, without following links. Not here: what is told of it (tools.ts, search.ts).
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { ToolError } from '../tools/tool.ts';
import { guarded, namesIn, type Place, type Target, withFolder } from './files.ts';
import type { RunWorkspace } from './open.ts';
import { codeOf, type Root } from './root.ts';

/** One thing in the tree. `folder` is open until the next one is asked for. */
export interface Entry {
  readonly target: Target;
  readonly name: string;
  readonly folder: Root;
  readonly type: EntryType;
  readonly stats: BigIntStats;
}

/** `link`: a symbolic link, or a file that has a second name; neither is opened. `other`: a pipe, a socket, a device. */
type EntryType = 'file' | 'directory' | 'link' | 'other';

/** What was left out on the way. */
export interface Omissions {
  /** Names that programs cannot spell. */
  hidden: number;
  /** Directories with more entries than are looked at. */
  cut: boolean;
}

export interface WalkOptions {
  /** 1: what is in the directory itself. */
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly omissions: Omissions;
}

/** Entries looked at in one directory. */
const MOST_ENTRIES = 20_000;

/** Walked into only when the walk begins there or below: they hold more than all the rest. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Walks. Rejects when the directory where it begins cannot be opened; what vanishes or cannot be opened below it is passed over. */
export async function* walk(workspace: RunWorkspace, path: string, options: WalkOptions): AsyncGenerator<Entry> {
  const start = workspace.locate(path);
  const prefix = clean(start);
  const waiting: { readonly target: Target; readonly depth: number }[] = [{ target: { ...start, path: prefix }, depth: 1 }];
  if (isTop(start)) for (const place of workspace.places) waiting.push(topOf(place));
  const own = new Set(workspace.places.map(({ name }) => name));
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { target, depth } = next;
    if (depth > options.depth) continue;
    try {
      for await (const entry of entriesOf(target, options)) {
        // A place is in front of whatever else has its name.
        if (target.path === '' && own.has(entry.name)) continue;
        yield entry;
        if (entry.type === 'directory' && !SKIPPED.has(entry.name)) waiting.push({ target: entry.target, depth: depth + 1 });
      }
    } catch (error) {
      if (target.path === prefix || !ToolError.is(error)) throw error;
    }
  }
}

/** The places of the top, which are no entries of any directory. */
export function topOf(place: Place): { readonly target: Target; readonly depth: number } {
  return { target: { path: place.name ?? '', place, names: [] }, depth: 2 };
}

export function isTop({ place, names }: Target): boolean {
  return place.name === undefined && names.length === 0;
}

/** A path in its shortest spelling. */
function clean({ place, names }: Target): string {
  return [...(place.name === undefined ? [] : [place.name]), ...names].join('/');
}

async function* entriesOf(target: Target, { signal, omissions }: WalkOptions): AsyncGenerator<Entry> {
  const { folder, leave } = await hold(target);
  try {
    const { names, hidden, cut } = await guarded(target, () => namesIn(folder, MOST_ENTRIES));
    omissions.hidden += hidden;
    omissions.cut ||= cut;
    for (const name of names) {
      signal.throwIfAborted();
      const stats = await lstat(folder.at(name), { bigint: true }).catch((error: unknown) => {
        if (codeOf(error) === undefined) throw error;
        return undefined;
      });
      if (stats === undefined) continue;
      const path = target.path === '' ? name : `${target.path}/${name}`;
      yield { target: { path, place: target.place, names: [...target.names, name] }, name, folder, type: typeOf(stats), stats };
    }
  } finally {
    await leave();
  }
}

/** A directory that stays open while a generator is asked for its entries. */
function hold(target: Target): Promise<{ readonly folder: Root; readonly leave: () => Promise<void> }> {
  return new Promise((resolve, reject) => {
    const work = withFolder(target, (folder) => {
      return new Promise<void>((end) => {
        resolve({
          folder,
          leave: async () => {
            end();
            await work;
          },
        });
      });
    });
    work.catch(reject);
  });
}

function typeOf(stats: BigIntStats): EntryType {
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'link';
  if (!stats.isFile()) return 'other';
  return stats.nlink === 1n ? 'file' : 'link';
}
