// `@tanstack/ai-code-mode` with the driver `@tanstack/ai-isolate-quickjs`: QuickJS on the main thread, asyncify build. Tools are
// server tools that the guest calls as `external_NAME`; types are erased by esbuild.
import { bridged, leaves, type Peer, TIMEOUT_MS, toText } from './peer.ts';

/** What of the packages' declarations is used here. */
interface Ai {
  toolDefinition(config: { name: string; description: string; inputSchema: object }): {
    server(execute: (input: unknown) => unknown): object;
  };
}
interface CodeModePackage {
  createCodeModeTool(config: { driver: object; tools: readonly object[]; timeout: number }): {
    execute(input: { typescriptCode: string }): Promise<{
      success: boolean;
      result?: unknown;
      logs?: readonly string[];
      error?: { message: string; name?: string };
    }>;
  };
}
interface Driver {
  createQuickJSIsolateDriver(): object;
}

export const tanstack: Peer = {
  name: 'tanstack',
  async open(load) {
    // The interfaces above are taken from the packages' declarations at the pinned versions.
    const { toolDefinition } = (await load('@tanstack/ai')) as Ai;
    const { createCodeModeTool } = (await load('@tanstack/ai-code-mode')) as CodeModePackage;
    const { createQuickJSIsolateDriver } = (await load('@tanstack/ai-isolate-quickjs')) as Driver;
    return async (program) => {
      const tools = leaves(program.tools).map(({ identifier, execute }) =>
        toolDefinition({ name: identifier, description: `The mock tool ${identifier}.`, inputSchema: {} }).server((input) =>
          execute(input),
        ),
      );
      const tool = createCodeModeTool({ driver: createQuickJSIsolateDriver(), tools, timeout: TIMEOUT_MS });
      const typescriptCode = bridged(program, (identifier) => `external_${identifier}`);
      const { success, result, logs = [], error } = await tool.execute({ typescriptCode });
      const output = logs.map((line) => line.replace(/^(?:ERROR|WARN|INFO): /, '')).join('\n');
      if (success) return { status: 'completed', json: toText(result), output };
      // Its name for what esbuild says about a program that does not parse.
      const name = error?.name === 'TypeScriptError' ? 'SyntaxError' : (error?.name ?? 'Error');
      return { status: 'error', name, message: error?.message ?? '', output };
    };
  },
};
