// `npm run bench:check`: do the ratios of ratios.ts hold? Asks the questions that they are about anew, in few rounds and written nowhere, and ends
// with 1 where one does not hold. What failed on a busy machine is asked once more before it is judged.
//
//   npm run bench:check                   asks
//   npm run bench:check -- --recorded     takes what results/*.json hold
//   npm run bench:check -- start calls    only the ratios of these questions
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ask } from './harness/bench.ts';
import type { Question } from './harness/question.ts';
import type { Result } from './harness/result.ts';
import { QUESTIONS } from './questions/questions.ts';
import { RATIOS } from './ratios.ts';
import { digits } from './report/figures.ts';
import { judge, type Verdict } from './report/judge.ts';
import { readResult } from './report/results.ts';

/** Enough for a ratio that is bounded with room. */
const MOST_ROUNDS = 5;

const words = process.argv.slice(2);
if (words[0] === '--ask') {
  const [, name = '', file = ''] = words;
  await askOne(name, file);
} else {
  const isRecorded = words.includes('--recorded');
  const names = words.filter((word) => word !== '--recorded');
  const strange = names.filter((name) => !QUESTIONS.includes(name));
  if (strange.length > 0) {
    console.error(`There is no question ${strange.join(', ')}. Known are: ${QUESTIONS.join(', ')}.`);
    process.exit(2);
  }
  process.exitCode = check(names, isRecorded) ? 0 : 1;
}

function check(names: readonly string[], isRecorded: boolean): boolean {
  const bounds = RATIOS.filter(({ question }) => names.length === 0 || names.includes(question));
  if (bounds.length === 0) {
    console.error(`No ratio of ${names.join(', ')} is in ratios.ts.`);
    return false;
  }
  const verdicts: Verdict[] = [];
  for (const question of new Set(bounds.map((bound) => bound.question))) {
    const own = bounds.filter((bound) => bound.question === question);
    const judged = (result: Result | string): Verdict[] =>
      own.map((bound) => {
        const verdict = judge(bound, typeof result === 'string' ? undefined : result);
        return typeof result === 'string' ? { ...verdict, missing: result } : verdict;
      });
    let result = isRecorded ? recorded(question) : asked(question);
    let list = judged(result);
    if (!isRecorded && typeof result !== 'string' && result.load.isBusy && list.some(({ holds }) => !holds)) {
      console.log(`\nThe machine was busy: ${question} is asked once more.`);
      result = asked(question);
      list = judged(result);
    }
    if (typeof result !== 'string' && result.load.isBusy)
      console.log(`\nThe machine was busy with other work while ${question} was asked.`);
    verdicts.push(...list);
  }
  show(verdicts);
  return verdicts.every(({ holds }) => holds);
}

/** The result, or what is wrong with it. */
function recorded(question: string): Result | string {
  try {
    return readResult(resolve('benchmarks/results'), question);
  } catch (error) {
    return (error as Error).message;
  }
}

/** In a process of its own, so that one question's leavings are not another's load. */
function asked(question: string): Result | string {
  const folder = mkdtempSync(join(tmpdir(), 'callgate-check-'));
  const file = join(folder, 'result.json');
  try {
    const { status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), '--ask', question, file], {
      stdio: 'inherit',
    });
    // Written by askOne().
    return status === 0 ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : `The question ${question} could not be asked.`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function askOne(name: string, file: string): Promise<void> {
  // The file of that name; QUESTIONS has listed it.
  const { question } = (await import(new URL(`questions/${name}.js`, import.meta.url).href)) as { question: Question };
  console.log(`\n${name}: ${question.asks}`);
  writeFileSync(file, JSON.stringify(await ask(question, { isSmoke: false, args: [], mostRounds: MOST_ROUNDS })));
  // Subjects of other systems may have left something that keeps the process alive.
  process.exit(0);
}

function show(verdicts: readonly Verdict[]): void {
  console.log('');
  const width = Math.max(...verdicts.map(({ what }) => what.length));
  for (const { bound, what, value, holds, missing } of verdicts) {
    const limit = [bound.atMost !== undefined && `at most ${bound.atMost}`, bound.atLeast !== undefined && `at least ${bound.atLeast}`]
      .filter((text) => text !== false)
      .join(', ');
    const figure = value === undefined ? '–' : digits(value);
    console.log(`${holds ? 'holds ' : 'FAILS '} ${what.padEnd(width)}  ${figure.padStart(8)}  ${limit.padEnd(13)}  ${bound.reason}`);
    if (missing !== undefined) console.log(`       ${missing}`);
  }
  const failed = verdicts.filter(({ holds }) => !holds).length;
  console.log(failed === 0 ? `\nAll ${verdicts.length} ratios hold.` : `\n${failed} of ${verdicts.length} ratios do not hold.`);
}
