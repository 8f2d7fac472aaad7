// What the V8 engine needs on this machine: the package isolated-vm and a Node that it fits, each without the hole that older ones have. Asked
// by the host, which never loads the package itself. Not here: running guests in it (v8.ts).
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { CodeModeError, shorten } from '../protocol/errors.ts';

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

export interface V8Versions {
  readonly isolatedVm: string;
  readonly node: string;
}

/** What was found. */
export interface V8Found extends V8Versions {
  /** Writable memory of a process with one isolate, nearly all of it address space set aside; `undefined` where the system does not tell. */
  readonly dataBytes: number | undefined;
}

/** Run by the Node in question: loads the package there, and says what a process with an isolate takes. */
const PROBE = `
  const { readFileSync, writeSync } = require('node:fs');
  const { isolatedVm } = JSON.parse(process.argv[1]);
  const found = { node: process.versions.node };
  try {
    const { Isolate } = require(isolatedVm);
    new Isolate({ memoryLimit: 64 }).createContextSync();
    found.loads = true;
    found.dataKiB = Number(/VmData:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  } catch (error) {
    found.problem = error.message;
  }
  writeSync(1, JSON.stringify(found));
  process.kill(process.pid, 'SIGKILL');
`;
const PROBE_MS = 30_000;

const ADVISORY = 'GHSA-864f-rcv7-6rh4, which lets a program out of its isolate';
const HOW = 'Install isolated-vm 7.0.1 or later (npm install isolated-vm) and run it on Node 24 or later';

/** What the engine runs on. Throws a `CodeModeError` (`engine_unavailable`) that says what is missing or refused, and what to do. */
export async function findV8({ node, allowNode22 }: V8Engine): Promise<V8Found> {
  const installed = findPackage();
  if (installed === undefined)
    throw unavailable(
      `The engine \`v8\` needs the package isolated-vm, which is not installed beside callgate. ${HOW}; the engine \`quickjs\` needs neither.`,
    );
  const probed = await probe(node, installed.path);
  const versions = { isolatedVm: installed.version, node: probed.node };
  const problem = refusal(versions, allowNode22);
  if (problem !== undefined) throw unavailable(problem);
  if (!probed.loads)
    throw unavailable(
      `isolated-vm ${versions.isolatedVm} does not load in Node ${versions.node} (${node}): ${shorten(probed.problem ?? 'it says no more', 300)}. Install it again for that Node.`,
    );
  return { ...versions, dataBytes: probed.dataKiB == null ? undefined : probed.dataKiB * 1024 };
}

function unavailable(message: string, cause?: unknown): CodeModeError {
  return new CodeModeError('engine_unavailable', message, { cause });
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

/** The installed package; it is not loaded here. */
function findPackage(): { readonly path: string; readonly version: string } | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('isolated-vm/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    return { path: dirname(manifest), version };
  } catch {
    return undefined;
  }
}

interface Probed {
  readonly node: string;
  readonly loads?: true;
  readonly problem?: string;
  readonly dataKiB?: number | null;
}

function probe(node: string, isolatedVm: string): Promise<Probed> {
  const args = ['--no-node-snapshot', '--eval', PROBE, JSON.stringify({ isolatedVm })];
  return new Promise((resolve, reject) => {
    // It ends itself by a signal, which counts as an error here: what it wrote is what matters.
    execFile(node, args, { env: {}, timeout: PROBE_MS }, (error, stdout) => {
      try {
        resolve(JSON.parse(stdout) as Probed);
      } catch {
        reject(unavailable(`The Node binary of the engine \`v8\`, ${node}, cannot be run, or is not Node.`, error));
      }
    });
  });
}

function numbersOf(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor, patch];
}
