// The public names of `callgate/mcp`, in one list.
export type { McpEvent, McpListener } from './events.ts';
export { MCP_LIMITS, type McpLimitName, type McpLimits } from './limits.ts';
export type { ListedTool } from './listing.ts';
export type { McpProvider, McpProviderOptions, PerRun } from './options.ts';
export { mcpProvider } from './provider.ts';
export type { McpTool, McpToolMap } from './tool.ts';
export type { McpTransport } from './transport.ts';
