// The page on MCP, against the code: its limits, its options, its error codes.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MCP_LIMITS, mcpProvider } from '../../../src/adapters/mcp/mcp.ts';

const PAGE = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8');

test('the table of limits holds the numbers of the code', () => {
  const rows = Object.entries(MCP_LIMITS).map(([name, row]) => `| \`${name}\` | ${amount(name, row.default)} | ${row.stops} |`);
  for (const row of rows) expect(PAGE).toContain(row);
});

test('the options that it names are those that there are', () => {
  const table = /\| option \|[\s\S]+?\n\n/.exec(PAGE)?.[0] ?? '';
  const named = [...table.matchAll(/^\| (.+?) \|/gm)]
    .slice(2)
    .flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name));
  let message = '';
  try {
    // @ts-expect-error: an option that there is not
    mcpProvider({ name: 'x', command: 'x', nonsense: 1 });
  } catch (error) {
    message = String(error);
  }
  const known = /there are (.+)\./.exec(message)?.[1]?.split(', ') ?? [];
  expect(named.toSorted()).toEqual(known.toSorted());
});

test('the codes that it names are those that the code has', () => {
  const folder = new URL('../../../src/adapters/mcp/', import.meta.url);
  const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const kinds = sources.flatMap((text) => [...text.matchAll(/'(mcp_\w+)'/g)].map(([, code]) => code));
  const named = [...PAGE.matchAll(/^\| `(mcp_\w+)` \|/gm)].map(([, code]) => code);
  // These two are made of the kind of the failure.
  expect(new Set([...kinds, 'mcp_timeout', 'mcp_oversized'])).toEqual(new Set(named));
});

function amount(name: string, value: number): string {
  if (name.endsWith('Ms')) return `${value / 1000} s`;
  return name.endsWith('Bytes') ? `${value / 1024 ** 2} MiB` : value.toLocaleString('en-US');
}
