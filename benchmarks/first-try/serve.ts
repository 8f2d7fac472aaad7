// The process of one pattern on one system: loads the system, says so, runs the one program, answers. Started by attempt.ts.
import { once } from 'node:events';
import process from 'node:process';
import { type Answer, makeTools } from './pattern.ts';
import { SYSTEMS, TIMEOUT_MS } from './systems.ts';

const [name] = process.argv.slice(2);
const system = SYSTEMS.find(({ peer }) => peer.name === name);
if (system === undefined || process.send === undefined) throw new Error(`There is no system ${name}, or nobody to answer to.`);
const opened = await system.peer.open({ ...(await makeTools()), timeoutMs: TIMEOUT_MS, hasOwnLimits: true });
const asked = once(process, 'message');
// A system that waits for nothing any more has hung; without this the process would end.
setInterval(() => undefined, 60_000);
process.send('ready');
const [source] = (await asked) as [string];
const outcome = await opened.run(source);
const answer: Answer =
  outcome.status === 'completed' ? { status: 'completed', json: await system.textOf(outcome.value), output: outcome.output } : outcome;
process.send(answer);
// What it left behind has a moment to show itself. Then an end that asks nobody: isolated-vm hangs in one that goes in good order.
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50);
