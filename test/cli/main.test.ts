// The built command as a person or a script meets it: streams, exit status, interruption.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PACKAGE = new URL('../../dist/index.js', import.meta.url).href;

let cwd: string;
beforeAll(() => {
  if (!existsSync(MAIN)) throw new Error(`There is no ${MAIN}; run \`npm run build\` first.`);
  cwd = mkdtempSync(join(tmpdir(), 'callgate-cli-'));
  writeFileSync(
    join(cwd, 'tools.mjs'),
    `import { defineTool, ToolError } from ${JSON.stringify(PACKAGE)};
    const inputSchema = { type: 'object', properties: { text: { type: 'string' }, ms: { type: 'integer' } }, additionalProperties: false };
    // Keeps the process alive by itself: the command must end all the same.
    setInterval(() => {}, 1000);
    export default [
      defineTool({ name: 'echo', description: 'Gives the text back.', inputSchema, execute: ({ text }) => text }),
      defineTool({ name: 'who', description: 'Who is asking.', inputSchema, execute: (_, { run }) => run.invocation }),
      defineTool({ name: 'wait', description: 'Waits.', inputSchema, execute: ({ ms }, { signal }) => new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms, 'waited');
        signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); });
      }) }),
      defineTool({ name: 'fail', description: 'Fails.', inputSchema, execute: () => { throw new ToolError('No such thing\\u001b[2J.', { code: 'gone' }); } }),
    ];`,
  );
  writeFileSync(join(cwd, 'tools.xyz'), 'export default [];');
});
afterAll(() => rmSync(cwd, { recursive: true }));

function start(args: readonly string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...process.env, NO_COLOR: '', FORCE_COLOR: '', ...env } });
}

