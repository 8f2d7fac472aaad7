// Draws the plots: the overview, a row of dots for each comparison, lines for each curve. Loaded when something is drawn, since it needs the packages of
// benchmarks/. Which plots there are is said in plan.ts, how they look in look.ts.
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { type Comparison, type Curve, type Spread, spread } from '../harness/result.ts';
import { amount, sizeText, times } from './figures.ts';
import type { Headline } from './headlines.ts';
import { apart } from './labels.ts';
import { escaped, FONT, FONT_SIZE, type Look, lookOf, svg, textWidth } from './look.ts';
import type { Subjects } from './systems.ts';

const WIDTH = 860;
const TITLE = 34;
const AXIS = 44;
/** Each row has its own, of one look. */
const FLOOR = "the row's floor";

/** How many times as dear as ours: a row for each headline, a dot for each system, a line from p10 to p90. */
export function drawOverview(headlines: readonly Headline[], subjects: Subjects): string {
  const label = ({ question, part: { title } }: Headline): string => `${question}: ${plain(title)}`;
  const isSystem = (subject: string): boolean =>
    subjects.kindOf(subject) === 'ours' && subjects.systems.some(({ name }) => name === subject);
  const all = headlines.map((headline) => ({
    label: label(headline),
    dots: headline.others
      // Other floors, and ours with other settings, would make all that matters narrow.
      .filter(({ subject }) => subject === headline.part.floor || isSystem(subject) || subjects.kindOf(subject) === 'peer')
      .filter(({ ratio }) => ratio.median > 0)
      .map(({ subject, ratio }) => ({ subject: subjects.kindOf(subject) === 'floor' ? FLOOR : subject, ratio, label: label(headline) })),
  }));
  // A figure that stands alone is in the table.
  const shown = all.filter(({ dots }) => dots.length > 0);
  const dots = shown.flatMap((each) => each.dots);
  const anyFloor = headlines.find(({ nearness }) => nearness !== undefined)?.nearness?.floor ?? FLOOR;
  const look = (subject: string): Look => lookOf(subject === FLOOR ? anyFloor : subject, ours, subjects);
  const ours = headlines[0]?.part.ours ?? 'callgate';
  const names = [...new Set(dots.map(({ subject }) => subject))].sort((a, b) => rank(a, subjects) - rank(b, subjects));
  const marginLeft = Math.min(400, Math.max(...shown.map((each) => textWidth(each.label))) + 16);
  const legend = layLegend([`${ours} = 1`, ...names]);
  const marginTop = TITLE + legend.height + 22;
  const height = marginTop + shown.length * 44 + AXIS;
  const domain = spanOf(dots.flatMap(({ ratio }) => [ratio.p10, ratio.p90, 1]));
  const plot = Plot.plot({
    document: blank(),
    width: WIDTH,
    height,
    marginLeft,
    marginRight: 24,
    marginTop,
    marginBottom: AXIS,
    style: { fontSize: `${FONT_SIZE}px`, fontFamily: FONT },
    x: { type: 'log', domain, axis: null },
    y: { type: 'point', domain: shown.map((each) => each.label), padding: 0.5, axis: null },
    marks: [
      Plot.gridX(ticksOf(domain), { stroke: 'var(--faint)', strokeOpacity: 1 }),
      ...ticksX(ticksOf(domain), times),
      Plot.ruleY(shown, { y: 'label', stroke: 'var(--faint)', strokeDasharray: '1 4' }),
      Plot.text(shown, {
        frameAnchor: 'left',
        y: 'label',
        text: 'label',
        dx: -12,
        textAnchor: 'end',
        lineWidth: (0.88 * (marginLeft - 24)) / FONT_SIZE,
      }),
      Plot.ruleX([1], { stroke: 'var(--ours)', strokeWidth: 3.5 }),
      Plot.text(['← cheaper than ours'], { frameAnchor: 'top-left', dy: -16, fill: 'var(--quiet)', fontSize: 12 }),
      Plot.text(['dearer than ours →'], { frameAnchor: 'top-right', dy: -16, fill: 'var(--quiet)', fontSize: 12 }),
      // Small shifts within a row, so that dots at the same place are seen.
      ...names.flatMap((subject, place) => {
        const { colour, shape, isHollow, radius } = look(subject);
        const dy = names.length < 2 ? 0 : (place / (names.length - 1) - 0.5) * 26;
        const own = dots.filter((dot) => dot.subject === subject);
        return [
          Plot.link(own, { x1: (d) => d.ratio.p10, x2: (d) => d.ratio.p90, y: 'label', stroke: colour, strokeWidth: 1.75, dy }),
          Plot.dot(own, {
            x: (d) => d.ratio.median,
            y: 'label',
            symbol: shape,
            r: radius,
            stroke: colour,
            strokeWidth: 1.75,
            fill: isHollow ? 'none' : colour,
            dy,
          }),
        ];
      }),
      ...legend.items.flatMap(({ name, x, y }, index) => {
        const { colour, shape, isHollow, radius } = look(index === 0 ? ours : name);
        const at = { frameAnchor: 'top-left', dx: x - marginLeft, dy: y - marginTop } as const;
        return [
          index === 0
            ? Plot.text(['━'], { ...at, fill: colour, fontWeight: 'bold', lineAnchor: 'middle' })
            : Plot.dot([0], { ...at, symbol: shape, r: radius, stroke: colour, strokeWidth: 1.75, fill: isHollow ? 'none' : colour }),
          Plot.text([plain(name)], { ...at, dx: at.dx + 12, textAnchor: 'start', lineAnchor: 'middle', fill: 'var(--text)' }),
        ];
      }),
    ],
  });
  return finish(plot, height, 'How many times as dear as ours: medians of the ratios by round, p10 to p90');
}

