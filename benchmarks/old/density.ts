// How many programs can wait at once, and what does one cost? Ten thousand programs that await three tools of 0.2 to 2 s each:
// all answers right, memory per waiting program, time against the ideal, and the host's event-loop delay.
// Beside it the peer `run` with as many programs as it takes. Arguments: programs, programs for the peer.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createCodeMode, defineTool } from '../src/index.ts';
import { aim, machine } from './measure.ts';
import { install, load } from './peers/install.ts';

const PROGRAMS = Number(process.argv[2] ?? 10_000);
console.log(`${machine()}; ${PROGRAMS} programs`);

const wait = defineTool({
  name: 'wait',
  description: 'Answers after some milliseconds.',
  inputSchema: { type: 'object', properties: { ms: { type: 'number' }, value: { type: 'number' } }, required: ['ms', 'value'] },
  execute: ({ ms, value }) => new Promise<number>((resolve) => setTimeout(resolve, ms, value)),
});
const codeMode = createCodeMode({ tools: wait, limits: { wallMs: 600_000 } });
await codeMode.run('return 1');
globalThis.gc?.();
const before = process.memoryUsage().rss;

/** 0.2 to 2 s, the same in every run. */
const delay = (program: number, call: number): number => 200 + ((program * 7919 + call * 104_729) % 1801);
const delayMonitor = monitorEventLoopDelay({ resolution: 5 });
delayMonitor.enable();
let peak = 0;
const sampler = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 50);
const began = performance.now();
let right = 0;
let longest = 0;
await Promise.all(
  Array.from({ length: PROGRAMS }, async (_, program) => {
    const [a, b, c] = [0, 1, 2].map((call) => delay(program, call)) as [number, number, number];
    longest = Math.max(longest, a + b + c);
    const result = await codeMode.run(
      `let sum = 0;
       sum += await tools.wait({ ms: ${a}, value: ${program} });
       sum += await tools.wait({ ms: ${b}, value: 1 });
       sum += await tools.wait({ ms: ${c}, value: 2 });
       return sum;`,
    );
    if (result.value === program + 3) right++;
    else if (right >= 0 && result.error !== undefined && right % 1000 === 0) console.log(result.error.message);
  }),
);
const total = performance.now() - began;
clearInterval(sampler);
delayMonitor.disable();
console.log(`right answers: ${right} of ${PROGRAMS}`);
console.log(
  `total ${(total / 1000).toFixed(2)} s; longest chain of waits ${(longest / 1000).toFixed(2)} s: ${(total / longest).toFixed(2)} times the ideal`,
);
console.log(`resident memory at most ${((peak - before) / 1024 / PROGRAMS).toFixed(1)} KB per program (everything counted)`);
console.log(
  `event-loop delay: p50 ${(delayMonitor.percentile(50) / 1e6 - 5).toFixed(1)} ms, p99 ${(delayMonitor.percentile(99) / 1e6 - 5).toFixed(1)} ms, max ${(delayMonitor.max / 1e6).toFixed(0)} ms`,
);
aim('KB of resident memory per waiting program', (peak - before) / 1024 / PROGRAMS, 100);
aim('event-loop delay p99, ms', delayMonitor.percentile(99) / 1e6 - 5, 20);
aim('total time against the ideal', total / longest, 2);
await codeMode.close();

// The peer keeps a worker thread per program: and takes 32 at a time by default.
if (install()) {
  const AT_ONCE = Number(process.argv[3] ?? 32);
  // Taken from the package's own declarations.
  const { createRunner } = (await load('run')) as {
    createRunner(options: object): { run(input: object): Promise<{ status: string; value: unknown }> };
  };
  const runner = createRunner({ limits: { timeoutMs: 120_000 } });
  const hostFunctions = {
    tools: { wait: ({ ms, value }: { ms: number; value: number }) => new Promise((resolve) => setTimeout(resolve, ms, value)) },
  };
  globalThis.gc?.();
  const start = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 50);
  const since = performance.now();
  let correct = 0;
  let chain = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, program) => {
      const [a, b, c] = [0, 1, 2].map((call) => delay(program, call)) as [number, number, number];
      chain = Math.max(chain, a + b + c);
      const source = `return await tools.wait({ ms: ${a}, value: ${program} }) + await tools.wait({ ms: ${b}, value: 1 }) + await tools.wait({ ms: ${c}, value: 2 });`;
      const result = await runner.run({ source, hostFunctions });
      if (result.value === program + 3) correct++;
    }),
  );
  clearInterval(watch);
  const took = performance.now() - since;
  console.log(
    `run: ${correct} of ${AT_ONCE} right, ${(took / 1000).toFixed(2)} s, ${(took / chain).toFixed(2)} times the ideal, ${((most - start) / 1024 / AT_ONCE).toFixed(0)} KB per program`,
  );
  // The peer has no way to close: its workers would keep the process alive.
  process.exit(0);
}
