// A run's workspace, as tools see it: a directory and named places. Not here: how it is opened and closed (open.ts), and what keeps
// paths inside it (spelling.ts, root.ts).

/** Files of one run. What `context.workspace` is when `createCodeMode` has the option `workspace`. */
export interface Workspace {
  /** The directory of the run: an absolute path, without links. A temporary one is removed when the run ends. */
  readonly directory: string;
  /**
   * The absolute path for a path of the workspace: of a place (`docs`), in one (`docs/guide.md`), or in the run's own directory (`out/report.csv`);
   * `.` is the directory itself. Throws a `ToolError` (`path_invalid`) for what could lead out: `..`, an absolute path, and their disguises. It
   * looks at the spelling alone: whoever opens the file should not follow links, and `read` and `write` do not.
   */
  path(name: string): string;
  /** The bytes of a file, at most 64 MiB. Follows no link and never leaves the workspace; rejects with a `ToolError` that a program may see. */
  read(name: string): Promise<Uint8Array>;
  /**
   * Writes a file whole or not at all, making the directories above it; within the workspace's quota, and not in a place that is only for
   * reading. Rejects with a `ToolError` that a program may see.
   */
  write(name: string, data: Uint8Array | string): Promise<void>;
}

/** The option `workspace` of `createCodeMode`. */
export interface WorkspaceOptions {
  /** A directory that every run works in and that is kept. Default: a temporary one for each run, removed when the run ends. */
  readonly directory?: string | undefined;
  /** Further directories by the name that programs use for them (`docs/guide.md`): for reading, or for writing too. Default: none. */
  readonly paths?: Readonly<Record<string, string | WorkspacePath>> | undefined;
  /** Bytes by which a run may make the workspace grow. Default 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** Files and directories that a run may add. Default 1000. */
  readonly maxFiles?: number | undefined;
}

/** A named directory. */
export interface WorkspacePath {
  /** Of the host; it must exist. */
  readonly directory: string;
  /** Default: false. */
  readonly writable?: boolean | undefined;
}
