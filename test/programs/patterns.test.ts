import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CodeMode } from '../../src/index.ts';
import { hasCorpus } from '../helpers/corpora.ts';
import { COMBINATIONS } from '../helpers/engines.ts';
import { judge, openPatterns, readPatterns, readProgram } from '../helpers/patterns.ts';

const present = hasCorpus('programs');

describe.each(COMBINATIONS)('program patterns, $engine, $isolation', (combination) => {
  let codeMode: CodeMode;
  beforeAll(async () => {
    if (present) codeMode = await openPatterns(combination);
  });
  afterAll(() => codeMode?.close());

  test.skipIf(present)('are not tested: ../shared/programs is absent', () => undefined);
  test.for(present ? readPatterns() : [])('$id $slug: $features', async (pattern) => {
    const result = await codeMode.run(readProgram(pattern));
    expect(judge(pattern, result)).toBeUndefined();
  });
});
