// What is too big to be installed for everybody: an OpenAPI server with 1 223 tools against a loopback API, and the inspector's command line
// against our server.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type McpEvent, mcpProvider } from '../../../src/adapters/mcp/mcp.ts';
import { installed } from './installed.ts';
import { open } from './servers.ts';

const packages = installed();
const modules = 'modules' in packages ? packages.modules : '';
const skipped = 'reason' in packages ? ` (skipped: ${packages.reason})` : '';

test.skipIf(skipped !== '')(
  `all 1 223 tools of GitHub's OpenAPI document are there and make real calls${skipped}`,
  async () => {
    const api = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ asked: `${request.method} ${request.url}` }));
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void api.close());
    const events: McpEvent[] = [];
    const github = mcpProvider({
      name: 'github',
      command: process.execPath,
      args: [
        join(modules, '@ivotoby/openapi-mcp-server/bin/mcp-server.js'),
        ...['--api-base-url', `http://127.0.0.1:${(api.address() as AddressInfo).port}`],
        ...['--openapi-spec', join(modules, '@octokit/openapi/generated/api.github.com.json')],
      ],
      limits: { startMs: 100_000 },
      onEvent: (event) => events.push(event),
    });
    onTestFinished(() => github.disconnect());
    const { value } = await open({ tools: github }).run(
      "return [ALL_TOOLS.length, await tools.github.meta_root({}), ALL_TOOLS.filter(({ name }) => name.includes('issues')).length > 20]",
    );
    expect(value).toEqual([1_223, { asked: 'GET /' }, true]);
    expect(events.filter(({ type }) => type !== 'server-start')).toEqual([]);
  },
  120_000,
);

test.skipIf(skipped !== '')(
  `the inspector lists our tools and runs a program${skipped}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'callgate-inspector-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const configuration = join(folder, 'mcp.json');
    const scripted = { command: process.execPath, args: [join(import.meta.dirname, 'scripted-server.mjs'), 'good'] };
    writeFileSync(configuration, JSON.stringify({ mcpServers: { scripted } }));
    const inspect = async (...args: string[]): Promise<unknown> => {
      const serve = [process.execPath, resolve('dist/cli/main.js'), 'serve', '--mcp', configuration];
      const { stdout } = await promisify(execFile)(join(modules, '.bin/mcp-inspector'), ['--cli', ...serve, ...args]);
      return JSON.parse(stdout);
    };
    expect(await inspect('--method', 'tools/list')).toMatchObject({
      tools: expect.arrayContaining(['exec', 'wait', 'stop'].map((name) => expect.objectContaining({ name }))),
    });
    const call = ['--method', 'tools/call', '--tool-name', 'exec', '--tool-arg'];
    expect(await inspect(...call, 'source=return await tools.scripted.double({ n: 21 })')).toEqual({
      content: [{ type: 'text', text: '42' }],
      isError: false,
    });
  },
  120_000,
);
