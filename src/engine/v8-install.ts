// What the V8 engine needs on this machine: the package isolated-vm and a Node that it fits, each without the hole that older ones have. Asked
// by the host, which never loads the package itself. Not here: running guests in it (v8.ts).
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { CodeModeError } from '../protocol/errors.ts';

/** The V8 engine, as `v8()` describes it. */
export interface V8Engine {
  readonly engine: 'v8';
  /** The Node binary that child processes run on. */
  readonly node: string;
  /** Whether isolated-vm 6.2 on Node 22 will do. */
  readonly allowNode22: boolean;
}

export interface V8Options {
  /** Path of the Node binary (24 or later) that child processes run on. Default: the one that runs the application. */
  readonly node?: string | undefined;
  /** Takes isolated-vm from 6.2.0 on Node 22 too, the last one there that has the fix of GHSA-864f-rcv7-6rh4. Default false. */
  readonly allowNode22?: boolean | undefined;
}

/** The `v8` engine with options. Throws a `CodeModeError` (`option_invalid`) for wrong ones; what is missing on the machine is told by the first run. */
export function v8(options: V8Options = {}): V8Engine {
  for (const key of Object.keys(options))
    if (key !== 'node' && key !== 'allowNode22')
      throw new CodeModeError('option_invalid', `v8() has no option \`${key}\`. It has node, allowNode22.`);
  const { node = process.execPath, allowNode22 = false } = options;
  if (typeof node !== 'string' || node === '')
    throw new CodeModeError('option_invalid', '`node` should be the path of a Node binary, 24 or later.');
  if (typeof allowNode22 !== 'boolean') throw new CodeModeError('option_invalid', '`allowNode22` should be true or false.');
  return { engine: 'v8', node, allowNode22 };
}

/** What was found. */
export interface V8Versions {
  readonly isolatedVm: string;
  readonly node: string;
}

const ADVISORY = 'GHSA-864f-rcv7-6rh4, which lets a program out of its isolate';
const HOW = 'Install isolated-vm 7.0.1 or later (npm install isolated-vm) and run it on Node 24 or later';

/** The versions of what the engine runs on. Throws a `CodeModeError` (`engine_unavailable`) that says what is missing or refused, and what to do. */
export async function findV8({ node, allowNode22 }: V8Engine): Promise<V8Versions> {
  const isolatedVm = isolatedVmVersion();
  if (isolatedVm === undefined) {
    throw new CodeModeError(
      'engine_unavailable',
      `The engine \`v8\` needs the package isolated-vm, which is not installed beside callgate. ${HOW}; the engine \`quickjs\` needs neither.`,
    );
  }
  const version = await nodeVersion(node);
  const problem = refusal({ isolatedVm, node: version }, allowNode22);
  if (problem !== undefined) throw new CodeModeError('engine_unavailable', problem);
  return { isolatedVm, node: version };
}

/** Why a pair of versions is refused, as a sentence; `undefined` when it is not. Asked again by the child, which knows best. */
export function refusal({ isolatedVm, node }: V8Versions, allowNode22: boolean): string | undefined {
  const [major, minor, patch] = numbersOf(isolatedVm);
  const [nodeMajor] = numbersOf(node);
  const fixed = major > 7 || (major === 7 && (minor > 0 || patch >= 1)) || (major === 6 && minor >= 2);
  if (!fixed) return `isolated-vm ${isolatedVm} is refused: it has ${ADVISORY}. ${HOW}.`;
  if (major >= 7)
    return nodeMajor >= 24
      ? undefined
      : `The engine \`v8\` with isolated-vm ${isolatedVm} needs Node 24 or later for its child processes, and this is Node ${node}. Name another binary: engine: v8({ node: '/path/to/node24' }); the application itself may stay where it is.`;
  if (allowNode22 && nodeMajor === 22) return undefined;
  return `isolated-vm ${isolatedVm} is taken only on Node 22 and with v8({ allowNode22: true }), since versions of its line have ${ADVISORY}; this is Node ${node}. ${HOW}.`;
}

/** The version of the installed package; it is not loaded for that. */
function isolatedVmVersion(): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve('isolated-vm/package.json');
    return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

async function nodeVersion(node: string): Promise<string> {
  if (node === process.execPath) return process.versions.node;
  try {
    const { stdout } = await promisify(execFile)(node, ['--print', 'process.versions.node'], { env: {}, timeout: 20_000 });
    if (/^\d+\.\d+\.\d+/.test(stdout)) return stdout.trim();
  } catch (cause) {
    throw new CodeModeError('engine_unavailable', `The Node binary of the engine \`v8\`, ${node}, cannot be run.`, { cause });
  }
  throw new CodeModeError('engine_unavailable', `The Node binary of the engine \`v8\`, ${node}, is not Node.`);
}

function numbersOf(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor, patch];
}
