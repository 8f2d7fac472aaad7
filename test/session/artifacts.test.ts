// Files beside values, end to end: what programs, tools, callers and models get of them.
import { afterAll, describe, expect, test } from 'vitest';
import {
  artifact,
  type CodeModeOptions,
  createCodeMode,
  deferredArtifact,
  defineTool,
  type KeptFile,
  type RenderedBlock,
  renderResult,
  type Tool,
  toJson,
  toolResult,
} from '../../src/index.ts';
import { countedStore } from '../helpers/shelf.ts';

const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const each of opened) await each.close();
});

function open(options: Partial<CodeModeOptions> = {}): ReturnType<typeof createCodeMode> {
  const codeMode = createCodeMode({ tools, ...options });
  opened.push(codeMode);
  return codeMode;
}

const properties = { name: { type: 'string' }, text: { type: 'string' }, id: { type: 'string' }, ms: { type: 'number' } } as const;
const inputSchema = { type: 'object', properties, additionalProperties: false } as const;

/** A text as a file. */
const write = defineTool({
  name: 'write',
  description: 'Writes a file.',
  inputSchema,
  execute: async ({ name = 'a.txt', text = '', ms }) => {
    if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
    return toolResult({
      value: text.length,
      artifacts: [artifact({ data: text, mediaType: 'text/plain', name, metadata: { secret: name } })],
    });
  },
});
/** What a tool sees of an artifact whose id it was passed. */
const look = defineTool({
  name: 'look',
  description: 'Looks at a file.',
  inputSchema,
  execute: async ({ id = '' }, { artifacts }) => {
    const found = artifacts.get(id);
    return { ...(found.kind === 'stored' && { text: await found.text() }), metadata: found.metadata ?? null, all: artifacts.list().length };
  },
});
const png = (bytes: number, name: string): ReturnType<typeof artifact> =>
  artifact({ data: new Uint8Array(bytes).fill(name.charCodeAt(0)), mediaType: 'image/png', name });
const draw = defineTool({
  name: 'draw',
  description: 'Draws.',
  inputSchema,
  execute: async ({ name = 'a', ms = 0 }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return toolResult({ value: name, artifacts: [png(10, name)] });
  },
});
const wait = defineTool({
  name: 'wait',
  description: 'Waits.',
  inputSchema,
  execute: ({ ms = 50 }) => new Promise<null>((resolve) => setTimeout(() => resolve(null), ms)),
});
const tools: readonly Tool[] = [write, look, draw, wait];

async function ask(program: string, options: Partial<CodeModeOptions> = {}): Promise<unknown> {
  const { value, error } = await open(options).run(program);
  if (error !== undefined) throw new Error(error.message);
  return value;
}

