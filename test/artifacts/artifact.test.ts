import { inspect } from 'node:util';
import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { type ArtifactOptions, artifact, deferredArtifact, isArtifact, splitResult, toolResult } from '../../src/artifacts/artifact.ts';

const make = (options: unknown) => artifact(options as ArtifactOptions);
const defer = (options: unknown) => deferredArtifact(options as Parameters<typeof deferredArtifact>[0]);

describe('inline', () => {
  test('bytes, texts and Blobs become a Blob of their own', async () => {
    const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    const fromBytes = artifact({ data: bytes, mediaType: 'application/octet-stream' });
    bytes.fill(9);
    expect(new Uint8Array(await fromBytes.data.arrayBuffer())).toEqual(new Uint8Array([2, 3]));
    expect(fromBytes).toMatchObject({ kind: 'inline', size: 2 });
    const fromText = artifact({ data: 'grün', mediaType: 'text/plain; charset=utf-8', name: 'colour.txt' });
    expect(await fromText.data.text()).toBe('grün');
    expect(fromText).toMatchObject({ size: 5, name: 'colour.txt' });
    expect(artifact({ data: new Blob(['ab']), mediaType: 'text/plain' }).size).toBe(2);
    expect(await artifact({ data: new Uint8Array([65, 66]).buffer, mediaType: 'text/plain' }).data.text()).toBe('AB');
    const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(67);
    expect(await artifact({ data: shared, mediaType: 'text/plain' }).data.text()).toBe('CC');
    expect(artifact({ data: '', mediaType: 'text/plain' }).size).toBe(0);
  });

  test('nobody can change it', () => {
    const metadata = { tags: ['a'] };
    const made = artifact({ data: 'x', mediaType: 'text/plain', metadata });
    metadata.tags.push('b');
    expect(made.metadata).toEqual({ tags: ['a'] });
    expect(() => Object.assign(made.metadata ?? {}, { tags: [] })).toThrow(TypeError);
    expect(() => Object.assign(made, { mediaType: 'text/html' })).toThrow(TypeError);
  });
});

describe('deferred', () => {
  test('has a frozen copy of its reference and no bytes', () => {
    const reference = { bucket: 'b', key: { id: 1 } };
    const made = deferredArtifact({ reference, mediaType: 'image/png', size: 12 });
    reference.key.id = 2;
    expect(made).toMatchObject({ kind: 'deferred', reference: { bucket: 'b', key: { id: 1 } }, size: 12 });
    expect('data' in made).toBe(false);
    expect(() => Object.assign((made.reference as typeof reference).key, { id: 3 })).toThrow(TypeError);
  });
});

describe('what is refused', () => {
  test.each([
    [undefined, /an object such as/],
    [{ mediaType: 'text/plain' }, /needs `data`/],
    [{ data: null, mediaType: 'text/plain' }, /needs `data`/],
    [{ data: 'x', reference: 'y', mediaType: 'text/plain' }, /no field `reference`.*deferredArtifact\(/],
    [{ data: 'x', mediaType: 'text/plain', filename: 'a' }, /no field `filename`.*Did you mean `name`/],
    [{ data: new Float64Array(1), mediaType: 'text/plain' }, /`data`.*Float64Array/],
    [{ data: 'x', mediaType: 'text/plain', name: 'x'.repeat(256) }, /256 characters/],
    [{ data: 'x', mediaType: 'text/plain\r\nX: y' }, /`mediaType`/],
    [{ data: 5, mediaType: 'text/plain' }, /`data`.*not a number/],
    [{ data: [1, 2], mediaType: 'text/plain' }, /`data`.*not an array/],
    [{ data: 'x' }, /`mediaType`.*undefined/],
    [{ data: 'x', mediaType: '' }, /`mediaType`/],
    [{ data: 'x', mediaType: 'png' }, /"png"/],
    [{ data: 'x', mediaType: 'text/plain', name: '' }, /`name`/],
    [{ data: 'x', mediaType: 'text/plain', metadata: [] }, /`metadata`.*an array/],
    [{ data: 'x', mediaType: 'text/plain', metadata: { f: () => 1 } }, /`\$\.f` is a function/],
  ])('%# names the field', (options, message) => {
    expect(() => make(options)).toThrow(message);
    expect(() => make(options)).toThrow(expect.objectContaining({ code: 'option_invalid' }));
  });

  test.each([
    [{ mediaType: 'text/plain' }, /needs a `reference`/],
    [{ reference: '', mediaType: 'text/plain' }, /empty text/],
    [{ reference: 5, mediaType: 'text/plain' }, /`reference`.*a number/],
    [{ reference: new Map(), mediaType: 'text/plain' }, /`\$` is a Map/],
    [{ reference: 'r', mediaType: 'text/plain', size: -1 }, /`size`/],
    [{ reference: 'r', data: 'x', mediaType: 'text/plain' }, /no field `data`.*artifact\(/],
  ])('deferred: %# names the field', (options, message) => {
    expect(() => defer(options)).toThrow(message);
    expect(() => defer(options)).toThrow(expect.objectContaining({ code: 'option_invalid' }));
  });
});

describe('printing', () => {
  const secret = [
    artifact({ data: 'secret', mediaType: 'text/plain', name: 'secret.txt', metadata: { secret: true } }),
    deferredArtifact({ reference: 'secret', mediaType: 'text/plain', name: 'secret.txt' }),
  ];

  test('shows kind, media type and size and nothing else', () => {
    expect(inspect(secret)).toBe('[\n  Artifact { inline, text/plain, 6 bytes },\n  Artifact { deferred, text/plain }\n]');
    expect(JSON.parse(JSON.stringify(secret))).toEqual([
      { kind: 'inline', mediaType: 'text/plain', size: 6 },
      { kind: 'deferred', mediaType: 'text/plain' },
    ]);
    const printed = [String(secret[0]), inspect(toolResult({ value: 1, artifacts: secret }), { depth: 9, showHidden: true })];
    printed.push(inspect(secret, { customInspect: false, showHidden: true }), JSON.stringify(secret.map((each) => ({ ...each }))));
    printed.push(serialize(secret.map((each) => ({ ...each }))).toString('latin1'));
    expect(printed.join(' ')).not.toContain('secret');
  });
});

describe('beside a value', () => {
  const picture = artifact({ data: 'x', mediaType: 'image/png' });

  test('toolResult marks a result, and copies the list', () => {
    const list = [picture];
    const result = toolResult({ value: { rows: 3 }, artifacts: list });
    list.pop();
    const split = splitResult(result);
    expect(split).toMatchObject({ value: { rows: 3 } });
    expect(split?.artifacts).toHaveLength(1);
    expect(split?.artifacts[0]).toBe(picture);
    expect(splitResult({ value: 1, artifacts: [] })).toBeUndefined();
  });

  test('marks are known to other copies of the package, and data from a program cannot carry them', () => {
    expect(Symbol.for('callgate.Artifact') in picture).toBe(true);
    expect(Symbol.for('callgate.toolResult') in toolResult({ value: 1, artifacts: [] })).toBe(true);
    expect(isArtifact(JSON.parse('{"callgate.Artifact":true,"kind":"inline"}'))).toBe(false);
  });

  test.each([
    [picture, /array of artifacts/],
    [[picture, 'x'], /`artifacts\[1\]`.*a string/],
    [[{ kind: 'inline', mediaType: 'image/png' }], /`artifacts\[0\]`.*artifact\(\{/],
  ])('a wrong member is named %#', (artifacts, message) => {
    expect(() => toolResult({ value: 1, artifacts: artifacts as never })).toThrow(message);
  });
});
