// `callgate ask` and `callgate chat` as a person or a script meets them: the built command against a Messages API on loopback.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  drop,
  exec,
  fail,
  hang,
  type MessagesApi,
  openMessagesApi,
  reply,
  replyWith,
  type SentRequest,
  type Step,
  text,
} from '../helpers/messages-api.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(ROOT, 'dist/cli/main.js');

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'callgate-ask-'));
  writeFileSync(
    join(cwd, 'tools.mjs'),
    `import { defineTool } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
    export default [
      defineTool({ name: 'who', description: 'Who is asking.', execute: (_, { run }) => run.invocation }),
      defineTool({ name: 'slow', description: 'Waits.', execute: (_, { signal }) => new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }) }),
    ];`,
  );
});
afterAll(() => rmSync(cwd, { recursive: true }));

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function playing(script: readonly Step[] | ((request: SentRequest, index: number) => Step)): Promise<MessagesApi> {
  const api = await openMessagesApi(script);
  closers.push(() => api.close());
  return api;
}

interface Ending {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], env: Record<string, string>, main = MAIN): ChildProcessWithoutNullStreams {
  const { ANTHROPIC_API_KEY: _key, ANTHROPIC_BASE_URL: _url, ...inherited } = process.env;
  return spawn(process.execPath, [main, ...args], { cwd, env: { ...inherited, NO_COLOR: '', FORCE_COLOR: '', ...env } });
}

function ending(child: ChildProcessWithoutNullStreams): Promise<Ending> {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
}

const keyed = (api: MessagesApi): Record<string, string> => ({ ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url });

function callgate(
  args: readonly string[],
  { input = '', env = {}, main = MAIN }: { input?: string; env?: Record<string, string>; main?: string } = {},
) {
  const child = start(args, env, main);
  // A command that is called wrongly ends without reading its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return ending(child);
}

const PROGRAM = 'const caller = await tools.who();\nreturn caller.actorId;';

