// The official SDK's parts that a server is made of, loaded when the first one is. Not here: what is done with them.
import { CodeModeError } from '../../index.ts';

export interface ServerSdk {
  readonly Server: typeof import('@modelcontextprotocol/sdk/server/index.js').Server;
  readonly StdioServerTransport: typeof import('@modelcontextprotocol/sdk/server/stdio.js').StdioServerTransport;
  readonly StreamableHTTPServerTransport: typeof import('@modelcontextprotocol/sdk/server/streamableHttp.js').StreamableHTTPServerTransport;
  readonly types: typeof import('@modelcontextprotocol/sdk/types.js');
}

/** Throws a `CodeModeError` with a hint when the SDK is not installed. */
export async function loadServerSdk(): Promise<ServerSdk> {
  try {
    const [{ Server }, { StdioServerTransport }, { StreamableHTTPServerTransport }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    return { Server, StdioServerTransport, StreamableHTTPServerTransport, types };
  } catch (cause) {
    throw new CodeModeError(
      'option_invalid',
      'Serving MCP needs the package `@modelcontextprotocol/sdk`: npm install @modelcontextprotocol/sdk',
      {
        cause,
      },
    );
  }
}
