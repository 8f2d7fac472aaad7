// What does a call of a tool cost: alone in a program, a thousand in a row, 256 at once, and sixteen that each take 50 ms?
import { setTimeout as delay } from 'node:timers/promises';
import { echoSubject, pipeEcho, threadEcho } from '../harness/floors.ts';
import { type Question, timed } from '../harness/question.ts';
import { medianOf } from '../harness/result.ts';
import { inline, thread, v8 } from '../peers/callgate.ts';
import { FLOOR, fresh, OURS, subjectsOf } from '../peers/peers.ts';

const MESSAGE = 'an empty message to a thread and back';
const PIPE = 'an empty frame to a process and back';
/** As many as every system takes. */
const IN_A_ROW = 200;
const AT_ONCE = 256;
const SLOW_MS = 50;
/** Two thousand programs of ours, until what runs them is compiled in full. */
const WARM_MS = 900;

const one = 'return (await tools.echo({ value: 1 })).value;';
const row = `for (let i = 0; i < ${IN_A_ROW}; i++) await tools.echo({ value: i });`;
const atOnce = `return (await Promise.all(Array.from({ length: ${AT_ONCE} }, (_, value) => tools.echo({ value })))).length;`;
const slow = 'return (await Promise.all(Array.from({ length: 16 }, (_, value) => tools.slow({ value })))).length;';

const tools = {
  echo: async (input: unknown): Promise<unknown> => input,
  slow: async (input: unknown): Promise<unknown> => {
    await delay(SLOW_MS);
    return input;
  },
};

export const question: Question = {
  name: 'calls',
  asks: 'What does a call of a tool cost: alone, many in a row, 256 at once, and sixteen at once that each take 50 ms?',
  subjects: {
    ...subjectsOf({ tools }, (program) => ({
      one: timed(() => program(fresh(one)), { times: 40 }),
      row: timed(() => program(fresh(row)), { times: 5, units: IN_A_ROW }),
      atOnce: timed(() => program(fresh(atOnce)), { times: 5 }),
      slow: timed(() => program(fresh(slow))),
    })),
    [MESSAGE]: echoSubject(threadEcho, { row: 100 }),
    [PIPE]: echoSubject(pipeEcho, { row: 100 }),
  },
  async run(bench) {
    await bench.compare({ title: 'A program with one call', task: 'one', unit: 'µs', ours: OURS, floor: FLOOR, warmMs: WARM_MS });
    const inARow = await bench.compare({
      title: `A call, ${IN_A_ROW} awaited one after another`,
      task: 'row',
      unit: 'µs',
      ours: OURS,
      floor: MESSAGE,
    });
    const together = await bench.compare({ title: `${AT_ONCE} calls at once`, task: 'atOnce', unit: 'ms', ours: OURS, floor: FLOOR });
    const waiting = await bench.compare({
      title: `Sixteen calls at once, each of ${SLOW_MS} ms`,
      task: 'slow',
      unit: 'ms',
      ours: OURS,
      floor: FLOOR,
      rounds: 5,
    });
    const inlineCost = medianOf(inARow, inline.name);
    bench.aim({ what: 'an awaited call in a thread, µs', value: medianOf(inARow, thread.name), atMost: 40 });
    bench.aim({ what: 'an awaited call inline, µs', value: inlineCost, atMost: 15 });
    bench.aim({
      what: 'an awaited call in a thread, against two empty messages and the inline cost',
      value: medianOf(inARow, thread.name) / (2 * medianOf(inARow, MESSAGE) + inlineCost),
      atMost: 1,
    });
    bench.aim({
      what: 'an awaited call over a process, v8, against 1.5 empty frames and the inline cost',
      value: medianOf(inARow, v8.name) / (1.5 * medianOf(inARow, PIPE) + inlineCost),
      atMost: 1,
    });
    bench.aim({ what: `${AT_ONCE} calls at once, ms`, value: medianOf(together, OURS), atMost: 3 });
    bench.aim({ what: `sixteen calls of ${SLOW_MS} ms at once, ms`, value: medianOf(waiting, OURS), atMost: 52 });
  },
};
