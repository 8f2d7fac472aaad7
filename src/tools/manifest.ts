// What a guest is told of the tools, as text of a bounded length. Names are part of the guest's image; descriptions and signatures are too where
// they are short together, and otherwise wait outside until a program reads ALL_TOOLS; of very many tools they say less of each, which
// `describeTool` says in full. Not here: what the guest makes of it (sandbox-runtime/tools.ts).
import type { ManifestEntry, ToolText } from '../protocol/messages.ts';
import { acceptsList, signatureOf } from './declarations.ts';
import type { Tool } from './tool.ts';
import { commentLine } from './typescript/comment.ts';

/** What a manifest needs of a catalog's entry. */
interface ManifestedTool {
  readonly segments: readonly string[];
  readonly spellings: readonly string[];
  readonly name: string;
  readonly tool: Pick<Tool, 'description' | 'inputSchema' | 'outputSchema'>;
}

/** JSON of the `ManifestEntry` of every tool; and of the `ToolText` of every tool where that is not in the entries, else nothing. */
export interface ToolManifest {
  readonly entries: string;
  readonly texts: string;
}

/** Longest texts, in UTF-16 units, that become part of every guest. */
const INSIDE_LENGTH = 256 * 1024;
/** Longest texts outside: a program that reads them has them in its memory, several times over while they are parsed. */
const OUTSIDE_LENGTH = 3 * 1024 * 1024;

/** How much is said of a tool outside, from the most to the least; lengths in UTF-16 units. */
const DETAILS = [
  { description: Number.POSITIVE_INFINITY, signature: 2_000 },
  { description: 400, signature: 400 },
  { description: 150, signature: 200 },
  { description: 100, signature: 0 },
] as const;

/** The manifest of the tools. The same for the same tools. */
export function manifestOf(tools: readonly ManifestedTool[]): ToolManifest {
  let texts: ToolText[] = [];
  let json = '';
  for (const detail of DETAILS) {
    texts = tools.map((tool) => textOf(tool, detail));
    json = JSON.stringify(texts);
    if (json.length <= OUTSIDE_LENGTH) break;
  }
  if (json.length > INSIDE_LENGTH) return { entries: JSON.stringify(tools.map((tool) => entryOf(tool))), texts: json };
  return { entries: JSON.stringify(tools.map((tool, index) => entryOf(tool, texts[index]))), texts: '' };
}

function textOf({ segments, tool }: ManifestedTool, most: (typeof DETAILS)[number]): ToolText {
  const description = tool.description.length <= most.description ? tool.description : commentLine(tool.description, most.description);
  return most.signature === 0 ? [description] : [description, signatureOf({ segments, tool }, most.signature)];
}

/** What the guest is told of a tool. More facts for the guest join here. */
function entryOf({ segments, spellings, name, tool }: ManifestedTool, text?: ToolText): ManifestEntry {
  const [description, signature] = text ?? [];
  return {
    path: segments,
    name,
    ...(description === undefined ? {} : { description }),
    ...(signature === undefined ? {} : { signature }),
    ...(spellings.every((spelling, depth) => spelling === segments[depth]) ? {} : { spellings }),
    ...(acceptsList(tool.inputSchema) ? { takesList: true } : {}),
  };
}
