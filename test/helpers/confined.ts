// A confined child that runs plain code of a test: what an attacker would have who has broken out of the engine. Not here: the engines' own child.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, confine, type InForce, type Means, type Sandbox } from '../../src/isolation/confine.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly inForce: InForce;
}

/** Runs a confined command to its end. `args` for a script: `['-e', 'code']`. */
export async function runConfined(command: Partial<Command>, sandbox: Sandbox, means: Means): Promise<Ended> {
  const scratch = await mkdtemp(join(tmpdir(), 'callgate-child-'));
  try {
    const confined = await confine({ file: process.execPath, args: [], reads: [], limits: {}, scratch, ...command }, sandbox, means);
    const child = spawn(confined.file, confined.args, {
      cwd: scratch,
      env: {},
      stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', ...confined.stdio],
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    confined.release();
    const [stdout, stderr, [code, signal]] = await Promise.all([textOf(child, 1), textOf(child, 2), endOf(child)]);
    return { code, signal, stdout, stderr, inForce: confined.inForce };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The JSON that a script gives to `answer(value)`, which it must call once. */
export async function askConfined(script: string, command: Partial<Command>, sandbox: Sandbox, means: Means): Promise<unknown> {
  const answer = 'const answer = (value) => require("node:fs").writeSync(1, JSON.stringify(value));';
  const ended = await runConfined({ ...command, args: ['-e', `${answer}\n${script}`] }, sandbox, means);
  if (ended.stdout === '') throw new Error(`The child gave no answer: ${JSON.stringify(ended)}`);
  return JSON.parse(ended.stdout);
}

async function textOf(child: ChildProcess, at: 1 | 2): Promise<string> {
  const stream = at === 1 ? child.stdout : child.stderr;
  if (stream === null) return '';
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) text += piece;
  return text;
}

function endOf(child: ChildProcess): Promise<[number | null, string | null]> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve([code, signal]));
  });
}
