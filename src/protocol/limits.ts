// All limits in one table: name, default, range, unit and the attack or accident that each one stops.
// Each is enforced at one place, named in its row. Not here: the enforcement.
import { CodeModeError } from './errors.ts';
import { nearest } from './nearest.ts';

/** One row of the table. Values are whole numbers in the unit that the name ends in. */
export interface LimitRow {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly unit: 'bytes' | 'ms' | 'calls' | 'files' | 'blocks';
  readonly stops: string;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const LIMITS = {
  sourceBytes: { default: 1 * MiB, min: 1, max: 16 * MiB, unit: 'bytes', stops: 'a program text that costs more to parse than to run' },
  wallMs: { default: 60_000, min: 1, max: 7 * 24 * 3_600_000, unit: 'ms', stops: 'a program that never ends, whatever it waits for' },
  cpuMs: {
    default: 10_000,
    min: 1,
    max: 3_600_000,
    unit: 'ms',
    stops: 'a program that computes for ever; waiting for tools costs nothing',
  },
  sliceMs: {
    default: 5_000,
    min: 1,
    max: 3_600_000,
    unit: 'ms',
    stops: 'one stretch of computing that keeps a worker from others; waiting ends a stretch',
  },
  memoryBytes: {
    default: 64 * MiB,
    min: 17 * MiB,
    max: 2048 * MiB,
    unit: 'bytes',
    stops: 'a program that allocates until the host swaps; the whole guest counts, 6 MiB of it the engine',
  },
  stackBytes: { default: 512 * KiB, min: 32 * KiB, max: 512 * KiB, unit: 'bytes', stops: 'recursion without an end' },
  outputBytes: { default: 256 * KiB, min: 0, max: 64 * MiB, unit: 'bytes', stops: 'console floods; what is over is dropped and counted' },
  valueBytes: { default: 1 * MiB, min: 16, max: 256 * MiB, unit: 'bytes', stops: 'a returned value too big to be read by anyone' },
  argumentBytes: { default: 256 * KiB, min: 2, max: 256 * MiB, unit: 'bytes', stops: 'one call whose arguments fill the host' },
  resultBytes: { default: 8 * MiB, min: 16, max: 256 * MiB, unit: 'bytes', stops: 'one tool result that fills the guest' },
  storeBytes: {
    default: 1 * MiB,
    min: 0,
    max: 64 * MiB,
    unit: 'bytes',
    stops: 'a session that hoards: everything that its programs `store` together',
  },
  calls: {
    default: 1_000,
    min: 0,
    max: 1_000_000,
    unit: 'calls',
    stops: 'a loop of tool calls; refused calls count too, and all programs of a session together',
  },
  requests: {
    default: 10_000,
    min: 0,
    max: 1_000_000,
    unit: 'calls',
    stops: 'a loop over what the host answers beside tools, such as `searchTools`; further ones are refused',
  },
  concurrentCalls: {
    default: 32,
    min: 1,
    max: 10_000,
    unit: 'calls',
    stops: 'a burst that overruns the tools; calls over it wait their turn',
  },
  lifetimeMs: {
    default: 3_600_000,
    min: 1,
    max: 30 * 24 * 3_600_000,
    unit: 'ms',
    stops: "a session's program that never ends, watched or not; `run()` has `wallMs`",
  },
  artifactBytes: { default: 32 * MiB, min: 0, max: 1024 * MiB, unit: 'bytes', stops: 'one file that fills the store' },
  artifactRunBytes: {
    default: 64 * MiB,
    min: 0,
    max: 65_536 * MiB,
    unit: 'bytes',
    stops: 'a run that fills the store: all files that its tools deliver and its programs save',
  },
  artifactRunFiles: { default: 100, min: 0, max: 1_000_000, unit: 'files', stops: 'a run that floods the store with small files' },
  artifactCallFiles: { default: 20, min: 0, max: 1_000_000, unit: 'files', stops: 'one call that uses up what the run may keep' },
  artifactCallBytes: { default: 64 * MiB, min: 0, max: 65_536 * MiB, unit: 'bytes', stops: 'the same, in bytes' },
  mediaBlocks: {
    default: 4,
    min: 0,
    max: 1_000,
    unit: 'blocks',
    stops: 'a model that is shown more images and documents at once than it can take',
  },
  mediaBytes: { default: 8 * MiB, min: 0, max: 1024 * MiB, unit: 'bytes', stops: 'the same, in bytes; the rest is named' },
  cleanupMs: { default: 500, min: 0, max: 60_000, unit: 'ms', stops: 'tools that go on after their program has ended' },
} as const satisfies Record<string, LimitRow>;

export type LimitName = keyof typeof LIMITS;

/** Every limit with its value. */
export type Limits = Readonly<Record<LimitName, number>>;

/** Some limits, to override others. */
export type LimitOverrides = { readonly [Name in LimitName]?: number | undefined };

/** The defaults, overridden key by key; later arguments win. Throws `limit_invalid` for an unknown name or a value out of range. */
export function resolveLimits(...overrides: readonly (LimitOverrides | undefined)[]): Limits {
  const limits = Object.fromEntries(Object.entries(LIMITS).map(([name, row]) => [name, row.default])) as Record<LimitName, number>;
  for (const override of overrides) {
    if (override === undefined) continue;
    if (typeof override !== 'object' || override === null || Array.isArray(override)) {
      throw new CodeModeError(
        'limit_invalid',
        `\`limits\` should be an object such as { wallMs: 60000 }, not ${override === null ? 'null' : Array.isArray(override) ? 'an array' : typeof override}.`,
      );
    }
    for (const [name, value] of Object.entries(override)) {
      if (!Object.hasOwn(LIMITS, name)) {
        const [meant] = nearest(name, Object.keys(LIMITS), 1);
        const hint = meant === undefined ? '' : ` Did you mean \`${meant}\`?`;
        throw new CodeModeError(
          'limit_invalid',
          `There is no limit \`${name}\`.${hint} The limits are ${Object.keys(LIMITS).join(', ')}.`,
          {
            details: { limit: name },
          },
        );
      }
      if (value === undefined) continue;
      const { min, max, unit } = LIMITS[name as LimitName];
      if (!Number.isInteger(value) || value < min || value > max) {
        throw new CodeModeError(
          'limit_invalid',
          `The limit \`${name}\` should be a whole number of ${unit} from ${min} to ${max}, but is ${typeof value === 'string' ? JSON.stringify(value) : String(value)}.`,
          { details: { limit: name, min, max } },
        );
      }
      limits[name as LimitName] = value;
    }
  }
  return limits;
}
