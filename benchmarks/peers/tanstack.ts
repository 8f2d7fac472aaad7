// `@tanstack/ai-code-mode` with its two drivers: `@tanstack/ai-isolate-quickjs` (QuickJS with Asyncify, one program after another) and
// `@tanstack/ai-isolate-node` (isolated-vm, an isolate per program). Tools are server tools that the guest calls as `external_NAME`; types are
// erased by esbuild.
import type { IsolateDriver } from '@tanstack/ai-code-mode';
import { bridged, DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_MS, leaves, type Peer } from './peer.ts';

export const tanstackQuickJs = tanstack('tanstack-quickjs', "QuickJS in the host's own thread", async () =>
  (await import('@tanstack/ai-isolate-quickjs')).createQuickJSIsolateDriver(),
);
export const tanstackNode = tanstack('tanstack-node', 'V8 in a thread, an isolate per program', async () =>
  (await import('@tanstack/ai-isolate-node')).createNodeIsolateDriver(),
);

function tanstack(name: string, where: string, openDriver: () => Promise<IsolateDriver>): Peer {
  return {
    name,
    where,
    async open(setup) {
      const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryBytes = DEFAULT_MEMORY_BYTES, hasOwnLimits = false } = setup;
      const { toolDefinition } = await import('@tanstack/ai');
      const { createCodeModeTool } = await import('@tanstack/ai-code-mode');
      const driver = await openDriver();
      const listed = leaves(setup.tools).map(({ identifier, execute }) =>
        toolDefinition({ name: identifier, description: `The tool ${identifier}.`, inputSchema: {} }).server((input: unknown) =>
          execute(input),
        ),
      );
      // It refuses to be without any.
      const none = toolDefinition({ name: 'none', description: 'Nothing.', inputSchema: {} }).server(() => undefined);
      const tool = createCodeModeTool({
        driver,
        tools: listed.length === 0 ? [none] : listed,
        timeout: timeoutMs,
        ...(!hasOwnLimits && { memoryLimit: Math.ceil(memoryBytes / 2 ** 20) }),
      });
      return {
        async run(source) {
          const typescriptCode = bridged(source, setup, (identifier) => `external_${identifier}`);
          const answer = await tool.execute?.({ typescriptCode });
          if (answer === undefined) throw new Error('The tool has nothing to execute.');
          const { success, result, logs = [], error } = answer;
          const output = logs.map((line) => line.replace(/^(?:ERROR|WARN|INFO): /, '')).join('\n');
          if (success) return { status: 'completed', value: result, output };
          // Its name for what esbuild says about a program that does not parse.
          const kind = error?.name === 'TypeScriptError' ? 'SyntaxError' : (error?.name ?? 'Error');
          return { status: 'error', name: kind, message: error?.message ?? '', output };
        },
      };
    },
  };
}
