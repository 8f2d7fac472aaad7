// How many programs run right as a model would write them? The program patterns of ../shared/programs on this library and on the
// peers that install without a compiler; the share that gives the right value, per system and kind, and the ids of those that fail.
// Each pattern runs in a child process of its own with a bound, so that a hang or a crash costs that one pattern. The peers are
// installed on demand, at pinned versions, below node_modules/.cache (peers/install.ts).
//
//   npm run bench -- first-try                      all systems
//   npm run bench -- first-try --why callgate run   two of them, with what is wrong with each failure
import { fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { ToolSource } from '../src/index.ts';
import { aim, machine } from './measure.ts';
import { codemode } from './peers/codemode.ts';
import { install, load, VERSIONS } from './peers/install.ts';
import { judge, type MockTools, makeTools, type Outcome, type Pattern, readPatterns, readProgram } from './peers/pattern.ts';
import { type Peer, TIMEOUT_MS } from './peers/peer.ts';
import { run } from './peers/run.ts';
import { tanstack } from './peers/tanstack.ts';

const BOUND_MS = 5_000;
const LOADING_MS = 60_000;
const AT_ONCE = 2;

const callgate: Peer = {
  name: 'callgate',
  async open() {
    // Not at the head of the file: the peers' processes do without it.
    const { createCodeMode, defineTool, toJson } = await import('../src/index.ts');
    const wrap = (tools: MockTools): ToolSource =>
      Object.entries(tools).map(([name, member]) => {
        if (typeof member !== 'function') return { namespace: name, tools: () => wrap(member) };
        // Several arguments are one array to a tool that takes any value; `sum` wants them one by one.
        const execute = (input: unknown): unknown => (name === 'sum' && Array.isArray(input) ? member(...input) : member(input));
        return defineTool({ name, description: `The mock tool ${name}.`, inputSchema: {}, execute });
      });
    return async ({ source, tools, spec }) => {
      const codeMode = createCodeMode({
        tools: wrap(tools),
        globals: { spec },
        showError: (error) => error as Error,
        limits: { wallMs: TIMEOUT_MS },
      });
      const { status, value, output, error } = await codeMode.run(source);
      await codeMode.close();
      if (status === 'completed') return { status, json: JSON.stringify(toJson(value)), output };
      return { status: 'error', name: error?.name ?? status, message: error?.message ?? status, output };
    };
  },
};

const SYSTEMS: readonly Peer[] = [callgate, run, tanstack, codemode];

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { why: { type: 'boolean', default: false }, serve: { type: 'string' } },
});
if (flags.serve === undefined) await compare();
else await serve(flags.serve);

/** The child: loads one system, says so, runs one program, answers. */
async function serve(name: string): Promise<void> {
  const system = SYSTEMS.find((candidate) => candidate.name === name);
  if (system === undefined || process.send === undefined) throw new Error(`There is no system ${name}, or nobody to answer to.`);
  const execute = await system.open(load);
  const asked = once(process, 'message');
  // A system that waits for nothing any more has hung; without this the process would end.
  setInterval(() => undefined, 60_000);
  process.send('ready');
  const [source] = (await asked) as [string];
  const outcome = await execute({ source, ...(await makeTools()) });
  process.send(outcome);
  // What it left behind has a moment to show itself: an end with another code than 0 counts as a crash.
  setTimeout(() => process.exit(0), 50);
}

async function compare(): Promise<void> {
  const unknown = positionals.filter((name) => !SYSTEMS.some((system) => system.name === name));
  if (unknown.length > 0)
    throw new Error(`There is no system ${unknown.join(', ')}; known are ${SYSTEMS.map(({ name }) => name).join(', ')}.`);
  const wanted = SYSTEMS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  console.log(machine());
  const installed = wanted.every((system) => system === callgate) || install();
  if (!installed) console.log('The peers could not be installed: this library alone.');
  const systems = installed ? wanted : [callgate];
  const versions = Object.entries(VERSIONS).map((entry) => entry.join(' '));
  if (systems.length > 1) console.log(`Peers: ${versions.join(', ')}`);

  const patterns = readPatterns();
  const verdicts = new Map<Peer, ReadonlyMap<Pattern, string | undefined>>();
  for (const system of systems) verdicts.set(system, await attemptAll(system, patterns));
  printShares(patterns, verdicts);
  for (const [{ name }, verdict] of verdicts) printFailures(name, verdict);
  const ours = verdicts.get(callgate);
  if (ours !== undefined) aim('patterns that fail on this library', [...ours.values()].filter((wrong) => wrong !== undefined).length, 0);
}

