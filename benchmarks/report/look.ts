// How plots look: one sheet of colours for light and dark, a colour and a shape for each subject, and the frame of an SVG that GitHub shows as an
// image: no script, no fonts from elsewhere, a transparent ground. Colours are Okabe and Ito's, which those who see fewer can tell apart.
import type { Subjects } from './systems.ts';

export const FONT_SIZE = 13;
export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif';
/** Of text in FONT, on average, a little wide: nothing can be measured here. */
const CHARACTER = 7.3;

export function textWidth(text: string): number {
  return Math.ceil(text.length * CHARACTER);
}

/** Variables, light and dark. */
const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  text: ['#1f2328', '#e6edf3'],
  faint: ['#d1d9e0', '#3d444d'],
  quiet: ['#59636e', '#9198a1'],
  ours: ['#0550d0', '#6cb6ff'],
  'ours-too': ['#4f8be8', '#3f86d8'],
  c0: ['#c44e00', '#ff8a3d'],
  c1: ['#00805c', '#2fcf9f'],
  c2: ['#b0408c', '#e894c6'],
  c3: ['#8a6d00', '#e6c229'],
  c4: ['#1784b8', '#7fd3f7'],
  c5: ['#6b4fc0', '#b9a3ff'],
};
const PEER_COLOURS = 6;
const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'star', 'wye', 'cross'] as const;

export interface Look {
  readonly colour: string;
  readonly shape: (typeof SHAPES)[number];
  readonly isHollow: boolean;
  /** Of a line. */
  readonly width: number;
  readonly dash: string | undefined;
  /** Of a dot. */
  readonly radius: number;
}

/** The same look for a subject in all plots. `ours` is the one that others are compared with. */
export function lookOf(subject: string, ours: string, subjects: Subjects): Look {
  if (subject === ours) return { colour: 'var(--ours)', shape: 'circle', isHollow: false, width: 3.5, dash: undefined, radius: 6 };
  const kin = subjects.systems.filter(({ name }) => subjects.kindOf(name) === 'ours').map(({ name }) => name);
  switch (subjects.kindOf(subject)) {
    case 'ours': {
      const place = Math.max(0, kin.indexOf(subject));
      const shape = SHAPES[place % SHAPES.length] as Look['shape'];
      return { colour: 'var(--ours-too)', shape, isHollow: true, width: 1.75, dash: undefined, radius: 4.5 };
    }
    case 'peer': {
      const place = subjects.peers.indexOf(subject);
      // Seven shapes and six colours: only the forty-third looks like the first.
      const shape = SHAPES[place % SHAPES.length] as Look['shape'];
      return { colour: `var(--c${place % PEER_COLOURS})`, shape, isHollow: false, width: 1.75, dash: undefined, radius: 4.5 };
    }
    case 'floor':
      return { colour: 'var(--quiet)', shape: 'cross', isHollow: true, width: 1.5, dash: '2 3', radius: 4.5 };
    case 'reference':
      return { colour: 'var(--quiet)', shape: 'diamond', isHollow: true, width: 1.5, dash: '6 3', radius: 4.5 };
  }
}

/** For the head of an SVG. */
function sheet(): string {
  const variables = (dark: 0 | 1): string =>
    Object.entries(COLOURS)
      .map(([name, pair]) => `--${name}:${pair[dark]}`)
      .join(';');
  return `svg{${variables(0)};color:var(--text);background:transparent;font-family:${FONT};font-size:${FONT_SIZE}px}@media(prefers-color-scheme:dark){svg{${variables(1)}}}text{white-space:pre}`;
}

/** An SVG of its own from what is inside of one. */
export function svg({ width, height, title, body }: { width: number; height: number; title: string; body: string }): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" fill="currentColor" role="img"><title>${escaped(title)}</title><style>${sheet()}</style>${body}</svg>\n`;
}

/** A text within markup. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
