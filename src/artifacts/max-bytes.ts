// The one option that all stores have. Not here: that it is kept (shelf.ts).
import { CodeModeError } from '../protocol/errors.ts';
import { describe } from '../tools/json.ts';

/** A number of bytes, or nothing; anything else is an `option_invalid`. */
export function checkMaxBytes(value: unknown): number | undefined {
  if (value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)) return value;
  throw new CodeModeError(
    'option_invalid',
    `The \`maxBytes\` of a store should be a whole number of bytes from 0, not ${typeof value === 'number' ? value : describe(value)}.`,
  );
}
