// The commands and options of `callgate`, and what each outcome is as an exit status. Not here: what `run` does (run.ts).
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { CodeModeError, type ErrorCode } from '../index.ts';
import type { ConversationOptions } from './conversation.ts';
import { type DoctorOptions, doctor } from './doctor.ts';
import { printable } from './printable.ts';
import { type RunOptions, run } from './run.ts';
import type { ServeOptions } from './serve.ts';
import type { Terminal } from './terminal.ts';
import { type ToolsOptions, type TypesOptions, tools, types } from './tools.ts';
import { UsageError } from './usage.ts';
import { type ReplayOptions, replayFile, type ViewOptions, view } from './view.ts';

const EXIT = { ok: 0, programError: 1, usage: 2 } as const;

/** Runs one command and gives its exit status. Throws nothing that a person could have caused. */
export async function cli(args: readonly string[], terminal: Terminal): Promise<number> {
  let status: number = EXIT.ok;
  const command = callgate(terminal, (isOk) => {
    status = isOk ? EXIT.ok : EXIT.programError;
  });
  try {
    await command.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    // The parser has already said what is wrong; help and version are answers, not mistakes.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const known = error instanceof UsageError || CodeModeError.is(error);
    const text = error instanceof Error ? (known ? error.message : (error.stack ?? String(error))) : String(error);
    terminal.stderr.write(`${known ? 'callgate' : 'callgate: unexpected'}: ${printable(text)}\n`);
    return error instanceof UsageError || (CodeModeError.is(error) && USAGE_CODES.has(error.code)) ? EXIT.usage : EXIT.programError;
  }
}

/** What `createCodeMode` and building the catalog say of options and tools: the command was called with the wrong ones. */
const USAGE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'option_invalid',
  'limit_invalid',
  'tool_invalid',
  'schema_invalid',
  'name_invalid',
  'name_collision',
  'catalog_failed',
  'engine_unavailable',
  'sandbox_unavailable',
]);

function callgate(terminal: Terminal, done: (isOk: boolean) => void): Command {
  const { stdout, stderr } = terminal;
  const command = new Command('callgate')
    .description('Runs programs written by language models in a sealed guest; every tool call is checked on the host.')
    .version(version(), '-V, --version', 'print the version')
    .exitOverride()
    .showHelpAfterError('(callgate --help lists the commands, callgate <command> --help its options)')
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(printable(text)),
      getOutHelpWidth: () => stdout.columns || 100,
      getErrHelpWidth: () => stderr.columns || 100,
    });
  command
    .command('run')
    .description('run a program with the tools of a module, of MCP servers, or both')
    .argument('<file>', 'the program, JavaScript or TypeScript; - reads it from standard input')
    .option('--tools <module>', 'path or package whose default export is the tools')
    .option('--mcp <file>', 'MCP servers, a JSON file such as { "mcpServers": { "name": { "command": … } } }')
    .option('--limit <name=value>', 'override one limit, for example wallMs=5000; may be repeated', collectLimit)
    .option('--json', 'print the whole result as one JSON document')
    .addOption(new Option('--engine <name>', 'what runs the guest').choices(['quickjs', 'v8']).default('quickjs'))
    .addOption(
      new Option('--isolation <kind>', 'where the guest runs (default: thread, and process for v8)').choices([
        'thread',
        'process',
        'inline',
      ]),
    )
    .option('--node <path>', 'the Node binary, 24 or later, that runs the engine v8')
    .addOption(sandboxOption())
    .option('--quiet', 'do not show calls while they happen')
    .option('--trace <file>', 'write every event as a line of JSON; the file must not exist')
    .option('--no-payloads', 'leave program text, inputs, outputs and values out of the trace')
    .option('--watch [port]', 'serve a page on this machine that shows programs while they run', port)
    .addOption(new Option('--typecheck <mode>', 'check types against the tools first').choices(['off', 'warn', 'error']).default('off'))
    .option('--time-zone <name>', "the program's time zone, for example Europe/Berlin", 'UTC')
    .option('--locale <tag>', "the program's locale, for example de-DE", 'en-US')
    .option('--actor <id>', "who the program acts for: the invocation's actorId")
    .option('--context <json>', "facts for the tools: the invocation's context, a JSON object", parseContext)
    .option('--interface <name>', "where the request came from: the invocation's interface", 'cli')
    .addHelpText('after', RUN_HELP)
    .action(async (file: string, options: RunOptions) => done(await run(file, options, terminal)));
  command
    .command('doctor')
    .description('say what can run programs on this machine, what holds them, and how to get what is missing')
    .addOption(new Option('--engine <name>', 'the engine that programs are to run on').choices(['quickjs', 'v8']).default('quickjs'))
    .addOption(new Option('--isolation <kind>', 'where they are to run').choices(['thread', 'process', 'inline']))
    .addOption(sandboxOption())
    .option('--node <path>', 'the Node binary, 24 or later, that runs the engine v8')
    .option('--json', 'print all of it as one JSON document')
    .addHelpText('after', '\nExit status: 0 such programs can be run here, 1 they cannot.')
    .action(async (options: DoctorOptions) => done(await doctor(options, terminal)));
  command
    .command('view')
    .description('show the programs and calls of trace files')
    .argument('<file...>', 'files that run --trace wrote')
    .option('--payloads', 'program texts, inputs and outputs too, where they were captured')
    .action((files: string[], options: ViewOptions) => view(files, options, terminal));
  command
    .command('replay')
    .description('run the programs of a trace again with the results recorded in it; says at the first difference')
    .argument('<file>', 'a file that run --trace wrote')
    .option('--program <number>', 'only this one of its programs, from 1', wholeNumber)
    .action(async (file: string, options: ReplayOptions) => done(await replayFile(file, options, terminal)));
  command
    .command('watch')
    .description('show trace files in a page on this machine')
    .argument('<file...>', 'files that run --trace wrote')
    .option('--port <port>', 'of the page; any that is free by default', port)
    .action(async (files: string[], options: { port?: number }) => {
      const { watchTraces } = await import('./watching.ts');
      await watchTraces(files, options, terminal);
    });
  addCatalogCommands(command, terminal, done);
  addModelCommands(command, terminal, done);
  addServeCommand(command, terminal, done);
  return command;
}

