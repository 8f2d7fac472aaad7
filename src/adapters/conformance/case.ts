// What a conformance suite is made of: cases that know no test framework. Not here: what they claim (engine.ts, channel.ts, worker.ts).

/** One claim. `run` rejects when it does not hold. */
export interface ConformanceCase {
  /** What it is about; together with `name` a sentence. */
  readonly group: string;
  readonly name: string;
  /** Why it is not run. */
  readonly skip?: string;
  run(): Promise<void>;
}

/** Cases that an implementation does not keep, each with the reason: `{ 'GROUP: NAME': 'reason' }`. */
export type Skips = Readonly<Record<string, string>>;

/** The functions of a test framework: of vitest, jest, node:test and others alike. */
export interface TestFramework {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: ((name: string, body: () => Promise<void>) => unknown) & {
    readonly skip: (name: string, body: () => Promise<void>) => unknown;
  };
}

/** Registers cases as tests, one `describe` for each group; a case that is skipped says why in its name. */
export function registerCases(cases: readonly ConformanceCase[], { describe, test }: TestFramework): void {
  const groups = new Map<string, ConformanceCase[]>();
  for (const one of cases) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  for (const [group, members] of groups)
    describe(group, () => {
      for (const { name, skip, run } of members) {
        if (skip === undefined) test(name, () => run());
        else test.skip(`${name} (${skip})`, () => run());
      }
    });
}

/** Claims by group and name, as a suite writes them down. */
export type Claims = Readonly<Record<string, Readonly<Record<string, () => Promise<void> | void>>>>;

/** Makes cases of claims. Throws for a skip of a case that there is not: it would hide one that has been renamed. */
export function casesOf(claims: Claims, skips: Skips = {}): readonly ConformanceCase[] {
  const left = new Set(Object.keys(skips));
  const cases = Object.entries(claims).flatMap(([group, members]) =>
    Object.entries(members).map(([name, run]): ConformanceCase => {
      const key = `${group}: ${name}`;
      left.delete(key);
      const skip = skips[key];
      return { group, name, ...(skip === undefined ? {} : { skip }), run: async () => run() };
    }),
  );
  const [unknown] = left;
  if (unknown !== undefined)
    throw new Error(
      `There is no case \`${unknown}\` to skip. The cases are: ${cases.map(({ group, name }) => `${group}: ${name}`).join('; ')}.`,
    );
  return cases;
}
