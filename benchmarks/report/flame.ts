// A CPU profile for people: which functions took the time themselves, and a picture of who called whom, from the top down. Pure work on a profile;
// taking one is harness/profiler.ts.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Profile, ProfileNode } from '../harness/profiler.ts';
import { digits, percent } from './figures.ts';
import { escaped, FONT } from './look.ts';

export interface Hot {
  readonly name: string;
  /** `dist/isolation/jail.js:120`, or nothing for what is the engine's own. */
  readonly place: string;
  readonly ms: number;
  /** Of the time that was not idle. */
  readonly share: number;
}

interface Frame {
  readonly name: string;
  readonly place: string;
  self: number;
  /** With those below, µs. */
  all: number;
  readonly below: Map<string, Frame>;
}

const IDLE = '(idle)';

/** Functions with most time of their own, and how long the thread was at work and idle, ms. */
export function hottest(profile: Profile, root: string, count = 10): { hot: readonly Hot[]; busyMs: number; idleMs: number } {
  const self = selfTimes(profile);
  const sums = new Map<string, { name: string; place: string; us: number }>();
  let [busy, idle] = [0, 0];
  for (const node of profile.nodes) {
    const us = self.get(node.id) ?? 0;
    if (node.callFrame.functionName === IDLE) idle += us;
    else busy += us;
    const { name, place } = titleOf(node, root);
    const sum = sums.get(`${name}\n${place}`) ?? { name, place, us: 0 };
    sum.us += us;
    sums.set(`${name}\n${place}`, sum);
  }
  const hot = [...sums.values()]
    .filter(({ name, us }) => name !== IDLE && us > 0)
    .sort((a, b) => b.us - a.us)
    .slice(0, count)
    .map(({ name, place, us }) => ({ name, place, ms: us / 1000, share: us / busy }));
  return { hot, busyMs: busy / 1000, idleMs: idle / 1000 };
}

const WIDTH = 1_200;
const ROW = 19;
const HEAD = 30;
/** Narrower frames are one frame, `…`. */
const LEAST_PIXELS = 2;

/** As an SVG; what a frame is stands in its tooltip too. */
export function flame(profile: Profile, root: string, title: string): string {
  const top = treeOf(profile, root);
  const { busyMs, idleMs } = hottest(profile, root, 0);
  const boxes: string[] = [];
  let deepest = 0;
  const draw = (frames: readonly Frame[], from: number, depth: number): void => {
    let x = from;
    let tiny = 0;
    let count = 0;
    for (const frame of frames.toSorted((a, b) => b.all - a.all)) {
      const width = (frame.all / top.all) * WIDTH;
      if (width < LEAST_PIXELS) {
        tiny += frame.all;
        count += 1;
        continue;
      }
      box(frame, { x, width, depth });
      draw([...frame.below.values()], x, depth + 1);
      x += width;
    }
    const rest = (tiny / top.all) * WIDTH;
    if (rest >= LEAST_PIXELS)
      box({ name: '…', place: `${count} short frames`, self: tiny, all: tiny, below: new Map() }, { x, width: rest, depth });
  };
  const box = (frame: Frame, { x, width, depth }: { x: number; width: number; depth: number }): void => {
    deepest = Math.max(deepest, depth + 1);
    const { name, place, self, all } = frame;
    const room = Math.floor((width - 8) / 6.9);
    const text = name.length <= room ? name : `${name.slice(0, Math.max(0, room - 1))}…`;
    const about = `${name}${place === '' ? '' : `\n${place}`}\n${digits(all / 1000)} ms, ${percent(all / top.all)}; itself ${digits(self / 1000)} ms`;
    boxes.push(
      `<g><title>${escaped(about)}</title><rect x="${x.toFixed(1)}" y="${HEAD + depth * ROW}" width="${Math.max(0.5, width - 0.6).toFixed(1)}" height="${ROW - 1}" rx="1.5" class="${kindOf(frame)}"/>` +
        `${room < 3 ? '' : `<text x="${(x + 4).toFixed(1)}" y="${HEAD + depth * ROW + 13}">${escaped(text)}</text>`}</g>`,
    );
  };
  if (top.all > 0) draw([...top.below.values()], 0, 0);
  const height = HEAD + deepest * ROW + 34;
  const legend = KINDS.map(
    ([kind, label], index) =>
      `<rect x="${2 + index * 190}" y="${height - 22}" width="14" height="14" class="${kind}"/><text class="plain" x="${22 + index * 190}" y="${height - 10}">${label}</text>`,
  );
  const heading = `${title}: ${digits(busyMs)} ms at work, ${digits(idleMs)} ms idle (not drawn)`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"><style>${SHEET}</style>` +
    `<text class="plain" x="2" y="18" font-weight="bold">${escaped(heading)}</text>${boxes.join('')}${legend.join('')}</svg>\n`
  );
}

