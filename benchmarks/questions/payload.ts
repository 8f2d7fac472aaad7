// What does a payload cost: JSON and bytes, as a tool's result, as a tool's argument, as a program's value? Timed by the host from the last call of a
// tool before it to the first moment after it, so that neither starting nor making the payload counts.
import { type Question, type Stand, type Subject, timed } from '../harness/question.ts';
import { medianOf, medianRatio } from '../harness/result.ts';
import { thread, v8 } from '../peers/callgate.ts';
import { isolatedVm } from '../peers/isolated-vm.ts';
import { between, MARK } from '../peers/marks.ts';
import { FLOOR, fresh, OURS, type Program, subjectsOf } from '../peers/peers.ts';
import { quickJsEmscripten } from '../peers/quickjs-emscripten.ts';
import { quickJsWasi } from '../peers/quickjs-wasi.ts';
import { run } from '../peers/run.ts';
import { tanstackNode, tanstackQuickJs } from '../peers/tanstack.ts';
import { utcp } from '../peers/utcp.ts';

const MEGABYTE = 1_000_000;
const SIZES = [1_000, 16_000, 128_000, MEGABYTE, 4_000_000, 16_000_000];
/** A round of a curve that takes longer ends the curve of that subject. */
const BOUND_MS = 2_500;
const JSON_FLOOR = 'JSON.parse and stringify on the host';
const CLONE = 'structuredClone on the host';

/** Rows such as tools give; the same text makes them in the guest. */
const makeRows =
  "(count) => Array.from({ length: count }, (_, id) => ({ id, name: 'Customer ' + id, active: id % 3 === 0, balance: id * 1.25, tags: ['a', 'b'] }))";
// The text above, which is a function of that type.
const rows = new Function(`return ${makeRows}`)() as (count: number) => unknown[];
/** So many that their JSON is hardly shorter than that. */
const countOf = (bytes: number): number =>
  Math.max(1, Math.floor(bytes / (JSON.stringify(rows(1)[0]).length + 3 * String(Math.round(bytes / 90)).length + 4)));
const payloadOf = (kind: 'json' | 'bytes', bytes: number): unknown =>
  kind === 'json' ? rows(countOf(bytes)) : new Uint8Array(bytes).fill(7);

/** What went over has that length; bytes are bytes. */
function check(kind: 'json' | 'bytes', value: unknown, bytes: number): void {
  if (kind === 'bytes' && !(value instanceof Uint8Array)) throw new Error('Bytes do not arrive as bytes.');
  // Both kinds have a length.
  const { length } = value as { length: number };
  if (length !== (kind === 'json' ? countOf(bytes) : bytes)) throw new Error(`${length} of them arrived.`);
}

function peerSubjects(): Record<string, Subject> {
  const marks = between();
  const payloads = new Map<string, unknown>();
  let taken: unknown;
  let wanted = '';
  const tools = {
    ...marks.tools,
    give: () => payloads.get(wanted),
    take: (input: unknown) => {
      marks.tools.mark();
      taken = input;
    },
  };
  const tasksOf = (program: Program): Stand['tasks'] => {
    const way = (kind: 'json' | 'bytes', direction: 'in' | 'out' | 'value') => async (bytes: number) => {
      wanted = `${kind} ${bytes}`;
      if (!payloads.has(wanted)) payloads.clear();
      payloads.set(wanted, payloads.get(wanted) ?? payloadOf(kind, bytes));
      const make = kind === 'json' ? `(${makeRows})(${countOf(bytes)})` : `new Uint8Array(${bytes}).fill(7)`;
      marks.clear();
      if (direction === 'in') {
        const right =
          kind === 'json'
            ? `Array.isArray(got) && got.length === ${countOf(bytes)}`
            : `got instanceof Uint8Array && got.length === ${bytes}`;
        const answer = await program(fresh(`${MARK} const got = await tools.give({}); const is = ${right}; ${MARK} return is ? 1 : 0;`));
        if (answer !== 1) throw new Error(kind === 'bytes' ? 'Bytes do not arrive as bytes.' : 'Something else arrived.');
        return marks.passed();
      }
      if (direction === 'out') {
        await program(fresh(`const made = ${make}; ${MARK} await tools.take(made); return 1;`));
        check(kind, taken, bytes);
        return marks.passed();
      }
      const value = await program(fresh(`const made = ${make}; ${MARK} return made;`));
      marks.tools.mark();
      check(kind, value, bytes);
      return marks.passed();
    };
    return {
      empty: timed(() => program(fresh('return 1;')), { times: 10 }),
      jsonIn: way('json', 'in'),
      jsonOut: way('json', 'out'),
      jsonValue: way('json', 'value'),
      bytesIn: way('bytes', 'in'),
      bytesOut: way('bytes', 'out'),
      bytesValue: way('bytes', 'value'),
    };
  };
  return subjectsOf({ tools, takesBytes: true, memoryBytes: 1 << 30 }, tasksOf);
}

