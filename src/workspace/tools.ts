// Tools for the files of a workspace, for programs: list, read, search; and, when writing is allowed, write, replace, delete. Not here:
// what keeps them inside (spelling.ts, files.ts), how a workspace is opened (open.ts).
import { CodeModeError } from '../protocol/errors.ts';
import { describe } from '../tools/json.ts';
import type { ToolProvider } from '../tools/provider.ts';
import { defineTool, type Tool, type ToolContext, ToolError } from '../tools/tool.ts';
import { toText } from './content.ts';
import { change, remove } from './files.ts';
import { compileGlob } from './glob.ts';
import { RunWorkspace } from './open.ts';
import { readText } from './read-text.ts';
import { SEARCHED_FILE_BYTES, SEARCHED_FILES, search } from './search.ts';
import { shown } from './spelling.ts';
import { isTop, type Omissions, topOf, walk } from './walk.ts';

export interface WorkspaceToolsOptions {
  /** Whether programs also get `write_file`, `replace_in_file` and `delete_file`. Default: false. */
  readonly write?: boolean | undefined;
}

/**
 * A provider of `list_files`, `read_file` and `search_files`, and of `write_file`, `replace_in_file` and `delete_file` with `write: true`, over
 * the workspace of the run: `createCodeMode` needs the option `workspace` for it. Throws `option_invalid` for a wrong option.
 */
export function workspaceTools(options: WorkspaceToolsOptions = {}): ToolProvider {
  const write = checkOptions(options);
  const tools = write ? [...READERS, ...WRITERS] : READERS;
  return {
    tools: ({ workspace }) => {
      if (workspace instanceof RunWorkspace) return tools;
      throw new CodeModeError(
        'option_invalid',
        'workspaceTools() needs a workspace: give createCodeMode() the option `workspace`, for example `workspace: {}` for a temporary one.',
      );
    },
  };
}

const KiB = 1024;
/** Text that one `read_file` gives out. */
const READ_BYTES = 256 * KiB;
const MOST_READ_BYTES = 4 * KiB * KiB;
/** Files that are written or changed by these tools. */
const WRITE_BYTES = 16 * KiB * KiB;
const LISTED = 200;
const MOST_LISTED = 5000;
/** Bytes in an error of `replace_in_file` that lists lines. */
const MOST_PLACES = 10;

const PATH = {
  type: 'string',
  description: 'Path in the workspace with plain names between slashes, such as `notes/today.md`. No leading slash, no `..`.',
} as const;

const listFiles = defineTool({
  name: 'list_files',
  description:
    'Lists files and directories of the workspace, nearest first, with sizes in bytes. `type` is `file`, `directory`, `link` (never opened) or `other`. ' +
    '`.git` and `node_modules` are listed but not walked into, unless `path` leads there. `truncated` says that there is more: ask for a `path` below, or a higher `limit`.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Directory to list. Default: the top of the workspace.' },
      depth: {
        type: 'integer',
        minimum: 1,
        maximum: 32,
        description: 'Levels of directories. 1, the default: only what is in `path` itself.',
      },
      match: { type: 'string', description: 'Only paths that fit: `*.csv` by the name, `src/**/*.ts` by the whole path.' },
      limit: { type: 'integer', minimum: 1, maximum: MOST_LISTED, description: `Most entries. Default ${LISTED}.` },
    },
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      entries: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            type: { enum: ['file', 'directory', 'link', 'other'] },
            bytes: { type: 'integer', description: 'Of a file.' },
            modified: { type: 'string', description: 'Date and time, ISO 8601, UTC.' },
            writable: { type: 'boolean', description: 'Of a place beside the workspace: whether it may be written to.' },
          },
          required: ['path', 'type'],
          additionalProperties: false,
        },
      },
      truncated: { type: 'boolean' },
      hidden: { type: 'integer', description: 'Entries left out because their names could be mistaken for others.' },
    },
    required: ['entries', 'truncated'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
  execute: async ({ path = '', depth = 1, match, limit = LISTED }, context) => {
    const workspace = workspaceOf(context);
    const fits = match === undefined ? () => true : compileGlob(match);
    const omissions: Omissions = { hidden: 0, cut: false };
    const entries: ListedEntry[] = [];
    const start = workspace.locate(path);
    if (isTop(start)) {
      for (const place of workspace.places) {
        const { target } = topOf(place);
        if (fits(target.path)) entries.push({ path: target.path, type: 'directory', writable: place.writable });
      }
    }
    let truncated = false;
    for await (const { target, type, stats } of walk(workspace, path, { depth, signal: context.signal, omissions })) {
      if (!fits(target.path)) continue;
      if (entries.length >= limit) {
        truncated = true;
        break;
      }
      const modified = new Date(Number(stats.mtimeMs)).toISOString();
      entries.push({ path: target.path, type, ...(type === 'file' && { bytes: Number(stats.size) }), modified });
    }
    return {
      entries: entries.slice(0, limit),
      truncated: truncated || omissions.cut,
      ...(omissions.hidden > 0 && { hidden: omissions.hidden }),
    };
  },
});

