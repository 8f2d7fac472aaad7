// What does a program's text cost before it runs: 60 lines of TypeScript, texts of 4 to 200 KB, alone and as part of a run, and, from nothing, the
// command `callgate run` with its parts? Each preparation is of a text that was never prepared before.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { prepare } from '../../src/program/prepare.ts';
import { type Question, type Subject, timed } from '../harness/question.ts';
import { growth, medianOf } from '../harness/result.ts';
import { valueIn } from '../peers/peer.ts';
import { fresh, OURS, PEERS } from '../peers/peers.ts';

const PREPARING = 'preparing';
const UNCOLLECTED = 'preparing, without garbage collection';
const COMMAND = '`callgate run` of `return 1`';
const EMPTY = 'an empty process';
/** Of whole programs, in KB: the text has at least as many. */
const SIZES = [4, 10, 20, 50, 100, 200];
const [SMALLEST, LARGEST] = [SIZES[0] as number, SIZES.at(-1) as number];

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

const programOf = (kilobytes: number): string => program((text) => text.length >= kilobytes * 1_000);
const sixtyLines = program((text) => text.split('\n').length > 60);

function preparation(text: string): void {
  const result = prepare(fresh(text));
  if (!result.ok) throw new Error(`The program was refused: ${result.error.message}`);
}

const preparing: Subject = async () => {
  const sixty = timed(() => preparation(sixtyLines), { times: 10 });
  for (let i = 0; i < 300; i++) preparation(sixtyLines);
  return {
    tasks: {
      sixty,
      async size(kilobytes) {
        const text = programOf(kilobytes);
        return timed(() => preparation(text), { times: timesOf(kilobytes) })(1);
      },
    },
  };
};

/** The long text's tree outlives several collections of the young generation, which copy it each time: this is the time without them. */
const uncollected: Subject = async () => {
  for (let i = 0; i < 300; i++) preparation(sixtyLines);
  return {
    tasks: {
      async size(kilobytes) {
        const { ms, collectedMs } = await collecting(kilobytes);
        return ms - collectedMs;
      },
      async collected(kilobytes) {
        const { ms, collectedMs } = await collecting(kilobytes);
        return (100 * collectedMs) / ms;
      },
    },
  };
};

/** The mean time of a preparation, and what of it the collector had. */
async function collecting(kilobytes: number): Promise<{ ms: number; collectedMs: number }> {
  const text = programOf(kilobytes);
  const times = 2 * timesOf(kilobytes);
  let collected = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collected += duration;
  });
  observer.observe({ entryTypes: ['gc'] });
  const began = performance.now();
  for (let i = 0; i < times; i++) preparation(text);
  const whole = performance.now() - began;
  await delay(20);
  observer.disconnect();
  return { ms: whole / times, collectedMs: collected / times };
}

function timesOf(kilobytes: number): number {
  return Math.max(3, Math.round(100 / kilobytes));
}

/** As users meet it: a run whose first statement ends the program; the rest is prepared and compiled all the same. */
const running = PEERS.map(({ name, open }): [string, Subject] => [
  name,
  async () => {
    const opened = await open({ tools: {} });
    const run = async (kilobytes: number): Promise<void> => {
      const text = `return 1;\n${programOf(kilobytes)}`;
      if (valueIn(await opened.run(fresh(text))) !== 1) throw new Error('`return 1` gave something else');
    };
    // Parsers and what erases types are quick only after some dozens of programs.
    const until = performance.now() + 1_500;
    for (let i = 0; i < 60 && performance.now() < until; i++) await run(SMALLEST);
    return {
      tasks: { run: (kilobytes) => timed(() => run(kilobytes), { times: 2 })(1) },
      ...(opened.close !== undefined && { close: opened.close }),
    };
  },
]);

/** Isolations share the preparation: one of ours is enough beside the others. */
const RUNNING = PEERS.map(({ name }) => name).filter((name) => name === OURS || !name.startsWith('callgate,'));

/** A file of the built package. Benchmarks run in the repository's root. */
function built(path: string): string {
  return pathToFileURL(resolve('dist', path)).href;
}

/** The time from a process's start to its end. */
function wholeProcess(open: () => { args: readonly string[]; close?(): void }): Subject {
  return async () => {
    const { args, close } = open();
    return { tasks: { process: timed(() => run(args)) }, close: async () => close?.() };
  };
}

