// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of programs hold template literals.
// What does each engine cost in each isolation, and what does it compute? Starting, calling, carrying and computing, beside plain Node, a bare
// isolate and an empty pipe, and beside what else there is. Runs on the Node 24 of the development dependencies, where all of them run.
//   npm run bench -- engines [peers]      `peers` installs `run` and `@tanstack/ai-isolate-node` first
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import type IsolatedVm from 'isolated-vm';
import { type CodeMode, createCodeMode, defineTool } from '../src/index.ts';
import { FrameReader, writeMessage } from '../src/isolation/frames.ts';
import { aim, type Figure, machine, measure, print, type Subject } from './measure.ts';
import { openPeers } from './peers/engines.ts';

const NODE_24 = fileURLToPath(new URL('../../node/bin/node', import.meta.url));
if (Number(process.versions.node.split('.')[0]) < 24) {
  // An isolate of our own needs the option.
  const { status } = spawnSync(NODE_24, ['--no-node-snapshot', ...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(status ?? 1);
}
console.log(machine());

const echo = defineTool({ name: 'echo', description: 'Gives its input back.', inputSchema: {}, execute: (input) => input });
const limits = {
  calls: 100_000,
  concurrentCalls: 256,
  cpuMs: 60_000,
  sliceMs: 60_000,
  argumentBytes: 4 << 20,
  valueBytes: 4 << 20,
  memoryBytes: 256 << 20,
};
const open = (options: object): CodeMode => createCodeMode({ tools: echo, limits, ...options });
const v8Process = open({ engine: 'v8' });
const modes: (readonly [name: string, codeMode: CodeMode])[] = [
  ['quickjs, inline', open({ isolation: 'inline' })],
  ['quickjs, thread', open({})],
  ['quickjs, process', open({ isolation: 'process' })],
  ['v8, process', v8Process],
];
for (const engine of ['quickjs', 'v8']) {
  const sandboxed = open({ engine, isolation: 'process', sandbox: 'os' });
  try {
    await sandboxed.run('return 1');
    modes.push([`${engine}, process, sandbox`, sandboxed]);
  } catch (error) {
    console.log(`left out: the sandbox of the system: ${error instanceof Error ? error.message : String(error)}`);
    await sandboxed.close();
  }
}
const peers = process.argv.includes('peers') ? await openPeers(echo) : [];

/** Runs a program and gives the milliseconds that it spent in the guest, its text's preparation included. */
async function inside(codeMode: CodeMode, source: string): Promise<number> {
  const result = await codeMode.run(source);
  if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
  return result.usage.cpuMs;
}

// Floors ------------------------------------------------------------------------------------------------------------------------

const { default: ivm } = (await import('isolated-vm')) as { default: typeof IsolatedVm };
function bareIsolate(): { isolate: IsolatedVm.Isolate; context: IsolatedVm.Context } {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  return { isolate, context: isolate.createContextSync() };
}

/** A child that gives back every frame. */
const mirror: ChildProcess = spawn(
  process.execPath,
  [
    '--eval',
    "const { Socket } = require('node:net'); const s = new Socket({ fd: 3, readable: true, writable: true }); s.on('data', (d) => s.write(d));",
  ],
  { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] },
);
const pipe = mirror.stdio[3] as Socket;
let answered: () => void = () => undefined;
const reader = new FrameReader(() => answered());
pipe.on('data', (chunk: Buffer) => reader.push(chunk));
const roundTrip = (text: string): Promise<void> =>
  new Promise((resolve) => {
    answered = resolve;
    for (const part of writeMessage(text)) pipe.write(part);
  });

/** A text of its own each time, so that nothing that was compiled before is used again. */
let runs = 0;
const fresh = (source: string): string => `${source}\n// ${++runs}`;
const plainNode = (source: string) => async (): Promise<void> => {
  await (runInNewContext(fresh(`(async () => { ${source} })()`), {}) as Promise<unknown>);
};

// Starting ----------------------------------------------------------------------------------------------------------------------

for (const [, codeMode] of modes) for (let i = 0; i < 60; i++) await inside(codeMode, 'return await tools.echo(1)');

const forAll = (source: string, units = 1): readonly Subject[] => [
  ...modes.map(([name, codeMode]) => ({ name, run: () => inside(codeMode, fresh(source)), units })),
  ...peers.map(({ name, run }) => ({ name, run: () => run(fresh(source)), units })),
];

/** Those that can do it at all: each peer has limits of its own. */
async function able(subjects: readonly Subject[]): Promise<readonly Subject[]> {
  const kept: Subject[] = [];
  for (const subject of subjects) {
    try {
      await subject.run();
      kept.push(subject);
    } catch (error) {
      console.log(`left out: ${subject.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return kept;
}

const minOf = (figures: readonly Figure[], name: string): number => figures.find((figure) => figure.name === name)?.minMs ?? Number.NaN;
const medianOf = (figures: readonly Figure[], name: string): number =>
  figures.find((figure) => figure.name === name)?.medianMs ?? Number.NaN;
const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 15));

/** As a host meets them: one program, then a pause, so that what is made ahead is there. */
async function measureRested(subjects: readonly Subject[], rounds: number): Promise<readonly Figure[]> {
  const times = subjects.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { run }] of subjects.entries()) {
      await rest();
      const began = performance.now();
      await run();
      times[index]?.push(performance.now() - began);
    }
  }
  return subjects.map(({ name }, index): Figure => {
    const sorted = (times[index] ?? []).sort((a, b) => a - b);
    return { name, medianMs: sorted[sorted.length >> 1] ?? Number.NaN, p99Ms: sorted.at(-1) ?? Number.NaN, minMs: sorted[0] ?? Number.NaN };
  });
}

const bare: Subject = {
  name: 'bare isolate, made and thrown away',
  run() {
    const { isolate, context } = bareIsolate();
    context.evalSync(fresh('(async () => 1)(); 1'));
    isolate.dispose();
  },
};
const starts = await measureRested([bare, { name: 'empty pipe round trip', run: () => roundTrip('x') }, ...forAll('return 1')], 60);
print('Starting: `return 1`, each after a pause', starts, bare.name);
aim(
  'starting in v8, against a bare isolate that is made, asked and thrown away',
  medianOf(starts, 'v8, process') / medianOf(starts, bare.name),
  3,
);

// Calling -----------------------------------------------------------------------------------------------------------------------

const ROW = 300;
const floor: Subject = {
  name: 'empty pipe round trip',
  run: async () => {
    for (let i = 0; i < 100; i++) await roundTrip('[1,0,{"value":1}]');
  },
  units: 100,
};
const row = await measure([floor, ...forAll(`for (let i = 0; i < ${ROW}; i++) await tools.echo({ value: i });`, ROW)], {
  rounds: 9,
  perRound: 3,
});
print(`Calling: ${ROW} in a row, each`, row, floor.name);
// A machine that is busy makes the median of the empty pipe anything; the minima are what the code costs.
for (const name of ['quickjs, process', 'v8, process'])
  for (const [what, of] of [
    ['median', medianOf],
    ['minimum', minOf],
  ] as const)
    aim(
      `a call, ${name}, against 1.5 empty pipe round trips plus the inline cost, by the ${what}`,
      of(row, name) / (1.5 * of(row, floor.name) + of(row, 'quickjs, inline')),
      1,
    );

const AT_ONCE = 256;
print(
  `Calling: ${AT_ONCE} at once, each`,
  await measure(
    [floor, ...forAll(`await Promise.all(Array.from({ length: ${AT_ONCE} }, (_, value) => tools.echo({ value })));`, AT_ONCE)],
    {
      rounds: 9,
      perRound: 3,
    },
  ),
  floor.name,
);

const megabyte = JSON.stringify('x'.repeat(1 << 20));
const big: Subject = { name: 'the same text through an empty pipe', run: () => roundTrip(megabyte) };
print(
  'Carrying: a text of 1 MB to a tool and back',
  await measure([big, ...(await able(forAll("const text = 'x'.repeat(1 << 20); return (await tools.echo({ text })).text.length;")))], {
    rounds: 7,
    perRound: 3,
  }),
  big.name,
);

// Computing ---------------------------------------------------------------------------------------------------------------------

const COMPUTING: Readonly<Record<string, string>> = {
  'fib(27)': 'const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(27);',
  'sorting 100 000 numbers':
    'let seed = 1; const a = Array.from({ length: 1e5 }, () => (seed = (seed * 48271) % 2147483647)); a.sort((x, y) => x - y); return a[5];',
  'JSON of 1 MB, read and written':
    "const text = JSON.stringify(Array.from({ length: 12_000 }, (_, id) => ({ id, name: 'customer ' + id, tags: ['a', 'b'], total: id * 1.5 }))); return JSON.stringify(JSON.parse(text)).length;",
  'building strings':
    "let s = ''; for (let i = 0; i < 2e5; i++) s += `row ${i};`; return s.split(';').map((x) => x.toUpperCase()).join(',').length;",
  'regular expressions':
    "const text = Array.from({ length: 5_000 }, (_, i) => `user${i}@mail${i % 7}.example.com, +49 ${i} 55`).join('\\n'); return [...text.matchAll(/([\\w.]+)@([\\w.-]+)\\.(com|org)/g)].length + text.replace(/\\d+/g, (d) => '<' + d + '>').length;",
};
const ratios: { readonly median: number; readonly min: number }[] = [];
for (const [name, source] of Object.entries(COMPUTING)) {
  const inGuest: number[] = [];
  const subjects = [{ name: 'plain Node', run: plainNode(source) }, ...(await able(forAll(source)))].map((subject) =>
    subject.name === 'v8, process' ? { ...subject, run: async () => inGuest.push(await inside(v8Process, fresh(source))) } : subject,
  );
  const figures = await measureRested(subjects, 15);
  inGuest.sort((a, b) => a - b);
  const guest: Figure = {
    name: 'v8, process: in the guest alone',
    medianMs: inGuest[inGuest.length >> 1] ?? Number.NaN,
    p99Ms: inGuest.at(-1) ?? Number.NaN,
    minMs: inGuest[0] ?? Number.NaN,
  };
  print(`Computing: ${name}`, [...figures, guest], 'plain Node');
  ratios.push({ median: guest.medianMs / medianOf(figures, 'plain Node'), min: guest.minMs / minOf(figures, 'plain Node') });
}
for (const which of ['median', 'min'] as const)
  aim(
    `computing in a v8 guest, against plain Node: geometric mean by the ${which}`,
    Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio[which]), 0) / ratios.length),
    1.3,
  );

for (const [, codeMode] of modes) await codeMode.close();
mirror.kill('SIGKILL');
// An isolate is left: going in good order would crash.
process.kill(process.pid, 'SIGKILL');
