// A conversation as the API takes it: every tool use answered in the next message and nothing else before it, no empty text, roles in
// turns. Not here: when a message joins it (ask.ts).
import type {
  BetaContentBlock,
  BetaContentBlockParam,
  BetaMessage,
  BetaMessageParam,
  BetaToolResultBlockParam,
  BetaToolUseBlock,
} from '@anthropic-ai/sdk/resources/beta';
import { errorText } from './content.ts';

/** The calls of a message that somebody here must answer. */
export function toolUses(content: readonly BetaContentBlock[]): BetaToolUseBlock[] {
  return content.filter((block) => block.type === 'tool_use');
}

/** Whether the model itself made the call, not a program in Anthropic's container. */
export function isDirect({ caller }: BetaToolUseBlock): boolean {
  return caller === undefined || caller.type === 'direct';
}

/** An answer for a call that was not carried out. */
export function unanswered(use: Pick<BetaToolUseBlock, 'id' | 'toolset_name'>, why: string): BetaToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: use.id,
    content: why,
    is_error: true,
    ...(use.toolset_name != null && { toolset_name: use.toolset_name }),
  };
}

/** The text of a reply; pieces that citations have parted are one text. */
export function textIn(content: readonly BetaContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

/** Adds a reply and the answers to its calls. A reply without anything that can be sent again is left out. */
export function record(history: BetaMessageParam[], reply: BetaMessage, results: readonly BetaToolResultBlockParam[] = []): void {
  const content = reply.content.filter((block) => block.type !== 'text' || block.text.trim() !== '') as BetaContentBlockParam[];
  if (content.length > 0) history.push({ role: 'assistant', content });
  if (results.length > 0) history.push({ role: 'user', content: [...results] });
}

/**
 * A copy of a conversation to continue: calls that nobody answered (the application ended in the middle of one) are answered as not carried
 * out, and a prompt joins the last message when that is the user's own.
 */
export function continued(messages: readonly BetaMessageParam[], prompt: string | undefined): BetaMessageParam[] {
  const history = [...messages];
  const last = history.at(-1);
  if (last?.role === 'assistant' && typeof last.content !== 'string') {
    const open = last.content.filter((block) => block.type === 'tool_use');
    if (open.length > 0)
      history.push({ role: 'user', content: open.map((use) => unanswered(use, 'Not carried out: the conversation was interrupted.')) });
  }
  if (prompt !== undefined) say(history, prompt);
  return history;
}

/** Adds a text of the user. */
function say(history: BetaMessageParam[], text: string): void {
  const last = history.at(-1);
  if (last?.role !== 'user') {
    history.push({ role: 'user', content: text });
    return;
  }
  const before: BetaContentBlockParam[] = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
  history[history.length - 1] = { role: 'user', content: [...before, { type: 'text', text }] };
}

/** Most characters of what is told of one call of a lost program. */
const TOLD = 2_000;

/**
 * Takes a program of a container that is gone out of the conversation: its reply cannot be continued. What it had called, with the
 * results, is told instead, so that nothing is done twice.
 */
export function withoutLostProgram(history: BetaMessageParam[]): void {
  const [reply, answers] = history.slice(-2);
  const calls = blocksOf(reply, 'assistant').filter((block) => block.type === 'tool_use');
  const caller = calls.find((use) => use.caller !== undefined && use.caller.type !== 'direct')?.caller;
  if (answers?.role !== 'user' || caller === undefined || caller.type === 'direct') return;
  const runs = (message: BetaMessageParam): boolean =>
    blocksOf(message, 'assistant').some((block) => block.type === 'server_tool_use' && block.id === caller.tool_id);
  const start = history.findLastIndex(runs);
  const lost = history.splice(start === -1 ? history.length - 2 : start);
  const spoken = blocksOf(lost[0], 'assistant').filter((block) => block.type === 'text');
  if (spoken.length > 0) history.push({ role: 'assistant', content: spoken });
  const results = new Map(
    lost
      .flatMap((message) => blocksOf(message, 'user'))
      .flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [])),
  );
  const told = lost
    .flatMap((message) => blocksOf(message, 'assistant'))
    .flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    .map((use) => {
      const result = results.get(use.id);
      const outcome = `${result?.is_error === true ? 'failed: ' : ''}${errorText(result?.content)}`;
      return `- ${use.name}(${JSON.stringify(use.input).slice(0, TOLD)}) → ${outcome.slice(0, TOLD)}`;
    });
  say(
    history,
    `The code execution container expired before its program had ended. The program had made these calls:\n${told.join('\n')}\nGo on from there; do not repeat what has changed something.`,
  );
}

function blocksOf(message: BetaMessageParam | undefined, role: BetaMessageParam['role']): readonly BetaContentBlockParam[] {
  return message === undefined || message.role !== role || typeof message.content === 'string' ? [] : (message.content ?? []);
}
