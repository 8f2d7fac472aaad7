// Bare `isolated-vm`: V8 with a heap of its own, on a thread of its pool. Each program gets a new context of one isolate, and tools by a
// reference whose calls give promises, as its README shows. It is what V8 costs without a system around it.
import { guestProgram, guestTools, hostCall, type Packed, unpack } from './bare.ts';
import { DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_MS, failure, type Peer } from './peer.ts';

export const isolatedVm: Peer = {
  name: 'isolated-vm',
  where: 'V8 in a thread, a context per program',
  async open(setup) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryBytes = DEFAULT_MEMORY_BYTES } = setup;
    const { default: ivm } = await import('isolated-vm');
    const isolate = new ivm.Isolate({ memoryLimit: Math.ceil(memoryBytes / 2 ** 20) });
    const call = new ivm.Reference(hostCall(setup.tools));
    const prelude = `
const call = (index, packed) => $0.apply(undefined, [index, packed], { arguments: { copy: true }, result: { promise: true, copy: true } });
${guestTools(setup.tools)}`;
    return {
      async run(source) {
        const context = await isolate.createContext();
        try {
          const packed: unknown = await context.evalClosure(`${prelude}\nreturn ${guestProgram(source, setup)};`, [call], {
            timeout: timeoutMs,
            result: { promise: true, copy: true },
          });
          // The program's expression gives what pack() gives.
          return { status: 'completed', value: unpack(packed as Packed), output: '' };
        } catch (error) {
          return failure(error);
        } finally {
          context.release();
        }
      },
      async close() {
        isolate.dispose();
      },
    };
  },
};
