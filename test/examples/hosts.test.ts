// The examples for hosts other than Anthropic's and MCP's, as a reader would run them.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, test } from 'vitest';
import { answer } from '../../examples/ai-sdk.mjs';

const execute = promisify(execFile);

test.each(['ai-sdk.mjs', 'functions.mjs', 'web-search.mjs'])('%s is at most thirty lines', (file) => {
  expect(readFileSync(`examples/${file}`, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(30);
});

test('ai-sdk.mjs: a model of the AI SDK writes a program over the desk and answers', async () => {
  const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  const input = JSON.stringify({ source: "return (await tools.find_customers({ plan: 'plus', limit: 1 })).total" });
  const model = new MockLanguageModelV3({
    doGenerate: [
      {
        content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'exec', input }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      },
      { content: [{ type: 'text', text: 'Twenty.' }], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] },
    ],
  });
  expect(await answer(model, 'How many plus customers are there?')).toBe('Twenty.');
  const [first, second] = model.doGenerateCalls;
  expect(first?.tools?.map(({ name }) => name)).toEqual(['exec', 'wait', 'stop']);
  expect(JSON.stringify(first?.prompt)).toContain('find_customers');
  expect(JSON.stringify(second?.prompt)).toContain('{"type":"text","value":"20"}');
});

test('functions.mjs: definitions, and a call as a model sends it', async () => {
  const { stdout } = await execute(process.execPath, ['examples/functions.mjs']);
  expect(stdout).toBe("[ 'exec', 'wait', 'stop' ]\n20\n");
});

test('web-search.mjs: three searches at once', async () => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      const { query } = JSON.parse(body) as { query: string };
      response.end(
        JSON.stringify({
          results: query.startsWith('Quick') ? [] : [{ title: query, url: `https://example.org/${query.length}`, content: query }],
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const env = { ...process.env, TAVILY_API_KEY: 'key', TAVILY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const { stdout } = await execute(process.execPath, ['examples/web-search.mjs'], { env });
  server.close();
  expect(stdout).toContain("'QuickJS stack limit': 'nothing'");
  expect(stdout).toContain("'WebAssembly memory maximum': 'https://example.org/26'");
});
