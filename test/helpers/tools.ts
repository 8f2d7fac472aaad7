// Tools for tests that are not about schemas: they take any input, unless `parse` says otherwise.
import type { ParseResult, Schema } from '../../src/tools/schema.ts';
import type { Tool } from '../../src/tools/tool.ts';

/** A schema that is nothing but its check. */
export function schemaOf(parse: (value: unknown) => ParseResult | Promise<ParseResult>): Schema {
  return { jsonSchema: {}, parse };
}

const anything = schemaOf((value) => ({ ok: true, value }));

/** A tool that gives its input back, with `parts` in place of its own. */
export function toolOf(name: string, parts: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `The tool ${name}.`,
    inputSchema: {},
    input: anything,
    exclusive: false,
    execute: (input) => input,
    ...parts,
  };
}
