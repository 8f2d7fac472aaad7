// What calls may use: how many there are, how many run at a time, and whose turn an exclusive tool has.
// Not here: what happens when a limit is hit (broker.ts).
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Limits } from '../protocol/limits.ts';
import type { RunHandle } from '../tools/binding.ts';
import { Turns } from '../tools/turns.ts';
import type { Ending } from './ending.ts';

/** Stands for one call while it holds or waits for something. */
export interface Claim {
  readonly meter: Meter;
}

/**
 * - `entered`: the call may run, until `leave`;
 * - `deadlock`: it would wait for the call that made it;
 * - `ended`: the execution ended while it waited.
 */
export type Entry = 'entered' | 'deadlock' | 'ended';

/** The call whose tool is running here. Async context, no state: it holds nothing outside a running tool. */
const running = new AsyncLocalStorage<Claim>();

/** Meters the calls of one execution. The lock and the count are its run's, shared with the run's other executions. */
export class Meter {
  readonly #limits: Pick<Limits, 'calls' | 'concurrentCalls'>;
  readonly #slots: Turns<Claim>;
  readonly #lock: Turns;
  readonly #ending: Ending;
  /** The call whose tool started this execution, if a tool did. Calls arrive later from a worker, where async context is lost. */
  readonly #caller: Claim | undefined = running.getStore();
  readonly #count: { calls: number };

  constructor({
    limits,
    run,
    ending,
  }: { limits: Pick<Limits, 'calls' | 'concurrentCalls'>; run: Pick<RunHandle, 'exclusive' | 'count'>; ending: Ending }) {
    this.#limits = limits;
    this.#slots = new Turns(limits.concurrentCalls);
    this.#lock = run.exclusive;
    this.#count = run.count;
    this.#ending = ending;
  }

  /** Counts a call; `false` when it is over the limit. */
  admit(): boolean {
    this.#count.calls += 1;
    return this.#count.calls <= this.#limits.calls;
  }

  /** How many calls were over the limit. */
  get over(): number {
    return Math.max(0, this.#count.calls - this.#limits.calls);
  }

  /**
   * Waits for the lock, if the tool is exclusive, and then for a slot: in this order, so that who waits for the lock holds no
   * slot. Both queues are first come, first served. Gives no promise where nothing has to be waited for.
   */
  enter(claim: Claim, { exclusive }: { readonly exclusive: boolean }, onWait?: (reason: 'lock' | 'slot') => void): Entry | Promise<Entry> {
    const locked = !exclusive || this.#lock.tryTake(claim);
    return locked && this.#slots.tryTake(claim) ? 'entered' : this.#wait(claim, locked, onWait);
  }

  async #wait(claim: Claim, locked: boolean, onWait: ((reason: 'lock' | 'slot') => void) | undefined): Promise<Entry> {
    if (!locked) {
      if (this.#callers().some((caller) => this.#lock.holders.has(caller))) return 'deadlock';
      onWait?.('lock');
      // Who has the lock may wait for a slot that a caller of ours holds while it waits for us. A caller that waits does not
      // work, so it gives its slot up for good: rarely, one call more than the limit runs; never, two wait for one another.
      for (const caller of this.#callers()) caller.meter.#slots.leave(caller);
      if (!(await this.#turn(this.#lock, claim))) return 'ended';
      if (this.#slots.tryTake(claim)) return 'entered';
    }
    onWait?.('slot');
    if (await this.#turn(this.#slots, claim)) return 'entered';
    this.#lock.leave(claim);
    return 'ended';
  }

  /** Runs a tool as `claim`, so that what it starts knows its caller. */
  run<T>(claim: Claim, work: () => T): T {
    return running.run(claim, work);
  }

  /** Gives the slot back: the call is answered. */
  leaveSlot(claim: Claim): void {
    this.#slots.leave(claim);
  }

  /** Gives the lock back: the tool's work has really ended. */
  leaveLock(claim: Claim): void {
    this.#lock.leave(claim);
  }

  /** The calls that this execution is part of, innermost first. */
  #callers(): Claim[] {
    const callers: Claim[] = [];
    for (let caller = this.#caller; caller !== undefined; caller = caller.meter.#caller) callers.push(caller);
    return callers;
  }

  /** Whether the turn came before the execution's end. */
  async #turn(turns: Turns, claim: Claim): Promise<boolean> {
    if (this.#ending.reached) return false;
    return new Promise((resolve) => {
      const stop = (): void => {
        turns.leave(claim);
        resolve(false);
      };
      turns.wait(claim, () => {
        this.#ending.delete(stop);
        resolve(true);
      });
      this.#ending.add(stop);
    });
  }
}
