// What an adapter of the first-try benchmark is, and what several of them need. An adapter exposes the tools as its system's own
// documentation shows, and adds the spelling of the patterns (`tools.github.list_issues`): names are bridged, behaviour is not.
import type { MockTools, Outcome, Pattern } from './pattern.ts';

export interface Peer {
  readonly name: string;
  /** False for what the system was not made to answer: such patterns do not count for it. Default: it is asked everything. */
  asked?(pattern: Pattern): boolean;
  /** Whether the guest's console goes to the process's own streams. */
  readonly printsToProcess?: boolean;
  /** Loads the system, so that this is not counted against a program. */
  open(load: (specifier: string) => Promise<unknown>): Promise<(program: Program) => Promise<Outcome>>;
}

export interface Program {
  readonly source: string;
  readonly tools: MockTools;
  readonly spec: unknown;
}

/** The time that a system is told to give a program; less than the benchmark's own bound. */
export const TIMEOUT_MS = 3_000;

export interface Leaf {
  readonly path: readonly string[];
  /** One flat name: `github_list_issues`. */
  readonly identifier: string;
  readonly execute: (...args: unknown[]) => unknown;
}

export function leaves(tools: MockTools, path: readonly string[] = []): readonly Leaf[] {
  return Object.entries(tools).flatMap(([name, member]) => {
    const here = [...path, name];
    return typeof member === 'function' ? { path: here, identifier: identify(here), execute: member } : leaves(member, here);
  });
}

function identify(path: readonly string[]): string {
  return path.join('_').replace(/\W/g, '_');
}

/**
 * The program with a line before it that makes the system's flat functions reachable as the patterns spell them, and `spec`. No line
 * is added, and a directive at the program's head stays one.
 */
export function bridged({ source, tools, spec }: Program, nameOf: (identifier: string) => string): string {
  const write = (members: MockTools, path: readonly string[]): string => {
    const parts = Object.entries(members).map(([name, member]) => {
      const here = [...path, name];
      return `${JSON.stringify(name)}: ${typeof member === 'function' ? nameOf(identify(here)) : write(member, here)}`;
    });
    return `{ ${parts.join(', ')} }`;
  };
  const [directive = ''] = /^\s*(["'])use strict\1;?/.exec(source) ?? [];
  const names = `globalThis.tools = ${write(tools, [])}; globalThis.spec = ${JSON.stringify(spec)};`;
  return `${directive} ${names} ${source.slice(directive.length)}`;
}

/** A value as JSON text, for systems that hand out values; BigInts become their digits. */
export function toText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, nested: unknown) => (typeof nested === 'bigint' ? String(nested) : nested));
  } catch {
    return '"a value that is not JSON"';
  }
}
