// The functions that programs have beside their tools and that the host carries out: their names, which the guest's image holds, and
// what each does for one run. Not here: how a call of one is checked and answered (execution.ts).
import { artifactFunctions } from './artifact-functions.ts';
import type { HostFunction } from './execution.ts';

/** Names of the functions, in the order that a guest defines them. */
export const FUNCTION_NAMES: readonly string[] = [];

/** What the functions do in one run. */
export function hostFunctions(): ReadonlyMap<string, HostFunction> {
  return new Map(artifactFunctions());
}