const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a text file (UTF-8) of the workspace, whole or in part: by lines (`fromLine`, `toLine`, counted from 1) or from a byte (`fromByte`). ' +
    'When `truncated`, go on with `fromByte: toByte` or, by lines, `fromLine: toLine + 1`. A file that is no text is an error that names its type.',
  inputSchema: {
    type: 'object',
    properties: {
      path: PATH,
      fromLine: { type: 'integer', minimum: 1 },
      toLine: { type: 'integer', minimum: 1, description: 'The last line, included.' },
      fromByte: { type: 'integer', minimum: 0 },
      maxBytes: { type: 'integer', minimum: 4, maximum: MOST_READ_BYTES, description: `Most bytes of text. Default ${READ_BYTES}.` },
    },
    required: ['path'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      fileBytes: { type: 'integer', description: 'Size of the whole file.' },
      fromByte: { type: 'integer' },
      toByte: { type: 'integer', description: 'Where the text ends; not included.' },
      fromLine: { type: 'integer' },
      toLine: { type: 'integer', description: 'The last line of the text, included.' },
      truncated: { type: 'boolean' },
    },
    required: ['text', 'fileBytes', 'fromByte', 'toByte', 'truncated'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
  execute: ({ path, fromLine, toLine, fromByte, maxBytes = READ_BYTES }, context) =>
    readText(workspaceOf(context).locate(path), { fromLine, toLine, fromByte, maxBytes }),
});

const searchFiles = defineTool({
  name: 'search_files',
  description:
    'Finds lines in the text files of the workspace: a literal text, or with `regex: true` a regular expression (no look-around, no back references), matched ' +
    `line by line. Files over ${SEARCHED_FILE_BYTES} bytes, binary files, links, \`.git\` and \`node_modules\` are left out. \`stopped\` says why there may be more: ` +
    'narrow `path` or `files`.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1 },
      regex: { type: 'boolean', description: 'Default false: `query` is a literal text.' },
      ignoreCase: { type: 'boolean', description: 'Default false.' },
      path: { type: 'string', description: 'Directory to search. Default: the whole workspace.' },
      files: { type: 'string', description: 'Only files that fit: `*.ts` by the name, `src/**/*.ts` by the whole path.' },
      limit: { type: 'integer', minimum: 1, maximum: 1000, description: 'Most matching lines. Default 100.' },
      context: { type: 'integer', minimum: 0, maximum: 10, description: 'Lines before and after each match. Default 0.' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      matches: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            line: { type: 'integer', description: 'Counted from 1.' },
            column: { type: 'integer', description: 'Counted from 1.' },
            text: { type: 'string', description: 'The line; a long one is cut around the match.' },
            before: { type: 'array', items: { type: 'string' } },
            after: { type: 'array', items: { type: 'string' } },
          },
          required: ['path', 'line', 'column', 'text'],
          additionalProperties: false,
        },
      },
      searchedFiles: { type: 'integer' },
      skipped: {
        type: 'object',
        properties: {
          binary: { type: 'integer' },
          large: { type: 'integer' },
          links: { type: 'integer' },
          longLines: { type: 'integer', description: 'Lines that were not searched to their end.' },
        },
        required: ['binary', 'large', 'links', 'longLines'],
        additionalProperties: false,
      },
      stopped: { enum: ['matches', 'files', 'time'], description: `\`files\`: ${SEARCHED_FILES} were searched.` },
    },
    required: ['matches', 'searchedFiles', 'skipped'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
  execute: ({ query, regex = false, ignoreCase = false, path = '', files, limit = 100, context: lines = 0 }, context) =>
    search(workspaceOf(context), { query, regex, ignoreCase, path, files, maxMatches: limit, context: lines }, context.signal),
});