async function attemptAll(system: Peer, patterns: readonly Pattern[]): Promise<ReadonlyMap<Pattern, string | undefined>> {
  const verdicts = new Map<Pattern, string | undefined>();
  const asked = patterns.filter((pattern) => system.asked?.(pattern) ?? true);
  // Set first, in the corpus's order, whatever the order in which they finish.
  for (const pattern of asked) verdicts.set(pattern, undefined);
  const queue = asked.values();
  const lane = async (): Promise<void> => {
    for (const pattern of queue) verdicts.set(pattern, await attempt(system, pattern));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return verdicts;
}

/** Runs one pattern in a child of its own; what is wrong, or `undefined`. A system that does not even load ends the benchmark. */
function attempt(system: Peer, pattern: Pattern): Promise<string | undefined> {
  const child = fork(fileURLToPath(import.meta.url), ['--serve', system.name], { execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  return new Promise((resolve, reject) => {
    let state: 'loading' | 'running' | 'hung' = 'loading';
    let outcome: Outcome | undefined;
    let timer = setTimeout(() => child.kill('SIGKILL'), LOADING_MS);
    const answer = (message: unknown): void => {
      // The child is this same file: all that it sends after that it is ready is the outcome.
      outcome = message as Outcome;
    };
    child.once('message', () => {
      state = 'running';
      clearTimeout(timer);
      timer = setTimeout(() => {
        state = 'hung';
        child.kill('SIGKILL');
      }, BOUND_MS);
      child.once('message', answer);
      child.send(readProgram(pattern));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const said = printed.join('');
      const end = `${signal ?? `code ${code}`}: ${said.trim().slice(-300)}`;
      if (state === 'loading') reject(new Error(`${system.name} did not load: ${end}`));
      else if (state === 'hung') resolve(`it hung: not done within ${BOUND_MS} ms`);
      else if (code !== 0 || outcome === undefined) resolve(`it crashed: ${end}`);
      else resolve(judge(pattern, system.printsToProcess === true ? { ...outcome, output: said } : outcome));
    });
  });
}

function printShares(patterns: readonly Pattern[], verdicts: ReadonlyMap<Peer, ReadonlyMap<Pattern, string | undefined>>): void {
  const groups = [...new Set(patterns.map(({ group }) => group))];
  const row = (title: string, member: (pattern: Pattern) => boolean): void => {
    const cells = [...verdicts.values()].map((verdict) => {
      const wrong = [...verdict].filter(([pattern]) => member(pattern)).map(([, what]) => what);
      if (wrong.length === 0) return '–';
      const right = wrong.filter((what) => what === undefined).length;
      return `${right}/${wrong.length} ${`${Math.floor((100 * right) / wrong.length)} %`.padStart(5)}`;
    });
    console.log(title.padEnd(12) + cells.map((cell) => cell.padStart(16)).join(''));
  };
  console.log('\nShare that gives the right value');
  console.log(''.padEnd(12) + [...verdicts.keys()].map(({ name }) => name.padStart(16)).join(''));
  for (const group of groups) row(group, (pattern) => pattern.group === group);
  row('all', () => true);
}

function printFailures(name: string, verdict: ReadonlyMap<Pattern, string | undefined>): void {
  const failed = [...verdict].filter(([, wrong]) => wrong !== undefined);
  console.log(`\n${name}: ${failed.length === 0 ? 'none fails' : `${failed.length} fail: ${failed.map(([{ id }]) => id).join(' ')}`}`);
  if (flags.why) for (const [{ id, slug }, wrong] of failed) console.log(`  ${id} ${slug}: ${wrong?.slice(0, 400)}`);
}
