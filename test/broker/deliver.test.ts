import { describe, expect, test } from 'vitest';
import { artifact, toolResult } from '../../src/artifacts/artifact.ts';
import type { ShowError } from '../../src/broker/deliver.ts';
import type { CodeModeEvent } from '../../src/observe.ts';
import { CodeModeError } from '../../src/protocol/errors.ts';
import { type Tool, ToolError } from '../../src/tools/tool.ts';
import { failureOf, resultOf, setup } from '../helpers/broker.ts';
import { schemaOf, toolOf } from '../helpers/tools.ts';

function throwing(error: unknown): Tool {
  return toolOf('x', {
    execute: () => {
      throw error;
    },
  });
}

function errorOf(events: readonly CodeModeEvent[]): unknown {
  const end = events.find(({ type }) => type === 'call-end');
  return end?.type === 'call-end' ? end.error : undefined;
}

describe('errors of tools', () => {
  test('a ToolError shows its message, code and details, and the observer gets it whole', async () => {
    const error = new ToolError('No such customer.', { code: 'not_found', details: { id: 7 }, cause: new Error('secret') });
    for (const tool of [throwing(error), toolOf('x', { execute: () => Promise.reject(error) })]) {
      const { call, events } = setup([tool]);
      expect(failureOf(await call('x'))).toEqual({
        name: 'ToolError',
        code: 'not_found',
        message: 'No such customer.',
        details: { id: 7 },
      });
      expect(errorOf(events)).toBe(error);
    }
  });

  test('a ToolError without a code has one', async () => {
    const { call } = setup([throwing(new ToolError('No.'))]);
    expect(failureOf(await call('x'))).toEqual({ name: 'ToolError', code: 'tool_failed', message: 'No.' });
  });

  test.each([
    ['not JSON', { when: new Date(0) }],
    ['a function', () => 1],
    ['too big', 'x'.repeat(2000)],
  ])('details that are %s are left out, and the observer is told', async (_, details) => {
    const { call, events } = setup([throwing(new ToolError('No.', { details }))]);
    expect(failureOf(await call('x'))).toEqual({ name: 'ToolError', code: 'tool_failed', message: 'No.' });
    expect(events.find(({ type }) => type === 'log')).toMatchObject({ message: expect.stringContaining('left out') });
  });

  test('a long message is shortened', async () => {
    const { call } = setup([throwing(new ToolError('x'.repeat(100_000)))]);
    expect(failureOf(await call('x')).message.length).toBeLessThan(5000);
  });

  class DatabaseError extends Error {
    override readonly name = 'DatabaseError';
  }
  test.each([
    [new TypeError('secret'), 'TypeError'],
    [new DatabaseError('secret'), 'DatabaseError'],
    [Object.assign(new Error('secret'), { name: 'secret /etc/passwd' }), 'Error'],
    [new CodeModeError('closed', 'secret'), 'CodeModeError'],
    ['secret', 'string'],
    [null, 'null'],
    [undefined, 'undefined'],
    [{ message: 'secret', toString: (): string => 'secret' }, 'object'],
    [
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('secret');
          },
          has: () => {
            throw new Error('secret');
          },
        },
      ),
      'object',
    ],
  ])('anything else shows its class only: %#', async (error, name) => {
    const { call, events, broker } = setup([throwing(error)]);
    const failure = failureOf(await call('x'));
    expect(failure).toEqual({ name: 'ToolError', code: 'tool_failed', message: `Tool \`x\` failed (${name}).` });
    expect(errorOf(events)).toBe(error);
    expect(broker.records()).toMatchObject([{ status: 'error' }]);
  });
});

