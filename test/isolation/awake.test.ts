import { expect, test } from 'vitest';
import { createAlone, stayAwake, tellAlone } from '../../src/isolation/awake.ts';

const looking = (): boolean => process.getActiveResourcesInfo().includes('Immediate');
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test('a loop stays awake only after quick answers, only while one program is alone, and not for long', async () => {
  const alone = createAlone();
  const awake = stayAwake(alone);
  tellAlone(alone, 1);
  awake.said();
  expect(looking()).toBe(false);
  awake.said();
  awake.heard();
  awake.said();
  expect(looking()).toBe(true);
  await settle();
  expect(looking()).toBe(false);
  // The answer took long: no staying awake until one is quick again.
  awake.heard();
  awake.said();
  expect(looking()).toBe(false);
  awake.said();
  awake.heard();
  tellAlone(alone, 2);
  awake.said();
  expect(looking()).toBe(false);
});
