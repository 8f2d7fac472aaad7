// `run`: QuickJS-ng in a worker thread. Its tools are groups of host functions, one level deep, with names that are identifiers;
// the group `host` holds them all. Console output goes to the process's streams.
import { bridged, leaves, type Peer, TIMEOUT_MS, toText } from './peer.ts';

/** What of the package's declarations is used here. */
interface Run {
  createRunner(options: { limits: { timeoutMs: number } }): {
    run(input: {
      source: string;
      hostFunctions: Record<string, Record<string, (...args: unknown[]) => unknown>>;
    }): Promise<{ status: 'completed'; value: unknown } | { status: 'interrupted' }>;
  };
  RunError: new (message: string, code?: string) => Error;
}

export const run: Peer = {
  name: 'run',
  printsToProcess: true,
  async open(load) {
    // The interface above is taken from the package's index.d.ts at the pinned version.
    const { createRunner, RunError } = (await load('run')) as Run;
    const runner = createRunner({ limits: { timeoutMs: TIMEOUT_MS } });
    return async (program) => {
      const host = leaves(program.tools).map(({ identifier, execute }) => {
        const shown = async (...args: unknown[]): Promise<unknown> => {
          try {
            return await execute(...args);
          } catch (error) {
            // Other errors reach the guest as "Host function failed."; those of this class keep message and code.
            if (!(error instanceof Error)) throw error;
            const code = 'code' in error ? String(error.code) : undefined;
            throw Object.assign(new RunError(error.message, code), { name: error.name });
          }
        };
        return [identifier, shown] as const;
      });
      const source = bridged(program, (identifier) => `host.${identifier}`);
      try {
        const result = await runner.run({ source, hostFunctions: { host: Object.fromEntries(host) } });
        if (result.status !== 'completed') return { status: 'error', name: 'Error', message: result.status, output: '' };
        return { status: 'completed', json: toText(result.value), output: '' };
      } catch (error) {
        const { name, message } = error instanceof Error ? error : new Error(String(error));
        return { status: 'error', name, message, output: '' };
      }
    };
  },
};
