// What does being watched cost? A thousand calls in a row, inline, with no observer and with each of ours, in turns. Computing time of the main
// thread is counted, what an observer puts off until later included.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { otelObserver } from '../src/adapters/otel.ts';
import { traceFile } from '../src/adapters/trace.ts';
import { type CodeMode, createCodeMode, defineTool, type Observer } from '../src/index.ts';
import { aim, computingClock, type Figure, machine, measure, print, type Subject } from './measure.ts';

console.log(machine());

const CALLS = 1_000;
const source = `for (let i = 0; i < ${CALLS}; i++) await tools.echo({ value: i });`;
const tools = defineTool({
  name: 'echo',
  description: 'Gives its input back.',
  inputSchema: { type: 'object', properties: { value: { type: 'number' } } },
  execute: (input: unknown): unknown => input,
});
const open = (observer: Observer | undefined, capture = false): CodeMode =>
  createCodeMode({ tools, isolation: 'inline', limits: { calls: CALLS }, capture, ...(observer !== undefined && { observer }) });

/** One row; `settled` resolves when everything that it heard is where it belongs. */
interface Watcher extends Subject {
  readonly codeMode: CodeMode;
  close(): Promise<void>;
}

function watcher(
  name: string,
  codeMode: CodeMode,
  settled: () => Promise<unknown> = turn,
  close: () => unknown = () => undefined,
): Watcher {
  return {
    name,
    codeMode,
    units: CALLS,
    async run() {
      const { status } = await codeMode.run(source);
      if (status !== 'completed') throw new Error(`A program of "${name}" ended as ${status}.`);
      await settled();
    },
    async close() {
      await codeMode.close();
      await close();
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'callgate-observe-'));

function counting(): Watcher {
  let events = 0;
  let told = 0;
  // Its events may come in later turns of the event loop: until none is missing, the row is not done.
  const whole = async (): Promise<void> => {
    told += 3 * CALLS + 4;
    while (events < told) await turn();
  };
  return watcher('an observer that counts', open({ on: () => void events++ }), whole);
}

function tracing(name: string, capture: boolean): Watcher {
  const file = traceFile(join(folder, `${capture}.jsonl`));
  let events = 0;
  let told = 0;
  const observer: Observer = {
    on(event) {
      events++;
      file.on(event);
    },
  };
  const written = async (): Promise<void> => {
    told += 3 * CALLS + 4;
    while (events < told) await turn();
    // It writes at the end of a turn.
    await turn();
  };
  return watcher(name, open(observer, capture), written, () => file.close());
}

function openTelemetry(): Watcher {
  // As an application has it, whether we are observed or not: both rows pay for it.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const spans = new InMemorySpanExporter();
  const processor = new BatchSpanProcessor(spans, { maxQueueSize: 4 * CALLS });
  const provider = new BasicTracerProvider({ spanProcessors: [processor] });
  const reader = new PeriodicExportingMetricReader({ exporter: new InMemoryMetricExporter(AggregationTemporality.DELTA) });
  const meters = new MeterProvider({ readers: [reader] });
  const observer = otelObserver({ tracer: provider.getTracer('bench'), meter: meters.getMeter('bench') });
  const exported = async (): Promise<void> => {
    await turn();
    await processor.forceFlush();
    const { length } = spans.getFinishedSpans();
    if (length !== CALLS + 2) throw new Error(`${length} spans were exported, not ${CALLS + 2}.`);
    spans.reset();
  };
  return watcher('OpenTelemetry, spans in batches and metrics', open(observer), exported, async () => {
    await provider.shutdown();
    await meters.shutdown();
  });
}

/** A page that somebody has open, read in another thread. */
async function page(): Promise<Watcher | undefined> {
  const file = resolve('dist/adapters/watch.js');
  if (!existsSync(file)) return undefined;
  const { serveWatch } = (await import(pathToFileURL(file).href)) as {
    serveWatch(codeMode: CodeMode): Promise<{ url: string; close(): Promise<void> }>;
  };
  const codeMode = open(undefined);
  const watching = await serveWatch(codeMode);
  const browser = new Worker(READER, { eval: true, workerData: `${watching.url}events` });
  let ends = 0;
  let runs = 0;
  let seen: () => void = () => undefined;
  browser.on('message', (count: number) => {
    ends += count;
    seen();
  });
  const shown = async (): Promise<void> => {
    runs++;
    while (ends < runs)
      await new Promise<void>((resolve) => {
        seen = resolve;
      });
  };
  return watcher('a page that is open', codeMode, shown, async () => {
    await browser.terminate();
    await watching.close();
  });
}

/** Reads the stream of events, and says how many programs have ended in each piece of it. */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
require('node:http').get(workerData, (response) => {
  let rest = '';
  response.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('"type":"run-end"');
    rest = parts.at(-1).slice(-20);
    if (parts.length > 1) parentPort.postMessage(parts.length - 1);
  });
});`;

const NONE = 'no observer';
const watched = await page();
const watchers = [
  watcher(NONE, open(undefined)),
  counting(),
  tracing('a trace file', false),
  tracing('a trace file with payloads', true),
  openTelemetry(),
  ...(watched === undefined ? [] : [watched]),
];
// Warm, and what it costs to be the first of several is paid.
for (let i = 0; i < 10; i++) for (const each of watchers) await each.run();
const figures = await measure(watchers, { rounds: 25, perRound: 2, clock: computingClock() });
print('A call, computing time of the main thread', figures, NONE);
const figureOf = (name: string): Figure | undefined => figures.find((figure) => figure.name === name);
const AIMS = [
  ['an observer that counts', 2],
  ['a trace file', 10],
  ['OpenTelemetry, spans in batches and metrics', 20],
  ['a page that is open', 10],
] as const;
console.log('');
for (const [name, most] of AIMS) {
  const [none, one] = [figureOf(NONE), figureOf(name)];
  if (none === undefined || one === undefined) console.log(`not measured: ${name}`);
  else aim(`${name}, more than none, in µs`, (one.medianMs - none.medianMs) * 1000, most);
}
for (const each of watchers) await each.close();
rmSync(folder, { recursive: true });
