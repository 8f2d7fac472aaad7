// The type of objects: members, required or not, and index signatures that TypeScript accepts beside them. Not here: unions of objects (read.ts).
import { annotationsOf, NO_COMMENT, quoted, wordsOf } from './comment.ts';
import { isObject, type SchemaObject, strings } from './keywords.ts';
import type { IndexMember, Member, TypeNode } from './node.ts';
import type { Part } from './shape.ts';
import type { Placed, SlotReader } from './slot.ts';

/** `isPart`: alternatives stand beside it, so that an object that nothing is said of needs no type of its own. */
export function objectOf(
  { layers }: Part,
  reader: SlotReader,
  isPart: boolean,
): { readonly node: TypeNode; readonly remarks: readonly string[] } {
  const { nodes } = reader;
  const required = new Set(layers.flatMap((layer) => strings(layer['required'])));
  const names = new Set<string>();
  for (const layer of layers) if (isObject(layer['properties'])) for (const name of Object.keys(layer['properties'])) names.add(name);
  for (const name of required) names.add(name);
  const members: Member[] = [];
  for (const name of names) {
    const { type, comment } = reader.place({
      schemas:
        layers.length === 1 && layers[0] !== undefined ? schemasOf(layers[0], name) : layers.flatMap((layer) => schemasOf(layer, name)),
      name,
    });
    members.push({ name, optional: !required.has(name), type, comment });
  }
  const remarks: string[] = [];
  const indexes = indexesOf(layers, { members, reader, remarks, isPart: isPart || layers.length > 1 });
  if (members.length === 0 && indexes.length === 0) {
    const isEmpty = layers.some((layer) => isClosed(layer) || (!isPart && unevaluatedOf(layer) === false));
    if (isEmpty) return { node: nodes.object([], [indexOf('string', nodes.never)]), remarks };
    return { node: isPart ? nodes.unknown : nodes.object([], [indexOf('string', nodes.unknown)]), remarks };
  }
  return { node: nodes.object(members, indexes), remarks };
}

/** What a layer demands of the property of a name. */
function schemasOf(layer: SchemaObject, name: string): unknown[] {
  const { properties, patternProperties, additionalProperties } = layer;
  const schemas: unknown[] = [];
  const isNamed = isObject(properties) && Object.hasOwn(properties, name);
  if (isNamed) schemas.push(properties[name]);
  if (isObject(patternProperties)) {
    const patterns = Object.entries(patternProperties);
    for (const [pattern, schema] of patterns)
      if (startOf(pattern) !== undefined && name.startsWith(startOf(pattern) ?? '')) schemas.push(schema);
    // Which of the other patterns fit is not asked: a server's pattern may take for ever.
    if (patterns.length > 0) return schemas;
  }
  if (!isNamed && additionalProperties !== undefined) schemas.push(additionalProperties);
  return schemas;
}

/** What is said of properties that no keyword has looked at: `additionalProperties` looks at all, conditions at some that are not known here. */
function unevaluatedOf(layer: SchemaObject): unknown {
  const { additionalProperties, unevaluatedProperties } = layer;
  return additionalProperties === undefined && !['if', 'dependentSchemas'].some((keyword) => keyword in layer)
    ? unevaluatedProperties
    : undefined;
}

function isClosed(layer: SchemaObject): boolean {
  return layer['additionalProperties'] === false;
}

interface Context {
  readonly members: readonly Member[];
  readonly reader: SlotReader;
  readonly remarks: string[];
  /** What is evaluated elsewhere is not known here. */
  readonly isPart: boolean;
}

