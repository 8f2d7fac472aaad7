// The string formats that are checked, each bounded: the checks of ajv-formats are regular expressions that run on V8, and the
// strings come from hostile programs. A format that is not listed here is a remark, as JSON Schema has it.
import type { Format } from 'ajv';
import ajvFormats from 'ajv-formats';
import type { Allowance } from './allowance.ts';

/** Strings longer than this (UTF-16 units) are in no format. All checks but one take time in proportion to the length. */
const LONGEST = 65_536;

/** Shorter bounds: hostile input makes `url` look at every pair of positions. */
const LONGEST_OF: Readonly<Record<string, number>> = { url: 2_048 };

/** The names of all checked formats. */
export const FORMATS: ReadonlySet<string> = new Set([
  'byte',
  'date',
  'date-time',
  'double',
  'duration',
  'email',
  'float',
  'hostname',
  'int32',
  'int64',
  'ipv4',
  'ipv6',
  'iso-date-time',
  'iso-time',
  'json-pointer',
  'json-pointer-uri-fragment',
  'regex',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
  'uuid',
]);

/** The check of one format for ajv, under the time allowance of the schema that it is part of. */
export function boundedFormat(name: string, allowance: Allowance): Format {
  if (name === 'byte') return isBase64;
  const format = ajvFormats.default.get(name as Parameters<typeof ajvFormats.default.get>[0]);
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (typeof format === 'object' && 'type' in format && format.type === 'number') return format;
  const longest = LONGEST_OF[name] ?? LONGEST;
  return (text: string): boolean => {
    allowance.check();
    if (text.length > longest) return false;
    if (check instanceof RegExp) return check.test(text);
    return typeof check === 'function' && (check as (text: string) => unknown)(text) === true;
  };
}

/** Base64 with padding, in one pass and of any length. (The check of ajv-formats takes a text of which one line is Base64.) */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
