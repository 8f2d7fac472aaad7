// Between blocks of the Messages API and ours: a rendering becomes the content of a tool result, what a runnable tool gives becomes a value
// and artifacts. Not here: who calls what (tools.ts, from-tools.ts).
import type { BetaToolResultContentBlockParam as ResultBlock } from '@anthropic-ai/sdk/resources/beta';
import { type Artifact, artifact, deferredArtifact, type RenderedBlock, type Rendering } from '../../index.ts';

/** What a tool result holds. */
export type ResultContent = string | ResultBlock[];

/** A rendering as the content of a tool result: a text while it is nothing but text. */
export function toContent({ blocks }: Rendering): ResultContent {
  if (blocks.every(({ type }) => type === 'text')) return textOf(blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])));
  return blocks.map(toBlock);
}

/** Texts as one that the API takes: it refuses empty ones, and halves of characters. */
export function textOf(texts: readonly string[]): string {
  const text = wellFormed(texts.join('\n'));
  return text.trim() === '' ? '(empty)' : text;
}

/** Halves of characters cannot be sent as UTF-8. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, '\ufffd');
}

const IMAGES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] satisfies ImageType[];
type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
/** Most bytes of an image that the API takes: 5 MiB in base 64. */
const IMAGE_BYTES = Math.floor((5 * 1024 * 1024 * 3) / 4);
/** Most bytes of a document, so that a request with its history stays within the API's 32 MB. */
const DOCUMENT_BYTES = 16 * 1024 * 1024;

function toBlock(block: RenderedBlock): ResultBlock {
  if (block.type === 'text') return { type: 'text', text: textOf([block.text]) };
  const { mediaType, data, name } = block;
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (isImageType(type) && data.length <= IMAGE_BYTES)
    return { type: 'image', source: { type: 'base64', media_type: type, data: base64(data) } };
  const title = name === undefined ? {} : { title: wellFormed(name).slice(0, 200) };
  if (data.length <= DOCUMENT_BYTES) {
    if (type === 'application/pdf')
      return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64(data) }, ...title };
    if (isText(type))
      return {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: textOf([Buffer.from(data).toString('utf8')]) },
        ...title,
      };
  }
  return { type: 'text', text: textOf([`(${name ?? 'A file'}, ${mediaType}, ${data.length} bytes: it cannot be shown here.)`]) };
}

function isImageType(type: string): type is ImageType {
  return IMAGES.includes(type);
}

function isText(type: string): boolean {
  return type.startsWith('text/') || /^application\/(json|xml|yaml|x-yaml|javascript|[\w.-]+\+(json|xml))$/.test(type);
}

function base64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}

/** What a runnable tool gave, for programs: the value, and artifacts beside it. */
export interface Received {
  readonly value: unknown;
  readonly artifacts: readonly Artifact[];
}

/**
 * Reads what a runnable tool gave. A text is the JSON object or array that it holds, or else the text itself; images and documents are
 * artifacts; search results are `{ title, source, text }`. One such piece is the value, several are an array of them, none is `null`.
 */
export function readContent(content: unknown, readText: (text: string) => unknown = readJsonText): Received {
  if (typeof content === 'string') return { value: readText(content), artifacts: [] };
  if (!Array.isArray(content)) return { value: content ?? null, artifacts: [] };
  const values: unknown[] = [];
  const artifacts: Artifact[] = [];
  // A tool in plain JavaScript may give anything; what is no block stays as it is.
  for (const block of content as unknown[]) {
    if (!isBlock(block)) {
      values.push(block);
      continue;
    }
    switch (block.type) {
      case 'text':
        values.push(readText(block.text));
        break;
      case 'image':
        artifacts.push(toArtifact(block.source));
        break;
      case 'document':
        artifacts.push(toArtifact(block.source, block.title ?? undefined));
        break;
      case 'search_result':
        values.push({ title: block.title, source: block.source, text: block.content.map(({ text }) => text).join('\n') });
        break;
      default:
        values.push(block);
    }
  }
  return { value: values.length > 1 ? values : (values[0] ?? null), artifacts };
}

/** The JSON object or array that a text is; any other text is itself, `12` and `true` too: they may be names. */
export function readJsonText(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The text of a tool result, for an error: what is no text is named. */
export function errorText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return 'The tool failed.';
  const texts = (content as unknown[]).map((block) => (!isBlock(block) ? '' : block.type === 'text' ? block.text : `[${block.type}]`));
  return texts.join('\n').trim() || 'The tool failed.';
}

function isBlock(value: unknown): value is ResultBlock {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

type Source = Extract<ResultBlock, { type: 'image' | 'document' }>['source'];

function toArtifact(source: Source, name?: string): Artifact {
  const named = name === undefined || name === '' ? {} : { name };
  switch (source.type) {
    case 'base64':
      return artifact({ data: Buffer.from(source.data, 'base64'), mediaType: source.media_type, ...named });
    case 'text':
      return artifact({ data: source.data, mediaType: 'text/plain', ...named });
    case 'url':
      return deferredArtifact({ reference: { url: source.url }, mediaType: typeOfUrl(source.url), ...named });
    case 'file':
      return deferredArtifact({ reference: { fileId: source.file_id }, mediaType: UNKNOWN_TYPE, ...named });
    case 'content': {
      const text = typeof source.content === 'string' ? source.content : errorText(source.content);
      return artifact({ data: text, mediaType: 'text/plain', ...named });
    }
    default:
      return deferredArtifact({ reference: { source: (source as { type: string }).type }, mediaType: UNKNOWN_TYPE, ...named });
  }
}

const UNKNOWN_TYPE = 'application/octet-stream';

/** What the end of a URL says of its type; only the server knows. */
function typeOfUrl(url: string): string {
  const extension = /\.([a-z]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const types: Readonly<Record<string, string>> = {
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    pdf: 'application/pdf',
  };
  return Object.hasOwn(types, extension) ? (types[extension] ?? UNKNOWN_TYPE) : UNKNOWN_TYPE;
}