function indexesOf(layers: readonly SchemaObject[], { members, reader, remarks, isPart }: Context): IndexMember[] {
  const { nodes } = reader;
  const patterns = layers.flatMap((layer) => (isObject(layer['patternProperties']) ? Object.entries(layer['patternProperties']) : []));
  const others = layers.flatMap((layer) => [layer['additionalProperties'], isPart ? undefined : unevaluatedOf(layer)]).filter(isObject);
  const isOpen = layers.some((layer) => layer['additionalProperties'] === true) && !layers.some(isClosed);
  const keys = keysOf(layers, remarks);
  if (patterns.length === 0) {
    if (others.length === 0) {
      if (keys === undefined || members.length > 0) return isOpen && members.length > 0 ? [indexOf('string', nodes.unknown)] : [];
      return [{ ...indexOf(keys, nodes.unknown), mapped: true }];
    }
    const { type, comment } = placeOf(others, reader);
    if (keys !== undefined && members.length === 0) return [{ key: keys, mapped: true, type, comment }];
    return [beside(members, { key: 'string', mapped: false, type, comment }, reader)];
  }
  const typed = patterns.map(([pattern, schema]) => ({ pattern, start: startOf(pattern), ...placeOf([schema], reader) }));
  const closed = layers.length === 1 && layers.every(isClosed);
  const starts = typed.map(({ start }) => start);
  // Keys that begin alike are a type of their own, as long as no named member and no other pattern begins so too.
  const distinct = starts.every(
    (start, index) => start !== undefined && start !== '' && !starts.some((other, at) => at !== index && other?.startsWith(start)),
  );
  if (distinct && others.length === 0 && !members.some(({ name }) => starts.some((start) => name.startsWith(start ?? '')))) {
    return typed.map(({ start = '', type, comment }) => ({
      key: `\`${start.replace(/[`\\$]/g, '\\$&')}\${string}\``,
      mapped: false,
      type,
      comment,
    }));
  }
  const extra = others.length === 0 ? undefined : placeOf(others, reader);
  for (const { pattern } of typed) remarks.push(`keys /${pattern}/`);
  const isBounded = closed || extra !== undefined;
  const type = isBounded ? nodes.union([...typed.map((each) => each.type), ...(extra === undefined ? [] : [extra.type])]) : nodes.unknown;
  const [first] = typed;
  const comment = typed.length === 1 && first !== undefined && extra === undefined ? first.comment : NO_COMMENT;
  return [beside(members, { key: 'string', mapped: false, type, comment }, reader)];
}

/** An index signature holds for the named members too: its type has to take in theirs. */
function beside(members: readonly Member[], index: IndexMember, { nodes }: SlotReader): IndexMember {
  if (members.length === 0 || index.type === nodes.unknown) return index;
  const types = new Set(members.map(({ type }) => type));
  const isOptional = members.some(({ optional }) => optional);
  if (!isOptional && types.size === 1 && types.has(index.type)) return index;
  const isSimple = [...types, index.type].every(({ kind }) => kind === 'word' || kind === 'literal');
  const whole = [index.type, ...types, ...(isOptional ? [nodes.word('undefined')] : [])];
  if (isSimple && types.size <= 2) return { ...index, type: nodes.union(whole) };
  return { ...index, type: nodes.unknown, meant: index.type };
}

function placeOf(schemas: readonly unknown[], reader: SlotReader): Placed {
  return reader.place({ schemas, name: '' });
}

function indexOf(key: string, type: TypeNode): IndexMember {
  return { key, mapped: false, type, comment: NO_COMMENT };
}

/** The names that `propertyNames` allows, as a union; what else it says is a remark. */
function keysOf(layers: readonly SchemaObject[], remarks: string[]): string | undefined {
  let keys: string | undefined;
  for (const { propertyNames } of layers) {
    if (!isObject(propertyNames)) continue;
    const values = Array.isArray(propertyNames['enum'])
      ? strings(propertyNames['enum'])
      : typeof propertyNames['const'] === 'string'
        ? [propertyNames['const']]
        : [];
    if (values.length > 0) keys ??= values.map(quoted).join(' | ');
    else {
      const { type: _, ...said } = propertyNames;
      const words = wordsOf(said, '');
      const { pattern, format } = said;
      const remark =
        typeof pattern === 'string'
          ? `/${pattern}/`
          : typeof format === 'string'
            ? format
            : Object.keys(said).length > 0 && words === ''
              ? JSON.stringify(said)
              : words;
      if (remark !== '') remarks.push(`keys ${remark}`);
      remarks.push(...annotationsOf(said, ''));
    }
  }
  return keys;
}

/** The literal start that a pattern such as `^x-` or `^x-.*$` asks for; '' for one that any name fits, `undefined` for others. */
function startOf(pattern: string): string | undefined {
  if (/^\^?\.\*\$?$/.test(pattern) || pattern === '') return '';
  const text = /^\^((?:[\w\s@:/,;=<>%&#~'"!-]|\\[-.\\/$^*+?()[\]{}|])+)(?:\.\*\$?)?$/.exec(pattern)?.[1];
  return text?.replace(/\\(.)/g, '$1');
}
