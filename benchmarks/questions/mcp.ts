// What does MCP cost? A call of a program beside the official client's on the same server; a hundred calls in one program of `callgate serve` beside a
// hundred round trips of a client; the start of a session over five servers with 400 tools whose clients are warm.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js';
import { mcpProvider } from '../../src/adapters/mcp/mcp.ts';
import { type CodeModeOptions, createCodeMode, defineTool, type ToolSource } from '../../src/index.ts';
import { type Question, type Stand, type Subject, timed } from '../harness/question.ts';
import { type Comparison, medianOf, rowOf, spread } from '../harness/result.ts';
import { makeTools, readCatalogs } from './catalogs.ts';

const OFFICIAL = 'the official client';
const THREAD = 'a program over mcpProvider';
const INLINE = 'a program over mcpProvider, inline';
const AROUND = 'a program over a tool around the official client';
const BY_CALL = '100 round trips, a program with one call each';
const IN_A_ROW = '1 round trip, a program with 100 calls in a row';
const AT_ONCE = '1 round trip, a program with 100 calls at once';
const ONE_TOOL = 'a session with one tool';
const MANY_TOOLS = 'a session with five servers and 400 tools';
const AND_PROGRAM = 'a session with five servers and 400 tools, and a program';

/** Calls of one program. */
const CALLS = 200;
const SERVERS = 5;
const TOOLS = 400;

interface StandardServer {
  readonly command: string;
  readonly args: string[];
}

// Benchmarks run in the repository's root, wherever their bundle lies.
const everything: StandardServer = {
  command: process.execPath,
  args: [resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
};

async function officialClient(server: StandardServer): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ ...server, stderr: 'ignore' }));
  // So that the client checks what it would check for an application that has listed the tools.
  await client.listTools();
  return client;
}

/** Calls of `echo`, by the client itself. */
const official: Subject = async () => {
  const client = await officialClient(everything);
  const call = (index: number): Promise<unknown> => client.callTool({ name: 'echo', arguments: { message: `hello ${index}` } });
  return {
    tasks: callTasks(
      async () => {
        for (let i = 0; i < CALLS; i++) await call(i);
      },
      () => Promise.all(Array.from({ length: CALLS }, (_, i) => call(i))),
    ),
    close: () => client.close(),
  };
};

const overProvider =
  (isolation: 'inline' | 'thread'): Subject =>
  async () => {
    const provider = mcpProvider({ name: 'everything', ...everything, map: (tool) => (tool.name === 'echo' ? tool : null) });
    return programStand({ tools: provider, isolation }, 'everything.echo', () => provider.disconnect());
  };

/** What of the cost is the gate's and the thread's: the client is the other one. */
const aroundOfficial: Subject = async () => {
  const client = await officialClient(everything);
  const tool = defineTool({
    name: 'direct',
    description: 'The official client inside a tool.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
    // What the schema lets through.
    execute: async (input) => client.callTool({ name: 'echo', arguments: input as Record<string, unknown> }),
  });
  return programStand({ tools: tool }, 'direct', () => client.close());
};

async function programStand(options: CodeModeOptions, tool: string, close: () => Promise<unknown>): Promise<Stand> {
  const codeMode = createCodeMode({ ...options, limits: { calls: 100_000, concurrentCalls: 256 } });
  const run = async (source: string): Promise<void> => {
    const { status, error } = await codeMode.run(source);
    if (status !== 'completed') throw new Error(error?.message ?? status);
  };
  const call = `tools.${tool}({ message: 'hello ' + i })`;
  return {
    tasks: callTasks(
      () => run(`for (let i = 0; i < ${CALLS}; i++) await ${call};`),
      () => run(`await Promise.all(Array.from({ length: ${CALLS} }, (_, i) => ${call}));`),
    ),
    async close() {
      await codeMode.close();
      await close();
    },
  };
}

function callTasks(row: () => Promise<unknown>, atOnce: () => Promise<unknown>): Stand['tasks'] {
  return { row: timed(row, { times: 2, units: CALLS }), atOnce: timed(atOnce, { times: 2, units: CALLS }) };
}

/** A hundred calls through `callgate serve`, which has a server behind it: each way over a server of its own. */
function served(work: (exec: (source: string) => Promise<void>) => Promise<void>): Subject {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'callgate-mcp-'));
    const configuration = join(folder, 'mcp.json');
    writeFileSync(configuration, JSON.stringify({ mcpServers: { everything } }));
    // The session counts its calls over all its programs.
    const args = [resolve('dist/cli/main.js'), 'serve', '--mcp', configuration, '--limit', 'calls=1000000'];
    const client = await officialClient({ command: process.execPath, args });
    const exec = async (source: string): Promise<void> => {
      const { isError, content } = await client.callTool({ name: 'exec', arguments: { source } });
      if (isError === true) throw new Error(JSON.stringify(content));
    };
    return {
      tasks: { hundred: timed(() => work(exec)) },
      async close() {
        await client.close();
        rmSync(folder, { recursive: true });
      },
    };
  };
}

const call = (a: string): string => `tools.everything.get_sum({ a: ${a}, b: 2 })`;

