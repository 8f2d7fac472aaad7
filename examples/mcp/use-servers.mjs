// A program over two MCP servers: it reads a folder with one and remembers what it saw with the other.
// Run: node examples/mcp/use-servers.mjs
import { rm } from 'node:fs/promises';
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
  map: (tool) => tool.annotations?.readOnlyHint && tool,
});
// A file of its own: the server puts a new one in its place whenever it remembers something.
const env = { MEMORY_FILE_PATH: join(tmpdir(), `callgate-memory-${process.pid}.jsonl`) };
const memory = mcpProvider({ name: 'memory', command: process.execPath, args: [server('memory')], env });
const codeMode = createCodeMode({ tools: [files, memory] });
const { value, error } = await codeMode.run(`
  const names = (await tools.files.list_directory({ path: 'mcp' })).content.split('\\n').map((line) => line.split(' ')[1]).sort();
  const entities = names.map((name) => ({ name, entityType: 'example', observations: ['is there'] }));
  return (await tools.memory.create_entities({ entities })).entities.map(({ name }) => name);
`);
console.log(error?.message ?? value);
await codeMode.close();
await Promise.all([files.disconnect(), memory.disconnect()]);
await rm(env.MEMORY_FILE_PATH, { force: true });
