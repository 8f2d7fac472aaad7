// Seeds of the programs' own random numbers. Not for secrets: those are asked of services.ts.
import { randomFillSync } from 'node:crypto';

/** Random numbers, drawn many at a time: drawing costs more than using them. */
export class Seeds {
  readonly #numbers = new Uint32Array(1024);
  #left = 0;

  next(): readonly [number, number, number, number] {
    if (this.#left === 0) {
      randomFillSync(this.#numbers);
      this.#left = this.#numbers.length;
    }
    this.#left -= 4;
    return [...this.#numbers.subarray(this.#left, this.#left + 4)] as [number, number, number, number];
  }
}
