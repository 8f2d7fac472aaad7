import { expect, test } from 'vitest';
import { authorize, type Policy } from '../../src/broker/authorize.ts';
import { createCatalog } from '../../src/tools/catalog.ts';
import { toolOf } from '../helpers/tools.ts';

const [entry] = createCatalog([{ namespace: ['files'], tool: toolOf('remove-all') }]).entries;

async function decide(answer: unknown): Promise<{ allowed: boolean; message?: string; error?: unknown }> {
  if (entry === undefined) throw new Error('The catalog is empty.');
  return authorize((() => answer) as Policy, { entry, input: {}, run: { id: 'r', invocation: {} }, callId: 'c' });
}

test.each([true, 'allow', { allow: true }, Promise.resolve('allow')])('%j allows', async (answer) => {
  expect(await decide(answer)).toEqual({ allowed: true });
});

test.each([
  undefined,
  null,
  1,
  'yes',
  'Allow',
  {},
  [],
  { allow: 'true' },
  { allow: false },
  { deny: undefined },
  { deny: false, allow: true },
  () => true,
])('%j is no clear answer, so it refuses', async (answer) => {
  const verdict = await decide(answer);
  expect(verdict).toMatchObject({
    allowed: false,
    message: expect.stringContaining('`files.remove_all`'),
    error: { code: 'option_invalid' },
  });
  expect(verdict.message).toContain('no clear answer');
});

test('a reason is shown, and wins over an allow beside it', async () => {
  expect((await decide({ deny: 'too late', allow: true })).message).toBe('Tool `files.remove_all` was refused: too late');
});

test.each([false, { deny: '' }, { deny: '  ' }])('%j refuses without a reason', async (answer) => {
  expect(await decide(answer)).toMatchObject({
    allowed: false,
    message: "Tool `files.remove_all` was refused by the application's policy.",
  });
});

test.each(['ask', { ask: 'the manager' }, { ask: true, allow: true }])('%j is refused, since nobody can be asked', async (answer) => {
  expect(await decide(answer)).toMatchObject({
    allowed: false,
    message: expect.stringContaining('nobody can be asked'),
    error: { code: 'call_refused' },
  });
});

test.each([
  [
    'throws',
    () => {
      throw new Error('secret');
    },
  ],
  ['rejects', () => Promise.reject(new Error('secret'))],
])('a policy that %s refuses, hides why from the program and keeps it for the observer', async (_, policy) => {
  if (entry === undefined) throw new Error('The catalog is empty.');
  const verdict = await authorize(policy, { entry, input: {}, run: { id: 'r', invocation: {} }, callId: 'c' });
  expect(verdict).toMatchObject({ allowed: false, error: { message: 'secret' } });
  expect(JSON.stringify(verdict)).not.toContain('secret');
});

test('a policy knows a tool by both of its names', async () => {
  if (entry === undefined) throw new Error('The catalog is empty.');
  const seen: unknown[] = [];
  await authorize(({ tool }) => seen.push(tool) === 1, { entry, input: {}, run: { id: 'r', invocation: {} }, callId: 'c' });
  expect(seen).toEqual([{ name: 'files.remove-all', path: 'files.remove_all', description: 'The tool remove-all.' }]);
});