function commandRun(): { args: readonly string[]; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'callgate-prepare-'));
  const file = join(folder, 'one.js');
  writeFileSync(file, 'return 1;\n');
  const tools = join(folder, 'tools.mjs');
  const tool = "defineTool({ name: 'echo', description: 'Gives its input back.', inputSchema: {}, execute: (input) => input })";
  writeFileSync(tools, `import { defineTool } from ${JSON.stringify(built('index.js'))};\nexport default [${tool}];\n`);
  return {
    args: ['dist/cli/main.js', 'run', file, '--tools', tools],
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The time that a piece of code takes in a process of its own, measured there; without what comes before `await began()`. */
function within(code: string): Subject {
  const source = `let at = performance.now();
const began = () => { at = performance.now(); };
${code.replace(/<([\w/.-]+)>/g, (_, path: string) => JSON.stringify(built(path)))}
console.log(performance.now() - at);
process.exit(0);`;
  return async () => ({ tasks: { process: async () => Number(run(['--input-type=module', '-e', source])) } });
}

function run(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** What is further in is part of the first run, and happens in its thread; it overlaps in part. */
const FROM_NOTHING: Readonly<Record<string, Subject>> = {
  [COMMAND]: wholeProcess(commandRun),
  'loading callgate': within('await import(<index.js>);'),
  'the first run, callgate loaded': within(`const { createCodeMode } = await import(<index.js>);
began();
await createCodeMode({ tools: [] }).run('return 1;');`),
  'of it: compiling WebAssembly': within(
    'const { compileQuickJs } = await import(<engine/quickjs-module.js>);\nbegan();\nawait compileQuickJs();',
  ),
  'of it: booting the engine, compiled':
    within(`const [{ createQuickJs }, { compileQuickJs }] = await Promise.all([import(<engine/quickjs.js>), import(<engine/quickjs-module.js>)]);
const wasm = await compileQuickJs();
began();
await createQuickJs(wasm);`),
  'of it: loading the parser': within('await import(<program/prepare.js>);'),
  'of it: the first preparation': within("const { prepare } = await import(<program/prepare.js>);\nbegan();\nprepare('return 1;');"),
  [EMPTY]: wholeProcess(() => ({ args: ['-e', '0'] })),
};

export const question: Question = {
  name: 'prepare',
  asks: "What does a program's text cost before it runs: short, long, and from nothing?",
  subjects: { [PREPARING]: preparing, [UNCOLLECTED]: uncollected, ...Object.fromEntries(running), ...FROM_NOTHING },
  async run(bench) {
    const lines = sixtyLines.split('\n').length - 1;
    const sixty = await bench.compare({
      title: `Preparing ${lines} lines of TypeScript, warm`,
      task: 'sixty',
      unit: 'µs',
      ours: PREPARING,
    });
    const sized = { sizeOf: 'KB', rounds: 3 } as const;
    const sizes = await bench.draw({
      ...sized,
      title: 'Preparing a text, warm',
      task: 'size',
      unit: 'ms',
      sizes: SIZES,
      subjects: [PREPARING, UNCOLLECTED],
    });
    await bench.draw({
      ...sized,
      title: 'What of preparing is garbage collection',
      task: 'collected',
      unit: '%',
      sizes: [SMALLEST, LARGEST],
      subjects: [UNCOLLECTED],
    });
    const runs = await bench.draw({
      ...sized,
      title: 'A whole run of a text',
      task: 'run',
      unit: 'ms',
      sizes: [SMALLEST, 50, LARGEST],
      subjects: RUNNING,
    });
    await bench.compare({
      title: 'From nothing, and its parts',
      task: 'process',
      unit: 'ms',
      ours: COMMAND,
      floor: EMPTY,
      rounds: 5,
    });
    const times = `${Math.round(programOf(LARGEST).length / programOf(SMALLEST).length)} times the text, times the time`;
    bench.aim({ what: '60 lines of TypeScript, ms', value: medianOf(sixty, PREPARING) / 1_000, atMost: 1 });
    bench.aim({ what: times, value: growth(sizes, PREPARING, LARGEST), atMost: 50 });
    bench.aim({ what: `${times}, without garbage collection`, value: growth(sizes, UNCOLLECTED, LARGEST), atMost: 50 });
    bench.aim({ what: `${times} of a run`, value: growth(runs, OURS, LARGEST), atMost: 50 });
    bench.note(
      'What is "of it" is part of the first run and happens in its thread, where it overlaps in part. The programs are TypeScript: who takes JavaScript alone is absent.',
    );
  },
};
