// The artifacts of one run: what its tools delivered and its programs saved, under ids that mean something in this run alone. A batch is kept
// whole or not at all, every byte is charged before it is stored, and each artifact is handed to the caller once. Not here: where the bytes
// are (store.ts), what programs may do with them (session/artifact-functions.ts).
import { createHash } from 'node:crypto';
import type { EventFact } from '../observe.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { Limits } from '../protocol/limits.ts';
import type { Run } from '../tools/binding.ts';
import { type Artifact, type DeferredArtifact, type InlineArtifact, isArtifact, toBlob } from './artifact.ts';
import { Budget } from './budget.ts';
import { Draft } from './draft.ts';
import { type ArtifactOrigin, type Bytes, type KeptArtifact, type KeptFile, makeFile, makeReference } from './kept.ts';
import type { ArtifactStore, StoredArtifact } from './store.ts';

/** The limits that the shelf enforces, and what `renderResult` shows. */
export type ArtifactLimits = Pick<
  Limits,
  'artifactBytes' | 'artifactRunBytes' | 'artifactRunFiles' | 'artifactCallFiles' | 'artifactCallBytes' | 'mediaBlocks' | 'mediaBytes'
>;

/** What `artifacts.resolve` may give: the bytes, an artifact (whose type, name and metadata then count), or `null` to leave it where it is. */
export type ResolvedArtifact = Uint8Array | ArrayBuffer | Blob | Artifact | null | undefined;

/**
 * Fetches a deferred artifact: called at most once for each, in order. What it throws is hidden from programs and models but for its class.
 * The reference proves nothing: check it against `run.invocation` before you read anything.
 */
export type ResolveArtifact = (
  artifact: DeferredArtifact,
  context: { readonly run: Run; readonly maxBytes: number; readonly signal: AbortSignal },
) => ResolvedArtifact | Promise<ResolvedArtifact>;

/** What became of the artifacts beside one value. With a `warning` none of them was kept. */
export interface Batch {
  readonly artifacts: readonly KeptArtifact[];
  readonly warning?: string;
  /** The original error behind the warning, for the observer. */
  readonly error?: unknown;
}

/** What an artifact is kept for. */
export interface KeepScope {
  readonly limits: ArtifactLimits;
  readonly executionId: string;
  /** Of the call or request, in its execution: artifacts are handed over in this order. */
  readonly order: number;
}

/** What a program says of a file that it saves. */
interface FileFacts {
  readonly mediaType: string;
  readonly name?: string | undefined;
}

/** A file that a program or code mode itself saves. */
interface FileInput extends FileFacts {
  readonly data: Uint8Array;
}

export interface RunShelfOptions {
  readonly store: ArtifactStore;
  readonly resolve?: ResolveArtifact | undefined;
  readonly run: Run;
  /** Told of each artifact that is kept. */
  readonly tell?: ((fact: EventFact & { readonly type: 'artifact' }) => void) | undefined;
  /** Told of each file that is kept: `forget` may be called when nobody holds it any more. */
  readonly watch?: ((file: KeptFile, forget: () => void) => void) | undefined;
}

export class RunShelf {
  readonly #options: RunShelfOptions;
  readonly #budget = new Budget();
  readonly #byId = new Map<string, KeptArtifact>();
  /** In the order in which they came. */
  readonly #log: KeptArtifact[] = [];
  readonly #byKey = new Map<string, KeptFile>();
  readonly #byDeferred = new WeakMap<DeferredArtifact, KeptArtifact>();
  /** What became of asking for a deferred artifact: it is asked for once, whatever came of it. */
  readonly #asked = new WeakMap<DeferredArtifact, Promise<InlineArtifact | undefined>>();
  #untaken: { readonly artifact: KeptArtifact; readonly order: number }[] = [];
  readonly #executions = new Map<string, number>();
  readonly #drafts = new Map<string, Draft>();
  /** Drafts that were closed: their names may come again from a program that goes on with them. */
  readonly #finished = new Set<string>();
  #lastId = 0;
  #closed = false;

  constructor(options: RunShelfOptions) {
    this.#options = options;
  }

  /** The artifacts of the run so far, in the order in which they came. */
  list(): readonly KeptArtifact[] {
    return this.#log.filter(({ id }) => this.#byId.has(id));
  }

  get(id: string): KeptArtifact | undefined {
    return this.#byId.get(id);
  }

