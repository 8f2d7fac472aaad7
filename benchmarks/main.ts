// `npm run bench`: asks all questions, or those that are named, writes results/NAME.json and makes the report of all results anew.
//
//   npm run bench                      all of them
//   npm run bench -- start calls       these
//   npm run bench -- --smoke           one short round of each, written nowhere: does everything run?
//   npm run bench -- search -- ARGS    what follows the second -- is the question's own, and nothing is written
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ask } from './harness/bench.ts';
import { short } from './harness/print.ts';
import type { Question } from './harness/question.ts';
import { isMet, type Result, rowOf } from './harness/result.ts';
import { QUESTIONS } from './questions/questions.ts';
import { writeReport } from './report/report.ts';

const own = process.argv.slice(2);
const split = own.indexOf('--');
const [words, args] = split === -1 ? [own, []] : [own.slice(0, split), own.slice(split + 1)];
const isSmoke = words.includes('--smoke');
const names = words.filter((word) => word !== '--smoke');
const strange = names.filter((name) => !QUESTIONS.includes(name));
if (strange.length > 0) {
  console.error(`There is no question ${strange.join(', ')}. Known are: ${QUESTIONS.join(', ')}.`);
  process.exit(2);
}

const [only] = names;
if (only !== undefined && names.length === 1) {
  await askOne(only);
} else {
  const asked = names.length === 0 ? QUESTIONS : names;
  const failed: string[] = [];
  // Each in a process of its own, so that one question's leavings are not another's load.
  for (const name of asked) {
    const options = [...(isSmoke ? ['--smoke'] : []), ...(args.length > 0 ? ['--', ...args] : [])];
    const { status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), name, ...options], {
      stdio: 'inherit',
    });
    if (status !== 0) failed.push(name);
  }
  if (failed.length > 0) console.error(`\nWithout an answer: ${failed.join(', ')}.`);
  console.log(`\n${asked.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function askOne(name: string): Promise<void> {
  // The file of that name; QUESTIONS has listed it.
  const { question } = (await import(new URL(`questions/${name}.js`, import.meta.url).href)) as { question: Question };
  console.log(`\n${name}: ${question.asks}`);
  const result = await ask(question, { isSmoke, args });
  say(result);
  const lost = result.parts.filter((part) => part.kind === 'comparison' && rowOf(part, part.ours) === undefined);
  if (lost.length > 0) {
    console.error(`This library has no figure in: ${lost.map(({ title }) => title).join('; ')}. Nothing is written.`);
    return process.exit(1);
  }
  if (isSmoke || args.length > 0) return process.exit(0);
  const folder = resolve('benchmarks/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 1)}\n`);
  await writeReport();
  // Subjects of other systems may have left something that keeps the process alive.
  process.exit(0);
}

function say({ aims, notes, load, seconds }: Result): void {
  console.log('');
  for (const aim of isSmoke ? [] : aims) {
    const bound = aim.atMost === undefined ? `at least ${short(aim.atLeast ?? 0)}` : `at most ${short(aim.atMost)}`;
    console.log(`${isMet(aim) ? 'met   ' : 'MISSED'} ${aim.what}: ${short(aim.value)} (aim: ${bound})`);
  }
  for (const note of notes) console.log(note);
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const others = load.others === null ? 'unknown' : percent(load.others);
  console.log(
    `${seconds} s; the machine: ${percent(load.before)} busy before, others took ${others} during, a loop got ${percent(load.core)} of a core.`,
  );
  if (load.isBusy) console.log('THE MACHINE WAS BUSY with other work: trust ratios, and those with care.');
}