const byCall = served(async (exec) => {
  for (let i = 0; i < 100; i++) await exec(`return await ${call('1')}`);
});
const inARow = served((exec) => exec(`let sum = 0; for (let i = 0; i < 100; i++) sum += (await ${call('i')}).length; return sum`));
const atOnce = served((exec) => exec(`return (await Promise.all(Array.from({ length: 100 }, (_, i) => ${call('i')}))).length`));

const oneTool: Subject = () => sessionStand(defineTool({ name: 'one', description: 'One.', execute: () => 1 }));
const manyTools: Subject = () => sessionStand(fiveServers());
const andProgram: Subject = () => sessionStand(fiveServers(), true);

/** Opened by the first session and program, which is a figure of its own: servers are listed in it. */
async function sessionStand(tools: ToolSource, runsProgram = false): Promise<Stand> {
  const began = performance.now();
  const codeMode = createCodeMode({ tools });
  const session = await codeMode.openSession();
  const { value } = await session.exec('return ALL_TOOLS.length');
  const first = performance.now() - began;
  if (value !== TOOLS && Array.isArray(tools)) throw new Error(`There are ${value} tools, not ${TOOLS}.`);
  await session.close();
  const start = async (): Promise<unknown> => (await codeMode.openSession()).close();
  return {
    tasks: {
      session: timed(runsProgram ? () => codeMode.run('return 1') : start, { times: 10 }),
      ...(!runsProgram && { first: async () => first }),
    },
    close: () => codeMode.close(),
  };
}

function fiveServers(): ToolSource {
  const tools = someTools(TOOLS);
  const each = TOOLS / SERVERS;
  return Array.from({ length: SERVERS }, (_, index) => {
    const own = tools.slice(index * each, (index + 1) * each);
    return mcpProvider({ name: `server_${index}`, transport: () => linked(own), shared: true });
  });
}

/** Real tools where the shared catalogs are at hand, made ones elsewhere. What can only be called as a task is not offered to programs. */
function someTools(count: number): ServerTool[] {
  const names = new Set<string>();
  const real = readCatalogs()
    .flatMap(({ tools }) => tools)
    .filter(({ inputSchema, execution }) => inputSchema?.['type'] === 'object' && execution?.taskSupport !== 'required')
    .filter(({ name }) => names.size < names.add(name).size);
  // Both have schemas of objects.
  return (real.length >= count ? real.slice(0, count) : makeTools(count)) as ServerTool[];
}

async function linked(tools: ServerTool[]): Promise<InMemoryTransport> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: 'linked', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
  await server.connect(far);
  return near;
}

/** A brokered call may cost this many times the bare one, and 50 µs. */
const MOST = 1.2;

function least(part: Comparison, subject: string): number {
  return spread(rowOf(part, subject)?.rounds ?? []).least;
}

export const question: Question = {
  name: 'mcp',
  asks: 'What does MCP cost: a call of a program, a hundred calls through `callgate serve`, a session over servers with 400 tools?',
  subjects: {
    [THREAD]: overProvider('thread'),
    [INLINE]: overProvider('inline'),
    [AROUND]: aroundOfficial,
    [OFFICIAL]: official,
    [IN_A_ROW]: inARow,
    [AT_ONCE]: atOnce,
    [BY_CALL]: byCall,
    [MANY_TOOLS]: manyTools,
    [AND_PROGRAM]: andProgram,
    [ONE_TOOL]: oneTool,
  },
  async run(bench) {
    const compared = { unit: 'µs', ours: THREAD, floor: OFFICIAL, rounds: 9 } as const;
    const calls = await bench.compare({
      ...compared,
      title: 'A call of `echo` on server-everything over standard streams, one after another',
      task: 'row',
    });
    await bench.compare({ ...compared, title: `The same, ${CALLS} at once`, task: 'atOnce' });
    await bench.compare({
      title: 'A hundred calls through `callgate serve`, in the whole',
      task: 'hundred',
      unit: 'ms',
      ours: IN_A_ROW,
      floor: BY_CALL,
      rounds: 7,
    });
    const sessions = await bench.compare({
      title: 'Starting a session, clients warm',
      task: 'session',
      unit: 'µs',
      ours: MANY_TOOLS,
      floor: ONE_TOOL,
    });
    await bench.compare({
      title: 'The first session and program, the servers listed in it',
      task: 'first',
      unit: 'ms',
      ours: MANY_TOOLS,
      floor: ONE_TOOL,
      rounds: 3,
      isFresh: true,
    });
    // Three processes and a thread take turns here, so medians tell of the machine's load; the least disturbed rounds tell of the work.
    for (const [which, figureOf] of [
      ['medians', medianOf],
      ['least', least],
    ] as const) {
      for (const [name, subject] of [
        ['a brokered call', THREAD],
        ['a brokered call, inline,', INLINE],
      ] as const) {
        const value = (figureOf(calls, subject) - 50) / figureOf(calls, OFFICIAL);
        bench.aim({ what: `${name} less 50 µs, against the bare one, ${which}`, value, atMost: MOST });
      }
    }
    bench.aim({
      what: 'the start of a session with five servers and 400 tools, ms',
      value: medianOf(sessions, MANY_TOOLS) / 1_000,
      atMost: 5,
    });
  },
};
