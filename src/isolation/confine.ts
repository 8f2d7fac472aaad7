// Confines a child process: the command line that starts it under the operating system's limits and, where asked for, its sandbox.
// Says truthfully what is in force. Not here: what runs in the child and what is said to it (process.ts).

/** What the system does to a child, beside being another process. `auto` is `os` where that can be had, else `none`. */
export type Sandbox = 'none' | 'os' | 'auto';

/** A child to be started. Paths are absolute. */
export interface Command {
  /** The program: a Node binary. */
  readonly file: string;
  readonly args: readonly string[];
  /** Files and folders that the child must be able to read, beside the program and the libraries that it is linked with. */
  readonly reads: readonly string[];
  /** Its own empty folder, and its working directory. */
  readonly scratch: string;
  readonly limits: ResourceLimits;
}

/** What the system holds the child to. Absent: no such limit. */
export interface ResourceLimits {
  /** Private writable memory: heap, array buffers, WebAssembly. Not address space, of which WebAssembly reserves gigabytes. */
  readonly dataBytes?: number;
  /** CPU time over the child's whole life. */
  readonly cpuSeconds?: number;
  /** Longest file that it can write. */
  readonly fileBytes?: number;
  /** Open descriptors, pipes included. */
  readonly descriptors?: number;
}

/** How to start the child, once. */
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
  /** Names of `ResourceLimits` that the system enforces, and `coreBytes`. */
  readonly limits: readonly string[];
  /** Whether the system itself ends the child when its parent dies, however that came. */
  readonly diesWithParent: boolean;
  /** Sentences: what is not in force, why, and how to get it. */
  readonly notes: readonly string[];
}

/** What this machine confines children with: looked up once, by `findMeans()`, then handed to every `confine()`. */
export interface Means {
  readonly platform: NodeJS.Platform;
}

/** Looks for what this machine has. */
export async function findMeans(): Promise<Means> {
  return { platform: process.platform };
}

/** Confines a child. With `os` it throws a `CodeModeError` (`sandbox_unavailable`) that says how to get a sandbox where there is none. */
export async function confine(command: Command, sandbox: Sandbox, means?: Means | Promise<Means>): Promise<Confined> {
  const { platform } = await (means ?? findMeans());
  const { file, args } = command;
  return {
    file,
    args,
    stdio: [],
    release: () => undefined,
    inForce: { sandbox: 'none', limits: [], diesWithParent: false, notes: [`Nothing confines children on ${platform} (${sandbox}) yet.`] },
  };
}