const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a text file (UTF-8) of the workspace whole, and makes the directories above it. `mode`: `replace` (default) makes or overwrites it, `create` ' +
    `fails when it exists, \`append\` adds to its end. A file has at most ${WRITE_BYTES} bytes.`,
  inputSchema: {
    type: 'object',
    properties: { path: PATH, text: { type: 'string' }, mode: { enum: ['replace', 'create', 'append'] } },
    required: ['path', 'text'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: { bytes: { type: 'integer', description: 'Size of the file now.' }, created: { type: 'boolean' } },
    required: ['bytes', 'created'],
    additionalProperties: false,
  },
  annotations: { destructiveHint: true },
  execute: ({ path, text, mode = 'replace' }, context) => {
    const bytes = Buffer.from(text);
    return write(path, context, (old) => {
      if (mode === 'create' && old !== undefined) {
        throw new ToolError(`The file ${shown(path)} exists; use mode "replace" to overwrite it, or another path.`, { code: 'exists' });
      }
      return mode === 'append' && old !== undefined ? Buffer.concat([old, bytes]) : bytes;
    });
  },
});

const replaceInFile = defineTool({
  name: 'replace_in_file',
  description:
    'Replaces one passage of a text file. `old` must occur exactly once, character for character, line breaks too: take in lines around it until it does. ' +
    'Otherwise nothing is changed, and the error says how often and where it occurs.',
  inputSchema: {
    type: 'object',
    properties: { path: PATH, old: { type: 'string', minLength: 1 }, new: { type: 'string' } },
    required: ['path', 'old', 'new'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      line: { type: 'integer', description: 'Where the new text begins.' },
      bytes: { type: 'integer', description: 'Size of the file now.' },
    },
    required: ['line', 'bytes'],
    additionalProperties: false,
  },
  annotations: { destructiveHint: true },
  execute: async ({ path, old: passage, new: replacement }, context) => {
    let line = 0;
    const { bytes } = await write(path, context, (old) => {
      if (old === undefined) throw new ToolError(`There is no file ${shown(path)}; write_file makes one.`, { code: 'not_found' });
      const text = toText(old, path);
      const at = findOnly(text, passage, path);
      line = lineAt(text, at);
      return Buffer.from(text.slice(0, at) + replacement + text.slice(at + passage.length));
    });
    return { line, bytes };
  },
});

const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Deletes one file of the workspace; no directory and no link.',
  inputSchema: { type: 'object', properties: { path: PATH }, required: ['path'], additionalProperties: false },
  outputSchema: {
    type: 'object',
    properties: { bytes: { type: 'integer', description: 'Size that the file had.' } },
    required: ['bytes'],
    additionalProperties: false,
  },
  annotations: { destructiveHint: true },
  execute: ({ path }, context) => {
    const workspace = workspaceOf(context);
    return remove(workspace.locate(path), workspace.quota);
  },
});