function onHost(copy: (value: unknown) => unknown, kinds: readonly ('json' | 'bytes')[]): Subject {
  return async () => {
    const payloads = new Map<string, unknown>();
    const way =
      (kind: 'json' | 'bytes') =>
      async (bytes: number): Promise<number> => {
        const key = `${kind} ${bytes}`;
        const payload = payloads.get(key) ?? payloadOf(kind, bytes);
        payloads.set(key, payload);
        return timed(() => copy(payload))(1);
      };
    return {
      tasks: Object.fromEntries(kinds.flatMap((kind) => ['In', 'Out', 'Value'].map((direction) => [`${kind}${direction}`, way(kind)]))),
    };
  };
}

export const question: Question = {
  name: 'payload',
  asks: "What do JSON and bytes cost, from 1 KB to 16 MB, as a tool's result, as its argument, and as a program's value?",
  subjects: {
    ...peerSubjects(),
    [JSON_FLOOR]: onHost((value) => JSON.parse(JSON.stringify(value)), ['json']),
    [CLONE]: onHost((value) => structuredClone(value), ['json', 'bytes']),
  },
  async run(bench) {
    await bench.compare({
      title: 'A program without a payload',
      task: 'empty',
      unit: 'ms',
      ours: OURS,
      floor: FLOOR,
      rounds: 5,
      warmMs: 200,
    });
    const at = { unit: 'ms', ours: OURS, size: MEGABYTE, rounds: 7, warmMs: 200, boundMs: 5_000 } as const;
    const jsonIn = await bench.compare({ ...at, title: '1 MB of JSON, a result into the program', task: 'jsonIn', floor: JSON_FLOOR });
    const jsonOut = await bench.compare({ ...at, title: '1 MB of JSON, an argument out of it', task: 'jsonOut', floor: JSON_FLOOR });
    const jsonValue = await bench.compare({ ...at, title: "1 MB of JSON, the program's value", task: 'jsonValue', floor: JSON_FLOOR });
    const bytes = { ...at, floor: CLONE, warmMs: 100 };
    await bench.compare({ ...bytes, title: '1 MB of bytes, a result into the program', task: 'bytesIn' });
    await bench.compare({ ...bytes, title: '1 MB of bytes, an argument out of it', task: 'bytesOut' });
    await bench.compare({ ...bytes, title: "1 MB of bytes, the program's value", task: 'bytesValue' });
    const systems = [thread, v8, run, tanstackQuickJs, tanstackNode, utcp, isolatedVm, quickJsEmscripten, quickJsWasi].map(
      ({ name }) => name,
    );
    const curve = { unit: 'ms', sizeOf: 'bytes', sizes: SIZES, rounds: 3, warmMs: 1, boundMs: BOUND_MS } as const;
    await bench.draw({ ...curve, title: 'JSON, a result into the program', task: 'jsonIn', subjects: [...systems, JSON_FLOOR, CLONE] });
    await bench.draw({ ...curve, title: 'JSON, an argument out of it', task: 'jsonOut', subjects: [...systems, JSON_FLOOR, CLONE] });
    await bench.draw({ ...curve, title: 'Bytes, a result into the program', task: 'bytesIn', subjects: [...systems, CLONE] });
    bench.note(
      'Each is timed by the host: from the call of a tool just before it to the call after it, to the tool that takes it, or to the value. Two empty calls are in a result, half of one in an argument.',
    );
    bench.aim({ what: '1 MB of JSON into v8, ms', value: medianOf(jsonIn, v8.name), atMost: 10 });
    bench.aim({ what: '1 MB of JSON out of v8, ms', value: medianOf(jsonOut, v8.name), atMost: 10 });
    bench.aim({ what: '1 MB of JSON as the value of a program in v8, ms', value: medianOf(jsonValue, v8.name), atMost: 10 });
    bench.aim({
      what: '1 MB of JSON into a thread, against JSON.parse and stringify',
      value: medianRatio(jsonIn, OURS, JSON_FLOOR),
      atMost: 3,
    });
  },
};
