// The ratios that must hold, each with its reason: what somebody who makes a change has to keep. `npm run bench:check` asks and judges; aims, which
// may be missed for a while, are in the questions.
import type { Bound } from './report/judge.ts';

const OURS = 'callgate';
const MESSAGE = 'an empty message to a thread and back';

export const RATIOS: readonly Bound[] = [
  {
    question: 'start',
    part: '`return 1`, one after another',
    of: OURS,
    to: 'run',
    atMost: 0.1,
    reason: 'A world is put back from its image; it is not made anew for every program.',
  },
  {
    question: 'start',
    part: '`return 1`, one after another',
    of: OURS,
    to: 'callgate, inline',
    atMost: 3,
    reason: 'A thread costs its messages and no second start.',
  },
  {
    question: 'start',
    part: '`return 1`, one after another',
    of: 'putting back the image alone',
    to: OURS,
    atMost: 0.5,
    reason: 'The image is the smaller part of a start: only pages that were written are copied.',
  },
  {
    question: 'start',
    part: '`return 1` beside a number of tools',
    of: OURS,
    from: 0,
    size: 500,
    atMost: 1.5,
    reason: 'Tools are in the image; a program does not pay for those that it does not call.',
  },
  {
    question: 'start',
    part: '`return 1` beside a number of tools',
    of: OURS,
    to: 'run',
    size: 5_000,
    atMost: 0.1,
    reason: 'The same with a catalog of thousands.',
  },
  {
    question: 'calls',
    part: 'A call, 200 awaited one after another',
    of: OURS,
    to: 'run',
    atMost: 0.5,
    reason: 'A call is one message each way, and a thread that waits for the next one stays awake.',
  },
  {
    question: 'calls',
    part: 'A call, 200 awaited one after another',
    of: OURS,
    to: MESSAGE,
    atMost: 8,
    reason: 'Checking, encoding and the guest stay within a few empty messages.',
  },
  {
    question: 'calls',
    part: '256 calls at once',
    of: OURS,
    to: 'run',
    atMost: 0.5,
    reason: 'Calls that are made together travel together.',
  },
  {
    question: 'calls',
    part: 'Sixteen calls at once, each of 50 ms',
    of: OURS,
    to: 'AsyncFunction',
    atMost: 1.25,
    reason: 'Calls run at once: tools wait beside each other, not after each other.',
  },
];
