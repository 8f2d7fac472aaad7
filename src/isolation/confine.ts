// Confines a child process: the command line that starts it under the operating system's limits and, where asked for, its sandbox.
// Says truthfully what is in force. Not here: what runs in the child and what is said to it (process.ts), and each wall by itself
// (resource-limits.ts, bubblewrap.ts, seccomp.ts, seatbelt.ts).
import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { access, constants, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { CodeModeError } from '../protocol/errors.ts';
import { bubblewrapArguments, librariesOf, loaderOf } from './bubblewrap.ts';
import { type Ceilings, type LimitTools, limitWith, type ResourceLimits, readCeilings } from './resource-limits.ts';
import { seatbeltProfile } from './seatbelt.ts';
import { isFiltered, seccompFilter } from './seccomp.ts';

const execute = promisify(execFile);

/** What the system does to a child, beside being another process. `auto` is `os` where that can be had, else `none`. */
export type Sandbox = 'none' | 'os' | 'auto';

/** A child to be started. Paths are absolute. */
export interface Command {
  /** The program: a Node binary. */
  readonly file: string;
  readonly args: readonly string[];
  /** Files and folders that the child must be able to read, beside the program and the libraries that it is linked with. */
  readonly reads: readonly string[];
  /** Its own empty folder, and its working directory. Under bubblewrap an empty one in memory takes its place. */
  readonly scratch: string;
  readonly limits: ResourceLimits;
}

/** How to start the child, once. Spawn it with an empty environment. */
export interface Confined {
  readonly file: string;
  readonly args: readonly string[];
  /**
   * Descriptors of this process that the child inherits at 6, 7, …: `stdio: [0, 1, 2, 3, 4, 5 as you like, ...confined.stdio]`.
   * Pipes that you pass at 3 to 5 arrive in the child under the same numbers.
   */
  readonly stdio: readonly number[];
  /** Closes `stdio` here. Call it as soon as the child has been spawned, or will not be. Safe to call twice. */
  release(): void;
  readonly inForce: InForce;
}

/** What holds a child. */
export interface InForce {
  readonly sandbox: 'none' | 'bubblewrap' | 'sandbox-exec';
  /** Names of `ResourceLimits` that the system enforces, and `coreBytes` (none are written). */
  readonly limits: readonly string[];
  /** Whether the system itself ends the child when its parent dies, however that came. */
  readonly diesWithParent: boolean;
  /** Sentences: what is not in force, why, and how to get it. */
  readonly notes: readonly string[];
}

/** What this machine confines children with: looked up once, by `findMeans()`, then handed to every `confine()`. */
export interface Means {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly limitTools: LimitTools;
  readonly ceilings: Ceilings;
  readonly bubblewrap: { readonly path: string; readonly version: string; readonly options: ReadonlySet<string> } | undefined;
  readonly sandboxExec: string | undefined;
  /** What was found out about binaries, by path: their libraries, and why they cannot run in a sandbox here. */
  readonly libraries: Map<string, Promise<readonly string[]>>;
  readonly trials: Map<string, Promise<string | undefined>>;
}

/**
 * Confines a child. With `os` it rejects with a `CodeModeError` (`sandbox_unavailable`) that says how to get a sandbox where there is none; with
 * `auto` that is a note of `inForce`. Without `means` it looks for them first, which takes some processes: keep them when you confine more than once.
 */
export async function confine(command: Command, sandbox: Sandbox, means?: Means | Promise<Means>): Promise<Confined> {
  const known = await (means ?? findMeans());
  if (sandbox === 'none') return withLimitsOnly(command, known, []);
  const obstacle = await obstacleTo(command.file, known);
  if (obstacle === undefined) return withSandbox(command, known);
  if (sandbox === 'auto') return withLimitsOnly(command, known, [`There is no sandbox of the operating system: ${obstacle}`]);
  throw unavailable(obstacle);
}

/** Rejects with the same `CodeModeError` as `confine()` with `os` when a binary cannot run in a sandbox here. */
export async function requireSandbox(file: string, means: Means): Promise<void> {
  const obstacle = await obstacleTo(file, means);
  if (obstacle !== undefined) throw unavailable(obstacle);
}

function unavailable(obstacle: string): CodeModeError {
  return new CodeModeError(
    'sandbox_unavailable',
    `The operating system's sandbox was asked for (sandbox: 'os') and cannot be had: ${obstacle} With sandbox: 'auto' programs run without it.`,
  );
}

/** Why a binary cannot run in the operating system's sandbox here, as sentences that say what to do. `undefined`: it can, which has been tried. */
export function obstacleTo(file: string, means: Means): Promise<string | undefined> {
  let trial = means.trials.get(file);
  if (trial === undefined) {
    trial = tryOut(file, means);
    means.trials.set(file, trial);
  }
  return trial;
}

/** Looks for what this machine has, along a search path. */
export async function findMeans(searchPath: string = process.env['PATH'] ?? ''): Promise<Means> {
  const { platform, arch } = process;
  const folders = [...searchPath.split(delimiter).filter(isAbsolute), ...(searchPath === process.env['PATH'] ? USUAL_FOLDERS : [])];
  const find = (name: string): Promise<string | undefined> => findProgram(name, folders);
  const isLinux = platform === 'linux';
  const [prlimit, setpriv, bubblewrap, sandboxExec, ceilings] = await Promise.all([
    isLinux ? find('prlimit').then((path) => works(path, ['--core=0', '--'])) : undefined,
    isLinux ? find('setpriv').then((path) => works(path, ['--pdeathsig', 'KILL', '--no-new-privs', '--'])) : undefined,
    isLinux ? find('bwrap').then(readBubblewrap) : undefined,
    platform === 'darwin' ? find('sandbox-exec') : undefined,
    readCeilings(),
  ]);
  const shell = platform === 'win32' ? undefined : await findProgram('sh', ['/bin']);
  const limitTools = { prlimit, setpriv, shell };
  return { platform, arch, limitTools, ceilings, bubblewrap, sandboxExec, libraries: new Map(), trials: new Map() };
}

/** Searched after the search path, which in a service may be short. */
const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

function withLimitsOnly(command: Command, means: Means, notes: readonly string[]): Confined {
  const limited = limitWith(means.limitTools, command.limits, means.ceilings, means.platform);
  return started([...limited.prefix, command.file, ...command.args], {
    sandbox: 'none',
    limits: limited.limits,
    diesWithParent: limited.diesWithParent,
    notes: [...notes, ...limited.notes],
  });
}

async function withSandbox(command: Command, means: Means): Promise<Confined> {
  const { limitTools, ceilings, platform, bubblewrap } = means;
  if (bubblewrap === undefined) return withSeatbelt(command, means);
  // Bubblewrap sees to the parent's death itself.
  const limited = limitWith({ ...limitTools, setpriv: undefined }, command.limits, ceilings, platform);
  const before = await bubblewrapArguments({
    bubblewrap: bubblewrap.path,
    options: bubblewrap.options,
    file: command.file,
    reads: command.reads,
    scratch: command.scratch,
    filterAt: FIRST_DESCRIPTOR,
    libraries: (binary) => librariesFor(binary, command.file, means),
  });
  const filter = await openFilter(means.arch);
  return started(
    [...limited.prefix, ...before, command.file, ...command.args],
    { sandbox: 'bubblewrap', limits: limited.limits, diesWithParent: true, notes: limited.notes },
    filter,
  );
}

/** Where `Confined.stdio` begins in the child. */
const FIRST_DESCRIPTOR = 6;

async function withSeatbelt(command: Command, means: Means): Promise<Confined> {
  const limited = limitWith(means.limitTools, command.limits, means.ceilings, means.platform);
  const [file, scratch, ...reads] = await Promise.all([command.file, command.scratch, ...command.reads].map((path) => realpath(path)));
  const profile = seatbeltProfile({ file: file as string, scratch: scratch as string, reads });
  return started([...limited.prefix, means.sandboxExec as string, '-p', profile, file as string, ...command.args], {
    sandbox: 'sandbox-exec',
    limits: limited.limits,
    diesWithParent: limited.diesWithParent,
    notes: limited.notes,
  });
}

function started(line: readonly string[], inForce: InForce, descriptor?: number): Confined {
  const [file = '', ...args] = line;
  let isOpen = descriptor !== undefined;
  return {
    file,
    args,
    stdio: descriptor === undefined ? [] : [descriptor],
    release() {
      if (isOpen && descriptor !== undefined) closeSync(descriptor);
      isOpen = false;
    },
    inForce,
  };
}

/** The filter in a file that no folder holds any more; each child reads its own from the start. */
async function openFilter(arch: string): Promise<number> {
  if (!isFiltered(arch)) throw new Error(`There is no filter for ${arch}.`);
  const folder = await mkdtemp(join(tmpdir(), 'callgate-filter-'));
  try {
    const path = join(folder, 'filter');
    await writeFile(path, seccompFilter(arch), { mode: 0o600 });
    // A plain descriptor: a file handle would close itself when nobody holds it any more.
    return openSync(path, 'r');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function librariesFor(binary: string, file: string, means: Means): Promise<readonly string[]> {
  let libraries = means.libraries.get(binary);
  if (libraries === undefined) {
    libraries = loaderOf(file).then((loader) => librariesOf(binary, loader));
    means.libraries.set(binary, libraries);
  }
  return libraries;
}

/** Runs the binary in the sandbox as a child would be, to its version and no further. */
async function tryOut(file: string, means: Means): Promise<string | undefined> {
  const { platform, arch, bubblewrap, sandboxExec } = means;
  if (platform !== 'linux' && platform !== 'darwin')
    return `Callgate knows the sandboxes of Linux and macOS, and this is ${platform}. Run it in a container or a virtual machine there.`;
  if (platform === 'linux' && bubblewrap === undefined) return HOW_TO_INSTALL;
  if (platform === 'darwin' && sandboxExec === undefined) return 'There is no sandbox-exec here, which comes with macOS in /usr/bin.';
  if (platform === 'linux' && !isFiltered(arch))
    return `The filter of system calls is written for x64 and arm64, and this is ${arch}. Run Callgate in a container or a virtual machine there.`;
  const scratch = await mkdtemp(join(tmpdir(), 'callgate-trial-'));
  try {
    const confined = await withSandbox({ file, args: ['--version'], reads: [], scratch, limits: { fileBytes: 0 } }, means);
    const { status, said } = await watch(confined, scratch);
    if (status === 0) return undefined;
    return `${said === '' ? `The sandbox ended with status ${status} and no word.` : `\`${said}\``} ${await adviceFor(platform)}`;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const HOW_TO_INSTALL =
  'Bubblewrap (bwrap) is not installed. Install it: `apt-get install bubblewrap`, `dnf install bubblewrap`, `apk add bubblewrap` or `pacman -S bubblewrap`.';

/** Longest time that a trial may take. */
const TRIAL_MS = 10_000;

function watch(confined: Confined, cwd: string): Promise<{ status: number | string; said: string }> {
  return new Promise((resolve) => {
    const child = spawn(confined.file, confined.args, {
      cwd,
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ignore', 'ignore', 'ignore', ...confined.stdio],
      timeout: TRIAL_MS,
      killSignal: 'SIGKILL',
    });
    confined.release();
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, 500);
    });
    child.on('error', (error) => resolve({ status: 'error', said: error.message }));
    child.on('close', (code, signal) => resolve({ status: code ?? signal ?? 'unknown', said: said.trim() }));
  });
}

/** What usually forbids a sandbox on Linux, and what to do about it. */
async function adviceFor(platform: NodeJS.Platform): Promise<string> {
  if (platform !== 'linux') return 'Programs cannot be sandboxed inside another sandbox.';
  const read = async (path: string): Promise<string> => (await readFile(path, 'utf8').catch(() => '')).trim();
  if ((await read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns')) === '1')
    return 'AppArmor restricts user namespaces here (as Ubuntu does from 23.10): give bwrap a profile with `userns`, or set kernel.apparmor_restrict_unprivileged_userns=0.';
  if ((await read('/proc/sys/kernel/unprivileged_userns_clone')) === '0')
    return 'User namespaces are switched off here: set kernel.unprivileged_userns_clone=1.';
  if ((await read('/proc/sys/user/max_user_namespaces')) === '0')
    return 'User namespaces are switched off here: set user.max_user_namespaces.';
  return 'If this is a container, it has to allow user namespaces (Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined); the container is then the outer wall.';
}

async function findProgram(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** The program, if it does what it is asked for here: old ones do not know every option, and a container may forbid it. */
async function works(program: string | undefined, options: readonly string[]): Promise<string | undefined> {
  if (program === undefined) return undefined;
  try {
    await execute(program, [...options, process.execPath, '--version'], { env: {}, timeout: TRIAL_MS });
    return program;
  } catch {
    return undefined;
  }
}

async function readBubblewrap(path: string | undefined): Promise<Means['bubblewrap']> {
  if (path === undefined) return undefined;
  try {
    const [{ stdout: version }, { stdout: help }] = await Promise.all([
      execute(path, ['--version'], { env: {}, timeout: TRIAL_MS }),
      execute(path, ['--help'], { env: {}, timeout: TRIAL_MS }),
    ]);
    const [number = 'unknown'] = /\d+(\.\d+)+/.exec(version) ?? [];
    return { path, version: number, options: new Set(help.match(/--[a-z0-9-]+/g)) };
  } catch {
    // It is there and does not run; the trial says why.
    return { path, version: 'unknown', options: new Set() };
  }
}
