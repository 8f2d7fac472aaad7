// The program patterns that lie beside the repository in ../shared/programs: reads them, and says what is wrong with an outcome.
// Every system is judged by these same lines; how a system runs a program is in its adapter.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Tools } from '../peers/peer.ts';

export interface Pattern {
  readonly id: string;
  readonly slug: string;
  /** The kind of habit it stands for: shape, typescript, calls, … */
  readonly group: string;
  readonly file: string;
  readonly expect: {
    readonly value?: unknown;
    readonly undefined?: true;
    readonly undefinedOrAny?: true;
    readonly any?: true;
    readonly error?: { readonly name: string | null; readonly messageIncludes: string };
    readonly logs?: readonly string[];
    readonly logsContain?: readonly string[];
    readonly limit?: string;
  };
}

/** What came of a program, as it goes from its process to the judge. */
export type Answer = { readonly output: string } & (
  | { readonly status: 'completed' /** The value as JSON text; absent when there is none. */; readonly json?: string | undefined }
  | { readonly status: 'error'; readonly name: string; readonly message: string }
);

// Benchmarks run in the repository's root, wherever their bundle lies.
const folder = resolve('../shared/programs');

/** `undefined` where the patterns, which lie beside the repository, are not. */
export function readPatterns(): readonly Pattern[] | undefined {
  if (!existsSync(folder)) return undefined;
  // The corpus's own index; its README says what it holds.
  const { programs } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { programs: readonly Pattern[] };
  return programs;
}

export function readProgram({ file }: Pattern): string {
  return readFileSync(join(folder, file), 'utf8');
}

/** Fresh tools, since some count their calls, and the value that programs find as `spec`. */
export async function makeTools(): Promise<{ tools: Tools; spec: unknown }> {
  const made: { makeTools(): { tools: Tools; spec: unknown } } = await import(pathToFileURL(join(folder, 'mock-tools.mjs')).href);
  return made.makeTools();
}

/** What is wrong with the outcome, or `undefined`. Where a pattern has no checkable value, an outcome of any kind will do. */
export function judge({ expect }: Pattern, outcome: Answer): string | undefined {
  const said = `got ${JSON.stringify(outcome)}`;
  if (expect.limit !== undefined) return outcome.status === 'error' ? undefined : `should have been stopped, ${said}`;
  if (expect.error !== undefined) {
    const { name, messageIncludes } = expect.error;
    if (outcome.status !== 'error' || (name !== null && outcome.name !== name) || !outcome.message.includes(messageIncludes)) {
      return `should fail with ${name ?? 'anything'} …${messageIncludes}…, ${said}`;
    }
  } else if (expect.any !== true) {
    if (outcome.status !== 'completed') return `should complete, ${said}`;
    // Several systems know no other nothing than null.
    if (expect.undefined === true && outcome.json !== undefined && outcome.json !== 'null') return `should have no value, ${said}`;
    if ('value' in expect && (outcome.json === undefined || !isDeepStrictEqual(JSON.parse(outcome.json), expect.value))) {
      return `should give ${JSON.stringify(expect.value)}, ${said}`;
    }
  }
  const lines = outcome.output.split('\n');
  for (const line of expect.logs ?? []) if (!lines.includes(line)) return `should print ${JSON.stringify(line)}, ${said}`;
  for (const part of expect.logsContain ?? []) if (!outcome.output.includes(part)) return `should print …${part}…, ${said}`;
  return undefined;
}
