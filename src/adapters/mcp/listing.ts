// Asks a server for its tools, page by page, raw: one odd tool does not cost the list. Bounded in pages, tools and bytes, and not led in
// circles. Not here: what makes a tool usable (tool.ts).
import { isRecord } from './connection.ts';
import { McpFailure } from './failure.ts';
import type { McpLimits } from './limits.ts';

/** A tool as the server describes it; nothing but the shape around it has been checked. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  readonly [key: string]: unknown;
}

export interface Listing {
  readonly tools: readonly ListedTool[];
  /** Members of the list that are no tools, in words. */
  readonly strange: readonly string[];
}

/** Longest cursor that is sent back. */
const CURSOR_LENGTH = 16 * 1024;

/** `page` asks for one page. Rejects with a `McpFailure` for a list that is none or that goes over a limit. */
export async function listTools(
  page: (params: { readonly cursor?: string }) => Promise<unknown>,
  limits: Pick<McpLimits, 'pages' | 'tools' | 'listBytes'>,
): Promise<Listing> {
  const tools: ListedTool[] = [];
  const strange: string[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    if (pages > limits.pages) throw tooMuch(`lists its tools on more than ${limits.pages} pages`, 'pages');
    const answer = await page(cursor === undefined ? {} : { cursor });
    if (!isRecord(answer) || !Array.isArray(answer['tools']))
      throw new McpFailure('protocol', 'answered `tools/list` with no list of tools');
    // Without definitions nothing is left to count, so the text is made only here.
    bytes += JSON.stringify(answer['tools']).length;
    if (bytes > limits.listBytes) throw tooMuch(`describes its tools in more than ${limits.listBytes} bytes`, 'listBytes');
    for (const tool of answer['tools'] as unknown[]) {
      if (isTool(tool)) tools.push(tool);
      else strange.push(`entry ${tools.length + strange.length + 1} of the list has no name`);
      if (tools.length + strange.length > limits.tools) throw tooMuch(`lists more than ${limits.tools} tools`, 'tools');
    }
    const next = answer['nextCursor'];
    if (next === undefined || next === null || next === '') return { tools, strange };
    if (typeof next !== 'string' || next.length > CURSOR_LENGTH) throw new McpFailure('protocol', 'sent a cursor that is none');
    if (cursors.has(next)) throw new McpFailure('protocol', 'lists its tools in a circle: a cursor came again');
    cursors.add(next);
    cursor = next;
  }
}

function isTool(value: unknown): value is ListedTool {
  return isRecord(value) && typeof value['name'] === 'string' && value['name'] !== '';
}

function tooMuch(what: string, limit: string): McpFailure {
  return new McpFailure('protocol', `${what}; the limit \`${limit}\` of its provider can be raised`);
}
