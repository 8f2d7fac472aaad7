import { describe, expect, test } from 'vitest';
import { Ending } from '../../src/broker/ending.ts';
import { type Claim, Meter } from '../../src/broker/meter.ts';
import { Turns } from '../../src/tools/turns.ts';

describe('turns', () => {
  test('are given in the order of asking, and nobody overtakes', () => {
    const turns = new Turns(1);
    const [a, b, c, d] = [{ n: 'a' }, { n: 'b' }, { n: 'c' }, { n: 'd' }];
    const granted: string[] = [];
    expect(turns.tryTake(a)).toBe(true);
    turns.wait(b, () => granted.push('b'));
    turns.wait(c, () => granted.push('c'));
    turns.leave(a);
    expect(turns.tryTake(d)).toBe(false);
    expect(granted).toEqual(['b']);
    turns.leave(b);
    expect(granted).toEqual(['b', 'c']);
    turns.leave(c);
    expect(turns.tryTake(d)).toBe(true);
  });

  test('giving a turn back twice frees no second one', () => {
    const turns = new Turns(2);
    const [a, b] = [{ n: 'a' }, { n: 'b' }];
    turns.tryTake(a);
    turns.tryTake(b);
    turns.leave(a);
    turns.leave(a);
    expect([turns.tryTake({ n: 'c' }), turns.tryTake({ n: 'd' })]).toEqual([true, false]);
  });

  test('who leaves the queue is passed over', () => {
    const turns = new Turns(1);
    const [a, b, c] = [{ n: 'a' }, { n: 'b' }, { n: 'c' }];
    const granted: string[] = [];
    turns.tryTake(a);
    turns.wait(b, () => granted.push('b'));
    turns.wait(c, () => granted.push('c'));
    turns.leave(b);
    turns.leave(a);
    expect(granted).toEqual(['c']);
  });
});

describe('the end', () => {
  test('gives back a lock that was granted while its claim waited for a slot', async () => {
    const controller = new AbortController();
    const lock = new Turns(1);
    const meter = new Meter({
      limits: { calls: 9, concurrentCalls: 1 },
      run: { exclusive: lock, count: { calls: 0 } },
      ending: new Ending(controller.signal),
    });
    const [first, second]: Claim[] = [{ meter }, { meter }];
    if (first === undefined || second === undefined) throw new Error('There are two claims.');
    expect(await meter.enter(first, { exclusive: false })).toBe('entered');
    const waiting = meter.enter(second, { exclusive: true });
    expect(lock.holders.has(second)).toBe(true);
    controller.abort();
    expect(await waiting).toBe('ended');
    expect(lock.holders.size).toBe(0);
  });

  test('that has been reached lets nobody wait', async () => {
    const lock = new Turns(1);
    lock.tryTake({});
    const meter = new Meter({
      limits: { calls: 9, concurrentCalls: 1 },
      run: { exclusive: lock, count: { calls: 0 } },
      ending: new Ending(AbortSignal.abort()),
    });
    expect(await meter.enter({ meter }, { exclusive: true })).toBe('ended');
  });
});
