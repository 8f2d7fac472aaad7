// Runs a prepared program in a context of Node's own, with a few plain stand-ins for the guest's world: enough to see its value.
import { createContext, runInContext } from 'node:vm';
import { expect } from 'vitest';
import { type PrepareOptions, prepare } from '../../src/program/prepare.ts';
import type { Program, ProgramSyntaxError } from '../../src/program/program.ts';

/** A program that must prepare. */
export function prepared(source: string, options?: PrepareOptions): Program {
  const result = prepare(source, options);
  if (!result.ok) throw new Error(`Not a program: ${JSON.stringify(result.error)}\n${source.slice(0, 500)}`);
  return result.program;
}

/** The error of a text that must not prepare. */
export function refused(source: string): ProgramSyntaxError {
  const result = prepare(source);
  if (result.ok) throw new Error(`Was prepared: ${result.program.code.slice(0, 500)}`);
  return result.error;
}

/** What a program gives, as plain data of this realm. */
export async function outcomeOf(source: string, world: Record<string, unknown> = {}): Promise<unknown> {
  const value: unknown = await start(prepared(source).code, world);
  return value === undefined ? undefined : (structuredClone(JSON.parse(JSON.stringify(value) ?? 'null')) as unknown);
}

/** Evaluates prepared code and calls the function it gives. */
export async function start(code: string, world: Record<string, unknown> = {}): Promise<unknown> {
  const context = createContext({ setTimeout, ...world });
  runInContext(
    `for (const name of ['dispose', 'asyncDispose']) if (!Symbol[name]) Object.defineProperty(Symbol, name, { value: Symbol(name) });`,
    context,
  );
  const program: unknown = runInContext(code, context, { filename: 'program.js' });
  expect(program).toBeTypeOf('function');
  type Run = () => Promise<unknown>;
  const takesWatch = (program as Run).length === 1;
  return takesWatch ? (program as (watch: (value: unknown) => unknown) => Run)((value) => value)() : (program as Run)();
}
