// What does starting a program cost? `return 1` on a warm worker, inline and in a thread, beside the floors: a direct
// function call, an empty message round trip, and putting back the image alone.
import { Worker } from 'node:worker_threads';
import { createQuickJs } from '../src/engine/quickjs.ts';
import { compileQuickJs } from '../src/engine/quickjs-module.ts';
import { createCodeMode, defineTool } from '../src/index.ts';
import { aim, machine, measure, print } from './measure.ts';

console.log(machine());

const echo = new Worker(
  "require('node:worker_threads').parentPort.on('message', (m) => require('node:worker_threads').parentPort.postMessage(m))",
  { eval: true },
);
let answered: () => void = () => undefined;
echo.on('message', () => answered());
const roundTrip = (): Promise<void> =>
  new Promise((resolve) => {
    answered = resolve;
    echo.postMessage('');
  });

const tool = (name: string) =>
  defineTool({
    name,
    description: `The tool ${name} gives its input back.`,
    inputSchema: { type: 'object', properties: { value: { type: 'number' } } },
    execute: (input) => input,
  });
const some = tool('echo');
const many = Array.from({ length: 500 }, (_, index) => tool(`tool_${index}`));
const none = createCodeMode({ tools: [] });
const thread = createCodeMode({ tools: [some] });
const big = createCodeMode({ tools: many });
const inline = createCodeMode({ tools: [some], isolation: 'inline' });

const engine = await createQuickJs(await compileQuickJs());
engine.addCatalog('empty', '{"tools":[],"globals":{},"functions":[]}');
engine.addCatalog(
  'big',
  JSON.stringify({ tools: many.map(({ name, description }) => ({ path: [name], name, description })), globals: {}, functions: [] }),
);
const realm = await engine.open(64 * 1024 * 1024);
const start = {
  cpuMs: 1000,
  sliceMs: 1000,
  deadline: Number.MAX_SAFE_INTEGER,
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 192 * 1024,
  guest: { calls: 10, argumentBytes: 1000, outputBytes: 1000, valueBytes: 1000, storeBytes: 1000, places: false },
  store: '{}',
  timeZone: 'UTC',
  locale: 'en-US',
};
const enter = (catalog: string) => () => {
  realm.start(catalog, { code: '(async () => { return 1; })', aliases: [] }, start, start);
};
enter('empty')();

const run = (codeMode: typeof thread) => async () => {
  const result = await codeMode.run('return 1');
  if (result.value !== 1) throw new Error(`return 1 gave ${JSON.stringify(result)}`);
};
// Warm: the host's and the workers' own code is compiled by use.
for (let i = 0; i < 2_000; i++) for (const codeMode of [none, thread, big, inline]) await run(codeMode)();

const figures = await measure([
  { name: 'direct function call', run: () => 1 },
  { name: 'empty message round trip', run: roundTrip },
  { name: 'image restore alone', run: () => realm.reset() },
  {
    name: 'image restore alone, 500 tools',
    run: () => {
      enter('big')();
    },
  },
  { name: 'return 1, inline', run: run(inline) },
  { name: 'return 1, thread, no tools', run: run(none) },
  { name: 'return 1, thread, 1 tool', run: run(thread) },
  { name: 'return 1, thread, 500 tools', run: run(big) },
]);
print('Starting a program', figures, 'empty message round trip');
const median = (name: string): number => (figures.find((figure) => figure.name === name)?.medianMs ?? Number.NaN) * 1000;
aim(
  'thread start above the empty round trip, in round trips',
  (median('return 1, thread, 1 tool') - median('empty message round trip')) / median('empty message round trip'),
  3,
);
aim('image restore, µs', median('image restore alone'), 30);
aim('start with 500 tools against none', median('return 1, thread, 500 tools') / median('return 1, thread, no tools'), 1.5);
await Promise.all([none.close(), thread.close(), big.close(), inline.close(), echo.terminate()]);