const READERS: readonly Tool[] = [listFiles, readFile, searchFiles];
const WRITERS: readonly Tool[] = [writeFile, replaceInFile, deleteFile];

interface ListedEntry {
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link' | 'other';
  readonly bytes?: number;
  readonly modified?: string;
  readonly writable?: boolean;
}

function workspaceOf({ workspace }: ToolContext): RunWorkspace {
  if (workspace instanceof RunWorkspace) return workspace;
  throw new ToolError('This run has no workspace.', { code: 'workspace_lost' });
}

function write(
  path: string,
  context: ToolContext,
  make: (old: Uint8Array | undefined) => Uint8Array,
): Promise<{ bytes: number; created: boolean }> {
  const workspace = workspaceOf(context);
  return change(workspace.locate(path), { quota: workspace.quota, maxBytes: WRITE_BYTES, make });
}

/** Where the only occurrence is. Those that overlap are several: it would not be clear which is meant. */
function findOnly(text: string, passage: string, path: string): number {
  const places: number[] = [];
  let count = 0;
  for (let at = text.indexOf(passage); at !== -1; at = text.indexOf(passage, at + 1)) {
    if (count++ < MOST_PLACES) places.push(at);
    // As many as anybody wants to know of.
    if (count === MOST_COUNTED) break;
  }
  const [only] = places;
  if (only === undefined)
    throw new ToolError(`${shown(passage)} does not occur in ${shown(path)}.${hintFor(text, passage)}`, { code: 'no_match' });
  if (count === 1) return only;
  const lines = places.map((at) => lineAt(text, at));
  throw new ToolError(
    `${shown(passage)} occurs ${count === MOST_COUNTED ? `at least ${count}` : count} times in ${shown(path)}, in ${lines.length === count ? 'the lines' : 'lines such as'} ${lines.join(', ')}. Take in more of the text around the one that is meant.`,
    { code: 'several_matches', details: { count, lines } },
  );
}

const MOST_COUNTED = 10_000;

/** What may be the matter with a passage that is not found. */
function hintFor(text: string, passage: string): string {
  if (text.includes('\r\n') && !passage.includes('\r') && text.includes(passage.replaceAll('\n', '\r\n')))
    return ' The lines of this file end in \\r\\n: write the line breaks so.';
  const squeezed = passage.replace(/\s+/g, ' ').trim();
  const lines = text.split('\n');
  if (squeezed !== '') {
    const words = lines.map((line) => line.replace(/\s+/g, ' ').trim());
    const first =
      passage
        .split('\n')
        .find((line) => line.trim() !== '')
        ?.replace(/\s+/g, ' ')
        .trim() ?? '';
    const line = words.findIndex((candidate) => candidate === first || (first.length > 3 && candidate.includes(first)));
    if (line !== -1)
      return ` Line ${line + 1} begins like it, but white space or what follows differs: read the file from there and copy it exactly.`;
    const other = words.findIndex((candidate) => candidate.toLowerCase().includes(first.toLowerCase()));
    if (other !== -1) return ` Line ${other + 1} has it with other capital letters.`;
  }
  return ' Read the file and copy the passage exactly.';
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

function checkOptions(options: unknown): boolean {
  if (typeof options !== 'object' || options === null)
    throw new CodeModeError('option_invalid', `workspaceTools() takes an object such as { write: true }, not ${describe(options)}.`);
  const unknown = Object.keys(options).find((key) => key !== 'write');
  if (unknown !== undefined) throw new CodeModeError('option_invalid', `workspaceTools() has no option \`${unknown}\`; it has \`write\`.`);
  const { write = false } = options as Record<string, unknown>;
  if (typeof write !== 'boolean')
    throw new CodeModeError('option_invalid', `The \`write\` of workspaceTools() should be true or false, not ${describe(write)}.`);
  return write;
}
