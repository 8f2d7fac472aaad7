// What the page knows: runs, programs and calls, made of the events as they arrive. Pure: the same events give the same model, so that it is
// tested without a browser. Everything in it is hostile text. Not here: how it looks (the components), how events arrive (stream.ts).

/** An event as the server sends it. Looked at field by field: it comes from a file somebody may have edited, or from a later version. */
export type PageEvent = { readonly type: string } & { readonly [name: string]: unknown };

export interface Captured {
  readonly text: string;
  readonly bytes: number;
  readonly cut: boolean;
}

export interface Call {
  readonly id: string;
  /** In its program, from 1. */
  readonly number: number;
  readonly tool: string;
  readonly caller: string;
  readonly line: number | undefined;
  readonly queuedAt: number;
  /** Since when it has waited for a slot or the lock, and for which. */
  waitedAt: number | undefined;
  waitsFor: string | undefined;
  startedAt: number | undefined;
  endedAt: number | undefined;
  status: 'queued' | 'waiting' | 'running' | 'ok' | 'error' | 'refused' | 'aborted';
  input: Captured | undefined;
  output: Captured | undefined;
  detail: Captured | undefined;
  readonly notes: string[];
}

interface Output {
  readonly level: string;
  readonly text: string | undefined;
  readonly bytes: number;
  readonly at: number;
}

export interface ArtifactFacts {
  /** Its id means something in this run alone. */
  readonly runId: string;
  readonly id: string;
  readonly name: string | undefined;
  readonly mediaType: string;
  readonly bytes: number | undefined;
  readonly callId: string | undefined;
}

export interface Program {
  readonly id: string;
  readonly runId: string;
  /** Of all programs that the page knows, from 1. */
  readonly number: number;
  readonly startedAt: number;
  readonly startedTime: number;
  readonly source: Captured | undefined;
  readonly sourceBytes: number;
  status: string;
  kind: string | undefined;
  endedAt: number | undefined;
  cpuMs: number | undefined;
  peakBytes: number | undefined;
  readonly calls: Call[];
  readonly callsById: Map<string, Call>;
  readonly output: Output[];
  readonly warnings: { readonly message: string; readonly line: number | undefined }[];
  readonly artifacts: ArtifactFacts[];
  /** Stretches without a worker, the last one open while it lasts. */
  readonly parked: { readonly from: number; to: number | undefined; readonly bytes: number }[];
  readonly limits: string[];
  errorLine: number | undefined;
  value: Captured | undefined;
  detail: Captured | undefined;
}

export interface Run {
  readonly id: string;
  readonly mode: string;
  readonly actor: string | undefined;
  readonly from: string | undefined;
  readonly programs: Program[];
  ended: boolean;
}

export interface Model {
  readonly runs: Map<string, Run>;
  readonly programs: Map<string, Program>;
  /** In the order in which they were started. */
  readonly ordered: Program[];
  /** The latest monotonic time of any event: where what still runs has come to. */
  now: number;
  dropped: number;
}

export function emptyModel(): Model {
  return { runs: new Map(), programs: new Map(), ordered: [], now: 0, dropped: 0 };
}

/** Takes one event in. What does not fit is left out: a page may be opened in the middle. */
export function apply(model: Model, event: PageEvent): void {
  const at = number(event['at']) ?? model.now;
  model.now = Math.max(model.now, at);
  const runId = text(event['runId']) ?? '';
  switch (event.type) {
    case 'run-start': {
      const run = runOf(model, runId, text(event['mode']) ?? 'run');
      model.runs.set(runId, {
        ...run,
        actor: text(event['actorId']),
        from: text(event['interface']),
        mode: text(event['mode']) ?? run.mode,
      });
      return;
    }
    case 'run-end': {
      const run = model.runs.get(runId);
      if (run !== undefined) run.ended = true;
      return;
    }
    case 'execution-start':
      startProgram(model, event, runId, at);
      return;
    case 'dropped':
      model.dropped += number(event['count']) ?? 0;
      return;
    default: {
      const program = programOf(model, event, runId, at);
      if (program !== undefined) applyToProgram(program, event, at);
    }
  }
}

/** How long it has run, or ran, in milliseconds. */
export function durationOf({ now }: Model, { startedAt, endedAt }: Pick<Program, 'startedAt' | 'endedAt'>): number {
  return Math.max(0, (endedAt ?? now) - startedAt);
}

function startProgram(model: Model, event: PageEvent, runId: string, at: number): void {
  const id = text(event['executionId']);
  if (id === undefined || model.programs.has(id)) return;
  addProgram(model, {
    id,
    runId,
    at,
    time: number(event['time']) ?? 0,
    source: captured(event['source']),
    sourceBytes: number(event['sourceBytes']) ?? 0,
  });
}

interface NewProgram {
  readonly id: string;
  readonly runId: string;
  readonly at: number;
  readonly time: number;
  readonly source: Captured | undefined;
  readonly sourceBytes: number;
}

