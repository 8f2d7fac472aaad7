// The profile of macOS's sandbox-exec for a child: nothing but reading what it needs, its scratch folder and its own process.
// Not here: starting it (confine.ts). The text is tested; it has to be tried on a Mac whenever it changes.
import { CodeModeError } from '../protocol/errors.ts';

/** A profile in the language of sandbox-exec (`-p`). All paths must be real ones: the system compares them after links are followed. */
export function seatbeltProfile({ file, reads, scratch }: { file: string; reads: readonly string[]; scratch: string }): string {
  const subpaths = [...SYSTEM, ...reads, scratch].map((path) => `(subpath ${quote(path)})`).join(' ');
  const ancestors = [...new Set([file, ...reads, scratch].flatMap(foldersOf))].map((path) => `(literal ${quote(path)})`).join(' ');
  return [
    '(version 1)',
    // No network, no files, no other processes, no services, no devices: everything that is not named below.
    '(deny default)',
    `(allow process-exec (literal ${quote(file)}))`,
    '(allow process-info* (target self))',
    '(allow signal (target self))',
    '(allow sysctl-read)',
    `(allow file-read* (literal ${quote(file)}) ${DEVICES} ${subpaths})`,
    `(allow file-map-executable (literal ${quote(file)}) ${subpaths})`,
    // Following a path asks about every folder on the way; that shows no names of what is in them.
    `(allow file-read-metadata ${ancestors})`,
    `(allow file-write* (subpath ${quote(scratch)}))`,
    '(allow file-write-data (literal "/dev/null"))',
  ].join('\n');
}

/** The loader and the libraries of the system. */
const SYSTEM = ['/usr/lib', '/System/Library/Frameworks', '/System/Library/PrivateFrameworks', '/System/Volumes/Preboot/Cryptexes'];
const DEVICES = '(literal "/dev/null") (literal "/dev/random") (literal "/dev/urandom") (literal "/")';

function quote(path: string): string {
  // A control character has no way to be written in a profile.
  if (/\p{Cc}/u.test(path))
    throw new CodeModeError('sandbox_unavailable', `The path ${JSON.stringify(path)} cannot be named in a sandbox profile; move it.`);
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}
