// What does MCP cost? A call of a program beside the official client's on the same server; a hundred calls in one program beside a hundred
// round trips of a client; the start of a session over five servers with 400 tools whose clients are warm.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { mcpProvider } from '../src/adapters/mcp/mcp.ts';
import { createCodeMode, defineTool } from '../src/index.ts';
import { aim, machine, measure, print } from './measure.ts';

console.log(machine());

const modules = resolve('node_modules');
const everything = { command: process.execPath, args: [`${modules}/@modelcontextprotocol/server-everything/dist/index.js`, 'stdio'] };

async function bareClient(server: { command: string; args: string[] }): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ ...server, stderr: 'ignore' }));
  // So that the client checks what it would check for an application that has listed the tools.
  await client.listTools();
  return client;
}

const limits = { calls: 100_000, concurrentCalls: 256 };
const ROW = 200;
{
  const bare = await bareClient(everything);
  const provider = mcpProvider({ name: 'everything', ...everything, map: (tool) => (tool.name === 'echo' ? tool : null) });
  const direct = defineTool({
    name: 'direct',
    description: 'The official client inside a tool.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
    execute: async (input) => bare.callTool({ name: 'echo', arguments: input as Record<string, unknown> }),
  });
  const codeMode = createCodeMode({ tools: [provider, direct], limits });
  const inline = createCodeMode({ tools: [provider, direct], limits, isolation: 'inline' });
  const inside = async (source: string, within = codeMode): Promise<void> => {
    const { status, error } = await within.run(source);
    if (status !== 'completed') throw new Error(error.message);
  };
  const row = `for (let i = 0; i < ${ROW}; i++) await tools.everything.echo({ message: 'hello ' + i });`;
  const directRow = `for (let i = 0; i < ${ROW}; i++) await tools.direct({ message: 'hello ' + i });`;
  const atOnce = `await Promise.all(Array.from({ length: ${ROW} }, (_, i) => tools.everything.echo({ message: 'hello ' + i })));`;
  const bareRow = async (): Promise<void> => {
    for (let i = 0; i < ROW; i++) await bare.callTool({ name: 'echo', arguments: { message: `hello ${i}` } });
  };
  const bareAtOnce = async (): Promise<void> => {
    await Promise.all(Array.from({ length: ROW }, (_, i) => bare.callTool({ name: 'echo', arguments: { message: `hello ${i}` } })));
  };
  for (let i = 0; i < 5; i++)
    for (const warm of [bareRow, bareAtOnce, () => inside(row), () => inside(row, inline), () => inside(directRow), () => inside(atOnce)])
      await warm();
  const floor = 'the official client, one after another';
  const figures = await measure(
    [
      { name: floor, run: bareRow, units: ROW },
      { name: 'a program over mcpProvider, one after another', run: () => inside(row), units: ROW },
      { name: 'the same, guest inline', run: () => inside(row, inline), units: ROW },
      { name: 'a program over a tool around the official client', run: () => inside(directRow), units: ROW },
      { name: `the official client, ${ROW} at once`, run: bareAtOnce, units: ROW },
      { name: `a program over mcpProvider, ${ROW} at once`, run: () => inside(atOnce), units: ROW },
    ],
    { rounds: 15, perRound: 2 },
  );
  print('A call of `echo` on server-everything, over standard streams', figures, floor);
  const [client, program, inlineProgram] = figures;
  // Three processes and a thread take turns here, so medians tell of the machine's load; the least disturbed rounds tell of the work.
  for (const which of ['medianMs', 'minMs'] as const) {
    aim(`a brokered call less 50 µs beside the bare one, ${which}`, (program[which] - 0.05) / client[which], 1.2);
    aim(`the same, guest inline, ${which}`, (inlineProgram[which] - 0.05) / client[which], 1.2);
  }
  await Promise.all([codeMode.close(), inline.close()]);
  await Promise.all([provider.disconnect(), bare.close()]);
}

