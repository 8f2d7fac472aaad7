// What there is to run programs with on this machine: engines and their versions, what holds programs, what is missing and how to get it.
// Looked for when it is asked, so that it is true; nothing of it runs a program. Not here: how it is shown (cli/doctor.ts).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { findV8, v8 } from '../engine/v8-install.ts';
import { obstacleTo } from '../isolation/confine.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { Limits } from '../protocol/limits.ts';
import { type Choice, type Engines, type Isolation, nodeOf } from './engines.ts';

/** What a code mode runs programs with. All of it is plain JSON. */
export interface Description {
  /** Of this package. */
  readonly version: string;
  readonly node: string;
  /** As `process.platform` and `process.arch` have them. */
  readonly platform: string;
  readonly arch: string;
  readonly engines: readonly EngineDescription[];
  /** What holds programs of this code mode's own engine; absent when they cannot be run at all. */
  readonly isolation?: Isolation;
  /** The operating system's sandbox for child processes, asked for or not. */
  readonly sandbox: { readonly usable: boolean; readonly name?: 'bubblewrap' | 'sandbox-exec'; readonly version?: string };
  /** What sets the operating system's limits on child processes, by name; empty where there is nothing. */
  readonly systemTools: readonly string[];
  /** The compiler that `typecheck` uses. */
  readonly typecheck: { readonly usable: boolean; readonly version?: string };
  readonly limits: Limits;
  /** What cannot be used here. */
  readonly missing: readonly Missing[];
}

export interface EngineDescription {
  readonly name: 'quickjs' | 'v8';
  readonly usable: boolean;
  /** Versions of what it is made of, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** Where it can run. */
  readonly isolations: readonly Isolation['kind'][];
}

export interface Missing {
  readonly what: string;
  /** Why, and how to get it, as sentences. */
  readonly how: string;
  /** Whether this code mode cannot run its programs without it. */
  readonly needed: boolean;
}

/** Describes the machine as one code mode uses it. */
export async function describeCodeMode(engines: Engines, limits: Limits): Promise<Description> {
  const choice = engines.choose(undefined);
  const missing: Missing[] = [];
  const [quickjs, v8Engine] = [describeQuickJs(), await describeV8(choice, missing)];
  const means = await engines.means();
  const obstacle = await obstacleTo(nodeOf(choice.engine), means);
  const isolation = await engines.foresee(choice).catch((error: unknown) => {
    if (!CodeModeError.is(error)) throw error;
    return undefined;
  });
  if (obstacle !== undefined) missing.push({ what: "the operating system's sandbox", how: obstacle, needed: isolation === undefined });
  const { prlimit, setpriv } = means.limitTools;
  if (means.platform === 'linux') {
    if (prlimit === undefined) missing.push({ what: 'prlimit', how: HOW_UTIL_LINUX, needed: false });
    if (setpriv === undefined) missing.push({ what: 'setpriv', how: HOW_UTIL_LINUX, needed: false });
  }
  const typescript = versionOf('typescript');
  const checks = typescript !== undefined && /^(5\.9|[67])\./.test(typescript);
  if (!checks) missing.push({ what: 'typecheck', how: describeCompiler(typescript), needed: false });
  const name = means.bubblewrap === undefined ? (means.sandboxExec === undefined ? undefined : 'sandbox-exec') : 'bubblewrap';
  return {
    version: ownVersion(),
    node: process.versions.node,
    platform: means.platform,
    arch: means.arch,
    engines: [quickjs, v8Engine],
    ...(isolation === undefined ? {} : { isolation }),
    sandbox: {
      usable: obstacle === undefined,
      ...(name === undefined ? {} : { name }),
      ...(means.bubblewrap === undefined ? {} : { version: means.bubblewrap.version }),
    },
    systemTools: Object.entries({ prlimit, setpriv, 'sh (ulimit)': prlimit === undefined ? means.limitTools.shell : undefined }).flatMap(
      ([tool, path]) => (path === undefined ? [] : [tool]),
    ),
    typecheck: { usable: checks, ...(typescript === undefined ? {} : { version: typescript }) },
    limits,
    missing,
  };
}

const HOW_UTIL_LINUX =
  "It comes with util-linux (`apt-get install util-linux`, `apk add util-linux-misc`). Without it child processes are held by a shell's ulimit, and watch for their parent's end themselves.";

function describeQuickJs(): EngineDescription {
  const versions = versionsOf(['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync']);
  return { name: 'quickjs', usable: true, versions, isolations: ['thread', 'process', 'inline'] };
}

async function describeV8({ engine }: Choice, missing: Missing[]): Promise<EngineDescription> {
  const asked = engine === 'quickjs' ? v8() : engine;
  try {
    const { isolatedVm, node } = await findV8(asked);
    return { name: 'v8', usable: true, versions: { 'isolated-vm': isolatedVm, node }, isolations: ['process'] };
  } catch (error) {
    if (!CodeModeError.is(error)) throw error;
    missing.push({ what: 'the engine v8', how: error.message, needed: engine !== 'quickjs' });
    return { name: 'v8', usable: false, versions: versionsOf(['isolated-vm']), isolations: ['process'] };
  }
}

function describeCompiler(version: string | undefined): string {
  const found = version === undefined ? 'is not installed' : `is version ${version}, which does not fit`;
  return `The package typescript ${found}; checking types before a program runs needs 5.9, 6 or 7: npm install typescript@6.`;
}

function versionsOf(packages: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    packages.flatMap((name) => {
      const version = versionOf(name);
      return version === undefined ? [] : [[name, version]];
    }),
  );
}

/** The version of an installed package, which is not loaded for that. */
function versionOf(name: string): string | undefined {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      const { version } = JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')) as { version?: unknown };
      if (typeof version === 'string') return version;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

// The same two levels up from src/session and from dist/session.
function ownVersion(): string {
  return (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}