/** A row for each subject, the cheapest on top: the median as a dot, a line from p10 to p90, and the median in figures. */
export function drawComparison(part: Comparison, subjects: Subjects): string {
  const { unit, ours, better, title } = part;
  const rows = part.rows
    .map(({ subject, rounds }) => ({ subject, name: plain(subject), ...spread(rounds), look: lookOf(subject, ours, subjects) }))
    .sort((a, b) => (better === 'less' ? a.median - b.median : b.median - a.median));
  const all = rows.flatMap(({ p10, p90 }) => [p10, p90]);
  const isLog = Math.min(...all) > 0 && Math.max(...all) / Math.min(...all) > 8;
  const domain: [number, number] = isLog ? spanOf(all) : [Math.min(0, ...all), Math.max(...all) * 1.04 || 1];
  const ticks = isLog ? ticksOf(domain) : evenTicksOf(domain);
  const marginLeft = Math.min(430, Math.max(...rows.map(({ name, subject }) => textWidth(name) * (subject === ours ? 1.12 : 1))) + 16);
  const marginRight = Math.max(...rows.map(({ median }) => textWidth(amount(median, unit)))) + 14;
  const height = TITLE + rows.length * 25 + AXIS;
  const mine = rows.find(({ subject }) => subject === ours);
  const plot = Plot.plot({
    document: blank(),
    width: WIDTH,
    height,
    marginLeft,
    marginRight,
    marginTop: TITLE,
    marginBottom: AXIS,
    style: { fontSize: `${FONT_SIZE}px`, fontFamily: FONT },
    x: { type: isLog ? 'log' : 'linear', domain, axis: null },
    y: { type: 'point', domain: rows.map(({ subject }) => subject), padding: 0.5, axis: null },
    marks: [
      Plot.gridX(ticks, { stroke: 'var(--faint)', strokeOpacity: 1 }),
      ...ticksX(ticks, (tick) => amount(tick, unit)),
      ...(mine === undefined ? [] : [Plot.ruleX([mine.median], { stroke: 'var(--ours)', strokeWidth: 1.25, strokeDasharray: '4 3' })]),
      ...rows.flatMap((row) => {
        const { colour, shape, isHollow, radius } = row.look;
        const weight = row.subject === ours ? 'bold' : 'normal';
        const text = row.subject === ours ? 'var(--ours)' : 'var(--text)';
        return [
          Plot.link([row], { x1: 'p10', x2: 'p90', y: 'subject', stroke: colour, strokeWidth: row.subject === ours ? 4 : 2 }),
          Plot.dot([row], {
            x: 'median',
            y: 'subject',
            symbol: shape,
            r: radius,
            stroke: colour,
            strokeWidth: 1.75,
            fill: isHollow ? 'none' : colour,
          }),
          Plot.text([row], {
            frameAnchor: 'left',
            y: 'subject',
            text: 'name',
            dx: -10,
            textAnchor: 'end',
            fontWeight: weight,
            fill: text,
          }),
          Plot.text([row], {
            frameAnchor: 'right',
            y: 'subject',
            text: ({ median }) => amount(median, unit),
            dx: marginRight - 2,
            textAnchor: 'end',
            fontWeight: weight,
            fill: text,
          }),
        ];
      }),
    ],
  });
  return finish(plot, height, `${plain(title)}: median, p10 to p90${better === 'more' ? ' (more is better)' : ''}`);
}

