// How many programs a second? `return 1`, three calls, and a mixed load in which one program in ten computes for 50 ms; with the
// 50th and 99th percentile of each program's time. And how much of it is left while one worker is taken by an endless loop.
// The peer `run` goes through the same loads where it is installed (see peers/). Arguments: seconds per load.
import { type CodeMode, createCodeMode, defineTool } from '../src/index.ts';
import { aim, machine } from './measure.ts';
import { install, load as loadPeer } from './peers/install.ts';

const SECONDS = Number(process.argv[2] ?? 3);
const AT_ONCE = 32;
console.log(`${machine()}; ${AT_ONCE} programs at once, two workers, ${SECONDS} s per load`);

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: async ({ a, b }) => a + b,
});

/** Runs one program and gives its value. */
type RunProgram = (source: string) => Promise<unknown>;

const LOADS = {
  'return 1': { source: () => 'return 1', right: 1 },
  'three calls': { source: () => 'let n = 0; for (let i = 0; i < 3; i++) n = await tools.add({ a: n, b: 1 }); return n;', right: 3 },
  // Two thirds of the compute time is spent in the loop, whatever the machine: it looks at the clock.
  'mixed, 1 in 10 computes 50 ms': {
    source: (index: number) =>
      index % 10 === 0
        ? 'const end = Date.now() + 50; let n = 0; while (Date.now() < end) n++; return 3;'
        : 'let n = 0; for (let i = 0; i < 3; i++) n = await tools.add({ a: n, b: 1 }); return n;',
    right: 3,
  },
} as const;

interface Rate {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

async function load(run: RunProgram, name: keyof typeof LOADS, seconds = SECONDS): Promise<Rate> {
  const { source, right } = LOADS[name];
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  let index = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < end) {
        const start = performance.now();
        const value = await run(source(index++));
        if (value !== right) throw new Error(`${name} gave ${JSON.stringify(value)}`);
        times.push(performance.now() - start);
      }
    }),
  );
  const elapsed = performance.now() - began;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { perSecond: (times.length / elapsed) * 1000, p50: at(0.5), p99: at(0.99) };
}

const say = (who: string, name: string, { perSecond, p50, p99 }: Rate): void =>
  console.log(
    `${who.padEnd(10)} ${name.padEnd(32)} ${perSecond.toFixed(0).padStart(7)}/s   p50 ${p50.toFixed(2).padStart(8)} ms   p99 ${p99.toFixed(2).padStart(8)} ms`,
  );

const ours: CodeMode = createCodeMode({ tools: add, workers: 2 });
const run: RunProgram = async (source) => {
  const result = await ours.run(source);
  if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
  return result.value;
};
const peer = install() ? await openPeer() : undefined;
await load(run, 'three calls', 1);
for (const name of Object.keys(LOADS) as (keyof typeof LOADS)[]) {
  const mine = await load(run, name);
  say('callgate', name, mine);
  if (peer !== undefined) {
    const theirs = await load(peer, name);
    say('run', name, theirs);
    console.log(`${''.padEnd(10)} ${(mine.perSecond / theirs.perSecond).toFixed(1)} times as many`);
  }
}
if (peer === undefined) console.log('`run` is not installed here; see benchmarks/README.md.');

/** `run` with the same tool; its programs are written the same way. */
async function openPeer(): Promise<RunProgram> {
  // Taken from the package's own declarations.
  const { createRunner } = (await loadPeer('run')) as {
    createRunner(options: object): { run(input: object): Promise<{ status: string; value: unknown }> };
  };
  const runner = createRunner({ limits: { timeoutMs: 30_000 } });
  const hostFunctions = { tools: { add: async ({ a, b }: { a: number; b: number }) => a + b } };
  return async (source) => (await runner.run({ source, hostFunctions })).value;
}

// One of two workers taken by an endless loop, while the others go on.
const alone = await load(run, 'three calls');
let hogs = true;
const hog = (async () => {
  while (hogs) await ours.run('for (;;) {}', { limits: { cpuMs: 1_000 } });
})();
const beside = await load(run, 'three calls');
hogs = false;
await hog;
say('callgate', 'three calls beside an endless loop', beside);
aim('share lost beside an endless loop', 1 - beside.perSecond / alone.perSecond, 0.6);
await ours.close();
