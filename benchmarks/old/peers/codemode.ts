// `@cloudflare/codemode`'s code normaliser, without the Workers runtime that it is made for: its documented `Executor` interface is
// implemented over node:vm much as its README sketches it, with an inspecting console and whole errors. So what fails here fails by
// the shape of the program alone; limits, which the runtime sets, are not asked for. No sandbox: the patterns are known texts, each
// in a process of its own.
import process from 'node:process';
import { inspect } from 'node:util';
import { runInThisContext } from 'node:vm';
import type { MockTools, Outcome } from './pattern.ts';
import { leaves, type Peer, type Program, TIMEOUT_MS, toText } from './peer.ts';

/** What of the package's declarations is used here. */
interface CodeMode {
  createBrowserCodeTool(options: { tools: Record<string, never>; executor: { execute(code: string): Promise<{ result: unknown }> } }): {
    execute(input: { code: string }): Promise<unknown>;
  };
}

export const codemode: Peer = {
  name: 'codemode',
  // Nor is it asked for what this Node's V8 is too old for, and a Worker's is not.
  asked: ({ id, group }) => group !== 'limits' && (id !== '121' || 'fromAsync' in Array),
  async open(load) {
    // The interface above is taken from the package's browser.d.ts at the pinned version.
    const { createBrowserCodeTool } = (await load('@cloudflare/codemode/browser')) as CodeMode;
    return async (program) => {
      let outcome: Outcome = { status: 'error', name: 'Error', message: 'The executor was not called.', output: '' };
      const executor = {
        execute: async (code: string): Promise<{ result: unknown }> => {
          outcome = await execute(code, program);
          return { result: undefined };
        },
      };
      await createBrowserCodeTool({ tools: {}, executor }).execute({ code: program.source });
      return outcome;
    };
  },
};

async function execute(code: string, { tools, spec }: Program): Promise<Outcome> {
  const lines: string[] = [];
  const log = (...args: unknown[]): void => {
    lines.push(args.map((arg) => (typeof arg === 'string' ? arg : inspect(arg))).join(' '));
  };
  const globals = {
    tools: copying(tools),
    codemode: Object.fromEntries(leaves(copying(tools)).map(({ identifier, execute }) => [identifier, execute])),
    spec,
    console: { log, info: log, warn: log, error: log, debug: log },
    // Node's own; the other names of its module scope are none in a module.
    process: undefined,
  };
  // A Worker goes on after a rejection that nobody handles.
  process.on('unhandledRejection', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  try {
    // As the package's own executors do it: the code in parentheses is a function, and the first to settle wins.
    const open = runInThisContext(`(function (${Object.keys(globals).join(', ')}) { return (\n${code}\n)(); })`) as (
      ...values: unknown[]
    ) => unknown;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('Execution timed out')), TIMEOUT_MS);
    });
    const value = await Promise.race([open(...Object.values(globals)), late]);
    return { status: 'completed', json: toText(value), output: lines.join('\n') };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: 'Error', message: inspect(error) };
    return { status: 'error', name, message, output: lines.join('\n') };
  } finally {
    clearTimeout(timer);
  }
}

/** Values cross as JSON, as they do between a Worker and its host. */
function copying(tools: MockTools): MockTools {
  const copy = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  const members = Object.entries(tools).map(([name, member]) => {
    if (typeof member !== 'function') return [name, copying(member)] as const;
    // Not args.map: a program may have put its own function there.
    return [name, async (...args: unknown[]) => copy(await member(...Array.from(args, copy)))] as const;
  });
  return Object.fromEntries(members);
}
