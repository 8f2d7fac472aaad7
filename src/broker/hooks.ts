// The application's own hand in every call: before the tool runs, once the input is valid, and after it. Fails closed: a hook that throws,
// takes too long or answers unclearly refuses the call, or fails its outcome. Not here: when they are asked (broker.ts).
import { CodeModeError } from '../protocol/errors.ts';
import type { Invocation } from '../tools/binding.ts';
import type { CatalogEntry } from '../tools/catalog.ts';
import { describe } from '../tools/json.ts';
import type { ToolAnnotations } from '../tools/tool.ts';

/** What a hook is told of a call. */
export interface HookCall {
  /** `path` is the tool's spelling in programs (`github.list_issues`), `name` the declared one (`github.list-issues`). */
  readonly tool: { readonly name: string; readonly path: string; readonly description: string; readonly annotations?: ToolAnnotations };
  /** Validated: what `execute` gets, or got. */
  readonly input: unknown;
  readonly run: { readonly id: string; readonly invocation: Invocation };
  readonly callId: string;
  /** Aborted when the call's time is up or its program has ended. */
  readonly signal: AbortSignal;
}

/** `undefined`, `true` or `'allow'`: go on. `{ deny }`: refused, the program reads the reason. `{ input }`: goes on with another input, validated again. */
export type BeforeCallAnswer = undefined | true | 'allow' | { readonly deny: string } | { readonly input: unknown };

/** How a call came out: the value as the program would get it, or the error as the program would see it. */
export type HookOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: { readonly name: string; readonly code: string; readonly message: string } };

/** `undefined`: as it is. `{ value }`: the program gets this, checked against the output schema. `{ error }`: the call fails with this message. */
export type AfterCallAnswer = undefined | { readonly value: unknown } | { readonly error: string };

export interface Hooks {
  /** Asked once the input is valid, before the policy; in the call's own time (`timeoutMs`), with 30 s where the tool has none. */
  beforeCall?(call: HookCall): BeforeCallAnswer | Promise<BeforeCallAnswer>;
  /** Asked when the tool has answered or failed, in what is left of that time. Artifacts are not touched by it. */
  afterCall?(call: HookCall, outcome: HookOutcome): AfterCallAnswer | Promise<AfterCallAnswer>;
}

/** Time for the hooks of a call whose tool has no `timeoutMs`. */
export const HOOK_MS = 30_000;

type Asked<Answer> = { readonly answer: Answer } | { readonly failed: unknown };

/** Asks a hook, within its time and the execution's. Rejects never. */
export async function ask<Answer>(
  work: (signal: AbortSignal) => Answer | Promise<Answer>,
  signal: AbortSignal,
  withinMs: number,
): Promise<Asked<Answer>> {
  const time = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          const error = new CodeModeError('tool_timeout', `A hook did not answer within ${Math.round(withinMs)} ms.`);
          time.abort(error);
          reject(error);
        },
        Math.min(Math.max(withinMs, 0), LONGEST_TIMER_MS),
      );
      timer.unref();
    });
    late.catch(() => undefined);
    return { answer: await Promise.race([work(AbortSignal.any([signal, time.signal])), late]) };
  } catch (failed) {
    return { failed };
  } finally {
    clearTimeout(timer);
  }
}

/** The facts of a call that every hook is told. */
export function hookFacts({ path, name, tool }: CatalogEntry): HookCall['tool'] {
  const { description, annotations } = tool;
  return { name, path, description, ...(annotations !== undefined && { annotations }) };
}

/** What `beforeCall` decided. */
export function readBefore(answer: unknown): { readonly deny: string } | { readonly input: unknown } | undefined {
  if (answer === undefined || answer === true || answer === 'allow') return undefined;
  if (typeof answer === 'object' && answer !== null) {
    // The stricter one of an answer that says both.
    if ('deny' in answer && typeof answer.deny === 'string') return { deny: answer.deny };
    if ('input' in answer && !('deny' in answer)) return { input: answer.input };
  }
  throw new CodeModeError(
    'option_invalid',
    `\`beforeCall\` answered ${describe(answer)}; it should answer nothing, 'allow', { deny: reason } or { input }.`,
  );
}

/** What `afterCall` decided. */
export function readAfter(answer: unknown): { readonly value: unknown } | { readonly error: string } | undefined {
  if (answer === undefined) return undefined;
  if (typeof answer === 'object' && answer !== null) {
    if ('error' in answer && typeof answer.error === 'string') return { error: answer.error };
    if ('value' in answer && !('error' in answer)) return { value: answer.value };
  }
  throw new CodeModeError(
    'option_invalid',
    `\`afterCall\` answered ${describe(answer)}; it should answer nothing, { value } or { error: message }.`,
  );
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
