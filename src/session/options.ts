// The options of code mode: what they are, and that they are right. Each mistake of the application is a sentence that names the option,
// what was expected and what it is. Not here: what is done with them (code-mode.ts).
import type { Policy } from '../broker/authorize.ts';
import type { ShowError } from '../broker/deliver.ts';
import type { Hooks } from '../broker/hooks.ts';
import { type V8Engine, v8 } from '../engine/v8-install.ts';
import type { Capture, Observer, PayloadKind, Redact } from '../observe.ts';
import { CodeModeError } from '../protocol/errors.ts';
import type { LimitOverrides } from '../protocol/limits.ts';
import { nearest } from '../protocol/nearest.ts';
import { encodeValue, type WireValue } from '../protocol/values.ts';
import type { Invocation } from '../tools/binding.ts';
import type { ToolSource } from '../tools/provider.ts';
import type { WorkspaceOptions } from '../workspace/workspace.ts';
import { type ArtifactsOptions, checkArtifacts } from './artifacts.ts';
import type { EngineOption, IsolationOption, SandboxOption } from './engines.ts';

export interface CodeModeOptions {
  /** Tools, providers, and arrays of them, nested as you like; `null`, `undefined` and `false` are left out. */
  readonly tools: ToolSource;
  /** Asked before every call, once its input is valid. Absent: every tool of the catalog may be called. */
  readonly policy?: Policy | undefined;
  /** Overrides of the default limits, key by key. */
  readonly limits?: LimitOverrides | undefined;
  /** Where files of tools and programs are kept, what fetches deferred ones, and how much a run may keep. Default: in memory. */
  readonly artifacts?: ArtifactsOptions | undefined;
  /** What runs the guest: `quickjs` (default), or `v8`, which computes faster and needs isolated-vm and Node 24; `v8({ node })` says where that is. */
  readonly engine?: EngineOption | undefined;
  /**
   * Where the guest runs: in a `thread` (default for `quickjs`) or a child `process` (always for `v8`); or `inline`, which blocks the host and
   * promises no safety: for tests and measuring. Or workers of your own: see docs/extending.md.
   */
  readonly isolation?: IsolationOption | undefined;
  /**
   * What the operating system does about child processes, and with that about whoever has broken out of the engine: `os` puts them into
   * bubblewrap (Linux) or sandbox-exec (macOS), and runs nothing where that cannot be had; `auto` does where it can, and the results say which.
   * Either implies `isolation: 'process'`. Default `none`: a process with the system's limits.
   */
  readonly sandbox?: SandboxOption | undefined;
  /** Constants for programs, by global name: any values that can cross. */
  readonly globals?: Readonly<Record<string, unknown>> | undefined;
  /** Worker threads or child processes kept for guests. Default: one per core, at least 2. */
  readonly workers?: number | undefined;
  /**
   * Workers at most, while programs that compute keep the others from running. Default: four times `workers`; eight times for `v8`, whose programs
   * keep their workers while they wait too.
   */
  readonly maxWorkers?: number | undefined;
  /** Programs at a time, those that wait for tools too; more wait for their turn. Default 20 000. */
  readonly maxPrograms?: number | undefined;
  /** Hears of runs, programs and calls; several may listen. Default: silence. */
  readonly observer?: Observer | readonly Observer[] | undefined;
  /** Which payloads events carry: program text, inputs, outputs, values, printed text, error details. Default none of them. */
  readonly capture?: Capture | undefined;
  /** Most bytes of one captured payload; longer ones are cut and say so. Default 16 KiB. */
  readonly captureBytes?: number | undefined;
  /** Sees each payload before it is captured, and gives what may be kept of it. */
  readonly redact?: Redact | undefined;
  /** Asked around every call, of programs and of the conversation: may refuse it, replace its input, replace or hold back its outcome. */
  readonly hooks?: Hooks | undefined;
  /** What programs see of a tool's exceptions that are no `ToolError`. Default: only their class; `(error) => error` shows name, message and code. */
  readonly showError?: ShowError | undefined;
  /**
   * Whether programs are checked against the tools' types before they run: `error` refuses a program that gets something wrong, before any
   * tool has run; `warn` tells it beside the result. Needs the package `typescript` (5.9, 6 or 7). Default `off`.
   */
  readonly typecheck?: TypeCheckMode | undefined;
  /** Files for the tools of a run, as `context.workspace` and for `workspaceTools()`. `{}` is a temporary directory per run. Default: none. */
  readonly workspace?: WorkspaceOptions | undefined;
  /**
   * Where tools are looked for: `guest` gives programs `searchTools` and `describeTool`, `conversation` gives the model the control tools
   * `search_tools` and `describe_tool`, `both` both. Default `guest`.
   */
  readonly discovery?: DiscoveryPlace | undefined;
  /**
   * Whether the shape of real results is learned of tools that have no `outputSchema`, and shown by `describeTool`: names of members and types,
   * never values. `true` learns within one run or session; `shared` keeps it for all runs of this code mode, so that names of members that
   * one tenant's results have may be shown to another. Default `false`.
   */
  readonly learnOutputs?: boolean | 'shared' | undefined;
  /** Time zone of programs, an IANA name. Default `UTC`. */
  readonly timeZone?: string | undefined;
  /** Locale of programs, a BCP 47 tag. Default `en-US`. */
  readonly locale?: string | undefined;
}

