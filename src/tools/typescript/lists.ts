// The type of arrays: lists, and tuples in the spellings of both editions. Not here: unions of lists (read.ts).
import { countOf, json } from './comment.ts';
import { isObject, type SchemaObject } from './keywords.ts';
import type { TypeNode } from './node.ts';
import type { Part } from './shape.ts';
import type { Slot, SlotReader } from './slot.ts';

/** Most items of a tuple that `minItems` adds to those that are listed. */
const MOST_ADDED = 4;

export function listOf(
  { layers, choices }: Part,
  reader: SlotReader,
  name: string,
): { readonly node: TypeNode; readonly remarks: readonly string[] } {
  const { nodes } = reader;
  const remarks: string[] = [];
  const least = Math.max(0, ...layers.map((layer) => numberOf(layer['minItems']) ?? 0));
  const most = Math.min(Number.POSITIVE_INFINITY, ...layers.map((layer) => numberOf(layer['maxItems']) ?? Number.POSITIVE_INFINITY));
  const listed = Math.max(0, ...layers.map((layer) => prefixOf(layer).length));
  // What other layers, alternatives and conditions look at is not known here.
  const isWhole = layers.length === 1 && choices.length === 0;
  const rests = layers.map((layer) => restOf(layer) ?? (isWhole ? unevaluatedOf(layer) : undefined));
  const isClosed = rests.includes(false) || most <= listed;
  const item = (schemas: readonly unknown[], label: string): TypeNode => {
    const { type, remarks: told } = itemOf({ schemas, name: singular(name) }, { reader, label });
    remarks.push(...told);
    return type;
  };
  for (const layer of layers) {
    if (layer['uniqueItems'] === true) remarks.push('unique');
    if (layer['contains'] !== undefined) {
      const times = countOf(layer, { least: 'minContains', most: 'maxContains', of: 'items' }, '');
      remarks.push(`contains ${json(layer['contains'])}${times === undefined ? '' : `, ${times}`}`);
    }
  }
  if (most === 0 || (listed === 0 && rests.includes(false))) return { node: nodes.tuple([], undefined), remarks };
  const restSchemas = rests.filter((rest) => rest !== undefined);
  if (listed === 0) {
    const type = item(restSchemas, 'each');
    if (least === most && least <= MOST_ADDED && type !== nodes.unknown)
      return {
        node: nodes.tuple(
          Array.from({ length: least }, () => ({ type, optional: false })),
          undefined,
        ),
        remarks,
      };
    const count = countOf(merged(least, most), { least: 'minItems', most: 'maxItems', of: 'items' }, name);
    return { node: nodes.array(type), remarks: count === undefined ? remarks : [count, ...remarks] };
  }
  const length = Math.min(listed, most);
  const items = Array.from({ length }, (_, index) => ({
    type: item(
      layers.flatMap((layer) => elementOf(layer, index)),
      `[${index}]`,
    ),
    optional: index >= least,
  }));
  if (isClosed) return { node: nodes.tuple(items, undefined), remarks };
  const rest = item(restSchemas, 'others');
  const added = Math.min(least - length, MOST_ADDED);
  for (let index = 0; index < added; index++) items.push({ type: rest, optional: false });
  if (most < Number.POSITIVE_INFINITY || least > items.length) remarks.push(`${least}-${most} items`);
  return { node: nodes.tuple(items, rest), remarks };
}

/** An item's type with its words, and what else is to be said of it. */
function itemOf(
  slot: Slot,
  { reader, label }: { readonly reader: SlotReader; readonly label: string },
): { readonly type: TypeNode; readonly remarks: readonly string[] } {
  const { type, comment } = reader.place(slot);
  const { words, remarks } = comment;
  const bears = type.kind === 'object' || type.kind === 'knot' || type.kind === 'intersection';
  if (words !== '' && bears) return { type: reader.nodes.described(type, words), remarks: remarks.map((remark) => `${label} ${remark}`) };
  const told = words === '' ? [] : [`${label}: ${words}`];
  return { type, remarks: remarks.length === 0 ? told : [...told, `${label} ${remarks.join(', ')}`] };
}

function merged(least: number, most: number): SchemaObject {
  return { minItems: least, ...(most === Number.POSITIVE_INFINITY ? {} : { maxItems: most }) };
}

function prefixOf(layer: SchemaObject): readonly unknown[] {
  if (Array.isArray(layer['prefixItems'])) return layer['prefixItems'];
  return Array.isArray(layer['items']) ? layer['items'] : [];
}

/** What is demanded of the items that are not listed. */
function restOf(layer: SchemaObject): boolean | SchemaObject | undefined {
  const { prefixItems, items } = layer;
  const rest = Array.isArray(prefixItems) || !Array.isArray(items) ? items : layer['additionalItems'];
  return schemaOrNone(rest);
}

function unevaluatedOf(layer: SchemaObject): boolean | SchemaObject | undefined {
  return 'contains' in layer || 'if' in layer ? undefined : schemaOrNone(layer['unevaluatedItems']);
}

function schemaOrNone(value: unknown): boolean | SchemaObject | undefined {
  return typeof value === 'boolean' || isObject(value) ? value : undefined;
}

function elementOf(layer: SchemaObject, index: number): unknown[] {
  const prefix = prefixOf(layer);
  if (index < prefix.length) return [prefix[index]];
  const rest = restOf(layer);
  return rest === undefined ? [] : [rest];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}

/** The name of one of several: `labels` gives `label`. */
function singular(name: string): string {
  if (/[^s]ies$/i.test(name)) return name.replace(/ies$/i, 'y');
  return /(?:[^su]|us)s$/i.test(name) && !/(?:us|is)$/i.test(name) ? name.slice(0, -1) : name;
}
