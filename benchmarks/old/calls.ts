// What does a call cost? One awaited call, a thousand in a row, 256 at once; inline and in a thread, each beside its floor.
import { Worker } from 'node:worker_threads';
import { type CodeMode, createCodeMode, defineTool } from '../src/index.ts';
import { aim, machine, measure, print } from './measure.ts';

console.log(machine());

const execute = (input: unknown): unknown => input;
const echo = defineTool({
  name: 'echo',
  description: 'Gives its input back.',
  inputSchema: { type: 'object', properties: { value: { type: 'number' } } },
  execute,
});
const limits = { calls: 10_000, concurrentCalls: 256 };
const inline = createCodeMode({ tools: echo, isolation: 'inline', limits });
const thread = createCodeMode({ tools: echo, limits });

const port = new Worker(
  "require('node:worker_threads').parentPort.on('message', (m) => require('node:worker_threads').parentPort.postMessage(m))",
  { eval: true },
);
let answered: () => void = () => undefined;
port.on('message', () => answered());
const roundTrip = (): Promise<void> =>
  new Promise((resolve) => {
    answered = resolve;
    port.postMessage('[1,0,{"value":1}]');
  });

/** Milliseconds per call, measured inside one program so that its start is not counted. */
async function inside(codeMode: CodeMode, source: string): Promise<void> {
  const result = await codeMode.run(source);
  if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
}
const ROW = 1_000;
const row = `for (let i = 0; i < ${ROW}; i++) await tools.echo({ value: i });`;
const AT_ONCE = 256;
const atOnce = `await Promise.all(Array.from({ length: ${AT_ONCE} }, (_, value) => tools.echo({ value })));`;
// Warm: the host's and the workers' own code is compiled by use.
const one = 'return await tools.echo({ value: 1 })';
for (const codeMode of [inline, thread]) {
  for (let i = 0; i < 10; i++) for (const source of [row, atOnce]) await inside(codeMode, source);
  for (let i = 0; i < 2_000; i++) await inside(codeMode, one);
}

const figures = await measure(
  [
    { name: 'direct function call', run: () => execute({ value: 1 }) },
    {
      name: 'empty message round trip',
      run: async () => {
        for (let i = 0; i < 100; i++) await roundTrip();
      },
      units: 100,
    },
    { name: 'a program with one call, inline', run: () => inside(inline, one) },
    { name: 'a program with one call, thread', run: () => inside(thread, one) },
    { name: `${ROW} in a row, inline, each`, run: () => inside(inline, row), units: ROW },
    { name: `${ROW} in a row, thread, each`, run: () => inside(thread, row), units: ROW },
    { name: `${AT_ONCE} at once, inline, each`, run: () => inside(inline, atOnce), units: AT_ONCE },
    { name: `${AT_ONCE} at once, thread, each`, run: () => inside(thread, atOnce), units: AT_ONCE },
  ],
  { rounds: 9, perRound: 5 },
);
print('Calls', figures, 'empty message round trip');
const median = (name: string): number => figures.find((figure) => figure.name === name)?.medianMs ?? Number.NaN;
aim(
  'an awaited call in a thread, against two round trips plus the inline cost',
  median(`${ROW} in a row, thread, each`) / (2 * median('empty message round trip') + median(`${ROW} in a row, inline, each`)),
  1,
);
await Promise.all([inline.close(), thread.close(), port.terminate()]);
