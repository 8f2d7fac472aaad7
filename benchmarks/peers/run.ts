// `run`: QuickJS-ng in a worker thread per program. Its tools are groups of host functions, one level deep, with names that are identifiers; the
// group `host` holds them all. It hides the errors of tools but for its own class, which is what they are translated to.
import { bridged, DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_MS, failure, leaves, type Peer } from './peer.ts';

/** It refuses what it has no worker for: 32 by default. More than these would take the machine's memory. */
const MOST_WORKERS = 128;

export const run: Peer = {
  name: 'run',
  where: 'QuickJS in a thread',
  printsToProcess: true,
  async open(setup) {
    const { tools, spec, timeoutMs = DEFAULT_TIMEOUT_MS, memoryBytes = DEFAULT_MEMORY_BYTES, hasOwnLimits = false } = setup;
    const { createRunner, RunError, setMaxWorkers } = await import('run');
    setMaxWorkers(MOST_WORKERS);
    const runner = createRunner({
      limits: hasOwnLimits
        ? { timeoutMs }
        : {
            timeoutMs,
            memoryLimitBytes: memoryBytes,
            maxBridgeRequests: 1_000_000,
            maxResultBytes: 64 << 20,
            maxHostFunctionArgumentsBytes: 64 << 20,
            maxHostFunctionOutputBytes: 64 << 20,
          },
    });
    const host = leaves(tools).map(({ identifier, execute }) => {
      const shown = async (...args: unknown[]): Promise<unknown> => {
        try {
          return await execute(...args);
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          const code = 'code' in error ? String(error.code) : undefined;
          throw Object.assign(new RunError(error.message, code), { name: error.name });
        }
      };
      return [identifier, shown] as const;
    });
    const hostFunctions = { host: Object.fromEntries(host) };
    return {
      async run(source) {
        try {
          const result = await runner.run({
            source: bridged(source, { tools, spec }, (identifier) => `host.${identifier}`),
            hostFunctions,
          });
          if (result.status === 'completed') return { status: 'completed', value: result.value, output: '' };
          return { status: 'error', name: 'Error', message: result.status, output: '' };
        } catch (error) {
          return failure(error);
        }
      },
    };
  },
};
