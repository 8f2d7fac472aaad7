// The contract of engines, kept by ours. V8 runs in a Node of its own, as it always does.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type ConformanceCase, engineCases, registerCases, scriptedEngine } from '../../src/adapters/testing.ts';
import { createQuickJs } from '../../src/engine/quickjs.ts';
import { compileQuickJs } from '../../src/engine/quickjs-module.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NODE_24 = resolve(ROOT, 'node_modules/node/bin/node');

describe('quickjs', () => {
  registerCases(engineCases({ open: async () => createQuickJs(await compileQuickJs()) }), { describe, test });
});

describe.skipIf(!existsSync(NODE_24))('v8 (needs the development dependency node)', () => {
  const cases = engineCases({ open: () => scriptedEngine([]) });
  let report: Promise<Map<string, string>> | undefined;
  test.each(cases.map(({ group, name }) => `${group}: ${name}`))('%s', { timeout: 120_000 }, async (title) => {
    report ??= runOnNode24();
    expect((await report).get(title)).toBe('ok');
  });
});

/** Runs the suite in a process of its own, and gives what came of each case. */
async function runOnNode24(): Promise<Map<string, string>> {
  const url = (path: string): string => JSON.stringify(pathToFileURL(resolve(ROOT, 'dist', path)).href);
  const script = `
    import { engineCases } from ${url('adapters/testing.js')};
    import { createV8 } from ${url('engine/v8.js')};
    for (const { group, name, run } of engineCases({ open: () => createV8({ allowNode22: false }) })) {
      const outcome = await run().then(() => 'ok', (error) => error.stack);
      console.log(JSON.stringify([group + ': ' + name, outcome]));
    }
    process.kill(process.pid, 'SIGKILL');`;
  const stdout = await new Promise<string>((done) => {
    execFile(NODE_24, ['--input-type=module', '-e', script], { cwd: ROOT, timeout: 110_000 }, (_error, text, errors) =>
      done(`${text}${errors}`),
    );
  });
  const lines = stdout.split('\n').filter((line) => line.startsWith('['));
  return new Map(lines.map((line) => JSON.parse(line) as [string, string]));
}

test('a case has a name of its own', () => {
  const titles = engineCases({ open: () => scriptedEngine([]) }).map(({ group, name }: ConformanceCase) => `${group}: ${name}`);
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles.length).toBeGreaterThan(70);
});

test('an engine that does nothing keeps none of the claims about programs', async () => {
  const failed: string[] = [];
  const held: string[] = [];
  for (const { group, name, run } of engineCases({ open: () => scriptedEngine([]) }))
    await run().then(
      () => held.push(`${group}: ${name}`),
      () => failed.push(group),
    );
  expect(new Set(failed)).toEqual(
    new Set([
      'a program',
      'a new program',
      'a catalog',
      'an entry ends in time',
      'a program that wants too much',
      'exit() leaves',
      'what the runtime says cannot be forged',
      'a realm',
    ]),
  );
  // What asks for nothing but being left alone.
  expect(held.sort()).toEqual([
    'a new program: is not answered what the one before it had asked',
    'a realm: can be disposed of twice, in the middle of a program too',
    'a realm: goes on in another one, if its engine has images',
  ]);
});

test('a case may be left out with a reason, which its test says; one that there is not may not', () => {
  const skip = { 'a realm: counts what its program uses': 'this engine does not count' };
  const left = engineCases({ open: () => scriptedEngine([]), skip }).filter((one) => one.skip !== undefined);
  expect(left).toMatchObject([{ group: 'a realm', skip: 'this engine does not count' }]);
  const skipped: string[] = [];
  registerCases(left, {
    describe: (_name, body) => body(),
    test: Object.assign(() => undefined, { skip: (name: string) => skipped.push(name) }),
  });
  expect(skipped).toEqual(['counts what its program uses (this engine does not count)']);
  expect(() => engineCases({ open: () => scriptedEngine([]), skip: { 'a realm: counts': 'renamed' } })).toThrow(
    /There is no case `a realm: counts` to skip/,
  );
});
