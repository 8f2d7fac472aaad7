// What schemas hold beside their shape, how much of it a text has, and what schemas are without what some texts leave out: texts are comparable
// only where they say as much.
import type { Generator, ListedTool } from '../peers/generators.ts';

/** How many of the descriptions, values of enums, and texts as defaults and patterns. */
export interface Contents {
  readonly descriptions: number;
  readonly values: number;
  readonly defaults: number;
}

const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'];
const BOUNDS = new Set(
  'default example examples format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minProperties maxProperties uniqueItems readOnly writeOnly propertyNames'.split(
    ' ',
  ),
);

/** Of all that the tools' schemas hold: what a text has, or without a text all of it. */
export function contentsOf(tools: readonly ListedTool[], text?: string): Contents {
  const said = text === undefined ? undefined : plain(text);
  const has = (...spellings: readonly string[]): number =>
    said === undefined || spellings.some((words) => said.includes(plain(words))) ? 1 : 0;
  const counts = { descriptions: 0, values: 0, defaults: 0 };
  const visit = (node: unknown, isNamed: boolean): void => {
    if (Array.isArray(node)) for (const item of node) visit(item, false);
    else if (typeof node === 'object' && node !== null) {
      for (const [key, value] of Object.entries(node)) {
        if (!isNamed && key === 'description' && typeof value === 'string' && value.trim() !== '') counts.descriptions += has(value);
        else if (!isNamed && key === 'enum' && Array.isArray(value)) {
          for (const each of value) counts.values += has(JSON.stringify(each));
        } else if (!isNamed && (key === 'default' || key === 'pattern') && typeof value === 'string' && value.length > 3) {
          counts.defaults += has(value, JSON.stringify(value));
        } else if (isNamed || !['default', 'example', 'examples', 'const'].includes(key)) visit(value, !isNamed && NAMED.includes(key));
      }
    }
  };
  for (const { inputSchema, outputSchema } of tools) {
    visit(inputSchema, false);
    visit(outputSchema, false);
  }
  return counts;
}

/** The tool as a text of that kind has it. */
export function asSaid(tool: ListedTool, says: Generator['says']): ListedTool {
  if (says === 'everything') return tool;
  // Both changes keep an object an object.
  const change = (schema: unknown): ListedTool['inputSchema'] =>
    (says === 'types' ? typesOf(schema) : withoutBounds(schema)) as ListedTool['inputSchema'];
  const { name, description, inputSchema, outputSchema } = tool;
  return {
    name,
    description,
    inputSchema: change(inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: change(outputSchema) }),
  };
}

/** All but what binds a value beyond its type: what is left in the text of `json-schema-to-typescript`. */
function withoutBounds(schema: unknown, isNamed = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutBounds(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (isNamed) return [[key, withoutBounds(value)]];
    if (BOUNDS.has(key)) return [];
    return [[key, withoutBounds(value, key === 'properties' || key === '$defs' || key === 'definitions')]];
  });
  return Object.fromEntries(entries);
}

/** Types, names, what is required, and enums without a type beside them: what is left in the text of `@tanstack/ai-code-mode`. */
function typesOf(schema: unknown): Record<string, unknown> {
  if (typeof schema !== 'object' || schema === null) return {};
  const { type, properties, required, items, enum: values, anyOf, oneOf } = schema as Record<string, unknown>;
  if (type === 'array') return items === undefined ? { type } : { type, items: typesOf(items) };
  if (type === 'object' && typeof properties === 'object' && properties !== null) {
    const kept = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, typesOf(property)]));
    return { type, properties: kept, ...(Array.isArray(required) ? { required } : {}) };
  }
  if (typeof type === 'string') return type === 'object' ? {} : { type };
  if (values !== undefined) return { enum: values };
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return { anyOf: alternatives.map(typesOf) };
  return type === undefined ? {} : { type };
}

function plain(words: string): string {
  return words.replace(/[\s*\\/]+/g, '');
}
