// What a model is told of code mode, for the system prompt: how to write a program, and which tools there are, in as much detail as a
// budget allows. Not here: how tools are declared (tools/declarations.ts).
import type { Catalog } from '../tools/catalog.ts';
import { declarations as declare, signatureOf } from '../tools/declarations.ts';

/** Characters that the tools may take, some 6 000 tokens. */
const BUDGET = 24_000;

const HOW = `You can run programs with \`exec\`. A program is JavaScript or TypeScript: a script body with top-level await; \`return\` one small value.
Tools are async functions that take one object: \`const page = await tools.name({ … })\`. Calls that do not depend on each other run in parallel with Promise.all. A failed call throws an Error whose message says what to do.
Filter, join and count inside the program, and return only what the conversation needs. console.log and text(value) write output; exit(value) ends early; store(key, value) and load(key) keep JSON for later programs. Files that tools deliver are listed in \`artifacts\` ({ id, name, mediaType, bytes, from }): read one with await readArtifact(id), pass its id to a tool that takes one, make your own with await saveArtifact({ name, data }). There is no network, file system or import.`;

/** The most detailed of three forms that fits: declarations, signatures, or names to look up in \`ALL_TOOLS\`. */
export function instructionsFor(catalog: Catalog): string {
  if (catalog.entries.length === 0) return `${HOW}\nThere are no tools.`;
  const listed = `${HOW}\nALL_TOOLS lists every tool: { name, identifier, description, signature }.`;
  if (catalog.entries.length <= 200) {
    const declarations = declare(catalog);
    if (declarations.length <= BUDGET) return `${HOW}\nThe tools:\n\`\`\`ts\n${declarations}\`\`\``;
  }
  const lines = catalog.entries.map((entry) => `- ${signatureOf(entry, 160)} — ${firstLine(entry.tool.description)}`);
  if (lines.join('\n').length <= BUDGET) return `${listed}\nThe tools:\n${lines.join('\n')}`;
  return `${listed} Filter it by name and description before you call. There are ${catalog.entries.length} tools:\n${namesWithin(catalog)}`;
}

/** Names until the budget is used up, and how many more there are. */
function namesWithin(catalog: Catalog): string {
  const kept: string[] = [];
  let room = BUDGET;
  for (const { path } of catalog.entries) {
    room -= path.length + 2;
    if (room < 0) break;
    kept.push(path);
  }
  const more = catalog.entries.length - kept.length;
  return `${kept.join(', ')}${more === 0 ? '' : `, and ${more} more`}`;
}

function firstLine(description: string): string {
  const line = description.trim().split('\n', 1)[0] ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
