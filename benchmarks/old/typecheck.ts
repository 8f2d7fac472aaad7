// What does checking types before a run cost? A program of 40 lines against 50 tools, another text each time: the first check, then warm ones,
// alone and as part of a run. A second argument names another package with a compiler, such as a copy of TypeScript 7.

import { createCodeMode, defineTool } from '../src/index.ts';
import { TypeCheckThread } from '../src/isolation/typecheck.ts';
import { createCatalog } from '../src/tools/catalog.ts';
import { checkedWorld } from '../src/tools/declarations.ts';
import { aim, machine, measure, print } from './measure.ts';

console.log(machine());

const tools = Array.from({ length: 50 }, (_, index) =>
  defineTool({
    name: `list_things_${index}`,
    description: `Lists things of kind ${index}.`,
    inputSchema: {
      type: 'object',
      properties: {
        owner: { type: 'string', description: 'Whose things.' },
        state: { enum: ['open', 'closed', 'all'] },
        labels: { type: 'array', items: { type: 'string' } },
        page: { type: 'integer', minimum: 1 },
        filter: { type: 'object', properties: { since: { type: 'string' }, until: { type: 'string' } }, additionalProperties: false },
      },
      required: ['owner'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' }, title: { type: 'string' } } } },
        next: { type: 'integer' },
      },
      required: ['items'],
    },
    execute: () => ({ items: [] }),
  }),
);

const steps = Array.from(
  { length: 9 },
  (_, index) => `const page${index} = await tools.list_things_${index}({ owner: 'octo', state: 'open', page: ${index + 1} });
for (const { id, title } of page${index}.items) {
  if (title.startsWith('x')) found.push({ id, title, from: ${index} });
}`,
);
/** 40 lines; `edit` makes it a text that was never checked before. */
const program = (edit: number): string =>
  ['const found = [];', ...steps, `console.log('edit ${edit}');`, 'found.sort((a, b) => a.id - b.id);', 'return found.slice(0, 10);'].join(
    '\n',
  );

const catalog = createCatalog(tools.map((tool) => ({ namespace: [], tool })));
const world = { id: catalog.id, declarations: checkedWorld(catalog), paths: catalog.entries.map(({ path }) => path) };
let edit = 0;

const [compiler = 'typescript'] = process.argv.slice(2);
const thread = new TypeCheckThread({ compiler });
const check = async (): Promise<void> => {
  const outcome = await thread.check(program(edit++), world);
  if (outcome.type !== 'checked' || outcome.problems.length > 0) throw new Error(`The check gave ${JSON.stringify(outcome)}`);
};
const began = performance.now();
await check();
console.log(`\nfirst check, loading ${compiler} included: ${(performance.now() - began).toFixed(0)} ms`);
for (let i = 0; i < 20; i++) await check();

const off = createCodeMode({ tools });
const on = createCodeMode({ tools, typecheck: 'error' });
const run = (codeMode: typeof off) => async () => {
  const { error } = await codeMode.run(program(edit++));
  if (error !== undefined) throw new Error(error.message);
};
for (let i = 0; i < 20; i++) for (const codeMode of [off, on]) await run(codeMode)();

const figures = await measure([
  { name: 'run, no check', run: run(off) },
  { name: 'check alone', run: check },
  { name: 'run, checked', run: run(on) },
]);
print('a program of 40 lines, 50 tools', figures, 'run, no check');
console.log();
aim('warm check, median ms', figures.find(({ name }) => name === 'check alone')?.medianMs ?? Number.POSITIVE_INFINITY, 100);
await Promise.all([thread.close(), off.close(), on.close()]);
