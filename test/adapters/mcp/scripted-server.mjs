// A server over standard streams that follows a script, well or badly: `node scripted-server.mjs BEHAVIOUR`. It speaks the wire format by
// hand, since no SDK would misbehave so. Not here: what each behaviour should lead to (contained.test.ts).
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

/** @typedef {{ id?: number, method?: string, params?: any, result?: unknown, error?: { code: number, message: string } }} Message */

const [behaviour = 'good', argument = ''] = process.argv.slice(2);
/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
/** @param {unknown} text */
const text = (text) => ({ content: [{ type: 'text', text }] });
const input = { type: 'object', properties: { n: { type: 'integer' } } };
/** @type {unknown[]} */
let tools = [
  { name: 'double', description: 'Twice n.', inputSchema: input, annotations: { readOnlyHint: true } },
  { name: 'act', description: 'Behaves as the script says.', inputSchema: input, annotations: { destructiveHint: true } },
];
/** @type {Message[]} */
const heard = [];

if (behaviour === 'noisy-start') console.log('Welcome to the scripted server!\nListening…');
if (behaviour === 'dead-on-arrival') {
  console.error('no configuration found');
  process.exit(3);
}
if (behaviour === 'die-counted') appendFileSync(argument, 'start\n');
if (behaviour === 'stubborn') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  /** @type {Message} */
  const message = JSON.parse(line);
  heard.push(message);
  const { id, method, params } = message;
  switch (method) {
    case 'initialize':
      if (behaviour === 'hang-start') return;
      if (behaviour === 'slow-start') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
      if (behaviour === 'strange-version') return send({ id, result: { protocolVersion: '1999-01-01', capabilities: {} } });
      if (behaviour === 'error-start') return send({ id, error: { code: -32000, message: 'not today' } });
      return send({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: { listChanged: true }, logging: {} },
          serverInfo: { name: 'scripted', version: '1' },
        },
      });
    case 'tools/list':
      return list(message);
    case 'tools/call':
      return params.name === 'double' ? send({ id, result: text(`${params.arguments.n * 2}`) }) : act(message);
    default:
  }
});

/** @param {Message} message */
function list({ id, params }) {
  const { cursor } = params ?? {};
  const page = Number(cursor ?? 0);
  switch (behaviour) {
    case 'hang-list':
      return;
    case 'no-list':
      return send({ id, result: { tools: 'none' } });
    case 'loop':
      return send({ id, result: { tools, nextCursor: page === 0 ? '1' : '1' } });
    case 'long-list':
      return send({
        id,
        result: {
          tools: Array.from({ length: 10 }, (_, index) => ({
            name: `tool_${page * 10 + index}`,
            description: 'One of many.',
            inputSchema: input,
          })),
          ...(page < 499 && { nextCursor: String(page + 1) }),
        },
      });
    case 'endless-list':
      return send({ id, result: { tools: [], nextCursor: String(page + 1) } });
    case 'big-list':
      return send({
        id,
        result: { tools: [{ name: 'big', description: 'x'.repeat(100_000), inputSchema: input }], nextCursor: String(page + 1) },
      });
    case 'odd-tools':
      return send({ id, result: { tools: [...tools, ...JSON.parse(argument)] } });
    default:
      return send({ id, result: { tools } });
  }
}

/** @param {Message} message */
function act({ id, params }) {
  switch (behaviour) {
    case 'die':
      console.error('out of cheese');
      return process.exit(7);
    case 'die-counted':
    case 'die-silently':
      return process.exit(0);
    case 'hang':
      return;
    case 'flood':
      for (let index = 0; index < 50_000; index++)
        send({ method: 'notifications/message', params: { level: 'info', data: `drop ${index}` } });
      return send({ id, result: text('after the flood') });
    case 'endless-flood': {
      const flood = () => {
        while (send({ method: 'notifications/progress', params: { progressToken: 999_999, progress: 1 } }));
        process.stdout.once('drain', flood);
      };
      return flood();
    }
    case 'twice':
      send({ id, result: text('first') });
      send({ id, result: text('second') });
      return;
    case 'invent':
      send({ id: 4_711, result: text('forged') });
      send({ id: 'x', result: text('forged') });
      send({ id: -1, error: { code: 1, message: 'forged' } });
      return send({ id, result: text('mine') });
    case 'big':
      return send({ id, result: text('x'.repeat(50 * 1024 * 1024)) });
    case 'big-id-last':
      process.stdout.write(`{"result":${JSON.stringify(text('x'.repeat(2 * 1024 * 1024)))},"jsonrpc":"2.0","id":${id}}\n`);
      return;
    case 'endless-line': {
      const chunk = 'x'.repeat(1024 * 1024);
      const pour = () => {
        while (process.stdout.write(chunk));
        process.stdout.once('drain', pour);
      };
      process.stdout.write('{"jsonrpc":"2.0","result":"');
      return pour();
    }
    case 'not-json':
      process.stdout.write(`oops {{{\n{"jsonrpc":"2.0","id":${id},"result":\n`);
      return send({ id, result: text('well after all') });
    case 'not-a-result':
      return send({ id, result: JSON.parse(argument) });
    case 'neither':
      return send({ id });
    case 'refuse':
      return send({ id, error: { code: -32602, message: 'n is odd', data: { n: params.arguments.n } } });
    case 'ask':
      send({ id: 'a', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
      send({ id: 'b', method: 'roots/list' });
      send({
        id: 'c',
        method: 'elicitation/create',
        params: { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } },
      });
      send({ id: 'd', method: 'ping' });
      setTimeout(
        () => send({ id, result: { content: [], structuredContent: { answers: heard.filter(({ method }) => method === undefined) } } }),
        200,
      );
      return;
    case 'steady':
      for (let step = 1; step <= 4; step++) {
        setTimeout(
          () =>
            send({
              method: 'notifications/progress',
              params: { progressToken: params._meta.progressToken, progress: step, total: 4, message: 'on it' },
            }),
          step * 200,
        );
      }
      return setTimeout(() => send({ id, result: text('done') }), 1_000);
    case 'log':
      send({ method: 'notifications/message', params: { level: 'warning', logger: 'scripted', data: { disk: 'nearly full' } } });
      return send({ id, result: text('logged') });
    case 'change':
      tools = [...tools, { name: `new_${tools.length}`, description: 'Newly there.', inputSchema: input }];
      send({ method: 'notifications/tools/list_changed' });
      return send({ id, result: text('changed') });
    case 'hang-or-count':
      if (params.arguments.n === 1) return;
      return send({ id, result: text(`${heard.filter(({ method }) => method === 'notifications/cancelled').length} cancelled`) });
    case 'answer':
      return send({ id, result: JSON.parse(argument) });
    case 'environment':
      return send({ id, result: { content: [], structuredContent: { ...process.env } } });
    case 'stderr':
      for (let index = 0; index < 20_000; index++) process.stderr.write(`${'complaint '.repeat(10)}${index}\n`);
      return send({ id, result: text('complained') });
    default:
      return send({ id, result: text(`acted ${params.arguments.n ?? ''}`) });
  }
}
