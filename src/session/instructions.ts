// What a model is told of code mode, for the system prompt. Not here: how tools are declared (tools/declarations.ts).
import type { Catalog } from '../tools/catalog.ts';

export function instructionsFor(catalog: Catalog): string {
  const names = catalog.entries.map(({ path, tool }) => `- tools.${path}: ${firstSentence(tool.description)}`);
  return [
    'You can run programs with `exec`. A program is JavaScript or TypeScript: a script body with top-level await; `return` one small value.',
    'Tools are async functions that take one object: `const page = await tools.name({ … })`. Calls that do not depend on each other run in parallel with Promise.all. A failed call throws an Error whose message says what to do.',
    'Filter, join and count inside the program, and return only what the conversation needs. console.log and text(value) write output; exit(value) ends early; store(key, value) and load(key) keep JSON for later programs. There is no network, file system or import.',
    'ALL_TOOLS lists every tool with its signature.',
    ...(names.length === 0 ? ['There are no tools.'] : ['Tools:', ...names]),
  ].join('\n');
}

function firstSentence(description: string): string {
  const line = description.trim().split('\n', 1)[0] ?? '';
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
