// The floor: the program as an `AsyncFunction` of the host, with the tools themselves. No isolation, no checks, no limits.
import { failure, type Peer } from './peer.ts';

export const plainFunction: Peer = {
  name: 'AsyncFunction',
  where: 'nowhere: no isolation',
  async open({ tools, spec }) {
    const AsyncFunction = (async () => undefined).constructor as new (...names: string[]) => (...values: unknown[]) => Promise<unknown>;
    return {
      async run(source) {
        try {
          return { status: 'completed', value: await new AsyncFunction('tools', 'spec', source)(tools, spec), output: '' };
        } catch (error) {
          return failure(error);
        }
      },
    };
  },
};
