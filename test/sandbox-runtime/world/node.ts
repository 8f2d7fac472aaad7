// What Node itself says about an expression, optionally in another time zone: the reference that the guest is compared with.
import { execFileSync } from 'node:child_process';
import { runInThisContext } from 'node:vm';

/** An expression's value as JSON, or the name of what it throws. */
export type Outcome = { value: unknown } | { throws: string };

const EVALUATE = `source => {
  try { return { value: (0, eval)('(' + source + ')') ?? null }; } catch (error) { return { throws: String(error && error.name) }; }
}`;

/** Evaluates in this process. */
export function inNode(expression: string): Outcome {
  // The expressions are this repository's own test cases.
  const evaluate = runInThisContext(`(${EVALUATE})`) as (source: string) => Outcome;
  return JSON.parse(JSON.stringify(evaluate(expression))) as Outcome;
}

/** Evaluates in a process of its own, in a time zone. */
export function inNodeZone(timeZone: string, expressions: readonly string[]): Outcome[] {
  const script = `const run = ${EVALUATE}; process.stdout.write(JSON.stringify(${JSON.stringify(expressions)}.map(run)))`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { env: { TZ: timeZone, LC_ALL: 'C' }, encoding: 'utf8' })) as Outcome[];
}

/** The same question for a guest. */
export function guestExpression(expression: string): string {
  return `(${EVALUATE})(${JSON.stringify(expression)})`;
}
