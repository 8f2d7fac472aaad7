// A file name for people, cleaned so that it is harmless on every disk: it stays recognisable, and is never a path. Not here: what
// makes names of a store unique (directory.ts).
import { DEVICE_NAME, SLASH_LOOK_ALIKES } from '../workspace/names.ts';

/** Longest cleaned name, in bytes of UTF-8. */
export const BASE_NAME_BYTES = 120;

/**
 * The last part of a name or path as a file name: 1 to 120 bytes, without separators or what looks like them, control and format
 * characters, leading dots, trailing dots and spaces, and not a device of Windows. Cut before its extension.
 */
export function cleanFileName(name: string | undefined): string {
  const last = (name ?? '').split(/[/\\]/).findLast((part) => !/^[. ]*$/.test(part)) ?? '';
  const visible = last
    .replace(/[\p{Cf}\p{Co}\p{Cn}]/gu, '')
    .replace(FORBIDDEN, '_')
    .replace(/\s+/g, ' ')
    .normalize('NFC');
  const trimmed = trim(visible);
  const safe = DEVICE_NAME.test(trimmed) ? `_${trimmed}` : trimmed;
  const cut = trim(cutToBytes(safe));
  return cut === '' ? 'artifact' : cut;
}

/** Control characters, lone surrogates, line breaks, what Windows and shells forbid or expand, and look-alikes of slashes. */
const FORBIDDEN = new RegExp(`[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}<>:"|?*\\\\/${SLASH_LOOK_ALIKES}]+`, 'gu');

/** Longest extension that is kept when a name is cut, with its dot. */
const EXTENSION = /\.[A-Za-z0-9]{1,15}$/;

function trim(name: string): string {
  return name.replace(/^[.\s]+/, '').replace(/[.\s]+$/, '');
}

function cutToBytes(name: string): string {
  if (Buffer.byteLength(name) <= BASE_NAME_BYTES) return name;
  const extension = EXTENSION.exec(name)?.[0] ?? '';
  const room = BASE_NAME_BYTES - extension.length;
  let stem = '';
  let bytes = 0;
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    stem += character;
  }
  return trim(stem) + extension;
}
