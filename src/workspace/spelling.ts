// Paths as programs spell them, taken apart into names or refused: nothing that could mean another directory on any disk comes
// through. Not here: what is found at a path (files.ts), where links are.
import { shorten } from '../protocol/errors.ts';
import { ToolError } from '../tools/tool.ts';
import { DEVICE_NAME, MAX_NAME_BYTES, SLASH_LOOK_ALIKES, UNSEEN } from './names.ts';

/** Files that are being written begin with this; programs do not see them. */
export const PARTIAL = '.callgate-';

/** The names of a path from the workspace's top; none for the top itself (`''`, `.`). Throws `path_invalid`. */
export function readPath(path: string): readonly string[] {
  if (typeof path !== 'string') throw new ToolError('A path should be a text such as "notes/today.md".', { code: 'path_invalid' });
  const problem = problemOfPath(path);
  if (problem !== undefined) throw invalid(path, problem);
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length > MAX_DEPTH) throw invalid(path, `has more than ${MAX_DEPTH} names`);
  for (const name of names) {
    const wrong = problemOfName(name);
    if (wrong !== undefined) throw invalid(path, wrong);
  }
  return names;
}

/** Throws `path_invalid` for a name that would be something else on another disk, and so should not be made. */
export function checkNewName(path: string, name: string): void {
  if (DEVICE_NAME.test(name)) throw invalid(path, `has the name ${JSON.stringify(name)}, which is a device on some systems`);
}

/** Whether a name found on the disk is one that programs may use. */
export function isSpellable(name: string): boolean {
  return problemOfName(name) === undefined && name !== '.' && name !== '..';
}

/** A path for a sentence. */
export function shown(path: string): string {
  return JSON.stringify(shorten(path, 200));
}

const MAX_DEPTH = 64;
const MAX_PATH_BYTES = 4096;
const ON_WINDOWS = process.platform === 'win32';

function invalid(path: string, problem: string): ToolError {
  return new ToolError(
    `The path ${shown(path)} ${problem}. Use a path inside the workspace, with plain names between slashes, such as "notes/today.md".`,
    { code: 'path_invalid' },
  );
}

function problemOfPath(path: string): string | undefined {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  if (/\p{Cc}/u.test(path)) return 'holds a control character';
  if (path.includes('\\')) return 'holds a backslash';
  if (/^\/|^[A-Za-z]:|^~(?:\/|$)|^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(path)) return 'is absolute';
  return undefined;
}

function problemOfName(name: string): string | undefined {
  if (name === '..') return 'holds `..`';
  if (/\p{Cc}/u.test(name)) return 'holds a control character';
  if (name.includes('\\')) return 'holds a backslash';
  if (/\p{Cs}/u.test(name)) return 'is no well-formed text';
  if (UNSEEN.test(name)) return 'holds a character that nobody sees';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `has a name that is longer than ${MAX_NAME_BYTES} bytes`;
  // What a disk or another program could make of it: full-width forms, ligatures such as ℀, characters that are ignored.
  const plain = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  if (LOOK_ALIKE.test(name) || /[/\\]/.test(plain)) return 'holds a character that looks like a slash';
  if (/^[. ]*$/.test(plain)) return 'has a name of nothing but dots or spaces';
  if (/^ |[. ]$/.test(plain)) return 'has a name that begins with a space, or ends with a space or a dot, which some disks leave out';
  if (hidesPath(name)) return 'is percent-encoded';
  if (name.toLowerCase().startsWith(PARTIAL)) return `has a name that begins with ${PARTIAL}`;
  if (ON_WINDOWS && (/[<>:"|?*]/.test(name) || DEVICE_NAME.test(name) || /~\d/.test(name))) return 'has a name that Windows does not take';
  return undefined;
}

const LOOK_ALIKE = new RegExp(`[${SLASH_LOOK_ALIKES}]`, 'u');

/** Whether a name has an encoded dot, slash, backslash or NUL in it, however often it was encoded. Nothing here decodes names; others may. */
function hidesPath(name: string): boolean {
  let text = name;
  for (let round = 0; round < 8; round++) {
    if (/%(?:2e|2f|5c|00|c0|c1|u00|u22|uff)/i.test(text)) return true;
    let decoded: string;
    try {
      decoded = decodeURIComponent(text);
    } catch {
      return false;
    }
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}
