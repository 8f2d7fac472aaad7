// OpenTelemetry: spans for runs, controls, programs and tool calls after the GenAI semantic conventions, and metrics beside them. Payloads
// never become attributes. Not here: setting up exporters, which is the application's.
//
// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
import {
  type Attributes,
  context,
  type Link,
  type Meter,
  metrics,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { CodeModeEvent, Observer, Span } from '../index.ts';

export interface OtelOptions {
  /** Default: the global provider's tracer `callgate`. */
  readonly tracer?: Tracer | undefined;
  /** Default: the global provider's meter `callgate`. */
  readonly meter?: Meter | undefined;
}

/**
 * An observer that traces and measures: `createCodeMode({ tools, observer: otelObserver() })`. A program's span hangs below the span that was
 * active when it was started, and a tool's own spans hang below its call; a `wait` that looks at a program later is linked to it.
 */
export function otelObserver({ tracer = trace.getTracer('callgate'), meter = metrics.getMeter('callgate') }: OtelOptions = {}): Observer {
  const spans = new Spans(tracer);
  const measures = new Measures(meter);
  return {
    around: (span, run) => spans.around(span, run),
    on: (event) => {
      spans.hear(event);
      measures.hear(event);
    },
  };
}

/** Programs whose span a later look may still be linked to. */
const MOST_REMEMBERED = 1_000;

class Spans {
  readonly #tracer: Tracer;
  /** Spans that are open, by the id of their call, execution or run. */
  readonly #open = new Map<string, OtelSpan>();
  /** Of programs, after their end too. */
  readonly #programs = new Map<string, SpanContext>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  async around<T>(span: Span, run: () => Promise<T>): Promise<T> {
    const key = span.callId ?? (span.name === 'execution' ? span.executionId : undefined);
    const opened = this.#tracer.startSpan(nameOf(span), {
      kind: SpanKind.INTERNAL,
      attributes: attributesOf(span),
      links: this.#links(span),
    });
    if (key !== undefined) this.#open.set(key, opened);
    if (span.name === 'execution' && span.executionId !== undefined) this.#remember(span.executionId, opened.spanContext());
    try {
      return await context.with(trace.setSpan(context.active(), opened), run);
    } catch (error) {
      opened.setStatus({ code: SpanStatusCode.ERROR });
      opened.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
      throw error;
    } finally {
      if (key !== undefined) this.#open.delete(key);
      opened.end();
    }
  }

  hear(event: CodeModeEvent): void {
    switch (event.type) {
      case 'call-waiting':
        this.#open.get(event.callId)?.addEvent('waiting', { 'callgate.waiting.for': event.for });
        return;
      case 'call-start':
        this.#open.get(event.callId)?.addEvent('start');
        return;
      case 'call-hook':
        this.#open.get(event.callId)?.addEvent('hook', { 'callgate.hook': event.hook, 'callgate.hook.did': event.did });
        return;
      case 'call-end': {
        const span = this.#open.get(event.callId);
        span?.setAttribute('callgate.call.status', event.status);
        if (event.status !== 'ok') fail(span, codeOf(event.error));
        return;
      }
      case 'execution-parked':
        this.#open.get(event.executionId)?.addEvent('parked', { 'callgate.image.bytes': event.imageBytes });
        return;
      case 'execution-resumed':
        this.#open.get(event.executionId)?.addEvent('resumed');
        return;
      case 'warning':
        this.#open.get(event.executionId)?.addEvent('warning');
        return;
      case 'artifact': {
        const { mediaType, bytes } = event;
        this.#open.get(event.callId ?? event.executionId)?.addEvent('artifact', {
          'callgate.artifact.media_type': mediaType,
          ...(bytes === undefined ? {} : { 'callgate.artifact.bytes': bytes }),
        });
        return;
      }
      case 'execution-end': {
        const span = this.#open.get(event.executionId);
        span?.setAttributes({
          'callgate.program.status': event.status,
          'callgate.program.calls': event.calls,
          'callgate.program.cpu_ms': event.cpuMs,
          'callgate.program.peak_memory_bytes': event.peakMemoryBytes,
        });
        if (event.status !== 'completed') fail(span, event.kind ?? event.status);
        return;
      }
      default:
    }
  }

  #links({ name, executionId }: Span): Link[] {
    const observed = name === 'control' && executionId !== undefined ? this.#programs.get(executionId) : undefined;
    return observed === undefined ? [] : [{ context: observed }];
  }

  #remember(executionId: string, program: SpanContext): void {
    this.#programs.set(executionId, program);
    for (const oldest of this.#programs.keys()) {
      if (this.#programs.size <= MOST_REMEMBERED) return;
      this.#programs.delete(oldest);
    }
  }
}

