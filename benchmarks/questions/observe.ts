// What does being watched cost? A thousand calls in a row, inline, with no observer and with each of ours. Computing time of the main thread is
// counted, what an observer puts off until later included: until everything is written, exported or read by the page.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { otelObserver } from '../../src/adapters/otel.ts';
import { traceFile } from '../../src/adapters/trace.ts';
import { serveWatch } from '../../src/adapters/watch.ts';
import { type CodeMode, createCodeMode, defineTool, type Observer } from '../../src/index.ts';
import { computingClock } from '../harness/clock.ts';
import { type Question, type Subject, timed } from '../harness/question.ts';
import { medianOf } from '../harness/result.ts';

const CALLS = 1_000;
/** A call is three events, a run four. */
const EVENTS = 3 * CALLS + 4;
const NONE = 'no observer';
const COUNTING = 'an observer that counts';
const TRACE = 'a trace file';
const PAYLOADS = 'a trace file with payloads';
const TELEMETRY = 'OpenTelemetry, spans in batches and metrics';
const PAGE = 'a page that is open';

const source = `for (let i = 0; i < ${CALLS}; i++) await tools.echo({ value: i });`;
const tools = defineTool({
  name: 'echo',
  description: 'Gives its input back.',
  inputSchema: { type: 'object', properties: { value: { type: 'number' } } },
  execute: (input: unknown): unknown => input,
});

interface Watching {
  readonly observer?: Observer;
  readonly capture?: boolean;
  /** Resolves when everything that was heard of a run is where it belongs. */
  settled(): Promise<unknown>;
  close?(): unknown;
}

function watched(open: () => Watching | Promise<Watching>): Subject {
  return async () => {
    const { observer, capture = false, settled, close } = await open();
    return standOf(openCodeMode(capture, observer), settled, close);
  };
}

function openCodeMode(capture = false, observer?: Observer): CodeMode {
  // As an application has it that uses OpenTelemetry, whether we are observed or not: all pay for it.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return createCodeMode({ tools, isolation: 'inline', limits: { calls: CALLS }, capture, ...(observer !== undefined && { observer }) });
}

async function standOf(codeMode: CodeMode, settled: () => Promise<unknown>, close?: () => unknown): ReturnType<Subject> {
  const run = async (): Promise<void> => {
    const { status } = await codeMode.run(source);
    if (status !== 'completed') throw new Error(`The program ended as ${status}.`);
    await settled();
  };
  for (let i = 0; i < 5; i++) await run();
  return {
    tasks: { calls: timed(run, { times: 3, units: CALLS, clock: computingClock() }) },
    async close() {
      await codeMode.close();
      await close?.();
    },
  };
}

function counting(): Watching {
  const { observer, whole } = counted(() => undefined);
  return { observer, settled: whole };
}

/** An observer whose events are counted. They may come in later turns of the event loop: until none is missing, a run is not done. */
function counted(on: NonNullable<Observer['on']>): { observer: Observer; whole(): Promise<void> } {
  let [events, told] = [0, 0];
  return {
    observer: {
      on(event) {
        events += 1;
        on(event);
      },
    },
    async whole() {
      told += EVENTS;
      while (events < told) await turn();
    },
  };
}

function tracing(capture: boolean): Watching {
  const folder = mkdtempSync(join(tmpdir(), 'callgate-observe-'));
  const file = traceFile(join(folder, 'trace.jsonl'));
  const { observer, whole } = counted((event) => file.on(event));
  return {
    observer,
    capture,
    async settled() {
      await whole();
      // It writes at the end of a turn.
      await turn();
    },
    async close() {
      await file.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function openTelemetry(): Watching {
  const spans = new InMemorySpanExporter();
  const processor = new BatchSpanProcessor(spans, { maxQueueSize: 4 * CALLS });
  const provider = new BasicTracerProvider({ spanProcessors: [processor] });
  const reader = new PeriodicExportingMetricReader({ exporter: new InMemoryMetricExporter(AggregationTemporality.DELTA) });
  const meters = new MeterProvider({ readers: [reader] });
  return {
    observer: otelObserver({ tracer: provider.getTracer('bench'), meter: meters.getMeter('bench') }),
    async settled() {
      await turn();
      await processor.forceFlush();
      const { length } = spans.getFinishedSpans();
      if (length !== CALLS + 2) throw new Error(`${length} spans were exported, not ${CALLS + 2}.`);
      spans.reset();
    },
    async close() {
      await provider.shutdown();
      await meters.shutdown();
    },
  };
}

/** A page that somebody has open, read in another thread. */
const page: Subject = async () => {
  const codeMode = openCodeMode();
  const watching = await serveWatch(codeMode);
  const browser = new Worker(READER, { eval: true, workerData: `${watching.url}events` });
  let [ends, runs] = [0, 0];
  let seen: () => void = () => undefined;
  browser.on('message', (count: number) => {
    ends += count;
    seen();
  });
  const shown = async (): Promise<void> => {
    runs += 1;
    while (ends < runs)
      await new Promise<void>((resolve) => {
        seen = resolve;
      });
  };
  return standOf(codeMode, shown, async () => {
    await browser.terminate();
    await watching.close();
  });
};

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

export const question: Question = {
  name: 'observe',
  asks: 'What does being watched cost a call: counted, written to a trace, exported, shown on a page?',
  subjects: {
    [NONE]: watched(() => ({ settled: turn })),
    [COUNTING]: watched(counting),
    [TRACE]: watched(() => tracing(false)),
    [PAYLOADS]: watched(() => tracing(true)),
    [TELEMETRY]: watched(openTelemetry),
    [PAGE]: page,
  },
  async run(bench) {
    const part = await bench.compare({
      title: `A call, ${CALLS} in a row and inline, computing time of the main thread`,
      task: 'calls',
      unit: 'µs',
      ours: COUNTING,
      floor: NONE,
    });
    for (const [name, atMost] of [
      [COUNTING, 2],
      [TRACE, 10],
      [TELEMETRY, 20],
      [PAGE, 10],
    ] as const) {
      bench.aim({ what: `${name}, more than none, in µs`, value: medianOf(part, name) - medianOf(part, NONE), atMost });
    }
    bench.note('All have the context manager of OpenTelemetry, as an application that uses it anyway, and pay for it.');
  },
};