describe('ask', () => {
  test('shows the program and its calls on standard error, and nothing but the answer on standard output', async () => {
    const api = await playing([reply(text('I will ask. 🧮'), exec('toolu_1', PROGRAM)), reply(text('It is ada.\u001b[2J 🧮'))]);
    const { status, stdout, stderr } = await callgate(
      ['ask', 'Who', 'am', 'I?', '--tools', 'tools.mjs', '--actor', 'ada', '--model', 'claude-test'],
      { env: keyed(api) },
    );
    expect(stdout).toBe('It is ada.\\x1b[2J 🧮\n');
    expect(stderr).toMatch(
      /^I will ask\. 🧮\nprogram\nconst caller = await tools\.who\(\);\nreturn caller\.actorId;\nok +[\d.]+ ms who\n1 call \(all ok\) in [\d.]+ ms\n2 turns, 20 tokens in, 40 out\n$/,
    );
    expect(status).toBe(0);
    expect(api.requests[0]?.body).toMatchObject({
      model: 'claude-test',
      max_tokens: 8192,
      messages: [{ role: 'user', content: 'Who am I?' }],
    });
    expect(api.requests[0]?.body.system).toContain('tools');
  });

  test('the program is highlighted where there are colours', async () => {
    const api = await playing([reply(exec('toolu_1', 'return 1')), reply(text('One.'))]);
    const { stdout, stderr } = await callgate(['ask', 'x', '--tools', 'tools.mjs'], { env: { ...keyed(api), FORCE_COLOR: '1' } });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what this is about
    expect(stderr).toMatch(/\u001b\[36mreturn\u001b\[39m \u001b\[35m1\u001b\[39m/);
    expect(stdout).toBe('One.\n');
  });

  test('reads the question from standard input, with what it is told of the request', async () => {
    const api = await playing([reply(text('Yes.'))]);
    const { status, stdout } = await callgate(['ask', '--tools', 'tools.mjs', '--system', 'Be brief.', '--max-tokens', '99'], {
      input: 'Is it\nwarm? ü\n',
      env: keyed(api),
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Yes.\n' });
    expect(api.requests[0]?.body).toMatchObject({ max_tokens: 99, messages: [{ content: 'Is it\nwarm? ü\n' }] });
    expect(api.requests[0]?.body.system).toMatch(/^Be brief\.\n\n/);
  });

  test('the answer arrives piece by piece', async () => {
    const api = await playing([replyWith({ content: [text('A long answer in many words. '.repeat(60))], delayMs: 3 })]);
    const child = start(['ask', 'x', '--tools', 'tools.mjs'], keyed(api));
    let pieces = 0;
    child.stdout.on('data', () => (pieces += 1));
    child.stdin.end();
    const { status, stdout } = await ending(child);
    expect(stdout).toBe(`${'A long answer in many words. '.repeat(60)}\n`);
    expect(pieces).toBeGreaterThan(2);
    expect(status).toBe(0);
  });

  test('a failed program is shown, and the model goes on', async () => {
    const api = await playing([reply(exec('toolu_1', 'throw new Error("no\\u001b[2J")')), reply(text('Sorry.'))]);
    const { status, stdout, stderr } = await callgate(['ask', 'x', '--tools', 'tools.mjs'], { env: keyed(api) });
    expect(stderr).toContain('exec failed\nStatus: error\nError: no\\x1b[2J (line 1');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Sorry.\n' });
  });

  test('an answer that is none is status 1, with the reason', async () => {
    const api = await playing([replyWith({ content: [text('I')], stop: 'refusal' })]);
    const { status, stderr } = await callgate(['ask', 'x', '--tools', 'tools.mjs'], { env: keyed(api) });
    expect(stderr).toContain('refused: The model refused to answer.');
    expect(status).toBe(1);
  });

  test('a request that fails is status 1, in the words of the API', async () => {
    const api = await playing([fail(404, 'not_found_error', 'model: claude-none')]);
    const { status, stdout, stderr } = await callgate(['ask', 'x', '--tools', 'tools.mjs', '--model', 'claude-none'], { env: keyed(api) });
    expect(stderr).toBe('callgate: The request to the model failed: 404 model: claude-none\n');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  test('a reply that breaks off is told', async () => {
    const api = await playing([drop({ content: [exec('toolu_1', 'return 1')] }, 6), reply(text('One.'))]);
    const { status, stdout, stderr } = await callgate(['ask', 'x', '--tools', 'tools.mjs'], { env: keyed(api) });
    expect(stderr).toContain('the reply broke off; asking again');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'One.\n' });
  });

  test('an interruption ends the program and the command, with status 130', async () => {
    const api = await playing([reply(exec('toolu_1', 'await tools.slow()'))]);
    const child = start(['ask', 'x', '--tools', 'tools.mjs'], keyed(api));
    child.stderr.on('data', (data: Buffer) => {
      if (data.toString().includes('tools.slow')) setTimeout(() => child.kill('SIGINT'), 300);
    });
    expect(await ending(child)).toMatchObject({ status: 130, stdout: '' });
  });

  test.each<[string, readonly string[], Record<string, string>, RegExp]>([
    [
      'no key',
      ['ask', 'x', '--tools', 'tools.mjs'],
      {},
      /^callgate: `callgate ask` needs an API key of Anthropic; set ANTHROPIC_API_KEY\.\n$/,
    ],
    ['an empty key', ['chat', '--tools', 'tools.mjs'], { ANTHROPIC_API_KEY: ' ' }, /^callgate: `callgate chat` needs an API key/],
    ['no tools', ['ask', 'x'], { ANTHROPIC_API_KEY: 'test-key' }, /--tools/],
    [
      'no such tools',
      ['ask', 'x', '--tools', 'none.mjs'],
      { ANTHROPIC_API_KEY: 'test-key' },
      /^callgate: There is no tools module none\.mjs/,
    ],
    ['an empty question', ['ask', '--tools', 'tools.mjs'], { ANTHROPIC_API_KEY: 'test-key' }, /^callgate: The question is empty/],
    ['a limit of none', ['ask', 'x', '--tools', 'tools.mjs', '--max-turns', '0'], { ANTHROPIC_API_KEY: 'test-key' }, /whole number from 1/],
  ])('%s is one sentence and status 2', async (_, args, env, message) => {
    const { status, stdout, stderr } = await callgate(args, { env });
    expect(stderr).toMatch(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  test('no SDK is one sentence and status 2', async () => {
    // The package with what it depends on, and nothing else.
    const place = mkdtempSync(join(tmpdir(), 'callgate-bare-'));
    try {
      cpSync(join(ROOT, 'dist'), join(place, 'dist'), { recursive: true });
      cpSync(join(ROOT, 'package.json'), join(place, 'package.json'));
      const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
      for (const name of Object.keys(dependencies)) {
        const link = join(place, 'node_modules', name);
        await mkdir(dirname(link), { recursive: true });
        symlinkSync(join(ROOT, 'node_modules', name), link);
      }
      const { status, stdout, stderr } = await callgate(['ask', 'x', '--tools', 'tools.mjs'], {
        env: { ANTHROPIC_API_KEY: 'test-key' },
        main: join(place, 'dist/cli/main.js'),
      });
      expect(stderr).toBe('callgate: `callgate ask` needs the package @anthropic-ai/sdk 1.x; install it: npm install @anthropic-ai/sdk\n');
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    } finally {
      rmSync(place, { recursive: true });
    }
  });
});

describe('chat', () => {
  test('keeps the conversation and what programs stored', async () => {
    const api = await playing([
      reply(exec('toolu_1', 'store("n", 41); return "ok"')),
      reply(text('Stored.')),
      reply(exec('toolu_2', 'return load("n") + 1')),
      reply(text('It is 42.')),
    ]);
    const { status, stdout } = await callgate(['chat', '--tools', 'tools.mjs'], {
      input: 'Store 41.\n\nOne more?\n/exit\nNever asked.\n',
      env: keyed(api),
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Stored.\nIt is 42.\n' });
    expect(api.requests).toHaveLength(4);
    expect(api.requests[3]?.body.messages).toHaveLength(7);
    expect(api.requests[3]?.body.messages.at(-1)?.content).toMatchObject([{ tool_use_id: 'toolu_2', content: '42' }]);
  });

  test('a question that is not answered does not end it', async () => {
    const api = await playing([fail(400, 'invalid_request_error', 'No.'), reply(text('Yes.'))]);
    const { status, stdout, stderr } = await callgate(['chat', '--tools', 'tools.mjs'], { input: 'One?\nTwo?\n', env: keyed(api) });
    expect(stderr).toContain('callgate: The request to the model failed: 400 No.');
    expect({ status, stdout }).toEqual({ status: 1, stdout: 'Yes.\n' });
  });

  test('Ctrl-C ends the turn and not the conversation, and once nothing is going on, the conversation', async () => {
    const api = await playing([reply(exec('toolu_1', 'await tools.slow()')), reply(text('Here again.')), hang()]);
    const child = start(['chat', '--tools', 'tools.mjs'], keyed(api));
    const ended = ending(child);
    child.stdin.write('Wait.\n');
    let stderr = '';
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (data: Buffer) => {
        stderr += data.toString();
        if (stderr.includes('tools.slow')) resolve();
      });
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill('SIGINT');
    child.stdin.write('Still there?\n');
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (data: Buffer) => {
        if (data.toString().includes('Here again.')) resolve();
      });
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    child.kill('SIGINT');
    const { stdout } = await ended;
    expect(stdout).toBe('Here again.\n');
    expect(stderr).toContain('(interrupted)');
    expect(api.requests).toHaveLength(2);
    expect(api.requests[1]?.body.messages.at(-1)?.content).toMatchObject([
      { type: 'tool_result', is_error: true },
      { type: 'text', text: 'Still there?' },
    ]);
  });
});
