// What else runs programs with tools, for engines.ts: `run` (QuickJS-ng in a thread) and `@tanstack/ai-isolate-node` (isolated-vm in this very
// process). Installed on demand, but for isolated-vm, of which a process can hold only
// one copy: the one of this package's own. Left out where it does not load.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../../src/index.ts';

/** One of them: runs the body of an async function that has `tools.echo`. */
export interface EnginePeer {
  readonly name: string;
  run(source: string): Promise<unknown>;
}

const VERSIONS: Readonly<Record<string, string>> = {
  run: '2.1.5',
  '@tanstack/ai': '0.28.0',
  '@tanstack/ai-code-mode': '0.2.5',
  '@tanstack/ai-isolate-node': 'latest',
  zod: '4.3.6',
};
const folder = resolve('node_modules/.cache/callgate/engine-peers');

export async function openPeers(echo: Tool): Promise<readonly EnginePeer[]> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies: VERSIONS }));
  writeFileSync(join(folder, 'load.js'), 'export const load = (specifier) => import(specifier);\n');
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--loglevel=error'];
  if (spawnSync('npm', ['install', ...options], { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) return [];
  rmSync(join(folder, 'node_modules/isolated-vm'), { recursive: true, force: true });
  const { load } = (await import(pathToFileURL(join(folder, 'load.js')).href)) as { load(specifier: string): Promise<unknown> };
  const peers: EnginePeer[] = [];
  for (const open of [openRun, openTanstack]) {
    try {
      const peer = await open(load, (input) => (echo.execute as (input: unknown) => unknown)(input));
      await peer.run('return await tools.echo({ value: 1 })');
      peers.push(peer);
    } catch (error) {
      console.log(`left out: ${open.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return peers;
}

type Open = (load: (specifier: string) => Promise<unknown>, execute: (input: unknown) => unknown) => Promise<EnginePeer>;

const openRun: Open = async (load, execute) => {
  // What of the package's declarations is used here.
  const { createRunner } = (await load('run')) as {
    createRunner(options: object): { run(input: object): Promise<{ status: string; value?: unknown }> };
  };
  const runner = createRunner({ limits: { timeoutMs: 60_000, maxBridgeRequests: 100_000 } });
  return {
    name: 'run',
    async run(source) {
      const { status } = await runner.run({ source, hostFunctions: { tools: { echo: execute } } });
      if (status !== 'completed') throw new Error(`run: ${status}`);
    },
  };
};

const openTanstack: Open = async (load, execute) => {
  // What of the package's declarations is used here.
  const { createNodeIsolateDriver } = (await load('@tanstack/ai-isolate-node')) as {
    createNodeIsolateDriver(): {
      createContext(config: object): Promise<{
        execute(code: string): Promise<{ success: boolean; error?: { message: string } }>;
        dispose(): Promise<void>;
      }>;
    };
  };
  const driver = createNodeIsolateDriver();
  const bindings = { external_echo: { name: 'external_echo', description: 'Echo.', inputSchema: {}, execute } };
  return {
    name: '@tanstack/ai-isolate-node',
    async run(source) {
      const context = await driver.createContext({ bindings, timeout: 60_000, memoryLimit: 256 });
      try {
        const { success, error } = await context.execute(source.replaceAll('tools.echo', 'external_echo'));
        if (!success) throw new Error(error?.message ?? 'failed');
      } finally {
        await context.dispose();
      }
    },
  };
};
