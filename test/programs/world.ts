// The tools that programs in this folder call, and ways to run one.
import { type CodeMode, type CodeModeOptions, createCodeMode, defineTool, type ToolSource } from '../../src/index.ts';
import { optionsUnderTest } from '../helpers/engines.ts';

const issues = defineTool({
  name: 'list_issues',
  description: 'Lists the issues of an owner.',
  inputSchema: {
    type: 'object',
    properties: { owner: { type: 'string' }, state: { enum: ['open', 'closed'] }, limit: { type: 'integer' } },
    required: ['owner'],
    additionalProperties: false,
  },
  execute: ({ owner, limit = 3 }) => ({
    items: Array.from({ length: limit }, (_, index) => ({ id: index + 1, title: `Issue ${index + 1} of ${owner}` })),
    total: limit,
  }),
});

const create = defineTool({
  name: 'create_issue',
  description: 'Creates an issue.',
  inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'], additionalProperties: false },
  execute: ({ title }) => ({ id: 7, title }),
});

const page = defineTool({
  name: 'read_page',
  description: 'Downloads a web page by its URL.',
  inputSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
  execute: ({ url }) => `<html>${url}</html>`,
});

const file = defineTool({
  name: 'read_file',
  description: 'Reads a file of the workspace.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: ({ path }) => `text of ${path}`,
});

const names = defineTool({ name: 'names', description: 'Gives two names.', inputSchema: {}, execute: () => ['a', 'b'] });

const profile = defineTool({
  name: 'profile',
  description: 'Gives a profile.',
  inputSchema: {},
  execute: () => ({ name: 'Ann', score: 5 }),
});

const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  inputSchema: {},
  execute: () => {
    throw new Error('The service said no.');
  },
});

const tools: ToolSource = [
  { namespace: 'github', tools: () => [issues, create] },
  { namespace: 'web', tools: () => [page] },
  { namespace: 'disk', tools: () => [file] },
  names,
  profile,
  fail,
];

/** A code mode with tools for issues, pages, files and two values, and one that fails. */
export function openWorld(options: Partial<CodeModeOptions> = {}): CodeMode {
  return createCodeMode({
    tools,
    showError: (error) => error as Error,
    limits: { wallMs: 20_000, cpuMs: 1_500, calls: 30, memoryBytes: 32 * 2 ** 20 },
    ...optionsUnderTest(),
    ...options,
  });
}

/** A text with `¦` where something is to happen: the text without it, and the place. */
export function marked(text: string): { source: string; line?: number; column?: number } {
  const offset = text.indexOf('¦');
  if (offset < 0) return { source: text };
  const before = text.slice(0, offset).split(/\r\n|\n/);
  return { source: text.replace('¦', ''), line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
