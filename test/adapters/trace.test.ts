// Trace files: what is in them and what is not, that they survive a process that dies, and that programs run again from them.
import { spawnSync } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programsOf, replay } from '../../src/adapters/replay.ts';
import { readTrace, traceFile } from '../../src/adapters/trace.ts';
import { type CodeModeOptions, createCodeMode, defineTool, ToolError } from '../../src/index.ts';

let folder: string;
let count = 0;
const fresh = (): string => join(folder, `trace-${++count}.jsonl`);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callgate-trace-'));
});
afterAll(() => rm(folder, { recursive: true }));

const later = defineTool({
  name: 'later',
  description: 'Answers after some milliseconds.',
  inputSchema: { type: 'object', properties: { ms: { type: 'number' } } },
  execute: ({ ms = 0 }) => new Promise((resolve) => setTimeout(() => resolve(`${ms} ms`), ms)),
});
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  inputSchema: {},
  execute: () => {
    throw new ToolError('No luck.', { code: 'no_luck' });
  },
});
const crash = defineTool({
  name: 'crash',
  description: 'Fails inside.',
  inputSchema: {},
  execute: () => {
    throw new Error('password at /etc/secret');
  },
});
const tools = [later, { namespace: 'deep', tools: () => [fail, crash] }];

async function traced(program: string, options: Partial<CodeModeOptions> = {}): Promise<string> {
  const path = fresh();
  const trace = traceFile(path);
  const codeMode = createCodeMode({ tools, isolation: 'inline', observer: trace, capture: true, ...options });
  await codeMode.run(program);
  await codeMode.close();
  trace.close();
  return path;
}

const PROGRAM = `
const [slow, quick] = [tools.later({ ms: 30 }), tools.later({ ms: 1 })];
const first = await Promise.race([slow, quick]);
const code = await tools.deep.fail({ why: 'test' }).catch((error) => error.code);
console.log(first, code);
return { first, code, both: await Promise.all([slow, quick]) };`;

describe('writing', () => {
  test('a trace is a header and one line an event, and only its owner may read it', async () => {
    const path = await traced(PROGRAM);
    const lines = (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toEqual({ type: 'trace', version: 1, started: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), node: process.version });
    expect(lines[1]).toMatchObject({ type: 'run-start', seq: 1 });
    expect(lines.at(-1)).toMatchObject({ type: 'run-end' });
    expect(lines.slice(1).map(({ seq }) => seq)).toEqual(lines.slice(1).map((_, index) => index + 1));
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('an error that a program was not shown is a word, and payloads that nobody asked for are not there', async () => {
    const path = await traced('try { await tools.deep.crash({ key: "sesame" }) } catch {} return "sesame"', { capture: false });
    const text = await readFile(path, 'utf8');
    expect(text).toContain('"error":"Error"');
    expect(text).not.toMatch(/password|secret|sesame|trace\.test/);
  });

  test('no line holds what a terminal obeys, and parses to the same', async () => {
    const evil = '\u001b[2J\u009b31m\u202e\u2028\u007f';
    const path = await traced(`console.log(${JSON.stringify(evil)}); return 1`);
    const text = await readFile(path, 'utf8');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]/);
    const { events } = await readTrace(path);
    const output = events.find((event) => event.type === 'output');
    expect(output?.type === 'output' && output.text?.text).toBe(evil);
  });

  test('a file that is there is not overwritten, nor a folder made', async () => {
    const path = fresh();
    await writeFile(path, 'mine');
    expect(() => traceFile(path)).toThrow(/exists already/);
    expect(() => traceFile(join(folder, 'no', 'such.jsonl'))).toThrow(/cannot be written/);
    expect(await readFile(path, 'utf8')).toBe('mine');
  });

  test('a process that dies in the middle leaves a trace that can be read', async () => {
    const path = fresh();
    const script = `
      const { createCodeMode, defineTool } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)});
      const { traceFile } = await import(${JSON.stringify(new URL('../../dist/adapters/trace.js', import.meta.url).href)});
      const die = defineTool({ name: 'die', description: 'Dies.', inputSchema: {}, execute: () => new Promise(() => setTimeout(() => process.kill(process.pid, 'SIGKILL'), 20)) });
      await createCodeMode({ tools: die, isolation: 'inline', observer: traceFile(${JSON.stringify(path)}), capture: true }).run('await tools.die()');`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', script]);
    expect(signal).toBe('SIGKILL');
    const { events, torn } = await readTrace(path);
    expect(events.map(({ type }) => type)).toEqual(['run-start', 'execution-start', 'call-queued', 'call-start']);
    expect(torn).toBe(false);
    await appendFile(path, '{"type":"call-en');
    expect(await readTrace(path)).toMatchObject({ torn: true, events: { length: 4 } });
  });
});

