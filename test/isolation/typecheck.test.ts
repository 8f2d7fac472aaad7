import { createRequire } from 'node:module';
import { afterAll, describe, expect, test } from 'vitest';
import { TypeCheckThread } from '../../src/isolation/typecheck.ts';

const world = {
  id: 'world',
  declarations: 'declare const tools: { now(): Promise<{ iso: string }> };',
  paths: ['now'],
};
const wrong = 'return await tools.nwo();';

const threads: TypeCheckThread[] = [];
function start(options?: ConstructorParameters<typeof TypeCheckThread>[0]): TypeCheckThread {
  const thread = new TypeCheckThread(options);
  threads.push(thread);
  return thread;
}
afterAll(() => Promise.all(threads.map((thread) => thread.close())));

describe.each(['typescript', 'typescript-7'])('with the compiler in the package %s', (compiler) => {
  const present = isInstalled(compiler);
  test.skipIf(present)('nothing is tested: it is not installed here', () => undefined);

  test.runIf(present)('checks programs one after another, against the world that each names', async () => {
    const thread = start({ compiler });
    const other = { id: 'other', declarations: 'declare const tools: { nwo(): Promise<void> };', paths: ['nwo'] };
    const outcomes = await Promise.all([
      thread.check(wrong, world),
      thread.check(wrong, other),
      thread.check(`${wrong} // again`, world),
      thread.check('const x: number = 1; return tools.nwo', world),
    ]);
    const problem = { message: 'There is no tool `nwo`. Did you mean `tools.now`?', line: 1, column: 20 };
    expect(outcomes).toEqual([
      { type: 'checked', problems: [problem] },
      { type: 'checked', problems: [] },
      { type: 'checked', problems: [problem] },
      { type: 'checked', problems: [{ ...problem, column: 35 }] },
    ]);
  });

  test.runIf(present)('a world that was forgotten is sent again', async () => {
    const thread = start({ compiler });
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 7; index++) {
        const outcome = await thread.check('return await tools.now()', {
          id: `world ${index}`,
          declarations: `declare const tools: { now${index}(): Promise<void> };`,
          paths: [`now${index}`],
        });
        expect(outcome).toMatchObject({
          type: 'checked',
          problems: [{ message: `There is no tool \`now\`. Did you mean \`tools.now${index}\`?` }],
        });
      }
    }
  });
});

test('without a compiler the message names the versions that work', async () => {
  const outcome = await start({ compiler: 'no-such-package' }).check(wrong, world);
  expect(outcome).toEqual({
    type: 'unavailable',
    message: expect.stringMatching(/needs the package `no-such-package` \(5\.9, 6 or 7\).*npm install typescript@6/),
  });
});

test('a package that is no compiler is refused with its version', async () => {
  const outcome = await start({ compiler: 'esbuild' }).check(wrong, world);
  expect(outcome).toEqual({
    type: 'unavailable',
    message: expect.stringMatching(/works with TypeScript 5\.9, 6 and 7, but the package `esbuild` is version 0\./),
  });
});

test('a check that takes too long is skipped, the first of a thread too, and the next one is answered by a new thread', async () => {
  const thread = start({ checkMs: 400 });
  const members = Array.from({ length: 40_000 }, (_, index) => `k${index}: [{ a: ${index} }, 'x']`);
  const slow = `const o = { ${members.join(', ')} }; const all = [${'o, '.repeat(20_000)}];`;
  const outcomes = [await thread.check(slow, world), await thread.check(wrong, world)];
  expect(outcomes).toMatchObject([
    { type: 'skipped', reason: 'it had not ended after 400 ms' },
    { type: 'checked', problems: [{ column: 20 }] },
  ]);
});

test('a signal ends the wait for a check, and closing ends all', async () => {
  const thread = start();
  const controller = new AbortController();
  const aborted = thread.check(wrong, world, controller.signal);
  controller.abort();
  expect(await aborted).toMatchObject({ type: 'skipped' });
  const closed = thread.check(wrong, world);
  await thread.close();
  expect(await closed).toMatchObject({ type: 'skipped' });
  expect(await thread.check(wrong, world)).toMatchObject({ type: 'skipped' });
});

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
