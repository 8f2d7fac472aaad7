// What happens to servers, for whoever watches: facts that belong to no call. Not here: events of executions and calls (observe.ts).

interface EventBase {
  /** The provider's name. */
  readonly server: string;
}

export type McpEvent =
  /** It answered and has listed its tools. */
  | (EventBase & { readonly type: 'server-start'; readonly tools: number; readonly durationMs: number; readonly pid?: number })
  /** The connection is gone. `expected`: the host closed it. `stderr` is the end of what its process wrote there. */
  | (EventBase & { readonly type: 'server-end'; readonly reason: string; readonly expected: boolean; readonly stderr?: string })
  /** An optional server did not come up, and the run goes on without its tools. */
  | (EventBase & { readonly type: 'server-left-out'; readonly reason: string; readonly error: unknown })
  /** One tool of the list is unusable or was not wanted by `map`'s rules of names; the others are there. */
  | (EventBase & { readonly type: 'tool-left-out'; readonly tool: string; readonly reason: string })
  /** The list differs from the one before; runs that begin from now on have the new one. */
  | (EventBase & { readonly type: 'tools-changed'; readonly added: readonly string[]; readonly removed: readonly string[] })
  /** The server logged something. */
  | (EventBase & { readonly type: 'server-log'; readonly level: string; readonly logger?: string; readonly data: unknown })
  /** It did something that the protocol does not allow or that the host does not offer; each kind is told once per connection. */
  | (EventBase & { readonly type: 'server-misbehaved'; readonly problem: string });

/** Hears of events. What it throws is ignored. */
export type McpListener = (event: McpEvent) => void;

/** Tells a listener without letting its mistakes reach the work. */
export function tell(listener: McpListener | undefined, event: McpEvent): void {
  try {
    listener?.(event);
  } catch {
    // A listener never breaks work.
  }
}