/** What is done about types before a program runs. */
export type TypeCheckMode = 'off' | 'warn' | 'error';

/** Where tools are looked for. */
export type DiscoveryPlace = 'guest' | 'conversation' | 'both';

export interface RunOptions {
  /** Who and what the run is for; tools see it as `context.run.invocation`. */
  readonly invocation?: Invocation | undefined;
  /** Names the run; the same id again means that the same run is repeated, so idempotency keys are the same. Default: a new one. */
  readonly runId?: string | undefined;
  /** Ends the program, with status `terminated`. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides of this code mode's limits, key by key. */
  readonly limits?: LimitOverrides | undefined;
  /** Instead of this code mode's `typecheck`. */
  readonly typecheck?: TypeCheckMode | undefined;
  /** Instead of this code mode's `engine`. */
  readonly engine?: EngineOption | undefined;
}

/** What a catalog is asked for. */
export type CatalogOptions = Pick<RunOptions, 'invocation' | 'runId'>;

export interface SessionOptions extends RunOptions {
  /** Tools that stay in the conversation: programs do not have them, `session.callTool` does. Names in either spelling; an unknown one is an error. */
  readonly except?: readonly string[] | undefined;
}

const OPTIONS = [
  'tools',
  'artifacts',
  'policy',
  'limits',
  'engine',
  'isolation',
  'sandbox',
  'observer',
  'capture',
  'captureBytes',
  'redact',
  'hooks',
  'showError',
  'globals',
  'workers',
  'maxWorkers',
  'maxPrograms',
  'typecheck',
  'workspace',
  'timeZone',
  'locale',
  'discovery',
  'learnOutputs',
];
export const RUN_OPTIONS: readonly string[] = ['invocation', 'runId', 'signal', 'limits', 'typecheck', 'engine'];
export const SESSION_OPTIONS: readonly string[] = [...RUN_OPTIONS, 'except'];
export const CATALOG_OPTIONS: readonly string[] = ['invocation', 'runId'];

