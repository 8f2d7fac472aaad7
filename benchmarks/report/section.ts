// The few figures that README.md shows: headlines beside peers and floor, and the overview. Made of results like the rest, and put between two marks.
import { type Result, rowOf } from '../harness/result.ts';
import { amount, times } from './figures.ts';
import { type Against, headlinesOf } from './headlines.ts';
import { enumerate, type Report, table } from './markdown.ts';
import { OVERVIEW } from './plan.ts';
import { type Subjects, subjectsOf } from './systems.ts';

const BEGIN = '<!-- figures: made by npm run bench:report -->';
const END = '<!-- /figures -->';

/** README.md with another section. Throws where its marks are gone. */
export function withSection(readme: string, section: string): string {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`README.md lacks the marks \`${BEGIN}\` and \`${END}\`, between which its figures stand.`);
  return `${readme.slice(0, from + BEGIN.length)}\n${section}\n${readme.slice(to)}`;
}

export function sectionMarkdown({ results, systems }: Pick<Report, 'results' | 'systems'>): string {
  const subjects = subjectsOf(results, systems);
  const { headlines } = headlinesOf(results);
  const rows = headlines.map(({ question, part, ours, nearness, others }) => {
    const floor = nearness && rowOf(part, nearness.floor);
    const peers = others
      .filter(({ subject, ratio }) => subjects.kindOf(subject) === 'peer' && Number.isFinite(ratio.median))
      .sort((a, b) => a.ratio.median - b.ratio.median);
    return [
      `[${question}](benchmarks/README.md#${question}): ${part.title}`,
      amount(ours.median, part.unit),
      floor ? `${times(nearness?.ratio.median ?? Number.NaN)} ${nearness?.floor}` : '',
      peersText(peers),
    ];
  });
  return [
    `${machineSentence(results, subjects)} Other systems: how many times as dear as ours they are, by the median of the ratios of every round.`,
    table([['figure', 'ours', 'of the floor', 'other systems'], ...rows]),
    `![How many times as dear as ours each system is](benchmarks/plots/${OVERVIEW})`,
  ].join('\n\n');
}

/** All of a few; of many the two at the ends. */
function peersText(peers: readonly Against[]): string {
  const texts = peers.map(({ subject, ratio }) => `\`${subject}\` ${times(ratio.median)}`);
  return texts.length <= 3 ? texts.join(', ') : `${texts.length}, from ${texts[0]} to ${texts.at(-1)}`;
}

function machineSentence(results: readonly Result[], subjects: Subjects): string {
  const machines = [
    ...new Set(results.map(({ machine: { cores, processor, node } }) => `${cores} cores of ${processor}, Node ${node.slice(1)}`)),
  ];
  const busy = results.filter(({ load }) => load.isBusy).map(({ question }) => `\`${question}\``);
  const versions = subjects.systems
    .filter(({ name }) => subjects.kindOf(name) === 'peer')
    .flatMap((system) => {
      const version = subjects.versionOf(system);
      return version === undefined ? [] : [`\`${system.name}\` ${version}`];
    });
  const load = busy.length === 0 ? 'a quiet machine' : `a machine that was busy with other work during ${enumerate(busy)}`;
  return `Medians on ${machines.join('; ')}; ${load}. With ${enumerate(versions)}.`;
}
