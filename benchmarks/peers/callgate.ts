// This library, in each of its isolations and engines. Checks are those that every user has: input by a schema, counts, limits.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CodeModeOptions, defineTool, ToolSource } from '../../src/index.ts';
import { DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_MS, type Peer, type Tools } from './peer.ts';

/** Nobody's load is these: what is measured must not be a limit. */
const WIDE = { calls: 1_000_000, concurrentCalls: 1_000, argumentBytes: 64 << 20, resultBytes: 64 << 20, valueBytes: 64 << 20 };

function callgate(name: string, where: string, options: Pick<CodeModeOptions, 'engine' | 'isolation' | 'sandbox'>): Peer {
  return {
    name,
    where,
    async open(setup) {
      const { createCodeMode, defineTool } = await import('../../src/index.ts');
      const { tools, spec, takesBytes = false, hasOwnLimits = false } = setup;
      const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryBytes = DEFAULT_MEMORY_BYTES } = setup;
      const codeMode = createCodeMode({
        ...options,
        tools: wrap(tools, takesBytes ? ANYTHING : CHECKED, defineTool),
        workers: 2,
        showError: (error) => error as Error,
        limits: hasOwnLimits ? { wallMs: timeoutMs } : { ...WIDE, memoryBytes, cpuMs: timeoutMs, sliceMs: timeoutMs, wallMs: timeoutMs },
        ...(spec !== undefined && { globals: { spec } }),
      });
      return {
        async run(source) {
          const { status, value, output, error } = await codeMode.run(source);
          if (status === 'completed') return { status, value, output };
          return { status: 'error', name: error?.name ?? status, message: error?.message ?? status, output };
        },
        close: () => codeMode.close(),
      };
    },
  };
}

export const inline = callgate('callgate, inline', "QuickJS in the host's own thread", { isolation: 'inline' });
export const thread = callgate('callgate', 'QuickJS in a thread', {});
export const child = callgate('callgate, process', 'QuickJS in a child process', { isolation: 'process' });
export const v8 = callgate('callgate, v8', 'V8 in a child process', { engine: 'v8' });
export const sandboxed = callgate('callgate, v8, sandbox', "V8 in a child process, in the system's sandbox", {
  engine: 'v8',
  sandbox: 'os',
});

/** The host's own schema, which looks at nothing: what JSON Schema describes holds no bytes. */
const ANYTHING = {
  inputSchema: { '~standard': { version: 1, vendor: 'benchmarks', validate: (value: unknown) => ({ value }) } } satisfies StandardSchemaV1,
  inputJsonSchema: {},
} as const;
const CHECKED = { inputSchema: {} } as const;

function wrap(tools: Tools, schema: typeof ANYTHING | typeof CHECKED, define: typeof defineTool): ToolSource {
  return Object.entries(tools).map(([name, member]) => {
    if (typeof member !== 'function') return { namespace: name, tools: () => wrap(member, schema, define) };
    // What a program gave: each tool looks at that itself.
    const call = member as (...args: unknown[]) => unknown;
    // Several arguments are one array to a tool that takes any value; `sum` wants them one by one.
    const execute = (input: unknown): unknown => (name === 'sum' && Array.isArray(input) ? call(...input) : call(input));
    return define({ name, description: `The tool ${name}.`, ...schema, execute });
  });
}
