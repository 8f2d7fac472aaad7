// Patterns for file names: `*.csv`, `src/**/*.ts`, `{a,b}.txt`. Matched in linear time. Not here: which files there are (walk.ts).
import { compileLinear } from '../tools/pattern.ts';
import { ToolError } from '../tools/tool.ts';
import { shown } from './spelling.ts';

const MAX_LENGTH = 200;

/**
 * Whether a path fits. `*` and `?` stand for characters of one name, `**` for any names in between, `{a,b}` for one of several; a pattern
 * without a slash is matched with the last name alone. Throws `pattern_invalid`.
 */
export function compileGlob(glob: string): (path: string) => boolean {
  if (glob === '' || glob.length > MAX_LENGTH) throw invalid(glob, `should have 1 to ${MAX_LENGTH} characters`);
  const linear = compileLinear(`^(?:${translate(glob)})$`);
  if (linear === undefined) throw invalid(glob, 'is too complicated');
  const wholePath = glob.includes('/');
  return (path) => linear.find(wholePath ? path : path.slice(path.lastIndexOf('/') + 1)) !== undefined;
}

function translate(glob: string): string {
  let pattern = '';
  let inBraces = false;
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at] ?? '';
    if (character === '*' && glob[at + 1] === '*') {
      const wholeName = (at === 0 || glob[at - 1] === '/') && glob[at + 2] === '/';
      // `**/` may stand for nothing at all.
      pattern += wholeName ? '(?:[^/]+/)*' : '.*';
      at += wholeName ? 2 : 1;
    } else if (character === '*') pattern += '[^/]*';
    else if (character === '?') pattern += '[^/]';
    else if (character === '{' && !inBraces) {
      inBraces = true;
      pattern += '(?:';
    } else if (character === '}' && inBraces) {
      inBraces = false;
      pattern += ')';
    } else if (character === ',' && inBraces) pattern += '|';
    else pattern += character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  }
  if (inBraces) throw invalid(glob, 'has a `{` without its `}`');
  return pattern;
}

function invalid(glob: string, problem: string): ToolError {
  return new ToolError(`The pattern of file names ${shown(glob)} ${problem}; write one such as "*.csv" or "notes/**/*.md".`, {
    code: 'pattern_invalid',
  });
}
