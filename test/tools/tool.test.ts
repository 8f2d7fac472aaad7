import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type Tool, type ToolContext, ToolError } from '../../src/tools/tool.ts';

const minimal = { name: 'x', description: 'Does x.', execute: doNothing };

function doNothing(): null {
  return null;
}

// These tools do not look at it.
const context = {} as ToolContext;

/** As a JavaScript caller, who has no compiler to stop him. */
function errorOf(definition: unknown): { code: string; message: string } {
  try {
    defineTool(definition as typeof minimal);
  } catch (error) {
    expect(error).toMatchObject({ name: 'CodeModeError' });
    return error as { code: string; message: string };
  }
  return { code: 'none', message: 'no error' };
}

test('a tool is a frozen record with its defaults filled in', () => {
  const tool = defineTool({ ...minimal, inputSchema: { type: 'object' } });
  expect(Object.isFrozen(tool)).toBe(true);
  expect(tool).toMatchObject({ name: 'x', description: 'Does x.', exclusive: false, inputSchema: { type: 'object' } });
  expect(Object.keys(tool)).not.toContain('timeoutMs');
  expect(Object.keys(tool)).not.toContain('outputSchema');
});

test('a tool without an input schema takes nothing', async () => {
  const tool = defineTool(minimal);
  expect(await tool.input.parse({})).toEqual({ ok: true, value: {} });
  expect(await tool.input.parse({ a: 1 })).toEqual({ ok: false, message: '`$.a` is not a property here (it takes none)' });
});

test('options reach the tool, annotations as a copy', () => {
  const annotations = { readOnlyHint: true, tags: ['a'] };
  const tool = defineTool({ ...minimal, exclusive: true, timeoutMs: 5_000, annotations, outputSchema: { type: 'null' } });
  annotations.tags.push('b');
  expect(tool).toMatchObject({
    exclusive: true,
    timeoutMs: 5_000,
    annotations: { readOnlyHint: true, tags: ['a'] },
    outputSchema: { type: 'null' },
  });
  expect(Object.isFrozen(tool.annotations)).toBe(true);
});

test('a definition may be an instance of a class, whose methods keep their `this`', async () => {
  class Counter {
    readonly name = 'count';
    readonly description = 'Counts.';
    execute(): unknown {
      return this.description;
    }
    availableIf(): boolean {
      return this.name === 'count';
    }
    close(): void {
      expect(this).toBeInstanceOf(Counter);
    }
  }
  const tool = defineTool(new Counter());
  expect(await tool.execute({}, context)).toBe('Counts.');
  expect(tool.availableIf?.({} as never)).toBe(true);
  await tool.close?.();
});

describe('a bad definition is refused in one sentence', () => {
  test.each<[definition: unknown, code: string, message: string]>([
    [
      { ...minimal, name: '' },
      'name_invalid',
      'The tool "" has a name that is not one: it is empty. A name has 1 to 64 of the characters A-Z a-z 0-9 _ - .',
    ],
    [
      { ...minimal, name: 'get weather' },
      'name_invalid',
      'The tool "get weather" has a name that is not one: it contains " ". A name has 1 to 64 of the characters A-Z a-z 0-9 _ - .',
    ],
    [{ ...minimal, name: 'grüße' }, 'name_invalid', 'it contains "ü"'],
    [{ ...minimal, name: 'a'.repeat(65) }, 'name_invalid', 'it has 65 characters'],
    [{ ...minimal, name: 'x\n' }, 'name_invalid', 'it contains "\\n"'],
    [{ ...minimal, name: undefined }, 'name_invalid', 'A tool needs the option `name`: a string.'],
    [{ ...minimal, name: 7 }, 'name_invalid', 'A tool has a `name` that should be a string, but is a number.'],
    [
      { ...minimal, description: '' },
      'tool_invalid',
      'The tool "x" has a `description` that should be a text that tells the model what the tool does, but is an empty string.',
    ],
    [{ ...minimal, description: ' ' }, 'tool_invalid', '`description`'],
    [
      { name: 'x', execute: () => 1 },
      'tool_invalid',
      'The tool "x" needs the option `description`: a text that tells the model what the tool does.',
    ],
    [
      { name: 'x', description: 'x' },
      'tool_invalid',
      'The tool "x" needs the option `execute`: a function (input, context) that does the work.',
    ],
    [
      { ...minimal, execute: 'return 1' },
      'tool_invalid',
      'The tool "x" has an `execute` that should be a function (input, context) that does the work, but is a string.',
    ],
    [
      { ...minimal, timeoutMs: 0 },
      'tool_invalid',
      'The tool "x" has a `timeoutMs` that should be a whole number of milliseconds from 1 to 2147483647, but is a number.',
    ],
    [{ ...minimal, timeoutMs: Number.NaN }, 'tool_invalid', 'but is NaN'],
    [{ ...minimal, exclusive: 'yes' }, 'tool_invalid', 'The tool "x" has an `exclusive` that should be true or false, but is a string.'],
    [{ ...minimal, annotations: [] }, 'tool_invalid', '`annotations` that should be an object, but is an array'],
    [
      { ...minimal, annotations: { since: new Date(0) } },
      'tool_invalid',
      'The tool "x" has `annotations` that are not JSON: `$.since` is a Date',
    ],
    [{ ...minimal, availableIf: true }, 'tool_invalid', '`availableIf` that should be a function (binding)'],
    [{ ...minimal, inputschema: {} }, 'tool_invalid', 'The tool "x" has an unknown option `inputschema`. Did you mean `inputSchema`?'],
    [
      { ...minimal, frobnicate: 1 },
      'tool_invalid',
      'The tool "x" has an unknown option `frobnicate`. The options are name, description, execute,',
    ],
    [
      { ...minimal, inputSchema: { type: 'strin' } },
      'schema_invalid',
      'The input schema of tool `x` is not valid JSON Schema (2020-12): `$.type`',
    ],
    [{ ...minimal, outputSchema: 'string' }, 'schema_invalid', 'The output schema of tool `x` should be a JSON Schema such as'],
    [{ ...minimal, inputSchema: null }, 'schema_invalid', 'The input schema of tool `x` should be a JSON Schema such as'],
    [null, 'tool_invalid', 'defineTool() takes an object such as { name, description, inputSchema, execute }, not null.'],
    [[minimal], 'tool_invalid', 'not an array.'],
  ])('%j', (definition, code, message) => {
    const error = errorOf(definition);
    expect(error.message).toContain(message);
    expect(error.code).toBe(code);
  });
});