describe('showError', () => {
  async function shown(showError: ShowError): Promise<unknown> {
    const { call } = setup([throwing(new TypeError('secret'))], { showError });
    return failureOf(await call('x'));
  }

  test('may show a message, a code and details', async () => {
    expect(await shown((error, tool) => `${tool.name}: ${(error as Error).message}`)).toEqual({
      name: 'ToolError',
      code: 'tool_failed',
      message: 'x: secret',
    });
    expect(await shown(() => ({ message: 'm', code: 'c', details: [1] }))).toEqual({
      name: 'ToolError',
      code: 'c',
      message: 'm',
      details: [1],
    });
  });

  const hidden = { name: 'ToolError', code: 'tool_failed', message: 'Tool `x` failed (TypeError).' };
  test.each<[string, () => unknown]>([
    ['answers undefined', () => undefined],
    ['answers nonsense', () => 7],
    ['answers a promise', async () => 'secret'],
    ['answers without a message', () => ({ code: 'c' })],
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
  ])('hides the error when it %s', async (_, showError) => {
    expect(await shown(showError as ShowError)).toEqual(hidden);
  });

  test('is not asked about a ToolError', async () => {
    const { call } = setup([throwing(new ToolError('mine'))], { showError: () => 'other' });
    expect(failureOf(await call('x')).message).toBe('mine');
  });
});

describe('results', () => {
  const output = schemaOf((value) =>
    typeof value === 'number' ? { ok: true, value: value * 2 } : { ok: false, message: '`$` should be a number' },
  );

  test('the program gets what the output schema made of the value', async () => {
    const { call } = setup([toolOf('x', { output, execute: () => 2 })]);
    expect(resultOf(await call('x'))).toBe(4);
  });

  test('a wrong output is a hidden failure, told to the observer in full', async () => {
    const { call, events } = setup([toolOf('x', { output, execute: () => 'secret' })]);
    const message = 'Tool `x` returned something that does not match its output schema.';
    expect(failureOf(await call('x'))).toEqual({ name: 'ToolError', code: 'output_invalid', message });
    expect(errorOf(events)).toMatchObject({ message: `${message} \`$\` should be a number.`, details: { value: 'secret' } });
  });

  test('artifacts go beside the value, and the schema is about the value', async () => {
    const picture = artifact({ data: 'x', mediaType: 'image/png' });
    const { call } = setup([toolOf('x', { output, execute: async () => toolResult({ value: 3, artifacts: [picture] }) })]);
    const delivery = await call('x');
    expect(delivery).toMatchObject({ ok: true, value: 6 });
    expect(delivery.ok && delivery.artifacts[0]).toMatchObject({ id: 'artifact-1', kind: 'stored', mediaType: 'image/png', bytes: 1 });
  });

  test('an artifact as the value itself is a mistake with a hint for the host', async () => {
    const { call, events } = setup([toolOf('x', { execute: () => artifact({ data: 'x', mediaType: 'text/plain' }) })]);
    expect(failureOf(await call('x')).code).toBe('output_invalid');
    expect(errorOf(events)).toMatchObject({ message: expect.stringContaining('toolResult({ value, artifacts: [artifact] })') });
  });

  test('a wrong member among the artifacts fails the tool', async () => {
    const { call, events } = setup([toolOf('x', { execute: () => toolResult({ value: 1, artifacts: ['picture' as never] }) })]);
    expect(failureOf(await call('x')).message).toBe('Tool `x` failed (CodeModeError).');
    expect(errorOf(events)).toMatchObject({ message: expect.stringContaining('`artifacts[0]`') });
  });

  test('a value that cannot cross fails the call with the reason, and counts as an error', async () => {
    const { call, broker } = setup([toolOf('x', { execute: () => 1 })], {
      encode: () => {
        throw new CodeModeError('limit_exceeded', 'it is over 10 bytes.');
      },
    });
    expect(failureOf(await call('x'))).toMatchObject({ code: 'limit_exceeded', message: expect.stringContaining('it is over 10 bytes.') });
    expect(broker.records()).toMatchObject([{ status: 'error' }]);
  });

  test('the value is given in the form that encode makes', async () => {
    const { call } = setup([toolOf('x', { execute: () => ({ a: 1 }) })], { encode: (value) => JSON.stringify(value) });
    expect(resultOf(await call('x'))).toBe('{"a":1}');
  });
});
