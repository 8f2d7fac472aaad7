// The page's server: who may look, what it serves and what it never does, and that events arrive, also late and in pieces.
import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { serveWatch, type Watching } from '../../src/adapters/watch.ts';
import { artifact, type CodeMode, createCodeMode, defineTool, toolResult } from '../../src/index.ts';

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const files = defineTool({
  name: 'files',
  description: 'Gives files.',
  inputSchema: {},
  execute: () =>
    toolResult({
      value: 1,
      artifacts: [
        artifact({ data: PNG, mediaType: 'text/html', name: 'a.png' }),
        artifact({ data: SVG, mediaType: 'image/svg+xml', name: 'b.svg' }),
        artifact({ data: '<script>alert(1)</script>', mediaType: 'image/png', name: 'c.png' }),
      ],
    }),
});

async function open(): Promise<{ codeMode: CodeMode; watching: Watching; at: URL }> {
  const codeMode = createCodeMode({ tools: files, isolation: 'inline', capture: true });
  const watching = await serveWatch(codeMode);
  opened.push(codeMode, watching);
  return { codeMode, watching, at: new URL(watching.url) };
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** With headers that `fetch` would not send. */
function ask(
  url: URL | string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (part: string) => (body += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    })
      .on('error', reject)
      .end();
  });
}

/** Events as a page gets them, until there are so many. */
async function events(
  at: URL,
  count: number,
  headers: Record<string, string> = {},
): Promise<{ event: Record<string, unknown>; id: number }[]> {
  const found: { event: Record<string, unknown>; id: number }[] = [];
  const stop = new AbortController();
  const response = await fetch(new URL('events', at), { headers, signal: stop.signal });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  for await (const part of response.body ?? []) {
    text += Buffer.from(part).toString('utf8');
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const message = text.slice(0, end);
      text = text.slice(end + 2);
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/s.exec(message) ?? [];
      if (data !== undefined) for (const event of JSON.parse(data) as Record<string, unknown>[]) found.push({ event, id: Number(id) });
    }
    if (found.length >= count) break;
  }
  stop.abort();
  return found;
}

