// Reads results/*.json as the report and the check need them: in the order of the questions, and looked at before they are believed. What
// is wrong is told in a sentence with the file's name. What the figures mean is not its business.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Part, Result } from '../harness/result.ts';
import { QUESTIONS } from '../questions/questions.ts';

/** All results in the folder. Throws a sentence where a file is not what `npm run bench` writes. */
export function readResults(folder: string): readonly Result[] {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'));
  const strange = names.filter((name) => !QUESTIONS.includes(name));
  if (strange.length > 0) throw new Error(`results/${strange[0]}.json answers no question. Delete it, or list it in questions.ts.`);
  return QUESTIONS.filter((name) => names.includes(name)).map((name) => readResult(folder, name));
}

/** One question's result. Throws a sentence where it is missing or malformed. */
export function readResult(folder: string, name: string): Result {
  let text: string;
  try {
    text = readFileSync(join(folder, `${name}.json`), 'utf8');
  } catch {
    throw new Error(`There are no results of the question ${name}. Run \`npm run bench -- ${name}\`.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`results/${name}.json is not JSON (${(error as Error).message}). Run \`npm run bench -- ${name}\` again.`);
  }
  const wrong = wrongWith(value, name);
  if (wrong !== undefined) throw new Error(`results/${name}.json is malformed: ${wrong}. Run \`npm run bench -- ${name}\` again.`);
  // Looked at by wrongWith, as far as it is used.
  return value as Result;
}

type Fields = Readonly<Record<string, unknown>>;

/** In words what is not as it should be, or nothing. */
function wrongWith(value: unknown, name: string): string | undefined {
  if (!isFields(value)) return 'it is no object';
  if (value['question'] !== name) return `\`question\` is ${JSON.stringify(value['question'])}, not "${name}"`;
  for (const key of ['asks', 'ranAt']) if (typeof value[key] !== 'string') return `\`${key}\` is no text`;
  if (Number.isNaN(Date.parse(value['ranAt'] as string))) return '`ranAt` is no date';
  if (!isFigure(value['seconds'])) return '`seconds` is no number';
  if (value['isSmoke'] !== false) return 'it is of a smoke run, whose figures mean nothing';
  for (const key of ['machine', 'load', 'versions']) if (!isFields(value[key])) return `\`${key}\` is no object`;
  const { before, others, core, isBusy } = value['load'] as Fields;
  if (!isFigure(before) || !(others === null || isFigure(others)) || !isFigure(core) || typeof isBusy !== 'boolean')
    return '`load` lacks a figure';
  for (const key of ['parts', 'absent', 'aims', 'notes']) if (!Array.isArray(value[key])) return `\`${key}\` is no list`;
  if (!(value['notes'] as unknown[]).every((note) => typeof note === 'string')) return '`notes` has one that is no text';
  for (const absent of value['absent'] as unknown[])
    if (!isFields(absent) || typeof absent['subject'] !== 'string' || typeof absent['reason'] !== 'string')
      return '`absent` has one without a subject or a reason';
  for (const aim of value['aims'] as unknown[])
    if (
      !isFields(aim) ||
      typeof aim['what'] !== 'string' ||
      !(isFigure(aim['value']) || aim['value'] === null) ||
      !(isFigure(aim['atMost']) || isFigure(aim['atLeast']))
    )
      return '`aims` has one without words, value or bound';
  const titles = new Set<unknown>();
  for (const part of value['parts'] as unknown[]) {
    const wrong = wrongWithPart(part);
    if (wrong !== undefined) return wrong;
    const { title } = part as Part;
    if (titles.has(title)) return `two parts have the title "${title}"`;
    titles.add(title);
  }
  return undefined;
}

function wrongWithPart(part: unknown): string | undefined {
  if (!isFields(part) || typeof part['title'] !== 'string') return 'a part has no title';
  const where = `the part "${part['title']}"`;
  const isRounds = (rounds: unknown): boolean => Array.isArray(rounds) && rounds.length > 0 && rounds.every(isFigure);
  const lists = (key: string, isGood: (each: Fields) => boolean): boolean =>
    Array.isArray(part[key]) && part[key].every((each) => isFields(each) && typeof each['subject'] === 'string' && isGood(each));
  switch (part['kind']) {
    case 'comparison':
      if (typeof part['unit'] !== 'string' || typeof part['ours'] !== 'string') return `${where} has no unit or does not say which is ours`;
      if (part['better'] !== 'less' && part['better'] !== 'more') return `${where} does not say whether less or more is better`;
      return lists('rows', ({ rounds }) => isRounds(rounds)) ? undefined : `${where} has a row without a subject or figures`;
    case 'curve': {
      if (typeof part['unit'] !== 'string' || typeof part['sizeOf'] !== 'string') return `${where} has no unit or no name of its sizes`;
      const isPoint = (point: unknown): boolean => isFields(point) && isFigure(point['size']) && isRounds(point['rounds']);
      const isLine = ({ points }: Fields): boolean => Array.isArray(points) && points.length > 0 && points.every(isPoint);
      return lists('lines', isLine) ? undefined : `${where} has a line without a subject or figures`;
    }
    case 'table': {
      const isRow = (row: unknown): boolean => Array.isArray(row) && row.every((cell) => typeof cell === 'string' || isFigure(cell));
      const { head, rows } = part;
      return Array.isArray(head) && Array.isArray(rows) && rows.every(isRow) ? undefined : `${where} has a cell that is no text or number`;
    }
    default:
      return `${where} is of no known kind`;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFigure(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
