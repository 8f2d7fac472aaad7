// Workspaces of a code mode: the option is checked once, directories that runs share are opened once, and each run gets its own view of
// them, with a temporary directory of its own unless one was given. Not here: what is done with files (files.ts).
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { dir } from 'tmp-promise';
import { CodeModeError } from '../protocol/errors.ts';
import { nearest } from '../protocol/nearest.ts';
import { describe } from '../tools/json.ts';
import { ToolError } from '../tools/tool.ts';
import { Turns } from '../tools/turns.ts';
import { change, type Place, readBytes, type Target, tooLarge, withFile } from './files.ts';
import { Quota } from './quota.ts';
import { Root, RootLost } from './root.ts';
import { isSpellable, readPath, shown } from './spelling.ts';
import type { Workspace, WorkspaceOptions } from './workspace.ts';

/** The largest file that `read` gives out and `write` takes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A directory as it was given, once it is known to be one. */
interface Given {
  readonly name: string | undefined;
  readonly directory: string;
  readonly writable: boolean;
}

/** The workspaces of one code mode. */
export class Workspaces {
  readonly #given: readonly Given[];
  readonly #limits: { readonly maxBytes: number; readonly maxFiles: number };
  #shared: Promise<readonly Place[]> | undefined;

  /** Throws `option_invalid` for a wrong option, also for a directory that is not there. */
  constructor(options: unknown) {
    const { directory, paths, maxBytes, maxFiles } = checkOptions(options);
    this.#given = checkDirectories(directory, paths);
    this.#limits = { maxBytes: maxBytes ?? DEFAULT_BYTES, maxFiles: maxFiles ?? DEFAULT_FILES };
  }

  /** A workspace for one run; close it when the run ends. Rejects with `store_failed` when there is none to be had. */
  async open(): Promise<RunWorkspace> {
    try {
      this.#shared ??= this.#openShared();
      const shared = await this.#shared.catch((error: unknown) => {
        // Whoever comes later tries again.
        this.#shared = undefined;
        throw error;
      });
      const quota = new Quota(this.#limits);
      const own = shared.find(({ name }) => name === undefined);
      if (own !== undefined) return new RunWorkspace({ own, shared, quota, remove: undefined });
      const { path, cleanup } = await dir({ prefix: 'callgate-workspace', mode: 0o700, unsafeCleanup: true });
      const root = await Root.open(path);
      const temporary: Place = { name: undefined, root, writable: true, writing: new Turns(1) };
      return new RunWorkspace({ own: temporary, shared, quota, remove: cleanup });
    } catch (cause) {
      throw new CodeModeError('store_failed', 'The workspace of a run could not be opened; `cause` says why.', { cause });
    }
  }

  async close(): Promise<void> {
    const shared = await this.#shared?.catch(() => undefined);
    for (const { root } of shared ?? []) await root.close();
  }

  async #openShared(): Promise<readonly Place[]> {
    const places: Place[] = [];
    try {
      for (const { name, directory, writable } of this.#given) {
        places.push({ name, root: await Root.open(directory), writable, writing: new Turns(1) });
      }
      return places;
    } catch (error) {
      for (const { root } of places) await root.close();
      throw error;
    }
  }
}

/** One run's view: its own directory, and the places beside it. */
export class RunWorkspace implements Workspace {
  readonly directory: string;
  readonly quota: Quota;
  readonly #own: Place;
  readonly #named: ReadonlyMap<string, Place>;
  readonly #remove: (() => Promise<void>) | undefined;
  #closed: Promise<void> | undefined;

  constructor({
    own,
    shared,
    quota,
    remove,
  }: {
    readonly own: Place;
    readonly shared: readonly Place[];
    readonly quota: Quota;
    readonly remove: (() => Promise<void>) | undefined;
  }) {
    this.directory = own.root.directory;
    this.quota = quota;
    this.#own = own;
    this.#named = new Map(shared.flatMap((place) => (place.name === undefined ? [] : [[place.name, place]])));
    this.#remove = remove;
  }

  /** The places by name, the own directory not among them. */
  get places(): readonly Place[] {
    return [...this.#named.values()];
  }

  path(name: string): string {
    const { place, names } = this.locate(name);
    return join(place.root.directory, ...names);
  }

  read(name: string): Promise<Uint8Array> {
    const target = this.locate(name);
    return withFile(target, (file, { size }) => {
      if (size > BigInt(MAX_FILE_BYTES)) throw tooLarge(target, Number(size), MAX_FILE_BYTES);
      return readBytes(file, 0, Number(size));
    });
  }

  async write(name: string, data: Uint8Array | string): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data.slice();
    await change(this.locate(name), { quota: this.quota, maxBytes: MAX_FILE_BYTES, make: () => bytes });
  }

