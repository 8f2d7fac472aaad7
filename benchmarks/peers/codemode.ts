// `@cloudflare/codemode`. What runs programs in it needs Workers or a browser, so it is listed and takes no part. What runs anywhere is its
// normaliser of code: of it alone first-try asks something, and its documented `Executor` is implemented over node:vm for that, much as its README
// sketches it, with an inspecting console and whole errors. No sandbox: the programs are known texts, each in a process of its own.
import process from 'node:process';
import { inspect } from 'node:util';
import { runInThisContext } from 'node:vm';
import { DEFAULT_TIMEOUT_MS, leaves, type Outcome, type Peer, type Setup, type Tools } from './peer.ts';

export const codemode: Peer = {
  name: '@cloudflare/codemode',
  where: 'a Worker, or an iframe',
  async open() {
    throw new Error('Its executors need the Workers runtime or a browser.');
  },
};

export const codemodeNormaliser: Peer = {
  name: '@cloudflare/codemode',
  where: 'its normaliser of code, over node:vm',
  async open(setup) {
    const { createBrowserCodeTool } = await import('@cloudflare/codemode/browser');
    return {
      async run(source) {
        let outcome: Outcome = { status: 'error', name: 'Error', message: 'The executor was not called.', output: '' };
        const executor = {
          async execute(code: string): Promise<{ result: unknown }> {
            outcome = await execute(code, setup);
            return { result: undefined };
          },
        };
        await createBrowserCodeTool({ tools: {}, executor }).execute({ code: source });
        return outcome;
      },
    };
  },
};

async function execute(code: string, { tools, spec, timeoutMs = DEFAULT_TIMEOUT_MS }: Setup): Promise<Outcome> {
  const lines: string[] = [];
  const log = (...args: unknown[]): void => {
    lines.push(args.map((arg) => (typeof arg === 'string' ? arg : inspect(arg))).join(' '));
  };
  const globals = {
    tools: copying(tools),
    codemode: Object.fromEntries(leaves(copying(tools)).map((leaf) => [leaf.identifier, leaf.execute])),
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
      timer = setTimeout(() => reject(new Error('Execution timed out')), timeoutMs);
    });
    const value = await Promise.race([open(...Object.values(globals)), late]);
    return { status: 'completed', value, output: lines.join('\n') };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: 'Error', message: inspect(error) };
    return { status: 'error', name, message, output: lines.join('\n') };
  } finally {
    clearTimeout(timer);
  }
}

/** Values cross as JSON, as they do between a Worker and its host. */
function copying(tools: Tools): Tools {
  const copy = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  const members = Object.entries(tools).map(([name, member]) => {
    if (typeof member !== 'function') return [name, copying(member)] as const;
    // What a program gave: each tool looks at that itself.
    const call = member as (...args: unknown[]) => unknown;
    // Not args.map: a program may have put its own function there.
    return [name, async (...args: unknown[]) => copy(await call(...Array.from(args, copy)))] as const;
  });
  return Object.fromEntries(members);
}
