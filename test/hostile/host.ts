// A host process under attack: runs hostile programs one after another, as an application would, and says of each what it found
// wrong. corpus.test.ts erases the types and starts it with the cases on standard input; it runs on the built package.
import { isDeepStrictEqual } from 'node:util';

import type * as Printable from '../../src/cli/printable.ts';
import type * as Callgate from '../../src/index.ts';

/** One line of the corpus. */
export interface HostileCase {
  readonly id: string;
  readonly title: string;
  readonly script: string;
  readonly requires?: readonly string[];
  readonly assert: {
    readonly status: 'ok' | 'error' | 'either';
    readonly kinds?: readonly string[];
    readonly value?: unknown;
    readonly valueIfOk?: unknown;
    readonly valueIn?: readonly unknown[];
    readonly valueNot?: unknown;
    readonly noMatch?: readonly string[];
    readonly callsOnly?: readonly string[];
    readonly extraTools?: readonly string[];
    readonly maxLogBytes?: number;
    readonly maxOutBytes?: number;
    readonly maxRssMb?: number;
    readonly escapeControl?: boolean;
    readonly followup?: { readonly script: string; readonly value: unknown; readonly noMatch?: readonly string[] };
  };
}

/** What was found wrong with a case: a line of standard output. */
export interface Found {
  readonly id: string;
  readonly problems: readonly string[];
  readonly ms: number;
}

/** What reached the tools. */
interface Seen {
  readonly calls: Map<string, number>;
  ended: boolean;
  afterEnd: number;
}

const [dist = '', root = '', engine = 'quickjs', isolation = 'thread', node = ''] = process.argv.slice(-5);
const { CodeModeError, createCodeMode, defineTool, toJson, ToolError, v8 } = (await import(`${dist}/index.js`)) as typeof Callgate;
const { printable } = (await import(`${dist}/cli/printable.js`)) as typeof Printable;

const LIMITS = {
  wallMs: 2_000,
  cpuMs: 1_000,
  memoryBytes: 64 << 20,
  outputBytes: 256 << 10,
  valueBytes: 256 << 10,
  calls: 1_000,
  concurrentCalls: 32,
};
/** The guest's end, and a second for the host's fence; the rest is for a busy machine. */
const LATEST_MS = LIMITS.wallMs + 1_000 + 300;
const LONGEST_BLOCK_MS = 50;
/** Other kinds that an engine may end a case with, and why. */
const ALSO: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  // Each promise of that chain holds the one before: V8 makes them so quickly that the memory is used up before the time.
  v8: { 'cpu-003': ['memory'] },
};
/** What the corpus calls our kinds. */
const KINDS: Readonly<Record<string, string>> = { program: 'guest', fault: 'crash' };
/** What depends on how busy the machine is gets another chance. */
const TIMING = /^(blocked|late|busy)/;
const ATTEMPTS = 3;

const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
process.on('uncaughtException', (error) => unhandled.push(String(error)));

const PROTOTYPES = [Object, Array, String, Number, Boolean, Function, Promise, Error, Map, Set, Date, RegExp].map(
  ({ prototype }) => prototype,
);
const keysOf = (): string =>
  JSON.stringify([globalThis, JSON, Math, Reflect, ...PROTOTYPES].map((object) => Reflect.ownKeys(object).map(String)));
const cleanHost = keysOf();

/** What reached the tools for the case that is tried now. */
let seen: Seen = { calls: new Map(), ended: false, afterEnd: 0 };

