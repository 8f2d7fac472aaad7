// What a client of ours is shown of an observation: text, pictures and files as content blocks, and links to what is too big for that, which
// can be read as resources as long as the connection lasts. Not here: when that is (serve.ts).
import { type Artifact, type InlineArtifact, type Observation, renderResult } from '../../index.ts';

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; text: string } | { uri: string; mimeType: string; blob: string } }
  | { type: 'resource_link'; uri: string; name: string; mimeType: string; size?: number };

/** Bytes of one medium that is sent at once; bigger ones are linked. */
const INLINE_BYTES = 1024 * 1024;
/** What is kept for links of one connection: the newest. */
const MAX_KEPT = 100;
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** The artifacts of one connection that were linked, not sent. */
export class LinkedArtifacts {
  readonly #kept = new Map<string, InlineArtifact>();
  #bytes = 0;
  #count = 0;

  keep(artifact: InlineArtifact): string {
    this.#count += 1;
    const uri = `callgate://artifacts/${this.#count}${artifact.name === undefined ? '' : `/${encodeURIComponent(artifact.name)}`}`;
    this.#kept.set(uri, artifact);
    this.#bytes += artifact.size;
    for (const [oldest, { size }] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT && this.#bytes <= MAX_KEPT_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= size;
    }
    return uri;
  }

  list(): { uri: string; name: string; mimeType: string; size: number }[] {
    return Array.from(this.#kept, ([uri, artifact]) => ({ uri, ...factsOf(artifact), size: artifact.size }));
  }

  /** `undefined` for what is not there any more, or never was. */
  async read(uri: string): Promise<{ uri: string; mimeType: string; blob: string } | undefined> {
    const artifact = this.#kept.get(uri);
    return artifact === undefined ? undefined : { uri, mimeType: artifact.mediaType, blob: await base64Of(artifact) };
  }
}

/** The content of a tool result, and whether it is an error. */
export async function toContent(observation: Observation, linked: LinkedArtifacts): Promise<{ content: ContentBlock[]; isError: boolean }> {
  const { blocks, isError } = await renderResult(observation);
  const texts = blocks.flatMap((block): ContentBlock[] => (block.type === 'text' ? [{ type: 'text', text: block.text }] : []));
  const all = [...(observation.previous?.artifacts ?? []), ...observation.artifacts];
  return { content: [...texts, ...(await Promise.all(all.map((artifact) => toBlock(artifact, linked))))], isError };
}

async function toBlock(artifact: Artifact, linked: LinkedArtifacts): Promise<ContentBlock> {
  const { name, mimeType } = factsOf(artifact);
  if (artifact.kind === 'deferred') {
    const size = artifact.size === undefined ? {} : { size: artifact.size };
    return { type: 'resource_link', uri: uriOf(artifact.reference), name, mimeType, ...size };
  }
  if (artifact.size > INLINE_BYTES) return { type: 'resource_link', uri: linked.keep(artifact), name, mimeType, size: artifact.size };
  const kind = /^(image|audio)\//.exec(mimeType)?.[1];
  if (kind === 'image' || kind === 'audio') return { type: kind, data: await base64Of(artifact), mimeType };
  const uri = `callgate://artifacts/${encodeURIComponent(name)}`;
  if (mimeType.startsWith('text/') || mimeType.startsWith('application/json')) {
    return { type: 'resource', resource: { uri, mimeType, text: await artifact.data.text() } };
  }
  return { type: 'resource', resource: { uri, mimeType, blob: await base64Of(artifact) } };
}

function factsOf({ name, mediaType }: Artifact): { name: string; mimeType: string } {
  return { name: name ?? 'artifact', mimeType: mediaType };
}

/** The address that a reference holds, as those of MCP servers do. */
function uriOf(reference: unknown): string {
  const { uri } = typeof reference === 'object' && reference !== null ? (reference as { uri?: unknown }) : {};
  return typeof uri === 'string' ? uri : `callgate://reference/${encodeURIComponent(JSON.stringify(reference)).slice(0, 2_000)}`;
}

async function base64Of({ data }: InlineArtifact): Promise<string> {
  return Buffer.from(await data.arrayBuffer()).toString('base64');
}
