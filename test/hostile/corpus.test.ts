// Every hostile program runs in a host process of its own kind, beside a neighbour and before another program, with every engine
// in every isolation that promises safety. `inline` isolation makes no promise of safety, so it is left out.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasCorpus, readCorpus } from '../helpers/corpora.ts';
import { COMBINATIONS, type Combination, NODE_24 } from '../helpers/engines.ts';
import type { Found, HostileCase } from './host.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
const HOST = fileURLToPath(new URL('host.ts', import.meta.url));
/** Longest silence of a host process: a case takes some seconds at most, three times when the machine is busy. */
const SILENCE_MS = 40_000;
/** From the last word to the end of the process. */
const EXIT_MS = 10_000;

function parse(text: string): HostileCase[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HostileCase);
}

/** What a host process found, by case, and how it ended. */
async function attack(
  { engine, isolation }: Combination,
  cases: readonly HostileCase[],
): Promise<{ found: Map<string, Found>; ended: string }> {
  // Node 20 runs no TypeScript.
  const { code: host } = await transform(readFileSync(HOST, 'utf8'), { loader: 'ts', format: 'esm', target: 'node20' });
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', host, '--', `${ROOT}/dist`, ROOT, engine, isolation, NODE_24], {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: ROOT,
    });
    const found = new Map<string, Found>();
    let rest = '';
    let killed = '';
    let watchdog: NodeJS.Timeout;
    const expectWord = (ms: number, why: string): void => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => {
        killed = why;
        child.kill('SIGKILL');
      }, ms);
    };
    expectWord(SILENCE_MS, 'said nothing for too long');
    child.stdout.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const word = JSON.parse(line) as Found;
        found.set(word.id, word);
        if (word.id === 'end') expectWord(EXIT_MS, 'did not exit by itself');
        else expectWord(SILENCE_MS, `said nothing for too long after ${word.id}`);
      }
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(cases.map((hostile) => JSON.stringify(hostile)).join('\n'));
    child.on('close', (code, signal) => {
      clearTimeout(watchdog);
      resolve({ found, ended: killed !== '' ? killed : (signal ?? `exit ${code}`) });
    });
  });
}

function suite(combination: Combination, name: string, cases: readonly HostileCase[]): void {
  describe(name, () => {
    let found: Map<string, Found>;
    let ended: string;
    beforeAll(async () => {
      ({ found, ended } = await attack(combination, cases));
    }, 600_000);

    test.each(cases)('$id $title', ({ id }) => {
      expect(found.get(id), `the host process ended (${ended}) before it had an answer`).toMatchObject({ id, problems: [] });
    });

    test('the host process lives to the end, and ends by itself', () => {
      expect(ended).toBe('exit 0');
    });
  });
}

const corpus = hasCorpus('hostile/corpus.jsonl') ? parse(readCorpus('hostile/corpus.jsonl')) : [];
const own = parse(readFileSync(new URL('own.jsonl', import.meta.url), 'utf8'));

describe.each(COMBINATIONS.filter(({ isolation }) => isolation !== 'inline'))('$engine, $isolation', (combination) => {
  describe.skipIf(corpus.length === 0)('the shared corpus (skipped where ../shared/hostile is not there)', () => {
    // Those that aim at the process as a whole get one of their own.
    const apart = ['mem', 'cpu', 'fld'];
    suite(
      combination,
      'all other kinds',
      corpus.filter(({ id }) => !apart.includes(id.slice(0, 3))),
    );
    for (const kind of apart)
      suite(
        combination,
        `${kind}-*`,
        corpus.filter(({ id }) => id.startsWith(kind)),
      );
  });

  suite(combination, 'cases of our own', own);
});
