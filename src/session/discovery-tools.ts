// search_tools and describe_tool as tools for a model, beside exec, wait and stop: for conversations that look for tools before they write a
// program. Not here: the same functions inside programs (functions.ts).
import type { Discovery } from '../tools/discovery.ts';
import type { ControlTool } from './control-tools.ts';
import { describeTools, searchTools } from './functions.ts';

/** The two control tools over the tools of a session's programs. `checkOpen` throws once the session is closed. */
export function discoveryTools(discovery: Discovery, checkOpen: () => void): readonly ControlTool[] {
  return [
    {
      name: 'search_tools',
      description:
        'Finds tools that programs can call, by words; typing mistakes do no harm. Answers with one line for each: how to call it, and what it does. Without a query it lists them.',
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'What the tool should do, in a few words.' },
          limit: { type: 'integer', minimum: 1, maximum: 1_000, description: 'Tools at most. Default 10.' },
          namespace: { type: 'string', description: 'Only tools of this namespace.' },
          detail: {
            enum: ['names', 'signatures', 'full'],
            description: 'Names alone, signatures with a sentence, or full declarations. Default signatures.',
          },
        },
        additionalProperties: false,
      },
      execute: async (input) => {
        checkOpen();
        await discovery.prepare();
        return String(searchTools(discovery, [{ ...(typeof input === 'object' ? input : { query: input }), format: 'text' }]));
      },
    },
    {
      name: 'describe_tool',
      description: 'The full TypeScript declaration of a tool that programs can call: what it takes, what it gives, and what it does.',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'As search_tools or the list of tools names it, for example github.list_issues.' },
        },
        required: ['name'],
        additionalProperties: false,
      },
      execute: async (input) => {
        checkOpen();
        return describeTools(discovery, [input]);
      },
    },
  ];
}
