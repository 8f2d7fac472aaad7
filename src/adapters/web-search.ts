// A ready-made tool that searches the web through Tavily: compact numbered text for a model, and the same as data for a program.
// Not here: reading pages.
//
// https://docs.tavily.com/documentation/api-reference/endpoint/search
import { type Binding, CodeModeError, defineTool, type Tool, ToolError } from '../index.ts';

export interface WebSearchOptions {
  /** Of Tavily. Without one, or with an empty one, the tool is not in the catalog. A function may choose it for each run. */
  readonly apiKey: string | undefined | ((binding: Binding) => string | undefined);
  /** Results of one search, from 1 to 20. Default 5. */
  readonly maxResults?: number | undefined;
  /** Default: `https://api.tavily.com/search`. */
  readonly endpoint?: string | URL | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Time for one search. Default 15 000. */
  readonly timeoutMs?: number | undefined;
  /** Default `web_search`. */
  readonly name?: string | undefined;
}

/** One page that was found. */
export interface WebSearchResult {
  title: string;
  url: string;
  /** What of the page fits the query, 1 000 characters at most. */
  content: string;
  /** From 0 to 1. */
  score?: number;
  publishedDate?: string;
}

const ENDPOINT = 'https://api.tavily.com/search';
const TIMEOUT_MS = 15_000;
/** Longest query that the service takes well. */
const MOST_QUERY = 400;
const MOST_CONTENT = 1_000;
/** Most of an answer that is read: twenty results are some 60 KB. */
const MOST_BYTES = 1024 * 1024;

/**
 * The tool `web_search({ query })`: gives `{ text, results }`, the text numbered for a model. What goes wrong is a `ToolError` that says what to do;
 * the key is in no message, event or trace. Throws `option_invalid` for wrong options.
 */
export function webSearchTool({
  apiKey,
  maxResults = 5,
  endpoint = ENDPOINT,
  fetch: request = fetch,
  timeoutMs = TIMEOUT_MS,
  name = 'web_search',
}: WebSearchOptions): Tool {
  if (!(Number.isInteger(maxResults) && maxResults >= 1 && maxResults <= 20))
    throw new CodeModeError(
      'option_invalid',
      `webSearchTool(): \`maxResults\` should be a whole number from 1 to 20, but is ${String(maxResults)}.`,
    );
  const url = new URL(endpoint);
  const keyOf = (binding: Binding): string => (typeof apiKey === 'function' ? apiKey(binding) : apiKey)?.trim() ?? '';
  return defineTool({
    name,
    description: `Searches the web and gives the ${maxResults === 1 ? 'best result' : `${maxResults} best results`} with title, URL and the fitting part of each page.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: `What to look for, as one would type it into a search engine; ${MOST_QUERY} characters at most.`,
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'The results, numbered, to be read.' },
        results: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              title: { type: 'string' },
              url: { type: 'string' },
              content: { type: 'string' },
              score: { type: 'number' },
              publishedDate: { type: 'string' },
            },
            required: ['title', 'url', 'content'],
            additionalProperties: false,
          },
        },
      },
      required: ['text', 'results'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
    // The tool's own time is over first, so that what went wrong is told in its words.
    timeoutMs: timeoutMs + 1_000,
    availableIf: (binding) => keyOf(binding) !== '',
    execute: async ({ query }, context) => {
      const text = query.trim();
      if (text === '') throw new ToolError('The query is empty; say what to look for.', { code: 'query_invalid' });
      if (text.length > MOST_QUERY)
        throw new ToolError(`The query has ${text.length} characters; shorten it to ${MOST_QUERY}.`, { code: 'query_invalid' });
      const body = await search({ url, key: keyOf(context), query: text, maxResults, request, timeoutMs, signal: context.signal });
      const results = readResults(body).slice(0, maxResults);
      return { text: numbered(text, results), results };
    },
  });
}

interface SearchRequest {
  readonly url: URL;
  readonly key: string;
  readonly query: string;
  readonly maxResults: number;
  readonly request: typeof fetch;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The service's answer as JSON. No error of the connection passes as it is: it may hold the request, and with it the key. */
async function search({ url, key, query, maxResults, request, timeoutMs, signal }: SearchRequest): Promise<unknown> {
  const time = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string | undefined;
  try {
    response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: maxResults }),
      // A redirect would carry the key somewhere else.
      redirect: 'error',
      signal: AbortSignal.any([signal, time]),
    });
    text = await readBounded(response);
  } catch {
    signal.throwIfAborted();
    if (time.aborted) throw new ToolError(`The web search did not answer within ${timeoutMs} ms; try again.`, { code: 'search_timeout' });
    throw new ToolError('The web search cannot be reached; try again later.', { code: 'search_unreachable' });
  }
  if (!response.ok) throw refusal(response);
  if (text === undefined)
    throw new ToolError(`The web search answered more than ${MOST_BYTES} bytes; ask for something narrower.`, { code: 'search_failed' });
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable();
  }
}

/** The body, or nothing when it is longer than we read. */
async function readBounded(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    // Leaving the loop ends the connection.
    if (bytes > MOST_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function refusal(response: Response): ToolError {
  const { status, headers } = response;
  const seconds = /^\d{1,5}$/.exec(headers.get('retry-after') ?? '')?.[0];
  switch (status) {
    case 400:
    case 422:
      return new ToolError('The web search did not accept the query; put it in other words.', { code: 'query_invalid' });
    case 401:
    case 403:
      return new ToolError('The web search refused the application’s key; searching will not work until somebody corrects it.', {
        code: 'search_unauthorized',
      });
    case 429:
      return new ToolError(
        `The web search takes no more requests at the moment; try again ${seconds === undefined ? 'later' : `in ${seconds} seconds`}.`,
        { code: 'search_limited' },
      );
    case 432:
    case 433:
      return new ToolError('The application has used up its web searches.', { code: 'search_limited' });
    default:
      return new ToolError(`The web search failed (status ${status}); try again later.`, { code: 'search_failed' });
  }
}

function readResults(body: unknown): WebSearchResult[] {
  const { results } = (typeof body === 'object' && body !== null ? body : {}) as { results?: unknown };
  if (!Array.isArray(results)) throw unreadable();
  return results.flatMap((entry: unknown): WebSearchResult[] => {
    const {
      title,
      url,
      content,
      score,
      published_date: published,
    } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
    // One odd result is no reason to lose the others.
    if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) return [];
    return [
      {
        title: line(typeof title === 'string' && title.trim() !== '' ? title : url, 300),
        url: url.slice(0, 2_000),
        content: line(typeof content === 'string' ? content : '', MOST_CONTENT),
        ...(typeof score === 'number' && Number.isFinite(score) ? { score } : {}),
        ...(typeof published === 'string' ? { publishedDate: published.slice(0, 100) } : {}),
      },
    ];
  });
}

function numbered(query: string, results: readonly WebSearchResult[]): string {
  if (results.length === 0) return `No results for "${query}".`;
  return results
    .map(({ title, url, content }, index) => `${index + 1}. ${title}\n   ${url}${content === '' ? '' : `\n   ${content}`}`)
    .join('\n');
}

/** On one line, and no longer than that. */
function line(text: string, most: number): string {
  const joined = text.replace(/\s+/g, ' ').trim();
  if (joined.length <= most) return joined;
  return `${joined.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function unreadable(): ToolError {
  return new ToolError('The web search gave an answer that cannot be read; try again later.', { code: 'search_failed' });
}
