// Stacks as the program may see them: its own frames, never those of the runtime around it.
import { StringConstructor, StringPrototypeIncludes, StringPrototypeIndexOf, StringPrototypeSlice } from './primordials.ts';

/** The name under which an engine evaluates a program's text. */
const PROGRAM_FILE = 'program.js';

/** The lines of a stack that lie in the program's text. */
export function programFrames(stack: unknown): string {
  if (typeof stack !== 'string') return '';
  const text = StringConstructor(stack);
  let kept = '';
  let from = 0;
  for (;;) {
    const newline = StringPrototypeIndexOf(text, '\n', from);
    const line = StringPrototypeSlice(text, from, newline === -1 ? undefined : newline);
    if (StringPrototypeIncludes(line, PROGRAM_FILE)) kept = kept === '' ? line : `${kept}\n${line}`;
    if (newline === -1) return kept;
    from = newline + 1;
  }
}
