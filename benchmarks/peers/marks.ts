// Times a part of a program by the host's clock: a tool is called before it and after it. So the same is timed in every system, without what
// starting and ending cost; two calls of a tool are in it.
/** In a program's text, before and after the part. */
export const MARK = 'await tools.mark({});';

export interface Marks {
  readonly tools: { mark(): void };
  clear(): void;
  /** Milliseconds between the first call and the last. */
  passed(): number;
}

export function between(): Marks {
  const times: number[] = [];
  return {
    tools: {
      mark: () => {
        times.push(performance.now());
      },
    },
    clear: () => void times.splice(0),
    passed() {
      const [first, last] = [times[0], times.at(-1)];
      if (first === undefined || last === undefined || times.length < 2) throw new Error('The program made no two marks.');
      return last - first;
    },
  };
}
