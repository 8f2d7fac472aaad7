// The search tool against a server on loopback that answers in the service's shapes: well, badly, slowly and too much.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type WebSearchOptions, webSearchTool } from '../../src/adapters/web-search.ts';
import { type CodeMode, createCodeMode } from '../../src/index.ts';

const KEY = 'tvly-very-secret';
interface Seen {
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let endpoint: string;
let answer: (request: Seen, response: ServerResponse) => void;
const seen: Seen[] = [];
const opened: CodeMode[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const one = { method: request.method, headers: request.headers, body };
      seen.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/search`;
});
afterEach(async () => {
  seen.length = 0;
  for (const codeMode of opened.splice(0)) await codeMode.close();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  (_: Seen, response: ServerResponse) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
const found = (...results: object[]) => json({ query: 'q', answer: null, images: [], results, response_time: '1.2', request_id: 'r' });
const page = { title: 'Title', url: 'https://example.org/a', content: 'Some  text\nhere.', score: 0.9, raw_content: null };

const events: unknown[] = [];
async function search(query: unknown, options: Partial<WebSearchOptions> = {}) {
  events.length = 0;
  const codeMode = createCodeMode({
    tools: webSearchTool({ apiKey: KEY, endpoint, ...options }),
    isolation: 'inline',
    capture: true,
    observer: { on: (event) => events.push(event) },
  });
  opened.push(codeMode);
  const result = await codeMode.run(`return await tools.web_search({ query: ${JSON.stringify(query)} })`);
  // Errors print their stack and cause too.
  const { inspect } = await import('node:util');
  expect(inspect([result, events], { depth: 20 })).not.toContain(KEY);
  return result;
}

describe('a search', () => {
  test('posts the query and the number of results, with the key in its header alone', async () => {
    answer = found(page);
    await search('  what is it?  ', { maxResults: 3 });
    expect(seen).toMatchObject([{ method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` } }]);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ query: 'what is it?', max_results: 3 });
  });

  test('gives numbered text and the same as data', async () => {
    answer = found(page, { title: '', url: 'https://example.org/b', content: '', published_date: '2026-01-02' });
    expect((await search('it')).value).toEqual({
      text: '1. Title\n   https://example.org/a\n   Some text here.\n2. https://example.org/b\n   https://example.org/b',
      results: [
        { title: 'Title', url: 'https://example.org/a', content: 'Some text here.', score: 0.9 },
        { title: 'https://example.org/b', url: 'https://example.org/b', content: '', publishedDate: '2026-01-02' },
      ],
    });
  });

  test('says so when nothing was found', async () => {
    answer = found();
    expect((await search('xyzzy')).value).toEqual({ text: 'No results for "xyzzy".', results: [] });
  });

  test('is bounded in results and in what each of them says', async () => {
    answer = found(...Array.from({ length: 50 }, () => ({ ...page, content: '😀'.repeat(2_000), title: 'x'.repeat(2_000) })));
    const { value } = await search('it');
    const { results, text } = value as { results: { content: string; title: string }[]; text: string };
    expect(results).toHaveLength(5);
    expect(results.every(({ content, title }) => content.length <= 1_000 && title.length <= 300)).toBe(true);
    expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });

  test('leaves odd results out, and pages that are none', async () => {
    answer = found(null as unknown as object, { title: 'no url' }, { url: 'javascript:alert(1)' }, { url: 7 }, page);
    expect((await search('it')).value).toMatchObject({ results: [{ url: 'https://example.org/a' }] });
  });
});

describe('what goes wrong is a sentence that says what to do', () => {
  test.each([
    ['a query that is empty', '   ', /The query is empty/],
    ['a query that is too long', 'x'.repeat(401), /shorten it to 400/],
  ])('%s is not sent', async (_, query, message) => {
    expect((await search(query)).error?.message).toMatch(message);
    expect(seen).toEqual([]);
  });

  test.each([
    ['401', json({ detail: { error: `Unauthorized: ${KEY}` } }, 401), /refused the application’s key/],
    ['429', json({ detail: { error: 'Your request has been blocked' } }, 429, { 'retry-after': '7' }), /try again in 7 seconds/],
    ['429 with a date', json({}, 429, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }), /try again later/],
    ['432', json({}, 432), /used up/],
    ['400', json({ detail: { error: 'Query is missing' } }, 400), /other words/],
    ['500', json(`<html>${KEY}</html>`, 500), /failed \(status 500\)/],
    ['no JSON', json('<html>'), /cannot be read/],
    ['JSON of another shape', json({ results: 'none' }), /cannot be read/],
    ['JSON that is null', json('null'), /cannot be read/],
    ['too much', json({ results: [{ ...page, content: 'x'.repeat(2 * 1024 * 1024) }] }), /more than 1048576 bytes/],
    [
      'a redirect',
      (_: Seen, response: ServerResponse) => void response.writeHead(307, { location: `${endpoint}/elsewhere` }).end(),
      /cannot be reached/,
    ],
    ['a connection that breaks', (_: Seen, response: ServerResponse) => void response.destroy(), /cannot be reached/],
    [
      'a body that breaks off',
      (_: Seen, response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"results"');
        setTimeout(() => response.destroy(), 20);
      },
      /cannot be reached/,
    ],
  ])('%s', async (_, answering, message) => {
    answer = answering;
    const { error } = await search('it');
    expect(error?.message).toMatch(message);
  });

  test('a service that does not answer is given up, in time', async () => {
    answer = () => undefined;
    expect((await search('it', { timeoutMs: 100 })).error).toMatchObject({
      message: 'The web search did not answer within 100 ms; try again.',
      code: 'search_timeout',
    });
  });

  test('a service that trickles is given up too', async () => {
    answer = (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    };
    expect((await search('it', { timeoutMs: 150 })).error?.code).toBe('search_timeout');
  });

  test('the program’s end ends the search', async () => {
    let closed!: () => void;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    answer = (_, response) => void response.on('close', () => closed());
    const codeMode = createCodeMode({ tools: webSearchTool({ apiKey: KEY, endpoint }), isolation: 'inline', limits: { wallMs: 100 } });
    opened.push(codeMode);
    expect((await codeMode.run('await tools.web_search({ query: "it" })')).error?.kind).toBe('timeout');
    await gone;
  });
});

describe('the key', () => {
  test.each([[undefined], [''], ['  ']])('without one (%j) the tool is not there', async (apiKey) => {
    const codeMode = createCodeMode({ tools: webSearchTool({ apiKey, endpoint }), isolation: 'inline' });
    opened.push(codeMode);
    expect((await codeMode.run('return ALL_TOOLS.length')).value).toBe(0);
  });

  test('may be chosen for each run', async () => {
    answer = found();
    const codeMode = createCodeMode({
      tools: webSearchTool({ apiKey: ({ run }) => (run.invocation.actorId === 'paying' ? KEY : undefined), endpoint }),
      isolation: 'inline',
    });
    opened.push(codeMode);
    const program = 'return ALL_TOOLS.length && (await tools.web_search({ query: "it" })).results';
    expect((await codeMode.run(program)).value).toBe(0);
    expect((await codeMode.run(program, { invocation: { actorId: 'paying' } })).value).toEqual([]);
    expect(seen).toHaveLength(1);
  });
});

test.each([[0], [21], [1.5], ['5' as never]])('maxResults of %j is refused', (maxResults) => {
  expect(() => webSearchTool({ apiKey: KEY, maxResults })).toThrow(/from 1 to 20/);
});
