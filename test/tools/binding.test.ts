import { describe, expect, test } from 'vitest';
import { CodeModeError } from '../../src/protocol/errors.ts';
import { createRun, type Invocation } from '../../src/tools/binding.ts';
import { gate } from '../helpers/broker.ts';

describe('identity', () => {
  test('a run without an id gets one of its own', () => {
    expect(createRun().run.id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(createRun().run.id).not.toBe(createRun().run.id);
    expect(createRun({ id: 'mine' }).run.id).toBe('mine');
    expect(() => createRun({ id: '' })).toThrow(/`id` of a run/);
  });

  test('an actor is never inferred', () => {
    expect(createRun().run.invocation).toEqual({});
  });

  test('changing what the application passed later changes nothing, and nobody can change the copy', () => {
    const context = { tenant: { id: 7 } };
    const { invocation } = createRun({ invocation: { actorId: 'a', context, interface: 'cli' } }).run;
    context.tenant.id = 8;
    expect(invocation).toEqual({ actorId: 'a', context: { tenant: { id: 7 } }, interface: 'cli' });
    expect(() => Object.assign(invocation.context?.['tenant'] as object, { id: 9 })).toThrow(TypeError);
    expect(() => Object.assign(invocation, { actorId: 'b' })).toThrow(TypeError);
  });

  test('members that are undefined are left out', () => {
    const invocation = { actorId: 'a', context: { locale: undefined } };
    expect(createRun({ invocation }).run.invocation).toStrictEqual({ actorId: 'a', context: {} });
  });

  test('an own key __proto__ stays data', () => {
    const { context } = createRun({ invocation: { context: JSON.parse('{"__proto__":{"admin":true}}') } }).run.invocation;
    expect(Object.keys(context ?? {})).toEqual(['__proto__']);
    expect(context?.['admin']).toBeUndefined();
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  test.each([
    [{ actorId: 7 }, /`invocation.actorId` should be a string, not a number/],
    [{ interface: null }, /`invocation.interface` should be a string, not null/],
    [{ context: [] }, /`invocation.context` should be a JSON object, not an array/],
    [{ context: { when: new Date(0) } }, /`\$\.context\.when` is a Date/],
    [{ context: { n: Number.NaN } }, /`\$\.context\.n` is NaN/],
    [{ context: { 'a b': [1n] } }, /`\$\.context\["a b"\]\[0\]` is a bigint/],
    [{ context: cycle }, /contains itself/],
    [{ actor: 'a' }, /has no `actor`/],
    ['me', /should be an object such as/],
    [null, /not null/],
  ])('an invocation %# that is none is refused, naming what is wrong', (invocation, message) => {
    const start = () => createRun({ invocation: invocation as unknown as Invocation });
    expect(start).toThrow(message);
    expect(start).toThrow(expect.objectContaining({ code: 'option_invalid' }));
  });
});

describe('once', () => {
  test('competing callers share one attempt and later callers its value', async () => {
    const { run } = createRun();
    const { promise, open } = gate<string>();
    let attempts = 0;
    const work = (): Promise<string> => {
      attempts += 1;
      return promise;
    };
    const both = [run.once('key', work), run.once('key', work)];
    open('done');
    expect(await Promise.all(both)).toEqual(['done', 'done']);
    expect(await run.once('key', work)).toBe('done');
    expect(attempts).toBe(1);
  });

  test('a failure reaches all who waited and leaves the key free', async () => {
    const { run } = createRun();
    const fail = (): never => {
      throw new Error('not now');
    };
    const both = await Promise.allSettled([run.once('key', fail), run.once('key', fail)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await run.once('key', () => 'now')).toBe('now');
  });

  test('keys such as constructor are keys like others', async () => {
    const { run } = createRun();
    expect(await run.once('constructor', () => 1)).toBe(1);
    expect(await run.once('__proto__', () => 2)).toBe(2);
  });
});

describe('close', () => {
  test('closers run last first, one after another, once', async () => {
    const handle = createRun();
    const log: string[] = [];
    for (const name of ['first', 'second']) {
      handle.run.register(async () => {
        log.push(`${name} starts`);
        await Promise.resolve();
        log.push(`${name} ends`);
      });
    }
    await Promise.all([handle.close(), handle.close()]);
    expect(log).toEqual(['second starts', 'second ends', 'first starts', 'first ends']);
  });

  test('all closers are attempted and the first failure is reported', async () => {
    const handle = createRun({ id: 'r' });
    const log: string[] = [];
    const first = new Error('disk full');
    handle.run.register(() => void log.push('reached'));
    handle.run.register(() => Promise.reject(new Error('second failure')));
    handle.run.register(() => {
      throw first;
    });
    const error = await handle.close().catch((error: unknown) => error);
    expect(error).toMatchObject({
      code: 'cleanup_failed',
      cause: first,
      message: expect.stringMatching(/run r failed for 2 of 3.*disk full/),
    });
    expect(log).toEqual(['reached']);
  });

  test('a run that has ended takes no closers and starts no work', async () => {
    const handle = createRun();
    const closing = handle.close();
    expect(() => handle.run.register(() => {})).toThrow(CodeModeError);
    await expect(handle.run.once('key', () => 1)).rejects.toMatchObject({ code: 'closed' });
    await closing;
  });
});
