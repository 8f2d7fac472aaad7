// The configuration that editors use, as tools: what is read of it, what it may refer to, and that servers start together.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type McpEvent, type McpServersOptions, mcpServers } from '../../../src/adapters/mcp/mcp.ts';
import { open } from './servers.ts';

const script = join(import.meta.dirname, 'scripted-server.mjs');
const entry = (behaviour: string, more: object = {}) => ({ command: process.execPath, args: [script, behaviour], ...more });

function servers(mcpServersEntries: object, options: McpServersOptions = {}) {
  const events: McpEvent[] = [];
  const made = mcpServers({ mcpServers: mcpServersEntries }, { onEvent: (event) => events.push(event), ...options });
  onTestFinished(() => made.disconnect());
  return Object.assign(made, { events });
}

test('each server is a namespace, names are made usable, and disabled ones are not there', async () => {
  const source = servers({
    'my server': entry('good'),
    other: entry('good', { type: 'stdio', autoApprove: [] }),
    off: entry('good', { disabled: true }),
  });
  const { value } = await open({ tools: source }).run('return ALL_TOOLS.map(({ name }) => name)');
  expect(value).toEqual(['my_server.double', 'my_server.act', 'other.double', 'other.act']);
});

test('references to the environment are filled in, everywhere, with what stands in for them', async () => {
  const source = servers(
    { env: { command: '${NODE}', args: ['${SCRIPT}', 'environment'], env: { TOKEN: 'x-${SECRET}', MODE: '${MODE:-quiet}' } } },
    { environment: { NODE: process.execPath, SCRIPT: script, SECRET: 'hush' } },
  );
  const { value } = await open({ tools: source }).run('const { TOKEN, MODE } = await tools.env.act({}); return { TOKEN, MODE }');
  expect(value).toEqual({ TOKEN: 'x-hush', MODE: 'quiet' });
});

test('a reference to what is not set is an error that names it', () => {
  expect(() => servers({ web: { url: 'https://example.org', headers: { Authorization: 'Bearer ${NO_SUCH_TOKEN}' } } })).toThrow(
    'The MCP server `web` needs the environment variable NO_SUCH_TOKEN, which is not set.',
  );
});

test('servers start together, not one after another', async () => {
  const source = servers({ a: entry('slow-start'), b: entry('slow-start'), c: entry('slow-start') });
  const began = performance.now();
  await open({ tools: source }).run('return 1');
  // Each takes a second to answer.
  expect(performance.now() - began).toBeLessThan(2_900);
  expect(source.events.filter(({ type }) => type === 'server-start')).toHaveLength(3);
});

test('a server that does not start is left out where its entry or the caller says so, and fails the run elsewhere', async () => {
  const gone = { command: '/nowhere/gone' };
  const left = servers({ gone, good: entry('good') }, { optional: true });
  expect((await open({ tools: left }).run('return ALL_TOOLS.length')).value).toBe(2);
  await expect(open({ tools: servers({ gone: { ...gone, optional: false } }, { optional: true }) }).run('return 1')).rejects.toThrow(
    'cannot be started',
  );
  await expect(open({ tools: servers({ gone, good: entry('good') }) }).run('return 1')).rejects.toThrow(
    'The MCP server `gone` cannot be started (ENOENT).',
  );
});

test.each([
  [[], 'The configuration should be { "mcpServers"'],
  [{ mcpServers: { x: 'node' } }, 'The MCP server `x` should be an object with `command` or `url`.'],
  [{ mcpServers: { x: {} } }, 'exactly one of `command`, `url` and `transport`'],
  [{ mcpServers: { x: { url: 'https://example.org', type: 'sse' } } }, 'uses the transport "sse"'],
  [
    { mcpServers: { 'a b': { command: 'x' }, a_b: { command: 'x' } } },
    'The MCP servers `a b` and `a_b` would both be `tools.a_b`; rename one of them.',
  ],
  [{ mcpServers: { x: { command: 'x', limits: { startMs: 'soon' } } } }, 'The MCP limit `startMs` should be a whole number'],
])('a configuration that is none is refused with a sentence: %j', (configuration, message) => {
  expect(() => mcpServers(configuration)).toThrow(message);
});
