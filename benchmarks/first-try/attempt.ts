// Runs one pattern on one system in a process of its own with a bound, so that a hang or a crash costs that one pattern.
import { fork } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Answer, judge, type Pattern, readProgram } from './pattern.ts';
import type { System } from './systems.ts';

/** Beside the questions' bundles, which this becomes part of. */
const SERVE = fileURLToPath(new URL('../first-try/serve.js', import.meta.url));
const BOUND_MS = 5_000;
const LOADING_MS = 60_000;

/** What is wrong, or `undefined`. Rejects where the system does not even load. */
export function attempt({ peer }: System, pattern: Pattern): Promise<string | undefined> {
  const child = fork(SERVE, [peer.name], { execArgv: process.execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  return new Promise((resolve, reject) => {
    let state: 'loading' | 'running' | 'answered' | 'hung' = 'loading';
    let outcome: Answer | undefined;
    const bound = (ms: number): NodeJS.Timeout =>
      setTimeout(() => {
        if (state === 'running') state = 'hung';
        child.kill('SIGKILL');
      }, ms);
    let timer = bound(LOADING_MS);
    child.once('message', () => {
      state = 'running';
      clearTimeout(timer);
      timer = bound(BOUND_MS);
      child.once('message', (message: unknown) => {
        state = 'answered';
        // All that serve.ts sends after that it is ready is the answer.
        outcome = message as Answer;
      });
      child.send(readProgram(pattern));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const said = printed.join('');
      const end = `${signal ?? `code ${code}`}: ${said.trim().slice(-300)}`;
      if (state === 'loading') reject(new Error(`It did not load: ${end}`));
      else if (state === 'hung') resolve(`it hung: not done within ${BOUND_MS} ms`);
      // It ends itself that way when nothing was left behind that ends it before.
      else if (signal !== 'SIGKILL' || outcome === undefined) resolve(`it crashed: ${end}`);
      else resolve(judge(pattern, peer.printsToProcess === true ? { ...outcome, output: said } : outcome));
    });
  });
}