function makeTools({ requires = [], assert }: HostileCase): Callgate.Tool[] {
  const tool = <const S extends Callgate.JsonSchema>(
    name: string,
    inputSchema: S,
    execute: (input: {
      readonly value?: unknown;
      readonly a?: number;
      readonly b?: number;
      readonly ms?: unknown;
      readonly message?: unknown;
    }) => unknown,
    description = `The tool ${name}.`,
  ): Callgate.Tool =>
    defineTool({
      name,
      description,
      inputSchema,
      execute: (input: unknown, context: Callgate.ToolContext) => {
        if (context.run.invocation.actorId === 'hostile') {
          seen.calls.set(name, (seen.calls.get(name) ?? 0) + 1);
          if (seen.ended) seen.afterEnd++;
        }
        // Whatever the program passed; each tool looks for itself.
        return execute((typeof input === 'object' && input !== null ? input : {}) as never);
      },
    });
  const numbers = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  };
  // Never granted: it is here so that a catalog that took in more than it was given would be noticed.
  tool('secret', {}, () => 'CANARY');
  const valueOf = ({ value }: { readonly value?: unknown }): unknown => value;
  const tools = [
    tool('echo', {}, valueOf),
    tool('add', numbers, ({ a, b }) => Number(a) + Number(b)),
    tool('fail', {}, ({ message }) => {
      throw new ToolError(String(message));
    }),
    tool('slow', {}, ({ ms }) => new Promise((resolve) => setTimeout(resolve, Number(ms) || 0).unref())),
  ];
  if (requires.includes('schemas')) tools.push(tool('commented', {}, valueOf, '*/ } declare const secret: any; /* ` ${1} \n\u2028 //'));
  const taken = new Set(tools.map(({ name }) => name));
  for (const name of assert.extraTools ?? []) {
    try {
      const extra = tool(name, {}, valueOf);
      // Two names that become one identifier are refused when the catalog is built, as they should be; the rest must work.
      const identifier = name.replace(/[^A-Za-z0-9_$]/g, '_');
      if (taken.has(identifier)) throw new CodeModeError('name_collision', `two tools are ${identifier}`);
      taken.add(identifier);
      createCodeMode({ tools: [...tools, extra] });
      tools.push(extra);
    } catch (error) {
      // Refused with a clear error, which is as good.
      if (!CodeModeError.is(error) || error.message.length < 10) throw error;
    }
  }
  return tools;
}

/** One application meets case after case, as long as they need the same tools: what one leaves behind in a worker meets the next. */
let application: { readonly codeMode: Callgate.CodeMode; readonly tools: string } | undefined;

async function openFor(hostile: HostileCase): Promise<Callgate.CodeMode> {
  const { requires = [], assert } = hostile;
  const tools = JSON.stringify([requires.includes('schemas'), assert.extraTools ?? []]);
  if (application?.tools === tools) return application.codeMode;
  await application?.codeMode.close();
  const codeMode = createCodeMode({
    tools: makeTools(hostile),
    limits: LIMITS,
    engine: engine === 'v8' ? v8({ node }) : 'quickjs',
    isolation: isolation as 'thread' | 'process',
  });
  application = { codeMode, tools };
  return codeMode;
}

