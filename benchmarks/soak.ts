// Does anything leak? Tens of thousands of programs in a loop, a tenth of them hostile: memory, handles and threads must be flat
// at the end. Arguments: programs (default 50 000). Exits with 1 when something grew, so that a short form can run as a test.
import { readdirSync } from 'node:fs';
import { createCodeMode, defineTool } from '../src/index.ts';
import { machine } from './harness/load.ts';

const PROGRAMS = Number(process.argv[2] ?? 50_000);
const { node, processor, cores } = machine();
console.log(`Node ${node}, ${cores} cores of ${processor}; ${PROGRAMS} programs`);

const echo = defineTool({ name: 'echo', description: 'Gives its input back.', inputSchema: {}, execute: async (input) => input });
const slow = defineTool({
  name: 'slow',
  description: 'Waits, or ends with its signal.',
  inputSchema: {},
  execute: (_, { signal }) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, 20);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve(undefined);
      });
    }),
});
const codeMode = createCodeMode({
  tools: [echo, slow],
  workers: 2,
  limits: { cpuMs: 20, wallMs: 2_000, memoryBytes: 24 * 1024 * 1024, calls: 50 },
});

const KIND = [
  'return (await tools.echo({ value: 1 })).value',
  'const all = await Promise.all([1, 2, 3].map((value) => tools.echo({ value }))); return all.length',
  'await tools.slow({}); return 1',
  'console.log("x".repeat(1000)); return [1, 2, 3]',
  'throw new Error("mine")',
];
const HOSTILE = [
  'for (;;) {}',
  'const a = []; for (;;) a.push({ x: a.length, y: [1, 2, 3] })',
  'for (let i = 0; i < 200; i++) tools.echo({ i }).catch(() => {}); return 1',
  'const f = () => f() + 1; f()',
  'await new Promise(() => {})',
  'tools.slow({}); throw new Error("left a call behind")',
  'for (;;) console.log("flood".repeat(100))',
];

interface Sample {
  readonly rssMiB: number;
  readonly heapMiB: number;
  readonly handles: number;
  readonly threads: number;
}

const sample = async (): Promise<Sample> => {
  // What ended a moment ago may still be going: extra workers retire after a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  let threads = 0;
  try {
    threads = readdirSync('/proc/self/task').length;
  } catch {
    // Only Linux tells.
  }
  return {
    rssMiB: Math.round(rss / 2 ** 20),
    heapMiB: Math.round((heapUsed / 2 ** 20) * 10) / 10,
    handles: process.getActiveResourcesInfo().length,
    threads,
  };
};

let done = 0;
let hostile = 0;
const loop = async (programs: number): Promise<void> => {
  const end = done + programs;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (done < end) {
        const index = done++;
        const bad = index % 10 === 9;
        if (bad) hostile++;
        await codeMode.run((bad ? HOSTILE[((index / 10) % HOSTILE.length) | 0] : KIND[index % KIND.length]) as string);
      }
    }),
  );
};

// A tenth to reach a steady state, then the rest.
await loop(Math.max(500, PROGRAMS / 10));
const before = await sample();
console.log(`after ${done}:`, JSON.stringify(before));
const began = performance.now();
for (let part = 0; part < 4; part++) {
  await loop((PROGRAMS * 0.9) / 4);
  console.log(`after ${done}:`, JSON.stringify(await sample()));
}
const after = await sample();
console.log(`${done} programs, ${hostile} of them hostile, ${(done / ((performance.now() - began) / 1000)).toFixed(0)} a second`);
const grown = [
  after.heapMiB > before.heapMiB * 1.3 + 3 && `heap from ${before.heapMiB} to ${after.heapMiB} MiB`,
  after.rssMiB > before.rssMiB * 1.5 + 50 && `resident memory from ${before.rssMiB} to ${after.rssMiB} MiB`,
  after.handles > before.handles && `handles from ${before.handles} to ${after.handles}`,
  after.threads > before.threads + 1 && `threads from ${before.threads} to ${after.threads}`,
].filter((line) => line !== false);
console.log(grown.length === 0 ? 'flat' : `GREW: ${grown.join('; ')}`);
await codeMode.close();
const left = process.getActiveResourcesInfo().filter((name) => name !== 'TTYWrap' && name !== 'PipeWrap');
if (left.length > 0) console.log(`left behind after close(): ${left.join(', ')}`);
process.exitCode = grown.length === 0 && left.length === 0 ? 0 : 1;
