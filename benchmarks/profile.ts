// `npm run profile -- QUESTION [SUBJECT] [TASK]`: where a task's time goes. Does the task over and over for some seconds, in a process like
// that of the harness (harness/stand.ts), and writes for each thread a CPU profile and a flame picture to benchmarks/profiles/.
//
//   npm run profile -- calls                       ours, its first task
//   npm run profile -- calls run row               another system, another task
//   npm run profile -- start callgate tools --size=500 --seconds=8
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { openProfiler } from './harness/profiler.ts';
import type { Question } from './harness/question.ts';
import { QUESTIONS } from './questions/questions.ts';
import { digits, percent } from './report/figures.ts';
import { flame, hottest } from './report/flame.ts';

const OURS = 'callgate';
/** At work before it counts. */
const WARM_MS = 500;

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('--'));
const numberOf = (option: string, otherwise: number): number => {
  const given = words.find((word) => word.startsWith(`--${option}=`));
  return given === undefined ? otherwise : Number(given.slice(option.length + 3));
};
const [name = ''] = names;
if (!QUESTIONS.includes(name)) {
  console.error(`Name a question: npm run profile -- QUESTION [SUBJECT] [TASK]. Known are: ${QUESTIONS.join(', ')}.`);
  process.exit(2);
}
if (words.includes('--work')) await work();
else {
  // In a process of its own, so that nothing of this one is in the picture.
  const { status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), ...words, '--work'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.exitCode = status ?? 1;
}

async function work(): Promise<void> {
  // The file of that name; QUESTIONS has listed it.
  const { question } = (await import(new URL(`questions/${name}.js`, import.meta.url).href)) as { question: Question };
  const known = Object.keys(question.subjects);
  if (known.length === 0) return refuse(`The question ${name} has nothing to profile: its programs have processes of their own.`);
  // Ours as everybody has it, else whatever of ours there is, else the first.
  const subject = names[1] ?? known.find((each) => each === OURS) ?? known.find((each) => each.includes(OURS)) ?? (known[0] as string);
  const open = question.subjects[subject];
  if (open === undefined) return refuse(`The question ${name} has no subject ${subject}. It has: ${known.join('; ')}.`);
  const profiler = await openProfiler();
  const { tasks } = await open([]);
  const taskName = names[2] ?? Object.keys(tasks)[0] ?? '';
  const task = tasks[taskName];
  if (task === undefined) return refuse(`${subject} has no task ${taskName}. It has: ${Object.keys(tasks).join(', ')}.`);
  const size = numberOf('size', 1);
  const seconds = numberOf('seconds', 4);
  if (!(size >= 0) || !(seconds > 0)) return refuse('`--size` and `--seconds` take a number, as in --seconds=4.');
  const repeat = async (ms: number): Promise<number> => {
    const until = performance.now() + ms;
    let rounds = 0;
    do {
      await task(size);
      rounds += 1;
    } while (performance.now() < until);
    return rounds;
  };
  await repeat(WARM_MS).catch((error: unknown) =>
    refuse(`${taskName} failed with --size=${size}: ${error instanceof Error ? error.message : error} Another task or size may do.`),
  );
  await profiler.start();
  const rounds = await repeat(seconds * 1000);
  const { profiles, unseen } = await profiler.stop();
  const folder = resolve('benchmarks/profiles');
  mkdirSync(folder, { recursive: true });
  console.log(`${name}, ${subject}, ${taskName}: ${rounds} rounds in ${seconds} s\n`);
  const slug = (text: string): string => text.replace(/\W+/g, '-').replace(/-$/, '');
  const of = subject === OURS ? '' : `-${slug(subject)}`;
  for (const [thread, profile] of profiles) {
    const { hot, busyMs, idleMs } = hottest(profile, process.cwd());
    const path = join(folder, `${name}${of}-${slug(taskName)}-${thread}`);
    writeFileSync(`${path}.cpuprofile`, JSON.stringify(profile));
    writeFileSync(`${path}.svg`, flame(profile, process.cwd(), `${name}, ${subject}, ${taskName}, ${thread}`));
    console.log(`${thread}: ${digits(busyMs)} ms at work, ${digits(idleMs)} ms idle`);
    for (const { name: frame, place, ms, share } of hot)
      console.log(`  ${digits(ms).padStart(7)} ms  ${percent(share).padStart(5)}  ${frame}${place === '' ? '' : `  ${place}`}`);
    console.log(`  ${relative('.', path)}.cpuprofile\n  ${relative('.', path)}.svg\n`);
  }
  for (const sentence of unseen) console.log(sentence);
  // Subjects of other systems may have left something that keeps the process alive.
  process.exit(0);
}

function refuse(sentence: string): never {
  console.error(sentence);
  process.exit(2);
}