  /** How many there have been; `since(count)` then gives those that came later. */
  get count(): number {
    return this.#log.length;
  }

  since(count: number): readonly KeptArtifact[] {
    return this.#log.slice(count);
  }

  /** What has not been handed to the caller yet, in the order of the calls. */
  take(): readonly KeptArtifact[] {
    const taken = this.#untaken.sort((a, b) => this.#sequence(a.artifact) - this.#sequence(b.artifact) || a.order - b.order);
    this.#untaken = [];
    return taken.map(({ artifact }) => artifact);
  }

  /** Hands over some of them out of their turn; those that were taken before are left out. */
  takeOnly(artifacts: readonly KeptArtifact[]): readonly KeptArtifact[] {
    const wanted = new Set(artifacts);
    const taken = this.#untaken.filter(({ artifact }) => wanted.has(artifact)).map(({ artifact }) => artifact);
    this.#untaken = this.#untaken.filter(({ artifact }) => !wanted.has(artifact));
    return taken;
  }

  /** Keeps what a tool gave beside its value: all of it or none. Never rejects: the tool has done its work, whatever becomes of its files. */
  async keep(
    artifacts: readonly Artifact[],
    { callId, tool, signal, ...scope }: KeepScope & { readonly callId: string; readonly tool: string; readonly signal: AbortSignal },
  ): Promise<Batch> {
    const reservation = this.#budget.open(scope.limits);
    const origin: ArtifactOrigin = { type: 'call', callId, tool };
    const prepared: Prepared[] = [];
    try {
      const { artifactCallFiles, artifactCallBytes } = scope.limits;
      if (artifacts.length > artifactCallFiles)
        throw over(`there are ${artifacts.length}, and the limit \`artifactCallFiles\` is ${artifactCallFiles}`);
      let bytes = 0;
      // What is known to be too much is refused before anything is fetched or stored.
      for (const artifact of artifacts) {
        if (artifact.kind !== 'inline') continue;
        checkFile(artifact, scope.limits);
        bytes += artifact.size;
      }
      if (bytes > artifactCallBytes) throw over(`they are ${bytes} bytes, and the limit \`artifactCallBytes\` is ${artifactCallBytes}`);
      reservation.take({ files: artifacts.length, bytes });
      for (const artifact of artifacts) {
        const known = artifact.kind === 'deferred' ? this.#byDeferred.get(artifact) : undefined;
        if (known !== undefined) {
          prepared.push({ type: 'known', artifact: known, charged: 0 });
          continue;
        }
        const inline =
          artifact.kind === 'inline' ? artifact : await this.#resolve(artifact, artifactCallBytes - bytes, { ...scope, signal });
        if (inline === undefined) {
          prepared.push({ type: 'reference', deferred: artifact as DeferredArtifact });
          continue;
        }
        if (artifact.kind === 'deferred') {
          bytes += inline.size;
          if (bytes > artifactCallBytes)
            throw over(`they are more bytes than the limit \`artifactCallBytes\` allows, ${artifactCallBytes}`);
          reservation.take({ files: 0, bytes: inline.size });
        }
        const data = new Uint8Array(await inline.data.arrayBuffer());
        const { mediaType, name, metadata } = inline;
        const file = await this.#put({ data, mediaType, name, metadata });
        prepared.push(artifact.kind === 'deferred' ? { ...file, deferred: artifact } : file);
      }
      if (this.#closed) throw new CodeModeError('aborted', 'the run has ended');
    } catch (error) {
      reservation.giveBack();
      await this.#undo(prepared);
      const reason = reasonOf(error);
      return {
        artifacts: [],
        error,
        warning: `Tool \`${tool}\` succeeded, but ${artifacts.length === 1 ? 'the file' : `none of the ${artifacts.length} files`} beside its value could be kept: ${reason}. What the tool did is done; do not call it again for that.`,
      };
    }
    return { artifacts: prepared.map((each) => this.#commit(each, { origin, reservation, ...scope })) };
  }

  /** Keeps a file of a program, or of code mode itself. Rejects with a `CodeModeError` whose message completes "`saveArtifact`: …". */
  async save(input: FileInput, { origin, ...scope }: KeepScope & { readonly origin: ArtifactOrigin }): Promise<KeptFile> {
    const reservation = this.#budget.open(scope.limits);
    checkFile({ ...input, size: input.data.length }, scope.limits);
    reservation.take({ files: 1, bytes: input.data.length });
    return this.#save(input, { origin, reservation, ...scope });
  }

  /**
   * Adds to a file that is written in pieces; the first opens it. Throws `limit_exceeded` when it, or the run, would hold too much, and so does
   * everything that is done with the file afterwards.
   */
  append(id: string, data: Uint8Array, open: () => FileFacts & KeepScope): void {
    this.#draft(id, open).append(data);
  }

  /** Closes a file and keeps it. */
  async finish(id: string, open: () => FileFacts & KeepScope): Promise<KeptFile> {
    const draft = this.#draft(id, open);
    // Before the file leaves the drafts: what throws here leaves it to be given up with its execution, and its part of the budget with it.
    const { limits, executionId, order } = open();
    this.#drafts.delete(id);
    this.#finished.add(id);
    const scope = { limits, executionId, order, origin: { type: 'program' }, reservation: draft.reservation } as const;
    return this.#save({ data: draft.content(), ...draft.facts }, scope);
  }

  /** Gives up the files that an execution has opened and not closed. Their names, for a warning. */
  abandon(executionId: string): readonly string[] {
    const names: string[] = [];
    for (const [id, draft] of this.#drafts) {
      if (draft.executionId !== executionId) continue;
      this.#drafts.delete(id);
      draft.reservation.giveBack();
      names.push(draft.facts.name ?? draft.facts.mediaType);
    }
    return names;
  }

  /** The run has ended. What was handed over stays with its caller; what nobody has got, nobody can get any more. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#drafts.clear();
    const unseen = this.#untaken.splice(0);
    for (const { artifact } of unseen) if (artifact.kind === 'stored') await artifact.release().catch(() => undefined);
  }

  /** Why a program may not have an artifact, or the artifact's file. */
  file(id: string): KeptFile {
    const found = this.#byId.get(id);
    if (found === undefined) {
      const ids = [...this.#byId.keys()];
      const there =
        ids.length === 0 ? 'there are none yet' : `there are ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ' and more' : ''}`;
      throw new CodeModeError('input_invalid', `There is no artifact ${JSON.stringify(String(id).slice(0, 100))} in this run; ${there}.`);
    }
    if (found.kind === 'deferred')
      throw new CodeModeError('input_invalid', `The artifact ${id} is kept by another service and cannot be read here.`);
    return found;
  }

  #draft(id: string, open: () => FileFacts & KeepScope): Draft {
    let draft = this.#drafts.get(id);
    if (draft !== undefined) return draft;
    if (this.#finished.has(id)) throw new CodeModeError('input_invalid', 'The file is closed already.');
    const { limits, executionId, name, mediaType } = open();
    const reservation = this.#budget.open(limits);
    reservation.take({ files: 1, bytes: 0 });
    draft = new Draft({ name, mediaType }, { reservation, mostBytes: limits.artifactBytes, executionId });
    this.#drafts.set(id, draft);
    return draft;
  }

  /** By when an execution first kept something. */
  #sequence({ executionId }: KeptArtifact): number {
    return this.#executions.get(executionId) ?? 0;
  }

  /** Asks the application for the bytes; `undefined` leaves the artifact where it is. */
  #resolve(
    artifact: DeferredArtifact,
    callBytesLeft: number,
    { limits, signal }: KeepScope & { readonly signal: AbortSignal },
  ): Promise<InlineArtifact | undefined> {
    const { resolve, run } = this.#options;
    if (resolve === undefined) return Promise.resolve(undefined);
    let asked = this.#asked.get(artifact);
    if (asked === undefined) {
      const maxBytes = Math.max(0, Math.min(limits.artifactBytes, callBytesLeft, limits.artifactRunBytes - this.#budget.bytes));
      asked = ask(artifact, resolve, { run, maxBytes, signal });
      // Whoever asks again gets the same answer, and nobody may hear of a rejection twice.
      asked.catch(() => undefined);
      this.#asked.set(artifact, asked);
    }
    return asked.then((inline) => {
      if (inline !== undefined) checkFile(inline, limits);
      return inline;
    });
  }

  /** Stores bytes, unless the run has the same file already. */
  async #put(
    input: FileInput & { readonly metadata?: Readonly<Record<string, unknown>> | undefined },
  ): Promise<Prepared & { type: 'known' | 'file' }> {
    const same = this.#log.filter(
      (kept): kept is KeptFile =>
        kept.kind === 'stored' &&
        kept.bytes === input.data.length &&
        kept.name === input.name &&
        kept.mediaType === input.mediaType &&
        JSON.stringify(kept.metadata) === JSON.stringify(input.metadata) &&
        this.#byId.has(kept.id),
    );
    if (same.length > 0) {
      const digest = createHash('sha256').update(input.data).digest('hex');
      const artifact = same.find((kept) => kept.digest === digest);
      if (artifact !== undefined) return { type: 'known', artifact, charged: input.data.length };
    }
    const { mediaType, name, metadata } = input;
    return { type: 'file', stored: await this.#options.store.put(input), facts: { mediaType, name, metadata } };
  }

  async #save(
    input: FileInput,
    { reservation, ...scope }: KeepScope & { readonly origin: ArtifactOrigin; readonly reservation: Reservation },
  ): Promise<KeptFile> {
    let prepared: Prepared;
    try {
      prepared = await this.#put(input);
      if (this.#closed) {
        await this.#undo([prepared]);
        throw new CodeModeError('aborted', 'the run has ended');
      }
    } catch (error) {
      reservation.giveBack();
      if (CodeModeError.is(error)) throw error;
      throw new CodeModeError('store_failed', `The file could not be kept (${classOf(error)}).`, { cause: error });
    }
    return this.#commit(prepared, { reservation, ...scope }) as KeptFile; // what #put gives is a file
  }

  /** Puts what was stored on the shelf. Synchronous: a batch is there at once or not at all. */
  #commit(
    prepared: Prepared,
    { origin, limits, executionId, order, reservation }: KeepScope & { readonly origin: ArtifactOrigin; readonly reservation: Reservation },
  ): KeptArtifact {
    if (!this.#executions.has(executionId)) this.#executions.set(executionId, this.#executions.size);
    const media = { blocks: limits.mediaBlocks, bytes: limits.mediaBytes };
    let artifact: KeptArtifact;
    switch (prepared.type) {
      case 'known':
        reservation.giveBack({ files: 1, bytes: prepared.charged });
        if (prepared.deferred !== undefined) this.#byDeferred.set(prepared.deferred, prepared.artifact);
        return prepared.artifact;
      case 'reference': {
        const { mediaType, name, metadata, size, reference } = prepared.deferred;
        const facts = { id: this.#nextId(), mediaType, name, metadata, origin, executionId };
        artifact = makeReference(facts, { bytes: size, reference }, media);
        this.#byDeferred.set(prepared.deferred, artifact);
        break;
      }
      case 'file': {
        const { stored, facts, deferred } = prepared;
        const same = this.#byKey.get(stored.key);
        if (same !== undefined) {
          // Stored at the same time by another call: one of the two holders goes.
          reservation.giveBack({ files: 1, bytes: stored.bytes });
          void this.#options.store.release(stored.key).catch(() => undefined);
          if (deferred !== undefined) this.#byDeferred.set(deferred, same);
          return same;
        }
        const id = this.#nextId();
        const hold = { released: false };
        const file = makeFile({ id, ...facts, origin, executionId }, this.#bytesOf(id, stored, { reservation, hold }), media);
        this.#byKey.set(stored.key, file);
        if (deferred !== undefined) this.#byDeferred.set(deferred, file);
        const { store } = this.#options;
        const { key } = stored;
        // A file with a path may be in use by whoever has been told of the path.
        if (stored.path === undefined) {
          this.#options.watch?.(file, () => {
            // The store counts holders: what was released already would be taken from another run that has the same file.
            if (!hold.released) void store.release(key).catch(() => undefined);
            hold.released = true;
          });
        }
        artifact = file;
        break;
      }
      default:
        return prepared satisfies never;
    }
    this.#byId.set(artifact.id, artifact);
    this.#log.push(artifact);
    this.#untaken.push({ artifact, order });
    const { mediaType, name, bytes } = artifact;
    this.#options.tell?.({
      type: 'artifact',
      runId: this.#options.run.id,
      executionId,
      artifactId: artifact.id,
      mediaType,
      ...(name !== undefined && { name }),
      ...(bytes !== undefined && { bytes }),
      ...(origin.type === 'call' && { callId: origin.callId }),
      artifact,
    });
    return artifact;
  }

