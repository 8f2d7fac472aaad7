// What no type says: conditions, exclusions and dependencies, as a few words beside the type. Nothing of them is lost: what has no words is quoted.
// Not here: comments (comment.ts).
import { json } from './comment.ts';
import { ANNOTATIONS, isObject, type SchemaObject, strings } from './keywords.ts';

/** One remark for each condition. */
export function conditionsOf(schema: SchemaObject): string[] {
  const remarks: string[] = [];
  const { if: premise, then: consequence, else: otherwise, not: excluded } = schema;
  if (premise !== undefined && (consequence !== undefined || otherwise !== undefined)) {
    const then = consequence === undefined ? '' : ` then ${phrase(consequence)}`;
    const other = otherwise === undefined ? '' : `${then === '' ? '' : ','} else ${phrase(otherwise)}`;
    remarks.push(`if ${phrase(premise)}${then}${other}`);
  }
  if (excluded !== undefined && excluded !== false && !isSaidByType(excluded)) remarks.push(`not ${phrase(excluded)}`);
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    const dependencies = schema[keyword];
    if (!isObject(dependencies)) continue;
    for (const [name, needed] of Object.entries(dependencies)) {
      remarks.push(Array.isArray(needed) ? `${name} needs ${strings(needed).join(', ')}` : `with ${name}: ${phrase(needed)}`);
    }
  }
  const names = exclusiveNames(schema['oneOf']);
  if (names !== undefined) remarks.push(`exactly one of ${names.join(', ')}`);
  const { discriminator } = schema;
  if (isObject(discriminator) && typeof discriminator['propertyName'] === 'string') {
    const mapping = isObject(discriminator['mapping']) ? Object.entries(discriminator['mapping']) : [];
    const told = mapping.map(([value, reference]) => `${json(value)} ${String(reference).replace(/^.*\//, '')}`).join(', ');
    remarks.push(`by ${discriminator['propertyName']}${told === '' ? '' : `: ${told}`}`);
  }
  return remarks;
}

/** Exclusions that the type shows. */
function isSaidByType(excluded: unknown): boolean {
  if (!isObject(excluded)) return true;
  const keywords = Object.keys(excluded).filter((keyword) => !ANNOTATIONS.has(keyword));
  if (keywords.length === 0) return true;
  if (keywords.length > 1) return false;
  const [keyword] = keywords;
  // Those that it shows only in part are told where the type is made.
  return (
    keyword === 'type' ||
    keyword === 'const' ||
    keyword === 'enum' ||
    (keyword === 'required' && strings(excluded['required']).length === 1)
  );
}

/** The names of `oneOf: [{ required: ['a'] }, { required: ['b'] }]`. */
function exclusiveNames(alternatives: unknown): string[] | undefined {
  if (!Array.isArray(alternatives) || alternatives.length < 2) return undefined;
  const names: string[] = [];
  for (const alternative of alternatives) {
    const keywords = isObject(alternative) ? Object.keys(alternative).filter((keyword) => !ANNOTATIONS.has(keyword)) : [];
    if (!isObject(alternative) || keywords.length !== 1 || keywords[0] !== 'required') return undefined;
    names.push(strings(alternative['required']).join(' and '));
  }
  return names;
}

/** A condition in words: `kind = "a" and b`. */
function phrase(schema: unknown, depth = 0): string {
  if (depth > 6) return json(schema);
  if (schema === true) return 'anything';
  if (schema === false) return 'nothing';
  if (!isObject(schema)) return json(schema);
  const parts: string[] = [];
  const told = new Set<string>();
  for (const [keyword, value] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword)) continue;
    if (keyword === 'type' && value === 'object') continue;
    if (keyword === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) {
        const text = propertyPhrase(name, property);
        if (text === undefined) return json(schema);
        parts.push(text);
        told.add(name);
      }
    } else if (keyword === 'required') continue;
    else if (keyword === 'not') parts.push(`not (${phrase(value, depth + 1)})`);
    else if (keyword === 'anyOf' && Array.isArray(value))
      parts.push(value.map((alternative) => phrase(alternative, depth + 1)).join(' or '));
    else return json(schema);
  }
  for (const name of strings(schema['required'])) if (!told.has(name)) parts.push(name);
  return parts.length === 0 ? json(schema) : parts.join(' and ');
}

function propertyPhrase(name: string, property: unknown): string | undefined {
  if (property === false) return `no ${name}`;
  if (!isObject(property)) return name;
  const keywords = Object.keys(property).filter((keyword) => !ANNOTATIONS.has(keyword) && keyword !== 'type');
  if (keywords.length === 1 && keywords[0] === 'const') return `${name} = ${json(property['const'])}`;
  if (keywords.length === 1 && keywords[0] === 'enum' && Array.isArray(property['enum']))
    return `${name} in ${property['enum'].map(json).join(', ')}`;
  return keywords.length === 0 && property['type'] !== undefined ? `${name}: ${json(property['type'])}` : undefined;
}
