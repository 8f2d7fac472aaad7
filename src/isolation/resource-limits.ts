// The operating system's limits on one process, set by the programs of the system that do that before they become the child: `prlimit` and
// `setpriv` on Linux, a shell's `ulimit` where there is no prlimit. Not here: what the limits should be (process.ts).
import { readFile } from 'node:fs/promises';

/** What the system holds a process to. Absent: no such limit. */
export interface ResourceLimits {
  /**
   * Private writable memory: heap, array buffers, WebAssembly. Not address space, of which WebAssembly reserves gigabytes. From Node 24 on each
   * isolate of V8, so each thread too, counts half a gigabyte that it reserves for code and does not use.
   */
  readonly dataBytes?: number | undefined;
  /** CPU time over the process's whole life. */
  readonly cpuSeconds?: number | undefined;
  /** Longest file that it can write. */
  readonly fileBytes?: number | undefined;
  /** Open descriptors, pipes included. */
  readonly descriptors?: number | undefined;
}

/** What sets limits here: absolute paths of programs that have been tried. */
export interface LimitTools {
  readonly prlimit?: string | undefined;
  readonly setpriv?: string | undefined;
  readonly shell?: string | undefined;
}

/** The command line of a child, and what it sets. */
export interface Limited {
  /** What comes before the child's own command line. */
  readonly prefix: readonly string[];
  readonly limits: readonly string[];
  readonly diesWithParent: boolean;
  readonly notes: readonly string[];
}

/** A command line that sets limits and then becomes what follows it. A limit above what this process may give is set to that. */
export function limitWith(tools: LimitTools, limits: ResourceLimits, ceilings: Ceilings, platform: NodeJS.Platform): Limited {
  const { prlimit, setpriv, shell } = tools;
  const wanted = rowsFor(limits, ceilings).filter(({ name }) => platform === 'linux' || name !== 'dataBytes');
  const guard = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--'];
  const notes: string[] = [];
  if (platform !== 'linux' && limits.dataBytes !== undefined)
    notes.push(`${platform} has no limit on a process's data memory; the engine's own limit holds alone.`);
  const names = wanted.map(({ name }) => name);
  const base = { diesWithParent: setpriv !== undefined };
  if (prlimit !== undefined) {
    const options = wanted.map(({ option, value }) => `--${option}=${value}`);
    return { ...base, prefix: [...guard, prlimit, ...options, '--'], limits: names, notes };
  }
  if (shell !== undefined && wanted.length > 0) {
    const script = wanted.map(({ flag, unit, value }) => `ulimit -${flag} ${Math.ceil(value / unit)}`).join(' && ');
    return { ...base, prefix: [...guard, shell, '-c', `${script} && exec "$@"`, 'callgate'], limits: names, notes };
  }
  if (wanted.length > 0) notes.push(`Nothing sets limits on a process on ${platform} here; the engine's own limits hold alone.`);
  return { ...base, prefix: guard, limits: [], notes };
}

/** The hard limits of this process, by the names of ROWS. A child cannot be given more. */
export type Ceilings = Readonly<Partial<Record<string, number>>>;

/** Reads the hard limits of this process where the system shows them. */
export async function readCeilings(): Promise<Ceilings> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const found: Record<string, number> = {};
  for (const { name, row } of ROWS) {
    const [, hard] = new RegExp(`^${row} +\\S+ +(\\d+)`, 'm').exec(text) ?? [];
    if (hard !== undefined) found[name] = Number(hard);
  }
  return found;
}

/** `option` of prlimit, `flag` of ulimit, which counts in `unit`, and the row of /proc/self/limits. */
const ROWS = [
  { name: 'dataBytes', option: 'data', flag: 'd', unit: 1024, row: 'Max data size' },
  { name: 'cpuSeconds', option: 'cpu', flag: 't', unit: 1, row: 'Max cpu time' },
  { name: 'fileBytes', option: 'fsize', flag: 'f', unit: 512, row: 'Max file size' },
  { name: 'descriptors', option: 'nofile', flag: 'n', unit: 1, row: 'Max open files' },
  { name: 'coreBytes', option: 'core', flag: 'c', unit: 512, row: 'Max core file size' },
] as const;

function rowsFor(limits: ResourceLimits, ceilings: Ceilings): ((typeof ROWS)[number] & { readonly value: number })[] {
  // A dump of the child would hold what its guests have seen.
  const values: Partial<Record<string, number>> = { ...limits, coreBytes: 0 };
  return ROWS.flatMap((row) => {
    const value = values[row.name];
    if (value === undefined) return [];
    return [{ ...row, value: Math.max(0, Math.min(Math.ceil(value), ceilings[row.name] ?? Number.POSITIVE_INFINITY)) }];
  });
}
