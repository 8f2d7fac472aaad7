// Every collected program pattern prepares, and those whose value depends on their shape alone give it.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { prepare } from '../../src/program/prepare.ts';
import { outcomeOf, prepared } from './evaluate.ts';

interface Pattern {
  readonly id: string;
  readonly slug: string;
  readonly group: string;
  readonly kind: 'must' | 'policy';
  readonly file: string;
  readonly expect: {
    readonly value?: unknown;
    readonly undefined?: boolean;
    readonly any?: boolean;
    readonly error?: { readonly name: string | null };
  };
}

const directory = new URL('../../../shared/programs/', import.meta.url);
const present = existsSync(new URL('index.json', directory));
const patterns: readonly Pattern[] = present
  ? (JSON.parse(readFileSync(new URL('index.json', directory), 'utf8')) as { programs: Pattern[] }).programs
  : [];
const text = ({ file }: Pattern): string => readFileSync(new URL(file, directory), 'utf8');

test.skipIf(!present)('every pattern prepares, but those that are to be syntax errors (skipped when ../shared/programs is absent)', () => {
  for (const pattern of patterns) {
    const result = prepare(text(pattern));
    if (result.ok) continue;
    const mayFail = pattern.expect.error?.name === 'SyntaxError' || pattern.expect.any === true;
    expect(mayFail, `${pattern.id} ${pattern.slug}: ${JSON.stringify(result.error)}`).toBe(true);
  }
});

test.skipIf(!present)('shapes and TypeScript give their values (skipped when ../shared/programs is absent)', async () => {
  const { makeTools } = (await import(new URL('mock-tools.mjs', directory).href)) as {
    makeTools: () => { tools: Record<string, unknown> };
  };
  const shaped = patterns.filter(
    ({ group, expect: wanted }) => /shape|typescript/.test(group) && ('value' in wanted || wanted.undefined === true),
  );
  expect(shaped.length).toBeGreaterThan(30);
  for (const pattern of shaped) {
    const { tools } = makeTools();
    const value = await outcomeOf(text(pattern), { tools, console: { log() {}, error() {} }, Error });
    expect(value, `${pattern.id} ${pattern.slug}`).toEqual(pattern.expect.undefined ? undefined : pattern.expect.value);
  }
});

test.skipIf(!present)('erasing keeps the lines of every pattern (skipped when ../shared/programs is absent)', () => {
  for (const pattern of patterns) {
    const source = text(pattern);
    if (!prepare(source).ok || /\busing\b/.test(source)) continue;
    const { code } = prepared(source);
    const lines = source.split('\n').length;
    // The function's own line, the program's, the closing line, and at most one for the call of a function that nobody called.
    expect(code.split('\n').length - lines, pattern.slug).toBeLessThanOrEqual(3);
  }
});