describe('a program', () => {
  test('gets the value, sees descriptors, reads, and passes an id to another tool', async () => {
    const codeMode = open();
    const { value, artifacts, warnings } = await codeMode.run(`
      const before = artifacts;
      const length = await tools.write({ name: 'a.txt', text: 'grün' });
      const [{ id, ...facts }] = artifacts;
      return { length, before: before.length, facts, text: await readArtifact(id), seen: await tools.look({ id }), warnings: artifacts.warnings };
    `);
    expect(value).toEqual({
      length: 4,
      before: 0,
      facts: { name: 'a.txt', mediaType: 'text/plain', bytes: 5, from: { tool: 'write', callId: expect.stringMatching(/:1$/) } },
      text: 'grün',
      seen: { text: 'grün', metadata: { secret: 'a.txt' }, all: 1 },
      warnings: [],
    });
    expect([artifacts.length, warnings.length]).toEqual([1, 0]);
    expect(await (artifacts[0] as KeptFile).text()).toBe('grün');
  });

  test('saves texts and bytes, whose type the name says', async () => {
    const value = await ask(`
      const made = [
        await saveArtifact({ name: 'a.csv', data: 'x' }),
        await saveArtifact({ name: 'b.png', data: new Uint8Array([1, 2]) }),
        await saveArtifact({ data: new Uint16Array([258]).buffer }),
        await saveArtifact({ data: 'plain' }),
        await saveArtifact({ name: 'c', mediaType: 'application/x-own', data: '' }),
      ];
      return [made.map(({ id, name, mediaType, bytes, from }) => [id, name, mediaType, bytes, from].join()), artifacts.length, [...await readArtifact(made[2].id)]];
    `);
    expect(value).toEqual([
      [
        'artifact-1,a.csv,text/csv,1,',
        'artifact-2,b.png,image/png,2,',
        'artifact-3,,application/octet-stream,2,',
        'artifact-4,,text/plain,5,',
        'artifact-5,c,application/x-own,0,',
      ],
      5,
      [2, 1],
    ]);
  });

  test('reads parts: bytes, whole characters, JSON', async () => {
    const value = await ask(`
      const text = 'aé€😀'.repeat(50);
      const { id, bytes } = await saveArtifact({ name: 'a.json', data: JSON.stringify({ text }) });
      const parts = [];
      for (let start = 0; start < bytes; start += 7) parts.push(await readArtifact(id, { as: 'text', start, end: start + 7 }));
      const raw = await readArtifact(artifacts[0], { as: 'bytes', start: 2, end: 6 });
      const { text: again } = await readArtifact(id, { as: 'json' });
      return [JSON.parse(parts.join('')).text === text, String.fromCharCode(...raw), again === text, await readArtifact(id, { start: bytes }), await readArtifact(id, { start: 0, end: 1e9 }) === JSON.stringify({ text })];
    `);
    expect(value).toEqual([true, 'text', true, '', true]);
  });

  test.each([
    [`readArtifact('artifact-9')`, 'input_invalid', /`readArtifact`: There is no artifact "artifact-9" in this run; there are none yet\./],
    [`readArtifact(5)`, 'input_invalid', /first argument.*`id`.*a number/],
    [`saveArtifact('x')`, 'input_invalid', /an object such as.*a string/],
    [`saveArtifact({ data: [1] })`, 'input_invalid', /`data` should be a string or bytes.*an array.*JSON\.stringify/],
    [`saveArtifact({ data: 'x', type: 'text/csv' })`, 'input_invalid', /no field `type`/],
    [`saveArtifact({ data: 'x', mediaType: 'csv' })`, 'input_invalid', /`mediaType`.*"csv"/],
    [`saveArtifact({ data: 'x', name: '' })`, 'input_invalid', /`name`/],
    [`saveArtifact({ data: 'x' }).then(({ id }) => readArtifact(id, { as: 'xml' }))`, 'input_invalid', /'text', 'bytes' or 'json'/],
    [`saveArtifact({ data: 'x' }).then(({ id }) => readArtifact(id, { start: -1 }))`, 'input_invalid', /`start` should be a whole number/],
    [`saveArtifact({ data: 'x' }).then(({ id }) => readArtifact(id, { start: 2, end: 1 }))`, 'input_invalid', /`end` \(1\) is before/],
    [`saveArtifact({ data: 'x' }).then(({ id }) => readArtifact(id, { as: 'json' }))`, 'input_invalid', /is not JSON; read it as text/],
    [`saveArtifact({ data: 'x'.repeat(1001) })`, 'limit_exceeded', /1001 bytes.*`artifactBytes` is 1000/],
    [
      `saveArtifact({ data: 'x'.repeat(900) }).then(({ id }) => readArtifact(id))`,
      'limit_exceeded',
      /`resultBytes`, 500.*start: 0, end: 500/,
    ],
    [`createArtifact({ mediaType: 5 }).close()`, 'input_invalid', /`mediaType`/],
    [`createArtifact().append({ a: 1 })`, 'input_invalid', /append\(data\) takes a string or bytes.*JSON\.stringify/],
    [`tools.look({ id: 'x' })`, 'input_invalid', /There is no artifact "x" in this run/],
  ])('is told what is wrong: %s', async (call, code, message) => {
    const limits = { artifactBytes: 1000, resultBytes: 500 };
    const value = (await ask(`try { await ${call}; } catch ({ code, message, stack }) { return { code, message, stack }; }`, {
      limits,
    })) as Record<string, string>;
    expect(value).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(value['stack']).toMatch(/program\.js:\d/);
  });

  test('writes 20 MB in pieces, a row at a time, within the default limits', async () => {
    const { value, artifacts, error } = await open().run(`
      const file = createArtifact({ name: 'rows.csv' });
      const row = 'é'.repeat(500);
      for (let i = 0; i < 20_000; i++) await file.append(i + ',' + row + '\\n');
      const { id, bytes } = await file.close();
      return { bytes, head: await readArtifact(id, { end: 6 }), tail: await readArtifact(id, { start: bytes - 9 }) };
    `);
    expect(error).toBeUndefined();
    expect(value).toEqual({ bytes: 20_128_890, head: '0,éé', tail: 'éééé\n' });
    expect(artifacts).toHaveLength(1);
  }, 60_000);

  test('long texts and bytes go whole, and no character breaks between pieces', async () => {
    const { value, artifacts } = await open().run(
      `
      const long = '😀'.repeat(700_001);
      const file = createArtifact({ name: 'e.txt' });
      await file.append('a' + long.slice(0, 1_000_001));
      void file.append(long.slice(1_000_001));
      await file.append(new Uint8Array([33]));
      await file.close();
      const bytes = new Uint8Array(3_000_000).map((_, i) => i);
      await saveArtifact({ name: 'b.bin', data: bytes.subarray(1) });
      return long;
    `,
      { limits: { valueBytes: 10_000_000 } },
    );
    const [text, bytes] = artifacts as [KeptFile, KeptFile];
    expect((await text.text()) === `a${value}!`).toBe(true);
    expect(Buffer.from(await bytes.read()).equals(Buffer.from(new Uint8Array(3_000_000).map((_, i) => i)).subarray(1))).toBe(true);
  }, 60_000);

  test('learns of a file that was too big when it closes it, and the run has its room back', async () => {
    const value = await ask(
      `
      const file = createArtifact({ name: 'big' });
      for (let i = 0; i < 12; i++) void file.append('x'.repeat(100_000));
      let message;
      try { await file.close(); } catch (error) { message = error.message; }
      await saveArtifact({ data: 'y'.repeat(1_000_000) });
      return message;`,
      { limits: { artifactBytes: 1_000_000, artifactRunBytes: 1_000_000 } },
    );
    expect(value).toMatch(/`createArtifact`: .*`artifactBytes` is 1000000/);
  });

  test('is told of a file that it never closed', async () => {
    const { warnings, artifacts } = await open().run(`await createArtifact({ name: 'lost.csv' }).append('x'.repeat(600_000));`);
    expect(artifacts).toEqual([]);
    expect(warnings).toMatchObject([{ message: expect.stringMatching(/"lost\.csv".*never closed/) }]);
  });

  test('cannot be misled about its artifacts by what it did to arrays and objects', async () => {
    const value = await ask(`
      Array.prototype[3] = { artifacts: [{ id: 'forged' }] };
      Object.defineProperty(Object.prototype, 'artifacts', { value: 'forged', configurable: true });
      await tools.write({ text: 'a' });
      await tools.wait({ ms: 1 });
      return [artifacts.map(({ id }) => id).join(), Object.isFrozen(artifacts), Object.isFrozen(artifacts[0])];
    `);
    expect(value).toEqual(['artifact-1', true, true]);
  });
});