/** By class: who wrote what runs. */
const KINDS = [
  ['guest', 'WebAssembly: the guest'],
  ['own', 'this package'],
  ['node', 'Node'],
  ['other', 'other packages'],
  ['engine', "the engine's own"],
] as const;

const SHEET =
  `text{font:12px ${FONT};fill:#1f2328}.plain{fill:#1f2328}` +
  '.own{fill:#8fbcff}.guest{fill:#ffc38a}.node{fill:#b9dfc9}.other{fill:#e6bfe0}.engine{fill:#d5dae0}' +
  '@media(prefers-color-scheme:dark){text,.plain{fill:#f0f3f6}.own{fill:#1f5fb8}.guest{fill:#9a4f0c}.node{fill:#1c6b4c}.other{fill:#7d3a72}.engine{fill:#4a525c}}';

function kindOf({ name, place }: Pick<Frame, 'name' | 'place'>): (typeof KINDS)[number][0] {
  if (name.startsWith('wasm-') || place.startsWith('wasm:')) return 'guest';
  if (place.startsWith('node:')) return 'node';
  if (/^(dist|src)\//.test(place) || place.includes('node_modules/.cache/callgate')) return 'own';
  return /^(\/|\.|node_modules|benchmarks\/node_modules|evalmachine|file:)/.test(place) ? 'other' : 'engine';
}

/** Calls of the same function by the same caller are one frame; what is idle is left out. */
function treeOf(profile: Profile, root: string): Frame {
  const self = selfTimes(profile);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const top: Frame = { name: '(root)', place: '', self: 0, all: 0, below: new Map() };
  const add = (node: ProfileNode, parent: Frame): number => {
    if (node.callFrame.functionName === IDLE) return 0;
    const { name, place } = titleOf(node, root);
    const key = `${name}\n${place}`;
    const frame = parent.below.get(key) ?? { name, place, self: 0, all: 0, below: new Map() };
    parent.below.set(key, frame);
    const own = self.get(node.id) ?? 0;
    frame.self += own;
    const all = own + belowOf(node).reduce((sum, child) => sum + add(child, frame), 0);
    frame.all += all;
    return all;
  };
  const belowOf = ({ children = [] }: ProfileNode): ProfileNode[] => children.flatMap((id) => nodes.get(id) ?? []);
  const first = profile.nodes[0];
  if (first !== undefined) top.all = belowOf(first).reduce((sum, child) => sum + add(child, top), 0);
  return top;
}

/** By node, µs: a sample's time is until the next one. */
function selfTimes({ samples = [], timeDeltas = [] }: Profile): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  for (const [index, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + Math.max(0, timeDeltas[index + 1] ?? 0));
  return times;
}

function titleOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode, root: string): { name: string; place: string } {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return { name, place: '' };
  const inside = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
  return { name, place: lineNumber < 0 || url.startsWith('wasm:') ? inside : `${inside}:${lineNumber + 1}` };
}
