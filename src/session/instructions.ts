// What a model is told of code mode, for the system prompt: how to write a program, with what is really on, an example made from the tools, and
// the tools in as much detail as a budget allows. Not here: how tools are declared (tools/declarations.ts).
import type { Limits } from '../protocol/limits.ts';
import type { Catalog } from '../tools/catalog.ts';
import type { Discovery } from '../tools/discovery.ts';
import { exampleProgram } from './example-program.ts';
import type { DiscoveryPlace } from './options.ts';

/** Tokens that the tools may take. */
const BUDGET_TOKENS = 6_000;
/** Names of tools of the conversation, in UTF-16 units. */
const NAMES_LENGTH = 120;

/** What is on in a session. */
export interface InstructionsFor {
  /** Over what programs may call. */
  readonly discovery: Discovery;
  /** All tools of the run, those that stay in the conversation too. */
  readonly everything: Catalog;
  readonly limits: Limits;
  readonly discoveryPlace: DiscoveryPlace;
}

/** Under 350 tokens, and the declarations after them. */
export function instructionsFor({ discovery, everything, limits, discoveryPlace }: InstructionsFor): string {
  const { catalog } = discovery;
  const inGuest = discoveryPlace !== 'conversation';
  const count = catalog.entries.length;
  const lines = [
    'Write programs for `exec`: JavaScript or TypeScript, top-level await. Filter, join and count inside; `return` the one small value that answers.',
    'Tools are async functions of one object: `await tools.name({ … })`. Start independent calls together with Promise.all. A failed call throws an Error that says what to do.',
    'Also: console.log and text(value) for output; exit(value) ends early; store(key, value) and load(key) keep JSON for later programs; sleep(ms).',
    'Files of tools: `artifacts` ({ id, name, mediaType, bytes }), await readArtifact(id), await saveArtifact({ name, data }).',
    inGuest && count > 0 && 'ALL_TOOLS lists the tools; await searchTools("words") finds some, await describeTool(name) tells all of one.',
    discoveryPlace !== 'guest' && count > 0 && 'Before you write, `search_tools` finds tools and `describe_tool` tells all of one.',
    `A program has ${limits.calls.toLocaleString('en-US')} calls, ${limits.concurrentCalls} at a time, ${seconds(limits.cpuMs)} of computing (interpreted) and ${Math.floor(limits.memoryBytes / 2 ** 20)} MiB. There is no network, file system or import.`,
    keptBack(catalog, everything),
  ];
  const how = lines.filter((line) => line !== false).join('\n');
  if (count === 0) return `${how}\nPrograms have no tools.`;
  const example = exampleProgram(catalog);
  const shown = example === undefined ? '' : `\nFor example:\n\`\`\`ts\n${example}\n\`\`\``;
  return `${how}${shown}\nThe tools:\n\`\`\`ts\n${discovery.declarations({ budgetTokens: BUDGET_TOKENS })}\`\`\``;
}

/** The tools that the model calls itself. */
function keptBack(catalog: Catalog, everything: Catalog): string | false {
  const kept = everything.entries.filter(({ path }) => catalog.find(path) === undefined).map(({ path }) => path);
  if (kept.length === 0) return false;
  const named: string[] = [];
  for (const path of kept) if ([...named, path].join(', ').length <= NAMES_LENGTH) named.push(path);
  const more = kept.length - named.length;
  const names = named.length === 0 ? `${more} tools of yours` : `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `Not in programs, call them directly: ${names}.`;
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
