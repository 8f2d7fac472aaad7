// The options of the command line that say what programs run on, where, and what holds them; `run` and `doctor` have them in common.
import { type EngineOption, type IsolationOption, type SandboxOption, v8 } from '../index.ts';
import { UsageError } from './usage.ts';

export interface PlaceOptions {
  readonly engine: 'quickjs' | 'v8';
  readonly isolation?: IsolationOption;
  readonly sandbox?: SandboxOption;
  readonly node?: string;
}

/** The engine that was named, with its Node. */
export function engineOf({ engine, node }: PlaceOptions): EngineOption {
  if (node === undefined) return engine;
  if (engine === 'v8') return v8({ node });
  throw new UsageError('--node says what the engine v8 runs on; add --engine v8.');
}