  #nextId(): string {
    return `artifact-${++this.#lastId}`;
  }

  /** The way to a file's bytes, which outlives the shelf: its caller may read when the run is over. */
  #bytesOf(
    id: string,
    { key, bytes, digest, path }: StoredArtifact,
    { reservation, hold }: { readonly reservation: Reservation; readonly hold: { released: boolean } },
  ): Bytes {
    const { store } = this.#options;
    return {
      bytes,
      digest,
      path,
      read: async (range = {}) => {
        if (hold.released) throw new CodeModeError('store_failed', `The artifact ${id} has been released.`);
        const { start, end } = range;
        return store.read(key, { ...(start !== undefined && { start }), ...(end !== undefined && { end }) });
      },
      release: async () => {
        if (hold.released) return;
        hold.released = true;
        this.#byId.delete(id);
        this.#byKey.delete(key);
        this.#untaken = this.#untaken.filter(({ artifact }) => artifact.id !== id);
        reservation.giveBack({ files: 1, bytes });
        await store.release(key);
      },
    };
  }

  async #undo(prepared: readonly Prepared[]): Promise<void> {
    for (const each of prepared) if (each.type === 'file') await this.#options.store.release(each.stored.key).catch(() => undefined);
  }
}

type Reservation = ReturnType<Budget['open']>;