test('the parsed output of a Standard Schema is shown on the output side', async () => {
  const tool = defineTool({ ...minimal, outputSchema: z.object({ n: z.number().default(3) }), execute: () => ({}) });
  expect(tool.outputSchema).toMatchObject({ required: ['n'] });
  expect(await tool.output?.parse({})).toEqual({ ok: true, value: { n: 3 } });
});

test('a ToolError carries code and details, and is known by its mark', () => {
  const cause = new Error('socket closed');
  const error = new ToolError('No such order.', { code: 'order_unknown', details: { id: 7 }, cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'ToolError', message: 'No such order.', code: 'order_unknown', details: { id: 7 }, cause });
  expect(new ToolError('x')).toMatchObject({ code: 'tool_failed', details: undefined });
  expect(ToolError.is(error)).toBe(true);
  expect(ToolError.is({ [Symbol.for('callgate.ToolError')]: true, message: 'of another copy' })).toBe(true);
  expect(ToolError.is(Object.assign(new Error('x'), { name: 'ToolError' }))).toBe(false);
  expect(ToolError.is(null)).toBe(false);
});

const CATALOGS = fileURLToPath(new URL('../../../shared/catalogs/', import.meta.url));
const present = existsSync(CATALOGS);

interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
}

describe.skipIf(!present)(
  present ? 'the tools of real servers' : 'the tools of real servers (skipped: ../shared/catalogs is absent)',
  () => {
    test('are all defined, but for a name that is too long, and check a value', async () => {
      const refused: string[] = [];
      let defined = 0;
      for (const file of readdirSync(CATALOGS).filter((name) => name.endsWith('.json'))) {
        const { tools } = JSON.parse(readFileSync(`${CATALOGS}${file}`, 'utf8')) as { tools: readonly ListedTool[] };
        // The BFCL lists have type names of their own, which an adapter has to map first.
        const read = file.startsWith('bfcl-') ? mapBfclTypes : (schema: unknown) => schema;
        for (const listed of tools) {
          let tool: Tool;
          try {
            tool = defineTool({
              name: listed.name,
              description: listed.description || listed.name,
              inputSchema: read(listed.inputSchema) as object as Record<string, unknown>,
              ...(listed.outputSchema !== undefined && { outputSchema: read(listed.outputSchema) as object as Record<string, unknown> }),
              execute: doNothing,
            });
            defined++;
          } catch (error) {
            refused.push(`${(error as { code: string }).code} ${file} ${listed.name}`);
            continue;
          }
          // Every tenth: compiling is what takes time.
          if (defined % 10 === 0) expect(await tool.input.parse({})).toHaveProperty('ok');
        }
      }
      expect(defined).toBeGreaterThan(5_000);
      expect(refused).toEqual(REFUSED);
    });
  },
);

const REFUSED = ['name_invalid twilio-alpha.json TwilioMessagingV1--FetchLinkshorteningMessagingServiceDomainAssociation'];

const BFCL_TYPES: Readonly<Record<string, string>> = { dict: 'object', float: 'number', tuple: 'array' };
const JSON_TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

function mapBfclTypes(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(mapBfclTypes);
  if (typeof node !== 'object' || node === null) return node;
  const mapped: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    const type = key === 'type' && typeof value === 'string' ? (BFCL_TYPES[value] ?? value) : undefined;
    if (type === undefined) mapped[key] = mapBfclTypes(value);
    else if (JSON_TYPES.has(type)) mapped[key] = type;
  }
  return mapped;
}
