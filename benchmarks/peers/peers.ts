// The systems that take part, and how they become subjects of a question. Each adapter has a file of its own here.
import type { Stand, Subject } from '../harness/question.ts';
import { child, inline, sandboxed, thread, v8 } from './callgate.ts';
import { codemode } from './codemode.ts';
import { plainFunction } from './function.ts';
import { isolatedVm } from './isolated-vm.ts';
import { type Opened, type Peer, type Setup, valueIn } from './peer.ts';
import { quickJsEmscripten } from './quickjs-emscripten.ts';
import { quickJsWasi, quickJsWasiSnapshot } from './quickjs-wasi.ts';
import { run } from './run.ts';
import { tanstackNode, tanstackQuickJs } from './tanstack.ts';
import { utcp } from './utcp.ts';

/** The name of our subject that others are compared with: the default of every user. */
export const OURS = thread.name;
export const FLOOR = plainFunction.name;

/** Whole systems, and below them bare engines, which check nothing. */
export const PEERS: readonly Peer[] = [
  thread,
  inline,
  child,
  v8,
  sandboxed,
  run,
  tanstackQuickJs,
  tanstackNode,
  utcp,
  codemode,
  isolatedVm,
  quickJsEmscripten,
  quickJsWasi,
  quickJsWasiSnapshot,
  plainFunction,
];

/** What runs programs for a task: gives the value, and rejects where a program fails. */
export type Program = (source: string) => Promise<unknown>;

/** A subject for each system: opened with the setup, asked the tasks. */
export function subjectsOf(
  setup: Setup,
  tasksOf: (program: Program, opened: Opened) => Stand['tasks'],
  peers: readonly Peer[] = PEERS,
): Record<string, Subject> {
  const subjects = peers.map((peer): [string, Subject] => [
    peer.name,
    async () => {
      const opened = await peer.open(setup);
      const tasks = tasksOf(async (source) => valueIn(await opened.run(source)), opened);
      return { tasks, ...(opened.close !== undefined && { close: opened.close }) };
    },
  ]);
  return Object.fromEntries(subjects);
}

let texts = 0;

/** The program as a text of its own, so that nobody answers from what was compiled before. */
export function fresh(source: string): string {
  texts += 1;
  return `${source}\n// ${texts}`;
}
