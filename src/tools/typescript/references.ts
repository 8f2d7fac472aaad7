// Where a reference in a schema leads: pointers, anchors, and addresses of parts that have their own `$id`. Nothing is fetched. Not here: what a
// schema means, and references that run in circles (read.ts).
import { isObject, NAMED, NESTED, type SchemaObject } from './keywords.ts';

/** What a reference leads to, and the name that the schema has there: the last part of `#/$defs/Issue`. */
export interface Target {
  readonly schema: boolean | SchemaObject;
  readonly name: string;
}

/** A schema with the base address of everything in it. */
interface Resource {
  readonly root: boolean | SchemaObject;
  readonly anchors: Map<string, SchemaObject>;
}

export class References {
  readonly #root: boolean | SchemaObject;
  #index: Index | undefined;

  constructor(root: boolean | SchemaObject) {
    this.#root = root;
  }

  /** Whether a part lists the items of a tuple under `items`, which no edition after draft-07 does. */
  get listsItems(): boolean {
    this.#index ??= indexOf(this.#root);
    return this.#index.listsItems;
  }

  /** `undefined` when the reference of `from` leads nowhere, to another document, or to what is no schema. */
  resolve(reference: string, from: SchemaObject): Target | undefined {
    if (reference === '#' && this.#index === undefined && !hasAddresses(this.#root)) return { schema: this.#root, name: '' };
    this.#index ??= indexOf(this.#root);
    const base = this.#index.bases.get(from) ?? '';
    const at = reference.indexOf('#');
    const [address, fragment] = at < 0 ? [reference, ''] : [reference.slice(0, at), reference.slice(at + 1)];
    const resource = this.#index.resources.get(address === '' ? base : absolute(address, base));
    if (resource === undefined) return undefined;
    if (fragment === '') return { schema: resource.root, name: lastPart(address) };
    if (fragment.startsWith('/')) return follow(resource.root, fragment);
    const schema = resource.anchors.get(decode(fragment));
    return schema === undefined ? undefined : { schema, name: decode(fragment) };
  }
}

interface Index {
  /** The base address of every schema that lies in a part with an address of its own. */
  readonly bases: Map<SchemaObject, string>;
  readonly resources: Map<string, Resource>;
  listsItems: boolean;
}

function hasAddresses(root: boolean | SchemaObject): boolean {
  return isObject(root) && typeof root['$id'] === 'string';
}

/** Without recursion: a schema may be nested as deeply as it likes. */
function indexOf(root: boolean | SchemaObject): Index {
  const first: Resource = { root, anchors: new Map() };
  const index: Index = { bases: new Map(), resources: new Map([['', first]]), listsItems: false };
  const left: { readonly schema: unknown; readonly base: string; readonly resource: Resource }[] = [
    { schema: root, base: '', resource: first },
  ];
  const seen = new Set<unknown>();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { schema } = next;
    if (!isObject(schema) || seen.has(schema)) continue;
    seen.add(schema);
    let { base, resource } = next;
    const id = schema['$id'];
    if (typeof id === 'string' && id !== '') {
      const hash = id.indexOf('#');
      // Draft-07 spells an anchor so.
      if (hash >= 0 && hash < id.length - 1) resource.anchors.set(id.slice(hash + 1), schema);
      const address = hash >= 0 ? id.slice(0, hash) : id;
      if (address !== '') {
        base = absolute(address, base);
        resource = schema === root ? first : { root: schema, anchors: new Map() };
        if (!index.resources.has(base)) index.resources.set(base, resource);
      }
    }
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[keyword];
      if (typeof anchor === 'string' && !resource.anchors.has(anchor)) resource.anchors.set(anchor, schema);
    }
    if (base !== '') index.bases.set(schema, base);
    if (Array.isArray(schema['items'])) index.listsItems = true;
    const push = (inner: unknown): void => {
      if (isObject(inner)) left.push({ schema: inner, base, resource });
    };
    for (const keyword of NESTED) {
      const value = schema[keyword];
      if (Array.isArray(value)) value.forEach(push);
      else push(value);
    }
    for (const keyword of NAMED) if (isObject(schema[keyword])) Object.values(schema[keyword]).forEach(push);
  }
  return index;
}

/** Any absolute address does as the base of what has none. */
const NOWHERE = 'nowhere:///';

function absolute(address: string, base: string): string {
  try {
    return new URL(address, base === '' ? NOWHERE : base).href;
  } catch {
    return address;
  }
}

function follow(root: boolean | SchemaObject, pointer: string): Target | undefined {
  let node: unknown = root;
  let name = '';
  for (const part of pointer.slice(1).split('/')) {
    name = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[name];
  }
  return typeof node === 'boolean' || isObject(node) ? { schema: node, name } : undefined;
}

function lastPart(address: string): string {
  return /([^/]+?)(?:\.json)?\/?$/.exec(address)?.[1] ?? '';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
