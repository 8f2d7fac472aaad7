// What makes a file name treacherous on some disk or to some reader. Not here: what is done about it: a store cleans names
// (artifacts/file-name.ts), a workspace refuses them (spelling.ts).

/** Names that are devices on Windows, with any extension. */
export const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|:|$)/i;

/** Characters that read as a slash or a backslash, and those that become one when a name is normalised. */
export const SLASH_LOOK_ALIKES = '\u2044\u2215\u2216\u27cb\u27cd\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c';

/** Characters that nobody sees: they turn the order of a text around, or make two names look like one. */
export const UNSEEN = /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

/** Longest name that ordinary disks take. */
export const MAX_NAME_BYTES = 255;
