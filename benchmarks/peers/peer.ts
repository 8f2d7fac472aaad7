// What an adapter of a system is, and what several of them need. It exposes tools as the system's own documentation shows and adds the spelling
// `tools.name` where the system has another: names are bridged, behaviour is not. Adapters load their system in open(), never at import.

export interface Peer {
  /** As it is printed. */
  readonly name: string;
  /** Where guest code runs, in a few words: "a thread", "the host's own thread". */
  readonly where: string;
  /** An error says why the system cannot run here. */
  open(setup: Setup): Promise<Opened>;
  /** Whether the guest's console goes to the process's own streams. */
  readonly printsToProcess?: boolean;
}

export interface Setup {
  readonly tools: Tools;
  /** A global constant of programs, where they need it. */
  readonly spec?: unknown;
  /** Whether tools take bytes too: nothing about their input is checked then. */
  readonly takesBytes?: boolean;
  /** What a program may take in all. Default: a minute, so that limits are not what is measured. */
  readonly timeoutMs?: number;
  /** Default 256 MB. */
  readonly memoryBytes?: number;
  /** Limits other than the time are the system's own: what it does by itself is asked. */
  readonly hasOwnLimits?: boolean;
}

export interface Opened {
  /** Runs one program in a world of its own. Rejects only when the system itself fails. */
  run(source: string): Promise<Outcome>;
  close?(): Promise<unknown>;
}

/** What came of a program, in words that every system can be translated to. */
export type Outcome = { readonly output: string } & (
  | { readonly status: 'completed'; readonly value: unknown }
  | { readonly status: 'error'; readonly name: string; readonly message: string }
);

/** Functions, and namespaces of functions. */
export interface Tools {
  readonly [name: string]: Tools | ((...args: never[]) => unknown);
}

export const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_MEMORY_BYTES = 256 << 20;

export interface Leaf {
  readonly path: readonly string[];
  /** One flat name: `github_list_issues`. */
  readonly identifier: string;
  readonly execute: (...args: unknown[]) => unknown;
}

export function leaves(tools: Tools, path: readonly string[] = []): readonly Leaf[] {
  return Object.entries(tools).flatMap(([name, member]): readonly Leaf[] => {
    const here = [...path, name];
    if (typeof member !== 'function') return leaves(member, here);
    // Whoever calls it does so with what a program gave: each tool looks at that itself.
    return [{ path: here, identifier: identify(here), execute: member as Leaf['execute'] }];
  });
}

function identify(path: readonly string[]): string {
  return path.join('_').replace(/\W/g, '_');
}

/**
 * The program with a line before it that makes the system's flat functions reachable as the programs spell them, and `spec`. No line is added,
 * and a directive at the program's head stays one.
 */
export function bridged(source: string, { tools, spec }: Pick<Setup, 'tools' | 'spec'>, nameOf: (identifier: string) => string): string {
  const write = (members: Tools, path: readonly string[]): string => {
    const parts = Object.entries(members).map(([name, member]) => {
      const here = [...path, name];
      return `${JSON.stringify(name)}: ${typeof member === 'function' ? nameOf(identify(here)) : write(member, here)}`;
    });
    return `{ ${parts.join(', ')} }`;
  };
  const [directive = ''] = /^\s*(["'])use strict\1;?/.exec(source) ?? [];
  const constant = spec === undefined ? '' : ` globalThis.spec = ${JSON.stringify(spec)};`;
  return `${directive} globalThis.tools = ${write(tools, [])};${constant} ${source.slice(directive.length)}`;
}

export function failure(error: unknown, output = ''): Outcome {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  return { status: 'error', name, message, output };
}

/** The value, or an error: for programs that have to go well. */
export function valueIn(outcome: Outcome): unknown {
  if (outcome.status === 'completed') return outcome.value;
  throw new Error(`${outcome.name}: ${outcome.message}`);
}

/** A value as JSON text, for those who compare; BigInts become their digits. */
export function toText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, nested: unknown) => (typeof nested === 'bigint' ? String(nested) : nested));
  } catch {
    return '"a value that is not JSON"';
  }
}