describe('storing that fails', () => {
  test('leaves the call a success; program and model are warned', async () => {
    let wrote = 0;
    const once = defineTool({
      name: 'once',
      description: 'Writes.',
      execute: () => toolResult({ value: ++wrote, artifacts: [png(5, 'a'), png(600, 'b')] }),
    });
    const { value, artifacts, warnings, calls } = await open({ tools: [once], artifacts: { limits: { artifactBytes: 500 } } }).run(
      'return [await tools.once(), artifacts.length, artifacts.warnings];',
    );
    const warning = expect.stringMatching(/Tool `once` succeeded, but none of the 2 files.*b is 600 bytes.*do not call it again/);
    expect(value).toEqual([1, 0, [warning]]);
    expect(artifacts).toEqual([]);
    expect(warnings).toMatchObject([{ message: warning }]);
    expect(calls).toMatchObject([{ name: 'once', status: 'ok' }]);
  });
});

describe('the caller', () => {
  test.each([
    ['errs', `await tools.write({ text: 'a' }); throw new Error('x');`, 'error'],
    ['runs out of time', `await tools.write({ text: 'a' }); for (;;);`, 'error'],
    ['exits', `await tools.write({ text: 'a' }); exit(1);`, 'completed'],
    ['never awaits', `void tools.write({ text: 'a' });`, 'completed'],
  ])('gets the files of a program that %s', async (_, program, status) => {
    const result = await open({ limits: { cpuMs: 300 } }).run(program);
    expect([result.status, result.artifacts.length]).toEqual([status, 1]);
  });

  test('gets the files of a program that is stopped, and each one once', async () => {
    await using session = await open().openSession();
    const program = `for (const name of ['1', '2', '3']) { await tools.write({ name, text: name }); await tools.wait({ ms: 100 }); }
      await tools.wait({ ms: 60_000 });`;
    const names: unknown[] = [];
    let seen = await session.exec(program, { observeMs: 0 });
    for (let looks = 0; names.length < 3 && looks < 1000; looks++) {
      names.push(...seen.artifacts.map(({ name }) => name));
      seen = await session.wait({ observeMs: 10 });
    }
    expect([seen.status, names]).toEqual(['still_working', ['1', '2', '3']]);
    const last = await session.stop();
    expect([last.status, seen.artifacts, last.artifacts]).toEqual(['terminated', [], []]);
  });

  test('gets what was stored while its program was ended', async () => {
    const store = countedStore();
    const ending = new AbortController();
    store.before = async () => {
      ending.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const { status, artifacts } = await open({ artifacts: { store } }).run(`await tools.write({ text: 'a' });`, { signal: ending.signal });
    expect([status, artifacts.length]).toEqual(['terminated', 1]);
  });

  test("gets the conversation's files with the next observation, and programs read them", async () => {
    await using session = await open().openSession();
    expect(await session.callTool('write', { name: 'talk', text: 'hello' })).toBe(5);
    const seen = await session.exec('return readArtifact(artifacts[0].id);');
    expect([seen.value, seen.artifacts.map(({ name }) => name)]).toEqual(['hello', ['talk']]);
    await session.callTool('write', { name: 'last', text: 'bye' });
    expect(session.takeArtifacts().map(({ name }) => name)).toEqual(['last']);
    expect(session.takeArtifacts()).toEqual([]);
  });

  test('reads them after the session and until code mode is closed', async () => {
    const codeMode = open();
    const session = await codeMode.openSession();
    const { artifacts } = await session.exec(`await saveArtifact({ data: 'kept' });`);
    await session.close();
    expect(await (artifacts[0] as KeptFile).text()).toBe('kept');
    await codeMode.close();
    await expect((artifacts[0] as KeptFile).read()).rejects.toThrow();
  });

  test('hears of each file by an event', async () => {
    const events: unknown[] = [];
    const observer = { on: (event: { type: string }) => void (event.type === 'artifact' && events.push(event)) };
    await ask(`await tools.write({ text: 'a' }); await saveArtifact({ data: 'b' });`, { observer });
    expect(events).toMatchObject([
      { artifactId: 'artifact-1', mediaType: 'text/plain', name: 'a.txt', bytes: 1, callId: expect.any(String) },
      { artifactId: 'artifact-2', bytes: 1 },
    ]);
    expect(events[1]).not.toHaveProperty('callId');
  });

  test('resolves deferred artifacts with the run at hand, and gets what it did not resolve', async () => {
    const fetch = defineTool({
      name: 'fetch_file',
      description: 'Fetches.',
      inputSchema,
      execute: ({ name = '' }) =>
        toolResult({ value: name, artifacts: [deferredArtifact({ reference: { name }, mediaType: 'text/plain', name })] }),
    });
    const codeMode = open({
      tools: [fetch],
      artifacts: {
        resolve: ({ reference }, { run }) => {
          const { name } = reference as { name: string };
          return run.invocation.actorId === 'user-1' && name !== 'other' ? new TextEncoder().encode(`of ${name}`) : null;
        },
      },
    });
    const program = `await tools.fetch_file({ name: 'mine' }); await tools.fetch_file({ name: 'other' });
      return [await readArtifact(artifacts[0].id), artifacts[1].bytes, await readArtifact(artifacts[1].id).catch((error) => error.message)];`;
    const { value, artifacts } = await codeMode.run(program, { invocation: { actorId: 'user-1' } });
    expect(value).toEqual(['of mine', null, expect.stringContaining('kept by another service')]);
    expect(artifacts).toMatchObject([{ kind: 'stored' }, { kind: 'deferred', reference: { name: 'other' } }]);
  });
});

test('200 runs at the same time lose and mix nothing', async () => {
  const store = countedStore();
  const codeMode = open({ artifacts: { store } });
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, run) =>
      codeMode.run(`
        const names = Array.from({ length: 4 }, (_, i) => 'run ${run} file ' + i);
        await Promise.all(names.map((name, i) => tools.write({ name, text: name, ms: (${run} * 7 + i * 13) % 20 })));
        await saveArtifact({ name: 'own', data: 'run ${run}' });
        await tools.write({ name: 'shared', text: 'the same in all runs' });
        return Promise.all(artifacts.map(async ({ id, name }) => [name, await readArtifact(id)]));
      `),
    ),
  );
  for (const [run, { value, artifacts, error, warnings }] of results.entries()) {
    expect([error, warnings]).toEqual([undefined, []]);
    const names = ['0', '1', '2', '3'].map((i) => `run ${run} file ${i}`);
    const all = [...names.map((name) => [name, name]), ['own', `run ${run}`], ['shared', 'the same in all runs']];
    expect((value as string[][]).toSorted()).toEqual(all.toSorted());
    expect(await Promise.all(artifacts.map(async (kept) => [kept.name, await (kept as KeptFile).text()]))).toEqual(all);
  }
  // What is the same in all of them is in the store once, and every run holds it.
  expect(store.holders.size).toBe(200 * 5 + 1);
  expect(Math.max(...store.holders.values())).toBe(200);
}, 60_000);