/** The commands that show tools. */
function addCatalogCommands(program: Command, terminal: Terminal, done: (isOk: boolean) => void): void {
  const withOptions = (command: Command): Command =>
    command
      .option('--tools <module>', 'path or package whose default export is the tools')
      .option('--mcp <file>', 'MCP servers, a JSON file such as { "mcpServers": { "name": { "command": … } } }')
      .option('--actor <id>', "who the tools are for: the invocation's actorId")
      .option('--context <json>', "facts for the tools: the invocation's context, a JSON object", parseContext)
      .option('--interface <name>', "where the request came from: the invocation's interface", 'cli');
  withOptions(program.command('types').description('print what a model would see of the tools: TypeScript declarations, within a budget'))
    .option('--budget <tokens>', 'about how many tokens they may take; less is said of each tool until it fits', wholeNumber)
    .option('--pin <name...>', 'tools or namespaces that stay as detailed as can be')
    .option('--instructions', 'all that a model is told: how to write a program too')
    .option('--except <name...>', 'with --instructions: tools that stay in the conversation')
    .addOption(new Option('--discovery <place>', 'where tools are looked for').choices(['guest', 'conversation', 'both']).default('guest'))
    .action((options: TypesOptions) => types(options, terminal));
  withOptions(program.command('tools').description('list the tools, search them, or describe one'))
    .argument('[words...]', 'what to look for; nothing lists them all')
    .option('--search <words>', 'the same as the words')
    .option('--describe <name>', 'the full declaration of one tool')
    .option('--namespace <name>', 'only tools of this namespace')
    .option('--limit <number>', 'tools at most; 10 of those that fit, or all', wholeNumber)
    .addOption(new Option('--detail <much>', 'how much to tell of each').choices(['names', 'signatures', 'full']))
    .option('--json', 'print a JSON document')
    .addHelpText('after', '\nExit status: 0 there are such tools, 1 there are none, 2 the command was called wrongly.')
    .action(async (words: string[], options: ToolsOptions) => done(await tools(words, options, terminal)));
}

/** The model that answers when no other is asked for. */
const MODEL = 'claude-sonnet-5-5';

