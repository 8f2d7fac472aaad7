// How much an MCP server may take of the host: time, bytes, tools. Not here: the limits of programs (protocol/limits.ts).
import { CodeModeError } from '../../index.ts';

/** One row: whole numbers in the unit that the name ends in, and what it stops. */
interface McpLimitRow {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly stops: string;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const HOUR = 3_600_000;

export const MCP_LIMITS = {
  startMs: { default: 30_000, min: 1, max: HOUR, stops: 'a server that does not answer while it starts and lists its tools' },
  callMs: {
    default: 60_000,
    min: 1,
    max: 24 * HOUR,
    stops: 'a call that is never answered; each progress notification begins the time again',
  },
  closeMs: { default: 2_000, min: 0, max: 60_000, stops: 'a process that does not end when its input ends; then it is killed' },
  messageBytes: {
    default: 16 * MiB,
    min: 1 * KiB,
    max: 512 * MiB,
    stops: 'one message that fills the host; it is dropped before it is parsed, and its call fails',
  },
  pages: { default: 200, min: 1, max: 100_000, stops: 'a list of tools that never ends' },
  tools: { default: 2_000, min: 1, max: 100_000, stops: 'more tools than anybody can choose from' },
  listBytes: { default: 16 * MiB, min: 1 * KiB, max: 512 * MiB, stops: 'definitions that fill the host, all pages together' },
} as const satisfies Record<string, McpLimitRow>;

export type McpLimitName = keyof typeof MCP_LIMITS;

export type McpLimits = Readonly<Record<McpLimitName, number>>;

/** The defaults with some of them overridden. Throws `limit_invalid` for an unknown name or a value out of range. */
export function resolveMcpLimits(overrides: Partial<Record<McpLimitName, number | undefined>> = {}): McpLimits {
  const limits = Object.fromEntries(Object.entries(MCP_LIMITS).map(([name, row]) => [name, row.default])) as Record<McpLimitName, number>;
  for (const [name, value] of Object.entries(overrides)) {
    if (!Object.hasOwn(MCP_LIMITS, name)) {
      throw new CodeModeError('limit_invalid', `MCP has no limit \`${name}\`; the limits are ${Object.keys(MCP_LIMITS).join(', ')}.`);
    }
    if (value === undefined) continue;
    const { min, max } = MCP_LIMITS[name as McpLimitName];
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new CodeModeError(
        'limit_invalid',
        `The MCP limit \`${name}\` should be a whole number from ${min} to ${max}, but is ${String(value)}.`,
      );
    }
    limits[name as McpLimitName] = value;
  }
  return limits;
}