/** An artifact that is ready to be put on the shelf. */
type Prepared =
  | { readonly type: 'known'; readonly artifact: KeptArtifact; readonly charged: number; readonly deferred?: DeferredArtifact }
  | { readonly type: 'reference'; readonly deferred: DeferredArtifact }
  | {
      readonly type: 'file';
      readonly stored: StoredArtifact;
      readonly facts: Pick<KeptFile, 'mediaType' | 'name' | 'metadata'>;
      readonly deferred?: DeferredArtifact;
    };

async function ask(
  artifact: DeferredArtifact,
  resolve: ResolveArtifact,
  context: Parameters<ResolveArtifact>[1],
): Promise<InlineArtifact | undefined> {
  const { signal } = context;
  if (signal.aborted) throw new CodeModeError('aborted', 'the program has ended');
  let stop: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(new CodeModeError('aborted', 'the program has ended'));
    signal.addEventListener('abort', stop, { once: true });
  });
  let resolved: unknown;
  try {
    resolved = await Promise.race([(async () => resolve(artifact, context))(), ended]);
  } catch (error) {
    if (signal.aborted && CodeModeError.is(error) && error.code === 'aborted') throw error;
    throw new ResolveFailed(error);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
  if (resolved === undefined || resolved === null) return undefined;
  const { mediaType, name, metadata } = artifact;
  if (isArtifact(resolved)) {
    if (resolved.kind === 'deferred') return undefined;
    return {
      kind: 'inline',
      data: resolved.data,
      size: resolved.size,
      mediaType: resolved.mediaType,
      name: resolved.name ?? name,
      metadata: resolved.metadata ?? metadata,
    };
  }
  if (!(resolved instanceof Uint8Array || resolved instanceof ArrayBuffer || resolved instanceof Blob))
    throw new ResolveFailed(new TypeError('artifacts.resolve() should give bytes, an artifact or null.'));
  const data = toBlob(resolved);
  return { kind: 'inline', data, size: data.size, mediaType, name, metadata };
}

/** What the application's own code threw while it fetched: told by its class. */
class ResolveFailed extends Error {
  constructor(cause: unknown) {
    super(`it could not be fetched (${classOf(cause)})`, { cause });
  }
}

function checkFile(
  { size, name, mediaType }: { size: number; name?: string | undefined; mediaType: string },
  { artifactBytes }: ArtifactLimits,
): void {
  if (size > artifactBytes)
    throw over(`${name ?? `a file of type ${mediaType}`} is ${size} bytes, and the limit \`artifactBytes\` is ${artifactBytes}`);
}

function over(what: string): CodeModeError {
  return new CodeModeError('limit_exceeded', what);
}

/** Why a batch was not kept, as the end of a sentence: our own words, or the class of what somebody else threw. */
function reasonOf(error: unknown): string {
  if (CodeModeError.is(error)) return error.message.replace(/\.$/, '');
  if (error instanceof ResolveFailed) return error.message;
  return `the store failed (${classOf(error)})`;
}

function classOf(error: unknown): string {
  try {
    const { name } = error as Error;
    return error instanceof Error && /^[A-Za-z_$][\w$]{0,63}$/.test(name) ? name : 'Error';
  } catch {
    return 'Error'; // a getter that throws
  }
}