/** A line for each subject on logarithmic axes, its name at its end. */
export function drawCurve({ title, unit, sizeOf, lines }: Curve, subjects: Subjects): string {
  const ours = lines.find(({ subject }) => subject === 'callgate')?.subject ?? lines[0]?.subject ?? '';
  const sizes = [...new Set(lines.flatMap(({ points }) => points.map(({ size }) => size)))].sort((a, b) => a - b);
  const least = sizes.find((size) => size > 0) ?? 1;
  const most = sizes.at(-1) ?? 1;
  // Nothing has no place on a logarithmic axis: it stands one step before the first size.
  const step = Math.max(2, Math.min(10, most / least) ** 0.8);
  const placeOf = (size: number): number => (size > 0 ? size : least / step);
  const drawn = lines.map(({ subject, points }) => ({
    subject,
    look: lookOf(subject, ours, subjects),
    points: points.map(({ size, rounds }) => ({ x: placeOf(size), ...positive(spread(rounds)) })),
  }));
  const domainX: [number, number] = [placeOf(sizes[0] ?? 1), most];
  const domainY = spanOf(drawn.flatMap(({ points }) => points.flatMap(({ p10, p90 }) => [p10, p90])));
  const ticksY = ticksOf(domainY);
  const marginRight = Math.max(...drawn.map(({ subject }) => textWidth(subject))) + 44;
  const marginLeft = Math.max(...ticksY.map((tick) => textWidth(amount(tick, unit)))) + 20;
  const height = Math.max(380, TITLE + AXIS + 24 + drawn.length * 18 + 40);
  const [top, bottom] = [TITLE + 12, height - AXIS - 12];
  const pixelOf = (value: number): number => bottom - (Math.log(value / domainY[0]) / Math.log(domainY[1] / domainY[0])) * (bottom - top);
  const ends = drawn.flatMap(({ subject, look, points }) => {
    const last = points.at(-1);
    return last === undefined ? [] : [{ subject, look, last, wanted: pixelOf(last.median) }];
  });
  const labels = apart(ends, top, bottom, 17);
  const right = WIDTH - marginRight;
  const pixelX = (value: number): number =>
    marginLeft + (Math.log(value / domainX[0]) / Math.log(domainX[1] / domainX[0])) * (right - marginLeft);
  const plot = Plot.plot({
    document: blank(),
    width: WIDTH,
    height,
    marginLeft,
    marginRight,
    marginTop: top,
    marginBottom: height - bottom,
    style: { fontSize: `${FONT_SIZE}px`, fontFamily: FONT },
    x: { type: 'log', domain: domainX, axis: null },
    y: { type: 'log', domain: domainY, axis: null },
    marks: [
      Plot.gridY(ticksY, { stroke: 'var(--faint)', strokeOpacity: 1 }),
      Plot.text(ticksY, {
        frameAnchor: 'left',
        y: (tick: number) => tick,
        text: (tick: number) => amount(tick, unit),
        dx: -10,
        textAnchor: 'end',
      }),
      ...ticksX(
        sparse(
          sizes,
          (size) => pixelX(placeOf(size)),
          (size) => textWidth(sizeText(size, sizeOf)) + 12,
        ).map(placeOf),
        (place) => sizeText(place < least ? 0 : place, sizeOf),
      ),
      Plot.text([/^bytes/.test(sizeOf) ? sizeOf.replace(/^bytes ?/, '') || 'size' : sizeOf], {
        frameAnchor: 'bottom',
        dy: 38,
        fill: 'var(--quiet)',
      }),
      // Ours last, above the others.
      ...drawn
        .toSorted((a, b) => Number(a.subject === ours) - Number(b.subject === ours))
        .flatMap(({ points, look }) => {
          const { colour, width, dash, shape, isHollow } = look;
          return [
            Plot.link(points, { x: 'x', y1: 'p10', y2: 'p90', stroke: colour, strokeWidth: 1, strokeOpacity: 0.6 }),
            Plot.line(points, { x: 'x', y: 'median', stroke: colour, strokeWidth: width, ...(dash && { strokeDasharray: dash }) }),
            Plot.dot(points, { x: 'x', y: 'median', symbol: shape, r: 3.5, stroke: colour, fill: isHollow ? 'none' : colour }),
          ];
        }),
    ],
  });
  const names = labels.map(({ subject, look, last, wanted, at }) => {
    const [from, to] = [pixelX(last.x) + 6, right + 30];
    const isOurs = subject === ours;
    const bend = last.x < most ? wanted + (at - wanted) * 0.9 : wanted;
    const line = `M${round(from)},${round(wanted)}L${round(to - 12)},${round(bend)}L${round(to - 3)},${round(at)}`;
    return (
      `<path d="${line}" fill="none" stroke="${look.colour}" stroke-opacity="0.55" stroke-dasharray="1.5 2.5"/>` +
      `<text x="${to}" y="${round(at)}" dy="0.32em" fill="${look.colour}"${isOurs ? ' font-weight="bold"' : ''}>${escaped(plain(subject))}</text>`
    );
  });
  return finish(plot, height, `${plain(title)}: median, p10 to p90`, names.join(''));
}

