// May this call be made? Asks the application's policy, after the input was validated. Fails closed: whatever is not a clear
// yes refuses the call. Not here: checks of a tool's own, which belong inside its `execute`.
import { CodeModeError } from '../protocol/errors.ts';
import type { Invocation } from '../tools/binding.ts';
import type { CatalogEntry } from '../tools/catalog.ts';
import { describe } from '../tools/json.ts';
import type { ToolAnnotations } from '../tools/tool.ts';

/** What a policy decides about. */
export interface PolicyCall {
  /** `path` is the tool's spelling in programs (`github.list_issues`), `name` the declared one (`github.list-issues`). */
  readonly tool: { readonly name: string; readonly path: string; readonly description: string; readonly annotations?: ToolAnnotations };
  /** Validated: what `execute` will get. */
  readonly input: unknown;
  readonly run: { readonly id: string; readonly invocation: Invocation };
  readonly callId: string;
}

/**
 * - `true`, `'allow'` or `{ allow: true }`: the call is made;
 * - `{ deny: reason }`: refused, the program sees the reason; `false`: refused without one;
 * - `'ask'` or `{ ask: … }`: a person should decide, which is refused as unsupported for now.
 *
 * Anything else, `undefined` too, refuses the call: a policy that forgets to answer allows nothing.
 */
export type PolicyDecision =
  | true
  | 'allow'
  | { readonly allow: true }
  | false
  | { readonly deny: string }
  | 'ask'
  | { readonly ask: unknown };

/** Decides about every call, once its input is known to be valid. One that throws refuses the call. */
export type Policy = (call: PolicyCall) => PolicyDecision | Promise<PolicyDecision>;

/** `message` is for the program, `error` for the observer. */
export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly message: string; readonly error: unknown };

/** Asks the policy. Rejects never. */
export async function authorize(
  policy: Policy,
  { entry, ...call }: Omit<PolicyCall, 'tool'> & { readonly entry: CatalogEntry },
): Promise<Verdict> {
  const { path, name, tool } = entry;
  const { description, annotations } = tool;
  try {
    const decision: unknown = await policy({
      tool: { name, path, description, ...(annotations !== undefined && { annotations }) },
      ...call,
    });
    return toVerdict(decision, path);
  } catch (error) {
    return { allowed: false, message: `Tool \`${path}\` was refused, because the application's policy failed.`, error };
  }
}

const ALLOWED: Verdict = { allowed: true };

function toVerdict(decision: unknown, path: string): Verdict {
  if (decision === true || decision === 'allow') return ALLOWED;
  if (decision === false) return refusal(`Tool \`${path}\` was refused by the application's policy.`);
  const answer = typeof decision === 'object' && decision !== null ? decision : {};
  // In this order: an answer that says more than one thing gets the stricter one.
  if ('deny' in answer && typeof answer.deny === 'string') {
    const reason = answer.deny.trim();
    return refusal(reason === '' ? `Tool \`${path}\` was refused by the application's policy.` : `Tool \`${path}\` was refused: ${reason}`);
  }
  if ('deny' in answer) return unclear(decision, path);
  if (decision === 'ask' || 'ask' in answer) {
    return refusal(`Tool \`${path}\` was refused: a person would have to approve it, and nobody can be asked here.`);
  }
  if ('allow' in answer && answer.allow === true) return ALLOWED;
  return unclear(decision, path);
}

function refusal(message: string): Verdict {
  return { allowed: false, message, error: new CodeModeError('call_refused', message) };
}

function unclear(decision: unknown, path: string): Verdict {
  return {
    allowed: false,
    message: `Tool \`${path}\` was refused, because the application's policy gave no clear answer.`,
    error: new CodeModeError(
      'option_invalid',
      `The policy answered ${typeof decision === 'string' ? JSON.stringify(decision) : describe(decision)} for \`${path}\`; it should answer 'allow', true, { deny: reason } or 'ask'.`,
    ),
  };
}
