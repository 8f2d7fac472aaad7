// What does a program's text cost before it runs: 60 lines of TypeScript, a text fifty times as long as another, and, from nothing, the command
// `callgate run` with its parts? Each preparation is of a text that was never prepared before.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { createCodeMode } from '../src/index.ts';
import { prepare } from '../src/program/prepare.ts';
import { aim, machine, measure, print } from './measure.ts';

console.log(machine());

const step = (index: number): string => `interface Item${index} { id: number; name: string; tags?: string[] }
async function load${index}(owner: string, limit = 10): Promise<Item${index}[]> {
  const { items } = await tools.github.list_issues({ owner, limit: limit as number });
  const kept: Item${index}[] = [];
  for (const item of items) {
    if (item.title?.includes('bug') && !item.closed) {
      kept.push({ id: item.id, name: \`#\${item.id} \${item.title}\`, tags: item.labels.map((label: any) => label.name) });
    }
  }
  kept.sort((a, b) => a.id - b.id || a.name.localeCompare(b.name));
  return kept.filter((item) => item.tags!.length > 0);
}
const total${index} = (await load${index}('octo')).reduce((sum, item) => sum + item.id, 0);
`;

/** A program of whole steps, as many as `enough` asks for. */
function program(enough: (text: string) => boolean): string {
  let text = '';
  for (let index = 0; !enough(text); index++) text += step(index);
  return `${text}return total0;\n`;
}

const lines = program((text) => text.split('\n').length > 60);
const short = program((text) => text.length >= 4_000);
const long = program((text) => text.length >= 200_000);
let edit = 0;
const preparing = (text: string) => (): void => {
  const result = prepare(`${text}// ${edit++}`);
  if (!result.ok) throw new Error(`The program was refused: ${result.error.message}`);
};
for (let i = 0; i < 300; i++) preparing(short)();
for (let i = 0; i < 10; i++) preparing(long)();

const figures = await measure(
  [
    { name: `${lines.split('\n').length - 1} lines of TypeScript`, run: preparing(lines) },
    { name: `${(short.length / 1000).toFixed(0)} KB`, run: preparing(short) },
    { name: `${(long.length / 1000).toFixed(0)} KB`, run: preparing(long) },
  ],
  { rounds: 20, perRound: 4 },
);
const [sixty, small, big] = figures;
print('Preparing, warm', figures, small.name);
aim('60 lines of TypeScript, warm median ms', sixty.medianMs, 1);
aim(`${ratio()} times the text, times the time, medians`, big.medianMs / small.medianMs, 50);
// The long text's tree outlives several collections of the young generation, which copy it each time.
const [smallWork, bigWork] = [await withoutCollection(short, 400), await withoutCollection(long, 20)];
console.log(
  `garbage collection takes ${(bigWork.collectedShare * 100).toFixed(0)} % of the long text's time, and ${(smallWork.collectedShare * 100).toFixed(0)} % of the short one's`,
);
aim(`${ratio()} times the text, times the time, without garbage collection`, bigWork.ms / smallWork.ms, 50);

// As users meet it: in a worker, the two in turns. The first statement ends the program; the rest is prepared and compiled all the same.
const codeMode = createCodeMode({ tools: [] });
const running = (text: string) => async (): Promise<void> => {
  const result = await codeMode.run(`return 1;\n${text}// ${edit++}`);
  if (result.value !== 1) throw new Error(`The program failed: ${JSON.stringify(result)}`);
};
for (let i = 0; i < 100; i++) await running(short)();
const [shortRun, longRun] = await measure(
  [
    { name: `${(short.length / 1000).toFixed(0)} KB, run`, run: running(short) },
    { name: `${(long.length / 1000).toFixed(0)} KB, run`, run: running(long) },
  ],
  { rounds: 20, perRound: 1 },
);
print('Run in a thread, in turns', [shortRun, longRun], shortRun.name);
aim(`${ratio()} times the text, times the time of a run`, longRun.medianMs / shortRun.medianMs, 50);
await codeMode.close();

