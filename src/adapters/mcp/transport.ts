// The pipe to a server: what the official SDK calls a Transport, in the part that is used here, so that the types of this package stand
// without the SDK. Not here: the pipes (stdio.ts, http.ts), what is said on them (connection.ts).
import type { McpFailure } from './failure.ts';

/** Carries JSON-RPC messages. Any `Transport` of `@modelcontextprotocol/sdk` is one. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  // `never`: whoever is told takes the message as it comes; the SDK's own type names its messages.
  onmessage?: ((message: never) => void) | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/** What a transport of our own can do besides. */
export interface OwnTransport extends McpTransport {
  /** Told of an answer that was dropped unread because it was too big; without an id when nobody can say whose it was. */
  onoversized?: ((id: number | undefined, bytes: number) => void) | undefined;
  /** Told when the answer to a request can no longer come, although the connection lives on. */
  onlost?: ((id: number, failure?: McpFailure) => void) | undefined;
  /** Why it closed, and the end of what the process wrote to its standard error. */
  obituary?(): { readonly reason: string; readonly stderr?: string };
  readonly pid?: number | undefined;
  /** Whether the process of the host should stay alive for it. */
  hold?(isHeld: boolean): void;
}