interface Ending {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
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

function callgate(
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<Ending> {
  const child = start(args, env);
  // A command that is called wrongly ends without reading its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return ending(child);
}

const runProgram = (input: string, ...more: string[]) => callgate(['run', '-', '--tools', 'tools.mjs', ...more], { input });

test('output and value go to standard output, calls to standard error, status 0', async () => {
  const { status, stdout, stderr } = await runProgram(
    'console.log("hello"); const all: string[] = await Promise.all(["a", "b"].map((text) => tools.echo({ text }))); return { all };',
  );
  expect(stdout).toBe('hello\n{\n  "all": [\n    "a",\n    "b"\n  ]\n}\n');
  expect(stderr).toMatch(/^ok +[\d.]+ ms echo\nok +[\d.]+ ms echo\n2 calls \(all ok\) in [\d.]+ ms\n$/);
  expect(status).toBe(0);
});

test('a program that throws is status 1, its sentence and place on standard error, its output kept', async () => {
  const { status, stdout, stderr } = await runProgram('console.log("before");\nthrow new TypeError("not today");');
  expect(stdout).toBe('before\n');
  expect(stderr).toContain('program failed: TypeError: not today (line 2');
  expect(status).toBe(1);
});

test('a failed call is told as it happens, and nothing it says reaches the terminal raw', async () => {
  const { status, stderr } = await runProgram('await tools.fail({});');
  expect(stderr).toMatch(/^error +[\d.]+ ms fail: No such thing\\x1b\[2J\.\n/);
  expect(stderr).not.toContain('\u001b');
  expect(status).toBe(1);
});

test('terminal escapes in output and value are printed as text', async () => {
  const source = String.raw`console.log('\u001b[2J\u001b]0;pwn\u0007\u009b31m'); console.log('a\rb\nc\u2028d\u0000e\u202e'); return 'done\u001b[0m';`;
  const { status, stdout } = await runProgram(source);
  expect(stdout).toBe('\\x1b[2J\\x1b]0;pwn\\x07\\x9b31m\na\\rb\nc\\u2028d\\x00e\\u202e\ndone\\x1b[0m\n');
  expect(status).toBe(0);
});

test('--json prints one document and nothing else on standard output', async () => {
  const { status, stdout } = await runProgram('console.log("hello"); return [1, await tools.echo({ text: "x" })];', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', value: [1, 'x'], calls: [{ status: 'ok' }] });
  expect(status).toBe(0);
});

test('--json of a failed program is a document too, with status 1', async () => {
  const { status, stdout } = await runProgram('throw new Error("no");', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ status: 'error', error: { kind: 'program', message: 'no' } });
  expect(status).toBe(1);
});

test('identity and context come from the command line', async () => {
  const { stdout } = await runProgram(
    'return await tools.who();',
    '--json',
    '--actor',
    'agent-7',
    '--context',
    '{"tenant":"north"}',
    '--interface',
    'test',
  );
  expect(JSON.parse(stdout)).toMatchObject({ value: { actorId: 'agent-7', context: { tenant: 'north' }, interface: 'test' } });
});

test('a limit given on the command line holds', async () => {
  const { status, stdout } = await runProgram(
    'await tools.echo({ text: "a" }); await tools.echo({ text: "b" });',
    '--json',
    '--limit',
    'calls=1',
  );
  expect(JSON.parse(stdout)).toMatchObject({ status: 'error' });
  expect(status).toBe(1);
});

test.each<[string, string[], RegExp]>([
  [
    'an unknown option',
    ['run', '-', '--tools', 'tools.mjs', '--limits', 'calls=1'],
    /unknown option '--limits'[\s\S]*Did you mean --limit\?/,
  ],
  ['no tools', ['run', '-'], /There are no tools: say --tools MODULE, --mcp CONFIG\.json, or both\./],
  ['no program', ['run', '--tools', 'tools.mjs'], /missing required argument 'file'/],
  ['a missing program', ['run', 'nowhere.ts', '--tools', 'tools.mjs'], /The program nowhere\.ts cannot be read: there is no such file\./],
  ['a missing module', ['run', '-', '--tools', 'nowhere.mjs'], /There is no tools module nowhere\.mjs/],
  [
    'a module that Node cannot load',
    ['run', '-', '--tools', 'tools.xyz'],
    /The tools module tools\.xyz failed to load: .*compile the module first/,
  ],
  [
    'a misspelt limit',
    ['run', '-', '--tools', 'tools.mjs', '--limit', 'walMs=5'],
    /There is no limit `walMs`\. Did you mean `wallMs`\? The limits are /,
  ],
  [
    'a negative limit',
    ['run', '-', '--tools', 'tools.mjs', '--limit', 'wallMs=-5'],
    /The limit `wallMs` should be a whole number of ms from 1/,
  ],
  ['a limit without a number', ['run', '-', '--tools', 'tools.mjs', '--limit', 'wallMs=soon'], /It should be a name and a whole number/],
  ['a context that is no object', ['run', '-', '--tools', 'tools.mjs', '--context', '[1]'], /It should be a JSON object/],
  ['an unknown isolation', ['run', '-', '--tools', 'tools.mjs', '--isolation', 'moon'], /Allowed choices are thread, process, inline/],
  ['an unknown command', ['walk'], /unknown command 'walk'/],
  ['no command', [], /Usage: callgate/],
])('%s is status 2 with a sentence on standard error and an empty standard output', async (_, args, sentence) => {
  const { status, stdout, stderr } = await callgate(args);
  expect(stderr).toMatch(sentence);
  expect(stdout).toBe('');
  expect(status).toBe(2);
});

test('help and version are answers: standard output, status 0', async () => {
  const [help, version] = await Promise.all([callgate(['run', '--help']), callgate(['--version'])]);
  expect(help).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('--tools <module>') });
  expect(version).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test('colours are for those who ask: none away from a terminal, none with NO_COLOR', async () => {
  const args = ['run', '-', '--tools', 'tools.mjs'];
  const input = 'await tools.echo({ text: "a" })';
  const [forced, refused, silent] = await Promise.all([
    callgate(args, { input, env: { FORCE_COLOR: '1' } }),
    callgate(args, { input, env: { FORCE_COLOR: '1', NO_COLOR: '1' } }),
    callgate(args, { input }),
  ]);
  expect(forced.stderr).toContain('\u001b[32mok');
  expect(refused.stderr).not.toContain('\u001b');
  expect(silent.stderr).not.toContain('\u001b');
});

test('an interruption aborts the running call and ends with 130', async () => {
  const child = start(['run', '-', '--tools', 'tools.mjs', '--limit', 'calls=2']);
  const end = ending(child);
  child.stdin.end('await tools.echo({ text: "ready" }); return await tools.wait({ ms: 60000 });');
  // The first call's line is the sign that the program is under way.
  await new Promise((resolve) => child.stderr.once('data', resolve));
  child.kill('SIGINT');
  const { status, stderr } = await end;
  expect(stderr).toContain('program failed: aborted');
  expect(status).toBe(130);
});

test('a reader that closes early is no error', async () => {
  const child = start(['run', '-', '--tools', 'tools.mjs']);
  child.stdout.destroy();
  child.stdin.end('return "x".repeat(500_000);');
  const { status, stderr } = await ending(child);
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