async function attack(hostile: HostileCase): Promise<string[]> {
  const { assert } = hostile;
  const problems: string[] = [];
  seen = { calls: new Map(), ended: false, afterEnd: 0 };
  const codeMode = await openFor(hostile);
  await codeMode.run('return 1');

  let blocked = 0;
  let peakRss = 0;
  let last = performance.now();
  let lastActive = performance.eventLoopUtilization().active;
  const look = setInterval(() => {
    // Late because the loop was at work, not because the machine gave its processors to others while it slept.
    const now = performance.now();
    const active = performance.eventLoopUtilization().active;
    blocked = Math.max(blocked, Math.min(now - last - 5, active - lastActive));
    last = now;
    lastActive = active;
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }, 5);

  const began = performance.now();
  const neighbour = codeMode.run(
    'let t = 0; for (let i = 0; i < 5; i++) { t += await tools.add({ a: i, b: 1 }); await new Promise((r) => setTimeout(r, 20)); } return t;',
  );
  const result = await codeMode.run(sourceOf(hostile), { invocation: { actorId: 'hostile' } });
  const took = performance.now() - began;
  seen.ended = true;
  const beside = await neighbour;
  const { script, value: expected, noMatch: notNext = [] } = assert.followup ?? { script: 'return 41 + 1', value: 42 };
  const next = await codeMode.run(script);
  clearInterval(look);

  const kind = result.status === 'completed' ? undefined : (KINDS[result.error.kind] ?? result.error.kind);
  const json = JSON.stringify(toJson(result.value));
  const value = json === undefined ? null : JSON.parse(json);
  if (assert.status === 'ok' && kind !== undefined) problems.push(`should complete, but: ${kind} ${result.error?.message}`);
  if (assert.status === 'error' && kind === undefined) problems.push(`should not complete, but gave ${json}`);
  const also = ALSO[engine]?.[hostile.id] ?? [];
  if (kind !== undefined && assert.kinds !== undefined && !assert.kinds.includes(kind) && !also.includes(kind))
    problems.push(`ended as ${kind}: ${result.error?.message}`);
  if (kind === undefined) {
    for (const key of ['value', 'valueIfOk'] as const)
      if (key in assert && !isDeepStrictEqual(value, assert[key])) problems.push(`value ${json}`);
    if (assert.valueIn !== undefined && !assert.valueIn.some((one) => isDeepStrictEqual(value, one))) problems.push(`value ${json}`);
    if ('valueNot' in assert && isDeepStrictEqual(value, assert.valueNot)) problems.push(`value ${json}`);
  }

  // The frame quotes the program's own text to its own author; what the program reached is never in it.
  const { frame: _frame, ...error } = result.error ?? {};
  const shown = JSON.stringify([value, result.output, error, result.warnings, result.calls]);
  for (const pattern of [
    ...(assert.noMatch ?? []),
    'ESCAPED',
    'CANARY',
    'node:internal',
    'node_modules',
    root.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  ]) {
    if (new RegExp(pattern).test(shown)) problems.push(`shows ${pattern}`);
  }
  for (const pattern of notNext) if (new RegExp(pattern).test(JSON.stringify(next))) problems.push(`the next program shows ${pattern}`);
  if (assert.escapeControl === true && /\p{Cc}|\p{Bidi_Control}/u.test(printable(result.output).replaceAll('\n', '')))
    problems.push('control characters are printed');

  const total = [...seen.calls.values()].reduce((sum, count) => sum + count, 0);
  if (seen.calls.has('secret')) problems.push('reached secret');
  if (assert.callsOnly !== undefined && [...seen.calls.keys()].some((name) => assert.callsOnly?.includes(name) !== true))
    problems.push(`called ${[...seen.calls.keys()]}`);
  if (total > LIMITS.calls) problems.push(`made ${total} calls`);
  const outputBytes = Buffer.byteLength(result.output);
  if (outputBytes > Math.min(LIMITS.outputBytes, assert.maxLogBytes ?? Infinity, assert.maxOutBytes ?? Infinity))
    problems.push(`wrote ${outputBytes} bytes`);
  if (json !== undefined && Buffer.byteLength(json) > 2 * LIMITS.valueBytes)
    problems.push(`its value has ${Buffer.byteLength(json)} bytes`);
  if (assert.maxRssMb !== undefined && peakRss > assert.maxRssMb << 20) problems.push(`took ${peakRss >> 20} MB`);

  if (!isDeepStrictEqual(beside.value, 15)) problems.push(`its neighbour got ${JSON.stringify(beside.value ?? beside.error)}`);
  if (!isDeepStrictEqual(toJson(next.value), expected)) problems.push(`the next program got ${JSON.stringify(next.value ?? next.error)}`);
  if (took > LATEST_MS) problems.push(`late: ended after ${took.toFixed(0)} ms`);
  if (blocked > LONGEST_BLOCK_MS) problems.push(`blocked the event loop for ${blocked.toFixed(0)} ms`);
  if (!(await comesToRest())) problems.push('busy after its end');
  if (seen.afterEnd > 0) problems.push(`${seen.afterEnd} calls came after its end`);
  if (keysOf() !== cleanHost) problems.push("changed the host's prototypes");
  if (unhandled.length > 0) problems.push(`unhandled: ${unhandled.splice(0)}`);
  return problems;
}

function sourceOf({ id, script }: HostileCase): string {
  if (id !== 'fld-018') return script;
  // As its note says, so that it passes any limit on the text.
  const comment = script.slice(0, script.indexOf('*/') + 2);
  return comment.repeat(2000) + script.slice(comment.length);
}

/** Whether the whole process, workers included, stops computing soon: a spare worker may still be starting. */
async function comesToRest(): Promise<boolean> {
  for (let i = 0; i < 80; i++) {
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 25));
    const { user, system } = process.cpuUsage(before);
    if (user + system < 10_000) return true;
  }
  return false;
}

let text = '';
for await (const chunk of process.stdin) text += chunk;
const cases = text
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as HostileCase);
for (const hostile of cases) {
  const began = performance.now();
  let problems: string[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      problems = await attack(hostile);
    } catch (error) {
      problems = [`the host failed: ${error instanceof Error ? error.stack : String(error)}`];
    }
    if (!problems.every((problem) => TIMING.test(problem)) || problems.length === 0) break;
  }
  process.stdout.write(`${JSON.stringify({ id: hostile.id, problems, ms: Math.round(performance.now() - began) })}\n`);
}
// The application is left open: the process must be able to end all the same.
process.stdout.write('{"id":"end"}\n');