describe('reading', () => {
  test.each([
    ['nothing', '', /it is empty/],
    ['other JSON', '{"a":1}\n', /no header/],
    ['no JSON', 'hello\n', /no header/],
    ['a later version', '{"type":"trace","version":2}\n', /version 2; this reads version 1/],
    ['a broken line in the middle', '{"type":"trace","version":1}\n{"ty\n{"type":"run-end"}\n', /line 2 is not JSON/],
  ])('%s is refused with the reason', async (_, text, message) => {
    const path = fresh();
    await writeFile(path, text);
    await expect(readTrace(path)).rejects.toThrow(message);
  });

  test('a file that is not there is named', async () => {
    await expect(readTrace(join(folder, 'none'))).rejects.toThrow(/none` cannot be read/);
  });
});

describe('running again', () => {
  test('a program goes the same way, races and failures too, without a tool being called', async () => {
    const trace = await readTrace(await traced(PROGRAM));
    const [id] = programsOf(trace) as [string];
    const outcome = await replay(trace, id);
    expect(outcome).toMatchObject({
      type: 'same',
      calls: 3,
      result: { value: { first: '1 ms', code: 'no_luck', both: ['30 ms', '1 ms'] }, output: '1 ms no_luck' },
    });
  });

  test('a program that the model changed is told the first call that differs', async () => {
    const path = await traced(PROGRAM);
    const edited = (await readFile(path, 'utf8')).replace('ms: 1 })', 'ms: 2 })');
    await writeFile(path, edited);
    const trace = await readTrace(path);
    expect(await replay(trace, programsOf(trace)[0] as string)).toMatchObject({
      type: 'different',
      difference: 'Call 2 is `later({"ms":2})`; recorded was `later({"ms":1})` at line 2.',
    });
  });

  test.each([
    ['another value', 'return 1', 'return 2', 'Its value is 2; recorded was 1.'],
    ['another end', 'return 1', 'throw 1 ', 'It ended as error (program); recorded was completed.'],
    ['fewer calls', 'await tools.later({}); return 1', '                       return 1', 'It made 0 calls; recorded were 1.'],
    [
      'more calls',
      'return 1 /* ************** */',
      'return (tools.later({}), 1)  ',
      /^Call 1 is `later\(\{\}\)`, and the recorded program made no more\.$/,
    ],
  ])('%s is a difference', async (_, before, after, difference) => {
    const path = await traced(before);
    await writeFile(path, (await readFile(path, 'utf8')).replace(before, after));
    const trace = await readTrace(path);
    const outcome = await replay(trace, programsOf(trace)[0] as string);
    expect(outcome).toMatchObject({
      type: 'different',
      difference: typeof difference === 'string' ? difference : expect.stringMatching(difference),
    });
  });

  test('a trace without payloads, or with cut ones, says what is missing', async () => {
    const bare = await readTrace(await traced('return 1', { capture: false }));
    expect(await replay(bare, programsOf(bare)[0] as string)).toMatchObject({ type: 'impossible', reason: 'its text was not captured' });
    const cut = await readTrace(await traced('return (await tools.later({ ms: 1 })).length', { captureBytes: 50 }));
    expect(await replay(cut, programsOf(cut)[0] as string)).toMatchObject({ type: 'same' });
    const short = await readTrace(
      await traced(`const a = 1; return await tools.later({ note: '${'x'.repeat(100)}' })`, { captureBytes: 150 }),
    );
    expect(await replay(short, programsOf(short)[0] as string)).toMatchObject({ type: 'impossible' });
  });
});