describe('who may look', () => {
  test('only who has the token, at this machine’s own names', async () => {
    const { at } = await open();
    expect((await ask(at)).status).toBe(200);
    expect(at.hostname).toBe('127.0.0.1');
    expect(at.pathname).toMatch(/^\/[\w-]{32}\/$/);
    for (const path of ['/', '/page.js', '/x/page.js', `/${'A'.repeat(32)}/`, '/../', `${at.pathname}../`, '/%2e%2e/']) {
      expect((await ask(new URL(path, at.origin))).status, path).toBe(404);
    }
    expect((await ask(`http://localhost:${at.port}${at.pathname}`)).status).toBe(200);
  });

  test.each([['evil.example'], ['127.0.0.1'], ['127.0.0.1.evil.example:80'], ['[::1]:1']])('not by the name %j', async (host) => {
    const { at } = await open();
    expect((await ask(at, { headers: { host } })).status).toBe(421);
  });

  test.each([['https://evil.example'], ['null'], ['http://127.0.0.1:1'], ['file://']])('not from a page of %j', async (origin) => {
    const { at } = await open();
    expect((await ask(new URL('events', at), { headers: { origin } })).status).toBe(403);
    expect((await ask(at, { headers: { origin: at.origin } })).status).toBe(200);
  });

  test.each([['POST'], ['PUT'], ['DELETE'], ['OPTIONS'], ['PATCH']])('%s changes nothing', async (method) => {
    const { at } = await open();
    const { status, headers } = await ask(at, { method });
    expect(status).toBe(405);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  test('two servers have different tokens, and a port that is taken is said', async () => {
    const [first, second] = [await open(), await open()];
    expect(first.at.pathname).not.toBe(second.at.pathname);
    await expect(serveWatch(first.codeMode, { port: Number(first.at.port) })).rejects.toThrow(/cannot be served on port/);
    await expect(serveWatch(first.codeMode, { port: 70_000 })).rejects.toThrow(/from 0 to 65535/);
  });
});

describe('what is served', () => {
  test('every answer forbids everything but the page’s own parts', async () => {
    const { at } = await open();
    for (const url of [at, new URL('page.js', at), new URL('page.css', at), new URL('nothing', at)]) {
      const { headers } = await ask(url);
      expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'.*frame-ancestors 'none'/);
      expect(headers['content-security-policy']).not.toMatch(/unsafe|data:|https?:|\*/);
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    }
  });

  test('the page names nothing that is elsewhere', async () => {
    const { at } = await open();
    const { body } = await ask(at);
    expect(body).not.toMatch(/https?:|\/\//);
    // An address as a name of a namespace is no request.
    expect((await ask(new URL('page.js', at))).body.replace(/http:\/\/www\.w3\.org\/\S*?["'`]/g, '')).not.toMatch(
      /https?:\/\/|innerHTML\s*=\s*[^=]*location/,
    );
  });

  test('a file is an image only if it is one, whatever it is called, and nothing in it can run', async () => {
    const { codeMode, at } = await open();
    const { artifacts } = await codeMode.run('await tools.files()', { runId: 'run a/b' });
    await events(at, 5);
    const [png, svg, fake] = await Promise.all(
      artifacts.map(({ id }) => ask(new URL(`artifacts/${encodeURIComponent('run a/b')}/${encodeURIComponent(id)}`, at))),
    );
    expect(png?.headers['content-type']).toBe('image/png');
    expect(Buffer.from(png?.body ?? '', 'latin1')).toEqual(PNG);
    for (const answer of [svg, fake]) expect(answer?.headers['content-type']).toBe('text/plain; charset=utf-8');
    for (const answer of [png, svg, fake]) {
      expect(answer?.headers).toMatchObject({
        'content-security-policy': "default-src 'none'; sandbox",
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  test('a file of one run is not shown for the same id of another', async () => {
    const { codeMode, at } = await open();
    const save = (runId: string) => codeMode.run(`return (await saveArtifact({ name: 'a.txt', data: '${runId}' })).id`, { runId });
    const [first, second] = [(await save('first')).value, (await save('second')).value];
    expect(first).toBe(second);
    await events(at, 10);
    for (const runId of ['first', 'second']) expect((await ask(new URL(`artifacts/${runId}/${first}`, at))).body).toBe(runId);
    expect((await ask(new URL(`artifacts/third/${first}`, at))).status).toBe(404);
  });

  test.each([['none'], ['..%2F..%2Fetc%2Fpasswd'], ['%'], ['%00']])('there is no file %j', async (id) => {
    const { at } = await open();
    expect((await ask(`${at.href}artifacts/${id}`)).status).toBe(404);
  });
});

describe('events', () => {
  test('a page that comes later gets what was before, and what comes after', async () => {
    const { codeMode, at } = await open();
    await codeMode.run('console.log("first")');
    const seen = events(at, 8);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await codeMode.run('console.log("second\\n\\ndata: []\\n\\n")');
    const found = await seen;
    expect(found.map(({ event }) => event['type'])).toEqual([
      'run-start',
      'execution-start',
      'output',
      'execution-end',
      'run-end',
      'run-start',
      'execution-start',
      'output',
      ...found.slice(8).map(({ event }) => event['type']),
    ]);
    expect(found[7]?.event['text']).toMatchObject({ text: 'second\n\ndata: []\n\n' });
  });

  test('one that connects again goes on where it was', async () => {
    const { codeMode, at } = await open();
    await codeMode.run('return 1');
    const [first] = await events(at, 4);
    await codeMode.run('return 2');
    const rest = await events(at, 4, { 'last-event-id': String(first?.id) });
    expect(rest[0]?.event).toMatchObject({ type: 'run-start', seq: (first?.id ?? 0) + 2 });
    // Of another server, whose numbers mean nothing here.
    expect((await events(at, 4, { 'last-event-id': '999999' }))[0]?.event).toMatchObject({ seq: 1 });
  });

  test('they hold no original of an error, and no artifact', async () => {
    const { codeMode, at } = await open();
    await codeMode.run('await tools.files()');
    const text = JSON.stringify(await events(at, 9));
    expect(text).toContain('"artifact"');
    expect(text).not.toMatch(/iVBOR|"digest"|\.ts:\d+/);
  });

  test('closing ends the connections', async () => {
    const { watching, at } = await open();
    const response = await fetch(new URL('events', at));
    await watching.close();
    await watching.close();
    await expect(response.text()).resolves.toBe('retry: 1000\n\n');
    await expect(fetch(at)).rejects.toThrow();
  });
});
