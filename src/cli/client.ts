// Finds the Anthropic SDK and makes its client from the environment. Not here: what is asked of it (ask.ts, chat.ts).
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Anthropic from '@anthropic-ai/sdk';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage.ts';

/** A client with `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`. Throws a `UsageError` when there is no key or no SDK. */
export async function openClient({ env, cwd }: Pick<Terminal, 'env' | 'cwd'>, command: string): Promise<Anthropic> {
  const apiKey = given(env['ANTHROPIC_API_KEY']);
  const baseURL = given(env['ANTHROPIC_BASE_URL']);
  if (apiKey === undefined) throw new UsageError(`\`callgate ${command}\` needs an API key of Anthropic; set ANTHROPIC_API_KEY.`);
  const Client = await loadSdk(cwd, command);
  try {
    return new Client({ apiKey, ...(baseURL !== undefined && { baseURL }) });
  } catch (error) {
    throw new UsageError(`The client of @anthropic-ai/sdk cannot be made: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A variable that is set to something. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

type AnthropicClass = new (options: { readonly apiKey: string; readonly baseURL?: string }) => Anthropic;

/** The SDK that stands beside this package, or else the one of the place where the command was called. */
async function loadSdk(cwd: string, command: string): Promise<AnthropicClass> {
  const loaded = (await load('@anthropic-ai/sdk')) ?? (await load(locate(cwd)));
  const found = loaded?.['default'];
  if (loaded === undefined)
    throw new UsageError(`\`callgate ${command}\` needs the package @anthropic-ai/sdk 1.x; install it: npm install @anthropic-ai/sdk`);
  if (typeof found !== 'function' || !('VERSION' in loaded || 'Anthropic' in found || 'Anthropic' in loaded))
    throw new UsageError('The package @anthropic-ai/sdk has no client as its default export; `callgate` needs version 1.x of it.');
  return found as AnthropicClass; // its shape has just been checked as far as it can be without calling it
}

async function load(specifier: string | undefined): Promise<Record<string, unknown> | undefined> {
  if (specifier === undefined) return undefined;
  try {
    return (await import(specifier)) as Record<string, unknown>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw new UsageError(`The package @anthropic-ai/sdk failed to load: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function locate(cwd: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(cwd, 'package.json')).resolve('@anthropic-ai/sdk')).href;
  } catch {
    return undefined;
  }
}
