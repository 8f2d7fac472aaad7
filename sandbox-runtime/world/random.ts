// `Math.random` as a generator of the guest's own. Every program starts from the same memory image, so the engine's generator would
// repeat itself from program to program; this one is seeded afresh for each. It is not for secrets: `crypto` is.
import { defineHidden } from './define.ts';

/** Replaces `Math.random`; the result seeds it. */
export function installRandom(): (seed: readonly [number, number, number, number]) => void {
  // sfc32: 128 bits of state, passes PractRand.
  let a = 0;
  let b = 0;
  let c = 0;
  let counter = 1;
  const next = (): number => {
    const mixed = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + mixed;
    c |= 0;
    return mixed >>> 0;
  };
  const math = {
    random(): number {
      // 53 bits, as in other engines.
      return ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 9_007_199_254_740_992;
    },
  };
  defineHidden(Math, 'random', math.random);
  return (seed) => {
    // Random in all its bits, so nothing has to be stirred before the first number.
    a = seed[0] | 0;
    b = seed[1] | 0;
    c = seed[2] | 0;
    counter = seed[3] | 1;
  };
}
