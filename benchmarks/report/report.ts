// Makes all that is made of results: benchmarks/README.md, its plots, and the section of figures in README.md. The Markdown needs nothing but
// the results; drawing needs the packages of benchmarks/, which are loaded then.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { PEERS } from '../peers/peers.ts';
import { QUESTIONS } from '../questions/questions.ts';
import { headlinesOf } from './headlines.ts';
import { type Report, reportMarkdown } from './markdown.ts';
import { OVERVIEW, plotFile } from './plan.ts';
import { readResults } from './results.ts';
import { sectionMarkdown, withSection } from './section.ts';
import { subjectsOf } from './systems.ts';

/** Writes all of it, for the repository at `root`. */
export async function writeReport(root: string = process.cwd()): Promise<void> {
  const report = readReport(root);
  for (const [path, text] of Object.entries(documents(root, report))) writeFileSync(join(root, path), text);
  await writePlots(join(root, 'benchmarks/plots'), report);
}

/**
 * What the report is made of.
 * @public A test imports it where the compiler does not follow.
 */
export function readReport(root: string): Report {
  const notes = join(root, 'benchmarks/report/notes');
  return {
    results: readResults(join(root, 'benchmarks/results')),
    questions: QUESTIONS,
    systems: PEERS,
    notes: Object.fromEntries(readdirSync(notes).map((file) => [basename(file, '.md'), readFileSync(join(notes, file), 'utf8').trim()])),
  };
}

/**
 * The texts, by path.
 * @public As above.
 */
export function documents(root: string, report: Report): Readonly<Record<string, string>> {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  return { 'benchmarks/README.md': reportMarkdown(report), 'README.md': withSection(readme, sectionMarkdown(report)) };
}

async function writePlots(folder: string, { results, systems }: Report): Promise<void> {
  const { drawComparison, drawCurve, drawOverview } = await import('./plots.ts');
  const subjects = subjectsOf(results, systems);
  const { headlines } = headlinesOf(results);
  const plots = new Map<string, string>();
  if (headlines.length > 0) plots.set(OVERVIEW, drawOverview(headlines, subjects));
  for (const { question, parts } of results)
    for (const part of parts) {
      const file = plotFile(question, part);
      if (file === undefined || part.kind === 'table') continue;
      plots.set(file, part.kind === 'curve' ? drawCurve(part, subjects) : drawComparison(part, subjects));
    }
  // Plots of what is no longer asked go.
  if (existsSync(folder)) for (const file of readdirSync(folder)) if (!plots.has(file)) rmSync(join(folder, file));
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of plots) writeFileSync(join(folder, file), text);
}
