// Runs a program of a trace again, with the results that its calls had then in place of the tools, and says at the first difference.
// Nothing is called for real. Not here: reading the trace (trace.ts).
import { createCodeMode, defineTool, type RunResult, type Tool, ToolError, type ToolSource } from '../index.ts';
import type { Trace, TraceEvent } from './trace.ts';

/** How a replay went. `difference`: the first call that the program did not make as it had, or an end that is another one. */
export type Replay =
  | { readonly type: 'same'; readonly executionId: string; readonly calls: number; readonly result: RunResult }
  | { readonly type: 'different'; readonly executionId: string; readonly difference: string; readonly result: RunResult }
  /** The trace does not hold what is needed. */
  | { readonly type: 'impossible'; readonly executionId: string; readonly reason: string };

/** The programs of a trace, by id, in the order they were started. */
export function programsOf({ events }: Trace): readonly string[] {
  return events.flatMap((event) => (event.type === 'execution-start' ? [event.executionId] : []));
}

/** Replays one program. Time and chance are not recorded: a program that asks for them may differ, and so may one that loads from its session's store. */
export async function replay(trace: Trace, executionId: string): Promise<Replay> {
  const events = trace.events.filter((event) => 'executionId' in event && event.executionId === executionId);
  const start = events.find((event) => event.type === 'execution-start');
  const impossible = (reason: string): Replay => ({ type: 'impossible', executionId, reason });
  if (start?.source === undefined) return impossible('its text was not captured');
  if (start.source.cut) return impossible('its text was cut; capture more with a higher `captureBytes`');
  const recorded = recordedCalls(events);
  const lost = recorded.find(({ problem }) => problem !== undefined);
  if (lost !== undefined) return impossible(`call ${lost.number}, of \`${lost.tool}\`, ${lost.problem}`);
  const names = toolNames(trace, start.runId, recorded);
  const script = new Script(recorded);
  const codeMode = createCodeMode({ tools: sourceOf(names, script) });
  try {
    const result = await codeMode.run(start.source.text, { runId: start.runId, signal: script.signal });
    const difference = script.difference ?? endDifference(events, result, script);
    return difference === undefined
      ? { type: 'same', executionId, calls: recorded.length, result }
      : { type: 'different', executionId, difference, result };
  } finally {
    await codeMode.close();
  }
}

interface RecordedCall {
  readonly number: number;
  readonly tool: string;
  readonly sent: string;
  readonly outcome: { readonly value: unknown } | { readonly failure: { name?: unknown; code?: unknown; message?: unknown } };
  /** Its place among the ends of all calls. */
  readonly endedAs: number;
  readonly place: string;
  /** Why it cannot be replayed. */
  readonly problem: string | undefined;
}

function recordedCalls(events: readonly TraceEvent[]): readonly RecordedCall[] {
  const made: {
    id: string;
    tool: string;
    place: string;
    sent?: string;
    problem?: string;
    outcome?: RecordedCall['outcome'];
    endedAs?: number;
  }[] = [];
  const byId = new Map<string, (typeof made)[number]>();
  let ended = 0;
  for (const event of events) {
    if (!('callId' in event) || event.callId === undefined) continue;
    if (event.type === 'call-queued') {
      const call = { id: event.callId, tool: event.tool, place: event.place === undefined ? '' : ` at line ${event.place.line}` };
      made.push(call);
      byId.set(event.callId, call);
      continue;
    }
    const call = byId.get(event.callId);
    if (call === undefined) continue;
    if (event.type === 'call-start' || event.type === 'call-refused') {
      const sent = event.sent ?? (event.type === 'call-start' ? event.input : undefined);
      if (sent?.cut) call.problem ??= 'has an input that was cut';
      if (sent !== undefined) call.sent = sent.text;
    }
    if (event.type === 'call-end') {
      call.endedAs = ended++;
      const captured = event.status === 'ok' ? event.output : event.detail;
      if (captured === undefined && event.status === 'ok') call.outcome = { value: undefined };
      else if (captured?.cut) call.problem ??= 'has an outcome that was cut';
      else {
        const value = captured === undefined ? undefined : parse(captured.text);
        call.outcome = event.status === 'ok' ? { value } : { failure: (value ?? {}) as { message?: unknown } };
      }
    }
  }
  return made.map(({ tool, place, sent, problem, outcome, endedAs }, index) => ({
    number: index + 1,
    tool,
    place,
    sent: sent ?? '',
    // One that had not ended was aborted with its program: it never answers.
    outcome: outcome ?? { failure: { code: 'aborted', message: 'The recorded program ended first.' } },
    endedAs: endedAs ?? Number.POSITIVE_INFINITY,
    problem:
      problem ??
      (sent === undefined && endedAs !== undefined && outcome !== undefined && 'value' in outcome ? 'has no captured input' : undefined),
  }));
}