/** Ours first, then kin, peers and floors, each in their order. */
function rank(subject: string, subjects: Subjects): number {
  const order = { ours: 0, peer: 100, reference: 200, floor: 300 }[subjects.kindOf(subject)];
  const among = subjects.kindOf(subject) === 'peer' ? subjects.peers : subjects.systems.map(({ name }) => name);
  return order + Math.max(0, among.indexOf(subject));
}

/** Names side by side, in as many lines as they need. */
function layLegend(names: readonly string[]): { height: number; items: { name: string; x: number; y: number }[] } {
  let [x, y] = [16, TITLE + 14];
  const items = names.map((name) => {
    const width = textWidth(name) + 40;
    if (x + width > WIDTH) [x, y] = [16, y + 22];
    const item = { name, x, y };
    x += width;
    return item;
  });
  return { height: y - TITLE + 18, items };
}

/** From a little below the least to a little above the most. */
function spanOf(figures: readonly number[]): [number, number] {
  const good = figures.filter((figure) => figure > 0 && Number.isFinite(figure));
  if (good.length === 0) return [0.1, 10];
  const [least, most] = [Math.min(...good), Math.max(...good)];
  return least === most ? [least / 2, most * 2] : [least / 1.12, most * 1.12];
}

/** Powers of ten; within two of them also 2 and 5. */
function ticksOf([least, most]: readonly [number, number]): number[] {
  const decades = Math.log10(most / least);
  const steps = decades < 2.2 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power++)
    for (const step of steps) ticks.push(Number((step * 10 ** power).toPrecision(1)));
  return ticks.filter((tick) => tick >= least && tick <= most);
}

/** Round numbers, some five of them. */
function evenTicksOf([least, most]: readonly [number, number]): number[] {
  const rough = (most - least) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

/** What stands below the axis: Plot's own axis leaves out some names on a logarithmic one. */
function ticksX(ticks: readonly number[], textOf: (tick: number) => string): Plot.Markish[] {
  return [Plot.text(ticks, { frameAnchor: 'bottom', x: (tick: number) => tick, text: textOf, dy: 18, lineAnchor: 'middle' })];
}

/** As many of the ticks as have room; the last one always. */
function sparse(sizes: readonly number[], pixelOf: (size: number) => number, widthOf: (size: number) => number): number[] {
  const kept: number[] = [];
  for (const size of sizes.toReversed()) {
    const next = kept.at(-1);
    if (next === undefined || pixelOf(next) - pixelOf(size) >= (widthOf(next) + widthOf(size)) / 2) kept.push(size);
  }
  return kept.reverse();
}

/** Logarithms want more than nothing. */
function positive({ median, p10, p90 }: Spread): Pick<Spread, 'median' | 'p10' | 'p90'> {
  const least = (figure: number): number => Math.max(figure, 1e-6);
  return { median: least(median), p10: least(p10), p90: least(p90) };
}

function plain(title: string): string {
  return title.replaceAll('`', '');
}

/** What Plot draws into. Its types want those of a browser, which nothing else here has. */
function blank(): NonNullable<Plot.PlotOptions['document']> {
  return parseHTML('<!doctype html><html><body></body></html>').document as unknown as NonNullable<Plot.PlotOptions['document']>;
}

/** Of an element, as much as is used. */
interface Drawn {
  readonly innerHTML: string;
  querySelectorAll(selector: string): Iterable<{ remove(): void }>;
}

/** As a file: the title on top, and Plot's own sheet replaced by ours. */
function finish(plot: unknown, height: number, title: string, beside = ''): string {
  // linkedom's, whatever the compiler knows of it.
  const drawn = plot as Drawn;
  for (const style of drawn.querySelectorAll('style')) style.remove();
  const heading = `<text x="2" y="18" font-weight="bold" font-size="14">${escaped(title)}</text>`;
  return svg({ width: WIDTH, height, title, body: `${heading}<g text-anchor="middle">${drawn.innerHTML}</g>${beside}` });
}

function round(pixels: number): string {
  return pixels.toFixed(1);
}
