// Who is asked to run the patterns, and how its values become text. Every system is told to give a program 3 s and otherwise has its own limits.
import { thread } from '../peers/callgate.ts';
import { codemodeNormaliser } from '../peers/codemode.ts';
import { type Peer, toText } from '../peers/peer.ts';
import { run } from '../peers/run.ts';
import { tanstackNode, tanstackQuickJs } from '../peers/tanstack.ts';
import { utcp } from '../peers/utcp.ts';
import type { Pattern } from './pattern.ts';

export interface System {
  readonly peer: Peer;
  /** False for what it was not made to answer: such patterns do not count for it. */
  asked(pattern: Pattern): boolean;
  textOf(value: unknown): Promise<string | undefined>;
}

const everything = { asked: () => true, textOf: async (value: unknown) => toText(value) };

export const SYSTEMS: readonly System[] = [
  {
    peer: thread,
    asked: () => true,
    async textOf(value) {
      const { toJson } = await import('../../src/index.ts');
      return JSON.stringify(toJson(value));
    },
  },
  { ...everything, peer: run },
  { ...everything, peer: tanstackQuickJs },
  { ...everything, peer: tanstackNode },
  { ...everything, peer: utcp },
  // Its limits are the runtime's that it is made for.
  { ...everything, peer: codemodeNormaliser, asked: ({ group }) => group !== 'limits' },
];

/** What a system is told to give a program; less than the bound of the process. */
export const TIMEOUT_MS = 3_000;