/** The options of `createCodeMode()`, or a `CodeModeError` (`option_invalid`) for the first that is wrong. */
export function checkOptions(options: CodeModeOptions): CodeModeOptions {
  checkKeys(options, OPTIONS, 'createCodeMode()');
  if (!Object.hasOwn(options, 'tools'))
    throw new CodeModeError('option_invalid', 'createCodeMode() needs `tools`: a tool, a provider or an array of them.');
  const { policy, engine, isolation, sandbox, observer, showError, typecheck } = options;
  checkArtifacts(options.artifacts);
  if (typecheck !== undefined) checkMode(typecheck);
  const { discovery, learnOutputs } = options;
  if (discovery !== undefined && discovery !== 'guest' && discovery !== 'conversation' && discovery !== 'both')
    throw new CodeModeError(
      'option_invalid',
      `\`discovery\` should be "guest", "conversation" or "both", but is ${JSON.stringify(discovery)}.`,
    );
  if (learnOutputs !== undefined && typeof learnOutputs !== 'boolean' && learnOutputs !== 'shared')
    throw new CodeModeError(
      'option_invalid',
      `\`learnOutputs\` should be true, false or "shared", but is ${JSON.stringify(learnOutputs)}.`,
    );
  if (policy !== undefined && typeof policy !== 'function')
    throw new CodeModeError('option_invalid', '`policy` should be a function that answers "allow" or { deny: reason }.');
  if (showError !== undefined && typeof showError !== 'function')
    throw new CodeModeError('option_invalid', '`showError` should be a function that answers a message or undefined.');
  checkEngine(engine);
  checkWorkers(options);
  if (
    isolation !== undefined &&
    isolation !== 'thread' &&
    isolation !== 'process' &&
    isolation !== 'inline' &&
    typeof isolation !== 'object'
  ) {
    throw new CodeModeError(
      'option_invalid',
      `\`isolation\` should be "thread", "process" or "inline", but is ${JSON.stringify(isolation)}.`,
    );
  }
  if (engine !== undefined && engine !== 'quickjs' && isolation !== undefined && isolation !== 'process') {
    throw new CodeModeError(
      'option_invalid',
      `The engine \`v8\` runs with \`isolation: "process"\` only, since a program may take its whole process with it; "${nameOf(isolation)}" is for quickjs.`,
    );
  }
  if (sandbox !== undefined && sandbox !== 'none' && sandbox !== 'os' && sandbox !== 'auto')
    throw new CodeModeError('option_invalid', `\`sandbox\` should be "none", "os" or "auto", but is ${JSON.stringify(sandbox)}.`);
  if (sandbox !== undefined && sandbox !== 'none' && isolation !== undefined && isolation !== 'process') {
    throw new CodeModeError(
      'option_invalid',
      `\`sandbox: "${sandbox}"\` is for child processes, and \`isolation: "${nameOf(isolation)}"\` has none; leave \`isolation\` out or make it "process".`,
    );
  }
  for (const name of ['workers', 'maxWorkers', 'maxPrograms'] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isInteger(value) && value >= 1))
      throw new CodeModeError('option_invalid', `\`${name}\` should be a whole number from 1, but is ${String(value)}.`);
  }
  for (const one of observersOf(observer)) {
    if (typeof one !== 'object' || one === null)
      throw new CodeModeError(
        'option_invalid',
        '`observer` should be an object with on(event), around(span, run) or both, or an array of such.',
      );
  }
  checkCapture(options);
  checkHooks(options.hooks);
  return options;
}

/** An engine, or nothing. */
export function checkEngine(engine: unknown): EngineOption | undefined {
  if (engine === undefined || engine === 'quickjs' || engine === 'v8') return engine;
  if (typeof engine === 'object' && engine !== null && 'engine' in engine && engine.engine === 'v8') {
    const { node, allowNode22 } = engine as V8Engine;
    return v8({ node, allowNode22 });
  }
  throw new CodeModeError('option_invalid', `\`engine\` should be "quickjs", "v8" or v8({ … }), but is ${JSON.stringify(engine)}.`);
}

/** One observer, several or none, as a list. */
export function observersOf(observer: CodeModeOptions['observer']): readonly Observer[] {
  return observer === undefined ? [] : Array.isArray(observer) ? observer : [observer as Observer];
}

function checkCapture({ capture, captureBytes, redact }: CodeModeOptions): void {
  if (capture !== undefined && typeof capture !== 'boolean') checkKeys(capture, PAYLOADS, '`capture`');
  if (captureBytes !== undefined && !(Number.isInteger(captureBytes) && captureBytes >= 0))
    throw new CodeModeError('option_invalid', `\`captureBytes\` should be a whole number of bytes, but is ${String(captureBytes)}.`);
  if (redact !== undefined && typeof redact !== 'function')
    throw new CodeModeError('option_invalid', '`redact` should be a function that gives what may be kept of a payload.');
}

const PAYLOADS: readonly PayloadKind[] = ['source', 'input', 'output', 'value', 'text', 'error'];

