// Tools that were written for the Anthropic SDK, in a program: checked, called together, their JSON as values.
import process from 'node:process';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { createCodeMode } from 'callgate';
import { fromAnthropicTools } from 'callgate/anthropic';

const weather = betaTool({
  name: 'get_weather',
  description: 'The weather in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  run: ({ city }) => JSON.stringify({ city, degrees: city.length + 15 }),
});

const codeMode = createCodeMode({ tools: fromAnthropicTools([weather], { namespace: 'sky' }) });
const { value } = await codeMode.run(`
  const all = await Promise.all(['Oslo', 'Lisbon'].map((city) => tools.sky.get_weather({ city })));
  return all.map(({ city, degrees }) => \`\${city} \${degrees}\`).join(', ');
`);
process.stdout.write(`${value}\n`);
await codeMode.close();
