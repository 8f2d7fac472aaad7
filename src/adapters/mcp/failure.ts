// What can go wrong between the host and a server, by kind, before anybody decides who is told. Not here: errors that a tool of the
// server reports itself, which are results (result.ts).

/**
 * - `start`: it did not come up; - `ended`: the connection is gone; - `timeout`: no answer in time; - `cancelled`: the host gave up;
 * - `refused`: the server answered with a JSON-RPC error; - `protocol`: an answer that is none; - `oversized`: an answer over `messageBytes`.
 */
export type FailureKind = 'start' | 'ended' | 'timeout' | 'cancelled' | 'refused' | 'protocol' | 'oversized';

/** `message` is a fragment that goes on from "The MCP server `x` ": "has ended (exit code 1)". It holds no path or secret of the host. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly kind: FailureKind;
  /** What a server said with a JSON-RPC error. */
  readonly code: number | undefined;
  readonly data: unknown;
  /** For people on the host: the end of what a process wrote to its standard error. */
  readonly stderr: string | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    { code, data, stderr, cause }: { code?: number; data?: unknown; stderr?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.code = code;
    this.data = data;
    this.stderr = stderr;
  }
}
