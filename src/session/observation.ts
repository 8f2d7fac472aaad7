// Looking at a program of a session: how, and what one look tells.
import type { KeptArtifact } from '../artifacts/kept.ts';
import type { CallRecord } from '../broker/broker.ts';
import type { Warning } from '../protocol/messages.ts';
import type { Isolation } from './engines.ts';
import type { ProgramError, Usage } from './result.ts';

/** How to look at a program. */
export interface ObserveOptions {
  /** Longest time until the call returns; it returns at once when the program ends. Default 60 000. */
  readonly observeMs?: number | undefined;
  /** How much output and value together may be, at 4 bytes a token. Default 10 000. */
  readonly maxOutputTokens?: number | undefined;
}

/** What is new of a program since the last look at it; everything is told exactly once. */
export interface Observation {
  /** `still_working`: it runs on by itself, whether it is watched or not; the other statuses are final. */
  readonly status: 'completed' | 'error' | 'terminated' | 'still_working';
  /** The program's number in its session, from 1; 0 for a call that the conversation made itself. */
  readonly program: number;
  readonly output: string;
  /** JSON form of what the program returned; absent without a value. */
  readonly value?: unknown;
  readonly error?: ProgramError;
  readonly calls: readonly CallRecord[];
  readonly warnings: readonly Warning[];
  /** Files that appeared since, of the conversation's own calls too. */
  readonly artifacts: readonly KeptArtifact[];
  /** What `maxOutputTokens` left out, in words. */
  readonly shortened?: string;
  /** Final observations only. */
  readonly usage?: Usage;
  /** What held the program; final observations only. */
  readonly isolation?: Isolation;
  /** The end of the program before, when nobody has looked at it since. */
  readonly previous?: Observation;
}
