// A program over two MCP servers: it reads a folder with one and remembers what it saw with the other.
// Run: node examples/mcp/use-servers.mjs
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createCodeMode } from 'callgate';
import { mcpProvider } from 'callgate/mcp';

/** @param {string} name */
const server = (name) => `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
const files = mcpProvider({
  name: 'files',
  command: process.execPath,
  args: [server('filesystem'), 'examples'],
  // Of what the server offers, what only reads.
  map: (tool) => tool.annotations?.readOnlyHint && tool,
});
// The server puts a new file in the place of this one whenever it remembers something: never name a device here.
const folder = await mkdtemp(join(tmpdir(), 'callgate-memory-'));
const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
const memory = mcpProvider({ name: 'memory', command: process.execPath, args: [server('memory')], env });
const codeMode = createCodeMode({ tools: [files, memory] });

const { value, error } = await codeMode.run(`
  const { content } = await tools.files.list_directory({ path: 'mcp' });
  const names = content.split('\\n').map((line) => line.split(' ')[1]).sort();
  const entities = names.map((name) => ({ name, entityType: 'example', observations: ['is there'] }));
  const created = await tools.memory.create_entities({ entities });
  return created.entities.map(({ name }) => name);
`);
console.log(error?.message ?? value);
await codeMode.close();
await Promise.all([files.disconnect(), memory.disconnect()]);
await rm(folder, { recursive: true });