function ratio(): string {
  return (long.length / short.length).toFixed(0);
}

/** The mean time of a preparation, and what share of the whole the collector had. */
async function withoutCollection(text: string, times: number): Promise<{ ms: number; collectedShare: number }> {
  let collected = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collected += duration;
  });
  observer.observe({ entryTypes: ['gc'] });
  const began = performance.now();
  for (let i = 0; i < times; i++) preparing(text)();
  const whole = performance.now() - began;
  await new Promise((resolve) => setTimeout(resolve, 20));
  observer.disconnect();
  return { ms: (whole - collected) / times, collectedShare: collected / whole };
}

/** The time from a process's start to its end. */
function wholeProcess(args: readonly string[]): () => number {
  return () => {
    const began = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return performance.now() - began;
  };
}

/** A file of the built package. The bundled benchmark lies in node_modules/.cache/callgate. */
function built(path: string): string {
  return new URL(`../../../dist/${path}`, import.meta.url).href;
}

/** The time that a piece of code takes in a process of its own, measured there. */
function within(code: string): () => number {
  const source = `const began = performance.now();
${code.replace(/<([\w/.-]+)>/g, (_, path: string) => JSON.stringify(built(path)))}
console.log(performance.now() - began);
process.exit(0);`;
  return () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  };
}

const folder = mkdtempSync(join(tmpdir(), 'callgate-'));
try {
  const file = join(folder, 'one.js');
  writeFileSync(file, 'return 1;\n');
  const tools = join(folder, 'tools.mjs');
  const tool = "defineTool({ name: 'echo', description: 'Gives its input back.', inputSchema: {}, execute: (input) => input })";
  writeFileSync(tools, `import { defineTool } from ${JSON.stringify(built('index.js'))};\nexport default [${tool}];\n`);
  const parts: readonly (readonly [string, () => number])[] = [
    ['an empty process', wholeProcess(['-e', '0'])],
    ['`callgate run` of `return 1`', wholeProcess(['dist/cli/main.js', 'run', file, '--tools', tools])],
    ['  loading callgate', within('await import(<index.js>);')],
    [
      '  the first run, callgate loaded',
      within(
        "const { createCodeMode } = await import(<index.js>);\nconst at = performance.now();\nawait createCodeMode({ tools: [] }).run('return 1;');\nconsole.log(performance.now() - at);\nprocess.exit(0);",
      ),
    ],
    ['    compiling WebAssembly', within('const { compileQuickJs } = await import(<engine/quickjs-module.js>);\nawait compileQuickJs();')],
    [
      '    booting the engine, compiled',
      within(
        'const [{ createQuickJs }, { compileQuickJs }] = await Promise.all([import(<engine/quickjs.js>), import(<engine/quickjs-module.js>)]);\nconst wasm = await compileQuickJs();\nconst at = performance.now();\nawait createQuickJs(wasm);\nconsole.log(performance.now() - at);\nprocess.exit(0);',
      ),
    ],
    ['    loading the parser', within('await import(<program/prepare.js>);')],
    [
      '    the first preparation',
      within(
        "const { prepare } = await import(<program/prepare.js>);\nconst at = performance.now();\nprepare('return 1;');\nconsole.log(performance.now() - at);\nprocess.exit(0);",
      ),
    ],
  ];
  const times = parts.map(() => [] as number[]);
  for (let round = 0; round < 7; round++) for (const [index, [, run]] of parts.entries()) times[index]?.push(run());
  console.log('\nFrom nothing, ms (what is further in is part of the first run, and happens in its thread; it overlaps in part)');
  for (const [index, [name]] of parts.entries()) {
    const sorted = (times[index] ?? []).toSorted((a, b) => a - b);
    console.log(`${name.padEnd(34)} median ${(sorted[3] ?? 0).toFixed(0).padStart(5)}  min ${(sorted[0] ?? 0).toFixed(0).padStart(5)}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