  /** Where a path of a program leads, by its spelling. Throws `path_invalid`. */
  locate(path: string): Target {
    if (this.#closed !== undefined) throw new ToolError('The run has ended, and its workspace with it.', { code: 'workspace_lost' });
    const [first, ...rest] = readPath(path);
    if (first === undefined) return { path, place: this.#own, names: [] };
    const place = this.#named.get(first);
    if (place !== undefined) return { path, place, names: rest };
    // On some disks, and to many readers, it would be the same: `Docs` must not be a second `docs`.
    const meant = [...this.#named.keys()].find((name) => fold(name) === fold(first));
    if (meant !== undefined) {
      throw new ToolError(
        `The path ${shown(path)} begins like the place ${shown(meant)}, but is spelled otherwise; write it as ${shown(meant)}.`,
        {
          code: 'path_invalid',
        },
      );
    }
    return { path, place: this.#own, names: [first, ...rest] };
  }

  /** Removes a temporary directory. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#remove === undefined) return;
    const { root } = this.#own;
    try {
      await root.check();
      await this.#remove();
    } catch (error) {
      if (!(error instanceof RootLost)) throw error;
      // What is gone need not be removed, and what is in its place is not ours.
      if (error.how === 'replaced')
        throw new CodeModeError('cleanup_failed', 'The temporary workspace of a run was replaced by another directory, and is left alone.');
    } finally {
      await root.close();
    }
  }
}

const DEFAULT_BYTES = 64 * 1024 * 1024;
const DEFAULT_FILES = 1000;

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

const OPTIONS = ['directory', 'paths', 'maxBytes', 'maxFiles'];

function checkOptions(options: unknown): WorkspaceOptions {
  checkObject(options, '`workspace`', OPTIONS);
  for (const name of ['maxBytes', 'maxFiles']) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined && !(typeof value === 'number' && Number.isSafeInteger(value) && value >= 0))
      throw invalid(`\`workspace.${name}\` should be a whole number from 0, not ${typeof value === 'number' ? value : describe(value)}.`);
  }
  return options as WorkspaceOptions;
}

function checkObject(value: unknown, subject: string, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${subject} should be an object with ${known.join(', ')}, not ${describe(value)}.`);
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const [near] = nearest(key, known, 1);
    throw invalid(`${subject} has no \`${key}\`${near === undefined ? '.' : `; did you mean \`${near}\`?`} It has ${known.join(', ')}.`);
  }
}

function checkDirectories(directory: unknown, paths: unknown): readonly Given[] {
  const given: Given[] = [];
  if (directory !== undefined)
    given.push({ name: undefined, directory: realDirectory(directory, '`workspace.directory`'), writable: true });
  if (paths !== undefined) {
    if (typeof paths !== 'object' || paths === null || Array.isArray(paths))
      throw invalid(`\`workspace.paths\` should be an object of directories by name, not ${describe(paths)}.`);
    for (const [name, value] of Object.entries(paths)) given.push(checkPlace(name, value));
  }
  for (const [index, place] of given.entries()) {
    for (const other of given.slice(0, index)) checkApart(place, other);
  }
  return given;
}

function checkPlace(name: string, value: unknown): Given {
  const subject = `\`workspace.paths.${name}\``;
  if (!isSpellable(name) || !/^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u.test(name))
    throw invalid(`\`workspace.paths\` has the name ${JSON.stringify(name)}; a name has 1 to 64 letters, digits, _, - and dots.`);
  if (typeof value === 'string') return { name, directory: realDirectory(value, subject), writable: false };
  checkObject(value, subject, ['directory', 'writable']);
  const { directory, writable = false } = value as Record<string, unknown>;
  if (typeof writable !== 'boolean')
    throw invalid(`${subject} has a \`writable\` that should be true or false, not ${describe(writable)}.`);
  return { name, directory: realDirectory(directory, `${subject} (\`directory\`)`), writable };
}

/** Two names of one thing would undo `writable: false`, and confuse whoever reads. */
function checkApart(one: Given, other: Given): void {
  const [first, second] = [nameOf(other), nameOf(one)];
  if (one.name !== undefined && other.name !== undefined && fold(one.name) === fold(other.name))
    throw invalid(`${first} and ${second} have names that are the same but for their case.`);
  if (one.directory === other.directory) throw invalid(`${first} and ${second} are the same directory.`);
  if (isInside(one.directory, other.directory) || isInside(other.directory, one.directory)) {
    if (one.writable !== other.writable)
      throw invalid(
        `One of ${first} and ${second} is inside the other, and only one of them is for writing: it could be written to by its other path.`,
      );
  }
}

function nameOf({ name }: Given): string {
  return name === undefined ? '`workspace.directory`' : `\`workspace.paths.${name}\``;
}

function isInside(inner: string, outer: string): boolean {
  const path = relative(outer, inner);
  return path !== '' && path !== '..' && !/^\.\.[/\\]/.test(path) && !isAbsolute(path);
}

function realDirectory(path: unknown, subject: string): string {
  if (typeof path !== 'string' || path === '') throw invalid(`${subject} should be the path of a directory, not ${describe(path)}.`);
  let real: string;
  try {
    real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw new CodeModeError('option_invalid', `${subject} should be a directory that is there, but ${JSON.stringify(path)} is not.`, {
      cause,
    });
  }
  throw invalid(`${subject} should be a directory, but ${JSON.stringify(path)} is something else.`);
}

function invalid(message: string): CodeModeError {
  return new CodeModeError('option_invalid', message);
}
