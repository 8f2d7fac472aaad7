// The public names of `callgate/mcp`, in one list.
export type { McpEvent, McpListener } from './events.ts';
export { ProgressFeed } from './feed.ts';
export { MCP_LIMITS, type McpLimitName, type McpLimits } from './limits.ts';
export type { ListedTool } from './listing.ts';
export type { McpProvider, McpProviderOptions, PerRun } from './options.ts';
export { mcpProvider } from './provider.ts';
export { type McpServing, type ServeOptions, serveMcp } from './serve.ts';
export { type McpHttpServing, type ServeHttpOptions, serveMcpHttp } from './serve-http.ts';
export { type ServeStdioOptions, serveMcpStdio } from './serve-stdio.ts';
export { type McpServersOptions, mcpServers } from './servers.ts';
export type { McpTool, McpToolMap } from './tool.ts';
export type { McpTransport } from './transport.ts';
