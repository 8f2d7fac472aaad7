// What does a payload cost? JSON and bytes of 100 KB, 1 MB and 16 MB: as a tool's result, as a tool's argument, and as a program's value,
// beside structuredClone and JSON parse + stringify of the same on the host, and against `run`. `--quick` leaves out 16 MB and `run`.
import process from 'node:process';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type CodeMode, createCodeMode, defineTool } from '../src/index.ts';
import { aim, type Figure, machine, measure, print, type Subject } from './measure.ts';
import { install, load } from './peers/install.ts';

const isQuick = process.argv.includes('--quick');
console.log(machine());

const SIZES = [
  ['100 KB', 100_000],
  ['1 MB', 1_000_000],
  ['16 MB', 16_000_000],
] as const;

/** Rows such as tools give, so many that their JSON has about that size. */
function rowsOf(bytes: number): object[] {
  const row = (id: number): object => ({ id, name: `Customer ${id}`, active: id % 3 === 0, balance: id * 1.25, tags: ['a', 'b'] });
  const each = JSON.stringify(row(5_000)).length + 1;
  return Array.from({ length: Math.round(bytes / each) }, (_, id) => row(id));
}

/** Takes anything and checks nothing: the way is measured, not the schema. */
const anything = {
  inputSchema: { '~standard': { version: 1, vendor: 'benchmark', validate: (value: unknown) => ({ value }) } } as StandardSchemaV1,
  inputJsonSchema: { type: 'object' },
} as const;

const limits = {
  argumentBytes: 64 << 20,
  resultBytes: 64 << 20,
  valueBytes: 64 << 20,
  memoryBytes: 1024 << 20,
  cpuMs: 120_000,
  sliceMs: 60_000,
  wallMs: 300_000,
};

type Kind = 'json' | 'bytes';
const payloads = new Map<Kind, unknown>();
let took = 0;
function take(input: unknown): void {
  // What `take` is called with.
  took += (input as { data: unknown[] }).data.length;
}
const give = (kind: Kind): unknown => payloads.get(kind);
const tools = [
  defineTool({ ...anything, name: 'give_json', description: 'Gives rows.', execute: () => give('json') }),
  defineTool({ ...anything, name: 'give_bytes', description: 'Gives bytes.', execute: () => give('bytes') }),
  defineTool({
    ...anything,
    name: 'take',
    description: 'Takes anything.',
    execute: take,
  }),
];
const codeMode: CodeMode = createCodeMode({ tools, limits });

async function run(source: string): Promise<void> {
  const { error } = await codeMode.run(source);
  if (error !== undefined) throw new Error(error.message);
}

/** The three ways as programs; the payload that is sent is got first, and that is measured alone too. */
function programs(kind: Kind): readonly (readonly [name: string, source: string])[] {
  return [
    ['result', `await tools.give_${kind}(); return 1;`],
    ['result and argument', `await tools.take({ data: await tools.give_${kind}() }); return 1;`],
    ['result and value', `return await tools.give_${kind}();`],
  ];
}

async function peer(): Promise<((kind: Kind) => readonly Subject[]) | undefined> {
  if (isQuick || !install()) return undefined;
  const { createRunner } = (await load('run')) as {
    createRunner(options: object): { run(input: object): Promise<{ status: string }> };
  };
  const runner = createRunner({
    limits: { timeoutMs: 120_000, memoryLimitBytes: 1024 << 20, maxResultBytes: 64 << 20, maxHostCallBytes: 64 << 20 },
  });
  const hostFunctions = {
    host: {
      give_json: () => give('json'),
      give_bytes: () => give('bytes'),
      take,
    },
  };
  return (kind) =>
    programs(kind).map(([name, source]) => ({
      name: `run: ${name}`,
      run: async () => {
        const { status } = await runner.run({ source: source.replaceAll('tools.', 'host.'), hostFunctions });
        if (status !== 'completed') throw new Error(status);
      },
    }));
}

const peers = await peer().catch((error: unknown) => {
  console.log(`Without \`run\`: ${error instanceof Error ? error.message : error}`);
  return undefined;
});

const empty = 'return 1;';
for (let i = 0; i < 20; i++) await run(empty);
let jsonRatio = Number.NaN;
for (const [size, bytes] of isQuick ? SIZES.slice(0, 2) : SIZES) {
  payloads.set('json', rowsOf(bytes));
  payloads.set(
    'bytes',
    new Uint8Array(bytes).map((_, i) => i * 31),
  );
  const often = { rounds: bytes > 10_000_000 ? 3 : 7, perRound: bytes > 10_000_000 ? 1 : bytes > 500_000 ? 3 : 10 };
  for (const kind of ['json', 'bytes'] as const) {
    const payload = payloads.get(kind);
    const floors: Subject[] = [
      { name: 'structuredClone', run: () => structuredClone(payload) },
      { name: 'parse + stringify', run: () => JSON.parse(JSON.stringify(payload)) },
    ];
    // Of bytes JSON makes an object with a member for each: what nobody would do, and minutes for 16 MB.
    if (kind === 'bytes')
      floors[1] = { name: 'base64 and back', run: () => Buffer.from(Buffer.from(payload as Uint8Array).toString('base64'), 'base64') };
    const subjects: Subject[] = [...floors, { name: 'a program without it', run: () => run(empty) }];
    for (const [name, source] of programs(kind)) subjects.push({ name, run: () => run(source) });
    const others: Subject[] = [];
    for (const subject of peers?.(kind) ?? []) {
      try {
        await subject.run();
        others.push(subject);
      } catch (error) {
        console.log(`${size} of ${kind}: ${subject.name} fails: ${error instanceof Error ? error.message.slice(0, 160) : error}`);
      }
    }
    for (const { run: once } of subjects) await once();
    const figures: readonly Figure[] = await measure([...subjects, ...others], often);
    print(`${size} of ${kind}`, figures, floors[1]?.name ?? '');
    const median = (name: string): number => figures.find((figure) => figure.name === name)?.medianMs ?? Number.NaN;
    if (kind === 'json' && size === '1 MB') jsonRatio = (median('result') - median('a program without it')) / median('parse + stringify');
  }
}
console.log('');
aim('1 MB of JSON as a result, against parse + stringify on the host', jsonRatio, 3);
await codeMode.close();
if (took === 0) throw new Error('Nothing was taken.');
process.exit(0);
