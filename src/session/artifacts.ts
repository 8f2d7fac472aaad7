// The artifacts of one code mode: the store that its runs share, and a shelf for each run. Not here: what a run may keep (artifacts/run-shelf.ts).

import type { KeptFile } from '../artifacts/kept.ts';
import { memoryStore } from '../artifacts/memory.ts';
import { type ArtifactLimits, type ResolveArtifact, RunShelf, type RunShelfOptions } from '../artifacts/run-shelf.ts';
import type { ArtifactStore } from '../artifacts/store.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { Run } from '../tools/binding.ts';
import { describe } from '../tools/json.ts';

/** The option `artifacts` of `createCodeMode()`. */
export interface ArtifactsOptions {
  /** Where bytes are kept; closed with code mode. Default: a store in memory. */
  readonly store?: ArtifactStore | undefined;
  /** Fetches what tools return as `deferredArtifact()`. Absent: such artifacts reach the caller as they are. */
  readonly resolve?: ResolveArtifact | undefined;
  /** The limits on artifacts, under the names that they have in `limits`; those given there win. */
  readonly limits?: { readonly [Name in keyof ArtifactLimits]?: number | undefined } | undefined;
}

/** Their names. */
export const ARTIFACT_LIMITS = [
  'artifactBytes',
  'artifactRunBytes',
  'artifactRunFiles',
  'artifactCallFiles',
  'artifactCallBytes',
  'mediaBlocks',
  'mediaBytes',
] as const satisfies readonly (keyof ArtifactLimits)[];

export class Artifacts {
  readonly #store: ArtifactStore;
  readonly #resolve: ResolveArtifact | undefined;
  readonly #tell: RunShelfOptions['tell'];
  /** Files that nobody holds any more leave the store. */
  readonly #unused = new FinalizationRegistry<() => void>((forget) => forget());
  #closed: Promise<void> | undefined;

  constructor({ store, resolve }: ArtifactsOptions, tell: RunShelfOptions['tell']) {
    this.#store = store ?? memoryStore();
    this.#resolve = resolve;
    this.#tell = tell;
  }

  shelfFor(run: Run): RunShelf {
    return new RunShelf({
      store: this.#store,
      resolve: this.#resolve,
      run,
      tell: this.#tell,
      watch: (file: KeptFile, forget) => this.#unused.register(file, forget),
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#store.close();
    return this.#closed;
  }
}

/** The option, or `option_invalid` for what is wrong with it. Limits are checked with all others. */
export function checkArtifacts(options: unknown): ArtifactsOptions {
  if (options === undefined) return {};
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new CodeModeError('option_invalid', `\`artifacts\` should be an object { store, resolve, limits }, not ${describe(options)}.`);
  const { store, resolve, limits } = options as ArtifactsOptions;
  for (const key of Object.keys(options)) {
    if (!['store', 'resolve', 'limits'].includes(key))
      throw new CodeModeError('option_invalid', `\`artifacts\` has no option \`${key}\`; it has store, resolve and limits.`);
  }
  if (resolve !== undefined && typeof resolve !== 'function')
    throw new CodeModeError('option_invalid', '`artifacts.resolve` should be a function (artifact, { run, maxBytes, signal }).');
  if (store !== undefined && !isStore(store))
    throw new CodeModeError(
      'option_invalid',
      '`artifacts.store` should be a store such as memoryStore() or directoryStore(), with put, read, release and close.',
    );
  if (limits !== undefined) {
    if (typeof limits !== 'object' || limits === null)
      throw new CodeModeError('option_invalid', '`artifacts.limits` should be an object such as { artifactBytes: 1000000 }.');
    for (const key of Object.keys(limits)) {
      if (!(ARTIFACT_LIMITS as readonly string[]).includes(key))
        throw new CodeModeError('limit_invalid', `\`artifacts.limits\` has no limit \`${key}\`; it has ${ARTIFACT_LIMITS.join(', ')}.`);
    }
  }
  return options as ArtifactsOptions;
}

function isStore(store: unknown): store is ArtifactStore {
  return (
    typeof store === 'object' &&
    store !== null &&
    (['put', 'read', 'release', 'close'] as const).every((name) => typeof (store as Partial<ArtifactStore>)[name] === 'function')
  );
}