function textOf([first]: readonly RenderedBlock[]): string {
  return first?.type === 'text' ? first.text : '';
}

describe('a value too big for a model', () => {
  const rows = 'Array.from({ length: 2000 }, (_, id) => ({ id, name: "customer " + id, city: "Oslo" }))';

  test('is kept whole, and the model gets a preview that says where the rest is', async () => {
    await using session = await open().openSession();
    const seen = await session.exec(`return { total: 2000, rows: ${rows} };`);
    expect(seen.artifacts).toMatchObject([{ name: 'program-1-value.json', mediaType: 'application/json', origin: { type: 'value' } }]);
    const preview = JSON.stringify(seen.value);
    expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(8_000);
    expect(seen.value).toMatchObject({ total: 2000, rows: expect.arrayContaining([{ id: 0, name: 'customer 0', city: 'Oslo' }]) });
    expect(seen.shortened).toMatch(/kept whole as artifact-1 \(program-1-value\.json\).*readArtifact\('artifact-1', \{ as: 'json' \}\)/);
    const next = await session.exec(`const { rows } = await readArtifact('artifact-1', { as: 'json' }); return rows.length;`);
    expect(next.value).toBe(2000);
    const { blocks } = await renderResult(seen);
    expect(blocks).toHaveLength(1);
    expect(blocks[0]).toMatchObject({ type: 'text', text: expect.stringContaining('artifact-1') });
  });

  test('that is exactly at the threshold goes as it is', async () => {
    await using session = await open().openSession();
    const seen = await session.exec(`return 'x'.repeat(39_998);`);
    expect([(seen.value as string).length, seen.artifacts, seen.shortened]).toEqual([39_998, [], undefined]);
    const over = await session.exec(`return 'x'.repeat(39_999);`);
    expect(over.artifacts).toMatchObject([{ name: 'program-2-value.txt', bytes: 39_999 }]);
  });

  test('that the model asked to see whole is shown', async () => {
    await using session = await open().openSession();
    const seen = await session.exec(`return ${rows};`, { maxOutputTokens: 100_000 });
    expect([(seen.value as unknown[]).length, seen.artifacts]).toEqual([2000, []]);
  });

  test('bytes are kept as bytes', async () => {
    await using session = await open().openSession();
    const seen = await session.exec(`return { data: new Uint8Array(50_000) };`);
    // Of bytes the model is told how many there are.
    expect([seen.value, seen.artifacts]).toEqual([{ data: '50000 bytes (Uint8Array)' }, []]);
  });

  test('that cannot be kept is previewed with the reason', async () => {
    await using session = await open({ limits: { artifactRunBytes: 1000 } }).openSession();
    const seen = await session.exec(`return ${rows};`);
    expect(seen.artifacts).toEqual([]);
    expect(Buffer.byteLength(JSON.stringify(seen.value))).toBeLessThanOrEqual(8_000);
    expect(seen.shortened).toMatch(/preview.*could not be kept: .*`artifactRunBytes` is 1000/);
  });

  test('of a run is whole for its caller and a preview when it is rendered', async () => {
    const result = await open().run(`return ${rows};`);
    expect(result.value).toHaveLength(2000);
    const { blocks } = await renderResult(result);
    const text = textOf(blocks);
    expect(text.length).toBeLessThan(9_000);
    expect(text).toMatch(/preview of it, and the whole was not kept/);
  });
});