function checkHooks(hooks: unknown): void {
  if (hooks === undefined) return;
  if (typeof hooks !== 'object' || hooks === null)
    throw new CodeModeError('option_invalid', '`hooks` should be an object with beforeCall(call), afterCall(call, outcome) or both.');
  const names = ['beforeCall', 'afterCall'] as const;
  checkKeys(hooks, names, '`hooks`'); // a misspelt hook would refuse nothing
  for (const name of names) {
    const hook = (hooks as Hooks)[name];
    if (hook !== undefined && typeof hook !== 'function')
      throw new CodeModeError('option_invalid', `\`hooks.${name}\` should be a function.`);
  }
}

function nameOf(isolation: IsolationOption): string {
  return typeof isolation === 'object' ? isolation.name : isolation;
}

/** Workers of the application's own, if there are any. */
function checkWorkers({ isolation, engine }: CodeModeOptions): void {
  if (typeof isolation !== 'object') return;
  if (isolation === null || typeof isolation.spawn !== 'function' || typeof isolation.name !== 'string')
    throw new CodeModeError(
      'option_invalid',
      '`isolation` of your own should be an object with a name and spawn(), which gives a channel.',
    );
  if (engine !== undefined)
    throw new CodeModeError('option_invalid', `\`isolation\` of your own (${isolation.name}) brings its engine; leave \`engine\` out.`);
}

/** Refuses options that there are not, with the nearest name. */
export function checkKeys(options: unknown, known: readonly string[], where: string): void {
  if (typeof options !== 'object' || options === null) throw new CodeModeError('option_invalid', `${where} takes an object of options.`);
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const [near] = nearest(key, known);
    throw new CodeModeError(
      'option_invalid',
      `${where} has no option \`${key}\`${near === undefined ? '.' : `; did you mean \`${near}\`?`} It has ${known.join(', ')}.`,
    );
  }
}

/** An `AbortSignal`, or nothing. */
export function checkSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw new CodeModeError('option_invalid', '`signal` should be an AbortSignal.');
}

/** One of the three modes of `typecheck`. */
export function checkMode(mode: unknown): TypeCheckMode {
  if (mode === 'off' || mode === 'warn' || mode === 'error') return mode;
  throw new CodeModeError('option_invalid', `\`typecheck\` should be "off", "warn" or "error", but is ${JSON.stringify(mode)}.`);
}

/** A time zone that this machine knows. */
export function checkTimeZone(timeZone: string): string {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone });
    return timeZone;
  } catch {
    throw new CodeModeError(
      'option_invalid',
      `\`timeZone\` should be an IANA name such as "Europe/Berlin", but is ${JSON.stringify(timeZone)}.`,
    );
  }
}

/** A language tag in its canonical form. */
export function checkLocale(locale: string): string {
  try {
    const [canonical] = Intl.getCanonicalLocales(locale);
    if (canonical !== undefined) return canonical;
  } catch {
    // Falls through to the one sentence for every locale that is not one.
  }
  throw new CodeModeError('option_invalid', `\`locale\` should be a language tag such as "en-US", but is ${JSON.stringify(locale)}.`);
}

/** The constants as JSON of wire values, as a guest is given them. */
export function checkGlobals(globals: unknown): string {
  if (typeof globals !== 'object' || globals === null || Array.isArray(globals))
    throw new CodeModeError('option_invalid', '`globals` should be an object of constants by name.');
  const wires: [string, WireValue][] = [];
  for (const [name, value] of Object.entries(globals)) {
    if (!/^[A-Za-z_$][\w$]*$/.test(name))
      throw new CodeModeError('option_invalid', `\`globals\` holds ${JSON.stringify(name)}, which is no identifier.`);
    if (RESERVED.has(name))
      throw new CodeModeError('option_invalid', `\`globals.${name}\` would hide what programs rely on; use another name.`);
    try {
      wires.push([name, encodeValue(value)]);
    } catch (cause) {
      throw new CodeModeError(
        'option_invalid',
        `\`globals.${name}\` cannot cross to a guest: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
  }
  return JSON.stringify(Object.fromEntries(wires));
}

const RESERVED: ReadonlySet<string> = new Set([
  'tools',
  'codemode',
  'ALL_TOOLS',
  'text',
  'exit',
  'store',
  'load',
  'artifacts',
  'readArtifact',
  'saveArtifact',
  'createArtifact',
  'searchTools',
  'describeTool',
  'console',
  'globalThis',
  '__proto__',
]);