/** The commands that talk to a model. Their files are loaded when they are used. */
function addModelCommands(program: Command, terminal: Terminal, done: (isOk: boolean) => void): void {
  const withOptions = (command: Command): Command =>
    command
      .option('--tools <module>', 'path or package whose default export is the tools')
      .option('--mcp <file>', 'MCP servers, a JSON file such as { "mcpServers": { "name": { "command": … } } }')
      .option('--model <name>', 'the model that is asked', MODEL)
      .option('--watch [port]', 'serve a page on this machine that shows programs while they run', port)
      .option('--system <text>', 'a system prompt, before what the model is told of code mode')
      .option('--max-turns <number>', 'most replies of the model for one question', wholeNumber, 100)
      .option('--max-tokens <number>', 'most tokens of one reply', wholeNumber, 8192)
      .option('--limit <name=value>', 'override one limit, for example calls=50; may be repeated', collectLimit)
      .addOption(new Option('--typecheck <mode>', 'check types against the tools first').choices(['off', 'warn', 'error']).default('off'))
      .option('--time-zone <name>', "the programs' time zone, for example Europe/Berlin", 'UTC')
      .option('--locale <tag>', "the programs' locale, for example de-DE", 'en-US')
      .option('--actor <id>', "who the programs act for: the invocation's actorId")
      .option('--context <json>', "facts for the tools: the invocation's context, a JSON object", parseContext)
      .option('--interface <name>', "where the request came from: the invocation's interface", 'cli');
  withOptions(program.command('ask').description('ask a model that writes programs with the tools'))
    .argument('[question...]', 'the question; - or nothing reads it from standard input')
    .addHelpText('after', ASK_HELP)
    .action(async (words: string[], options: ConversationOptions) => {
      const { askOnce } = await import('./ask.ts');
      done(await askOnce(words, options, terminal));
    });
  withOptions(program.command('chat').description('talk to a model that writes programs with the tools'))
    .addHelpText('after', CHAT_HELP)
    .action(async (options: ConversationOptions) => {
      const { chat } = await import('./chat.ts');
      done(await chat(options, terminal));
    });
}

const ASK_HELP = `
Uses ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL, and the package @anthropic-ai/sdk. Programs and calls are shown on standard error as they
happen; the answer goes to standard output.
Exit status: 0 there was an answer, 1 there was none, 2 the command was called wrongly, 130 it was interrupted.`;

const CHAT_HELP = `
Uses ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL, and the package @anthropic-ai/sdk. Each line is a question; the conversation is kept.
Ctrl-C ends the turn, or the conversation when nothing is going on; /exit or the end of the input ends the conversation.`;

/** The command that speaks MCP. Its file is loaded when it is used. */
function addServeCommand(program: Command, terminal: Terminal, done: (isOk: boolean) => void): void {
  program
    .command('serve')
    .description('serve exec, wait and stop over tools to an MCP client, on standard input and output or over HTTP')
    .option('--tools <module>', 'path or package whose default export is the tools')
    .option('--mcp <file>', 'MCP servers, a JSON file such as { "mcpServers": { "name": { "command": … } } }')
    .option('--http <port>', 'listen on this port of 127.0.0.1 instead; 0 takes a free one', port)
    .option('--watch [port]', 'serve a page on this machine that shows programs while they run', port)
    .option('--limit <name=value>', 'override one limit, for example lifetimeMs=60000; may be repeated', collectLimit)
    .addOption(new Option('--typecheck <mode>', 'check types against the tools first').choices(['off', 'warn', 'error']).default('off'))
    .option('--time-zone <name>', "the programs' time zone, for example Europe/Berlin", 'UTC')
    .option('--locale <tag>', "the programs' locale, for example de-DE", 'en-US')
    .option('--actor <id>', "who the programs act for: the invocation's actorId")
    .option('--context <json>', "facts for the tools: the invocation's context, a JSON object", parseContext)
    .option('--interface <name>', "where the requests come from: the invocation's interface", 'mcp')
    .addHelpText('after', SERVE_HELP)
    .action(async (options: ServeOptions) => {
      const { serve } = await import('./serve.ts');
      done(await serve(options, terminal));
    });
}

const SERVE_HELP = `
Without --http it speaks with the process that started it, and nothing but the protocol goes to standard output.
With --http clients need a bearer token: the one in CALLGATE_TOKEN, or a new one that is shown on standard error.
An MCP server that does not start is left out and named on standard error, unless its entry says "optional": false.`;

const RUN_HELP = `
Calls are shown on standard error as they happen; the program's output and then its value go to standard output.
Control characters in them are written as escapes; --json holds every value as it is.
Exit status: 0 the program completed, 1 it failed, 2 the command was called wrongly, 130 it was interrupted.`;

function sandboxOption(): Option {
  return new Option('--sandbox <kind>', 'what the operating system does about the child process: os needs it, auto takes it').choices([
    'none',
    'os',
    'auto',
  ]);
}

function collectLimit(text: string, limits: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, name, value] = /^([^=]+)=(-?\d+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('It should be a name and a whole number, for example calls=50.');
  // Names and ranges are the library's business; it lists them when they are wrong.
  return Object.fromEntries([...Object.entries(limits), [name, Number(value)]]);
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It should be a port, from 0 to 65535.');
  return Number(text);
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It should be a whole number from 1.');
  return Number(text);
}

function parseContext(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It should be a JSON object, but is not JSON: ${(error as SyntaxError).message}.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError('It should be a JSON object, for example {"tenant":"north"}.');
  }
  return value as Record<string, unknown>;
}

// The same two levels up from src/cli and from dist/cli.
function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
