import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAlone, stayAwake, tellAlone } from '../../src/isolation/awake.ts';

const looking = (): boolean => process.getActiveResourcesInfo().includes('Immediate');

// A clock of the test's own: how long its own lines take depends on the machine.
let now = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => void vi.restoreAllMocks());
const settle = (): Promise<void> => {
  now += 5;
  return new Promise((resolve) => setTimeout(resolve, 5));
};

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

test('looks in vain are put off, twice as long each time, until one was not', async () => {
  const alone = createAlone();
  tellAlone(alone, 1);
  const awake = stayAwake(alone);
  /** Words with quick answers until one of them is looked after; how many that took. */
  const untilLook = (): number => {
    for (let words = 1; ; words++) {
      awake.said();
      if (looking()) return words;
      awake.heard();
    }
  };
  expect(untilLook()).toBe(2);
  for (const passed of [2, 4, 8]) {
    // Nothing comes while it looks; what comes is late.
    await settle();
    awake.heard();
    expect(untilLook()).toBe(passed + 1);
  }
  // An answer while it looks.
  awake.heard();
  await settle();
  expect(untilLook()).toBe(1);
  await settle();
  awake.heard();
  expect(untilLook()).toBe(3);
});
