// What the compiler knows of a tool, and what it refuses. Checked by `tsc`; nothing here runs.
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { artifact, toolResult } from '../../src/artifacts/artifact.ts';
import { defineTool, type Tool } from '../../src/tools/tool.ts';

const about = { name: 'x', description: 'Does x.' };

// The input of a literal JSON Schema, without `as const`.
const tool = defineTool({
  ...about,
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      limit: { type: 'integer', default: 10 },
      state: { enum: ['open', 'closed'] },
      tags: { type: 'array', items: { type: 'string' } },
      place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
    },
    required: ['id', 'state'],
    additionalProperties: false,
  },
  execute(input, context) {
    expectTypeOf(input.id).toEqualTypeOf<string>();
    expectTypeOf(input.limit).toEqualTypeOf<number | undefined>();
    expectTypeOf(input.state).toEqualTypeOf<'open' | 'closed'>();
    expectTypeOf(input.tags).toEqualTypeOf<string[] | undefined>();
    expectTypeOf(input.place?.city).toEqualTypeOf<string | undefined>();
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(context.run.invocation.actorId).toEqualTypeOf<string | undefined>();
    // @ts-expect-error There is no such property.
    input.nothing;
  },
});
expectTypeOf(tool).toEqualTypeOf<Tool>();

// The parsed output of any Standard Schema.
defineTool({
  ...about,
  inputSchema: z.object({ n: z.string().transform(Number), page: z.number().default(1) }),
  execute: (input) => expectTypeOf(input).toEqualTypeOf<{ n: number; page: number }>(),
});
defineTool({
  ...about,
  inputSchema: v.object({ n: v.pipe(v.string(), v.transform(Number)) }),
  execute: (input) => expectTypeOf(input).toEqualTypeOf<{ n: number }>(),
});
defineTool({
  ...about,
  inputSchema: type({ n: type('string').pipe(Number), 'name?': 'string' }),
  execute: (input) => expectTypeOf(input).toEqualTypeOf<{ n: number; name?: string }>(),
});

// No schema: nothing to read. A schema that is only known at run time: anything.
defineTool({ ...about, execute: (input) => expectTypeOf<keyof typeof input>().toBeNever });
declare const sent: Record<string, unknown>;
defineTool({ ...about, inputSchema: sent, execute: (input) => expectTypeOf(input).toBeUnknown() });
defineTool({ ...about, inputSchema: true, execute: (input) => expectTypeOf(input).toBeUnknown() });
defineTool({ ...about, inputSchema: {}, execute: (input) => expectTypeOf(input).toBeUnknown() });

// What `execute` returns fits the output schema, if there is one, at once or later.
interface Customer {
  id: string;
  name: string;
}
declare const customer: Customer;
const outputSchema = {
  type: 'object',
  properties: { id: { type: 'string' }, state: { enum: ['open', 'closed'] } },
  required: ['id'],
} as const;
defineTool({ ...about, outputSchema, execute: () => customer });
defineTool({ ...about, outputSchema, execute: async () => customer });
defineTool({ ...about, outputSchema: { type: 'array', items: outputSchema }, execute: async () => [customer] });
defineTool({ ...about, outputSchema, execute: () => ({ id: 'a', state: 'open', more: 1 }) });
defineTool({ ...about, outputSchema: sent, execute: () => 1 });
defineTool({ ...about, execute: () => 1 });
// @ts-expect-error A number is no string.
defineTool({ ...about, outputSchema, execute: () => ({ id: 1 }) });
// @ts-expect-error Nor is it one later.
defineTool({ ...about, outputSchema, execute: async () => ({ id: 1 }) });
// @ts-expect-error A required property is missing.
defineTool({ ...about, outputSchema, execute: () => ({ name: 'a' }) });
// @ts-expect-error It returns nothing.
defineTool({ ...about, outputSchema, execute: () => {} });

defineTool({ ...about, outputSchema: { type: 'array', items: { enum: ['a', 'b'] } }, execute: async () => ['a', 'b', 'a'] });
defineTool({ ...about, outputSchema: z.object({ tags: z.array(z.string()) }), execute: () => ({ tags: ['a', 'b'] }) });
defineTool({ ...about, outputSchema: z.object({ tags: z.array(z.string()) }), execute: async () => ({ tags: ['a', 'b'] }) });
defineTool({ ...about, outputSchema: z.array(z.object({ id: z.string(), name: z.string() })), execute: async () => [customer] });

const nested = {
  type: 'object',
  properties: {
    customer: outputSchema,
    page: { type: 'object', properties: { next: { type: 'string' } } },
    kinds: { type: 'array', items: { enum: ['a', 'b'] } },
  },
  required: ['customer'],
} as const;
defineTool({ ...about, outputSchema: nested, execute: () => ({ customer, page: { next: 'a', more: 1 }, kinds: ['a'], more: [1] }) });
// @ts-expect-error There is no kind c.
defineTool({ ...about, outputSchema: nested, execute: () => ({ customer, kinds: ['c'] }) });

// A Standard Schema for the output is given what it takes, not what it makes of that.
defineTool({ ...about, outputSchema: z.object({ n: z.number().default(1) }), execute: () => ({}) });
defineTool({ ...about, outputSchema: z.record(z.string(), z.number()), execute: () => ({ a: 1 }) });
defineTool({
  ...about,
  outputSchema: z.object({ at: z.date(), seen: z.map(z.string(), z.number()) }),
  execute: () => ({ at: new Date(), seen: new Map([['a', 1]]) }),
});
// @ts-expect-error A string is no number.
defineTool({ ...about, outputSchema: z.record(z.string(), z.number()), execute: () => ({ a: 'b' }) });
// @ts-expect-error Nor here.
defineTool({ ...about, outputSchema: z.object({ n: z.number() }), execute: () => ({ n: 'a' }) });

// @ts-expect-error A tool has a description.
defineTool({ name: 'x', execute: () => 1 });
// @ts-expect-error A tool does something.
defineTool({ ...about });
// @ts-expect-error A schema is no string.
defineTool({ ...about, inputSchema: 'string', execute: () => 1 });

// Artifacts go beside the value, which is still checked.
const files = [artifact({ mediaType: 'text/plain', data: 'a' })];
defineTool({ ...about, outputSchema, execute: () => toolResult({ value: { id: 'a' }, artifacts: files }) });
defineTool({
  ...about,
  outputSchema,
  execute: async (_, { state }) => (state['file'] ? toolResult({ value: customer, artifacts: files }) : customer),
});
defineTool({ ...about, execute: async () => toolResult({ value: 1, artifacts: files }) });
// @ts-expect-error A number is no string.
defineTool({ ...about, outputSchema, execute: async () => toolResult({ value: { id: 1 }, artifacts: files }) });
