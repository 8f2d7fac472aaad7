// The example of an engine, a channel and workers of one's own keeps the contracts, but for what it says that it does not.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { channelCases, engineCases, registerCases, workerCases } from '../../src/adapters/testing.ts';
import type { Channel, Engine } from '../../src/adapters/worker.ts';
import { createCodeMode, type WorkerSource } from '../../src/index.ts';

const ROOT = resolve(import.meta.dirname, '../..');
// Variables, so that the compiler does not follow the imports into plain JavaScript.
const folder = '../../examples/extending';
const { createVmEngine } = (await import(`${folder}/vm-engine.mjs`)) as { createVmEngine: () => Engine };
const { streamChannel } = (await import(`${folder}/stream-channel.mjs`)) as { streamChannel: (stream: unknown) => Channel };
const { vmWorkers } = (await import(`${folder}/host.mjs`)) as { vmWorkers: WorkerSource };

const NO_CUT = 'node:vm cannot cut off a program that goes on after exit()';
const cutOff = engineCases({ open: createVmEngine })
  .filter(({ group }) => group === 'exit() leaves')
  .map(({ group, name }) => `${group}: ${name}`)
  .filter((title) => !/quietly|toString|pending|proxy trap|only once/.test(title));

describe('the engine', () => {
  const skip = {
    ...Object.fromEntries(cutOff.map((title) => [title, NO_CUT])),
    'exit() leaves: from toString': NO_CUT,
    'exit() leaves: from a proxy trap': NO_CUT,
    'a program that wants too much: memory is refused or ended, at its limit': 'node:vm has no memory limit',
    'a realm: counts what its program uses': 'node:vm does not count',
    'a program: is heard while it computes for long, and what it printed is told once': 'it tells what was printed at the end of a turn',
  };
  registerCases(engineCases({ open: createVmEngine, skip }), { describe, test });
});

describe('the channel', async () => {
  const { Duplex } = await import('node:stream');
  registerCases(
    channelCases({
      open() {
        const near = new Duplex({ read: () => undefined, write: (chunk, _encoding, done) => (far.push(chunk), done()) });
        const far: InstanceType<typeof Duplex> = new Duplex({
          read: () => undefined,
          write: (chunk, _encoding, done) => (near.push(chunk), done()),
        });
        const echo = streamChannel(far);
        echo.onMessage = (text, image) => echo.send(text, image);
        return { near: streamChannel(near), lose: () => near.destroy() };
      },
    }),
    { describe, test },
  );
});

describe('the workers', () => {
  const skip = {
    'a worker: can be closed in the middle of a loop':
      'it tells what was printed at the end of a turn, so there is no sign that it computes',
  };
  registerCases(workerCases({ spawn: vmWorkers.spawn, skip }), { describe, test });
});

test('programs run on them as on any other', async () => {
  const codeMode = createCodeMode({ tools: [], isolation: vmWorkers, workers: 1 });
  onTestFinished(() => codeMode.close());
  const result = await codeMode.run('const n: number = 6; console.log("on", n); return n * 7;');
  expect(result).toMatchObject({ status: 'completed', value: 42, output: 'on 6', isolation: { kind: 'own', engine: 'own' } });
  const endless = await codeMode.run('for (;;);', { limits: { cpuMs: 100 } });
  expect(endless.error?.kind).toBe('timeout');
  expect((await codeMode.describe()).isolation?.notes.join()).toContain(vmWorkers.name);
});

test('the example prints what it should', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'examples/extending/host.mjs')], { cwd: ROOT });
  expect(stdout).toMatch(/^42 \{/);
});
