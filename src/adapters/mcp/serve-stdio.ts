// One client on the standard streams of this process. The end of the input is the end of the connection. Not here: keeping others from writing
// to the output (the command line does, main.ts).
import type { Readable, Writable } from 'node:stream';
import type { CodeMode } from '../../index.ts';
import { loadServerSdk } from './sdk.ts';
import { type McpServing, type ServeOptions, serveMcp } from './serve.ts';

export interface ServeStdioOptions extends ServeOptions {
  /** Default: the process's own. */
  readonly input?: Readable | undefined;
  /** Default: the process's own. Nothing else may write to it. */
  readonly output?: Writable | undefined;
}

/** Serves the client that started this process. Rejects as `serveMcp()` does. */
export async function serveMcpStdio(
  codeMode: CodeMode,
  { input = process.stdin, output = process.stdout, ...options }: ServeStdioOptions = {},
): Promise<McpServing> {
  const { StdioServerTransport } = await loadServerSdk();
  const serving = await serveMcp(codeMode, new StdioServerTransport(input, output), options);
  const end = (): void => void serving.close();
  input.once('end', end);
  input.once('close', end);
  // A client that has gone does not read either.
  output.once('error', end);
  void serving.closed.then(() => {
    input.removeListener('end', end);
    input.removeListener('close', end);
  });
  return serving;
}
