// The MCP examples, as a reader would run them.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';

test('each is at most thirty lines', () => {
  for (const file of readdirSync('examples/mcp'))
    expect(readFileSync(`examples/mcp/${file}`, 'utf8').trim().split('\n').length, file).toBeLessThanOrEqual(30);
});

test('a program over two servers prints what it found', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/mcp/use-servers.mjs']);
  expect(stdout).toBe("[ 'serve-tools.mjs', 'use-servers.mjs' ]\n");
});

test('an application that serves its tools answers a client', async () => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: ['examples/mcp/serve-tools.mjs'] }));
  const source = "return (await tools.temperature({ city: 'Ulm' })) + (await tools.temperature({ city: 'Bonn' }))";
  expect((await client.callTool({ name: 'exec', arguments: { source } })).content).toEqual([{ type: 'text', text: '7' }]);
  await client.close();
});
