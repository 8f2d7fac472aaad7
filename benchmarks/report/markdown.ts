// benchmarks/README.md as a text, made of results, systems and notes alone. It draws nothing: plots are linked by the names that plan.ts gives.
import {
  type Absent,
  type Aim,
  type Comparison,
  type Curve,
  isMet,
  type Part,
  type Result,
  rowOf,
  type Spread,
  spread,
  type Table,
} from '../harness/result.ts';
import { amount, digits, percent, sizeText, times } from './figures.ts';
import { dearness, type Headline, headlinesOf } from './headlines.ts';
import { OVERVIEW, plotFile } from './plan.ts';
import { type Subjects, type System, subjectsOf } from './systems.ts';

export interface Report {
  readonly results: readonly Result[];
  /** All questions that there are, also those without results. */
  readonly questions: readonly string[];
  readonly systems: readonly System[];
  /** By question: what notes/NAME.md holds. */
  readonly notes: Readonly<Record<string, string>>;
}

/** Tables with more rows than that are folded where a plot shows the same. */
const LONG = 6;
/** And without a plot. */
const VERY_LONG = 16;

export function reportMarkdown({ results, questions, systems, notes }: Report): string {
  const subjects = subjectsOf(results, systems);
  const { headlines, missing } = headlinesOf(results);
  return `${[
    '<!-- Made by `npm run bench:report` from results/*.json and report/notes/*.md. Edit those, not this file. -->',
    '# Benchmarks',
    notes['about'] ?? '',
    machineSection(results, questions),
    systemsSection(results, subjects),
    summarySection(headlines, missing, subjects),
    aimsSection(results),
    ...results.map((result) => questionSection(result, subjects, notes[result.question])),
  ]
    .map((section) => section.trim())
    .filter((section) => section !== '')
    .join('\n\n')}\n`;
}

function machineSection(results: readonly Result[], questions: readonly string[]): string {
  const machines = new Set(
    results.map(({ machine: { node, platform, processor, cores, memoryGB } }) => {
      return `${cores} cores of ${processor}, ${memoryGB} GB, ${platform}, Node ${node.replace(/^v/, '')}`;
    }),
  );
  const busy = results.filter(({ load }) => load.isBusy).map(({ question }) => link(question));
  const absent = questions.filter((name) => results.every(({ question }) => question !== name));
  const verdict =
    busy.length === 0
      ? 'The machine was quiet during all of them.'
      : `**The machine was busy with other work** during ${enumerate(busy)}: there, trust ratios more than times, and both with care.`;
  const rows = results.map(({ question, ranAt, seconds, load: { before, others, core, isBusy } }) => [
    link(question),
    ranAt.slice(0, 16).replace('T', ' '),
    `${seconds} s`,
    percent(before),
    others === null ? 'unknown' : percent(others),
    percent(core),
    isBusy ? '**busy**' : 'quiet',
  ]);
  return [
    '## The machine',
    `${[...machines].join('; and ')}.`,
    verdict,
    absent.length === 0 ? '' : `Without results yet: ${enumerate(absent.map((name) => `\`${name}\``))}.`,
    folded('What each question had of the machine', [
      ['question', 'asked at (UTC)', 'took', 'used before', 'others used', 'of a core, a loop got', 'the machine'],
      ...rows,
    ]),
  ]
    .filter((line) => line !== '')
    .join('\n\n');
}

function systemsSection(results: readonly Result[], subjects: Subjects): string {
  const versions: Record<string, string> = Object.assign({}, ...results.map((result) => result.versions));
  const rows = subjects.systems.map((system) => [code(system.name), subjects.versionOf(system) ?? '', system.where]);
  const single = subjects.peers
    .filter((name) => subjects.systems.every((system) => system.name !== name))
    .map((name) => [code(name), versions[name] ?? versions[name.split(', ')[0] as string] ?? '', 'only in the question that names it']);
  /** By subject and reason: the parts of the questions that it is not in. */
  const absent = new Map<string, { subject: string; reason: string; where: string[] }>();
  for (const { question, absent: list, parts } of results)
    for (const { subject, part, reason } of list) {
      const key = `${subject}\n${reason}`;
      const entry = absent.get(key) ?? { subject, reason, where: [] };
      entry.where.push(part === undefined ? link(question) : `${link(question)} (${partName(part, parts)})`);
      absent.set(key, entry);
    }
  const absentRows = [...absent.values()].map(({ subject, reason, where }) => [code(subject), where.join(', '), reason]);
  return [
    '## Who takes part',
    table([['system', 'version', 'guest code runs in'], ...rows, ...single]),
    absentRows.length === 0
      ? 'Nobody is absent from a question that was asked of them.'
      : `### Absent, and why\n\n${table([['who', 'from', 'reason'], ...absentRows])}`,
  ].join('\n\n');
}