describe('rendering', () => {
  test('shows images in the order of the calls, four at most, and names the rest', async () => {
    const result = await open().run(`
      await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) => tools.draw({ name, ms: 60 - i * 10 })));
      return 'done';`);
    const { blocks, isError } = await renderResult(result);
    expect(isError).toBe(false);
    expect(blocks.slice(1)).toEqual(
      ['a', 'b', 'c', 'd'].map((name) => ({
        type: 'image',
        mediaType: 'image/png',
        name,
        data: new Uint8Array(10).fill(name.charCodeAt(0)),
      })),
    );
    const text = textOf(blocks);
    expect(text.match(/shown below/g)).toHaveLength(4);
    expect(text).toMatch(/"e" \(image\/png, 10 bytes, from draw\)\n/);
    expect(text).toMatch(/"f" \(image\/png, 10 bytes, from draw\)$/);
  });

  test('what does not fit leaves room for what follows; limits are those of the run, or of the call', async () => {
    const pictures = defineTool({
      name: 'pictures',
      description: 'Draws.',
      execute: () => toolResult({ value: null, artifacts: [png(100, 'big'), png(10, 'a'), png(11, 'b'), png(12, 'c')] }),
    });
    const result = await open({ tools: [pictures], artifacts: { limits: { mediaBytes: 50, mediaBlocks: 2 } } }).run(
      'await tools.pictures();',
    );
    const names = async (options = {}): Promise<unknown[]> =>
      (await renderResult(result, options)).blocks.slice(1).map((block) => 'name' in block && block.name);
    expect(await names()).toEqual(['a', 'b']);
    expect(await names({ mediaBlocks: 3 })).toEqual(['a', 'b', 'c']);
    expect(await names({ mediaBytes: 1000 })).toEqual(['big', 'a']);
    expect(await names({ mediaBlocks: 0 })).toEqual([]);
  });

  test('short texts and PDF are documents; long ones, archives and whatever else are named', async () => {
    const files = defineTool({
      name: 'files',
      description: 'Files.',
      execute: () =>
        toolResult({
          value: new Uint8Array([104, 105]),
          artifacts: [
            artifact({ data: '%PDF', mediaType: 'application/pdf', name: 'a.pdf' }),
            artifact({ data: 'short', mediaType: 'text/markdown; charset=utf-8', name: 'a.md' }),
            artifact({ data: 'x'.repeat(8001), mediaType: 'text/csv', name: 'long.csv' }),
            artifact({ data: 'PK', mediaType: 'application/zip', name: 'a.zip' }),
            artifact({ data: '<svg/>', mediaType: 'image/tiff', name: 'a.tiff' }),
            deferredArtifact({ reference: 'secret', mediaType: 'image/png', name: 'far.png' }),
          ],
        }),
    });
    const result = await open({ tools: [files] }).run('return { bytes: await tools.files(), map: new Map([["a", new Uint8Array(3)]]) };');
    const { blocks } = await renderResult(result);
    expect(blocks.slice(1)).toMatchObject([
      { type: 'document', mediaType: 'application/pdf', name: 'a.pdf' },
      { type: 'document', mediaType: 'text/markdown', name: 'a.md' },
    ]);
    const text = textOf(blocks);
    for (const name of ['long.csv', 'a.zip', 'a.tiff', 'far.png']) expect(text).toContain(JSON.stringify(name));
    // No base64, and no reference.
    expect(text).toContain('"bytes":"2 bytes (Uint8Array)","map":{"a":"3 bytes (Uint8Array)"}');
    expect(text).not.toMatch(/aGk=|secret/);
    expect(toJson(result.value)).toMatchObject({ bytes: 'aGk=' });
  });

  test('a file that is gone is named', async () => {
    const result = await open().run(`await tools.draw({ name: 'a' });`);
    await (result.artifacts[0] as KeptFile).release();
    const { blocks } = await renderResult(result);
    expect(blocks).toMatchObject([{ type: 'text', text: expect.stringContaining('"a" (image/png, 10 bytes, from draw)') }]);
  });
});

