// `@utcp/code-mode`: isolated-vm, an isolate per program. Tools are those of a manual, here functions of the host by `@utcp/direct-call`; the guest
// calls them as `host.NAME({…})`, waits for each in its thread and gets the value, not a promise. A direct call spreads the members of its input,
// so the input is made the only member of one.
import { bridged, DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_MS, leaves, type Outcome, type Peer } from './peer.ts';

const FAILED = '[ERROR] Code execution failed: ';

export const utcp: Peer = {
  name: 'utcp',
  where: 'V8 in a thread, an isolate per program',
  async open(setup) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, memoryBytes = DEFAULT_MEMORY_BYTES, hasOwnLimits = false } = setup;
    // It tells the console of every call; what is measured is not a terminal.
    console.log = () => undefined;
    const { addFunctionToUtcpDirectCall } = await import('@utcp/direct-call');
    const { CodeModeUtcpClient } = await import('@utcp/code-mode');
    const client = await CodeModeUtcpClient.create();
    manuals += 1;
    const manual = `host${manuals}`;
    const list = leaves(setup.tools);
    for (const { identifier, execute } of list) addFunctionToUtcpDirectCall(`${manual}_${identifier}`, (input: unknown) => execute(input));
    addFunctionToUtcpDirectCall(manual, async () => ({
      utcp_version: '1.0.0',
      tools: list.map(({ identifier }) => ({
        name: identifier,
        description: `The tool ${identifier}.`,
        inputs: { type: 'object', properties: { input: {} } },
        tool_call_template: { call_template_type: 'direct-call', callable_name: `${manual}_${identifier}` },
      })),
    }));
    const template: { name: string; call_template_type: string; callable_name: string } = {
      name: manual,
      call_template_type: 'direct-call',
      callable_name: manual,
    };
    const { success, errors } = await client.registerManual(template);
    if (!success) throw new Error(errors.join(' '));
    return {
      async run(source) {
        const code = bridged(source, setup, (identifier) => `(input) => ${manual}.${identifier}({ input })`);
        const { result, logs } = await client.callToolChain(code, timeoutMs, hasOwnLimits ? undefined : Math.ceil(memoryBytes / 2 ** 20));
        return outcome(result, logs);
      },
    };
  },
};

/** Errors are told as the last line of the log: name, message and stack. */
function outcome(value: unknown, logs: readonly string[]): Outcome {
  const last = logs.at(-1);
  const hasFailed = value === null && last?.startsWith(FAILED) === true;
  const output = (hasFailed ? logs.slice(0, -1) : logs).map((line) => line.replace(/^\[(?:ERROR|WARN|INFO)\] /, '')).join('\n');
  if (!hasFailed) return { status: 'completed', value, output };
  const said = last.slice(FAILED.length).replace(/\n\s+at .*$/s, '');
  // What does not parse has lost its name.
  const unnamed = /\[<isolated-vm>:\d+:\d+\]$/.test(said) ? 'SyntaxError' : 'Error';
  const [, name = unnamed, message = said] = /^(\w*Error): (.*)$/s.exec(said) ?? [];
  return { status: 'error', name, message, output };
}

let manuals = 0;
