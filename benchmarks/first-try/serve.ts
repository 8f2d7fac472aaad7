// A process of one system: loads it, says so, runs one program after another, each in what is opened anew, and answers. Started by attempt.ts.
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Said } from './attempt.ts';
import { makeTools } from './pattern.ts';
import { SYSTEMS, TIMEOUT_MS } from './systems.ts';

/** What a program left behind has this long to show itself. */
const AFTERWARDS_MS = 50;

const [name] = process.argv.slice(2);
const system = SYSTEMS.find(({ peer }) => peer.name === name);
if (system === undefined) throw new Error(`There is no system ${name}.`);
const { peer, textOf } = system;
const say = (said: Said): void => void process.send?.(said);
// Tools are new for each, since some count their calls.
const open = async () => peer.open({ ...(await makeTools()), timeoutMs: TIMEOUT_MS, hasOwnLimits: true });

let opened = await open();
// A system that waits for nothing any more has hung; without this the process would end.
setInterval(() => undefined, 60_000);
process.on('message', async (source: string) => {
  const outcome = await opened.run(source);
  say(outcome.status === 'completed' ? { status: 'completed', json: await textOf(outcome.value), output: outcome.output } : outcome);
  await delay(AFTERWARDS_MS);
  await Promise.race([opened.close?.(), delay(1_000)]);
  opened = await open();
  say('ready');
});
say('ready');