{
  const configuration = resolve('node_modules/.cache/callgate/bench-mcp.json');
  mkdirSync(resolve(configuration, '..'), { recursive: true });
  writeFileSync(configuration, JSON.stringify({ mcpServers: { everything } }));
  const served = await bareClient({ command: process.execPath, args: [resolve('dist/cli/main.js'), 'serve', '--mcp', configuration] });
  const exec = async (source: string): Promise<void> => {
    const { isError, content } = await served.callTool({ name: 'exec', arguments: { source } });
    if (isError === true) throw new Error(JSON.stringify(content));
  };
  const one = 'return await tools.everything.get_sum({ a: 1, b: 2 })';
  const hundred = `let sum = 0; for (let i = 0; i < 100; i++) sum += (await tools.everything.get_sum({ a: i, b: 2 })).length; return sum`;
  const together = `return (await Promise.all(Array.from({ length: 100 }, (_, i) => tools.everything.get_sum({ a: i, b: 2 })))).length`;
  const hundredTimes = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) await exec(one);
  };
  // The session counts its calls over all its programs, so each row has few rounds.
  await hundredTimes();
  const floor = '100 tools/call round trips, one call each';
  const figures = await measure(
    [
      { name: floor, run: hundredTimes },
      { name: '1 round trip, a program with 100 calls in a row', run: () => exec(hundred) },
      { name: '1 round trip, a program with 100 calls at once', run: () => exec(together) },
    ],
    { rounds: 2, perRound: 1 },
  );
  print('A hundred calls through `callgate serve`, in the whole', figures, floor);
  await served.close();
}

{
  const listed = catalogTools(400);
  const servers = Array.from({ length: 5 }, (_, index) => {
    const tools = listed.slice(index * 80, (index + 1) * 80);
    return mcpProvider({ name: `server_${index}`, transport: () => linked(tools), shared: true });
  });
  const codeMode = createCodeMode({ tools: servers });
  const fixed = createCodeMode({ tools: defineTool({ name: 'one', description: 'One.', execute: () => 1 }) });
  const began = performance.now();
  const first = await codeMode.openSession();
  const { value } = await first.exec('return ALL_TOOLS.length');
  console.log(`\n${value} tools of five servers; the first session and program took ${(performance.now() - began).toFixed(1)} ms`);
  await first.close();
  const floor = 'a session with one tool';
  const figures = await measure(
    [
      { name: floor, run: async () => (await fixed.openSession()).close() },
      { name: 'a session with five servers and 400 tools', run: async () => (await codeMode.openSession()).close() },
      { name: 'the same, and a program', run: () => codeMode.run('return 1') },
    ],
    { rounds: 15, perRound: 10 },
  );
  print('Starting a session, clients warm', figures, floor);
  aim('start of a session with five servers and 400 tools in ms', figures[1].medianMs, 5);
  await Promise.all([codeMode.close(), fixed.close()]);
  await Promise.all(servers.map((server) => server.disconnect()));
}

interface Listed {
  name: string;
  description?: string;
  inputSchema: { type: 'object'; [key: string]: unknown };
}

/** Real tools where the shared catalogs are at hand, made ones elsewhere. */
function catalogTools(count: number): Listed[] {
  try {
    const folder = resolve('../shared/catalogs');
    const all = readdirSync(folder).flatMap((file) =>
      file.endsWith('.json') ? (JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as { tools: Listed[] }).tools : [],
    );
    const names = new Set<string>();
    const good = all.filter(({ name, inputSchema }) => inputSchema?.type === 'object' && !names.has(name) && names.add(name));
    if (good.length >= count) return good.slice(0, count);
  } catch {
    // They are not there.
  }
  return Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Does the ${index}th thing.`,
    inputSchema: { type: 'object', properties: { id: { type: 'integer' }, query: { type: 'string', maxLength: 100 } }, required: ['id'] },
  }));
}

async function linked(tools: Listed[]): Promise<InMemoryTransport> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: 'linked', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
  await server.connect(far);
  return near;
}
