// What a person or a script reads of a result: output and value for standard output, the error with its place for standard
// error, or all of it as one JSON document. Not here: calls while they happen (progress.ts).
import { type RunResult, toJson } from '../index.ts';
import { printable, printableJson, printableLine } from './printable.ts';
import type { Colors } from './terminal.ts';

/** The whole result as one JSON document; Maps, Sets, bytes and the like in the value as `toJson` has them. */
export function renderJson(result: RunResult): string {
  return `${printableJson(JSON.stringify({ ...result, value: toJson(result.value) }, null, 2))}\n`;
}

/** The program's output, then its value: a string as it is, anything else as JSON, nothing for `undefined`. */
export function renderOutput({ output, value }: Pick<RunResult, 'output' | 'value'>): string {
  return line(printable(output)) + renderValue(value);
}

/** Warnings, and why the program failed: the sentence, the place, the lines around it, what to do. */
export function renderTroubles(
  { warnings, error, artifacts }: Pick<RunResult, 'warnings' | 'error' | 'artifacts'>,
  colors: Colors,
): string {
  const texts = warnings.map((warning) => `${colors.yellow('warning')}: ${printableLine(warning.message)}${place(warning)}\n`);
  if (artifacts.length > 0)
    texts.push(`${artifacts.length} ${artifacts.length === 1 ? 'artifact' : 'artifacts'}; --json describes them.\n`);
  if (error !== undefined) {
    const what = error.kind === 'program' ? `${printableLine(error.name)}: ` : `${error.kind}: `;
    texts.push(`${colors.red('program failed')}: ${what}${printable(error.message)}${place(error)}\n`);
    if (error.frame !== undefined) texts.push(`\n${line(printable(error.frame))}\n`);
    if (error.hint !== undefined) texts.push(`${colors.cyan('hint')}: ${printable(error.hint)}\n`);
  }
  return texts.join('');
}

function renderValue(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return line(printable(value));
  return `${printableJson(JSON.stringify(toJson(value), null, 2))}\n`;
}

function place({ line, column }: { readonly line?: number | undefined; readonly column?: number | undefined }): string {
  return line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
}

/** The text ended by a newline; nothing stays nothing. */
function line(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