function addProgram(model: Model, { id, runId, at, time, source, sourceBytes }: NewProgram): Program {
  const program: Program = {
    id,
    runId,
    number: model.ordered.length + 1,
    startedAt: at,
    startedTime: time,
    source,
    sourceBytes,
    status: 'running',
    kind: undefined,
    endedAt: undefined,
    cpuMs: undefined,
    peakBytes: undefined,
    calls: [],
    callsById: new Map(),
    output: [],
    warnings: [],
    artifacts: [],
    parked: [],
    limits: [],
    errorLine: undefined,
    value: undefined,
    detail: undefined,
  };
  model.programs.set(id, program);
  model.ordered.push(program);
  runOf(model, runId, 'run').programs.push(program);
  return program;
}

function runOf(model: Model, id: string, mode: string): Run {
  let run = model.runs.get(id);
  if (run === undefined) {
    run = { id, mode, actor: undefined, from: undefined, programs: [], ended: false };
    model.runs.set(id, run);
  }
  return run;
}

/** Calls of the conversation belong to no program: they get one of their own, so that they are seen too. */
function programOf(model: Model, event: PageEvent, runId: string, at: number): Program | undefined {
  const id = text(event['executionId']);
  if (id === undefined) return undefined;
  const program = model.programs.get(id);
  if (program !== undefined || !id.endsWith(':conversation')) return program;
  const made = addProgram(model, { id, runId, at, time: number(event['time']) ?? 0, source: undefined, sourceBytes: 0 });
  made.status = 'conversation';
  return made;
}

function applyToProgram(program: Program, event: PageEvent, at: number): void {
  const callId = text(event['callId']);
  const call = callId === undefined ? undefined : program.callsById.get(callId);
  switch (event.type) {
    case 'call-queued': {
      if (callId === undefined || call !== undefined) return;
      const made: Call = {
        id: callId,
        number: program.calls.length + 1,
        tool: text(event['tool']) ?? '?',
        caller: text(event['caller']) ?? 'program',
        line: lineOf(event['place']),
        queuedAt: at,
        waitedAt: undefined,
        waitsFor: undefined,
        startedAt: undefined,
        endedAt: undefined,
        status: 'queued',
        input: undefined,
        output: undefined,
        detail: undefined,
        notes: [],
      };
      program.calls.push(made);
      program.callsById.set(callId, made);
      return;
    }
    case 'call-waiting':
      if (call === undefined) return;
      call.waitedAt ??= at;
      call.waitsFor = text(event['for']);
      call.status = 'waiting';
      return;
    case 'call-start':
      if (call === undefined) return;
      call.startedAt = at;
      call.status = 'running';
      call.input = captured(event['input']);
      return;
    case 'call-hook':
      call?.notes.push(`${text(event['hook']) ?? 'hook'}: ${text(event['did']) ?? ''}`);
      return;
    case 'log':
      call?.notes.push(text(event['message']) ?? '');
      return;
    case 'call-refused':
      if (call === undefined) return;
      call.detail = captured(event['detail']);
      call.input ??= captured(event['sent']);
      return;
    case 'call-end':
      if (call === undefined) return;
      call.endedAt = at;
      call.status = statusOf(event['status']);
      call.output = captured(event['output']);
      call.detail ??= captured(event['detail']);
      return;
    case 'output': {
      const shown = captured(event['text']);
      program.output.push({ level: text(event['level']) ?? 'log', text: shown?.text, bytes: number(event['bytes']) ?? 0, at });
      return;
    }
    case 'artifact':
      program.artifacts.push({
        runId: program.runId,
        id: text(event['artifactId']) ?? '',
        name: text(event['name']),
        mediaType: text(event['mediaType']) ?? '',
        bytes: number(event['bytes']),
        callId,
      });
      return;
    case 'warning':
      program.warnings.push({ message: text(event['message']) ?? '', line: lineOf(event['place']) });
      return;
    case 'limit':
      program.limits.push(`${text(event['limit']) ?? ''} (${number(event['allowed']) ?? '?'})`);
      return;
    case 'execution-parked':
      program.parked.push({ from: at, to: undefined, bytes: number(event['imageBytes']) ?? 0 });
      return;
    case 'execution-resumed':
      unpark(program, at);
      return;
    case 'execution-end':
      unpark(program, at);
      program.endedAt = at;
      program.status = text(event['status']) ?? 'ended';
      program.kind = text(event['kind']);
      program.cpuMs = number(event['cpuMs']);
      program.peakBytes = number(event['peakMemoryBytes']);
      program.errorLine = lineOf(event['place']);
      program.value = captured(event['value']);
      program.detail = captured(event['detail']);
      return;
    default:
  }
}

function unpark(program: Program, at: number): void {
  const last = program.parked.at(-1);
  if (last !== undefined) last.to ??= at;
}

function statusOf(value: unknown): Call['status'] {
  return value === 'ok' || value === 'error' || value === 'refused' || value === 'aborted' ? value : 'error';
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function lineOf(place: unknown): number | undefined {
  return typeof place === 'object' && place !== null ? number((place as { line?: unknown }).line) : undefined;
}

function captured(value: unknown): Captured | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { text: shown, bytes, cut } = value as { text?: unknown; bytes?: unknown; cut?: unknown };
  return typeof shown === 'string' ? { text: shown, bytes: number(bytes) ?? shown.length, cut: cut === true } : undefined;
}
