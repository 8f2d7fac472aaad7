// A broker over some tools, with everything that a test of it asks about: events in order, and a promise that it settles by hand.
import { type Broker, type BrokerOptions, createBroker } from '../../src/broker/broker.ts';
import type { Delivery } from '../../src/broker/deliver.ts';
import { Reporter } from '../../src/broker/report.ts';
import type { CodeModeEvent, Observer } from '../../src/observe.ts';
import { resolveLimits } from '../../src/protocol/limits.ts';
import { createRun } from '../../src/tools/binding.ts';
import { createCatalog } from '../../src/tools/catalog.ts';
import { collectStatic } from '../../src/tools/provider.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { shelfOf } from './shelf.ts';

export interface Setup {
  readonly broker: Broker;
  /** But for the first of every call, that it was made. */
  readonly events: readonly CodeModeEvent[];
  /** Calls the tool of that name with the next call id. */
  call(name: string, input?: unknown): Promise<Delivery>;
  /** Ends the execution. */
  end(reason?: unknown): void;
}

type Overrides = Partial<Omit<BrokerOptions, 'limits' | 'reporter'>> & {
  readonly limits?: Partial<BrokerOptions['limits']>;
  /** Instead of the one that keeps `events`. */
  readonly observer?: Observer | undefined;
};

export function setup(tools: readonly Tool[], { limits, observer, ...overrides }: Overrides = {}): Setup {
  const catalog = createCatalog(collectStatic(tools).tools);
  const ending = new AbortController();
  const events: CodeModeEvent[] = [];
  const broker = createBroker({
    catalog,
    run: createRun({ id: 'run-1', invocation: { actorId: 'user-1' } }),
    limits: { ...resolveLimits(), calls: 1000, concurrentCalls: 32, resultBytes: 1000, ...limits },
    shelf: shelfOf(),
    reporter: new Reporter({ observers: [observer ?? { on: (event) => event.type !== 'call-queued' && events.push(event) }] }),
    executionId: 'execution-1',
    programKey: 'program-1',
    signal: ending.signal,
    ...overrides,
  });
  let id = 0;
  return {
    broker,
    events,
    call: (name, input = {}) => broker.call({ id: ++id, index: catalog.find(name)?.index ?? -1, input }),
    end: (reason) => ending.abort(reason),
  };
}

/** Work that ends when the test says so. */
export interface Gate<T> {
  readonly promise: Promise<T>;
  open(value: T): void;
  fail(error: unknown): void;
}

export function gate<T = unknown>(): Gate<T> {
  let open: (value: T) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

/** Lets everything run that waits for nothing but its turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The failure of a delivery that has one. */
export function failureOf(delivery: Delivery): Extract<Delivery, { ok: false }>['failure'] {
  if (delivery.ok) throw new Error(`The call went well and gave ${JSON.stringify(delivery.value)}.`);
  return delivery.failure;
}

/** The value of a delivery that has one. */
export function resultOf(delivery: Delivery): unknown {
  if (!delivery.ok) throw new Error(`The call failed: ${delivery.failure.message}`);
  return delivery.value;
}
