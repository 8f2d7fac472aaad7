// By how much a run may make its workspace grow. Charged before anything is written; what is removed, or fails, is given back.
import { ToolError } from '../tools/tool.ts';

export class Quota {
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  #bytes = 0;
  #files = 0;

  constructor({ maxBytes, maxFiles }: { readonly maxBytes: number; readonly maxFiles: number }) {
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
  }

  /** Takes, or gives back with negative numbers. Throws `quota_exceeded`, and then nothing is taken. */
  charge({ bytes = 0, files = 0 }: { readonly bytes?: number; readonly files?: number }): void {
    if (bytes > 0 && this.#bytes + bytes > this.#maxBytes) {
      throw new ToolError(
        `The workspace may grow by ${this.#maxBytes} bytes in a run and has grown by ${this.#bytes}; ${bytes} more do not fit. Write less, or delete what is not needed.`,
        { code: 'quota_exceeded' },
      );
    }
    if (files > 0 && this.#files + files > this.#maxFiles) {
      throw new ToolError(
        `A run may add ${this.#maxFiles} files and directories to the workspace and has added ${this.#files}. Write fewer, larger files, or delete what is not needed.`,
        { code: 'quota_exceeded' },
      );
    }
    this.#bytes += bytes;
    this.#files += files;
  }
}
