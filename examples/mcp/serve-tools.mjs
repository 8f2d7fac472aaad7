// Tools of an application for any MCP client, as programs instead of single calls.
// An editor starts it with { "command": "node", "args": ["examples/mcp/serve-tools.mjs"] }.
import { createCodeMode, defineTool } from 'callgate';
import { ProgressFeed, serveMcpStdio } from 'callgate/mcp';

const temperature = defineTool({
  name: 'temperature',
  description: 'Degrees Celsius in a city, now.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  execute: ({ city }) => city.length,
});

const progress = new ProgressFeed();
const codeMode = createCodeMode({ tools: [temperature], observer: progress });
const serving = await serveMcpStdio(codeMode, { progress, session: { invocation: { actorId: 'ada' } } });
await serving.closed;
await codeMode.close();