function nameOf({ name, tool, control }: Span): string {
  switch (name) {
    case 'call':
      return `execute_tool ${tool}`;
    case 'execution':
      return 'callgate program';
    case 'control':
      return `callgate ${control}`;
    case 'run':
      return 'callgate run';
    default:
      return name satisfies never;
  }
}

function attributesOf({ name, runId, executionId, callId, tool }: Span): Attributes {
  return {
    'callgate.run.id': runId,
    ...(executionId === undefined ? {} : { 'callgate.program.id': executionId }),
    ...(name === 'call' && tool !== undefined && callId !== undefined
      ? { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool, 'gen_ai.tool.call.id': callId, 'gen_ai.tool.type': 'function' }
      : {}),
  };
}

function fail(span: OtelSpan | undefined, type: string): void {
  span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.setAttribute('error.type', type);
}

/** A word about the error, never its text: that may hold what the program worked on. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '_OTHER';
  const { code, name } = error as { code?: unknown; name?: unknown };
  const word = typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) ? code : name;
  return typeof word === 'string' && /^[\w.-]{1,64}$/.test(word) ? word : '_OTHER';
}

class Measures {
  readonly #programs;
  readonly #calls;
  readonly #callSeconds;
  readonly #queueSeconds;
  readonly #cpuSeconds;
  readonly #parked;
  readonly #imageBytes;
  readonly #queued = new Map<string, number>();
  /** Executions whose guest is an image now. */
  readonly #away = new Set<string>();

  constructor(meter: Meter) {
    this.#programs = meter.createCounter('callgate.programs', { description: 'Programs by how they ended.', unit: '{program}' });
    this.#calls = meter.createCounter('callgate.calls', { description: 'Tool calls by tool and outcome.', unit: '{call}' });
    this.#callSeconds = meter.createHistogram('callgate.call.duration', { description: 'From a call until its answer.', unit: 's' });
    this.#queueSeconds = meter.createHistogram('callgate.call.queue.duration', {
      description: 'From a call until its tool starts.',
      unit: 's',
    });
    this.#cpuSeconds = meter.createHistogram('callgate.program.cpu', {
      description: 'Time that a program computed in its guest.',
      unit: 's',
    });
    this.#parked = meter.createUpDownCounter('callgate.programs.parked', {
      description: 'Programs that wait without a worker.',
      unit: '{program}',
    });
    this.#imageBytes = meter.createHistogram('callgate.program.image.size', { description: 'Memory of a parked program.', unit: 'By' });
  }

  hear(event: CodeModeEvent): void {
    switch (event.type) {
      case 'call-queued':
        this.#queued.set(event.callId, event.at);
        return;
      case 'call-start':
        this.#queueSeconds.record((event.at - (this.#queued.get(event.callId) ?? event.at)) / 1000, { 'gen_ai.tool.name': event.tool });
        return;
      case 'call-end': {
        this.#queued.delete(event.callId);
        const attributes = { 'gen_ai.tool.name': event.tool, 'callgate.call.status': event.status };
        this.#calls.add(1, attributes);
        this.#callSeconds.record(event.durationMs / 1000, attributes);
        return;
      }
      case 'execution-parked':
        this.#away.add(event.executionId);
        this.#parked.add(1);
        this.#imageBytes.record(event.imageBytes);
        return;
      case 'execution-resumed':
        this.#back(event.executionId);
        return;
      case 'execution-end':
        this.#back(event.executionId);
        this.#programs.add(1, {
          'callgate.program.status': event.status,
          ...(event.kind === undefined ? {} : { 'error.type': event.kind }),
        });
        this.#cpuSeconds.record(event.cpuMs / 1000);
        return;
      default:
    }
  }

  #back(executionId: string): void {
    if (this.#away.delete(executionId)) this.#parked.add(-1);
  }
}
