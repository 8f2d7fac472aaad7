// Where the shared test data lies, and what to say when it is not there.
import { existsSync, readFileSync } from 'node:fs';

const SHARED = new URL('../../../shared/', import.meta.url);

/** Whether a folder of the shared test data is there; put the reason into the test's name when it is not. */
export function hasCorpus(folder: string): boolean {
  return existsSync(new URL(folder, SHARED));
}

export function readCorpus(path: string): string {
  return readFileSync(new URL(path, SHARED), 'utf8');
}

export function corpusUrl(path: string): URL {
  return new URL(path, SHARED);
}
