// What does a guest compute? Seven programs that a model may write, beside the same text in plain Node. Only the computing is timed, by the host
// between two calls of a tool; what starting costs is another question.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of programs hold template literals.
import type { Question } from '../harness/question.ts';
import { medianOf, medianRatio } from '../harness/result.ts';
import { sandboxed, v8 } from '../peers/callgate.ts';
import { isolatedVm } from '../peers/isolated-vm.ts';
import { between, MARK } from '../peers/marks.ts';
import { FLOOR, fresh, OURS, PEERS, subjectsOf } from '../peers/peers.ts';

const COMPUTING: Readonly<Record<string, string>> = {
  'fib(25)': 'const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); const got = fib(25);',
  'sorting 50 000 numbers':
    'let seed = 1; const a = Array.from({ length: 5e4 }, () => (seed = (seed * 48271) % 2147483647)); a.sort((x, y) => x - y); const got = a[5];',
  'JSON of 1 MB, written and read':
    "const text = JSON.stringify(Array.from({ length: 12_000 }, (_, id) => ({ id, name: 'customer ' + id, tags: ['a', 'b'], total: id * 1.5 }))); const got = JSON.stringify(JSON.parse(text)).length;",
  'building strings':
    "let s = ''; for (let i = 0; i < 1e5; i++) s += `row ${i};`; const got = s.split(';').map((x) => x.toUpperCase()).join(',').length;",
  'regular expressions':
    "const text = Array.from({ length: 3_000 }, (_, i) => `user${i}@mail${i % 7}.example.com, +49 ${i} 55`).join('\\n'); const got = [...text.matchAll(/([\\w.]+)@([\\w.-]+)\\.(com|org)/g)].length + text.replace(/\\d+/g, (d) => '<' + d + '>').length;",
  'Maps and Sets':
    'const sums = new Map(); const seen = new Set(); for (let i = 0; i < 1e5; i++) { const key = (i * 7919) % 5003; sums.set(key, (sums.get(key) ?? 0) + i); seen.add(`k${key % 997}`); } let got = seen.size; for (const [key, sum] of sums) if (sum % 2 === 0) got += key;',
  'grouping and sorting rows':
    "const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, team: 'team ' + (id % 40), open: id % 3 === 0, hours: (id * 37) % 101 })); const groups = {}; for (const { team, open, hours } of rows.filter((row) => row.open)) { const group = (groups[team] ??= { team, count: 0, hours: 0 }); group.count += open ? 1 : 0; group.hours += hours; } const got = Object.values(groups).map((group) => ({ ...group, mean: group.hours / group.count })).sort((a, b) => b.mean - a.mean || a.team.localeCompare(b.team))[0].count;",
};
const NAMES = Object.keys(COMPUTING);

export const question: Question = {
  name: 'cpu',
  asks: 'What does a guest compute: numbers, sorting, JSON, strings, regular expressions, Maps, rows?',
  subjects: Object.fromEntries(
    PEERS.map((peer) => {
      const marks = between();
      const subjects = subjectsOf(
        { tools: marks.tools },
        (program) =>
          Object.fromEntries(
            NAMES.map((name) => [
              name,
              async () => {
                marks.clear();
                await program(fresh(`${MARK} ${COMPUTING[name]} ${MARK} return got;`));
                return marks.passed();
              },
            ]),
          ),
        [peer],
      );
      return [peer.name, subjects[peer.name] as NonNullable<(typeof subjects)[string]>];
    }),
  ),
  async run(bench) {
    const ratios = new Map<string, number[]>([v8, sandboxed, isolatedVm].map(({ name }) => [name, []]));
    for (const name of NAMES) {
      const part = await bench.compare({
        title: name,
        task: name,
        unit: 'ms',
        ours: OURS,
        floor: FLOOR,
        rounds: 7,
        warmMs: 1,
        boundMs: 4_000,
      });
      for (const [subject, list] of ratios) if (!Number.isNaN(medianOf(part, subject))) list.push(medianRatio(part, subject, FLOOR));
    }
    const mean = (list: readonly number[]): number => Math.exp(list.reduce((sum, ratio) => sum + Math.log(ratio), 0) / list.length);
    const said = [...ratios].filter(([, list]) => list.length > 0).map(([subject, list]) => `${subject} ${mean(list).toFixed(2)}`);
    bench.note(`Against plain Node, geometric mean over the programs: ${said.join(', ')}.`);
    bench.aim({ what: 'computing in v8, against plain Node: geometric mean', value: mean(ratios.get(v8.name) ?? []), atMost: 1.3 });
  },
};