function summarySection(headlines: readonly Headline[], missing: readonly string[], subjects: Subjects): string {
  if (headlines.length === 0) return '';
  const columns = subjects.peers.filter((peer) => headlines.some(({ others }) => others.some(({ subject }) => subject === peer)));
  const head = ['figure', 'ours', 'floor', 'ours is, of its floor', ...columns.map((peer) => code(peer))];
  const rows = headlines.map(({ question, part, ours, nearness, others }) => {
    const floor = nearness && rowOf(part, nearness.floor);
    return [
      `${link(question)}: ${part.title}`,
      `**${amount(ours.median, part.unit)}**`,
      floor ? `${amount(spread(floor.rounds).median, part.unit)} (${nearness?.floor})` : '',
      nearness ? times(nearness.ratio.median) : '',
      ...columns.map((peer) => {
        const other = others.find(({ subject }) => subject === peer);
        return other === undefined ? '' : times(other.ratio.median);
      }),
    ];
  });
  return [
    '## In short',
    'One row for each headline. The columns of other systems say how many times as dear as ours they are, by the median of the ratios of every round: below 1× they are cheaper. Where more is better, it is how many times as much ours does.',
    table([head, ...rows], 1),
    missing.length === 0 ? '' : `Not measured, though it should stand here: ${missing.join('; ')}.`,
    `![How many times as dear as ours each system is, for each headline](plots/${OVERVIEW})`,
  ]
    .filter((line) => line !== '')
    .join('\n\n');
}

function aimsSection(results: readonly Result[]): string {
  const aims = results.flatMap(({ question, aims: list }) => list.map((aim) => ({ question, aim })));
  if (aims.length === 0) return '';
  const met = aims.filter(({ aim }) => isAimMet(aim)).length;
  const rows = aims.map(({ question, aim }) => [
    link(question),
    aim.what,
    digits(aim.value ?? Number.NaN),
    boundOf(aim),
    isAimMet(aim) ? 'met' : '**missed**',
  ]);
  return ['## Aims', `${met} of ${aims.length} are met.`, table([['question', 'aim', 'is', 'should be', ''], ...rows], 2, 3)].join('\n\n');
}

/** A figure that could not be had is no figure that meets an aim; JSON has `null` for it. */
function isAimMet(aim: Aim): boolean {
  return typeof aim.value === 'number' && isMet(aim);
}

function boundOf({ atMost, atLeast }: Aim): string {
  return [atMost !== undefined && `at most ${digits(atMost)}`, atLeast !== undefined && `at least ${digits(atLeast)}`]
    .filter((bound) => bound !== false)
    .join(', ');
}

function questionSection(result: Result, subjects: Subjects, note: string | undefined): string {
  const { question, asks, load, parts, notes } = result;
  return [
    `## ${question}`,
    `**${asks}** \`npm run bench -- ${question}\``,
    load.isBusy ? '*The machine was busy with other work while this was asked.*' : '',
    ...parts.map((part) => partSection(result, part, subjects)),
    ...notes,
    note ?? '',
  ]
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n\n');
}

function partSection({ question, absent }: Result, part: Part, subjects: Subjects): string {
  const file = plotFile(question, part);
  const rows = part.kind === 'comparison' ? comparisonRows(part) : part.kind === 'curve' ? curveRows(part) : tableRows(part);
  const columns = part.kind === 'table' ? rightAligned(part) : undefined;
  const isLong = rows.length - 1 > (file === undefined ? VERY_LONG : LONG);
  const out = absent.filter(({ part: title }) => title === part.title || title?.startsWith(`${part.title}: `));
  return [
    `### ${part.title}`,
    file === undefined ? '' : `![${part.title}: ${altOf(part, subjects)}](plots/${file})`,
    isLong ? folded('All figures', rows, columns) : table(rows, ...(columns ?? [1])),
    out.length === 0 ? '' : `Not in it: ${out.map((each) => absence(each, part)).join('; ')}.`,
  ]
    .filter((line) => line !== '')
    .join('\n\n');
}

