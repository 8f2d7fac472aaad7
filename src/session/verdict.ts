// Ends of a program that it did not write itself, as sentences for whoever reads the result: which limit, its value, what to do.
import type { ErrorKind } from '../protocol/errors.ts';
import type { LimitName, Limits } from '../protocol/limits.ts';
import type { ProgramError } from './result.ts';

/** The error of a program that was ended for a reason of the given kind. */
export function verdictError(kind: ErrorKind, limits: Limits, limit?: LimitName): ProgramError {
  switch (kind) {
    case 'timeout':
      return limit === 'wallMs' || limit === 'lifetimeMs'
        ? {
            kind,
            name: 'TimeoutError',
            message: `The program had not ended after ${limits[limit]} ms, the limit \`${limit}\`; its running calls were aborted. Do less in one program, or make slow calls in parallel with Promise.all.`,
          }
        : limit === 'sliceMs'
          ? {
              kind,
              name: 'TimeoutError',
              message: `The program computed for more than ${limits.sliceMs} ms without waiting for anything, the limit \`sliceMs\`. Look for a loop without an end, or await something in between.`,
            }
          : {
              kind,
              name: 'TimeoutError',
              message: `The program computed for more than ${limits.cpuMs} ms, the limit \`cpuMs\` (waiting for tools does not count). Look for a loop without an end, or a regular expression that backtracks.`,
            };
    case 'memory':
      return {
        kind,
        name: 'MemoryError',
        message: `The program needed more than ${limits.memoryBytes} bytes of memory, the limit \`memoryBytes\`. Handle the data in parts and keep only what is needed.`,
      };
    case 'limit':
      return {
        kind,
        name: 'RangeError',
        message:
          limit === 'stackBytes'
            ? `The program's recursion went deeper than ${limits.stackBytes} bytes of stack, the limit \`stackBytes\`. Recurse less deeply, or use a loop.`
            : `The program went over a limit${limit === undefined ? '' : `, \`${limit}\` (${limits[limit]})`}.`,
      };
    case 'deadlock':
      return {
        kind,
        name: 'DeadlockError',
        message:
          'The program awaits something that nothing can settle any more: no tool call and no timer is pending. Look for a promise whose resolve function is never called.',
      };
    case 'aborted':
      return { kind, name: 'AbortError', message: 'The program was ended by its caller before it completed.' };
    default:
      return {
        kind,
        name: 'FaultError',
        message: 'The sandbox broke while it ran this program. Nothing else is affected; the program may be run again.',
      };
  }
}
