// The program patterns of the shared test data: reads them, runs one, and says how it differs from what it states.
import { isDeepStrictEqual } from 'node:util';
import { type CodeMode, createCodeMode, defineTool, type RunResult, type ToolSource } from '../../src/index.ts';
import { toJson } from '../../src/protocol/values.ts';
import type { PlacedTool } from '../../src/tools/provider.ts';
import { corpusUrl, readCorpus } from './corpora.ts';
import { type Combination, optionsFor } from './engines.ts';
import { toolOf } from './tools.ts';

export interface Pattern {
  readonly id: string;
  readonly slug: string;
  readonly kind: 'must' | 'policy';
  readonly file: string;
  readonly dialect: 'tools' | 'codemode' | 'external' | 'bare' | 'typescript';
  readonly features: string;
  readonly expect: {
    readonly value?: unknown;
    readonly undefined?: true;
    readonly undefinedOrAny?: true;
    readonly any?: true;
    readonly error?: { readonly name: string | null; readonly messageIncludes: string };
    readonly logs?: readonly string[];
    readonly logsContain?: readonly string[];
    readonly limit?: string;
  };
}

export function readPatterns(): readonly Pattern[] {
  const { programs } = JSON.parse(readCorpus('programs/index.json')) as { programs: Pattern[] };
  return programs;
}

export function readProgram(pattern: Pattern): string {
  return readCorpus(`programs/${pattern.file}`);
}

type MockTools = { readonly [name: string]: MockTools | ((...args: unknown[]) => unknown) };

/** The corpus's own tools, as ours. Each pattern gets fresh ones: some count their calls. */
async function mock(): Promise<{ tools: ToolSource; spec: unknown }> {
  const { makeTools } = (await import(corpusUrl('programs/mock-tools.mjs').href)) as { makeTools(): { tools: MockTools; spec: unknown } };
  const { tools, spec } = makeTools();
  return { tools: wrap(tools), spec };
}

/** The same tools as entries for a catalog. */
export async function readMockCatalog(): Promise<readonly PlacedTool[]> {
  const { makeTools } = (await import(corpusUrl('programs/mock-tools.mjs').href)) as { makeTools(): { tools: MockTools } };
  const placed: PlacedTool[] = [];
  const walk = (tools: MockTools, namespace: readonly string[]): void => {
    for (const [name, member] of Object.entries(tools)) {
      if (typeof member === 'function') placed.push({ namespace, tool: toolOf(name) });
      else walk(member, [...namespace, name]);
    }
  };
  walk(makeTools().tools, []);
  return placed;
}

function wrap(tools: MockTools): ToolSource {
  return Object.entries(tools).map(([name, member]) => {
    if (typeof member !== 'function') return { namespace: name, tools: () => wrap(member) };
    // `sum` takes its numbers one by one; a call with several arguments is one array to a tool that takes any value.
    const execute = (input: unknown): unknown => (name === 'sum' && Array.isArray(input) ? member(...input) : member(input));
    return defineTool({ name, description: `The mock tool ${name}.`, inputSchema: {}, execute });
  });
}

export async function openPatterns(combination: Combination): Promise<CodeMode> {
  const { tools, spec } = await mock();
  return createCodeMode({
    tools,
    globals: { spec },
    ...optionsFor(combination),
    showError: (error) => error as Error,
    limits: { wallMs: 5_000, cpuMs: 1_000, calls: 5_000 },
  });
}

/** What is wrong with the result, or `undefined`. */
export function judge({ expect }: Pattern, result: RunResult): string | undefined {
  const said = `${result.status} ${JSON.stringify(toJson(result.value))} ${result.error ? `${result.error.kind} ${result.error.name}: ${result.error.message}` : ''} output ${JSON.stringify(result.output)}`;
  if (expect.limit !== undefined) return result.status === 'error' ? undefined : `should have been stopped: ${said}`;
  if (expect.error !== undefined) {
    const { name, messageIncludes } = expect.error;
    if (result.status !== 'error' || (name !== null && result.error.name !== name) || !result.error.message.includes(messageIncludes)) {
      return `should fail with ${name} …${messageIncludes}…: ${said}`;
    }
  } else if (expect.any !== true) {
    if (result.status !== 'completed') return `should complete: ${said}`;
    if (expect.undefined === true && result.value !== undefined) return `should have no value: ${said}`;
    if ('value' in expect && !isDeepStrictEqual(JSON.parse(JSON.stringify(toJson(result.value)) ?? 'null'), expect.value)) {
      return `should give ${JSON.stringify(expect.value)}: ${said}`;
    }
  }
  const lines = result.output.split('\n');
  for (const line of expect.logs ?? []) if (!lines.includes(line)) return `should print ${JSON.stringify(line)}: ${said}`;
  for (const part of expect.logsContain ?? []) if (!result.output.includes(part)) return `should print …${part}…: ${said}`;
  return undefined;
}
