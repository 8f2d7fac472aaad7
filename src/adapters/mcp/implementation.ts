// What this side calls itself in a handshake, as client and as server.
import { readFileSync } from 'node:fs';

// The same three levels up from src/adapters/mcp and from dist/adapters/mcp.
const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

export const IMPLEMENTATION = { name: 'callgate', title: 'Callgate', version: (manifest as { version: string }).version } as const; // our own manifest
