// The type check before a program runs: which declarations it is checked against, and how what was found reaches the model. Not here: the check
// itself (program/typecheck.ts) and its thread (isolation/typecheck.ts).
import { createHash } from 'node:crypto';
import { type TypeCheckOutcome, TypeCheckThread } from '../isolation/typecheck.ts';
import type { TypeWorld } from '../program/compiler.ts';
import { codeFrame } from '../program/frame.ts';
import type { TypeProblem } from '../program/typecheck.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { Warning } from '../protocol/messages.ts';
import type { Catalog } from '../tools/catalog.ts';
import { checkedWorld } from '../tools/declarations.ts';
import type { ProgramError } from './result.ts';

/** The check of types before a program runs, and what is done with its findings: `error` refuses the program. */
export interface TypeCheck {
  readonly mode: 'warn' | 'error';
  check(source: string, signal: AbortSignal): Promise<TypeCheckOutcome>;
}

/** The checks of one code mode: one thread for all, started by the first. */
export class TypeChecks {
  readonly #thread = new TypeCheckThread();
  readonly #constants: readonly string[];
  readonly #worlds = new WeakMap<Catalog, TypeWorld>();
  #ready: Promise<TypeCheckOutcome> | undefined;

  /** `constants`: the names of the application's globals. */
  constructor(constants: readonly string[]) {
    this.#constants = constants;
  }

  /** Throws `option_invalid` when there is no compiler to check with. */
  async require(): Promise<void> {
    this.#ready ??= this.#thread.check('', EMPTY);
    const outcome = await this.#ready;
    if (outcome.type === 'unavailable') throw new CodeModeError('option_invalid', outcome.message);
  }

  /** The check of programs that have the tools of a catalog. */
  for(catalog: Catalog, mode: 'off' | 'warn' | 'error'): TypeCheck | undefined {
    if (mode === 'off') return undefined;
    return { mode, check: (source: string, signal: AbortSignal) => this.#thread.check(source, this.#worldOf(catalog), signal) };
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  #worldOf(catalog: Catalog): TypeWorld {
    let world = this.#worlds.get(catalog);
    if (world === undefined) {
      const constants = this.#constants.map((name) => `declare const ${name}: any;\n`).join('');
      const declarations = checkedWorld(catalog) + constants;
      world = { id: createHash('sha256').update(declarations).digest('hex'), declarations, paths: catalog.entries.map(({ path }) => path) };
      this.#worlds.set(catalog, world);
    }
    return world;
  }
}

const EMPTY: TypeWorld = { id: '', declarations: '', paths: [] };

/** Most findings told beside the first. */
const MOST_WARNINGS = 10;

/** What a check means for the program: the error that refuses it, if one does, and what is told beside the result. */
export function readTypeCheck(
  outcome: TypeCheckOutcome,
  { mode, source }: { readonly mode: TypeCheck['mode']; readonly source: string },
): { readonly error?: ProgramError; readonly warnings: readonly Warning[] } {
  if (outcome.type === 'unavailable') return { warnings: [{ message: outcome.message }] };
  if (outcome.type === 'skipped') return { warnings: [{ message: `The types were not checked: ${outcome.reason}.` }] };
  const { problems } = outcome;
  const [first] = problems;
  if (mode === 'warn' || first === undefined) return { warnings: toWarnings(problems) };
  const { message, line, column, hint } = first;
  const error: ProgramError = {
    kind: 'type',
    name: 'TypeError',
    message,
    line,
    column,
    frame: codeFrame(source, first),
    ...(hint === undefined ? {} : { hint }),
  };
  return { error, warnings: toWarnings(problems.slice(1)) };
}

function toWarnings(problems: readonly TypeProblem[]): Warning[] {
  const warnings: Warning[] = problems
    .slice(0, MOST_WARNINGS)
    .map(({ message, hint, line, column }) => ({ message: hint === undefined ? message : `${message} ${hint}`, line, column }));
  const left = problems.length - warnings.length;
  if (left > 0) warnings.push({ message: `The type check found ${left} more.` });
  return warnings;
}
