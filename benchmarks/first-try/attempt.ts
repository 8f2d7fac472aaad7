// Runs patterns on one system, in a process with a bound, so that a hang or a crash costs one pattern. A process takes one pattern after another
// while all goes well, since loading takes most of the time; what goes wrong in one that was used is tried again in a new one, and that counts.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Answer, judge, type Pattern, readProgram } from './pattern.ts';
import type { System } from './systems.ts';

/** Beside the questions' bundles, which this becomes part of. */
const SERVE = fileURLToPath(new URL('../first-try/serve.js', import.meta.url));
const BOUND_MS = 5_000;
const LOADING_MS = 60_000;

/** What serve.ts says: that it can take a program, or what came of one. */
export type Said = 'ready' | Answer;

export class Attempts {
  readonly #system: System;
  #child: ChildProcess | undefined;
  #printed = '';

  constructor(system: System) {
    this.#system = system;
  }

  /** What is wrong, or `undefined`. Rejects where the system does not even load. */
  async attempt(pattern: Pattern): Promise<string | undefined> {
    if (this.#child !== undefined && hasEnded(this.#child)) this.#child = undefined;
    const isUsed = this.#child !== undefined;
    const wrong = await this.#once(pattern);
    if (wrong === undefined || !isUsed) return wrong;
    // What a program before this one has left in the process is not its fault.
    this.close();
    return this.#once(pattern);
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  async #once(pattern: Pattern): Promise<string | undefined> {
    const child = this.#child ?? (await this.#open());
    this.#printed = '';
    child.send(readProgram(pattern));
    const answer = await this.#hear(child, BOUND_MS);
    // What the program has left behind has a moment to show itself before the process is ready again.
    const end = typeof answer === 'object' ? await this.#hear(child, BOUND_MS) : answer;
    if (typeof answer === 'object' && end === 'ready')
      return judge(pattern, this.#system.peer.printsToProcess === true ? { ...answer, output: this.#printed } : answer);
    this.close();
    return end === 'late' ? `it hung: not done within ${BOUND_MS} ms` : `it crashed: ${this.#printed.trim().slice(-300)}`;
  }

  async #open(): Promise<ChildProcess> {
    const child = fork(SERVE, [this.#system.peer.name], { execArgv: process.execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#printed += text;
      });
    this.#printed = '';
    this.#child = child;
    if ((await this.#hear(child, LOADING_MS)) === 'ready') return child;
    this.close();
    throw new Error(`It did not load: ${this.#printed.trim().slice(-300)}`);
  }

  /** The next that a process says, `late` when it says nothing in time, `ended` when it has ended. */
  async #hear(child: ChildProcess, boundMs: number): Promise<Said | 'late' | 'ended'> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), boundMs);
    try {
      if (hasEnded(child)) return 'ended';
      return await Promise.race([
        // Of a channel to our own process.
        once(child, 'message', over).then(([said]) => said as Said),
        once(child, 'close', over).then(() => 'ended' as const),
      ]);
    } catch {
      return 'late';
    } finally {
      clearTimeout(timer);
      over.abort();
    }
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
