import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type CodeModeOptions, createCodeMode, defineTool } from '../../src/index.ts';

let called: unknown[] = [];
beforeEach(() => {
  called = [];
});
const save = defineTool({
  name: 'save',
  description: 'Saves a note.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  execute: (input) => {
    called.push(input);
    return { id: called.length };
  },
});
const find = defineTool({
  name: 'find-note',
  description: 'Finds a note.',
  inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  execute: ({ id }) => ({ id, text: 'x' }),
});
const notes = { namespace: 'notes', tools: () => [save, find] };
const open = (options: Partial<CodeModeOptions> = {}) => createCodeMode({ tools: notes, ...options });
const strict = open({ typecheck: 'error', globals: { REGION: 'eu' } });
afterAll(() => strict.close());

const wrong = `const note = await tools.notes.save({ text: 'a' });
const found = await tools.notes.find_note({ ident: note.id });
return found.text + unknownName;`;

describe('typecheck: error', () => {
  test('a mistake comes back with its place before any tool has run', async () => {
    const result = await strict.run(wrong);
    expect(result).toMatchObject({
      status: 'error',
      error: {
        kind: 'type',
        name: 'TypeError',
        message: '`tools.notes.find_note` takes no `ident`. Its input is `{ id: number; }`.',
        line: 2,
        column: 45,
      },
      calls: [],
      usage: { cpuMs: 0 },
    });
    expect(result.error?.frame).toBe(`  1 | const note = await tools.notes.save({ text: 'a' });
> 2 | const found = await tools.notes.find_note({ ident: note.id });
    |                                             ^
  3 | return found.text + unknownName;`);
    expect(result.warnings).toEqual([{ message: 'There is no `unknownName` here.', line: 3, column: 21 }]);
    expect(called).toEqual([]);
  });

  test('a program that is right runs, with the constants of the application', async () => {
    const result = await strict.run(
      "const { id } = await tools.notes.save({ text: REGION });\nreturn (await tools.notes['find-note']({ id })).text + ALL_TOOLS.length",
    );
    expect(result).toMatchObject({ status: 'completed', value: 'x2', warnings: [] });
    expect(called).toEqual([{ text: 'eu' }]);
  });

  test('a text that is no program is told as that', async () => {
    expect(await strict.run('return (')).toMatchObject({ status: 'error', error: { kind: 'syntax' } });
  });

  test('a run may choose otherwise', async () => {
    const result = await strict.run(wrong, { typecheck: 'off' });
    expect(result).toMatchObject({ status: 'error', error: { kind: 'program', code: 'input_invalid' }, warnings: [] });
    expect(called).toEqual([{ text: 'a' }]);
  });

  test('programs of a session are checked against its own tools', async () => {
    const session = await strict.openSession({ except: ['notes.save'] });
    expect(await session.exec("return await tools.notes.save({ text: 'a' })")).toMatchObject({
      status: 'error',
      error: { kind: 'type', message: 'There is no tool `notes.save`. ALL_TOOLS lists the tools that there are.' },
    });
    expect(await session.exec('return (await tools.notes.find_note({ id: 7 })).id')).toMatchObject({ status: 'completed', value: 7 });
    await session.close();
  });

  test('a signal ends a program that is being checked', async () => {
    const controller = new AbortController();
    const running = strict.run('return 1', { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ status: 'terminated', error: { kind: 'aborted' } });
  });
});

describe('typecheck: warn', () => {
  test('the program runs, and what was found stands beside its result', async () => {
    const result = await strict.run(
      "const saved = await tools.notes.save({ text: 'a' });\nif (saved.id > 1) tools.notes.save({ text: 'b' }).id;\nreturn saved.id;",
      { typecheck: 'warn' },
    );
    expect(result).toMatchObject({ status: 'completed', value: 1 });
    expect(result.warnings).toEqual([
      {
        message:
          "`id` is read from a promise, not from what it gives. Put `await` before the call: `(await tools.notes.save({ text: 'b' })).id`.",
        line: 2,
        column: 51,
      },
    ]);
    expect(called).toEqual([{ text: 'a' }]);
  });
});

test('without the option nothing is checked', async () => {
  const codeMode = open();
  expect(await codeMode.run('return typeof nothing.here')).toMatchObject({ status: 'error', error: { kind: 'program' } });
  await codeMode.close();
});

test('another value of the option is a mistake of the host', async () => {
  expect(() => open({ typecheck: 'strict' as 'error' })).toThrow('`typecheck` should be "off", "warn" or "error", but is "strict".');
  await expect(strict.run('return 1', { typecheck: true as unknown as 'error' })).rejects.toThrow('`typecheck` should be');
});