/** A part that a subject is not in: of a curve, from which size on. */
function partName(title: string, parts: readonly Part[]): string {
  const curve = parts.find((part): part is Curve => part.kind === 'curve' && title.startsWith(`${part.title}: `));
  const size = curve === undefined ? Number.NaN : Number.parseInt(title.slice(curve.title.length + 2), 10);
  return curve === undefined || Number.isNaN(size) ? title : `${curve.title}, from ${sizeText(size, curve.sizeOf)} on`;
}

/** Who, from which size on, and why. */
function absence({ subject, reason, part: title = '' }: Absent, part: Part): string {
  const from = title === part.title ? '' : partName(title, [part]).slice(part.title.length);
  return `${code(subject)}${from} (${reason.trim().replace(/\.$/, '')})`;
}

function altOf(part: Part, subjects: Subjects): string {
  if (part.kind !== 'comparison') return `by size`;
  const of = subjects.kindOf(part.ours) === 'ours' ? 'ours' : part.ours;
  return `median of each system, with p10 to p90, beside ${of}`;
}

function comparisonRows(part: Comparison): string[][] {
  const { unit, rows, ours, floor, better } = part;
  const hasOurs = rowOf(part, ours) !== undefined;
  const hasFloor = floor !== undefined && rowOf(part, floor) !== undefined;
  const head = [
    better === 'less' ? '' : 'more is better',
    'median',
    'p10',
    'p90',
    ...(hasOurs ? [`${better === 'less' ? `as dear as ${ours}` : `of it, ${ours} does`}: median [p10 to p90]`] : []),
    ...(hasFloor ? ['of the floor'] : []),
  ];
  return [
    head,
    ...rows.map(({ subject, rounds }) => {
      const { median, p10, p90 } = spread(rounds);
      return [
        nameOf(subject, part),
        ...[median, p10, p90].map((figure) => amount(figure, unit)),
        ...(hasOurs ? [subject === ours ? '1×' : interval(dearness(part, subject, ours))] : []),
        ...(hasFloor ? [subject === floor ? '1×' : times(dearness(part, subject, floor).median)] : []),
      ];
    }),
  ];
}

function nameOf(subject: string, { ours, floor }: Comparison): string {
  if (subject === ours) return `**${subject}**`;
  return subject === floor ? `*${subject}* (floor)` : subject;
}

/** 23.3× [20.1 to 25.4] */
function interval({ median, p10, p90 }: Spread): string {
  return Number.isFinite(median) ? `${times(median)} [${digits(p10)} to ${digits(p90)}]` : '–';
}

function curveRows({ unit, sizeOf, lines }: Curve): string[][] {
  const sizes = [...new Set(lines.flatMap(({ points }) => points.map(({ size }) => size)))].sort((a, b) => a - b);
  return [
    [`${sizeOf}:`, ...sizes.map((size) => sizeText(size, sizeOf))],
    ...lines.map(({ subject, points }) => [
      subject,
      ...sizes.map((size) => {
        const point = points.find((each) => each.size === size);
        return point === undefined ? '–' : amount(spread(point.rounds).median, unit);
      }),
    ]),
  ];
}

function tableRows({ head, rows }: Table): string[][] {
  return [[...head], ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? digits(cell) : cell)))];
}

/** Columns that hold numbers. */
function rightAligned({ rows }: Table): number[] {
  const width = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, column) => column).filter((column) => rows.some((row) => typeof row[column] === 'number'));
}

/** The first row is the head. Without columns to align, all but the first are numbers; with one, all from there on. */
export function table([head = [], ...rows]: readonly (readonly string[])[], ...right: number[]): string {
  const isRight = (column: number): boolean => (right.length === 1 ? column >= (right[0] as number) : right.includes(column));
  const line = (cells: readonly string[]): string => `| ${head.map((_, column) => cell(cells[column] ?? '')).join(' | ')} |`;
  return [line(head), `|${head.map((_, column) => (isRight(column) ? ' ---: ' : ' --- ')).join('|')}|`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ')
    .trim();
}

function folded(title: string, rows: readonly (readonly string[])[], columns: readonly number[] = [1]): string {
  return `<details><summary>${title}</summary>\n\n${table(rows, ...columns)}\n\n</details>`;
}

/** To the question's section. */
function link(question: string): string {
  return `[${question}](#${question})`;
}

function code(name: string): string {
  return name.includes('`') ? name : `\`${name}\``;
}

export function enumerate(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
