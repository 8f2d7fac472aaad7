// Searches the text files of a workspace, line by line, within bounds of time, files and matches. No pattern can hang it: it is a
// literal, or a regular expression matched in linear time. Not here: the tree (walk.ts).
import { compileLinear } from '../tools/pattern.ts';
import { ToolError } from '../tools/tool.ts';
import { decode, withoutMark } from './content.ts';
import { readBytes, readIn } from './files.ts';
import { compileGlob } from './glob.ts';
import type { RunWorkspace } from './open.ts';
import { shown } from './spelling.ts';
import { type Omissions, walk } from './walk.ts';

export interface Query {
  readonly query: string;
  readonly regex: boolean;
  readonly ignoreCase: boolean;
  readonly path: string;
  /** A pattern for paths, or all. */
  readonly files: string | undefined;
  readonly maxMatches: number;
  /** Lines before and after. */
  readonly context: number;
}

interface Match {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** The line, or the part of it around the match. */
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

export interface Found {
  readonly matches: readonly Match[];
  readonly searchedFiles: number;
  /** Files that were not searched, and lines not to their end, by the reason. */
  readonly skipped: { readonly binary: number; readonly large: number; readonly links: number; readonly longLines: number };
  /** Why there may be more matches; absent when everything was searched. */
  readonly stopped?: 'matches' | 'files' | 'time';
}

/** Largest file that is searched. */
export const SEARCHED_FILE_BYTES = 8 * 1024 * 1024;
export const SEARCHED_FILES = 20_000;
/** Time for all of it, and for one piece of it before others have their turn. */
const SEARCH_MS = 5000;
const PIECE_MS = 8;
/** Most steps for one line, and so the longest stretch that nothing can interrupt. */
const LINE_WORK = 4_000_000;
/** The same for a literal, whose steps are small. */
const LITERAL_WORK = 20_000_000;
/** So much of a literal is looked for in whole files: few enough characters that the largest of them takes no time to speak of. */
const LOOKED_FOR = 16;
const MAX_PATTERN = 1000;
const MAX_PATTERN_SIZE = 5000;
const SHOWN_LINE = 300;
const DEPTH = 64;

/** Throws `pattern_invalid`, and what `walk` throws. */
export async function search(workspace: RunWorkspace, query: Query, signal: AbortSignal): Promise<Found> {
  const line = compileQuery(query);
  const fits = query.files === undefined ? () => true : compileGlob(query.files);
  const omissions: Omissions = { hidden: 0, cut: false };
  const matches: Match[] = [];
  const skipped = { binary: 0, large: 0, links: 0, longLines: 0 };
  const pace = new Pace(signal);
  let searchedFiles = 0;
  const found = (stopped?: Found['stopped']): Found => ({ matches, searchedFiles, skipped, ...(stopped !== undefined && { stopped }) });
  for await (const { target, name, folder, type, stats } of walk(workspace, query.path, { depth: DEPTH, signal, omissions })) {
    if (pace.isOver) return found('time');
    await pace.rest();
    if (type === 'directory' || !fits(target.path)) continue;
    if (type !== 'file') {
      skipped.links++;
      continue;
    }
    if (searchedFiles >= SEARCHED_FILES) return found('files');
    if (stats.size > BigInt(SEARCHED_FILE_BYTES)) {
      skipped.large++;
      continue;
    }
    const bytes = await readIn(folder, name, target, (file, { size }) =>
      readBytes(file, 0, Math.min(Number(size), SEARCHED_FILE_BYTES)),
    ).catch((error: unknown) => {
      // It has changed under our eyes, or may not be read.
      if (ToolError.is(error) || error instanceof Error) return undefined;
      throw error;
    });
    if (bytes === undefined) continue;
    const text = decode(bytes);
    if (text === undefined) {
      skipped.binary++;
      continue;
    }
    searchedFiles++;
    // Most files hold no match: a literal is looked for in the whole before it is in lines.
    if (line.inText?.(text) === false) continue;
    const lines = withoutMark(text).split('\n');
    for (const [index, whole] of lines.entries()) {
      if ((index & 63) === 63) {
        if (pace.isOver) return found('time');
        await pace.rest();
      }
      const searched = whole.length > line.longest ? whole.slice(0, line.longest) : whole;
      if (searched !== whole) skipped.longLines++;
      const column = line.find(searched.endsWith('\r') ? searched.slice(0, -1) : searched);
      if (column === undefined) continue;
      matches.push({
        path: target.path,
        line: index + 1,
        column: column + 1,
        text: around(whole, column),
        ...(query.context > 0 && {
          before: lines.slice(Math.max(0, index - query.context), index).map((text) => around(text, 0)),
          after: lines.slice(index + 1, index + 1 + query.context).map((text) => around(text, 0)),
        }),
      });
      if (matches.length >= query.maxMatches) return found('matches');
    }
  }
  return found();
}

interface LineQuery {
  readonly find: (line: string) => number | undefined;
  /** Whether a text may hold a match, where that is quickly said. */
  readonly inText?: (text: string) => boolean;
  /** Longest line that is searched to its end. */
  readonly longest: number;
}

function compileQuery({ query, regex, ignoreCase }: Query): LineQuery {
  if (query === '') throw invalid(query, 'is empty');
  if (query.length > MAX_PATTERN) throw invalid(query, `is longer than ${MAX_PATTERN} characters`);
  if (!regex) {
    if (query.includes('\n')) throw invalid(query, 'holds a line break, and lines are searched one by one');
    // V8 may need as many steps as the product of both lengths: for a text that is nearly the query, again and again.
    const longest = Math.floor(LITERAL_WORK / query.length);
    if (!ignoreCase) {
      const beginning = query.slice(0, LOOKED_FOR);
      return { find: (line) => at(line.indexOf(query)), inText: (text) => text.includes(beginning), longest };
    }
    const literal = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
    return { find: (line) => at(line.search(literal)), longest };
  }
  let linear: ReturnType<typeof compileLinear>;
  try {
    linear = compileLinear(query, { ignoreCase });
  } catch (error) {
    throw invalid(query, `is no regular expression (${error instanceof Error ? error.message : String(error)})`);
  }
  if (linear === undefined) throw invalid(query, 'has look-around, back references or very many repetitions, which are not searched for');
  if (linear.size > MAX_PATTERN_SIZE) throw invalid(query, 'is too big; use fewer or smaller repetitions');
  return { find: linear.find, longest: Math.floor(LINE_WORK / linear.size) };
}

function at(index: number): number | undefined {
  return index === -1 ? undefined : index;
}

function invalid(query: string, problem: string): ToolError {
  return new ToolError(`The query ${shown(query)} ${problem}.`, { code: 'pattern_invalid' });
}

/** A line, cut around a column when it is long. */
function around(line: string, column: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (text.length <= SHOWN_LINE) return text;
  const start = Math.max(0, Math.min(column - 100, text.length - SHOWN_LINE));
  return `${start > 0 ? '…' : ''}${text.slice(start, start + SHOWN_LINE).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')}${start + SHOWN_LINE < text.length ? '…' : ''}`;
}

/** The time that a search takes, and takes from others. */
class Pace {
  readonly #signal: AbortSignal;
  readonly #end = performance.now() + SEARCH_MS;
  #pieceEnd = performance.now() + PIECE_MS;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  /** Lets others have their turn, once a piece is done. */
  async rest(): Promise<void> {
    this.#signal.throwIfAborted();
    if (performance.now() < this.#pieceEnd) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#pieceEnd = performance.now() + PIECE_MS;
  }
}
