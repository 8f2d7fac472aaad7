// Traces and metrics as the real SDK exports them: parents, links, nesting, attributes and counts.
import { context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { otelObserver } from '../../src/adapters/otel.ts';
import { type CodeMode, type CodeModeOptions, createCodeMode, defineTool, ToolError } from '../../src/index.ts';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('test');
const opened: CodeMode[] = [];

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
beforeEach(() => exporter.reset());
afterEach(async () => {
  for (const codeMode of opened.splice(0)) await codeMode.close();
});
afterAll(() => context.disable());

const inner = defineTool({
  name: 'inner',
  description: 'Opens a span of its own.',
  inputSchema: {},
  execute: () => tracer.startActiveSpan('own work', (span) => (span.end(), 'done')),
});
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  inputSchema: {},
  execute: () => {
    throw new ToolError('secret text', { code: 'no_luck' });
  },
});
const wait = defineTool({
  name: 'wait',
  description: 'Waits.',
  inputSchema: {},
  execute: () => new Promise((resolve) => setTimeout(() => resolve('late'), 60)),
});

function open(options: Partial<CodeModeOptions> = {}): CodeMode {
  const codeMode = createCodeMode({ tools: [inner, fail, wait], isolation: 'inline', observer: otelObserver({ tracer }), ...options });
  opened.push(codeMode);
  return codeMode;
}

const inside = <T>(name: string, work: (span: Span) => Promise<T>): Promise<T> =>
  tracer.startActiveSpan(name, async (span) => {
    try {
      return await work(span);
    } finally {
      span.end();
    }
  });
const finished = (name: string): ReadableSpan => {
  const found = exporter.getFinishedSpans().filter((span) => span.name === name);
  expect(found, `spans named ${name}`).toHaveLength(1);
  return found[0] as ReadableSpan;
};
const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;
const idOf = (span: ReadableSpan): string => span.spanContext().spanId;

test('run, program, call and the tool’s own spans nest below what was active at the call of run()', async () => {
  const { status } = await inside('request', () => open().run('return await tools.inner()', { runId: 'run-1' }));
  expect(status).toBe('completed');
  const [request, run, program, call, own] = ['request', 'callgate run', 'callgate program', 'execute_tool inner', 'own work'].map(
    finished,
  ) as [ReadableSpan, ReadableSpan, ReadableSpan, ReadableSpan, ReadableSpan];
  expect([run, program, call, own].map(parentOf)).toEqual([request, run, program, call].map(idOf));
  expect(call.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'inner',
    'gen_ai.tool.call.id': expect.stringMatching(/:1$/),
    'callgate.run.id': 'run-1',
    'callgate.call.status': 'ok',
  });
  expect(program.attributes).toMatchObject({ 'callgate.program.status': 'completed', 'callgate.program.calls': 1 });
});

test('failures have the status and a word for the kind, never a text', async () => {
  await open().run('await tools.fail({ note: "secret text" })');
  const [call, program] = [finished('execute_tool fail'), finished('callgate program')];
  expect(call.status.code).toBe(SpanStatusCode.ERROR);
  expect(call.attributes['error.type']).toBe('no_luck');
  expect(program.attributes['error.type']).toBe('program');
  const everything = JSON.stringify(
    exporter.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  );
  expect(everything).not.toContain('secret');
});

test('a program goes on below the exec that started it, and a wait that looks at it later is linked to it', async () => {
  const session = await open().openSession();
  await inside('first turn', () => session.exec('await tools.wait(); return await tools.inner()', { observeMs: 1 }));
  await inside('second turn', () => session.wait());
  await session.close();
  const [program, call, wait] = [finished('callgate program'), finished('execute_tool inner'), finished('callgate wait')];
  expect(parentOf(program)).toBe(idOf(finished('callgate exec')));
  expect(parentOf(finished('callgate exec'))).toBe(idOf(finished('first turn')));
  expect(parentOf(call)).toBe(idOf(program));
  expect(parentOf(wait)).toBe(idOf(finished('second turn')));
  expect(wait.links.map(({ context: { spanId } }) => spanId)).toEqual([idOf(program)]);
});

test('programs, calls, queues, computing and parking are measured', async () => {
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 })],
  });
  const codeMode = open({ isolation: 'thread', workers: 1, observer: otelObserver({ tracer, meter: meterProvider.getMeter('test') }) });
  await Promise.all([
    codeMode.run('await tools.wait(); return 1'),
    codeMode.run('await tools.wait(); return 1'),
    codeMode.run('await tools.fail()'),
  ]);
  await meterProvider.forceFlush();
  const points = Object.fromEntries(
    metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: all }) => all))
      .map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints as { attributes: object; value: unknown }[]]),
  );
  expect(points['callgate.programs']).toMatchObject([
    { attributes: { 'callgate.program.status': 'error', 'error.type': 'program' }, value: 1 },
    { attributes: { 'callgate.program.status': 'completed' }, value: 2 },
  ]);
  const calls = Object.fromEntries(
    (points['callgate.calls'] ?? []).map(({ attributes, value }) => [Object.values(attributes).join(' '), value]),
  );
  expect(calls).toEqual({ 'wait ok': 2, 'fail error': 1 });
  expect(points['callgate.call.queue.duration']?.length).toBe(2);
  expect(points['callgate.program.cpu']).toMatchObject([{ value: { count: 3 } }]);
  // All that were parked are back, or over.
  expect(points['callgate.programs.parked']).toMatchObject([{ value: 0 }]);
  const image = points['callgate.program.image.size']?.[0]?.value as { min: number } | undefined;
  expect(image?.min).toBeGreaterThan(100);
  await meterProvider.shutdown();
});

test('without a provider nothing happens', async () => {
  const codeMode = open({ observer: otelObserver() });
  expect((await codeMode.run('return await tools.inner()')).value).toBe('done');
  expect(trace.getActiveSpan()).toBeUndefined();
});
