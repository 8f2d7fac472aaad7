// `callgate serve` and `callgate run --mcp` as processes: nothing but protocol on standard output, HTTP with a token, an end in order.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PACKAGE = new URL('../../dist/index.js', import.meta.url).href;
const SCRIPTED = fileURLToPath(new URL('../adapters/mcp/scripted-server.mjs', import.meta.url));

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'callgate-serve-'));
  writeFileSync(
    join(cwd, 'noisy.mjs'),
    `import { execFileSync } from 'node:child_process';
    import { writeSync } from 'node:fs';
    import { defineTool } from ${JSON.stringify(PACKAGE)};
    console.log('console'); process.stdout.write('stream\\n'); writeSync(1, 'descriptor\\n');
    execFileSync(process.execPath, ['-e', 'console.log("child")'], { stdio: 'inherit' });
    const inputSchema = { type: 'object', properties: {} };
    export default [defineTool({ name: 'noise', description: 'Makes noise.', inputSchema, execute() { console.log('noise'); return 'made'; } })];`,
  );
  writeFileSync(
    join(cwd, 'mcp.json'),
    JSON.stringify({
      mcpServers: { scripted: { command: process.execPath, args: [SCRIPTED, '${BEHAVIOUR:-good}'] }, gone: { command: './gone' } },
    }),
  );
});
afterAll(() => rmSync(cwd, { recursive: true }));

function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const heard = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (heard.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (heard.stderr += text));
  const status = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, heard, status };
}

function say(child: ChildProcess, ...messages: object[]): void {
  for (const message of messages) child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const handshake = [
  { id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } } },
  { method: 'notifications/initialized' },
];

test('nothing but protocol reaches standard output, whoever writes to it; the end of the input ends the process', async () => {
  const { child, heard, status } = start(['serve', '--tools', 'noisy.mjs', '--mcp', 'mcp.json']);
  const source = 'return [await tools.noise(), await tools.scripted.double({ n: 4 })]';
  say(child, ...handshake, { id: 1, method: 'tools/call', params: { name: 'exec', arguments: { source } } });
  await expect.poll(() => heard.stdout.includes('"id":1'), { timeout: 20_000 }).toBe(true);
  child.stdin.end();
  expect(await status).toBe(0);
  const messages = heard.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: unknown });
  expect(messages.map(({ id }) => id)).toEqual([0, 1]);
  expect(messages[1]?.result).toEqual({ content: [{ type: 'text', text: '["made","8"]' }], isError: false });
  for (const noise of ['console', 'stream', 'descriptor', 'child', 'noise', 'gone: left out']) expect(heard.stderr).toContain(noise);
});

test('a polite signal ends the process with its servers, also from within a program', async () => {
  const { child, heard, status } = start(['serve', '--mcp', 'mcp.json'], { BEHAVIOUR: 'hang' });
  say(child, ...handshake, {
    id: 1,
    method: 'tools/call',
    params: { name: 'exec', arguments: { source: 'return await tools.scripted.act({})' } },
  });
  await expect.poll(() => heard.stdout.includes('"id":0'), { timeout: 20_000 }).toBe(true);
  child.kill('SIGTERM');
  expect(await status).toBe(143);
});

test('over HTTP it shows address and token on standard error, and serves who has it', async () => {
  const { child, heard, status } = start(['serve', '--mcp', 'mcp.json', '--http', '0']);
  await expect.poll(() => heard.stderr, { timeout: 20_000 }).toMatch(/Bearer \S+/);
  const url = /listening at (\S+)/.exec(heard.stderr)?.[1] ?? '';
  const token = /Bearer (\S+)/.exec(heard.stderr)?.[1] ?? '';
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  // The SDK's own types do not agree under exactOptionalPropertyTypes.
  await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
  const { content } = await client.callTool({ name: 'exec', arguments: { source: 'return await tools.scripted.double({ n: 21 })' } });
  expect(content).toEqual([{ type: 'text', text: '42' }]);
  expect(heard.stdout).toBe('');
  child.kill('SIGTERM');
  expect(await status).toBe(143);
  await client.close();
});

test('a token of the environment is used and not shown', async () => {
  const { child, heard, status } = start(['serve', '--mcp', 'mcp.json', '--http', '0'], { CALLGATE_TOKEN: 'a-secret-for-the-test' });
  await expect.poll(() => heard.stderr, { timeout: 20_000 }).toContain('clients show the token in CALLGATE_TOKEN');
  expect(heard.stderr).not.toContain('a-secret-for-the-test');
  child.kill('SIGTERM');
  await status;
});

test('run takes servers beside a module, and fails for one that does not start', async () => {
  writeFileSync(
    join(cwd, 'one.json'),
    JSON.stringify({ mcpServers: { scripted: { command: process.execPath, args: [SCRIPTED, 'good'] } } }),
  );
  const { child, heard, status } = start(['run', '-', '--mcp', 'one.json']);
  child.stdin.end('return await tools.scripted.double({ n: 21 })');
  expect(await status).toBe(0);
  expect(heard.stdout).toBe('42\n');
  const failing = start(['run', '-', '--mcp', 'mcp.json']);
  failing.child.stdin.end('return 1');
  expect(await failing.status).toBe(2);
  expect(failing.heard.stderr).toContain('callgate: The MCP server `gone` cannot be started (ENOENT).');
});

test.each([
  [['run', '-'], 'There are no tools: say --tools MODULE, --mcp CONFIG.json, or both.'],
  [['serve'], 'There are no tools'],
  [['serve', '--mcp', 'absent.json'], 'The MCP configuration absent.json cannot be read: there is no such file.'],
  [['serve', '--mcp', 'noisy.mjs'], 'The MCP configuration noisy.mjs is not JSON'],
  [['serve', '--mcp', 'mcp.json', '--http', 'eighty'], 'It should be a port, from 0 to 65535.'],
])('a wrong command line is status 2 and a sentence: %j', async (args, message) => {
  const { child, heard, status } = start(args);
  child.stdin.end();
  expect(await status).toBe(2);
  expect(heard.stderr).toContain(message);
  expect(heard.stdout).toBe('');
});
