// From what the guest says of an error to what the model reads: its place in the model's own text, a frame, a stack of the program's frames
// only, and a hint where the mistake is a common one. Not here: errors of a text that is no program (explain.ts).
import type { Diagnosis, GuestError } from '../protocol/messages.ts';
import { codeFrame } from './frame.ts';
import { hintFor } from './hints.ts';
import type { Position, Program } from './program.ts';

/** What is known beside the error. */
export interface DiagnoseContext {
  /** The text that the model wrote. */
  readonly source: string;
  /** The prepared program; without it positions cannot be led back and are left out. */
  readonly program?: PlacedProgram;
  /** The name under which the program was evaluated. Default: `program.js`. */
  readonly filename?: string;
  readonly tools?: readonly { readonly path: string; readonly description: string }[];
}

/** What places need of a prepared program. */
export type PlacedProgram = Pick<Program, 'locate'> & Partial<Pick<Program, 'code'>>;

/** Explains an error that ended a program. Pure; a wrong hint is possible, since hints read the text and not the tree. */
export function diagnose(error: GuestError, context: DiagnoseContext): Diagnosis {
  const { source, program, filename = FILENAME, tools = [] } = context;
  const frames = programFrames(error.stack, program, filename);
  const position = frames[0]?.position;
  const hint = hintFor({ error, source, position, tools });
  return {
    name: error.name,
    message: error.message,
    ...(position === undefined ? {} : { line: position.line, column: position.column, frame: codeFrame(source, position) }),
    ...(hint === undefined ? {} : { hint }),
    stack: frames
      .slice(0, MOST_FRAMES)
      .map((frame) => printed(frame, filename))
      .join('\n'),
  };
}

/** The place in the model's text of the first frame of a stack that lies in the program. */
export function framePosition(stack: string, program: PlacedProgram | undefined, filename: string = FILENAME): Position | undefined {
  return programFrames(stack, program, filename, 1)[0]?.position;
}

/** Three lines of the program around a position, with a caret. */
export { codeFrame };

const FILENAME = 'program.js';

/** Frames shown of a stack: enough to see who called whom, few enough to be read. */
const MOST_FRAMES = 12;

interface Frame {
  readonly name: string;
  readonly position: Position;
}

/** The frames that lie in the program. The guest wrote the stack, and may have made it up: it is text, read line by line. */
function programFrames(stack: string, program: PlacedProgram | undefined, filename: string, most = MOST_FRAMES): Frame[] {
  const found: Frame[] = [];
  if (!program) return found;
  let atStart = false;
  for (const line of stack.split('\n', MOST_LINES)) {
    const frame = FRAME.exec(line.slice(0, 512));
    if (!frame || frame[2] !== filename) continue;
    const position = program.locate(Number(frame[3]), Number(frame[4] ?? 1));
    if (!position) {
      // QuickJS names the place of the function when it knows none before the failing one: then it is the program's first.
      if (frame[3] === '1' && (frame[1] ?? '<anonymous>') === '<anonymous>') atStart = true;
      continue;
    }
    found.push({ name: frame[1] ?? '', position });
    if (found.length >= most) break;
  }
  const first = found.length === 0 && atStart ? firstPosition(program) : undefined;
  return first ? [{ name: '', position: first }] : found;
}

/** Where the program's first token stands: the wrapper has the first line of the code for itself. */
function firstPosition({ code = '', locate }: PlacedProgram): Position | undefined {
  const start = code.indexOf('\n') + 1;
  const before = (/^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(code.slice(start))?.[0] ?? '').split('\n');
  return locate(before.length + 1, (before.at(-1)?.length ?? 0) + 1);
}

const MOST_LINES = 200;

/** `    at name (file:line:column)`, `    at async name (…)`, `    at file:line:column`; QuickJS leaves the column out at times. */
const FRAME = /^\s*at (?:(?:async )?(.*?) ?\()?(?:async )?([^\s():]+):(\d{1,9})(?::(\d{1,9}))?\)?\s*$/;

function printed({ name, position }: Frame, filename: string): string {
  const place = `${filename}:${position.line}:${position.column}`;
  return name === '' || name === '<anonymous>' ? `    at ${place}` : `    at ${name} (${place})`;
}
