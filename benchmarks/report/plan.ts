// Which plots there are and how their files are called: decided here for the Markdown, which links them, and for plots.ts, which draws them.
import type { Comparison, Curve, Part } from '../harness/result.ts';

export const OVERVIEW = 'overview.svg';

/** Fewer dots than that are read faster in the table. */
const LEAST_ROWS = 3;

/** The file of a part's plot within plots/; nothing where a table says more. */
export function plotFile(question: string, part: Part): string | undefined {
  return isPlotted(part) ? `${question}-${slug(part.title)}.svg` : undefined;
}

function isPlotted(part: Part): part is Comparison | Curve {
  if (part.kind === 'comparison') return part.rows.length >= LEAST_ROWS;
  return part.kind === 'curve' && part.lines.some(({ points }) => points.length > 1);
}

/** `return 1`, one after another: return-1-one-after-another. */
function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
}