/** Plays the recorded outcomes, in the order in which they came then. */
class Script {
  readonly #calls: readonly RecordedCall[];
  readonly #stop = new AbortController();
  readonly #waiting = new Map<number, () => void>();
  #made = 0;
  #ended = 0;
  difference: string | undefined;

  constructor(calls: readonly RecordedCall[]) {
    this.#calls = calls;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get made(): number {
    return this.#made;
  }

  async answer(tool: string, input: unknown): Promise<unknown> {
    const call = this.#calls[this.#made++];
    const sent = JSON.stringify(input);
    if (call === undefined)
      return this.#differ(`Call ${this.#made} is \`${tool}(${short(sent)})\`, and the recorded program made no more.`);
    if (call.tool !== tool || (call.sent !== '' && call.sent !== sent)) {
      return this.#differ(
        `Call ${call.number} is \`${tool}(${short(sent)})\`; recorded was \`${call.tool}(${short(call.sent)})\`${call.place}.`,
      );
    }
    if (call.endedAs > this.#ended) await new Promise<void>((resolve) => this.#waiting.set(call.endedAs, resolve));
    this.#ended++;
    // The one after it may answer once the program has seen this one.
    setTimeout(() => this.#waiting.get(this.#ended)?.(), 0);
    if ('value' in call.outcome) return call.outcome.value;
    const { code, message } = call.outcome.failure;
    throw new ToolError(typeof message === 'string' ? message : 'It failed.', typeof code === 'string' ? { code } : {});
  }

  #differ(difference: string): Promise<never> {
    this.difference ??= difference;
    this.#stop.abort(new Error(difference));
    return new Promise(() => undefined);
  }
}

function endDifference(events: readonly TraceEvent[], result: RunResult, { made }: Script): string | undefined {
  const end = events.find((event) => event.type === 'execution-end');
  if (end === undefined) return undefined;
  if (end.status !== result.status || (end.kind ?? undefined) !== result.error?.kind)
    return `It ended as ${shown(result.status, result.error?.kind)}; recorded was ${shown(end.status, end.kind)}.`;
  if (end.calls !== made) return `It made ${made} calls; recorded were ${end.calls}.`;
  const { value } = end;
  if (value !== undefined && value.cut !== true && result.status === 'completed') {
    const now = JSON.stringify(result.value);
    if (now !== value.text && JSON.stringify(parse(value.text)) !== now)
      return `Its value is ${short(now ?? 'nothing')}; recorded was ${short(value.text)}.`;
  }
  return undefined;
}

function shown(status: string, kind: string | undefined): string {
  return kind === undefined ? status : `${status} (${kind})`;
}

function toolNames({ events }: Trace, runId: string, calls: readonly RecordedCall[]): readonly string[] {
  const run = events.find((event) => event.type === 'run-start' && event.runId === runId);
  const listed = run?.type === 'run-start' && run.tools !== undefined && run.tools.cut !== true ? parse(run.tools.text) : undefined;
  const names = Array.isArray(listed) ? listed.filter((name): name is string => typeof name === 'string') : [];
  return [...new Set([...names, ...calls.map(({ tool }) => tool)])].filter((name) => /^[\w$]{1,64}(\.[\w$]{1,64})*$/.test(name));
}

/** The tools by their paths, namespaces as providers. */
function sourceOf(names: readonly string[], script: Script): ToolSource {
  const byNamespace = new Map<string, string[]>();
  for (const name of names) {
    const namespace = name.slice(0, Math.max(0, name.lastIndexOf('.')));
    byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), name]);
  }
  return [...byNamespace].map(([namespace, paths]): ToolSource => {
    const tools = paths.map((path) => recordedTool(path, script));
    return namespace
      .split('.')
      .reduceRight<ToolSource>((inner, part) => (part === '' ? inner : { namespace: part, tools: () => inner }), tools);
  });
}

function recordedTool(path: string, script: Script): Tool {
  return defineTool({
    name: path.slice(path.lastIndexOf('.') + 1),
    description: 'Answers as it was recorded.',
    inputSchema: {},
    execute: (input) => script.answer(path, input),
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function short(text: string | undefined): string {
  return text === undefined ? '' : text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
