import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type ArtifactOptions, artifact, isArtifact, splitArtifacts, withArtifacts } from '../../src/artifacts/artifact.ts';

const make = (options: unknown) => artifact(options as ArtifactOptions & { data: string });

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
    const made = artifact({ reference, mediaType: 'image/png', size: 12 });
    reference.key.id = 2;
    expect(made).toMatchObject({ kind: 'deferred', reference: { bucket: 'b', key: { id: 1 } }, size: 12 });
    expect('data' in made).toBe(false);
    expect(() => Object.assign((made.reference as typeof reference).key, { id: 3 })).toThrow(TypeError);
  });
});

describe('what is refused', () => {
  test.each([
    [undefined, /an object such as/],
    [{ mediaType: 'text/plain' }, /needs `data`.*`reference`/],
    [{ data: 'x', reference: 'y', mediaType: 'text/plain' }, /not both/],
    [{ data: 5, mediaType: 'text/plain' }, /`data`.*not a number/],
    [{ data: [1, 2], mediaType: 'text/plain' }, /`data`.*not an array/],
    [{ data: 'x' }, /`mediaType`.*undefined/],
    [{ data: 'x', mediaType: '' }, /`mediaType`/],
    [{ data: 'x', mediaType: 'png' }, /"png"/],
    [{ data: 'x', mediaType: 'text/plain', name: '' }, /`name`/],
    [{ data: 'x', mediaType: 'text/plain', metadata: [] }, /`metadata`.*an array/],
    [{ data: 'x', mediaType: 'text/plain', metadata: { f: () => 1 } }, /`\$\.f` is a function/],
    [{ reference: '', mediaType: 'text/plain' }, /empty text/],
    [{ reference: 5, mediaType: 'text/plain' }, /`reference`.*a number/],
    [{ reference: new Map(), mediaType: 'text/plain' }, /`\$` is a Map/],
    [{ reference: 'r', mediaType: 'text/plain', size: -1 }, /`size`/],
  ])('%# names the field', (options, message) => {
    expect(() => make(options)).toThrow(message);
    expect(() => make(options)).toThrow(expect.objectContaining({ code: 'option_invalid' }));
  });
});

describe('printing', () => {
  const secret = [
    artifact({ data: 'secret', mediaType: 'text/plain', name: 'secret.txt', metadata: { secret: true } }),
    artifact({ reference: 'secret', mediaType: 'text/plain', name: 'secret.txt' }),
  ];

  test('shows kind, media type and size and nothing else', () => {
    expect(inspect(secret)).toBe('[\n  Artifact { inline, text/plain, 6 bytes },\n  Artifact { deferred, text/plain }\n]');
    expect(JSON.parse(JSON.stringify(secret))).toEqual([
      { kind: 'inline', mediaType: 'text/plain', size: 6 },
      { kind: 'deferred', mediaType: 'text/plain' },
    ]);
    expect(`${String(secret[0])} ${inspect(withArtifacts(1, secret), { depth: 9, showHidden: true })}`).not.toContain('secret');
  });
});

describe('beside a value', () => {
  const picture = artifact({ data: 'x', mediaType: 'image/png' });

  test('withArtifacts marks a result, and copies the list', () => {
    const list = [picture];
    const result = withArtifacts({ rows: 3 }, list);
    list.pop();
    expect(splitArtifacts(result)).toEqual({ value: { rows: 3 }, artifacts: [picture] });
    expect(splitArtifacts({ value: 1, artifacts: [] })).toBeUndefined();
  });

  test('marks are known to other copies of the package, and data from a program cannot carry them', () => {
    expect(Symbol.for('callgate.Artifact') in picture).toBe(true);
    expect(Symbol.for('callgate.withArtifacts') in withArtifacts(1, [])).toBe(true);
    expect(isArtifact(JSON.parse('{"callgate.Artifact":true,"kind":"inline"}'))).toBe(false);
  });

  test.each([
    [picture, /array of artifacts/],
    [[picture, 'x'], /`artifacts\[1\]`.*a string/],
    [[{ kind: 'inline', mediaType: 'image/png' }], /`artifacts\[0\]`.*artifact\(\{/],
  ])('a wrong member is named %#', (artifacts, message) => {
    expect(() => withArtifacts(1, artifacts as never)).toThrow(message);
  });
});
