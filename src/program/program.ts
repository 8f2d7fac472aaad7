// What preparing a program's text gives: text to evaluate, and the way back from its positions to the model's own.

/** A place in the text that the model wrote; both from 1, columns in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something worth telling beside the result, for example an import that was dropped. */
export interface ProgramWarning {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** A prepared program. */
export interface Program {
  /**
   * JavaScript whose completion value is an async function without parameters; calling it runs the program. When the program has promises that
   * nobody awaits, the value is a function of one parameter that gives that async function: its argument is given each such promise, or
   * async callback, and gives it back, so that a rejection can be told.
   */
  readonly code: string;
  readonly warnings: readonly ProgramWarning[];
  /** How pieces of `code` lie on the model's text, as plain data: `locator(code, source, map)` of positions.ts makes `locate` of it again. */
  readonly map: readonly number[];
  /** A position in `code` (as an engine's stack names it) as a position in the model's text; `undefined` when it is in no text of the model's. */
  locate(line: number, column: number): Position | undefined;
}

/** Preparing failed: the text is not a program. `message` says what is wrong and what to do. */
export interface ProgramSyntaxError {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly hint?: string;
}

export type PrepareResult = { readonly ok: true; readonly program: Program } | { readonly ok: false; readonly error: ProgramSyntaxError };