test.each([
  [{ store: {} }, /`artifacts\.store` should be a store/],
  [{ resolve: 'x' }, /`artifacts\.resolve` should be a function/],
  [{ limits: { fileBytes: 1 } }, /no limit `fileBytes`.*artifactBytes/],
  [{ limits: { artifactBytes: -1 } }, /`artifactBytes` should be a whole number of bytes/],
  [{ folder: 'x' }, /no option `folder`/],
  ['memory', /an object/],
])('a wrong option is named: %j', (artifacts, message) => {
  expect(() => createCodeMode({ tools: [], artifacts: artifacts as never })).toThrow(message);
});

describe('a program that awaits nothing', () => {
  test('has its files read a few at a time, and all of them in the end', async () => {
    const store = countedStore();
    let reading = 0;
    let most = 0;
    const slow = {
      ...store,
      read: async (...asked: Parameters<typeof store.read>) => {
        most = Math.max(most, ++reading);
        await new Promise((resolve) => setTimeout(resolve, 5));
        reading--;
        return store.read(...asked);
      },
    };
    const program = `
      const { id } = await saveArtifact({ name: 'a.txt', data: 'x'.repeat(1000) });
      const texts = await Promise.all(Array.from({ length: 100 }, () => readArtifact(id)));
      return texts.filter((text) => text.length === 1000).length;`;
    expect(await ask(program, { artifacts: { store: slow } })).toBe(100);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  test('does not fill the host with what it was not given yet', async () => {
    const store = countedStore();
    let given = 0;
    const counting = {
      ...store,
      read: async (...asked: Parameters<typeof store.read>) => {
        const bytes = await store.read(...asked);
        given += bytes.length;
        return bytes;
      },
    };
    const codeMode = open({ artifacts: { store: counting }, limits: { cpuMs: 1_500, sliceMs: 1_500 } });
    // The first answer is taken and computed on for ever; the others wait.
    await codeMode.run(`
      const { id } = await saveArtifact({ name: 'a.bin', data: new Uint8Array(4 * 1024 * 1024) });
      const reads = Array.from({ length: 200 }, () => readArtifact(id, { as: 'bytes' }));
      await Promise.race(reads);
      for (;;);`);
    expect(given).toBeGreaterThan(0);
    expect(given).toBeLessThan(400 * 1024 * 1024);
  });
});
