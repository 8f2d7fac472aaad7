// What does checking types before a run cost? A program of 40 lines against 50 tools, another text each time: the first check, then warm ones, alone
// and as part of a run. An argument names another package with a compiler, such as a copy of TypeScript 7: `npm run bench -- typecheck -- PACKAGE`.

import { type CodeModeOptions, createCodeMode, defineTool } from '../../src/index.ts';
import { TypeCheckThread } from '../../src/isolation/typecheck.ts';
import { createCatalog } from '../../src/tools/catalog.ts';
import { checkedWorld } from '../../src/tools/declarations.ts';
import { type Question, type Subject, timed } from '../harness/question.ts';
import { medianOf } from '../harness/result.ts';

const UNCHECKED = 'a run, unchecked';
const ALONE = 'the check alone';
const CHECKED = 'a run, checked';

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

let edits = 0;

/** 40 lines, a text that was never checked before. */
function program(): string {
  edits += 1;
  const end = [`console.log('edit ${edits}');`, 'found.sort((a, b) => a.id - b.id);', 'return found.slice(0, 10);'];
  return ['const found = [];', ...steps, ...end].join('\n');
}

/** Opened by the first piece of work, which is a figure of its own: what is loaded for it is part of what it costs. */
async function subject(open: () => { work(): Promise<void>; close(): Promise<unknown> }): ReturnType<Subject> {
  const began = performance.now();
  const { work, close } = open();
  await work();
  const first = performance.now() - began;
  return { tasks: { first: async () => first, warm: timed(work, { times: 20 }) }, close };
}

const check: Subject = ([compiler = 'typescript']) =>
  subject(() => {
    const catalog = createCatalog(tools.map((tool) => ({ namespace: [], tool })));
    const world = { id: catalog.id, declarations: checkedWorld(catalog), paths: catalog.entries.map(({ path }) => path) };
    const thread = new TypeCheckThread({ compiler });
    return {
      async work() {
        const outcome = await thread.check(program(), world);
        if (outcome.type !== 'checked' || outcome.problems.length > 0) throw new Error(`The check gave ${JSON.stringify(outcome)}`);
      },
      close: () => thread.close(),
    };
  });

function run(options: Pick<CodeModeOptions, 'typecheck'>): Subject {
  return () =>
    subject(() => {
      const codeMode = createCodeMode({ tools, ...options });
      return {
        async work() {
          const { error } = await codeMode.run(program());
          if (error !== undefined) throw new Error(error.message);
        },
        close: () => codeMode.close(),
      };
    });
}

export const question: Question = {
  name: 'typecheck',
  asks: 'What does checking the types of a program cost before it runs: the first time, and warm?',
  subjects: { [UNCHECKED]: run({}), [ALONE]: check, [CHECKED]: run({ typecheck: 'error' }) },
  async run(bench) {
    const [compiler = 'typescript'] = bench.args;
    const warm = await bench.compare({
      title: 'A program of 40 lines against 50 tools, warm',
      task: 'warm',
      unit: 'ms',
      ours: CHECKED,
      floor: UNCHECKED,
    });
    await bench.compare({
      title: `The first one, loading ${compiler} included`,
      task: 'first',
      unit: 'ms',
      ours: CHECKED,
      floor: UNCHECKED,
      rounds: 3,
      isFresh: true,
    });
    bench.aim({ what: 'a warm check, ms', value: medianOf(warm, ALONE), atMost: 100 });
  },
};
