// What a client of ours is shown: text, pictures and documents as content blocks, and links to the files that are not shown, which can be read
// as resources as long as the connection lasts. Not here: what is shown (session/render.ts), when a client is served (serve.ts).
import type { KeptArtifact, KeptFile, Observation, RenderedBlock, Rendering } from '../../index.ts';

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; text: string } | { uri: string; mimeType: string; blob: string } }
  | { type: 'resource_link'; uri: string; name: string; mimeType: string; size: number };

/** The files of one connection that were not shown but linked. How many there may be is the run's limit. */
export class LinkedFiles {
  readonly #files = new Map<string, KeptFile>();

  link(file: KeptFile): ContentBlock {
    const uri = uriOf(file);
    this.#files.set(uri, file);
    return { type: 'resource_link', ...factsOf(file) };
  }

  list(): { uri: string; name: string; mimeType: string; size: number }[] {
    return Array.from(this.#files.values(), factsOf);
  }

  /** `undefined` for what is not there any more, or never was. */
  async read(uri: string): Promise<{ uri: string; mimeType: string; blob: string } | undefined> {
    const file = this.#files.get(uri);
    const bytes = await file?.read().catch(() => undefined);
    return file === undefined || bytes === undefined ? undefined : { uri, mimeType: file.mediaType, blob: toBase64(bytes) };
  }
}

/** The blocks of a rendering. */
export function toContent({ blocks }: Rendering): ContentBlock[] {
  return blocks.map((block, index): ContentBlock => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    const { mediaType: mimeType, data } = block;
    if (block.type === 'image') return { type: 'image', data: toBase64(data), mimeType };
    const uri = `callgate://shown/${index}/${encodeURIComponent(block.name ?? 'document')}`;
    const isText = mimeType.startsWith('text/') || mimeType.endsWith('json') || mimeType.endsWith('xml');
    if (isText) return { type: 'resource', resource: { uri, mimeType, text: Buffer.from(data).toString() } };
    return { type: 'resource', resource: { uri, mimeType, blob: toBase64(data) } };
  });
}

/** The files of an observation that its rendering does not show. What is shown keeps the order of the artifacts. */
export function unshown(observation: Observation, { blocks }: Rendering): KeptFile[] {
  const shown = blocks.filter((block) => block.type !== 'text');
  return allArtifacts(observation).filter((artifact): artifact is KeptFile => {
    if (artifact.kind !== 'stored') return false;
    const [next] = shown;
    if (next === undefined || !isOf(next, artifact)) return true;
    shown.shift();
    return false;
  });
}

function isOf(block: RenderedBlock, { name, mediaType, bytes }: KeptFile): boolean {
  return block.type !== 'text' && block.name === name && block.data.length === bytes && mediaType.startsWith(block.mediaType);
}

function allArtifacts({ previous, artifacts }: Observation): readonly KeptArtifact[] {
  return previous === undefined ? artifacts : [...allArtifacts(previous), ...artifacts];
}

function factsOf(file: KeptFile): { uri: string; name: string; mimeType: string; size: number } {
  return { uri: uriOf(file), name: file.name ?? file.id, mimeType: file.mediaType, size: file.bytes };
}

function uriOf({ id, name }: KeptFile): string {
  return `callgate://artifacts/${encodeURIComponent(id)}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
