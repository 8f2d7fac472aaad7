// Takes CPU profiles of one process and what it starts: its own thread, its worker threads, and Node children that are started with spawn(). All by the
// inspector, so that a profile begins and ends when it is told to and needs nobody to exit in good order: children of ours never do.
import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { Session } from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import process from 'node:process';

/** As V8 gives it, and Chrome's DevTools and editors open it. Times are µs. */
export interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    /** From 0; -1 where there is none. */
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

export interface Profiler {
  start(): Promise<void>;
  /** One profile for each thread: `main`, `thread-1`, `process-1`; and sentences on what was not seen. */
  stop(): Promise<{ profiles: ReadonlyMap<string, Profile>; unseen: readonly string[] }>;
}

const INTERVAL_US = 200;
/** Who does not answer for so long is blocked. */
const ANSWER_MS = 3_000;

type Post = (method: string, parameters?: object) => Promise<unknown>;

/** Call it before anything is started that should be seen. */
export async function openProfiler(): Promise<Profiler> {
  const session = new Session();
  session.connect();
  const posts = new Map<string, Post>();
  const counts = { threads: 0, processes: 0, ended: 0, shut: 0 };
  let isOn = false;
  const add = async (name: string, post: Post): Promise<void> => {
    posts.set(name, post);
    if (isOn) await begin(post).catch(() => undefined);
  };
  const drop = (name: string): void => {
    if (posts.delete(name) && isOn) counts.ended += 1;
  };
  const own: Post = (method, parameters) =>
    new Promise((resolve, reject) => {
      // The inspector's methods are many; those that are used here exist.
      session.post(method as 'Profiler.start', parameters as undefined, (error: Error | null, result: unknown) =>
        error === null ? resolve(result) : reject(error),
      );
    });
  await add('main', own);
  watchThreads(session, { open: (post) => [`thread-${++counts.threads}`, post], add, drop });
  await own('NodeWorker.enable', { waitForDebuggerOnStart: false });
  watchChildren({
    name: () => `process-${++counts.processes}`,
    add,
    drop,
    onShut: () => {
      counts.shut += 1;
    },
  });
  return {
    async start() {
      isOn = true;
      await Promise.all([...posts.values()].map((post) => begin(post).catch(() => undefined)));
    },
    async stop() {
      isOn = false;
      const profiles = new Map<string, Profile>();
      const unseen: string[] = [];
      for (const [name, post] of posts) {
        try {
          const answer = (await within(post('Profiler.stop'))) as { profile: Profile };
          profiles.set(name, answer.profile);
        } catch (error) {
          unseen.push(`${name} gave no profile: ${(error as Error).message}`);
        }
      }
      if (counts.ended > 0) unseen.push(`${counts.ended} threads or processes ended meanwhile and took their profiles with them.`);
      if (counts.shut > 0)
        unseen.push(`${counts.shut} child processes let no inspector in: those in a sandbox, or of other programs than Node.`);
      return { profiles, unseen };
    },
  };
}

async function begin(post: Post): Promise<void> {
  await within(post('Profiler.enable'));
  await within(post('Profiler.setSamplingInterval', { interval: INTERVAL_US }));
  await within(post('Profiler.start'));
}

function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  });
  return Promise.race([promise, bound]).finally(() => clearTimeout(timer));
}

/** Answers by the number of the question. */
function conversation(send: (text: string) => void): { post: Post; hear: (text: string) => void } {
  const waiting = new Map<number, (answer: { result?: unknown; error?: { message: string } }) => void>();
  let last = 0;
  return {
    post: (method, params = {}) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, ({ result, error }) => (error === undefined ? resolve(result) : reject(new Error(error.message))));
        send(JSON.stringify({ id: last, method, params }));
      }),
    hear(text) {
      const answer = JSON.parse(text) as { id?: number; result?: unknown; error?: { message: string } };
      if (answer.id === undefined) return;
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    },
  };
}

interface Listening {
  add(name: string, post: Post): Promise<void>;
  drop(name: string): void;
}

function watchThreads(session: Session, { open, add, drop }: Listening & { open: (post: Post) => [string, Post] }): void {
  const threads = new Map<string, { name: string; hear: (text: string) => void }>();
  // The domain of worker threads is not among the types.
  const on = session.on.bind(session) as (event: string, listener: (message: { params: Record<string, string> }) => void) => void;
  on('NodeWorker.attachedToWorker', ({ params: { sessionId = '' } }) => {
    const { post, hear } = conversation((message) => {
      session.post('NodeWorker.sendMessageToWorker' as 'Profiler.start', { sessionId, message } as unknown as undefined);
    });
    const [name] = open(post);
    threads.set(sessionId, { name, hear });
    void add(name, post);
  });
  on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId = '', message = '' } }) => threads.get(sessionId)?.hear(message));
  on('NodeWorker.detachedFromWorker', ({ params: { sessionId = '' } }) => {
    const thread = threads.get(sessionId);
    if (thread !== undefined) drop(thread.name);
    threads.delete(sessionId);
  });
}

/** Puts a door for the inspector into what is spawned, where that is Node. An empty environment and a death by SIGKILL do not matter to it. */
function watchChildren({ name, add, drop, onShut }: Listening & { name: () => string; onShut: () => void }): void {
  const { spawn } = childProcess;
  const opened = (file: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
    // The last one: a sandbox before it names the same file among those that it lets in.
    const at = [file, ...args].findLastIndex((word) => word === process.execPath || /^node(\.exe)?$/.test(basename(word)));
    const words = at === -1 ? [...args] : [...args.slice(0, at), '--inspect=127.0.0.1:0', ...args.slice(at)];
    const child = spawn(file, words, options);
    if (at === -1 || child.stderr === null) return child;
    let said = '';
    let isSeen = false;
    child.stderr.on('data', (chunk: Buffer | string) => {
      said = (said + String(chunk)).slice(-2_000);
      const url = /ws:\/\/\S+/.exec(said)?.[0];
      if (url === undefined || isSeen) return;
      isSeen = true;
      const socket = new WebSocket(url);
      const { post, hear } = conversation((message) => socket.send(message));
      const own = name();
      socket.addEventListener('open', () => void add(own, post));
      socket.addEventListener('message', ({ data }) => hear(String(data)));
      socket.addEventListener('error', onShut);
      child.on('exit', () => drop(own));
    });
    child.on('exit', () => {
      if (!isSeen) onShut();
    });
    return child;
  };
  // The overload with options alone is used by nobody who starts Node with arguments.
  Object.assign(childProcess, {
    spawn: (file: string, args?: readonly string[] | SpawnOptions, options?: SpawnOptions) =>
      Array.isArray(args) ? opened(file, args, options ?? {}) : spawn(file, args as SpawnOptions),
  });
  syncBuiltinESMExports();
}
