// What a call gave, for a program: one value, and media beside it as artifacts. Not here: that the value fits the output schema (the
// broker checks that), and calls that had no answer (provider.ts).
import { type Artifact, artifact, ToolError, withArtifacts } from '../../index.ts';
import { isRecord } from './connection.ts';

/** The answer to `tools/call` as it came; members that nobody knows are kept. */
export interface McpResult {
  readonly content: readonly McpContent[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [key: string]: unknown;
}

export interface McpContent {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface ResultOrigin {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** Give the program the envelope instead of the value. */
  readonly raw: boolean;
}

/** Artifacts that one result may bring. */
const MAX_ARTIFACTS = 100;

/**
 * The value for the program, with artifacts beside it: `structuredContent` if there is any; else the texts, joined by line breaks and read
 * as JSON if that is an object or an array; else, without a text, a list that describes the media; else `null`. Throws a `ToolError` for
 * `isError` and for an answer that is none.
 */
export function readResult(answer: unknown, origin: ResultOrigin): unknown {
  const result = check(answer, origin);
  const media = takeMedia(result.content, origin);
  const texts = result.content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  const hasStructure = result.structuredContent !== undefined && result.structuredContent !== null;
  if (result.isError === true) {
    const said = texts.join('\n').trim() || (hasStructure ? JSON.stringify(result.structuredContent) : 'it gave no reason');
    throw new ToolError(`The MCP server \`${origin.server}\` says that \`${origin.tool}\` failed: ${said}`, {
      code: 'mcp_tool_error',
      ...(hasStructure && { details: result.structuredContent }),
    });
  }
  const artifacts = media.flatMap(({ artifact }) => (artifact === undefined ? [] : [artifact]));
  const value = origin.raw
    ? { ...result, content: result.content.map((block) => media.find((medium) => medium.block === block)?.description ?? block) }
    : hasStructure
      ? result.structuredContent
      : texts.length > 0
        ? readText(texts.join('\n'))
        : media.length > 0
          ? media.map(({ description }) => description)
          : null;
  return artifacts.length === 0 ? value : withArtifacts(value, artifacts);
}

/** JSON if it is an object or an array, the text itself otherwise: "42" and "true" stay texts. */
export function readText(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function check(answer: unknown, origin: ResultOrigin): McpResult {
  if (!isRecord(answer)) throw notAResult(origin, 'it is no object');
  const { content = [] } = answer;
  if (!Array.isArray(content)) throw notAResult(origin, 'its `content` is no array');
  if (!content.every(isContent)) throw notAResult(origin, 'its `content` has a member without a `type`');
  return { ...answer, content };
}

function isContent(value: unknown): value is McpContent {
  return isRecord(value) && typeof value['type'] === 'string';
}

function notAResult({ server, tool }: ResultOrigin, why: string): ToolError {
  return new ToolError(`The MCP server \`${server}\` gave an answer for \`${tool}\` that is no result: ${why}.`, { code: 'mcp_protocol' });
}

/** One block that is no text. */
interface Medium {
  readonly block: McpContent;
  /** What a program is told of it: no bytes. */
  readonly description: McpContent;
  readonly artifact?: Artifact;
}

function takeMedia(content: readonly McpContent[], origin: ResultOrigin): Medium[] {
  return content.flatMap((block, index) => {
    if (block.type === 'text') return [];
    const medium = toMedium(block, origin);
    return index < MAX_ARTIFACTS ? [medium] : [{ block, description: medium.description }];
  });
}

function toMedium(block: McpContent, origin: ResultOrigin): Medium {
  switch (block.type) {
    case 'image':
    case 'audio': {
      const { data, ...rest } = block;
      return inline(block, { rest, data: bytesOf(data, origin), mediaType: block['mimeType'], origin });
    }
    case 'resource': {
      const resource = isRecord(block['resource']) ? block['resource'] : {};
      const { blob, ...rest } = resource;
      const data = typeof resource['text'] === 'string' ? resource['text'] : bytesOf(blob, origin);
      // A text may be read by the program, so it stays in what it is told.
      return inline(block, { rest: { ...block, resource: rest }, data, mediaType: resource['mimeType'], facts: resource, origin });
    }
    case 'resource_link': {
      const { uri, size, mimeType } = block;
      if (typeof uri !== 'string' || uri === '') return { block, description: block };
      const hasSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
      return {
        block,
        description: block,
        artifact: artifact({
          reference: { server: origin.server, uri },
          mediaType: mediaTypeOf(mimeType, 'application/octet-stream'),
          name: nameOf(block),
          metadata: metadataOf(block, origin),
          ...(hasSize && { size }),
        }),
      };
    }
    default:
      return { block, description: block };
  }
}

function inline(
  block: McpContent,
  {
    rest,
    data,
    mediaType,
    facts = {},
    origin,
  }: { rest: object; data: Uint8Array | string; mediaType: unknown; facts?: Readonly<Record<string, unknown>>; origin: ResultOrigin },
): Medium {
  const made = artifact({
    data,
    mediaType: mediaTypeOf(mediaType, typeof data === 'string' ? 'text/plain' : 'application/octet-stream'),
    name: nameOf(facts),
    metadata: metadataOf(facts, origin),
  });
  return { block, description: { ...rest, type: block.type, bytes: made.size }, artifact: made };
}

function bytesOf(base64: unknown, { server, tool }: ResultOrigin): Uint8Array {
  if (typeof base64 === 'string' && /^[\w+/=\s-]*$/.test(base64)) return Buffer.from(base64, 'base64');
  throw new ToolError(`The MCP server \`${server}\` answered \`${tool}\` with media whose data is no base64.`, { code: 'mcp_protocol' });
}

function mediaTypeOf(given: unknown, otherwise: string): string {
  return typeof given === 'string' && given.length <= 200 && /^[\w.+-]+\/[\w.+-]+(\s*;.*)?$/.test(given) ? given : otherwise;
}

/** The name that it has, or the last part of its address. */
function nameOf({ name, uri }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof name === 'string' && name !== '') return name.slice(0, 255);
  const last =
    typeof uri === 'string'
      ? uri
          .split(/[?#]/, 1)[0]
          ?.split('/')
          .findLast((part) => part !== '')
      : undefined;
  return last === undefined || last === '' ? undefined : last.slice(-255);
}

function metadataOf(
  { uri, title, description }: Readonly<Record<string, unknown>>,
  { server, tool }: ResultOrigin,
): Record<string, string> {
  const facts = Object.entries({ uri, title, description }).flatMap(([key, fact]) =>
    typeof fact === 'string' ? [[key, fact.slice(0, 4_000)]] : [],
  );
  return { server, tool, ...Object.fromEntries(facts) };
}
