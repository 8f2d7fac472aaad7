// A run with workspace tools, called one by one as the conversation would, and a directory of the test's own outside of the workspace.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CodeModeOptions, createCodeMode, workspaceTools } from '../../src/index.ts';

export interface OpenedWorkspace {
  /** The test's own directory: around the workspace, with a file `outside/secret.txt`. */
  readonly outer: string;
  /** The workspace's directory. */
  readonly directory: string;
  call(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export const SECRET = 'the secret outside';

export async function openWorkspace(
  options: Partial<NonNullable<CodeModeOptions['workspace']>> | ((outer: string) => NonNullable<CodeModeOptions['workspace']>) = {},
): Promise<OpenedWorkspace> {
  const outer = await realpath(await mkdtemp(join(tmpdir(), 'callgate-workspace-test-')));
  const directory = join(outer, 'inside');
  await mkdir(directory);
  await mkdir(join(outer, 'outside'));
  await writeFile(join(outer, 'outside', 'secret.txt'), SECRET);
  const given = typeof options === 'function' ? options(outer) : options;
  const codeMode = createCodeMode({
    tools: workspaceTools({ write: true }),
    workspace: { directory, ...given },
    isolation: 'inline',
    limits: { calls: 1_000_000 },
  });
  const session = await codeMode.openSession();
  return {
    outer,
    directory,
    call: async (name, input = {}) => (await session.callTool(name, input)) as Record<string, unknown>,
    close: async () => {
      await session.close();
      await codeMode.close();
      await rm(outer, { recursive: true, force: true });
    },
  };
}
